package move

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
	"sightline/engine/internal/uncertain"
)

// This file computes ends that a player chooses: three places in 2.0 and 2.5, a
// continuous slide in the first edition.

// slideStep is how far the hashmark of a base moves between the places left,
// middle and right of a template's end: to its corner (G132, G151).
const slideStep = templateHalf

// tallon executes a Tallon roll: a turn, and the base set on the template's end
// by its side, turned a further 90° the same way (G130). If none of the places that
// the player may choose is free, the ship does not turn these 90° (G133, G136).
func (m *mover) tallon(a Maneuver) {
	c := m.newPath(a.template(), false)
	c.flip = geom.Angle(c.line.side) * math.Pi / 2
	turned := func(x float64) geom.Pose {
		d := c
		d.slide = x
		return d.full()
	}
	m.result.Full = turned(0)
	half := float64(slideStep)
	if m.scene.Rules == engine.Rules1e { // the template's end stays within the base's side (G131)
		half = math.Max(0, m.l/2-float64(templateHalf))
	}
	places := map[Slide]float64{SlideLeft: -half, SlideMiddle: 0, SlideRight: half}
	if a.Slide != SlideUnchosen {
		c.slide = places[a.Slide]
		m.result.Full = turned(c.slide)
		if !m.mustAvoid(m.result.Full, &roll{turnedAt: turned, half: half}) {
			m.settleTallon(&c, m.overlapsAt(m.result.Full, true))
			return
		}
		c.slide, m.result.Full = 0, turned(0)
	}
	r := &roll{turnedAt: turned}
	area := c.swept(c.line.length)
	best := engine.No
	if m.scene.Rules == engine.Rules1e {
		r.half = half
		best = m.slides(r)
	} else {
		for s := SlideLeft; s <= SlideRight; s++ {
			best = best.Or(m.option(slideNames[s], turned(places[s]), &area, false))
		}
	}
	if best != engine.No {
		m.result.Chosen, m.result.FullyExecuted, m.result.InFull = true, best == engine.Yes, best
		if best == engine.Indeterminate {
			m.doubt("whether any place is free")
		}
		m.end(&c, []stop{{m.result.Full, c.line.length}}, settled{}, false, engine.No)
		return
	}
	// No place is free: the overlap at the middle one is what the ship meets.
	m.settleTallon(&c, m.overlapsAt(m.result.Full, true))
	m.result.FullyExecuted, m.result.InFull = false, engine.No
}

// mustAvoid reports whether another ship is or may be in the way of a Tallon roll's chosen place while another place
// is or may be free. In the first edition the ship then has to avoid the overlap: the player chooses again (G133).
func (m *mover) mustAvoid(place geom.Pose, r *roll) bool {
	if m.scene.Rules != engine.Rules1e {
		return false
	}
	hit := m.overlapsAt(place, false)
	if hit == engine.No {
		return false
	}
	_, best := m.slide(r)
	return best == engine.Yes || best == engine.Indeterminate && hit == engine.Yes
}

// settleTallon ends a Tallon roll at the chosen place or, if the ship overlaps another there,
// as a turn that was not fully executed.
func (m *mover) settleTallon(c *path, hit engine.Outcome) {
	full := stop{c.full(), c.line.length}
	m.finish(c, full, hit)
}

// roll is a choice of end poses along a line.
type roll struct {
	turnedAt func(x float64) geom.Pose // the base's pose with the slide x
	half     float64                   // 1e: x from -half to half; for a roll, half of it on each side of the template

	template   func(a float64) quad // the template at the slide a along the base; nil where it lies still
	area       *sweptArea           // where it lies still; nil for a Tallon roll
	reposition bool                 // obstacles and the mat's edge forbid it
	shrink     float64              // by how much everything that forbids an end is made smaller
}

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

// interval is a stretch of a slide.
type interval struct{ lo, hi float64 }

// blockedRun is a stretch of a slide that something forbids: open at both ends,
// because contact is not an overlap.
type blockedRun struct {
	interval
	why string
}

// slides computes the legal intervals of a continuous slide (G89, G131, G133,
// G147, G149). The limits are exact, not sampled: a corner of one thing meets an edge of
// the other there. With uncertain poses, everything is enlarged by the slack to find what
// is surely legal, and shrunk by it to find what is surely not.
func (m *mover) slides(r *roll) engine.Outcome {
	options, best := m.slide(r)
	m.result.Options = append(m.result.Options, options...)
	m.slideMargin(best)
	return best
}

