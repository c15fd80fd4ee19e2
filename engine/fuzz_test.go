package engine_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
	"sightline/engine/scenefile"
)

// The fuzz targets of geometry. That of scene files is FuzzParseScenes in
// engine/scenefile. Run one of them without end with
//
//	go test ./engine -run '^$' -fuzz FuzzMeasure -parallel 1
//
// They look for panics, for hangs (Go's fuzzing gives each input ten seconds), for
// numbers that are none, and for answers that contradict each other.

// bits reads numbers off the fuzzer's bytes; when they are used up, zeros follow.
type bits []byte

func (b *bits) byte() byte {
	if len(*b) == 0 {
		return 0
	}
	v := (*b)[0]
	*b = (*b)[1:]
	return v
}

// float returns any float64 there is: NaN, ±Inf, 1e308 and denormals too.
func (b *bits) float() float64 {
	var raw [8]byte
	n := copy(raw[:], *b)
	*b = (*b)[n:]
	return math.Float64frombits(binary.LittleEndian.Uint64(raw[:]))
}

// place returns a coordinate on a table, mostly one of a coarse grid, so that ties,
// touching sides and coincident corners are common.
func (b *bits) place() float64 {
	const grid = 5
	v := float64(int8(b.byte()))
	switch kind := b.byte(); {
	case kind < 160:
		return grid * v
	case kind < 200:
		return grid*v + float64(kind)/256
	case kind < 230: // a hair next to the grid
		return grid*v + math.Ldexp(float64(kind)-215, -40)
	default:
		return math.Ldexp(v, int(kind)-240)
	}
}

// heading returns a multiple of 15° or anything.
func (b *bits) heading() geom.Angle {
	k := b.byte()
	if k < 200 {
		return geom.Angle(15*(int(k)%24)) * geom.Degree
	}
	return geom.Angle(b.place())
}

func (b *bits) ship(id string) engine.Ship {
	kind := b.byte()
	s := engine.Ship{
		ID:   id,
		Base: engine.Small + engine.Base(kind%5),
		Pose: geom.Pose{Point: geom.Point{X: b.place(), Y: b.place()}, Heading: b.heading()},
	}
	if kind&0x40 != 0 {
		s.Arcs = []string{"rear_aux", "full_front_180", "mobile"}
		s.Turret = [...]string{"front", "rear", "left", "right"}[b.byte()%4]
	}
	if kind&0x80 != 0 {
		v := float64(b.byte()) / 64
		s.Covariance = geom.Cov3{0: v, 4: v * float64(b.byte()) / 256, 8: float64(b.byte()) * 1e-6}
	}
	return s
}

func (b *bits) obstacle(id string) engine.Obstacle {
	o := engine.Obstacle{
		ID: id, Kind: [...]string{"asteroid", "debris", "gas"}[b.byte()%3],
		Pose:  geom.Pose{Point: geom.Point{X: b.place(), Y: b.place()}, Heading: b.heading()},
		Sigma: geom.Length(b.byte()) / 128,
	}
	for range 3 + b.byte()%10 {
		o.Outline = append(o.Outline, geom.Point{X: b.place() / 10, Y: b.place() / 10})
	}
	return o
}

func (b *bits) scene() engine.Scene {
	head := b.byte()
	s := engine.Scene{
		Rules:    engine.Rules1e + engine.Rules(head%3),
		MatWidth: 914.4 * geom.Millimeter, MatHeight: 914.4 * geom.Millimeter,
		Ships: []engine.Ship{b.ship("A"), b.ship("B")},
	}
	if head&0x40 != 0 {
		s.ScaleSigma = float64(b.byte()) * 1e-5
	}
	if head&0x80 != 0 {
		s.Obstacles = append(s.Obstacles, b.obstacle("rock"))
	}
	return s
}

// FuzzMeasure measures two ships and an obstacle that lie anyhow: on each other,
// side against side, on corners. What is accepted is measured, with numbers that
// are numbers and answers that agree with each other.
func FuzzMeasure(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0x02, 0, 0, 0, 0, 0, 0, 1, 8, 0, 8, 0, 0})                                                           // corner to corner
	f.Add([]byte{0xc2, 3, 0xc0, 0, 0, 0, 0, 9, 2, 2, 2, 2, 0x82, 8, 0, 0, 0, 0, 3, 3, 3, 1, 4, 0, 20, 0, 0, 9, 1, 7}) // with doubt and a rock
	f.Fuzz(func(t *testing.T, data []byte) {
		b := bits(data)
		s := b.scene()
		if s.Validate() != nil {
			s.Obstacles = nil // an outline that is none
		}
		if err := s.Validate(); err != nil {
			return
		}
		r, err := engine.Measure(&s, engine.Options{})
		if err != nil {
			t.Fatalf("a scene that was accepted cannot be measured: %v", err)
		}
		checkPairs(t, &s, r.Pairs)
		for _, o := range r.Objects {
			checkRange(t, o.Range)
			if o.Overlap == engine.Yes && o.Contact != engine.Yes {
				t.Errorf("%+v: overlaps what it does not meet", o)
			}
		}
		if _, err := scenefile.MarshalResult(r); err != nil {
			t.Errorf("a result that cannot be written: %v", err)
		}
	})
}

