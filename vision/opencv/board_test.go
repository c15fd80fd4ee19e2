//go:build opencv

package opencv

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/fiducial"
)

var charucoBoard = calibration.Board{Kind: calibration.ChArUco, Cols: 9, Rows: 6, Square: 25 * geom.Millimeter,
	Marker: 18 * geom.Millimeter}

// boardShot is a printed board before a camera.
type boardShot struct {
	board calibration.Board
	lens  calibration.Intrinsics
	pose  calibration.Extrinsics
	turn  int         // quarters by which each marker is printed turned
	cover *geom.Point // what lies beyond this point of the board, right and down, is covered
}

// level is the grey level of the board's plane at a point, in mm.
func (s boardShot) level(p geom.Point) float64 {
	square := float64(s.board.Square)
	if s.cover != nil && p.X > s.cover.X && p.Y > s.cover.Y {
		return 120
	}
	col, row := int(math.Floor(p.X/square))+1, int(math.Floor(p.Y/square))+1
	if col < 0 || row < 0 || col > s.board.Cols || row > s.board.Rows {
		return 215
	}
	if (col+row)%2 == 0 {
		return 35
	}
	if s.board.Kind == calibration.ChArUco {
		half := float64(s.board.Marker) / 2
		u := p.X - (float64(col)-0.5)*square
		v := p.Y - (float64(row)-0.5)*square
		if math.Abs(u) < half && math.Abs(v) < half {
			for range s.turn {
				u, v = -v, u
			}
			id := calibration.BoardIDs + (row*(s.board.Cols+1)+col)/2
			cell := 2 * half / calibration.TagCells
			white, err := calibration.TagWhite(id, min(int((u+half)/cell), 7), min(int((v+half)/cell), 7))
			if err != nil {
				panic(err)
			}
			if !white {
				return 35
			}
		}
	}
	return 215
}

// picture renders the board. The board's point is worked out at the pixels' corners
// and interpolated within each pixel.
func (s boardShot) picture() *image.Gray {
	cam := calibration.Camera{Intrinsics: s.lens, Extrinsics: s.pose}
	w, h := s.lens.Width, s.lens.Height
	at, in := make([]geom.Point, (w+1)*(h+1)), make([]bool, (w+1)*(h+1))
	for y := range h + 1 {
		for x := range w + 1 {
			at[y*(w+1)+x], in[y*(w+1)+x] = cam.PointAt(geom.Pixel{X: float64(x) - 0.5, Y: float64(y) - 0.5}, 0)
		}
	}
	return render(w, h, func(x, y float64) float64 {
		c, r := int(x+0.5), int(y+0.5)
		i := r*(w+1) + c
		if !in[i] || !in[i+1] || !in[i+w+1] || !in[i+w+2] {
			return 120
		}
		fx := x + 0.5 - float64(c)
		return s.level(at[i].Lerp(at[i+1], fx).Lerp(at[i+w+1].Lerp(at[i+w+2], fx), y+0.5-float64(r)))
	})
}

func (s boardShot) corner(i int) geom.Pixel {
	p := s.board.Points()[i]
	q := s.pose.Camera(calibration.Vec3{p.X, p.Y, 0})
	return s.lens.Project(q[0]/q[2], q[1]/q[2])
}

// shotPose is a board at a distance, turned, with its middle at the picture's.
func shotPose(b calibration.Board, rx, ry, rz, x, y, z float64) calibration.Extrinsics {
	e := calibration.Extrinsics{R: calibration.MulMat3(calibration.RotationFromVector(calibration.Vec3{rx, ry, 0}),
		calibration.RotationFromVector(calibration.Vec3{0, 0, rz}))}
	mid := e.Camera(calibration.Vec3{float64(b.Square) * float64(b.Cols-1) / 2, float64(b.Square) * float64(b.Rows-1) / 2, 0})
	e.T = calibration.Vec3{x - mid[0], y - mid[1], z - mid[2]}
	return e
}

func shotLens() calibration.Intrinsics {
	return calibration.Intrinsics{Width: 720, Height: 540, Fx: 690, Fy: 692, Cx: 366, Cy: 261, Distortion: [5]float64{-0.2, 0.06, 0.0008,
		-0.0005, 0}}
}

func newFinder(t *testing.T, b calibration.Board) *BoardFinder {
	t.Helper()
	f, err := NewBoardFinder(b)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, f.Close()) })
	return f
}

