// Package move executes maneuvers, actions and drops of a [engine.Scene]: where a ship
// ends, what stops it there, and what it meets on the way.
//
// [Execute] executes a [Maneuver], [Reposition] an [Action] and [LayDrop] a [Drop]. Each
// lays a [Template]. A path moves the base along the template's line, and back to the first
// place that is free of other ships. Margins decide what base and template meet, and a
// [Result] holds the answers.
package move

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
	"sightline/engine/internal/uncertain"
)

// ErrHuge is the error for moving a huge ship. The rules texts leave its moves to
// sheets of its own, and no source gives the lengths and angles of the huge maneuver
// template of the first edition or of the second's maneuver tool. Standing still is
// known, and so are drops.
var ErrHuge = errors.New("huge ships move by templates of their own, whose dimensions no source gives: only stationary and " +
	"drops are known")

// ErrQuarters is the error for moving a ship of which only the base's edges were seen.
var ErrQuarters = errors.New("which way its nose points was not seen")

// Execute executes a maneuver of a ship of the scene. The result says where the ship ends
// and what it meets there and on the way. Its errors include [ErrHuge], [ErrQuarters]
// and [engine.ErrNoShip].
func Execute(s *engine.Scene, ship string, a Maneuver, o engine.Options) (Result, error) {
	if err := a.Validate(); err != nil {
		return Result{}, fmt.Errorf("engine: %w", err)
	}
	m, err := newMover(s, ship, o)
	if err != nil {
		return Result{}, err
	}
	if m.huge() && a.Bearing != Stationary {
		return Result{}, fmt.Errorf("engine: move %q: %w", ship, ErrHuge)
	}
	m.result.Maneuver = a.String()
	switch a.Bearing {
	case Stationary: // counts as executed, and moves nothing (G139)
		m.stand()
	case Tallon:
		m.tallon(a)
	default:
		m.execute(a)
	}
	return m.done(), nil
}

func (m *mover) stand() {
	p := m.ship.Pose
	p.Heading = p.Heading.Normalized()
	m.result.Full, m.result.Final, m.result.FullyExecuted = p, p, true
	m.result.InFull = engine.Yes
	c := path{line: centreLine{side: 1}, frame: p, l: m.l}
	m.end(&c, []stop{{p, 0}}, settled{}, false, engine.No)
}

// execute moves along a template and back where another ship is in the way.
func (m *mover) execute(a Maneuver) {
	c := m.newPath(a.template(), a.Bearing == ReverseStraight || a.Bearing == ReverseBank)
	if a.Bearing == Koiogran || a.Bearing == Segnor {
		c.flip = math.Pi
	}
	m.run(&c)
}

// run puts the ship at the full pose or as far back as it must go.
func (m *mover) run(c *path) {
	full := stop{c.full(), c.line.length}
	hit := m.overlapsAt(full.pose, true)
	m.result.Full = full.pose
	m.finish(c, full, hit)
}

// overlapsAt decides whether the base at a pose overlaps other ships, guides
// included, and lists those that it does (G103, G118). With note it records the questions.
func (m *mover) overlapsAt(p geom.Pose, note bool) engine.Outcome {
	base := newFootprint(&m.profile, m.ship.Base, p, true)
	all := engine.No
	for i := range m.others {
		o := &m.others[i]
		over := m.against(&base, o)
		hit := over.outcome()
		if note {
			m.note("overlapping "+o.id, hit, over.gap, over.slack)
			if over.gap < -geom.Tie {
				m.result.FirstOverlapped = append(m.result.FirstOverlapped, o.id)
			}
		}
		all = all.Or(hit)
	}
	return all
}

