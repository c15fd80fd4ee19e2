package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
)

// Touching is the first edition's relation between ships that touch: one
// overlapped the other while executing a maneuver, and their bases have been in
// contact since (G95–G101). Contact alone does not make it, so that it cannot be
// seen on the table: the caller updates it after each move with
// [Touching.After].
type Touching [][2]string

// Has reports whether two ships touch.
func (t Touching) Has(a, b string) bool {
	for _, p := range t {
		if p == [2]string{a, b} || p == [2]string{b, a} {
			return true
		}
	}
	return false
}

// After returns the relation after a ship has moved. s is the table afterwards
// and touched the ships that the maneuver left it in contact with after an
// overlap: several when it backed into several at once (G100, G101), and none
// after a boost, a barrel roll or a move that overlapped no ship, even if the bases
// meet (G97, G98). What touched before lasts as long as the bases are in contact
// (G96, G99), or may be as far as the measurement can tell.
func (t Touching) After(s *Scene, moved string, touched []string, o Options) (Touching, error) {
	var after Touching
	var m Measurer
	for _, p := range t {
		if p[0] == moved || p[1] == moved {
			v, err := m.Pair(s, p[0], p[1], o)
			if err != nil {
				return nil, fmt.Errorf("touching: %w", err)
			}
			if v.Contact == No {
				continue
			}
		}
		after = append(after, p)
	}
	for _, id := range touched {
		if s.Ship(id) == nil {
			return nil, fmt.Errorf("engine: touching %q: %w", id, ErrNoShip)
		}
		if !after.Has(moved, id) {
			after = append(after, [2]string{moved, id})
		}
	}
	return after, nil
}

// Standing is what a ship's place on the table does to it before it acts.
type Standing struct {
	ID           string
	Contacts     []string      // ships and objects that its base is surely in contact with or overlaps
	Overlaps     []string      // objects, and ships by mistake, that it surely overlaps, guides counted
	Restrictions []Restriction // what it may not do, or perhaps not
}

// Restriction is something that a ship may not do where it stands.
type Restriction struct {
	Act     string  // "attack" or "lock"
	Target  string  // the ship that it may not attack; "" for every ship
	Because string  // the object or ship that is the reason
	Outcome Outcome // Yes: barred; Indeterminate: the measurement cannot decide; NoView: it depends on what cannot be seen
	Why     string  // in a few words
	Rule    string  // edition and number of the rule
}

// MayAttack reports whether a ship may attack a target, as far as where it stands
// goes; arcs and range are measured elsewhere.
func (s *Standing) MayAttack(target string) Outcome {
	may := Yes
	for i := range s.Restrictions {
		if b := &s.Restrictions[i]; b.Act == "attack" && (b.Target == "" || b.Target == target) {
			may = may.And(b.Outcome.Not())
		}
	}
	return may
}

// ShipRestriction is what may keep a ship from an act, and the ship whose place is the reason.
type ShipRestriction struct {
	ID string
	Restriction
}

// Restrictions returns what may keep a ship from an act, "attack" or "lock", against another
// ship where the two stand: the surest first, nil when nothing does. A lock is barred by
// where either of them stands (G179), and neither an attack nor a lock may be on a scenario
// feature (G219); to may be "" or an object's id.
func (r *Result) Restrictions(act, from, to string) []ShipRestriction {
	var all []ShipRestriction
	for i := range r.Standing {
		s := &r.Standing[i]
		if s.ID != from && (act != "lock" || s.ID != to) {
			continue
		}
		for _, b := range s.Restrictions {
			if b.Act == act && (b.Target == "" || b.Target == to) {
				all = append(all, ShipRestriction{s.ID, b})
			}
		}
	}
	if r.feature(from, to) {
		all = append(all, ShipRestriction{to, Restriction{Act: act, Target: to, Because: to, Outcome: Yes,
			Why: "the target is a scenario feature", Rule: "2.5 G219"}})
	}
	slices.SortStableFunc(all, func(a, b ShipRestriction) int { return sureness(a.Outcome) - sureness(b.Outcome) })
	return all
}

