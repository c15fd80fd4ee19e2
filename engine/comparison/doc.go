// Package comparison asks two general geometry libraries the engine's questions, GEOS through a Go
// binding and simplefeatures in pure Go, checks that the answers agree, and times all three. It is
// a separate module, so the program depends on neither. GEOS needs its C library: apt-get install
// libgeos-dev.
//
//	cd engine/comparison && go test ./... && go test -run '^$' -bench . -benchtime 2s
package comparison

import (
	"fmt"
	"math"
	"math/rand/v2"

	"sightline/engine"
	"sightline/engine/geom"
)

// far is how far arcs extend as polygons: beyond every ship of the largest table.
const far = 6000

// crowd returns a table of random ships and of obstacles with fifty vertices, without uncertainty.
// The mat is the standard one; with more than 24 ships it grows to keep their density.
func crowd(ships, obstacles int) engine.Scene {
	r := rand.New(rand.NewPCG(24, 12))
	side := 914.4 * math.Sqrt(math.Max(1, float64(ships)/24))
	s := engine.Scene{Rules: engine.Rules25, MatWidth: geom.Length(side), MatHeight: geom.Length(side)}
	place := func() geom.Pose {
		return geom.Pose{Point: geom.Point{X: side * r.Float64(), Y: side * r.Float64()}, Heading: geom.Angle(2 * math.Pi * r.Float64())}
	}
	for i := range ships {
		s.Ships = append(s.Ships, engine.Ship{ID: fmt.Sprintf("S%d", i), Base: engine.Base(1 + r.IntN(3)), Pose: place()})
	}
	for i := range obstacles {
		o := engine.Obstacle{ID: fmt.Sprintf("rock%d", i), Kind: "asteroid", Pose: place()}
		for k := range 50 {
			sin, cos := math.Sincos(2 * math.Pi * float64(k) / 50)
			radius := 35 * (0.6 + 0.4*r.Float64())
			o.Outline = append(o.Outline, geom.Point{X: radius * cos, Y: radius * sin})
		}
		s.Obstacles = append(s.Obstacles, o)
	}
	return s
}

// uncertain gives every pose a covariance and every outline a sigma.
func uncertain(s engine.Scene) engine.Scene {
	s.ScaleSigma = 0.0003
	for i := range s.Ships {
		s.Ships[i].Covariance = geom.Cov3{0: 0.06, 4: 0.06, 8: 0.03 * math.Pi / 180 * math.Pi / 180}
	}
	for i := range s.Obstacles {
		s.Obstacles[i].Sigma = 0.2
	}
	return s
}

// ring is a closed ring of coordinates: the last equals the first.
type ring [][]float64

func ringOf(ps ...geom.Point) ring {
	var r ring
	for _, p := range append(ps, ps[0]) {
		r = append(r, []float64{p.X, p.Y})
	}
	return r
}

func base(s *engine.Ship) ring {
	p := engine.Nominal()
	w, l := p.Size(s.Base)
	x, y := float64(w)/2, float64(l)/2
	return ringOf(s.Pose.Transform(geom.Point{X: x, Y: y}), s.Pose.Transform(geom.Point{X: -x, Y: y}),
		s.Pose.Transform(geom.Point{X: -x, Y: -y}), s.Pose.Transform(geom.Point{X: x, Y: -y}))
}

func rock(o *engine.Obstacle) ring {
	return ringOf(o.Pose.TransformAll(o.Outline)...)
}

// arcs lists the arcs of a ship without a turret, in the order of the engine's
// verdicts: front, rear, left, right, full front, full rear, bullseye.
func arcs(s *engine.Ship) []ring {
	p := engine.Nominal()
	half := float64(p.HalfAngle(engine.Rules25, s.Base))
	at := func(a float64) geom.Point {
		sin, cos := math.Sincos(a)
		return s.Pose.Transform(geom.Point{X: far * sin, Y: far * cos})
	}
	local := func(x, y float64) geom.Point { return s.Pose.Transform(geom.Point{X: x, Y: y}) }
	b := float64(p.Bullseye) / 2
	return []ring{
		ringOf(s.Pose.Point, at(half), at(-half)),
		ringOf(s.Pose.Point, at(math.Pi+half), at(math.Pi-half)),
		ringOf(s.Pose.Point, at(-half), at(half-math.Pi)),
		ringOf(s.Pose.Point, at(math.Pi-half), at(half)),
		ringOf(local(far, 0), local(far, far), local(-far, far), local(-far, 0)),
		ringOf(local(far, -far), local(far, 0), local(-far, 0), local(-far, -far)),
		ringOf(local(b, 0), local(b, far), local(-b, far), local(-b, 0)),
	}
}

// answer is a library's answer about one arc of one ordered pair.
type answer struct {
	distance float64 // between the bases
	inArc    bool
	attack   float64 // to the part of the target in the arc, if there is one
	line     [2]geom.Point
	through  int // obstacles on the line
}
