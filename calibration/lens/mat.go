package lens

import (
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
)

// MatSigma returns the error, in mm per axis, that the lens's covariance causes at the
// worst point of a standard mat, at mat level or at a base's top (4 mm). The camera hangs
// straight above the mat, which fills 95 percent of the picture's height, and is
// registered on the default markers. Registering compensates most of a wrong lens, so
// this is the error in the table's answers. It reports false for a lens without a
// covariance.
func MatSigma(lens calibration.Intrinsics) (geom.Length, bool) {
	if len(lens.Covariance) != 81 || lens.Validate() != nil {
		return 0, false
	}
	view, ok := newMatView(lens)
	if !ok {
		return 0, false
	}
	var worst float64
	for _, z := range [...]float64{0, 4} {
		for i := range matSteps + 1 {
			for k := range matSteps + 1 {
				x, y := view.variance(geom.Point{X: view.side * float64(i) / matSteps, Y: view.side * float64(k) / matSteps}, z)
				worst = max(worst, x, y)
			}
		}
	}
	return geom.Length(math.Sqrt(worst)), true
}

// matSteps is the number of steps along each side of the mat.
const matSteps = 8

// matView is a camera straight above a standard mat, registered on its markers.
type matView struct {
	lens calibration.Intrinsics
	pose calibration.Extrinsics
	side float64     // mm
	gain [54]float64 // derivative of the pose by the lens's parameters, 6×9
}

// matPose returns the pose of a matView's camera and the markers it is registered on.
func matPose(lens calibration.Intrinsics) (calibration.Extrinsics, calibration.Layout) {
	const fill = 0.95 // of the picture's height
	side := float64(calibration.MatSide)
	height := lens.Fy * side / (fill * float64(lens.Height))
	down := [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}
	pose := calibration.Extrinsics{R: down, T: calibration.Vec3{-side / 2, side / 2, height}}
	return pose, calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
}

func newMatView(lens calibration.Intrinsics) (matView, bool) {
	pose, layout := matPose(lens)
	gain, ok := calibration.PoseGain(lens, pose, layout)
	return matView{lens: lens, pose: pose, side: float64(calibration.MatSide), gain: gain}, ok
}

// variance returns the variance of a mat point, mm², along x and y.
func (m *matView) variance(p geom.Point, z float64) (x, y float64) {
	q := m.pose.Camera(calibration.Vec3{p.X, p.Y, z})
	_, jp := calibration.ProjectionJacobian(&m.lens, q, m.pose.T)
	jl := calibration.LensJacobian(&m.lens, q[0]/q[2], q[1]/q[2])
	var j [2][calibration.LensTerms]float64
	for a := range calibration.LensTerms {
		j[0][a], j[1][a] = jl[a].X, jl[a].Y
		for b := range 6 {
			j[0][a] += jp[0][b] * m.gain[calibration.LensTerms*b+a]
			j[1][a] += jp[1][b] * m.gain[calibration.LensTerms*b+a]
		}
	}
	var v [2]float64
	for axis, focal := range [2]float64{m.lens.Fx, m.lens.Fy} {
		for a := range calibration.LensTerms {
			for b := range calibration.LensTerms {
				v[axis] += j[axis][a] * m.lens.Covariance[calibration.LensTerms*a+b] * j[axis][b]
			}
		}
		mm := q[2] / focal
		v[axis] *= mm * mm
	}
	return v[0], v[1]
}
