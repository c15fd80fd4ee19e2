package flown

import (
	"cmp"
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
)

// guess is where a candidate may end: anywhere between two poses, which are the same
// where only one place is possible.
type guess struct {
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
	ends   []guess
}

// ways returns the way along which a maneuver comes to its end, against the ship's heading
// there: executed in full, and backed up.
func ways(m engine.Maneuver) (full, partial geom.Angle) {
	switch m.Bearing {
	case engine.ReverseStraight, engine.ReverseBank:
		return math.Pi, math.Pi
	case engine.Koiogran, engine.Segnor:
		return math.Pi, 0
	case engine.Tallon:
		if m.Left {
			return math.Pi / 2, 0
		}
		return -math.Pi / 2, 0
	}
	return 0, 0
}

// guesses executes all candidates from the old pose.
func guesses(before *engine.Scene, from, to *engine.Ship, c Candidates, slop Slop) ([]candidate, error) {
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

// join takes in an action that moves a ship as the candidate does: a boost like a maneuver along
// the same template, decloaking like a roll. No pose tells which of the two it was.
func (c *candidate) join(a *candidate) {
	c.also = append(c.also, a.name)
	if c.action {
		c.ends = append(c.ends, a.ends...)
	}
}

func near(a, b geom.Pose) bool {
	return a.Sub(b.Point).Norm() < 1e-6 && math.Abs(float64((a.Heading-b.Heading).Signed())) < 1e-9
}

// guesser moves one ship by all candidates.
type guesser struct {
	exact engine.Scene // without uncertainty, so that every move has one end, and without what stops no ship
	loose engine.Scene // as uncertain as the templates are laid, to know whether a ship may be bumped
	ship  int          // in both
	start geom.Pose
	to    *engine.Ship
	place float64 // standard deviations of where a template is laid, against the ships in the way
	turn  float64
}

func newGuesser(before *engine.Scene, from, to *engine.Ship, slop Slop) *guesser {
	g := &guesser{exact: *before, start: from.Pose, to: to}
	g.exact.Obstacles, g.exact.Devices, g.exact.Unknown, g.exact.Blind = nil, nil, nil, nil
	g.exact.ObstaclesUnseen = false
	g.loose = g.exact
	g.exact.Ships, g.loose.Ships = slices.Clone(before.Ships), slices.Clone(before.Ships)
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
	own := &g.loose.Ships[g.ship].Covariance
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
func (g *guesser) maneuver(m engine.Maneuver) (candidate, error) {
	c := candidate{name: m.String()}
	r, err := engine.Move(&g.exact, g.exact.Ships[g.ship].ID, m, engine.Options{})
	if err != nil {
		return c, err
	}
	c.full = r.Full
	inFull, partial := ways(m)
	if r.FullyExecuted {
		c.ends = fullEnds(&r, inFull)
		if m.Bearing == engine.Stationary || !g.crowded(r.Full) {
			return c, nil
		}
	} else {
		c.ends = []guess{{a: r.Final, b: r.Final, partial: true, touching: r.Touching, way: partial}}
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
	bumps, err := g.bumps(m)
	for i := range bumps {
		bumps[i].way = partial
	}
	c.ends = append(c.ends, bumps...)
	return c, err
}

// mayBeFull reports whether a ship that seems to be in the way may not have been, and the
// ship stands near where the maneuver ends in full.
func (g *guesser) mayBeFull(m engine.Maneuver, full geom.Pose) (bool, error) {
	if g.to.Pose.Sub(full.Point).Norm() > g.near(full)+30 { // a Tallon roll's slide
		return false, nil
	}
	r, err := engine.Move(&g.loose, g.loose.Ships[g.ship].ID, m, engine.Options{Sigmas: surely})
	return r.InFull != engine.No, err
}

// near returns how far the ship may stand from a place where it ended.
func (g *guesser) near(end geom.Pose) float64 {
	seen := max(g.to.Covariance[0], g.to.Covariance[4])
	return wide * (math.Sqrt(g.place*g.place+seen) + end.Sub(g.start.Point).Norm()*g.turn)
}

// crowded reports whether another ship may be in the way of a pose: whether the circles
// about the two meet. A Tallon roll may end 30 mm to either side.
func (g *guesser) crowded(p geom.Pose) bool {
	reach := func(b engine.Base) float64 {
		w, l := b.Size()
		return math.Hypot(float64(w), float64(l))/2 + 3 // guides, and profiles of other sizes
	}
	own := &g.exact.Ships[g.ship]
	far := reach(own.Base) + surely*(g.place+reach(own.Base)*g.turn+p.Sub(g.start.Point).Norm()*g.turn) + 30
	return slices.ContainsFunc(g.exact.Ships, func(s engine.Ship) bool {
		return s.ID != own.ID && s.Pose.Sub(p.Point).Norm() < far+reach(s.Base)
	})
}

// onTheWay reports whether the ship stands anywhere near the way of a maneuver, so that
// it may have been bumped there: turned no further than the template bends, and no further from
// the line between the two ends than the template's arc.
func (g *guesser) onTheWay(m engine.Maneuver, full geom.Pose) bool {
	bend, bulge := 0.0, 0.0
	switch m.Bearing {
	case engine.BankTurn, engine.Segnor, engine.ReverseBank:
		bend, bulge = math.Pi/4, math.Tan(math.Pi/8)/2
	case engine.TightTurn, engine.Tallon:
		bend, bulge = math.Pi/2, 0.5
	}
	if m.Left != (m.Bearing == engine.ReverseBank) { // backing to the left turns the nose to the right
		bend = -bend
	}
	turn := wide * math.Sqrt(g.turn*g.turn+g.to.Covariance[8])
	if d := float64((g.to.Pose.Heading - g.start.Heading).Signed()); d < min(0, bend)-turn || d > max(0, bend)+turn {
		return false
	}
	chord := full.Sub(g.start.Point).Norm()
	q, _ := geom.ClosestOnSegment(g.to.Pose.Point, g.start.Point, full.Point)
	return g.to.Pose.Sub(q).Norm() <= bulge*chord+g.near(full)+30 // a Tallon roll's slide
}

// fullEnds returns where a move ends that is executed in full: at one place, or where the
// player chooses.
func fullEnds(r *engine.MoveResult, way geom.Angle) []guess {
	if !r.Chosen {
		return []guess{{a: r.Full, b: r.Full, way: way}}
	}
	var all []guess
	for _, o := range r.Options {
		e := guess{a: o.Final, b: o.Final, way: way}
		if o.Range {
			e.b = o.FinalTo
		} else {
			e.place = o.Name
		}
		all = append(all, e)
	}
	return all
}

// laid are the places where a template may have been laid: ahead, aside and turned, in standard
// deviations. What lies between them is covered by what lies between the ends.
var laid = [...][3]float64{
	{0, 0, 0}, {-2, 0, 0}, {2, 0, 0}, {0, -2, 0}, {0, 2, 0}, {0, 0, -2}, {0, 0, 2},
	{0, -1.5, -1.5}, {0, -1.5, 1.5}, {0, 1.5, -1.5}, {0, 1.5, 1.5},
}

// bump is where a ship stops that cannot execute a maneuver in full.
type bump struct {
	guess
	back float64 // from the full pose, mm
}

// bumps returns where a ship stops that cannot execute a maneuver in full. How far it
// backs up depends on how the template is laid, sometimes in leaps: past a corner or against
// it. So it is laid in many places around the right one. Each end is taken back to the right
// start, which leaves how far along the template it is; all between two such ends is a
// place where it may stop.
func (g *guesser) bumps(m engine.Maneuver) ([]guess, error) {
	ship := &g.exact.Ships[g.ship]
	defer func() { ship.Pose = g.start }()
	var ends []bump
	for _, at := range laid {
		turned := geom.Angle(at[2] * g.turn)
		ship.Pose.Point = g.start.Transform(geom.Point{X: at[1] * g.place, Y: at[0] * g.place})
		ship.Pose.Heading = g.start.Heading + turned
		r, err := engine.Move(&g.exact, ship.ID, m, engine.Options{})
		if err != nil {
			return nil, err
		}
		if r.FullyExecuted {
			continue
		}
		final := ship.Pose.Inverse(r.Final.Point)
		p := geom.Pose{Point: g.start.Transform(final), Heading: (r.Final.Heading - turned).Normalized()}
		ends = append(ends, bump{guess{a: p, b: p, partial: true, touching: r.Touching}, ship.Pose.Inverse(r.Full.Point).Sub(final).Norm()})
	}
	slices.SortStableFunc(ends, func(a, b bump) int { return cmp.Compare(a.back, b.back) })
	var all []guess
	for i, e := range ends {
		if i > 0 {
			e.a = ends[i-1].b
			if near(e.a, e.b) {
				continue
			}
		}
		all = append(all, e.guess)
	}
	return all, nil
}

// action performs an action. What forbids its ends is left out of account: the rules may
// have been broken, and the ship stands there all the same.
func (g *guesser) action(a engine.Action) (candidate, error) {
	c := candidate{name: a.String(), action: true}
	r, err := engine.Reposition(&g.exact, g.exact.Ships[g.ship].ID, a, engine.Options{})
	if err != nil {
		return c, err
	}
	way := geom.Angle(0)
	switch {
	case a.To == engine.ToLeft && a.Kind != engine.Boost:
		way = -math.Pi / 2
	case a.To == engine.ToRight && a.Kind != engine.Boost:
		way = math.Pi / 2
	}
	c.full, c.ends = r.Full, fullEnds(&r, way)
	return c, nil
}
