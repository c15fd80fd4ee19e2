package engine

import (
	"fmt"
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
	"sightline/engine/internal/uncertain"
)

// table is a scene made ready for measuring.
type table struct {
	scene   *Scene
	profile Profile
	k       float64

	relation  Touching // Options.Touching
	mayTouch  Touching // Options.MayTouch
	overlaps  Touching // Options.Overlapped
	untouched string   // Options.Untouched
	known     Touching // Options.InContact

	outlinesExact   bool // no outline on the table is uncertain
	outlines        []obstacleOutline
	hugeObstructors []hugeObstructor
	blockers        []blocker          // what may obstruct attacks
	devices         []*obstacleOutline // do not obstruct, but are named if they are on the line
	ships           []measuredShip
	around          []uncertain.Circle // the ships' bases
	mem             memory
	pm              pairMeasure
	room            [2]uncertain.Shape    // scratch
	guides          [2][4]uncertain.Shape // scratch, for two ships
}

// prepare checks a scene and computes what all its measurements share.
func (t *table) prepare(s *Scene, o Options) error {
	t.scene = s
	t.relation, t.mayTouch = o.Touching, o.MayTouch
	t.overlaps, t.untouched, t.known = o.Overlapped, o.Untouched, o.InContact
	var err error
	if t.k, t.profile, err = s.Ready(o); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	t.setOutlines()
	t.setShips()
	t.setHugeObstructors()
	t.setBlockers()
	return nil
}

// measuredShip is a ship ready to be measured: its base, and the areas of its arcs.
type measuredShip struct {
	ship     *Ship
	from, to uncertain.Shape // its base, as the body measured from and as the one measured to
	radius   float64

	ready   bool // the arcs, which are made when they are first asked for
	arcs    []Arc
	regions []region
}

// body returns a ship as a body whose pose is uncertain.
func (s *Ship) body() uncertain.Body { return uncertain.Body{At: s.Pose.Point, Cov: s.Covariance} }

// setShips places all ships on the table.
func (t *table) setShips() {
	s := t.scene
	t.ships, t.around = grow(t.ships, len(s.Ships)), t.around[:0]
	for i := range s.Ships {
		o := &t.ships[i]
		o.ship, o.ready = &s.Ships[i], false
		setBase(&o.from, &t.profile, o.ship, uncertain.From)
		o.to.Set(uncertain.To, o.from.Lever, o.from.V...)
		o.radius = o.from.Lever
		t.around = append(t.around, uncertain.Circle{Centre: o.ship.Pose.Point, Radius: o.radius})
	}
}

// setBase makes the shape of a ship's base, guides left out.
func setBase(s *uncertain.Shape, p *Profile, ship *Ship, body int) {
	if ship.part != nil {
		var room [12]geom.Point
		v, lever := room[:0], 0.0
		for _, q := range ship.part {
			v, lever = append(v, ship.Pose.Transform(q)), max(lever, q.Norm())
		}
		s.Set(body, lever, v...)
		return
	}
	w, l := p.Size(ship.Base)
	s.Rectangle(ship.Pose, body, float64(-w/2), float64(w/2), float64(-l/2), float64(l/2))
}

// setArcs makes the areas of a ship's arcs.
func (t *table) setArcs(o *measuredShip) {
	o.arcs = arcsOf(t.scene.Rules, o.ship, o.arcs[:0])
	o.regions = grow(o.regions, len(o.arcs))
	at := uncertain.FrameOf(o.ship.Pose)
	for i, a := range o.arcs {
		if a != ArcPrimaryTurret {
			o.regions[i].set(&t.profile, t.scene.Rules, o.ship, &at, a)
		}
	}
	o.ready = true
}

