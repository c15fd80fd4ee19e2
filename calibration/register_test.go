package calibration

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
)

// overMat is a 1080p camera 1.25 m over the middle of a mat, tilted and rolled.
func overMat() Camera {
	r := MulMat3(RotationFromVector(Vec3{0.04, -0.02, 0.03}), [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}})
	c := Camera{
		Intrinsics: Intrinsics{Width: 1920, Height: 1080, Fx: 1010, Fy: 1012, Cx: 965, Cy: 536,
			Distortion: [5]float64{-0.085, 0.03, 0.0006, -0.0004, -0.004}},
		Extrinsics: Extrinsics{R: r},
	}
	at := Vec3{440, 470, 1250}
	for i := range 3 {
		c.T[i] = -(r[i][0]*at[0] + r[i][1]*at[1] + r[i][2]*at[2])
	}
	return c
}

// see returns the markers as the camera shows them, each corner off by noise px.
func see(c Camera, l Layout, noise float64, rng *rand.Rand) []MarkerSighting {
	var out []MarkerSighting
	for _, m := range l.Markers {
		s := MarkerSighting{ID: m.ID}
		for i, p := range m.Corners() {
			px, _ := c.PixelOf(p, m.Z)
			s.Corners[i] = px
			if noise > 0 {
				s.Corners[i] = px.Add(geom.Pixel{X: noise * rng.NormFloat64(), Y: noise * rng.NormFloat64()})
			}
		}
		out = append(out, s)
	}
	return out
}

// worstOff is the largest distance in mm between where two cameras put a pixel of the mat.
func worstOff(a, b Camera) float64 {
	var worst float64
	for x := 0.0; x <= 914.4; x += 114.3 {
		for y := 0.0; y <= 914.4; y += 114.3 {
			p := geom.Point{X: x, Y: y}
			px, ok := a.PixelOf(p, 0)
			if q, ok2 := b.PointAt(px, 0); ok && ok2 {
				worst = math.Max(worst, float64(p.Distance(q)))
			}
		}
	}
	return worst
}

func TestARayMeetsItsOwnPlane(t *testing.T) {
	c := overMat()
	for _, z := range []geom.Length{0, 0.2, 4, 35} {
		for x := -60.0; x < 980; x += 87 {
			for y := -60.0; y < 980; y += 87 {
				p := geom.Point{X: x, Y: y}
				px, ok := c.PixelOf(p, z)
				require.True(t, ok)
				q, ok := c.PointAt(px, z)
				require.True(t, ok)
				assert.InDelta(t, 0, float64(p.Distance(q)), 1e-8, "point %v at height %v", p, z)
			}
		}
	}
}

func TestHeightShiftsWhatIsSeen(t *testing.T) {
	// A point z over the mat at distance r from the camera's foot, seen from height
	// H, seems to lie r z/(H-z) further out.
	c := overMat()
	o := c.Extrinsics.Center()
	p := geom.Point{X: 900, Y: 900}
	px, _ := c.PixelOf(p, 4)
	q, ok := c.PointAt(px, 0)
	require.True(t, ok)
	r := p.Sub(geom.Point{X: o[0], Y: o[1]}).Norm()
	assert.InDelta(t, r*4/(o[2]-4), float64(p.Distance(q)), 1e-9)
}

func TestARotationVectorIsAnAxisAndAnAngle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		axis := Vec3{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		n := axis.Norm()
		axis = Vec3{axis[0] / n, axis[1] / n, axis[2] / n}
		angle := rng.Float64() * math.Pi
		r := RotationFromVector(Vec3{angle * axis[0], angle * axis[1], angle * axis[2]})
		turned := Vec3{r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]} // 2 sin(angle) axis
		for i := range 3 {
			assert.InDelta(t, 2*math.Sin(angle)*axis[i], turned[i], 1e-12)
		}
		assert.InDelta(t, 1+2*math.Cos(angle), r[0][0]+r[1][1]+r[2][2], 1e-12)
	}
	assert.Equal(t, [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, RotationFromVector(Vec3{}))
}

