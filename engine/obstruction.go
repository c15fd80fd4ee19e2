package engine

import (
	"cmp"
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/engine/internal/uncertain"
)

// maxObstructionMargin is the largest margin that is stated for obstruction: with
// no obstacle about, nothing would change the verdict, and 1 m is further than
// any attack reaches.
const maxObstructionMargin = 1000 * geom.Millimeter

// lineFamily is a set of measuring lines: all from a to b.
type lineFamily struct{ a, b geom.Line }

func (m lineFamily) at(t float64) geom.Line {
	return geom.Line{m.a[0].Lerp(m.b[0], t), m.a[1].Lerp(m.b[1], t)}
}

// corridor is the convex hull of some lines on the table. Its bounding box quickly excludes distant
// objects.
type corridor struct {
	geom.Polygon
	lo, hi geom.Point
	ends   geom.Polygon
	sides  []track // room for gap
}

func (s *corridor) set(lines ...geom.Line) {
	s.ends = s.ends[:0]
	for i := range lines {
		s.ends = append(s.ends, lines[i][:]...)
	}
	s.Polygon = s.ends.Hull(s.Polygon)
	s.lo, s.hi = s.Polygon[0], s.Polygon[0]
	for _, p := range s.Polygon {
		s.lo = geom.Point{X: min(s.lo.X, p.X), Y: min(s.lo.Y, p.Y)}
		s.hi = geom.Point{X: max(s.hi.X, p.X), Y: max(s.hi.Y, p.Y)}
	}
}

// within reports whether any part of a circle may be within limit of the corridor, and returns a
// lower bound of its distance.
func (s *corridor) within(limit float64, centre geom.Point, radius float64) (float64, bool) {
	dx := max(0, max(s.lo.X-centre.X, centre.X-s.hi.X))
	dy := max(0, max(s.lo.Y-centre.Y, centre.Y-s.hi.Y))
	if far := limit + radius; dx > far || dy > far || dx*dx+dy*dy > far*far {
		return 0, false
	}
	if s.Contains(centre) {
		return 0, true
	}
	d := max(0, s.BoundaryDistance(centre)-radius)
	return d, d <= limit
}

// gap returns the distance in mm of an outline from the corridor, 0 when they meet. It skips
// sides that the circle around the outline shows to be further than another. An outline
// beyond limit may be reported as infinitely far.
func (s *corridor) gap(r *obstacleOutline, limit float64) float64 {
	if len(s.Polygon) < 3 {
		return geom.Gap(s.Polygon, r.Polygon)
	}
	if s.Contains(r.Polygon[0]) {
		return 0
	}
	// Start with the side nearest to the outline's middle: mostly no other is needed.
	first, least := 0, math.Inf(1)
	s.sides = s.sides[:0]
	from := s.Polygon[len(s.Polygon)-1]
	for i, to := range s.Polygon {
		t := trackOf(geom.Line{from, to})
		if off := t.far(r.Centre); off < least {
			first, least = i, off
		}
		s.sides, from = append(s.sides, t), to
	}
	if least < r.Core/2 { // the side meets the outline
		return 0
	}
	best := math.Inf(1)
	if t := &s.sides[first]; least-r.Radius <= limit && (limit >= float64(maxObstructionMargin) || !r.keepsFurther(t, limit)) {
		best = r.Polygon.SegmentGap(t.line[0], t.line[1])
	}
	for i := range s.sides {
		t, most := &s.sides[i], min(best, limit)
		if best > 0 && i != first && t.far(r.Centre)-r.Radius < most && !r.keepsFurther(t, most) {
			best = min(best, r.Polygon.SegmentGap(t.line[0], t.line[1]))
		}
	}
	return best
}

// lineAnswer caches the verdict on a set of measuring lines: most arcs of a pair share theirs.
type lineAnswer struct {
	permitted, choice lineFamily
	possible          []geom.Line
	verdict           ObstructionVerdict
}

// obstruction says whether obstacles are on the measuring line (G36, G37).
// "Through" an obstacle means through its interior; grazing its edge is not. How
// many there are makes no difference (G38). Huge ships other than the two obstruct
// like obstacles; smaller ones do not, and neither do devices and scenario features
// (G39–G42), but those on the line are named.
func (m *pairMeasure) obstruction(d *uncertain.ClosestPair) ObstructionVerdict {
	permitted, choice := m.linesOf(d)
	possible := d.Alternatives
	for i := range m.answers {
		if s := &m.answers[i]; s.permitted == permitted && s.choice == choice && slices.Equal(s.possible, possible) {
			return s.verdict
		}
	}
	var v ObstructionVerdict
	switch exact := m.Exact && m.outlinesExact; {
	case exact && d.Band:
		v = m.exactObstruction(permitted)
	case len(possible) == 1:
		v = m.lineObstruction(m.lineErrorOf(possible[0]))
	case m.sliding.known && m.sliding.p.line == permitted.a:
		// Both ways are careful: one allows for how far an end may slide, the other for all directions.
		if v = m.lineObstruction(m.sliding.lineError); v.Verdict == "too_close" {
			v = m.familyObstruction(possible, choice)
		}
	default:
		v = m.familyObstruction(possible, choice)
	}
	v.Margin = min(v.Margin, maxObstructionMargin)
	v.Sigma = v.sigma(m.k)
	// A huge ship that surely obstructs does so whatever else lies there.
	if v.Verdict != "must" && m.scene.ObstaclesUnseen {
		v.Verdict, v.Margin, v.Sigma = NoView.String(), 0, 0
	}
	if v.Verdict != "must" && m.unknownOn(possible) {
		v.Verdict, v.Margin, v.Sigma = NoView.String(), 0, 0
	}
	v.Ships, v.Devices = m.standingOn(permitted)
	m.answers = append(m.answers, lineAnswer{permitted, choice, possible, v})
	return v
}

