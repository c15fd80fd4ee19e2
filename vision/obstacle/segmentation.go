package obstacle

import (
	"cmp"
	"image"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
)

// segmentation says of every cell of the mat what the picture shows there: the empty mat,
// something brighter, something darker, or nothing that can be told. Where glare or a
// hard lamp takes the edge from a token's printed rim, its area still differs from the
// mat: a pose is judged by how much of the outline's inside looks like the mat, and how
// much of a ring around it does not.
//
// A lamp's shadow is dark and lies on one side. It counts for nothing where the outline,
// moved along one vector, would cast it.
type segmentation struct {
	w, h  int
	state []regionState
}

type regionState uint8

const (
	regionMat regionState = iota
	regionBright
	regionDark
	regionShade // dark, and the mat shows, dimmed evenly
	regionUnknown
)

const (
	regionHole  = 200 // mm²: mat that is enclosed is a print that looks like it, up to here
	regionLeast = 60  // mm²: what is smaller is no token
	blurShare   = 0.3 // of the contrast next to it: what has less is the lens's blur of that
)

// find tells the cells of the picture that was weighed last.
func (m *segmentation) find(t *matTest) {
	if m.state == nil {
		m.w, m.h = t.w, t.h
		m.state = make([]regionState, len(t.z))
	}
	for k, seen := range t.seen {
		m.state[k] = regionMat
		if !seen {
			m.state[k] = regionUnknown
		}
	}
	m.mark(t)
}

func medianOf(v []float32, state []regionState) float32 {
	var s []float64
	for k := 0; k < len(v); k += 23 {
		if state[k] != regionUnknown {
			s = append(s, float64(v[k]))
		}
	}
	return float32(gray.Quantile(s, 0.5)) + 1e-3
}

// mark tells what is no mat: where the energy of the residual, or of its mean over a few
// cells, is many times what is usual. Next to something of much contrast the blur of the
// lens is no part of it.
func (m *segmentation) mark(t *matTest) {
	w, h := m.w, m.h
	a, energy := t.a, t.wide // work
	for k, z := range t.z {
		a[k] = min(z*z, 40)
	}
	gray.Binomial(a, w)
	copy(energy, a)
	one := medianOf(energy, m.state)
	limited(a, t.z)
	for range 3 {
		gray.Binomial(a, w)
	}
	for k, z := range a {
		a[k] = z * z
	}
	few := medianOf(a, m.state)
	mask := make([]bool, len(t.z))
	for k := range mask {
		mask[k] = m.state[k] != regionUnknown && max(energy[k]/(4*one), a[k]/(16*few)) > 1
	}
	light := energy // which is used up
	copy(light, t.rest)
	gray.Binomial(light, w)
	for j := 1; j+1 < h; j++ {
		for i := 1; i+1 < w; i++ {
			k := j*w + i
			if !mask[k] {
				continue
			}
			v := light[k]
			var most float32
			for _, o := range [8]int{-w - 1, -w, -w + 1, -1, 1, w - 1, w, w + 1} {
				if n := light[k+o]; n*v > 0 {
					most = max(most, n, -n)
				}
			}
			if max(v, -v) < blurShare*most {
				mask[k] = false
			}
		}
	}
	mask = gray.Close(mask, w, h, 1)
	gray.Flood(mask, w, h, false, regionHole)
	mask = gray.Open(mask, w, h, 1)
	gray.Flood(mask, w, h, true, regionLeast)
	limited(a, t.z)
	gray.Binomial(a, w)
	for k, set := range mask {
		switch {
		case m.state[k] == regionUnknown || !set:
		case a[k] > 1:
			m.state[k] = regionBright
		case t.shade[k] == plainShade && t.energy[k] <= unevenLimit:
			m.state[k] = regionShade
		default:
			m.state[k] = regionDark
		}
	}
}

// limited sets out to what counts of each residual in a mean.
func limited(out, z []float32) {
	for k, v := range z {
		out[k] = min(max(v, -9), 9)
	}
}

