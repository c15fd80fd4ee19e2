package move

import (
	"fmt"
	"math"
	"strings"

	"sightline/engine"
	"sightline/engine/geom"
)

// Reposition examines every end of a barrel roll, a boost, a decloaking or a tractor beam's
// pull. The options of the result say which ends are legal and what forbids the others. A
// ship that a tractor beam pulls may end on obstacles, but neither on ships nor off the mat
// (G160, G161).
//
// The mat's edge forbids an end in every edition: the first edition says so (G153,
// G161); the core rules of 2.0 and 2.5 are silent, and fleeing is for maneuvers.
func Reposition(s *engine.Scene, ship string, a Action, o engine.Options) (Result, error) {
	if !a.valid() {
		return Result{}, fmt.Errorf("engine: action: expected %s", actionForms)
	}
	m, err := newMover(s, ship, o)
	if err != nil {
		return Result{}, err
	}
	if m.huge() {
		return Result{}, fmt.Errorf("engine: move %q: %w", ship, ErrHuge)
	}
	m.result.Maneuver = a.String()
	m.pulled = a.Kind == Tractor
	switch {
	case a.Kind == Boost || a.To == Forward:
		m.boost(a)
	case a.Bend == NoBend:
		m.barrelRoll(a)
	case m.ship.Base != engine.Small:
		return Result{}, fmt.Errorf("engine: move %q: %w", ship, ErrBankRoll)
	default:
		m.bankRoll(a)
	}
	return m.done(), nil
}

// boost moves straight on or along a bank of speed 1 (G155); to decloak forward,
// straight 2, or straight 1 for the larger bases of 2.0 and 2.5 (G157, G158).
func (m *mover) boost(a Action) {
	t := Template{Speed: 1, Left: a.To == ToLeft}
	switch {
	case a.To != Forward:
		t.Kind = TemplateBank
	case a.Bend != NoBend:
		t = Template{Kind: TemplateBank, Speed: m.decloakSpeed(), Left: a.Bend == BendLeft}
	case a.Kind == Decloak:
		t.Speed = m.decloakSpeed()
	}
	c := m.newPath(t, false)
	full := stop{c.full(), c.line.length}
	m.result.Full, m.result.Final = full.pose, full.pose
	area := c.swept(c.line.length)
	name := strings.Fields(a.String())[1]
	legal := m.option(name, full.pose, &area, true)
	m.result.FullyExecuted, m.result.InFull = legal == engine.Yes, legal
	m.end(&c, []stop{full}, settled{}, false, engine.No)
	m.result.Touching = nil
	if m.scene.Rules != engine.Rules1e {
		m.touch([]stop{full}, false, engine.No)
	}
}

// decloakSpeed returns the speed of the template to decloak with.
func (m *mover) decloakSpeed() int {
	if m.scene.Rules != engine.Rules1e && m.ship.Base != engine.Small {
		return 1
	}
	return 2
}

// barrelRoll moves sideways, keeping the heading (G148): small bases along the
// template, the others across it (G147, G149 to G151).
func (m *mover) barrelRoll(a Action) {
	speed := 1
	if a.Kind == Decloak {
		speed = m.decloakSpeed()
	}
	side := 1.0
	if a.To == ToLeft {
		side = -1
	}
	across, along := float64(straightUnit)*float64(speed), 2*float64(templateHalf)
	if m.ship.Base != engine.Small { // the long side lies against the base
		across, along = along, across
	}
	p := m.ship.Pose
	r := &roll{
		reposition: true,
		half:       math.Max(0, m.l/2-along/2),
		turnedAt: func(x float64) geom.Pose {
			return geom.Pose{Point: p.Transform(geom.Point{X: side * (m.w + across), Y: x}), Heading: p.Heading.Normalized()}
		},
		template: func(x float64) quad {
			x0, x1 := side*m.w/2, side*(m.w/2+across)
			return quadAt(p, math.Min(x0, x1), math.Max(x0, x1), x-along/2, x+along/2)
		},
	}
	area := quadArea(p, r.template(0))
	m.result.Full, m.result.Chosen = r.turnedAt(0), true
	q := r.template(0)
	m.result.Template = q[:]
	var best engine.Outcome
	if m.scene.Rules == engine.Rules1e {
		best = m.slides(r)
	} else {
		best = engine.No
		for i, name := range [...]string{"forward", "middle", "backward"} {
			best = best.Or(m.option(name, r.turnedAt(along/2*float64(1-i)), &area, true))
		}
	}
	m.result.FullyExecuted, m.result.InFull = best == engine.Yes, best
	m.rollMeets(&area, m.result.Full)
}

