// Package under says where an obstacle may lie that lies partly under a ship. A miniature hides the rim of its base where it
// passes over it. What adjoins a rim that is seen does not come from over the base: it lies on the mat, and goes on under the
// base. Where it goes on is not seen, nor under what else lies by the base, be it the miniature: an obstacle of the catalogue may lie
// wherever it hides no bare mat and reaches what adjoins the rim.
package under

import (
	"cmp"
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
)

// Rim is that of a ship whose code was read, its cells where they hide the mat.
type Rim []vision.RimCell

// Mat is what a picture shows of the mat, cell by cell, row by row.
type Mat struct {
	Width, Height int
	Lies          []bool              // something lies on it, and is no shadow
	Covered       []bool              // a ship hides it
	Seen          []bool              // it is in the picture, and not clipped
	Own           func(k int) float32 // by how much a cell by itself is lighter than the mat, of what tells it from the mat, up to 1
	Bases         []geom.Polygon      // what ships hide
}

const (
	// exitLeast is how much of a rim, in mm, must be seen where something adjoins it. Where some of the rim next to it is hidden,
	// exitBeside must be seen, white and dark: what hides a rim looks by chance as is printed, but of one colour.
	exitLeast, exitBeside = 5.0, 8.0
	// exitReach is how far from the rim, in mm, what counts as the ship's ends, exitDeep how far beyond that what adjoins it must
	// reach, and exitShare the least of Own there, in the mean. exitFar is how far it is followed.
	exitReach, exitDeep, exitShare, exitFar = 8, 3, 0.5, 30
	// exitPoints is about how many points of what adjoins a rim are looked at. An obstacle must reach Cover of them.
	exitPoints, Cover = 60, 0.8

	// strangeLeast and strangeDeep are, in mm, how long and how deep what adjoins a rim must be for a thing that no obstacle of
	// the catalogue can be.
	strangeLeast, strangeDeep = 8.0, 5
)

// unseenMost is how much of a rim, over what of it is seen, may be hidden where something adjoins it that is surely no miniature: a
// misread cell in seven. A fighter's panel that lies partly beyond its base hides some of the rim and leaves some in view; it was
// recognised as a rock (1502, 1000 electrons and a mosaic; with a blur of 1.2 px two of eleven cells were hidden).
const unseenMost = 0.15

// exit is a stretch of a rim that is seen, with something next to it.
type exit struct {
	away    []geom.Point // what lies straight away from it
	strange bool         // it is a thing whatever the catalogue holds
	sure    bool         // it is no miniature over a rim that looks by chance as is printed
}

// Groups returns the cells on which an obstacle may lie that lies partly under a ship, in groups: for each base those under it, and of
// those beside it such that none reaches over its side, where lines begin. No outline's point is farther than
// widest, in mm, from its middle; what adjoins a rim counts beyond the outlines from least cells on.
func (m *Mat) Groups(rims []Rim, outlines []*Outline, widest float64, least int) [][]int32 {
	exits := m.exits(rims)
	if len(exits) == 0 {
		return nil
	}
	cells, fits := m.holds(exits, outlines)
	adjoins := gray.Close(m.Lies, m.Width, m.Height, 1)
	for i := range exits {
		if exits[i].strange || fits[i] {
			if more := m.follow(exits[i].away, adjoins, 2*widest); len(more) >= least {
				for k := range more {
					cells[k] = true
				}
			}
		}
	}
	return m.apart(cells)
}

// follow returns the cells of all that adjoins some points, as far as an obstacle reaches.
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

// middle is that of a cell, on the mat.
func (m *Mat) middle(k int) geom.Point {
	return geom.Point{X: (float64(k%m.Width) + 0.5) * vision.DiffStep, Y: (float64(k/m.Width) + 0.5) * vision.DiffStep}
}

// Adjoining returns what adjoins each stretch of the rims that is seen for sure, as points.
func (m *Mat) Adjoining(rims []Rim) (out [][]geom.Point) {
	for _, e := range m.exits(rims) {
		if e.sure {
			out = append(out, e.away)
		}
	}
	return out
}

// exits returns the stretches of rims that something adjoins.
func (m *Mat) exits(rims []Rim) (out []exit) {
	for _, r := range rims {
		away := make([][]geom.Point, len(r))
		first := 0 // where nothing adjoins
		for i := range r {
			if away[i] = m.away(&r[i]); away[i] == nil {
				first = i
			}
		}
		for i := 0; i < len(r); i++ {
			from := i
			for i < len(r) && away[(first+i)%len(r)] != nil {
				i++
			}
			if e := exitOf(r, away, first+from, first+i); len(e.away) > 0 {
				out = append(out, e)
			}
		}
	}
	return out
}