// setOutlines places all outlines on the table: obstacles, devices, markers.
func (t *table) setOutlines() {
	s, n := t.scene, 0
	t.outlinesExact = true
	add := func(id, kind string, pose geom.Pose, outline []geom.Point, sigma geom.Length) *obstacleOutline {
		t.outlines = grow(t.outlines, n+1)
		r := &t.outlines[n]
		n++
		r.set(id, kind, pose, outline, sigma)
		return r
	}
	for i := range s.Obstacles {
		o := &s.Obstacles[i]
		add(o.ID, o.Kind, o.Pose, o.Outline, o.Sigma).obstacle = true
		t.outlinesExact = t.outlinesExact && o.Sigma == 0
	}
	for i, list := range [...][]Token{s.Devices, s.Markers} {
		for j := range list {
			k := &list[j]
			for _, p := range pieces.Parts(k.Kind, k.Outline) {
				outline := p.Outline
				if i == 0 {
					if outline = t.onMat(k, outline); outline == nil {
						continue // named as a problem
					}
				}
				r := add(k.ID+p.Name, k.Kind, k.Pose, outline, k.Sigma)
				r.obstacle = pieces.IsObstacle(k.Kind)
				r.device = i == 0 && !r.obstacle
				t.outlinesExact = t.outlinesExact && (!r.obstacle || k.Sigma == 0)
			}
		}
	}
	t.outlines = t.outlines[:n]
}

// onMat returns the part of a device's outline that lies in the play area; nil: none does (G184).
func (t *table) onMat(k *Token, outline []geom.Point) []geom.Point {
	return pieces.OnMat(float64(t.scene.MatWidth), float64(t.scene.MatHeight), k.Pose, outline, t.k*float64(k.Sigma))
}

// hugeObstructor is the base of a huge ship as something that obstructs attacks.
type hugeObstructor struct {
	obstacleOutline
	ship *Ship
}

// setHugeObstructors places the bases of huge ships on the table, guides left out, each as
// uncertain as its most uncertain corner.
func (t *table) setHugeObstructors() {
	s, n := t.scene, 0
	for i := range s.Ships {
		ship := &s.Ships[i]
		if !ship.Base.Huge() {
			continue
		}
		t.hugeObstructors = grow(t.hugeObstructors, n+1)
		h := &t.hugeObstructors[n]
		n++
		w, l := t.profile.Size(ship.Base)
		x, y := float64(w/2), float64(l/2)
		outline := [...]geom.Point{{X: x, Y: y}, {X: -x, Y: y}, {X: -x, Y: -y}, {X: x, Y: -y}}
		h.set(ship.ID, ship.Base.String(), ship.Pose, outline[:], 0)
		loose := ship.body().WorstPoint(t.k, h.Polygon...)
		h.Sigma = math.Sqrt(loose.Variance) + loose.SecondOrder/t.k
		h.obstacle, h.ship = true, ship
		t.outlinesExact = t.outlinesExact && h.Sigma == 0
	}
	t.hugeObstructors = t.hugeObstructors[:n]
}

// blocker is something that may obstruct attacks, with circles that bound its distance.
//
// That huge ships obstruct is not in the rules texts, which leave them to sheets of
// their own: G39 excepts small and large ships only, an upgrade of the first edition
// (EM Emitter) speaks of the one die that a huge ship's obstruction gives, and the
// second edition's huge-ship rules give the defender one die more.
type blocker struct {
	uncertain.Circle
	core    float64
	sigma   float64
	outline *obstacleOutline
	ship    *Ship // the huge ship that it is; it obstructs no attack of its own or at it
}

// setBlockers lists what may obstruct attacks, and the devices.
func (t *table) setBlockers() {
	t.blockers, t.devices = t.blockers[:0], t.devices[:0]
	add := func(r *obstacleOutline, ship *Ship) {
		t.blockers = append(t.blockers, blocker{r.Circle, r.Core, r.Sigma, r, ship})
	}
	for i := range t.outlines {
		switch r := &t.outlines[i]; {
		case r.obstacle:
			add(r, nil)
		case r.device:
			t.devices = append(t.devices, r)
		}
	}
	for i := range t.hugeObstructors {
		h := &t.hugeObstructors[i]
		add(&h.obstacleOutline, h.ship)
	}
}