// regionShape is a face of a catalogue entry, prepared for the map.
type regionShape struct {
	shape  *shape
	border []edgePoint  // about every 1.5 mm
	coarse []edgePoint  // about 32 of them
	inner  []geom.Point // every 2 mm, 1.5 mm within the border
	area   float64
	length float64
	half   int       // the field reaches from -half to half mm
	field  []float32 // distance from the border, mm, positive outside, every 0.5 mm
}

func newRegionShape(s *shape) *regionShape {
	r := &regionShape{shape: s, area: s.area}
	var f outlineFit
	f.start(s.outline, geom.Pose{})
	r.border = slices.Clone(f.points)
	for i := range s.outline {
		r.length += float64(s.outline[i].Distance(s.outline[(i+1)%len(s.outline)]))
	}
	every := max(len(r.border)/32, 1)
	for k := 0; k < len(r.border); k += every {
		r.coarse = append(r.coarse, r.border[k])
	}
	r.half = int(s.radius) + 9
	side := 4*r.half + 1
	r.field = make([]float32, side*side)
	poly := geom.Polygon(s.outline)
	for j := range side {
		for i := range side {
			p := geom.Point{X: float64(i)/2 - float64(r.half), Y: float64(j)/2 - float64(r.half)}
			v := float32(poly.BoundaryDistance(p))
			if poly.Contains(p) {
				v = -v
			}
			r.field[j*side+i] = v
			if v < -1.5 && i%4 == 0 && j%4 == 0 {
				r.inner = append(r.inner, p)
			}
		}
	}
	return r
}

// distance is how far outside the outline a point in the token's frame lies, in mm.
func (r *regionShape) distance(x, y float64) float32 {
	side := 4*r.half + 1
	i, j := int(2*(x+float64(r.half))+0.5), int(2*(y+float64(r.half))+0.5)
	if i < 0 || j < 0 || i >= side || j >= side {
		return 99
	}
	return r.field[j*side+i]
}

// regionHypothesis is a pose judged by the map.
type regionHypothesis struct {
	shape   *regionShape
	pose    geom.Pose
	cost    float64    // wrong area over the length of the border that tells, mm
	use     float64    // share of the border that tells
	shadow  geom.Point // mm
	inShade bool       // it may lie in another thing's shadow: where the mat shows around it, dimmed evenly, counts for nothing
}

// shadows are the vectors along which a token's upper edge may cast its shadow, mm.
var shadows = func() (out []geom.Point) {
	out = append(out, geom.Point{})
	for _, l := range [...]float64{1.5, 3, 4.5} {
		for a := range 16 {
			sin, cos := math.Sincos(float64(a) * math.Pi / 8)
			out = append(out, geom.Point{X: l * cos, Y: l * sin})
		}
	}
	return out
}()

const (
	shadowPrice = 0.04 // mm per mm of shadow: one is not assumed for nothing
	coverPrice  = 1.2  // mm, where another thing adjoins all round
	shadowSoft  = 1.5  // mm by which it may be wider
	regionIn    = 5    // mm of a profile inside
	regionOut   = 8    // mm of a profile outside
	regionFits  = 48   // guesses that are settled
)

// regionView is the map as seen from a token's frame at a pose.
type regionView struct {
	m        *segmentation
	center   geom.Point // on the map, mm
	sin, cos float64
}

// at returns what the map shows at a place in the token's frame.
func (v *regionView) at(x, y float64) regionState {
	i, j := int(v.center.X+v.cos*x+v.sin*y), int(v.center.Y-v.sin*x+v.cos*y)
	if i < 0 || j < 0 || i >= v.m.w || j >= v.m.h {
		return regionUnknown
	}
	return v.m.state[j*v.m.w+i]
}

