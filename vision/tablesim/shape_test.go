package tablesim

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A point is in a part exactly where the part's distance is at most 0.
func TestAPartHasThePointsWithoutDistance(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	in := 0
	for kind := range miniKinds {
		for _, p := range silhouette(Mini{Kind: kind, Width: 40, Length: 60}) {
			for range 2000 {
				x, y := 100*rng.Float64()-50, 100*rng.Float64()-50
				has := p.has(x, y)
				if has {
					in++
				}
				assert.Equal(t, p.distance(x, y) <= 0, has, "kind %v at %v, %v", kind, x, y)
			}
		}
	}
	assert.Positive(t, in)
}

// A segment enters a box where a walk along it first is inside.
func TestASegmentEntersABoxWhereAWalkIsInsideFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	b := box{-2, -1, 2, 3}
	at := func() float64 { return float64(rng.IntN(21)-10) / 2 } // on a raster, so that some are upright, level or touch it
	for range 3000 {
		ax, ay, bx, by := at(), at(), at(), at()
		const steps = 400
		first := -1.0
		for i := range steps + 1 {
			f := float64(i) / steps
			if b.has(ax+f*(bx-ax), ay+f*(by-ay)) {
				first = f
				break
			}
		}
		got, ok := b.enter(ax, ay, bx, by)
		if first >= 0 {
			assert.True(t, ok, "%v, %v to %v, %v", ax, ay, bx, by)
			assert.InDelta(t, first, got, 1.0/steps+1e-9, "%v, %v to %v, %v", ax, ay, bx, by)
		} else if ok { // it only cuts or touches a corner, between two steps
			assert.True(t, box{b.x0 - 0.03, b.y0 - 0.03, b.x1 + 0.03, b.y1 + 0.03}.has(ax+got*(bx-ax), ay+got*(by-ay)))
		}
	}
}

// The taps give the same sums to the last bit four at a time as one by one.
func TestTapsAreAddedInTheirOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 3))
	for _, taken := range []int{1, 3, 5, 7, 9} {
		for _, step := range []int{3, 48} {
			kernel, from := make([]float32, taken), make([]float32, 48+step*taken)
			for i := range kernel {
				kernel[i] = rng.Float32()
			}
			for i := range from {
				from[i] = rng.Float32()
			}
			want, got := make([]float32, 48), make([]float32, 48)
			for k, f := range kernel {
				for i := range want {
					want[i] += f * from[step*k+i]
				}
			}
			taps(got, kernel, from, step)
			assert.Equal(t, want, got, "%d taps, %d apart", taken, step)
		}
	}
}
