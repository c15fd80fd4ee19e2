package ship

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
	"sightline/vision/internal/visiontest"
	"sightline/vision/token"
)

// filmed draws a token on a dark mat as a camera records it: blur in px, light over that which just clips without a shoulder, the
// shoulder from 0.7 on if it has one, noise as a share of full scale.
func filmed(t calibration.Table, s visiontest.Placed, blur, gain float64, shoulder bool, noise float64) *image.Gray {
	const rays = 3
	w, h := t.Intrinsics.Width, t.Intrinsics.Height
	light := make([]float64, w*h)
	for i := range light {
		if v, ok := visiontest.Plain(t, []visiontest.Placed{s}, nil, i%w, i/w); ok {
			light[i] = gain * v
			continue
		}
		for k := range rays * rays {
			px := geom.Pixel{X: float64(i%w) + (float64(k%rays)+0.5)/rays - 0.5, Y: float64(i/w) + (float64(k/rays)+0.5)/rays - 0.5}
			p, _ := t.PointAt(px, token.BaseTop)
			v := visiontest.MatLight
			if ink, on := s.At(s.Pose.Inverse(p)); on {
				v = 0.03 + 0.97*float64(gray.LinearLight[ink.G])
			}
			light[i] += gain * v / (rays * rays)
		}
	}
	const reach = 5
	var kernel [2*reach + 1]float64
	sum := 0.0
	for k := range kernel {
		kernel[k] = math.Exp(-float64((k-reach)*(k-reach)) / (2 * blur * blur))
		sum += kernel[k]
	}
	for _, step := range [...]int{1, w} {
		out := make([]float64, w*h)
		for i := range out {
			for k, v := range kernel {
				out[i] += v / sum * light[min(max(i+(k-reach)*step, 0), w*h-1)]
			}
		}
		light = out
	}
	rng := rand.New(rand.NewPCG(1, 2))
	g := image.NewGray(image.Rect(0, 0, w, h))
	for i, v := range light {
		v += noise * rng.NormFloat64()
		if shoulder && v > 0.7 {
			v = 1 - 0.3*math.Exp((0.7-v)/0.3)
		}
		g.Pix[i] = visiontest.Encode(v)
	}
	return g
}

// A ship is read where its paper is clipped and where the lens is soft, and its place is within what is stated.
func TestAShipIsReadThroughBlurAndClipping(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	l, err := NewLocator(table, calibration.Uncertainty{Height: 1e-9})
	require.NoError(t, err)
	for _, c := range []struct {
		blur, gain float64
		shoulder   bool
	}{{0.6, 2, true}, {0.6, 3, true}, {0.8, 2, true}, {0.8, 2, false}, {1.0, 1.5, true}, {1.2, 1, true}, {1.2, 1, false}, {1.2, 1.25, true}} {
		for i, id := range []string{"A3", "A15", "B8"} {
			pose := visiontest.Pose(98.3+float64(i), 101.7, 17+31*float64(i))
			got, err := l.Locate(vision.Frame{Gray: filmed(table, visiontest.Placed{Token: visiontest.Token(t, id, engine.Small), Pose: pose},
				c.blur, c.gain, c.shoulder, 0.004)})
			require.NoError(t, err)
			if !assert.Len(t, got.Scene.Ships, 1, "%s, %+v", id, c) {
				continue
			}
			s := got.Scene.Ships[0]
			assert.Equal(t, id, s.ID)
			d := s.Pose.Sub(pose.Point)
			assert.Less(t, math.Abs(d.X)/math.Sqrt(s.Covariance[0]), 3.0, "%s, %+v: x off by %.3f mm", id, c, d.X)
			assert.Less(t, math.Abs(d.Y)/math.Sqrt(s.Covariance[4]), 3.0, "%s, %+v: y off by %.3f mm", id, c, d.Y)
			assert.Less(t, float64(s.Pose.Heading.Distance(pose.Heading))/math.Sqrt(s.Covariance[8]), 3.0, "%s, %+v: heading", id, c)
		}
	}
}

func TestTheCamerasResponseIsInverted(t *testing.T) {
	for light := 0.0; light < 2; light += 0.01 {
		v, slope := recorded(light)
		assert.InDelta(t, light, unrecorded(v), 1e-9)
		up, _ := recorded(light + 1e-6)
		assert.InDelta(t, (up-v)/1e-6, slope, 1e-4)
	}
}

// The lead of a ship is over its likeliest rival: one that differs in four cells of the only side in view, or none at all.
func TestTheLikelihoodOfAShip(t *testing.T) {
	a := token.Token{Code: 0, Base: engine.Small}
	everything := func(geom.Point) bool { return true }
	own, lead := readAs(a, a, geom.Point{}, 0, everything).likelihood(true)
	assert.Greater(t, own, float64(sureLog))
	assert.Greater(t, lead, float64(farLead))
	for code := token.ShipCode(1); code < token.Ships; code++ {
		_, lead := readAs(a, token.Token{Code: code, Base: engine.Small}, geom.Point{}, 0, everything).likelihood(true)
		assert.Less(t, lead, float64(sideLead), "%s taken for %s", a.Code.ID(), code.ID())
	}
	// Two of three cells show half of one and half of the other.
	f := readAs(a, a, geom.Point{}, 0, everything)
	for s := range f.shown {
		for i := range f.shown[s] {
			if i%3 != 0 {
				f.shown[s][i].value = 0
			}
		}
	}
	_, _, ok := f.identity()
	assert.False(t, ok)
}

// A rim that fits best with much blur may be the texture of a rock: it must be likelier than one that fits sharply.
func TestABlurredFitNeedsMoreEvidence(t *testing.T) {
	a := token.Token{Code: 0, Base: engine.Small}
	f := readAs(a, a, geom.Point{}, 0, func(geom.Point) bool { return true })
	for s := range f.shown {
		for i := range f.shown[s] {
			if i%3 == 0 { // hidden: no side is whole
				f.shown[s][i], f.cells[s][i] = shows{}, cellHidden
			}
		}
	}
	own, lead := f.likelihood(false)
	require.Greater(t, own, float64(sureLog))
	require.Less(t, own, softFactor*sureLog)
	require.Greater(t, lead, float64(sureLead))
	for blur, want := range map[float64]bool{0.7: true, softBlur - 0.01: true, softBlur + 0.01: false, mostBlur - 0.1: false} {
		f.sigma = blur
		_, _, ok := f.identity()
		assert.Equal(t, want, ok, "blur %.2f px, %.1f against no ship, lead %.1f", blur, own, lead)
	}
}

func TestTheLatticeIsThePlaceOfPixels(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	table.Distortion = [5]float64{-0.1, 0.03, 0.0006, -0.0004, -0.004}
	var l lattice
	l.reset(&table.Camera, token.BaseTop, 20, 30, 150, 140)
	for x := 20; x <= 150; x += 7 {
		for y := 30; y <= 140; y += 3 {
			p, ok := l.At(x, y)
			want, _ := table.PointAt(geom.Pixel{X: float64(x), Y: float64(y)}, token.BaseTop)
			require.True(t, ok)
			assert.Less(t, float64(p.Distance(want)), 0.002)
		}
	}
}
