package vision_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine"
	"sightline/vision"
)

func TestAMeanMayShowMoreOfWhatNoiseHides(t *testing.T) {
	for want, sights := range map[bool][]vision.ObstacleSight{
		true: {
			{Unseen: vision.UnseenNoisy}, {Grainy: true},
			{Blind: []engine.BlindArea{{Why: vision.BlindGlare}, {Why: vision.BlindNoise}}},
		},
		false: {{}, {Unseen: vision.UnseenLooking}, {Blind: []engine.BlindArea{{Why: vision.BlindGlare}}}},
	} {
		for _, s := range sights {
			assert.Equal(t, want, s.Noisy(), "%+v", s)
		}
	}
}
