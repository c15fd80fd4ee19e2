package flown

import (
	"cmp"
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
)

// This file is about ships in the way.

// mayBeFull reports whether a ship that seems to be in the way may not have been, given that the
// moved ship stands near the end of the full maneuver.
func (g *tester) mayBeFull(m move.Maneuver, full geom.Pose) (bool, error) {
	if g.to.Pose.Sub(full.Point).Norm() > g.near(full)+30 { // a Tallon roll's slide
		return false, nil
	}
	r, err := move.Execute(&g.vague, g.vague.Ships[g.ship].ID, m, engine.Options{Sigmas: surely})
	return r.InFull != engine.No, err
}

// near returns the distance of the ship from a possible end of its move.
func (g *tester) near(end geom.Pose) float64 {
	seen := max(g.to.Covariance[0], g.to.Covariance[4])
	return wide * (math.Sqrt(g.place*g.place+seen) + end.Sub(g.start.Point).Norm()*g.turn)
}

// crowded reports whether another ship may be in the way of a pose: whether the circles around the
// two meet. A Tallon roll may end 30 mm to either side.
func (g *tester) crowded(p geom.Pose) bool {
	reach := func(b engine.Base) float64 {
		w, l := b.Size()
		return math.Hypot(float64(w), float64(l))/2 + 3 // for guides and other profiles
	}
	own := &g.exact.Ships[g.ship]
	far := reach(own.Base) + surely*(g.place+reach(own.Base)*g.turn+p.Sub(g.start.Point).Norm()*g.turn) + 30
	return slices.ContainsFunc(g.exact.Ships, func(s engine.Ship) bool {
		return s.ID != own.ID && s.Pose.Sub(p.Point).Norm() < far+reach(s.Base)
	})
}

// onTheWay reports whether the ship stands near the path of a maneuver, so that it may have bumped:
// its heading is within the template's turn, and its distance from the line between the two ends
// within the template's arc.
func (g *tester) onTheWay(m move.Maneuver, full geom.Pose) bool {
	bend, bulge := 0.0, 0.0
	switch m.Bearing {
	case move.BankTurn, move.Segnor, move.ReverseBank:
		bend, bulge = math.Pi/4, math.Tan(math.Pi/8)/2
	case move.TightTurn, move.Tallon:
		bend, bulge = math.Pi/2, 0.5
	}
	if m.Left != (m.Bearing == move.ReverseBank) { // backing to the left turns the nose to the right
		bend = -bend
	}
	turn := wide * math.Sqrt(g.turn*g.turn+g.to.Covariance[8])
	if d := float64((g.to.Pose.Heading - g.start.Heading).Signed()); d < min(0, bend)-turn || d > max(0, bend)+turn {
		return false
	}
	chord := full.Sub(g.start.Point).Norm()
	q, _ := geom.ClosestOnSegment(g.to.Pose.Point, g.start.Point, full.Point)
	return g.to.Pose.Sub(q).Norm() <= bulge*chord+g.near(full)+30 // a Tallon roll's slide
}

// laid are the places where the template may have been laid: offsets ahead, aside and in heading,
// in standard deviations. The hypotheses between their ends cover the places in between.
var laid = [...][3]float64{
	{0, 0, 0}, {-2, 0, 0}, {2, 0, 0}, {0, -2, 0}, {0, 2, 0}, {0, 0, -2}, {0, 0, 2},
	{0, -1.5, -1.5}, {0, -1.5, 1.5}, {0, 1.5, -1.5}, {0, 1.5, 1.5},
}

// bump is a place where a ship stops that cannot fully execute a maneuver.
type bump struct {
	hypothesis
	back float64 // from the full pose, mm
}

// bumps returns where a ship stops that cannot fully execute a maneuver. How far it backs up
// depends on how the template is laid, sometimes discontinuously: past a corner or against it. So
// the template is laid in many places around the nominal one. Each end is referred back to the
// nominal start, which leaves its place along the template; the ship may stop anywhere between two
// such places.
func (g *tester) bumps(m move.Maneuver) ([]hypothesis, error) {
	ship := &g.exact.Ships[g.ship]
	defer func() { ship.Pose = g.start }()
	var ends []bump
	for _, at := range laid {
		turned := geom.Angle(at[2] * g.turn)
		ship.Pose.Point = g.start.Transform(geom.Point{X: at[1] * g.place, Y: at[0] * g.place})
		ship.Pose.Heading = g.start.Heading + turned
		r, err := move.Execute(&g.exact, ship.ID, m, engine.Options{})
		if err != nil {
			return nil, err
		}
		if r.FullyExecuted {
			continue
		}
		final := ship.Pose.Inverse(r.Final.Point)
		p := geom.Pose{Point: g.start.Transform(final), Heading: (r.Final.Heading - turned).Normalized()}
		ends = append(ends, bump{hypothesis{a: p, b: p, partial: true, touching: r.Touching}, ship.Pose.Inverse(r.Full.Point).Sub(final).Norm()})
	}
	slices.SortStableFunc(ends, func(a, b bump) int { return cmp.Compare(a.back, b.back) })
	var all []hypothesis
	for i, e := range ends {
		if i > 0 {
			e.a = ends[i-1].b
			if near(e.a, e.b) {
				continue
			}
		}
		all = append(all, e.hypothesis)
	}
	return all, nil
}
