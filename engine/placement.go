package engine

import (
	"fmt"
	"math"

	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
	"sightline/engine/internal/uncertain"
)

// Check is one question about how the table was set up.
type Check struct {
	ID, Against string      // what was placed, and what it is measured against
	Legal       Outcome     // whether it may stand there
	Distance    geom.Length // what was measured
	Sigma       geom.Length // of the distance
	Margin      geom.Length // to what would change the answer: positive where it is legal
	Why         string      // what the rule asks, in a few words
	Rule        string      // edition and number of the rule
}

// The edges of the play area, from player 1's seat. Player 1's own edge is the near
// one and player 2's the far one.
type Edge int

// The four edges, counter-clockwise from player 1's own.
const (
	EdgeNear Edge = iota
	EdgeRight
	EdgeFar
	EdgeLeft
)

var matEdgeNames = [...]string{"near edge", "right edge", "far edge", "left edge"}

// String returns the edge's name: "near edge".
func (e Edge) String() string {
	if e < 0 || int(e) >= len(matEdgeNames) {
		return fmt.Sprintf("Edge(%d)", int(e))
	}
	return matEdgeNames[e]
}

// PlayerEdge returns a player's own edge of the play area.
func PlayerEdge(player int) Edge {
	if player == 2 {
		return EdgeFar
	}
	return EdgeNear
}

// line returns a point of the edge and the unit vector into the play area.
func (e Edge) line(s *Scene) (at, in geom.Point) {
	switch e {
	case EdgeRight:
		return geom.Point{X: float64(s.MatWidth)}, geom.Point{X: -1}
	case EdgeFar:
		return geom.Point{Y: float64(s.MatHeight)}, geom.Point{Y: -1}
	case EdgeLeft:
		return geom.Point{}, geom.Point{X: 1}
	}
	return geom.Point{}, geom.Point{Y: 1}
}

// EdgeRange is how far something is from an edge of the play area.
type EdgeRange struct {
	Edge     Edge
	Nearest  RangeVerdict // to its closest point: what "at" and "beyond" ask
	Farthest RangeVerdict // to its furthest point: what "within" asks (G13)
	Past     Outcome      // whether some of it lies outside the play area there
}

// EdgeRanges measures a ship's base, an obstacle, a device or a marker against the
// four edges of the play area.
func EdgeRanges(s *Scene, id string, o Options) ([4]EdgeRange, error) {
	var out [4]EdgeRange
	t := &table{}
	if err := t.prepareMat(s, o); err != nil {
		return out, err
	}
	for e := range out {
		near, far, err := t.edgeSpans(id, Edge(e))
		if err != nil {
			return out, err
		}
		out[e] = EdgeRange{
			Edge:     Edge(e),
			Nearest:  t.mem.rangeVerdict(s.Rules, &near, near.Interval, No, t.k),
			Farthest: t.mem.rangeVerdict(s.Rules, &far, far.Interval, No, t.k),
			Past:     overlapOutcome(near.Interval),
		}
	}
	return out, nil
}

func (t *table) prepareMat(s *Scene, o Options) error {
	if err := t.prepare(s, o); err != nil {
		return err
	}
	if s.MatWidth <= 0 || s.MatHeight <= 0 {
		return fmt.Errorf("engine: mat: expected its width and height")
	}
	return nil
}

// edgeSpans measures the nearest and the furthest point of something from an edge.
// Both are a least or a most over corners, each with its own interval.
func (t *table) edgeSpans(id string, e Edge) (near, far uncertain.ClosestPair, err error) {
	s := t.scene
	at, in := e.line(s)
	var g uncertain.Propagator
	var corners []geom.Point
	if ship := s.Ship(id); ship != nil {
		g.Set(uncertain.Body{}, ship.body(), s.ScaleSigma, t.k)
		setBase(&t.room[0], &t.profile, ship, uncertain.To)
		corners = t.room[0].V
	} else if r := t.outline(id); r != nil {
		g.Set(uncertain.Body{}, r.Body(), s.ScaleSigma, t.k)
		corners = r.Polygon
	} else {
		return near, far, fmt.Errorf("engine: measure %q against an edge: no such thing in the scene, or one of a kind whose size is "+
			"not known", id)
	}
	near.Interval = geom.Exactly(math.Inf(1))
	far.Interval = geom.Exactly(math.Inf(-1))
	for _, q := range corners {
		d := in.Dot(q.Sub(at))
		l := g.DistanceInterval(d, in, uncertain.From, uncertain.To, q, q, d)
		line := geom.Line{q, q.Sub(in.Mul(d))}
		if d < near.Val {
			near.Lines = [2]geom.Line{line, line}
		}
		if d > far.Val {
			far.Lines = [2]geom.Line{line, line}
		}
		near.Interval, far.Interval = near.Min(l), far.Max(l)
	}
	return near, far, nil
}