func TestExactMarkersGiveTheExactPlace(t *testing.T) {
	c, l := overMat(), DefaultLayout(MatSide, MatSide)
	got, err := Register(c.Intrinsics, l, see(c, l, 0, nil))
	require.NoError(t, err)
	assert.Less(t, worstOff(c, got.Camera), 1e-6)
	assert.Less(t, got.RMS, 1e-7)
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7}, got.Used)
	assert.Empty(t, got.Rejected)
}

func TestAnyThreeWideMarkersAreEnough(t *testing.T) {
	c, l := overMat(), DefaultLayout(MatSide, MatSide)
	all := see(c, l, 0, nil)
	got, err := Register(c.Intrinsics, l, []MarkerSighting{all[0], all[2], all[6]})
	require.NoError(t, err)
	assert.Less(t, worstOff(c, got.Camera), 1e-5)
	for n := range 3 {
		_, err := Register(c.Intrinsics, l, all[:n])
		assert.ErrorIs(t, err, ErrMarkers, "%d markers", n)
	}
}

func TestABumpedMarkerIsNamedAndLeftOut(t *testing.T) {
	c, l := overMat(), DefaultLayout(MatSide, MatSide)
	rng := rand.New(rand.NewPCG(2, 2))
	for id := range 8 {
		seen := see(c, l, 0.04, rng)
		for i := range seen[id].Corners {
			seen[id].Corners[i] = seen[id].Corners[i].Add(geom.Pixel{X: 3.1, Y: -2})
		}
		got, err := Register(c.Intrinsics, l, seen)
		require.NoError(t, err)
		require.Len(t, got.Rejected, 1, "marker %d bumped", id)
		assert.Contains(t, got.Rejected[0].Reason, "from where the other markers put it")
		assert.NotContains(t, got.Used, id)
		assert.Less(t, worstOff(c, got.Camera), 0.3)
	}
}

func TestStrayAndDoubledMarkersAreNotUsed(t *testing.T) {
	c, l := overMat(), DefaultLayout(MatSide, MatSide)
	seen := see(c, l, 0, nil)
	stray := seen[1]
	stray.ID = 99
	got, err := Register(c.Intrinsics, l, append(seen, stray, seen[5]))
	require.NoError(t, err)
	assert.NotContains(t, got.Used, 5)
	assert.NotContains(t, got.Used, 99)
	assert.Less(t, worstOff(c, got.Camera), 1e-5)
}

// laid returns the layout as a hand lays it: every marker off by the placement's sigmas.
func laid(l Layout, rng *rand.Rand) Layout {
	p := l.placement()
	out := l
	out.Markers = append([]Marker(nil), l.Markers...)
	for i := range out.Markers {
		m := &out.Markers[i]
		m.Center.X += float64(p.XY) * rng.NormFloat64()
		m.Center.Y += float64(p.XY) * rng.NormFloat64()
		m.Heading += p.Turn * geom.Angle(rng.NormFloat64())
		m.Z += p.Z * geom.Length(rng.NormFloat64())
		m.Size *= geom.Length(1 + p.Size*rng.NormFloat64())
	}
	return out
}

// normalised registers draws of a rig and returns the rms of error over stated sigma
// over three places of the mat.
func normalised(t *testing.T, draws int, layout Layout, noise float64) float64 {
	t.Helper()
	c := overMat()
	rng := rand.New(rand.NewPCG(3, 3))
	var sum, n float64
	for range draws {
		got, err := Register(c.Intrinsics, layout, see(c, laid(layout, rng), noise, rng))
		require.NoError(t, err)
		m := NewErrorModel(got, Uncertainty{Height: 1e-9})
		for _, p := range []geom.Point{{X: 20, Y: 20}, {X: 457, Y: 457}, {X: 890, Y: 300}} {
			px, _ := c.PixelOf(p, 4)
			q, _ := got.PointAt(px, 4)
			cov := m.Systematic(geom.Pose{Point: p}, 4, 20)
			sum += (q.X-p.X)*(q.X-p.X)/cov[0] + (q.Y-p.Y)*(q.Y-p.Y)/cov[4]
			n += 2
		}
	}
	return math.Sqrt(sum / n)
}

