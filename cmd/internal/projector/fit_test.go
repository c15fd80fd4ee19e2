package projector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
)

// thrower is a projector as optics make it: the inverse of a camera, whose picture a keystone
// correction may have warped before. It shares nothing with the map that is fitted.
type thrower struct {
	lens     calibration.Camera
	keystone calibration.Homography
}

const (
	screenWide, screenHigh = 1920, 1080
	matSide                = 914.4
)

// randomThrower hangs a projector 2.2 to 3 m over the mat, tilted by up to 12 degrees, whose lens
// bends the picture's corners by up to 6 mm on the mat.
func randomThrower(rng *rand.Rand) thrower {
	u := func(r float64) float64 { return r * (2*rng.Float64() - 1) }
	away := 2600 + u(400)
	f := 0.8 * screenHigh * away / matSide * (1 + u(0.05))
	// At the mat's corners the normalised radius is about 0.25: k1·r³ of it is the bend.
	r := matSide / math.Sqrt2 / away
	bend := u(6) / away / (r * r * r)
	t := thrower{keystone: calibration.Homography{1 + u(0.02), u(0.01), u(10), u(0.01), 1 + u(0.02), u(10), u(4e-5), u(4e-5), 1}}
	t.lens.Intrinsics = calibration.Intrinsics{Width: screenWide, Height: screenHigh, Fx: f, Fy: f,
		Cx: screenWide/2 + u(60), Cy: screenHigh/2 + u(60), Distortion: [5]float64{bend, 0, u(3e-4), u(3e-4), 0}}
	turn := calibration.MulMat3(calibration.RotationFromVector(calibration.Vec3{u(0.2), u(0.2), u(math.Pi)}),
		[3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}})
	t.lens.R = turn
	mid := calibration.Vec3{matSide/2 + u(30), matSide/2 + u(30), 0}
	for i := range 3 {
		t.lens.T[i] = -(turn[i][0]*mid[0] + turn[i][1]*mid[1])
	}
	t.lens.T[2] += away
	return t
}

// screen is where a point of the mat is lit from.
func (t *thrower) screen(p geom.Point) Place {
	px, _ := t.lens.PixelOf(p, 0)
	k := t.keystone
	w := k[6]*px.X + k[7]*px.Y + k[8]
	return Place{(k[0]*px.X + k[1]*px.Y + k[2]) / w, (k[3]*px.X + k[4]*px.Y + k[5]) / w}
}

// read is what a camera reads of tags at these places, each corner seen with the noise.
func (t *thrower) read(middles []geom.Point, noise float64, rng *rand.Rand) (out []reading) {
	for id, m := range middles {
		r := reading{id: id}
		for k, d := range [4]geom.Point{{X: -30, Y: 30}, {X: 30, Y: 30}, {X: 30, Y: -30}, {X: -30, Y: -30}} {
			p := m.Add(d)
			r.on[k] = t.screen(p)
			r.at[k] = p.Add(geom.Point{X: noise * rng.NormFloat64(), Y: noise * rng.NormFloat64()})
		}
		out = append(out, r)
	}
	return out
}

func grid(n int, from, step float64) (out []geom.Point) {
	for j := range n {
		for i := range n {
			out = append(out, geom.Point{X: from + step*float64(i), Y: from + step*float64(j)})
		}
	}
	return out
}

// TestTheMapIsTrue: for random projectors the fitted map lies where the prototype's did, 0.12 to
// 0.19 mm rms and 0.8 mm at worst, though each corner is seen to 0.3 mm only.
func TestTheMapIsTrue(t *testing.T) {
	var worstRMS, worst, plainRMS, plain float64
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		p := randomThrower(rng)
		read := p.read(grid(8, 60, 113), 0.3, rng)
		m, used, err := fit(screenWide, screenHigh, read)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(used), 60)
		h, err := rough(screenWide, screenHigh, read)
		require.NoError(t, err)
		truth := p.read(grid(13, 35, 70), 0, rng)
		e, without := m.verify(truth), h.verify(truth)
		worstRMS, worst = max(worstRMS, e.RMS), max(worst, e.Worst)
		plainRMS, plain = max(plainRMS, without.RMS), max(plain, without.Worst)
	}
	t.Logf("with the polynomial at most %.3f mm rms, %.3f mm at worst; without %.3f and %.3f", worstRMS, worst, plainRMS, plain)
	assert.Less(t, worstRMS, 0.19)
	assert.Less(t, worst, 0.8)
	assert.Greater(t, plain, 2.0, "the lenses bend enough for the polynomial to matter")
}