func (t *table) outline(id string) *obstacleOutline {
	for i := range t.outlines {
		if t.outlines[i].id == id {
			return &t.outlines[i]
		}
	}
	return nil
}

// decide makes the check of a measured value against limits: legal when it is
// above lo (beyond), or on it where closed says so, and at most hi.
func decide(c Check, s geom.Interval, k, lo, hi float64, closed bool) Check {
	c.Distance = geom.Length(max(0, s.Val))
	c.Margin = geom.Length(min(s.Val-lo, hi-s.Val))
	switch {
	case s.Lo == s.Hi:
		c.Legal = No
		if above := s.Val > lo+geom.Tie || closed && s.Val >= lo-geom.Tie; above && s.Val <= hi+geom.Tie {
			c.Legal = Yes
		}
	case s.Lo > lo && s.Hi < hi:
		c.Legal = Yes
	case s.Hi < lo || s.Lo > hi:
		c.Legal = No
	}
	c.Sigma = geom.Length(s.Sigma(k, float64(c.Margin), c.Legal != Indeterminate))
	return c
}

var endless = math.Inf(1)

// CheckObstacles says of every obstacle whether it may have been placed where it
// is: beyond range 1 of each other and beyond range 2 of each edge (G204, G205).
// Cargo and other tokens that count as obstacles are not placed at setup.
func CheckObstacles(s *Scene, o Options) ([]Check, error) {
	t := &table{}
	if err := t.prepareMat(s, o); err != nil {
		return nil, err
	}
	rule := rulesOf(s.Rules, "G204", "G205")
	var all []Check
	for i := range s.Obstacles {
		a := &t.outlines[i]
		for e := EdgeNear; e <= EdgeLeft; e++ {
			near, _, err := t.edgeSpans(a.id, e)
			if err != nil {
				return nil, err
			}
			all = append(all, decide(Check{ID: a.id, Against: e.String(), Why: "beyond range 2 of each edge", Rule: rule}, near.Interval,
				t.k, 200, endless, false))
		}
		for j := range i {
			b := &t.outlines[j]
			all = append(all, decide(Check{ID: a.id, Against: b.id, Why: "beyond range 1 of each other obstacle", Rule: rule}, t.gapSpan(a,
				b), t.k, 100, endless, false))
		}
	}
	return all, nil
}

// rulesOf names a rule that has a number of its own in the first edition.
func rulesOf(r Rules, first, second string) string {
	if r == Rules1e {
		return r.String() + " " + first
	}
	return r.String() + " " + second
}

