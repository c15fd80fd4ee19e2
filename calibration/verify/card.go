package verify

import (
	"sightline/calibration"
	"sightline/engine/geom"
)

// Card is the printed card that verifies a calibration: two strips of one sheet with
// markers a known distance apart. One lies on the mat, the other on ships' bases, to
// check both heights at which the program measures.
type Card struct{ Strips [2]Strip }

// Strip is a strip of the check card, in its own frame: mm from the lower left corner, x
// to the right and y up as it is read.
//
//	┌───────────┐
//	│[B]  │     │   three markers in a triangle: two at the ends of the long
//	│     │     │   side, one in the middle off the line, to test both
//	│     │ [C] │   directions of the table;
//	│     │     │   the bar measures the print
//	│[A]  │     │
//	└───────────┘
type Strip struct {
	Name          string // "mat" or "bases": where it lies
	Width, Height geom.Length
	Tags          [3]calibration.Marker // A, B, C; Z is 0, the strip's own surface
	Bar           [2]geom.Point
}

// The check card's measures. Both strips fit side by side on A4 and on US Letter. A
// marker of 30 mm has cells of 3.75 mm, more than three pixels when a 1280×720 camera
// sees a whole mat.
const (
	tagSize       = 30 * geom.Millimeter
	Length        = 200 * geom.Millimeter // from marker A to marker B
	Bar           = 220 * geom.Millimeter // from end to end
	checkHeight   = 240 * geom.Millimeter
	checkWidth    = 84 * geom.Millimeter
	checkTagsFrom = 20 * geom.Millimeter // centres of A and B from the edges
	checkTagC     = 64 * geom.Millimeter // centre of C from the left edge
	checkBarX     = 42 * geom.Millimeter
)

// DefaultCard returns the card that print check-card draws: ids 16, 17, 18
// on the strip for the mat and 19, 20, 21 on the one for the bases.
func DefaultCard() (card Card) {
	const from, to, mid = checkTagsFrom, checkTagsFrom + Length, checkTagsFrom + Length/2
	at := [3]geom.Point{
		{X: float64(from), Y: float64(from)}, {X: float64(from), Y: float64(to)}, {X: float64(checkTagC), Y: float64(mid)},
	}
	end := float64(checkHeight-Bar) / 2
	for i, name := range [2]string{"mat", "bases"} {
		s := &card.Strips[i]
		s.Name, s.Width, s.Height = name, checkWidth, checkHeight
		s.Bar = [2]geom.Point{{X: float64(checkBarX), Y: end}, {X: float64(checkBarX), Y: end + float64(Bar)}}
		for k, p := range at {
			s.Tags[k] = calibration.Marker{ID: calibration.CheckCardIDs + 3*i + k, Center: p, Size: tagSize}
		}
	}
	return card
}
