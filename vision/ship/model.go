package ship

import (
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/vision/internal/gray"
	"sightline/vision/token"
)

// sideModel is the printed rim of one side, as the fit has it at present.
type sideModel struct {
	out     float64 // from the token's middle to the side, mm
	half    float64 // half its length
	columns int
	edges   []transition // of its cells, in the order of their places

	ground, white, dark float64                                 // light: o, w and k
	inv                 float64                                 // 1/σ
	near                [(fitColumns + 1) * nearParts]nearEdges // of each part of a column, and of what is left of the side
}

// nearParts is into how many parts a column is cut to find the edges near a place.
const nearParts = 4

// transition is where the cells of a side change between dark and white.
type transition struct{ at, step float64 }

// nearEdges are the edges whose blur reaches into a part of a side, and what the cells are before them.
type nearEdges struct {
	first, end int
	before     float64
}

// print lists where the cells of a side change, from a = -∞ (dark) on.
func (m *sideModel) print(t token.Token, s token.Side) {
	m.half, m.out = t.HalfAlong(s)
	m.columns = int(2 * m.half / fitColumn)
	m.edges = m.edges[:0]
	w := float64(token.CellWidth(t.Base, s))
	first := -m.half + float64(token.Corner)
	last := false
	n := token.Cells(t.Base, s)
	for i := range n + 1 {
		white := i < n && t.Cell(s, i)
		if white != last {
			step := 1.0
			if last {
				step = -1
			}
			m.edges = append(m.edges, transition{first + float64(i)*w, step})
		}
		last = white
	}
}

// column returns which column of the side the place a along it lies in.
func (m *sideModel) column(a float64) int {
	return min(max(int((a+m.half)/fitColumn), 0), m.columns-1)
}

// set gives the model its light and its blur.
func (m *sideModel) set(levels [3]float64, sigma float64) {
	m.ground, m.white, m.dark, m.inv = levels[0], levels[1], levels[2], 1/sigma
	const width = fitColumn / nearParts
	reach := gray.PhiReach * sigma
	var near nearEdges
	for i := range int(2*m.half/width) + 1 {
		from := -m.half + width*float64(i)
		for ; near.first < len(m.edges) && m.edges[near.first].at <= from-reach; near.first++ {
			near.before += m.edges[near.first].step
		}
		for near.end < len(m.edges) && m.edges[near.end].at < from+width+reach {
			near.end++
		}
		m.near[i] = near
	}
}

// printed is what the model makes of a place: the light there, its derivatives, and which shares of it are ground, white and dark.
type printed struct {
	light        float64 // where even light falls
	da, dd, ds   float64 // derivatives by a, d and σ
	turn         float64 // and by the heading
	inside, dark float64 // on the paper's side of the edge, and of that within dark cells: o has 1-inside, w inside-dark and k dark
}

// at sets what the model makes of a place.
func (m *sideModel) at(a, d float64, p *printed) {
	x0, x1 := d*m.inv, (d-float64(token.Keyline))*m.inv
	s0, p0 := gray.Phi(x0)
	s1, p1 := gray.Phi(x1)
	near := &m.near[int((a+m.half)*(nearParts/fitColumn))]
	c, ca, cs := near.before, 0.0, 0.0 // C(a), and what its derivatives are over 1/σ
	for _, t := range m.edges[near.first:near.end] {
		x := (a - t.at) * m.inv
		cdf, pdf := gray.Phi(x)
		c += t.step * cdf
		ca += t.step * pdf
		cs -= t.step * pdf * x
	}
	edge, cells := (m.white-m.ground)*m.inv*p0, (m.white-m.dark)*m.inv
	inner := cells * p1 * (1 - c)
	dark := s1 * (1 - c)
	da, dd := cells*s1*ca, edge-inner
	light, ds := m.ground*(1-s0)+m.white*(s0-dark)+m.dark*dark, inner*x1-edge*x0+cells*s1*cs
	*p = printed{light: light, da: da, dd: dd, ds: ds, turn: da*(d-m.out) - dd*a, inside: s0, dark: dark}
}

