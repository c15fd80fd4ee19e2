package ship

import (
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/vision/internal/gray"
	"sightline/vision/token"
)

// sideModel is the present model of one side's printed rim.
type sideModel struct {
	out     float64 // from the token's middle to the side, mm
	half    float64 // half its length
	columns int
	edges   []transition // of its cells, in the order of their places

	ground, white, dark float64                                 // light: o, w and k
	inv                 float64                                 // 1/σ
	near                [(fitColumns + 1) * nearParts]nearEdges // of each part of a column, and of what is left of the side
}

// nearParts is the number of parts of a column, for finding the edges near a place.
const nearParts = 4

// transition is a change between dark and white along the cells of a side.
type transition struct{ at, step float64 }

// nearEdges are the transitions whose blur reaches into a part of a side, and the state of the
// cells before them.
type nearEdges struct {
	first, end int
	before     float64
}

// print lists the transitions of the cells of a side, starting dark at a = -∞.
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

// column returns the column of the side that contains the place a along it.
func (m *sideModel) column(a float64) int {
	return min(max(int((a+m.half)/fitColumn), 0), m.columns-1)
}

// set sets the model's light and blur.
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

// printed is the model at a place: its light, the derivatives, and the shares of ground, white and
// dark.
type printed struct {
	light        float64 // where even light falls
	da, dd, ds   float64 // derivatives by a, d and σ
	turn         float64 // and by the heading
	inside, dark float64 // share on the paper, and of that in dark cells: the shares of o, w and k are 1-inside, inside-dark and dark
}

// at computes the model at a place.
func (m *sideModel) at(a, d float64, p *printed) {
	x0, x1 := d*m.inv, (d-float64(token.Keyline))*m.inv
	s0, p0 := gray.Phi(x0)
	s1, p1 := gray.Phi(x1)
	near := &m.near[int((a+m.half)*(nearParts/fitColumn))]
	c, ca, cs := near.before, 0.0, 0.0 // C(a), and its derivatives divided by 1/σ
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

// place returns the side of a point of the token's frame and its place there, a along it and d
// inwards, and reports whether it is used in the fit. It avoids unpredictable branches.
func (f *rimFit) place(l geom.Point) (side int8, a, d float64, ok bool) {
	hx, hy := f.sides[1].out, f.sides[0].out
	dx, dy := hx-math.Abs(l.X), hy-math.Abs(l.Y)
	off := math.Abs(dx - dy)
	d = (dx + dy - off) / 2
	if !(d > -fitOutside && d < fitInside && dx+dy+off > 2*fitCorner) {
		return 0, 0, 0, false
	}
	// The nearer of two sides; the signs of x and y select between opposite ones.
	x, y := math.Float64bits(l.X), math.Float64bits(l.Y)
	odd := math.Float64bits(dx-dy) >> 63
	across, along := y, x
	if odd == 1 {
		across, along = x, y
	}
	s := odd | across>>63<<1
	return int8(s), math.Float64frombits(along ^ (s>>1^s)<<63), d, true
}

// each calls do for every pixel, or every stride-th, that is used at the present pose, with its
// side, its place there, a along the side and d inwards, and the model.
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

// model sets the present light and blur of the sides' models.
func (f *rimFit) model() {
	for s := range f.sides {
		f.sides[s].set(f.levels[s], f.sigma)
	}
}

// rimSample is the model for a pixel used in a round.
type rimSample struct {
	light  float64 // in the picture
	a, d   float64 // place at its side
	column int
	side   int8
	at     printed
}

// sample computes the samples of a round: of every pixel used at the present pose, at least deep mm
// inwards from the base's edge.
func (f *rimFit) sample(deep float64) {
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

// A camera's response bends from kneeLight on: it compresses lighter values, which approach 1 and
// do not clip. With t the light above the knee, it records
//
//	kneeLight + (1-kneeLight) (1 - exp(-t/(1-kneeLight)))
const kneeLight = 0.7

// recorded returns the recorded value of a light, and its derivative.
func recorded(light float64) (v, slope float64) {
	if light <= kneeLight {
		return light, 1
	}
	e := math.Exp((kneeLight - light) / (1 - kneeLight))
	return 1 - (1-kneeLight)*e, e
}

func recordedOnly(light float64) float64 { v, _ := recorded(light); return v }

// unrecorded is the inverse of recorded.
func unrecorded(v float64) float64 {
	if v <= kneeLight {
		return v
	}
	return kneeLight - (1-kneeLight)*math.Log(max(1-v, 1e-9)/(1-kneeLight))
}

// brightest is the light from which all whites are recorded alike, within a grey level or two.
const brightest = 1.5
