// Package token is the printed ship code: which cells of a base's rim are white
// ([Token]), and the sizes and symmetries of the bases that carry it. Lengths are
// in millimetres from the base's middle, x to its right and y to its front.
package token

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
//
// A huge base is as wide as a large one. Its front and rear are cut into more cells, and into
// another number for each length, so that none of the three can be read as another of them.
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

// NewToken returns the token of a ship on a base of any size.
func NewToken(code ShipCode, base engine.Base) (Token, error) {
	if code < 0 || code >= Ships {
		return Token{}, fmt.Errorf("token: code %d: expected 0…%d", code, Ships-1)
	}
	if Cells(base, Front) == 0 {
		return Token{}, fmt.Errorf("token: base %v: tokens are made for small, medium, large, huge-195 and huge-225 bases", base)
	}
	return Token{Code: code, Base: base}, nil
}

// Bases lists the bases that tokens are made for, in the order of their sizes.
var Bases = [...]engine.Base{engine.Small, engine.Medium, engine.Large, engine.Huge195, engine.Huge225}

// MaxCells is the most cells that a side has: those along a huge base.
const MaxCells = 76

// cellCounts are the cells of a front or rear, and of a left or right side.
var cellCounts = [2][engine.Huge225 + 1]int{
	{engine.Small: 12, engine.Medium: 18, engine.Large: 24, engine.Huge195: 26, engine.Huge225: 27},
	{engine.Small: 12, engine.Medium: 18, engine.Large: 24, engine.Huge195: 69, engine.Huge225: MaxCells},
}

// Half returns half the token's width and half its length in millimetres: the base's.
func (t Token) Half() (x, y float64) {
	w, l := t.Base.Size()
	return float64(w) / 2, float64(l) / 2
}

// Corners returns the token's corners in its own frame: front left, front right, rear right, rear left.
func (t Token) Corners() [4]geom.Point {
	x, y := t.Half()
	return [4]geom.Point{{X: -x, Y: y}, {X: x, Y: y}, {X: x, Y: -y}, {X: -x, Y: -y}}
}

// HalfAlong returns half the length of a side, and how far it lies from the centre, in millimetres.
func (t Token) HalfAlong(s Side) (along, out float64) {
	x, y := t.Half()
	if s%2 == 1 {
		return y, x
	}
	return x, y
}

// Square reports whether a base is as long as it is wide, so that its edges alone show its
// heading up to quarter turns only, and not up to half turns as those of a huge base do.
func Square(base engine.Base) bool { w, l := base.Size(); return w == l }

// SideLength returns the length of a side of a base.
func SideLength(base engine.Base, s Side) geom.Length {
	w, l := base.Size()
	if s%2 == 1 {
		return l
	}
	return w
}

// Cells returns how many cells a side of this base has: 12 (small), 18 (medium) or 24 (large)
// on every side; 26 across and 69 along (huge-195); 27 across and 76 along (huge-225). Of a
// base that does not exist it is 0.
func Cells(base engine.Base, s Side) int {
	if base < 0 || int(base) >= len(cellCounts[0]) {
		return 0
	}
	return cellCounts[s&1][base]
}

// CellWidth returns the width of one cell along the side.
func CellWidth(base engine.Base, s Side) geom.Length {
	return (SideLength(base, s) - 2*Corner) / geom.Length(Cells(base, s))
}

// Cell reports whether cell i of a side is white.
func (t Token) Cell(s Side, i int) bool { return t.Code.Word(s)>>(i%WordBits)&1 == 1 }

// Rect is an axis-parallel rectangle in the token's own frame: millimetres from
// the centre, x to the right of the nose, y along it.
type Rect struct{ MinX, MinY, MaxX, MaxY float64 }

// sideRect turns a rectangle given along a side (a: along the side clockwise from
// its middle; d: depth from the edge inwards) into the token's frame.
func (t Token) sideRect(s Side, a0, a1, d0, d1 float64) Rect {
	x, y := t.Half()
	switch s {
	case Front: // clockwise runs to the right
		return Rect{a0, y - d1, a1, y - d0}
	case RightSide: // clockwise runs to the rear
		return Rect{x - d1, -a1, x - d0, -a0}
	case Rear:
		return Rect{-a1, -y + d0, -a0, -y + d1}
	default:
		return Rect{-x + d0, a0, -x + d1, a1}
	}
}

// Place returns a place of the token's frame, in mm: a along a side, d inwards from its edge.
func (t Token) Place(s Side, a, d float64) geom.Point {
	_, out := t.HalfAlong(s)
	switch s {
	case Front:
		return geom.Point{X: a, Y: out - d}
	case RightSide:
		return geom.Point{X: out - d, Y: -a}
	case Rear:
		return geom.Point{X: -a, Y: -out + d}
	default:
		return geom.Point{X: -out + d, Y: a}
	}
}

// White returns the white rectangles of the rim: four of the keyline, then one
// for each white cell. Everything else of the rim is dark.
func (t Token) White() []Rect {
	var out []Rect
	for s := Front; s <= LeftSide; s++ {
		h, _ := t.HalfAlong(s)
		out = append(out, t.sideRect(s, -h, h, 0, float64(Keyline)))
	}
	for s := Front; s <= LeftSide; s++ {
		h, _ := t.HalfAlong(s)
		w, first := float64(CellWidth(t.Base, s)), -h+float64(Corner)
		for i := range Cells(t.Base, s) {
			if t.Cell(s, i) {
				out = append(out, t.sideRect(s, first+float64(i)*w, first+float64(i+1)*w, float64(Keyline), float64(RimDeep)))
			}
		}
	}
	return out
}

// RimWhite reports whether a point of the token's frame lies on white of the rim,
// and whether it lies on the rim at all. It is White turned round, without the list.
func (t Token) RimWhite(p geom.Point) (white, onRim bool) {
	hx, hy := t.Half()
	dx, dy := hx-math.Abs(p.X), hy-math.Abs(p.Y)
	depth := math.Min(dx, dy)
	if depth < 0 || depth > float64(RimDeep) {
		return false, false
	}
	if depth <= float64(Keyline) {
		return true, true
	}
	var s Side
	var along float64
	switch {
	case dy == depth && p.Y > 0:
		s, along = Front, p.X
	case dx == depth && p.X > 0:
		s, along = RightSide, -p.Y
	case dy == depth:
		s, along = Rear, -p.X
	default:
		s, along = LeftSide, p.Y
	}
	h, _ := t.HalfAlong(s)
	i := math.Floor((along + h - float64(Corner)) / float64(CellWidth(t.Base, s)))
	if i < 0 || int(i) >= Cells(t.Base, s) {
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
	case engine.Huge195, engine.Huge225:
		return 41.45 * geom.Degree
	}
	return 40.62 * geom.Degree
}

// At returns the ink at a point of the token's frame (mm from the centre), and
// false outside the token. Letters are left to the printer.
func (t Token) At(p geom.Point) (color.RGBA, bool) {
	hx, hy := t.Half()
	if math.Abs(p.X) > hx || math.Abs(p.Y) > hy {
		return color.RGBA{}, false
	}
	if white, onRim := t.RimWhite(p); onRim {
		if white {
			return InkWhite, true
		}
		return InkDark, true
	}
	// The panel: both diagonals and the side marks, as the card prints them.
	s, c := math.Sincos(float64(FrontArcHalfAngle(t.Base)))
	x, y := math.Abs(p.X), math.Abs(p.Y)
	if math.Abs(x*c-y*s) < 0.3 || (y < 0.3 && x > hx-float64(RimDeep)-3) {
		return InkArc[t.Code.Player()], true
	}
	return InkPanel, true
}
