// Package under finds where an obstacle may lie that is partly under a ship. A miniature hides the rim of its base where it reaches
// over it. So what adjoins a visible rim is no miniature: it lies on the mat and continues under the base. How far it continues cannot
// be seen, neither under the base nor under the miniature next to it: an obstacle of the catalogue may lie wherever it covers no bare
// mat and reaches what adjoins the rim.
package under

import (
	"cmp"
	"image"
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
)

// Rim is the rim of a ship whose code was read. Its cells are where they hide the mat.
type Rim []vision.RimCell

// Places returns where its cells are.
func (r Rim) Places() (all geom.Polygon) {
	for i := range r {
		all = append(all, r[i].At)
	}
	return all
}

// Mat is what a picture shows of each cell of the mat, row by row.
type Mat struct {
	Width, Height int
	Lies          []bool              // something lies there that is no shadow
	Covered       []bool              // a ship hides the cell
	Seen          []bool              // the cell is in the picture and not clipped
	Own           func(k int) float32 // 0…1: how much lighter than the mat the cell alone is; 1 tells it from the mat
	Bases         []geom.Polygon      // what ships hide
}

const (
	// rimLeast is how much of a rim, in mm, must be visible where something adjoins it. Where part of the rim next to it is hidden,
	// rimLeastNearHidden must be visible, white and dark cells: what hides a rim may look like print by chance, but only like one
	// colour.
	rimLeast, rimLeastNearHidden = 5.0, 8.0
	// ownReach is how far from the rim, in mm, the picture still shows the ship. adjoinDeep is how much deeper than that what adjoins
	// the rim must be, with a mean of Own of adjoinShare there. It is followed for adjoinFar.
	ownReach, adjoinDeep, adjoinShare, adjoinFar = 8, 3, 0.5, 30
	// samples is about how many points of what adjoins a rim are tested. An obstacle must contain a share of Cover of them.
	samples, Cover = 60, 0.8

	// anyShapeLeast and anyShapeDeep are, in mm, how long and how deep what adjoins a rim must be to count as a thing even if no
	// outline of the catalogue fits.
	anyShapeLeast, anyShapeDeep = 8.0, 5
)

// hiddenMost is the largest ratio of the hidden to the visible part of a rim next to something that is certainly no miniature: one
// misread cell in seven. A fighter's panel that reaches beyond its base hides part of the rim; one was recognised as a rock (1502, 1000
// electrons and a mosaic; with a blur of 1.2 px two of eleven cells were hidden).
const hiddenMost = 0.15

// clue is something next to a base that may be the visible part of an obstacle.
type clue struct {
	points   []geom.Point
	cover    float64 // share of the points that an outline must contain
	anyShape bool    // it counts as a thing even if no outline fits
	onMat    bool    // it certainly lies on the mat: no miniature reaches over a rim that looks like print by chance
}

// Groups returns the cells where an obstacle may lie that is partly under a ship, in groups. Each group is under one base, in the gap
// between two, next to one side of a base or about one of its corners, so that the hull of no group crosses a side, where lines begin.
// parts are what Unexplained returned, and miniatures are the cells of what passes for miniatures, without shadows. widest is the largest
// distance, in mm, of an outline's point from its middle. What adjoins a rim counts beyond the outlines if it has least cells or more.
func (m *Mat) Groups(posts []Post, parts [][]int32, miniatures []bool, outlines []*Outline, widest float64, least int) [][]int32 {
	clues := m.clues(posts)
	for _, part := range parts {
		c := clue{cover: partCover}
		for _, k := range part {
			c.points = append(c.points, m.middle(int(k)))
		}
		clues = append(clues, c)
	}
	if len(clues) == 0 && !slices.Contains(miniatures, true) {
		return nil
	}
	cells, fits := m.placements(clues, outlines)
	m.placeApart(miniatures, outlines, cells)
	adjoins := gray.Close(m.Lies, m.Width, m.Height, 1)
	for i, part := range parts {
		if n := len(clues) - len(parts) + i; !fits[n] && len(part) >= partAlone {
			for _, k := range part {
				cells[k] = true
			}
		}
	}
	for i := range clues[:len(clues)-len(parts)] {
		if clues[i].anyShape || fits[i] {
			if more := m.follow(clues[i].points, adjoins, 2*widest); len(more) >= least {
				for k := range more {
					cells[k] = true
				}
			}
		}
	}
	return m.grouped(cells)
}

