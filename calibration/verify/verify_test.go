package verify_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/engine/geom"
)

// checkRig is a calibrated camera over a mat, and a check card laid at five places.
type checkRig struct {
	truth calibration.Camera
	table calibration.Table
	setup verify.Setup
}

func newCheckRig(t *testing.T, rng *rand.Rand) checkRig {
	t.Helper()
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	truth := calibration.Camera{
		Intrinsics: calibration.Intrinsics{Width: 1920, Height: 1080, Fx: 1150, Fy: 1150, Cx: 960, Cy: 540},
		Extrinsics: lookingDown(457, 430, 1200),
	}
	var seen []calibration.MarkerSighting
	for _, m := range layout.Markers {
		seen = append(seen, calibration.MarkerSighting{ID: m.ID, Corners: cornersOf(t, &truth, m, 0.03, rng)})
	}
	table, err := calibration.Register(truth.Intrinsics, layout, seen)
	require.NoError(t, err)
	return checkRig{truth, table, verify.Setup{
		Card: verify.DefaultCard(), Thickness: 0.2, BaseTop: 4, Limit: verify.DefaultLimit,
		Bars: [2]geom.Length{verify.Bar, verify.Bar},
	}}
}

// lookingDown is a camera over a place of the mat, the picture's top away from player 1.
func lookingDown(x, y, z float64) calibration.Extrinsics {
	e := calibration.Extrinsics{R: calibration.MulMat3(
		calibration.RotationFromVector(calibration.Vec3{0.05, 0.02, 0.01}), [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}})}
	c := e.Camera(calibration.Vec3{x, y, z})
	e.T = calibration.Vec3{-c[0], -c[1], -c[2]}
	return e
}

func cornersOf(t *testing.T, cam *calibration.Camera, m calibration.Marker, sigma float64, rng *rand.Rand) (out [4]geom.Pixel) {
	t.Helper()
	for k, p := range m.Corners() {
		px, ok := cam.PixelOf(p, m.Z)
		require.True(t, ok)
		out[k] = px.Add(geom.Pixel{X: sigma * rng.NormFloat64(), Y: sigma * rng.NormFloat64()})
	}
	return out
}

// laid is where the strips lie in the five pictures: the middle and the quarters,
// in all directions.
func laid(place, strip int) geom.Pose {
	at := [5]geom.Point{{X: 400, Y: 450}, {X: 160, Y: 200}, {X: 700, Y: 220}, {X: 690, Y: 700}, {X: 170, Y: 720}}[place]
	return geom.Pose{Point: at.Add(geom.Point{X: 110 * float64(strip)}), Heading: geom.Angle(37*place+5*strip) * geom.Degree}
}

// lie is the sigma, in mm, of the height of each marker of a strip.
const lie = 0.1

// sightings draws the corners of a card of the given true scale, its strips at the
// given true heights.
func (r checkRig) sightings(t *testing.T, rng *rand.Rand, scale float64, heights [2]float64) (out []verify.Sighting) {
	t.Helper()
	for place := range 5 {
		s := verify.Sighting{Name: fmt.Sprintf("place%d.jpg", place+1)}
		for i, strip := range r.setup.Card.Strips {
			pose := laid(place, i)
			for _, tag := range strip.Tags {
				local := tag.Center.Sub(geom.Point{X: float64(strip.Width) / 2, Y: float64(strip.Height) / 2}).Mul(scale)
				m := calibration.Marker{ID: tag.ID, Center: pose.Transform(local), Heading: pose.Heading, Size: tag.Size * geom.Length(scale),
					Z: geom.Length(heights[i] + lie*rng.NormFloat64())}
				s.Tags = append(s.Tags, calibration.MarkerSighting{ID: m.ID, Corners: cornersOf(t, &r.truth, m, 0.08, rng)})
			}
		}
		out = append(out, s)
	}
	return out
}

var asSaid = [2]float64{0.2, 4.2}

func verified(t *testing.T, r checkRig, seen []verify.Sighting) verify.Result {
	t.Helper()
	v, err := verify.Run(r.table, r.setup, seen)
	require.NoError(t, err)
	t.Logf("%s: worst %.2f mm, %.1f sigma, chi-square %.1f/%d (p %.2g), stated %.3f, reference %.3f mm: %v %q",
		v.Outcome, float64(v.WorstError), v.WorstNormalised, v.ChiSquare, v.Freedom, v.Probability,
		float64(v.Stated), float64(v.Reference), v.Reasons, v.Cause)
	return v
}

func TestARightCalibrationPasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	r := newCheckRig(t, rng)
	v := verified(t, r, r.sightings(t, rng, 1, asSaid))
	assert.Equal(t, verify.Pass, v.Outcome)
	assert.Empty(t, v.Reasons)
	assert.Empty(t, v.Cause)
	assert.Equal(t, 5, v.Places)
	assert.Len(t, v.Deviations, 5*2*3, "three distances of each strip at each place")
	assert.Greater(t, v.Covered, 0.9)
	for _, d := range v.Deviations {
		assert.InDelta(t, float64(d.True), float64(d.Measured), 0.3)
		assert.Less(t, float64(d.Sigma()), 0.35)
	}
}

func TestAWrongCalibrationFailsAndSaysWhatIsLikelyWrong(t *testing.T) {
	for _, c := range []struct {
		name  string
		wrong func(r *checkRig) (scale float64, heights [2]float64)
		cause string
	}{
		{"the camera stands 5 mm lower than the file says", func(r *checkRig) (float64, [2]float64) {
			r.table.Extrinsics = raised(r.table.Extrinsics, 5)
			return 1, asSaid
		}, "as if the camera stood 4.8 mm lower"},
		{"the markers were laid half a per cent too wide", func(r *checkRig) (float64, [2]float64) {
			return 1 / 1.005, asSaid // the same picture of everything but the card
		}, "too short by 0."},
		{"the bases are 3 mm higher than said", func(r *checkRig) (float64, [2]float64) {
			return 1, [2]float64{0.2, 7.2}
		}, "strip on the bases seems to lie at 7."},
		{"the strip for the mat lies on bases too", func(r *checkRig) (float64, [2]float64) {
			return 1, [2]float64{4.2, 4.2}
		}, "strip on the mat seems to lie at 4."},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(2, 3))
			r := newCheckRig(t, rng)
			scale, heights := c.wrong(&r)
			v := verified(t, r, r.sightings(t, rng, scale, heights))
			assert.Equal(t, verify.Fail, v.Outcome)
			assert.NotEmpty(t, v.Reasons)
			assert.Contains(t, v.Cause, c.cause)
		})
	}
}

// raised moves the camera up by mm in its file, and nothing else.
func raised(e calibration.Extrinsics, mm float64) calibration.Extrinsics {
	c := e.Center()
	c[2] += mm
	e.T = calibration.Vec3{}
	t := e.Camera(c)
	e.T = calibration.Vec3{-t[0], -t[1], -t[2]}
	return e
}

func TestACardThatNobodyMeasuredCannotPass(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	r := newCheckRig(t, rng)
	r.setup.Bars = [2]geom.Length{}
	v := verified(t, r, r.sightings(t, rng, 1, asSaid))
	assert.Equal(t, verify.Undecided, v.Outcome)
	require.Len(t, v.Reasons, 1)
	assert.Contains(t, v.Reasons[0], "--card-length")
}

func TestAMeasuredBarCorrectsThePrint(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	r := newCheckRig(t, rng)
	seen := r.sightings(t, rng, 1, asSaid)
	r.setup.Bars = [2]geom.Length{219, 219} // the rule says that the card is short
	assert.Equal(t, verify.Fail, verified(t, r, seen).Outcome)
	// A card that was printed 0.45 % short, and measured.
	short := r.sightings(t, rng, 219.0/220, asSaid)
	assert.Equal(t, verify.Pass, verified(t, r, short).Outcome)
}

func TestTheRateOfFalseAlarmsIsWhatTheCriterionSays(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 13))
	var failed, n int
	var sum, freedom float64
	rounds, most := 200, 5
	if testing.Short() {
		rounds, most = 50, 2
	}
	for range rounds {
		r := newCheckRig(t, rng)
		// The card and its height deviate by their sigmas.
		bar := 220 + 0.11*rng.NormFloat64()
		heights := [2]float64{0.2 + 0.15*rng.NormFloat64(), 4.2 + 0.15*rng.NormFloat64()}
		r.setup.Bars = [2]geom.Length{geom.Length(bar), geom.Length(bar)}
		for i := range r.setup.Card.Strips {
			for k := range r.setup.Card.Strips[i].Tags {
				c := &r.setup.Card.Strips[i].Tags[k].Center
				*c = c.Add(geom.Point{X: 0.05 * rng.NormFloat64(), Y: 0.05 * rng.NormFloat64()})
			}
		}
		seen := r.sightings(t, rng, 1, heights)
		r.setup.Card = verify.DefaultCard()
		v, err := verify.Run(r.table, r.setup, seen)
		require.NoError(t, err)
		n++
		if v.Outcome != verify.Pass {
			failed++
		}
		sum += v.ChiSquare
		freedom += float64(v.Freedom)
	}
	t.Logf("%d of %d right calibrations fail; chi-square over its degrees of freedom %.2f", failed, n, sum/freedom)
	assert.LessOrEqual(t, failed, most, "of %d: 1 %% may be expected at most", n)
	assert.Less(t, sum/freedom, 1.1, "the sigmas are not too small")
}

