package shift

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
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

// findIn is Find, of a picture and of the mat.
func findIn(picture, learnt []float32, w, h int) (Push, bool) {
	diff := make([]float32, len(picture))
	for k, v := range picture {
		diff[k] = v - learnt[k]
	}
	return Find(picture, diff, w, h)
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
		"by 20 mm":        {Push{By: geom.Point{X: 19, Y: -6}}, 3, true},
		"by 40 mm":        {Push{By: geom.Point{X: 40}}, 3, false},
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
			for y := range 60 { // and a corner is not in the picture
				for x := range 60 {
					picture[y*w+x] = float32(math.NaN())
				}
			}
			got, ok := findIn(picture, learnt, w, h)
			require.Equal(t, c.found, ok, "%+v", got)
			require.False(t, got.Unsure)
			for _, p := range []geom.Point{{X: 100, Y: 100}, {X: 500, Y: 120}, {X: 300, Y: 500}} {
				if ok {
					most := 0.3
					if c.push.By.Norm() > 8 {
						most = 1.5 // it is rough
					}
					assert.InDelta(t, 0, got.At(p).Sub(c.push.At(p)).Norm(), most, "at %v", p)
				}
			}
		})
	}
}

// dots returns a mat of w×h cells with a dot in every square of so many cells, pushed.
func dots(w, h int, every float64, by geom.Point, seed uint64) []float32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	v := make([]float32, w*h)
	for k := range v {
		x, y := math.Mod(float64(k%w)-by.X+8*every, every)-every/2, math.Mod(float64(k/w)-by.Y+8*every, every)-every/2
		v[k] = float32(30 + 60*math.Exp(-(x*x+y*y)/3) + 3*rng.NormFloat64())
	}
	return v
}

// Where the print looks the same after a push of half of its period to either side, nothing says which one it was.
func TestAPrintThatRepeatsIsUnsure(t *testing.T) {
	const w, h = 600, 600
	pushed := 0
	for _, every := range []float64{5, 6, 8} {
		for _, by := range []geom.Point{{}, {X: 2, Y: 1}, {X: every / 2}, {X: every / 2, Y: every / 2}} {
			if got, ok := findIn(dots(w, h, every, by, 1), dots(w, h, every, geom.Point{}, 2), w, h); ok {
				assert.True(t, got.Unsure, "%v of %v: %+v", by, every, got)
				pushed++
			}
		}
	}
	assert.Positive(t, pushed)
}

func TestWhatLiesOnAPushedMatIsCarried(t *testing.T) {
	rock, err := catalogue.NewEntry("rock", "asteroid", []geom.Point{{X: -20, Y: -20}, {X: 20, Y: -10}, {X: 0, Y: 25}})
	require.NoError(t, err)
	at := func(x, y float64) vision.ObstacleView {
		return vision.ObstacleView{Entry: &rock, Pose: geom.Pose{Point: geom.Point{X: x, Y: y}}}
	}
	p := Push{About: geom.Point{X: 100, Y: 100}, By: geom.Point{X: 3}, Turn: 0.01}
	before := at(100, 200)
	before.Before = true
	got := p.Carry([]vision.ObstacleView{at(100, 200), before})
	assert.InDelta(t, 0, got[0].Pose.Point.Sub(geom.Point{X: 102, Y: 200}).Norm(), 1e-9)
	assert.InDelta(t, 2*math.Pi-0.01, float64(got[0].Pose.Heading), 1e-9, "counterclockwise")
	assert.InDelta(t, 0.25, got[0].Cov[0], 1e-9)
	assert.Equal(t, before, got[1])

	p.Unsure = true
	assert.Equal(t, before, p.Carry([]vision.ObstacleView{at(100, 200)})[0])

	known := []vision.ObstacleView{at(100, 200), at(300, 300)}
	_, all := OfLying(known, nil)
	assert.False(t, all, "none is found")
	var pushes Pushes
	pushes.Add(&Push{By: geom.Point{X: 3}})
	assert.Equal(t, known, pushes.Carry(known), "who saw them may have seen them there")
	assert.InDelta(t, 3, float64(pushes.Settle(900, 900)), 1e-9)
	seen, diff := make([]float32, 100*100), make([]float32, 100*100)
	pushes.Hide(seen, diff, 100, 100)
	hidden := 0
	for k := range seen {
		if diff[k] != diff[k] {
			assert.Equal(t, seen[k] == seen[k], diff[k] == diff[k])
			hidden++
		}
	}
	assert.Equal(t, 100*100-95*97, hidden)
	pushes.Add(&Push{By: geom.Point{X: 1, Y: 4}})
	assert.InDelta(t, 101, pushes.Carry(known)[0].Pose.X, 1e-9)
	assert.InDelta(t, 32, math.Pow(float64(pushes.Settle(900, 900)), 2), 1e-6)
	assert.Equal(t, known, pushes.Carry(known), "they were seen since")
	pushes.Add(&Push{By: geom.Point{X: 1}, Unsure: true})
	assert.Zero(t, pushes.Settle(900, 900))

	by, all := OfLying(known, []vision.ObstacleView{at(104, 200)})
	assert.True(t, all, "the one that is seen was pushed")
	assert.Equal(t, geom.Point{X: 4}, by.By)
	_, all = OfLying(known, []vision.ObstacleView{at(104, 200), at(300.5, 300)})
	assert.False(t, all, "only one of two was")
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
	_, ok := findIn(v, v, w, h)
	assert.False(t, ok)
}

func BenchmarkFind(b *testing.B) {
	const side = 914
	learnt, picture := stars(side, side, &Push{}, 0.5, 1), stars(side, side, &Push{}, 3, 2)
	for b.Loop() {
		findIn(picture, learnt, side, side)
	}
}
