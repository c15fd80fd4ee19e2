package pieces

import (
	"strings"

	"sightline/engine/geom"
)

// Dimensions of the guides, the pairs of pegs at the front and the rear of a base
// between which a template lies (rules/dimensions 1.1).
const (
	GuideInner = 10.1 * geom.Millimeter // half the gap between the two of a pair
	GuideOuter = 13.6 * geom.Millimeter // half the distance between the outer sides of a pair

	GuideTip = 1.4 * geom.Millimeter // width at the tip of the slenderest that a source knows
)

// ContactTie is how far apart, in mm, two exactly known outlines may be and still
// touch, and how deep they may lie in one another and still not overlap. A ship that
// backs up stops where its outline leaves the other's, to 1e-9 mm ([geom.Tie]), and its pose
// may have been written and read since. A millionth of a millimetre covers that, and
// no table shows it.
const ContactTie = 1e-6

// Rect is the rectangle x0…x1 by y0…y1 in a base's own frame, in mm.
type Rect struct{ X0, X1, Y0, Y1 float64 }

// Guides returns the four guides of a base, those at the front first: they stand out by
// reach at y in front of its middle and as far behind it.
func Guides(y, reach float64) [4]Rect {
	const in, out = float64(GuideInner), float64(GuideOuter)
	return [4]Rect{
		{-out, -in, y, y + reach}, {in, out, y, y + reach},
		{-out, -in, -y - reach, -y}, {in, out, -y - reach, -y},
	}
}

// Slender returns a guide, counter-clockwise, narrowed to the width that it has at its tip at least: at its
// first side or, of a rear guide, at the one opposite.
func Slender(q [4]geom.Point, rear bool) [4]geom.Point {
	a, b := &q[0], &q[1]
	if rear {
		a, b = &q[3], &q[2]
	}
	const f = float64(GuideTip / (GuideOuter - GuideInner))
	*a, *b = b.Lerp(*a, (1+f)/2), a.Lerp(*b, (1+f)/2)
	return q
}

// ShortName keeps what a user wrote short enough for one line of error.
func ShortName(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}
