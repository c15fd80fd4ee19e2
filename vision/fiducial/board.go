package fiducial

import (
	"fmt"
	"image"
	"math"
	"slices"
	"sort"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
)

// Requirements for a view of a board.
const (
	// minBoardCorners is the least number of corners of a useful view: three of them fix the six
	// unknowns of the board's pose.
	minBoardCorners = 8
	// maxCornerMove is how far, as a share of the white margin between a marker and the squares'
	// corner, refining may move a corner. A refinement that moves it further has found another edge.
	maxCornerMove = 0.5
	// minCornerWindow and maxCornerWindow limit half the side of the window in which a corner is
	// refined, px: below 2 it contains too few edge pixels, above 20 the lens bends the edges.
	minCornerWindow = 2.0
	maxCornerWindow = 20.0
	// minCornerRise is the least difference between the white and the black squares
	// at a corner, grey levels.
	minCornerRise = 20.0
	// minSlope, in grey levels over two pixels, is a slope that noise may have.
	minSlope = 10.0
)

// CharucoCorners finds the inner corners of a ChArUco board from its markers. Each corner is
// predicted by the homography of the nearest markers, then refined in the picture to a fraction of
// a pixel. Corners that are covered, or whose refinement jumps, are left out; the indices say which
// of the board's Points the pixels are. If it finds none it returns the reason in words.
//
// Markers may be numbered from either of two opposite corners (OpenCV's own boards with this family
// have them upside down); their places show which.
func CharucoCorners(g *image.Gray, b calibration.Board, found []vision.Detection) (px []geom.Pixel, indices []int, reason string) {
	seen, reason := boardMarkers(b, found)
	if reason != "" {
		return nil, nil, reason
	}
	places := make([]cornerPlace, b.Cols*b.Rows)
	any := false
	for i, p := range b.Points() {
		places[i] = predictCorner(b, seen, p)
		if !places[i].ok {
			continue
		}
		places[i].px, places[i].ok = refineCorner(g, places[i])
		any = any || places[i].ok
	}
	dropBentCorners(b, places)
	for i := range places {
		if places[i].ok {
			px, indices = append(px, places[i].px), append(indices, i)
		}
	}
	if len(px) < minBoardCorners {
		if !any {
			return nil, nil, "the board's markers are seen, but no corner between its squares: is it blurred or too small in the picture?"
		}
		return nil, nil, fmt.Sprintf("%d of the board's %d corners are seen, at least %d are needed: show more of it", len(px), len(places),
			minBoardCorners)
	}
	return px, indices, ""
}

// seenMarker is a marker of the board with its place in the picture.
type seenMarker struct {
	calibration.BoardMarker
	px [4]geom.Pixel
}

func (m seenMarker) center() geom.Point {
	return m.Corners[0].Lerp(m.Corners[2], 0.5)
}

// boardMarkers returns the detected markers that belong to the board, with their corners in the
// board's order, or says why they cannot be this board's.
func boardMarkers(b calibration.Board, found []vision.Detection) ([]seenMarker, string) {
	own := map[int]calibration.BoardMarker{}
	for _, m := range b.Markers() {
		own[m.ID] = m
	}
	count := map[int]int{}
	for _, d := range found {
		count[d.ID]++
	}
	var seen []seenMarker
	var strangers []int
	for _, d := range found {
		m, ok := own[d.ID]
		switch {
		case !ok:
			strangers = append(strangers, d.ID)
		case count[d.ID] == 1:
			seen = append(seen, seenMarker{m, d.Corners})
		}
	}
	if len(seen) < 2 {
		first, last := calibration.BoardIDs, calibration.BoardIDs+b.MarkerCount()-1
		if len(strangers) >= 4 {
			slices.Sort(strangers)
			return nil, fmt.Sprintf("its markers have the ids %d to %d, those of this board have %d to %d: is it another board?",
				strangers[0], strangers[len(strangers)-1], first, last)
		}
		return nil, "the board is not in the picture"
	}
	if len(seen) < 4 {
		return nil, fmt.Sprintf("%d of the board's %d markers are seen, at least 4 are needed: show more of it", len(seen), b.MarkerCount())
	}
	if reason := turnMarkers(b, seen); reason != "" {
		return nil, reason
	}
	return seen, ""
}

