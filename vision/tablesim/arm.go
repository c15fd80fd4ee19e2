package tablesim

import (
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
)

// ---- hands

// arm is a hand with its arm: rounded limbs at two heights.
type arm struct {
	layers [2]limbs
	look   *Look
	id     uint64
}

// limbs are those of an arm at one height.
type limbs struct {
	z      float64
	parts  []part
	bounds box
}

const (
	sleeveFrom = 230.0 // mm from the finger tips
	armLong    = 700.0
)

func newArm(h Hand, mat calibration.Layout, look *Look) *arm {
	// The arm's own frame: the tips at the origin, the arm towards -y.
	pose := geom.Pose{Point: h.Tip}
	lean := (h.Tip.X/float64(mat.Width) - 0.5) * 0.7 // from the player's middle
	if h.Player == 2 {
		pose.Heading = geom.Angle(math.Pi - lean)
	} else {
		pose.Heading = geom.Angle(lean)
	}
	z := float64(h.Z)
	a := &arm{look: look, id: checksum(5, h.Tip.X, h.Tip.Y, z, float64(h.Player), float64(mat.Width))}
	limb := func(l *limbs, x0, y0, r0, x1, y1, r1 float64) {
		p, q := pose.Transform(geom.Point{X: x0, Y: y0}), pose.Transform(geom.Point{X: x1, Y: y1})
		l.parts = append(l.parts, capsule(p.X, p.Y, r0, q.X, q.Y, r1))
		r := max(r0, r1)
		b := box{min(p.X, q.X) - r, min(p.Y, q.Y) - r, max(p.X, q.X) + r, max(p.Y, q.Y) + r}
		if len(l.parts) > 1 {
			b = box{min(b.x0, l.bounds.x0), min(b.y0, l.bounds.y0), max(b.x1, l.bounds.x1), max(b.y1, l.bounds.y1)}
		}
		l.bounds = b
	}
	up, down := &a.layers[0], &a.layers[1]
	up.z, down.z = z+25, z
	limb(up, 0, -95, 34, 0, -130, 38)          // the hand's back
	limb(up, 0, -150, 28, 0, -armLong, 48)     // forearm and sleeve
	for i, x := range []float64{-22, -4, 14} { // fingers, closed over a base
		limb(down, x+float64(i), -8-5*float64(i%2), 8, 1.2*x, -80, 10)
	}
	limb(down, 30, -30, 9, 30, -90, 13) // thumb
	return a
}

func (a *arm) meets(r ray, h *hit) bool {
	for i := range a.layers {
		l := &a.layers[i]
		if l.z <= h.z {
			return false
		}
		x, y := r.at(l.z)
		if l.bounds.has(x, y) && inside(l.parts, x, y) {
			*h = hit{z: l.z, x: x, y: y, surface: uint8(i)}
			return true
		}
	}
	return false
}

func (a *arm) color(h *hit, _ ray, _ *ground) rgb {
	d := -distance(a.layers[h.surface].parts, h.x, h.y)
	round := 0.55 + 0.45*smooth(0, 14, d)
	p := &a.layers[0].parts[1] // the forearm: from the wrist outwards
	if h.surface == 0 && math.Hypot(h.x-p.x, h.y-p.y) > sleeveFrom-150 && inside(a.layers[0].parts[1:2], h.x, h.y) {
		return rgb{0.05, 0.07, 0.12}.scale(round)
	}
	return rgb{0.50, 0.29, 0.20}.scale(round)
}

func (a *arm) light(x, y, z float64) float64 {
	out := 1.0
	for i := range a.layers {
		l := &a.layers[i]
		dz := l.z - z
		if dz < 12 {
			continue
		}
		sx, sy := x-dz*a.look.Slope.X, y-dz*a.look.Slope.Y
		w := penumbra(a.look, dz)
		if sx < l.bounds.x0-w || sx > l.bounds.x1+w || sy < l.bounds.y0-w || sy > l.bounds.y1+w {
			continue
		}
		out = min(out, 1-a.look.Shadow*(1-smooth(-w, w, distance(l.parts, sx, sy))))
	}
	return out
}

// reach cuts the long arm into pieces so that their pictures stay small.
func (a *arm) reach() []volume {
	var out []volume
	for i := range a.layers {
		l := &a.layers[i]
		for _, p := range l.parts {
			const piece = 30.0
			n := int(math.Hypot(p.ex, p.ey)/piece) + 1
			for k := range n + 1 {
				t := float64(k) / float64(n)
				out = append(out, around(p.x+t*p.ex, p.y+t*p.ey, max(p.a, p.b)+piece/2, 0, l.z, a.look))
			}
		}
	}
	return out
}

func (a *arm) sum() uint64 { return a.id }