func TestAKnownPictureFixesTheCharucoConvention(t *testing.T) {
	f := newFinder(t, charucoBoard)
	var all errorStats
	for i, s := range [...]boardShot{
		// Not quite upright: the renderer's eight samples a pixel put upright edges up to
		// 0.06 px off.
		{pose: shotPose(charucoBoard, 0.01, 0.02, 0.05, 3.3, -2.1, 330)},
		{pose: shotPose(charucoBoard, 0.5, 0.2, 0.1, 10, 5, 360)},
		{pose: shotPose(charucoBoard, -0.4, -0.5, 0.8, -20, 10, 420)},
		{pose: shotPose(charucoBoard, 0.1, 0.6, -2.2, 30, -10, 380)},
		{pose: shotPose(charucoBoard, 0.1, 0.1, math.Pi+0.04, 0, 0, 460)},
		{pose: shotPose(charucoBoard, 0.2, -0.3, math.Pi/2-0.06, 0, 0, 450), turn: 2},
	} {
		s.board, s.lens = charucoBoard, shotLens()
		start := time.Now()
		g := s.picture()
		rendered := time.Since(start)
		start = time.Now()
		got, err := f.Find(vision.Frame{Gray: g})
		took := time.Since(start)
		require.NoError(t, err)
		require.NotEmpty(t, got.Pixels, "shot %d: %s", i, got.Reason)
		var e errorStats
		for k, px := range got.Pixels {
			e.add(px, s.corner(got.Indices[k]))
			all.add(px, s.corner(got.Indices[k]))
		}
		n := float64(e.n)
		t.Logf("shot %d: %d corners, mean (%.4f, %.4f), rms per axis %.4f, worst %.4f px; edge %.2f px, contrast %.0f; %v (rendered in %v)", i,
			e.n, e.x/n, e.y/n, math.Sqrt((e.xx+e.yy)/(2*n)), e.worst, got.EdgeWidth, got.Contrast, took, rendered)
		assert.GreaterOrEqual(t, e.n, 50, "shot %d", i)
		assert.InDelta(t, 180, got.Contrast, 12)
		assert.InDelta(t, 2.5, got.EdgeWidth, 1)
	}
	n := float64(all.n)
	assert.InDelta(t, 0, all.x/n, 0.01)
	assert.InDelta(t, 0, all.y/n, 0.01)
	assert.Less(t, math.Sqrt((all.xx+all.yy)/(2*n)), 0.03)
	assert.Less(t, all.worst, 0.12)
}

func TestACoveredCharucoBoardShowsWhatIsLeft(t *testing.T) {
	f := newFinder(t, charucoBoard)
	s := boardShot{board: charucoBoard, lens: shotLens(), pose: shotPose(charucoBoard, 0.3, 0.2, 0.1, 0, 0, 380)}
	s.cover = &geom.Point{X: 87, Y: -1000}
	got, err := f.Find(vision.Frame{Gray: s.picture()})
	require.NoError(t, err)
	require.NotEmpty(t, got.Pixels, got.Reason)
	var e errorStats
	for k, px := range got.Pixels {
		assert.Less(t, got.Indices[k]%9, 4, "corner %d is covered", got.Indices[k])
		e.add(px, s.corner(got.Indices[k]))
	}
	assert.GreaterOrEqual(t, e.n, 22)
	assert.Less(t, e.worst, 0.1)

	s.cover = &geom.Point{X: -1000, Y: -1000}
	s.cover.X = 20
	got, err = f.Find(vision.Frame{Gray: s.picture()})
	require.NoError(t, err)
	assert.Empty(t, got.Pixels)
	assert.Contains(t, got.Reason, "show more of it")
}

func TestAnotherBoardIsDistinguished(t *testing.T) {
	upright := shotPose(charucoBoard, 0.2, 0.2, 0.1, 0, 0, 380)
	other := func(change func(*calibration.Board)) calibration.Board {
		b := charucoBoard
		change(&b)
		return b
	}
	for _, c := range []struct {
		name    string
		printed calibration.Board
		read    calibration.Board
		mirror  bool
		reason  string
	}{
		{"fewer columns", other(func(b *calibration.Board) { b.Cols = 7 }), charucoBoard, false, "is it another board?"},
		{"more rows", other(func(b *calibration.Board) { b.Cols, b.Rows = 8, 8 }), charucoBoard, false, "is it another board?"},
		{"smaller markers", other(func(b *calibration.Board) { b.Marker = 14 }), charucoBoard, false,
			"0.56 of a square wide, those of this board 0.72"},
		{"in the mirror", charucoBoard, charucoBoard, true, "mirror image"},
		{"a chessboard", calibration.Board{Cols: 9, Rows: 6, Square: 25}, charucoBoard, false, "not in the picture"},
		{"a chessboard of another size", calibration.Board{Cols: 9, Rows: 7, Square: 25}, calibration.Board{Cols: 8, Rows: 6, Square: 25}, false,
			"no chessboard with 8×6 inner corners"},
	} {
		f := newFinder(t, c.read)
		g := boardShot{board: c.printed, lens: shotLens(), pose: upright}.picture()
		if c.mirror {
			g = fiducial.Mirror(g)
		}
		got, err := f.Find(vision.Frame{Gray: g, Name: "x"})
		require.NoError(t, err, c.name)
		assert.Empty(t, got.Pixels, c.name)
		assert.Contains(t, got.Reason, c.reason, c.name)
		assert.Equal(t, "x", got.Name)
	}
}

