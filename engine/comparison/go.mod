module sightline/engine/comparison

go 1.26.0

require (
	github.com/peterstace/simplefeatures v0.50.0
	github.com/twpayne/go-geos v0.20.0
	sightline v0.0.0
)

replace sightline => ../..
