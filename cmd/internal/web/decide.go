package web

import (
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
)

// openJSON is a question that the measurement leaves open, and its possible answers.
type openJSON struct {
	Key      string       `json:"key"`  // of a ruling's ruled: range, in_arc, obstructed, may_attack
	Name     string       `json:"name"` // "The range"
	Text     string       `json:"text"` // "range 2 or 3"
	Possible []choiceText `json:"possible"`
}

type choiceText struct {
	Value string `json:"value"`
	Text  string `json:"text"`
}

func openOf(state *live.State) []openJSON {
	out := []openJSON{}
	for _, q := range live.OpenQuestions(state, live.Ruled{}) {
		j := openJSON{q.Key, sentence.Upper(q.Name), q.Text, []choiceText{}}
		for _, value := range q.Possible {
			j.Possible = append(j.Possible, choiceText{value, live.RuledText(state, q.Key, value)})
		}
		out = append(out, j)
	}
	return out
}
