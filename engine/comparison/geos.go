package comparison

import (
	"math"

	"github.com/twpayne/go-geos"

	"sightline/engine"
	"sightline/engine/geom"
)

// geosTable is a scene as GEOS likes it best: every shape is made once, and what many
// pairs ask about is prepared (indexed).
type geosTable struct {
	context  *geos.Context
	bases    []*geos.Geom
	arcs     [][]*geos.Geom
	prepared [][]*geos.PrepGeom
	rocks    []*geos.PrepGeom
}

func newGEOS(s *engine.Scene) *geosTable {
	t := &geosTable{context: geos.NewContext()}
	polygon := func(r ring) *geos.Geom { return t.context.NewPolygon([][][]float64{r}) }
	for i := range s.Ships {
		t.bases = append(t.bases, polygon(base(&s.Ships[i])))
		var as []*geos.Geom
		var ps []*geos.PrepGeom
		for _, r := range arcs(&s.Ships[i]) {
			g := polygon(r)
			as, ps = append(as, g), append(ps, g.Prepare())
		}
		t.arcs, t.prepared = append(t.arcs, as), append(t.prepared, ps)
	}
	for i := range s.Obstacles {
		t.rocks = append(t.rocks, polygon(rock(&s.Obstacles[i])).Prepare())
	}
	return t
}

// measure answers all ordered pairs; say gets each answer.
func (t *geosTable) measure(say func(from, to, arc int, a answer)) {
	for i, from := range t.bases {
		for j, to := range t.bases {
			if i == j {
				continue
			}
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
	for i, e := range ends {
		a.line[i] = geom.Point{X: e[0], Y: e[1]}
	}
	a.attack = math.Hypot(ends[0][0]-ends[1][0], ends[0][1]-ends[1][1])
	line := t.context.NewLineString(ends)
	for _, r := range t.rocks {
		if r.Intersects(line) {
			a.through++
		}
	}
}
