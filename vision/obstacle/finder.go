// Package obstacle finds what lies on a mat that was learnt empty. It subtracts the
// background, matches what differs with a catalogue's outlines by edges and by
// area, and says where it would not have noticed an obstacle. A [Watch] does so
// when the table has changed and come to rest.
package obstacle

import (
	"fmt"
	"image"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/internal/gray"
	"sightline/vision/internal/shift"
	"sightline/vision/internal/under"
)

// Finder finds obstacles on a mat that was learnt empty. It keeps its
// buffers and belongs to one goroutine.
type Finder struct {
	table      calibration.Table
	catalogue  *catalogue.Catalogue
	errors     *calibration.ErrorModel
	reduce     int
	small      image.Gray
	diff       *subtraction
	fit        outlineFit
	shapes     []shape
	good       float64     // misfit of what is not searched for any further
	coarse     bool        // the picture has fewer than coarseScale px/mm
	narrowest  float64     // radius of the largest circle in the catalogue's narrowest outline, mm
	smallest   float64     // area of the catalogue's smallest outline, mm²
	widest     float64     // distance of a point of an outline from its token's middle, at most, mm
	highest    geom.Length // of the catalogue's tokens
	bases      []geom.Polygon
	covered    []bool // cells that ships hide
	rims       []under.Rim
	exits      [][]geom.Point        // what adjoins rims that are seen
	missed     []vision.ObstacleView // known ones that may lie in the picture that was searched last, but are not recognised
	lights     []paperLight          // in the picture that was compared last
	picture    vision.Frame          // that was compared last
	learnt     *Background           // where it lay when it was learnt
	pushes     shift.Pushes          // what was followed since
	underneath []*under.Outline      // of shapes; nil: not made yet
	focus      focus
	lanes      lanes
	guide      guideStrip

	memories *memories                      // nil: every search compares all blobs
	refined  map[place]*vision.ObstacleView // by the search that is under way; nil: no fit

	test     matTest
	areas    areaMatcher
	matchers []matcher // in the order in which they are asked
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
		return nil, fmt.Errorf("obstacle: the learnt mat is %v × %v, the table's is %v × %v: learn it again", w, h, t.Layout.Width,
			t.Layout.Height)
	}
	reduce, scale, err := gray.SearchReduction(&t)
	if err != nil {
		return nil, err
	}
	f := &Finder{table: t, catalogue: c, errors: calibration.NewErrorModel(t, u), reduce: reduce}
	cam := t.Camera
	cam.Intrinsics = gray.Reduced(cam.Intrinsics, reduce)
	f.diff, f.learnt = newSubtraction(&cam, mat), mat
	f.good, f.coarse = goodMisfit, scale < coarseScale
	if f.coarse {
		f.good = coarseMisfit
	}
	f.fit = outlineFit{cam: &f.table.Camera, diff: f.diff, eye: t.Center(), scale: scale, reduced: float64(reduce)}
	for i := range c.Entries {
		for _, flipped := range [2]bool{false, true} {
			f.shapes = append(f.shapes, newShape(&c.Entries[i], flipped))
			f.widest = max(f.widest, f.shapes[len(f.shapes)-1].radius)
		}
		f.highest = max(f.highest, c.Entries[i].Top)
		r := geom.Polygon(c.Entries[i].Outline).Inradius()
		area, _ := catalogue.Centroid(c.Entries[i].Outline)
		if i == 0 || r < f.narrowest {
			f.narrowest = r
		}
		if area = math.Abs(area); i == 0 || area < f.smallest {
			f.smallest = area
		}
	}
	f.areas.Finder = f
	f.matchers = []matcher{edgeMatcher{f}, &f.areas}
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

// recalled gives an obstacle of an earlier picture its entry in the catalogue, and reports whether it has one: of the same outline, or of
// the same name if it is known only from before the program started.
func (f *Finder) recalled(v vision.ObstacleView) (vision.ObstacleView, bool) {
	if v.Entry == nil {
		return v, false
	}
	k, e := f.catalogue.Entry(v.Entry.Name), v.Entry
	if k == nil || !v.Before && (k.Kind != e.Kind || k.Top != e.Top || !slices.Equal(k.Outline, e.Outline)) {
		return v, false
	}
	v.Entry, v.Outline = k, v.Pose.TransformAll(k.Face(v.Flipped))
	return v, true
}

