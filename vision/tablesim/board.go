package tablesim

import (
	"fmt"
	"image/color"
	"math"
	"time"

	"sightline/calibration"
	"sightline/engine/geom"
)

// HeldBoard is a calibration board in someone's hands, between camera and table.
type HeldBoard struct {
	Board calibration.Board
	Pose  calibration.Extrinsics // the board's frame (calibration.Board.Points) to the camera's, mm
}

// BoardTruth is where a held board truly appears.
type BoardTruth struct {
	HeldBoard
	Corners []geom.Pixel // of Board.Points, in their order
}

// boardEdge is the white paper around a board's squares.
const boardEdge = 8 * geom.Millimeter

// Grip describes how a person holds a board, as seen in the picture.
type Grip struct {
	U, V  float64    // place of its middle, as shares of the picture's width and height
	Share float64    // width of its squares without tilt, as a share of the picture's width
	TiltX geom.Angle // the board's top side towards the camera
	TiltY geom.Angle // its right side towards the camera
	Roll  geom.Angle // in the picture's plane, clockwise
}

// Hold returns the board held this way before a lens.
func (g Grip) Hold(lens calibration.Intrinsics, b calibration.Board) (HeldBoard, error) {
	if !(g.Share > 0) {
		return HeldBoard{}, fmt.Errorf("tablesim: board: share of the picture: expected more than 0, got %v", g.Share)
	}
	x, y, ok := lens.Undistort(geom.Pixel{X: g.U*float64(lens.Width) - 0.5, Y: g.V*float64(lens.Height) - 0.5})
	if !ok {
		return HeldBoard{}, fmt.Errorf("tablesim: board: the lens has no line of sight at (%.2f, %.2f) of the picture", g.U, g.V)
	}
	far := lens.Fx * float64(b.Cols+1) * float64(b.Square) / (g.Share * float64(lens.Width))
	h := HeldBoard{Board: b}
	h.Pose.R = turned(g)
	mid := calibration.Vec3{float64(b.Cols-1) / 2 * float64(b.Square), float64(b.Rows-1) / 2 * float64(b.Square), 0}
	off := h.Pose.Camera(mid) // T is still zero
	h.Pose.T = calibration.Vec3{far*x - off[0], far*y - off[1], far - off[2]}
	return h, nil
}

// turned returns the rotation of a grip: tilt, then roll.
func turned(g Grip) [3][3]float64 {
	rx := calibration.RotationFromVector(calibration.Vec3{float64(g.TiltX), 0, 0})
	ry := calibration.RotationFromVector(calibration.Vec3{0, float64(g.TiltY), 0})
	rz := calibration.RotationFromVector(calibration.Vec3{0, 0, float64(g.Roll)})
	var xy, out [3][3]float64
	multiply(&xy, &rx, &ry)
	multiply(&out, &rz, &xy)
	return out
}

func multiply(out, a, b *[3][3]float64) {
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				out[i][j] += a[i][k] * b[k][j]
			}
		}
	}
}

// sheet is a held board as a solid.
type sheet struct {
	board   calibration.Board
	square  float64
	origin  [3]float64 // of the board's frame, on the table's axes
	ex, ey  [3]float64 // its axes
	n       [3]float64 // away from the printed side
	w, h    float64    // of the squares together
	cells   []sheetTag // by square, row by row; nil for a chessboard
	bright  float64
	ceiling float64 // the camera's height
	id      uint64
}

// sheetTag is the marker in one square.
type sheetTag struct {
	here  bool
	white [calibration.TagCells][calibration.TagCells]bool
}

func newSheet(b HeldBoard, camera calibration.Camera) (*sheet, error) {
	if err := b.Board.Validate(); err != nil {
		return nil, fmt.Errorf("tablesim: board: %w", err)
	}
	s := &sheet{board: b.Board, square: float64(b.Board.Square)}
	s.w, s.h = float64(b.Board.Cols+1)*s.square, float64(b.Board.Rows+1)*s.square
	for i := range 3 { // the camera's axes to the table's: the transpose of R
		for k := range 3 {
			s.origin[i] += camera.R[k][i] * (b.Pose.T[k] - camera.T[k])
			s.ex[i] += camera.R[k][i] * b.Pose.R[k][0]
			s.ey[i] += camera.R[k][i] * b.Pose.R[k][1]
			s.n[i] += camera.R[k][i] * b.Pose.R[k][2]
		}
	}
	for k := range 3 {
		s.ceiling -= camera.R[k][2] * camera.T[k]
	}
	// Light falls from above: a tilted sheet gets less of it.
	s.bright = 0.55 + 0.45*math.Abs(s.n[2])
	if b.Board.Kind == calibration.ChArUco {
		if err := s.addMarkers(); err != nil {
			return nil, err
		}
	}
	sum := []float64{6, s.square, float64(b.Board.Cols), float64(b.Board.Rows), float64(b.Board.Marker)}
	for i := range 3 {
		sum = append(sum, b.Pose.R[i][0], b.Pose.R[i][1], b.Pose.R[i][2], b.Pose.T[i])
	}
	s.id = checksum(sum...)
	for _, c := range s.outline() {
		if q := b.Pose.Camera(c); q[2] < nearest {
			return nil, fmt.Errorf("tablesim: board: expected all of it at least %d mm before the camera, got %.0f mm", nearest, q[2])
		}
	}
	return s, nil
}