// finish decides where a move ends, whether or not its full pose overlaps other ships (G103
// to G111), and examines that place.
func (m *mover) finish(c *path, full stop, hit engine.Outcome) {
	m.result.FullyExecuted, m.result.InFull = len(m.result.FirstOverlapped) == 0, hit.Not()
	var stops []stop
	var end settled
	at := func(s float64) stop { return stop{c.pose(s), s} }
	if m.result.FullyExecuted {
		stops = append(stops, full)
	} else {
		stops = append(stops, at(m.retreat(c, 0)))
	}
	stopped := hit
	if m.inexact && hit != engine.No { // anywhere from the first place that may be free to the first that surely is
		far, near := m.retreat(c, -1), m.retreat(c, 1)
		if hit == engine.Indeterminate && !m.result.FullyExecuted {
			stops = append(stops, full)
		}
		if hit == engine.Yes {
			end = m.settle(c, stops[0].at, near, far)
		}
		if far >= c.line.length { // a Tallon roll that is not turned may be free where it was not when turned
			stopped = engine.Indeterminate
		}
		for i := range 5 {
			stops = append(stops, at(near+(far-near)*float64(i)/4))
		}
	}
	m.result.Final = stops[0].pose
	m.end(c, stops, end, !m.result.FullyExecuted, stopped)
}

// retreat moves the base back from the end of the template, both of its marks on
// the centre line, to the first place where it is free of all other ships (G104,
// G105): by their nominal poses (sure 0), surely (1) or possibly (-1). It returns the place of
// the following mark; -l is where the base started, behind which it does not go (G111).
//
// It skips no free place: a step is never longer than the base's fastest point needs to
// leave the deepest overlap. Only below a tenth of a micrometre are steps longer, so that
// sliding along an edge ends.
func (m *mover) retreat(c *path, sure float64) float64 {
	speed, turn := c.line.rates(c.l)
	reach := math.Hypot(m.w, m.l)/2 + float64(engine.GuideReach(m.ship.Base))
	widest := 0.0
	for i := range m.others {
		widest = max(widest, m.others[i].radius)
	}
	fastest := speed + turn*(reach+2*widest)
	free := func(s float64) float64 { return m.clearance(c, s, sure) }

	floor := 1e-4
	s := c.line.length
	prev := s
	for i := 1; ; i++ {
		f := free(s)
		if f >= -geom.Tie {
			break
		}
		if i%2000 == 0 {
			floor *= 2
		}
		prev = s
		if s -= max(-f/fastest, floor); s <= -c.l {
			return -c.l
		}
	}
	if prev == s {
		return s
	}
	// The place where it becomes free: a little further back it surely is, unless it
	// slides along an edge.
	if free(s) < 0 {
		if s-1e-7 < -c.l || free(s-1e-7) < 0 {
			return s
		}
		prev, s = s, s-1e-7
	}
	for range 100 {
		mid := s + (prev-s)/2
		if mid == s || mid == prev {
			break
		}
		if free(mid) >= 0 {
			s = mid
		} else {
			prev = mid
		}
	}
	return s
}

// clearance returns the separation from the other ships with the following mark
// at s: exact where it is negative, and a lower bound where it is positive. sure selects the
// least possible separation (1) or, with slender guides, the greatest (-1).
func (m *mover) clearance(c *path, s, sure float64) float64 {
	p := c.pose(s)
	base := newFootprint(&m.profile, m.ship.Base, p, true)
	reach := math.Hypot(m.w, m.l)/2 + float64(engine.GuideReach(m.ship.Base))
	best := math.Inf(1)
	for i := range m.others {
		o := &m.others[i]
		slack := 0.0
		if sure != 0 {
			slack = m.slack(o.err, o.At, base.parts[0][:]...)
		}
		if d := o.At.Sub(p.Point).Norm() - o.radius - reach; d > slack {
			best = min(best, d-slack)
			continue
		}
		sep := base.separation(&o.shape)
		if slack > 0 && sep <= slack && (sure < 0 || sep >= -slack) {
			v := m.against(&base, o)
			best = min(best, v.gap-sure*v.slack)
			continue
		}
		best = min(best, sep-sure*slack)
	}
	return best
}