// linesOf returns the lines that the rules permit for a distance, and those from which the attacker
// may surely choose: on an exact table, all that are permitted.
func (m *pairMeasure) linesOf(d *uncertain.ClosestPair) (permitted, choice lineFamily) {
	permitted = lineFamily{d.Lines[0], d.Lines[0]}
	if d.Band {
		permitted.b = d.Lines[1]
	}
	switch {
	case d.Even:
		choice = lineFamily{d.Choice[0], d.Choice[1]}
	case d.Band && m.Exact:
		choice = permitted
	}
	return permitted, choice
}

// sigma returns the standard deviation to state with the margin: that of the line against
// the obstacle. It agrees with the verdict, as [geom.Interval.Sigma] does.
func (o *ObstructionVerdict) sigma(k float64) geom.Length {
	w, margin := o.slack, float64(o.Margin)
	return geom.Length(geom.Interval{Lo: 0, Val: 0, Hi: w}.Sigma(k, margin, o.Verdict != "too_close"))
}

// unknownReach is how far, in mm, something unknown may be from a line and still count as on
// it: its outline is as coarse as the picture's cells.
const unknownReach = 3

// unknownOn reports whether something unknown lies on any of some lines, or a part of the
// table where an obstacle would not have been noticed.
func (m *pairMeasure) unknownOn(lines []geom.Line) bool {
	if len(m.scene.Unknown)+len(m.scene.Blind) == 0 {
		return false
	}
	m.corridor.set(lines...)
	return m.scene.AnyDoubtful(func(u geom.Polygon) bool { return geom.Gap(m.corridor.Polygon, u) <= unknownReach })
}

// AnyDoubtful reports whether any area in which an obstacle may or may not lie
// meets a condition.
func (s *Scene) AnyDoubtful(meets func(geom.Polygon) bool) bool {
	return slices.ContainsFunc(s.Unknown, meets) ||
		slices.ContainsFunc(s.Blind, func(b BlindArea) bool { return meets(b.Outline) })
}

// blocks reports whether something may obstruct the pair's attacks; the two ships themselves do
// not.
func (m *pairMeasure) blocks(b *blocker) bool {
	return b.ship == nil || b.ship != m.from && b.ship != m.target
}

// exactObstruction decides a family of parallel lines exactly. Which obstacles a
// line meets can change only where the line passes a corner of an outline, or a
// crossing of the outline with either end of the family. So it is enough to examine
// those lines and one line between each two of them.
func (m *pairMeasure) exactObstruction(b lineFamily) ObstructionVerdict {
	v := ObstructionVerdict{Verdict: "never"}
	m.corridor.set(b.a, b.b)
	l := &m.search
	*l = lineSearch{family: b, near: l.near[:0], on: l.on[:0], ts: l.ts[:0], fs: l.fs[:0]}
	clearance := float64(maxObstructionMargin)
	for i := range m.blockers {
		if !m.blocks(&m.blockers[i]) {
			continue
		}
		r := m.blockers[i].outline
		d, ok := m.corridor.within(clearance, r.Centre, r.Radius)
		if !ok {
			continue
		}
		if d == 0 {
			l.near, l.on = append(l.near, r), append(l.on, false)
		}
		clearance = min(clearance, geom.Gap(m.corridor.Polygon, r.Polygon))
	}
	l.ts = b.changes(l.ts, l.near)
	blocked := 0
	for _, t := range l.ts {
		if l.depth(t) > 0 {
			blocked++
		}
	}
	first := len(m.mem.ids)
	for i, r := range l.near {
		if l.on[i] {
			m.mem.ids = append(m.mem.ids, r.id)
		}
	}
	v.By = m.mem.list(first)
	switch blocked {
	case 0:
		v.Margin = geom.Length(clearance)
	case len(l.ts):
		v.Verdict = "must"
		v.Margin = geom.Length(l.least(shallowest))
	default:
		v.Verdict = "may"
		// The verdict changes when the deepest passage has become clear, or the widest gap closed.
		v.Margin = geom.Length(min(-l.least(deepestPassage), -l.least(widestGap)))
	}
	return v
}

