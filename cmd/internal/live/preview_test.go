package live

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
	"sightline/vision"
)

// TestTheEndOfAMoveIsAsSureAsItsStart compares the propagated covariance with a thousand
// moves from poses that are drawn from the start's.
func TestTheEndOfAMoveIsAsSureAsItsStart(t *testing.T) {
	scene := engine.Scene{Rules: engine.Rules25, MatWidth: 914.4, MatHeight: 914.4, Ships: []engine.Ship{{
		ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 300, Y: 300}}, Seen: "token", Visible: 0.93,
	}}}
	a := &scene.Ships[0]
	a.Pose.Heading, a.Covariance = 40*geom.Degree, geom.Cov3{0.04, 0, 0, 0, 0.02, 0, 0, 0, 1e-4}
	table := State{Health: Health{Code: OK}, Sigmas: 3, Located: vision.Located{Scene: scene}}
	tried, err := table.Preview(MoveRequest{Doing: DoManeuver, Ship: "A1", Move: "turn left 3"}, false)
	require.NoError(t, err)
	got := tried.After.Located.Scene.Ships[0].Covariance

	rng := rand.New(rand.NewPCG(1, 2))
	const n = 4000
	var sum geom.Point
	var xx, xy, yy float64
	for range n {
		s := scene
		ship := *a
		ship.Pose.X += math.Sqrt(a.Covariance[0]) * rng.NormFloat64()
		ship.Pose.Y += math.Sqrt(a.Covariance[4]) * rng.NormFloat64()
		ship.Pose.Heading += geom.Angle(math.Sqrt(a.Covariance[8]) * rng.NormFloat64())
		s.Ships = []engine.Ship{ship}
		r, err := move.Execute(&s, "A1", move.Maneuver{Bearing: move.TightTurn, Speed: 3, Left: true}, engine.Options{})
		require.NoError(t, err)
		d := r.Final.Sub(tried.Result.Final.Point)
		sum = sum.Add(d)
		xx, xy, yy = xx+d.X*d.X, xy+d.X*d.Y, yy+d.Y*d.Y
	}
	assert.InEpsilon(t, xx/n, got[0], 0.1)
	assert.InEpsilon(t, yy/n, got[4], 0.1)
	assert.InDelta(t, xy/n, got[1], 0.1*math.Sqrt(got[0]*got[4]))
	assert.Greater(t, got[0]+got[4], 10*(a.Covariance[0]+a.Covariance[4]), "a turned start swings the end round")
}
