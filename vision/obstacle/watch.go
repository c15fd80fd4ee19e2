package obstacle

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"runtime/debug"
	"slices"

	"sightline/calibration"
	"sightline/calibration/linalg"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/exposure"
	"sightline/vision/internal/gray"
	"sightline/vision/internal/rest"
	"sightline/vision/internal/under"
	"sightline/vision/token"
)

// Watch looks for obstacles when the picture has changed and come to rest,
// and in between checks that each still lies where it was found.
type Watch struct {
	finder *Finder // not while a search runs in the background
	still  rest.Watch
	sight  vision.ObstacleSight
	looked bool // sight is of the picture that still remembers
	turn   int  // of the obstacle that is looked at again next

	// stirred says that a picture since the search differed: a token that a hand laid down
	// meanwhile may be as light as the mat on the mean, and the picture is like the one before.
	stirred bool

	background bool                      // searches run in the background
	search     chan vision.ObstacleSight // gives what the search found that is going on; nil: none is
	mean       exposure.Averager         // of the pictures since it rests, for a search with less noise
	refine     bool                      // the running search is of the mean; what sight says holds meanwhile
	fine       bool                      // sight is of the mean, or needs none

	rims []under.Rim // of the ships in the picture

	searches *Searches // of all cameras; nil: there is one
	further  bool      // this one is not the main camera's
}

// averaged is how many pictures are averaged where one does not show all of the mat well
// enough: of ten the noise is a third.
const averaged = 10

// see returns what a frame says of the obstacles. The first frame is searched at
// once; after a change it is searched again as soon as two frames agree. A search
// in the background never blocks the caller: until it ends nothing is said of the obstacles,
// and then what it found holds if the table still looks as it did. Where noise hid a part of the mat from it,
// the mean of the pictures that follow is searched too.
func (w *Watch) see(f vision.Frame, bases []geom.Polygon) vision.ObstacleSight {
	changed, resting := w.still.Look(f.Gray)
	w.gather(f, changed || !resting)
	w.stirred = w.stirred || changed
	if w.search != nil {
		select {
		case w.sight = <-w.search:
			w.fine = w.refine || !w.sight.Noisy()
			if !w.refine { // a mean says nothing of one picture's noise
				w.still.Noise(w.finder.diff.noise)
			}
			w.search, w.looked, w.refine = nil, true, false
			w.stirred = w.stirred || w.still.Differs()
		default:
			if w.refine && !w.stirred {
				return w.answer(f)
			}
			return vision.ObstacleSight{Unseen: vision.UnseenLooking}
		}
	}
	switch {
	case w.looked && !w.stirred && w.holds(f):
		if w.background && !w.fine && w.mean.Len() >= averaged {
			if mean, err := w.mean.Frame(); err == nil {
				w.refine = true
				w.begin(mean, bases)
			}
		}
		return w.answer(f)
	case w.looked && !resting:
		return vision.ObstacleSight{Unseen: vision.UnseenChanging}
	}
	w.still.Keep()
	w.mean.Reset() // of what lay there before
	w.fine, w.stirred = false, false
	if w.background {
		w.looked = false
		w.begin(f, bases)
		return vision.ObstacleSight{Unseen: vision.UnseenLooking}
	}
	w.finder.rims = w.rims
	w.sight = w.finder.look(f, bases, w.sight.Views)
	w.sight.Captured = f.Captured
	w.still.Noise(w.finder.diff.noise)
	w.looked = true
	return w.sight
}

// gather adds a picture to the mean, or begins it again where the table does not rest.
func (w *Watch) gather(f vision.Frame, changed bool) {
	f.Color = nil // not asked: a picture's colours are three times its grey
	switch {
	case !w.background:
	case w.fine && !changed:
		w.mean.Reset() // it was searched, or is not needed
	case changed:
		w.mean.Reset()
		w.fine = false
	case w.mean.Len() < averaged:
		if w.mean.Add(f) != nil { // something creeps: what one picture shows must do
			w.mean.Reset()
			w.fine = w.looked
		}
	}
}

// answer is what was found, which a picture bears out.
func (w *Watch) answer(f vision.Frame) vision.ObstacleSight {
	w.sight.Captured = f.Captured
	w.sight.Refining = w.background && !w.fine
	return w.sight
}