func TestAMirroredChessboardIsAChessboard(t *testing.T) {
	b := calibration.Board{Cols: 9, Rows: 6, Square: 25}
	shot := boardShot{board: b, lens: shotLens(), pose: shotPose(b, 0.2, 0.2, 0.1, 0, 0, 380)}
	got, err := newFinder(t, b).Find(vision.Frame{Gray: fiducial.Mirror(shot.picture())})
	require.NoError(t, err)
	assert.Len(t, got.Pixels, 54, "a mirror image is what another camera would see")
	assert.Nil(t, got.Indices)
	assert.InDelta(t, 180, got.Contrast, 12)
}

func TestABoardFinderWantsABoardAndAPicture(t *testing.T) {
	_, err := NewBoardFinder(calibration.Board{})
	assert.ErrorContains(t, err, "inner corners")
	_, err = newFinder(t, charucoBoard).Find(vision.Frame{})
	assert.ErrorContains(t, err, "no picture")
	f := newFinder(t, charucoBoard)
	require.NoError(t, f.Close())
	_, err = f.Find(vision.Frame{Gray: image.NewGray(image.Rect(0, 0, 64, 64))})
	assert.ErrorContains(t, err, "closed")
}

// openCVCharuco prints the corners that OpenCV's own ChArUco reader finds: its board of
// 10 × 7 squares with this family's ids from 32 on.
const openCVCharuco = `
import sys, cv2
cv2.setNumThreads(1)
g = cv2.imread(sys.argv[1], 0)
d = cv2.aruco.Dictionary_get(cv2.aruco.DICT_APRILTAG_36h11)
d.bytesList = d.bytesList[32:]
board = cv2.aruco.CharucoBoard_create(10, 7, 25, 18, d)
p = cv2.aruco.DetectorParameters_create()
p.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_APRILTAG
c, ids, _ = cv2.aruco.detectMarkers(g, d, parameters=p)
n, corners, _ = cv2.aruco.interpolateCornersCharuco(c, ids, g, board)
for x, y in corners.reshape(-1, 2):
    print(x, y)
`

func TestOpenCVsOwnReaderAgreesOnACharucoBoard(t *testing.T) {
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import cv2; cv2.aruco.CharucoBoard_create").Run(); err != nil {
		t.Skipf("OpenCV 4.6 for Python is not here: %v", err)
	}
	// OpenCV's dictionary has this family's markers upside down.
	s := boardShot{board: charucoBoard, lens: shotLens(), pose: shotPose(charucoBoard, 0.2, -0.25, 0.1, 0, 0, 350), turn: 2}
	g := s.picture()
	var file bytes.Buffer
	require.NoError(t, png.Encode(&file, g))
	path := filepath.Join(t.TempDir(), "board.png")
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o600))
	raw, err := exec.Command(python, "-c", openCVCharuco, path).Output()
	require.NoError(t, err)
	got, err := newFinder(t, charucoBoard).Find(vision.Frame{Gray: g})
	require.NoError(t, err)
	var e errorStats
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		var theirs geom.Pixel
		_, err := fmt.Sscan(line, &theirs.X, &theirs.Y)
		require.NoError(t, err, line)
		nearest := got.Pixels[0]
		for _, ours := range got.Pixels {
			if ours.Sub(theirs).Norm() < nearest.Sub(theirs).Norm() {
				nearest = ours
			}
		}
		e.add(theirs, nearest)
	}
	n := float64(e.n)
	t.Logf("%d corners, theirs less ours (%.3f, %.3f) px, worst %.3f", e.n, e.x/n, e.y/n, e.worst)
	assert.GreaterOrEqual(t, e.n, 40)
	// OpenCV 4.6 adds half a pixel to ChArUco corners, which later versions took out again.
	assert.InDelta(t, 0.5, e.x/n, 0.05)
	assert.InDelta(t, 0.5, e.y/n, 0.05)
	assert.Less(t, e.worst, 1.2)
}