// follow returns the cells connected with some points, as far as an obstacle reaches.
func (m *Mat) follow(from []geom.Point, adjoins []bool, far float64) map[int]bool {
	var stack []int
	done := map[int]bool{}
	add := func(x, y int) {
		k := y*m.Width + x
		if x < 0 || y < 0 || x >= m.Width || y >= m.Height || !adjoins[k] || done[k] || m.middle(k).Sub(from[0]).Norm() > far {
			return
		}
		done[k] = true
		stack = append(stack, k)
	}
	for _, p := range from {
		add(int(p.X), int(p.Y))
	}
	for len(stack) > 0 {
		x, y := stack[len(stack)-1]%m.Width, stack[len(stack)-1]/m.Width
		stack = stack[:len(stack)-1]
		add(x-1, y)
		add(x+1, y)
		add(x, y-1)
		add(x, y+1)
	}
	return done
}

// middle returns the middle of a cell, in mm.
func (m *Mat) middle(k int) geom.Point {
	return geom.Point{X: (float64(k%m.Width) + 0.5) * vision.DiffStep, Y: (float64(k/m.Width) + 0.5) * vision.DiffStep}
}

// Adjoining returns the points of each thing that adjoins a rim and certainly lies on the mat.
func (m *Mat) Adjoining(rims []Rim) (out [][]geom.Point) {
	var posts []Post
	for _, r := range rims {
		posts = append(posts, Post{Rim: r})
	}
	for _, c := range m.clues(posts) {
		if c.onMat {
			out = append(out, c.points)
		}
	}
	return out
}

// clues returns what adjoins visible stretches of rims, side by side: next to one side a rock may lie, and next to the other the miniature.
// What may be the miniature of another ship counts for nothing.
func (m *Mat) clues(posts []Post) (out []clue) {
	for n := range posts {
		r := posts[n].Rim
		outward := make([][]geom.Point, len(r))
		first := 0 // where nothing adjoins
		for i := range r {
			if outward[i] = m.outward(&r[i]); m.anothers(posts, n, outward[i]) {
				outward[i] = nil
			}
			if outward[i] == nil {
				first = i
			}
		}
		for i := 0; i < len(r); i++ {
			from := i
			for i < len(r) && outward[(first+i)%len(r)] != nil && r[(first+i)%len(r)].Out == r[(first+from)%len(r)].Out {
				i++
			}
			if c := clueOf(r, outward, first+from, first+i); len(c.points) > 0 {
				out = append(out, c)
			}
			if i > from {
				i-- // a side ends, and the next one begins
			}
		}
	}
	return out
}

// anothers reports whether some points may be the miniature of another ship than the n-th.
func (m *Mat) anothers(posts []Post, n int, points []geom.Point) bool {
	for i := range posts {
		explained := 0
		for _, p := range points {
			if i != n && posts[i].hides.at(int(p.X), int(p.Y)) {
				explained++
			}
		}
		if explained > 0 && float64(explained) >= Cover*float64(len(points)) {
			return true
		}
	}
	return false
}

// visible reports whether nothing hides a rim's cell, nor the white line along the edge next to it: a miniature's panel that hangs next
// to its base hides that line and leaves the cells behind it in view.
func visible(c *vision.RimCell) bool { return c.Seen && c.Line }

