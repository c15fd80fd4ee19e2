package engine

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
)

// Lines that may be the closest lie side by side; whatever order they are found in, the
// two outermost are kept. Of three at even distances, the middle one first, rounding
// decided once which of the outer two was lost.
func TestTheOutermostLinesAreKeptInWhateverOrderTheyCome(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		n := 2 + rng.IntN(5)
		lines := make([]Line, n)
		for i := range lines {
			s := float64(i) / float64(n-1) * (1 + 1e-15*rng.NormFloat64())
			lines[i] = Line{{X: 3, Y: 4}, {X: 200 + 30*s, Y: 100 - 12*s}}
		}
		width := apart(lines[0], lines[n-1])
		rng.Shuffle(n, func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		var e extremes
		for _, l := range lines {
			e.add(l)
		}
		kept, differ := e.pair()
		assert.True(t, differ)
		require.InDelta(t, width, apart(kept[0], kept[1]), 1e-9, "%v of %v", kept, lines)
	}
}

// A scene that was written to a file and read again differs by rounding in the last
// place: no answer may differ by more than that.
func TestRoundingInTheSceneChangesNoAnswer(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	cov := geom.Cov3{0.06, 0, 0, 0, 0.06, 0, 0, 0, 1e-5}
	compared := 0
	for range 1000 {
		s := Scene{Rules: Rules25, Profile: "nominal", MatWidth: 914.4, MatHeight: 914.4, ScaleSigma: 0.0003,
			Ships: []Ship{
				{ID: "A1", Player: 1, Base: Small, Covariance: cov},
				{ID: "B1", Player: 2, Base: Medium, Covariance: cov},
			},
			Obstacles: []Obstacle{{ID: "rock1", Kind: "asteroid", Pose: geom.Pose{Point: geom.Point{X: 410, Y: 300}, Heading: 0.4},
				Outline: []geom.Point{{X: -20, Y: -20}, {X: 20, Y: -15}, {X: 0, Y: 25}}, Sigma: 0.2}},
		}
		for i := range s.Ships {
			s.Ships[i].Pose = geom.Pose{
				Point:   geom.Point{X: 350 + 150*rng.Float64(), Y: 200 + 200*float64(i) + 60*rng.Float64()},
				Heading: geom.Angle(2*math.Pi*rng.Float64() - math.Pi),
			}
		}
		raw, err := MarshalScene(s)
		require.NoError(t, err)
		again, _, err := ParseScenes(raw)
		require.NoError(t, err)
		p, err := MeasurePair(&s, "A1", "B1", Options{})
		require.NoError(t, err)
		q, err := MeasurePair(&again[0], "A1", "B1", Options{})
		require.NoError(t, err)
		for i := range p.Arcs {
			a, b := p.Arcs[i].Attack, q.Arcs[i].Attack
			if a == nil || b == nil {
				require.Equal(t, a == nil, b == nil, "%s: %v", p.Arcs[i].Arc, s.Ships)
				continue
			}
			compared++
			assert.Equal(t, a.Obstruction.Verdict, b.Obstruction.Verdict, "%s: %v", p.Arcs[i].Arc, s.Ships)
			assert.InDelta(t, float64(a.Obstruction.Margin), float64(b.Obstruction.Margin), 1e-6, "%s: %v", p.Arcs[i].Arc, s.Ships)
			assert.InDelta(t, float64(a.Distance), float64(b.Distance), 1e-9, "%s: %v", p.Arcs[i].Arc, s.Ships)
		}
	}
	assert.Greater(t, compared, 2000)
}
