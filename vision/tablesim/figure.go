package tablesim

import (
	"fmt"
	"math"

	"sightline/engine/geom"
)

// ---- miniatures

// figure is a miniature on its peg: one silhouette at a few heights, which is enough of a solid for
// a camera that looks down.
type figure struct {
	frame
	parts  []part
	layers [3]float64 // heights, from the top
	radius float64
	foot   float64 // where the peg starts
	skin   rgb
	look   *Look
	id     uint64
}

func newFigure(m Mini, pose geom.Pose, foot float64, look *Look) (*figure, error) {
	if !(m.Width > 0) || !(m.Length > 0) || !(m.Z > 0) || !(m.Thick >= 0) || m.Kind < 0 || m.Kind >= miniKinds {
		return nil, fmt.Errorf("tablesim: miniature: sizes must be positive and the kind known, got %+v", m)
	}
	z, th := float64(m.Z), float64(m.Thick)
	f := &figure{
		frame: frameOf(pose), parts: silhouette(m), layers: [3]float64{z + th, z + th/2, z},
		radius: math.Hypot(float64(m.Width), float64(m.Length)) / 2, foot: foot, skin: printed(m.Color), look: look,
	}
	f.id = checksum(2, f.x, f.y, f.s, f.c, foot, float64(m.Kind), float64(m.Width), float64(m.Length), z, th,
		float64(m.Color.R), float64(m.Color.G), float64(m.Color.B))
	return f, nil
}

// silhouette draws the miniature's outline, the nose towards +y.
func silhouette(m Mini) []part {
	a, b := float64(m.Width)/2, float64(m.Length)/2
	pt := func(x, y float64) geom.Point { return geom.Point{X: x, Y: y} }
	switch m.Kind {
	case MiniWedge:
		return []part{polygon(pt(-a, -b), pt(-0.12*a, b), pt(0.12*a, b), pt(a, -b), pt(0, -b))}
	case MiniCross:
		return []part{
			polygon(pt(-0.22*a, -b), pt(-0.1*a, b), pt(0.1*a, b), pt(0.22*a, -b)),
			polygon(pt(-a, -0.75*b), pt(-a, -0.45*b), pt(0, -0.05*b), pt(a, -0.45*b), pt(a, -0.75*b)),
		}
	case MiniTwin:
		return []part{
			ellipse(0, 0, 0.42*a, 0.42*a), rectangle(-a, -0.08*b, a, 0.08*b),
			rectangle(-a, -b, -0.86*a, b), rectangle(0.86*a, -b, a, b),
		}
	}
	return []part{ellipse(0, 0, a, b)}
}

func (f *figure) meets(r ray, h *hit) bool {
	// Quick rejection by the distance of the ray's nearest end from the axis.
	x0, y0 := r.at(f.layers[2])
	x1, y1 := r.at(f.foot)
	x0, y0, x1, y1 = x0-f.x, y0-f.y, x1-f.x, y1-f.y
	dx, dy := x1-x0, y1-y0
	n := dx*dx + dy*dy
	if far := f.radius + 15; x0*x0+y0*y0 > far*far && x1*x1+y1*y1 > far*far && n < far*far {
		return false
	}
	for i, z := range f.layers {
		if z <= h.z {
			return false
		}
		x, y := r.at(z)
		x, y = f.local(x, y)
		if x*x+y*y <= f.radius*f.radius && inside(f.parts, x, y) {
			*h = hit{z: z, x: x, y: y, surface: uint8(i), mark: uint32(4*x+400)/24 + uint32(4*y+400)/24<<8}
			return true
		}
	}
	// The peg, an upright cylinder: nearest approach of the ray to its axis.
	t := 0.0
	if n > 0 {
		t = min(max(-(x0*dx+y0*dy)/n, 0), 1)
	}
	x, y := x0+t*dx, y0+t*dy
	z := f.layers[2] + t*(f.foot-f.layers[2])
	if x*x+y*y > pegRadius*pegRadius || z <= h.z {
		return false
	}
	*h = hit{z: z, x: x, y: y, surface: surfacePeg}
	return true
}

func (f *figure) color(h *hit, _ ray, _ *ground) rgb {
	if h.surface == surfacePeg {
		return rgb{0.22, 0.23, 0.25}
	}
	// Panels: a fixed pattern of darker and lighter plates; lower layers are in shade.
	n := mix64(uint64(h.mark)) >> 56
	return f.skin.scale((0.75 + float64(n)/800) * (1 - 0.18*float64(h.surface)))
}

func (f *figure) light(x, y, z float64) float64 {
	dz := f.layers[1] - z
	if dz < 10 {
		return 1 // itself, or a neighbour at the same height
	}
	lx, ly := f.local(x-dz*f.look.Slope.X, y-dz*f.look.Slope.Y)
	w := penumbra(f.look, dz)
	if far := f.radius + w; lx*lx+ly*ly > far*far {
		return 1
	}
	return 1 - f.look.Shadow*(1-smooth(-w, w, distance(f.parts, lx, ly)))
}

func (f *figure) reach() []volume {
	return []volume{around(f.x, f.y, f.radius, 0, f.layers[0], f.look)}
}

func (f *figure) sum() uint64 { return f.id }
