package live_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/vision"
)

// Warnings names the bases whose cards lie turned, and those of whose guides too little is seen to know.
func TestWarnings(t *testing.T) {
	s := live.State{Located: vision.Located{Scene: engine.Scene{Ships: []engine.Ship{{ID: "A1"}}}}}
	assert.Equal(t, []string{}, s.Warnings())
	s.Turned = []string{"B1 lies turned."}
	s.Located.Scene.Ships = append(s.Located.Scene.Ships, engine.Ship{ID: "?1", NameDoubt: []string{"A2", "A3"}, TurnDoubt: true})
	assert.Equal(t, []string{"B1 lies turned.", "The guides of A2 or A3 are not seen clearly: check that they are in front of its card and " +
		"behind it, not at its sides."}, s.Warnings())
	s.Damaged = []string{"The look of B3 cannot be read."}
	assert.Equal(t, s.Damaged[0], s.Warnings()[0])
	s.Damaged = nil
	s.Located.Scene.Ships = append(s.Located.Scene.Ships, engine.Ship{ID: "B2", TurnDoubt: true})
	assert.Equal(t, "The guides of some bases are not seen clearly (A2 or A3; B2): check that they are in front of the cards "+
		"and behind them, not at their sides.", s.Warnings()[1])
}
