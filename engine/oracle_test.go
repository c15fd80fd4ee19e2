package engine_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
)

// The oracle is the slow and obvious second method. It knows a base as the set of
// points within half its width and half its length of its centre, an arc as a
// range of bearings, and walks along the edges; it shares no geometry with the
// engine.

// inArcOf reports whether a table point is in an arc of the base a.
func inArcOf(a enginetest.Rect, arc engine.Arc, half float64, x, y float64) bool {
	lx, ly := a.Local(x, y)
	bearing := math.Abs(math.Atan2(lx, ly)) // from straight ahead
	switch arc {
	case engine.ArcFront:
		return bearing <= half
	case engine.ArcRear:
		return bearing >= math.Pi-half
	case engine.ArcLeft:
		return lx < 0 && bearing >= half && bearing <= math.Pi-half
	case engine.ArcRight:
		return lx > 0 && bearing >= half && bearing <= math.Pi-half
	case engine.ArcFullFront:
		return ly >= 0
	case engine.ArcFullRear:
		return ly <= 0
	case engine.ArcBullseye:
		return math.Abs(lx) <= 7.5 && ly >= 0
	}
	panic("no such arc")
}

// oracleAttack returns the least distance from the base a (or its part in the arc)
// to the part of b's edges in the arc, and whether there is any.
func oracleAttack(a, b enginetest.Rect, arc engine.Arc, half float64, fromArc bool) (float64, bool) {
	const steps = 300
	best, found := math.Inf(1), false
	from := a.Distance
	if fromArc {
		from = func(x, y float64) float64 { return inArcStart(a, arc, half, x, y) }
	}
	for i := range 4 {
		in := func(t float64) bool { x, y := b.Edge(i, t); return inArcOf(a, arc, half, x, y) }
		lo, hi := -1.0, -1.0
		for k := range steps + 1 {
			if t := float64(k) / steps; in(t) {
				if lo < 0 {
					lo = t
				}
				hi = t
			}
		}
		if lo < 0 {
			continue
		}
		found = true
		if lo > 0 {
			lo = bisect(in, lo-1.0/steps, lo)
		}
		if hi < 1 {
			hi = bisect(in, hi+1.0/steps, hi)
		}
		best = math.Min(best, enginetest.Golden(func(t float64) float64 { return from(b.Edge(i, t)) }, lo, hi))
	}
	return best, found
}

// bisect returns where in stops being true between out and in.
func bisect(is func(float64) bool, out, in float64) float64 {
	for range 60 {
		if m := (out + in) / 2; is(m) {
			in = m
		} else {
			out = m
		}
	}
	return in
}

// inArcStart is the distance of a point from the part of the base a in the arc,
// found along the edges of the base and along the arc's own lines.
func inArcStart(a enginetest.Rect, arc engine.Arc, half float64, x, y float64) float64 {
	best := math.Inf(1)
	for i := range 4 {
		in := func(t float64) bool { px, py := a.Edge(i, t); return inArcOf(a, arc, half, px, py) }
		lo, hi := -1.0, -1.0
		for k := range 41 {
			if t := float64(k) / 40; in(t) {
				if lo < 0 {
					lo = t
				}
				hi = t
			}
		}
		if lo < 0 {
			continue
		}
		if lo > 0 {
			lo = bisect(in, lo-1.0/40, lo)
		}
		if hi < 1 {
			hi = bisect(in, hi+1.0/40, hi)
		}
		best = math.Min(best, enginetest.Golden(func(t float64) float64 {
			px, py := a.Edge(i, t)
			return math.Hypot(px-x, py-y)
		}, lo, hi))
	}
	return best
}

var halfAngle = map[engine.Rules]map[engine.Base]float64{
	engine.Rules1e: {engine.Small: 40.45 * math.Pi / 180, engine.Medium: 41.40 * math.Pi / 180, engine.Large: 42.03 * math.Pi / 180},
	engine.Rules20: {engine.Small: 40.62 * math.Pi / 180, engine.Medium: 41.40 * math.Pi / 180, engine.Large: 41.76 * math.Pi / 180},
	engine.Rules25: {engine.Small: 40.62 * math.Pi / 180, engine.Medium: 41.40 * math.Pi / 180, engine.Large: 41.76 * math.Pi / 180},
}

func randomScene(r *rand.Rand) engine.Scene {
	s := engine.Scene{Rules: engine.Rules25, Ships: []engine.Ship{enginetest.RandomShip(r, "A"), enginetest.RandomShip(r, "B")}}
	if r.IntN(4) == 0 { // parallel and square formations are common on a table
		turn := geom.Angle(r.IntN(4)) * math.Pi / 2
		s.Ships[1].Pose.Heading = s.Ships[0].Pose.Heading + turn
	}
	return s
}

