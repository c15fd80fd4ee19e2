package tablesim

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func cameras() map[string]calibration.Camera {
	return map[string]calibration.Camera{
		"default 1080p": DefaultCamera(1920, 1080),
		"default 4K":    DefaultCamera(3840, 2160),
		"default 4:3":   DefaultCamera(640, 480),
		"tiny":          DefaultCamera(64, 36),
		"random":        RandomCamera(seeded(3), 1920, 1080),
	}
}

func TestProjectionAgreesWithTheCameraModel(t *testing.T) {
	for name, c := range cameras() {
		l, err := newLens(c)
		require.NoError(t, err, name)
		rng := seeded(5)
		for range 2000 {
			p := geom.Point{X: 1400*rng.Float64() - 250, Y: 1200*rng.Float64() - 150}
			z := 60 * rng.Float64()
			u, v, ok := l.project(p.X, p.Y, z)
			want, wantOK := c.PixelOf(p, geom.Length(z))
			require.Equal(t, wantOK, ok)
			assert.InDelta(t, want.X, u, 1e-9, "%s: x of %v at z = %v", name, p, z)
			assert.InDelta(t, want.Y, v, 1e-9, "%s: y of %v at z = %v", name, p, z)
		}
	}
}

func TestRaysLeadBackToTheirPixels(t *testing.T) {
	for name, c := range cameras() {
		l, err := newLens(c)
		require.NoError(t, err, name)
		worst := 0.0
		for _, at := range [][2]int{{-1, -1}, {0, 0}, {3, 5}, {c.Width - 9, c.Height - 3}, {c.Width / 2, 7}, {c.Width - 4, c.Height / 3}} {
			pts := l.lattice(nil, at[0], at[1], 5, 4)
			for j := range 4 {
				for i := range 5 {
					q := pts[5*j+i]
					px, ok := c.PixelOf(geom.Point{X: q[0], Y: q[1]}, 0)
					require.True(t, ok)
					e := math.Hypot(px.X-(float64(at[0]+i)-0.5), px.Y-(float64(at[1]+j)-0.5))
					worst = max(worst, e)
				}
			}
		}
		assert.Less(t, worst, 1e-4, "%s: px", name)
	}
}

func TestARayThroughAHeightMeetsThePointThere(t *testing.T) {
	l, err := newLens(DefaultCamera(320, 180))
	require.NoError(t, err)
	r := l.rayThrough(123, 456, 47)
	x, y := r.at(47)
	assert.InDelta(t, 123, x, 1e-9)
	assert.InDelta(t, 456, y, 1e-9)
	// The ray's other points have the same pixel.
	x, y = r.at(4)
	u0, v0, _ := l.project(123, 456, 47)
	u1, v1, _ := l.project(x, y, 4)
	assert.InDelta(t, u0, u1, 1e-9)
	assert.InDelta(t, v0, v1, 1e-9)
}

func TestTheWholeMatAndAllMarkersAreInView(t *testing.T) {
	if testing.Short() {
		t.Skip("looks at whole pictures in one goroutine: nothing for the race detector")
	}
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	for name, c := range cameras() {
		assert.True(t, inView(c, layout, 0), name)
	}
	fallback := DefaultCamera(1920, 1080)
	for seed := range uint64(30) {
		c := RandomCamera(seeded(seed), 1920, 1080)
		assert.NotEqual(t, fallback, c, "seed %d found no camera of its own", seed)
		for _, m := range layout.Markers {
			for _, p := range m.Corners() {
				px, ok := c.PixelOf(p, m.Z)
				assert.True(t, ok && c.Contains(px), "seed %d: marker %d at %v", seed, m.ID, px)
			}
		}
	}
}

func TestACameraThatCannotBeRenderedIsRefused(t *testing.T) {
	for name, change := range map[string]func(*calibration.Camera){
		"positive":            func(c *calibration.Camera) { c.Fx = 0 },
		"cannot be inverted":  func(c *calibration.Camera) { c.Distortion = [5]float64{-2.5, 0, 0, 0, 0} },
		"above the mat":       func(c *calibration.Camera) { c.T[2] = -500 },
		"horizon":             func(c *calibration.Camera) { *c = cameraOver(c.Intrinsics, geom.Point{}, 1200, -1.3, 0, 0) },
		"distortion_coeffici": func(c *calibration.Camera) { c.Distortion[1] = math.NaN() },
	} {
		c := DefaultCamera(320, 180)
		change(&c)
		_, err := newLens(c)
		assert.ErrorContains(t, err, name)
	}
}