// enters reports whether a line of a family passes the inside of an outline, where both are exact.
func (m *pairMeasure) enters(b lineFamily, r *obstacleOutline) bool {
	l := &m.search
	*l = lineSearch{family: b, near: append(l.near[:0], r), on: append(l.on[:0], false), ts: l.ts[:0], fs: l.fs[:0]}
	l.ts = b.changes(l.ts, l.near)
	return slices.ContainsFunc(l.ts, func(t float64) bool { return l.depth(t) > 0 })
}

// lineSearch examines the lines of a family against the outlines near it.
type lineSearch struct {
	family lineFamily
	near   []*obstacleOutline
	on     []bool    // which of them some line has met
	ts, fs []float64 // where to examine the family, and the values there
	what   goal
	best   float64
	budget int
}

// goal is a quantity that a search minimises.
type goal int

const (
	shallowest     goal = iota // how deep a line passes through outlines
	deepestPassage             // the same, negated
	widestGap                  // how clear a line is, negated
)

// depth returns how deep the line at t passes through an outline, 0 when it meets none.
func (l *lineSearch) depth(t float64) float64 {
	line, most := l.family.at(t), 0.0
	for i, r := range l.near {
		if _, d := r.Polygon.Deepest(line[0], line[1], 1e-6); d > geom.Tie {
			most, l.on[i] = max(most, d), true
		}
	}
	return most
}

func (l *lineSearch) value(t float64) float64 {
	switch l.what {
	case shallowest:
		return l.depth(t)
	case deepestPassage:
		return -l.depth(t)
	}
	line, free := l.family.at(t), math.Inf(1)
	ends := [2]geom.Point{line[0], line[1]}
	for _, r := range l.near {
		if _, d := r.Polygon.Deepest(line[0], line[1], 1e-6); d > geom.Tie {
			return 0
		}
		free = min(free, geom.Gap(ends[:], r.Polygon))
	}
	return -free
}

// least returns the least value over the family, to a twentieth of a millimetre.
// The value changes by no more than the line moves, so between two lines it
// cannot fall below what their distance allows.
func (l *lineSearch) least(what goal) float64 {
	l.what, l.best, l.budget = what, math.Inf(1), 500
	slices.Sort(l.ts)
	l.fs = l.fs[:0]
	for _, t := range l.ts {
		f := l.value(t)
		l.fs = append(l.fs, f)
		l.best = min(l.best, f)
	}
	for i := 1; i < len(l.ts); i++ {
		l.between(l.ts[i-1], l.fs[i-1], l.ts[i], l.fs[i])
	}
	return l.best
}

func (l *lineSearch) between(t0, f0, t1, f1 float64) {
	const tol = 0.05
	l.budget--
	if l.budget < 0 || (f0+f1-(t1-t0)*uncertain.Apart(l.family.a, l.family.b))/2 > l.best-tol {
		return
	}
	t := (t0 + t1) / 2
	f := l.value(t)
	l.best = min(l.best, f)
	l.between(t0, f0, t, f)
	l.between(t, f, t1, f1)
}

// changes appends the places t in [0, 1] at which the family must be examined.
func (m lineFamily) changes(ts []float64, outlines []*obstacleOutline) []float64 {
	across := m.b[0].Sub(m.a[0])
	w2 := across.Dot(across)
	if w2 == 0 {
		return append(ts, 0)
	}
	ts = append(ts, 0, 1)
	for _, r := range outlines {
		for i, p := range r.Polygon {
			q := r.Polygon[(i+1)%len(r.Polygon)]
			ts = m.addChange(ts, p, across, w2)
			for end := range 2 {
				if c, ok := crossing(p, q, m.a[end], m.b[end]); ok {
					ts = m.addChange(ts, c, across, w2)
				}
			}
		}
	}
	slices.Sort(ts)
	for i, n := 1, len(ts); i < n; i++ {
		ts = append(ts, (ts[i-1]+ts[i])/2)
	}
	return ts
}

func (m lineFamily) addChange(ts []float64, p, across geom.Point, w2 float64) []float64 {
	if t := p.Sub(m.a[0]).Dot(across) / w2; t > 0 && t < 1 {
		return append(ts, t)
	}
	return ts
}

// crossing returns the point where the segments ab and cd cross.
func crossing(a, b, c, d geom.Point) (geom.Point, bool) {
	u, v, w := b.Sub(a), d.Sub(c), c.Sub(a)
	den := u.Cross(v)
	if den == 0 {
		return geom.Point{}, false
	}
	t, s := w.Cross(v)/den, w.Cross(u)/den
	return a.Lerp(b, t), t >= 0 && t <= 1 && s >= 0 && s <= 1
}

// nearOutline is an obstacle that may be on a line or decide how clear that is.
type nearOutline struct {
	*obstacleOutline
	least float64 // no examined line is nearer to it
	slack float64 // the uncertainty of how a line passes it
	limit float64 // the clearance, or depth, that is sure
}