func TestTheStatedCovarianceIsTheScatter(t *testing.T) {
	laidByHand := DefaultLayout(MatSide, MatSide)
	// The sigma is itself estimated from the residuals, so that the ratio follows
	// Student's distribution, whose rms is a little above 1.
	assert.InDelta(t, 1.03, normalised(t, 160, laidByHand, 0.08), 0.08, "markers laid by hand: error over stated sigma")

	// A layout that is better than it says is believed more, but not at once.
	exact := laidByHand
	exact.Placement = ExactPlacement
	assert.InDelta(t, 1, normalised(t, 160, exact, 0.08), 0.12, "markers in their exact places: error over stated sigma")
}

// Light spreads over the white of markers that lie exactly where they are said to, and
// makes their black squares look smaller; that is no other lens.
func TestLightThatSpreadsOverExactMarkersIsNoOtherLens(t *testing.T) {
	c, stated := overMat(), DefaultLayout(MatSide, MatSide)
	stated.Placement = ExactPlacement
	rng := rand.New(rand.NewPCG(9, 9))
	for _, spread := range []geom.Length{-0.4 * geom.Millimeter, 0.4 * geom.Millimeter} {
		shown := stated
		shown.Markers = slices.Clone(stated.Markers)
		for i := range shown.Markers {
			shown.Markers[i].Size += spread
		}
		for range 20 {
			got, err := Register(c.Intrinsics, stated, see(c, shown, 0.03, rng))
			require.NoError(t, err, "squares that look %v wider", spread)
			assert.Less(t, got.FocalDoubt, 0.01)
		}
	}
}

// Markers laid twice as badly as stated widen every region nearly as much.
func TestABadlyLaidTableSaysSo(t *testing.T) {
	c, stated := overMat(), DefaultLayout(MatSide, MatSide)
	bad := stated
	bad.Placement = Placement{XY: 0.6, Turn: 0.6 * geom.Degree, Z: 0.4, Size: 0.002}
	rng := rand.New(rand.NewPCG(8, 8))
	var good, worse float64
	for range 40 {
		a, err := Register(c.Intrinsics, stated, see(c, laid(stated, rng), 0.05, rng))
		require.NoError(t, err)
		b, err := Register(c.Intrinsics, stated, see(c, laid(bad, rng), 0.05, rng))
		require.NoError(t, err)
		good, worse = good+a.PlacementFactor/40, worse+b.PlacementFactor/40
	}
	assert.InDelta(t, 1, good, 0.1, "variance over the stated one, laid as stated")
	assert.Greater(t, worse, 2.0, "variance over the stated one, laid badly")
}

func TestMarkersSeenInAMirrorAreRefused(t *testing.T) {
	c, l := overMat(), DefaultLayout(MatSide, MatSide)
	seen := see(c, l, 0, nil)
	for i := range seen {
		for k := range seen[i].Corners {
			seen[i].Corners[k].X = 1919 - seen[i].Corners[k].X
		}
	}
	_, err := Register(c.Intrinsics, l, seen)
	assert.ErrorIs(t, err, ErrMarkers)
}

func TestARenewedTableSaysHowFarItMoved(t *testing.T) {
	c, l := overMat(), DefaultLayout(MatSide, MatSide)
	table, err := Register(c.Intrinsics, l, see(c, l, 0, nil))
	require.NoError(t, err)
	same, moved, err := table.Renew(see(c, l, 0, nil))
	require.NoError(t, err)
	assert.Less(t, float64(moved), 1e-5)
	assert.Less(t, worstOff(c, same.Camera), 1e-5)

	nudged := c
	nudged.Extrinsics = c.Extrinsics.Perturbed(Vec3{0, 0.001, 0}, Vec3{})
	fresh, moved, err := table.Renew(see(nudged, l, 0, nil))
	require.NoError(t, err)
	assert.InDelta(t, worstOff(c, nudged), float64(moved), 0.1)
	assert.Less(t, worstOff(nudged, fresh.Camera), 1e-5)
}

