package ship

import (
	"math"

	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// sideParams is the number of parameters that affect the pixels of one side: its place along and
// across itself, the heading, σ, and its o, w and k.
const sideParams = 7

// sideSums are the normal equations of one side's pixels: the lower triangle.
type sideSums struct {
	normal   [sideParams][sideParams]float64
	gradient [sideParams]float64
}

// addTo adds the derivatives by the parameters of the side, times a factor, to sums.
func (p *printed) addTo(sums *[sideParams]float64, by float64) {
	sums[0], sums[1], sums[2], sums[3] = sums[0]+p.da*by, sums[1]+p.dd*by, sums[2]+p.turn*by, sums[3]+p.ds*by
	sums[4], sums[5], sums[6] = sums[4]+(1-p.inside)*by, sums[5]+(p.inside-p.dark)*by, sums[6]+p.dark*by
}

// add adds a pixel, with its weight times the square of the factor of its light, and with that
// times its residual.
func (s *sideSums) add(p *printed, weight, e float64) {
	a, d, turn, blur, o, w, k := p.da, p.dd, p.turn, p.ds, 1-p.inside, p.inside-p.dark, p.dark
	p.addTo(&s.gradient, e)
	n := &s.normal // unrolled: a loop takes twice as long
	n[0][0] += weight * a * a
	x := weight * d
	n[1][0], n[1][1] = n[1][0]+x*a, n[1][1]+x*d
	x = weight * turn
	n[2][0], n[2][1], n[2][2] = n[2][0]+x*a, n[2][1]+x*d, n[2][2]+x*turn
	x = weight * blur
	n[3][0], n[3][1], n[3][2], n[3][3] = n[3][0]+x*a, n[3][1]+x*d, n[3][2]+x*turn, n[3][3]+x*blur
	x = weight * o
	n[4][0], n[4][1], n[4][2], n[4][3], n[4][4] = n[4][0]+x*a, n[4][1]+x*d, n[4][2]+x*turn, n[4][3]+x*blur, n[4][4]+x*o
	x = weight * w
	n[5][0], n[5][1], n[5][2], n[5][3], n[5][4] = n[5][0]+x*a, n[5][1]+x*d, n[5][2]+x*turn, n[5][3]+x*blur, n[5][4]+x*o
	n[5][5] += x * w
	x = weight * k
	n[6][0], n[6][1], n[6][2], n[6][3], n[6][4] = n[6][0]+x*a, n[6][1]+x*d, n[6][2]+x*turn, n[6][3]+x*blur, n[6][4]+x*o
	n[6][5], n[6][6] = n[6][5]+x*w, n[6][6]+x*k
}

// sideTurn is the derivative of the place at a side by x and y of a pose.
type sideTurn struct{ ax, ay, dx, dy float64 }

// newSideTurn returns the derivative for the front.
func newSideTurn(p geom.Pose) sideTurn {
	s, c := math.Sincos(float64(p.Heading))
	return sideTurn{ax: -c, ay: s, dx: s, dy: c}
}

// next returns the derivative for the next side, clockwise.
func (t sideTurn) next() sideTurn { return sideTurn{ax: t.dx, ay: t.dy, dx: -t.ax, dy: -t.ay} }

// of converts derivatives by a and d into those by x and y.
func (t sideTurn) of(v *[sideParams]float64) { v[0], v[1] = t.ax*v[0]+t.dx*v[1], t.ay*v[0]+t.dy*v[1] }

// normalEquations are those of all parameters of a fit: x, y, heading, σ, then o, w, k of the four
// sides.
type normalEquations struct {
	normal   [fitParams * fitParams]float64
	gradient [fitParams]float64
	factor   [fitParams * fitParams]float64
}

func (n *normalEquations) clear() {
	n.normal, n.gradient = [fitParams * fitParams]float64{}, [fitParams]float64{}
}

// add adds a side's sums to the lower triangle. It consumes them.
func (n *normalEquations) add(side int, s *sideSums, turn sideTurn) {
	m := &s.normal
	m[0][1] = m[1][0]
	for i := range m {
		turn.of(&m[i])
	}
	m[0][0], m[1][0], m[1][1] = turn.ax*m[0][0]+turn.dx*m[1][0], turn.ay*m[0][0]+turn.dy*m[1][0], turn.ay*m[0][1]+turn.dy*m[1][1]
	turn.of(&s.gradient)
	at := sideAt(side)
	for i, to := range at {
		n.gradient[to] += s.gradient[i]
		for j := range i + 1 {
			n.normal[to*fitParams+at[j]] += m[i][j]
		}
	}
}

// factorise returns the normal matrix's Cholesky factor.
func (n *normalEquations) factorise() (linalg.Factor, bool) {
	n.factor = n.normal
	return linalg.Cholesky(n.factor[:], fitParams)
}

// sideAt returns the indices of a side's parameters.
func sideAt(side int) [sideParams]int {
	return [...]int{0, 1, 2, 3, 4 + 3*side, 5 + 3*side, 6 + 3*side}
}