// clueOf returns what adjoins the visible ones of some consecutive cells of a rim. outward is what lies outward of each.
func clueOf(r Rim, outward [][]geom.Point, from, to int) (e clue) {
	hidden := false
	for i := from; i < to; i++ {
		hidden = hidden || !visible(&r[i%len(r)])
	}
	var points []geom.Point
	length, deep, white, dark := 0.0, anyShapeDeep, false, false
	for i := from; i <= to; i++ {
		if c := &r[i%len(r)]; i < to && visible(c) {
			points = append(points, outward[i%len(r)]...)
			length, deep = length+c.Width, min(deep, len(outward[i%len(r)]))
			white, dark = white || c.White, dark || !c.White
			continue
		}
		if !hidden && length >= rimLeast || length >= rimLeastNearHidden && white && dark {
			e.points = append(e.points, points...)
			e.anyShape = e.anyShape || !hidden && dark && length >= anyShapeLeast && deep >= anyShapeDeep
		}
		points, length, deep, white, dark = nil, 0, anyShapeDeep, false, false
	}
	e.onMat, e.cover = onMat(r, outward, from, to), Cover
	return e
}

// onMat reports whether what adjoins some consecutive cells of a rim is certainly no miniature that reaches over it.
func onMat(r Rim, outward [][]geom.Point, from, to int) bool {
	found, seen, hidden := false, 0.0, 0.0 // mm
	length, deep, white, dark := 0.0, anyShapeDeep, false, false
	for i := from; i <= to; i++ {
		c := &r[i%len(r)]
		if i < to && visible(c) {
			seen, length, deep = seen+c.Width, length+c.Width, min(deep, len(outward[i%len(r)]))
			white, dark = white || c.White, dark || !c.White
			continue
		}
		if i < to {
			hidden += c.Width
		}
		found = found || white && dark && length >= anyShapeLeast && deep >= anyShapeDeep
		length, deep, white, dark = 0, anyShapeDeep, false, false
	}
	return found && hidden <= hiddenMost*seen
}

// outward returns the points straight outward of a rim's cell where something lies, from where the picture no longer shows the ship;
// none if the mat is bare there.
func (m *Mat) outward(c *vision.RimCell) (points []geom.Point) {
	w, h := m.Width, m.Height
	var energy float32
	for d := range adjoinFar {
		p := c.At.Add(c.Out.Mul(float64(d)))
		k := int(p.Y)*w + int(p.X)
		switch out := p.X < 0 || p.Y < 0 || int(p.X) >= w || int(p.Y) >= h; {
		case !out && m.Covered[k] && len(points) == 0 && d < ownReach:
			continue
		case out || m.Covered[k] || !m.Lies[k]:
			if len(points) < adjoinDeep {
				return nil
			}
			return points
		}
		if len(points) < adjoinDeep {
			energy += m.Own(k)
		}
		if points = append(points, p); len(points) == adjoinDeep && energy < adjoinShare*adjoinDeep {
			return nil
		}
	}
	return points
}

const (
	// Outlines are tried every placeStep cells, in placeHeadings headings, reduced by placeInset mm: what lies on the mat seems larger
	// by 2 mm.
	placeStep, placeHeadings, placeInset = 3, 60, 1.0
	// closeGap is half the width, in cells, of the gaps that are closed in what lies on the mat, closeGapAnyShape of those in what
	// counts as a thing in any shape: in noise a cloud's dark waist looks bare.
	closeGap, closeGapAnyShape = 2, 4
	// pointStep is the spacing, in mm, of an outline's points.
	pointStep = 2
	// squareShare is the half side of a square in a circle, as a share of its radius.
	squareShare = 0.7
	// crossingDeep is how far inside what a base hides, in mm, only lines pass that neither begin nor end at that base.
	crossingDeep = 6.0
)

// Outline is an obstacle's outline about the middle of the largest circle in it.
type Outline struct {
	points []geom.Point // inside, every pointStep mm, those nearest to the border first
	reach  int          // distance of the farthest, mm
	half   int          // of a square in that circle, in cells
	inside []bool       // whether a point is inside, every mm, as far as reach
}