// place reports where at a side a point of the token's frame lies, a along it and d inwards, and whether it takes part in the
// fit. It has no branches that could not be predicted.
func (f *rimFit) place(l geom.Point) (side int8, a, d float64, ok bool) {
	hx, hy := f.sides[1].out, f.sides[0].out
	dx, dy := hx-math.Abs(l.X), hy-math.Abs(l.Y)
	off := math.Abs(dx - dy)
	d = (dx + dy - off) / 2
	if !(d > -fitOutside && d < fitInside && dx+dy+off > 2*fitCorner) {
		return 0, 0, 0, false
	}
	// The nearer of two sides; which of the two opposite ones, the signs of x and y say.
	x, y := math.Float64bits(l.X), math.Float64bits(l.Y)
	odd := math.Float64bits(dx-dy) >> 63
	across, along := y, x
	if odd == 1 {
		across, along = x, y
	}
	s := odd | across>>63<<1
	return int8(s), math.Float64frombits(along ^ (s>>1^s)<<63), d, true
}

// each calls do with every pixel, or every stride-th, that takes part in the fit at the present pose,
// with its side, its place there, a along the side and d inwards, and what the model makes of it.
func (f *rimFit) each(do func(p *rimPixel, side int8, a, d float64, at *printed)) {
	f.model()
	frame := newTokenFrame(f.pose)
	var at printed
	for i := 0; i < len(f.pixels); i += f.stride {
		p := &f.pixels[i]
		if side, a, d, ok := f.place(frame.local(p)); ok {
			m := &f.sides[side]
			m.at(a, d, &at)
			do(p, side, a, d, &at)
		}
	}
}

// model gives the sides' models the present light and blur.
func (f *rimFit) model() {
	for s := range f.sides {
		f.sides[s].set(f.levels[s], f.sigma)
	}
}

// rimSample is what the model makes of a pixel that takes part in a round.
type rimSample struct {
	light  float64 // in the picture
	a, d   float64 // place at its side
	column int
	side   int8
	at     printed
}

// look sets the samples of a round: every pixel that takes part at the present pose, at least deep mm inwards from the base's edge.
func (f *rimFit) look(deep float64) {
	f.model()
	frame := newTokenFrame(f.pose)
	f.samples = slices.Grow(f.samples[:0], len(f.pixels)/f.stride+1)
	for i := 0; i < len(f.pixels); i += f.stride {
		p := &f.pixels[i]
		side, a, d, ok := f.place(frame.local(p))
		if !ok || d < deep {
			continue
		}
		f.samples = f.samples[:len(f.samples)+1]
		s, m := &f.samples[len(f.samples)-1], &f.sides[side]
		s.light, s.a, s.d, s.side, s.column = p.light, a, d, side, m.column(a)
		m.at(a, d, &s.at)
	}
}

// A camera's response bends from kneeLight on: what is lighter is compressed, so that it approaches 1 and
// does not clip. With t how far a light lies above the knee, it is recorded as
//
//	kneeLight + (1-kneeLight) (1 - exp(-t/(1-kneeLight)))
const kneeLight = 0.7

// recorded returns what a camera records of a light, and its derivative.
func recorded(light float64) (v, slope float64) {
	if light <= kneeLight {
		return light, 1
	}
	e := math.Exp((kneeLight - light) / (1 - kneeLight))
	return 1 - (1-kneeLight)*e, e
}

func recordedOnly(light float64) float64 { v, _ := recorded(light); return v }

// unrecorded is recorded's inverse.
func unrecorded(v float64) float64 {
	if v <= kneeLight {
		return v
	}
	return kneeLight - (1-kneeLight)*math.Log(max(1-v, 1e-9)/(1-kneeLight))
}

// brightest is the light from which all whites are recorded alike, within a grey level or two.
const brightest = 1.5
