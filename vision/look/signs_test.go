package look

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/look/internal/signs"
)

// A look scores where its own card lies, at that heading, and nowhere near it as much; half of its rows as well.
func TestALookScoresWhereItLies(t *testing.T) {
	l := small(t, 1, "A1")
	s := l.signs()
	at := pose(140, 120, 54)
	d := drawing{table: tableAt(1.02), noise: 1, matted: true, bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at}}}
	f := NewFinder(d.table, &Library{Looks: []*Look{l}}, calibration.Uncertainty{})
	mat := f.flattenMat(d.draw(1)).signs()
	turned, scorer := signs.NewLattice(mat), signs.NewScorer([]*signs.Look{&s})
	best, where := 0.0, geom.Pose{}
	for a := range 60 {
		turned.Turn(geom.Angle(2 * math.Pi * float64(a) / 60))
		for j := range turned.Side {
			var within []int
			for i := range turned.Side {
				if p := turned.Point(i, j); p.X >= 20 && p.Y >= 20 && p.X <= 240 && p.Y <= 240 {
					within = append(within, i)
				}
			}
			scorer.Score(turned, j, within, func(_, i int, score float64) {
				if score > best {
					best, where = score, geom.Pose{Point: turned.Point(i, j), Heading: turned.Heading}
				}
			})
		}
	}
	assert.Greater(t, best, 8.0)
	assert.Less(t, float64(where.Distance(at.Point)), 2.0)
	assert.Less(t, float64(where.Heading.Distance(at.Heading)), 7*math.Pi/180)
}
