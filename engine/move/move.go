// Package move executes maneuvers, actions and drops of a [engine.Scene]: where a ship
// ends, what stops it there, and what it meets on the way.
//
// The way of a move through the package: a [Maneuver], an [Action] or a [Drop] lays a
// [Template]; a path carries the base along its line, and back to the first place that is
// free of other ships; margins say what the base and the template meet, and how sure that
// is; [Result] says it all. [Execute], [Reposition] and [LayDrop] begin.
package move

import (
	"cmp"
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

// Result says where a maneuver, an action or a drop ends and what it meets.
type Result struct {
	Ship     string
	Maneuver string // as it was asked

	Full  geom.Pose // executed in full; for a drop, the device's
	Final geom.Pose // where it ends
	// Chosen: the player chooses among Options, and Final says nothing; what is met
	// is then said for the middle place, and by each option for itself.
	Chosen bool

	// Template is the outline of the template as it is laid, on the table, round
	// edges as chords; nil without one. In the first edition's rolls, whose template
	// slides, it is the one at the middle of the ship's side.
	Template []geom.Point

	FullyExecuted   bool           // the likelier, where InFull is neither Yes nor No
	InFull          engine.Outcome // whether it is executed in full; of an action or a Tallon roll, whether it can be
	Outcome         engine.Outcome // Yes when everything said here is decided, else Indeterminate, or NoView of obstacles
	FirstOverlapped []string       // ships at the full pose (G113); for a drop, ships over the device (G185)
	Touching        []string       // ships in contact at the final pose (G100, G101, G109)
	// Ships that the rules treat as overlapped: the touched ones in 1e (G112), the first
	// ones after (G113), in 2.5 only the friendly ones if there are any (G114).
	Overlapped   []string
	MovedThrough []string // ships under the template (G115, G163)
	Obstacles    []Hit    // from the nearest at the start outward (G168)
	Devices      []Hit

	Flees engine.Outcome // NoView when the mat's size is not known
	Edges []string       // the mat's edges that it crosses for sure: left, right, near, far (G201)

	// Outside says how much of a dropped device lies outside the play area, which is
	// ignored (G184): "no", "partly", "wholly" (then it has no effect), "too_close", or
	// "no_view" when the mat's size is not known; "" for other moves.
	Outside string

	// The question nearest to its limit: how far it is from changing (infinitely,
	// where nothing is there to be met), and the standard deviation of that.
	Margin, Sigma geom.Length
	Nearest       string   // that question in words; "" where there is none
	Undecided     []string // the questions that are too close, in words; or NotLooked

	Options []Option
}

// Hit is an obstacle or a device that a move meets with the template, with the
// base at its end, or both (G162, G181).
type Hit struct {
	ID             string
	Template, Base engine.Outcome
}

// Option is one of the end positions that the rules allow a player to choose
// from, or, in the first edition, an interval of them.
type Option struct {
	Name  string
	Final geom.Pose
	Legal engine.Outcome
	Why   string // what forbids it, or what is too close

	Obstacles, Devices []Hit // met by the template and by the base there
	Flees              engine.Outcome

	// Range: every place from From to To, in mm along the slide, is an end
	// position; Final is the one at From, FinalTo the one at To.
	Range    bool
	From, To geom.Length
	FinalTo  geom.Pose
}

// quad is a rectangle on the table, counter-clockwise.
type quad [4]geom.Point

func quadAt(p geom.Pose, x0, x1, y0, y1 float64) quad {
	return quad{
		p.Transform(geom.Point{X: x1, Y: y1}), p.Transform(geom.Point{X: x0, Y: y1}),
		p.Transform(geom.Point{X: x0, Y: y0}), p.Transform(geom.Point{X: x1, Y: y0}),
	}
}

// grown returns the quad's outline moved out by dx along its first side and by dy
// along its second (inward when negative); ok is false when nothing is left.
func (q quad) grown(dx, dy float64) (quad, bool) {
	u, v := q[0].Sub(q[1]), q[1].Sub(q[2])
	lu, lv := u.Norm(), v.Norm()
	if lu+2*dx <= 0 || lv+2*dy <= 0 || lu == 0 || lv == 0 {
		return q, false
	}
	u, v = u.Mul(dx/lu), v.Mul(dy/lv)
	return quad{q[0].Add(u).Add(v), q[1].Sub(u).Add(v), q[2].Sub(u).Sub(v), q[3].Add(u).Sub(v)}, true
}

// footprint is a base on the table: the base itself first, then, where they
// count, its four guides (G117, G118).
type footprint struct {
	parts [5]quad
	n     int
}

func newFootprint(p *engine.Profile, b engine.Base, at geom.Pose, withGuides bool) footprint {
	w, l := p.Size(b)
	x, y := float64(w/2), float64(l/2)
	f := footprint{n: 1}
	f.parts[0] = quadAt(at, -x, x, -y, y)
	if !withGuides || !p.Guides {
		return f
	}
	for _, g := range pieces.Guides(y, float64(engine.GuideReach(b))) {
		f.parts[f.n] = quadAt(at, g.X0, g.X1, g.Y0, g.Y1)
		f.n++
	}
	return f
}

// guided returns the footprint with rectangular guides, as it is, or with slender ones.
func (f footprint) guided(slender bool) footprint {
	for i := 1; slender && i < f.n; i++ {
		f.parts[i] = pieces.Slender(f.parts[i], i > 2)
	}
	return f
}

// separation returns how far two convex quads are apart along the best separating
// normal; negative by the depth of an overlap. They have inner points in common
// exactly when it is negative.
func (q *quad) separation(r *quad) float64 {
	best := math.Inf(-1)
	for range 2 {
		for i := range q {
			e := q[(i+1)%4].Sub(q[i])
			n := geom.Point{X: e.Y, Y: -e.X}.Mul(1 / e.Norm())
			least := math.Inf(1)
			for j := range r {
				least = min(least, n.Dot(r[j].Sub(q[i])))
			}
			best = max(best, least)
		}
		q, r = r, q
	}
	return best
}

func (f *footprint) separation(g *footprint) float64 {
	best := math.Inf(1)
	for i := range f.n {
		for j := range g.n {
			best = min(best, f.parts[i].separation(&g.parts[j]))
		}
	}
	return best
}

// gap returns the signed distance of two footprints.
func (f *footprint) gap(g *footprint) float64 {
	if s := f.separation(g); s <= 0 {
		return s
	}
	best := math.Inf(1)
	for i := range f.n {
		for j := range g.n {
			best = min(best, outlineGap(f.parts[i][:], g.parts[j][:]))
		}
	}
	return best
}

// outlineGap returns the signed distance of a footprint from a polygon.
func (f *footprint) outlineGap(g geom.Polygon) float64 {
	best := math.Inf(1)
	for i := range f.n {
		best = min(best, convexGap(f.parts[i][:], g))
	}
	return best
}

// neighbour is another ship on the table.
type neighbour struct {
	id     string
	player int
	radius float64 // of the circle around it, guides included
	shape  footprint
	err    uncertain.PointError // in any direction
	uncertain.Body
}

// thing is an obstacle or a device on the table.
type thing struct {
	id       string
	obstacle bool
	unknown  bool // a device whose size no source gives: outlines holds what it can reach
	at       geom.Point
	outlines []geom.Polygon
	start    float64 // distance from the moving ship at the start
	err      uncertain.PointError
}

// mover is one ship about to move.
type mover struct {
	scene   *engine.Scene
	profile engine.Profile
	k       float64
	ship    *engine.Ship
	w, l    float64 // of its base
	start   footprint
	others  []neighbour
	things  []thing
	result  Result
	inexact bool    // some pose on the table, or the scale, is uncertain
	pulled  bool    // by a tractor beam: obstacles forbid nothing (G160)
	nearest float64 // how near the question of Margin is to being undecided
}

// newMover makes a scene ready for moving one ship.
func newMover(s *engine.Scene, id string, o engine.Options) (*mover, error) {
	m := &mover{scene: s, nearest: math.Inf(1)}
	var err error
	if m.k, m.profile, err = s.Ready(o); err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	if m.ship = s.Ship(id); m.ship == nil {
		return nil, fmt.Errorf("engine: move %q: %w", id, engine.ErrNoShip)
	}
	if m.ship.Quarters {
		return nil, fmt.Errorf("engine: move %q: its heading is known to a %s turn only: %w", id, halfOrQuarter(m.ship.Base), ErrQuarters)
	}
	w, l := m.profile.Size(m.ship.Base)
	m.w, m.l = float64(w), float64(l)
	m.start = newFootprint(&m.profile, m.ship.Base, m.ship.Pose, false)
	m.inexact = s.ScaleSigma > 0
	for i := range s.Ships {
		m.inexact = m.inexact || s.Ships[i].Covariance != geom.Cov3{}
		if o := &s.Ships[i]; o != m.ship {
			m.others = append(m.others, m.neighbour(o))
		}
	}
	for i := range s.Obstacles {
		o := &s.Obstacles[i]
		m.add(o.ID, true, o.Pose, o.Sigma, []pieces.Part{{Outline: o.Outline}})
	}
	for i := range s.Devices {
		t := &s.Devices[i]
		parts := slices.Clone(pieces.Parts(t.Kind, t.Outline))
		for j := range parts {
			if in := pieces.InsideMat(float64(s.MatWidth), float64(s.MatHeight), t.Pose, parts[j].Outline); in != nil {
				parts[j].Outline = in
			}
		}
		m.add(t.ID, pieces.ObstacleKind(t.Kind) == "debris", t.Pose, t.Sigma, parts)
	}
	slices.SortStableFunc(m.things, func(a, b thing) int { return cmp.Compare(a.start, b.start) })
	m.result = Result{Ship: id, Outcome: engine.Yes, Flees: engine.No, Margin: geom.Length(math.Inf(1))}
	return m, nil
}

// halfOrQuarter names the turn after which a base's edges look the same.
func halfOrQuarter(b engine.Base) string {
	if b.Huge() {
		return "half"
	}
	return "quarter"
}

// guidesOut is more than any guide stands out of its base, in mm (rules/dimensions 1.1).
const guidesOut = 2.0

// neighbour makes another ship ready to be run into.
func (m *mover) neighbour(o *engine.Ship) neighbour {
	covariance := o.Covariance
	if o.Quarters && !o.Base.Huge() { // its guides may stand on the other two sides
		covariance[0] += geom.Sq(guidesOut / m.k)
		covariance[4] += geom.Sq(guidesOut / m.k)
		m.inexact = true
	}
	n := neighbour{id: o.ID, player: o.Player, Body: uncertain.Body{At: o.Pose.Point, Cov: covariance}}
	n.shape = newFootprint(&m.profile, o.Base, o.Pose, true)
	n.err = n.WorstPoint(m.k, n.shape.parts[0][:]...)
	for i := range n.shape.n {
		for _, p := range n.shape.parts[i] {
			n.radius = max(n.radius, p.Sub(n.At).Norm())
		}
	}
	return n
}

// add appends something that lies on the table. Dropped cargo is an obstacle (G43).
func (m *mover) add(id string, obstacle bool, at geom.Pose, sigma geom.Length, parts []pieces.Part) {
	const widest = 61 * geom.Millimeter // no known device reaches further from its centre
	t := thing{id: id, obstacle: obstacle, at: at.Point, start: math.Inf(1), err: uncertain.PointError{Variance: float64(sigma * sigma)}}
	if t.unknown = len(parts) == 0; t.unknown {
		r := float64(widest)
		parts = []pieces.Part{{Outline: []geom.Point{{X: r, Y: r}, {X: -r, Y: r}, {X: -r, Y: -r}, {X: r, Y: -r}}}}
	}
	for _, p := range parts {
		g := make(geom.Polygon, len(p.Outline))
		for i, q := range p.Outline {
			g[i] = at.Transform(q)
		}
		t.outlines = append(t.outlines, g)
		t.start = min(t.start, m.start.outlineGap(g))
	}
	m.things = append(m.things, t)
}

// slack returns how many millimetres a gap between points of the moving ship and
// something else may be off at the asked number of standard deviations. The
// moving ship carries the error of its pose before the move: what is placed by a
// template is as wrong as the base that the template was laid to.
func (m *mover) slack(other uncertain.PointError, at geom.Point, points ...geom.Point) float64 {
	own := m.own()
	l := other.And(own.WorstPoint(m.k, points...))
	scaled := m.scene.ScaleSigma * at.Sub(m.ship.Pose.Point).Norm()
	return m.k*math.Sqrt(l.Variance+scaled*scaled) + l.SecondOrder
}

// overlapping decides from a signed gap whether interiors meet: contact is not an
// overlap.
func overlapping(gap, slack float64) engine.Outcome {
	switch {
	case slack == 0 && gap < -geom.Tie, slack > 0 && gap+slack < 0:
		return engine.Yes
	case slack == 0, gap-slack > 0:
		return engine.No
	}
	return engine.Indeterminate
}

// note records a question and its margin.
func (m *mover) note(what string, o engine.Outcome, gap, slack float64) {
	if o == engine.NoView {
		return
	}
	if o == engine.Indeterminate {
		m.doubt(what)
	}
	if v := math.Abs(gap) - slack; v < m.nearest {
		m.nearest, m.result.Nearest = v, what
		m.result.Margin, m.result.Sigma = geom.Length(math.Abs(gap)), geom.Length(slack/m.k)
	}
}

// doubt notes that something is too close to call.
func (m *mover) doubt(what string) {
	m.result.Outcome = engine.Indeterminate
	if !slices.Contains(m.result.Undecided, what) {
		m.result.Undecided = append(m.result.Undecided, what)
	}
}

// path is how a move goes: a template laid to the base and what is done at its
// end.
type path struct {
	line    centreLine
	frame   geom.Pose  // the template's start on the table, along the way travelled
	reverse bool       // the base follows backward
	l       float64    // the base's length
	flip    geom.Angle // turned about its centre at the end
	slide   float64    // to the right on the end of the template
}

// newPath lays a template to the moving ship's front edge, or its rear one
// (G122, G140).
func (m *mover) newPath(t Template, reverse bool) path {
	c := path{line: t.line(&m.profile), reverse: reverse, l: m.l}
	p := m.ship.Pose
	c.frame = geom.Pose{Point: p.Transform(geom.Point{Y: m.l / 2}), Heading: p.Heading}
	if reverse {
		c.frame = geom.Pose{Point: p.Transform(geom.Point{Y: -m.l / 2}), Heading: p.Heading + math.Pi}
	}
	m.result.Template = templateOutline(c.line, c.frame)
	return c
}

// pose returns the base's pose on the table when its following mark is at s.
func (c *path) pose(s float64) geom.Pose {
	p := c.line.pose(s, c.l)
	h := c.frame.Heading + p.Heading
	if c.reverse {
		h -= math.Pi
	}
	return geom.Pose{Point: c.frame.Transform(p.Point), Heading: h.Normalized()}
}

// full returns the pose at the end of the whole maneuver (G123, G128, G130).
func (c *path) full() geom.Pose {
	p := c.pose(c.line.length)
	p.Point = p.Transform(geom.Point{X: c.slide})
	p.Heading = (p.Heading + c.flip).Normalized()
	return p
}

// swept returns the template's area up to the base at s.
func (c *path) swept(s float64) sweptArea { return newSweptArea(c.line, c.frame, s, c.l) }

// stop is a place where a move may end.
type stop struct {
	pose geom.Pose
	at   float64 // of the following mark
}

// Execute executes a maneuver with a ship of the scene and says where it ends and
// what it meets there and on the way.
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

func (m *mover) huge() bool { return m.ship.Base.Huge() }

// done hands the result out. Where obstacles were not looked for, none being met
// says nothing.
func (m *mover) done() Result {
	r := m.result
	if m.scene.ObstaclesUnseen || m.unknownNear(r.Full, r.Final) {
		r.Undecided = append(r.Undecided, NotLooked)
		if r.Outcome == engine.Yes {
			r.Outcome = engine.NoView
		}
	}
	return r
}

// unknownNear reports whether something that may or may not be an
// obstacle lies near the way to one of the places: nearer than the base's half diagonal
// and what a turn's arc stands out from its chord (26 mm at most). A zero pose is no place.
func (m *mover) unknownNear(to ...geom.Pose) bool {
	w, l := m.ship.Base.Size()
	reach := math.Hypot(float64(w), float64(l))/2 + 30
	return m.scene.AnyDoubtful(func(u geom.Polygon) bool {
		return slices.ContainsFunc(to, func(p geom.Pose) bool {
			return p != (geom.Pose{}) && geom.Gap(geom.Polygon{m.ship.Pose.Point, p.Point}, u) <= reach
		})
	})
}

// NotLooked stands among Result.Undecided where obstacles were not looked for: nothing
// was too close then, there was no view.
const NotLooked = "obstacles were not looked for"

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
// included, and lists those that it does (G103, G118). note: it is an answer.
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

// finish decides where a move ends, whether or not its full pose overlaps other ships
// (G103 to G111), and says what lies there.
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
	if m.inexact && hit != engine.No { // anywhere from the first place that may be free to the first that surely is
		far, near := m.retreat(c, -1), m.retreat(c, 1)
		if hit == engine.Indeterminate && !m.result.FullyExecuted {
			stops = append(stops, full)
		}
		if hit == engine.Yes {
			end = m.settle(c, stops[0].at, near, far)
		}
		for i := range 5 {
			stops = append(stops, at(near+(far-near)*float64(i)/4))
		}
	}
	m.result.Final = stops[0].pose
	m.end(c, stops, end, !m.result.FullyExecuted, hit)
}

