package calibration

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// correlatedLens gives a lens a covariance whose parameters hang together.
func correlatedLens(in Intrinsics) Intrinsics {
	rng := rand.New(rand.NewPCG(9, 9))
	sigma := [9]float64{1.2, 1.1, 0.9, 0.8, 1.5e-3, 3e-3, 8e-5, 7e-5, 2e-3}
	in.Covariance = make([]float64, 81)
	for range 12 {
		var v [9]float64
		for i, s := range sigma {
			v[i] = s * rng.NormFloat64()
		}
		for i := range 9 {
			for j := range 9 {
				in.Covariance[9*i+j] += v[i] * v[j] / 12
			}
		}
	}
	return in
}

func sampleRig(t *testing.T) Table {
	t.Helper()
	c := overMat()
	c.Intrinsics = correlatedLens(c.Intrinsics)
	l := DefaultLayout(MatSide, MatSide)
	table, err := Register(c.Intrinsics, l, see(c, l, 0.05, rand.New(rand.NewPCG(6, 6))))
	require.NoError(t, err)
	return table
}

// TestTermsAreWhatDrawsOfTheirErrorsDo draws the errors themselves, reads points
// through the calibrated camera from a picture that the wrong one took, and compares
// the scatter with each term: an independent, slow method.
func TestTermsAreWhatDrawsOfTheirErrorsDo(t *testing.T) {
	table := sampleRig(t)
	u := DefaultUncertainty
	b := NewBudget(table, u)
	rng := rand.New(rand.NewPCG(7, 7))
	factor := append([]float64(nil), table.RegistrationCovariance...)
	_, ok := linalg.Cholesky(factor, 6)
	require.True(t, ok)
	lensFactor := append([]float64(nil), table.Intrinsics.Covariance...)
	_, ok = linalg.Cholesky(lensFactor, 9)
	require.True(t, ok)
	draw := func(l []float64, n int) []float64 {
		x, v := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
			for k := range i + 1 {
				v[i] += l[i*n+k] * x[k]
			}
		}
		return v
	}
	layout, noise := table.Layout, table.noise()
	const draws, lensDraws = 4000, 400
	type misread struct{ truth, read Camera }
	var lenses []misread // a wrong lens, and the table as it is registered through the calibrated one
	for range lensDraws {
		truth := table.Camera
		truth.Intrinsics = truth.Intrinsics.Perturbed(draw(lensFactor, 9))
		var seen []correspondence
		for _, m := range layout.Markers {
			c := correspondence{marker: m}
			for k, at := range m.Corners() {
				c.corners[k], _ = truth.PixelOf(at, m.Z)
			}
			seen = append(seen, c)
		}
		s, err := solvePose(table.Intrinsics, seen, noise, &table.Extrinsics)
		require.NoError(t, err)
		lenses = append(lenses, misread{truth, Camera{table.Intrinsics, s.pose}})
	}
	for _, p := range []geom.Point{{X: 30, Y: 60}, {X: 457, Y: 457}, {X: 880, Y: 500}} {
		terms, ok := b.At(p, 4)
		require.True(t, ok)
		var pose, height, lens geom.Cov2
		add := func(c *geom.Cov2, wrong Camera, z geom.Length) {
			px, ok1 := wrong.PixelOf(p, z)
			q, ok2 := table.Camera.PointAt(px, 4)
			require.True(t, ok1 && ok2)
			d := q.Sub(p)
			*c = c.Add(geom.Cov2{XX: d.X * d.X / draws, XY: d.X * d.Y / draws, YY: d.Y * d.Y / draws})
		}
		for range draws {
			v := draw(factor, 6)
			wrong := table.Camera
			wrong.Extrinsics = wrong.Extrinsics.Perturbed(Vec3{v[0], v[1], v[2]}, Vec3{v[3], v[4], v[5]})
			add(&pose, wrong, 4)
			add(&height, table.Camera, 4+u.Height*geom.Length(rng.NormFloat64()))
		}
		for _, l := range lenses {
			px, _ := l.truth.PixelOf(p, 4)
			q, _ := l.read.PointAt(px, 4)
			e := q.Sub(p)
			lens = lens.Add(geom.Cov2{XX: e.X * e.X / lensDraws, XY: e.X * e.Y / lensDraws, YY: e.Y * e.Y / lensDraws})
		}
		same := func(name string, drawn geom.Cov2, tolerance float64) {
			stated := terms.Named(name)
			assert.InEpsilon(t, math.Sqrt(stated.XX), math.Sqrt(drawn.XX), tolerance, "%s at %v, x", name, p)
			assert.InEpsilon(t, math.Sqrt(stated.YY), math.Sqrt(drawn.YY), tolerance, "%s at %v, y", name, p)
			assert.InDelta(t, stated.XY, drawn.XY, 2.5*tolerance*math.Sqrt(stated.XX*stated.YY), "%s at %v, xy", name, p)
		}
		same(TermPose, pose, 0.06)
		same(TermHeight, height, 0.06)
		same(TermLens, lens, 0.15)
	}
}

