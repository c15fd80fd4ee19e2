package vision

import (
	"image"
	"math"
	"slices"
	"strconv"
	"strings"

	"sightline/engine"
	"sightline/engine/geom"
)

// A base whose code is not read, and of which nobody has said which ship it is, is found by what differs from the
// empty mat: its outline is sought in the difference (edgefield.go), its pose fitted to its four edges (edges.go), and
// it is believed only if it shows its guides (guides.go), which no card, dial or tile has. It has a size and
// a place, a heading up to quarter turns, and no name: it is called ?1, ?2 … until a person says which ship it is.

// UnnamedBase is a base on the table whose code is not read.
type UnnamedBase struct {
	Base       engine.Base
	Pose       geom.Pose // its heading is one of four, a quarter turn apart
	Covariance geom.Cov3 // systematic part included
	Sight      EdgeSight
	Outline    [4]geom.Pixel // of its top in the picture
}

const unnamedPrefix = "?"

// Unnamed reports whether a ship of a scene is a base whose code is not read, so that its name is a number only.
func Unnamed(id string) bool { return strings.HasPrefix(id, unnamedPrefix) }

// UnnamedID is the n-th name for a base without one, from 1 on.
func UnnamedID(n int) string { return unnamedPrefix + strconv.Itoa(n) }

// Ship makes a ship of the base: nobody's, and nobody knows which way its nose points.
func (u *UnnamedBase) Ship(id string) engine.Ship {
	return engine.Ship{ID: id, Base: u.Base, Pose: u.Pose, Covariance: u.Covariance, Seen: "edges", Visible: u.Sight.Visible(), Quarters: true}
}

// View says how it was seen.
func (u *UnnamedBase) View(id string) ShipView {
	return ShipView{ID: id, Outline: u.Outline, Residual: float64(u.Sight.Residual), Score: u.Sight.Visible(), Fit: u.Sight.Fit}
}

// at reports whether another base stands where this one does: two bases do not overlap.
func (u *UnnamedBase) at(base engine.Base, pose geom.Pose) bool {
	own, _ := u.Base.Size()
	other, _ := base.Size()
	return u.Pose.Distance(pose.Point) < (own+other)/2-2
}

// is reports whether it may be a ship of this size that stood at a pose.
func (u *UnnamedBase) is(base engine.Base, pose geom.Pose, reach geom.Length, turn geom.Angle) bool {
	return u.Base == base && u.Pose.Distance(pose.Point) <= reach &&
		math.Abs(alikeTurn(u.Base, u.Pose.Heading-pose.Heading)) <= float64(turn)
}

// Unnamed returns the base without a name that stands within reach of a pose, is of the size and is turned no
// further, its heading being the one of four that is nearest. It reports false when there is none or more than one.
func (s *ObstacleSight) Unnamed(base engine.Base, pose geom.Pose, reach geom.Length, turn geom.Angle) (found UnnamedBase, ok bool) {
	if s == nil {
		return found, false
	}
	for i := range s.Bases {
		if u := &s.Bases[i]; u.is(base, pose, reach, turn) {
			if ok {
				return UnnamedBase{}, false
			}
			found, ok = *u, true
		}
	}
	off := alikeTurn(base, found.Pose.Heading-pose.Heading)
	found.Pose.Heading = (pose.Heading + geom.Angle(off)).Normalized()
	return found, ok
}

// AddUnnamed puts the bases whose code is not read into the scene, where no ship of it stands. It is for a picture
// that stands for itself: a Tracker does it for many.
func (l *Located) AddUnnamed() {
	if l.Obstacles == nil {
		return
	}
	named := len(l.Scene.Ships)
	for i := range l.Obstacles.Bases {
		u := &l.Obstacles.Bases[i]
		if slices.ContainsFunc(l.Scene.Ships[:named], func(s engine.Ship) bool { return u.at(s.Base, s.Pose) }) {
			continue
		}
		id := UnnamedID(len(l.Scene.Ships) - named + 1)
		l.Scene.Ships, l.Ships = append(l.Scene.Ships, u.Ship(id)), append(l.Ships, u.View(id))
	}
}

// ---- finding them

// baseShapes are the outlines of the square bases.
var baseShapes = func() (out []shape) {
	for _, b := range [...]engine.Base{engine.Small, engine.Medium, engine.Large} {
		w, _ := b.Size()
		out = append(out, newShape(&CatalogueEntry{Name: b.String(), Outline: squareOf(geom.Pose{}, float64(w)/2), Top: BaseTop}, false))
	}
	return out
}()

// squareOf returns the corners of a square on the table, counter-clockwise.
func squareOf(pose geom.Pose, h float64) (out geom.Polygon) {
	for _, p := range [4]geom.Point{{X: -h, Y: -h}, {X: h, Y: -h}, {X: h, Y: h}, {X: -h, Y: h}} {
		out = append(out, pose.Transform(p))
	}
	return out
}

