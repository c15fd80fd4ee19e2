package comparison

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"syscall"
	"testing"
	"time"

	"sightline/engine"
	"sightline/engine/geom"
)

// key names one arc of one ordered pair.
type key struct{ from, to, arc int }

// ours asks the engine, in the form of the others' answers.
func ours(tb testing.TB, s *engine.Scene) map[key]answer {
	tb.Helper()
	r, err := engine.Measure(s, engine.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	all := map[key]answer{}
	n := 0
	for i := range s.Ships {
		for j := range s.Ships {
			if i == j {
				continue
			}
			p := &r.Pairs[n]
			n++
			for k := range p.Arcs {
				v := &p.Arcs[k]
				a := answer{distance: float64(p.Range.Distance), inArc: v.InArc == engine.Yes}
				if v.Attack != nil {
					a.attack, a.line, a.through = float64(v.Attack.Distance), v.Attack.Lines[0], len(v.Attack.Obstruction.By)
				}
				all[key{i, j, k}] = a
			}
		}
	}
	return all
}

// compare checks another library's answers against the engine's.
func compare(t *testing.T, s *engine.Scene, measure func(want map[key]answer, say func(from, to, arc int, a answer))) {
	t.Helper()
	want := ours(t, s)
	asked, inArc, through, touching := 0, 0, 0, 0
	measure(want, func(from, to, arc int, a answer) {
		asked++
		w := want[key{from, to, arc}]
		name := fmt.Sprintf("%s → %s, arc %d", s.Ships[from].ID, s.Ships[to].ID, arc)
		if math.Abs(a.distance-w.distance) > 1e-9 {
			t.Errorf("%s: distance %.12g, ours %.12g", name, a.distance, w.distance)
		}
		if a.inArc != w.inArc {
			t.Errorf("%s: in arc %v, ours %v", name, a.inArc, w.inArc)
			return
		}
		if !a.inArc {
			return
		}
		inArc++
		if math.Abs(a.attack-w.attack) > 1e-8 {
			t.Errorf("%s: attack range %.12g, ours %.12g", name, a.attack, w.attack)
		}
		if w.distance == 0 { // bases that overlap have no one measuring line
			touching++
			return
		}
		if a.through != w.through {
			t.Errorf("%s: %d obstacles on the line, ours %d", name, a.through, w.through)
		}
		through += a.through
	})
	if asked != len(want) || inArc < 500 || through < 50 {
		t.Errorf("%d questions of %d, %d in arc, %d obstacles met: this proves little", asked, len(want), inArc, through)
	}
	t.Logf("%d questions, %d in arc (%d of overlapping bases), %d obstacles on lines", asked, inArc, touching, through)
}

func TestGEOSAgrees(t *testing.T) {
	s := crowd(24, 12)
	compare(t, &s, func(_ map[key]answer, say func(from, to, arc int, a answer)) { newGEOS(&s).measure(say) })
}

func TestSimplefeaturesAgrees(t *testing.T) {
	s := crowd(24, 12)
	compare(t, &s, func(want map[key]answer, say func(from, to, arc int, a answer)) {
		lines := func(from, to, arc int) [2]geom.Point { return want[key{from, to, arc}].line }
		if err := newSimple(&s).measure(lines, say); err != nil {
			t.Fatal(err)
		}
	})
}

// processorTime is what the process has used so far: on a machine that others use
// too, it tells what a method costs, which the clock on the wall does not.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("comparison: getrusage: " + err.Error())
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// loop runs a benchmark and reports the processor's time for one ordered pair with
// all its arcs.
func loop(b *testing.B, ships int, measure func() error) {
	b.Helper()
	if err := measure(); err != nil { // fills what is kept between calls
		b.Fatal(err)
	}
	b.ReportAllocs()
	start := processorTime()
	for b.Loop() {
		if err := measure(); err != nil {
			b.Fatal(err)
		}
	}
	used := processorTime() - start
	b.ReportMetric(float64(used.Nanoseconds())/float64(b.N)/float64(ships*(ships-1)), "cpu-ns/pair")
}

// BenchmarkTable asks about all ordered pairs of 24 ships among 12 obstacles of 50
// vertices: distance, every arc, the part of the target in it, the attack range and
// the obstacles on its line. The libraries' shapes are made and indexed before the
// clock starts; the engine starts from the scene each time, checks it, measures ships
// against obstacles too, states margins, and with "uncertainty" says how sure each
// answer is. GEOS is timed twice: for the bare verdicts, and with the margins, the
// obstacles' ranges and a plain form of doubt, which is what the engine answers.
func BenchmarkTable(b *testing.B) {
	s := crowd(24, 12)
	doubt := uncertain(crowd(24, 12))
	b.Run("engine/exact", func(b *testing.B) { benchmarkEngine(b, &s) })
	b.Run("engine/uncertainty", func(b *testing.B) { benchmarkEngine(b, &doubt) })
	b.Run("GEOS/verdicts", func(b *testing.B) {
		g := newGEOS(&s)
		loop(b, 24, func() error {
			g.measure(func(int, int, int, answer) {})
			return nil
		})
	})
	b.Run("GEOS/margins", func(b *testing.B) {
		g := newGEOS(&s)
		loop(b, 24, func() error {
			if sum := g.measureAll(); math.IsNaN(sum) {
				return errors.New("not a number")
			}
			return nil
		})
	})
	b.Run("simplefeatures", func(b *testing.B) {
		want := ours(b, &s)
		f := newSimple(&s)
		lines := func(from, to, arc int) [2]geom.Point { return want[key{from, to, arc}].line }
		loop(b, 24, func() error { return f.measure(lines, func(int, int, int, answer) {}) })
	})
}

// BenchmarkEngineByShips shows what a pair costs as the table fills.
func BenchmarkEngineByShips(b *testing.B) {
	for _, n := range []int{8, 24, 50, 100, 200} {
		s := uncertain(crowd(n, 12))
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) { benchmarkEngine(b, &s) })
	}
}

// benchmarkEngine measures two tables by turns, of which the second lies a little
// elsewhere: a Measurer keeps what has not moved, and here that is nothing.
func benchmarkEngine(b *testing.B, s *engine.Scene) {
	other := *s
	other.Ships, other.Obstacles = slices.Clone(s.Ships), slices.Clone(s.Obstacles)
	for i := range other.Ships {
		other.Ships[i].Pose.X += 0.5
	}
	for i := range other.Obstacles {
		other.Obstacles[i].Pose.X += 0.5
	}
	byTurns(b, s, &other)
}

// BenchmarkOneShipMoves measures the whole table again after one of its 24 ships has
// moved.
func BenchmarkOneShipMoves(b *testing.B) {
	s := uncertain(crowd(24, 12))
	other := s
	other.Ships = slices.Clone(s.Ships)
	other.Ships[0].Pose.X += 0.5
	byTurns(b, &s, &other)
}

func byTurns(b *testing.B, tables ...*engine.Scene) {
	var m engine.Measurer
	turn := 0
	loop(b, len(tables[0].Ships), func() error {
		turn++
		_, err := m.Measure(tables[turn%len(tables)], engine.Options{})
		return err
	})
}
