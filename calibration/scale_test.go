package calibration

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
)

func TestADistanceIsReadAsItIsWritten(t *testing.T) {
	d, err := ParseScaleDistance("0:7:970.6")
	require.NoError(t, err)
	assert.Equal(t, ScaleDistance{0, 7, 970.6, DefaultRuleSigma}, d)
	d, err = ParseScaleDistance("2:5:970.6:0.15")
	require.NoError(t, err)
	assert.Equal(t, ScaleDistance{2, 5, 970.6, 0.15}, d)
	for _, bad := range []string{"", "0:7", "0:0:5", "0:7:x", "0:7:-3", "0:7:NaN", "0:7:970:0", "0:7:970:Inf", "a:7:970",
		"0:7:970:1:1", "0:7:1e9"} {
		_, err := ParseScaleDistance(bad)
		assert.ErrorContains(t, err, "0:7:970.6", bad)
	}
}

// A mat that is 0.08 % larger than the layout says, its markers laid by hand, two
// distances measured: over many such tables the corrected scale is as far off as it
// says, and surer than before.
func TestMeasuredDistancesSetTheScale(t *testing.T) {
	layout := DefaultLayout(MatSide, MatSide)
	rng := rand.New(rand.NewPCG(12, 12))
	var before, after, sum, n, surer float64
	const draws = 150
	for range draws {
		c := overMat()
		large := 1 + DefaultScaleSigma*rng.NormFloat64()
		truth := laid(layout, rng)
		for i := range truth.Markers {
			truth.Markers[i].Center = truth.Markers[i].Center.Mul(large)
		}
		seen := see(c, truth, 0.05, rng)
		table, err := Register(c.Intrinsics, layout, seen)
		require.NoError(t, err)
		var measured []ScaleDistance
		for _, pair := range [][2]int{{0, 7}, {2, 5}} {
			a, _ := truth.marker(pair[0])
			b, _ := truth.marker(pair[1])
			measured = append(measured, ScaleDistance{pair[0], pair[1], a.Center.Distance(b.Center) + 0.2*geom.Length(rng.NormFloat64()), 0.2})
		}
		unmeasured := table
		check, err := table.MeasureScale(measured, Centers(c.Intrinsics, seen))
		require.NoError(t, err)
		surer += check.After / check.Before / draws
		// A true distance of 600 mm across the mat, read from the picture.
		p, q := geom.Point{X: 150, Y: 300}, geom.Point{X: 650, Y: 632}
		length := func(table *Table) float64 {
			a, _ := c.PixelOf(p, 0)
			b, _ := c.PixelOf(q, 0)
			u, _ := table.PointAt(a, 0)
			v, _ := table.PointAt(b, 0)
			return float64(u.Distance(v) - p.Distance(q))
		}
		before += square(length(&unmeasured)) / draws
		after += square(length(&table)) / draws
		sigma, ok := NewBudget(table, Uncertainty{Height: 1e-9}).Distance(Spot{Point: p}, Spot{Point: q}, 1)
		require.True(t, ok)
		sum, n = sum+square(length(&table)/float64(sigma)), n+1
	}
	assert.Less(t, math.Sqrt(after), 0.75*math.Sqrt(before), "rms error of a distance of 600 mm, mm: after and before")
	assert.Less(t, surer, 0.7, "sigma of the scale, after over before")
	r := math.Sqrt(sum / n)
	t.Logf("600 mm: %.3f mm rms before, %.3f after, %.2f of the stated sigma", math.Sqrt(before), math.Sqrt(after), r)
	assert.InDelta(t, 0.7, r, 0.2, "error over stated sigma: careful, see MeasureScale")
}

func TestADistanceThatContradictsTheLayoutSaysSo(t *testing.T) {
	layout := DefaultLayout(MatSide, MatSide)
	c := overMat()
	seen := see(c, layout, 0, nil)
	table, err := Register(c.Intrinsics, layout, seen)
	require.NoError(t, err)
	check, err := table.MeasureScale([]ScaleDistance{{0, 7, 970.4 + 4, 0.3}}, Centers(c.Intrinsics, seen))
	require.NoError(t, err)
	assert.True(t, check.Contradicts())
	assert.Greater(t, check.After, 0.0005)
	assert.InDelta(t, 970.4, float64(check.Distances[0].Seen), 0.01)

	table, err = Register(c.Intrinsics, layout, seen)
	require.NoError(t, err)
	same := table
	check, err = table.MeasureScale([]ScaleDistance{{0, 7, 970.4, 0.3}}, Centers(c.Intrinsics, seen))
	require.NoError(t, err)
	assert.False(t, check.Contradicts())
	assert.InDelta(t, 0, check.Change, 1e-5)
	a, _ := same.MatCorners()
	b, ok := table.MatCorners()
	require.True(t, ok)
	for i := range a {
		assert.InDelta(t, 0, a[i].Sub(b[i]).Norm(), 0.01, "a stretched table looks the same")
	}

	for _, bad := range []ScaleDistance{{0, 99, 900, 0.3}, {1, 1, 900, 0.3}, {0, 7, -2, 0.3}} {
		_, err = table.MeasureScale([]ScaleDistance{bad}, Centers(c.Intrinsics, seen))
		assert.Error(t, err)
	}
	_, err = table.MeasureScale([]ScaleDistance{{0, 7, 970, 0.3}}, Centers(c.Intrinsics, seen[:7]))
	assert.ErrorContains(t, err, "marker 7 was not seen")
}
