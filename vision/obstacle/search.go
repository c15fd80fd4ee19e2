package obstacle

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/internal/gray"
	"sightline/vision/token"
)

// search searches a frame and decides what may stand in a scene.
func (f *Finder) search(frame vision.Frame, bases []geom.Polygon, known []vision.ObstacleView) vision.ObstacleSight {
	var out vision.ObstacleSight
	var doubtful []vision.ObstacleView
	f.compare(frame)
	out.Bases = f.bareBases(frame, bases)
	bases = slices.Clip(bases)
	for i := range out.Bases {
		u := &out.Bases[i]
		width, _ := u.Base.Size()
		bases = append(bases, hiddenBy(squareOf(u.Pose, float64(width)/2), token.BaseTop, f.table.Center()))
	}
	for _, v := range f.find(frame, bases, known) {
		switch {
		case f.accepted(&v):
			out.Views = append(out.Views, v)
		case f.suspect(&v):
			doubtful = append(doubtful, v)
		}
	}
	f.memories.turn()
	f.name(out.Views)
	for i := range out.Views {
		v := &out.Views[i]
		v.OutlinePx = f.pixels(v.Outline, v.Entry.Top)
	}
	things := f.things(out.Views, f.lights)
	doubtful = slices.DeleteFunc(doubtful, func(v vision.ObstacleView) bool { return f.shadow(&v, f.lights) })
	out.Blind, out.Grainy = f.blind(f.lights, out.Views), f.grainy()
	out.Unseen = f.unseen(out.Blind)
	if out.Unseen != "" && out.Unseen != vision.UnseenHidden { // what was recognised there is chance
		out.Views, out.Bases = nil, nil
		return out
	}
	out.Pushed = f.pushes.Settle(f.learnt.Size())
	out.Unknown, out.Adjoins, out.Missed = append(f.suspects(append(doubtful, f.missed...)), things...), f.exits, f.missed
	out.Coverage = f.coverage()
	return out
}

// coverage returns where the picture that was compared last shows the empty mat. It uses the
// difference's mask.
func (f *Finder) coverage() *vision.Coverage {
	f.diff.threshold(0, nil)
	b := &vision.Coverage{Width: f.diff.view.Width, Height: f.diff.view.Height, Cells: make([]vision.Cell, len(f.diff.work))}
	for k, v := range f.diff.work {
		switch {
		case v != v || v >= 254 || f.covered[k]:
		case f.diff.mask[k]:
			b.Cells[k] = vision.CellCovered
		default:
			b.Cells[k] = vision.CellBare
		}
	}
	return b
}

// name gives each obstacle the name of its entry, and where an entry lies there
// twice, numbers from player 1's edge.
func (f *Finder) name(views []vision.ObstacleView) {
	slices.SortFunc(views, func(a, b vision.ObstacleView) int {
		return cmp.Or(cmp.Compare(a.Entry.Name, b.Entry.Name), cmp.Compare(a.Pose.Y, b.Pose.Y))
	})
	taken := map[string]bool{}
	for i := range f.catalogue.Entries {
		taken[f.catalogue.Entries[i].Name] = true
	}
	for i := range views {
		v := &views[i]
		v.ID = v.Entry.Name
		if i > 0 && views[i-1].Entry == v.Entry || catalogue.IsShipName(v.ID) { // no two things in a scene have one name
			for n := 2; taken[v.ID]; n++ {
				v.ID = fmt.Sprintf("%s-%d", v.Entry.Name, n)
			}
			taken[v.ID] = true
		}
	}
}

// How much of the mat may be blind before nothing is said of any of it, and how much of it may
// differ from the learnt one before it is another mat.
const (
	blindMost   = 0.5
	coveredMost = 0.5

	// Grey levels: a camera's own noise is 1 to 7. Of what lies next to a ship more noise does not tell whether it is its miniature. What
	// makes most of the mat blind is noise then.
	noiseMost = 8.0

	gainMost = 3.0 // of the light since, either way
)

// grainy reports whether the picture has so much noise that nothing is told of miniatures.
func (f *Finder) grainy() bool { return f.diff.noise > noiseMost }

// unseen says what keeps the whole mat from being seen, or nothing.
func (f *Finder) unseen(blind []engine.BlindArea) string {
	if g := gray.Quantile(slices.Clone(f.diff.gain.ratio), 0.5); g < 1/gainMost || g > gainMost {
		return vision.UnseenLight
	}
	set := 0
	for _, v := range f.test.wide {
		if v > f.test.limit {
			set++
		}
	}
	area := 0.0
	for i := range blind {
		area += blind[i].Outline.Area()
	}
	switch all := float64(len(f.test.wide)); {
	case float64(set) > coveredMost*all:
		return vision.UnseenOtherMat
	case math.Abs(area) > blindMost*all*vision.DiffStep*vision.DiffStep:
		if f.grainy() {
			return vision.UnseenNoisy
		}
		return vision.UnseenHidden
	}
	return ""
}
