package move_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
	"sightline/engine/move"
)

// This file is a second, slow method for moves. It knows no closed form: the
// centre line is integrated numerically from its heading, the front mark is
// searched along it, overlap is asked of the edges, and a ship is backed up in
// small steps that are then halved.

// moveScenes returns how many scenes to compare: many more on request, or as many as
// SIGHTLINE_SCENES says.
func moveScenes(n int) int {
	if os.Getenv("SIGHTLINE_ACCURACY") == "full" {
		n *= 20
	}
	return enginetest.SceneCount(n, n)
}

type slowLine struct {
	length, radius, side float64
	nodes                []geom.Point // every slowStep from s = 0

	lock  sync.Mutex
	steps map[float64][]geom.Pose // of a base's length: its poses at each step back from the end
}

const slowStep = 0.125 // mm

// slowLines keeps the lines that were integrated before: there are few templates.
var slowLines = map[[3]float64]*slowLine{}
var slowLinesLock sync.Mutex

func newSlowLine(length, radius, side float64) *slowLine {
	key := [3]float64{length, radius, side}
	slowLinesLock.Lock()
	defer slowLinesLock.Unlock()
	if l := slowLines[key]; l != nil {
		return l
	}
	l := &slowLine{length: length, radius: radius, side: side, nodes: []geom.Point{{}}, steps: map[float64][]geom.Pose{}}
	slowLines[key] = l
	for s := 0.0; s < length+100; s += slowStep {
		l.nodes = append(l.nodes, l.nodes[len(l.nodes)-1].Add(l.integral(s, s+slowStep)))
	}
	return l
}

func (l *slowLine) heading(s float64) float64 {
	if l.radius == 0 {
		return 0
	}
	return l.side * math.Min(math.Max(s, 0), l.length) / l.radius
}

// integral returns the way from a to b, by three-point Gauss quadrature on the
// pieces on both sides of the template's end.
func (l *slowLine) integral(a, b float64) geom.Point {
	if a < l.length && l.length < b {
		return l.integral(a, l.length).Add(l.integral(l.length, b))
	}
	var sum geom.Point
	for i, w := range [3]float64{5.0 / 9, 8.0 / 9, 5.0 / 9} {
		h := l.heading((a+b)/2 + (b-a)/2*math.Sqrt(0.6)*float64(i-1))
		sum = sum.Add(geom.Point{X: math.Sin(h), Y: math.Cos(h)}.Mul(w * (b - a) / 2))
	}
	return sum
}

func (l *slowLine) at(s float64) geom.Point {
	if s <= 0 {
		return geom.Point{Y: s}
	}
	i := min(int(s/slowStep), len(l.nodes)-1)
	return l.nodes[i].Add(l.integral(float64(i)*slowStep, s))
}

func (l *slowLine) pose(s, base float64) geom.Pose {
	rear := l.at(s)
	lo, hi := s, s+2*base
	for range 60 {
		mid := (lo + hi) / 2
		if l.at(mid).Sub(rear).Norm() < base {
			lo = mid
		} else {
			hi = mid
		}
	}
	front := l.at(lo)
	d := front.Sub(rear)
	return geom.Pose{Point: rear.Add(front).Mul(0.5), Heading: geom.Angle(math.Atan2(d.X, d.Y))}
}

// slowMove is a maneuver of the slow method.
type slowMove struct {
	line  *slowLine
	start geom.Pose // of the line on the table
	base  float64
	about bool // the base moves backward
}

func slowTemplate(m move.Maneuver, p engine.Profile) (length, radius, side float64) {
	side = 1
	if m.Left != (m.Bearing == move.ReverseBank) {
		side = -1
	}
	switch m.Bearing {
	case move.BankTurn, move.Segnor, move.ReverseBank:
		r := float64(p.Bank[m.Speed-1])
		return r * math.Pi / 4, r, side
	case move.TightTurn, move.Tallon:
		r := float64(p.Turn[m.Speed-1])
		return r * math.Pi / 2, r, side
	}
	return 40 * float64(m.Speed), 0, 1
}

func newSlowMove(s engine.Ship, m move.Maneuver) slowMove {
	_, l := s.Base.Size()
	length, radius, side := slowTemplate(m, engine.Nominal())
	v := slowMove{line: newSlowLine(length, radius, side), base: float64(l), about: m.Bearing >= move.ReverseStraight}
	y, h := v.base/2, s.Pose.Heading
	if v.about {
		y, h = -y, h+math.Pi
	}
	v.start = geom.Pose{Point: s.Pose.Transform(geom.Point{Y: y}), Heading: h}
	return v
}

