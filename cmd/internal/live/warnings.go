package live

import (
	"fmt"
	"strings"

	"sightline/cmd/internal/sentence"
)

// Warnings says what is to be known as long as it is so, in sentences: which looks cannot be read, which bases' cards lie a quarter
// turn off in them, and which may.
func (s *State) Warnings() []string {
	out := append(append([]string{}, s.Damaged...), s.Turned...)
	var doubted []string
	for i := range s.Located.Scene.Ships {
		switch ship := &s.Located.Scene.Ships[i]; {
		case !ship.TurnDoubt:
		case len(ship.NameDoubt) > 0:
			doubted = append(doubted, sentence.Or(ship.NameDoubt))
		default:
			doubted = append(doubted, ship.ID)
		}
	}
	switch len(doubted) {
	case 0:
		return out
	case 1:
		return append(out, fmt.Sprintf("The guides of %s are not seen clearly: check that they are in front of its card and behind it, "+
			"not at its sides.", doubted[0]))
	}
	return append(out, fmt.Sprintf("The guides of some bases are not seen clearly (%s): check that they are in front of the cards "+
		"and behind them, not at their sides.", strings.Join(doubted, "; ")))
}
