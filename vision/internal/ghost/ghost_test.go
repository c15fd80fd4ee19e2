package ghost

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine/geom"
)

// What lay on the mat when it was learnt ends where an outline does, as what lies there now would.
func TestWhatTheMatWasLearntWithIsAGhost(t *testing.T) {
	const side = 120
	rock := geom.Polygon{{X: 40, Y: 40}, {X: 80, Y: 45}, {X: 75, Y: 85}, {X: 42, Y: 78}}
	for name, c := range map[string]struct {
		mat, now float64 // by how much each is lighter where the outline lies
		print    float64 // of the mat
		ghost    bool
	}{
		"it lies there":        {now: 40},
		"it was taken away":    {mat: 40, ghost: true},
		"it is dark":           {now: -30, print: 20},
		"and was taken away":   {mat: -30, print: 20, ghost: true},
		"it lies on what lay":  {mat: 20, now: 25},
		"there was no outline": {print: 30},
	} {
		picture, diff := make([]float32, side*side), make([]float32, side*side)
		for k := range picture {
			p, mat := geom.Point{X: float64(k % side), Y: float64(k / side)}, 60.0
			if k%7 == 0 {
				mat += c.print
			}
			now := mat
			if rock.Contains(p) {
				now, mat = now+c.now, mat+c.mat
			}
			picture[k], diff[k] = float32(now), float32(now-mat)
		}
		assert.Equal(t, c.ghost, Of(rock, picture, diff, side), name)
	}
}
