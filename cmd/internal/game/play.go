package game

import (
	"reflect"

	"sightline/cmd/internal/live"
)

// SetPlay sets the game on the table and what its turn order lets players measure; nil: no game.
// A declaration ends when the Planning phase begins.
func (g *Game) SetPlay(p *live.Play, turn []live.Declaration) {
	g.update(func() {
		if p != nil && p.Planning && g.policy.Window != nil {
			g.note("The Planning phase begins: " + g.policy.Window.Text() + " is over.")
			g.policy.Window = nil
		}
		g.play, g.policy.Turn = p, turn
		var touch *live.Touch
		var printed *live.Printed
		if p != nil {
			touch, printed = p.Touch, p.Printed
		}
		if !reflect.DeepEqual(touch, g.o.Rules.Touch) { // an equal value must not cause another measurement
			g.o.Rules.Touch = touch
		}
		if !reflect.DeepEqual(printed, g.o.Rules.Printed) {
			g.o.Rules.Printed = printed
		}
	})
}
