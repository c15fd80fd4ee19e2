package comparison

import (
	sf "github.com/peterstace/simplefeatures/geom"

	"sightline/engine"
	"sightline/engine/geom"
)

// simpleTable is a scene for simplefeatures, every shape made once.
type simpleTable struct {
	bases []sf.Geometry
	arcs  [][]sf.Geometry
	rocks []sf.Geometry
}

func newSimple(s *engine.Scene) *simpleTable {
	t := &simpleTable{}
	for i := range s.Ships {
		t.bases = append(t.bases, simplePolygon(base(&s.Ships[i])))
		var as []sf.Geometry
		for _, r := range arcs(&s.Ships[i]) {
			as = append(as, simplePolygon(r))
		}
		t.arcs = append(t.arcs, as)
	}
	for i := range s.Obstacles {
		t.rocks = append(t.rocks, simplePolygon(rock(&s.Obstacles[i])))
	}
	return t
}

func simplePolygon(r ring) sf.Geometry {
	var flat []float64
	for _, p := range r {
		flat = append(flat, p...)
	}
	return sf.NewPolygon([]sf.LineString{sf.NewLineString(sf.NewSequence(flat, sf.DimXY))}).AsGeometry()
}

// measure answers all ordered pairs. simplefeatures returns distances but not the closest points,
// so it is given the measuring line of each arc.
func (t *simpleTable) measure(lines func(from, to, arc int) [2]geom.Point, say func(from, to, arc int, a answer)) error {
	for i, from := range t.bases {
		for j, to := range t.bases {
			if i == j {
				continue
			}
			distance, _ := sf.Distance(from, to)
			for k, arc := range t.arcs[i] {
				a := answer{distance: distance, inArc: sf.Intersects(arc, to)}
				if a.inArc {
					part, err := sf.Intersection(arc, to)
					if err != nil {
						return err
					}
					a.attack, _ = sf.Distance(from, part)
					a.line = lines(i, j, k)
					a.through = t.through(a.line)
				}
				say(i, j, k, a)
			}
		}
	}
	return nil
}

func (t *simpleTable) through(l [2]geom.Point) (n int) {
	if l[0] == l[1] {
		return 0
	}
	line := sf.NewLineString(sf.NewSequence([]float64{l[0].X, l[0].Y, l[1].X, l[1].Y}, sf.DimXY)).AsGeometry()
	for _, r := range t.rocks {
		if sf.Intersects(r, line) {
			n++
		}
	}
	return n
}