// slide returns the intervals of a slide and whether any of them is legal.
func (m *mover) slide(r *roll) ([]Option, engine.Outcome) {
	half := r.half
	if r.template != nil {
		half *= 2 // the template slides on the start, and the ship on the template
	}
	reach := interval{-half, half}
	may, must := m.blocked(r, reach, 1), m.blocked(r, reach, -1)
	var cuts []float64
	for _, b := range append(slices.Clone(may), must...) {
		cuts = append(cuts, b.lo, b.hi)
	}
	cuts = append(cuts, reach.lo, reach.hi)
	cuts = slices.DeleteFunc(cuts, func(x float64) bool { return x < reach.lo || x > reach.hi })
	slices.Sort(cuts)
	cuts = slices.CompactFunc(cuts, func(a, b float64) bool { return math.Abs(b-a) < geom.Tie })

	var options []Option
	best := engine.No
	add := func(x0, x1 float64) {
		at := (x0 + x1) / 2
		o := Option{Name: "slide", Range: true, From: geom.Length(x0), To: geom.Length(x1),
			Final: r.turnedAt(x0), FinalTo: r.turnedAt(x1), Legal: engine.Yes}
		if why := reasonsAt(must, at, x0 == x1); why != "" {
			o.Legal, o.Why = engine.No, why
		} else if why := reasonsAt(may, at, x0 == x1); why != "" {
			o.Legal, o.Why = engine.Indeterminate, "may be that it "+why
		}
		if r.reposition {
			m.unseenMayForbid(&o)
		}
		best = best.Or(o.Legal)
		if n := len(options); n > 0 {
			if last := &options[n-1]; last.Legal == o.Legal && last.Why == o.Why {
				last.To, last.FinalTo = o.To, o.FinalTo
				return
			}
		}
		options = append(options, o)
	}
	for i, x := range cuts {
		// A place between two blocked stretches may fit exactly.
		if len(cuts) == 1 || reasonsAt(may, x, true) == "" {
			add(x, x)
		}
		if i+1 < len(cuts) {
			add(x, cuts[i+1])
		}
	}
	return options, best
}

// slideMargin sets the margin of the answer "there is a place": half of the widest legal
// interval, or 0 if there is none.
func (m *mover) slideMargin(best engine.Outcome) {
	widest := 0.0
	for _, o := range m.result.Options {
		if o.Legal == best {
			widest = math.Max(widest, float64(o.To-o.From)/2)
		}
	}
	if widest < float64(m.result.Margin) {
		m.result.Margin, m.result.Sigma, m.nearest = geom.Length(widest), 0, widest
	}
	if best == engine.Indeterminate {
		m.doubt("whether any place is free")
	}
}

// reasonsAt lists what blocks the place x. With closed, the ends of a stretch do not count as
// part of it.
func reasonsAt(bs []blockedRun, x float64, closed bool) string {
	var whys []string
	for _, b := range bs {
		lo, hi := b.lo, b.hi
		if closed {
			lo, hi = lo+geom.Tie, hi-geom.Tie
		}
		if lo < x && x < hi && !slices.Contains(whys, b.why) {
			whys = append(whys, b.why)
		}
	}
	slices.Sort(whys)
	return strings.Join(whys, ", ")
}

// blocked returns the stretches of a slide that are forbidden: with grow 1 those that
// possibly are, with grow -1 those that surely are.
func (m *mover) blocked(r *roll, reach interval, grow float64) []blockedRun {
	p0, p1 := r.turnedAt(0), r.turnedAt(1)
	dir := p1.Sub(p0.Point)
	base := newFootprint(&m.profile, m.ship.Base, p0, true)
	far := append(m.baseAt(r.turnedAt(reach.lo)), m.baseAt(r.turnedAt(reach.hi))...)
	var all []blockedRun
	add := func(why string, that uncertain.Body, free float64, outlines ...geom.Polygon) {
		dx, dy := m.growth(m.errorAgainst(m.own(), that, free), p0, far)
		for i := range base.n {
			x := grow*dx - r.shrink
			if i > 0 && grow < 0 && dx+dy > 0 { // where a slender guide has its full length it blocks for sure
				x -= float64(pieces.GuideOuter-pieces.GuideInner-pieces.GuideTip) / 2
			}
			if q, ok := base.parts[i].grown(x, grow*dy-r.shrink); ok {
				for _, g := range outlines {
					for _, b := range slideBlocks(q, g, dir) {
						all = append(all, blockedRun{b, why})
					}
				}
			}
		}
	}
	for i := range m.others {
		o := &m.others[i]
		shape := o.shape.guided(grow < 0 && m.slack(o.err, o.At, far...) > 0)
		for j := range o.shape.n {
			add("overlaps "+o.id, o.Body, 0, shape.parts[j][:])
		}
	}
	if !r.reposition {
		return all
	}
	for i := range m.things {
		if t := &m.things[i]; t.obstacle && !m.pulled {
			add("overlaps "+t.id, uncertain.Body{At: t.at}, t.err.Variance, t.outlines...)
		}
	}
	all = append(all, m.offMat(r, dir, far, grow)...)
	if r.area != nil {
		return append(all, m.stillTemplate(r, grow)...)
	}
	return append(all, m.noTemplate(r, reach, dir, grow)...)
}

