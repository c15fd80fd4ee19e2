package tablesim

import (
	"fmt"
	"math"

	"sightline/calibration"
)

// cameraModel is the simulator's own camera model. Forward, it is the plumb_bob formula.
// Backward, it inverts that formula by fixed-point iteration at the nodes of a
// coarse grid, carries each node's ray down to the table, and interpolates the
// table points in between by cubics; newLens checks the result by projecting it
// forward again.
type cameraModel struct {
	w, h           int
	fx, fy, cx, cy float64
	k1, k2, k3     float64
	p1, p2         float64
	r              [3][3]float64
	t              [3]float64
	c              [3]float64 // the camera's centre in the table frame

	step   int          // pixels between nodes
	cubic  [][4]float64 // weights of the four nodes round each place within a step
	nx, ny int          // nodes
	node   [][2]float64 // table points at z = 0, row by row
}

// The grid: a node every few pixels, starting gridPad steps outside the picture's
// corner (-0.5, -0.5), so that four nodes surround every place that is asked for.
// The pixels of a small picture are wide angles, so its nodes stand closer.
const (
	gridPad    = 2
	wideStep   = 8
	closeStep  = 2
	smallSides = 200 // px
)

// maxGridError is the largest error of the inverse, in pixels, after projecting forward.
const maxGridError = 1e-3

// newLens returns the model of a camera over the mat.
func newLens(c calibration.Camera) (*cameraModel, error) {
	l, err := forwardLens(c)
	if err != nil {
		return nil, err
	}
	return l, l.buildGrid()
}

// forwardLens returns a model that projects only.
func forwardLens(c calibration.Camera) (*cameraModel, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("tablesim: lens: %w", err)
	}
	d := c.Distortion
	l := &cameraModel{
		w: c.Width, h: c.Height, fx: c.Fx, fy: c.Fy, cx: c.Cx, cy: c.Cy,
		k1: d[0], k2: d[1], p1: d[2], p2: d[3], k3: d[4], r: c.R, t: c.T,
	}
	for i := range 3 {
		for j := range 3 {
			l.c[i] -= c.R[j][i] * c.T[j]
		}
	}
	if !(l.c[2] > 0) {
		return nil, fmt.Errorf("tablesim: camera: its centre must be above the mat, got z = %.1f mm", l.c[2])
	}
	return l, nil
}

// distort is the plumb_bob model on normalised coordinates.
func (l *cameraModel) distort(x, y float64) (float64, float64) {
	rr := x*x + y*y
	g := ((l.k3*rr+l.k2)*rr+l.k1)*rr + 1
	return g*x + l.p1*(2*x*y) + l.p2*(3*x*x+y*y), g*y + l.p1*(x*x+3*y*y) + l.p2*(2*x*y)
}

// project returns the pixel of a table point, and false behind the camera.
func (l *cameraModel) project(x, y, z float64) (u, v float64, ok bool) {
	q := [3]float64{}
	for i := range 3 {
		q[i] = l.r[i][0]*x + l.r[i][1]*y + l.r[i][2]*z + l.t[i]
	}
	if q[2] < 1 {
		return 0, 0, false
	}
	xd, yd := l.distort(q[0]/q[2], q[1]/q[2])
	return l.fx*xd + l.cx, l.fy*yd + l.cy, true
}

// ground finds the table point (z = 0) that appears at a pixel, by fixed-point
// iteration: x ← (x_d - tangential part) / radial part.
func (l *cameraModel) ground(u, v float64) ([2]float64, error) {
	xd, yd := (u-l.cx)/l.fx, (v-l.cy)/l.fy
	x, y := xd, yd
	for n := 0; ; n++ {
		rr := x*x + y*y
		g := ((l.k3*rr+l.k2)*rr+l.k1)*rr + 1
		nx := (xd - l.p1*(2*x*y) - l.p2*(3*x*x+y*y)) / g
		ny := (yd - l.p1*(x*x+3*y*y) - l.p2*(2*x*y)) / g
		step := math.Abs(nx-x) + math.Abs(ny-y)
		x, y = nx, ny
		if step < 1e-14 {
			break
		}
		if n > 300 || !(step < 10) {
			return [2]float64{}, fmt.Errorf("tablesim: lens: the distortion cannot be inverted at pixel (%.0f, %.0f)", u, v)
		}
	}
	var d [3]float64 // the ray's direction in the table frame
	for i := range 3 {
		d[i] = l.r[0][i]*x + l.r[1][i]*y + l.r[2][i]
	}
	if d[2] > -1e-3 {
		return [2]float64{}, fmt.Errorf("tablesim: camera: pixel (%.0f, %.0f) looks past the table's horizon", u, v)
	}
	s := -l.c[2] / d[2]
	return [2]float64{l.c[0] + s*d[0], l.c[1] + s*d[1]}, nil
}

