package web

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Match is what a stream says of the game beside the table: who plays, and how it
// stands. Nobody measures it; somebody at the table writes it (PATCH /api/match). It
// is a plain value; the zero value is that nobody has written anything.
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

// The longest texts (in characters) and the largest number of a match: what fits on
// a stream's line.
const (
	matchTitleMost  = 60
	matchRoundMost  = 24
	matchNameMost   = 32
	matchNumberMost = 999
)

// Validate says what is wrong with a match; nil: nothing.
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
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
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

// setMatch changes the match: what is left out of the JSON stays as it is.
func (s *Server) setMatch(w http.ResponseWriter, r *http.Request) {
	if s.o.SetMatch == nil {
		http.Error(w, "This program keeps no match.", http.StatusNotFound)
		return
	}
	m, problem := readMatch(http.MaxBytesReader(w, r.Body, bodyMost), s.o.Hub.Newest().Match)
	if problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	if err := s.o.SetMatch(m); err != nil {
		http.Error(w, upperFirst(err.Error())+".", http.StatusInsufficientStorage)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// readMatch reads a change of the match; problem is a sentence for people.
func readMatch(body io.Reader, now Match) (m Match, problem string) {
	const example = `{"round":"Round 3","sides":[{"name":"Ada","score":7},{"name":"Ben","score":4}]}`
	var in struct {
		Title *string `json:"title"`
		Round *string `json:"round"`
		Sides *[]struct {
			Name  *string `json:"name"`
			Score *int    `json:"score"`
			Squad *int    `json:"squad_points"`
		} `json:"sides"`
	}
	if problem = readJSON(body, &in, example); problem != "" {
		return now, problem
	}
	if in.Title == nil && in.Round == nil && in.Sides == nil {
		return now, "Nothing is changed: expected title, round or sides."
	}
	m = now
	setIf(&m.Title, in.Title)
	setIf(&m.Round, in.Round)
	if in.Sides != nil {
		if len(*in.Sides) != len(m.Sides) {
			return now, fmt.Sprintf("The match has two sides, got %d; write {} for one that stays.", len(*in.Sides))
		}
		for i, side := range *in.Sides {
			setIf(&m.Sides[i].Name, side.Name)
			setIf(&m.Sides[i].Score, side.Score)
			setIf(&m.Sides[i].Squad, side.Squad)
		}
	}
	if err := m.Validate(); err != nil {
		return now, upperFirst(err.Error()) + "."
	}
	return m, ""
}

func setIf[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
