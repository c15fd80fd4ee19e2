package rest

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/calibration"
)

// noisyMat is a picture of a bare mat with a noise of so many grey levels.
func noisyMat(seed uint64, noise float64) *image.Gray {
	rng := rand.New(rand.NewPCG(seed, 3))
	g := image.NewGray(image.Rect(0, 0, 1920, 1080))
	for k := range g.Pix {
		g.Pix[k] = uint8(math.Round(min(max(60+noise*rng.NormFloat64(), 0), 255)))
	}
	return g
}

func overMat() *calibration.Camera {
	return &calibration.Camera{
		Intrinsics: calibration.Intrinsics{Width: 1920, Height: 1080, Fx: 1225, Fy: 1225, Cx: 959.5, Cy: 539.5},
		Extrinsics: calibration.Extrinsics{R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, T: calibration.Vec3{-457.2, 457.2, 1250}},
	}
}

// TestATableRestsInNoise shows a mat at rest in the noise of dim light and more. Before a search has told how noisy the camera is, that
// of dim light is no change; after it, none is.
func TestATableRestsInNoise(t *testing.T) {
	for noise, known := range map[float64]float64{2: 0, 6.5: 0, 14: 14} {
		s := New(overMat(), calibration.MatSide, calibration.MatSide)
		s.SetNoise(known)
		s.Update(noisyMat(0, noise))
		s.Keep()
		for seed := range uint64(8) {
			changed, resting := s.Update(noisyMat(seed+1, noise))
			assert.False(t, changed, "noise %g, picture %d differs from the one that was kept", noise, seed)
			assert.True(t, resting, "noise %g, picture %d differs from the one before", noise, seed)
		}
	}
}

// TestADiePutDownIsAChange lays something of 8 mm, 40 grey levels lighter than the mat, in noise.
func TestADiePutDownIsAChange(t *testing.T) {
	for noise, known := range map[float64]float64{0: 1, 2: 2, 6.5: 6.5} {
		s := New(overMat(), calibration.MatSide, calibration.MatSide)
		s.SetNoise(known)
		s.Update(noisyMat(0, noise))
		s.Keep()
		g := noisyMat(1, noise)
		for y := 600; y < 608; y++ {
			for x := 900; x < 908; x++ {
				g.Pix[y*g.Stride+x] += 40
			}
		}
		changed, resting := s.Update(g)
		assert.True(t, changed, "noise %g", noise)
		assert.False(t, resting, "noise %g", noise)
	}
}
