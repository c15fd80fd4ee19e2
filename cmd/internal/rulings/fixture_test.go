package rulings_test

import (
	"context"
	"crypto/ed25519"
	"image"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/rulings"
	"sightline/engine"
	"sightline/engine/geom"
)

// noon is when the first ruling of a test is made.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.UTC)

// table is a small table: B1 at range 2 in A1's front arc, behind a rock.
func table() engine.Scene {
	cov := geom.Cov3{0.06, 0, 0, 0, 0.06, 0, 0, 0, 1e-5}
	return engine.Scene{
		Rules: engine.Rules25, Profile: "nominal", MatWidth: 914.4, MatHeight: 914.4, ScaleSigma: 0.0003,
		Ships: []engine.Ship{
			{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 400, Y: 200}, Heading: 0.1}, Covariance: cov,
				Seen: "both", Visible: 1},
			{ID: "B1", Player: 2, Base: engine.Medium, Pose: geom.Pose{Point: geom.Point{X: 430, Y: 420}, Heading: 3.3}, Covariance: cov,
				Seen: "both", Visible: 1},
		},
		Obstacles: []engine.Obstacle{{ID: "rock1", Kind: "asteroid", Pose: geom.Pose{Point: geom.Point{X: 410, Y: 300}, Heading: 0.4},
			Outline: []geom.Point{{X: -20, Y: -20}, {X: 20, Y: -15}, {X: 0, Y: 25}}, Sigma: 0.2}},
	}
}

// ruling is the n-th ruling of a test, on the small table.
func ruling(t testing.TB, n int) rulings.Ruling {
	s := table()
	s.Ships[0].Pose.X += float64(n)
	p, err := engine.MeasurePair(&s, "A1", "B1", engine.Options{Sigmas: 3})
	require.NoError(t, err)
	return rulings.Ruling{
		At: noon.Add(time.Duration(n) * time.Minute), Captured: noon.Add(time.Duration(n)*time.Minute - time.Second),
		Program: "v1", Source: "sim:", Scene: s, Sigmas: 3, From: "A1", To: "B1", Arc: engine.ArcFront, Pair: &p,
		Question: "Is B1 at range 2 of A1 <in arc> & \u2028 obstructed?", AskedBy: "player 1", Answer: "Range 2, in the front arc",
		Decision: rulings.AsMeasured, Text: "Range 2, obstructed by the rock.", Judge: "Zoë Example",
	}
}

// overruled is a ruling against the measurement.
func overruled(t testing.TB, n int) rulings.Ruling {
	r := ruling(t, n)
	r.Decision, r.Reason = rulings.Overruled, "A1 was bumped before the picture; both players agree."
	return r
}

// files are small files with content of their own for each n.
func files(n int) rulings.Files {
	g := image.NewGray(image.Rect(0, 0, 64, 48))
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	for i := range g.Pix {
		g.Pix[i] = uint8(rng.Uint32())
	}
	return rulings.Files{Frame: g, Color: g, Calibration: []byte(`{"a calibration":1}`), Lens: []byte("a: lens\n"),
		Catalogue: []byte(`{"obstacles":[]}`)}
}

// newLog returns an open log with some rulings.
func newLog(t testing.TB, count int) (*rulings.Log, string) {
	dir := t.TempDir() + "/rulings"
	l, err := rulings.Open(dir, rulings.Options{Key: key})
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	for n := range count {
		_, err := l.Append(context.Background(), ruling(t, n), files(n))
		require.NoError(t, err)
	}
	return l, dir
}

// key signs the entries of the tests' machine.
var key = ed25519.NewKeyFromSeed([]byte("the seed of a test's own machine"))