// end examines everything around the place where the move ends. The first of the
// stops is the likeliest; where there are more, an answer is decided only when it
// is the same at all of them, or at the first with the error that end gives. stopped is
// whether another ship makes it back up.
func (m *mover) end(c *path, stops []stop, end settled, partial bool, stopped engine.Outcome) {
	areas := make([]sweptArea, len(stops))
	for i, s := range stops {
		areas[i] = c.swept(s.at)
	}
	m.touch(stops, partial, stopped)
	for i := range m.others {
		o := &m.others[i]
		through := m.each(len(stops), "moving through "+o.id, func(i int) margin { return m.throughShip(&areas[i], o) })
		if through == engine.Yes {
			m.result.MovedThrough = append(m.result.MovedThrough, o.id)
		}
	}
	for i := range m.things {
		t := &m.things[i]
		m.meet(t, m.hit(t, areas, stops, end))
	}
	m.flee(stops, end)
}

// throughShip returns the margin of a template and another ship.
func (m *mover) throughShip(a *sweptArea, o *neighbour) margin {
	return ofGuides(func(slender bool) margin { return m.through(a, o.shape.guided(slender), o) })
}

// through returns the margin of a template and a shape of another ship.
func (m *mover) through(a *sweptArea, shape footprint, o *neighbour) margin {
	gap := math.Inf(1)
	for j := range shape.n {
		gap = min(gap, a.gap(shape.parts[j][:]))
	}
	return judged(gap, m.slack(o.err, o.At, a.corners()...), func() margin {
		d := m.errorAgainst(m.own(), o.Body, 0)
		return anyOf(shape.n, func(j int) margin {
			part := geom.Polygon(shape.parts[j][:])
			return d.swept(a, part, a.gap(part))
		})
	})
}

// meet lists what a move meets.
func (m *mover) meet(t *thing, h Hit) {
	switch {
	case h.Template == engine.No && h.Base == engine.No:
	case t.obstacle:
		m.result.Obstacles = append(m.result.Obstacles, h)
	default:
		m.result.Devices = append(m.result.Devices, h)
	}
}

// each asks a question about overlap at every stop and combines the answers.
func (m *mover) each(n int, what string, ask func(int) margin) engine.Outcome {
	first := ask(0)
	all := first.outcome()
	for i := 1; i < n && all != engine.Indeterminate; i++ {
		if ask(i).outcome() != all {
			all = engine.Indeterminate
		}
	}
	m.note(what, all, first.gap, first.slack)
	return all
}

// hit asks whether something lies under the template or under the base at its
// end (G162 to G167, G171, G188).
func (m *mover) hit(t *thing, areas []sweptArea, stops []stop, end settled) Hit {
	h := Hit{ID: t.id}
	h.Template = m.ask(t, len(areas), "the template over "+t.id, func(i int) margin {
		return m.ofParts(t, func(g geom.Polygon) margin { return m.underThing(&areas[i], t, g) })
	})
	own, n := m.own(), len(stops)
	if end.ok {
		own, n = end.own, 1
	}
	h.Base = m.ask(t, n, "the base over "+t.id, func(i int) margin {
		base := newFootprint(&m.profile, m.ship.Base, stops[i].pose, true)
		return m.ofParts(t, func(g geom.Polygon) margin { return m.onThing(&base, own, end.secondOrder, t, g) })
	})
	return h
}

// ofParts returns the margin of a thing made of several cards.
func (m *mover) ofParts(t *thing, ask func(geom.Polygon) margin) margin {
	return t.limits.decide(func(gs []geom.Polygon) margin {
		return anyOf(len(gs), func(i int) margin { return ask(gs[i]) })
	}, t.outlines)
}

// ask is each, also for a thing whose size is unknown: then only its reach counts.
func (m *mover) ask(t *thing, n int, what string, ask func(int) margin) engine.Outcome {
	if !t.unknown {
		return m.each(n, what, ask)
	}
	for i := range n {
		if ask(i).outcome() != engine.No {
			return engine.NoView
		}
	}
	return engine.No
}