// borderCount is what the map shows across one point of a border, in steps of 1 mm.
type borderCount struct {
	missing, lit float64 // inside: mat, and bright within 3 mm of the border
	bright, dark float64 // outside
	shade        float64 // the dark that the token's shadow does not explain
	even         float64 // of that, what shows the mat, dimmed evenly
	unknown      float64 // on either side, within 2 mm of the border
}

// inward counts from the border inwards.
func (c *borderCount) inward(v *regionView, p *edgePoint) {
	for t := 0.5; t < regionIn; t++ {
		switch v.at(p.at.X-t*p.normal.X, p.at.Y-t*p.normal.Y) {
		case regionMat:
			c.missing++
		case regionBright:
			if t < 3 {
				c.lit++
			}
		case regionUnknown:
			if t < 2 {
				c.unknown++
			}
		}
	}
}

// outward counts from the border outwards, where the token casts a shadow; dark, unless it is nil, receives the dark places.
func (c *borderCount) outward(v *regionView, p *edgePoint, s *regionShape, shadow geom.Point, dark *[]geom.Point) {
	for t := 1.5; t < regionOut; t++ {
		x, y := p.at.X+t*p.normal.X, p.at.Y+t*p.normal.Y
		switch state := v.at(x, y); state {
		case regionBright:
			c.bright++
		case regionUnknown:
			if t < 2 {
				c.unknown++
			}
		case regionDark, regionShade:
			c.dark++
			if dark != nil {
				*dark = append(*dark, geom.Point{X: x, Y: y})
			}
			if !s.shaded(x, y, shadow) {
				c.shade++
				if state == regionShade {
					c.even++
				}
			}
		}
	}
}

// holes returns the share of a token's inside, as far as it is seen, where the map shows the mat.
func (v *regionView) holes(inner []geom.Point) float64 {
	var holes, seen float64
	for _, p := range inner {
		switch v.at(p.X, p.Y) {
		case regionMat:
			holes++
			seen++
		case regionBright, regionDark, regionShade:
			seen++
		}
	}
	return holes / max(seen, 1)
}

// judge measures a pose with a given shadow; dark receives the dark places outside the
// outline, in the token's frame.
func (m *segmentation) judge(g *regionHypothesis, eye calibration.Vec3, dark *[]geom.Point) {
	s := g.shape
	sin, cos := math.Sincos(float64(g.pose.Heading))
	v := regionView{m, onMat(g.pose.Point, eye, float64(s.shape.entry.Top)), sin, cos}
	if dark != nil {
		*dark = (*dark)[:0]
	}
	shadow := geom.Point{X: cos*g.shadow.X - sin*g.shadow.Y, Y: sin*g.shadow.X + cos*g.shadow.Y}
	var use, covered, wrong float64
	for k := range s.border {
		mark := 0
		if dark != nil {
			mark = len(*dark)
		}
		var c borderCount
		c.inward(&v, &s.border[k])
		c.outward(&v, &s.border[k], s, shadow, dark)
		if c.dark >= 6 && c.lit >= 2 && c.missing == 0 { // it lies in the shadow of another thing
			c.shade = 0
		} else if g.inShade {
			c.shade -= c.even
		}
		if c.unknown > 0 || c.bright >= 6 && c.missing == 0 {
			if c.unknown == 0 {
				covered++
			}
			if dark != nil {
				*dark = (*dark)[:mark]
			}
			continue
		}
		use++
		wrong += c.missing + c.bright + c.shade
	}
	g.use = use / float64(len(s.border))
	g.cost = wrong/max(use, 1) + coverPrice*covered/float64(len(s.border)) + v.holes(s.inner)*s.area/s.length +
		shadowPrice*g.shadow.Norm() + 5*max(0, 0.5-g.use)
}

// shaded reports whether a place lies in the outline or its shadow, all in the token's
// frame.
func (s *regionShape) shaded(x, y float64, shadow geom.Point) bool {
	for _, tau := range [...]float64{0.4, 0.7, 1} {
		if s.distance(x-tau*shadow.X, y-tau*shadow.Y) < shadowSoft {
			return true
		}
	}
	return false
}

