package game

import (
	"fmt"

	"sightline/cmd/internal/live"
)

// Judged returns what is held, nil when nothing is, and the last ruling.
func (g *Game) Judged() (*live.Held, *live.Ruling) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.holding(), g.ruling
}

// SetRuling makes a ruling the last one.
func (g *Game) SetRuling(r *live.Ruling) {
	g.update(func() {
		g.ruling, g.rulingsTrouble = r, ""
		g.note(fmt.Sprintf("Ruling %d: %s", r.Number, r.Text))
	})
}

// SetRulingsTrouble says what stops rulings from being recorded.
func (g *Game) SetRulingsTrouble(text string, notes ...string) {
	g.Update(func(*Seen) { g.rulingsTrouble = text }, notes...)
}