// begin starts a search in the background. Nothing writes to the frame, the bases are the
// search's own, and the finder is left alone until it ends.
func (w *Watch) begin(f vision.Frame, bases []geom.Polygon) {
	found := make(chan vision.ObstacleSight, 1) // so that the search ends although its result is not read
	w.search = found
	finder, known := w.finder, w.sight.Views
	finder.rims = w.rims
	f.Color = nil // not asked: its pixels need not outlive their turn
	go func() {
		defer w.searches.begin(w.further)()
		sight := finder.look(f, bases, known)
		sight.Captured = f.Captured
		finder.release()
		found <- sight
		debug.FreeOSMemory() // else Go keeps the search's memory, 30 MB in the median (docs/measurements/house.md)
	}()
}

// holds fits one of the obstacles again, another one each time, and reports whether
// it lies where it did.
func (w *Watch) holds(f vision.Frame) bool {
	if len(w.sight.Views) == 0 {
		return true
	}
	w.turn = (w.turn + 1) % len(w.sight.Views)
	v := &w.sight.Views[w.turn]
	if v.Area > 0 { // its edges tell too little; that the picture rests must do
		return true
	}
	again, ok := w.finder.refit(f.Gray, v, geom.Point{})
	if !ok || again.Misfit > max(w.finder.believed, v.Misfit+holdsMisfit) {
		return false
	}
	// Noise moves a fit by much less than its whole sigma.
	limit := 0.2 + 2*math.Sqrt(max(v.Cov[0], v.Cov[4]))
	turned := float64(again.Pose.Heading.Distance(v.Pose.Heading)) * v.Radius
	return again.Pose.Distance(v.Pose.Point)+geom.Length(turned) < geom.Length(limit)
}

// holdsMisfit is by how much worse than it did what lies still may fit.
const holdsMisfit = 0.05

// An obstacle is believed when its edges fit better than acceptMisfit and at least
// acceptVisible of its outline is in view, and no other entry or face fits nearly as
// well. On 28 rendered pictures (2026-11-21, docs/accuracy.md) the right entries had
// misfits below 0.45, and whatever else lay on the mat fitted worse than 0.47.
const (
	acceptMisfit  = 0.45
	acceptVisible = 0.5
	acceptMargin  = 0.05
	acceptSlope   = 0.75 // of the margin asked for, above a misfit of acceptClear
	acceptClear   = 0.25

	// Those pictures had 1 px/mm and more. In one of 0.7 px/mm (1280×720) the wrong face
	// of a rock fitted as well as 0.36, 2 mm off: there only what fits well is believed.
	coarseScale  = 0.9 // px/mm
	coarseMisfit = 0.25

	// Obstacles that were not recognised, in glare, had misfits of 0.48 to 0.61: what fits
	// better than suspectMisfit may be one. So near a ship that it may be a miniature or
	// its shadow, which fit no better than 0.52, it must fit better than suspectNearShip.
	suspectMisfit   = 0.65
	suspectNearShip = 0.55
)

// besideShip is the share of the outline that must be in view of an obstacle that is seen for the
// first time within a miniature's reach of a ship: half of a round miniature that hangs over its
// base's edge fitted a round rock whose rest the base would have hidden (picture 215). Of 50 pictures of 1402, 1406, 1407, 1413
// and 1414 (2026-11-24) what lay by ships and was none cost 0.62 and more with half of it in view, 0.72 with 0.64, and its misfit was
// 0.35 and more; rocks under ships cost 0.15 to 0.62 with 0.62 to 0.70 in view. From besidePart on it must fit no better than others.
const (
	besideShip = 0.75
	besidePart = 0.70
)

// besideMisfit is how well an obstacle must fit that is seen there for the first time: in 1.7 times the right light a miniature
// beyond its base's edge fitted an asteroid as well as 0.449 (408 re-exposed), and was invented.
const besideMisfit = 0.35

func sq(x float64) float64 { return x * x }

// suspect reports whether a match that was not accepted may be an obstacle all the same.
func (f *Finder) suspect(v *vision.ObstacleView) bool {
	if v.Misfit < suspectNearShip {
		return true
	}
	return v.Misfit < suspectMisfit && !f.nearShip(v.Pose.Point)
}

// nearShip reports whether a ship's miniature or its shadow may lie at a place.
func (f *Finder) nearShip(p geom.Point) bool { return f.shipWithin(p, token.MiniatureReach) }