// onMat returns the point of the mat that a point at a height hides from the eye.
func onMat(p geom.Point, eye calibration.Vec3, z float64) geom.Point {
	k := eye[2] / (eye[2] - z)
	return geom.Point{X: eye[0] + (p.X-eye[0])*k, Y: eye[1] + (p.Y-eye[1])*k}
}

// castShadow finds the shadow that explains most of what is dark around a pose.
func (m *segmentation) castShadow(g *regionHypothesis, eye calibration.Vec3, dark *[]geom.Point) {
	m.judge(g, eye, dark)
	sin, cos := math.Sincos(float64(g.pose.Heading))
	length := max(g.use*float64(len(g.shape.border)), 1)
	best := math.Inf(1)
	for _, s := range shadows {
		v := shadowPrice * s.Norm()
		t := geom.Point{X: cos*s.X - sin*s.Y, Y: sin*s.X + cos*s.Y}
		for _, p := range *dark {
			if !g.shape.shaded(p.X, p.Y, t) {
				v += 1 / length
			}
		}
		if v < best {
			best, g.shadow = v, s
		}
	}
	m.judge(g, eye, nil)
}

// settle moves a guess downhill, its shadow with it.
func (m *segmentation) settle(g *regionHypothesis, eye calibration.Vec3) {
	var dark []geom.Point
	m.castShadow(g, eye, &dark)
	for range 2 {
		c := hypothesis{pose: g.pose}
		descend(&c, func(p geom.Pose) float64 {
			h := *g
			h.pose = p
			m.judge(&h, eye, nil)
			return h.cost
		})
		g.pose = c.pose
		m.castShadow(g, eye, &dark)
	}
}

// roughly is the share of a few border points that have mat within or something bright
// without; more than limit is not looked at.
func (m *segmentation) roughly(s *regionShape, pose geom.Pose, limit float64) float64 {
	sin, cos := math.Sincos(float64(pose.Heading))
	v := regionView{m, pose.Point, sin, cos}
	var sum float64
	n := len(s.coarse)
	limit *= float64(n)
	for i := range n {
		p := &s.coarse[i*7%n]
		if n%7 == 0 {
			p = &s.coarse[i]
		}
		if v.at(p.at.X-2*p.normal.X, p.at.Y-2*p.normal.Y) == regionMat {
			sum++
		}
		switch v.at(p.at.X+3*p.normal.X, p.at.Y+3*p.normal.Y) {
		case regionBright:
			sum += 0.7
		case regionDark, regionShade:
			sum += 0.35
		}
		if sum > limit {
			return math.Inf(1)
		}
	}
	return sum / float64(n)
}

// search looks for every face of every entry all over a blob and returns the best pose of
// each, with a second one of each that lies elsewhere; the best first.
func (m *segmentation) search(shapes []*regionShape, b gray.Blob, eye calibration.Vec3) []regionHypothesis {
	var places []geom.Point
	for y := b.Box.Min.Y; y < b.Box.Max.Y; y += seekStep {
		for x := b.Box.Min.X; x < b.Box.Max.X; x += seekStep {
			if s := m.state[y*m.w+x]; s == regionBright || s == regionDark || s == regionShade {
				places = append(places, geom.Point{X: float64(x) + 0.5, Y: float64(y) + 0.5})
			}
		}
	}
	var all []regionHypothesis
	var own []hypothesis
	for _, s := range shapes {
		if s.area > 1.3*float64(len(b.Cells)) || s.area < 0.3*float64(len(b.Cells)) {
			continue
		}
		own = own[:0]
		for k := range seekHeadings {
			h := geom.Angle(2 * math.Pi * float64(k) / seekHeadings)
			for _, p := range places {
				limit := 0.45
				if len(own) == seekEach {
					limit = own[seekEach-1].cost
				}
				if c := m.roughly(s, geom.Pose{Point: p, Heading: h}, limit); c < limit {
					own = insertGuess(own, hypothesis{shape: s.shape, pose: geom.Pose{Point: p, Heading: h}, cost: c})
				}
			}
		}
		for _, g := range own {
			all = append(all, regionHypothesis{shape: s, pose: g.pose, cost: g.cost})
		}
	}
	slices.SortStableFunc(all, func(a, b regionHypothesis) int { return cmp.Compare(a.cost, b.cost) })
	all = all[:min(len(all), regionFits)]
	for i := range all {
		m.settle(&all[i], eye)
	}
	slices.SortStableFunc(all, func(a, b regionHypothesis) int { return cmp.Compare(a.cost, b.cost) })
	return all
}

