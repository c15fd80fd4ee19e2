package flown

import (
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
)

// hypothesis is where a candidate may end: anywhere between two poses, which are the same
// where only one place is possible.
type hypothesis struct {
	a, b     geom.Pose
	place    string
	partial  bool
	touching []string
	way      geom.Angle // of the way along which it came there, against the heading
}

// candidate is a maneuver or an action and all the places where it may end.
type candidate struct {
	name   string
	action bool
	also   []string
	full   geom.Pose
	ends   []hypothesis
}

// ways returns the way along which a maneuver comes to its end, against the ship's heading
// there: executed in full, and backed up.
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

// join adds an action that moves a ship as the candidate does: a boost like a maneuver along
// the same template, decloaking like a roll. No pose can distinguish the two.
func (c *candidate) join(a *candidate) {
	c.also = append(c.also, a.name)
	if c.action {
		c.ends = append(c.ends, a.ends...)
	}
}

func near(a, b geom.Pose) bool {
	return a.Sub(b.Point).Norm() < 1e-6 && a.Heading.Distance(b.Heading) < 1e-9
}

// tester moves one ship by all candidates.
type tester struct {
	exact engine.Scene // without uncertainty, so that every move has one end, and without things that stop no ship
	vague engine.Scene // as uncertain as the templates are laid, to know whether a ship may be bumped
	ship  int          // in both
	start geom.Pose
	to    *engine.Ship
	place float64 // standard deviations of where a template is laid, against the ships in the way
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
	surely = 4 // within which a ship in the way is looked for
	wide   = 6 // beyond which two poses are not the same: more than what is called apart
)

// maneuver executes a maneuver: as it is, and, where a ship may be in the way, from all
// places where the template may have been laid.
func (g *tester) maneuver(m move.Maneuver) (candidate, error) {
	c := candidate{name: m.String()}
	r, err := move.Execute(&g.exact, g.exact.Ships[g.ship].ID, m, engine.Options{})
	if err != nil {
		return c, err
	}
	c.full = r.Full
	inFull, partial := ways(m)
	if r.FullyExecuted {
		c.ends = fullEnds(&r, inFull)
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
			c.ends = append(c.ends, fullEnds(&r, inFull)...)
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

// chosen returns a maneuver at each of the places that the player chooses from: a Tallon roll
// of 2.0 and 2.5 may be stopped at one of them, though another is free. In the first edition it
// avoids other ships where it can (G133).
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

// fullEnds returns where a move ends that is executed in full: at one place, or where the
// player chooses.
func fullEnds(r *move.Result, way geom.Angle) []hypothesis {
	if !r.Chosen {
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

// action performs an action. It ignores what forbids an end: players may have broken the
// rules, and the ship stands there all the same.
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
	c.full, c.ends = r.Full, fullEnds(&r, way)
	return c, nil
}