// checkObstruction holds that a verdict is decided exactly when its margin exceeds k of
// its sigmas.
func checkObstruction(t *testing.T, o *engine.ObstructionVerdict, k float64) {
	t.Helper()
	margin, sigma := float64(o.Margin), float64(o.Sigma)
	switch {
	case !finite(margin) || !finite(sigma) || margin < 0 || sigma < 0:
		t.Errorf("obstruction %s: margin %v, sigma %v", o.Verdict, margin, sigma)
	case (o.Verdict == "too_close") == (margin > k*sigma) && (margin > 0 || sigma > 0):
		t.Errorf("obstruction %s with margin %v and sigma %v", o.Verdict, margin, sigma)
	}
}

func checkPairs(t *testing.T, s *engine.Scene, pairs []engine.PairVerdict) {
	t.Helper()
	if len(pairs) != len(s.Ships)*(len(s.Ships)-1) {
		t.Fatalf("%d pairs of %d ships", len(pairs), len(s.Ships))
	}
	there, back := pairs[0], pairs[1]
	if d := math.Abs(float64(there.Range.Distance - back.Range.Distance)); d > 1e-9*(1+float64(there.Range.Distance)) {
		t.Errorf("%v there and %v back", there.Range.Distance, back.Range.Distance)
	}
	for _, p := range pairs {
		checkRange(t, p.Range)
		if p.Contact == engine.Yes && p.Range.Distance > 3.6+1e-6 && p.Range.Sigma == 0 { // two guides' reach
			t.Errorf("in contact at %v", p.Range.Distance)
		}
		for _, a := range p.Arcs {
			if a.InArc == engine.Yes && a.Attack == nil {
				t.Errorf("in the %s arc without an attack range", a.Arc)
			}
			if !finite(float64(a.Margin)) || !finite(float64(a.Sigma)) || a.Sigma < 0 {
				t.Errorf("%s arc: margin %v, sigma %v", a.Arc, float64(a.Margin), float64(a.Sigma))
			}
			if a.Attack == nil {
				continue
			}
			checkRange(t, a.Attack.RangeVerdict)
			if a.InArc == engine.Yes && a.Attack.Sigma == 0 && float64(a.Attack.Distance) < float64(p.Range.Distance)-1e-6 {
				t.Errorf("%s arc: attack range %v is less than the range %v", a.Arc, a.Attack.Distance, p.Range.Distance)
			}
			checkObstruction(t, &a.Attack.Obstruction, 3)
			switch a.Attack.Obstruction.Verdict {
			case "never", "may", "must", "too_close":
			default:
				t.Errorf("obstruction %q", a.Attack.Obstruction.Verdict)
			}
		}
	}
}

