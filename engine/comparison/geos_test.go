package comparison

import (
	"math"

	"github.com/twpayne/go-geos"

	"sightline/engine"
	"sightline/engine/geom"
)

// geosTable is a scene prepared for GEOS: every shape is made once, and shapes used by many pairs
// are prepared (indexed).
type geosTable struct {
	context  *geos.Context
	bases    []*geos.Geom
	arcs     [][]*geos.Geom
	edges    [][]*geos.Geom // the outlines of the arcs
	prepared [][]*geos.PrepGeom
	rocks    []*geos.PrepGeom
	outlines []*geos.Geom // of the rocks
	moved    [2][][]*geos.Geom

	seen []seen // the results for the lines of this pair, which most arcs share
}

// seen is the result for one line.
type seen struct {
	line    [2]geom.Point
	through int
	margin  float64
}

func newGEOS(s *engine.Scene) *geosTable {
	t := &geosTable{context: geos.NewContext()}
	polygon := func(r ring) *geos.Geom { return t.context.NewPolygon([][][]float64{r}) }
	for i := range s.Ships {
		t.bases = append(t.bases, polygon(base(&s.Ships[i])))
		var as, es []*geos.Geom
		var ps []*geos.PrepGeom
		for _, r := range arcs(&s.Ships[i]) {
			g := polygon(r)
			as, es, ps = append(as, g), append(es, g.Boundary()), append(ps, g.Prepare())
		}
		t.arcs, t.edges, t.prepared = append(t.arcs, as), append(t.edges, es), append(t.prepared, ps)
	}
	for i := range s.Obstacles {
		g := polygon(rock(&s.Obstacles[i]))
		t.outlines, t.rocks = append(t.outlines, g), append(t.rocks, g.Prepare())
	}
	// The arcs widened and narrowed by how far a pose's uncertainty may move their edges.
	for k, by := range [2]float64{1, -1} {
		for _, as := range t.arcs {
			var ms []*geos.Geom
			for _, a := range as {
				ms = append(ms, a.Buffer(by, 2))
			}
			t.moved[k] = append(t.moved[k], ms)
		}
	}
	return t
}

// measure answers all ordered pairs and calls say for each answer.
func (t *geosTable) measure(say func(from, to, arc int, a answer)) {
	for i, from := range t.bases {
		for j, to := range t.bases {
			if i == j {
				continue
			}
			t.seen = t.seen[:0]
			distance := from.Distance(to)
			for k, arc := range t.arcs[i] {
				a := answer{distance: distance, inArc: t.prepared[i][k].Intersects(to)}
				if a.inArc {
					t.attack(from, arc.Intersection(to), &a)
				}
				say(i, j, k, a)
			}
		}
	}
}

func (t *geosTable) attack(from, part *geos.Geom, a *answer) {
	ends := from.NearestPoints(part)
	if len(ends) != 2 {
		return
	}
	a.line = lineOf(ends)
	a.attack = math.Hypot(ends[0][0]-ends[1][0], ends[0][1]-ends[1][1])
	a.through = t.onLine(a.line, false).through
}

func lineOf(ends [][]float64) (l [2]geom.Point) {
	for i, e := range ends {
		l[i] = geom.Point{X: e[0], Y: e[1]}
	}
	return l
}

// onLine finds the obstacles on a line and, with margin, the distance of the nearest, unless the
// pair has already asked about that line.
func (t *geosTable) onLine(l [2]geom.Point, margin bool) seen {
	for _, s := range t.seen {
		if s.line == l {
			return s
		}
	}
	line := t.context.NewLineString([][]float64{{l[0].X, l[0].Y}, {l[1].X, l[1].Y}})
	s := seen{line: l, margin: math.Inf(1)}
	for i, r := range t.rocks {
		if r.Intersects(line) {
			s.through++
		}
		if margin {
			s.margin = min(s.margin, t.outlines[i].Distance(line))
		}
	}
	t.seen = append(t.seen, s)
	return s
}

// measureAll asks GEOS for everything else that the engine's answers include: the margin of every
// arc and of every obstruction, the range and the overlap of every ship with every obstacle, and
// the error of the attack range, by asking again with the arc wider and narrower. It returns the
// sum of all results, so that none is optimised away.
func (t *geosTable) measureAll() float64 {
	sum := 0.0
	for i, from := range t.bases {
		for j, to := range t.bases {
			if i == j {
				continue
			}
			t.seen = t.seen[:0]
			sum += from.Distance(to)
			for k, arc := range t.arcs[i] {
				if !t.prepared[i][k].Intersects(to) {
					sum += arc.Distance(to)
					continue
				}
				sum += t.edges[i][k].Distance(to)
				ends := from.NearestPoints(arc.Intersection(to))
				if len(ends) == 2 {
					l := lineOf(ends)
					sum += l[0].Sub(l[1]).Norm() + t.onLine(l, true).margin
				}
				for _, moved := range t.moved {
					if part := moved[i][k].Intersection(to); !part.IsEmpty() {
						sum += from.Distance(part)
					}
				}
			}
		}
		for k, rock := range t.outlines {
			sum += from.Distance(rock)
			if t.rocks[k].Intersects(from) {
				sum++
			}
		}
	}
	return sum
}