func (v slowMove) pose(s float64) geom.Pose { return v.placed(v.line.pose(s, v.base)) }

// backStep is how long a step back is before it is halved.
const backStep = 0.2 // mm

// back returns the pose n steps back from the end.
func (v slowMove) back(n int) geom.Pose {
	v.line.lock.Lock()
	defer v.line.lock.Unlock()
	known := v.line.steps[v.base]
	for i := len(known); i <= n; i++ {
		known = append(known, v.line.pose(v.line.length-backStep*float64(i), v.base))
	}
	v.line.steps[v.base] = known
	return v.placed(known[n])
}

// placed takes a pose from the line's frame to the table.
func (v slowMove) placed(p geom.Pose) geom.Pose {
	q := geom.Pose{Point: v.start.Transform(p.Point), Heading: v.start.Heading + p.Heading}
	if v.about {
		q.Heading += math.Pi
	}
	return q
}

// slowReach is how far the guides stand out of each base.
var slowReach = map[engine.Base]float64{engine.Small: 1.6, engine.Medium: 1.7, engine.Large: 1.8, engine.Huge195: 1.8, engine.Huge225: 1.8}

// slowParts returns the outlines that a base is made of, guides of a shape included.
func slowParts(b engine.Base, p geom.Pose, shape guideShape) [][]geom.Point {
	w, l := b.Size()
	x, y := float64(w)/2, float64(l)/2
	parts := [][]geom.Point{{p.Transform(geom.Point{X: -x, Y: -y}), p.Transform(geom.Point{X: x, Y: -y}),
		p.Transform(geom.Point{X: x, Y: y}), p.Transform(geom.Point{X: -x, Y: y})}}
	for _, side := range [2]float64{1, -1} {
		for _, middle := range [2]float64{-11.85, 11.85} { // 10.1 to 13.6
			var g []geom.Point
			for _, q := range shape {
				g = append(g, p.Transform(geom.Point{X: side * (middle + 1.75*q[0]), Y: side * (y + slowReach[b]*q[1])}))
			}
			parts = append(parts, g)
		}
	}
	return parts
}

// cross reports whether two polygons have inner points in common: edges cross, or
// a corner or the middle of one is in the other.
func cross(a, b []geom.Point) bool {
	turn := func(p, q, r geom.Point) float64 { return q.Sub(p).Cross(r.Sub(p)) }
	for i, p := range a {
		q := a[(i+1)%len(a)]
		for j, u := range b {
			v := b[(j+1)%len(b)]
			if turn(p, q, u)*turn(p, q, v) < 0 && turn(u, v, p)*turn(u, v, q) < 0 {
				return true
			}
		}
	}
	in := func(p geom.Point, g []geom.Point) bool {
		return geom.Polygon(g).Contains(p) && geom.Polygon(g).BoundaryDistance(p) > 0
	}
	for range 2 {
		// A corner tells when one holds the other; the middle of a rectangle when two
		// lie on one another.
		if in(a[0], b) || len(a) == 4 && in(a[0].Lerp(a[2], 0.5), b) {
			return true
		}
		a, b = b, a
	}
	return false
}

// slowOverlap reports whether a ship at a pose overlaps others, all with guides of a shape.
func slowOverlap(ship engine.Ship, p geom.Pose, others []engine.Ship, shape guideShape) bool {
	for _, o := range others {
		if p.Sub(o.Pose.Point).Norm() <= 125 && meet(slowParts(ship.Base, p, shape), slowParts(o.Base, o.Pose, shape)) {
			return true
		}
	}
	return false
}

// meet reports whether two things made of outlines have inner points in common.
func meet(a, b [][]geom.Point) bool {
	for _, p := range a {
		for _, q := range b {
			if cross(p, q) {
				return true
			}
		}
	}
	return false
}

