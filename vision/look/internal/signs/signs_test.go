package signs

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine/geom"
)

// The means and deviations of squares are those that a slow sum gives, also at the border and where weights are 0.
func TestLocalMeans(t *testing.T) {
	const n, r = 23, 3
	rng := rand.New(rand.NewPCG(3, 0))
	v, weight := make([]float32, channels*n*n), make([]float32, n*n)
	for i := range v {
		v[i] = float32(rng.IntN(256))
	}
	for i := range weight {
		weight[i] = float32(rng.IntN(2))
	}
	for _, w := range [][]float32{nil, weight} {
		locals(v, w, n, r, func(k int, got *local) {
			var sum [channels]float64
			var squares, all float64
			for y := max(k/n-r, 0); y <= min(k/n+r, n-1); y++ {
				for x := max(k%n-r, 0); x <= min(k%n+r, n-1); x++ {
					at := 1.0
					if w != nil {
						at = float64(w[y*n+x])
					}
					all += at
					for c := range channels {
						p := float64(v[channels*(y*n+x)+c])
						sum[c] += at * p
						squares += at * p * p
					}
				}
			}
			variance := squares / all
			for c := range channels {
				mean := sum[c] / all
				variance -= mean * mean
				assert.InDelta(t, mean, got.mean[c], 0.01)
			}
			assert.InDelta(t, math.Sqrt(variance/channels+noise), got.deviation, 0.01)
		})
	}
}

// A window holds the signs that the mat has around its sample, for looks of one word a row and of two.
func TestAWindowHoldsTheSignsAround(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	mat := &Mat{origin: geom.Point{X: -40, Y: -40}, step: 1, n: 301, v: make([]uint8, 301*301)}
	for k := range mat.v {
		mat.v[k] = []uint8{0, brighter, darker, brighter & 5, darker &^ (1 << channels)}[rng.IntN(5)]
	}
	l := NewLattice(mat)
	for _, side := range []int{17, 37} {
		s := Look{side: side, words: (side + wordSamples - 1) / wordSamples}
		w := NewWindow(&s)
		for range 40 {
			l.Turn(geom.Angle(2 * math.Pi * rng.Float64()))
			i, j := l.Side/2+rng.IntN(80)-40, l.Side/2+rng.IntN(80)-40
			w.Move(l, i, j)
			held := Look{side: side, words: s.words}
			for r := range held.rows {
				held.rows[r] = w.take(r)
			}
			wrong := 0
			for y := range side {
				row := held.row(y)
				for x := range side {
					p := l.Point(i+x-side/2, j+y-side/2).Sub(mat.origin)
					v := uint64(mat.v[int(p.Y+0.5)*mat.n+int(p.X+0.5)])
					got, bit := row[x/wordSamples], channels*(x%wordSamples)
					if got.any>>bit&brighter != (v|v>>channels)&brighter || got.brighter>>bit&brighter != v&brighter {
						wrong++
					}
				}
			}
			assert.LessOrEqual(t, wrong, 1, "of %d samples: by rounding", side*side)
		}
	}
}
