// Package fiducial measures printed patterns of known shape: it refines and tracks the corners of
// markers, finds those of calibration boards, and detects mirrored pictures. Pixels are those of
// the camera's picture, distortion included.
package fiducial

import (
	"image"
	"math"

	"sightline/engine/geom"
	"sightline/vision/internal/gray"
)

// RefineMarker fits a marker's printed pattern to the picture and returns the corners of its black
// square. corners must be right to about a pixel and in a detector's order. It returns them
// unchanged and reports false if the pattern cannot be fitted: it is too small, covered, or not
// that of a tag with eight cells along its side.
//
// Every border between a black and a white cell is an edge of known place. Profiles are read across
// each edge; the mean place of the rise from black to white, weighted by its slope, is the place of
// the edge. One projective map of the square is fitted to all of them, together with the bloom: how
// far white seems to spread into black. A camera's tone curve and clipped whites make it 0.3-0.6
// px. A fit of the outer sides alone would mistake it for a smaller marker; the edges inside the
// pattern, which face both ways, separate the two.
func RefineMarker(g *image.Gray, corners [4]geom.Pixel) ([4]geom.Pixel, bool) {
	if g == nil || !convexMarker(corners) {
		return corners, false
	}
	for i := range corners {
		if corners[(i+1)%4].Sub(corners[i]).Norm() < minMarkerSide {
			return corners, false
		}
	}
	edges, ok := markerEdges(g, corners)
	if !ok {
		return corners, false
	}
	c := corners
	for range markerPasses {
		if c, ok = fitMarker(g, c, edges); !ok {
			return corners, false
		}
	}
	for i := range c {
		if !(c[i].Sub(corners[i]).Norm() < maxMarkerMove) {
			return corners, false
		}
	}
	return c, convexMarker(c)
}

const (
	// markerCells is the number of cells along the side of a 36h11 tag's black square.
	markerCells = 8
	// markerPasses is the number of passes. The profiles must be symmetric about the edge, otherwise
	// their cut tails bias the result; from a pixel away, three passes leave less than 0.01 px.
	markerPasses = 3
	// maxMarkerMove in px: AprilTag's own corners are right to about a pixel, bloom included; a larger
	// move has found another edge.
	maxMarkerMove = 2.0
	// minMarkerSide in px: 2.2 px per cell, about what decoding needs.
	minMarkerSide = 18.0
	// markerProfileStep is the step across an edge in px.
	markerProfileStep = 0.25
	// minMarkerRise is the least rise from black to white in grey levels that
	// counts as an edge: five times the noise of a poor picture.
	minMarkerRise = 20
)

// markerEdge is a border between two cells: from black to white across the point
// at, in the square's own coordinates (0…1, origin at its top left corner).
type markerEdge struct {
	at    geom.Pixel
	black geom.Pixel // the black cell's centre
	white geom.Pixel // the white cell's centre
}

// markerRows is the number of rows and columns of cells of a marker including its black ring and a
// ring of the white border.
const markerRows = markerCells + 2

// markerLevels are the grey levels at the centres of a marker's cells, by row and column.
type markerLevels struct {
	v         [markerRows][markerRows]float64
	threshold float64 // between black and white
}

// cellCenter returns the centre of a cell in units of the marker's side.
func cellCenter(col, row int) geom.Pixel {
	return geom.Pixel{X: (float64(col) - 0.5) / markerCells, Y: (float64(row) - 0.5) / markerCells}
}

// markerRing returns how many cells lie between a cell and the outside: 0 for the white border, 1
// for the black ring.
func markerRing(col, row int) int {
	return min(col, row, markerRows-1-col, markerRows-1-row)
}

// readLevels reads the cells of the marker that h maps to the picture. It reports false if a cell
// lies outside the picture, or if all are about equally light.
func readLevels(g *image.Gray, h homography) (m markerLevels, ok bool) {
	lo, hi := 255.0, 0.0
	for row := range markerRows {
		for col := range markerRows {
			level, in := levelAt(g, h.At(cellCenter(col, row)))
			if !in {
				return m, false
			}
			m.v[row][col] = level
			lo, hi = min(lo, level), max(hi, level)
		}
	}
	if hi-lo < minMarkerRise {
		return m, false
	}
	// The border and the ring show what is white and black.
	outer, ring := 0.0, 0.0
	nOuter, nRing := 0, 0
	for row := range markerRows {
		for col := range markerRows {
			switch markerRing(col, row) {
			case 0:
				outer += m.v[row][col]
				nOuter++
			case 1:
				ring += m.v[row][col]
				nRing++
			}
		}
	}
	m.threshold = (outer/float64(nOuter) + ring/float64(nRing)) / 2
	return m, true
}

