package gray

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
)

// The chamfer distance against the distance itself: Borgefors' bound is 4.5 % of it
// (1986, table 1, for these weights), and a cell at the border of the grid. And against the
// same two passes in floating point, which it must equal in every bit.
func TestChamferDistancesAreNearlyEuclidean(t *testing.T) {
	const w, h, most = 40, 40, 8
	d := NewDistances(most)
	require.Equal(t, float32(most), d.Cells[d.Far])
	require.Less(t, d.Cells[d.Far-1], d.Cells[d.Far])
	require.Less(t, d.Far, uint8(255), "a byte has room for all")
	near, plain := make([]uint8, w*h), make([]float32, w*h)
	for k := range near {
		near[k], plain[k] = d.Far, most
	}
	zero := []geom.Point{{X: 7, Y: 9}, {X: 30, Y: 22}, {X: 12, Y: 33}}
	for _, p := range zero {
		k := int(p.Y)*w + int(p.X)
		near[k], plain[k] = 0, 0
	}
	d.Chamfer(near, w)
	chamferOf(plain, w)
	for y := range h {
		for x := range w {
			got := d.Cells[near[y*w+x]]
			require.Equal(t, plain[y*w+x], got, "at (%d, %d)", x, y)
			if x < 2 || y < 2 || x >= w-2 || y >= h-2 {
				continue
			}
			want := float64(most)
			for _, p := range zero {
				want = math.Min(want, float64(p.Distance(geom.Point{X: float64(x), Y: float64(y)})))
			}
			assert.InDelta(t, want, float64(got), 0.06*want+1e-6, "at (%d, %d)", x, y)
		}
	}
}

func chamferOf(near []float32, w int) {
	const d1, d2 = 0.955, 1.3693
	for row := w; row+w < len(near); row += w {
		for k := row + 1; k < row+w-1; k++ {
			near[k] = min(near[k], near[k-1]+d1, near[k-w]+d1, near[k-w-1]+d2, near[k-w+1]+d2)
		}
	}
	for row := len(near) - 2*w; row > 0; row -= w {
		for k := row + w - 2; k > row; k-- {
			near[k] = min(near[k], near[k+1]+d1, near[k+w]+d1, near[k+w+1]+d2, near[k+w-1]+d2)
		}
	}
}
