package engine

import (
	"fmt"
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
	"sightline/engine/internal/uncertain"
)

// problems lists what the rules do not allow or what makes answers doubtful, and
// only what is decided.
func (t *table) problems(ps []Problem) []Problem {
	for i := range t.scene.Ships {
		if p, ok := t.outside(&t.scene.Ships[i]); ok {
			ps = append(ps, p)
		}
	}
	for i := range t.scene.Ships {
		for j := range i {
			if p, ok := t.overlapping(&t.ships[i], &t.ships[j]); ok {
				ps = append(ps, p)
			}
		}
	}
	for j, list := range [...][]Token{t.scene.Devices, t.scene.Markers} {
		what := [...]string{"device", "marker"}[j]
		for i := range list {
			switch k := &list[i]; {
			case len(pieces.Parts(k.Kind, k.Outline)) > 0:
				if j == 0 && !slices.ContainsFunc(pieces.Parts(k.Kind, k.Outline), func(p pieces.Part) bool { return len(t.onMat(k, p.Outline)) > 0 }) {
					ps = append(ps, Problem{ID: k.ID, Problem: "device not measured: all of it lies outside the play area"})
				}
			case k.Kind == "":
				ps = append(ps, Problem{ID: k.ID, Problem: what + " not measured: neither kind nor outline_mm is given"})
			default:
				ps = append(ps, Problem{ID: k.ID, Problem: fmt.Sprintf("%s not measured: no size is known of the kind %q, and no outline_mm "+
					"is given", what, pieces.ShortName(k.Kind))})
			}
		}
	}
	return t.anachronisms(ps)
}

// anachronisms lists what the first edition does not have. It is measured all the same:
// a table may be mixed.
func (t *table) anachronisms(ps []Problem) []Problem {
	if t.scene.Rules != Rules1e {
		return ps
	}
	for i := range t.scene.Ships {
		if s := &t.scene.Ships[i]; s.Base == Medium {
			ps = append(ps, Problem{ID: s.ID, Problem: "the first edition has no medium base"})
		}
	}
	for i := range t.scene.Obstacles {
		if o := &t.scene.Obstacles[i]; o.Kind == "gas" {
			ps = append(ps, Problem{ID: o.ID, Problem: "the first edition has no gas cloud"})
		}
	}
	return ps
}

// outside reports a ship that is partly outside the play area: it has fled.
func (t *table) outside(s *Ship) (Problem, bool) {
	w, h := float64(t.scene.MatWidth), float64(t.scene.MatHeight)
	if w <= 0 || h <= 0 {
		return Problem{}, false
	}
	g := &t.pm.Propagator
	g.Set(s.body(), uncertain.Body{}, t.scene.ScaleSigma, t.k)
	b, mat := &t.room[0], &t.room[1]
	setBase(b, &t.profile, s, uncertain.From)
	mat.Rectangle(geom.Pose{}, uncertain.To, 0, w, 0, h)
	out := geom.Exactly(math.Inf(-1))
	for i, p := range mat.V {
		e := mat.Next(i).Sub(p)
		n := geom.Point{X: e.Y, Y: -e.X}.Mul(1 / e.Norm())
		for _, q := range b.V {
			d := n.Dot(q.Sub(p))
			leaf := g.DistanceInterval(d, n, uncertain.To, uncertain.From, q, q, d)
			out = out.Max(leaf)
		}
	}
	return Problem{ID: s.ID, Problem: "outside the play area", Margin: geom.Length(out.Val)}, out.Lo > geom.Tie
}

// overlaps begins the problem of a ship that lies on another.
const overlaps = "overlaps "

// overlapping reports two ships that overlap, guides counted, which is impossible.
func (t *table) overlapping(x, y *measuredShip) (Problem, bool) {
	a, b := x.ship, y.ship
	reach := t.profile.reach(a.Base) + t.profile.reach(b.Base)
	if d := a.Pose.Point.Sub(b.Pose.Point); d.Dot(d) > geom.Sq(x.radius+y.radius+reach) {
		return Problem{}, false // however they are turned
	}
	g := &t.pm.Propagator
	g.Set(a.body(), b.body(), t.scene.ScaleSigma, t.k)
	s := g.Separation(&x.from, &y.to)
	if s.Lo > reach {
		return Problem{}, false
	}
	s = t.touching(x, y, s)
	return Problem{ID: a.ID, Problem: overlaps + b.ID, Margin: geom.Length(-s.Val)}, overlapOutcome(s) == Yes
}