// grow returns the slice with n elements, in the same memory where that has room.
// Elements beyond the old length keep what they held before.
func grow[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return append(s[:cap(s)], make([]T, n-cap(s))...)
}

// Measure answers every question about a scene: each ordered pair of ships, each
// ship against each obstacle, device and marker, and what is wrong with the scene
// itself. The error says what makes the scene impossible to measure. See
// [Measurer] for measuring again and again.
func Measure(s *Scene, o Options) (Result, error) {
	var m Measurer
	return m.Measure(s, o)
}

// measure answers every question.
func (t *table) measure() Result {
	s, n := t.scene, len(t.scene.Ships)
	r := Result{
		Rules:   s.Rules,
		Pairs:   make([]PairVerdict, n*max(0, n-1)),
		Objects: slices.Grow([]ObjectVerdict(nil), n*len(t.outlines)),
	}
	for i := range s.Ships {
		for j := range i {
			r.Pairs[pairAt(n, j, i)], r.Pairs[pairAt(n, i, j)] = t.pair(j, i)
		}
	}
	for i := range s.Ships {
		for j := range t.outlines {
			r.Objects = append(r.Objects, t.object(&t.ships[i], &t.outlines[j]))
		}
	}
	r.Problems = t.problems(nil)
	r.Standing = t.standing(&r)
	return r
}

// pairAt returns the index of the pair from the i-th to the j-th of n ships among all pairs.
func pairAt(n, i, j int) int {
	if j > i {
		j--
	}
	return i*(n-1) + j
}

// MeasurePair answers the questions about one ordered pair of ships, by their ids. The error is
// [ErrNoShip] if one of them is not in the scene.
func MeasurePair(s *Scene, from, to string, o Options) (PairVerdict, error) {
	var m Measurer
	return m.Pair(s, from, to, o)
}

// Ship returns a ship of the scene by its id; nil if the scene has none of that id.
func (s *Scene) Ship(id string) *Ship {
	if i := s.indexOf(id); i >= 0 {
		return &s.Ships[i]
	}
	return nil
}

// indexOf returns the index of a ship among the scene's; -1 if it is not there.
func (s *Scene) indexOf(id string) int {
	return slices.IndexFunc(s.Ships, func(o Ship) bool { return o.ID == id })
}

// pairMeasure is one ordered pair of ships being measured.
type pairMeasure struct {
	uncertain.Propagator
	*table
	k            float64
	rules        Rules
	from, target *Ship
	base, to     *uncertain.Shape // their bases
	start, part  uncertain.Shape  // the parts of them that are in an arc
	left         bool             // the last cut left a part of the target, or a corner that is surely in the arc
	reach        float64
	direct       uncertain.ClosestPair // from base to base
	mutualLines  []geom.Line           // its alternatives
	touch        geom.Interval         // from outline to outline, guides included
	contact      Outcome               // of the outlines
	known        bool                  // they are known to be in contact
	span         RangeVerdict          // the range that follows from these
	plain        *AttackVerdict        // the attack at this range; nil until an arc asks for it

	attacker, aimedAt *measuredShip

	aim          aim
	sliding      slidingLine // the line of the last arc
	corridor     corridor
	search       lineSearch
	answers      []lineAnswer // the verdicts on obstruction so far
	nearOutlines []nearOutline
	narrowed     []nearOutline
	lineErrors   []lineError // of the lines in sorted
	sorted       []geom.Line // those that may be the measuring line, side by side
	between      corridor    // of two neighbours
	one          obstacleOutline
	ones         [1]*obstacleOutline
}

// pair measures from the i-th ship to the j-th and back.
func (t *table) pair(i, j int) (there, back PairVerdict) {
	m := &t.pm
	m.face(t, &t.ships[i], &t.ships[j])
	m.measureMutual()
	there = m.verdict()
	m.turnRound()
	return there, m.verdict()
}

