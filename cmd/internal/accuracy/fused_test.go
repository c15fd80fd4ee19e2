package accuracy

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/fusion"
	"sightline/vision/locate"
	"sightline/vision/tablesim"
)

// Two cameras that look from opposite edges, aslant by 35°, at one table: either sees the
// half of a base that its miniature hides from the other. Each has its own lens, wrong by
// as much as a calibration leaves, and its own registration.
func TestTwoObliqueCamerasSeeMoreThanEither(t *testing.T) {
	d := markerDetector(t)
	const width, height = 1920, 1080
	tilts := [2]geom.Angle{35 * geom.Degree, -35 * geom.Degree}
	cameras := [2]calibration.Camera{}
	for i, tilt := range tilts {
		var ok bool
		cameras[i], ok = tablesim.ObliqueCamera(width, height, tilt, 0)
		require.True(t, ok, "no camera sees the whole mat from %v", tilt)
	}
	alone := [2]*tally{{name: "Simulated table, aslant from player 1, 1080p"}, {name: "Simulated table, aslant from player 2, 1080p"}}
	both := &tally{name: "Simulated table, both cameras, 1080p"}
	conflicts := 0
	for seed := range uint64(scenes(t, 1, 20)) {
		table := tablesim.RandomTable(3001+seed, width, height)
		var views []vision.Located
		ships := map[string]sighting{}
		for i, c := range cameras {
			table.Camera = c
			frame, truth, err := table.Render()
			require.NoError(t, err)
			lens, covariance := misjudgedLens(rand.New(rand.NewPCG(seed, uint64(i))), table)
			lens.Covariance = covariance // aslant, markers that lie exactly would contradict a lens that claimed to be exact
			l, err := locate.New(register(t, d, lens, table.Layout, frame), drawnTokens())
			require.NoError(t, err)
			got, err := l.Locate(frame)
			require.NoError(t, err)
			views = append(views, got)
			var here []sighting
			for _, s := range truth.Ships {
				k := sighting{id: s.ID, truth: s.Pose, wholeSide: s.WholeSide(), visible: s.Visible}
				here = append(here, k)
				k.wholeSide, k.visible = k.wholeSide || ships[s.ID].wholeSide, max(k.visible, ships[s.ID].visible)
				ships[s.ID] = k
			}
			alone[i].add("seed "+strconv.FormatUint(3001+seed, 10), here, got)
		}
		fused, err := fusion.Fuse(views, fusion.Options{Apart: -1})
		require.NoError(t, err)
		for _, n := range fused.Fusion.Notes() {
			t.Logf("seed %d: %s", 3001+seed, n)
		}
		conflicts += len(fused.Fusion.Conflicts)
		var all []sighting
		for _, s := range ships {
			all = append(all, s)
		}
		both.add("seed "+strconv.FormatUint(3001+seed, 10), all, fused)
	}
	for i, name := range []string{"oblique-near", "oblique-far"} {
		alone[i].report(t, name)
	}
	both.report(t, "oblique-fused")
	f := both.figures()
	t.Logf("fused: %+v; %d conflicts", f, conflicts)
	for _, a := range alone {
		g := a.figures()
		t.Logf("%s: %+v", a.name, g)
		assert.GreaterOrEqual(t, f.Located+conflicts, g.Located, "the cameras together see fewer ships than one")
		assert.LessOrEqual(t, f.PositionRMS, 1.1*g.PositionRMS, "the cameras together are worse than one")
	}
	assert.Zero(t, f.Wrong, "wrong identities")
	assert.LessOrEqual(t, f.Normalised, 1.1, "error over stated sigma, rms")
}
