package round

import (
	"fmt"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
)

// Title names a game: "Ada against Ben".
func (g *Game) Title() string { return g.player(1) + " against " + g.player(2) }

// TakenBack returns the numbers of the undone events.
func TakenBack(events []Event) map[int64]bool {
	gone := map[int64]bool{}
	for i := range events {
		if e := &events[i]; e.Kind == Undone {
			gone[e.Undo] = true
		}
	}
	return gone
}

// Words describes an event in a line; "" for one that is not shown. Characters that cannot be printed are shown as �: older
// records may have some, and one that reverses what follows makes "range 2" read as something else.
func Words(g *Game, e *Event) string { return sentence.Printable(words(g, e), '\uFFFD') }

func words(g *Game, e *Event) string {
	name := g.Name(e.Ship)
	switch e.Kind {
	case Started:
		return "The game begins: " + g.Title()
	case Advanced:
		return advancedWords(g, e)
	case Acted:
		if e.Phase == Activation {
			return name + " has moved" + g.energy(e.Ship)
		}
		return name + " has attacked"
	case Moved:
		if e.Flown.Sort == Nudge {
			return e.Flown.Text
		}
		if e.Phase == Activation && e.Flown.Sort == Maneuver {
			return name + ": " + e.Flown.Text + g.energy(e.Ship)
		}
		return name + ": " + e.Flown.Text
	case Rolled:
		return g.player(e.Player) + " is the first player"
	case Changed:
		if e.Text != "" {
			return fmt.Sprintf("%s: %s; %s", name, e.Status, e.Text)
		}
		return fmt.Sprintf("%s: %s", name, e.Status)
	case Towed, Scrambled, Jettisoned:
		return g.takenWords(e)
	case Halved:
		return name + " is at half its health"
	case Tied:
		return fmt.Sprintf("%s and %s exchange their pilots", e.Ship, e.With)
	case Renamed:
		return fmt.Sprintf("What was taken for %s is %s", name, g.Name(e.With))
	case Scored:
		return fmt.Sprintf("%s earns %d: %s", g.player(e.Player), e.Points, e.Text)
	case Ended:
		score, over := g.Score(), "The game is over"
		if e.Text != "" {
			over += ": " + e.Text
		}
		switch {
		case e.Player != 0:
			return fmt.Sprintf("%s. %s wins, %d to %d", over, g.player(e.Player), score[0], score[1])
		case score[0] == score[1]:
			return fmt.Sprintf("%s, %d to %d, a draw", over, score[0], score[1])
		}
		return fmt.Sprintf("%s, %d to %d", over, score[0], score[1])
	case Ruled:
		return fmt.Sprintf("Ruling %d: %s", e.Ruling, e.Text)
	case Asked:
		return "Measured: " + e.Text
	case Said:
		return e.Text
	}
	return ""
}

// energy describes what a huge ship of the first edition does between its maneuver and its action.
func (g *Game) energy(id string) string {
	if p := g.Piece(id); p == nil || g.Rules != engine.Rules1e || !p.huge() {
		return ""
	}
	return "; it gains, allocates and uses energy before its action"
}

func advancedWords(g *Game, e *Event) string {
	by := ""
	if e.By == ByCamera {
		by = ": everybody has moved"
	}
	if e.Phase == End {
		return fmt.Sprintf("Round %d begins", e.Round+1)
	}
	phases := Phases(g.Rules)
	for i, p := range phases[:len(phases)-1] {
		if p == e.Phase {
			return fmt.Sprintf("%s begins%s", phases[i+1], by)
		}
	}
	return ""
}
