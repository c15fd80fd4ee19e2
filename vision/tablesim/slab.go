package tablesim

import (
	"math"

	"sightline/engine/geom"
)

// ---- flat things

// slab is an obstacle or a piece of clutter: a polygon of some thickness.
type slab struct {
	outline []geom.Point // on the table
	bounds  box
	top     float64
	ink     rgb
	rocky   bool
	look    *Look
	id      uint64
}

func newSlab(pose geom.Pose, outline []geom.Point, top float64, ink rgb, rocky bool, look *Look) *slab {
	s := &slab{top: top, ink: ink, rocky: rocky, look: look, bounds: box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}}
	sum := []float64{3, top, float64(ink.r), float64(ink.g), float64(ink.b)}
	for _, p := range outline {
		q := pose.Transform(p)
		s.outline = append(s.outline, q)
		s.bounds = box{min(s.bounds.x0, q.X), min(s.bounds.y0, q.Y), max(s.bounds.x1, q.X), max(s.bounds.y1, q.Y)}
		sum = append(sum, q.X, q.Y)
	}
	s.id = checksum(sum...)
	return s
}

func (s *slab) meets(r ray, h *hit) bool {
	x, y := r.at(s.top)
	if far := s.top + 1; x < s.bounds.x0-far || x > s.bounds.x1+far || y < s.bounds.y0-far || y > s.bounds.y1+far {
		return false
	}
	const steps = 4 // down the sides
	for k := range steps + 1 {
		z := s.top * (1 - float64(k)/steps)
		if z <= h.z {
			return false
		}
		if x, y = r.at(z); inPolygon(s.outline, x, y) {
			*h = hit{z: z, x: x, y: y, surface: uint8(min(k, 1))}
			return true
		}
	}
	return false
}

func (s *slab) color(h *hit, _ ray, _ *ground) rgb {
	if h.surface == 1 {
		return s.ink.scale(0.5)
	}
	if s.rocky {
		return s.ink.scale(0.35 + 1.1*clouds(h.x/11, h.y/11, 3))
	}
	return s.ink.scale(0.92 + 0.16*noise(h.x/3, h.y/3))
}

func (s *slab) light(x, y, z float64) float64 {
	if z >= s.top-0.5 || s.top > 20 {
		return 1
	}
	x, y = x-s.top*s.look.Slope.X, y-s.top*s.look.Slope.Y
	d := max(s.bounds.x0-x, x-s.bounds.x1, s.bounds.y0-y, y-s.bounds.y1)
	if d > 0 || !inPolygon(s.outline, x, y) {
		return 1
	}
	return 1 - 0.6*s.look.Shadow
}

func (s *slab) reach() []volume {
	b := s.bounds
	v := around((b.x0+b.x1)/2, (b.y0+b.y1)/2, 0, 0, s.top, s.look)
	w, h := (b.x1-b.x0)/2, (b.y1-b.y0)/2
	v.x0, v.x1, v.y0, v.y1 = v.x0-w, v.x1+w, v.y0-h, v.y1+h
	return []volume{v}
}

func (s *slab) sum() uint64 { return s.id }

// obstacleInk returns the colour that a kind of obstacle is printed in.
func obstacleInk(kind string) rgb {
	switch kind {
	case "debris":
		return rgb{0.20, 0.10, 0.06}
	case "gas":
		return rgb{0.10, 0.16, 0.22}
	}
	return rgb{0.16, 0.14, 0.12}
}