// outlinesNear lists the obstacles that may be on one of the lines or nearest to the first.
// No line is further than width from the first; no listed obstacle is further from it than
// closest, unless it may be on a line.
func (m *pairMeasure) outlinesNear(width float64, lines ...lineError) (list []nearOutline, closest float64) {
	p, near := &lines[0].p, m.nearOutlines[:0]
	most := 0.0
	for i := range lines {
		most = max(most, lines[i].most)
	}
	closest = float64(maxObstructionMargin)
	for i := range m.blockers {
		r := &m.blockers[i]
		if !m.blocks(r) {
			continue
		}
		// The unbounded line is at least as near as the segment.
		if off := p.off(r.Centre) - width - r.Radius; off > max(closest, geom.Tie) && geom.Sq(off) > 1.001*geom.Sq(m.k)*(most+geom.Sq(r.sigma)) {
			continue
		}
		d := p.far(r.Centre)
		bound := d - r.core
		if r.core == 0 {
			bound = p.far(r.outline.Polygon[0])
		}
		closest = min(closest, bound)
		least := d - width - r.Radius
		if least <= closest || least <= geom.Tie || geom.Sq(least) <= 1.001*geom.Sq(m.k)*(most+geom.Sq(r.sigma)) {
			near = append(near, nearOutline{obstacleOutline: r.outline, least: least})
		}
	}
	m.nearOutlines = near
	kept := near[:0]
	for _, n := range near {
		n.slack = m.slackOf(n.obstacleOutline, lines)
		n.limit = max(geom.Tie, n.slack)
		if n.least <= max(n.limit, closest) {
			kept = append(kept, n)
		}
	}
	return kept, closest
}

// lineObstruction decides about a single line: never when it surely keeps clear of
// every obstacle, must when it surely passes through one.
func (m *pairMeasure) lineObstruction(w lineError) ObstructionVerdict {
	p := w.p
	closest, deepest := farthestOff(m.k*w.sigma()), passage{}
	must := false
	first := len(m.mem.ids)
	near, far := m.outlinesNear(0, w)
	for i := range near {
		r := &near[i]
		if r.least > max(r.limit, closest.by) || len(near) > 1 && r.keepsFurther(&p, max(r.limit, far)) {
			continue // another is nearer
		}
		clear, deep := r.pass(&p, math.Inf(1))
		if clear < closest.by {
			closest = passage{clear, r.slack}
		}
		if deep > deepest.by {
			deepest = passage{deep, r.slack}
		}
		must = must || deep > r.limit
		if clear <= r.limit && (deep > geom.Tie || r.slack > 0) {
			m.mem.ids = append(m.mem.ids, r.id)
		}
	}
	return verdictOf(m.mem.list(first), must, closest, deepest)
}

// passage is by how much a line keeps clear of an obstacle or passes through it, and the
// uncertainty of that at the asked number of standard deviations.
type passage struct{ by, slack float64 }

// farthestOff is the passage of a line with no obstacle about.
func farthestOff(slack float64) passage { return passage{float64(maxObstructionMargin), slack} }

func verdictOf(by []string, must bool, closest, deepest passage) ObstructionVerdict {
	v := ObstructionVerdict{Verdict: "too_close", By: by}
	is := closest
	switch {
	case len(by) == 0:
		v.Verdict = "never"
	case must:
		v.Verdict, is = "must", deepest
	case deepest.by > closest.by:
		is = deepest
	}
	v.Margin, v.slack = geom.Length(is.by), is.slack
	return v
}

// familyObstruction decides about all lines that may be the measuring line within the
// uncertainty: never when all of them keep clear of every obstacle, must when each
// of them passes deep enough through one.
//
// No measurement can show that two sides are exactly parallel. But where players cannot
// see which line between them is the shortest, the attacker chooses among them (G33), and
// the verdict is may when one of them is surely clear and another surely obstructed. Where
// players could see it and only the measurement cannot, it is too close to call.
func (m *pairMeasure) familyObstruction(lines []geom.Line, choice lineFamily) ObstructionVerdict {
	m.sideBySide(lines)
	m.lineErrors = m.lineErrors[:0]
	sigma, width := 0.0, 0.0
	for _, l := range m.sorted {
		w := m.lineErrorOf(l)
		m.lineErrors = append(m.lineErrors, w)
		sigma, width = max(sigma, w.sigma()), max(width, uncertain.Apart(m.sorted[0], l))
	}
	m.corridor.set(m.sorted...)
	closest, loosest := farthestOff(m.k*sigma), 0.0
	choose := choice != lineFamily{}
	first := len(m.mem.ids)
	all, far := m.outlinesNear(width, m.lineErrors...)
	near := all[:0]
	for _, r := range all {
		if r.least > max(r.limit, closest.by) || len(all) > 1 && r.keepsFurther(&m.lineErrors[0].p, max(r.limit, far)+width) {
			continue // another is nearer
		}
		p := m.keepsOff(&r, max(r.limit, closest.by))
		if p.by < closest.by {
			closest = p
		}
		if p.by > max(geom.Tie, p.slack) || p.slack == 0 && choose && !m.enters(choice, r.obstacleOutline) {
			continue
		}
		m.mem.ids = append(m.mem.ids, r.id)
		near, loosest = append(near, r), max(loosest, p.slack)
	}
	by := m.mem.list(first)
	if len(near) == 0 {
		return verdictOf(nil, false, closest, passage{})
	}
	if deep := m.obstructed(near); deep > 0 {
		return verdictOf(by, true, closest, passage{deep, loosest})
	}
	if choose {
		if w := m.walk(choice, near); w.deepest > 0 && w.widest > 0 {
			return ObstructionVerdict{Verdict: "may", By: by, Margin: geom.Length(min(w.deepest, w.widest)), slack: loosest}
		}
	}
	return verdictOf(by, false, closest, passage{})
}