// slowArcs are the arcs of a ship that prints all it can, by the bearings that the slow
// method knows.
var slowArcs = map[engine.Rules]map[engine.Arc]engine.Arc{
	engine.Rules1e: {engine.ArcFront: engine.ArcFront, engine.ArcRearAux: engine.ArcRear,
		engine.ArcFullFront180: engine.ArcFullFront, engine.ArcMobile: engine.ArcLeft},
	engine.Rules20: {engine.ArcFront: engine.ArcFront, engine.ArcRear: engine.ArcRear, engine.ArcLeft: engine.ArcLeft,
		engine.ArcRight:     engine.ArcRight,
		engine.ArcFullFront: engine.ArcFullFront, engine.ArcFullRear: engine.ArcFullRear, engine.ArcBullseye: engine.ArcBullseye,
		engine.ArcTurret: engine.ArcLeft},
}

// 100 000 scenes of each edition are looked at by
//
//	SIGHTLINE_SCENES=100000 go test -run SlowMethodAgreesOn -v -timeout 60m ./engine
func TestTheSlowMethodAgreesOnThousandsOfScenes(t *testing.T) {
	for _, rules := range []engine.Rules{engine.Rules1e, engine.Rules20, engine.Rules25} {
		t.Run(rules.String(), func(t *testing.T) {
			scenes := enginetest.SceneCount(enginetest.Shorter(1000, 100), 100000)
			c := slowly{t: t, rules: rules, r: rand.New(rand.NewPCG(1, uint64(rules)))}
			for n := range scenes {
				c.compare(n)
			}
			t.Logf("%d scenes: %d ranges differ by at most %.2g mm, %d verdicts on arcs do not, %d attack ranges differ by at most %.2g mm",
				scenes, c.ranges, c.rangeError, c.verdicts, c.attacks, c.attackError)
			require.Greater(t, c.ranges, scenes/2)
			require.Greater(t, c.attacks, scenes/9)
		})
	}
}

// slowly compares the engine with the slow method, scene by scene.
type slowly struct {
	t                         *testing.T
	rules                     engine.Rules
	r                         *rand.Rand
	m                         engine.Measurer
	ranges, verdicts, attacks int
	rangeError, attackError   float64
}

func (c *slowly) compare(n int) {
	s := randomScene(c.r)
	s.Rules = c.rules
	from := &s.Ships[0]
	from.Turret, from.Arcs = "left", []string{"rear_aux", "full_front_180", "mobile"}
	a, b := enginetest.RectOf(s.Ships[0]), enginetest.RectOf(s.Ships[1])
	want := enginetest.OracleRange(a, b)
	got, err := c.m.Pair(&s, "A", "B", engine.Options{})
	require.NoError(c.t, err)
	if want < 1e-9 || b.Distance(a.X, a.Y) == 0 {
		return // they overlap: the distance is 0 and the slow method cannot say more
	}
	c.ranges++
	c.rangeError = max(c.rangeError, math.Abs(want-float64(got.Range.Distance)))
	require.InDelta(c.t, want, float64(got.Range.Distance), 1e-9, "scene %d: %+v", n, s)
	if n%4 != 0 { // the arcs are the slow part of the slow method
		return
	}
	arcs := slowArcs[min(c.rules, engine.Rules20)]
	require.Len(c.t, got.Arcs, len(arcs))
	for _, v := range got.Arcs {
		c.arc(n, &s, v, arcs[v.Arc], a, b)
	}
}

func (c *slowly) arc(n int, s *engine.Scene, v engine.ArcVerdict, as engine.Arc, a, b enginetest.Rect) {
	half := halfAngle[c.rules][s.Ships[0].Base]
	if math.Abs(float64(v.Margin)) < 0.5 { // less than the slow method's steps
		return
	}
	d, in := oracleAttack(a, b, as, half, false)
	c.verdicts++
	require.Equal(c.t, in, v.InArc == engine.Yes, "scene %d %v margin %v: %+v", n, v.Arc, v.Margin, s)
	if !in {
		require.Nil(c.t, v.Attack)
		return
	}
	c.attacks++
	if c.rules != engine.Rules1e {
		c.attackError = max(c.attackError, math.Abs(d-float64(v.Attack.Distance)))
		require.InDelta(c.t, d, float64(v.Attack.Distance), 1e-9, "scene %d %v: %+v", n, v.Arc, s)
	}
	if c.attacks%20 == 0 { // from the part of the base in the arc, which is slower still
		d, _ = oracleAttack(a, b, as, half, true)
		require.InDelta(c.t, d, float64(v.Attack.DistanceArcStart), 1e-7, "scene %d %v in-arc start: %+v", n, v.Arc, s)
		if c.rules == engine.Rules1e {
			c.attackError = max(c.attackError, math.Abs(d-float64(v.Attack.Distance)))
			require.InDelta(c.t, d, float64(v.Attack.Distance), 1e-7, "scene %d %v: %+v", n, v.Arc, s)
		}
	}
}