// TestTheErrorModelIsTheBudget: without print, insert play and noise, which a ship's
// fit states on its own, a pose's place is as unsure as a point.
func TestTheErrorModelIsTheBudget(t *testing.T) {
	table := sampleRig(t)
	u := DefaultUncertainty
	u.Pixel = 0
	m := NewErrorModel(table, u)
	for _, p := range []geom.Point{{X: 30, Y: 60}, {X: 457, Y: 457}, {X: 880, Y: 500}} {
		terms, ok := m.Budget().At(p, 4)
		require.True(t, ok)
		want := terms.Total(1)
		scale := terms.Named(TermScale)
		cov := m.Systematic(geom.Pose{Point: p, Heading: 0.7}, 4, 20)
		assert.InDelta(t, want.XX-scale.XX, cov[0], 1e-12)
		assert.InDelta(t, want.XY-scale.XY, cov[1], 1e-12)
		assert.InDelta(t, want.YY-scale.YY, cov[4], 1e-12)
		for i := range 3 {
			for j := range 3 {
				assert.Equal(t, cov[3*i+j], cov[3*j+i], "symmetric")
			}
		}
		l := append([]float64(nil), cov[:]...)
		_, ok = linalg.Cholesky(l, 3)
		assert.True(t, ok, "positive definite")
	}
}

// A heading's sigma is what two points ahead and behind say by themselves.
func TestAHeadingsSigmaIsThatOfTwoPoints(t *testing.T) {
	table := sampleRig(t)
	table.BentSigma = 0
	u := Uncertainty{Height: 1e-9}
	m := NewErrorModel(table, u)
	pose := geom.Pose{Point: geom.Point{X: 760, Y: 210}, Heading: 0.4}
	a := Spot{Point: pose.Transform(geom.Point{Y: 20}), Z: 4}
	c := Spot{Point: pose.Transform(geom.Point{Y: -20}), Z: 4}
	terms, ok := m.Budget().Difference(c, a)
	require.True(t, ok)
	shared := terms.Named(TermPose).Add(terms.Named(TermLens))
	assert.InEpsilon(t, shared.Along(pose.Right())/1600, m.Systematic(pose, 4, 20)[8], 1e-9)
}

