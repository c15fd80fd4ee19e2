package obstacle

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/visiontest"
)

func TestTheThirdLargestStepOfOneSignCounts(t *testing.T) {
	for _, c := range []struct {
		steps [4]float64
		want  float64
	}{
		{[4]float64{9, 8, 7, 6}, 7},
		{[4]float64{9, 8, 7, -40}, 7}, // a miniature over one of them
		{[4]float64{-9, -8, -7, 40}, 7},
		{[4]float64{9, 8, -7, -6}, 0}, // no three of one sign
		{[4]float64{}, 0},
	} {
		assert.LessOrEqual(t, third(c.steps), c.want, "%v", c.steps)
		if c.want > 0 {
			assert.Equal(t, c.want, third(c.steps), "%v", c.steps)
		}
	}
}

func TestTwoSquaresThatFitAlikeAreNone(t *testing.T) {
	small := visiontest.BareBase(engine.Small, 300, 300, 0, 0.9)
	for name, c := range map[string]struct {
		all  []vision.UnidentifiedBase
		want int
	}{
		"one":                       {[]vision.UnidentifiedBase{small}, 1},
		"one found twice":           {[]vision.UnidentifiedBase{small, visiontest.BareBase(engine.Small, 300.4, 300, 0.01, 0.9)}, 1},
		"two places as good":        {[]vision.UnidentifiedBase{small, visiontest.BareBase(engine.Small, 306, 300, 0, 0.85)}, 0},
		"one place clearly better":  {[]vision.UnidentifiedBase{small, visiontest.BareBase(engine.Small, 306, 300, 0, 0.6)}, 1},
		"two sizes":                 {[]vision.UnidentifiedBase{small, visiontest.BareBase(engine.Medium, 304, 300, 0, 0.6)}, 0},
		"two bases beside another":  {[]vision.UnidentifiedBase{small, visiontest.BareBase(engine.Small, 341, 300, 0, 0.9)}, 2},
		"turned by a quarter turn":  {[]vision.UnidentifiedBase{small, visiontest.BareBase(engine.Small, 300, 300, 90*geom.Degree, 0.9)}, 1},
		"turned by less than half ": {[]vision.UnidentifiedBase{small, visiontest.BareBase(engine.Small, 300, 300, 20*geom.Degree, 0.9)}, 0},
	} {
		assert.Len(t, alone(c.all), c.want, name)
	}
}