// squareSeen returns the pixel of the centre of a board's square by a homography, and the vectors
// along the square's sides there, px.
func squareSeen(h calibration.Homography, center geom.Point, side float64) (at geom.Pixel, sides [2]geom.Pixel, ok bool) {
	at, ok = h.Map(center)
	for i, half := range [2]geom.Point{{X: side / 2}, {Y: side / 2}} {
		from, ok1 := h.Map(center.Sub(half))
		to, ok2 := h.Map(center.Add(half))
		sides[i], ok = to.Sub(from), ok && ok1 && ok2
	}
	return at, sides, ok
}

// turnMarkers puts the markers' corners into the board's order, and checks their places and size
// against the board.
func turnMarkers(b calibration.Board, seen []seenMarker) string {
	from, to := make([]geom.Point, len(seen)), make([]geom.Pixel, len(seen))
	for i, m := range seen {
		from[i] = m.center()
		to[i] = m.px[0].Add(m.px[1]).Add(m.px[2]).Add(m.px[3]).Mul(0.25)
	}
	h, ok := calibration.FitHomography(from, to)
	if !ok {
		return "only one row of the board's markers is seen: show more of it"
	}
	var off, ratio []float64
	for i := range seen {
		at, square, ok := squareSeen(h, from[i], float64(b.Square))
		if !ok {
			return "its markers do not stand as on this board: is it another board?"
		}
		var want, corners [4]geom.Pixel // relative to the centre
		for k, p := range seen[i].Corners {
			d := p.Sub(from[i]).Mul(1 / float64(b.Square))
			want[k] = square[0].Mul(d.X).Add(square[1].Mul(d.Y))
		}
		side := (square[0].Norm() + square[1].Norm()) / 2
		off = append(off, to[i].Sub(at).Norm()/side)
		// The area ratio does not depend on the order of the corners.
		ratio = append(ratio, math.Sqrt(quadArea(seen[i].px)/math.Abs(square[0].X*square[1].Y-square[0].Y*square[1].X)))
		c := seen[i].px
		for k := range c {
			corners[k] = c[k].Sub(to[i])
		}
		turn := calibration.QuarterTurns(want, corners)
		for k := range c {
			seen[i].px[k] = c[(k+turn)%4]
		}
	}
	sort.Float64s(off)
	sort.Float64s(ratio)
	// A homography fixed by four centres fits any board. But with another board's size, the ids lie
	// whole squares away, while the worst lens bends the board by a tenth.
	if off[len(off)/2] > 0.25 {
		return fmt.Sprintf("its markers do not stand as on a board of %d×%d inner corners: is it another board?", b.Cols, b.Rows)
	}
	want := float64(b.Marker / b.Square)
	if got := ratio[len(ratio)/2]; math.Abs(got/want-1) > 0.12 {
		return fmt.Sprintf("its markers are %.2f of a square wide, those of this board %.2f: is it another board?", got, want)
	}
	return ""
}

func quadArea(c [4]geom.Pixel) float64 {
	sum := 0.0
	for i := range c {
		j := (i + 1) % 4
		sum += c[i].X*c[j].Y - c[i].Y*c[j].X
	}
	return math.Abs(sum) / 2
}

// cornerPlace is where a corner of the board is or should be.
type cornerPlace struct {
	px     geom.Pixel
	u, v   geom.Pixel // one square to the right and one down, in px
	margin float64    // px from the corner to the nearest marker's black, along an axis
	ok     bool
}

// predictCorner predicts a corner by the homography of the nearest markers. At least one of the two
// whose squares meet there must be visible, to avoid extrapolation.
func predictCorner(b calibration.Board, seen []seenMarker, p geom.Point) (c cornerPlace) {
	square := float64(b.Square)
	near := slices.Clone(seen)
	slices.SortFunc(near, func(a, b seenMarker) int {
		da, db := a.center().Sub(p).Norm(), b.center().Sub(p).Norm()
		switch {
		case da < db:
			return -1
		case da > db:
			return 1
		}
		return a.ID - b.ID
	})
	if near[0].center().Sub(p).Norm() > 0.8*square { // the diagonal is 0.71
		return c
	}
	var from []geom.Point
	var to []geom.Pixel
	for i, m := range near {
		if i == 4 || m.center().Sub(p).Norm() > 2.3*square {
			break
		}
		from, to = append(from, m.Corners[:]...), append(to, m.px[:]...)
	}
	if len(from) < 8 {
		return c
	}
	h, ok := calibration.FitHomography(from, to)
	if !ok {
		return c
	}
	at, ok1 := h.Map(p)
	right, ok2 := h.Map(p.Add(geom.Point{X: square}))
	left, ok3 := h.Map(p.Sub(geom.Point{X: square}))
	down, ok4 := h.Map(p.Add(geom.Point{Y: square}))
	up, ok5 := h.Map(p.Sub(geom.Point{Y: square}))
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 {
		return c
	}
	c.px, c.u, c.v = at, right.Sub(left).Mul(0.5), down.Sub(up).Mul(0.5)
	c.margin = float64(b.Square-b.Marker) / 2 / square * min(c.u.Norm(), c.v.Norm())
	c.ok = true
	return c
}