// maybeMiniature reports whether a match may be a ship's miniature, or its shadow.
func (f *Finder) maybeMiniature(v *vision.ObstacleView) bool {
	return f.nearShip(v.Pose.Point) && (!f.goesUnder(v.Outline) || f.maybeShadow(v))
}

// maybeShadow reports whether a match may be a shadow: it is darker than the mat, and nothing is printed in it.
func (f *Finder) maybeShadow(v *vision.ObstacleView) bool {
	return v.Lit < sureLit && f.darker(v.Outline) && !f.textured(v.Outline)
}

// textured reports whether most of what lies well inside an outline is more uneven than bare mat, as print is and a shadow is not.
func (f *Finder) textured(outline geom.Polygon) bool {
	all, uneven := 0, 0
	f.eachInside(outline, 0, func(k int) {
		if !f.test.seen[k] || outline.BoundaryDistance(cellAt(k%f.test.w, k/f.test.w)) < texturedIn {
			return
		}
		if all++; f.test.unevenness(k) > f.uneven {
			uneven++
		}
	})
	return all >= texturedCells && 2*uneven > all
}

const (
	texturedIn    = 4   // mm within the border: a shadow's edge is uneven too
	texturedCells = 100 // cells that must be seen
)

// shipWithin reports whether a ship stands within so many mm of a place.
func (f *Finder) shipWithin(p geom.Point, reach float64) bool {
	return slices.ContainsFunc(f.bases, func(b geom.Polygon) bool { return b.Contains(p) || b.BoundaryDistance(p) < reach })
}

// shadow reports whether a match that was not accepted is a miniature's shadow: all of it is darker than the mat and fits no
// better than shadows do, a ship stands within shadowReach, and inside it the mat shows, dimmed evenly. It uses f.diff.mask, which
// holds where things were noticed.
func (f *Finder) shadow(v *vision.ObstacleView, lights []paperLight) bool {
	if v.Misfit <= shadowMisfit || v.Lit >= sureLit || !f.shipWithin(v.Pose.Point, shadowReach) || !f.darker(v.Outline) {
		return false
	}
	noticed := false
	f.eachInside(v.Outline, 0, func(k int) { noticed = noticed || f.diff.mask[k] })
	uneven, light, ok := f.unevenness(v.Outline)
	return !noticed && ok && uneven < shadowEven*leastPrint*light*lightOn(lights, v.Pose.Point)
}

// lightAt returns the mean linear light of 3×3 cells, and that of the mat; false where one of them says nothing.
func (f *Finder) lightAt(k int) (now, mat float64, ok bool) {
	w := f.test.w
	for _, o := range [9]int{-w - 1, -w, -w + 1, -1, 0, 1, w - 1, w, w + 1} {
		if k+o < 0 || k+o >= len(f.test.seen) || !f.test.seen[k+o] {
			return 0, 0, false
		}
		now += float64(gray.LinearLight[uint8(max(f.diff.work[k+o], 0))]) / 9
		mat += float64(gray.LinearLight[matGrey(f.diff, k+o)]) / 9
	}
	return now, mat, true
}

// unevenness compares the light of what is dark inside an outline, but for the dark's rim, with the mat's times what changes
// evenly from side to side. It returns what is left, rms in linear light, and the mean share of the mat's light.
func (f *Finder) unevenness(outline geom.Polygon) (rms, share float64, ok bool) {
	const m = 3
	w := f.test.w
	var n [m * m]float64
	var g [m]float64
	var rows [][m + 1]float64
	_, c := catalogue.Centroid(outline)
	f.eachInside(outline, 0, func(k int) {
		for _, o := range [5]int{0, -shadowRim * w, -shadowRim, shadowRim, shadowRim * w} {
			if now, mat, ok := f.lightAt(k + o); !ok || now > shadowDark*mat || f.diff.slope[k+o] > shadowPlain {
				return
			}
		}
		p := cellAt(k%w, k/w)
		now, mat, _ := f.lightAt(k)
		row := [m + 1]float64{mat, mat * (p.X - c.X), mat * (p.Y - c.Y), now}
		for i := range m {
			g[i] += row[i] * now
			for j := range m {
				n[m*i+j] += row[i] * row[j]
			}
		}
		rows = append(rows, row)
	})
	x, ok := linalg.SolveSPD(n[:], g[:])
	if len(rows) < shadowCells || !ok {
		return 0, 0, false
	}
	for _, r := range rows {
		rms += sq(r[m]-x[0]*r[0]-x[1]*r[1]-x[2]*r[2]) / float64(len(rows))
	}
	return math.Sqrt(rms), x[0], true
}