// quadArea makes the area of a template that lies as the rectangle q.
func quadArea(p geom.Pose, q quad) sweptArea {
	a := sweptArea{line: centreLine{side: 1}, frame: p, cut: 1}
	for i := range q {
		a.rect[i] = p.Inverse(q[i])
	}
	return a
}

// rollMeets lists what the middle end pose and its template meet. Every option has its own
// list.
func (m *mover) rollMeets(area *sweptArea, middle geom.Pose) {
	for i := range m.things {
		t := &m.things[i]
		m.meet(t, m.hit(t, []sweptArea{*area}, []stop{{pose: middle}}, settled{}))
	}
	m.flee([]stop{{pose: middle}}, settled{})
}

// reasons collects what forbids an end pose.
type reasons struct {
	all   engine.Outcome // Yes: forbidden
	sure  []string
	doubt []string
}

func (r *reasons) add(o engine.Outcome, why string) {
	switch o {
	case engine.Yes:
		r.sure = append(r.sure, why)
	case engine.Indeterminate:
		r.doubt = append(r.doubt, why)
	default:
		return
	}
	r.all = r.all.Or(o)
}

// why returns what forbids an end pose, or what may, in words.
func (r *reasons) why() string {
	if len(r.sure) > 0 {
		return strings.Join(r.sure, ", ")
	}
	if len(r.doubt) > 0 {
		return "may be that it " + strings.Join(r.doubt, ", ")
	}
	return ""
}

// option examines one end pose and adds it to the options: other ships forbid it,
// and for a reposition obstacles under the base or the template and the mat's
// edge (G152 to G155, G157); a template over a ship does not. area is the
// template's.
func (m *mover) option(name string, p geom.Pose, area *sweptArea, reposition bool) engine.Outcome {
	r := reasons{all: engine.No}
	v := Option{Name: name, Final: p}
	base := newFootprint(&m.profile, m.ship.Base, p, true)
	for i := range m.others {
		o := &m.others[i]
		over := m.against(&base, o)
		hit := over.outcome()
		r.add(hit, "overlaps "+o.id)
		m.note(name+" overlaps "+o.id, hit, over.gap, over.slack)
	}
	for i := range m.things {
		t := &m.things[i]
		h := m.hit(t, []sweptArea{*area}, []stop{{pose: p}}, settled{})
		if h.Template == engine.No && h.Base == engine.No {
			continue
		}
		if !t.obstacle {
			v.Devices = append(v.Devices, h)
			continue
		}
		v.Obstacles = append(v.Obstacles, h)
		if reposition && !m.pulled {
			r.add(h.Base, "overlaps "+t.id)
			r.add(h.Template, "has the template over "+t.id)
		}
	}
	v.Flees = engine.NoView
	if m.scene.MatWidth > 0 && m.scene.MatHeight > 0 {
		v.Flees = engine.No
		worst := farAway
		for _, edge := range m.beyond(p, m.own()) {
			v.Flees = v.Flees.Or(edge.outcome())
			if edge.gap < worst.gap {
				worst = edge
			}
		}
		m.note(name+" leaves the play area", v.Flees, worst.gap, worst.slack)
		if reposition {
			r.add(v.Flees, "leaves the play area")
		}
	}
	v.Legal, v.Why = r.all.Not(), r.why()
	if reposition {
		m.unseenMayForbid(&v)
	}
	m.result.Options = append(m.result.Options, v)
	return v.Legal
}

// unseenMayForbid replaces "legal" by no view if obstacles that could forbid the end were
// not looked for.
func (m *mover) unseenMayForbid(o *Option) {
	if (m.scene.ObstaclesUnseen || m.unknownNear(o.Final, o.FinalTo)) && !m.pulled && o.Legal == engine.Yes {
		o.Legal, o.Why = engine.NoView, NotLooked
	}
}
