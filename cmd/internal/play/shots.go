package play

import (
	"net/http"
	"slices"
	"strconv"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/web"
	"sightline/engine"
)

// shotsJSON lists what a ship can attack with a weapon.
type shotsJSON struct {
	Ship   string     `json:"ship"`
	Arcs   []string   `json:"arcs"` // in which it attacks
	Shots  []shotJSON `json:"shots"`
	Reason string     `json:"reason"` // why there are no shots; "" when there are
}

type shotJSON struct {
	ID      string `json:"id"`
	Outcome string `json:"outcome"`
	Text    string `json:"text"`
}

// Shots returns for each enemy ship whether a ship can attack it with a weapon, as far as the
// agreement on measuring allows.
func Shots(s *live.State, ship string, arc engine.Arc, w live.Weapon) shotsJSON {
	out := shotsJSON{Ship: ship, Arcs: []string{}, Shots: []shotJSON{}}
	scene := &s.Located.Scene
	from := scene.Ship(ship)
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
		to := scene.Ship(p.To)
		if p.From != ship || to == nil || to.Player == from.Player && from.Player != 0 {
			continue
		}
		if len(out.Arcs) == 0 {
			for _, a := range p.Arcs {
				if s.Play.HasArc(ship, a.Arc.String()) {
					out.Arcs = append(out.Arcs, a.Arc.String())
				}
			}
		}
		told := s.Policy.PairResult(scene, p)
		if told == nil || len(told.Arcs) == 0 {
			out.Reason = s.Policy.Pair(scene.Rules, from, to).Why
			continue
		}
		if !s.Stands(ship) || !s.Stands(p.To) {
			continue
		}
		m := s.MeaningOf(aimed(s, told, arc, w), standardArc(s, from, arc, w), w)
		out.Shots = append(out.Shots, shotJSON{p.To, m.Outcome.String(), m.Text})
	}
	return out
}

// standardArc returns the arc to measure for a chosen one: the mobile arc of the first edition
// stands for the arc that it points to.
func standardArc(s *live.State, from *engine.Ship, arc engine.Arc, w live.Weapon) engine.Arc {
	own := s.Play.Ship(from.ID)
	if s.Located.Scene.Rules != engine.Rules1e || w.Special || own == nil || !slices.Contains(own.Arcs, engine.ArcMobile.String()) {
		return arc
	}
	switch arc {
	case engine.ArcLeft, engine.ArcRight, engine.ArcRear:
		return engine.ArcMobile
	}
	return arc
}

// aimed returns the pair measured with an arc of the first edition that the table does not show:
// a mobile arc that points to arc, or a secondary weapon that fires in any direction, as turret
// upgrades do.
func aimed(s *live.State, p *engine.PairVerdict, arc engine.Arc, w live.Weapon) *engine.PairVerdict {
	scene := s.Located.Scene
	from := *scene.Ship(p.From)
	is := standardArc(s, &from, arc, w)
	switch {
	case scene.Rules != engine.Rules1e:
		return p
	case is == engine.ArcMobile:
		from.Turret = arc.String()
	case is != engine.ArcPrimaryTurret || !w.Special:
		return p
	}
	from.Arcs = append(slices.Clone(from.Arcs), is.String())
	scene.Ships = slices.Clone(s.Standing().Ships)
	for i := range scene.Ships {
		if scene.Ships[i].ID == from.ID {
			scene.Ships[i].Arcs, scene.Ships[i].Turret = from.Arcs, from.Turret
		}
	}
	out := *p
	v, err := engine.MeasurePair(&scene, p.From, p.To, engine.Options{Sigmas: s.Sigmas})
	if err != nil {
		return p
	}
	out.Arcs = v.Arcs
	return &out
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
