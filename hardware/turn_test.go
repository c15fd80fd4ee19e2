package hardware

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine"
)

// Whose turn it is stands on the display: on a page of its own where no pair is chosen, else on
// the lowest line, where only sixteen letters fit.
func TestTheDisplaySaysWhoseTurnItIs(t *testing.T) {
	for turn, want := range map[string]string{
		"R3 Activation: B2 next":             "R3 B2 next",
		"R3 End":                             "R3 End",
		"R1 Planning: first player?":         "R1 first player?",
		"R12 Planning: first player?":        "first player?",
		"R2 Engagement: A1 or B1 next":       "R2 A1/B1 next",
		"R2 Engagement: A1 or B1 or B2 next": "R2 A1/B1/B2 next",
		"R2 Combat: A1 next":                 "R2 A1 next",
		"R4: the game is over":               "the game is over",
		"R12 Activation: all moved":          "R12 all moved",
	} {
		assert.Equal(t, want, turnLine(turn), turn)
		assert.LessOrEqual(t, len(turnLine(turn)), columns, turn)
	}

	chosen := State{From: "A1", To: "B1", Range: engine.NoView, Reason: "A1 is covered", Turn: "R3 Activation: B2 next"}
	short := chosen
	short.Turn = "R3 B2 next"
	assert.Equal(t, Draw(short), Draw(chosen), "the line is the short one")
	short.Turn = "R3 B1 next"
	assert.NotEqual(t, Draw(short), Draw(chosen), "and says who")
	none := chosen
	none.Turn = ""
	assert.NotEqual(t, Draw(none), Draw(chosen))
	withheld := chosen
	withheld.Withheld = true
	assert.NotEqual(t, Draw(State{From: "A1", To: "B1", Withheld: true, Reason: "A1 is covered"}), Draw(withheld))

	waiting := State{Turn: "R3 Activation: B2 next"}
	assert.Equal(t, Draw(State{Turn: "R3 Activation: B2 next", Reason: "choose"}), Draw(waiting), "it comes before the hint to choose")
	other := State{Turn: "R3 Activation: B3 next"}
	assert.NotEqual(t, Draw(other), Draw(waiting))
}
