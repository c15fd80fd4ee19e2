package calibration

import (
	"math"

	"sightline/calibration/linalg"
)

// JointCovariance returns the joint covariance of all the spots, in mm², 2n×2n in the order
// x, y, x, y …: the budget's Difference for many spots at once. Pose and lens move all spots;
// an object's height, the mat's flatness and the lens model's error are correlated only
// between near spots. It leaves out the common scale (Table.ScaleSigma), pixel noise, and
// print and insert play, which a card of known measures does not have. It reports false when
// the camera does not see a spot.
func (b *Budget) JointCovariance(spots []Spot) ([]float64, bool) {
	n := len(spots)
	at := make([]sensitivity, n)
	for i, s := range spots {
		var ok bool
		if at[i], ok = b.sensitivity(s.Point, s.Z); !ok {
			return nil, false
		}
	}
	cov := make([]float64, 4*n*n)
	for i := range spots {
		for j := range i + 1 {
			c := b.between(spots[i], spots[j], &at[i], &at[j])
			for k := range 2 {
				for l := range 2 {
					cov[(2*i+k)*2*n+2*j+l] = c[k][l]
					cov[(2*j+l)*2*n+2*i+k] = c[k][l]
				}
			}
		}
	}
	return cov, true
}

// between returns the covariance between two spots: x and y of the first by x and y of the
// second.
func (b *Budget) between(p, q Spot, sp, sq *sensitivity) (c [2][2]float64) {
	height := b.flatness(p.Point, q.Point)
	if p == q || p.Object != 0 && p.Object == q.Object {
		height += square(float64(b.limits.Height))
	}
	model := math.Sqrt(b.modelVariance(sp)*b.modelVariance(sq)) * Correlation(p.Point, q.Point, modelReach/2)
	for k := range 2 {
		for l := range 2 {
			c[k][l] = crossed(sp.pose[k][:], sq.pose[l][:], b.registration) + crossed(sp.lens[k][:], sq.lens[l][:], b.lens) +
				sp.z[k]*sq.z[l]*height
		}
		c[k][k] += model
	}
	return c
}

// crossed returns x C yᵀ; 0 when the covariance C is unknown.
func crossed(x, y, c []float64) float64 {
	if len(c) != len(x)*len(x) {
		return 0
	}
	return linalg.Quadratic(c, x, y)
}
