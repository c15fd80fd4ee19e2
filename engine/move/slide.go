package move

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
	"sightline/engine/internal/uncertain"
)

// This file computes the slide of the first edition, in which a player may set the base down anywhere along a line. The later
// editions allow three places.

// roll is a choice of end poses along a line.
type roll struct {
	turnedAt func(x float64) geom.Pose // the base's pose with the slide x
	half     float64                   // 1e: x from -half to half; for a roll, half of it on each side of the template

	template   func(a float64) quad // the template at the slide a along the base; nil where it lies still
	area       *sweptArea           // where it lies still; nil for a Tallon roll
	reposition bool                 // obstacles and the mat's edge forbid it
	shrink     float64              // by how much everything that forbids an end is made smaller
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

// noTemplate returns the stretches of a roll's slide for which the template has no place that is clear of obstacles. The
// template slides by half the reach on the start, and the ship by the other half on the template.
func (m *mover) noTemplate(r *roll, reach interval, dir geom.Point, grow float64) []blockedRun {
	half := reach.hi / 2
	covered := m.templateBlocked(r, half, dir, grow)
	if len(covered) == 0 {
		return nil
	}
	var whys []string
	for _, b := range covered {
		if !slices.Contains(whys, b.why) {
			whys = append(whys, b.why)
		}
	}
	why := strings.Join(whys, ", ")

	// From a free place of the template the ship reaches half a slide to either side. The rest is blocked.
	var blocked []blockedRun
	edge := math.Inf(-1)
	for _, free := range freePlaces(covered, half) {
		if free.lo-half > edge {
			blocked = append(blocked, blockedRun{interval{edge, free.lo - half}, why})
		}
		edge = math.Max(edge, free.hi+half)
	}
	return append(blocked, blockedRun{interval{edge, math.Inf(1)}, why})
}

// templateBlocked returns the stretches of the template's own slide, -half to half, at which it lies over an obstacle, by
// their beginnings.
func (m *mover) templateBlocked(r *roll, half float64, dir geom.Point, grow float64) (runs []blockedRun) {
	q, a, b := r.template(0), r.template(-half), r.template(half)
	for i := range m.things {
		t := &m.things[i]
		if !t.obstacle || m.pulled {
			continue
		}
		dx, dy := m.growth(m.errorAgainst(m.own(), uncertain.Body{At: t.at}, t.err.Variance), m.ship.Pose, slices.Concat(a[:], b[:]))
		grown, ok := q.grown(grow*dx, grow*dy)
		if !ok {
			continue
		}
		for _, g := range t.outlines {
			for _, s := range slideBlocks(grown, g, dir) {
				if s.hi > -half && s.lo < half {
					runs = append(runs, blockedRun{s, "has the template over " + t.id})
				}
			}
		}
	}
	slices.SortFunc(runs, func(a, b blockedRun) int { return cmp.Compare(a.lo, b.lo) })
	return runs
}

// freePlaces returns what open stretches, sorted, leave free of -half to half. A place between two stretches that touch is
// free: the template fits there exactly.
func freePlaces(runs []blockedRun, half float64) (free []interval) {
	covered := -half
	for _, b := range runs {
		if b.hi <= covered {
			continue
		}
		if b.lo >= covered-geom.Tie {
			free = append(free, interval{covered, math.Max(covered, b.lo)})
		}
		covered = math.Max(covered, b.hi)
	}
	if covered <= half+geom.Tie {
		free = append(free, interval{math.Min(covered, half), half})
	}
	return free
}