// sideBySide sorts lines across their direction, starting with one of the two outermost.
func (m *pairMeasure) sideBySide(lines []geom.Line) {
	m.sorted = append(m.sorted[:0], lines...)
	if len(lines) == 2 {
		return
	}
	first := lines[0]
	for _, l := range lines {
		if uncertain.Apart(lines[0], l) > uncertain.Apart(lines[0], first) {
			first = l
		}
	}
	slices.SortFunc(m.sorted, func(a, b geom.Line) int { return cmp.Compare(uncertain.Apart(first, a), uncertain.Apart(first, b)) })
}

// keepsOff returns how far the lines keep off an outline, or any larger value beyond limit.
// Where it matters, it examines each two neighbours by themselves, because not all lines are
// as uncertain as the worst.
func (m *pairMeasure) keepsOff(r *nearOutline, limit float64) passage {
	p := passage{m.corridor.gap(r.obstacleOutline, limit), r.slack}
	if len(m.sorted) == 2 || p.by > r.limit {
		return p
	}
	p = passage{math.Inf(1), 0}
	for i := 1; i < len(m.sorted); i++ {
		m.between.set(m.sorted[i-1], m.sorted[i])
		q := passage{m.between.gap(r.obstacleOutline, math.Inf(1)), m.slackOf(r.obstacleOutline, m.lineErrors[i-1:i+1])}
		if math.IsInf(p.by, 1) || q.by-q.slack < p.by-p.slack {
			p = q
		}
	}
	return p
}

// obstructed returns the least depth by which every line, and every line between two
// neighbours, surely passes through outlines; 0 when one may not.
func (m *pairMeasure) obstructed(near []nearOutline) float64 {
	for i := range m.lineErrors {
		if m.mayPass(m.lineErrors[i:i+1], near) {
			return 0
		}
	}
	least := math.Inf(1)
	m.narrowed = append(m.narrowed[:0], near...)
	near = m.narrowed
	for i := 1; i < len(m.sorted) && least > 0; i++ {
		for j := range near {
			r := &near[j]
			r.slack = m.slackOf(r.obstacleOutline, m.lineErrors[i-1:i+1])
			r.limit = max(geom.Tie, r.slack)
		}
		least = sureDepth(lineFamily{m.sorted[i-1], m.sorted[i]}, near, least)
	}
	return least
}

// mayPass reports whether a line may keep out of all the outlines because none of them surely
// reaches across it.
func (m *pairMeasure) mayPass(line []lineError, near []nearOutline) bool {
	for i := range near {
		r := near[i].obstacleOutline
		e := line[0].p.spread(r.Hull)
		if min(e.left, -e.right) >= max(geom.Tie, m.slackOf(r, line))-geom.Tie {
			return false
		}
	}
	return true
}

// slackOf returns the uncertainty of how any of the lines passes an outline.
func (m *pairMeasure) slackOf(r *obstacleOutline, lines []lineError) float64 {
	sd := 0.0
	for i := range lines {
		sd = max(sd, lines[i].sigmaAt(r.Circle, m.k, r.Sigma))
	}
	return m.k * math.Sqrt(geom.Sq(sd)+geom.Sq(r.Sigma))
}

// walked is what walk finds among the lines of a family.
type walked struct {
	deepest float64 // depth of the most obstructed line, if that is sure; else 0
	widest  float64 // clearance of the clearest line, if that is sure; else 0
}

// walk examines lines of a family side by side.
func (m *pairMeasure) walk(b lineFamily, near []nearOutline) (w walked) {
	steps, ts := b.steps(), m.search.ts[:0]
	for n := range steps + 1 {
		ts = append(ts, step(n, steps))
	}
	m.search.ts = b.middles(ts, near)
	for _, t := range m.search.ts {
		p := trackOf(b.at(t))
		clear, free := math.Inf(1), true
		for i := range near {
			r := &near[i]
			c, d := r.pass(&p, r.limit)
			if d > r.limit {
				w.deepest = max(w.deepest, d)
			}
			clear, free = min(clear, c), free && c > r.limit
		}
		if free {
			w.widest = max(w.widest, clear)
		}
	}
	return w
}