// randomMove makes a ship, a maneuver that has a template and no flip, and ships
// near its end.
func randomMove(r *rand.Rand) (engine.Scene, move.Maneuver) {
	s := engine.Scene{Rules: engine.Rules25, Ships: []engine.Ship{enginetest.RandomShip(r, "A")}}
	m := move.Maneuver{Bearing: move.Bearing(1 + r.IntN(3)), Speed: 1 + r.IntN(3), Left: r.IntN(2) == 0}
	if r.IntN(5) == 0 {
		m.Bearing = move.ReverseStraight + move.Bearing(r.IntN(2))
	}
	if !(m.Bearing == move.BankTurn || m.Bearing == move.TightTurn || m.Bearing == move.ReverseBank) {
		m.Left = false
	}
	v := newSlowMove(s.Ships[0], m)
	for i := range 1 + r.IntN(3) {
		b := enginetest.RandomShip(r, string(rune('B'+i)))
		at := v.pose(v.line.length - 150*r.Float64()*float64(i)/2)
		b.Pose.Point = at.Add(geom.Point{X: 190 * (r.Float64() - 0.5), Y: 190 * (r.Float64() - 0.5)})
		if r.IntN(4) == 0 {
			b.Pose.Heading = s.Ships[0].Pose.Heading + geom.Angle(r.IntN(8))*math.Pi/4
		}
		s.Ships = append(s.Ships, b)
	}
	return s, m
}

// G105 G106 G107 G108: both marks stay on the line, which continues straight past
// the template's ends. SIGHTLINE_SCENES=100000 compares so many moves per edition.
func TestTheSlowMethodAgreesOnMoves(t *testing.T) {
	for _, rules := range []engine.Rules{engine.Rules1e, engine.Rules20, engine.Rules25} {
		t.Run(rules.String(), func(t *testing.T) {
			t.Parallel()
			compareMoves(t, rules, moveScenes(enginetest.Shorter(200, 40)))
		})
	}
}

// compareMoves compares n random moves with the slow method.
func compareMoves(t *testing.T, rules engine.Rules, n int) {
	r := rand.New(rand.NewPCG(3, 107+uint64(rules)))
	partial, missed, grazed := 0, 0, 0
	for i := range n {
		if i > 0 && i%10000 == 0 {
			t.Logf("%d moves so far, %d of them partial", i, partial)
		}
		s, m := randomMove(r)
		s.Rules = rules
		got, err := move.Execute(&s, "A", m, engine.Options{})
		require.NoError(t, err)
		v := newSlowMove(s.Ships[0], m)
		full := v.pose(v.line.length)
		require.True(t, samePose(full, got.Full), "scene %d: %v: full pose %v, slowly %v", i, m, got.Full, full)
		blocked := slowOverlap(s.Ships[0], full, s.Ships[1:], rectangular)
		require.Equal(t, !blocked, got.FullyExecuted, "scene %d: %v", i, m)
		if !blocked {
			require.True(t, samePose(full, got.Final))
			continue
		}
		partial++
		stop := slowRetreat(v, s, rectangular)
		slowTouches(t, i, &s, &got)
		if samePose(v.pose(stop), got.Final) {
			continue
		}
		at, ok := slowPlace(v, got.Final)
		if ok && math.Abs(at-stop) < 1e-7 {
			// Bases that graze part so slowly that the rounding of the slow method's
			// integrals, some 1e-12 mm, is more than 1e-9 mm along the way.
			grazed++
			continue
		}
		// Steps can pass over a narrow place that is free. Then the engine stops
		// sooner, and the place it stops at must be free and the next must not.
		require.True(t, ok && at > stop, "scene %d: %v %+v: stopped at %v (%g), slowly at %v (%g)", i, m, s.Ships, got.Final, at,
			v.pose(stop), stop)
		require.False(t, slowOverlap(s.Ships[0], v.pose(at-1e-8), s.Ships[1:], rectangular), "scene %d: overlaps where it stops", i)
		require.True(t, slowOverlap(s.Ships[0], v.pose(at+1e-7), s.Ships[1:], rectangular), "scene %d: stopped before the first free place", i)
		missed++
	}
	t.Logf("%d moves, %d of them partial; the slow steps of 0.2 mm passed over a free place %d times; %d grazed", n, partial, missed, grazed)
	assert.Greater(t, partial, n/4)
	assert.LessOrEqual(t, missed, 1+n/100)
	assert.LessOrEqual(t, grazed, 1+n/1000)
}

// slowTouches holds the list of ships touched at the end to the slow method, and that
// measuring there says the same (G109, G110, G17).
func slowTouches(t *testing.T, n int, s *engine.Scene, got *move.Result) {
	after := afterMove(s, got.Final)
	for _, o := range after.Ships[1:] {
		gap := slowGap(after.Ships[0], o)
		v, err := engine.MeasurePair(&after, "A", o.ID, engine.Options{})
		require.NoError(t, err)
		touches := slices.Contains(got.Touching, o.ID)
		require.Equal(t, touches, gap < 1e-6, "scene %d: %s is %g away", n, o.ID, gap)
		require.Equal(t, touches, v.Contact == engine.Yes, "scene %d: %s measured %v", n, o.ID, v.Contact)
	}
}