// A pose stands by its area alone where little of it is wrong, and every other entry, face
// and pose has more. On 46 rendered pictures (2026-11-21) 3 to 9 % of the area was wrong for the
// poses that edges could not decide and this does, 12 % and more for what fits other things best. Of simulated clutter one thing had
// 0.78 mm, and the next best 0.20 more (2026-11-24); 26 right ones had 0.07 to 0.61 mm. Where the edges fit no better than
// areaDoubt or areaWorse, of 27 right ones one is refused, with 0.61 mm and 0.29 more for the next; of obstacles that the catalogue
// lacked seven were taken for others, with 0.66 to 0.78 mm or at most 0.21 more (132 pictures of 1601 to 1653, 2026-11-28).
const (
	areaMost   = 0.80 // mm
	areaShare  = 0.10 // of the token's area
	areaBox    = 120  // mm: a hand's blob is too large to be searched
	areaMargin = 0.13 // mm
	areaClear  = 0.45 // mm: above it the next best must be worse by acceptSlope of what is wrong beyond it
	areaDoubt  = 0.45 // misfit of the edges from which the next best must be worse by areaSure
	areaSure   = 0.25 // mm
	areaWorse  = 0.50 // misfit of the edges from which no more than areaLittle may be wrong
	areaLittle = 0.55 // mm
	areaUse    = 0.7  // share of the border
	areaMisfit = 0.62 // of the edges
	areaMoved  = 3.0  // mm from where the edges would have it
	areaSigma  = 0.7  // mm: of a pose by its area
	areaTurn   = 0.03 // rad
)

// wrongShare is the wrong area as a share of the token's.
func (g *regionHypothesis) wrongShare() float64 { return g.cost * g.shape.length / g.shape.area }

// areaMatcher goes by what lies inside and outside of an outline: print or mat.
type areaMatcher struct {
	*Finder
	regions segmentation
	found   bool // regions are those of the picture that was compared last
	shapes  []*regionShape
	byShip  *vision.ObstacleView // what nothing but a ship nearby kept from being the last match; nil: nothing
	start   hypothesis           // of the last match, by the area
	edges   geom.Pose            // where its edges lie, fitted from there
}

// match finds the outline that the area of a blob decides on. Its place is between those of
// the area and of the edges, and as uncertain as they differ.
func (f *areaMatcher) match(g *image.Gray, b gray.Blob, _ bool) (vision.ObstacleView, bool) {
	f.byShip = nil
	if f.coarse || b.Box.Dx() > areaBox || b.Box.Dy() > areaBox { // too coarse a picture, or a hand
		return vision.ObstacleView{}, false
	}
	f.prepare()
	all := f.regions.search(f.shapes, b, f.fit.eye)
	if len(all) == 0 || all[0].cost > areaMost || all[0].wrongShare() > areaShare || all[0].use < areaUse {
		return vision.ObstacleView{}, false
	}
	best := all[0]
	second, margin := "", 0.0
	for _, o := range all[1:] {
		if o.shape != best.shape || !alike(o.pose, best.pose, 4, 0.2) {
			second, margin = o.shape.shape.entry.Name, o.cost-best.cost
			break
		}
	}
	if second != "" && !areaDecides(best.cost, margin, 0) {
		return vision.ObstacleView{}, false
	}
	v, ok := f.refine(g, hypothesis{shape: best.shape.shape, pose: best.pose})
	if !ok || v.Visible < acceptVisible || v.Misfit > areaMisfit || v.Pose.Distance(best.pose.Point) > areaMoved ||
		second != "" && !areaDecides(best.cost, margin, v.Misfit) {
		return vision.ObstacleView{}, false
	}
	seen := v
	seen.Visible = min(v.Visible, best.use)
	if f.byMiniature(&seen) {
		f.byShip = &seen
		return vision.ObstacleView{}, false
	}
	f.start, f.edges = hypothesis{shape: best.shape.shape, pose: best.pose}, v.Pose
	v.Area, v.Second, v.Margin = best.cost, second, margin
	moveBetween(&v, best.pose)
	return v, true
}

