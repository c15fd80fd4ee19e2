package sheet

import (
	"image/color"
	"math"

	"sightline/engine/geom"
	"sightline/vision/token"
)

// inkPlate is the light plate below player 2's letters.
var inkPlate = color.RGBA{232, 230, 222, 255}

// letterGap is the distance of letters and chevron from the rim: at 1080p a pixel is about 1 mm, so
// light ink nearer than two pixels would brighten dark cells.
const letterGap = 2.5 * geom.Millimeter

// artwork draws a ship's token in its own frame: millimetres from the centre, x to the right of the
// nose and y forward.
//
// Rim, panel, arc lines and side marks are those of token.Token.At; the letters and the chevron at
// the front are for people.
func artwork(t token.Token) []Shape {
	hx, hy := t.Half()
	panel := panelOf(t)
	rim := Shape{Fill: token.InkWhite} // one shape: no seam between a keyline and its cells
	for _, r := range t.White() {
		rim.Rings = append(rim.Rings, box(r.MinX, r.MinY, r.MaxX, r.MaxY))
	}
	// The dark ground ends below the middle of the white keyline. At the token's edge it would show
	// as a grey hairline where a printer smooths edges.
	const under = float64(token.Keyline) / 2
	shapes := []Shape{
		{Fill: token.InkDark, Rings: [][]geom.Point{box(-hx+under, -hy+under, hx-under, hy-under)}},
		rim,
		{Fill: token.InkPanel, Rings: [][]geom.Point{box(-panel.X, -panel.Y, panel.X, panel.Y)}},
		arcLines(t, panel),
		chevron(t, panel),
	}
	return append(shapes, letters(t, panel)...)
}

// panelOf returns half the width and length of the panel inside the rim, in mm.
func panelOf(t token.Token) geom.Point {
	x, y := t.Half()
	return geom.Point{X: x - float64(token.RimDeep), Y: y - float64(token.RimDeep)}
}

// arcLines draws both diagonals, the borders of the front and rear arcs, and the marks in the
// middle of the left and right sides.
func arcLines(t token.Token, panel geom.Point) Shape {
	const half, mark = 0.3, 3.0 // half the width of a line; length of a side mark
	s, c := math.Sincos(float64(token.FrontArcHalfAngle(t.Base)))
	out := Shape{Fill: token.InkArc[t.Code.Player()]}
	for _, sign := range []float64{1, -1} {
		u := geom.Point{X: sign * s, Y: c}.Mul(2 * panel.Y)
		n := geom.Point{X: c, Y: -sign * s}.Mul(half)
		out.Rings = append(out.Rings, clipped([]geom.Point{u.Add(n), u.Sub(n), u.Mul(-1).Sub(n), u.Mul(-1).Add(n)}, panel.X, panel.Y))
	}
	out.Rings = append(out.Rings,
		box(panel.X-mark, -half, panel.X, half),
		box(-panel.X, -half, -panel.X+mark, half))
	return out
}

// chevron draws a chevron that points to the front.
func chevron(t token.Token, panel geom.Point) Shape {
	wideOf, _ := t.Half()
	k := min(wideOf/20, 1.5)
	top, wide, high, thick := panel.Y-float64(letterGap), 4.2*k, 3.0*k, 1.8*k
	return Shape{Fill: token.InkWhite, Rings: [][]geom.Point{{
		{X: 0, Y: top}, {X: wide, Y: top - high}, {X: wide, Y: top - high - thick},
		{X: 0, Y: top - thick}, {X: -wide, Y: top - high - thick}, {X: -wide, Y: top - high},
	}}}
}

// letters writes the ship's id as large as the rear arc's wedge allows: white on the panel for
// player 1, black on a light plate for player 2.
func letters(t token.Token, panel geom.Point) []Shape {
	const pad, most = 0.9, 12.0 // mm around the letters; cap height on large and huge bases
	id := t.Code.ID()
	tan := math.Tan(float64(token.FrontArcHalfAngle(t.Base)))
	low := panel.Y - float64(letterGap) // the plate's lower edge, below the centre
	// The plate's upper corners must not touch the arc lines: width·height/2 + pad + line ≤ (low -
	// height - 2·pad)·tan
	const line = 0.3 + 0.3
	height := min(most, ((low-2*pad)*tan-pad-line)/(bold().width(id, 1)/2+tan))
	width := bold().width(id, height)

	ink := token.InkWhite
	var out Page
	if t.Code.Player() == 2 {
		ink = token.InkDark
		out.rect(-width/2-pad, low-height-2*pad, width/2+pad, low, inkPlate)
	}
	out.text(bold(), geom.Point{Y: low - pad}, height, center, 0, ink, id)
	return placed(out.Shapes, geom.Point{}) // drawn downwards like a page, turned up here
}

// Single draws a ship's token alone, on a page of exactly the base's size.
func Single(t token.Token, printer PrinterScale) Page {
	x, y := t.Half()
	return Page{
		Title: t.Code.ID() + " " + t.Base.String(), Width: geom.Length(2 * x), Height: geom.Length(2 * y), Bleed: true, Printer: printer,
		Shapes: placed(artwork(t), geom.Point{X: x, Y: y}),
	}
}
