package calibration

import (
	"math"

	"sightline/engine/geom"
)

// MatSigma returns the error, in mm and per axis, that the lens's covariance
// leaves at the worst point of a standard mat, at mat level or at a base's top (4 mm):
// for a camera straight above the mat that sees its whole side over 95 percent of the
// picture's height and is registered on the default markers. Registering makes up for
// most of a wrong lens, so it says what the table's answers feel of it. It reports false for
// a lens without a covariance.
func MatSigma(lens Intrinsics) (geom.Length, bool) {
	if len(lens.Covariance) != 81 || lens.Validate() != nil {
		return 0, false
	}
	const fill = 0.95
	side := float64(MatSide)
	height := lens.Fy * side / (fill * float64(lens.Height))
	pose := Extrinsics{R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, T: Vec3{-side / 2, side / 2, height}}
	layout := DefaultLayout(MatSide, MatSide)
	used := make([]correspondence, 0, len(layout.Markers))
	for _, m := range layout.Markers {
		used = append(used, correspondence{marker: m})
	}
	m := poseNormal(lens, pose, used, noiseModel{corner: cornerSigma})
	inverse, ok := invertSPD(m.normal[:], 6)
	if !ok {
		return 0, false
	}
	gain := lensGain(inverse, &m)
	var worst float64
	const steps = 8
	for _, z := range [...]float64{0, 4} {
		for i := range steps + 1 {
			for k := range steps + 1 {
				q := pose.Camera(Vec3{side * float64(i) / steps, side * float64(k) / steps, z})
				_, jp := projectionJacobian(&lens, q, pose.T)
				jl := LensJacobian(&lens, q[0]/q[2], q[1]/q[2])
				var j [2][9]float64
				for a := range 9 {
					j[0][a], j[1][a] = jl[a].X, jl[a].Y
					for b := range 6 {
						j[0][a] += jp[0][b] * gain[9*b+a]
						j[1][a] += jp[1][b] * gain[9*b+a]
					}
				}
				for axis, focal := range [2]float64{lens.Fx, lens.Fy} {
					variance := 0.0
					for a := range 9 {
						for b := range 9 {
							variance += j[axis][a] * lens.Covariance[9*a+b] * j[axis][b]
						}
					}
					mm := q[2] / focal
					worst = max(worst, variance*mm*mm)
				}
			}
		}
	}
	return geom.Length(math.Sqrt(worst)), true
}
