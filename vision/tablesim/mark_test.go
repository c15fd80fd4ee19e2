package tablesim_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/locate"
	"sightline/vision/ship"
	"sightline/vision/tablesim"
	"sightline/vision/token"
)

// markOf marks the front edge of a ship where a table's picture shows it, each coordinate off by a person's error.
func markOf(t *tablesim.Table, s engine.Ship, sigma float64, r *rand.Rand) ship.Mark {
	width, length := s.Base.Size()
	at := func(x float64) geom.Pixel {
		p, _ := t.Camera.PixelOf(s.Pose.Transform(geom.Point{X: x, Y: float64(length) / 2}), token.BaseTop+t.Heights[s.ID])
		return geom.Pixel{X: p.X + sigma*r.NormFloat64(), Y: p.Y + sigma*r.NormFloat64()}
	}
	return ship.Mark{Base: s.Base, Left: at(-float64(width) / 2), Right: at(float64(width) / 2), Sigma: sigma}
}

// TestAMarkedFrontEdgeGivesThePoseAsSurelyAsStated: the errors of poses from corners that are marked with a person's noise,
// of bases that are higher or lower than they should be, are those that are stated.
func TestAMarkedFrontEdgeGivesThePoseAsSurelyAsStated(t *testing.T) {
	for _, c := range []struct {
		name  string
		scale int
		sigma float64
		u     calibration.Uncertainty
		least float64
	}{
		{"1080p, a person's clicks alone", 1, 0.7, calibration.Uncertainty{Height: 0.34}, 0.9},
		{"4K, a person's clicks alone", 2, 0.7, calibration.Uncertainty{Height: 0.34}, 0.9},
		{"4K, a careful person", 2, 0.3, calibration.Uncertainty{Height: 0.34}, 0.9},
		{"1080p, what is stated of any table", 1, 0.7, calibration.DefaultUncertainty, 0.6},
	} {
		r := rand.New(rand.NewPCG(3, uint64(c.scale)))
		var sum [3]float64
		n, largest := 0.0, 0.0
		for seed := range uint64(6) {
			table := tablesim.RandomTableWithHuge(32000+seed, 1920*c.scale, 1080*c.scale, 1)
			l, err := locate.New(calibration.Table{Camera: table.Camera, Layout: table.Layout}, locate.Options{Uncertainty: c.u})
			require.NoError(t, err)
			for _, s := range table.Scene.Ships {
				for range 40 {
					got, err := l.Mark(markOf(table, s, c.sigma, r))
					require.NoError(t, err, "%s", s.ID)
					d := got.Pose.Sub(s.Pose.Point)
					n++
					for i, v := range [3]float64{d.X, d.Y, float64((got.Pose.Heading - s.Pose.Heading).Signed())} {
						z := v / math.Sqrt(got.Covariance[4*i])
						sum[i], largest = sum[i]+z*z, max(largest, math.Abs(z))
					}
				}
			}
		}
		for i, what := range []string{"x", "y", "heading"} {
			rms := math.Sqrt(sum[i] / n)
			t.Logf("%s: %s: error over sigma %.2f rms", c.name, what, rms)
			assert.LessOrEqual(t, rms, 1.1, "%s: %s", c.name, what)
			assert.GreaterOrEqual(t, rms, c.least, "%s: %s", c.name, what)
		}
		assert.Less(t, largest, 5.0, c.name)
	}
}

func TestMarksOfAnotherBaseAreRefused(t *testing.T) {
	table := tablesim.RandomTable(32000, 1920, 1080)
	l, err := locate.New(calibration.Table{Camera: table.Camera, Layout: table.Layout}, locate.Options{})
	require.NoError(t, err)
	good := markOf(table, table.Scene.Ships[0], 0, rand.New(rand.NewPCG(1, 1)))
	good.Sigma = ship.MarkSigma
	got, err := l.Mark(good)
	require.NoError(t, err)
	assert.Less(t, float64(got.Pose.Distance(table.Scene.Ships[0].Pose.Point)), 1.0)
	same, err := l.Mark(ship.Mark{Base: good.Base, Left: good.Left, Right: good.Right})
	require.NoError(t, err)
	assert.Equal(t, got, same, "a sigma of 0 is the default")
	turned, err := l.Mark(ship.Mark{Base: good.Base, Left: good.Right, Right: good.Left})
	require.NoError(t, err)
	assert.InDelta(t, math.Pi, float64(turned.Pose.Heading.Distance(got.Pose.Heading)), 1e-9, "left is the ship's left")
	for says, m := range map[string]ship.Mark{
		"a large base is 80 mm":          {Base: engine.Large, Left: good.Left, Right: good.Right},
		"not in the picture":             {Base: good.Base, Left: geom.Pixel{X: -1, Y: 3}, Right: good.Right},
		"expected pixels of 1920×1080":   {Base: good.Base, Left: good.Left, Right: geom.Pixel{X: math.NaN()}},
		"expected a sigma":               {Base: good.Base, Left: good.Left, Right: good.Right, Sigma: -1},
		"tokens are made for":            {Left: good.Left, Right: good.Right},
		"the marked edge is 0.0 mm long": {Base: good.Base, Left: good.Left, Right: good.Left},
	} {
		_, err := l.Mark(m)
		assert.ErrorContains(t, err, says)
	}
}