// NewOutline prepares an outline.
func NewOutline(outline geom.Polygon) *Outline {
	type inner struct {
		at   geom.Point
		deep float64
	}
	var all []inner
	var middle inner
	lo, hi := outline.Bounds()
	for y := lo.Y; y <= hi.Y; y += pointStep {
		for x := lo.X; x <= hi.X; x += pointStep {
			p := inner{at: geom.Point{X: x, Y: y}}
			if p.deep = outline.BoundaryDistance(p.at); !outline.Contains(p.at) || p.deep < placeInset {
				continue
			}
			if all = append(all, p); p.deep > middle.deep {
				middle = p
			}
		}
	}
	slices.SortStableFunc(all, func(a, b inner) int { return cmp.Compare(math.Floor(a.deep), math.Floor(b.deep)) })
	s := &Outline{half: max(int(squareShare*middle.deep)-2, 0)}
	for _, p := range all {
		s.points = append(s.points, p.at.Sub(middle.at))
		s.reach = max(s.reach, int(p.at.Distance(middle.at))+2)
	}
	for y := -s.reach; y <= s.reach; y++ {
		for x := -s.reach; x <= s.reach; x++ {
			s.inside = append(s.inside, outline.Contains(geom.Point{X: float64(x), Y: float64(y)}.Add(middle.at)))
		}
	}
	return s
}

// contains reports whether a point in its frame lies in the outline.
func (s *Outline) contains(p geom.Point) bool {
	i, j := int(math.Floor(p.X+0.5))+s.reach, int(math.Floor(p.Y+0.5))+s.reach
	side := 2*s.reach + 1
	return i >= 0 && j >= 0 && i < side && j < side && s.inside[j*side+i]
}

// placements returns the cells of all obstacles of which a clue may be the visible part, and which clues fit an obstacle.
func (m *Mat) placements(clues []clue, outlines []*Outline) (cells, fits []bool) {
	w, h := m.Width, m.Height
	cells, fits = make([]bool, w*h), make([]bool, len(clues))
	for _, anyShape := range [2]bool{false, true} {
		if slices.ContainsFunc(clues, func(c clue) bool { return c.anyShape == anyShape }) {
			m.place(clues, outlines, anyShape, cells, fits)
		}
	}
	return cells, fits
}

// place adds the placements for the clues that count in any shape, or for the others.
func (m *Mat) place(clues []clue, outlines []*Outline, anyShape bool, cells, fits []bool) {
	gap := closeGap
	if anyShape {
		gap = closeGapAnyShape
	}
	g := m.ground(gap)
	placed := make([]bool, len(cells))
	for _, s := range outlines {
		for i := range clues {
			c := &clues[i]
			if c.anyShape != anyShape {
				continue
			}
			p := c.points[len(c.points)/2]
			about := image.Rect(int(p.X), int(p.Y), int(p.X), int(p.Y))
			n := g.lay(s, about, placed, func(k int, _ []int, sin, cos float64) bool { return c.in(s, m.middle(k), sin, cos) })
			fits[i] = fits[i] || n > 0
		}
	}
	g.add(placed, cells)
}

// in reports whether an outline at a place, turned, contains enough of a clue.
func (c *clue) in(s *Outline, at geom.Point, sin, cos float64) bool {
	inside, n := 0, 0
	for i := 0; i < len(c.points); i += 1 + len(c.points)/samples {
		n++
		if q := c.points[i].Sub(at); s.contains(geom.Point{X: cos*q.X - sin*q.Y, Y: sin*q.X + cos*q.Y}) {
			inside++
		}
	}
	return float64(inside) >= c.cover*float64(n)
}