// growth returns the largest error of a base's points along its two sides.
func (m *mover) growth(d margins, p geom.Pose, points []geom.Point) (dx, dy float64) {
	for _, q := range points {
		dx = math.Max(dx, d.Along(p.Right(), q))
		dy = math.Max(dy, d.Along(p.Forward(), q))
	}
	return dx, dy
}

// offMat returns the stretches of a slide at which the base, guides left out,
// reaches outside the play area; far are its corners at the ends of the slide.
func (m *mover) offMat(r *roll, dir geom.Point, far []geom.Point, grow float64) []blockedRun {
	if m.scene.MatWidth <= 0 || m.scene.MatHeight <= 0 {
		return nil
	}
	loose := margins{uncertain.RelativeError{K: m.k, Bodies: [2]uncertain.Body{m.own()}}}
	dx, dy := m.growth(loose, geom.Pose{}, far)
	var all []blockedRun
	exact := margins{uncertain.RelativeError{K: m.k}}
	out := exact.edges(m.baseAt(r.turnedAt(0)), float64(m.scene.MatWidth), float64(m.scene.MatHeight))
	for e, rate := range [4]float64{-dir.X, dir.X, -dir.Y, dir.Y} {
		d := grow*[4]float64{dx, dx, dy, dy}[e] - r.shrink - out[e].gap
		switch inf := math.Inf(1); {
		case math.Abs(rate) < 1e-12 && d > geom.Tie:
			all = append(all, blockedRun{interval{-inf, inf}, "leaves the play area"})
		case rate > 1e-12:
			all = append(all, blockedRun{interval{-d / rate, inf}, "leaves the play area"})
		case rate < -1e-12:
			all = append(all, blockedRun{interval{-inf, -d / rate}, "leaves the play area"})
		}
	}
	return all
}

// noTemplate returns the stretches of a roll's slide for which there is no place
// of the template that is clear of obstacles: the template slides by half the
// reach on the start, and the ship by the other half on the template.
func (m *mover) noTemplate(r *roll, reach interval, dir geom.Point, grow float64) []blockedRun {
	q := r.template(0)
	half := reach.hi / 2
	var runs []blockedRun
	for i := range m.things {
		t := &m.things[i]
		if !t.obstacle || m.pulled {
			continue
		}
		a, b := r.template(-half), r.template(half)
		dx, dy := m.growth(m.errorAgainst(m.own(), uncertain.Body{At: t.at}, t.err.Variance), m.ship.Pose, append(a[:], b[:]...))
		grown, ok := q.grown(grow*dx, grow*dy)
		if !ok {
			continue
		}
		for _, g := range t.outlines {
			for _, b := range slideBlocks(grown, g, dir) {
				runs = append(runs, blockedRun{b, "has the template over " + t.id})
			}
		}
	}
	slices.SortFunc(runs, func(a, b blockedRun) int { return cmp.Compare(a.lo, b.lo) })
	// The free places of the template, closed intervals, each widened by the ship's own
	// slide on it; the rest is blocked.
	var whys []string
	for _, b := range runs {
		if b.hi > -half && b.lo < half && !slices.Contains(whys, b.why) {
			whys = append(whys, b.why)
		}
	}
	why := strings.Join(whys, ", ")
	var blocked []blockedRun
	edge, covered := math.Inf(-1), -half
	free := func(lo, hi float64) {
		if lo-half > edge {
			blocked = append(blocked, blockedRun{interval{edge, lo - half}, why})
		}
		edge = math.Max(edge, hi+half)
	}
	for _, b := range runs {
		if b.hi <= covered || b.lo >= half {
			continue
		}
		if b.lo >= covered-geom.Tie {
			free(covered, math.Max(covered, b.lo))
		}
		covered = math.Max(covered, b.hi)
	}
	if covered <= half+geom.Tie {
		free(math.Min(covered, half), half)
	}
	if why != "" {
		blocked = append(blocked, blockedRun{interval{edge, math.Inf(1)}, why})
		return blocked
	}
	return nil
}

