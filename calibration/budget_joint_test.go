package calibration

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
)

// The covariance of many spots at once must say of every pair what the budget says of
// the two alone.
func TestTheJointCovarianceGivesEveryDifferenceOfTheBudget(t *testing.T) {
	lens := Intrinsics{Width: 1920, Height: 1080, Fx: 1150, Fy: 1152, Cx: 955, Cy: 545,
		Distortion: [5]float64{-0.1, 0.04, 0.001, -0.0005, -0.01}}
	lens.Covariance = make([]float64, 81)
	for i, v := range [9]float64{1.5, 1.5, 1, 1, 1e-3, 2e-3, 1e-4, 1e-4, 1e-3} {
		lens.Covariance[10*i] = v * v
	}
	e := Extrinsics{R: MulMat3(RotationFromVector(Vec3{0.1, -0.06, 0.02}), [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}})}
	c := e.Camera(Vec3{470, 400, 1250})
	e.T = Vec3{-c[0], -c[1], -c[2]}
	cam := Camera{lens, e}
	layout := DefaultLayout(MatSide, MatSide)
	var seen []MarkerSighting
	for _, m := range layout.Markers {
		s := MarkerSighting{ID: m.ID}
		for k, p := range m.Corners() {
			s.Corners[k], _ = cam.PixelOf(p, m.Z)
		}
		seen = append(seen, s)
	}
	table, err := Register(lens, layout, seen)
	require.NoError(t, err)
	b := NewBudget(table, Uncertainty{})
	spots := []Spot{
		{geom.Point{X: 100, Y: 100}, 0.2, 1}, {geom.Point{X: 300, Y: 120}, 0.2, 1}, {geom.Point{X: 200, Y: 160}, 0.2, 1},
		{geom.Point{X: 700, Y: 800}, 4.2, 2}, {geom.Point{X: 790, Y: 620}, 4.2, 2},
	}
	joint, ok := b.JointCovariance(spots)
	require.True(t, ok)
	n := 2 * len(spots)
	for i := range spots {
		for j := range i {
			terms, ok := b.Difference(spots[i], spots[j])
			require.True(t, ok)
			want := terms.Total(1)
			for _, name := range [...]string{TermPixel, TermScale, TermPrint, TermInsert} {
				c := terms.Named(name)
				want = want.Add(geom.Cov2{XX: -c.XX, XY: -c.XY, YY: -c.YY})
			}
			at := func(k, l int) float64 {
				return joint[(2*i+k)*n+2*i+l] + joint[(2*j+k)*n+2*j+l] - joint[(2*i+k)*n+2*j+l] - joint[(2*j+k)*n+2*i+l]
			}
			assert.InEpsilon(t, want.XX, at(0, 0), 1e-6, "spots %d, %d", i, j)
			assert.InEpsilon(t, want.YY, at(1, 1), 1e-6, "spots %d, %d", i, j)
			assert.InDelta(t, want.XY, at(0, 1), 1e-6*math.Hypot(want.XX, want.YY), "spots %d, %d", i, j)
		}
	}
	_, ok = b.JointCovariance([]Spot{{geom.Point{X: 0, Y: 0}, 5000, 0}})
	assert.False(t, ok, "behind the camera")
}
