package look

import (
	"cmp"
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/token"
)

// The search over the whole mat compares blocks of the blurred picture, seen from above, with every look in all headings
// wherever something may lie, and fits the best places of each look.

const (
	searchStep     = 3.0 // mm between places
	searchTurn     = 9 * math.Pi / 180
	searchSample   = 1.0 // mm between the samples of the mat
	searchBeyond   = 40  // mm round the mat, where a base may reach over its edge
	searchKeep     = 60  // places of each look that are climbed from
	searchFits     = 16  // that are fitted
	searchScore    = 0.2 // that is fitted at least
	searchEvidence = 11.0
	doubtEvidence  = 5.0 // of a look in a second place, from which one ship's look names no ship
	doubtApart     = 20  // mm
	standsLeast    = 0.7 // share of a base that must differ from the empty mat
	standsStep     = 4.0 // mm
)

// Search finds all bases whose looks are known. lies says whether something may lie at a point of the mat; nil: it may
// anywhere. taken are bases that stand there already.
func (f *Finder) Search(frame vision.Frame, lies func(geom.Point) bool, taken []engine.Ship) (out []Sight) {
	w, h := frame.Size()
	if w != f.table.Intrinsics.Width || h != f.table.Intrinsics.Height {
		return nil
	}
	mat := f.flattenMat(frame)
	var all []candidate
	for _, l := range f.looks.Looks {
		all = append(all, f.everywhere(frame, mat, l, lies, taken)...)
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.evidence, a.evidence) })
	for left := all; len(left) > 0; {
		best := left[0]
		var here, rest []candidate
		for _, c := range left {
			if token.BasesOverlap(best.look.Base, best.pose, c.look.Base, c.pose, token.BasesLap) {
				here = append(here, c)
			} else {
				rest = append(rest, c)
			}
		}
		left = rest
		if best.evidence < searchEvidence {
			break
		}
		if s, ok := decide(append(here, f.others(frame, &best)...), searchEvidence); ok {
			s.Elsewhere = slices.ContainsFunc(all, func(c candidate) bool {
				return c.look == s.Look && c.evidence >= doubtEvidence && c.pose.Distance(s.Pose.Point) > doubtApart
			})
			out = append(out, s)
		}
	}
	return out
}

// others fits the other looks of the same base at a candidate's pose: the search may have found only one of two that
// look alike.
func (f *Finder) others(frame vision.Frame, c *candidate) (out []candidate) {
	s, ok := newScan(&f.table, frame, c.pose.Point, c.look.Z, c.look.half()*math.Sqrt2+4)
	if !ok {
		return nil
	}
	for _, l := range f.looks.Looks {
		if l == c.look || l.Base != c.look.Base {
			continue
		}
		if o, ok := s.fit(l, c.pose); ok {
			out = append(out, o)
		}
	}
	return out
}

// flattenMat samples the mat at the height of a card's top, blurred.
func (f *Finder) flattenMat(frame vision.Frame) *flat {
	w, h := frame.Size()
	t := &f.table
	size := max(float64(t.Layout.Width), float64(t.Layout.Height)) + 2*searchBeyond
	n := int(math.Ceil(size/searchSample)) + 1
	out := &flat{origin: geom.Point{X: -searchBeyond, Y: -searchBeyond}, n: n, step: searchSample, v: make([]float32, channels*n*n)}
	whole := crop(frame, frame.Gray.Rect)
	scale := 1.0
	if v, ok := newLocalView(t, geom.Point{X: float64(t.Layout.Width) / 2, Y: float64(t.Layout.Height) / 2}, CardTop); ok {
		scale = v.scale()
	}
	img := whole.blurred(wideBlur * scale)
	for j := range n {
		for i := range n {
			p := out.origin.Add(geom.Point{X: float64(i) * searchSample, Y: float64(j) * searchSample})
			if px, ok := t.PixelOf(p, CardTop+t.Surface.Height(p)); ok && px.X >= 0 && px.Y >= 0 && px.X <= float64(w-1) && px.Y <= float64(h-1) {
				img.nearest(px.X, px.Y, out.v[channels*(j*n+i):])
			}
		}
	}
	return out
}

// everywhere returns the poses of a look that the picture agrees with best, wherever it may lie.
func (f *Finder) everywhere(frame vision.Frame, mat *flat, l *Look, lies func(geom.Point) bool, taken []engine.Ship) (out []candidate) {
	m := newMatcher(&l.grids().wide)
	var places []geom.Point
	width, height := float64(f.table.Layout.Width), float64(f.table.Layout.Height)
	for y := 0.0; y < height; y += searchStep {
		for x := 0.0; x < width; x += searchStep {
			if p := (geom.Point{X: x, Y: y}); l.mayStand(p, lies, taken) {
				places = append(places, p)
			}
		}
	}
	best := make([]guess, len(places))
	var all []guess
	for a := 0.0; a < 2*math.Pi-1e-9; a += searchTurn {
		t := m.turn(geom.Angle(a), mat)
		for i, p := range places {
			if s, ok := m.scoreAt(mat, &t, p); ok && s > max(searchScore, best[i].score) {
				best[i] = guess{geom.Pose{Point: p, Heading: geom.Angle(a)}, s}
			}
		}
	}
	for _, g := range best {
		if g.score > 0 {
			all = append(all, g)
		}
	}
	all = apart(all, searchKeep, 8, 20*math.Pi/180)
	near := newMatcher(&l.grids().coarse)
	for i := range all {
		s, ok := newScan(&f.table, frame, all[i].pose.Point, l.Z, l.half()*math.Sqrt2+climbReach+1)
		if !ok {
			all[i].score = 0
			continue
		}
		all[i].score = 0
		all[i] = near.climb(s.flatten(captureBlur, near.reach+climbReach), all[i])
	}
	for _, g := range apart(all, searchFits, 2, 5*math.Pi/180) {
		s, ok := newScan(&f.table, frame, g.pose.Point, l.Z, l.half()*math.Sqrt2+climbReach+1)
		if !ok || g.score < searchScore {
			continue
		}
		if c, ok := s.fit(l, g.pose); ok {
			out = append(out, c)
		}
	}
	return out
}

// mayStand reports whether a base of the look may stand at a place in some heading.
func (l *Look) mayStand(p geom.Point, lies func(geom.Point) bool, taken []engine.Ship) bool {
	w, _ := l.Base.Size()
	for i := range taken {
		own, _ := taken[i].Base.Size()
		if float64(p.Distance(taken[i].Pose.Point)) < float64(w+own)/2-2 {
			return false
		}
	}
	if lies == nil {
		return true
	}
	here, all := 0, 0
	for r := float64(w)/2 - 2; r > 0; r -= standsStep { // rings, so that no heading matters
		for a := 0.0; a < 2*math.Pi; a += standsStep / r {
			all++
			if lies(p.Add(geom.Point{X: r * math.Cos(a), Y: r * math.Sin(a)})) {
				here++
			}
		}
	}
	return float64(here) >= standsLeast*float64(all)
}
