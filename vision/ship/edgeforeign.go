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

// A base out of the publisher's box carries a card of its own in a frame: the plastic's outer edge, the frame's inner
// edge and the card's stand 0.3 to 2 mm apart along every side, and the wall's foot stands out beyond the plastic's edge
// on the side that faces the camera. Any of them may be the one along which the picture brightens most, and not the same
// one on two opposite sides: the square that is laid through them then lies off by half of what parts them,
// and fits as well as the right one. Nothing in the fit tells. So a base is taken for one of ours only if its code
// was read before, or if it shows the white line of our print round its edge; the place of any other is stated as no
// better known than the edges stand apart.

const (
	// foreignSigma, in mm, is the least that is added to each axis of the place of a base whose card is not ours, and
	// foreignTurn at its rim to its heading: a card has 0.25 mm of play in its frame. A side's edge may be the wall's foot,
	// at most 1.5 mm outside the plastic's edge, or the card's, up to 2.2 mm inside it: of two opposite ones
	// the mean is off by 1.9 mm at most. Where the edges lie inside the nominal size by more, lines on the card may be among
	// them: the inset is added. Measured: docs/accuracy.md.
	foreignSigma = 0.8
	foreignTurn  = 0.3
	foreignSeen  = 0.45 // share of every side that must be found: of less, half may be another thing's

	// What counts as our keyline: on three sides at least (a miniature's shadow may lie on one), along most of what was
	// found of them, a line with two thirds of the light of the markers' paper, in a square of our token's size: frames of clear
	// plastic under a hard lamp had 0.4 to 0.65 of it on three sides (one table; docs/accuracy.md).
	// A white line as wide as a pixel seems to begin half a millimetre further out; one that is printed on a
	// card in a frame lies further in than keylineIn.
	keylineWhite = 0.65
	keylineShare = 0.7
	keylineSides = 3
	keylineOut   = 0.75 // mm
	keylineIn    = 0.2
)

// foreign states what is known of a base whose card is not ours, and reports whether that is anything.
func foreign(s *vision.EdgeSight) bool {
	if slices.Min(s.Sides[:]) < foreignSeen {
		return false
	}
	w, _ := s.Base.Size()
	place := square(foreignSigma) + square(float64(s.Inset))
	s.Covariance[0] += place
	s.Covariance[4] += place
	s.Covariance[8] += square(foreignTurn / (float64(w) / 2))
	return true
}

// keylined reports whether the edges that were found are those of our print: a line as white as the markers' paper
// runs along three sides at least.
func (l *Locator) keylined(g *image.Gray, t token.Token, pose geom.Pose, inset float64, places []edgePlace) bool {
	white, ok := l.paper(g)
	if !ok || inset > keylineIn || inset < -keylineOut {
		return false
	}
	sides := 0
	for s := token.Front; s <= token.LeftSide; s++ {
		line := sideOf(&l.table.Camera, t, pose, s, l.top(pose.Point))
		n, like := 0, 0
		for _, p := range places {
			if p.side != int(s) || p.weight <= 0.1 {
				continue
			}
			n++
			for d := inset; d <= inset+1.5*float64(token.Keyline); d += 0.25 {
				x, y := line.pixel(p.a, d)
				if v, ok := bilinearLight(g, x, y); ok && v >= keylineWhite*white {
					like++
					break
				}
			}
		}
		if n > 0 && float64(like) >= keylineShare*float64(n) {
			sides++
		}
	}
	return sides >= keylineSides
}

// paper returns the light, in linear light, of the white paper round the markers' black squares. It reports false where
// the picture shows none.
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
