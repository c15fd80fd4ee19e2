// Package ghost tells what lay on a mat as it was learnt, and was taken away since, from what was laid there.
package ghost

import (
	"math"

	"sightline/engine/geom"
	"sightline/vision"
)

const (
	every = 3.0 // mm between the places along an outline
	near  = 3.0 // mm inside and outside of it where levels are compared, and
	far   = 4.5 // mm: their mean
	most  = 1.5 // times the squares of the picture's steps: larger ones of the mat are a ghost's
)

// Of reports whether the learnt mat ends at an outline rather than what a picture shows there, in rows of w cells; diff is by how much the
// picture is lighter than the mat.
func Of(outline geom.Polygon, picture, diff []float32, w int) bool {
	seen, learnt := steps(outline, picture, diff, w)
	return learnt > most*seen
}

// steps returns the sums of the squares of the steps across an outline, of the picture and of the mat.
func steps(outline geom.Polygon, picture, diff []float32, w int) (seen, learnt float64) {
	level := func(p geom.Point) (now, mat float64) {
		x, y := int(p.X/vision.DiffStep), int(p.Y/vision.DiffStep)
		if k := y*w + x; x >= 0 && y >= 0 && x < w && k < len(picture) {
			return float64(picture[k]), float64(picture[k] - diff[k])
		}
		return math.NaN(), math.NaN()
	}
	for i, a := range outline {
		b := outline[(i+1)%len(outline)]
		side := b.Sub(a)
		length := side.Norm()
		for at := every / 2; at < length+every/2 && length > 0; at += every {
			p, n := a.Lerp(b, min(at/length, 1)), geom.Point{X: side.Y / length, Y: -side.X / length}
			var now, mat float64
			for _, d := range [...]float64{near, far} {
				outNow, outMat := level(p.Add(n.Mul(d)))
				inNow, inMat := level(p.Sub(n.Mul(d)))
				now, mat = now+outNow-inNow, mat+outMat-inMat
			}
			if now == now && mat == mat {
				seen, learnt = seen+now*now, learnt+mat*mat
			}
		}
	}
	return seen, learnt
}
