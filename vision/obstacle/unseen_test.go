package obstacle

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// Each refusal of the whole mat names its own reason.
func TestWhyTheMatIsNotWatched(t *testing.T) {
	half := engine.BlindArea{Outline: geom.Polygon{{}, {X: 6}, {X: 6, Y: 10}, {Y: 10}}}
	for name, c := range map[string]struct {
		noise, gain float64
		differs     int // of 100 cells
		blind       []engine.BlindArea
		why         string
	}{
		"as learnt":       {noise: 2, gain: 1},
		"noise":           {noise: 9, gain: 1, blind: []engine.BlindArea{half}, why: vision.UnseenNoisy},
		"little is blind": {noise: 9, gain: 1},
		"a lamp went out": {noise: 2, gain: 0.3, why: vision.UnseenLight},
		"a white mat":     {noise: 2, gain: 4, why: vision.UnseenLight},
		"another print":   {noise: 2, gain: 1, differs: 60, why: vision.UnseenOtherMat},
		"mostly blind":    {noise: 2, gain: 1, blind: []engine.BlindArea{half}, why: vision.UnseenHidden},
	} {
		t.Run(name, func(t *testing.T) {
			f := &Finder{diff: &subtraction{noise: c.noise}}
			f.diff.gain.ratio = []float64{c.gain, c.gain, c.gain}
			f.test.wide, f.test.limit = make([]float32, 100), 1
			for k := range c.differs {
				f.test.wide[k] = 2
			}
			assert.Equal(t, c.why, f.unseen(c.blind))
		})
	}
}