// A shadow dims the mat more evenly than shadowEven of the contrast that a print has at least. It is judged where it leaves
// less than shadowDark of the mat's light, shadowRim cells from where it leaves more, if that are shadowCells cells. A
// miniature 75 mm over the mat throws it as far as shadowReach under a lamp 27° above the table.
const (
	shadowReach = 150 // mm
	shadowEven  = 0.5
	shadowDark  = 0.8
	shadowRim   = 3
	shadowPlain = 2 // grey levels by which the mat's print may change from cell to cell: a star is no sharper in the shadow
	shadowCells = 60
)

// suspects makes things of what may be an obstacle and is not beyond doubt.
func (f *Finder) suspects(doubtful []vision.ObstacleView) (out []vision.UnknownObject) {
	for _, v := range doubtful {
		area, _ := catalogue.Centroid(v.Outline)
		t := vision.UnknownObject{Outline: geom.Polygon(v.Outline).Hull(nil), Area: area}
		for _, p := range t.Outline {
			px, _ := f.table.PixelOf(p, 0)
			t.OutlinePx = append(t.OutlinePx, px)
		}
		out = append(out, t)
	}
	return out
}

// accepted reports whether a match may stand in a scene.
func (f *Finder) accepted(v *vision.ObstacleView) bool {
	if v.Entry == nil || v.Denied || v.Visible < acceptVisible {
		return false
	}
	maybeMiniature := !v.Known && f.maybeMiniature(v)
	if maybeMiniature && v.Visible < besideShip && !f.fitsInPart(v) {
		return false
	}
	if !v.Known && v.Misfit > shadowMisfit && f.maybeShadow(v) {
		return false
	}
	if v.Sure || v.Area > 0 {
		return true
	}
	if v.Misfit > f.believed || maybeMiniature && v.Misfit > besideMisfit {
		return false
	}
	return v.Second == "" || v.Margin >= marginOf(v.Misfit, acceptMargin)
}

// fitsInPart reports whether a match of which less than besideShip is in view is beyond doubt beside a ship all the same: the less of
// it, the better that must fit.
func (f *Finder) fitsInPart(v *vision.ObstacleView) bool {
	part := min((v.Visible-acceptVisible)/(besidePart-acceptVisible), 1)
	return v.Misfit < besideMisfit*part || v.Sure && costOf(v) < sureCost*part
}

// marginOf returns by how much the next best match must be worse than one of a misfit or a cost, and least at least: the
// worse the fit, the clearer the choice must be. What several outlines fit about as badly is a thing of another shape.
func marginOf(misfit, least float64) float64 { return max(least, acceptSlope*(misfit-acceptClear)) }

// A match whose edges fit badly is believed all the same where the mat is bare all round
// its outline and print lies all over its inside: where both together cost less than
// sureCost, nothing else comes nearer than sureMargin, and at sureLit of the outline ends
// something that is lighter than the mat, so that it is no shadow. Set on the rendered
// pictures with odd seeds (2026-11-21): right matches that were refused by their edges
// alone cost 0.36 to 0.60, whatever else lay on those mats, clutter included, 0.68 and more.
const (
	regionWeight = 2.0
	sureCost     = 0.62
	sureMisfit   = 0.60
	sureMargin   = 0.08
	sureLit      = 0.25
)

// A miniature's shadow is darker than the mat all over. Shadows in rendered pictures with odd seeds (2026-11-22) fitted some
// outline as well as 0.48: what is as dark and fits no better than shadowMisfit may be one. An obstacle in glare is darker
// than the mat too, and fits better: 0.09 to 0.41.
const (
	shadowMisfit = 0.45
	shadowLight  = 0.9 // of the mat's light: a shadow leaves less
)

// darker reports whether what lies inside an outline has less light than the mat there.
func (f *Finder) darker(outline geom.Polygon) bool {
	var light, mat float64
	f.eachInside(outline, 0, func(k int) {
		if v := f.diff.work[k]; f.test.seen[k] {
			light += float64(gray.LinearLight[uint8(v)])
			mat += float64(gray.LinearLight[matGrey(f.diff, k)])
		}
	})
	return light < shadowLight*mat
}