// feature reports whether what was measured to is a scenario feature of 2.5.
func (r *Result) feature(from, to string) bool {
	return r.Rules == Rules25 && to != "" && slices.ContainsFunc(r.Objects, func(o ObjectVerdict) bool {
		return o.From == from && o.To == to && IsScenarioFeature(o.Kind)
	})
}

// sureness orders what forbids an act: the surest first.
func sureness(o Outcome) int {
	return slices.Index([]Outcome{Yes, Indeterminate, NoView, No}, o)
}

// standing lists the ships that touch or overlap something, with what each may therefore not
// do in the scene's edition:
//
//   - first edition: no attack while overlapping an asteroid (G175), though over
//     debris (G176); none against a ship that it touches (G102), which contact
//     alone does not say;
//   - 2.0: no attack at range 0 of an asteroid (G177), none against a ship at range
//     0 (G57, G73);
//   - 2.5: no attack at range 0 of an asteroid, debris or gas (G178), no lock by or
//     on a ship at range 0 of gas (G179); ships at range 0 may be attacked (G58).
func (t *table) standing(r *Result) (all []Standing) {
	s, outlines := t.scene, len(t.outlines)
	for i := range s.Ships {
		st := Standing{ID: s.Ships[i].ID}
		for j := range s.Ships[1:] {
			st.ship(t, &r.Pairs[i*(len(s.Ships)-1)+j])
		}
		for j := range outlines {
			st.object(r.Rules, &r.Objects[i*outlines+j])
		}
		if what := t.unseenAt(i); what != "" {
			st.object(r.Rules, &ObjectVerdict{To: what, Contact: NoView, Overlap: NoView, obstacle: true})
		}
		for j := range r.Problems {
			p := &r.Problems[j]
			if other, ok := strings.CutPrefix(p.Problem, overlaps); ok && p.ID == st.ID {
				st.Overlaps = append(st.Overlaps, other)
			} else if ok && other == st.ID {
				st.Overlaps = append(st.Overlaps, p.ID)
			}
		}
		if len(st.Contacts)+len(st.Overlaps)+len(st.Restrictions) > 0 {
			all = append(all, st)
		}
	}
	return all
}

// unseenAt names what may be an obstacle at range 0 of a ship: something unknown, or a place
// where an obstacle would not have been noticed; "" for nothing.
func (t *table) unseenAt(i int) string {
	s, o := t.scene, &t.ships[i]
	if len(s.Unknown)+len(s.Blind) == 0 {
		return ""
	}
	doubt := o.ship.body().WorstPoint(t.k, o.from.V...)
	reach := unknownReach + t.profile.reach(o.ship.Base) + t.k*math.Sqrt(doubt.Variance) + doubt.SecondOrder
	near := func(u geom.Polygon) bool {
		centre := o.ship.Pose.Point
		return (u.Contains(centre) || u.BoundaryDistance(centre) <= o.radius+reach) && geom.Gap(o.from.V, u) <= reach
	}
	switch {
	case slices.ContainsFunc(s.Unknown, near):
		return "something unknown"
	case slices.ContainsFunc(s.Blind, func(b BlindArea) bool { return near(b.Outline) }):
		return "a place that is not seen"
	}
	return ""
}

func (s *Standing) object(r Rules, o *ObjectVerdict) {
	if o.Contact == Yes {
		s.Contacts = append(s.Contacts, o.To)
	}
	if o.Overlap == Yes {
		s.Overlaps = append(s.Overlaps, o.To)
	}
	bar := func(act string, is Outcome, why, rule string) {
		if is != No {
			s.Restrictions = append(s.Restrictions, Restriction{Act: act, Because: o.To, Outcome: is, Why: why, Rule: rule})
		}
	}
	kind := pieces.ObstacleKind(o.Kind)
	if kind == "" && o.obstacle {
		kind = "?" // an obstacle whose kind is not known
	}
	switch {
	case kind == "":
	case r == Rules1e:
		switch kind {
		case "asteroid":
			bar("attack", o.Overlap, "overlaps an asteroid", "1e G175")
		case "?":
			bar("attack", unseen(o.Overlap), "overlaps an obstacle that may be an asteroid", "1e G175")
		}
	case kind == "asteroid":
		bar("attack", o.Contact, "at range 0 of an asteroid", [...]string{Rules20: "2.0 G177", Rules25: "2.5 G178"}[r])
	case kind == "chaff":
		bar("lock", o.Contact, "at range 0 of an electro-chaff cloud", r.String())
	case r == Rules20 && kind == "?":
		bar("attack", unseen(o.Contact), "at range 0 of an obstacle that may be an asteroid", "2.0 G177")
	case r == Rules25:
		bar("attack", o.Contact, "at range 0 of an obstacle", "2.5 G178")
		switch kind {
		case "gas":
			bar("lock", o.Contact, "at range 0 of a gas cloud", "2.5 G179")
		case "?":
			bar("lock", unseen(o.Contact), "at range 0 of an obstacle that may be a gas cloud", "2.5 G179")
		}
	}
}

