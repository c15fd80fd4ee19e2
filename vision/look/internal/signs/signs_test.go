package signs

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// randomMat is a mat of random signs, or of few if sparse is large.
func randomMat(rng *rand.Rand, n, sparse int) *Mat {
	mat := &Mat{origin: geom.Point{X: -40, Y: -40}, step: 1, n: n, v: make([]uint8, n*n)}
	for k := range mat.v {
		mat.v[k] = []uint8{0, brighter, darker, brighter & 5, darker &^ (1 << channels)}[rng.IntN(5)]
		if rng.IntN(sparse) > 0 {
			mat.v[k] = 0
		}
	}
	return mat
}

// randomLook is a look of random signs.
func randomLook(rng *rand.Rand, side int) *Look {
	s := &Look{side: side, words: (side + wordSamples - 1) / wordSamples}
	s.rows = newRows(s.side, s.words)
	for j := range side {
		for i := range side * channels {
			w, bit := &s.row(j)[i/(channels*wordSamples)], i%(channels*wordSamples)
			v := uint64(rng.IntN(3))
			w.any |= (v + 1) >> 1 << bit
			w.brighter |= v >> 1 << bit
		}
	}
	return s
}

// The words that are compared hold the signs that the mat has around a sample, for looks of one word a row and of two.
func TestTheSignsAroundASample(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	mat := randomMat(rng, 301, 1)
	l := NewLattice(mat)
	for _, side := range []int{17, 37} {
		s := randomLook(rng, side)
		scorer := NewScorer([]*Look{s})
		for range 40 {
			l.Turn(geom.Angle(2 * math.Pi * rng.Float64()))
			i, j := l.Side/2+rng.IntN(80)-40, l.Side/2+rng.IntN(80)-40
			scorer.Score(l, j, []int{i}, func(int, int, float64) {})
			held := Look{side: side, words: s.words, rows: newRows(side, s.words)}
			for r := range held.rows {
				for k := range held.rows[r] {
					held.rows[r][k] = l.words[scorer.at[r][k]+i]
				}
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

// What scores has at least as many signs that agree as disagree in a quarter of the look's rows, and enough in half of them, and scores by
// all rows; nothing else scores.
func TestScoresOfManySamplesAndLooks(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 0))
	for _, side := range []int{17, 37} {
		looks := []*Look{randomLook(rng, side), randomLook(rng, side), randomLook(rng, side)}
		scorer, scored, all := NewScorer(looks), 0, 0
		for _, sparse := range []int{1, 2, 9} {
			l := NewLattice(randomMat(rng, 301, sparse))
			for range 30 {
				l.Turn(geom.Angle(2 * math.Pi * rng.Float64()))
				j := l.Side/2 + rng.IntN(80) - 40
				var samples []int
				for i := range 61 {
					samples = append(samples, l.Side/2-90+3*i)
				}
				got := map[[2]int]float64{}
				scorer.Score(l, j, samples, func(look, i int, score float64) { got[[2]int{look, i}] = score })
				for k, look := range looks {
					for _, i := range samples {
						want, ok := slowScore(l, look, i, scorer.at)
						score, scores := got[[2]int{k, i}]
						require.True(t, ok == scores && want == score, "%v %v, %v %v", ok, want, scores, score)
						all++
						if scores {
							scored++
						}
					}
				}
			}
		}
		assert.Greater(t, scored, all/20)
		assert.Less(t, scored, all/4)
	}
}

// slowScore compares a look sign by sign.
func slowScore(l *Lattice, look *Look, i int, at [len(rowsOf)][]int) (score float64, ok bool) {
	all, more := 0.0, 0.0
	for r := range at {
		for k, w := range look.rows[r] {
			for bit := range 64 {
				if h := l.words[at[r][k]+i]; (w.any&h.any)>>bit&1 == 1 {
					all++
					more += 1 - 2*float64((w.brighter^h.brighter)>>bit&1)
				}
			}
		}
		if score = more / math.Sqrt(all+signNoise); r == 0 && score < 0 || r == 1 && score < halfLeast {
			return 0, false
		}
	}
	return score, true
}
