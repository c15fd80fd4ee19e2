package obstacle

import (
	"image"
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
)

// To compare a blob with every outline takes most of a search, and between two searches a table changes
// in few places. What the comparison came to is remembered with the patch of the picture that decided it, and
// stands while the picture shows the same patch: each search compares only the blobs where something changed.

// match is what the outlines of the catalogue came to for a blob.
type match struct {
	view   vision.ObstacleView
	found  bool
	byShip *vision.ObstacleView // areaMatcher's, as the others
	start  hypothesis
	edges  geom.Pose
}

// stands reports whether a match is still what it was: no ship came or went that decides it, and what the area decided on has
// its edges where they were. Noise may hide from the patch that it was pushed.
func (f *Finder) stands(g *image.Gray, m match) bool {
	if m.byShip != nil && !f.byMiniature(m.byShip) {
		return false
	}
	if m.view.Area == 0 {
		return true
	}
	again, ok := f.refine(g, m.start)
	turned := float64(again.Pose.Heading.Distance(m.edges.Heading)) * m.view.Radius
	return ok && !f.byMiniature(&again) && again.Misfit <= areaMisfit &&
		math.Hypot(float64(again.Pose.Distance(m.edges.Point)), turned) < samePose
}

// memories are what a finder remembers of its last search, or of those before.
type memories struct {
	blobs [2]memory[match] // of what is lighter than the mat, and of all that differs from it
	bases memory[[]vision.UnidentifiedBase]
}

// ofBlobs returns what is remembered of the blobs that are lighter than the mat, or of all.
func (m *memories) ofBlobs(bright bool) *memory[match] {
	switch {
	case m == nil:
		return nil
	case bright:
		return &m.blobs[0]
	}
	return &m.blobs[1]
}

// ofBases returns what is remembered of the blobs that bases without a name were looked for in.
func (m *memories) ofBases() *memory[[]vision.UnidentifiedBase] {
	if m == nil {
		return nil
	}
	return &m.bases
}

// memory is what was found in blobs of one kind. A nil one remembers nothing.
type memory[T any] struct {
	before, now []*remembered[T]
}

// remembered is what was found in one blob, and what decided it.
type remembered[T any] struct {
	box   image.Rectangle // of the blob, in cells
	cells []int32         // of the blob, ascending
	diff  []float32       // difference from the empty mat in the patch, row by row
	noise float64         // of the picture
	light float64         // of the mat there, over the light in which it was learnt
	ships []shipBounds    // that stood in the patch
	what  T
}

// shipBounds is what a ship hides of the mat: its bounds, mm.
type shipBounds struct{ lo, hi geom.Point }

const (
	// patchMargin is how far round a blob's box, in cells, the picture has a part in what is found in it: a little farther
	// than the distances to edges and the profiles across outlines reach.
	patchMargin = 12
	// sameBlob is the least share of the cells of two blobs that both have, if they are one in two pictures.
	sameBlob = 0.8
	// quieter is how much less noise a picture has that may show what another did not.
	quieter = 0.75
	// sameLight is by how much the mat's light differs at most: in another light a dark print hardly changes, and all is searched.
	sameLight = 0.1
	// samePose is how far, in mm, the edges of an obstacle that lies still are fitted from where they were, the root of the sum of
	// the squares of its move and of its turn at its rim: the area knows its place no better (areaSigma).
	samePose = 0.7
	// sameShip is how far the bounds of a ship that stands still differ at most, mm.
	sameShip = 1.0

	// A patch is compared in squares of two sizes, in cells. Of each the mean may change by so many grey levels and noises of a
	// cell: an edge that moved shows in the small ones, what is faint in the large ones.
	smallSquare, largeSquare = 3, 12
	smallLevels, smallNoises = 1.5, 3.0
	largeLevels, largeNoises = 1.2, 0.8
)

// turn ends a search: what was not met in it is forgotten.
func (m *memory[T]) turn() {
	m.before, m.now = m.now, m.before
	clear(m.now)
	m.now = m.now[:0]
}

// turn ends a search.
func (m *memories) turn() {
	if m != nil {
		m.blobs[0].turn()
		m.blobs[1].turn()
		m.bases.turn()
	}
}

// recall returns what was found in a blob before, if the picture that was compared last shows there what it showed then, and it
// stands, unless that is nil.
func (m *memory[T]) recall(f *Finder, b gray.Blob, stands func(T) bool) (what T, ok bool) {
	if m == nil {
		return what, false
	}
	for _, r := range m.before {
		if r.box.Overlaps(b.Box) && r.same(b) && r.unchanged(f) && (stands == nil || stands(r.what)) {
			m.now = append(m.now, r)
			return r.what, true
		}
	}
	return what, false
}

