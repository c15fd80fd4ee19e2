package engine_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"sightline/engine"
	"sightline/engine/geom"
)

// crowd is a crowded table: ships of all sizes on the standard mat, which grows with
// more than 24 of them, obstacles of fifty vertices, everything measured.
func crowd(ships, obstacles int) engine.Scene {
	r := rand.New(rand.NewPCG(24, 12))
	side := 914.4 * math.Sqrt(math.Max(1, float64(ships)/24))
	s := engine.Scene{Rules: engine.Rules25, MatWidth: geom.Length(side), MatHeight: geom.Length(side), ScaleSigma: 0.0002}
	place := func() geom.Pose {
		return geom.Pose{Point: geom.Point{X: side * r.Float64(), Y: side * r.Float64()}, Heading: geom.Angle(2 * math.Pi * r.Float64())}
	}
	for i := range ships {
		ship := engine.Ship{ID: fmt.Sprintf("S%d", i), Player: 1 + i%2, Base: engine.Base(1 + r.IntN(3)), Pose: place()}
		uncertain(r, &ship, 1)
		if i%4 == 0 {
			ship.Turret = "left"
		}
		s.Ships = append(s.Ships, ship)
	}
	for i := range obstacles {
		s.Obstacles = append(s.Obstacles, engine.Obstacle{ID: fmt.Sprintf("rock%d", i), Kind: "asteroid", Pose: place(), Outline: star(r, 50, 35), Sigma: 0.2})
	}
	return s
}

// cpuTime is the processor time used so far, which a busy machine does not change
// as it does the time of the clock.
func cpuTime(b testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// All questions about a table: 24 ships is the largest game, 200 shows whether the
// cost of a pair depends on how many there are.
func BenchmarkTable(b *testing.B) {
	for _, c := range []struct{ ships, obstacles int }{{8, 12}, {24, 12}, {24, 0}, {200, 12}} {
		b.Run(fmt.Sprintf("%d ships %d obstacles", c.ships, c.obstacles), func(b *testing.B) {
			s := crowd(c.ships, c.obstacles)
			b.ReportAllocs()
			var m engine.Measurer
			start := cpuTime(b)
			for b.Loop() {
				s.ScaleSigma = 0.0006 - s.ScaleSigma // all of it changes
				if _, err := m.Measure(&s, engine.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			pairs := float64(c.ships * (c.ships - 1))
			b.ReportMetric(float64(cpuTime(b)-start)/float64(b.N)/pairs, "cpu-ns/pair")
		})
	}
}

// A pair costs what it costs, however many others there are. With few ships the ranges to
// the obstacles, which are measured once per ship, weigh more on each of its pairs;
// with many a line passes more ships. The bounds are generous, because other work
// disturbs the caches.
func TestThePriceOfAPairDoesNotGrowWithTheTable(t *testing.T) {
	price := func(ships int) float64 {
		s := crowd(ships, 12)
		var m engine.Measurer
		best := math.Inf(1)
		for range shorter(4, 3) {
			start := cpuTime(t)
			for range max(1, 120/ships) {
				s.ScaleSigma = 0.0006 - s.ScaleSigma // all of it changes
				if _, err := m.Measure(&s, engine.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			pairs := max(1, 120/ships) * ships * (ships - 1)
			best = math.Min(best, float64(cpuTime(t)-start)/float64(pairs))
		}
		return best
	}
	few, game, many := price(8), price(24), price(shorter(200, 100))
	t.Logf("nanoseconds per pair: 8 ships %.0f, 24 ships %.0f, many %.0f", few, game, many)
	if few > 3*game || many > 1.6*game {
		t.Errorf("a pair of 8, 24 and many ships costs %.0f, %.0f and %.0f ns, expected about the same", few, game, many)
	}
}

// In steady state measuring allocates nothing per pair, exact or measured.
func TestMeasuringAgainAllocatesNothingPerPair(t *testing.T) {
	for _, sharp := range []bool{false, true} {
		s := crowd(12, 12)
		if sharp {
			s.ScaleSigma = 0
			for i := range s.Ships {
				s.Ships[i].Covariance = geom.Cov3{}
				s.Ships[i].Pose.Heading = geom.Angle(i%4) * math.Pi / 2 // parallel sides, bands of lines
			}
			for i := range s.Obstacles {
				s.Obstacles[i].Sigma = 0
			}
		}
		var m engine.Measurer
		measure := func() {
			s.MatWidth++ // all of it is measured again
			if _, err := m.Measure(&s, engine.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		measure()
		measure()
		allocs := testing.AllocsPerRun(5, measure)
		// Checking the scene itself allocates: its ids, and per outline its order.
		if limit := float64(20 + 4*len(s.Obstacles)); allocs > limit {
			t.Errorf("exact %v: %v allocations for %d pairs, expected at most %v", sharp, allocs, 12*11, limit)
		}
	}
}

// A result of a Measurer is the one that Measure gives, whatever was measured
// before in the same memory.
func TestAMeasurerForgetsWhatItMeasuredBefore(t *testing.T) {
	var m engine.Measurer
	for _, n := range []int{9, 3, 12, 2, 7} {
		s := crowd(n, n)
		got, err := m.Measure(&s, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := engine.Measure(&s, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := engine.MarshalResult(*got)
		if err != nil {
			t.Fatal(err)
		}
		b, err := engine.MarshalResult(want)
		if err != nil {
			t.Fatal(err)
		}
		if string(a) != string(b) {
			t.Fatalf("%d ships: measured again:\n%s\nalone:\n%s", n, a, b)
		}
	}
}

// A moved ship re-evaluates only what it touches, and the result is the one of
// measuring everything.
func TestMeasuringAfterAMoveGivesWhatMeasuringEverythingGives(t *testing.T) {
	r := rand.New(rand.NewPCG(77, 7))
	var m engine.Measurer
	s := crowd(10, 5)
	for n := range 60 {
		switch r.IntN(8) {
		case 0:
			s.Obstacles[r.IntN(5)].Pose.X++
		case 1:
			s.Ships[r.IntN(10)].Turret = []string{"left", "rear", ""}[r.IntN(3)]
		case 2: // nothing
		default:
			for range 1 + r.IntN(2) {
				p := &s.Ships[r.IntN(10)].Pose
				p.X, p.Y = p.X+60*r.NormFloat64(), p.Y+60*r.NormFloat64()
				p.Heading += geom.Angle(r.NormFloat64())
			}
		}
		got, err := m.Measure(&s, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := engine.Measure(&s, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		a, _ := engine.MarshalResult(*got)
		b, _ := engine.MarshalResult(want)
		if string(a) != string(b) {
			t.Fatalf("step %d: measured again:\n%s\nalone:\n%s", n, a, b)
		}
	}
}

func BenchmarkOneShipMoves(b *testing.B) {
	s := crowd(24, 12)
	var m engine.Measurer
	b.ReportAllocs()
	start := cpuTime(b)
	for b.Loop() {
		s.Ships[3].Pose.X += 0.001
		if _, err := m.Measure(&s, engine.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime(b)-start)/float64(b.N), "cpu-ns")
}