func (m *mover) baseAt(p geom.Pose) []geom.Point {
	f := newFootprint(&m.profile, m.ship.Base, p, false)
	return f.parts[0][:]
}

// retreat moves the base back from the end of the template, both of its marks on
// the centre line, to the first place where it is free of all other ships (G104,
// G105): as they seem to lie (sure 0), surely (1) or possibly (-1). It returns the place of the following mark; -l is where it
// started, behind which it does not go (G111).
//
// No free place on the way is stepped over: a step is never longer than what it
// takes the fastest point of the base to get out of the deepest overlap. Only
// where that is below a tenth of a micrometre a step is longer, so that sliding
// along an edge comes to an end.
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
	// Exactly where it becomes free: a hair further back it surely is, unless it
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
// at s: exact where it is negative, and a lower bound where it is positive. sure
// asks for what it is at least (1) or, guides being slender, at most (-1).
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
// is the same at all of them, or at the first with the error that end gives.
func (m *mover) end(c *path, stops []stop, end settled, partial bool, hit engine.Outcome) {
	areas := make([]sweptArea, len(stops))
	for i, s := range stops {
		areas[i] = c.swept(s.at)
	}
	m.touch(stops, partial, hit)
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
		over, free := margin{}, farAway
		for j := range shape.n {
			part := geom.Polygon(shape.parts[j][:])
			v := d.swept(a, part, a.gap(part))
			switch {
			case v.gap < 0 && (over == (margin{}) || v.certainty() > over.certainty()):
				over = v
			case v.gap >= 0:
				free = lessCertain(free, v)
			}
		}
		if over != (margin{}) {
			return over
		}
		return free
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

// ofParts combines the margins of the cards that a thing is made of: it is met when
// one of them is.
func (m *mover) ofParts(t *thing, ask func(geom.Polygon) margin) margin {
	over, free := margin{}, farAway
	for _, g := range t.outlines {
		v := ask(g)
		if v.gap < 0 && (over == (margin{}) || v.certainty() > over.certainty()) {
			over = v
		} else if v.gap >= 0 {
			free = lessCertain(free, v)
		}
	}
	if over != (margin{}) {
		return over
	}
	return free
}

// ask is each for a thing about which perhaps only its reach is known.
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
// about (G17). hit says whether the full pose overlaps ships. Where there are several
// stops, the ship surely touches another only if it is surely stopped, and if no third
// ship may be the one that stops it.
func (m *mover) touch(stops []stop, partial bool, hit engine.Outcome) {
	met := func(i int, o *neighbour) margin {
		base := newFootprint(&m.profile, m.ship.Base, stops[i].pose, true)
		return margin{base.gap(&o.shape), m.against(&base, o).slack}
	}
	overlaps := partial || len(stops) > 1 || m.scene.Rules != engine.Rules1e
	var may []string
	for i := range m.others {
		o := &m.others[i]
		v := met(0, o)
		if v.gap <= pieces.ContactTie && (partial || m.scene.Rules != engine.Rules1e) {
			m.result.Touching = append(m.result.Touching, o.id)
		}
		if v.gap > pieces.ContactTie && partial {
			m.note("touching "+o.id, engine.No, v.gap, 0)
		}
		near := v.slack > 0 && math.Abs(v.gap) <= v.slack
		for j := 0; j < len(stops) && len(stops) > 1 && !near; j++ {
			w := met(j, o)
			near = w.gap <= w.slack+pieces.ContactTie
		}
		if near && overlaps {
			may = append(may, o.id)
		}
	}
	if hit != engine.Yes || len(may) > 1 {
		for _, id := range may {
			m.doubt("touching " + id)
		}
	}
	switch m.result.Overlapped = m.result.FirstOverlapped; {
	case m.scene.Rules == engine.Rules1e && partial:
		m.result.Overlapped = m.result.Touching
	case m.scene.Rules == engine.Rules25:
		m.result.Overlapped = m.friendsOf(m.result.FirstOverlapped)
	}
}

// friendsOf leaves the enemies out of ships that were overlapped at once where a
// friendly one is among them, which alone counts (G114). A ship whose player is not
// known may be either, and stays.
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

// LayDrop lays a device by a template from the ship's rear guides, or launches it
// from the front ones (G182, G195).
// Ships that it lies under are named as overlapped (G185); a part outside the
// play area is ignored (G184), as Outside says, and nothing flees.
func LayDrop(s *engine.Scene, ship string, d Drop, o engine.Options) (Result, error) {
	if err := d.Template.Validate(); err != nil {
		return Result{}, fmt.Errorf("engine: %w", err)
	}
	m, err := newMover(s, ship, o)
	if err != nil {
		return Result{}, err
	}
	kind := d.Device
	if kind == "" {
		kind = "bomb"
	}
	parts := pieces.Outlines(kind)
	if parts == nil {
		return Result{}, fmt.Errorf("engine: drop: no size is known of %q", pieces.ShortName(kind))
	}
	t := d.Template
	t.Left = t.Left == d.Launch // the ship's left is to the right of who looks back
	c := m.newPath(t, !d.Launch)
	at := devicePose(&c, parts[0])
	m.result.Maneuver, m.result.Full, m.result.Final, m.result.FullyExecuted = d.String(), at, at, true
	m.result.InFull = engine.Yes // nothing stops a device
	m.outside(at, parts)
	for _, p := range parts {
		if p = pieces.InsideMat(float64(s.MatWidth), float64(s.MatHeight), at, p); p == nil {
			continue
		}
		g := make(geom.Polygon, len(p))
		for i, q := range p {
			g[i] = at.Transform(q)
		}
		m.under(g)
	}
	return m.done(), nil
}

// outside decides how much of a dropped device lies outside the play area. Its pose is
// as uncertain as that of the ship whose template it was laid by.
func (m *mover) outside(at geom.Pose, parts [][]geom.Point) {
	w, h := float64(m.scene.MatWidth), float64(m.scene.MatHeight)
	if w <= 0 || h <= 0 {
		m.result.Outside = engine.NoView.String()
		return
	}
	mat := geom.Polygon{{}, {X: w}, {X: w, Y: h}, {Y: h}}
	d := margins{uncertain.RelativeError{K: m.k, Bodies: [2]uncertain.Body{m.own()}}}
	var all geom.Polygon
	in, out := margin{}, farAway // the most certain of the parts that reach into the play area, the least certain of the others
	for _, p := range parts {
		g := make(geom.Polygon, len(p))
		for i, q := range p {
			g[i] = at.Transform(q)
		}
		all = append(all, g...)
		gap := convexGap(g, mat)
		switch v := d.convex(g, mat, gap); {
		case gap < 0 && (in == (margin{}) || v.certainty() > in.certainty()):
			in = v
		case gap >= 0:
			out = lessCertain(out, v)
		}
	}
	inside := out
	if in != (margin{}) {
		inside = in
	}
	over, worst := engine.No, farAway
	for e, v := range d.edges(all, w, h) {
		o := v.outcome()
		if o == engine.Yes {
			m.result.Edges = append(m.result.Edges, edgeNames[e])
		}
		if over = over.Or(o); v.gap < worst.gap {
			worst = v
		}
	}
	m.note("the device beyond the edge", over, worst.gap, worst.slack)
	some := inside.outcome()
	if over != engine.No {
		m.note("any of the device inside the play area", some, inside.gap, inside.slack)
	}
	switch {
	case over == engine.No:
		m.result.Outside = "no"
	case over == engine.Yes && some == engine.No:
		m.result.Outside = "wholly"
	case over == engine.Yes && some == engine.Yes:
		m.result.Outside = "partly"
	default:
		m.result.Outside = engine.Indeterminate.String()
	}
}

// deviceGuide is how far a device's guides stand out of its card: what the bombs'
// cards are longer than they are wide. No source states it.
const deviceGuide = 1.8 * geom.Millimeter

// devicePose returns the pose of a device at the end of a template: its card's
// edge flush with the end, its guides next to it, facing the ship.
func devicePose(c *path, outline []geom.Point) geom.Pose {
	front := math.Inf(-1)
	for _, p := range outline {
		front = max(front, p.Y)
	}
	end, h := c.line.at(c.line.length)
	p := geom.Pose{Point: c.frame.Transform(end), Heading: (c.frame.Heading + geom.Angle(h) + math.Pi).Normalized()}
	p.Point = p.Transform(geom.Point{Y: float64(deviceGuide) - front})
	return p
}

// under says what a dropped card lies on.
func (m *mover) under(g geom.Polygon) {
	for i := range m.others {
		o := &m.others[i]
		under := ofGuides(func(slender bool) margin {
			shape := o.shape.guided(slender)
			return judged(shape.outlineGap(g), m.slack(o.err, o.At, g...), func() margin {
				d := m.errorAgainst(m.own(), o.Body, 0)
				return d.footprint(&shape, g)
			})
		})
		hit := under.outcome()
		m.note("the device under "+o.id, hit, under.gap, under.slack)
		if hit == engine.Yes && !slices.Contains(m.result.FirstOverlapped, o.id) {
			m.result.FirstOverlapped = append(m.result.FirstOverlapped, o.id)
		}
	}
	for i := range m.things {
		t := &m.things[i]
		if !t.obstacle {
			continue
		}
		on := m.ofParts(t, func(outline geom.Polygon) margin {
			gap := convexGap(g, outline)
			return judged(gap, m.slack(t.err, t.at, g...), func() margin {
				d := m.errorAgainst(m.own(), uncertain.Body{At: t.at}, t.err.Variance)
				return d.convex(g, outline, gap)
			})
		})
		hit := on.outcome()
		m.note("the device on "+t.id, hit, on.gap, on.slack)
		same := func(h Hit) bool { return h.ID == t.id }
		if hit != engine.No && !slices.ContainsFunc(m.result.Obstacles, same) {
			m.result.Obstacles = append(m.result.Obstacles, Hit{t.id, engine.No, hit})
		}
	}
}