// keep remembers what was found in a blob of the picture that was compared last.
func (m *memory[T]) keep(f *Finder, b gray.Blob, what T) {
	if m == nil {
		return
	}
	r := &remembered[T]{box: b.Box, cells: slices.Clone(b.Cells), noise: f.diff.noise, light: f.lightOf(b.Box), what: what}
	slices.Sort(r.cells)
	p := r.patch(f)
	r.ships = f.shipsIn(p)
	r.diff = make([]float32, 0, p.Dx()*p.Dy())
	for j := p.Min.Y; j < p.Max.Y; j++ {
		r.diff = append(r.diff, f.diff.diff[j*f.diff.view.Width+p.Min.X:j*f.diff.view.Width+p.Max.X]...)
	}
	m.now = append(m.now, r)
}

func (r *remembered[T]) patch(f *Finder) image.Rectangle {
	return r.box.Inset(-patchMargin).Intersect(image.Rect(0, 0, f.diff.view.Width, f.diff.view.Height))
}

// same reports whether a blob covers about the same cells.
func (r *remembered[T]) same(b gray.Blob) bool {
	if most, least := max(len(r.cells), len(b.Cells)), min(len(r.cells), len(b.Cells)); float64(least) < sameBlob*float64(most) {
		return false
	}
	both := 0
	for _, c := range b.Cells {
		if _, ok := slices.BinarySearch(r.cells, c); ok {
			both++
		}
	}
	return float64(both) >= sameBlob*float64(len(r.cells)+len(b.Cells)-both)
}

// unchanged reports whether the picture that was compared last shows the same patch, with as much noise or more, in the
// same light, and the same ships about it.
func (r *remembered[T]) unchanged(f *Finder) bool {
	p := r.patch(f)
	if f.diff.noise < quieter*r.noise || math.Abs(f.lightOf(r.box)-r.light) > sameLight*r.light ||
		!slices.EqualFunc(r.ships, f.shipsIn(p), shipBounds.same) {
		return false
	}
	noise := max(r.noise, f.diff.noise)
	for y := p.Min.Y; y < p.Max.Y; y += largeSquare {
		for x := p.Min.X; x < p.Max.X; x += largeSquare {
			if !r.squareUnchanged(f, p, image.Rect(x, y, x+largeSquare, y+largeSquare).Intersect(p), noise) {
				return false
			}
		}
	}
	return true
}

// squareUnchanged compares a large square of the patch p, and the small ones in it.
func (r *remembered[T]) squareUnchanged(f *Finder, p, large image.Rectangle, noise float64) bool {
	var sum float64
	for y := large.Min.Y; y < large.Max.Y; y += smallSquare {
		for x := large.Min.X; x < large.Max.X; x += smallSquare {
			s := image.Rect(x, y, x+smallSquare, y+smallSquare).Intersect(large)
			var change float64
			for j := s.Min.Y; j < s.Max.Y; j++ {
				for i := s.Min.X; i < s.Max.X; i++ {
					now, before := f.diff.diff[j*f.diff.view.Width+i], r.diff[(j-p.Min.Y)*p.Dx()+i-p.Min.X]
					if d := now - before; d == d {
						change += float64(d)
					} else if now == now || before == before { // it was in one of the two pictures
						return false
					}
				}
			}
			sum += change
			if math.Abs(change) > (smallLevels+smallNoises*noise)*float64(s.Dx()*s.Dy()) {
				return false
			}
		}
	}
	return math.Abs(sum) <= (largeLevels+largeNoises*noise)*float64(large.Dx()*large.Dy())
}

// lightOf returns the light of the mat in the middle of some cells, over that in which it was learnt.
func (f *Finder) lightOf(box image.Rectangle) float64 {
	return f.diff.gain.At(cellAt((box.Min.X+box.Max.X)/2, (box.Min.Y+box.Max.Y)/2))
}

// shipsIn returns the ships that hide any of some cells, in the order in which they are known.
func (f *Finder) shipsIn(cells image.Rectangle) (out []shipBounds) {
	lo, hi := cellAt(cells.Min.X, cells.Min.Y), cellAt(cells.Max.X, cells.Max.Y)
	for _, b := range f.bases {
		var s shipBounds
		s.lo, s.hi = b.Bounds()
		if s.lo.X < hi.X+shipMargin && s.hi.X > lo.X-shipMargin && s.lo.Y < hi.Y+shipMargin && s.hi.Y > lo.Y-shipMargin {
			out = append(out, s)
		}
	}
	return out
}

func (s shipBounds) same(o shipBounds) bool {
	return s.lo.Distance(o.lo) < sameShip && s.hi.Distance(o.hi) < sameShip
}
