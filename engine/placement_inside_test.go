package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
)

func TestARangeFromThePartInsideThePlayArea(t *testing.T) {
	// A has fled to the left by half its base, B stands before its front edge's
	// outer part, level with it.
	s := onMat(enginetest.Scene(t, "1e; A small 0 400 0; B small -60 520 0"))
	v, err := engine.RangeFromInside(&s, "A", "B", engine.Options{})
	require.NoError(t, err)
	plain := enginetest.MeasurePair(t, &s, 3)
	assert.InDelta(t, 82.46211251235321, float64(plain.Range.Distance), 1e-9, "from (-20, 420) to (-40, 500)")
	assert.InDelta(t, 89.44271909999159, float64(v.Distance), 1e-9, "G25 from (0, 420)")
	s.Ships[0].Pose.X = 100
	v, err = engine.RangeFromInside(&s, "A", "B", engine.Options{})
	require.NoError(t, err)
	assert.InDelta(t, float64(enginetest.MeasurePair(t, &s, 3).Range.Distance), float64(v.Distance), 1e-9, "a base inside is measured as ever")
	for _, x := range []float64{-20, -50} {
		s.Ships[0].Pose.X = x
		_, err = engine.RangeFromInside(&s, "A", "B", engine.Options{})
		assert.ErrorIs(t, err, engine.ErrOutside, "G25 wholly outside")
	}
	s.Ships[0].Pose.X = 0
	s.Ships[0].Covariance = geom.Cov3{0: 0.04, 4: 0.04}
	v, err = engine.RangeFromInside(&s, "A", "B", engine.Options{})
	require.NoError(t, err)
	assert.Greater(t, float64(v.Sigma), 0.19)
	assert.Equal(t, engine.Yes, v.Outcome)
	s.Ships[0].Pose.X = -19.9
	v, err = engine.RangeFromInside(&s, "A", "B", engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, engine.Indeterminate, v.Outcome, "perhaps nothing is inside")
	_, err = engine.RangeFromInside(&s, "A", "X", engine.Options{})
	assert.ErrorIs(t, err, engine.ErrNoShip)
}

// G25: whichever edge of the mat cuts the base off.
func TestEveryEdgeCutsABaseOff(t *testing.T) {
	at, other := geom.Point{Y: 400}, geom.Point{X: -60, Y: 520}
	for edge := range 4 {
		s := onMat(enginetest.Scene(t, fmt.Sprintf("1e; A small %.17g %.17g 0; B small %.17g %.17g 0", at.X, at.Y, other.X, other.Y)))
		v, err := engine.RangeFromInside(&s, "A", "B", engine.Options{})
		require.NoError(t, err)
		assert.InDelta(t, 89.44271909999159, v.Distance.Millimeters(), 1e-9, "%d quarter turns from the left edge", edge)
		quarter := func(p geom.Point) geom.Point { return geom.Point{X: p.Y, Y: s.MatWidth.Millimeters() - p.X} }
		at, other = quarter(at), quarter(other)
	}
}

func TestAnObjectIsAtRange0OfItself(t *testing.T) {
	assert.Equal(t, 0, engine.RangeOfItself(engine.Rules20), "G18")
	assert.Equal(t, 0, engine.RangeOfItself(engine.Rules25), "G18")
	assert.Equal(t, 1, engine.RangeOfItself(engine.Rules1e), "G19")
	// The table's own measure of a ship and of one that stands exactly where it stands
	// agrees, whatever its size and wherever its nose points.
	for _, rules := range []engine.Rules{engine.Rules1e, engine.Rules20, engine.Rules25} {
		for base := engine.Small; base <= engine.Huge225; base++ {
			s := enginetest.Scene(t, fmt.Sprintf("%s; A %s 300 200 33; B %s 300 200 33", rules, base, base))
			v := enginetest.MeasurePair(t, &s, 3)
			assert.Equal(t, engine.RangeOfItself(rules), v.Range.Band, "G18 G19 %s %s", rules, base)
			assert.Equal(t, engine.Yes, v.Range.Outcome)
			assert.Zero(t, v.Range.Distance)
		}
	}
}