func (l *cameraModel) buildGrid() error {
	l.step = wideStep
	if min(l.w, l.h) < smallSides {
		l.step = closeStep
	}
	l.cubic = lagrange(l.step)
	l.nx, l.ny = l.w/l.step+2*gridPad+2, l.h/l.step+2*gridPad+2
	at := func(i, j int) ([2]float64, error) {
		return l.ground(float64(l.step*(i-gridPad))-0.5, float64(l.step*(j-gridPad))-0.5)
	}
	for _, j := range [2]int{0, l.ny - 1} { // the corners first: they reject a camera that looks past the table
		for _, i := range [2]int{0, l.nx - 1} {
			if _, err := at(i, j); err != nil {
				return err
			}
		}
	}
	l.node = make([][2]float64, l.nx*l.ny)
	for j := range l.ny {
		for i := range l.nx {
			p, err := at(i, j)
			if err != nil {
				return err
			}
			l.node[j*l.nx+i] = p
		}
	}
	return l.checkGrid()
}

// checkGrid projects interpolated points forward again, in the middle of grid
// cells, where the interpolation is worst.
func (l *cameraModel) checkGrid() error {
	var p [][2]float64
	for j := l.step / 2; j < l.h; j += 4 * l.step {
		p = l.lattice(p, 0, j, l.w+1, 1)
		for i := l.step / 2; i <= l.w; i += 4 * l.step {
			u, v, ok := l.project(p[i][0], p[i][1], 0)
			if e := math.Hypot(u-(float64(i)-0.5), v-(float64(j)-0.5)); !ok || !(e < maxGridError) {
				return fmt.Errorf("tablesim: lens: inverse is off by %.2g px at pixel (%d, %d)", e, i, j)
			}
		}
	}
	return nil
}

// lagrange returns the weights of the four-point interpolation at n places from
// the second point (0) towards the third (1).
func lagrange(n int) [][4]float64 {
	w := make([][4]float64, n)
	for i := range w {
		s := float64(i) / float64(n)
		w[i] = [4]float64{
			-s * (s - 1) * (s - 2) / 6, (s + 1) * (s - 1) * (s - 2) / 2,
			-(s + 1) * s * (s - 2) / 2, (s + 1) * s * (s - 1) / 6,
		}
	}
	return w
}

// lattice returns the table points (z = 0) under the pixels' corners: row by row,
// n columns and m rows from column i0 and row j0, corner (i, j) being the pixel
// place (i-0.5, j-0.5). Up to 2 px outside the picture are allowed. It reuses buf.
func (l *cameraModel) lattice(buf [][2]float64, i0, j0, n, m int) [][2]float64 {
	if cap(buf) < n*m {
		buf = make([][2]float64, n*m)
	}
	buf = buf[:n*m]
	first := (i0+gridPad*l.step)/l.step - 1
	last := (i0+n-1+gridPad*l.step)/l.step + 2
	var short [16][2]float64
	row := short[:]
	if last-first+1 > len(short) {
		row = make([][2]float64, last-first+1)
	}
	for j := range m {
		jj := j0 + j + gridPad*l.step
		w, k := l.cubic[jj%l.step], (jj/l.step-1)*l.nx
		for i := first; i <= last; i++ {
			a, b, c, d := l.node[k+i], l.node[k+l.nx+i], l.node[k+2*l.nx+i], l.node[k+3*l.nx+i]
			row[i-first] = [2]float64{
				w[0]*a[0] + w[1]*b[0] + w[2]*c[0] + w[3]*d[0],
				w[0]*a[1] + w[1]*b[1] + w[2]*c[1] + w[3]*d[1],
			}
		}
		for i := range n {
			ii := i0 + i + gridPad*l.step
			w, q := &l.cubic[ii%l.step], row[ii/l.step-1-first:]
			buf[j*n+i] = [2]float64{
				w[0]*q[0][0] + w[1]*q[1][0] + w[2]*q[2][0] + w[3]*q[3][0],
				w[0]*q[0][1] + w[1]*q[1][1] + w[2]*q[2][1] + w[3]*q[3][1],
			}
		}
	}
	return buf
}

// ray is the line of sight that meets the table's plane z = 0 at (gx, gy); at
// height z it is at (gx + z sx, gy + z sy).
type ray struct{ gx, gy, sx, sy float64 }

// rayTo returns the line of sight through a table point at z = 0.
func (l *cameraModel) rayTo(gx, gy float64) ray {
	return ray{gx, gy, (l.c[0] - gx) / l.c[2], (l.c[1] - gy) / l.c[2]}
}

// rayThrough returns the line of sight through a table point at height z.
func (l *cameraModel) rayThrough(x, y, z float64) ray {
	k := z / l.c[2]
	return l.rayTo((x-k*l.c[0])/(1-k), (y-k*l.c[1])/(1-k))
}

// at returns where the ray is at height z.
func (r ray) at(z float64) (x, y float64) { return r.gx + z*r.sx, r.gy + z*r.sy }
