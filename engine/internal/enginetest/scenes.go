// Package enginetest makes the random scenes that the tests of measuring and of moving
// share, and answers some questions by slow methods of its own.
package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
)

// Scene reads the tests' one-line form of a scene: an edition, then ships as
// "ID base x y heading [turret]" and square obstacles as "ID square x y heading side",
// separated by semicolons. The first ship is A, the second B.
func Scene(t testing.TB, text string) engine.Scene {
	t.Helper()
	var s engine.Scene
	for i, part := range strings.Split(text, ";") {
		f := strings.Fields(part)
		if i == 0 {
			var err error
			s.Rules, err = engine.ParseRules(f[0])
			require.NoError(t, err)
			continue
		}
		n := make([]float64, 4)
		for j := range n {
			if j+2 < len(f) {
				_, _ = fmt.Sscan(f[j+2], &n[j]) // the fourth may be a turret
			}
		}
		pose := geom.Pose{Point: geom.Point{X: n[0], Y: n[1]}, Heading: geom.Angle(n[2]) * geom.Degree}
		if f[1] == "square" {
			h := n[3] / 2
			s.Obstacles = append(s.Obstacles, engine.Obstacle{ID: f[0], Kind: "asteroid", Pose: pose,
				Outline: []geom.Point{{X: -h, Y: -h}, {X: h, Y: -h}, {X: h, Y: h}, {X: -h, Y: h}}})
			continue
		}
		base, err := engine.ParseBase(f[1])
		require.NoError(t, err)
		ship := engine.Ship{ID: f[0], Base: base, Pose: pose}
		if len(f) > 5 {
			ship.Turret = f[5]
		}
		s.Ships = append(s.Ships, ship)
	}
	return s
}

// RandomShip returns a ship with a square base, anywhere on half of a mat.
func RandomShip(r *rand.Rand, id string) engine.Ship {
	return engine.Ship{
		ID: id, Base: engine.Base(1 + r.IntN(3)),
		Pose: geom.Pose{Point: geom.Point{X: 100 + 400*r.Float64(), Y: 100 + 400*r.Float64()}, Heading: geom.Angle(2 * math.Pi * r.Float64())},
	}
}

// Uncertain gives a ship the covariance of a fit: correlated in all three, and as
// large as a good view (size 1) or a very bad one (size 5) makes it.
func Uncertain(r *rand.Rand, s *engine.Ship, size float64) {
	sd := [3]float64{
		size * (0.1 + 0.4*r.Float64()), size * (0.1 + 0.4*r.Float64()),
		size * (0.03 + 0.25*r.Float64()) * math.Pi / 180,
	}
	// Rows of a random triangular matrix, made unit long, give a correlation.
	var l [3][3]float64
	for i := range l {
		n := 0.0
		for j := range i + 1 {
			l[i][j] = r.NormFloat64()
			n = math.Hypot(n, l[i][j])
		}
		for j := range l[i] {
			l[i][j] /= n
		}
	}
	for i := range 3 {
		for j := range 3 {
			dot := 0.0
			for k := range 3 {
				dot += l[i][k] * l[j][k]
			}
			s.Covariance[3*i+j] = sd[i] * sd[j] * dot
		}
	}
}

// Draw returns a truth for a measured ship, by the Cholesky factor of its
// covariance.
func Draw(r *rand.Rand, s engine.Ship) engine.Ship {
	c := s.Covariance
	l00 := math.Sqrt(c[0])
	l10, l20 := c[3]/l00, c[6]/l00
	l11 := math.Sqrt(math.Max(1e-30, c[4]-l10*l10))
	l21 := (c[7] - l20*l10) / l11
	l22 := math.Sqrt(math.Max(0, c[8]-l20*l20-l21*l21))
	a, b, d := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
	s.Pose.X += l00 * a
	s.Pose.Y += l10*a + l11*b
	s.Pose.Heading += geom.Angle(l20*a + l21*b + l22*d)
	s.Covariance = geom.Cov3{}
	return s
}

// Star returns a simple polygon, concave more often than not.
func Star(r *rand.Rand, n int, radius float64) []geom.Point {
	p := make([]geom.Point, n)
	for i := range p {
		s, c := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		k := radius * (0.5 + 0.5*r.Float64())
		p[i] = geom.Point{X: k * c, Y: k * s}
	}
	return p
}

// SceneCount is how many random scenes an accuracy test looks at: few in a plain
// run, as many as SIGHTLINE_SCENES says, or all that is promised under make accuracy.
func SceneCount(plain, full int) int {
	if n, err := strconv.Atoi(os.Getenv("SIGHTLINE_SCENES")); err == nil {
		return n
	}
	if os.Getenv("SIGHTLINE_ACCURACY") != "" {
		return full
	}
	return plain
}

// Shorter is how often a loop runs: the race run (-short) looks for races and not for
// rare scenes, and is ten times as slow.
func Shorter(full, short int) int {
	if testing.Short() {
		return short
	}
	return full
}

// MeasurePair measures from the ship A to the ship B at k standard deviations.
func MeasurePair(t testing.TB, s *engine.Scene, k float64) engine.PairVerdict {
	t.Helper()
	v, err := engine.MeasurePair(s, "A", "B", engine.Options{Sigmas: k})
	require.NoError(t, err)
	return v
}

// Measured measures a scene.
func Measured(t testing.TB, s engine.Scene) engine.Result {
	t.Helper()
	r, err := engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	return r
}

// StandingState measures a scene with the first edition's relation, and returns who stands how.
func StandingState(s *engine.Scene, touching engine.Touching, o engine.Options) ([]engine.Standing, error) {
	o.Touching = touching
	r, err := engine.Measure(s, o)
	return r.Standing, err
}

// ArcNamed returns a pair's verdict on an arc.
func ArcNamed(t testing.TB, p engine.PairVerdict, arc engine.Arc) engine.ArcVerdict {
	t.Helper()
	for _, a := range p.Arcs {
		if a.Arc == arc {
			return a
		}
	}
	t.Fatalf("no arc %v in %v", arc, p)
	return engine.ArcVerdict{}
}
