package vision

import (
	"fmt"
	"image/color"
	"math"

	"sightline/engine"
	"sightline/engine/geom"
)

// Token is the printed card of one ship: a coded rim along the four sides of the
// base, seen and measured by the camera, round a panel for people.
//
//	+--------------------------------+  <- the base's edge
//	|  keyline, white, 1 mm          |
//	|  +--+----+-+----+----+-+--+    |
//	|  |##|cell|#|cell|cell|#|##|    |  cells 2.7 mm deep, # dark
//	|  +--+----+-+----+----+-+--+    |
//	|  |##|                   |##|   |
//	|  |  |       panel       |  |   |
//
// The white keyline gives a long straight edge of strong contrast on all four
// sides whatever the code: that is what finds the ship and fixes its heading. The
// cells behind it carry the side's word; cell i of a side carries bit i mod 12, so
// that twelve cells of a longer side are enough wherever they stand.
type Token struct {
	Code ShipCode
	Base engine.Base
}

// Dimensions of the rim.
const (
	Keyline  = 1.0 * geom.Millimeter // width of the white line along the edge
	CellDeep = 2.7 * geom.Millimeter // depth of a cell behind the keyline
	RimDeep  = Keyline + CellDeep
	Corner   = 4.0 * geom.Millimeter // what each end of a side leaves free of cells
	BaseTop  = 4.0 * geom.Millimeter // height of the token over the mat (rules/dimensions; callipers)
)

// NewToken returns the token of a ship on a small, medium or large base.
func NewToken(code ShipCode, base engine.Base) (Token, error) {
	if code < 0 || code >= Ships {
		return Token{}, fmt.Errorf("token: code %d: expected 0…%d", code, Ships-1)
	}
	if base != engine.Small && base != engine.Medium && base != engine.Large {
		return Token{}, fmt.Errorf("token: base %v: tokens are made for small, medium and large bases", base)
	}
	return Token{Code: code, Base: base}, nil
}

// Side returns the token's side length, that of the base.
func (t Token) Side() geom.Length { w, _ := t.Base.Size(); return w }

// Cells returns how many cells a side of this base has: 12, 18 or 24.
func Cells(base engine.Base) int {
	switch base {
	case engine.Medium:
		return 18
	case engine.Large:
		return 24
	}
	return 12
}

// CellWidth returns the width of one cell along the side.
func CellWidth(base engine.Base) geom.Length {
	w, _ := base.Size()
	return (w - 2*Corner) / geom.Length(Cells(base))
}

// Cell reports whether cell i of a side is white.
func (t Token) Cell(s Side, i int) bool { return t.Code.Word(s)>>(i%WordBits)&1 == 1 }

// Rect is an axis-parallel rectangle in the token's own frame: millimetres from
// the centre, x to the right of the nose, y along it.
type Rect struct{ MinX, MinY, MaxX, MaxY float64 }

// sideRect turns a rectangle given along a side (a: along the side clockwise from
// its middle; d: depth from the edge inwards) into the token's frame.
func (t Token) sideRect(s Side, a0, a1, d0, d1 float64) Rect {
	h := float64(t.Side()) / 2
	switch s {
	case Front: // clockwise runs to the right
		return Rect{a0, h - d1, a1, h - d0}
	case RightSide: // clockwise runs to the rear
		return Rect{h - d1, -a1, h - d0, -a0}
	case Rear:
		return Rect{-a1, -h + d0, -a0, -h + d1}
	default:
		return Rect{-h + d0, a0, -h + d1, a1}
	}
}

// White returns the white rectangles of the rim: four of the keyline, then one
// for each white cell. Everything else of the rim is dark.
func (t Token) White() []Rect {
	h := float64(t.Side()) / 2
	var out []Rect
	for s := Front; s <= LeftSide; s++ {
		out = append(out, t.sideRect(s, -h, h, 0, float64(Keyline)))
	}
	w := float64(CellWidth(t.Base))
	first := -h + float64(Corner)
	for s := Front; s <= LeftSide; s++ {
		for i := range Cells(t.Base) {
			if t.Cell(s, i) {
				out = append(out, t.sideRect(s, first+float64(i)*w, first+float64(i+1)*w, float64(Keyline), float64(RimDeep)))
			}
		}
	}
	return out
}

// rimWhite reports whether a point of the token's frame lies on white of the rim,
// and whether it lies on the rim at all. It is White turned round, without the list.
func (t Token) rimWhite(p geom.Point) (white, onRim bool) {
	h := float64(t.Side()) / 2
	m := math.Max(math.Abs(p.X), math.Abs(p.Y))
	depth := h - m
	if depth < 0 || depth > float64(RimDeep) {
		return false, false
	}
	if depth <= float64(Keyline) {
		return true, true
	}
	var s Side
	var along float64
	switch {
	case p.Y == m:
		s, along = Front, p.X
	case p.X == m:
		s, along = RightSide, -p.Y
	case -p.Y == m:
		s, along = Rear, -p.X
	default:
		s, along = LeftSide, p.Y
	}
	i := math.Floor((along + h - float64(Corner)) / float64(CellWidth(t.Base)))
	if i < 0 || int(i) >= Cells(t.Base) {
		return false, true
	}
	return t.Cell(s, int(i)), true
}

// Inks of the token.
var (
	InkWhite = color.RGBA{255, 255, 255, 255}
	InkDark  = color.RGBA{16, 16, 18, 255}
	InkPanel = color.RGBA{38, 40, 46, 255}
	InkArc   = [3]color.RGBA{1: {214, 72, 62, 255}, 2: {92, 190, 110, 255}} // by player
)

// FrontArcHalfAngle returns the half angle of the printed front arc of a 2.0/2.5
// token (rules/dimensions 1.5).
func FrontArcHalfAngle(base engine.Base) geom.Angle {
	switch base {
	case engine.Medium:
		return 41.40 * geom.Degree
	case engine.Large:
		return 41.76 * geom.Degree
	}
	return 40.62 * geom.Degree
}

// At returns the ink at a point of the token's frame (mm from the centre), and
// false outside the token. Letters are left to the printer.
func (t Token) At(p geom.Point) (color.RGBA, bool) {
	h := float64(t.Side()) / 2
	if math.Abs(p.X) > h || math.Abs(p.Y) > h {
		return color.RGBA{}, false
	}
	if white, onRim := t.rimWhite(p); onRim {
		if white {
			return InkWhite, true
		}
		return InkDark, true
	}
	// The panel: both diagonals and the side marks, as the card prints them.
	s, c := math.Sincos(float64(FrontArcHalfAngle(t.Base)))
	x, y := math.Abs(p.X), math.Abs(p.Y)
	if math.Abs(x*c-y*s) < 0.3 || (y < 0.3 && x > h-float64(RimDeep)-3) {
		return InkArc[t.Code.Player()], true
	}
	return InkPanel, true
}