// areaDecides reports whether the next best is enough worse than what has least wrong area, by margin; cost and margin in mm.
func areaDecides(cost, margin, misfit float64) bool {
	least := max(areaMargin, acceptSlope*(cost-areaClear))
	if misfit > areaDoubt {
		least = max(least, areaSure)
	}
	return margin >= least && (misfit <= areaWorse || cost <= areaLittle)
}

// byMiniature reports whether what the area decides on may be a ship's miniature, which differs from the mat all over, as print does.
func (f *Finder) byMiniature(v *vision.ObstacleView) bool {
	return f.nearShip(v.Pose.Point) && (v.Visible < apartSeen || !f.apart(v.Outline))
}

// prepare tells what the picture that was compared last shows.
func (f *areaMatcher) prepare() {
	if f.shapes == nil {
		for i := range f.Finder.shapes {
			f.shapes = append(f.shapes, newRegionShape(&f.Finder.shapes[i]))
		}
	}
	if !f.found {
		f.regions.find(&f.test)
		f.found = true
	}
}

// areaDenies is the wrong area over the length of the border, in mm, from which a match is no obstacle of the catalogue whose edges
// fit worse than acceptClear. Where nothing is clipped it was 2.2 at most of 169 right matches on 42 pictures of 1401 to 1408
// (2026-11-23, ten of 1280×720), and 3.0 for an asteroid that edges and print inside a dial resembled in blur: its rim lay outside.
const areaDenies = 2.6

// deniedByArea reports whether much of a match's inside looks like the mat, or much of what adjoins it does not, though its edges
// resemble an outline.
func (f *Finder) deniedByArea(v *vision.ObstacleView) bool {
	if v.Area > 0 || v.Misfit <= acceptClear {
		return false
	}
	f.areas.prepare()
	for _, s := range f.areas.shapes {
		if s.shape.entry == v.Entry && s.shape.flipped == v.Flipped {
			h, dark := regionHypothesis{shape: s, pose: v.Pose, inShade: v.Sure}, []geom.Point{}
			f.areas.regions.castShadow(&h, f.fit.eye, &dark)
			return h.cost > areaDenies
		}
	}
	return false
}

// moveBetween moves a view halfway to another pose that is as likely, and widens its covariance by
// what they differ.
func moveBetween(v *vision.ObstacleView, o geom.Pose) {
	turn := float64((o.Heading - v.Pose.Heading).Signed())
	d := o.Point.Sub(v.Pose.Point)
	move := geom.Pose{Point: v.Pose.Point.Lerp(o.Point, 0.5), Heading: (v.Pose.Heading + geom.Angle(turn/2)).Normalized()}
	for i, p := range v.Entry.Face(v.Flipped) {
		v.Outline[i] = move.Transform(p)
	}
	v.Pose = move
	v.Cov[0] += areaSigma*areaSigma + d.X*d.X/4
	v.Cov[4] += areaSigma*areaSigma + d.Y*d.Y/4
	v.Cov[8] += areaTurn*areaTurn + turn*turn/4
}