// face sets the two ships, that from which it measures first.
func (m *pairMeasure) face(t *table, a, b *measuredShip) {
	if !a.ready {
		t.setArcs(a)
	}
	from, to := a.ship, b.ship
	m.Propagator.Set(from.body(), to.body(), t.scene.ScaleSigma, t.k)
	m.table, m.k, m.rules, m.from, m.target = t, t.k, t.scene.Rules, from, to
	m.ones[0], m.answers, m.plain = &m.one, m.answers[:0], nil
	m.base, m.to = &a.from, &b.to
	m.reach = max(a.radius, float64(from.Pose.Distance(to.Pose.Point))+b.radius)
	m.attacker, m.aimedAt = a, b
}

// measureMutual measures what is the same in both directions: range, contact and, except in the
// first edition, where few attacks are along it, the obstruction of the line between the bases.
func (m *pairMeasure) measureMutual() {
	m.direct = m.Gap(m.base, m.to)
	m.mutualLines = append(m.mutualLines[:0], m.direct.Alternatives...)
	m.direct.Alternatives = m.mutualLines
	m.touch = m.touching(m.attacker, m.aimedAt, m.direct.Interval)
	m.contact = contactOutcome(m.touch)
	if m.known = m.table.known.Has(m.from.ID, m.target.ID); m.known {
		m.contact = Yes
	}
	m.span = m.mem.rangeVerdict(m.rules, &m.direct, m.touch, m.contact, m.k)
	if m.mutualObstruction() {
		m.obstruction(&m.direct)
	}
}

// mutualObstruction reports whether the first answer on obstruction is that of the line between the bases.
func (m *pairMeasure) mutualObstruction() bool { return m.rules != Rules1e && m.contact == No }

// turnRound exchanges the two ships and keeps what is the same in both directions.
func (m *pairMeasure) turnRound() {
	var mutual []lineAnswer
	if m.mutualObstruction() {
		mutual = m.answers[:1]
	}
	m.face(m.table, m.aimedAt, m.attacker)
	turn(m.mutualLines)
	turn(m.direct.Lines[:])
	turn(m.direct.Choice[:])
	m.direct.Slope[0], m.direct.Slope[1] = m.direct.Slope[1], m.direct.Slope[0]
	first := len(m.mem.lines)
	m.mem.lines = append(m.mem.lines, m.span.Lines...)
	m.span.Lines = m.mem.lines[first:len(m.mem.lines):len(m.mem.lines)]
	turn(m.span.Lines)
	for i := range mutual {
		permitted, choice := m.linesOf(&m.direct)
		m.answers = append(m.answers, lineAnswer{permitted, choice, m.direct.Alternatives, mutual[i].verdict})
	}
}

// turn exchanges the ends of lines.
func turn(lines []geom.Line) {
	for i := range lines {
		lines[i][0], lines[i][1] = lines[i][1], lines[i][0]
	}
}

// verdict returns everything measured from the first ship to the second.
func (m *pairMeasure) verdict() PairVerdict {
	farthest := m.Farthest(m.base, m.to, &m.part)
	v := PairVerdict{
		From: m.from.ID, To: m.target.ID,
		Range:    m.span,
		Farthest: m.mem.rangeVerdict(m.rules, &farthest, farthest.Interval, No, m.k),
		Contact:  m.contact,
	}
	first := len(m.mem.arcs)
	for k, arc := range m.attacker.arcs {
		m.mem.arcs = append(m.mem.arcs, m.measureArc(arc, &m.attacker.regions[k]))
	}
	v.Arcs = m.mem.arcs[first:len(m.mem.arcs):len(m.mem.arcs)]
	return v
}

