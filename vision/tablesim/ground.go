package tablesim

import (
	"math"
	"math/rand/v2"

	"sightline/calibration"
	"sightline/engine/geom"
)

// ground is the mat and the table around it.
type ground struct {
	style  MatStyle
	w, h   float64
	px     float64 // size of a pixel on the mat, mm: finer print is smoothed
	cols   int
	glow   []rgb    // nebula at glowStep
	stars  [][]star // by cells of starCell
	scols  int
	planet struct{ x, y, r float64 }
	tint   rgb
	seed   float64
}

type star struct {
	x, y, k float64 // place; -1/(2 sigma²)
	c       rgb
}

const (
	glowStep = 6.0
	starCell = 16.0
)

// DotRadius is the radius of MatDots' discs.
const DotRadius = 6 * geom.Millimeter

func newGround(style MatStyle, layout calibration.Layout, px float64, seed uint64) *ground {
	g := &ground{style: style, w: float64(layout.Width), h: float64(layout.Height), px: px}
	rng := rand.New(rand.NewPCG(seed, 0x6d6174))
	g.seed = 1000 * rng.Float64()
	palette := [][2]rgb{
		{{0.16, 0.05, 0.14}, {0.03, 0.09, 0.20}},
		{{0.20, 0.07, 0.05}, {0.05, 0.04, 0.15}},
		{{0.04, 0.14, 0.13}, {0.09, 0.05, 0.17}},
		{{0.10, 0.10, 0.13}, {0.05, 0.05, 0.09}},
	}[rng.IntN(4)]
	g.cols = int(g.w/glowStep) + 3
	rows := int(g.h/glowStep) + 3
	g.glow = make([]rgb, g.cols*rows)
	for j := range rows {
		for i := range g.cols {
			x, y := float64(i)*glowStep/170+g.seed, float64(j)*glowStep/170
			a, b := smooth(0.42, 0.85, clouds(x, y, 5)), smooth(0.4, 0.9, clouds(x+37, y+11, 5))
			c := rgb{0.010, 0.010, 0.014}
			p, q := palette[0].scale(a), palette[1].scale(b)
			c = rgb{c.r + (p.r + q.r), c.g + (p.g + q.g), c.b + (p.b + q.b)}
			g.glow[j*g.cols+i] = c
		}
	}
	g.planet.r = 60 + 60*rng.Float64()
	g.planet.x, g.planet.y = g.w*rng.Float64(), g.h*rng.Float64()
	g.tint = rgb{0.15 + 0.25*rng.Float32(), 0.12 + 0.15*rng.Float32(), 0.10 + 0.3*rng.Float32()}
	g.scols = int(g.w/starCell) + 1
	g.stars = make([][]star, g.scols*(int(g.h/starCell)+1))
	for range int(g.w * g.h / 600) {
		g.addStar(rng)
	}
	return g
}

func (g *ground) addStar(rng *rand.Rand) {
	size := 0.22 + 0.12*rng.ExpFloat64()
	size = min(size, 1.3)
	sigma := math.Hypot(size, 0.35*g.px)
	bright := (0.1 + 0.8*math.Pow(rng.Float64(), 3)) * size * size / (sigma * sigma)
	s := star{x: g.w * rng.Float64(), y: g.h * rng.Float64(), k: -0.5 / (sigma * sigma)}
	s.c = rgb{1, 0.8 + 0.2*rng.Float32(), 0.75 + 0.25*rng.Float32()}.scale(min(2*bright, 0.95))
	far := 3.5 * sigma
	for j := int((s.y - far) / starCell); j <= int((s.y+far)/starCell); j++ {
		for i := int((s.x - far) / starCell); i <= int((s.x+far)/starCell); i++ {
			if k := j*g.scols + i; i >= 0 && i < g.scols && j >= 0 && k < len(g.stars) {
				g.stars[k] = append(g.stars[k], s)
			}
		}
	}
}

// onMat reports whether the point lies on the mat.
func (g *ground) onMat(x, y float64) bool { return x >= 0 && y >= 0 && x <= g.w && y <= g.h }

// meets sets where the ray ends on the mat or on the table, which is lower, unless h already has a
// higher hit. The ground's hits are in the table frame.
func (g *ground) meets(r ray, h *hit) bool {
	if h.z > 0 {
		return false
	}
	if g.onMat(r.gx, r.gy) {
		*h = hit{x: r.gx, y: r.gy}
		if g.style == MatDots && g.dot(r.gx, r.gy) {
			h.mark = 1
		}
		return true
	}
	if h.z > -matThick {
		return false
	}
	x, y := r.at(-matThick)
	*h = hit{z: -matThick, x: x, y: y, surface: 1}
	return true
}