const (
	baseHeadings = 9   // of a quarter turn
	baseWorst    = 2.0 // mm: mean distance of an outline from edges
	baseFill     = 0.5 // share of its inside that must differ from the mat: a dark card on a dark mat hardly does
	baseLeast    = 34  // mm: no base's blob is narrower
)

// Bases finds the bases on the mat whose code is not read: those that are not among the ships, of which it is said what
// they hide of it.
func (f *ObstacleFinder) Bases(frame Frame, ships []geom.Polygon) []UnnamedBase {
	f.compare(frame)
	return f.bareBases(frame, ships)
}

// bareBases does so in the picture that was compared last.
func (f *ObstacleFinder) bareBases(frame Frame, ships []geom.Polygon) []UnnamedBase {
	f.bases = append(f.bases[:0], ships...)
	f.coverShips(ships)
	f.diff.threshold(0)
	for k, c := range f.covered {
		if c {
			f.diff.mask[k] = false
		}
	}
	f.prepare()
	var all []UnnamedBase
	for _, b := range f.diff.blobs(500) {
		if b.box.Dx() < baseLeast || b.box.Dy() < baseLeast {
			continue
		}
		for _, c := range f.baseGuesses(b) {
			if u, ok := f.baseAt(frame.Gray, c); ok {
				all = append(all, u)
			}
		}
	}
	return alone(all)
}

// alone keeps of bases that overlap the one that is seen clearly better than all others, or none: two
// squares that fit alike are none, of whatever sizes they are.
func alone(all []UnnamedBase) (out []UnnamedBase) {
	slices.SortStableFunc(all, func(a, b UnnamedBase) int {
		if a.Pose.Y != b.Pose.Y {
			return int(math.Copysign(1, a.Pose.Y-b.Pose.Y))
		}
		return int(math.Copysign(1, a.Pose.X-b.Pose.X))
	})
	for i := range all {
		u := &all[i]
		keep := !slices.ContainsFunc(out, func(o UnnamedBase) bool { return o.same(u) })
		for j := range all {
			if o := &all[j]; keep && u.at(o.Base, o.Pose) && !u.same(o) {
				keep = o.Base == u.Base && o.Sight.Visible() <= 0.85*u.Sight.Visible()
			}
		}
		if keep {
			out = append(out, *u)
		}
	}
	return out
}

// same reports whether two fits are of one base.
func (u *UnnamedBase) same(o *UnnamedBase) bool {
	return u.Base == o.Base && u.Pose.Distance(o.Pose.Point) < 1 && math.Abs(alikeTurn(u.Base, u.Pose.Heading-o.Pose.Heading)) < 0.03
}

// baseGuesses returns where in a blob the outline of a base may lie, by the edges in it.
func (f *ObstacleFinder) baseGuesses(b blob) (all []guess) {
	var places []geom.Point
	w := f.diff.view.width
	for y := b.box.Min.Y; y < b.box.Max.Y; y += seekStep {
		for x := b.box.Min.X; x < b.box.Max.X; x += seekStep {
			if f.solid[y*w+x] {
				places = append(places, geom.Point{X: float64(x) + 0.5, Y: float64(y) + 0.5})
			}
		}
	}
	var own []guess
	for i := range baseShapes {
		s := &baseShapes[i]
		if float64(min(b.box.Dx(), b.box.Dy())) < 0.8*math.Sqrt(s.area) {
			continue
		}
		own = own[:0]
		for k := range baseHeadings {
			turned := f.turn(s, geom.Angle(math.Pi/2*float64(k)/baseHeadings))
			for _, p := range places {
				limit := baseWorst
				if len(own) == seekEach {
					limit = own[seekEach-1].cost
				}
				if c := f.edgeCost(turned, p, limit); c < limit && f.filled(s, geom.Pose{Point: p, Heading: turned.heading}, baseFill) {
					own = insertGuess(own, guess{s, geom.Pose{Point: p, Heading: turned.heading}, c})
				}
			}
		}
		all = append(all, own...)
	}
	for i := range all {
		f.settleByEdges(&all[i])
	}
	return all
}

// baseAt fits a base to a guess, and decides whether it is one.
func (f *ObstacleFinder) baseAt(g *image.Gray, c guess) (UnnamedBase, bool) {
	base, err := engine.ParseBase(c.shape.entry.Name)
	if err != nil {
		return UnnamedBase{}, false
	}
	starts := []geom.Pose{c.pose}
	if v, ok := f.refine(g, c, f.hidden); ok {
		starts = []geom.Pose{v.Pose, c.pose}
	}
	l := ShipLocator{table: f.table, errors: f.errors}
	for _, start := range starts {
		s, ok := l.fitEdges(g, base, start)
		if !ok || !s.allRound() || !s.Ours && !s.foreign() || s.Pose.Distance(start.Point) > 3 || !f.guidesSeen(g, base, s.Pose) ||
			!f.onTheMat(g, base, s.Pose) {
			continue
		}
		return UnnamedBase{Base: base, Pose: s.Pose, Covariance: s.Covariance, Sight: s, Outline: l.outline(s.Pose, Token{Base: base})}, true
	}
	return UnnamedBase{}, false
}