// white reports whether a cell is white.
func (m *markerLevels) white(col, row int) bool {
	switch markerRing(col, row) {
	case 0:
		return true
	case 1:
		return false
	}
	return m.v[row][col] > m.threshold
}

// markerEdges lists the borders between the black and white cells that the picture shows. It
// reports false if the cells cannot be read.
func markerEdges(g *image.Gray, c [4]geom.Pixel) ([]markerEdge, bool) {
	h, ok := squareTo(c)
	if !ok {
		return nil, false
	}
	m, ok := readLevels(g, h)
	if !ok {
		return nil, false
	}
	var out []markerEdge
	add := func(ac, ar, bc, br int) {
		if m.white(ac, ar) == m.white(bc, br) {
			return
		}
		if m.white(ac, ar) {
			ac, ar, bc, br = bc, br, ac, ar
		}
		a, b := cellCenter(ac, ar), cellCenter(bc, br)
		mid := a.Add(b).Mul(0.5)
		along := geom.Pixel{X: b.Y - a.Y, Y: b.X - a.X}
		for _, s := range [...]float64{-0.3, -0.15, 0, 0.15, 0.3} {
			out = append(out, markerEdge{at: mid.Add(along.Mul(s)), black: a, white: b})
		}
	}
	for row := 1; row < markerRows-1; row++ {
		for col := 0; col < markerRows-1; col++ {
			add(col, row, col+1, row)
			add(row, col, row, col+1)
		}
	}
	return out, true
}

// fitMarker makes one Gauss-Newton step: it fits the square's corners and the bloom to all edges
// near their present places.
func fitMarker(g *image.Gray, c [4]geom.Pixel, edges []markerEdge) ([4]geom.Pixel, bool) {
	h, ok := squareTo(c)
	if !ok {
		return c, false
	}
	var jac [8]homography // the map after a small move of each corner coordinate
	const step = 0.05
	for k := range jac {
		moved := c
		if k%2 == 0 {
			moved[k/2].X += step
		} else {
			moved[k/2].Y += step
		}
		if jac[k], ok = squareTo(moved); !ok {
			return c, false
		}
	}
	rows := make([][9]float64, 0, len(edges))
	seen := make([]float64, 0, len(edges))
	for _, e := range edges {
		p, a, b := h.At(e.at), h.At(e.black), h.At(e.white)
		// The normal of the edge in the picture, from black to white.
		t := h.At(e.at.Add(geom.Pixel{X: 0.01 * (e.white.Y - e.black.Y), Y: 0.01 * (e.white.X - e.black.X)})).Sub(p)
		n := geom.Pixel{X: t.Y, Y: -t.X}
		n = n.Mul(1 / n.Norm())
		across := b.Sub(a)
		depth := n.X*across.X + n.Y*across.Y
		if depth < 0 {
			n, depth = n.Mul(-1), -depth
		}
		d, ok := riseAt(g, p, n, min(max(0.55*depth, 1.25), 3))
		if !ok {
			continue
		}
		var row [9]float64
		for k := range jac {
			m := jac[k].At(e.at).Sub(p)
			row[k] = (n.X*m.X + n.Y*m.Y) / step
		}
		row[8] = 1 // bloom
		rows, seen = append(rows, row), append(seen, d)
	}
	if len(rows) < len(edges)*6/10 || len(rows) < 60 {
		return c, false
	}
	x, ok := robustSolve(rows, seen)
	if !ok {
		return c, false
	}
	for i := range c {
		c[i] = c[i].Add(geom.Pixel{X: x[2*i], Y: x[2*i+1]})
	}
	return c, true
}

// robustSolve solves rows·x = seen by least squares with Tukey's weights, so that covered and
// glaring parts do not count.
func robustSolve(rows [][9]float64, seen []float64) (x [9]float64, ok bool) {
	residual := func(i int) float64 {
		r := seen[i]
		for k, v := range rows[i] {
			r -= v * x[k]
		}
		return r
	}
	scale := math.Inf(1)
	for range 5 {
		var a [9][10]float64
		for i, row := range rows {
			u := residual(i) / scale
			if math.Abs(u) >= 1 {
				continue
			}
			w := (1 - u*u) * (1 - u*u)
			for j := range 9 {
				for k := j; k < 9; k++ {
					a[j][k] += w * row[j] * row[k]
				}
				a[j][9] += w * row[j] * seen[i]
			}
		}
		for j := range 9 {
			for k := range j {
				a[j][k] = a[k][j]
			}
		}
		if x, ok = solve9(a); !ok {
			return x, false
		}
		// Tukey's constant, 4.7 standard deviations, from the mean absolute residual, but large enough
		// that rounding does not matter.
		mean := 0.0
		for i := range rows {
			mean += math.Abs(residual(i))
		}
		scale = max(4.7*1.25*mean/float64(len(rows)), 0.2)
	}
	return x, true
}