// refineCorner moves a corner to its place in the picture: the point to which all edges nearby
// point, since gradients are perpendicular to the line from it (Förstner and Gülch 1987). It first
// checks that two black and two white squares meet there.
func refineCorner(g *image.Gray, c cornerPlace) (geom.Pixel, bool) {
	if !cornerPattern(g, c) {
		return c.px, false
	}
	half := min(max(0.85*c.margin, minCornerWindow), maxCornerWindow)
	q := c.px
	for range 20 {
		next, ok := cornerStep(g, q, half)
		if !ok || next.Sub(c.px).Norm() > max(maxCornerMove*c.margin, 1) {
			return c.px, false
		}
		move := next.Sub(q).Norm()
		if q = next; move < 5e-3 {
			c.px = q
			return q, cornerPattern(g, c)
		}
	}
	return c.px, false
}

// cornerStep solves once for the point to which the gradients in the window around q point.
func cornerStep(g *image.Gray, q geom.Pixel, half float64) (geom.Pixel, bool) {
	n := int(math.Ceil(half))
	patch, ok := smoothPatch(g, q, n+1)
	if !ok {
		return q, false
	}
	side := 2*n + 3
	var xx, xy, yy, bx, by float64
	for j := -n; j <= n; j++ {
		for i := -n; i <= n; i++ {
			d := geom.Pixel{X: float64(i), Y: float64(j)}
			r2 := (d.X*d.X + d.Y*d.Y) / (half * half)
			if r2 > 1 {
				continue
			}
			at := (j+n+1)*side + i + n + 1
			gx, gy := patch[at+1]-patch[at-1], patch[at+side]-patch[at-side]
			// The weight is the slope, apart from noise, not its square: then the mean place of a sampled
			// edge is exact, wherever the pixels lie. It falls to zero at the window's rim, so that no pixel
			// enters or leaves abruptly.
			w := (1 - r2) / (math.Hypot(gx, gy) + minSlope)
			xx, xy, yy = xx+w*gx*gx, xy+w*gx*gy, yy+w*gy*gy
			bx += w * (gx*gx*d.X + gx*gy*d.Y)
			by += w * (gx*gy*d.X + gy*gy*d.Y)
		}
	}
	det := xx*yy - xy*xy
	if !(det > 1e-3*(xx+yy)*(xx+yy)) { // one edge only
		return q, false
	}
	return q.Add(geom.Pixel{X: (yy*bx - xy*by) / det, Y: (xx*by - xy*bx) / det}), true
}

// smoothPatch returns the (2n+1)² grey levels around a place, row by row, smoothed by the binomial
// filter of five (sigma 1 px). A corner is symmetric about its centre, so smoothing does not move
// it, but reduces the slopes' noise to a quarter.
func smoothPatch(g *image.Gray, q geom.Pixel, n int) ([]float64, bool) {
	wide, side := 2*n+5, 2*n+1
	raw := make([]float64, wide*wide)
	for j := range wide {
		for i := range wide {
			var ok bool
			if raw[j*wide+i], ok = levelAt(g, q.Add(geom.Pixel{X: float64(i - n - 2), Y: float64(j - n - 2)})); !ok {
				return nil, false
			}
		}
	}
	binomial := [5]float64{1. / 16, 4. / 16, 6. / 16, 4. / 16, 1. / 16}
	rows := make([]float64, wide*side) // smoothed along x
	for j := range wide {
		for i := range side {
			for k, b := range binomial {
				rows[j*side+i] += b * raw[j*wide+i+k]
			}
		}
	}
	out := make([]float64, side*side)
	for j := range side {
		for i := range side {
			for k, b := range binomial {
				out[j*side+i] += b * rows[(j+k)*side+i]
			}
		}
	}
	return out, true
}