func TestMoreUncertaintyNeverMakesItSurer(t *testing.T) {
	c, l := overMat(), DefaultLayout(MatSide, MatSide)
	table, err := Register(c.Intrinsics, l, see(c, l, 0, nil))
	require.NoError(t, err)
	pose := geom.Pose{Point: geom.Point{X: 800, Y: 100}, Heading: 1}
	small := NewErrorModel(table, Uncertainty{Height: 0.1, Flatness: 0.1, Model: 0.02}).Systematic(pose, 4, 20)
	large := NewErrorModel(table, Uncertainty{Height: 0.3, Flatness: 0.5, Model: 0.1}).Systematic(pose, 4, 20)
	for _, i := range []int{0, 4, 8} {
		assert.Less(t, small[i], large[i])
	}
}

// Three markers fit almost any lens, so the ones that fit must be more than those
// that do not.
func TestAMinorityOfMarkersIsNotBelieved(t *testing.T) {
	c, l := overMat(), DefaultLayout(MatSide, MatSide)
	seen := see(c, l, 0, nil)
	for i := range 2 { // two bumped markers of eight are left out
		for k := range seen[i].Corners {
			seen[i].Corners[k].X += 5
		}
	}
	got, err := Register(c.Intrinsics, l, seen)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(got.Used), 5)
	assert.Less(t, worstOff(c, got.Camera), 0.1)

	wrong := c.Intrinsics
	wrong.Distortion = [5]float64{0.5, 0.3}
	_, err = Register(wrong, l, see(c, l, 0, nil))
	require.ErrorIs(t, err, ErrMarkers)
	assert.ErrorContains(t, err, "contradict")
}

func TestALayoutOfImpossibleSizeIsRefused(t *testing.T) {
	for name, change := range map[string]func(*Layout){
		"mat":            func(l *Layout) { l.Width = 1e12 },
		"marker's size":  func(l *Layout) { l.Markers[0].Size = 1e9 },
		"marker's place": func(l *Layout) { l.Markers[0].Center.X = math.NaN() },
		"marker's z":     func(l *Layout) { l.Markers[0].Z = geom.Length(math.Inf(1)) },
	} {
		l := DefaultLayout(MatSide, MatSide)
		require.NoError(t, l.Validate())
		change(&l)
		assert.Error(t, l.Validate(), name)
	}
}

// A focal length in millimetres, or of pictures of another size, is named: markers fit such a lens
// from a camera that is a few millimetres over the mat, or a kilometre.
func TestALensOfImpossibleFocalLengthIsRefused(t *testing.T) {
	lens := Intrinsics{Width: 1920, Height: 1080, Fx: 1226, Fy: 1226, Cx: 960, Cy: 540}
	require.NoError(t, lens.Validate())
	for _, f := range []float64{4.2, 1e6, 1e-300, 1e300} {
		wrong := lens
		wrong.Fx, wrong.Fy = f, f
		assert.ErrorContains(t, wrong.Validate(), "expected 192 to 38400 px", "%g", f)
	}
}

// Markers tell that a camera is elsewhere, and not how their cards were turned when they were laid.
func TestMarkersThatAreAstrayAreCounted(t *testing.T) {
	c, l := overMat(), DefaultLayout(MatSide, MatSide)
	rng := rand.New(rand.NewPCG(7, 7))
	seen := see(c, l, 0.05, rng)
	table, err := Register(c.Intrinsics, l, seen)
	require.NoError(t, err)
	two := append([]MarkerSighting(nil), seen[:2]...)
	for i := range two {
		k := two[i].Corners
		two[i].Corners = [4]geom.Pixel{k[2], k[3], k[0], k[1]}
	}
	off, of, _, by := table.Displaced(two, 1)
	assert.Equal(t, [2]int{0, 2}, [2]int{off, of}, "the cards lie the other way round: %v", by)
	for i := range two[1].Corners {
		two[1].Corners[i].X += 12
	}
	off, of, farthest, by := table.Displaced(two, 1)
	assert.Equal(t, [3]int{1, 2, two[1].ID}, [3]int{off, of, farthest})
	assert.Greater(t, float64(by), 8.0)
}