func TestWhatTwoPointsShareCancels(t *testing.T) {
	table := sampleRig(t)
	b := NewBudget(table, Uncertainty{})
	p := geom.Point{X: 700, Y: 700}
	near, _ := b.Difference(Spot{Point: p, Z: 4}, Spot{Point: p.Add(geom.Point{X: 1}), Z: 4})
	for _, name := range []string{TermPose, TermLens, TermFlatness, TermModel, TermScale} {
		alone, _ := b.At(p, 4)
		assert.Less(t, float64(LargestSigma(near.Named(name))), 0.06*float64(LargestSigma(alone.Named(name)))+1e-9,
			"%s of two points a millimetre apart", name)
	}
	// What belongs to each object does not, unless it is one object.
	alone, _ := b.At(p, 4)
	assert.InEpsilon(t, 2*alone.Named(TermHeight).XX, near.Named(TermHeight).XX, 0.01)
	assert.InEpsilon(t, 2*alone.Named(TermInsert).XX, near.Named(TermInsert).XX, 1e-9)
	one, _ := b.Difference(Spot{Point: p, Z: 4, Object: 1}, Spot{Point: p.Add(geom.Point{X: 40}), Z: 4, Object: 1})
	assert.Zero(t, one.Named(TermInsert).XX)
	assert.Less(t, one.Named(TermHeight).XX, 0.05*near.Named(TermHeight).XX)
	// Far apart and independent, the flatness adds up.
	far, _ := b.Difference(Spot{Point: geom.Point{X: 20, Y: 20}, Z: 4}, Spot{Point: geom.Point{X: 890, Y: 890}, Z: 4})
	assert.Greater(t, float64(LargestSigma(far.Named(TermFlatness))), 0.15)
}

func TestADistanceBetweenTwoBasesIsSurerThanTheirPlacesAlone(t *testing.T) {
	b := NewBudget(sampleRig(t), Uncertainty{})
	p, q := geom.Point{X: 500, Y: 700}, geom.Point{X: 600, Y: 700}
	s, ok := b.Distance(Spot{Point: p, Z: 4}, Spot{Point: q, Z: 4}, 1)
	require.True(t, ok)
	tp, _ := b.At(p, 4)
	tq, _ := b.At(q, 4)
	alone := math.Sqrt(tp.Total(1).XX + tq.Total(1).XX)
	assert.Less(t, float64(s), alone)
	_, ok = b.Distance(Spot{Point: p}, Spot{Point: p}, 1)
	assert.False(t, ok, "of a distance of nothing there is no direction")
}

func TestOnlyNoiseShrinksWithFrames(t *testing.T) {
	b := NewBudget(sampleRig(t), Uncertainty{})
	terms, ok := b.At(geom.Point{X: 100, Y: 800}, 4)
	require.True(t, ok)
	one, many := terms.Total(1), terms.Total(1_000_000)
	assert.InDelta(t, one.XX-terms.Named(TermPixel).XX, many.XX, 1e-8)
	assert.Equal(t, one, terms.Total(0), "no frames are one")
	for _, term := range terms {
		assert.Equal(t, term.Name == TermPixel, term.Nature == Random, term.Name)
		assert.NotEmpty(t, term.Input)
		assert.NotEmpty(t, term.Source)
	}
}

// The budget's answers are asked for once a ship and frame: at most a few
// microseconds, so that 20 ships cost nothing compared with the fit's milliseconds.
func BenchmarkSystematic(b *testing.B) {
	c := overMat()
	c.Intrinsics = correlatedLens(c.Intrinsics)
	l := DefaultLayout(MatSide, MatSide)
	table, err := Register(c.Intrinsics, l, see(c, l, 0.05, rand.New(rand.NewPCG(6, 6))))
	require.NoError(b, err)
	m := NewErrorModel(table, Uncertainty{})
	pose := geom.Pose{Point: geom.Point{X: 700, Y: 300}, Heading: 0.3}
	for b.Loop() {
		m.Systematic(pose, 4, 20)
	}
}

// Watching registers every frame: at most a few milliseconds.
func BenchmarkRegister(b *testing.B) {
	c := overMat()
	c.Intrinsics = correlatedLens(c.Intrinsics)
	l := DefaultLayout(MatSide, MatSide)
	seen := see(c, l, 0.05, rand.New(rand.NewPCG(6, 6)))
	for b.Loop() {
		_, err := Register(c.Intrinsics, l, seen)
		require.NoError(b, err)
	}
}
