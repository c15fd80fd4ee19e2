package web

import (
	"cmp"

	"sightline/cmd/internal/live"
)

// rulingJSON is the last ruling in the state, or an entry of the list.
type rulingJSON struct {
	Number    uint64          `json:"number"`
	AtMS      int64           `json:"at_unix_ms"`
	AgeMS     *int64          `json:"age_ms,omitempty"` // in the state: how long ago it was made then, whoever set the clock since
	Held      uint64          `json:"held"`
	From      string          `json:"from"`
	To        string          `json:"to"`
	Arc       string          `json:"arc"`
	Title     string          `json:"title"`
	Text      string          `json:"text"`
	Measured  string          `json:"measured"`
	LinesMM   [][2][2]float64 `json:"lines_mm"`
	Decision  live.Decision   `json:"decision"` // as_measured, decided (what was open), overruled
	Overruled bool            `json:"overruled"`
	Reason    string          `json:"reason"`
	Question  string          `json:"question"`
	AskedBy   string          `json:"asked_by"`
	Judge     string          `json:"judge"`

	PictureSame       bool   `json:"picture_gives_the_same"`
	PictureDifference string `json:"picture_differs"`
	EntryHash         string `json:"entry_hash"`
}

// heldJSON is the held picture in the state.
type heldJSON struct {
	Number uint64 `json:"number"`
	AtMS   int64  `json:"at_unix_ms"`
	Asked  string `json:"asked"`

	Guarded bool `json:"guarded"` // it awaits a judge: a player can release it only by its number
}

// rulingOf returns the JSON of a ruling, or nil.
func rulingOf(r *live.Ruling) *rulingJSON {
	if r == nil {
		return nil
	}
	return &rulingJSON{
		Number: r.Number, AtMS: r.At.UnixMilli(), Held: r.Held, From: r.From, To: r.To, Arc: r.Arc.String(),
		Title: r.Title, Text: r.Text, Measured: r.Measured, LinesMM: linesOf(r.Lines),
		Decision: cmp.Or(r.Decision, live.AsMeasured), Overruled: r.Decision == live.Overruled, Reason: r.Reason, Question: r.Question,
		AskedBy:     r.AskedBy,
		Judge:       r.Judge,
		PictureSame: r.PictureGivesSame, PictureDifference: r.PictureDifference,
		EntryHash: r.EntryHash,
	}
}

// lastRulingOf returns the JSON of a state's last ruling, or nil.
func lastRulingOf(s *live.State) *rulingJSON {
	j := rulingOf(s.Ruling)
	if j != nil {
		age := s.Ruling.Age(s.At).Milliseconds()
		j.AgeMS = &age
	}
	return j
}

// heldOf returns the JSON of the held picture, or nil. last is the last ruling.
func heldOf(h *live.Held, last *live.Ruling) *heldJSON {
	if h == nil {
		return nil
	}
	return &heldJSON{Number: h.Number, AtMS: h.At.UnixMilli(), Asked: h.AskedBy, Guarded: h.AwaitsJudge(last)}
}