// sureOf reports whether a match, with its margin in cost, is beyond doubt by what lies
// inside and outside of it.
func (f *Finder) sureOf(v *vision.ObstacleView) bool {
	return costOf(v) < sureCost && v.Misfit < sureMisfit && v.Lit > sureLit && v.Visible >= acceptVisible &&
		(v.Second == "" || v.Margin > marginOf(costOf(v), sureMargin))
}

// look searches a frame and decides what may stand in a scene.
func (f *Finder) look(frame vision.Frame, bases []geom.Polygon, known []vision.ObstacleView) vision.ObstacleSight {
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
		v.OutlinePx = nil // a known obstacle has those of its last picture
		for _, p := range v.Outline {
			px, _ := f.table.PixelOf(p, v.Entry.Top)
			v.OutlinePx = append(v.OutlinePx, px)
		}
	}
	lights := f.paperLights(frame.Gray)
	things := f.things(out.Views, lights)
	doubtful = slices.DeleteFunc(doubtful, func(v vision.ObstacleView) bool { return f.shadow(&v, lights) })
	out.Blind = f.blind(lights, out.Views)
	out.Unseen = f.unseen(out.Blind)
	if out.Unseen == vision.UnseenOtherMat { // what was recognised there is chance
		out.Views, out.Bases = nil, nil
		return out
	}
	out.Unknown = append(f.suspects(doubtful), things...)
	out.Coverage = f.bare()
	return out
}

// bare returns where the picture that was compared last shows the empty mat. It uses the
// difference's mask.
func (f *Finder) bare() *vision.Coverage {
	f.diff.threshold(0, nil)
	b := &vision.Coverage{Width: f.diff.view.width, Height: f.diff.view.height, Cells: make([]vision.Cell, len(f.diff.work))}
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

	noiseMost = 8.0 // grey levels: a camera's own noise is 1 to 7
	gainMost  = 3.0 // of the light since, either way
)

// unseen says what keeps the whole mat from being seen, or nothing.
func (f *Finder) unseen(blind []engine.BlindArea) string {
	if g := gray.Quantile(slices.Clone(f.diff.gain.ratio), 0.5); f.diff.noise > noiseMost || g < 1/gainMost || g > gainMost {
		return vision.UnseenOtherMat
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
		return vision.UnseenHidden
	}
	return ""
}

// things returns what lies on the mat, is no known obstacle and belongs to no ship,
// and is so wide that the catalogue's narrowest obstacle could be it or lie under it.
// It leaves in f.diff.mask where they are. lights are the paper's, as blind takes them.
//
// What differs from the mat little, or in parts, is noticed in large squares only, and only
// those about its middle are beyond the limit: a thing reaches as far as those squares do, to
// whatever small squares in them differ from the mat. A square that is beyond it only because
// what is sure counts for more in noise may lie half on bare mat, where noise differs too: of
// it a thing reaches to what is sure, unless it was noticed in no other square.
func (f *Finder) things(known []vision.ObstacleView, lights []paperLight) []vision.UnknownObject {
	w := f.diff.view.width
	for _, v := range known {
		f.erase(v.Outline, thingMargin)
	}
	half := f.thingHalf()
	mask, plain := f.diff.mask, make([]bool, len(f.diff.mask))
	f.test.widen(half, matShare)
	for k, v := range f.test.wide {
		plain[k] = v > f.test.limit
	}
	f.test.widen(half, f.test.most)
	for k, v := range f.test.wide {
		mask[k] = v > f.test.limit
	}
	// The edge of a shadow is as sharp as print, and narrow.
	broad := gray.Open(mask, w, f.diff.view.height, half)
	for k := range mask {
		mask[k] = mask[k] && (broad[k] || f.test.shade[k] != plainShade)
	}
	blobs := slices.DeleteFunc(f.diff.blobs(half*half), f.miniature)
	blobs = f.withoutSpecks(blobs, half, lights)
	reach, sureReach := f.reach(blobs, plain, half)
	clear(mask)
	limit := f.energyLimit()
	var out []vision.UnknownObject
	for _, b := range blobs {
		cells := b.cells
		box := b.box.Inset(-half).Intersect(image.Rect(0, 0, w, f.diff.view.height))
		for j := box.Min.Y; j < box.Max.Y; j++ {
			for k := j*w + box.Min.X; k < j*w+box.Max.X; k++ {
				if e := f.test.energy[k]; reach[k] && e > limit || sureReach[k] && e >= f.test.most {
					cells = append(cells, int32(k))
				}
			}
		}
		out = append(out, f.thing(cells, matSmall)) // of a faint thing's rim the small squares lie half on bare mat, and do not differ
	}
	return append(out, f.underShips(limit)...)
}

