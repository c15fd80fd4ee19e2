// Package obstacle finds what lies on a mat that was learnt empty. It subtracts the
// background, matches what differs with a catalogue's outlines by edges and by
// area, and says where it would not have noticed an obstacle. A [Watch] does so
// when the table has changed and come to rest. The package also traces the
// outlines of tokens on white paper.
package obstacle

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/internal/gray"
)

// Finder finds obstacles on a mat that was learnt empty. It keeps its
// buffers and belongs to one goroutine.
type Finder struct {
	table     calibration.Table
	catalogue *catalogue.Catalogue
	errors    *calibration.ErrorModel
	reduce    int
	small     image.Gray
	diff      *subtraction
	fit       outlineFit
	shapes    []shape
	good      float64 // misfit of what is not searched for any further
	believed  float64 // misfit of what may be believed
	narrowest float64 // radius of the largest circle in the catalogue's narrowest outline, mm
	smallest  float64 // area of the catalogue's smallest outline, mm²
	bases     []geom.Polygon
	covered   []bool    // cells that ships hide
	solid     []bool    // the mask, holes filled
	near      []float32 // distance to the mask's border, in cells, up to nearMost
	edges     edgeField
	guide     guideStrip

	test         matTest
	regions      segmentation
	regionsFound bool // of this picture
	regionShapes []*regionShape
}

// shape is a face of a catalogue entry, prepared for the coarse search.
type shape struct {
	entry   *catalogue.Entry
	flipped bool
	outline []geom.Point
	area    float64
	border  []geom.Point // about 40 points of the outline
	normals []float64    // their normals' directions, rad
	inner   []geom.Point // a dozen well inside it
	outer   []geom.Point // the border's points moved 3 mm outwards
	radius  float64
}

// NewFinder returns a finder for the calibrated table.
func NewFinder(t calibration.Table, c *catalogue.Catalogue, mat *Background, u calibration.Uncertainty) (*Finder, error) {
	w, h := mat.Size()
	if math.Abs(float64(w-t.Layout.Width)) > 1 || math.Abs(float64(h-t.Layout.Height)) > 1 {
		return nil, fmt.Errorf("vision: obstacles: the learnt mat is %v × %v, the table's is %v × %v: learn it again", w, h, t.Layout.Width,
			t.Layout.Height)
	}
	reduce, scale, err := gray.SearchReduction(&t)
	if err != nil {
		return nil, err
	}
	f := &Finder{table: t, catalogue: c, errors: calibration.NewErrorModel(t, u), reduce: reduce}
	cam := t.Camera
	cam.Intrinsics = gray.Reduced(cam.Intrinsics, reduce)
	f.diff = newSubtraction(&cam, mat)
	f.good, f.believed = goodMisfit, acceptMisfit
	if scale < coarseScale {
		f.good, f.believed = coarseMisfit, coarseMisfit
	}
	f.fit = outlineFit{cam: &f.table.Camera, diff: f.diff, mat: mat, eye: t.Center(), scale: scale}
	for i := range c.Entries {
		for _, flipped := range [2]bool{false, true} {
			f.shapes = append(f.shapes, newShape(&c.Entries[i], flipped))
		}
		r := inradius(c.Entries[i].Outline)
		area, _ := catalogue.Centroid(c.Entries[i].Outline)
		if i == 0 || r < f.narrowest {
			f.narrowest = r
		}
		if area = math.Abs(area); i == 0 || area < f.smallest {
			f.smallest = area
		}
	}
	return f, nil
}

func newShape(e *catalogue.Entry, flipped bool) shape {
	s := shape{entry: e, flipped: flipped, outline: e.Face(flipped)}
	s.area, _ = catalogue.Centroid(s.outline)
	var fit outlineFit
	fit.start(s.outline, geom.Pose{})
	every := max(len(fit.points)/40, 1)
	for k := 0; k < len(fit.points); k += every {
		p := fit.points[k]
		s.border = append(s.border, p.at)
		s.normals = append(s.normals, math.Atan2(p.normal.Y, p.normal.X))
		s.outer = append(s.outer, p.at.Add(p.normal.Mul(4)))
		s.radius = max(s.radius, p.at.Norm())
		if in := p.at.Sub(p.normal.Mul(4)); k%(3*every) == 0 && geom.Polygon(s.outline).Contains(in) {
			s.inner = append(s.inner, in)
		}
	}
	return s
}

// hypothesis is a place where an outline may lie.
type hypothesis struct {
	shape *shape
	pose  geom.Pose
	cost  float64
}

