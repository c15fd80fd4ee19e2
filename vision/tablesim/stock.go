package tablesim

import (
	"image/color"
	"math"
)

// A base out of the publisher's box (WearStock): a frame of plastic and, deeper than the frame and
// with play, a card with a printed line along its border. The ship whose card it is (Table.Cards)
// determines its print; the ship that carries it determines how it lies in the frame.

const (
	stockFrame  = 1.4 // mm: width of the frame
	stockGap    = 0.3 // of air between frame and card, where the card lies in the middle
	stockDeep   = 0.4 // by which the card's top lies below the frame's
	stockLine   = 0.6 // width of the line along the card's border
	stockSlip   = 0.25
	stockTurned = 0.006 // rad

	stockTop = 2 // the mark of the frame's top
)

// stockCard is the appearance of a ship's card and its place in the frame.
type stockCard struct {
	frame           // in the base's own
	hx, hy  float64 // half its width and length
	line    float64 // sRGB of its line, 0…255
	ground  float64 // of what it is printed on, in the middle
	toX     float64 // by how much that grows lighter to the right and to the front, over half the card
	toY     float64
	starred uint64  // seed of its stars
	shine   float64 // by how many times the frame's top is lighter than black plastic's walls
}

// newStockCard returns the card of one ship in the frame of another.
func newStockCard(hx, hy float64, lies, printed uint64) *stockCard {
	n := uint64(0)
	u := func(seed uint64) float64 { // -1…1
		n++
		return float64(mix64(seed+n)>>11)/(1<<52) - 1
	}
	s, c := math.Sincos(stockTurned * u(lies))
	k := &stockCard{frame: frame{stockSlip * u(lies), stockSlip * u(lies), s, c}, starred: mix64(printed)}
	k.hx, k.hy = hx-stockFrame-stockGap, hy-stockFrame-stockGap
	k.line, k.ground, k.toX, k.toY, k.shine = 110+60*u(printed), 60+30*u(printed), 50*u(printed), 50*u(printed), 2.2+0.8*u(lies)
	return k
}

// ink returns the ink at a place of the base's frame, at the card's height: that of the card, or of
// the gap around it.
func (k *stockCard) ink(x, y float64) color.RGBA {
	x, y = k.local(x, y)
	deep := min(k.hx-math.Abs(x), k.hy-math.Abs(y))
	if deep < 0 {
		return color.RGBA{8, 8, 9, 255}
	}
	v := k.ground
	switch star := mix64(k.starred ^ uint64(int64(math.Floor(x))+1<<20)<<24 ^ uint64(int64(math.Floor(y))+1<<20)); {
	case deep < stockLine:
		v = k.line
	case star%16 == 0:
		v = 120 + float64(star>>32%100)
	}
	v = min(max(v+k.toX*x/k.hx+k.toY*y/k.hy, 12), 235)
	g := uint8(v/8) * 8 // few inks: each is an area of its own
	return color.RGBA{g, g, g, 255}
}

// meetsStock sets where a ray that meets the top's plane inside its outline hits a stock base.
func (b *base) meetsStock(r ray, x, y float64, h *hit) bool {
	if b.top <= h.z {
		return false
	}
	if min(b.hx-math.Abs(x), b.hy-math.Abs(y)) < stockFrame {
		*h = hit{z: b.top, x: x, y: y, surface: surfaceGuide, mark: stockTop, fine: true}
		return true
	}
	z := b.top - stockDeep
	if z <= h.z {
		return false
	}
	x, y = b.local(r.at(z))
	ink := b.stock.ink(x, y)
	*h = hit{z: z, x: x, y: y, surface: surfaceToken, mark: uint32(ink.R)<<16 | uint32(ink.G)<<8 | uint32(ink.B), fine: true}
	return true
}
