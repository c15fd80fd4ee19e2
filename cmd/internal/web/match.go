package web

import (
	"fmt"
	"io"
	"net/http"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
)

// setMatch changes the given parts of the match.
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
		http.Error(w, sentence.Of(err), http.StatusInsufficientStorage)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// readMatch reads a change of the match; problem is a sentence for people.
func readMatch(body io.Reader, now live.Match) (m live.Match, problem string) {
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
		return now, sentence.Of(err)
	}
	return m, ""
}

func setIf[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
