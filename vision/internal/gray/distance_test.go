package gray

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine/geom"
)

// The chamfer distance against the distance itself: Borgefors' bound is 4.5 % of it
// (1986, table 1, for these weights), and a cell at the border of the grid.
func TestChamferDistancesAreNearlyEuclidean(t *testing.T) {
	const w, h = 40, 40
	near := make([]float32, w*h)
	for k := range near {
		near[k] = 100
	}
	zero := []geom.Point{{X: 7, Y: 9}, {X: 30, Y: 22}, {X: 12, Y: 33}}
	for _, p := range zero {
		near[int(p.Y)*w+int(p.X)] = 0
	}
	Chamfer(near, w)
	for y := 2; y < h-2; y++ {
		for x := 2; x < w-2; x++ {
			want := math.Inf(1)
			for _, p := range zero {
				want = math.Min(want, float64(p.Distance(geom.Point{X: float64(x), Y: float64(y)})))
			}
			assert.InDelta(t, want, float64(near[y*w+x]), 0.06*want+1e-6, "at (%d, %d)", x, y)
		}
	}
}