// reach returns where the squares lie in which blobs were noticed: first those whose middles plain holds, or all squares of
// a blob if it holds none of them; then all of every blob.
func (f *Finder) reach(blobs []blob, plain []bool, half int) (some, all []bool) {
	w, h := f.diff.view.width, f.diff.view.height
	some, all = make([]bool, len(plain)), make([]bool, len(plain))
	for _, b := range blobs {
		found := slices.ContainsFunc(b.cells, func(c int32) bool { return plain[c] })
		for _, c := range b.cells {
			some[c], all[c] = plain[c] || !found, true
		}
	}
	return gray.BoxMask(some, w, h, half, true), gray.BoxMask(all, w, h, half, true)
}

// A speck is what is noticed in fewer squares than speckShare of the smallest obstacle's area; speckReach is how far about it,
// in half squares, the rest of an obstacle is looked for.
const (
	speckShare = 1.0 / 8
	speckReach = 4
)

// withoutSpecks leaves out those of f.diff.mask's blobs that are too small for an obstacle: nothing else was noticed about
// them, and the mat there is seen so well that the rest of an obstacle would have been.
func (f *Finder) withoutSpecks(blobs []blob, half int, lights []paperLight) []blob {
	m := &f.test
	most := int(speckShare * f.smallest)
	if !slices.ContainsFunc(blobs, func(b blob) bool { return len(b.cells) <= most }) {
		return blobs
	}
	f.expectedEnergy(lights, leastPrint)
	sums := m.a
	gray.SumBoxes(sums, sums, m.w, m.h, half)
	least := m.limit * float32((2*half+1)*(2*half+1))
	return slices.DeleteFunc(blobs, func(b blob) bool {
		around := b.box.Inset(-speckReach * half)
		if len(b.cells) > most || !around.In(image.Rect(0, 0, m.w, m.h)) {
			return false
		}
		noticed := 0
		for j := around.Min.Y; j < around.Max.Y; j++ {
			for k := j*m.w + around.Min.X; k < j*m.w+around.Max.X; k++ {
				if f.diff.mask[k] {
					noticed++
				}
				if !m.seen[k] || sums[k] < least || noticed > most {
					return false
				}
			}
		}
		return true
	})
}

// energyLimit is the energy of a small square above which it is no bare mat. Set as the limit
// of the large squares is, but what half covers one must be above it.
func (f *Finder) energyLimit() float32 {
	var sample []float64
	for k := 0; k < len(f.test.energy); k += 19 {
		if f.test.seen[k] {
			sample = append(sample, float64(f.test.energy[k]))
		}
	}
	middle := gray.Quantile(sample, 0.5)
	return float32(min(middle+matSigmas*(middle-gray.Quantile(sample, 0.159)), matShare-0.5))
}

// thing makes a thing of cells, and marks them in f.diff.mask. It reaches so many cells beyond them. Cells may be listed twice.
func (f *Finder) thing(cells []int32, beyond float64) vision.UnknownObject {
	w := f.diff.view.width
	var all geom.Polygon
	n := 0
	for _, c := range cells {
		if !f.diff.mask[c] {
			n++
		}
		f.diff.mask[c] = true
		all = append(all, geom.Point{X: (float64(int(c)%w) + 0.5) * vision.DiffStep, Y: (float64(int(c)/w) + 0.5) * vision.DiffStep})
	}
	hull := all.Hull(nil)
	if len(hull) < 3 { // a row of cells
		beyond = max(beyond, 0.5)
	}
	for _, p := range hull {
		for _, d := range [4]geom.Point{{X: -1, Y: -1}, {X: 1, Y: -1}, {X: 1, Y: 1}, {X: -1, Y: 1}} {
			all = append(all, p.Add(d.Mul(beyond*vision.DiffStep)))
		}
	}
	t := vision.UnknownObject{Outline: all.Hull(nil), Area: float64(n) * vision.DiffStep * vision.DiffStep}
	for _, p := range t.Outline {
		px, _ := f.table.PixelOf(p, 0)
		t.OutlinePx = append(t.OutlinePx, px)
	}
	return t
}