// pixels returns where the picture shows points at a height.
func (f *Finder) pixels(points []geom.Point, z geom.Length) (out []geom.Pixel) {
	for _, p := range points {
		px, _ := f.table.PixelOf(p, z)
		out = append(out, px)
	}
	return out
}

// hypothesis is a place where an outline may lie.
type hypothesis struct {
	shape *shape
	pose  geom.Pose
	cost  float64
}

// release gives back what only a search needs, some 32 MB of a mat of 914 mm. What an obstacle is fitted
// with again stays.
func (f *Finder) release() {
	f.diff.release()
	f.picture = vision.Frame{}
	f.covered, f.focus, f.lanes, f.test, f.areas.regions = nil, focus{}, lanes{}, matTest{}, segmentation{}
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
	for n := 0; n < 3 && f.followPush(); n++ { // a far push is found roughly first
		f.diff.compare(search)
	}
	f.pushes.Hide(f.diff.work, f.diff.diff, f.diff.view.Width, f.diff.view.Height)
	f.focus.slope, f.picture = 0, frame
}

// followPush lets the learnt mat lie where it was pushed, and reports whether the picture must be compared again.
func (f *Finder) followPush() bool {
	d := f.diff
	p, ok := shift.Find(d.work, d.diff, d.view.Width, d.view.Height)
	if !ok {
		return false
	}
	f.pushes.Add(&p)
	d.mat = f.learnt.moved(&f.pushes.All)
	return true
}

