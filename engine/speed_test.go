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
	"sightline/engine/internal/enginetest"
	"sightline/engine/scenefile"
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
		enginetest.Uncertain(r, &ship, 1)
		if i%4 == 0 {
			ship.Turret = "left"
		}
		s.Ships = append(s.Ships, ship)
	}
	for i := range obstacles {
		s.Obstacles = append(s.Obstacles, engine.Obstacle{ID: fmt.Sprintf("rock%d", i), Kind: "asteroid", Pose: place(),
			Outline: enginetest.Star(r, 50, 35), Sigma: 0.2})
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
// with many a line passes more ships. The bounds are far, because caches differ and other
// work disturbs them; a price that grew with the table would be eight times as high with many.
func TestThePriceOfAPairDoesNotGrowWithTheTable(t *testing.T) {
	price := func(ships int) float64 {
		s := crowd(ships, 12)
		var m engine.Measurer
		best := math.Inf(1)
		for range enginetest.Shorter(4, 3) {
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
	few, game, many := price(8), price(24), price(enginetest.Shorter(200, 100))
	t.Logf("nanoseconds per pair: 8 ships %.0f, 24 ships %.0f, many %.0f", few, game, many)
	if few > 6*game || many > 4*game {
		t.Errorf("a pair of 8, 24 and many ships costs %.0f, %.0f and %.0f ns, expected about the same", few, game, many)
	}
}

// In steady state measuring in the same memory allocates nothing per pair, exact or
// measured.
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
		a, err := scenefile.MarshalResult(got)
		if err != nil {
			t.Fatal(err)
		}
		b, err := scenefile.MarshalResult(want)
		if err != nil {
			t.Fatal(err)
		}
		if string(a) != string(b) {
			t.Fatalf("%d ships: measured again:\n%s\nalone:\n%s", n, a, b)
		}
	}
}

// A moved ship re-evaluates only what it touches, and the result is the one of
// measuring everything, whatever else changed; a result that was handed out stays as
// it was.
func TestMeasuringAfterAMoveGivesWhatMeasuringEverythingGives(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(77, seed))
		var m engine.Measurer
		var o engine.Options
		s := crowd(8, 5)
		s.Ships[1].Base = engine.Huge195
		var before engine.Result
		var told string
		for n := range enginetest.Shorter(120, 40) {
			what := changeTable(r, &s, &o)
			got, err := m.Measure(&s, o)
			if err != nil {
				t.Fatal(err)
			}
			want, err := engine.Measure(&s, o)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := wordsOf(t, got), wordsOf(t, want); a != b {
				t.Fatalf("seed %d step %d, %s: measured again:\n%s\nalone:\n%s", seed, n, what, a, b)
			}
			if n > 0 && wordsOf(t, before) != told {
				t.Fatalf("seed %d step %d, %s: the result before has changed", seed, n, what)
			}
			before, told = got, wordsOf(t, got)
		}
	}
}

// wordsOf says all that a result holds.
func wordsOf(t *testing.T, r engine.Result) string {
	t.Helper()
	j, err := scenefile.MarshalResult(r)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s\n%+v", j, r.Standing)
}

// changeTable does something to a table, or to what is asked about it, and says what.
func changeTable(r *rand.Rand, s *engine.Scene, o *engine.Options) string {
	ship, rock := &s.Ships[r.IntN(len(s.Ships))], &s.Obstacles[r.IntN(len(s.Obstacles))]
	switch r.IntN(24) {
	case 0:
		rock.Pose.X++
		return "an obstacle moves"
	case 1: // every coordinate changes its sign and nothing else
		rock.Pose.X, rock.Pose.Y = -rock.Pose.X, -rock.Pose.Y
		for i := range rock.Outline {
			rock.Outline[i] = rock.Outline[i].Mul(-1)
		}
		return "an obstacle is mirrored"
	case 2:
		ship.Turret = []string{"left", "rear", ""}[r.IntN(3)]
		return "a turret turns"
	case 3:
		s.Rules = engine.Rules(1 + r.IntN(3))
		return "other rules"
	case 4:
		enginetest.Uncertain(r, ship, 2)
		return "another covariance"
	case 5:
		id := fmt.Sprintf("N%d", r.IntN(1e9))
		s.Ships = append(s.Ships, engine.Ship{ID: id, Base: engine.Large, Pose: geom.Pose{Point: geom.Point{X: 300 * r.Float64(),
			Y: 300 * r.Float64()}}})
		return "a ship comes"
	case 6:
		if len(s.Ships) > 4 {
			i := r.IntN(len(s.Ships))
			s.Ships = append(s.Ships[:i:i], s.Ships[i+1:]...)
		}
		return "a ship goes"
	case 7:
		s.ObstaclesUnseen = !s.ObstaclesUnseen
		return "nobody looks for obstacles any more, or again"
	case 8:
		s.Unknown = nil
		if r.IntN(2) == 0 {
			x, y := 900*r.Float64(), 900*r.Float64()
			s.Unknown = []geom.Polygon{{{X: x, Y: y}, {X: x + 60, Y: y}, {X: x, Y: y + 60}}}
		}
		return "something unknown"
	case 22:
		s.Blind = nil
		if r.IntN(2) == 0 {
			x, y := 900*r.Float64(), 900*r.Float64()
			s.Blind = []engine.BlindArea{{Outline: geom.Polygon{{X: x, Y: y}, {X: x + 60, Y: y}, {X: x, Y: y + 60}}, Why: "glare"}}
		}
		return "a blind area"
	case 9:
		o.InContact = nil
		if r.IntN(2) == 0 {
			o.InContact = [][2]string{{s.Ships[0].ID, s.Ships[2].ID}}
		}
		return "other ships known to touch"
	case 10:
		o.Sigmas = float64(1 + r.IntN(3))
		return "other sigmas"
	case 11:
		s.Profile = []string{"nominal", "measured"}[r.IntN(2)]
		return "another profile"
	case 12:
		ship.Quarters = !ship.Quarters
		return "a nose that nobody saw"
	case 13:
		s.Devices = append(s.Devices[:0:0], engine.Token{ID: "bomb", Kind: "bomb",
			Pose: geom.Pose{Point: geom.Point{X: 900 * r.Float64(), Y: 450}}})
		return "a bomb"
	case 14:
		rock.Sigma = geom.Length(r.Float64())
		return "a rougher obstacle"
	case 15:
		return "nothing"
	}
	for range 1 + r.IntN(2) {
		p := &s.Ships[r.IntN(len(s.Ships))].Pose
		p.X, p.Y = p.X+60*r.NormFloat64(), p.Y+60*r.NormFloat64()
		p.Heading += geom.Angle(r.NormFloat64())
	}
	return "ships move"
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