// exitOf returns what of the cells of a rim, next to each other, is seen for sure.
func exitOf(r Rim, away [][]geom.Point, from, to int) (e exit) {
	hidden := false
	for i := from; i < to; i++ {
		hidden = hidden || !r[i%len(r)].Seen
	}
	var points []geom.Point
	length, deep, white, dark := 0.0, strangeDeep, false, false
	for i := from; i <= to; i++ {
		if c := &r[i%len(r)]; i < to && c.Seen {
			points = append(points, away[i%len(r)]...)
			length, deep = length+c.Width, min(deep, len(away[i%len(r)]))
			white, dark = white || c.White, dark || !c.White
			continue
		}
		if !hidden && length >= exitLeast || length >= exitBeside && white && dark {
			e.away = append(e.away, points...)
			e.strange = e.strange || !hidden && dark && length >= strangeLeast && deep >= strangeDeep
		}
		points, length, deep, white, dark = nil, 0, strangeDeep, false, false
	}
	e.sure = surely(r, away, from, to)
	return e
}

// surely reports whether what adjoins the cells of a rim, next to each other, is no miniature that passes over it.
func surely(r Rim, away [][]geom.Point, from, to int) bool {
	found, seen, unseen := false, 0.0, 0.0 // mm
	length, deep, white, dark := 0.0, strangeDeep, false, false
	for i := from; i <= to; i++ {
		c := &r[i%len(r)]
		if i < to && c.Seen && c.Line {
			seen, length, deep = seen+c.Width, length+c.Width, min(deep, len(away[i%len(r)]))
			white, dark = white || c.White, dark || !c.White
			continue
		}
		if i < to {
			unseen += c.Width
		}
		found = found || white && dark && length >= strangeLeast && deep >= strangeDeep
		length, deep, white, dark = 0, strangeDeep, false, false
	}
	return found && unseen <= unseenMost*seen
}

// away returns the cells straight away from a rim's cell on which something lies, from where what counts as the ship's ends;
// none where bare mat is next to that.
func (m *Mat) away(c *vision.RimCell) (points []geom.Point) {
	w, h := m.Width, m.Height
	var energy float32
	for d := range exitFar {
		p := c.At.Add(c.Out.Mul(float64(d)))
		k := int(p.Y)*w + int(p.X)
		switch out := p.X < 0 || p.Y < 0 || int(p.X) >= w || int(p.Y) >= h; {
		case !out && m.Covered[k] && len(points) == 0 && d < exitReach:
			continue
		case out || m.Covered[k] || !m.Lies[k]:
			if len(points) < exitDeep {
				return nil
			}
			return points
		}
		if len(points) < exitDeep {
			energy += m.Own(k)
		}
		if points = append(points, p); len(points) == exitDeep && energy < exitShare*exitDeep {
			return nil
		}
	}
	return points
}

const (
	// Obstacles are tried every holdStep cells, in so many headings: their outlines, less holdInset mm, lie then somewhere within
	// the 2 mm by which what lies on the mat seems larger.
	holdStep, holdHeadings, holdInset = 3, 60, 1.0
	// holdGap is half the width, in cells, of the gaps in what lies on the mat that are closed, and strangeGap of those in what is a
	// thing for sure: in noise a cloud's dark waist looks bare.
	holdGap, strangeGap = 2, 4
	// holdPart is the half side of a square in a circle, as a share of its radius.
	holdPart = 0.7
	// holdApart is how far from the border of what a base hides, in mm, a line passes over it that neither begins nor ends there.
	holdApart = 6.0
)

