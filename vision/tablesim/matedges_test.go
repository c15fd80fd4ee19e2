package tablesim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision/fiducial"
)

// Without markers the mat's edges tell whether the camera stands where it was calibrated.
func TestTheMatsEdgesConfirmTheCamera(t *testing.T) {
	confirmed, pictures, cameras := 0, 0, 0
	for seed := range uint64(16) {
		if testing.Short() && seed >= 2 {
			break
		}
		table := RandomTable(5000+seed, 1280, 720)
		table.Layout.Markers = nil
		f, _, err := table.Render()
		require.NoError(t, err)
		here := calibration.Table{Camera: table.Camera, Layout: table.Layout}
		edges := fiducial.FindMatEdges(f.Gray, &here)
		pictures++
		if edges.Confirm() == nil {
			confirmed++
		} else {
			t.Logf("seed %d, mat %d, %d hands: %v (%+v)", seed, table.Look.Mat, len(table.Hands), edges.Confirm(), edges)
		}
		for _, by := range []calibration.Vec3{{11, 0, 0}, {0, -7, 0}, {7, 7, 0}, {0, 0, 30}, {60, 20, 0}, {-110, 0, 0}} {
			moved := here
			moved.Extrinsics = moved.Extrinsics.Perturbed(calibration.Vec3{}, by)
			cameras++
			edges := fiducial.FindMatEdges(f.Gray, &moved)
			assert.Error(t, edges.Confirm(), "seed %d: moved by %v: %+v", seed, by, edges)
		}
		for _, by := range []calibration.Vec3{{0, 0, 0.02}, {0.02, 0, 0}, {0, 0.02, 0}} {
			moved := here
			moved.Extrinsics = moved.Extrinsics.Perturbed(by, calibration.Vec3{})
			off := geom.Length(0)
			for _, p := range table.Layout.Corners() {
				px, _ := here.PixelOf(p, 0)
				if q, ok := moved.PointAt(px, 0); ok {
					off = max(off, p.Distance(q))
				}
			}
			if off < 8 {
				continue
			}
			cameras++
			edges := fiducial.FindMatEdges(f.Gray, &moved)
			assert.Error(t, edges.Confirm(), "seed %d: turned by %v, %.1f mm: %+v", seed, by, float64(off), edges)
		}
	}
	t.Logf("%d of %d tables are confirmed, and none of %d cameras that were moved", confirmed, pictures, cameras)
	assert.GreaterOrEqual(t, 2*confirmed, pictures)
}