// slideBlocks returns the open intervals of t for which a rectangle moved by
// t·dir (a unit vector) has inner points in common with a simple polygon. The
// rectangle's inside meets an edge over one interval; between such intervals it
// is wholly outside the polygon or wholly within it.
func slideBlocks(q quad, g geom.Polygon, dir geom.Point) []interval {
	across := geom.Point{X: -dir.Y, Y: dir.X}
	local := func(p geom.Point) geom.Point { return geom.Point{X: dir.Dot(p.Sub(q[0])), Y: across.Dot(p.Sub(q[0]))} }
	var r quad
	for i := range q {
		r[i] = local(q[i])
	}
	var runs []interval
	for i := range g {
		if b, ok := edgeBlock(&r, local(g[i]), local(g[(i+1)%len(g)])); ok {
			runs = append(runs, b)
		}
	}
	slices.SortFunc(runs, func(a, b interval) int { return cmp.Compare(a.lo, b.lo) })
	var merged []interval
	centre := q[0].Add(q[2]).Mul(0.5)
	for _, b := range runs {
		n := len(merged)
		if n == 0 {
			merged = append(merged, b)
			continue
		}
		last := &merged[n-1]
		if b.lo < last.hi || g.Contains(centre.Add(dir.Mul((last.hi+b.lo)/2))) {
			last.hi = math.Max(last.hi, b.hi)
		} else {
			merged = append(merged, b)
		}
	}
	return merged
}

// edgeBlock returns the shifts along x for which the inside of a rectangle meets
// the segment ab.
func edgeBlock(r *quad, a, b geom.Point) (interval, bool) {
	y0, y1 := r[0].Y, r[0].Y
	for _, p := range r {
		y0, y1 = math.Min(y0, p.Y), math.Max(y1, p.Y)
	}
	if a.Y > b.Y {
		a, b = b, a
	}
	const thin = geom.Tie / 10 // a side along the slide does not meet an edge that it lies on
	lo, hi := math.Max(y0+thin, a.Y), math.Min(y1-thin, b.Y)
	if lo > hi {
		return interval{}, false
	}
	// Shift = x of the segment - x of the rectangle; over y its least is where the
	// rectangle's right side is furthest ahead of the segment: convex in y, so at a
	// limit or at a corner's height.
	out := interval{math.Inf(1), math.Inf(-1)}
	look := func(y float64) {
		x0, x1 := r.chord(y)
		xs := [2]float64{a.X, b.X}
		if b.Y > a.Y {
			x := a.X + (b.X-a.X)*((y-a.Y)/(b.Y-a.Y))
			xs = [2]float64{x, x}
		}
		out.lo = math.Min(out.lo, math.Min(xs[0], xs[1])-x1)
		out.hi = math.Max(out.hi, math.Max(xs[0], xs[1])-x0)
	}
	look(lo)
	look(hi)
	for _, p := range r {
		if p.Y > lo && p.Y < hi {
			look(p.Y)
		}
	}
	return out, out.hi-out.lo > geom.Tie
}

// chord returns where the line at the height y enters and leaves the rectangle.
func (q *quad) chord(y float64) (x0, x1 float64) {
	x0, x1 = math.Inf(1), math.Inf(-1)
	for i, p := range q {
		n := q[(i+1)%4]
		if (p.Y-y)*(n.Y-y) > 0 {
			continue
		}
		xs := [2]float64{p.X, n.X}
		if p.Y != n.Y {
			x := p.X + (n.X-p.X)*((y-p.Y)/(n.Y-p.Y))
			xs = [2]float64{x, x}
		}
		for _, x := range xs {
			x0, x1 = math.Min(x0, x), math.Max(x1, x)
		}
	}
	return x0, x1
}