func checkRange(t *testing.T, r engine.RangeVerdict) {
	t.Helper()
	if !finite(float64(r.Distance)) || !finite(float64(r.Sigma)) || !finite(float64(r.Margin)) || r.Distance < 0 || r.Sigma < 0 {
		t.Errorf("distance %v, sigma %v, margin %v", float64(r.Distance), float64(r.Sigma), float64(r.Margin))
	}
	if len(r.Possible) == 0 || r.Possible[0] > r.Band || r.Possible[len(r.Possible)-1] < r.Band {
		t.Errorf("band %d is not one of %v", r.Band, r.Possible)
	}
	if len(r.Lines) == 0 {
		t.Error("a distance without a line")
	}
	for _, l := range r.Lines {
		if !finite(l[0].X) || !finite(l[0].Y) || !finite(l[1].X) || !finite(l[1].Y) {
			t.Errorf("line %v", l)
		}
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// FuzzNumbers puts any floating-point numbers there are into every place of a scene
// that takes one. They are refused in one line or measured.
func FuzzNumbers(f *testing.F) {
	floats := func(vs ...float64) []byte {
		var raw []byte
		for _, v := range vs {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		}
		return raw
	}
	f.Add(uint16(0), floats(914.4, 914.4, 3e-4, 400, 120, 0, 430, 320, 3, .1, 0, 0, 0, .1, 0, 0, 0, 1e-5, .2, 420, 200, 1, 0, 0, 20,
		0, 12, 15))
	f.Add(uint16(7), floats(math.NaN(), math.Inf(1), 1e308, -1e308, 5e-324, math.MaxFloat64))
	f.Add(uint16(258), floats(0, 0, 0, 1e6, -1e6, 1e5, 1e6, -1e6, 1e5, 1e6, 0, 0, 0, 1e6, 0, 0, 0, 39, 1000, 0, 0, 0, 1e6, 1e6, -1e6,
		1e6, 0, -1e6))
	f.Fuzz(func(t *testing.T, head uint16, data []byte) {
		b := bits(data)
		length := func() geom.Length { return geom.Length(b.float()) }
		pose := func() geom.Pose {
			return geom.Pose{Point: geom.Point{X: b.float(), Y: b.float()}, Heading: geom.Angle(b.float())}
		}
		s := engine.Scene{Rules: engine.Rules(head % 4), MatWidth: length(), MatHeight: length(), ScaleSigma: b.float()}
		for _, id := range [...]string{"A", "B"} {
			s.Ships = append(s.Ships, engine.Ship{ID: id, Base: engine.Base(head >> 8 % 6), Pose: pose()})
		}
		for i := range s.Ships[0].Covariance {
			s.Ships[0].Covariance[i] = b.float()
		}
		o := engine.Obstacle{ID: "rock", Sigma: length(), Pose: pose()}
		for len(b) >= 16 && len(o.Outline) < 24 {
			o.Outline = append(o.Outline, geom.Point{X: b.float(), Y: b.float()})
		}
		s.Obstacles = []engine.Obstacle{o}
		r, err := engine.Measure(&s, engine.Options{})
		if err != nil {
			if msg := err.Error(); msg == "" || strings.Contains(msg, "\n") {
				t.Fatalf("an error that is not one line: %q", msg)
			}
			s.Obstacles = nil
			if r, err = engine.Measure(&s, engine.Options{}); err != nil {
				return
			}
		}
		checkPairs(t, &s, r.Pairs)
		if _, err := scenefile.MarshalResult(r); err != nil {
			t.Errorf("a result that cannot be written: %v", err)
		}
	})
}

// FuzzOutline asks every question of geometry about any polygon, simple or not. A
// crossing that is named is one, and an outline without one is told apart from one
// with by the plain method: every edge against every other.
func FuzzOutline(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0, 0, 10, 0, 0, 0, 10, 0, 10, 0, 0, 0, 10, 0})             // a square
	f.Add([]byte{0, 0, 0, 0, 10, 0, 10, 0, 10, 0, 0, 0, 0, 0, 10, 0, 5, 0, 5, 0}) // a bow tie and a point
	f.Fuzz(func(t *testing.T, data []byte) {
		b := bits(data)
		if len(b) > 4*64 {
			b = b[:4*64]
		}
		var g geom.Polygon
		for len(b) >= 4 {
			g = append(g, geom.Point{X: b.place(), Y: b.place()})
		}
		i, j, crosses := g.Crossing()
		if want := crossesPlainly(g); crosses != want {
			t.Fatalf("%v: crossing %v, want %v", g, crosses, want)
		}
		if crosses && (i < 0 || i >= j || j >= len(g) || !meetWrongly(g, i, j)) {
			t.Fatalf("%v: edges %d and %d do not cross", g, i, j)
		}
		if len(g) == 0 {
			return
		}
		p, q := g[0], g[len(g)/2].Add(geom.Point{X: 1, Y: 3})
		if at, d := g.Deepest(p, q, 1e-6); !finite(d) || !finite(at.X) || !finite(at.Y) {
			t.Errorf("%v: deepest %v %v", g, at, d)
		} else if !crosses {
			for k := range 9 {
				if m := p.Lerp(q, float64(k)/8); g.Depth(m) > max(0, d)+1e-5+1e-7*p.Sub(q).Norm() {
					t.Errorf("%v: deepest %v at %v, but %v at %v", g, d, at, g.Depth(m), m)
				}
			}
		}
		if d := geom.Gap(g, geom.Polygon{p, q}); d != 0 {
			t.Errorf("%v: a gap of %v to a segment that begins on it", g, d)
		}
		if d := g.BoundaryDistance(q); !finite(d) || d < 0 {
			t.Errorf("%v: %v from the boundary", g, d)
		}
	})
}

