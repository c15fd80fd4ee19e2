package draw

import (
	"math"

	"sightline/engine/geom"
)

// Labels avoid each other and what they would cover. Everything drawn is recorded as taken. A label
// goes to the first of its places that is free, or to the one where it covers least.

// overlap returns the area that two boxes share.
func (b box) overlap(o box) float64 {
	w := math.Min(b.x1, o.x1) - math.Max(b.x0, o.x0)
	h := math.Min(b.y1, o.y1) - math.Max(b.y0, o.y0)
	return math.Max(0, w) * math.Max(0, h)
}

// take records that the box around the given points is taken.
func (d *drawing) take(ps ...geom.Point) {
	b := box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, p := range ps {
		b.add(p, 0)
	}
	d.taken = append(d.taken, b)
}

// takeLine records a line piece by piece, so that the room next to it stays free.
func (d *drawing) takeLine(a, b geom.Point) {
	n := int(math.Max(1, math.Min(40, a.Sub(b).Norm()/(2*d.unit))))
	for i := range n {
		d.take(a.Lerp(b, float64(i)/float64(n)), a.Lerp(b, float64(i+1)/float64(n)))
		last := &d.taken[len(d.taken)-1]
		*last = last.grown(0.15 * d.unit)
	}
}

// labelBox returns the box of a one-line label centred at p.
func (d *drawing) labelBox(size float64, p geom.Point, words string) box {
	w, h := 0.31*size*float64(len([]rune(words)))*d.unit, 0.6*size*d.unit
	return box{p.X - w, p.Y - h, p.X + w, p.Y + h}
}

// label writes words at the best of the given places, earlier ones first, and records that place as
// taken.
func (d *drawing) label(class string, size float64, words string, places ...geom.Point) {
	best, least := places[0], math.Inf(1)
	for i, p := range places {
		b := d.labelBox(size, p, words)
		// First of all, inside the picture.
		p.X += math.Max(0, d.view.x0+d.unit-b.x0) - math.Max(0, b.x1-d.view.x1+d.unit)
		p.Y += math.Max(0, d.view.y0+d.unit-b.y0) - math.Max(0, b.y1-d.view.y1+d.unit)
		b = d.labelBox(size, p, words)
		hidden := 0.02 * float64(i) * (b.x1 - b.x0) * (b.y1 - b.y0)
		for _, t := range d.taken {
			hidden += b.overlap(t)
		}
		if hidden < least {
			best, least = p, hidden
		}
	}
	b := d.labelBox(size, best, words)
	d.taken = append(d.taken, b)
	d.text(class, size, best, words)
}

// around returns places for a label around a box, above and below it first.
func (d *drawing) around(b box, size float64, words string) []geom.Point {
	l := d.labelBox(size, geom.Point{}, words)
	mid, gap := geom.Point{X: (b.x0 + b.x1) / 2, Y: (b.y0 + b.y1) / 2}, 0.6*d.unit
	return []geom.Point{
		{X: mid.X, Y: b.y0 + l.y0 - gap}, {X: mid.X, Y: b.y1 + l.y1 + gap},
		{X: b.x1 + l.x1 + gap, Y: mid.Y}, {X: b.x0 + l.x0 - gap, Y: mid.Y},
		{X: b.x1 + l.x1 + gap, Y: b.y0}, {X: b.x1 + l.x1 + gap, Y: b.y1},
		{X: b.x0 + l.x0 - gap, Y: b.y0}, {X: b.x0 + l.x0 - gap, Y: b.y1},
	}
}