// cornerPattern reports whether two black and two white squares meet at a corner.
func cornerPattern(g *image.Gray, c cornerPlace) bool {
	step := max(0.6*c.margin, 1.5) / min(c.u.Norm(), c.v.Norm())
	var level [4]float64 // the four squares, clockwise from the top left
	for k, s := range [4][2]float64{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}} {
		var ok bool
		if level[k], ok = levelAt(g, c.px.Add(c.u.Mul(s[0]*step)).Add(c.v.Mul(s[1]*step))); !ok {
			return false
		}
	}
	// Which pair is white differs between neighbouring corners of a board, so both are accepted.
	a, b := min(level[0], level[2])-max(level[1], level[3]), min(level[1], level[3])-max(level[0], level[2])
	return max(a, b) >= minCornerRise
}

// dropBentCorners drops corners, worst first, that lie away from where the corners around them put
// them.
func dropBentCorners(b calibration.Board, c []cornerPlace) {
	object := b.Points()
	for range c {
		var residuals []float64
		worst, worstOff := -1, 0.0
		for i := range c {
			off, ok := bend(b, object, c, i)
			if !ok {
				continue
			}
			residuals = append(residuals, off)
			if off > worstOff {
				worst, worstOff = i, off
			}
		}
		if worst < 0 {
			return
		}
		sort.Float64s(residuals)
		if worstOff <= max(0.5, 5*residuals[len(residuals)/2]) {
			return
		}
		c[worst].ok = false
	}
}

// bend returns how far a corner lies from where the corners within two squares put it, px. It
// reports false if they are too few.
func bend(b calibration.Board, object []geom.Point, c []cornerPlace, i int) (float64, bool) {
	if !c[i].ok {
		return 0, false
	}
	col, row := i%b.Cols, i/b.Cols
	var from []geom.Point
	var to []geom.Pixel
	for r := max(row-2, 0); r <= min(row+2, b.Rows-1); r++ {
		for k := max(col-2, 0); k <= min(col+2, b.Cols-1); k++ {
			if j := r*b.Cols + k; j != i && c[j].ok {
				from, to = append(from, object[j]), append(to, c[j].px)
			}
		}
	}
	if len(from) < 6 {
		return 0, false
	}
	h, ok := calibration.FitHomography(from, to)
	if !ok {
		return 0, false
	}
	at, ok := h.Map(object[i])
	return at.Sub(c[i].px).Norm(), ok
}

// RefineChessboard moves the corners of a chessboard, which must be right to a pixel or two, to
// their places in the picture. On OpenCV's own photographs this reduces the reprojection error of a
// lens from 0.234 to 0.182 px. It reports false, with some corners moved, if a corner cannot be
// refined.
func RefineChessboard(g *image.Gray, px []geom.Pixel, cols, rows int) bool {
	if g == nil || len(px) != cols*rows || cols < 2 || rows < 2 {
		return false
	}
	was := slices.Clone(px)
	step := func(i, along, last, stride int) geom.Pixel { // the vector of one square, from the neighbours
		switch along {
		case 0:
			return was[i+stride].Sub(was[i])
		case last:
			return was[i].Sub(was[i-stride])
		}
		return was[i+stride].Sub(was[i-stride]).Mul(0.5)
	}
	for i := range px {
		c := cornerPlace{px: was[i], u: step(i, i%cols, cols-1, 1), v: step(i, i/cols, rows-1, cols)}
		// Less than half a square: the next edge lies beyond the window's rim.
		c.margin = 0.4 * math.Abs(c.u.X*c.v.Y-c.u.Y*c.v.X) / max(c.u.Norm(), c.v.Norm())
		var ok bool
		if px[i], ok = refineCorner(g, c); !ok {

			return false
		}
	}
	return true
}

