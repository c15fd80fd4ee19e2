package engine_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"sightline/engine"
	"sightline/engine/geom"
)

// crowd is a crowded table: ships of all sizes on a mat that grows with their
// number, obstacles of fifty vertices, everything measured.
func crowd(ships, obstacles int) engine.Scene {
	r := rand.New(rand.NewPCG(24, 12))
	side := 914.4 * math.Sqrt(float64(ships)/24)
	s := engine.Scene{Rules: engine.Rules25, MatWidth: geom.Length(side), MatHeight: geom.Length(side), ScaleSigma: 0.0003}
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

func BenchmarkTable(b *testing.B) {
	for _, c := range []struct{ ships, obstacles int }{{8, 12}, {24, 12}, {24, 0}, {200, 12}} {
		b.Run(fmt.Sprintf("%d ships %d obstacles", c.ships, c.obstacles), func(b *testing.B) {
			s := crowd(c.ships, c.obstacles)
			b.ReportAllocs()
			var m engine.Measurer
			for b.Loop() {
				if _, err := m.Measure(&s, engine.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			pairs := float64(c.ships * (c.ships - 1))
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pairs, "ns/pair")
		})
	}
}
