package accuracy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/locate"
	"sightline/vision/tablesim"
)

// edgeTally is what came of fitting bases by their edges alone.
type edgeTally struct {
	asked, found, ours, wrong, decided, falseAnswers, arcs int
	position, heading, normalised                          []float64
	lost                                                   []string
}

func (e *edgeTally) String() string {
	return fmt.Sprintf("%d of %d found, %d of them known for ours; position %.3f mm rms (99 %% %.3f), heading %.3f° rms (99 %% %.3f), "+
		"error over sigma %.2f rms (largest %.2f); %d more than 4 sigma off; %d decided ranges, %d false, %d arcs said",
		e.found, e.asked, e.ours, rms(e.position), percentile(e.position, 0.99), rms(e.heading), percentile(e.heading, 0.99), rms(e.normalised),
		percentile(e.normalised, 1), e.wrong, e.decided, e.falseAnswers, e.arcs)
}

// TestEdgesWithoutACode fits the bases of simulated tables whose codes cannot be read by
// their edges, from hints like the last pose or a person's click, and asks what the engine
// makes of them: no answer may be false, and none may rest on which way the nose points.
func TestEdgesWithoutACode(t *testing.T) {
	notShort(t)
	n := scenes(t, 1, 40)
	for _, c := range []struct {
		name string
		wear tablesim.Wear
		hint vision.EdgeHint
	}{
		{"cells worn off, read before", tablesim.WearCells, vision.EdgeHint{Reach: 3, Turn: 8 * geom.Degree, Read: true}},
		{"rim bleached by glare, read before", tablesim.WearBleach, vision.EdgeHint{Reach: 3, Turn: 8 * geom.Degree, Read: true}},
		{"another card, from the last pose", tablesim.WearPanel, vision.EdgeHint{Reach: 3, Turn: 8 * geom.Degree}},
		{"cells worn off, from a click", tablesim.WearCells, vision.EdgeHint{Reach: 10, Turn: math.Pi}},
		{"rim bleached by glare, from a click", tablesim.WearBleach, vision.EdgeHint{Reach: 10, Turn: math.Pi}},
	} {
		var e edgeTally
		for seed := range uint64(n) {
			e.table(t, 30000+seed, c.wear, c.hint)
		}
		t.Logf("%s: %v", c.name, &e)
		for _, l := range e.lost {
			t.Log("    ", l)
		}
		assert.Zero(t, e.falseAnswers, c.name)
		assert.Zero(t, e.arcs, c.name)
		assert.Greater(t, float64(e.found), 0.3*float64(e.asked), c.name)
		if n > 10 {
			assert.LessOrEqual(t, rms(e.normalised), 1.2, c.name)
		}
	}
}

func (e *edgeTally) table(t *testing.T, seed uint64, wear tablesim.Wear, hint vision.EdgeHint) {
	table := tablesim.RandomTable(seed, 1920, 1080)
	table.Worn = map[string]tablesim.Wear{}
	for _, s := range table.Scene.Ships {
		table.Worn[s.ID] = wear
	}
	f, truth, err := table.Render()
	require.NoError(t, err)
	l, err := locate.New(calibration.Table{Camera: table.Camera, Layout: table.Layout}, drawnTokens())
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(seed, 0x6564676573))
	u := func() float64 { return 2*r.Float64() - 1 }
	scene := engine.Scene{Rules: engine.Rules25, ObstaclesUnseen: true}
	for _, s := range truth.Ships {
		hint.Base, hint.Pose = s.Base, s.Pose
		hint.Pose.X, hint.Pose.Y = hint.Pose.X+u()*float64(hint.Reach)/1.5, hint.Pose.Y+u()*float64(hint.Reach)/1.5
		hint.Pose.Heading = (hint.Pose.Heading + geom.Angle(u())*hint.Turn).Normalized()
		e.asked++
		got, ok, err := l.Edges(f, hint)
		require.NoError(t, err)
		if !ok {
			continue
		}
		e.found++
		if got.Ours {
			e.ours++
		}
		d := got.Pose.Sub(s.Pose.Point)
		turned := float64((got.Pose.Heading - s.Pose.Heading).Signed())
		turned -= math.Pi / 2 * math.Round(turned/(math.Pi/2))
		e.position, e.heading = append(e.position, d.Norm()), append(e.heading, math.Abs(turned)/deg)
		worst := 0.0
		for i, v := range [3]float64{d.X, d.Y, turned} {
			z := math.Abs(v) / math.Sqrt(got.Covariance[4*i])
			e.normalised = append(e.normalised, z)
			worst = max(worst, z)
		}
		if worst > 4 {
			e.wrong++
			e.lost = append(e.lost, fmt.Sprintf("table %d %s %v: off by (%.2f, %.2f) mm, %.2f°, %.1f sigma; sides %.2f, inset %.2f, rms %.3f", seed,
				s.ID, s.Base, d.X, d.Y, turned/deg, worst, got.Sides, got.Inset.Millimeters(), got.Residual.Millimeters()))
		}
		scene.Ships = append(scene.Ships, vision.EdgeShip(s.ID, 1, s.Base, got, true))
	}
	e.answers(t, scene, truth)
}

