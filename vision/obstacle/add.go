package obstacle

import (
	"slices"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/rest"
	"sightline/vision/token"
)

// NewWatch returns a watch over the mat of a finder. background makes searches run in the
// background; searches limits those of all cameras over the table, nil for one camera
// alone; further says that this is not the main one.
func NewWatch(f *Finder, background bool, searches *Searches, further bool) *Watch {
	layout := &f.table.Layout
	f.memories = &memories{}
	return &Watch{
		finder: f, rest: rest.New(&f.table.Camera, layout.Width, layout.Height),
		background: background, searches: searches, further: further,
	}
}

// AddTo adds the obstacles in a frame to the ships that were located in it.
func (w *Watch) AddTo(f vision.Frame, out *vision.Located) {
	table := &w.finder.table
	var bases []geom.Polygon
	for _, s := range out.Scene.Ships {
		bases = append(bases, hiddenBy(baseOutline(&s), token.BaseTop, table.Center()))
	}
	w.rims = rimsOf(out, table.Center())
	sight := w.update(f, bases)
	out.Obstacles = &sight
	if sight.Unseen != "" { // a list that may not be whole says more than is known
		return
	}
	out.Scene.ObstaclesUnseen = false
	offTheMat(&sight, table.Layout)
	sight.Into(&out.Scene)
	w.raise(&sight, out)
}

const (
	// raisedBy is how much higher than on the mat a base's middle is that lies over a token, as a share of the token's height
	// and a standard deviation: all of it on the token's middle, about half where it lies over its edge and is tilted.
	raisedBy = 0.7
	// rests is the largest gap, in mm, between a base and a token that may lie on each other: their places are known so well.
	rests = 1.0
	// adjoins is the largest gap, in mm, between a base and what is seen next to it of a thing that continues under it.
	adjoins = 10.0
)

// raise widens the poses of ships that stand on a token, or seem to: higher than the mat, they seem to stand farther from the picture's
// middle. A thing that is not recognised may be as high as any token.
func (w *Watch) raise(sight *vision.ObstacleSight, out *vision.Located) {
	for i := range out.Scene.Ships {
		s := &out.Scene.Ships[i]
		outline := baseOutline(s)
		var top geom.Length
		for k := range sight.Views {
			if v := &sight.Views[k]; v.Entry != nil && geom.Gap(outline, v.Outline) < rests {
				top = max(top, v.Entry.Top)
			}
		}
		for _, points := range sight.Adjoins {
			if geom.Gap(outline, points) < adjoins && !recognised(sight.Views, points) {
				top = max(top, w.finder.highest)
			}
		}
		if top == 0 {
			continue
		}
		_, length := s.Base.Size()
		more := w.finder.errors.HeightCovariance(s.Pose, token.BaseTop, length/2, raisedBy*top)
		for k := range more {
			s.Covariance[k] += more[k]
			if i < len(out.Ships) {
				out.Ships[i].Shared[k] += more[k]
			}
		}
	}
}

// recognised reports whether most of some points lie in or next to one recognised obstacle.
func recognised(views []vision.ObstacleView, points []geom.Point) bool {
	return slices.ContainsFunc(views, func(v vision.ObstacleView) bool {
		return 2*within(v.Outline, thingMargin, points) > len(points)
	})
}

// baseOutline returns where the corners of a ship's base stand.
func baseOutline(s *engine.Ship) geom.Polygon {
	corners := token.Token{Base: s.Base}.Corners()
	return s.Pose.TransformAll(corners[:])
}

// overMat is how far what lies on the mat may seem to stand out over its edge: its outline's
// own uncertainty, and the mat's.
const overMat = 3 * geom.Millimeter

// offTheMat takes what would stand out over the mat's edge for a thing that is not known:
// of such a match a part was never compared with the mat, and any card that hangs over the
// edge may give one.
func offTheMat(sight *vision.ObstacleSight, layout calibration.Layout) {
	w, h := float64(layout.Width), float64(layout.Height)
	var on []vision.ObstacleView // the list is the finder's own: it is not changed
	things := slices.Clone(sight.Unknown)
	for i := range sight.Views {
		o := sight.Views[i].Obstacle()
		t := vision.UnknownObject{OutlinePx: sight.Views[i].OutlinePx}
		out := false
		for _, p := range o.Outline {
			q := o.Pose.Transform(p)
			t.Outline = append(t.Outline, q)
			out = out || q.X < -float64(overMat) || q.Y < -float64(overMat) || q.X > w+float64(overMat) || q.Y > h+float64(overMat)
		}
		if !out {
			on = append(on, sight.Views[i])
			continue
		}
		t.Outline = geom.Polygon(t.Outline).Hull(nil)
		t.Area = geom.Polygon(t.Outline).Area()
		things = append(things, t)
	}
	sight.Views, sight.Unknown = on, things
}
