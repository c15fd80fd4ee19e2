package game

import (
	"fmt"

	"sightline/cmd/internal/live"
)

// Judged returns the held picture and the last ruling; each may be nil.
func (g *Game) Judged() (*live.Held, *live.Ruling) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.holding(), g.ruling
}

// SetRuling sets the last ruling.
func (g *Game) SetRuling(r *live.Ruling) {
	g.update(func() {
		g.ruling, g.rulingsTrouble = r, ""
		g.describeHeld() // or it would await a judge again after a restart
		g.note(fmt.Sprintf("Ruling %d: %s", r.Number, r.Text))
	})
}

// SetRulingsTrouble sets why rulings cannot be recorded; "": they can.
func (g *Game) SetRulingsTrouble(text string, notes ...string) {
	g.Update(func(*Seen) { g.rulingsTrouble = text }, notes...)
}