// nearest is how close, in mm, a board may come to the camera.
const nearest = 30

func (s *sheet) addMarkers() error {
	s.cells = make([]sheetTag, (s.board.Cols+1)*(s.board.Rows+1))
	for _, m := range s.board.Markers() {
		tag := &s.cells[m.Row*(s.board.Cols+1)+m.Col]
		tag.here = true
		for row := range calibration.TagCells {
			for col := range calibration.TagCells {
				white, err := calibration.TagWhite(m.ID, col, row)
				if err != nil {
					return fmt.Errorf("tablesim: board: marker %d: %w", m.ID, err)
				}
				tag.white[row][col] = white
			}
		}
	}
	return nil
}

// outline returns the paper's corners in the board's frame.
func (s *sheet) outline() [4]calibration.Vec3 {
	e, q := float64(boardEdge), s.square
	return [4]calibration.Vec3{{-q - e, -q - e}, {s.w - q + e, -q - e}, {s.w - q + e, s.h - q + e}, {-q - e, s.h - q + e}}
}

// inked reports whether the print is black at a place of the board, relative to the outer corner of
// the first square.
func (s *sheet) inked(x, y float64) bool {
	if x < 0 || y < 0 || x >= s.w || y >= s.h {
		return false
	}
	col, row := int(x/s.square), int(y/s.square)
	if (col+row)%2 == 0 {
		return true
	}
	if s.cells == nil {
		return false
	}
	tag := &s.cells[min(row, s.board.Rows)*(s.board.Cols+1)+min(col, s.board.Cols)]
	m := float64(s.board.Marker)
	u, v := x-(float64(col)+0.5)*s.square+m/2, y-(float64(row)+0.5)*s.square+m/2
	if !tag.here || u < 0 || v < 0 || u >= m || v >= m {
		return false
	}
	last := calibration.TagCells - 1
	return !tag.white[min(int(v/m*calibration.TagCells), last)][min(int(u/m*calibration.TagCells), last)]
}

func (s *sheet) meets(r ray, h *hit) bool {
	along := s.n[0]*r.sx + s.n[1]*r.sy + s.n[2]
	if math.Abs(along) < 1e-9 {
		return false // edge on
	}
	z := (s.n[0]*(s.origin[0]-r.gx) + s.n[1]*(s.origin[1]-r.gy) + s.n[2]*s.origin[2]) / along
	if z <= h.z || z >= s.ceiling {
		return false
	}
	x, y := r.at(z)
	d := [3]float64{x - s.origin[0], y - s.origin[1], z - s.origin[2]}
	u, v := s.square, s.square
	for i := range 3 {
		u += s.ex[i] * d[i]
		v += s.ey[i] * d[i]
	}
	e := float64(boardEdge)
	if u < -e || v < -e || u > s.w+e || v > s.h+e {
		return false
	}
	*h = hit{z: z, x: u, y: v}
	// The ray leads up to the camera: it leaves the printed side against n.
	if along > 0 {
		h.surface = 1
	} else if s.inked(u, v) {
		h.mark = 1
	}
	return true
}

func (s *sheet) color(h *hit, _ ray, _ *ground) rgb {
	switch {
	case h.surface == 1:
		return rgb{0.3, 0.26, 0.2}.scale(s.bright)
	case h.mark == 1:
		return printed(color.RGBA{8, 8, 8, 255}).scale(s.bright)
	}
	return printed(color.RGBA{255, 255, 255, 255}).scale(s.bright)
}

// light implements solid: a board so far above the mat casts no shadow with an edge.
func (s *sheet) light(_, _, _ float64) float64 { return 1 }

