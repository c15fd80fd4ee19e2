package calibration

import "math"

// JointCovariance returns the covariance, in mm², that the calibration's own errors give to all
// the spots together: 2n×2n in the order x, y, x, y … It is the budget's
// Difference for many spots at once. The pose and the lens move all spots; an object's
// height, the mat's flatness and what the lens model leaves are alike only where spots
// are near. Left out are the common scale, which is Table.ScaleSigma, pixel noise, and
// print and insert play, which a card of known measures has none of. It reports false
// where the camera does not see a spot.
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

// between is the covariance of two spots, x and y of the first by x and y of the second.
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

// crossed returns x C yᵀ for a covariance C, n×n row by row; 0 when it is unknown.
func crossed(x, y, c []float64) (sum float64) {
	n := len(x)
	if len(c) != n*n {
		return 0
	}
	for i := range n {
		for j := range n {
			sum += x[i] * c[i*n+j] * y[j]
		}
	}
	return sum
}