func samePose(a, b geom.Pose) bool {
	return a.Sub(b.Point).Norm() < 1e-9 && a.Heading.Distance(b.Heading).Degrees() < 1e-9
}

// slowRetreat steps back from the full pose to the first free place.
func slowRetreat(v slowMove, s engine.Scene, shape guideShape) float64 {
	hit := func(at float64) bool { return slowOverlap(s.Ships[0], v.pose(at), s.Ships[1:], shape) }
	n := 0
	for slowOverlap(s.Ships[0], v.back(n), s.Ships[1:], shape) {
		if n++; v.line.length-backStep*float64(n) <= -v.base {
			if hit(-v.base) {
				return -v.base
			}
			break
		}
	}
	free := max(-v.base, v.line.length-backStep*float64(n))
	blocked := v.line.length - backStep*float64(n-1)
	for range 60 {
		if mid := (free + blocked) / 2; hit(mid) {
			blocked = mid
		} else {
			free = mid
		}
	}
	return free
}

// slowPlace finds where along the move a pose is.
func slowPlace(v slowMove, p geom.Pose) (float64, bool) {
	lo, hi := -v.base, v.line.length
	// The way from the start only grows.
	start := v.pose(lo)
	for range 80 {
		if mid := (lo + hi) / 2; v.pose(mid).Sub(start.Point).Norm() < p.Sub(start.Point).Norm() {
			lo = mid
		} else {
			hi = mid
		}
	}
	q := v.pose(lo)
	return lo, q.Sub(p.Point).Norm() < 1e-7
}

// slowTemplateInside samples a template up to the final base and says how the
// samples lie to an outline: any inside, and the nearest of those outside.
func slowTemplateInside(v slowMove, stop float64, final geom.Pose, outline []geom.Point) (in bool, near float64) {
	near = math.Inf(1)
	fwd := final.Forward()
	if v.about {
		fwd = fwd.Mul(-1)
	}
	rear := final.Point.Sub(fwd.Mul(v.base / 2))
	g := geom.Polygon(outline)
	for s := 0.0; s <= v.line.length; s += 0.5 {
		c, h := v.line.at(s), v.line.heading(s)
		for x := -10.0; x <= 10; x += 0.5 {
			p := v.start.Transform(c.Add(geom.Point{X: math.Cos(h), Y: -math.Sin(h)}.Mul(x)))
			if p.Sub(rear).Dot(fwd) > 0 || s > stop+30 {
				continue
			}
			if g.Contains(p) {
				in = true
			}
			near = math.Min(near, g.BoundaryDistance(p))
		}
	}
	return in, near
}

// G162 G163 G164 G165: the template's area is exact, and cut at the final base.
func TestTheSlowMethodAgreesOnTemplates(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 164))
	hits := 0
	for i := range moveScenes(enginetest.Shorter(300, 60)) {
		s, m := randomMove(r)
		v := newSlowMove(s.Ships[0], m)
		if r.IntN(3) > 0 {
			s.Ships = s.Ships[:1]
		}
		rock := engine.Obstacle{ID: "rock"}
		c := v.pose(v.line.length * (r.Float64() - 0.3)).Point.Add(geom.Point{X: 60 * (r.Float64() - 0.5), Y: 60 * (r.Float64() - 0.5)})
		k := 3 + r.IntN(9)
		for j := range k {
			a, d := 2*math.Pi*float64(j)/float64(k), 4+16*r.Float64()
			rock.Outline = append(rock.Outline, c.Add(geom.Point{X: d * math.Cos(a), Y: d * math.Sin(a)}))
		}
		s.Obstacles = []engine.Obstacle{rock}
		got, err := move.Execute(&s, "A", m, engine.Options{})
		require.NoError(t, err)
		stop, _ := slowPlace(v, got.Final)
		in, near := slowTemplateInside(v, stop, got.Final, rock.Outline)
		template, base := engine.No, engine.No
		if len(got.Obstacles) > 0 {
			template, base = got.Obstacles[0].Template, got.Obstacles[0].Base
		}
		where := fmt.Sprintf("scene %d: %v, final %v, rock %v", i, m, got.Final, rock.Outline)
		if in {
			hits++
			require.Equal(t, engine.Yes, template, where)
		} else if near > 0.4 {
			require.Equal(t, engine.No, template, where)
		}
		over := meet(slowParts(s.Ships[0].Base, got.Final, rectangular), [][]geom.Point{rock.Outline})
		require.Equal(t, over, base == engine.Yes, where)
	}
	assert.Greater(t, hits, enginetest.Shorter(50, 5))
}

