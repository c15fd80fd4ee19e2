package tablesim

import (
	"fmt"
	"math"

	"sightline/calibration"
)

// lens is the simulator's own camera model. Forward, it is the plumb_bob formula.
// Backward, it inverts that formula by fixed-point iteration at the nodes of a
// coarse grid, carries each node's ray down to the table, and interpolates the
// table points in between by cubics; newLens checks the result by projecting it
// forward again.
type lens struct {
	w, h           int
	fx, fy, cx, cy float64
	k1, k2, k3     float64
	p1, p2         float64
	r              [3][3]float64
	t              [3]float64
	c              [3]float64 // the camera's centre in the table frame

	nx, ny int          // nodes
	node   [][2]float64 // table points at z = 0, row by row
}

// The grid: a node every gridStep pixels, starting gridPad steps outside the
// picture's corner (-0.5, -0.5), so that four nodes surround every place that is
// asked for.
const (
	gridStep = 8
	gridPad  = 2
)

// maxGridError is what the inverse may be off by, in pixels, after forward projection.
const maxGridError = 1e-3

func newLens(c calibration.Camera) (*lens, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("tablesim: lens: %w", err)
	}
	d := c.Distortion
	l := &lens{
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
	return l, l.buildGrid()
}

// distort is the plumb_bob model on normalised coordinates.
func (l *lens) distort(x, y float64) (float64, float64) {
	rr := x*x + y*y
	g := ((l.k3*rr+l.k2)*rr+l.k1)*rr + 1
	return g*x + l.p1*(2*x*y) + l.p2*(3*x*x+y*y), g*y + l.p1*(x*x+3*y*y) + l.p2*(2*x*y)
}

// project returns the pixel of a table point, and false behind the camera.
func (l *lens) project(x, y, z float64) (u, v float64, ok bool) {
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
func (l *lens) ground(u, v float64) ([2]float64, error) {
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

func (l *lens) buildGrid() error {
	l.nx, l.ny = l.w/gridStep+2*gridPad+2, l.h/gridStep+2*gridPad+2
	l.node = make([][2]float64, l.nx*l.ny)
	for j := range l.ny {
		for i := range l.nx {
			p, err := l.ground(float64(gridStep*(i-gridPad))-0.5, float64(gridStep*(j-gridPad))-0.5)
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
func (l *lens) checkGrid() error {
	var p [][2]float64
	for j := gridStep / 2; j < l.h; j += 4 * gridStep {
		p = l.lattice(p, 0, j, l.w+1, 1)
		for i := gridStep / 2; i <= l.w; i += 4 * gridStep {
			u, v, ok := l.project(p[i][0], p[i][1], 0)
			if e := math.Hypot(u-(float64(i)-0.5), v-(float64(j)-0.5)); !ok || !(e < maxGridError) {
				return fmt.Errorf("tablesim: lens: inverse is off by %.2g px at pixel (%d, %d)", e, i, j)
			}
		}
	}
	return nil
}

// cubic holds the weights of the four-point Lagrange interpolation for each place
// of the pixel lattice within a grid cell.
var cubic = func() (w [gridStep][4]float64) {
	for i := range gridStep {
		s := float64(i) / gridStep
		w[i] = [4]float64{
			-s * (s - 1) * (s - 2) / 6, (s + 1) * (s - 1) * (s - 2) / 2,
			-(s + 1) * s * (s - 2) / 2, (s + 1) * s * (s - 1) / 6,
		}
	}
	return w
}()

// lattice returns the table points (z = 0) under the pixels' corners: row by row,
// n columns and m rows from column i0 and row j0, corner (i, j) being the pixel
// place (i-0.5, j-0.5). Up to 8 px outside the picture are allowed. It reuses buf.
func (l *lens) lattice(buf [][2]float64, i0, j0, n, m int) [][2]float64 {
	if cap(buf) < n*m {
		buf = make([][2]float64, n*m)
	}
	buf = buf[:n*m]
	first := (i0+gridPad*gridStep)/gridStep - 1
	last := (i0+n-1+gridPad*gridStep)/gridStep + 2
	var short [8][2]float64
	row := short[:]
	if last-first+1 > len(short) {
		row = make([][2]float64, last-first+1)
	}
	for j := range m {
		jj := j0 + j + gridPad*gridStep
		w, k := cubic[jj%gridStep], (jj/gridStep-1)*l.nx
		for i := first; i <= last; i++ {
			a, b, c, d := l.node[k+i], l.node[k+l.nx+i], l.node[k+2*l.nx+i], l.node[k+3*l.nx+i]
			row[i-first] = [2]float64{
				w[0]*a[0] + w[1]*b[0] + w[2]*c[0] + w[3]*d[0],
				w[0]*a[1] + w[1]*b[1] + w[2]*c[1] + w[3]*d[1],
			}
		}
		for i := range n {
			ii := i0 + i + gridPad*gridStep
			w, q := &cubic[ii%gridStep], row[ii/gridStep-1-first:]
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
func (l *lens) rayTo(gx, gy float64) ray {
	return ray{gx, gy, (l.c[0] - gx) / l.c[2], (l.c[1] - gy) / l.c[2]}
}

// rayThrough returns the line of sight through a table point at height z.
func (l *lens) rayThrough(x, y, z float64) ray {
	k := z / l.c[2]
	return l.rayTo((x-k*l.c[0])/(1-k), (y-k*l.c[1])/(1-k))
}

// at returns where the ray is at height z.
func (r ray) at(z float64) (x, y float64) { return r.gx + z*r.sx, r.gy + z*r.sy }
