package tablesim

import (
	"fmt"
	"image/color"
	"math"

	"sightline/engine"
	"sightline/vision/token"
)

// rgb is linear light or a reflectance, 0…1.
type rgb struct{ r, g, b float32 }

func (c rgb) scale(k float64) rgb {
	f := float32(k)
	return rgb{f * c.r, f * c.g, f * c.b}
}

func (c rgb) mix(d rgb, t float64) rgb {
	f := float32(t)
	return rgb{c.r + f*(d.r-c.r), c.g + f*(d.g-c.g), c.b + f*(d.b-c.b)}
}

// printed returns the reflectance of an sRGB ink: the blackest print still reflects two per cent,
// paper 92.
func printed(c color.RGBA) rgb {
	f := func(v uint8) float32 { return 0.02 + 0.9*srgbLinear[v] }
	return rgb{f(c.R), f(c.G), f(c.B)}
}

// srgbLinear decodes the sRGB curve (IEC 61966-2-1).
var srgbLinear = func() (t [256]float32) {
	for i := range t {
		v := float64(i) / 255
		if v <= 0.04045 {
			t[i] = float32(v / 12.92)
		} else {
			t[i] = float32(math.Pow((v+0.055)/1.055, 2.4))
		}
	}
	return t
}()

// hit is where a ray hits a solid.
type hit struct {
	z       float64 // height over the mat
	x, y    float64 // in the solid's own frame, or on the table for the ground
	surface uint8   // index of the solid's surface
	mark    uint32  // identifies areas of a surface (inks, cells)
	fine    bool    // too fine for single rays: always supersampled
}

// solid is an object on the table.
type solid interface {
	// meets sets h to the highest point where the ray hits the solid and reports true, if that is
	// higher than h.
	meets(r ray, h *hit) bool
	// color returns the reflectance at a hit.
	color(h *hit, r ray, g *ground) rgb
	// light returns the share of the light that the solid lets through to a table point.
	light(x, y, z float64) float64
	// reach returns the boxes within which the solid can change the picture, shadows included.
	reach() []volume
	// sum returns a checksum that changes whenever the solid does.
	sum() uint64
}

// volume is an axis-parallel box of the table frame.
type volume struct {
	box
	z0, z1 float64
}

// checksum combines numbers into one (FNV-1a over 64-bit words, with a final mix).
func checksum(v ...float64) uint64 {
	h := uint64(14695981039346656037)
	for _, f := range v {
		h = mix64(h ^ math.Float64bits(f))
	}
	return h
}

// mix64 is the finaliser of splitmix64.
func mix64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// around returns the box around a point with its shadow.
func around(x, y, radius, z0, z1 float64, look *Look) volume {
	sx, sy := look.Slope.X*max(z1, 0), look.Slope.Y*max(z1, 0)
	pad := radius + penumbra(look, max(z1, 0)) + 2
	return volume{box{x - pad + min(sx, 0), y - pad + min(sy, 0), x + pad + max(sx, 0), y + pad + max(sy, 0)}, z0, z1}
}

// penumbra returns the softness of a shadow: half the penumbra at a height difference.
func penumbra(look *Look, dz float64) float64 { return 0.4 + 0.5*look.Spread*dz }

// shipSolids returns a ship's base, and the miniature on it if it has one.
func shipSolids(t *Table, s engine.Ship, look *Look) ([]solid, error) {
	top := t.baseTop(s.ID)
	b, err := newBase(s, top, look)
	if err != nil {
		return nil, err
	}
	if b.print = t.Prints[s.ID]; b.print != (Print{}) {
		b.id = checksum(float64(b.id>>11), b.print.Wider, b.print.Longer, b.print.Sheared)
	}
	if b.worn = t.Worn[s.ID]; b.worn != WearNone {
		b.id = mix64(b.id ^ uint64(b.worn))
	}
	if b.worn == WearStock {
		code := b.token.Code
		if card, ok := t.Cards[s.ID]; ok {
			if code, err = token.CodeOfID(card); err != nil {
				return nil, fmt.Errorf("tablesim: the card of ship %s: %w", s.ID, err)
			}
			b.id = mix64(b.id ^ uint64(code))
		}
		b.stock = newStockCard(b.hx, b.hy, uint64(b.token.Code), uint64(code))
	}
	m, ok := t.Minis[s.ID]
	if !ok {
		return []solid{b}, nil
	}
	f, err := newFigure(m, s.Pose, top, look)
	if err != nil {
		return nil, fmt.Errorf("ship %s: %w", s.ID, err)
	}
	return []solid{b, f}, nil
}

// solidsOf returns everything that stands on the table.
func solidsOf(t *Table, look *Look) ([]solid, error) {
	var out []solid
	for _, m := range t.Layout.Markers {
		c, err := newCard(m, look)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	for _, o := range t.Scene.Obstacles {
		out = append(out, newSlab(o.Pose, o.Outline, obstacleTop, obstacleInk(o.Kind), true, look))
	}
	for _, c := range t.Clutter {
		out = append(out, newSlab(c.Pose, c.outline(), float64(c.Height), printed(c.Color), false, look))
	}
	for _, l := range t.Strips {
		s, err := newLaidStrip(l, look)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if t.Jig != nil {
		parts, err := t.Jig.solids(look)
		if err != nil {
			return nil, err
		}
		out = append(out, parts...)
	}
	for _, s := range t.Scene.Ships {
		parts, err := shipSolids(t, s, look)
		if err != nil {
			return nil, err
		}
		out = append(out, parts...)
	}
	for _, s := range t.Spares {
		b, err := newBase(engine.Ship{ID: s.ID, Base: s.Base, Pose: s.Pose}, spareTop, look)
		if err != nil {
			return nil, err
		}
		b.spare = true
		out = append(out, b)
	}
	for _, h := range t.Hands {
		out = append(out, newArm(h, t.Layout, look))
	}
	if t.Board != nil {
		s, err := newSheet(*t.Board, t.Camera)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