// problems lists what the rules do not allow or what makes answers doubtful, and
// only what is decided.
func (t *table) problems(ps []Problem) []Problem {
	for i := range t.scene.Ships {
		if p, ok := t.outside(&t.scene.Ships[i]); ok {
			ps = append(ps, p)
		}
	}
	for i := range t.scene.Ships {
		for j := range i {
			if p, ok := t.overlapping(&t.ships[i], &t.ships[j]); ok {
				ps = append(ps, p)
			}
		}
	}
	for j, list := range [...][]Token{t.scene.Devices, t.scene.Markers} {
		what := [...]string{"device", "marker"}[j]
		for i := range list {
			switch k := &list[i]; {
			case len(pieces.Parts(k.Kind, k.Outline)) > 0:
				if j == 0 && !slices.ContainsFunc(pieces.Parts(k.Kind, k.Outline), func(p pieces.Part) bool { return t.onMat(k, p.Outline) != nil }) {
					ps = append(ps, Problem{ID: k.ID, Problem: "device not measured: all of it lies outside the play area"})
				}
			case k.Kind == "":
				ps = append(ps, Problem{ID: k.ID, Problem: what + " not measured: neither kind nor outline_mm is given"})
			default:
				ps = append(ps, Problem{ID: k.ID, Problem: fmt.Sprintf("%s not measured: no size is known of the kind %q, and no outline_mm "+
					"is given", what, pieces.ShortName(k.Kind))})
			}
		}
	}
	return t.anachronisms(ps)
}

// anachronisms lists what the first edition does not have. It is measured all the same:
// a table may be mixed.
func (t *table) anachronisms(ps []Problem) []Problem {
	if t.scene.Rules != Rules1e {
		return ps
	}
	for i := range t.scene.Ships {
		if s := &t.scene.Ships[i]; s.Base == Medium {
			ps = append(ps, Problem{ID: s.ID, Problem: "the first edition has no medium base"})
		}
	}
	for i := range t.scene.Obstacles {
		if o := &t.scene.Obstacles[i]; o.Kind == "gas" {
			ps = append(ps, Problem{ID: o.ID, Problem: "the first edition has no gas cloud"})
		}
	}
	return ps
}

// outside reports a ship that is partly outside the play area: it has fled.
func (t *table) outside(s *Ship) (Problem, bool) {
	w, h := float64(t.scene.MatWidth), float64(t.scene.MatHeight)
	if w <= 0 || h <= 0 {
		return Problem{}, false
	}
	g := &t.pm.Propagator
	g.Set(s.body(), uncertain.Body{}, t.scene.ScaleSigma, t.k)
	b, mat := &t.room[0], &t.room[1]
	setBase(b, &t.profile, s, uncertain.From)
	mat.Rectangle(geom.Pose{}, uncertain.To, 0, w, 0, h)
	out := geom.Exactly(math.Inf(-1))
	for i, p := range mat.V {
		e := mat.Next(i).Sub(p)
		n := geom.Point{X: e.Y, Y: -e.X}.Mul(1 / e.Norm())
		for _, q := range b.V {
			d := n.Dot(q.Sub(p))
			leaf := g.DistanceInterval(d, n, uncertain.To, uncertain.From, q, q, d)
			out = out.Max(leaf)
		}
	}
	return Problem{ID: s.ID, Problem: "outside the play area", Margin: geom.Length(out.Val)}, out.Lo > geom.Tie
}

// overlaps begins the problem of a ship that lies on another.
const overlaps = "overlaps "

// overlapping reports two ships that overlap, guides counted, which is impossible.
func (t *table) overlapping(x, y *measuredShip) (Problem, bool) {
	a, b := x.ship, y.ship
	reach := t.profile.reach(a.Base) + t.profile.reach(b.Base)
	if d := a.Pose.Point.Sub(b.Pose.Point); d.Dot(d) > geom.Sq(x.radius+y.radius+reach) {
		return Problem{}, false // however they are turned
	}
	g := &t.pm.Propagator
	g.Set(a.body(), b.body(), t.scene.ScaleSigma, t.k)
	s := g.Separation(&x.from, &y.to)
	if s.Lo > reach {
		return Problem{}, false
	}
	s = t.touching(x, y, s)
	return Problem{ID: a.ID, Problem: overlaps + b.ID, Margin: geom.Length(-s.Val)}, overlapOutcome(s) == Yes
}
