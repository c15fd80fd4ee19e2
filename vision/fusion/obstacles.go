package fusion

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/internal/cov"
	"sightline/vision/token"
)

// seenObstacle is an obstacle or unknown object with the camera that saw it.
type seenObstacle struct {
	vision.ObstacleView
	name string
	past bool // it was seen before, and its camera does not look now
	bare *vision.Coverage
}

type seenThing struct {
	vision.UnknownObject
	view fuseView
}

// Obstacles combines what several cameras see of the obstacles, as Fuse does, for views of one mat
// at one moment whose ships are already fused. The result has only Obstacles, the scene's obstacles
// and Fusion.Conflicts.
func Obstacles(views []vision.Located, ships []engine.Ship, o Options) vision.Located {
	var named []fuseView
	for i := range views {
		named = append(named, o.named(views, i))
	}
	out := vision.Located{Fusion: &vision.Fusion{}, Scene: engine.Scene{Ships: ships}}
	fuser{out.Fusion}.obstacles(named, &out, o.withDefaults())
	return out
}

// obstacles combines the obstacles of the views that watch them. An obstacle that one camera
// recognised lies there. It becomes an unknown object if two cameras recognise different obstacles
// in one place, or another camera sees the empty mat there. An unknown object is identified by
// another camera's obstacle if it does not reach further than that. Otherwise it stays, even if
// another camera sees the empty mat there: it may stand up and hide another place from each camera.
// An obstacle that was seen only in the past is an unknown object, unless a camera that looks
// recognises it or sees the empty mat there.
func (f fuser) obstacles(views []fuseView, out *vision.Located, o Options) {
	out.Scene.Obstacles, out.Scene.Devices, out.Scene.Markers, out.Scene.Unknown, out.Scene.Blind = nil, nil, nil, nil, nil
	out.Scene.ObstaclesUnseen, out.Obstacles = true, nil
	var sight vision.ObstacleSight
	var seen []seenObstacle
	var things []seenThing
	for _, v := range views {
		s := v.Obstacles
		if s == nil {
			continue
		}
		if s.Unseen != "" {
			if out.Obstacles == nil {
				out.Obstacles = s
			}
			continue
		}
		if !s.Past {
			if out.Scene.ObstaclesUnseen { // the first that looks
				sight.Blind = s.Blind
			} else {
				sight.Blind = blindToBoth(sight.Blind, s.Blind)
			}
			out.Scene.ObstaclesUnseen = false
			sight.Captured, sight.Pushed = older(sight.Captured, s.Captured), max(sight.Pushed, s.Pushed)
		}
		for _, k := range s.Views {
			seen = append(seen, seenObstacle{k, v.name, s.Past, s.Coverage})
		}
		for _, t := range s.Unknown {
			things = append(things, seenThing{t, v})
		}
	}
	if out.Scene.ObstaclesUnseen {
		if out.Obstacles == nil && len(seen)+len(things) > 0 { // all that is left is of the past
			out.Obstacles = &vision.ObstacleSight{Unseen: vision.UnseenLooking}
		}
		return
	}
	known, doubtful := f.agreed(seen, views, o.Sigmas)
	for _, t := range things {
		if !recognised(t, known, out) && !(t.view.Obstacles.Past && cleared(t.Outline, views)) {
			sight.Unknown = append(sight.Unknown, t.UnknownObject)
		}
	}
	sight.Unknown = append(sight.Unknown, doubtful...)
	slices.SortFunc(sight.Unknown, func(a, b vision.UnknownObject) int { return compareOutlines(a.Outline, b.Outline) })
	for _, k := range known {
		sight.Views = append(sight.Views, k.ObstacleView)
	}
	nameObstacles(sight.Views)
	if o.Camera != nil {
		drawIn(&sight, o)
	}
	out.Obstacles = &sight
	sight.Into(&out.Scene)
}