func (s *sheet) reach() []volume {
	v := volume{box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}, math.Inf(1), math.Inf(-1)}
	for _, c := range s.outline() {
		var p [3]float64
		for i := range 3 {
			p[i] = s.origin[i] + s.ex[i]*c[0] + s.ey[i]*c[1]
		}
		v.x0, v.x1 = min(v.x0, p[0]), max(v.x1, p[0])
		v.y0, v.y1 = min(v.y0, p[1]), max(v.y1, p[1])
		v.z0, v.z1 = min(v.z0, p[2]), max(v.z1, p[2])
	}
	v.z1 = min(v.z1, s.ceiling-1)
	return []volume{v}
}

func (s *sheet) sum() uint64 { return s.id }

// boardTruth projects the corners of a held board.
func (r witness) boardTruth(b HeldBoard) *BoardTruth {
	t := &BoardTruth{HeldBoard: b}
	for _, p := range b.Board.Points() {
		q := b.Pose.Camera(calibration.Vec3{p.X, p.Y, 0})
		x, y := r.lens.distort(q[0]/q[2], q[1]/q[2])
		t.Corners = append(t.Corners, geom.Pixel{X: r.lens.fx*x + r.lens.cx, Y: r.lens.fy*y + r.lens.cy})
	}
	return t
}

// ---- the scripted hands

// boardStops are the places where a careful user holds a board, in order: all over the picture,
// tilted in every direction, near and far. Tilts and roll in degrees.
var boardStops = []struct{ u, v, share, tiltX, tiltY, roll float64 }{
	{0.50, 0.50, 0.34, 0, 0, 0},
	{0.20, 0.26, 0.28, -24, 20, 4},
	{0.50, 0.24, 0.28, -30, 0, -6},
	{0.80, 0.26, 0.28, -22, -24, -4},
	{0.80, 0.50, 0.28, 0, -32, 8},
	{0.80, 0.74, 0.28, 24, -22, 6},
	{0.50, 0.76, 0.28, 32, 0, 0},
	{0.20, 0.74, 0.28, 24, 22, -6},
	{0.20, 0.50, 0.28, 0, 32, 90},
	{0.45, 0.46, 0.46, 22, 20, 10},
	{0.56, 0.54, 0.46, -24, -18, -12},
	{0.18, 0.20, 0.22, 8, -12, 0},
	{0.82, 0.20, 0.22, 10, 14, 0},
	{0.82, 0.80, 0.22, -10, 12, 0},
	{0.18, 0.80, 0.22, -12, -10, 0},
	{0.50, 0.50, 0.40, 34, -8, 45},
	{0.42, 0.55, 0.38, -8, 36, -30},
	{0.58, 0.45, 0.38, -6, -36, 170},
}

// The timing of the held board: at each stop it rests for boardRest, then moves to the next within
// boardMove. After the last stop it is away for boardAway.
const (
	boardRest = 1600 * time.Millisecond
	boardMove = 900 * time.Millisecond
	boardAway = 15 * time.Second
)

// BoardStops returns the script's grips, in order.
func BoardStops() []Grip {
	var out []Grip
	for _, s := range boardStops {
		out = append(out, Grip{U: s.u, V: s.v, Share: s.share,
			TiltX: geom.Angle(s.tiltX) * geom.Degree, TiltY: geom.Angle(s.tiltY) * geom.Degree, Roll: geom.Angle(s.roll) * geom.Degree})
	}
	return out
}

// BoardLength is the length of the script, which repeats.
var BoardLength = time.Duration(len(boardStops))*(boardRest+boardMove) + boardAway

// Toward returns the grip on the way to another one, at a share 0…1 of it.
func (g Grip) Toward(to Grip, k float64) Grip {
	mix := func(a, b float64) float64 { return a + k*(b-a) }
	turn := func(a, b geom.Angle) geom.Angle { return geom.Angle(mix(float64(a), float64(b))) }
	return Grip{U: mix(g.U, to.U), V: mix(g.V, to.V), Share: mix(g.Share, to.Share),
		TiltX: turn(g.TiltX, to.TiltX), TiltY: turn(g.TiltY, to.TiltY), Roll: turn(g.Roll, to.Roll)}
}

// gripAt returns the script's grip at a time. It reports false while the board is away.
func gripAt(t time.Duration) (Grip, bool) {
	t %= BoardLength
	stops := BoardStops()
	i := int(t / (boardRest + boardMove))
	if i >= len(stops) {
		return Grip{}, false
	}
	late := t - time.Duration(i)*(boardRest+boardMove) - boardRest
	if late <= 0 || i == len(stops)-1 {
		return stops[i], true
	}
	return stops[i].Toward(stops[i+1], smooth(0, 1, late.Seconds()/boardMove.Seconds())), true
}
