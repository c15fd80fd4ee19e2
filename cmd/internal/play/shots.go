package play

import (
	"net/http"
	"strconv"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/web"
	"sightline/engine"
)

// shotsJSON is what a ship can attack with a weapon.
type shotsJSON struct {
	Ship   string     `json:"ship"`
	Arcs   []string   `json:"arcs"` // that it attacks in
	Shots  []shotJSON `json:"shots"`
	Reason string     `json:"reason"` // why nothing is said; ""
}

type shotJSON struct {
	ID      string `json:"id"`
	Outcome string `json:"outcome"`
	Text    string `json:"text"`
}

// Shots says of each ship whether another can attack it with a weapon, as far as the
// agreement lets it be told.
func Shots(s *live.State, ship string, arc engine.Arc, w live.Weapon) shotsJSON {
	out := shotsJSON{Ship: ship, Arcs: []string{}, Shots: []shotJSON{}}
	scene := &s.Located.Scene
	from := live.ShipOf(scene, ship)
	switch {
	case s.Health.Code != live.OK && !s.Held:
		out.Reason = sentence.Lower(s.Health.Title)
		return out
	case from == nil:
		out.Reason = ship + " is not seen on the table"
		return out
	}
	for i := range s.Result.Pairs {
		p := &s.Result.Pairs[i]
		to := live.ShipOf(scene, p.To)
		if p.From != ship || to == nil || to.Player == from.Player && from.Player != 0 {
			continue
		}
		if len(out.Arcs) == 0 {
			for _, a := range p.Arcs {
				if s.Play.Has(ship, a.Arc.String()) {
					out.Arcs = append(out.Arcs, a.Arc.String())
				}
			}
		}
		told := s.Policy.Cut(scene, p)
		if told == nil || len(told.Arcs) == 0 {
			out.Reason = s.Policy.Pair(scene.Rules, from, to).Why
			continue
		}
		if !s.Stands(ship) || !s.Stands(p.To) {
			continue
		}
		m := s.MeaningOf(told, arc, w)
		out.Shots = append(out.Shots, shotJSON{p.To, m.Outcome.String(), m.Text})
	}
	return out
}

// shots answers GET /api/game/shots?ship=A1&arc=front&from=1&to=3&special=1&bonus=0.
func (t *Table) shots(w http.ResponseWriter, r *http.Request) {
	s := t.o.Hub.Newest()
	q := r.URL.Query()
	arc, err := live.ParseArc(q.Get("arc"))
	if err != nil {
		refuse(w, err)
		return
	}
	weapon := live.Primary(s.Located.Scene.Rules)
	weapon.Special, weapon.NoBonus = q.Get("special") == "1", q.Get("bonus") == "0"
	for _, part := range []struct {
		key  string
		into *int
	}{{"from", &weapon.From}, {"to", &weapon.To}} {
		if q.Get(part.key) == "" {
			continue
		}
		n, err := strconv.Atoi(q.Get(part.key))
		if err != nil || n < 0 || n > 5 {
			http.Error(w, "A weapon's ranges are from 0 to 5.", http.StatusBadRequest)
			return
		}
		*part.into = n
	}
	if t.judges(r) {
		s.Policy = live.Policy{}
	}
	web.WriteJSON(w, http.StatusOK, Shots(&s, q.Get("ship"), arc, weapon))
}