// blindToBoth returns the areas in which both cameras are blind, as rectangles along the mat's
// edges.
func blindToBoth(a, b []engine.BlindArea) (out []engine.BlindArea) {
	for i := range a {
		for k := range b {
			p, q := a[i].Outline, b[k].Outline
			x0, y0 := max(p[0].X, q[0].X), max(p[0].Y, q[0].Y)
			x1, y1 := min(p[2].X, q[2].X), min(p[2].Y, q[2].Y)
			if x0 < x1 && y0 < y1 {
				out = append(out, engine.BlindArea{Outline: geom.Polygon{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}},
					Why: a[i].Why})
			}
		}
	}
	return out
}

func older(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// agreed returns one view for each obstacle, the surest, and as unknown objects what the views
// disagree about.
func (f fuser) agreed(seen []seenObstacle, views []fuseView, sigmas float64) (known []seenObstacle, doubtful []vision.UnknownObject) {
	slices.SortFunc(seen, func(a, b seenObstacle) int {
		return cmp.Or(comparePast(a, b), cmp.Compare(det3(a.Cov), det3(b.Cov)), cmp.Compare(a.name, b.name), cmp.Compare(a.Pose.X, b.Pose.X),
			cmp.Compare(a.Pose.Y, b.Pose.Y))
	})
	contradicted := make([]bool, len(seen))
	double := make([]bool, len(seen)) // a surer view of it comes before
	gone := f.bareFor(seen, views, contradicted)
	for i := range seen {
		for k := range i {
			a, b := &seen[k], &seen[i]
			if a.name == b.name || gone[i] || gone[k] || !vision.OnePlace(&a.ObstacleView, &b.ObstacleView) {
				continue
			}
			if sameObstacle(a, b, sigmas) {
				double[i] = true
				continue
			}
			contradicted[i], contradicted[k] = true, true
			names, ids := []string{a.name, b.name}, []string{a.ID, b.ID}
			slices.Sort(names)
			slices.Sort(ids)
			f.Conflicts = append(f.Conflicts, vision.Conflict{
				IDs: slices.Compact(ids), Cameras: names, By: a.Pose.Distance(b.Pose.Point), Why: "do not agree on what lies there and how",
			})
		}
	}
	for i, s := range seen {
		switch {
		case gone[i]:
		case contradicted[i], s.past && !double[i]:
			doubtful = append(doubtful, s.AsUnknown())
		case !double[i]:
			known = append(known, s)
		}
	}
	return known, doubtful
}

// comparePast orders present views before past ones.
func comparePast(a, b seenObstacle) int {
	switch {
	case a.past == b.past:
		return 0
	case b.past:
		return -1
	}
	return 1
}

// bareFor marks as contradicted the obstacles where another camera sees the empty mat, and returns
// the past ones that are gone.
func (f fuser) bareFor(seen []seenObstacle, views []fuseView, contradicted []bool) (gone []bool) {
	gone = make([]bool, len(seen))
	for i := range seen {
		s := &seen[i]
		for _, v := range views {
			o := v.Obstacles
			switch {
			case v.name == s.name || o == nil || o.Unseen != "" || o.Past:
			case s.past:
				gone[i] = gone[i] || o.Coverage.Clears(s.Outline)
			case o.Coverage.Contradicts(s.Outline, s.bare):
				contradicted[i] = true
				f.Conflicts = append(f.Conflicts, vision.Conflict{
					IDs: []string{s.ID}, Cameras: []string{v.name}, Why: "sees the empty mat where " + s.name + " sees it",
				})
			}
		}
	}
	return gone
}

// cleared reports whether a camera that looks sees the empty mat in a whole outline.
func cleared(outline []geom.Point, views []fuseView) bool {
	return slices.ContainsFunc(views, func(v fuseView) bool {
		o := v.Obstacles
		return o != nil && o.Unseen == "" && !o.Past && o.Coverage.Clears(outline)
	})
}

// sameObstacle reports whether two views of one place agree.
func sameObstacle(a, b *seenObstacle, sigmas float64) bool {
	if a.Entry == nil || b.Entry == nil || a.Entry.Name != b.Entry.Name || a.Flipped != b.Flipped {
		return false
	}
	inverse, ok := cov.Inverse(cov.Resolution(sum3(a.Cov, b.Cov)))
	if !ok {
		return false
	}
	d := difference(b.Pose, a.Pose)
	v := times(inverse, d)
	return d[0]*v[0]+d[1]*v[1]+d[2]*v[2] <= cov.SigmasOfThree(sigmas)
}

// recognised reports whether an unknown object is an obstacle or a ship that another camera
// recognised. One that is much larger, or reaches far beyond it, is more than that.
func recognised(t seenThing, known []seenObstacle, l *vision.Located) bool {
	hull := geom.Polygon(t.Outline)
	for i := range known {
		k := &known[i]
		area, _ := catalogue.Centroid(k.Outline)
		_, middle := catalogue.Centroid(t.Outline)
		there := hull.Contains(k.Pose.Point) || geom.Polygon(k.Outline).Contains(middle)
		if k.name != t.view.name && there && t.Area < 1.5*math.Abs(area) && within(t.Outline, k.Outline, thingReach) {
			return true
		}
	}
	for _, s := range l.Scene.Ships {
		if slices.ContainsFunc(t.view.Ships, func(v vision.ShipView) bool { return v.ID == s.ID }) {
			continue // it knows that ship, and the thing is another
		}
		base := geom.Polygon(s.Base.Corners(s.Pose))
		far := func(p geom.Point) bool { return !base.Contains(p) && base.BoundaryDistance(p) > token.MiniatureReach }
		if hull.Contains(s.Pose.Point) && !slices.ContainsFunc(t.Outline, far) {
			return true
		}
	}
	return false
}

// thingReach is how far, in mm, an unknown object may reach beyond the obstacle that it is: a
// token's thickness seen at 60°, the rim of shadow included in the difference, and the 2.8 mm at a
// corner by which an unknown object may exceed its detected cells.
const thingReach = 13

// within reports whether points lie in an outline or no farther from it than reach.
func within(points []geom.Point, outline geom.Polygon, reach float64) bool {
	return !slices.ContainsFunc(points, func(p geom.Point) bool {
		return !outline.Contains(p) && outline.BoundaryDistance(p) > reach
	})
}

// nameObstacles gives each the name of its entry, and numbers from player 1's edge
// where an entry lies there twice.
func nameObstacles(views []vision.ObstacleView) {
	slices.SortFunc(views, func(a, b vision.ObstacleView) int {
		return cmp.Or(cmp.Compare(a.Entry.Name, b.Entry.Name), cmp.Compare(a.Pose.Y, b.Pose.Y), cmp.Compare(a.Pose.X, b.Pose.X))
	})
	taken := map[string]bool{}
	for _, v := range views {
		taken[v.Entry.Name] = true
	}
	for i := range views {
		v := &views[i]
		v.ID = v.Entry.Name
		if i > 0 && views[i-1].Entry.Name == v.Entry.Name {
			for n := 2; taken[v.ID]; n++ {
				v.ID = fmt.Sprintf("%s-%d", v.Entry.Name, n)
			}
			taken[v.ID] = true
		}
	}
}

// drawIn draws all outlines in one camera's picture.
func drawIn(s *vision.ObstacleSight, o Options) {
	pixels := func(outline []geom.Point, z geom.Length) (out []geom.Pixel) {
		for _, p := range outline {
			px, _ := o.Camera.PixelOf(p, z)
			out = append(out, px)
		}
		return out
	}
	for i := range s.Views {
		s.Views[i].OutlinePx = pixels(s.Views[i].Outline, s.Views[i].Entry.Top)
	}
	for i := range s.Unknown {
		s.Unknown[i].OutlinePx = pixels(s.Unknown[i].Outline, 0)
	}
}

func compareOutlines(a, b []geom.Point) int {
	return slices.CompareFunc(a, b, func(p, q geom.Point) int { return cmp.Or(cmp.Compare(p.X, q.X), cmp.Compare(p.Y, q.Y)) })
}