// A verification that fails does not pass again when the same error grows.
func TestAnErrorThatGrowsNeverPassesMore(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	r := newCheckRig(t, rng)
	for name, wrong := range map[string]func(k float64) (float64, [2]float64){
		"scale":  func(k float64) (float64, [2]float64) { return 1 + 0.001*k, asSaid },
		"height": func(k float64) (float64, [2]float64) { return 1, [2]float64{0.2, 4.2 + 0.5*k} },
	} {
		failing := false
		last := 0.0
		for k := range 12 {
			scale, heights := wrong(float64(k))
			v, err := verify.Run(r.table, r.setup, r.sightings(t, rand.New(rand.NewPCG(8, 8)), scale, heights))
			require.NoError(t, err)
			if failing {
				assert.Equal(t, verify.Fail, v.Outcome, "%s, step %d", name, k)
			}
			if k > 3 {
				assert.Greater(t, v.ChiSquare, last, "%s, step %d", name, k)
			}
			last = v.ChiSquare
			failing = v.Outcome == verify.Fail
		}
		assert.True(t, failing, name)
	}
}

func TestACameraThatWasMovedFails(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	r := newCheckRig(t, rng)
	for _, c := range []struct {
		mm   float64
		want verify.Outcome
	}{{0, verify.Pass}, {3, verify.Fail}} {
		r.truth.Extrinsics = r.table.Extrinsics.Perturbed(calibration.Vec3{}, calibration.Vec3{c.mm, 0, 0})
		seen := r.sightings(t, rng, 1, asSaid)
		for _, m := range r.table.Layout.Markers {
			seen[0].Tags = append(seen[0].Tags, calibration.MarkerSighting{ID: m.ID, Corners: cornersOf(t, &r.truth, m, 0.05, rng)})
		}
		v := verified(t, r, seen)
		assert.Equal(t, c.want, v.Outcome, "moved by %v mm", c.mm)
		if c.want == verify.Fail {
			assert.Contains(t, v.Cause, "moved after the calibration")
			assert.Contains(t, v.Reasons[0], "markers lie 3.")
		}
	}
}

func TestPicturesWithoutAWholeStripAreNoCard(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	r := newCheckRig(t, rng)
	seen := r.sightings(t, rng, 1, asSaid)
	one := []verify.Sighting{{Name: "a", Tags: seen[0].Tags[:1]}, {Name: "b", Tags: seen[1].Tags[4:5]}}
	twice := []verify.Sighting{{Name: "a", Tags: append(append([]calibration.MarkerSighting{}, seen[0].Tags[:2]...), seen[0].Tags[1])}}
	for _, s := range [][]verify.Sighting{nil, {{}}, one, twice} {
		_, err := verify.Run(r.table, r.setup, s)
		assert.ErrorIs(t, err, verify.ErrNoCard)
	}
	two := []verify.Sighting{{Name: "a", Tags: seen[0].Tags[:2]}}
	v := verified(t, r, two)
	assert.Len(t, v.Deviations, 1)
	assert.Contains(t, strings.Join(v.Notes, " "), "near", "one place says nothing of the rest of the mat")
}

func TestASetupThatCannotBeIsRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	r := newCheckRig(t, rng)
	for want, change := range map[string]func(*verify.Setup){
		"thickness":   func(s *verify.Setup) { s.Thickness = -1 },
		"base-top":    func(s *verify.Setup) { s.BaseTop = geom.Length(math.NaN()) },
		"limit":       func(s *verify.Setup) { s.Limit = 0 },
		"card-length": func(s *verify.Setup) { s.Bars[1] = 200 },
	} {
		setup := r.setup
		change(&setup)
		_, err := verify.Run(r.table, setup, nil)
		assert.ErrorContains(t, err, want)
	}
}