// find finds the obstacles in the frame that was compared last.
func (f *Finder) find(frame vision.Frame, bases []geom.Polygon, known []vision.ObstacleView) []vision.ObstacleView {
	f.bases = append(f.bases[:0], bases...)
	f.coverShips(bases)
	f.weigh(f.paperLights(frame.Gray))
	f.exits = f.lyingMat().Adjoining(f.rims)
	f.areas.found = false
	f.refined = map[place]*vision.ObstacleView{}
	defer func() { f.refined = nil }()
	var all, under []vision.ObstacleView
	f.missed = nil
	known = f.pushes.Carry(known)
	for i := range known {
		v, lies := f.stillThere(frame.Gray, &known[i])
		if lies {
			all = append(all, v)
			continue
		}
		switch whole, part := f.covers(known[i].Outline); {
		case whole && !known[i].Before:
			under = append(under, known[i])
		case whole, part:
			f.missed = append(f.missed, known[i])
		}
	}
	for _, bright := range [2]bool{true, false} {
		all = append(all, f.findBlobs(frame.Gray, bright, all)...)
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
	pushed, elsewhere := shift.OfLying(known, out)
	for i := range under {
		switch v := &under[i]; {
		case f.foundElsewhere(v, out):
		case elsewhere:
			f.missed = append(f.missed, pushed.Carry(under[i:i+1])...)
		case f.fitsElsewhere(frame.Gray, v):
			f.missed = append(f.missed, *v)
		default:
			v.Known = true
			out = append(out, *v)
		}
	}
	f.missed = slices.DeleteFunc(f.missed, func(v vision.ObstacleView) bool {
		return slices.ContainsFunc(out, func(o vision.ObstacleView) bool {
			return f.accepted(&o) && (vision.OnePlace(&o, &v) || o.Entry == v.Entry && !o.Known)
		})
	})
	return out
}

// findBlobs recognises the blobs of what is lighter than the mat, or of all that differs from it, but for those that
// found explains.
func (f *Finder) findBlobs(g *image.Gray, bright bool, found []vision.ObstacleView) (out []vision.ObstacleView) {
	sign := float32(0)
	if bright {
		sign = 1
	}
	f.markBlobs(sign, f.noisy)
	memory := f.memories.ofBlobs(bright)
	for _, b := range f.diff.blobs(120) {
		if f.explained(found, b) || f.explained(out, b) {
			continue
		}
		m, ok := memory.recall(f, b, func(m match) bool { return f.stands(g, m) })
		if !ok {
			f.focusOn(b, f.widest)
			f.areas.byShip = nil
			m.view, m.found = f.recognise(g, b, bright)
			m.byShip, m.start, m.edges = f.areas.byShip, f.areas.start, f.areas.edges
			if v := &m.view; !m.found || v.Area > 0 || !f.accepted(v) { // else it is known from now on, and fitted again
				memory.keep(f, b, m)
			}
		}
		if m.found {
			out = append(out, m.view)
		}
	}
	return out
}

// noisy is the test's, of the picture that was compared last.
func (f *Finder) noisy(j int, out []float32) { f.test.noisy(f.diff, j, out) }

// markBlobs sets the mask to what differs from the mat, in sign, and is no ship's; noisy is threshold's.
func (f *Finder) markBlobs(sign float32, noisy func(j int, out []float32)) {
	f.diff.threshold(sign, noisy)
	for k, c := range f.covered {
		if c {
			f.diff.mask[k] = false
		}
	}
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

// stillThere fits an obstacle of an earlier picture where it lay, and reports whether it lies there still.
func (f *Finder) stillThere(g *image.Gray, known *vision.ObstacleView) (v vision.ObstacleView, ok bool) {
	v, ok = f.refit(g, known, geom.Point{})
	v.Second, v.Margin, v.Sure, v.Known = known.Second, known.Margin, known.Sure, true
	return v, ok && known.Area == 0 && f.stillFits(&v, known) && v.Pose.Distance(known.Pose.Point) < movedLeast
}

// movedLeast is by how much, in mm, an obstacle lies elsewhere than before: the search decides what it is there.
const movedLeast = 1.0

// stillFits reports whether an obstacle that was fitted again fits about as well as it did.
func (f *Finder) stillFits(v, known *vision.ObstacleView) bool {
	return v.Misfit < max(f.good, known.Misfit+stillMisfit) && v.Visible >= acceptVisible
}

// foundElsewhere reports whether an obstacle, whose old place is covered, was found elsewhere.
func (f *Finder) foundElsewhere(known *vision.ObstacleView, found []vision.ObstacleView) bool {
	return slices.ContainsFunc(found, func(v vision.ObstacleView) bool {
		return vision.OnePlace(&v, known) && (f.accepted(&v) || v.Entry == known.Entry && v.Misfit < suspectNearShip)
	})
}

// fitsElsewhere reports whether an obstacle, whose old place is covered, may have been pushed: its outline fits within movedMost of it.
// What a ship or a hand covers has not moved as far as the picture shows, and obstacles do not move during a game. Edges that were too
// faint to decide fit in many places: they must fit better there than where it lay.
func (f *Finder) fitsElsewhere(g *image.Gray, known *vision.ObstacleView) bool {
	here, seen := f.refit(g, known, geom.Point{})
	for _, far := range [...]float64{movedMost / 2, movedMost} {
		for k := range 8 {
			sin, cos := math.Sincos(math.Pi / 4 * float64(k))
			v, ok := f.refit(g, known, geom.Point{X: far * cos, Y: far * sin})
			if !ok || !f.stillFits(&v, known) || v.Pose.Distance(known.Pose.Point) < movedLeast {
				continue
			}
			if known.Area == 0 || !seen || v.Misfit+stillMisfit < here.Misfit {
				return true
			}
		}
	}
	return false
}

// movedMost is how far, in mm, an obstacle is looked for from where it lay: what moved further leaves bare mat there.
const movedMost = 5.0

// covers reports whether something, be it a ship, lies on all of an outline's inside, and whether an obstacle may still lie there though it
// is not recognised: of what no ship hides of its inside, a fifth or more differs from the mat. In bad light the rest may do so too little.
func (f *Finder) covers(outline geom.Polygon) (whole, part bool) {
	n, bare, hidden := f.inside(outline)
	return n > 0 && 10*bare < n, 5*bare < 4*(n-hidden)
}

// inside counts some places inside an outline, and of these those that look like the mat and those that a ship hides.
func (f *Finder) inside(outline geom.Polygon) (n, bare, hidden int) {
	w, h := f.diff.view.Width, f.diff.view.Height
	f.diff.threshold(0, nil)
	_, c := catalogue.Centroid(outline)
	for _, share := range [...]float64{0.2, 0.4, 0.6, 0.8} {
		for i := 0; i < len(outline); i += max(len(outline)/40, 1) {
			p := c.Lerp(outline[i], share)
			x, y := int(p.X/vision.DiffStep), int(p.Y/vision.DiffStep)
			if !outline.Contains(p) || x < 0 || y < 0 || x >= w || y >= h {
				continue
			}
			n++
			switch k := y*w + x; {
			case f.covered[k]:
				hidden++
			case !f.diff.mask[k]:
				bare++
			}
		}
	}
	return n, bare, hidden
}

// refit fits an obstacle that was found before, from so far off its old place.
func (f *Finder) refit(g *image.Gray, v *vision.ObstacleView, by geom.Point) (vision.ObstacleView, bool) {
	pose := v.Pose
	pose.Point = pose.Point.Add(by)
	for i := range f.shapes {
		if s := &f.shapes[i]; s.entry == v.Entry && s.flipped == v.Flipped {
			return f.refine(g, hypothesis{shape: s, pose: pose})
		}
	}
	return vision.ObstacleView{}, false
}

// explained reports whether most of a blob lies on an obstacle that was found.
func (f *Finder) explained(found []vision.ObstacleView, b gray.Blob) bool {
	w := f.diff.view.Width
	for _, v := range found {
		if v.Denied || v.Misfit > f.good && !v.Sure && v.Area == 0 {
			continue
		}
		in := 0
		for i := 0; i < len(b.Cells); i += 8 {
			c := int(b.Cells[i])
			if geom.Polygon(v.Outline).Contains(geom.Point{X: float64(c%w) + 0.5, Y: float64(c/w) + 0.5}) {
				in++
			}
		}
		if 8*in > len(b.Cells)*6/10 {
			return true
		}
	}
	return false
}

// shipMargin is how far round a base, in mm, what the picture shows is the ship's.
const shipMargin = 3

// coverShips marks the cells that ships hide.
func (f *Finder) coverShips(bases []geom.Polygon) {
	if f.covered == nil {
		f.covered = make([]bool, len(f.diff.diff))
	}
	clear(f.covered)
	for _, b := range bases {
		f.eachInside(b, shipMargin, func(k int) { f.covered[k] = true })
	}
}

const nearMost = 8 // cells

// distances are those to a border or an edge, up to nearMost; nearCost is what each costs, in mm.
var (
	distances = gray.NewDistances(nearMost)
	nearCost  = func() (t [256]float64) {
		for k, v := range distances.Cells {
			t[k] = math.Min(float64(v), nearCosts)
		}
		return t
	}()
)

// nearCosts is what a border costs that is as far or farther, in mm.
const nearCosts = 4

// refine fits a guess to the picture's edges.
func (f *Finder) refine(g *image.Gray, c hypothesis) (vision.ObstacleView, bool) {
	s := c.shape
	f.fit.start(s.outline, c.pose)
	if !f.fit.solve(g, s.entry.Top, f.hidden) {
		return vision.ObstacleView{}, false
	}
	f.fit.judgeRegion(g, s.entry.Top, f.hidden)
	v := vision.ObstacleView{
		Region: f.fit.region, Lit: f.fit.bordered,
		Entry: s.entry, Flipped: s.flipped, Pose: f.fit.pose, Cov: f.fit.cov,
		Radius: s.radius, Visible: f.fit.visible, Support: f.fit.support, RMS: f.fit.rms, Misfit: f.fit.misfit,
	}
	sys := f.errors.Systematic(v.Pose, s.entry.Top, geom.Length(s.radius))
	for i := range v.Cov {
		v.Cov[i] += sys[i]
	}
	v.Outline = v.Pose.TransformAll(s.outline)
	return v, true
}
