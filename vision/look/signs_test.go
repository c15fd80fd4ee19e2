package look

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/calibration"
	"sightline/engine"
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
			assert.InDelta(t, math.Sqrt(variance/channels+blockNoise), got.deviation, 0.01)
		})
	}
}

// A look scores where its own card lies, at that heading, and nowhere near it as much; half of its rows as well.
func TestALookScoresWhereItLies(t *testing.T) {
	l := small(t, 1, "A1")
	s := l.signs()
	assert.Equal(t, 17, s.side)
	at := pose(140, 120, 54)
	d := drawing{table: tableAt(1.02), noise: 1, matted: true, bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at}}}
	f := NewFinder(d.table, &Library{Looks: []*Look{l}}, calibration.Uncertainty{})
	mat := newSigns(f.flattenMat(d.draw(1)))
	turned, around := newLattice(mat), newWindow(&s)
	best, where := 0.0, geom.Pose{}
	for a := range 60 {
		turned.turn(geom.Angle(2 * math.Pi * float64(a) / 60))
		for j := range turned.side {
			for i := range turned.side {
				p := turned.point(i, j)
				if p.X < 20 || p.Y < 20 || p.X > 240 || p.Y > 240 {
					continue
				}
				around.move(turned, i, j)
				if score := s.score(around); score > best {
					best, where = score, geom.Pose{Point: p, Heading: turned.heading}
				}
			}
		}
	}
	assert.Greater(t, best, 8.0)
	assert.Less(t, float64(where.Distance(at.Point)), 2.0)
	assert.Less(t, float64(where.Heading.Distance(at.Heading)), 7*math.Pi/180)
}

// A window holds the signs that the mat has around its sample, for looks of one word a row and of two.
func TestAWindowHoldsTheSignsAround(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	mat := &signs{origin: geom.Point{X: -40, Y: -40}, step: 1, n: 301, v: make([]uint8, 301*301)}
	for k := range mat.v {
		mat.v[k] = []uint8{0, brighter, darker, brighter & 5, darker &^ (1 << channels)}[rng.IntN(5)]
	}
	l := newLattice(mat)
	for _, side := range []int{17, 37} {
		s := signLook{side: side, words: (side + wordSamples - 1) / wordSamples}
		w := newWindow(&s)
		for range 40 {
			l.turn(geom.Angle(2 * math.Pi * rng.Float64()))
			i, j := l.side/2+rng.IntN(80)-40, l.side/2+rng.IntN(80)-40
			w.move(l, i, j)
			held := signLook{side: side, words: s.words}
			for r := range held.rows {
				held.rows[r] = w.take(r)
			}
			wrong := 0
			for y := range side {
				row := held.row(y)
				for x := range side {
					p := l.point(i+x-side/2, j+y-side/2).Sub(mat.origin)
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
