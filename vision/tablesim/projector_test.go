package tablesim

import (
	"context"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
)

// spot is a projector's picture that is black but for a white square about a pixel.
func spot(x, y, half int) *image.RGBA {
	p := image.NewRGBA(image.Rect(0, 0, 1920, 1080))
	draw.Draw(p, p.Rect, image.NewUniform(color.Black), image.Point{}, draw.Src)
	draw.Draw(p, image.Rect(x-half, y-half, x+half+1, y+half+1), image.NewUniform(color.White), image.Point{}, draw.Src)
	return p
}

// TestTheProjectorsLightFallsWhereItsLensThrowsIt: for random projectors the middle of a spot is
// where the projector, taken for a camera, would see it; and elsewhere nothing changes.
func TestTheProjectorsLightFallsWhereItsLensThrowsIt(t *testing.T) {
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 2))
		p := randomProjector(rng, calibration.MatSide)
		t1 := Table{Camera: DefaultCamera(480, 270), Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
			Look: DefaultLook()}
		t1.Look.Mat, t1.Look.FullWell, t1.Look.ReadNoise = MatPlain, 0, 0
		dark, _, err := t1.Render()
		require.NoError(t, err)
		want := geom.Point{X: 300 + 300*rng.Float64(), Y: 300 + 300*rng.Float64()}
		at, ok := p.Lens.PixelOf(want, 0)
		require.True(t, ok)
		x, y := int(math.Round(at.X)), int(math.Round(at.Y))
		want, _ = p.Lens.PointAt(geom.Pixel{X: float64(x), Y: float64(y)}, 0)
		p.Picture = spot(x, y, 12)
		t1.Projector = &p
		lit, _, err := t1.Render()
		require.NoError(t, err)
		var sum, sx, sy float64
		for i := range lit.Gray.Pix {
			if d := float64(lit.Gray.Pix[i]) - float64(dark.Gray.Pix[i]); d != 0 {
				require.Positive(t, d)
				sum, sx, sy = sum+d, sx+d*float64(i%480), sy+d*float64(i/480)
			}
		}
		require.Positive(t, sum)
		seen, ok := t1.Camera.PointAt(geom.Pixel{X: sx / sum, Y: sy / sum}, 0)
		require.True(t, ok)
		assert.Less(t, float64(seen.Distance(want)), 0.5, "seen at %v, thrown at %v", seen, want)
	}
}

// TestTheProjectorsLightIsCastFromAbove: a base in its way takes the light off the mat behind it.
func TestTheProjectorsLightIsCastFromAbove(t *testing.T) {
	table := Table{Camera: DefaultCamera(480, 270), Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
		Look: DefaultLook()}
	table.Scene.Ships = []engine.Ship{{ID: "A1", Base: engine.Large, Pose: geom.Pose{Point: geom.Point{X: 450, Y: 450}}}}
	p := DefaultProjector(calibration.MatSide)
	p.Picture = spot(960, 540, 540)
	table.Projector = &p
	r, err := newRenderer(&table)
	require.NoError(t, err)
	require.NoError(t, r.update(&table))
	assert.Equal(t, rgb{}, r.beam.light(450, 450, 0, r.solids), "under the base")
	assert.NotEqual(t, rgb{}, r.beam.light(450, 450, 4, r.solids), "on it")
	assert.NotEqual(t, rgb{}, r.beam.light(450, 600, 0, r.solids), "in front of it")
}

// TestASourceShowsItsProjectorsPicture: what is thrown shows in the next frame, goes with the
// picture, and the empty mat is taken without it.
func TestASourceShowsItsProjectorsPicture(t *testing.T) {
	p := DefaultProjector(420 * geom.Millimeter)
	s, err := Open(Options{Width: 320, Height: 180, Small: true, Still: true, Projector: &p})
	require.NoError(t, err)
	defer s.Close()
	mean := func() (m float64) {
		f, err := s.Next(context.Background())
		require.NoError(t, err)
		for _, v := range f.Gray.Pix {
			m += float64(v) / float64(len(f.Gray.Pix))
		}
		return m
	}
	before := mean()
	white := spot(960, 540, 2000)
	s.Project(white)
	assert.Greater(t, mean(), before+5)
	bare, err := s.Bare()
	require.NoError(t, err)
	s.Project(nil)
	assert.InDelta(t, before, mean(), 0.2)
	again, err := s.Bare()
	require.NoError(t, err)
	var off float64
	for i := range bare.Gray.Pix {
		off += math.Abs(float64(bare.Gray.Pix[i])-float64(again.Gray.Pix[i])) / float64(len(bare.Gray.Pix))
	}
	assert.Less(t, off, 2.0, "noise alone")
}

// TestAProjectorOfAFile: sim:projector=FILE throws what the file holds, and nothing once it is gone.
func TestAProjectorOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shown.png")
	o, err := ParseSpec("sim:320x180,projector=" + path)
	require.NoError(t, err)
	o.FPS = 0
	s, err := Open(o)
	require.NoError(t, err)
	defer s.Close()
	next := func() *image.RGBA {
		_, err := s.Next(context.Background())
		require.NoError(t, err)
		return s.screen.Load()
	}
	assert.Nil(t, next())
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, png.Encode(f, spot(10, 10, 5)))
	require.NoError(t, f.Close())
	assert.NotNil(t, next())
	require.NoError(t, os.WriteFile(path, []byte("no picture"), 0o644))
	require.NoError(t, os.Chtimes(path, time.Now(), time.Now().Add(time.Hour)))
	assert.NotNil(t, next(), "half a file leaves the picture before")
	require.NoError(t, os.Remove(path))
	assert.Nil(t, next())
	_, err = ParseSpec("sim:projector=")
	assert.ErrorContains(t, err, "projector: expected the name of a PNG file")
}

// randomProjector returns another projector: 2.2 to 3 m high, up to 12 degrees from vertical,
// turned by up to 5 degrees, with a lens that distorts the picture by up to 6 mm.
func randomProjector(rng *rand.Rand, side geom.Length) Projector {
	u := func(r float64) float64 { return r * (2*rng.Float64() - 1) }
	return hang(float64(side), 2600+u(400), u(12*deg), u(12*deg), u(5*deg), u(6), u(60), u(60))
}