// answers measures the scene and the truth.
func (e *edgeTally) answers(t *testing.T, scene engine.Scene, truth tablesim.Truth) {
	exact := scene
	exact.Ships = nil
	for _, s := range scene.Ships {
		w, _ := truth.Ship(s.ID)
		s.Pose, s.Covariance, s.Quarters = w.Pose, geom.Cov3{}, false
		exact.Ships = append(exact.Ships, s)
	}
	got, err := engine.Measure(&scene, engine.Options{})
	require.NoError(t, err)
	want, err := engine.Measure(&exact, engine.Options{})
	require.NoError(t, err)
	for i, p := range got.Pairs {
		if p.Range.Outcome == engine.Yes {
			e.decided++
			if p.Range.Band != want.Pairs[i].Range.Band {
				e.falseAnswers++
				e.lost = append(e.lost, fmt.Sprintf("%s to %s: range %d, truly %d", p.From, p.To, p.Range.Band, want.Pairs[i].Range.Band))
			}
		}
		for _, a := range p.Arcs {
			if a.InArc != engine.NoView {
				e.arcs++
			}
		}
	}
}

// TestEdgesRendered does the same on photorealistic pictures (SIGHTLINE_RENDERED), from hints that are 1.4 mm and 2° off, as if
// no code could be read.
func TestEdgesRendered(t *testing.T) {
	roots := os.Getenv("SIGHTLINE_RENDERED")
	if roots == "" {
		t.Skip("SIGHTLINE_RENDERED names no folder of rendered pictures: see docs/accuracy.md")
	}
	d := markerDetector(t)
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	truths := renderedTruths(t, roots)
	var read, clicked baseTally // with the code read before, and without
	for _, truth := range truths {
		r, f := readRendered(t, filepath.Dir(truth))
		l, err := locate.New(register(t, d, r.intrinsics(), layout, f), drawnTokens())
		require.NoError(t, err)
		for _, w := range r.bases(t) {
			hint := vision.EdgeHint{Base: w.base, Pose: w.pose, Reach: 3 * geom.Millimeter, Turn: 8 * geom.Degree}
			hint.Pose.X, hint.Pose.Y, hint.Pose.Heading = hint.Pose.X+1, hint.Pose.Y-1, hint.Pose.Heading+2*geom.Degree
			name := filepath.Base(filepath.Dir(filepath.Dir(truth)))
			clicked.addEdges(t, l, f, name, w, hint)
			hint.Read = true
			read.addEdges(t, l, f, name, w, hint)
		}
	}
	read.pictures, clicked.pictures = len(truths), len(truths)
	read.report(t, "photorealistic, by a hint, read before")
	clicked.report(t, "photorealistic, by a hint, never read")
	assert.Greater(t, float64(clicked.ours), 0.5*float64(read.found), "known for ours by the white line")
}

// addEdges adds what a base's edges give from a hint.
func (b *baseTally) addEdges(t *testing.T, l *locate.Locator, f vision.Frame, name string, w trueBase, hint vision.EdgeHint) {
	t.Helper()
	s, ok, err := l.Edges(f, hint)
	require.NoError(t, err)
	var got []vision.UnidentifiedBase
	if ok {
		got = append(got, vision.UnidentifiedBase{Base: w.base, Pose: s.Pose, Covariance: s.Covariance, Sight: s})
	}
	b.add(name, []trueBase{w}, got)
}