// shadowEdge is by how many standard deviations, in the mean, the edge of a shadow is darker
// than the mat.
const shadowEdge = 0.5

// thingMargin is how far round a known obstacle, in mm, what the picture shows is its own.
const thingMargin = 4.0

// miniature reports whether a blob is a ship's miniature: all of it lies near one ship, and what is lighter than the mat where
// the picture may show its miniature, but for a speck. A miniature that reaches beyond its base begins over it: what is apart from the
// base and from where its peg may end, is no shadow, and was noticed in as many squares as lie in half of the smallest obstacle, is
// another thing.
func (f *Finder) miniature(b blob) bool {
	w, gap := f.diff.view.width, float64(f.thingHalf())*vision.DiffStep
	shadow := 0
	for _, c := range b.cells {
		if f.test.shade[c] == plainShade {
			shadow++
		}
	}
	speck := speckShare * f.smallest
	large := 2*shadow < len(b.cells) && float64(len(b.cells)) > f.smallest/4
	return slices.ContainsFunc(f.bases, func(base geom.Polygon) bool {
		const every = 5
		pegs, begins, beyond := f.pegEnds(base), false, 0
		for i := 0; i < len(b.cells); i += every {
			c := int(b.cells[i])
			p := cellAt(c%w, c/w)
			off := 0.0
			if !base.Contains(p) {
				off = base.BoundaryDistance(p)
			}
			if off > token.MiniatureReach {
				return false
			}
			begins = begins || off < gap || slices.ContainsFunc(pegs, func(q geom.Point) bool { return float64(p.Distance(q)) < gap })
			if f.test.energy[c] > f.uneven && f.test.shade[c] == noShade && !f.mayHide(base, p) {
				beyond += every
			}
		}
		return (begins || !large) && float64(beyond) <= speck
	})
}

// mayHide reports whether the miniature on a base may hide a point of the mat.
func (f *Finder) mayHide(base geom.Polygon, p geom.Point) bool {
	const step = 5.0
	for z := 0.0; z <= miniatureHigh; z += step {
		q := p.Lerp(geom.Point{X: f.fit.eye[0], Y: f.fit.eye[1]}, z/f.fit.eye[2])
		if base.Contains(q) || base.BoundaryDistance(q) <= overhang {
			return true
		}
	}
	return false
}

// A miniature ends no more than miniatureHigh mm above the mat, and reaches no farther than overhang mm beyond its base. A gas cloud
// under a ship reached 43 mm to its side (1413), and four lines across it were called clear.
const (
	miniatureHigh = 75.0
	overhang      = 30.0
)

// thingShare is the half side of the square that a thing must hold, as a share of the
// largest circle's radius in the catalogue's narrowest outline: a square in that circle
// has 0.71 of it.
const thingShare = 0.7

// thingHalf returns that half side in cells.
func (f *Finder) thingHalf() int { return max(int(thingShare*f.narrowest/vision.DiffStep), 3) }

// erase makes bare mat of what the test saw inside an outline and up to margin mm round it.
func (f *Finder) erase(outline geom.Polygon, margin float64) {
	f.eachInside(outline, margin, func(k int) { f.test.energy[k] = min(f.test.energy[k], 1) })
}

// eachInside calls do for every cell inside an outline and up to margin mm round it.
func (f *Finder) eachInside(outline geom.Polygon, margin float64, do func(k int)) {
	w, h := f.diff.view.width, f.diff.view.height
	lo, hi := outline.Bounds()
	for j := max(int(lo.Y-margin), 0); j <= min(int(hi.Y+margin), h-1); j++ {
		for i := max(int(lo.X-margin), 0); i <= min(int(hi.X+margin), w-1); i++ {
			if p := cellAt(i, j); outline.Contains(p) || outline.BoundaryDistance(p) < margin {
				do(j*w + i)
			}
		}
	}
}

// hiddenBy returns the part of the mat that a ship's base hides from the camera: the
// base's foot and its top as the camera throws it on the mat.
func hiddenBy(base geom.Polygon, top geom.Length, eye calibration.Vec3) geom.Polygon {
	var all geom.Polygon
	for _, p := range base {
		all = append(all, p, onMat(p, eye, float64(top)))
	}
	return all.Hull(nil)
}
