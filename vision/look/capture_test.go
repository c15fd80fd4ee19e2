package look

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
)

// The headings that are compared differ by no more at a base's rim than its places do: 6° would be 4 mm on a large base.
func TestLargerBasesAreComparedInMoreHeadings(t *testing.T) {
	for _, base := range bases {
		l := &Look{Base: base, side: sideOf(base)}
		assert.LessOrEqual(t, l.turnStep()*l.half(), captureStep+1e-9, "%v", base)
		n := len(headings(Hint{Base: base, Turn: math.Pi}, l.turnStep()))
		assert.GreaterOrEqual(t, float64(n)*l.turnStep(), 2*math.Pi-1e-9, "%v: all headings", base)
	}
}

// A bright miniature hides the middle of a card. The signs of what is in view say where the card lies and which way it points.
func TestSignsTellAPoseNearAHint(t *testing.T) {
	l := small(t, 1, "A1")
	at := pose(131, 128, 207)
	d := drawing{table: tableAt(1.02), noise: 1.5, bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at}}}
	d.hides = func(p geom.Point) (bool, float64) {
		q := at.Inverse(p)
		return math.Abs(q.X) < 8-0.3*q.Y && math.Abs(q.Y) < 16, 0.8
	}
	hint := Hint{Base: engine.Small, Pose: pose(at.X+6, at.Y-5, 20), Reach: 12, Turn: math.Pi}
	s, ok := newScan(&d.table, d.draw(5), hint.Pose.Point, l.Z, 60)
	require.True(t, ok)
	guesses := near(s.flatten(captureBlur, 50).signs(), l, 12, headings(hint, l.turnStep()))
	assert.LessOrEqual(t, len(guesses), captureSigns)
	assert.True(t, slices.ContainsFunc(guesses, func(g guess) bool { return g.near(guess{pose: at}, 3, 0.1) }), "%v", guesses)
}
