package obstacle

import (
	"math"
	"slices"

	"sightline/calibration/linalg"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/internal/gray"
	"sightline/vision/token"
)

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

	// With fewer pixels a search does not end with a fit that is worse than coarseMisfit, and the next best must be worse by
	// coarseMargin: in one picture of 1280×720 the wrong face of a rock fitted as well as 0.36, 2 mm off. That was before the
	// other face was always fitted too. In 14 pictures of 0.65 to 0.9 px/mm (2026-11-28) whatever was wrong had a misfit of 0.47
	// or more, also with a catalogue that lacked all obstacles on the table.
	coarseScale  = 0.9 // px/mm
	coarseMisfit = 0.25
	coarseMargin = 0.10

	// Obstacles that were not recognised, in glare, had misfits of 0.48 to 0.61: what fits
	// better than suspectMisfit may be one. So near a ship that it may be a miniature or
	// its shadow, which fit no better than 0.52, it must fit better than suspectNearShip.
	suspectMisfit   = 0.65
	suspectNearShip = 0.55
)

// nearShipVisible is the share of an obstacle's outline that must be in view if it is seen for the first time within a miniature's
// reach of a ship: half of a round miniature that reached over its base's edge fitted a round rock whose rest the base would have
// hidden (picture 215). Of 50 pictures of 1402, 1406, 1407, 1413 and 1414 (2026-11-24) what lay near ships and was no obstacle cost
// 0.62 and more with half of it in view, 0.72 with 0.64, and its misfit was 0.35 and more; rocks under ships cost 0.15 to 0.62 with
// 0.62 to 0.70 in view. From nearShipPart on it must fit no better than others.
const (
	nearShipVisible = 0.75
	nearShipPart    = 0.70
)

// nearShipMisfit is the largest misfit of an obstacle that is seen there for the first time. In 1.7 times the right light a miniature
// beyond its base's edge fitted an asteroid with 0.449 (408 re-exposed), and was invented. Of a rock that continues under the base less
// is seen: on a simulated table another rock fitted one with 0.39, 3 mm off.
const nearShipMisfit = 0.35

// partMisfit is the largest misfit of an obstacle near a ship of which less than partVisible is in view, or less than nearShipPart if it
// contains what continues under a visible rim. The visible end of a large rock under a base looks like a small rock: with
// 0.58 to 0.67 in view a small asteroid fitted parts of two others with 0.32 to 0.40 (1622 and 1623, five pictures, 2026-11-28).
const (
	partVisible = 0.8
	partMisfit  = 0.30
)

func sq[F float32 | float64](x F) F { return x * x }

// suspect reports whether a match that was not accepted may be an obstacle all the same.
func (f *Finder) suspect(v *vision.ObstacleView) bool {
	if v.Misfit < suspectNearShip {
		return true
	}
	return v.Misfit < suspectMisfit && !f.nearShip(v.Pose.Point)
}

// nearShip reports whether a ship's miniature or its shadow may lie at a place, or the picture may show the miniature there: one seen
// aslant appears farther from its base than it reaches.
func (f *Finder) nearShip(p geom.Point) bool {
	return f.shipWithin(p, token.MiniatureReach) || slices.ContainsFunc(f.bases, func(b geom.Polygon) bool { return f.mayHide(b, p) })
}

// maybeShadow reports whether a match may be a shadow: it is darker than the mat, and nothing is printed in it.
func (f *Finder) maybeShadow(v *vision.ObstacleView) bool {
	return v.Lit < sureLit && f.darker(v.Outline) && !f.textured(v.Outline)
}

// endsInShadow reports whether the edges that a match fits may be those of its shadow. What is darker than the mat all round runs into
// its shadow there: on a wood-coloured mat (1503, blur of 1.0 px) edges alone put three tokens up to 4.6 mm beside their places, 5.9
// stated sigmas, with misfits of 0.27 to 0.39 and at most 0.08 of their outlines lit. On dark mats (1501, 1502, 1504 and 1505, six
// pictures) all of 31 had 0.83 or more lit.
func (f *Finder) endsInShadow(v *vision.ObstacleView) bool {
	return v.Misfit > acceptClear && v.Lit < sureLit && f.darker(v.Outline)
}

// textured reports whether most of what lies well inside an outline is more uneven than bare mat, as print is and a shadow is not.
func (f *Finder) textured(outline geom.Polygon) bool {
	all, uneven := 0, 0
	f.eachInside(outline, 0, func(k int) {
		if !f.test.seen[k] || outline.BoundaryDistance(cellAt(k%f.test.w, k/f.test.w)) < texturedIn {
			return
		}
		if all++; f.test.unevenness(k) > unevenLimit {
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
	shadowEven  = 0.437
	shadowDark  = 0.8
	shadowRim   = 3
	shadowPlain = 2 // grey levels by which the mat's print may change from cell to cell: a star is no sharper in the shadow
	shadowCells = 60
)

// accepted reports whether a match may stand in a scene.
func (f *Finder) accepted(v *vision.ObstacleView) bool {
	if v.Entry == nil || v.Denied || v.Visible < acceptVisible {
		return false
	}
	near := !v.Known && f.nearShip(v.Pose.Point)
	maybeMiniature := near && (!f.goesUnder(v.Outline) || f.maybeShadow(v))
	if maybeMiniature && v.Visible < nearShipVisible && !f.fitsInPart(v) {
		return false
	}
	if !v.Known && v.Misfit > shadowMisfit && f.maybeShadow(v) {
		return false
	}
	if near && v.Area == 0 && v.Misfit > partMisfit &&
		(v.Visible < nearShipPart || maybeMiniature && v.Visible < partVisible) {
		return false
	}
	if v.Sure || v.Area > 0 {
		return true
	}
	if !v.Known && f.endsInShadow(v) {
		return false
	}
	if v.Misfit > acceptMisfit || near && v.Misfit > nearShipMisfit {
		return false
	}
	least := acceptMargin
	if f.coarse {
		least = coarseMargin
	}
	return v.Second == "" || v.Margin >= marginOf(v.Misfit, least)
}

// fitsInPart reports whether a match of which less than nearShipVisible is in view is beyond doubt near a ship all the same: the less of
// it is in view, the better it must fit.
func (f *Finder) fitsInPart(v *vision.ObstacleView) bool {
	part := min((v.Visible-acceptVisible)/(nearShipPart-acceptVisible), 1)
	return v.Misfit < nearShipMisfit*part || v.Sure && costOf(v) < sureCost*part
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
