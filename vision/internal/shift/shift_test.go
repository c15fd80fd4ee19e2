package shift

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
)

// stars returns a mat of w×h cells with stars, pushed, in noise.
func stars(w, h int, p *Push, noise float64, seed uint64) []float32 {
	rng, place := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(7, 1))
	v := make([]float32, w*h)
	for k := range v {
		v[k] = float32(30 + noise*rng.NormFloat64())
	}
	for range w * h / 150 {
		at := geom.Point{X: place.Float64() * float64(w), Y: place.Float64() * float64(h)}
		at = at.Add(p.At(at))
		for y := int(at.Y) - 3; y <= int(at.Y)+3; y++ {
			for x := int(at.X) - 3; x <= int(at.X)+3; x++ {
				if x >= 0 && y >= 0 && x < w && y < h {
					d := math.Hypot(float64(x)+0.5-at.X, float64(y)+0.5-at.Y)
					v[y*w+x] += float32(90 * math.Exp(-d*d/2))
				}
			}
		}
	}
	return v
}

func TestAPushedMatIsFound(t *testing.T) {
	const w, h = 600, 600
	learnt := stars(w, h, &Push{}, 0.5, 1)
	for name, c := range map[string]struct {
		push  Push
		noise float64
		found bool
	}{
		"nothing":         {},
		"in noise":        {noise: 6},
		"1.4 mm":          {Push{By: geom.Point{X: 1, Y: 1}}, 3, true},
		"5 mm":            {Push{By: geom.Point{X: -4, Y: 3}}, 3, true},
		"turned":          {Push{About: geom.Point{X: 300, Y: 300}, By: geom.Point{X: 1.5}, Turn: 0.008}, 3, true},
		"by 20 mm":        {Push{By: geom.Point{X: 20}}, 3, false},
		"by a tenth":      {Push{By: geom.Point{X: 0.1}}, 1, false},
		"turned by a lot": {Push{About: geom.Point{X: 300, Y: 300}, Turn: 0.1}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			picture := stars(w, h, &c.push, c.noise, 2)
			for y := 200; y < 330; y++ { // a thing lies there
				for x := 150; x < 300; x++ {
					picture[y*w+x] = 120
				}
			}
			got, ok := Find(picture, learnt, w, h)
			require.Equal(t, c.found, ok, "%+v", got)
			for _, p := range []geom.Point{{X: 100, Y: 100}, {X: 500, Y: 120}, {X: 300, Y: 500}} {
				if ok {
					assert.InDelta(t, 0, got.At(p).Sub(c.push.At(p)).Norm(), 0.3, "at %v", p)
				}
			}
		})
	}
}

func TestPushesFollowEachOther(t *testing.T) {
	a := Push{About: geom.Point{X: 300, Y: 300}, By: geom.Point{X: 2}, Turn: 0.004}
	b := Push{About: geom.Point{X: 100, Y: 500}, By: geom.Point{Y: -1}, Turn: -0.003}
	both := a.Then(&b)
	for _, p := range []geom.Point{{}, {X: 600}, {X: 200, Y: 700}} {
		once := p.Add(a.At(p))
		assert.InDelta(t, 0, once.Add(b.At(once)).Sub(p.Add(both.At(p))).Norm(), 0.02)
	}
}

func TestAMatWithoutPrintTellsOfNoPush(t *testing.T) {
	const w, h = 600, 600
	v := make([]float32, w*h)
	_, ok := Find(v, v, w, h)
	assert.False(t, ok)
}

func BenchmarkFind(b *testing.B) {
	const side = 914
	learnt, picture := stars(side, side, &Push{}, 0.5, 1), stars(side, side, &Push{}, 3, 2)
	for b.Loop() {
		Find(picture, learnt, side, side)
	}
}
