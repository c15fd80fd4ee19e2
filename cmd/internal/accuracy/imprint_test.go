package accuracy

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/vision"
	"sightline/vision/imprint"
	"sightline/vision/obstacle"
)

// TestImprintedReexposed learns each table as if it were a bare mat, and the bare mat: what lies there is named in the one, nothing in the
// other. The folders are as for TestObstaclesReexposed.
func TestImprintedReexposed(t *testing.T) {
	catalogue, d := publishedCatalogue(t), markerDetector(t)
	lay, named, wrong := 0, 0, 0
	eachReexposedOnMat(t, func(p reexposed, empty []vision.Frame) {
		r, f := readRendered(t, p.dir)
		table := register(t, d, r.intrinsics(), calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), f)
		on := func(pictures ...vision.Frame) []string {
			learner := obstacle.NewBackgroundLearner(table)
			for _, p := range pictures {
				require.NoError(t, learner.Add(p))
			}
			mat, err := learner.Background()
			require.NoError(t, err)
			got, err := imprint.On(mat, catalogue)
			require.NoError(t, err)
			return got
		}
		assert.Empty(t, on(empty...), "%s: on the bare mat", p.name())
		lay += len(r.obstacles())
		for _, name := range on(f) {
			if slices.ContainsFunc(r.obstacles(), func(o trueObstacle) bool { return o.name == name }) {
				named++
			} else {
				wrong++
				t.Log(p.name(), "names", name)
			}
		}
	})
	t.Logf("of %d obstacles %d are named, %d others wrongly", lay, named, wrong)
	assert.Zero(t, wrong)
}