// middles appends the places of the lines that pass midway between two outlines, or midway
// through one: a narrow gap or a small outline may lie between two steps.
func (m lineFamily) middles(ts []float64, near []nearOutline) []float64 {
	p := trackOf(m.a)
	width := p.u.Cross(m.b[0].Sub(m.a[0]))
	if math.Abs(width) < geom.Tie {
		return ts
	}
	add := func(t float64) {
		if t > 0 && t < 1 {
			ts = append(ts, t)
		}
	}
	for i := range near {
		e := p.spread(near[i].Hull)
		last, next := max(e.left/width, e.right/width), math.Inf(1)
		add((e.left + e.right) / 2 / width)
		for j := range near {
			o := p.spread(near[j].Hull)
			if first := min(o.left/width, o.right/width); first > last {
				next = min(next, first)
			}
		}
		add((last + next) / 2)
	}
	return ts
}

// sureDepth returns the depth by which every line of a family surely passes through outlines:
// 0 when one may not, and least when it is at least that.
func sureDepth(b lineFamily, near []nearOutline, least float64) float64 {
	steps := b.steps()
	part := 0.5 / float64(steps)
	for n := 0; n <= steps && least > 0; n++ {
		t := step(n, steps)
		least = b.sureAround(max(0, t-part), t, min(1, t+part), near, least)
	}
	return least
}

// sureAround does what sureDepth does, for the lines from t0 to t1. It examines the one at t, from
// which the others, and so their depths, differ by no more than they are apart. Where that is too
// much, it examines them in two halves.
func (m lineFamily) sureAround(t0, t, t1 float64, near []nearOutline, least float64) float64 {
	const finest = 0.05 // mm
	p, apart := trackOf(m.at(t)), max(t-t0, t1-t)*uncertain.Apart(m.a, m.b)
	sure := 0.0
	for i := range near {
		r := &near[i]
		enough := r.limit + apart
		if r.Core-p.far(r.Centre) > max(enough, least+apart)+geom.Tie {
			return least // or more
		}
		if d := r.deeper(&p, enough, sure+apart); d > enough && d-apart > sure {
			sure = d - apart
			near[0], near[i] = near[i], near[0] // the next line is mostly deepest in the same outline
		}
		if sure >= least {
			return least
		}
	}
	if sure > 0 || apart < finest || !slices.ContainsFunc(near, func(r nearOutline) bool { return r.deeper(&p, r.limit, 0) > r.limit }) {
		return sure
	}
	if least = m.sureAround(t0, (t0+t)/2, t, near, least); least > 0 {
		least = m.sureAround(t, (t+t1)/2, t1, near, least)
	}
	return least
}

// steps returns into how many parts to divide a family for examining the lines between them.
func (m lineFamily) steps() int { return int(max(1, min(16, math.Ceil(2*uncertain.Apart(m.a, m.b))))) }

// step returns the n-th of so many steps from 0 to 1, counted from both ends inward: a clear
// line is mostly near an end.
func step(n, steps int) float64 {
	t := float64(n/2) / float64(steps)
	if n%2 == 1 {
		t = 1 - t
	}
	return t
}

// lineError is the uncertainty of a measuring line's place on the table.
type lineError struct {
	p    track
	own  [2]float64 // variance of each end across the line, where the end is a corner
	turn [2]float64 // variance of an end's slide along its side, where it is or may be the foot of a perpendicular
	feet int        // how many ends are no corners
	ends [2]float64 // largest variance of each end in any direction
	most float64    // the largest of these, and of the slides
	both bool       // own holds for whatever the ends are, and is correlated
	with float64    // covariance of own, if both is set
}

// lineErrorOf returns the uncertainty of a line. An end that is the foot of a perpendicular slides
// along its side when the side turns. Either end of a line from corner to corner may in truth
// be such a foot next to its corner.
func (m *pairMeasure) lineErrorOf(l geom.Line) lineError {
	w := lineError{p: trackOf(l)}
	if m.Exact {
		return w
	}
	n := geom.Point{X: -w.p.u.Y, Y: w.p.u.X}
	for i, p := range l {
		c := m.Bodies[i].Cov.At(p.Sub(m.Bodies[i].At))
		w.own[i], w.ends[i] = c.Along(n), c.Largest()
		w.most = max(w.most, w.ends[i])
	}
	own, shapes := w.own, [...]*uncertain.Shape{m.base, m.to}
	at := [...]int{corner(l[0], m.base), corner(l[1], m.to)}
	for i, s := range shapes {
		turn := geom.Sq(w.p.length) * m.Bodies[i].Cov[8]
		switch {
		case at[i] < 0:
			w.feet++
			w.own[i] = 0
		case at[1-i] < 0:
			continue
		default:
			slide := math.Sqrt(own[1-i]+turn) - m.beyond(s, at[i], l[1-i])/m.k
			turn = geom.Sq(max(0, slide)) - own[1-i]
		}
		if turn > 0 || at[i] < 0 {
			w.turn[i] = turn
			w.most = max(w.most, own[1-i]+turn)
		}
	}
	return w
}

