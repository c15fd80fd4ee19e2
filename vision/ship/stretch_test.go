package ship

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision/internal/visiontest"
	"sightline/vision/token"
)

// What a token's size cannot exclude of its height is covered, and no more.
func TestAHeightThatItsSizeCannotExcludeIsCovered(t *testing.T) {
	l, err := NewLocator(visiontest.Table(visiontest.Scale), calibration.Uncertainty{})
	require.NoError(t, err)
	away := l.table.Center()[2] - float64(token.BaseTop)
	// looks returns the size of a token that is so much higher than a base's top, off by some standard deviations.
	looks := func(up, off, sigma float64) height {
		return height{larger: up/(away-up) + off*sigma, sigma: sigma, known: true}
	}
	most := float64(l.over(mostStretch))
	sigma := mostStretch / 8
	for _, off := range []float64{-3, -1, 0, 1} {
		assert.Less(t, float64(l.raised(looks(0, off, sigma))), 0.12*most, "standing, its size off by %v sigma", off)
	}
	for _, off := range []float64{-1.5, -1, 0, 1, 1.5} {
		up := most / 2 // 4 sigma of its size
		assert.Greater(t, 4*float64(l.raised(looks(up, off, sigma))), up, "half as high as is refused, its size off by %v sigma", off)
	}
	assert.InDelta(t, most/2, float64(l.raised(looks(most/2, 0, sigma/4))), 0.05*most, "its size leaves no doubt")
	small := float64(l.raised(looks(0, 0, sigma/4)))
	assert.Less(t, small, float64(l.raised(looks(0, 0, sigma))), "a better known size excludes more")
	assert.Zero(t, l.raised(height{}), "no size")
	for _, larger := range []float64{-1, 1} {
		up := float64(l.raised(height{larger: larger, sigma: 1e-9, known: true}))
		assert.False(t, math.IsNaN(up) || up < 0, "a size of %v", 1+larger)
	}
	assert.Less(t, geom.Length(0), l.raised(height{larger: 1, sigma: 1e-9, known: true}))
}