// grouped divides cells into groups: for each base those under it, those in a gap between it and another, and those next to each side.
func (m *Mat) grouped(cells []bool) (out [][]int32) {
	under, between, next := make([][]int32, len(m.Bases)), make([][]int32, len(m.Bases)), make([][][]sideCell, len(m.Bases))
	for i, b := range m.Bases {
		next[i] = make([][]sideCell, len(b))
	}
	for k, set := range cells {
		if !set {
			continue
		}
		p := m.middle(k)
		base, side, least, second := 0, 0, math.Inf(1), math.Inf(1) // the nearest base, and the distances of the nearest two
		for i, b := range m.Bases {
			switch s, by := beyond(b, p); {
			case by < least:
				base, side, least, second = i, s, by, least
			case by < second:
				second = by
			}
		}
		switch a := m.Bases[base][side]; {
		case least < -crossingDeep:
			under[base] = append(under[base], int32(k))
		case m.Covered[k] && least > 0 && second < betweenBases:
			between[base] = append(between[base], int32(k))
		case !m.Covered[k]:
			b := m.Bases[base][(side+1)%len(m.Bases[base])]
			next[base][side] = append(next[base][side], sideCell{int32(k), b.Sub(a).Dot(p.Sub(a)) / b.Sub(a).Norm()})
		}
	}
	for i := range m.Bases {
		for _, group := range [2][]int32{under[i], between[i]} {
			if len(group) > 0 {
				out = append(out, group)
			}
		}
		out = append(out, m.corners(m.Bases[i], next[i])...)
		for _, all := range next[i] {
			slices.SortFunc(all, func(a, b sideCell) int { return cmp.Compare(a.along, b.along) })
			var one []int32
			for n, c := range all {
				if one = append(one, c.k); n+1 == len(all) || all[n+1].along > c.along+sideGap {
					if len(one) >= sideLeastCells {
						out = append(out, one)
					}
					one = nil
				}
			}
		}
	}
	return out
}

// corners returns the groups that join what lies next to two sides of a base, where both come near the corner between them: a line from
// the corner passes between them. A base that hides the mat has short sides at some corners.
func (m *Mat) corners(base geom.Polygon, next [][]sideCell) (out [][]int32) {
	var long []int
	for n, a := range base {
		if base[(n+1)%len(base)].Distance(a) > sideLeast {
			long = append(long, n)
		}
	}
	near := func(cells []sideCell, corner geom.Point) (within []int32) {
		for _, c := range cells {
			if m.middle(int(c.k)).Distance(corner) < cornerReach {
				within = append(within, c.k)
			}
		}
		return within
	}
	for i, side := range long {
		other := long[(i+1)%len(long)]
		before, after := near(next[side], base[(side+1)%len(base)]), near(next[other], base[other])
		if len(before) > 0 && len(after) > 0 && len(before)+len(after) >= sideLeastCells {
			out = append(out, append(before, after...))
		}
	}
	return out
}

// sideCell is a cell next to a side of a base.
type sideCell struct {
	k     int32
	along float64 // where along the side, mm
}

const (
	// betweenBases is how near, in mm, the second base is to a gap between two. All of such a gap counts as covered by the ships, and a
	// rock under both was not mentioned there (one of 24 simulated tables).
	betweenBases = 3.5

	sideGap        = 4.0 // mm between two things next to one side of a base, at least
	sideLeastCells = 6   // cells of one: fewer are noise at the edge of what a base hides
	cornerReach    = 8.0 // mm from a corner of a base to what may continue round it
)

// beyond returns the side of a base's convex outline beyond which a point lies furthest, and how far, negative inside.
func beyond(base geom.Polygon, p geom.Point) (side int, by float64) {
	by = math.Inf(-1)
	for n, a := range base {
		along := base[(n+1)%len(base)].Sub(a)
		if d := -along.Cross(p.Sub(a)) / along.Norm(); d > by && along.Norm() > sideLeast {
			side, by = n, d
		}
	}
	return side, by
}

// sideLeast is the least length of a base's side, mm: what the top hides beyond the foot adds shorter ones.
const sideLeast = 20.0
