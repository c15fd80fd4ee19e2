package round

import (
	"fmt"
	"slices"
	"strings"

	"sightline/engine"
)

// initiativeOf returns a ship's initiative; 0 when unknown.
func initiativeOf(p *Piece) int {
	if p.Initiative == nil {
		return 0
	}
	return *p.Initiative
}

// takesPart reports whether a ship acts in the present phase.
func (g *Game) takesPart(p *Piece) bool {
	if p.Status == OnTable {
		return true
	}
	return p.dying && g.Phase.attacks()
}

// Stays reports whether a destroyed ship stays on the table until the present initiative has
// passed: in 2.0 and 2.5 each that was destroyed during it, in the first edition one that has
// yet to attack (G236).
func (g *Game) Stays(p *Piece) bool {
	if p.Status != Destroyed || !g.Phase.attacks() || g.Ended {
		return false
	}
	return p.dying && !p.Acted || g.Rules != engine.Rules1e && p.stays
}

// order compares ships by their turn in the present phase: in Activation the lowest initiative
// first, in Combat and Engagement the highest, then the first player's ships. Huge ships of the
// first edition activate last (G213).
func (g *Game) order(a, b *Piece) int {
	if g.Phase == Activation && g.Rules == engine.Rules1e && a.huge() != b.huge() {
		if b.huge() {
			return -1
		}
		return 1
	}
	d := initiativeOf(a) - initiativeOf(b)
	if g.Phase.attacks() {
		d = -d
	}
	if d == 0 && a.Player != b.Player && g.First != 0 {
		if a.Player == g.First {
			return -1
		}
		return 1
	}
	return d
}

// Active returns the ships that may act next, among which a player chooses. It is empty when no
// ship acts in this phase and when all have acted.
func (g *Game) Active() (out []string) {
	if g.Ended || g.Phase != Activation && !g.Phase.attacks() {
		return nil
	}
	var best *Piece
	for i := range g.Ships {
		p := &g.Ships[i]
		if p.Acted || !g.takesPart(p) {
			continue
		}
		d := -1
		if best != nil {
			d = g.order(p, best)
		}
		if d < 0 {
			best, out = p, nil
		}
		if d <= 0 {
			out = append(out, p.ID)
		}
	}
	slices.Sort(out)
	return out
}

// Acting returns the ship that moved last in this Activation phase and may perform its action;
// "" for none.
func (g *Game) Acting() string { return g.acting }

// All reports whether every ship that takes part has acted in this phase.
func (g *Game) All() bool {
	return !slices.ContainsFunc(g.Ships, func(p Piece) bool { return !p.Acted && g.takesPart(&p) })
}

// Turn says whose turn it is in a short line: "R3 Activation: B2 next".
func (g *Game) Turn() string {
	head := fmt.Sprintf("R%d %s", g.Round, g.Phase)
	active := g.Active()
	switch {
	case g.Ended:
		return fmt.Sprintf("R%d: the game is over", g.Round)
	case len(active) > 0:
		return head + ": " + strings.Join(active, " or ") + " next"
	case g.Phase == Planning && g.First == 0:
		return head + ": first player?"
	case g.Phase == Activation:
		return head + ": all moved"
	case g.Phase.attacks():
		return head + ": all attacked"
	}
	return head
}

// Next returns the event of a tap: the first of the ships whose turn it is has acted; when all
// have, the next phase or round begins, or the game ends.
func (g *Game) Next() Event {
	if active := g.Active(); len(active) > 0 {
		return Event{Kind: Acted, Ship: active[0], Round: g.Round, Phase: g.Phase}
	}
	if g.Phase == End {
		if why, winner := g.Over(); why != "" {
			return Event{Kind: Ended, Round: g.Round, Phase: g.Phase, Text: why, Player: winner}
		}
	}
	return Event{Kind: Advanced, Round: g.Round, Phase: g.Phase}
}

// NextText describes Next: "B2 has moved", "Combat begins".
func (g *Game) NextText() string {
	e := g.Next()
	switch {
	case g.Ended:
		return ""
	case e.Kind == Acted && g.Phase == Activation:
		return g.Name(e.Ship) + " has moved"
	case e.Kind == Acted:
		return g.Name(e.Ship) + " has attacked"
	case e.Kind == Ended:
		return "End the game"
	case g.Phase == End:
		return fmt.Sprintf("Round %d begins", g.Round+1)
	}
	return fmt.Sprintf("%s begins", g.following())
}

// following returns the phase after the present one, of the same round.
func (g *Game) following() Phase {
	phases := Phases(g.Rules)
	return phases[(slices.Index(phases, g.Phase)+1)%len(phases)]
}

// advance begins the next phase.
func (g *Game) advance() {
	g.held, g.acting = false, ""
	next := g.following()
	for i := range g.Ships {
		p := &g.Ships[i]
		p.Acted, p.dying, p.stays = false, false, false
		if next == Planning {
			p.Moved, p.tapped, p.Speeds = false, false, nil
		}
	}
	if next == Planning {
		g.Round++
		if g.Rules == engine.Rules25 {
			g.First = 0 // rolled for in each round
		}
	}
	g.Phase = next
	g.updateInitiative()
}

// updateInitiative sets the initiative that attacks now. A ship that was destroyed at another one
// is removed (G236).
func (g *Game) updateInitiative() {
	if !g.Phase.attacks() {
		return
	}
	active := g.Active()
	if len(active) == 0 {
		return
	}
	now := initiativeOf(g.Piece(active[0]))
	if now != g.current {
		for i := range g.Ships {
			g.Ships[i].dying, g.Ships[i].stays = false, false
		}
	}
	g.current = now
}
