package flown

import (
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
)

// hypothesis is where a candidate may end: anywhere between two poses, which are equal if there is
// only one place.
type hypothesis struct {
	a, b     geom.Pose
	place    string
	partial  bool
	touching []string
	way      geom.Angle // direction in which the ship arrived, relative to its heading
}

// candidate is a maneuver or an action with all the places where it may end.
type candidate struct {
	name   string
	action bool
	also   []string
	full   geom.Pose
	ends   []hypothesis
}

// ways returns the directions in which a ship arrives at a maneuver's end, relative to its heading
// there: if fully executed, and if backed up.
func ways(m move.Maneuver) (full, partial geom.Angle) {
	switch m.Bearing {
	case move.ReverseStraight, move.ReverseBank:
		return math.Pi, math.Pi
	case move.Koiogran, move.Segnor:
		return math.Pi, 0
	case move.Tallon:
		if m.Left {
			return math.Pi / 2, 0
		}
		return -math.Pi / 2, 0
	}
	return 0, 0
}

// hypotheses executes all candidates from the old pose.
func hypotheses(before *engine.Scene, from, to *engine.Ship, c Candidates, slop Slop) ([]candidate, error) {
	g := newGuesser(before, from, to, slop)
	var all []candidate
	for _, m := range c.Maneuvers {
		one, err := g.maneuver(m)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	for _, a := range c.Actions {
		one, err := g.action(a)
		if err != nil {
			return nil, err
		}
		same := slices.IndexFunc(all, func(o candidate) bool { return near(o.full, one.full) })
		if same >= 0 {
			all[same].join(&one)
			continue
		}
		all = append(all, one)
	}
	return all, nil
}

// join adds an action that moves a ship as the candidate does: a boost like a maneuver along the
// same template, decloaking like a roll. No pose distinguishes the two.
func (c *candidate) join(a *candidate) {
	c.also = append(c.also, a.name)
	if c.action {
		c.ends = append(c.ends, a.ends...)
	}
}

func near(a, b geom.Pose) bool {
	return a.Sub(b.Point).Norm() < 1e-6 && a.Heading.Distance(b.Heading) < 1e-9
}

// tester executes all candidates of one ship.
type tester struct {
	exact engine.Scene // without uncertainty, so every move has one end, and without objects that stop no ship
	vague engine.Scene // with the uncertainty of laying templates, to see whether a ship may be bumped
	ship  int          // in both
	start geom.Pose
	to    *engine.Ship
	place float64 // standard deviations of a template's place, relative to the ships in the way
	turn  float64
}

func newGuesser(before *engine.Scene, from, to *engine.Ship, slop Slop) *tester {
	g := &tester{exact: *before, start: from.Pose, to: to}
	g.exact.Obstacles, g.exact.Devices, g.exact.Unknown, g.exact.Blind = nil, nil, nil, nil
	g.exact.ObstaclesUnseen = false
	g.vague = g.exact
	g.exact.Ships, g.vague.Ships = slices.Clone(before.Ships), slices.Clone(before.Ships)
	g.exact.ScaleSigma = 0
	others := 0.0
	for i := range g.exact.Ships {
		s := &g.exact.Ships[i]
		if s.ID == from.ID {
			g.ship = i
		} else {
			others = max(others, s.Covariance[0], s.Covariance[4])
		}
		s.Covariance = geom.Cov3{}
	}
	own := &g.vague.Ships[g.ship].Covariance
	own[0] += float64(slop.Place * slop.Place)
	own[4] += float64(slop.Place * slop.Place)
	own[8] += float64(slop.Turn * slop.Turn)
	g.place, g.turn = math.Sqrt(max(own[0], own[4])+others), math.Sqrt(own[8])
	return g
}

// Numbers of standard deviations.
const (
	surely = 4 // within which a ship may be in the way
	wide   = 6 // beyond which two poses differ; more than apart
)

// maneuver executes a maneuver: nominally and, if a ship may be in the way, from all places where
// the template may have been laid.
func (g *tester) maneuver(m move.Maneuver) (candidate, error) {
	c := candidate{name: m.String()}
	r, err := move.Execute(&g.exact, g.exact.Ships[g.ship].ID, m, engine.Options{})
	if err != nil {
		return c, err
	}
	c.full = r.Full
	inFull, partial := ways(m)
	if r.FullyExecuted {
		c.ends = fullEnds(&r, r.Chosen, inFull)
		if m.Bearing == move.Stationary || !g.crowded(r.Full) {
			return c, nil
		}
	} else {
		c.ends = []hypothesis{{a: r.Final, b: r.Final, partial: true, touching: r.Touching, way: partial}}
		may, err := g.mayBeFull(m, r.Full)
		if err != nil {
			return c, err
		}
		if may {
			// A Tallon roll may have ended at any place: which of them is free is not sure.
			c.ends = append(c.ends, fullEnds(&r, m.Bearing == move.Tallon, inFull)...)
		}
	}
	if !g.onTheWay(m, r.Full) {
		return c, nil
	}
	for _, at := range g.chosen(m) {
		bumps, err := g.bumps(at)
		if err != nil {
			return c, err
		}
		for i := range bumps {
			bumps[i].way = partial
		}
		c.ends = append(c.ends, bumps...)
	}
	return c, nil
}

// chosen returns a maneuver at each place that the player may choose. In 2.0 and 2.5 a Tallon roll
// may be stopped at one of them although another is free; in the first edition it avoids other
// ships if it can (G133).
func (g *tester) chosen(m move.Maneuver) []move.Maneuver {
	all := []move.Maneuver{m}
	if m.Bearing == move.Tallon && g.exact.Rules != engine.Rules1e {
		all = nil
		for s := move.SlideLeft; s <= move.SlideRight; s++ {
			m.Slide = s
			all = append(all, m)
		}
	}
	return all
}

// fullEnds returns the ends of a fully executed move: one or, if chosen, those that the player may
// choose from.
func fullEnds(r *move.Result, chosen bool, way geom.Angle) []hypothesis {
	if !chosen {
		return []hypothesis{{a: r.Full, b: r.Full, way: way}}
	}
	var all []hypothesis
	for _, o := range r.Options {
		e := hypothesis{a: o.Final, b: o.Final, way: way}
		if o.Range {
			e.b = o.FinalTo
		} else {
			e.place = o.Name
		}
		all = append(all, e)
	}
	return all
}

// action executes an action, also with a forbidden end: players may have broken the rules.
func (g *tester) action(a move.Action) (candidate, error) {
	c := candidate{name: a.String(), action: true}
	r, err := move.Reposition(&g.exact, g.exact.Ships[g.ship].ID, a, engine.Options{})
	if err != nil {
		return c, err
	}
	way := geom.Angle(0)
	switch {
	case a.To == move.ToLeft && a.Kind != move.Boost:
		way = -math.Pi / 2
	case a.To == move.ToRight && a.Kind != move.Boost:
		way = math.Pi / 2
	}
	c.full, c.ends = r.Full, fullEnds(&r, r.Chosen, way)
	return c, nil
}