// solve9 solves nine linear equations by elimination with pivoting.
func solve9(a [9][10]float64) (x [9]float64, ok bool) {
	for i := range 9 {
		p := i
		for r := i + 1; r < 9; r++ {
			if math.Abs(a[r][i]) > math.Abs(a[p][i]) {
				p = r
			}
		}
		a[i], a[p] = a[p], a[i]
		if !(math.Abs(a[i][i]) > 1e-9) {
			return x, false
		}
		for r := i + 1; r < 9; r++ {
			f := a[r][i] / a[i][i]
			for k := i; k < 10; k++ {
				a[r][k] -= f * a[i][k]
			}
		}
	}
	for i := 8; i >= 0; i-- {
		x[i] = a[i][9]
		for k := i + 1; k < 9; k++ {
			x[i] -= a[i][k] * x[k]
		}
		x[i] /= a[i][i]
	}
	return x, true
}

// riseAt returns where a profile through p rises from black to white, as a distance from p in the
// direction n (px). It reports false outside the picture and without a rise.
func riseAt(g *image.Gray, p, n geom.Pixel, reach float64) (d float64, ok bool) {
	steps := int(math.Ceil(reach / markerProfileStep))
	var sum, moment, previous float64
	for i := -steps; i <= steps; i++ {
		t := float64(i) * markerProfileStep
		v, in := levelAt(g, p.Add(n.Mul(t)))
		if !in {
			return 0, false
		}
		if slope := v - previous; i > -steps && slope > 0 {
			sum += slope
			moment += slope * (t - markerProfileStep/2)
		}
		previous = v
	}
	if sum < minMarkerRise {
		return 0, false
	}
	return moment / sum, true
}

// homography maps the unit square to a quadrilateral in the picture.
type homography [8]float64

// squareTo returns the map that takes (0,0), (1,0), (1,1), (0,1) to the corners
// (Heckbert, "Fundamentals of Texture Mapping and Image Warping", 1989, 2.2.3).
func squareTo(c [4]geom.Pixel) (homography, bool) {
	d1, d2 := c[1].Sub(c[2]), c[3].Sub(c[2])
	s := c[0].Sub(c[1]).Add(c[2]).Sub(c[3])
	det := d1.X*d2.Y - d2.X*d1.Y
	if !(math.Abs(det) > 1e-9) {
		return homography{}, false
	}
	gx := (s.X*d2.Y - d2.X*s.Y) / det
	gy := (d1.X*s.Y - s.X*d1.Y) / det
	return homography{
		c[1].X - c[0].X + gx*c[1].X, c[3].X - c[0].X + gy*c[3].X, c[0].X,
		c[1].Y - c[0].Y + gx*c[1].Y, c[3].Y - c[0].Y + gy*c[3].Y, c[0].Y,
		gx, gy,
	}, true
}

// At maps a point of the unit square.
func (h *homography) At(p geom.Pixel) geom.Pixel {
	w := h[6]*p.X + h[7]*p.Y + 1
	return geom.Pixel{X: (h[0]*p.X + h[1]*p.Y + h[2]) / w, Y: (h[3]*p.X + h[4]*p.Y + h[5]) / w}
}

// convexMarker reports whether the corners run clockwise in the picture around a convex
// quadrilateral, as a detector's do.
func convexMarker(c [4]geom.Pixel) bool {
	for i := range c {
		a, b := c[(i+1)%4].Sub(c[i]), c[(i+2)%4].Sub(c[(i+1)%4])
		if !(a.X*b.Y-a.Y*b.X > 0) {
			return false
		}
	}
	return true
}

// levelAt returns the picture's grey level between pixels, bilinear, and false outside.
func levelAt(g *image.Gray, p geom.Pixel) (float64, bool) {
	return gray.Bilinear(g, p.X-float64(g.Rect.Min.X), p.Y-float64(g.Rect.Min.Y))
}