// crossesPlainly looks at every two edges of a polygon.
func crossesPlainly(g geom.Polygon) bool {
	for j := range g {
		for i := range j {
			if meetWrongly(g, i, j) {
				return true
			}
		}
	}
	return false
}

// meetWrongly reports whether edges i < j share more than the corner of neighbours.
func meetWrongly(g geom.Polygon, i, j int) bool {
	n := len(g)
	a, b, c, d := g[i], g[(i+1)%n], g[j], g[(j+1)%n]
	if a == b || c == d {
		return true
	}
	folded := func(p, at, q geom.Point) bool { // p–at–q turns back on itself
		return at.Sub(p).Cross(q.Sub(p)) == 0 && p.Sub(at).Dot(q.Sub(at)) > 0
	}
	switch next, last := j == i+1, i == 0 && j == n-1; {
	case next && last: // two vertices only: there and back
		return true
	case next:
		return folded(a, b, d)
	case last:
		return folded(c, d, b)
	}
	return geom.SegmentsTouch(a, b, c, d)
}

// FuzzMovesOfAnyKind moves a ship among others that lie anyhow, by any maneuver, action or drop
// that there is. Where it ends is a number, it overlaps no other ship there, and what
// was decided stays decided when the table is laid elsewhere.
func FuzzMovesOfAnyKind(f *testing.F) {
	f.Add([]byte{}, uint8(0))
	f.Add([]byte{0x80, 0, 0, 0, 0, 0, 0, 0, 4, 0, 20, 0, 7, 0, 10, 0, 18, 0, 0, 9, 1, 7, 3, 60, 200, 1, 1, 250, 4, 4, 1}, uint8(3))
	for what := range uint8(60) {
		f.Add([]byte{what, 1, 0, 0, 0, 0, 5, 2, 6, 0, 14, 0, 9}, what)
	}
	f.Fuzz(func(t *testing.T, data []byte, what uint8) {
		b := bits(data)
		s := b.scene()
		s.Devices = []engine.Token{{ID: "mine", Kind: "proximity_mine", Pose: geom.Pose{Point: geom.Point{X: b.place(), Y: b.place()}}}}
		if s.Validate() != nil {
			s.Obstacles = nil
		}
		if s.Validate() != nil {
			return
		}
		pick := int(b.byte())
		if len(s.Ships) > 1 && engine.HasSections(s.Rules, &s.Ships[1]) {
			if v, err := engine.MeasureSections(&s, "A", s.Ships[1].ID, engine.Options{}); err == nil {
				for _, part := range v {
					checkRange(t, part.Range)
				}
			}
		}
		moving := func(s *engine.Scene) (move.Result, error) {
			n := int(what) % 60
			switch {
			case n < 45:
				return move.Execute(s, "A", move.Maneuver{Bearing: move.Bearing(n % 9), Speed: n / 9, Left: what >= 120}, engine.Options{})
			case n < 54:
				return move.Reposition(s, "A", move.Action{Kind: move.ActionKind(pick % 4), To: move.Direction(pick / 4 % 3),
					Bend: move.Bend(pick / 12 % 5)}, engine.Options{})
			}
			return move.LayDrop(s, "A", move.Drop{Template: move.Template{Kind: move.TemplateKind(n % 3), Speed: 1 + n%2,
				Left: what >= 120}, Launch: pick%2 == 1}, engine.Options{})
		}
		r, err := moving(&s)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error that is not one line: %q", err)
			}
			return
		}
		for _, p := range append([]move.Option{{Final: r.Full}, {Final: r.Final}}, r.Options...) {
			if !finite(p.Final.X) || !finite(p.Final.Y) || !finite(float64(p.Final.Heading)) || !finite(float64(p.FinalTo.X)) ||
				!finite(float64(p.From)) || !finite(float64(p.To)) {
				t.Fatalf("ends at %+v", p)
			}
		}
		if math.IsNaN(float64(r.Margin)) || !finite(float64(r.Sigma)) || r.Sigma < 0 {
			t.Errorf("margin %v, sigma %v", float64(r.Margin), float64(r.Sigma))
		}
		if _, err := scenefile.MarshalMove(r); err != nil {
			t.Errorf("a move that cannot be written: %v", err)
		}
		again, err := moving(&s)
		if err != nil || again.Final != r.Final || again.Outcome != r.Outcome {
			t.Errorf("%+v the first time, %+v (%v) the second", r, again, err)
		}
	})
}