// G89 G147 G149 G131: the legal intervals of a slide are where every place in
// them is legal, and only those.
func TestTheSlowMethodAgreesOnSlides(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 89))
	limits := 0
	for i := range moveScenes(enginetest.Shorter(400, 60)) {
		s := engine.Scene{Rules: engine.Rules1e, Ships: []engine.Ship{enginetest.RandomShip(r, "A")}}
		a := &s.Ships[0]
		if a.Base == engine.Medium {
			a.Base = engine.Small
		}
		w, _ := a.Base.Size()
		side := 1 - 2*float64(r.IntN(2))
		across, along, half := 40.0, 10.0, 10.0
		if a.Base == engine.Large {
			across, along, half = 20, 20, 20
		}
		for k := range 2 {
			b := enginetest.RandomShip(r, string(rune('B'+k)))
			b.Pose.Point = a.Pose.Transform(geom.Point{X: side * (60 + 120*r.Float64()), Y: 180 * (r.Float64() - 0.5)})
			s.Ships = append(s.Ships, b)
			c := a.Pose.Transform(geom.Point{X: side * (20 + 80*r.Float64()), Y: 160 * (r.Float64() - 0.5)})
			o := engine.Obstacle{ID: fmt.Sprint("r", k)}
			for j := range 7 {
				at, d := 2*math.Pi*float64(j)/7, 3+20*r.Float64()
				o.Outline = append(o.Outline, c.Add(geom.Point{X: d * math.Cos(at), Y: d * math.Sin(at)}))
			}
			s.Obstacles = append(s.Obstacles, o)
		}
		action := move.Action{Kind: move.BarrelRoll, To: move.ToRight}
		if side < 0 {
			action.To = move.ToLeft
		}
		got, err := move.Reposition(&s, "A", action, engine.Options{})
		require.NoError(t, err)
		templateFree := func(x float64) bool {
			x0, x1 := side*float64(w)/2, side*(float64(w)/2+across)
			var q []geom.Point
			for _, p := range [][2]float64{{x0, x - along}, {x1, x - along}, {x1, x + along}, {x0, x + along}} {
				q = append(q, a.Pose.Transform(geom.Point{X: p[0], Y: p[1]}))
			}
			for _, o := range s.Obstacles {
				if cross(q, o.Outline) {
					return false
				}
			}
			return true
		}
		legal := func(x float64) bool {
			p := geom.Pose{Point: a.Pose.Transform(geom.Point{X: side * (float64(w) + across), Y: x}), Heading: a.Pose.Heading}
			if slowOverlap(*a, p, s.Ships[1:], rectangular) {
				return false
			}
			for _, part := range slowParts(a.Base, p, rectangular) {
				for _, o := range s.Obstacles {
					if cross(part, o.Outline) {
						return false
					}
				}
			}
			for start := -half; start <= half; start += 0.05 {
				if math.Abs(x-start) <= half && templateFree(start) {
					return true
				}
			}
			return false
		}
		intervals := legalSlides(got)
		for k := range 40 {
			x := (r.Float64()*2 - 1) * 2 * half
			if k < 2*len(intervals) { // and just inside and outside the limits
				x = intervals[k/2][k%2]
				limits++
				in := x + 0.11*(1-2*float64(k%2))
				if intervals[k/2][1]-intervals[k/2][0] > 0.25 {
					require.True(t, legal(in), "scene %d at %g within %v", i, in, intervals)
				}
				out := x - 0.11*(1-2*float64(k%2))
				if math.Abs(out) > 2*half || inAny(intervals, out) {
					continue
				}
				require.False(t, legal(out), "scene %d at %g outside %v", i, out, intervals)
				continue
			}
			if nearAny(intervals, x, 0.11) {
				continue
			}
			require.Equal(t, inAny(intervals, x), legal(x), "scene %d at %g: %v", i, x, intervals)
		}
	}
	assert.Greater(t, limits, enginetest.Shorter(100, 10))
}

func inAny(is [][2]float64, x float64) bool {
	for _, i := range is {
		if i[0] <= x && x <= i[1] {
			return true
		}
	}
	return false
}

func nearAny(is [][2]float64, x, d float64) bool {
	for _, i := range is {
		if math.Abs(x-i[0]) < d || math.Abs(x-i[1]) < d {
			return true
		}
	}
	return false
}