// TestTheMapGoesBothWays: what misses by nothing misses by nothing, and a shift is seen as itself.
func TestTheMapGoesBothWays(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	p := randomThrower(rng)
	m, _, err := fit(screenWide, screenHigh, p.read(grid(8, 60, 113), 0, rng))
	require.NoError(t, err)
	for _, q := range grid(9, 50, 100) {
		s, ok := m.Screen(q)
		require.True(t, ok)
		off, ok := m.Off(q.Add(geom.Point{X: 0.6, Y: -0.8}), s)
		require.True(t, ok)
		assert.InDelta(t, 1, off, 0.01)
		assert.InDelta(t, 0.8*screenHigh/matSide, m.Scale(q), 0.3)
	}
}

// TestATagOnSomethingIsLeftOut: a tag that falls on a box is far off, and does not bend the map;
// more of them than a tenth are refused by the second pattern.
func TestATagOnSomethingIsLeftOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	p := randomThrower(rng)
	lift := func(read []reading, n int) {
		for i := range n {
			for k := range 4 {
				read[9*i].at[k] = read[9*i].at[k].Add(geom.Point{X: 6, Y: 2})
			}
		}
	}
	second := p.read(grid(7, 117, 113), 0.1, rng)
	few, many := p.read(grid(8, 60, 113), 0.1, rng), p.read(grid(8, 60, 113), 0.1, rng)
	lift(few, 4)
	lift(many, 7)
	m, used, err := fit(screenWide, screenHigh, few)
	require.NoError(t, err)
	assert.Len(t, used, 60)
	e := m.verify(second)
	assert.Empty(t, m.accept(second, e), "%+v", e)
	lift(second, 1)
	e = m.verify(second)
	assert.Contains(t, m.accept(second, e), "The light misses its places by", "what stands under the second pattern is said")
	_, _, err = fit(screenWide, screenHigh, few[:19])
	assert.ErrorContains(t, err, "19 tags were read that agree; at least 20 are needed")
	_, _, err = fit(screenWide, screenHigh, many)
	require.NoError(t, err)
}

// TestAMapIsAcceptedByItsSecondPattern: too few tags, a corner of the mat only, or a projector that
// was pushed between the patterns are refused.
func TestAMapIsAcceptedByItsSecondPattern(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	p := randomThrower(rng)
	m, _, err := fit(screenWide, screenHigh, p.read(grid(8, 60, 113), 0.1, rng))
	require.NoError(t, err)
	require.NoError(t, m.check())
	for name, c := range map[string]struct {
		change func(*thrower) []geom.Point
		want   string
	}{
		"good":         {func(*thrower) []geom.Point { return grid(7, 117, 113) }, ""},
		"few":          {func(*thrower) []geom.Point { return grid(3, 117, 300) }, "Only 9 tags"},
		"a corner":     {func(*thrower) []geom.Point { return grid(4, 100, 60) }, "a small part of the mat"},
		"it was moved": {func(t *thrower) []geom.Point { t.lens.T[0] += 3; return grid(7, 117, 113) }, "misses its places"},
	} {
		moved := p
		middles := c.change(&moved)
		second := moved.read(middles, 0.1, rng)
		got := m.accept(second, m.verify(second))
		if c.want == "" {
			assert.Empty(t, got, name)
		} else {
			assert.Contains(t, got, c.want, name)
		}
	}
}

// TestPointsInARowFixNoMap: what does not fix a map is an error, and never a map.
func TestPointsInARowFixNoMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	p := randomThrower(rng)
	read := p.read(grid(8, 60, 113), 0, rng)
	for i := range read {
		for k := range 4 {
			read[i].at[k].Y = 2 * read[i].at[k].X
		}
	}
	_, _, err := fit(screenWide, screenHigh, read)
	assert.ErrorIs(t, err, errNoMap, fmt.Sprint(err))
}
