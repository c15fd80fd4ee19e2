package live

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"sightline/cmd/internal/sentence"
)

// Match is who plays, and the score, for a stream. People write it (PATCH /api/match); nothing
// of it is measured. In the zero value nothing was written.
type Match struct {
	Title string       `json:"title"` // "Store championship"
	Round string       `json:"round"` // "Round 3"
	Sides [2]MatchSide `json:"sides"` // player 1, player 2
}

// MatchSide is one player of the match.
type MatchSide struct {
	Name  string `json:"name"`
	Score int    `json:"score"`
	Squad int    `json:"squad_points"` // of the squad; 0: not shown
}

// Limits of a match's texts, in characters, and of its numbers: what fits on a stream's line.
const (
	matchTitleMost  = 60
	matchRoundMost  = 24
	matchNameMost   = 32
	matchNumberMost = 999
)

// Validate returns an error if a text is too long or unprintable, or a number out of range.
func (m *Match) Validate() error {
	if err := matchText("the title", m.Title, matchTitleMost); err != nil {
		return err
	}
	if err := matchText("the round", m.Round, matchRoundMost); err != nil {
		return err
	}
	for i := range m.Sides {
		side := &m.Sides[i]
		player := fmt.Sprintf("player %d's ", i+1)
		if err := matchText(player+"name", side.Name, matchNameMost); err != nil {
			return err
		}
		if err := matchNumber(player+"score", side.Score); err != nil {
			return err
		}
		if err := matchNumber(player+"squad points", side.Squad); err != nil {
			return err
		}
	}
	return nil
}

func matchText(what, text string, most int) error {
	switch {
	case !utf8.ValidString(text) || strings.ContainsFunc(text, sentence.Unprintable):
		return fmt.Errorf("%s must be printable text on one line", what)
	case utf8.RuneCountInString(text) > most:
		return fmt.Errorf("%s has at most %d characters, got %d", what, most, utf8.RuneCountInString(text))
	}
	return nil
}

func matchNumber(what string, n int) error {
	if n < 0 || n > matchNumberMost {
		return fmt.Errorf("%s must be 0 to %d, got %d", what, matchNumberMost, n)
	}
	return nil
}
