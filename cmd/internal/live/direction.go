package live

import (
	"slices"
	"strings"
	"time"

	"sightline/engine"
	"sightline/vision"
)

// Direction is what the director of a stream set for its overlays. With the zero value they
// show every widget, live, of the players' choice.
type Direction struct {
	Pair     *DirectedPair `json:"pair"` // in place of the players' choice; nil: that
	Hidden   HiddenWidgets `json:"hidden"`
	FrozenMS int64         `json:"frozen_unix_ms"` // when the overlays were frozen; 0: they are live
}

// DirectedPair is a pair that only the overlays show.
type DirectedPair struct {
	From string `json:"from"`
	To   string `json:"to"`
	Arc  string `json:"arc"`
}

// HiddenWidgets are the overlay's hidden widgets.
type HiddenWidgets struct {
	Table  bool `json:"table"`
	Pair   bool `json:"pair"`
	Ruling bool `json:"ruling"`
	Match  bool `json:"match"`
	Last   bool `json:"last"` // what was flown last
}

// DirectionChange changes the parts of a Direction that are not nil.
type DirectionChange struct {
	Follow *bool `json:"follow"` // true: the players' choice is shown
	Pair   *struct {
		From *string `json:"from"`
		To   *string `json:"to"`
		Arc  *string `json:"arc"`
	} `json:"pair"`
	Hidden struct {
		Table  *bool `json:"table"`
		Pair   *bool `json:"pair"`
		Ruling *bool `json:"ruling"`
		Match  *bool `json:"match"`
		Last   *bool `json:"last"`
	} `json:"hidden"`
	Frozen *bool `json:"frozen"`
}

// With returns the direction with a change. What a change of the pair leaves out stays as it
// was, or as the players chose. An error is a *Refusal.
func (d Direction) With(c DirectionChange, players Choice, now time.Time) (Direction, error) {
	h := &c.Hidden
	if c == (DirectionChange{}) {
		return d, &Refusal{ErrInvalid, "Nothing is changed: expected follow, pair, hidden or frozen."}
	}
	if c.Follow != nil && (c.Pair != nil || !*c.Follow) {
		return d, &Refusal{ErrInvalid, "Expected follow: true, or a pair in place of the players'."}
	}
	out := d
	if c.Follow != nil {
		out.Pair = nil
	}
	if c.Pair != nil {
		pair, err := d.Choice(players).With(c.Pair.From, c.Pair.To, c.Pair.Arc)
		if err != nil {
			return d, err
		}
		if pair.From == "" || pair.To == "" {
			return d, &Refusal{ErrInvalid, "Expected the attacker (from) and the target (to) of the pair."}
		}
		out.Pair = &DirectedPair{From: pair.From, To: pair.To, Arc: pair.Arc.String()}
	}
	for _, widget := range []struct{ to, from *bool }{{&out.Hidden.Table, h.Table}, {&out.Hidden.Pair, h.Pair}, {&out.Hidden.Ruling, h.Ruling},
		{&out.Hidden.Match, h.Match}, {&out.Hidden.Last, h.Last}} {
		if widget.from != nil {
			*widget.to = *widget.from
		}
	}
	switch {
	case c.Frozen == nil:
	case !*c.Frozen:
		out.FrozenMS = 0
	case out.FrozenMS == 0: // a second press keeps what the first one froze
		out.FrozenMS = now.UnixMilli()
	}
	return out, nil
}

// Choice returns the pair that the overlays show.
func (d *Direction) Choice(players Choice) Choice {
	if d.Pair == nil {
		return players
	}
	arc, err := engine.ParseArc(d.Pair.Arc)
	if err != nil { // With makes no such direction
		return players
	}
	return Choice{From: d.Pair.From, To: d.Pair.To, Arc: arc}
}

// WithChoice returns the state as if another pair were chosen, with the answer that the
// agreement on measuring permits.
func (s *State) WithChoice(c Choice) State {
	out := *s
	out.Choice, out.Withheld = c, false
	out.Pair, out.Reason = out.answer()
	out.WithholdPair()
	return out
}

// answer returns the chosen pair's verdict, or in a few words why there is none.
func (s *State) answer() (*engine.PairVerdict, string) {
	from, to := s.Choice.From, s.Choice.To
	switch {
	case s.Health.Code != OK && !s.Held:
		return nil, strings.ToLower(s.Health.Title)
	case from == "" || to == "":
		return nil, "click attacker, then target on the page"
	}
	twice := func(id string) bool {
		return slices.ContainsFunc(s.Located.Duplicates, func(t vision.DuplicateID) bool { return t.ID == id })
	}
	raised := func(id string) bool {
		return slices.ContainsFunc(s.Located.Raised, func(t vision.RaisedToken) bool { return t.ID == id })
	}
	spare := func(id string) bool {
		return slices.ContainsFunc(s.Located.Spare, func(t vision.SpareToken) bool { return t.ID == id })
	}
	for _, id := range []string{from, to} {
		if i := slices.IndexFunc(s.Tracks, func(k vision.Track) bool { return k.Ship.ID == id }); i >= 0 && !s.Tracks[i].State.Stands() {
			if twice(id) {
				return nil, id + " is seen twice"
			}
			return nil, TrackText(&s.Tracks[i], s.Located.Captured)
		}
	}
	if p := pairIn(&s.Result, from, to); p != nil {
		return p, ""
	}
	for _, id := range []string{from, to} {
		if s.Located.Scene.Ship(id) == nil {
			if twice(id) {
				return nil, id + " is seen twice"
			}
			if raised(id) {
				return nil, id + " is held up, or printed too large"
			}
			if spare(id) {
				return nil, id + " lies on the mat without a base"
			}
			return nil, id + " is not seen"
		}
	}
	return nil, "not measured"
}
