package obstacle

import (
	"cmp"
	"image"
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/internal/gray"
	"sightline/vision/ship"
	"sightline/vision/token"
)

// A base whose code is not read, and which no one has named, is found by what differs from the
// empty mat: its outline is sought in the difference (edgefield.go), its pose fitted to its four edges (ship.FitBase), and
// it is believed only if it shows its guides (guides.go), which no card, dial or tile has. It has a size and
// a place, a heading up to quarter turns, and no name: it is called ?1, ?2 … until a person says which ship it is.

// baseShapes are the outlines of the square bases.
var baseShapes = func() (out []shape) {
	for _, b := range [...]engine.Base{engine.Small, engine.Medium, engine.Large} {
		w, _ := b.Size()
		out = append(out, newShape(&catalogue.Entry{Name: b.String(), Outline: squareOf(geom.Pose{}, float64(w)/2), Top: token.BaseTop}, false))
	}
	return out
}()

// squareOf returns the corners of a square on the table, counter-clockwise.
func squareOf(pose geom.Pose, h float64) geom.Polygon {
	return pose.TransformAll([]geom.Point{{X: -h, Y: -h}, {X: h, Y: -h}, {X: h, Y: h}, {X: -h, Y: h}})
}

const (
	baseHeadings = 9   // of a quarter turn
	baseWorst    = 2.0 // mm: mean distance of an outline from edges
	baseFill     = 0.5 // share of its inside that must differ from the mat: a dark card on a dark mat hardly does
	baseLeast    = 34  // mm: no base's blob is narrower
	baseRadius   = 57  // mm: of the largest square base
)

// Bases finds the bases on the mat whose code is not read: those that are not among the ships, given by what
// they hide of it.
func (f *Finder) Bases(frame vision.Frame, ships []geom.Polygon) []vision.UnidentifiedBase {
	f.compare(frame)
	return f.bareBases(frame, ships)
}

// Differs returns where a picture differs from the empty mat.
func (f *Finder) Differs(frame vision.Frame) *vision.Coverage {
	f.compare(frame)
	f.coverShips(nil)
	return f.coverage()
}

// bareBases does so in the picture that was compared last.
func (f *Finder) bareBases(frame vision.Frame, ships []geom.Polygon) []vision.UnidentifiedBase {
	f.bases = append(f.bases[:0], ships...)
	f.coverShips(ships)
	f.markBlobs(0, nil)
	memory := f.memories.ofBases()
	var all []vision.UnidentifiedBase
	for _, b := range f.diff.blobs(500) {
		if b.Box.Dx() < baseLeast || b.Box.Dy() < baseLeast {
			continue
		}
		bases, ok := memory.recall(f, b, nil)
		if !ok {
			f.focusOn(b, baseRadius)
			for _, c := range f.baseGuesses(b) {
				if u, ok := f.baseAt(frame.Gray, c); ok {
					bases = append(bases, u)
				}
			}
			memory.keep(f, b, bases)
		}
		all = append(all, bases...)
	}
	return alone(all)
}

// alone keeps of bases that overlap the one that is seen clearly better than all others, or none: two
// squares that fit alike are none, of whatever sizes they are.
func alone(all []vision.UnidentifiedBase) (out []vision.UnidentifiedBase) {
	slices.SortStableFunc(all, func(a, b vision.UnidentifiedBase) int {
		return cmp.Or(cmp.Compare(a.Pose.Y, b.Pose.Y), cmp.Compare(a.Pose.X, b.Pose.X))
	})
	for i := range all {
		u := &all[i]
		keep := !slices.ContainsFunc(out, func(o vision.UnidentifiedBase) bool { return o.Same(u) })
		for j := range all {
			if o := &all[j]; keep && u.At(o.Base, o.Pose) && !u.Same(o) {
				keep = o.Base == u.Base && o.Sight.Visible() <= 0.85*u.Sight.Visible()
			}
		}
		if keep {
			out = append(out, *u)
		}
	}
	return out
}

// baseGuesses returns where in a blob the outline of a base may lie, by the edges in it.
func (f *Finder) baseGuesses(b gray.Blob) []hypothesis {
	return f.seekShapes(b, baseShapes, edgeSeek{math.Pi / 2, baseHeadings, baseWorst, baseFill}, func(s *shape) bool {
		return float64(min(b.Box.Dx(), b.Box.Dy())) >= 0.8*math.Sqrt(s.area)
	})
}

// baseAt fits a base to a guess, and decides whether it is one.
func (f *Finder) baseAt(g *image.Gray, c hypothesis) (vision.UnidentifiedBase, bool) {
	base, err := engine.ParseBase(c.shape.entry.Name)
	if err != nil {
		return vision.UnidentifiedBase{}, false
	}
	starts := []geom.Pose{c.pose}
	if v, ok := f.refine(g, c); ok {
		starts = []geom.Pose{v.Pose, c.pose}
	}
	for _, start := range starts {
		u, ok := ship.FitBase(g, &f.table, f.errors, base, start)
		if ok && u.Pose.Distance(start.Point) <= 3 && f.guidesSeen(g, base, u.Pose) && f.onTheMat(g, base, u.Pose) {
			return u, true
		}
	}
	return vision.UnidentifiedBase{}, false
}