// CheckDeployment says of every ship whose player is known whether it stands
// wholly within range 1 of its player's edge and in the play area (G13, G206,
// G207). In the first edition a large ship may stick out of that strip as long as
// it fills it from the edge of the play area on (G208), but never out of the play
// area (G209). Huge ships are placed by rules of their own, which no source here
// gives: one that is not within range 1 is only checked for being in the play area.
func CheckDeployment(s *Scene, o Options) ([]Check, error) {
	t := &table{}
	if err := t.prepareMat(s, o); err != nil {
		return nil, err
	}
	var all []Check
	for i := range s.Ships {
		ship := &s.Ships[i]
		if ship.Player == 0 {
			continue
		}
		for e := EdgeNear; e <= EdgeLeft; e++ {
			near, far, err := t.edgeSpans(ship.ID, e)
			if err != nil {
				return nil, err
			}
			all = append(all, decide(Check{ID: ship.ID, Against: e.String(), Why: "in the play area", Rule: rulesOf(s.Rules, "G209",
				"G200")}, near.Interval, t.k, 0, endless, true))
			if e != PlayerEdge(ship.Player) {
				continue
			}
			c := decide(Check{ID: ship.ID, Against: e.String(), Why: "within range 1 of its player's edge", Rule: rulesOf(s.Rules, "G206",
				"G207")}, far.Interval, t.k, math.Inf(-1), 100, true)
			if s.Rules == Rules1e && ship.Base == Large && c.Legal != Yes {
				c = largeShip(c, near.Interval, t.k)
			}
			if ship.Base.Huge() && c.Legal != Yes {
				continue
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// largeShip applies the exception for large ships that stick out of the strip: one
// that fills it has a corner or a side on the edge of the play area, and each way off
// the edge breaks the rule.
func largeShip(c Check, near geom.Interval, k float64) Check {
	switch fills := near; {
	case fills.Lo == fills.Hi && math.Abs(fills.Val) <= geom.Tie:
		c.Legal = Yes
	case fills.Lo < fills.Hi && fills.Lo <= 0 && fills.Hi >= 0:
		c.Legal = Indeterminate
	default:
		return c
	}
	c.Why, c.Rule = "a large ship that fills the strip may stick out of it", "1e G208"
	c.Distance, c.Margin = geom.Length(max(0, near.Val)), geom.Length(-math.Abs(near.Val))
	c.Sigma = geom.Length(near.Sigma(k, float64(c.Margin), c.Legal == Yes))
	return c
}

// CheckHyperspaceMarkers says whether the two hyperspace markers of 2.0 may stand
// where they do: each beyond range 0 of all obstacles and beyond range 1 of the
// edges (G214), and the second beyond range 3 of the first (G215).
func CheckHyperspaceMarkers(s *Scene, o Options) ([]Check, error) {
	t := &table{}
	if err := t.prepareMat(s, o); err != nil {
		return nil, err
	}
	var all []Check
	var first *obstacleOutline
	for i := range t.outlines {
		a := &t.outlines[i]
		if pieces.Normalized(a.kind) != "hyperspace_marker" {
			continue
		}
		for e := EdgeNear; e <= EdgeLeft; e++ {
			near, _, err := t.edgeSpans(a.id, e)
			if err != nil {
				return nil, err
			}
			all = append(all, decide(Check{ID: a.id, Against: e.String(), Why: "beyond range 1 of the edges", Rule: "2.0 G214"},
				near.Interval, t.k, 100, endless, false))
		}
		for j := range s.Obstacles {
			b := &t.outlines[j]
			all = append(all, decide(Check{ID: a.id, Against: b.id, Why: "beyond range 0 of all obstacles", Rule: "2.0 G214"}, t.gapSpan(a,
				b), t.k, 0, endless, false))
		}
		if first != nil {
			all = append(all, decide(Check{ID: a.id, Against: first.id, Why: "beyond range 3 of the first marker", Rule: "2.0 G215"},
				t.gapSpan(a, first), t.k, 300, endless, false))
		} else {
			first = a
		}
	}
	return all, nil
}

// HyperspacePose returns where a ship comes out at a hyperspace marker: its rear
// guides flush against one of the marker's sides, heading away from it (G216). Sides are
// numbered clockwise from the front, 0 to 3, and beyond; the next one clockwise is
// tried where a side is taken (G217).
func HyperspacePose(p *Profile, marker geom.Pose, side int, base Base) geom.Pose {
	size := [2]float64{46.4, 52.7} // along and across the marker's heading
	_, length := p.Size(base)
	out := geom.Pose{Point: marker.Point, Heading: marker.Heading + geom.Angle(side%4)*math.Pi/2}
	along := size[0]
	if side%2 != 0 {
		along = size[1]
	}
	out.Point = out.Point.Add(out.Forward().Mul(along/2 + p.reach(base) + float64(length)/2))
	return out
}