// Outline is one about the middle of the largest circle in it.
type Outline struct {
	points []geom.Point // in it every 2 mm, those next to its border first
	reach  int          // of the farthest, mm
	half   int          // of a square in that circle, in cells
	inside []bool       // every mm, as far as reach
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
	for y := lo.Y; y <= hi.Y; y += 2 {
		for x := lo.X; x <= hi.X; x += 2 {
			p := inner{at: geom.Point{X: x, Y: y}}
			if p.deep = outline.BoundaryDistance(p.at); !outline.Contains(p.at) || p.deep < holdInset {
				continue
			}
			if all = append(all, p); p.deep > middle.deep {
				middle = p
			}
		}
	}
	slices.SortStableFunc(all, func(a, b inner) int { return cmp.Compare(math.Floor(a.deep), math.Floor(b.deep)) })
	s := &Outline{half: max(int(holdPart*middle.deep)-2, 0)}
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

// holds returns the cells on which an obstacle may lie that reaches an exit, and which exits one reaches.
func (m *Mat) holds(exits []exit, outlines []*Outline) (cells, fits []bool) {
	w, h := m.Width, m.Height
	cells, fits = make([]bool, w*h), make([]bool, len(exits))
	for _, strange := range [2]bool{false, true} {
		if slices.ContainsFunc(exits, func(e exit) bool { return e.strange == strange }) {
			m.hold(exits, outlines, strange, cells, fits)
		}
	}
	return cells, fits
}

// hold does so for the exits that are strange, or not.
func (m *Mat) hold(exits []exit, outlines []*Outline, strange bool, cells, fits []bool) {
	w, h := m.Width, m.Height
	gap := holdGap
	if strange {
		gap = strangeGap
	}
	free := gray.Close(m.Lies, w, h, gap) // of bare mat
	for k := range free {
		free[k] = free[k] || m.Covered[k] || !m.Seen[k]
	}
	held := make([]bool, len(free))
	room := map[int][]bool{} // where a square of so many cells to each side holds no bare mat
	for _, s := range outlines {
		if room[s.half] == nil {
			room[s.half] = gray.BoxMask(free, w, h, s.half, false)
		}
		at := make([]int, len(s.points))
		for i := range exits {
			if exits[i].strange != strange {
				continue
			}
			spots := exits[i].spots(s, room[s.half], w, h)
			for turn := 0; turn < holdHeadings && len(spots) > 0; turn++ {
				sin, cos := math.Sincos(2 * math.Pi * float64(turn) / holdHeadings)
				for n, p := range s.points {
					at[n] = int(math.Round(-sin*p.X+cos*p.Y))*w + int(math.Round(cos*p.X+sin*p.Y))
				}
				for _, k := range spots {
					if slices.ContainsFunc(at, func(d int) bool { return !free[k+d] }) || !exits[i].reached(s, m.middle(k), sin, cos) {
						continue
					}
					fits[i] = true
					for _, d := range at {
						held[k+d] = true
					}
				}
			}
		}
	}
	for k, set := range gray.BoxMask(held, w, h, 1, true) {
		cells[k] = cells[k] || set && free[k]
	}
}

// spots returns the cells where an outline may lie to reach an exit.
func (e *exit) spots(s *Outline, room []bool, w, h int) (out []int) {
	p := e.away[len(e.away)/2]
	for y := max(int(p.Y)-s.reach, s.reach); y < min(int(p.Y)+s.reach, h-s.reach); y += holdStep {
		for x := max(int(p.X)-s.reach, s.reach); x < min(int(p.X)+s.reach, w-s.reach); x += holdStep {
			if room[y*w+x] {
				out = append(out, y*w+x)
			}
		}
	}
	return out
}

// reached reports whether an outline at a place, turned, reaches an exit.
func (e *exit) reached(s *Outline, at geom.Point, sin, cos float64) bool {
	in, n := 0, 0
	for i := 0; i < len(e.away); i += 1 + len(e.away)/exitPoints {
		n++
		if q := e.away[i].Sub(at); s.contains(geom.Point{X: cos*q.X - sin*q.Y, Y: sin*q.X + cos*q.Y}) {
			in++
		}
	}
	return float64(in) >= Cover*float64(n)
}

// apart divides cells into groups: for each base those under it, those in a gap between it and another, and those beside it.
func (m *Mat) apart(cells []bool) (out [][]int32) {
	under, between, beside := make([][]int32, len(m.Bases)), make([][]int32, len(m.Bases)), make([][][]besideCell, len(m.Bases))
	for i, b := range m.Bases {
		beside[i] = make([][]besideCell, len(b))
	}
	for k, set := range cells {
		if !set {
			continue
		}
		p := m.middle(k)
		base, side, least, next := 0, 0, math.Inf(1), math.Inf(1) // the nearest base, and how far away the next one is
		for i, b := range m.Bases {
			switch s, by := beyond(b, p); {
			case by < least:
				base, side, least, next = i, s, by, least
			case by < next:
				next = by
			}
		}
		switch a := m.Bases[base][side]; {
		case least < -holdApart:
			under[base] = append(under[base], int32(k))
		case m.Covered[k] && least > 0 && next < betweenBases:
			between[base] = append(between[base], int32(k))
		case !m.Covered[k]:
			b := m.Bases[base][(side+1)%len(m.Bases[base])]
			beside[base][side] = append(beside[base][side], besideCell{int32(k), b.Sub(a).Dot(p.Sub(a)) / b.Sub(a).Norm()})
		}
	}
	for i := range m.Bases {
		for _, group := range [2][]int32{under[i], between[i]} {
			if len(group) > 0 {
				out = append(out, group)
			}
		}
		for _, all := range beside[i] {
			slices.SortFunc(all, func(a, b besideCell) int { return cmp.Compare(a.along, b.along) })
			var one []int32
			for n, c := range all {
				if one = append(one, c.k); n+1 == len(all) || all[n+1].along > c.along+besideGap {
					if len(one) >= besideLeast {
						out = append(out, one)
					}
					one = nil
				}
			}
		}
	}
	return out
}

// besideCell is a cell beside a base, and how far along its side.
type besideCell struct {
	k     int32
	along float64 // mm
}

const (
	// betweenBases is how near, in mm, the second base is in a gap between two: all of such a gap counts as the ships', and a rock
	// under both was not mentioned there (one of 24 simulated tables).
	betweenBases = 3.5

	besideGap   = 4.0 // mm by which things beside one side of a base are apart at least
	besideLeast = 6   // cells of one: fewer are noise at the edge of what a base hides
)

// beyond returns by how much a point lies beyond a side of a base's convex outline, the one that it lies beyond most; negative inside.
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

// sideLeast is how long the sides of a base are at least, mm: what its top hides beyond its foot makes shorter ones.
const sideLeast = 20.0
