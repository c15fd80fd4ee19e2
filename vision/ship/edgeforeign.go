package ship

import (
	"image"
	"slices"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
	"sightline/vision/token"
)

// A base out of the publisher's box carries its own card in a frame. Along every side there are
// three edges 0.3 to 2 mm apart: the plastic's outer edge, the frame's inner edge and the card's;
// on the side that faces the camera the wall's foot stands out further. Any of them may be the
// strongest edge, and not the same one on opposite sides. The square fitted through them is then
// wrong by half of their distance, and fits as well as the right one, so the fit cannot show it. A
// base therefore counts as ours only if its code was read before, or if it shows the white line
// around our print. The place of any other base is stated with an uncertainty that covers the
// distance of the edges.

const (
	// foreignSigma, in mm, is the least sigma added to each axis of the place of a base with another
	// card, and foreignTurn that at its rim added to its heading: a card has 0.25 mm of play in its
	// frame. A side's edge may be the wall's foot, at most 1.5 mm outside the plastic's edge, or the
	// card's, up to 2.2 mm inside it, so the mean of two opposite ones is wrong by at most 1.9 mm. If
	// the edges lie inside the nominal size, they may be lines on the card, and the inset is added.
	// Measured: docs/accuracy.md.
	foreignSigma = 0.8
	// foreignInset, in mm: where all edges lie further inside, none is the plastic's. On ten tables 41
	// bases have edges at most 0.18 mm inside. Four have them 1.0 to 1.1 mm inside: three are 1.3 to
	// 2.2 mm off, and one 8.4 mm, with a miniature's wing for a side (1831 B3).
	foreignInset = 0.6
	foreignTurn  = 0.3
	foreignSeen  = 0.45 // share of every side that must be found: with less, half of it may belong to something else

	outshoneReach = 15 * geom.Millimeter // more than the errors that were seen

	// What counts as our keyline: a line with two thirds of the light of the markers' paper in a
	// square of our token's size, on at least three sides (a miniature's shadow may lie on one), along
	// most of what was found of them. Frames of clear plastic under a hard lamp had 0.4 to 0.65 of it
	// on three sides (one table; docs/accuracy.md). A white line as wide as a pixel seems to begin
	// half a millimetre further out; one printed on a card in a frame lies further in than keylineIn.
	keylineWhite = 0.65
	keylineShare = 0.7
	keylineSides = 3
	keylineOut   = 0.75 // mm
	keylineIn    = 0.2

	// Behind the keyline lie cells, of which about half are white; a frame of white plastic has a card there. Of what was found, at least
	// this share has so much of the paper's light there. On 52 pictures of our tokens (1532 fits) at least 0.44 has it, on tables with
	// stock ships in white and yellow plastic (1241 and 1243, 8 fits) at most 0.20 (TestEdgesOfStockBases, TestEdgesRendered).
	cellsAt    = 3.1 // mm
	cellsWhite = 0.4
	cellsShare = 0.3
)

// foreign sets the uncertainty of a base with another card. It reports false if too little is
// known.
func foreign(s *vision.EdgeSight) bool {
	if slices.Min(s.Sides[:]) < foreignSeen || s.Inset > foreignInset {
		return false
	}
	w, _ := s.Base.Size()
	place := square(foreignSigma) + square(float64(s.Inset))
	s.Covariance[0] += place
	s.Covariance[4] += place
	s.Covariance[8] += square(foreignTurn / (float64(w) / 2))
	return true
}

// outshone reports whether the picture brightens more along the outline of a base a few
// millimetres beside one that was found, whether or not a square can be fitted to it. Two sides of
// a base may form a square with the edges of its miniature or of the wall's foot: A1 of 1812 was
// found 9.4 and 12.8 mm off, at 10 of its sigmas, and where it stands the picture brightens 1.25
// to 1.4 times as much. There the grain of the picture, or a hint too far off, kept the right
// square from being found.
func (l *Locator) outshone(g *image.Gray, turn geom.Angle, s *vision.EdgeSight) bool {
	hint := vision.EdgeHint{Base: s.Base, Pose: s.Pose, Reach: outshoneReach, Turn: turn}
	own, beside := l.brightening(g, s.Base, s.Pose), 0.0
	for _, p := range l.edgeStarts(g, hint) {
		if light := l.brightening(g, s.Base, p); p.Distance(s.Pose.Point) < edgeApart {
			own = max(own, light)
		} else {
			beside = max(beside, light)
		}
	}
	return beside > own
}

// keylined reports whether the edges that were found are those of our print: a line as white as the
// markers' paper runs along at least three sides, and white cells lie behind it.
func (l *Locator) keylined(g *image.Gray, t token.Token, pose geom.Pose, inset float64, places []edgePlace) bool {
	white, ok := l.paper(g)
	if !ok || inset > keylineIn || inset < -keylineOut {
		return false
	}
	lit := func(x, y, share float64) bool {
		v, ok := bilinearLight(g, x, y)
		return ok && v >= share*white
	}
	sides, all, cells := 0, 0, 0
	for s := token.Front; s <= token.LeftSide; s++ {
		line := sideOf(&l.table.Camera, t, pose, s, l.top(pose.Point))
		n, like := 0, 0
		for _, p := range places {
			if p.side != int(s) || p.weight <= 0.1 {
				continue
			}
			n++
			if x, y := line.pixel(p.a, inset+cellsAt); lit(x, y, cellsWhite) {
				cells++
			}
			for d := inset; d <= inset+1.5*float64(token.Keyline); d += 0.25 {
				if x, y := line.pixel(p.a, d); lit(x, y, keylineWhite) {
					like++
					break
				}
			}
		}
		all += n
		if n > 0 && float64(like) >= keylineShare*float64(n) {
			sides++
		}
	}
	return sides >= keylineSides && float64(cells) >= cellsShare*float64(all)
}

// paper returns the linear light of the white paper around the markers' black squares. It reports
// false if the picture shows none.
func (l *Locator) paper(g *image.Gray) (float64, bool) {
	var light []float64
	for _, m := range l.table.Layout.Markers {
		out := float64(m.Size) * (0.5 + 0.5*float64(calibration.MarkerMargin/calibration.MarkerSize))
		at := geom.Pose{Point: m.Center, Heading: m.Heading}
		for _, p := range [4]geom.Point{{X: -out}, {X: out}, {Y: -out}, {Y: out}} {
			px, ok := l.table.PixelOf(at.Transform(p), m.Z)
			if v, ok2 := bilinearLight(g, px.X, px.Y); ok && ok2 {
				light = append(light, v)
			}
		}
	}
	return gray.Quantile(light, 0.5), len(light) > 0
}