// touch lists the ships in contact at the end. In the first edition ships touch
// only after an overlap (G95, G97, G98); later contact is range 0 however it came
// about (G17). Where there are several stops, the ship surely touches another only if
// it is surely stopped, and if no third ship may be the one that stops it.
func (m *mover) touch(stops []stop, partial bool, stopped engine.Outcome) {
	met := func(s stop, o *neighbour) margin {
		base := newFootprint(&m.profile, m.ship.Base, s.pose, true)
		return margin{base.gap(&o.shape), m.against(&base, o).slack}
	}
	first := m.scene.Rules == engine.Rules1e
	var may []string
	for i := range m.others {
		o := &m.others[i]
		v := met(stops[0], o)
		switch {
		case v.gap <= pieces.ContactTie && (partial || !first):
			m.result.Touching = append(m.result.Touching, o.id)
		case v.gap > pieces.ContactTie && partial:
			m.note("touching "+o.id, engine.No, v.gap, 0)
		}
		near := v.slack > 0 && math.Abs(v.gap) <= v.slack
		if len(stops) > 1 && !near {
			near = slices.ContainsFunc(stops, func(s stop) bool {
				w := met(s, o)
				return w.gap <= w.slack+pieces.ContactTie
			})
		}
		if near && (partial || len(stops) > 1 || !first) {
			may = append(may, o.id)
		}
	}
	if stopped != engine.Yes || len(may) > 1 {
		for _, id := range may {
			m.doubt("touching " + id)
		}
	}
	m.result.Overlapped = m.result.FirstOverlapped
	switch {
	case first && partial:
		m.result.Overlapped = m.result.Touching
	case m.scene.Rules == engine.Rules25:
		m.result.Overlapped = m.friendsOf(m.result.FirstOverlapped)
	}
}

// friendsOf drops the enemies from ships that were overlapped at the same time if a
// friendly one is among them: then only friendly ones count (G114). A ship of an unknown
// player may be either, and stays.
func (m *mover) friendsOf(ids []string) []string {
	own := m.ship.Player
	player := func(id string) int { return m.scene.Ship(id).Player }
	if own == 0 || !slices.ContainsFunc(ids, func(id string) bool { return player(id) == own }) {
		return ids
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return player(id) != own && player(id) != 0 })
}

// flee decides whether any part of the base, guides left out, is outside the play
// area where the move ends (G117, G197 to G201).
func (m *mover) flee(stops []stop, end settled) {
	if m.scene.MatWidth <= 0 || m.scene.MatHeight <= 0 {
		m.result.Flees = engine.NoView
		return
	}
	var outs [4]engine.Outcome
	worst := farAway
	if end.ok {
		stops = stops[:1]
	}
	for i, p := range stops {
		own, secondOrder := m.own(), 0.0
		if end.ok {
			own, secondOrder = end.own, end.secondOrder
		}
		for e, v := range m.beyond(p.pose, own) {
			v.slack += secondOrder
			o := v.outcome()
			if i == 0 {
				if v.gap < worst.gap {
					worst = v
				}
			} else if o != outs[e] {
				o = engine.Indeterminate
			}
			outs[e] = o
		}
	}
	all := engine.No
	for e, name := range edgeNames {
		if outs[e] == engine.Yes {
			m.result.Edges = append(m.result.Edges, name)
		}
		all = all.Or(outs[e])
	}
	m.result.Flees = all
	m.note("fleeing", all, worst.gap, worst.slack)
}

var edgeNames = [4]string{"left", "right", "near", "far"}

// beyond returns the margins of a base to the mat's four edges, negative where it
// reaches beyond one, guides left out.
func (m *mover) beyond(p geom.Pose, own uncertain.Body) [4]margin {
	d := margins{uncertain.RelativeError{K: m.k, Bodies: [2]uncertain.Body{own}}}
	return d.edges(m.baseAt(p), float64(m.scene.MatWidth), float64(m.scene.MatHeight))
}