// slidingLine is a measuring line whose end is where an arc's edge crosses a side of the target.
type slidingLine struct {
	lineError
	known bool // there is one
}

// slide sets the error of the measuring line to where an edge of the arc crosses a side of the
// target, if it ends there with the arc as measured, grown and shrunk. As the edge moves, the
// crossing slides along the side, and the foot of the perpendicular from it along the attacker's.
func (m *pairMeasure) slide(start *uncertain.Shape, base, grown, shrunk *uncertain.ClosestPair) {
	l := base.Lines[0]
	edge, from, to := m.crossed(l[1]), corner(l[0], start), nearestEdge(m.to, l[1])
	for _, d := range [...]*uncertain.ClosestPair{base, grown, shrunk} {
		p, q := d.Lines[0][0], d.Lines[0][1]
		if len(d.Alternatives) != 1 || edge < 0 || corner(p, start) != from || corner(q, m.to) >= 0 || nearestEdge(m.to, q) != to ||
			from < 0 && nearestEdge(start, p) != nearestEdge(start, l[0]) {
			return
		}
	}
	side, n := m.to.Edges[to].Dir, m.aim.planes[edge].N
	steep := side.Dot(n)
	if math.Abs(steep) < 0.05 {
		return
	}
	w := lineError{p: trackOf(l), both: true}
	at, bodies := [...]geom.Point{l[0].Sub(m.Bodies[0].At), l[1].Sub(m.Bodies[1].At)}, &m.Bodies
	u, v, slip := w.p.u, geom.Point{X: -w.p.u.Y, Y: w.p.u.X}, m.SlipGradient(n, l[1])
	end := uncertain.Gradient{1: geom.PointJacobian(v, at[1])}.Plus(&slip, side.Dot(v)/steep)
	begin, own := end, bodies[0].Cov.At(at[0])
	w.most = geom.Sq(math.Sqrt(bodies[1].Cov.At(at[1]).Largest()) + math.Sqrt(m.Variance(&slip))/math.Abs(steep))
	if from >= 0 {
		begin = uncertain.Gradient{0: geom.PointJacobian(v, at[0])}
		w.most = max(w.most, own.Largest())
	} else {
		begin[0][2] -= w.p.length * v.Cross(u)
		w.most = max(w.most, m.Variance(&begin)+own.Along(u))
	}
	w.own = [2]float64{m.Variance(&begin), m.Variance(&end)}
	w.with = m.Covariance(&begin, &end)
	m.sliding = slidingLine{w, true}
}

// crossed returns the index of the only edge of the arc on which a point lies; -1 for none.
func (m *pairMeasure) crossed(q geom.Point) int {
	edge := -1
	for i, h := range m.aim.planes {
		if math.Abs(h.N.Dot(q)-h.C) > 1e-6 {
			continue
		}
		if edge >= 0 {
			return -1
		}
		edge = i
	}
	return edge
}

// nearestEdge returns the index of the edge of a shape that is nearest to a point.
func nearestEdge(s *uncertain.Shape, q geom.Point) int {
	best, least := 0, math.Inf(1)
	for i := range s.V {
		on, _ := geom.ClosestOnSegment(q, s.V[i], s.V[(i+1)%len(s.V)])
		if d := on.Sub(q); d.Dot(d) < least {
			best, least = i, d.Dot(d)
		}
	}
	return best
}

// beyond returns how far beyond a shape's corner the foot of the perpendicular from q to
// either side there lies; infinity when it cannot come to lie on that side.
func (m *pairMeasure) beyond(s *uncertain.Shape, corner int, q geom.Point) float64 {
	before := (corner + len(s.V) - 1) % len(s.V)
	least, d := math.Inf(1), q.Sub(s.V[corner])
	for i, e := range [...]*uncertain.Edge{&s.Edges[before], &s.Edges[corner]} {
		inward := e.Dir
		if i == 0 {
			inward = e.Dir.Mul(-1)
		}
		far := max(0, -d.Dot(inward))
		if far >= least || e.Out().Dot(d) <= 0 {
			continue
		}
		if slip := m.SlipGradient(inward, q); far < m.k*math.Sqrt(m.Variance(&slip)) {
			least = far
		}
	}
	return least
}

// sigma returns the standard deviation of where the line runs.
func (w *lineError) sigma() float64 { return math.Sqrt(w.most) }

// across returns the variance of the line's place across its direction, at a fraction of its
// length. For two feet, or one whose side does not turn, it is the larger end's everywhere.
func (w *lineError) across(t float64) float64 {
	if w.both {
		return geom.Sq(1-t)*w.own[0] + 2*t*(1-t)*w.with + geom.Sq(t)*w.own[1]
	}
	return w.at(t, &w.own)
}

