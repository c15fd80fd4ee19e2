package vision

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"sightline/engine/geom"
)

// seenObstacle is an obstacle or a thing with the camera that saw it.
type seenObstacle struct {
	ObstacleView
	name string
}

type seenThing struct {
	Thing
	view fuseView
}

// obstacles puts together what the views that watch obstacles say of them. What one
// recognised lies there; two that differ over one place make it a thing that nobody
// knows. A thing to one that another recognised is what that one says.
func (f *Fusion) obstacles(views []fuseView, out *Located, o FuseOptions) {
	out.Scene.Obstacles, out.Scene.Devices, out.Scene.Markers, out.Scene.Unknown = nil, nil, nil, nil
	out.Scene.ObstaclesUnseen, out.Obstacles = true, nil
	var sight ObstacleSight
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
		out.Scene.ObstaclesUnseen = false
		sight.Captured = older(sight.Captured, s.Captured)
		for _, k := range s.Views {
			seen = append(seen, seenObstacle{k, v.name})
		}
		for _, t := range s.Things {
			things = append(things, seenThing{t, v})
		}
	}
	if out.Scene.ObstaclesUnseen {
		return
	}
	known, doubtful := f.agreed(seen, o.Sigmas)
	for _, t := range things {
		if !recognised(t, known, out) {
			sight.Things = append(sight.Things, t.Thing)
		}
	}
	sight.Things = append(sight.Things, doubtful...)
	slices.SortFunc(sight.Things, func(a, b Thing) int { return compareOutlines(a.Outline, b.Outline) })
	for _, k := range known {
		sight.Views = append(sight.Views, k.ObstacleView)
	}
	nameObstacles(sight.Views)
	if o.Camera != nil {
		sight.drawIn(o)
	}
	out.Obstacles = &sight
	sight.into(&out.Scene)
}

func older(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// agreed returns one sight for each obstacle, the surest, and as things what the views
// do not agree about.
func (f *Fusion) agreed(seen []seenObstacle, sigmas float64) (known []seenObstacle, doubtful []Thing) {
	slices.SortFunc(seen, func(a, b seenObstacle) int {
		return cmp.Or(cmp.Compare(det3(a.Cov), det3(b.Cov)), cmp.Compare(a.name, b.name), cmp.Compare(a.Pose.X, b.Pose.X), cmp.Compare(a.Pose.Y, b.Pose.Y))
	})
	contradicted := make([]bool, len(seen))
	double := make([]bool, len(seen)) // a surer sight of it stands before
	for i := range seen {
		for k := range i {
			a, b := &seen[k], &seen[i]
			if a.name == b.name || !onePlace(a, b) {
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
			f.Conflicts = append(f.Conflicts, Conflict{
				IDs: slices.Compact(ids), Cameras: names, By: a.Pose.Distance(b.Pose.Point), Why: "do not agree what lies there and how",
			})
		}
	}
	for i, s := range seen {
		switch {
		case contradicted[i]:
			area, _ := centroid(s.Outline)
			doubtful = append(doubtful, Thing{Outline: geom.Polygon(s.Outline).Hull(nil), OutlinePx: s.OutlinePx, Area: math.Abs(area)})
		case !double[i]:
			known = append(known, s)
		}
	}
	return known, doubtful
}

// onePlace reports whether two obstacles lie where one of them only can.
func onePlace(a, b *seenObstacle) bool {
	return geom.Polygon(a.Outline).Contains(b.Pose.Point) || geom.Polygon(b.Outline).Contains(a.Pose.Point)
}

// sameObstacle reports whether two sights of one place say the same.
func sameObstacle(a, b *seenObstacle, sigmas float64) bool {
	if a.Entry == nil || b.Entry == nil || a.Entry.Name != b.Entry.Name || a.Flipped != b.Flipped {
		return false
	}
	inverse, ok := inverse3(resolution(sum3(a.Cov, b.Cov)))
	if !ok {
		return false
	}
	d := difference(b.Pose, a.Pose)
	v := times(inverse, d)
	return d[0]*v[0]+d[1]*v[1]+d[2]*v[2] <= sigmasOfThree(sigmas)
}

// recognised reports whether a thing is an obstacle or a ship that another camera
// recognised. A thing that is much larger than what was recognised there holds more.
func recognised(t seenThing, known []seenObstacle, l *Located) bool {
	hull := geom.Polygon(t.Outline)
	for i := range known {
		k := &known[i]
		area, _ := centroid(k.Outline)
		if k.name != t.view.name && t.Area < 1.5*math.Abs(area) && hull.Contains(k.Pose.Point) {
			return true
		}
	}
	for _, s := range l.Scene.Ships {
		if slices.ContainsFunc(t.view.Ships, func(v ShipView) bool { return v.ID == s.ID }) {
			continue // it knows that ship, and the thing is another
		}
		w, h := s.Base.Size()
		x, y := float64(w)/2, float64(h)/2
		var base geom.Polygon
		for _, p := range [4]geom.Point{{X: -x, Y: y}, {X: x, Y: y}, {X: x, Y: -y}, {X: -x, Y: -y}} {
			base = append(base, s.Pose.Transform(p))
		}
		far := func(p geom.Point) bool { return !base.Contains(p) && base.BoundaryDistance(p) > miniatureReach }
		if hull.Contains(s.Pose.Point) && !slices.ContainsFunc(t.Outline, far) {
			return true
		}
	}
	return false
}

// nameObstacles gives each the name of its entry, and numbers from player 1's edge
// where an entry lies there twice.
func nameObstacles(views []ObstacleView) {
	slices.SortFunc(views, func(a, b ObstacleView) int {
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
func (s *ObstacleSight) drawIn(o FuseOptions) {
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
	for i := range s.Things {
		s.Things[i].OutlinePx = pixels(s.Things[i].Outline, 0)
	}
}

func compareOutlines(a, b []geom.Point) int {
	return slices.CompareFunc(a, b, func(p, q geom.Point) int { return cmp.Or(cmp.Compare(p.X, q.X), cmp.Compare(p.Y, q.Y)) })
}