// Find finds the obstacles in a frame, and the things that lie on the mat and are
// none that the catalogue knows. bases is what the ships that were found hide of the
// mat; known are obstacles of an earlier picture, which are looked for first where
// they were.
func (f *Finder) Find(frame vision.Frame, bases []geom.Polygon, known []vision.ObstacleView) []vision.ObstacleView {
	f.compare(frame)
	return f.find(frame, bases, known)
}

// compare compares a frame with the empty mat.
func (f *Finder) compare(frame vision.Frame) {
	search := frame.Gray
	if f.reduce > 1 {
		search = gray.Shrink(frame.Gray, f.reduce, &f.small)
	}
	f.diff.compare(search)
	f.edges.find(f.diff)
}

// find finds the obstacles in the frame that was compared last.
func (f *Finder) find(frame vision.Frame, bases []geom.Polygon, known []vision.ObstacleView) []vision.ObstacleView {
	f.bases = append(f.bases[:0], bases...)
	hidden := f.hidden
	f.coverShips(bases)
	f.test.find(f.diff, f.covered, f.thingHalf())
	f.regionsFound = false
	var all []vision.ObstacleView
	for i := range known {
		all = f.stillThere(frame.Gray, &known[i], all)
	}
	for _, sign := range [2]float32{1, 0} {
		f.diff.threshold(sign)
		for k, c := range f.covered {
			if c {
				f.diff.mask[k] = false
			}
		}
		f.prepare()
		for _, b := range f.diff.blobs(120) {
			if f.explained(all, b) {
				continue
			}
			v, ok := f.match(frame.Gray, b, hidden, sign != 0)
			if (sign == 0 || ok && v.Misfit < f.good) && !f.accepted(&v) {
				if o, decided := f.byArea(frame.Gray, b, hidden); decided {
					v, ok = o, true
				}
			}
			if ok {
				all = append(all, v)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b vision.ObstacleView) int { return compareViews(&a, &b) })
	var out []vision.ObstacleView
	for _, v := range all {
		if !slices.ContainsFunc(out, func(o vision.ObstacleView) bool {
			return vision.OnePlace(&o, &v)
		}) {
			out = append(out, v)
		}
	}
	return out
}

// hidden reports whether a ship hides a point of the mat, or is so near that its edge
// would be taken for another.
func (f *Finder) hidden(p geom.Point) bool {
	for _, b := range f.bases {
		if b.Contains(p) || b.BoundaryDistance(p) < shipMargin {
			return true
		}
	}
	return false
}

// stillThere appends an obstacle of an earlier picture if it lies where it did. One
// that a ship or a hand now hides keeps its place, as long as nothing of the empty mat
// shows where it lay: obstacles do not move during a game.
func (f *Finder) stillThere(g *image.Gray, known *vision.ObstacleView, all []vision.ObstacleView) []vision.ObstacleView {
	v, ok := f.refit(g, known)
	if known.Area == 0 && ok && v.Misfit < max(f.good, known.Misfit+holdsMisfit) && v.Visible >= acceptVisible &&
		v.Pose.Distance(known.Pose.Point) < 1 {
		v.Second, v.Margin, v.Sure, v.Known = known.Second, known.Margin, known.Sure, true
		return append(all, v)
	}
	if f.coveredWhole(known.Outline) {
		v = *known
		v.Known = true
		return append(all, v)
	}
	return all
}

// coveredWhole reports whether something, be it a ship, lies on all of an outline's
// inside.
func (f *Finder) coveredWhole(outline geom.Polygon) bool {
	w, h := f.diff.view.width, f.diff.view.height
	f.diff.threshold(0)
	_, c := catalogue.Centroid(outline)
	bare, n := 0, 0
	for _, share := range [...]float64{0.2, 0.4, 0.6, 0.8} {
		for i := 0; i < len(outline); i += max(len(outline)/40, 1) {
			p := c.Lerp(outline[i], share)
			x, y := int(p.X/vision.DiffStep), int(p.Y/vision.DiffStep)
			if !outline.Contains(p) || x < 0 || y < 0 || x >= w || y >= h {
				continue
			}
			n++
			if k := y*w + x; !f.diff.mask[k] && !f.covered[k] {
				bare++
			}
		}
	}
	return n > 0 && 10*bare < n
}

// refit fits an obstacle that was found before from where it lay.
func (f *Finder) refit(g *image.Gray, v *vision.ObstacleView) (vision.ObstacleView, bool) {
	for i := range f.shapes {
		if s := &f.shapes[i]; s.entry == v.Entry && s.flipped == v.Flipped {
			return f.refine(g, hypothesis{shape: s, pose: v.Pose}, f.hidden)
		}
	}
	return vision.ObstacleView{}, false
}

// explained reports whether most of a blob lies on an obstacle that was found.
func (f *Finder) explained(found []vision.ObstacleView, b blob) bool {
	w := f.diff.view.width
	for _, v := range found {
		if v.Misfit > f.good && !v.Sure && v.Area == 0 {
			continue
		}
		in := 0
		for i := 0; i < len(b.cells); i += 8 {
			c := int(b.cells[i])
			if geom.Polygon(v.Outline).Contains(geom.Point{X: float64(c%w) + 0.5, Y: float64(c/w) + 0.5}) {
				in++
			}
		}
		if 8*in > len(b.cells)*6/10 {
			return true
		}
	}
	return false
}

// shipMargin is how far round a base, in mm, what the picture shows is the ship's.
const shipMargin = 3

// coverShips marks the cells that ships hide.
func (f *Finder) coverShips(bases []geom.Polygon) {
	w, h := f.diff.view.width, f.diff.view.height
	if f.covered == nil {
		f.covered = make([]bool, w*h)
	}
	clear(f.covered)
	for _, b := range bases {
		lo, hi := b[0], b[0]
		for _, p := range b {
			lo = geom.Point{X: min(lo.X, p.X), Y: min(lo.Y, p.Y)}
			hi = geom.Point{X: max(hi.X, p.X), Y: max(hi.Y, p.Y)}
		}
		for j := max(int(lo.Y)-shipMargin, 0); j <= min(int(hi.Y)+shipMargin, h-1); j++ {
			for i := max(int(lo.X)-shipMargin, 0); i <= min(int(hi.X)+shipMargin, w-1); i++ {
				p := geom.Point{X: float64(i) + 0.5, Y: float64(j) + 0.5}
				if b.Contains(p) || b.BoundaryDistance(p) < shipMargin {
					f.covered[j*w+i] = true
				}
			}
		}
	}
}

const nearMost = 8 // cells

// prepare fills the mask's holes and measures how far each cell is from its border.
func (f *Finder) prepare() {
	w, h := f.diff.view.width, f.diff.view.height
	f.solid = gray.FillHoles(gray.Close(f.diff.mask, w, h, 2), w, h)
	if f.near == nil {
		f.near = make([]float32, w*h)
	}
	for k := range f.near {
		f.near[k] = nearMost
	}
	for j := 1; j < h-1; j++ {
		for i := 1; i < w-1; i++ {
			k := j*w + i
			if f.solid[k] && (!f.solid[k-1] || !f.solid[k+1] || !f.solid[k-w] || !f.solid[k+w]) {
				f.near[k] = 0
			}
		}
	}
	gray.Chamfer(f.near, w)
}

const (
	headings     = 60
	goodMisfit   = 0.40 // an obstacle that fits better is not searched for any further
	scanHeadings = 36
	scanStep     = 4 // mm
)

// match finds the catalogue's outline that fits a blob best: centred on the blob
// first; where that fits badly, because shadow or another thing is part of the blob,
// anywhere in it.
func (f *Finder) match(g *image.Gray, b blob, hidden func(geom.Point) bool, scan bool) (vision.ObstacleView, bool) {
	w := f.diff.view.width
	var center geom.Point
	for _, c := range b.cells {
		center.X += (float64(int(c)%w) + 0.5) * vision.DiffStep
		center.Y += (float64(int(c)/w) + 0.5) * vision.DiffStep
	}
	area := float64(len(b.cells))
	center = center.Mul(1 / area)
	var guesses []hypothesis
	for i := range f.shapes {
		s := &f.shapes[i]
		if s.area < 0.7*area || s.area > 1.4*area {
			continue
		}
		for k := range headings {
			pose := geom.Pose{Point: center, Heading: geom.Angle(2 * math.Pi * float64(k) / headings)}
			guesses = append(guesses, hypothesis{s, pose, f.cost(s, pose)})
		}
	}
	best, ok := f.best(g, guesses, hidden)
	if ok && best.Misfit < f.good {
		return best, ok
	}
	better := func(other vision.ObstacleView, found bool) {
		if found && (!ok || compareViews(&other, &best) < 0) {
			best, ok = other, true
		}
	}
	if scan {
		better(f.best(g, f.scan(b), hidden))
	}
	if !ok || best.Misfit > f.good {
		other, found := f.fitBest(g, f.seek(b), seekFits, hidden)
		better(other, found && (other.Sure || other.Misfit < seekMisfit && (other.Second == "" || other.Margin > seekMargin)))
	}
	return best, ok
}

// Among so many more guesses a wrong one may fit by chance: what is found by the edges
// alone must fit better, and alone.
const (
	seekMisfit = 0.30
	seekMargin = 0.10
)

// How many guesses are fitted to the picture, of those by the mask and by the edges.
const (
	maskFits = 6
	seekFits = 16
)

// scan tries every outline all over a blob.
func (f *Finder) scan(b blob) []hypothesis {
	var out []hypothesis
	w := f.diff.view.width
	worst := 1.6
	for i := range f.shapes {
		s := &f.shapes[i]
		if s.area > 1.2*float64(len(b.cells)) {
			continue
		}
		for y := b.box.Min.Y; y < b.box.Max.Y; y += scanStep {
			for x := b.box.Min.X; x < b.box.Max.X; x += scanStep {
				if !f.solid[y*w+x] {
					continue
				}
				for k := range scanHeadings {
					pose := geom.Pose{Point: geom.Point{X: float64(x) + 0.5, Y: float64(y) + 0.5},
						Heading: geom.Angle(2 * math.Pi * float64(k) / scanHeadings)}
					if !f.filled(s, pose, 1) {
						continue
					}
					if c := f.cost(s, pose); c < worst {
						out = append(out, hypothesis{s, pose, c})
					}
				}
			}
		}
	}
	return out
}

// filled reports whether at least a share of an outline's inside is part of the mask.
func (f *Finder) filled(s *shape, pose geom.Pose, share float64) bool {
	w, h := f.diff.view.width, f.diff.view.height
	sin, cos := math.Sincos(float64(pose.Heading))
	in := len(s.inner)
	for _, p := range s.inner {
		i, j := int(pose.X+cos*p.X+sin*p.Y), int(pose.Y-sin*p.X+cos*p.Y)
		if i >= 0 && j >= 0 && i < w && j < h && f.solid[j*w+i] {
			continue
		}
		if in--; float64(in) < share*float64(len(s.inner)) {
			return false
		}
	}
	return true
}

// best settles the best guesses and fits them to the picture.
func (f *Finder) best(g *image.Gray, guesses []hypothesis, hidden func(geom.Point) bool) (best vision.ObstacleView, ok bool) {
	slices.SortFunc(guesses, func(a, b hypothesis) int { return cmp.Compare(a.cost, b.cost) })
	guesses = slices.Clone(guesses[:min(len(guesses), 60)])
	for i := range guesses {
		f.settle(&guesses[i])
	}
	slices.SortFunc(guesses, func(a, b hypothesis) int { return cmp.Compare(a.cost, b.cost) })
	return f.fitBest(g, guesses, maskFits, hidden)
}

// fitBest fits the first of some guesses, the best first, to the picture.
func (f *Finder) fitBest(g *image.Gray, guesses []hypothesis, most int, hidden func(geom.Point) bool) (best vision.ObstacleView, ok bool) {
	var fits []vision.ObstacleView
	tried := 0
	for i, c := range guesses {
		if tried >= most || c.cost > 2.5 {
			break
		}
		if slices.ContainsFunc(guesses[:i], func(o hypothesis) bool {
			return o.shape == c.shape && o.pose.Distance(c.pose.Point) < 3 && math.Abs(float64((o.pose.Heading-c.pose.Heading).Signed())) < 0.1
		}) {
			continue
		}
		tried++
		if v, ok := f.refine(g, c, hidden); ok && v.Visible >= acceptVisible {
			fits = append(fits, v)
		}
	}
	if len(fits) == 0 {
		return best, false
	}
	if best = leading(fits, costOf); f.sureOf(&best) {
		best.Sure = true
		return best, true
	}
	return leading(fits, func(v *vision.ObstacleView) float64 { return v.Misfit }), true
}

// leading returns the fit that costs least, with the next that is another one.
func leading(fits []vision.ObstacleView, cost func(*vision.ObstacleView) float64) vision.ObstacleView {
	slices.SortStableFunc(fits, func(a, b vision.ObstacleView) int { return cmp.Compare(cost(&a), cost(&b)) })
	best := fits[0]
	for i := range fits[1:] {
		if v := &fits[i+1]; !samePlace(v, &best) {
			best.Second, best.Margin = v.Entry.Name, cost(v)-cost(&best)
			break
		}
	}
	return best
}

// samePlace reports whether two fits put the same face of an entry into about the same place.
func samePlace(v, o *vision.ObstacleView) bool {
	turned := math.Abs(float64((v.Pose.Heading - o.Pose.Heading).Signed()))
	return v.Entry == o.Entry && v.Flipped == o.Flipped && v.Pose.Distance(o.Pose.Point) < 3 && turned < 0.18
}

// compareViews orders matches by which is believed rather than the other: what is sure, and
// then what fits better.
func compareViews(v, o *vision.ObstacleView) int {
	switch {
	case v.Sure != o.Sure && v.Sure:
		return -1
	case v.Sure != o.Sure:
		return 1
	case v.Sure:
		return cmp.Compare(costOf(v), costOf(o))
	}
	return cmp.Compare(rankOf(v), rankOf(o))
}

// rankOf is the misfit; of what the area decided, the edges may count for little.
func rankOf(v *vision.ObstacleView) float64 {
	if v.Area > 0 {
		return min(v.Misfit, goodMisfit)
	}
	return v.Misfit
}

// costOf is how badly a fit explains the picture, by its edges and by what lies inside and
// outside.
func costOf(v *vision.ObstacleView) float64 { return v.Misfit + regionWeight*v.Region }

// cost is the mean distance, in mm, of an outline from the mask's border, and more
// where its inside is empty or its outside is not.
func (f *Finder) cost(s *shape, pose geom.Pose) float64 {
	w, h := f.diff.view.width, f.diff.view.height
	sin, cos := math.Sincos(float64(pose.Heading))
	at := func(p geom.Point) int {
		i, j := int(pose.X+cos*p.X+sin*p.Y), int(pose.Y-sin*p.X+cos*p.Y)
		if i < 0 || j < 0 || i >= w || j >= h {
			return -1
		}
		return j*w + i
	}
	var sum float64
	for _, p := range s.border {
		if k := at(p); k >= 0 {
			sum += math.Min(float64(f.near[k]), 4)
		} else {
			sum += 4
		}
	}
	sum /= float64(len(s.border))
	for _, p := range s.inner {
		if k := at(p); k < 0 || !f.solid[k] {
			sum += 2 / float64(len(s.inner))
		}
	}
	for _, p := range s.outer {
		if k := at(p); k >= 0 && f.solid[k] {
			sum += 1 / float64(len(s.outer))
		}
	}
	return sum
}

// settle moves a guess downhill in small steps.
func (f *Finder) settle(c *hypothesis) {
	descend(c, func(p geom.Pose) float64 { return f.cost(c.shape, p) })
}

// descend moves a guess to where it costs less, in steps that become smaller.
func descend(c *hypothesis, cost func(geom.Pose) float64) {
	move, turn := 2.0, 0.06
	c.cost = cost(c.pose)
	for range 12 {
		improved := false
		for _, d := range [...][3]float64{{move, 0, 0}, {-move, 0, 0}, {0, move, 0}, {0, -move, 0}, {0, 0, turn}, {0, 0, -turn}} {
			p := c.pose
			p.X, p.Y, p.Heading = p.X+d[0], p.Y+d[1], p.Heading+geom.Angle(d[2])
			if v := cost(p); v < c.cost {
				c.pose, c.cost, improved = p, v, true
			}
		}
		if !improved {
			move, turn = move/2, turn/2
		}
	}
}

// refine fits a guess to the picture's edges.
func (f *Finder) refine(g *image.Gray, c hypothesis, hidden func(geom.Point) bool) (vision.ObstacleView, bool) {
	s := c.shape
	f.fit.start(s.outline, c.pose)
	if !f.fit.solve(g, s.entry.Top, hidden) {
		return vision.ObstacleView{}, false
	}
	f.fit.judgeRegion(g, s.entry.Top, hidden)
	v := vision.ObstacleView{
		Region: f.fit.region, Lit: f.fit.bordered,
		Entry: s.entry, Flipped: s.flipped, Pose: f.fit.pose, Cov: f.fit.cov,
		Radius: s.radius, Visible: f.fit.visible, Support: f.fit.support, RMS: f.fit.rms, Misfit: f.fit.misfit,
	}
	sys := f.errors.Systematic(v.Pose, s.entry.Top, geom.Length(s.radius))
	for i := range v.Cov {
		v.Cov[i] += sys[i]
	}
	for _, p := range s.outline {
		v.Outline = append(v.Outline, v.Pose.Transform(p))
	}
	return v, true
}
