package trace

import (
	"errors"
	"image"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/internal/gray"
)

// Sizes of a trace, in mm.
const (
	traceStep  = 0.5 // between the cells in which tokens are searched for
	traceEvery = 1.0 // between the points of a traced outline
	traceReach = 2.5 // of a profile on either side of the border
)

// Outlines returns the outlines of the tokens that Sheet traced, in table mm, counter-clockwise, from left to right.
func Outlines(f vision.Frame, t calibration.Table, top geom.Length) ([][]geom.Point, error) {
	all, err := Sheet(f, t, top)
	if err != nil {
		return nil, err
	}
	var out [][]geom.Point
	for _, k := range all {
		if k.Problem == "" {
			out = append(out, k.Outline)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("trace: no dark-edged token on white paper was found")
	}
	return out, nil
}

// paperShare is the level, as a share of the brightest one per cent, from which a
// cell is paper.
const paperShare = 0.6

// paperLevel is the grey level from which a cell is paper.
func paperLevel(levels []float32) float32 {
	var sample []float64
	for k := 0; k < len(levels); k += 13 {
		sample = append(sample, float64(levels[k]))
	}
	return float32(paperShare * gray.Quantile(sample, 0.99))
}

// tokenMask marks the cells that paper encloses and that are not paper, and those of the
// paper itself.
func tokenMask(levels []float32, w, h int) (tokens, paper []bool) {
	limit := paperLevel(levels)
	paper = make([]bool, len(levels))
	for k, v := range levels {
		paper[k] = v > limit
	}
	// Paper that ends at the mat's edge encloses too: a frame of cells stands for it.
	whole := gray.FillHoles(gray.Open(paper, w, h, 2), w, h)
	for k := range whole {
		whole[k] = whole[k] && !paper[k]
	}
	// A bright print inside a dark border belongs to the token.
	return gray.FillHoles(gray.Close(gray.Open(whole, w, h, 1), w, h, 2), w, h), paper
}

// border returns the outer border of a blob, counter-clockwise, on the table.
func border(b gray.Blob, w int) []geom.Point {
	in := make(map[int32]bool, len(b.Cells))
	for _, c := range b.Cells {
		in[c] = true
	}
	type corner struct{ x, y int }
	next := map[corner]corner{}
	for _, c := range b.Cells {
		x, y := int(c)%w, int(c)/w
		for _, e := range [4]struct {
			neighbour int32
			from, to  corner
		}{
			{c - int32(w), corner{x, y}, corner{x + 1, y}},
			{c + 1, corner{x + 1, y}, corner{x + 1, y + 1}},
			{c + int32(w), corner{x + 1, y + 1}, corner{x, y + 1}},
			{c - 1, corner{x, y + 1}, corner{x, y}},
		} {
			if !in[e.neighbour] {
				next[e.from] = e.to
			}
		}
	}
	// The lowest corner is on the outer border.
	var first corner
	for c := range next {
		if first == (corner{}) || c.y < first.y || c.y == first.y && c.x < first.x {
			first = c
		}
	}
	var loop []geom.Point
	for c := first; ; {
		loop = append(loop, geom.Point{X: float64(c.x) * traceStep, Y: float64(c.y) * traceStep})
		to, ok := next[c]
		if c = to; !ok || c == first || len(loop) > len(next) {
			break
		}
	}
	return smooth(loop, 3)
}

// smooth takes each point to the mean of itself and its r neighbours on either side.
func smooth(p []geom.Point, r int) []geom.Point {
	out := make([]geom.Point, len(p))
	for i := range p {
		for k := -r; k <= r; k++ {
			out[i] = out[i].Add(p[((i+k)%len(p)+len(p))%len(p)].Mul(1 / float64(2*r+1)))
		}
	}
	return out
}

// tracedEdge is an outline where the picture shows its edge.
type tracedEdge struct {
	outline []geom.Point
	seen    float64 // share of the places where an edge was found
	scatter float64 // rms of single places about their neighbours' median, mm
	ok      bool    // enough of it was found
}

// traceEdge moves an outline to where the picture shows the edge.
func traceEdge(g *image.Gray, t *calibration.Table, outline []geom.Point, top geom.Length) (e tracedEdge) {
	points := catalogue.PointsAlong(outline, traceEvery)
	normals := catalogue.Normals(points)
	eye := t.Center()
	offsets := make([]float64, len(points))
	seen := 0
	for i, p := range points {
		z := top
		if normals[i].X*(eye[0]-p.X)+normals[i].Y*(eye[1]-p.Y) > 0 {
			z = 0
		}
		o, ok := halfway(g, &t.Camera, p, normals[i], z)
		if !ok {
			offsets[i] = math.NaN()
			continue
		}
		offsets[i], seen = o, seen+1
	}
	e.seen = float64(seen) / float64(len(points))
	if e.ok = 10*seen >= 8*len(points); !e.ok {
		return e
	}
	e.outline = make([]geom.Point, len(points))
	window := make([]float64, 0, 5)
	for i, p := range points {
		window = window[:0]
		for k := -2; k <= 2; k++ {
			if o := offsets[((i+k)%len(points)+len(points))%len(points)]; o == o {
				window = append(window, o)
			}
		}
		middle := gray.Quantile(window, 0.5)
		e.outline[i] = p.Add(normals[i].Mul(middle))
		if o := offsets[i]; o == o {
			e.scatter += (o - middle) * (o - middle) / float64(seen)
		}
	}
	e.scatter = math.Sqrt(e.scatter)
	return e
}

// halfway finds, from outside inwards, where the light comes halfway down from the
// paper's to that of the dark border.
func halfway(g *image.Gray, cam *calibration.Camera, at, normal geom.Point, z geom.Length) (float64, bool) {
	const step = 0.1
	n := int(traceReach / step)
	light := make([]float64, 0, 64)
	for i := n; i >= -n; i-- {
		px, ok := cam.PixelOf(at.Add(normal.Mul(float64(i)*step)), z)
		if !ok {
			return 0, false
		}
		v, ok := gray.Bilinear(g, px.X, px.Y)
		if !ok {
			return 0, false
		}
		l, _ := gray.LightAt(v)
		light = append(light, l)
	}
	var paper float64
	const outer = 8 // samples: the outermost 0.8 mm
	for _, l := range light[:outer] {
		paper += l / outer
	}
	dark := slices.Min(light)
	if dark > 0.7*paper {
		return 0, false
	}
	level := (paper + dark) / 2
	for i := 1; i < len(light); i++ {
		if light[i] <= level && light[i-1] > level {
			part := (light[i-1] - level) / (light[i-1] - light[i])
			return float64(n-i+1)*step - part*step, true
		}
	}
	return 0, false
}