// unseen turns a yes that rests on something unseen into no view.
func unseen(o Outcome) Outcome {
	if o == Yes {
		return NoView
	}
	return o
}

func (s *Standing) ship(t *table, p *PairVerdict) {
	if p.Contact == Yes {
		s.Contacts = append(s.Contacts, p.To)
	}
	r := t.scene.Rules
	bar := Restriction{Act: "attack", Target: p.To, Because: p.To, Outcome: p.Contact}
	switch {
	case r == Rules20:
		bar.Why, bar.Rule = "the target is at range 0", "2.0 G73"
	case r == Rules1e && t.relation.Has(p.From, p.To) && p.Contact == No: // a sleeve, or a hand that has not put it back
		bar.Outcome, bar.Why, bar.Rule = Indeterminate, "the two ships were touching, and stand apart", "1e G102"
	case r == Rules1e && (t.relation.Has(p.From, p.To) || t.overlaps.Has(p.From, p.To)):
		bar.Outcome, bar.Why, bar.Rule = Yes, "the two ships are touching", "1e G102"
	case r == Rules1e && (t.untouched == p.From || t.untouched == p.To || t.relation != nil && !t.mayTouch.Has(p.From, p.To)):
		return
	case r == Rules1e:
		bar.Outcome = unseen(p.Contact)
		bar.Why, bar.Rule = "the two ships are in contact; they are touching if one overlapped the other", "1e G95"
		if p.Contact == Indeterminate {
			bar.Why = "the two ships may be in contact; they are touching if they are and one overlapped the other"
		}
	default:
		return
	}
	if bar.Outcome != No {
		s.Restrictions = append(s.Restrictions, bar)
	}
}

// Object measures one ship against one obstacle, device or marker by its id.
func (m *Measurer) Object(s *Scene, from, to string, o Options) (ObjectVerdict, error) {
	m.valid = false
	if err := m.table.prepare(s, o); err != nil {
		return ObjectVerdict{}, err
	}
	m.table.mem.renew()
	ship := s.indexOf(from)
	if ship < 0 {
		return ObjectVerdict{}, fmt.Errorf("engine: measure from %q: %w", from, ErrNoShip)
	}
	for i := range m.table.outlines {
		if r := &m.table.outlines[i]; r.id == to {
			return m.table.object(&m.table.ships[ship], r), nil
		}
	}
	return ObjectVerdict{}, fmt.Errorf("engine: measure to %q: no such object in the scene, or one of a kind whose size is not known", to)
}

// gapSpan measures how far two outlines on the table are apart; 0 when they meet.
// Each outline's sigma moves it as a whole, so that first order along the shortest
// line is exact but for the line's turning, which only makes the distance larger: the far end
// of the interval includes that.
func (t *table) gapSpan(a, b *obstacleOutline) geom.Interval {
	d := geom.Gap(a.Polygon, b.Polygon)
	v := geom.Sq(a.Sigma) + geom.Sq(b.Sigma)
	if v == 0 && t.scene.ScaleSigma == 0 {
		return geom.Exactly(d)
	}
	sd := math.Sqrt(v + geom.Sq(t.scene.ScaleSigma*d))
	return geom.Interval{Lo: d - t.k*sd, Val: d, Hi: d + t.k*sd + geom.Sq(t.k)*v/(2*max(d, sd))}
}
