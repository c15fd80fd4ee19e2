package tablesim

import (
	"fmt"
	"image/color"
	"math"

	"sightline/engine"
	"sightline/vision/token"
)

// ---- bases

const (
	surfaceToken uint8 = iota
	surfaceWall
	surfaceGuide
	surfacePeg
)

// base is a ship's plastic base with its token on top.
type base struct {
	frame
	hx, hy, top float64 // half its width and length; height of the token's top
	guides      [4]box
	token       token.Token
	plastic     Plastic
	worn        Wear
	print       Print
	stock       *stockCard // of WearStock
	spare       bool       // the token lies there without a base
	look        *Look
	id          uint64
}

func newBase(s engine.Ship, top float64, look *Look) (*base, error) {
	code, err := token.CodeOfID(s.ID)
	if err != nil {
		return nil, fmt.Errorf("tablesim: %w", err)
	}
	token, err := token.NewToken(code, s.Base)
	if err != nil {
		return nil, fmt.Errorf("tablesim: ship %s: %w", s.ID, err)
	}
	b := &base{frame: frameOf(s.Pose), top: top, guides: guides(s.Base), token: token, plastic: look.Plastic, look: look}
	b.hx, b.hy = token.Half()
	b.id = checksum(1, b.x, b.y, b.s, b.c, top, float64(code), float64(s.Base))
	return b, nil
}

func (b *base) meets(r ray, h *hit) bool {
	x0, y0 := r.at(b.top)
	x0, y0 = b.local(x0, y0)
	deep := min(b.hx-math.Abs(x0), b.hy-math.Abs(y0))
	switch {
	case deep < -12:
		return false
	case deep >= 0 && b.stock != nil:
		return b.meetsStock(r, x0, y0, h)
	case deep >= 0:
		if b.top <= h.z {
			return false
		}
		ink, onPaper := b.token.At(b.print.drawn(x0, y0))
		if !onPaper { // the print is smaller: the sheet's white is around it
			ink = color.RGBA{255, 255, 255, 255}
		}
		ink = b.worn.ink(ink, deep)
		*h = hit{
			z: b.top, x: x0, y: y0, surface: surfaceToken,
			mark: uint32(ink.R)<<16 | uint32(ink.G)<<8 | uint32(ink.B), fine: deep < float64(token.RimDeep)+0.5,
		}
		return true
	}
	x1, y1 := b.local(r.gx, r.gy)
	found := false
	if t, ok := (box{-b.hx, -b.hy, b.hx, b.hy}).enter(x0, y0, x1, y1); ok && b.top*(1-t) > h.z {
		*h = hit{z: b.top * (1 - t), x: x0 + t*(x1-x0), y: y0 + t*(y1-y0), surface: surfaceWall, fine: true}
		found = true
	}
	if b.spare || max(math.Abs(y0), math.Abs(y1)) < b.hy {
		return found
	}
	k := min(guideTop/b.top, 1)
	gx, gy := x1+k*(x0-x1), y1+k*(y0-y1)
	for i := range b.guides {
		if t, ok := b.guides[i].enter(gx, gy, x1, y1); ok && guideTop*(1-t) > h.z {
			*h = hit{z: guideTop * (1 - t), x: gx + t*(x1-gx), y: gy + t*(y1-gy), surface: surfaceGuide, fine: true}
			if t == 0 {
				h.mark = 1
			}
			found = true
		}
	}
	return found
}

func (b *base) color(h *hit, r ray, g *ground) rgb {
	if h.surface == surfaceToken {
		return printed(color.RGBA{uint8(h.mark >> 16), uint8(h.mark >> 8), uint8(h.mark), 255})
	}
	if b.spare {
		return printed(token.InkWhite).scale(0.7) // the paper's edge
	}
	lit := 0.7
	if h.mark == 1 {
		lit = 1 // a guide's flat top
	}
	if h.mark == stockTop {
		lit = b.stock.shine
	}
	switch b.plastic {
	case PlasticWhite:
		return rgb{0.75, 0.75, 0.73}.scale(lit)
	case PlasticClear:
		return g.color(r.gx, r.gy).mix(rgb{0.30, 0.31, 0.33}, 0.45).scale(lit)
	}
	return rgb{0.035, 0.035, 0.038}.scale(lit)
}

// light darkens the mat close to the base.
func (b *base) light(x, y, z float64) float64 {
	if z >= b.top-0.5 {
		return 1
	}
	dz := b.top - z
	x, y = b.local(x-0.5*dz*b.look.Slope.X, y-0.5*dz*b.look.Slope.Y)
	d := max(math.Abs(x)-b.hx, math.Abs(y)-b.hy)
	return 1 - b.look.Shadow*(1-smooth(-1, 3, d))
}

func (b *base) reach() []volume {
	return []volume{around(b.x, b.y, reachOf(b.hx, b.hy), 0, b.top, b.look)}
}

func (b *base) sum() uint64 { return b.id }

// reachOf returns how far a base and its guides extend from the centre. For squares it keeps its
// original value, because it decides which pixels are sampled more finely, and so the pictures of
// all tests.
func reachOf(hx, hy float64) float64 {
	if hx == hy {
		return 1.4143 * (hx + 2)
	}
	return math.Hypot(hx+2, hy+2) + 0.1
}