func (g *ground) dot(x, y float64) bool {
	x, y = x-50, y-50
	x, y = x-100*math.Round(x/100), y-100*math.Round(y/100)
	return x*x+y*y <= float64(DotRadius*DotRadius)
}

func (g *ground) color(x, y float64) rgb {
	if !g.onMat(x, y) {
		return g.wood(x, y)
	}
	switch g.style {
	case MatPlain:
		return rgb{0.18, 0.18, 0.18}
	case MatDots:
		if g.dot(x, y) {
			return rgb{0.8, 0.8, 0.8}
		}
		return rgb{0.05, 0.05, 0.05}
	case MatWhite:
		return rgb{0.82, 0.82, 0.80}.scale(0.96 + 0.08*noise(x/1.3, y/1.3))
	case MatIce:
		n := 0.7*clouds(x/90+g.seed, y/90, 4) + 0.3*noise(x/1.3, y/1.3)
		return rgb{0.30, 0.38, 0.45}.scale(0.6 + 0.8*n)
	case MatWood:
		return g.wood(x+g.seed, y+g.seed)
	case MatSand:
		return g.sand(x, y)
	}
	return g.space(x, y)
}

func (g *ground) space(x, y float64) rgb {
	u, v := x/glowStep, y/glowStep
	i, j := int(u), int(v)
	u, v = u-float64(i), v-float64(j)
	row := g.glow[j*g.cols+i:]
	next := row[g.cols:]
	c := row[0].mix(row[1], u).mix(next[0].mix(next[1], u), v)
	c = c.scale(0.85 + 0.3*noise(x/1.4, y/1.4)) // the cloth's grain
	if dx, dy := x-g.planet.x, y-g.planet.y; dx*dx+dy*dy < (g.planet.r+2)*(g.planet.r+2) {
		d := math.Sqrt(dx*dx + dy*dy)
		lit := 0.15 + 0.85*smooth(-0.9, 0.9, (dx*0.7+dy*0.7)/g.planet.r)
		body := g.tint.scale(lit * (0.6 + 0.8*clouds(dx/60, dy/14, 3)))
		return c.mix(body, 1-smooth(g.planet.r-g.px, g.planet.r+g.px, d))
	}
	for _, s := range g.stars[int(y/starCell)*g.scols+int(x/starCell)] {
		if e := s.k * ((x-s.x)*(x-s.x) + (y-s.y)*(y-s.y)); e > -6 {
			c = c.mix(s.c, math.Exp(e))
		}
	}
	return c
}

// wood is planks 110 mm wide with grain along x.
func (g *ground) wood(x, y float64) rgb {
	plank := math.Floor(y / 110)
	n := 0.6*noise(x/70+17*plank, y/3.1) + 0.4*noise(x/24+5*plank, y/9)
	k := 0.55 + 0.6*n + 0.15*hashUnit(int64(plank), 77)
	if e := y - 110*plank; e < 1.5 {
		k *= 0.45
	}
	return rgb{0.24, 0.135, 0.07}.scale(k)
}

// sand is light, and its grains are finer than a pixel: dunes, ripples across them, and what is left of the grains.
func (g *ground) sand(x, y float64) rgb {
	dunes := clouds(x/120+g.seed, y/120, 4)
	ripple := 0.5 + 0.5*math.Sin(y/3.5+9*clouds(x/60, y/60+g.seed, 3))
	grain := (noise(x/0.9, y/0.9) - 0.5) * min(1, 0.9/g.px)
	return rgb{0.46, 0.36, 0.24}.scale(0.7 + 0.4*dunes + 0.1*ripple + 0.35*grain)
}

// hashUnit returns a fixed random number 0…1 for a place of the integer lattice.
func hashUnit(i, j int64) float64 {
	h := uint64(i)*0x9e3779b97f4a7c15 + uint64(j)*0xc2b2ae3d27d4eb4f
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return float64(h>>40) * (1.0 / (1 << 24))
}

// noise is smooth value noise, 0…1, with cells of size 1.
func noise(x, y float64) float64 {
	fx, fy := math.Floor(x), math.Floor(y)
	i, j := int64(fx), int64(fy)
	u, v := x-fx, y-fy
	u, v = u*u*(3-2*u), v*v*(3-2*v)
	a, b := hashUnit(i, j), hashUnit(i+1, j)
	c, d := hashUnit(i, j+1), hashUnit(i+1, j+1)
	a += u * (b - a)
	c += u * (d - c)
	return a + v*(c-a)
}

// clouds adds octaves of noise, 0…1.
func clouds(x, y float64, octaves int) float64 {
	sum, amp, total := 0.0, 1.0, 0.0
	for o := range octaves {
		sum += amp * noise(x+31.7*float64(o), y+11.3*float64(o))
		total += amp
		x, y, amp = 2*x, 2*y, amp/2
	}
	return sum / total
}