// at returns the variance of the line's place at a fraction of its length, where its ends have the given ones.
func (w *lineError) at(t float64, ends *[2]float64) float64 {
	if w.both || w.feet == 2 || w.feet == 1 && w.turn == [2]float64{} {
		return w.most
	}
	v := geom.Sq(1-t)*ends[0] + geom.Sq(t)*ends[1]
	if w.turn[0] > 0 { // it turns about the corner at its end
		v = max(v, w.own[1]+geom.Sq(1-t)*w.turn[0])
	}
	if w.turn[1] > 0 {
		v = max(v, w.own[0]+geom.Sq(t)*w.turn[1])
	}
	return v
}

// sigmaAt returns the standard deviation of the line's place where it passes a circle. Where the
// circle surely lies between the line's ends, only movement across the line counts; where it reaches past
// one of them, movement in any direction, of the part of the line that may meet the circle.
func (w *lineError) sigmaAt(c uncertain.Circle, k, slack float64) float64 {
	along := c.Centre.Sub(w.p.line[0]).Dot(w.p.u)
	reach := c.Radius + k*math.Sqrt(w.most+geom.Sq(slack))
	switch {
	case w.p.length == 0:
		return w.sigma()
	case along < reach || along > w.p.length-reach:
		from, to := min(max(0, along-reach), w.p.length), min(max(0, along+reach), w.p.length)
		v := max(w.at(from/w.p.length, &w.ends), w.at(to/w.p.length, &w.ends))
		return math.Sqrt(min(v, w.most))
	}
	v := max(w.across((along-c.Radius)/w.p.length), w.across((along+c.Radius)/w.p.length))
	return math.Sqrt(min(v, w.most))
}

// corner returns the index of the shape's vertex that a point is; -1 for none.
func corner(p geom.Point, s *uncertain.Shape) int {
	for i, q := range s.V {
		if d := p.Sub(q); d.Dot(d) < 1e-12 {
			return i
		}
	}
	return -1
}

// standingOn lists the other ships whose bases a permitted line passes through, and
// the devices (G42). In 2.0 and 2.5 a ship on the line has no effect of its own (G40),
// and small and large ships never obstruct in the first edition (G39). Huge ships
// obstruct and are not among them.
func (m *pairMeasure) standingOn(b lineFamily) (ships, devices []string) {
	p := trackOf(b.a)
	width := 0.0
	if b.a != b.b {
		width = uncertain.Apart(b.a, b.b)
	}
	first := len(m.mem.ids)
	from, u, wide := p.line[0], p.u, width+1e-6
	for i := range m.around {
		c := &m.around[i]
		x, y, reach := c.Centre.X-from.X, c.Centre.Y-from.Y, c.Radius+wide
		along, across := x*u.X+y*u.Y, x*u.Y-y*u.X
		// One branch for three comparisons: most ships are out of reach.
		if uncertain.Negative(along+reach)|uncertain.Negative(p.length+reach-along)|uncertain.Negative(reach-math.Abs(across)) != 0 {
			continue
		}
		o := &m.ships[i]
		if o.ship == m.from || o.ship == m.target || o.ship.Base.Huge() {
			continue
		}
		if p.far(o.ship.Pose.Point) <= o.radius+width && m.throughBase(b, &o.from) {
			m.mem.ids = append(m.mem.ids, o.ship.ID)
		}
	}
	ships = m.mem.list(first)
	first = len(m.mem.ids)
	for _, r := range m.devices {
		if p.far(r.Centre) <= r.Radius+width && m.through(b, r.Polygon) {
			m.mem.ids = append(m.mem.ids, r.id)
		}
	}
	return ships, m.mem.list(first)
}

// throughBase reports whether some line of a family passes through the interior of a
// ship's base.
func (m *pairMeasure) throughBase(b lineFamily, base *uncertain.Shape) bool {
	if b.a != b.b {
		return m.through(b, base.V)
	}
	// The part of the line that is behind all four sides.
	from, to := 0.0, 1.0
	for i := range base.Edges {
		out := base.Edges[i].Out()
		h0 := out.Dot(b.a[0].Sub(base.V[i])) + geom.Tie
		h1 := out.Dot(b.a[1].Sub(base.V[i])) + geom.Tie
		switch {
		case h0 >= 0 && h1 >= 0:
			return false
		case h0 > 0:
			from = max(from, h0/(h0-h1))
		case h1 > 0:
			to = min(to, h0/(h0-h1))
		}
	}
	return from < to
}

// through reports whether some line of a family passes through the interior of an
// outline.
func (m *pairMeasure) through(b lineFamily, outline geom.Polygon) bool {
	if b.a == b.b {
		return outline.MeetsInterior(b.a[0], b.a[1], geom.Tie)
	}
	m.one.Polygon = outline
	m.search.ts = b.changes(m.search.ts[:0], m.ones[:])
	for _, t := range m.search.ts {
		if l := b.at(t); outline.MeetsInterior(l[0], l[1], geom.Tie) {
			return true
		}
	}
	return false
}
