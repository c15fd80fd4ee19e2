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