// ChessboardContinues reports whether the pattern continues beyond the corners that were found, so
// that they are part of a larger board: one square beyond one of the four sides there is another
// whole row of corners. At the true edge of a board there is none, because its outermost squares
// end in paper there.
func ChessboardContinues(g *image.Gray, px []geom.Pixel, cols, rows int) bool {
	if g == nil || len(px) != cols*rows || cols < 3 || rows < 3 {
		return false
	}
	at := func(c, r int) geom.Pixel { return px[r*cols+c] }
	sides := [4]struct {
		n  int
		at func(along, from int) geom.Pixel // from the edge inwards
	}{
		{rows, func(k, d int) geom.Pixel { return at(d, k) }},
		{rows, func(k, d int) geom.Pixel { return at(cols-1-d, k) }},
		{cols, func(k, d int) geom.Pixel { return at(k, d) }},
		{cols, func(k, d int) geom.Pixel { return at(k, rows-1-d) }},
	}
	for _, s := range sides {
		// The strip of the new row and the two next to it is refined like a board.
		strip := make([]geom.Pixel, 0, 3*s.n)
		for k := range s.n {
			a, b, c := s.at(k, 0), s.at(k, 1), s.at(k, 2)
			next := a.Mul(3).Sub(b.Mul(3)).Add(c) // extrapolates perspective and distortion
			strip = append(strip, next, a, b)
		}
		before := slices.Clone(strip)
		if RefineChessboard(g, strip, 3, s.n) && near(before, strip) {
			return true
		}
	}
	return false
}

// near reports whether no corner has moved further than a tenth of a square.
func near(was, now []geom.Pixel) bool {
	side := was[1].Sub(was[2]).Norm()
	for i := range was {
		if was[i].Sub(now[i]).Norm() > 0.1*side {
			return false
		}
	}
	return true
}

// BoardEdges measures the sharpness of a picture of a board: the width in px of the steps between
// black and white squares and their height in grey levels, both the median over the edges between
// neighbouring corners. It returns zeros if no edge can be measured.
func BoardEdges(g *image.Gray, b calibration.Board, v calibration.BoardView) (width, contrast float64) {
	at := make([]geom.Pixel, b.Cols*b.Rows)
	in := make([]bool, len(at))
	for k, p := range v.Pixels {
		at[v.Index(k)], in[v.Index(k)] = p, true
	}
	// The profile must end on plain paper, before a marker's black.
	reach := 0.4
	if b.Kind == calibration.ChArUco {
		reach = min(reach, 0.45*float64((b.Square-b.Marker)/b.Square))
	}
	var widths, rises []float64
	measure := func(i, j int) {
		if !in[i] || !in[j] {
			return
		}
		if w, rise, ok := edgeProfile(g, at[i], at[j], reach); ok {
			widths, rises = append(widths, w), append(rises, rise)
		}
	}
	for r := range b.Rows {
		for c := range b.Cols {
			i := r*b.Cols + c
			if c+1 < b.Cols {
				measure(i, i+1)
			}
			if r+1 < b.Rows {
				measure(i, i+b.Cols)
			}
		}
	}
	if len(widths) == 0 {
		return 0, 0
	}
	sort.Float64s(widths)
	sort.Float64s(rises)
	return widths[len(widths)/2], rises[len(rises)/2]
}

// edgeProfile reads the profile across the middle of the edge from p to q, to either side as far as
// a share of its length, and returns its width, the rise divided by the steepest slope, and its
// rise.
func edgeProfile(g *image.Gray, p, q geom.Pixel, reach float64) (width, rise float64, ok bool) {
	along := q.Sub(p)
	length := along.Norm()
	n := int(reach * length / 0.5)
	if n < 3 {
		return 0, 0, false
	}
	across := geom.Pixel{X: -along.Y, Y: along.X}.Mul(0.5 / length)
	profile := make([]float64, 0, 2*n+1)
	lo, hi := 255.0, 0.0
	for i := -n; i <= n; i++ {
		sum := 0.0 // averages along the middle of the edge, against noise
		for _, s := range [...]float64{0.35, 0.425, 0.5, 0.575, 0.65} {
			level, in := levelAt(g, p.Add(along.Mul(s)).Add(across.Mul(float64(i))))
			if !in {
				return 0, 0, false
			}
			sum += level / 5
		}
		profile = append(profile, sum)
		lo, hi = min(lo, sum), max(hi, sum)
	}
	steepest := 0.0
	for i := 2; i < len(profile); i++ {
		steepest = max(steepest, math.Abs(profile[i]-profile[i-2])) // over one pixel
	}
	if !(steepest > 0) {
		return 0, 0, false
	}
	return (hi - lo) / steepest, hi - lo, true
}
