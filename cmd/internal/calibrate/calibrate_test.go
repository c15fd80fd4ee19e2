//go:build opencv

package calibrate

import (
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/cmd/internal/commandtest"
	"sightline/engine/geom"
	"sightline/vision/tablesim"
)

// sharedMaterial returns a path in the material next to the repository, and skips
// the test when it is not there.
func sharedMaterial(t *testing.T, parts ...string) string {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	p := filepath.Join(append([]string{filepath.Dir(file), "..", "..", "..", "..", "shared"}, parts...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("the shared material is not here: %v", err)
	}
	return p
}

// boardLens is the lens through which drawBoard sees.
var boardLens = calibration.Intrinsics{Width: 480, Height: 360, Fx: 420, Fy: 421.5, Cx: 244.6, Cy: 176.2, Distortion: [5]float64{-0.12,
	0.05}}

// drawBoard draws a chessboard of 9 × 6 inner corners and 25 mm squares, turned by
// (rx, ry) rad and put with its middle at (x, y, z) mm before the camera: the ray of
// each pixel, four by four of them, is met with the board's plane.
func drawBoard(rx, ry, x, y, z float64) *image.Gray {
	e := calibration.Extrinsics{R: calibration.RotationFromVector(calibration.Vec3{rx, ry, 0.1})}
	mid := e.Camera(calibration.Vec3{100, 62.5, 0})
	e.T = calibration.Vec3{x - mid[0], y - mid[1], z - mid[2]}
	cam := calibration.Camera{Intrinsics: boardLens, Extrinsics: e}
	g := image.NewGray(image.Rect(0, 0, boardLens.Width, boardLens.Height))
	const sub = 4
	for v := range boardLens.Height {
		for u := range boardLens.Width {
			sum := 0.0
			for i := range sub {
				for j := range sub {
					p, ok := cam.PointAt(geom.Pixel{X: float64(u) - 0.5 + (float64(i)+0.5)/sub, Y: float64(v) - 0.5 + (float64(j)+0.5)/sub}, 0)
					col, row := int(math.Floor(p.X/25))+1, int(math.Floor(p.Y/25))+1
					switch {
					case !ok || col < -1 || row < -1 || col > 10 || row > 7:
						sum += 120 // the wall
					case col >= 0 && row >= 0 && col <= 9 && row <= 6 && (col+row)%2 == 0:
						sum += 30
					default:
						sum += 220
					}
				}
			}
			g.Set(u, v, color.Gray{uint8(math.Round(sum / (sub * sub)))})
		}
	}
	return g
}

// goodBoards are a good set of pictures of a board: three tests use them.
var goodBoards = sync.OnceValue(func() (out []*image.Gray) {
	for _, p := range [][5]float64{
		{0.5, 0.1, 0, 0, 330}, {-0.5, 0.2, 10, 5, 330}, {0.1, 0.55, -15, 0, 340}, {-0.1, -0.55, 15, 5, 340},
		{0.4, 0.4, 20, 15, 380}, {-0.35, -0.4, -25, -20, 360}, {0.35, -0.35, 30, -15, 370},
	} {
		out = append(out, drawBoard(p[0], p[1], p[2], p[3], p[4]))
	}
	return out
})

// boardPictures writes goodBoards and returns their names.
func boardPictures(t *testing.T, dir string) (names []string) {
	t.Helper()
	for i, g := range goodBoards() {
		name := filepath.Join(dir, "board"+string(rune('1'+i))+".png")
		commandtest.WritePNG(t, name, g)
		names = append(names, name)
	}
	return names
}

func TestCalibrateLensWritesTheLensAndNamesWhatItLeftOut(t *testing.T) {
	dir := t.TempDir()
	names := boardPictures(t, dir)
	blank := filepath.Join(dir, "blank.png")
	commandtest.WritePNG(t, blank, image.NewGray(image.Rect(0, 0, boardLens.Width, boardLens.Height)))
	args := append([]string{"calibrate", "lens", "--board", "chessboard:9x6:25mm", blank}, names...)

	out := filepath.Join(dir, "lens.yaml")
	code, stdout, stderr := called(t, append(args, "-o", out)...)
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "left out")
	assert.Contains(t, stdout, "blank.png: no chessboard with 9×6 inner corners")
	assert.Contains(t, stdout, "over 7 views")
	assert.Contains(t, stdout, "chosen")
	assert.Contains(t, stdout, "coverage")
	in, _, err := lens.Load(out)
	require.NoError(t, err)
	t.Logf("fx %.2f of 420, fy %.2f of 421.5, rms %.3f px", in.Fx, in.Fy, in.RMS)
	assert.InEpsilon(t, 420, in.Fx, 0.005)
	assert.InEpsilon(t, 421.5, in.Fy, 0.005)
	assert.Less(t, in.RMS, 0.15)
	assert.InDelta(t, 420, in.Fx, 4*math.Sqrt(in.Covariance[0]))

	out = filepath.Join(dir, "lens.json")
	code, stdout, stderr = called(t, append(args, "-o", out, "--json")...)
	require.Zero(t, code, stderr)
	var doc struct {
		Version int `json:"version"`
		Lens    struct {
			Matrix struct {
				Data []float64 `json:"data"`
			} `json:"camera_matrix"`
		} `json:"lens"`
		Views   []struct{ Name string }
		Dropped []struct{ Name, Reason string }
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &doc), "one JSON document and nothing else: %s", stdout)
	assert.Equal(t, 1, doc.Version)
	assert.Equal(t, in.Fx, doc.Lens.Matrix.Data[0])
	assert.Len(t, doc.Views, 7)
	require.Len(t, doc.Dropped, 1)
	assert.Equal(t, blank, doc.Dropped[0].Name)
}

func TestCalibrateLensFromADirectoryAsASource(t *testing.T) {
	dir := t.TempDir()
	boardPictures(t, dir)
	out := filepath.Join(t.TempDir(), "lens.json")
	code, _, stderr := called(t, "calibrate", "lens", "--board", "chessboard:9x6:25mm", "--source", dir, "-o", out)
	require.Zero(t, code, stderr)
	in, _, err := lens.Load(out)
	require.NoError(t, err)
	assert.InEpsilon(t, 420, in.Fx, 0.01)
}

func TestCalibrateLensRefusesAFrontalSetAndWritesNothing(t *testing.T) {
	dir := t.TempDir()
	args := []string{"calibrate", "lens", "--board", "chessboard:9x6:25mm", "-o", filepath.Join(dir, "lens.json")}
	for i := range 5 {
		name := filepath.Join(dir, "flat"+string(rune('1'+i))+".png")
		commandtest.WritePNG(t, name, drawBoard(0.01*float64(i), -0.01*float64(i), 6*float64(i)-12, 4*float64(i)-8, 330+5*float64(i)))
		args = append(args, name)
	}
	code, stdout, stderr := called(t, args...)
	assert.Equal(t, 1, code)
	assert.Empty(t, stdout)
	assert.Contains(t, commandtest.LastLine(stderr), "focal length")
	assert.Contains(t, commandtest.LastLine(stderr), "tilted")
	assert.NoFileExists(t, filepath.Join(dir, "lens.json"))

	code, stdout, stderr = called(t, args[:8]...) // three pictures
	assert.Equal(t, 1, code)
	assert.Empty(t, stdout)
	assert.Contains(t, commandtest.LastLine(stderr), "at least 4")
	assert.NoFileExists(t, filepath.Join(dir, "lens.json"))
}

func TestCalibrateLensOfTheRealSets(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "lens.json")
	left, err := filepath.Glob(filepath.Join(sharedMaterial(t, "real", "opencv_chess_9x6"), "left*.jpg"))
	require.NoError(t, err)
	require.Len(t, left, 13)
	code, stdout, stderr := called(t, append([]string{"calibrate", "lens", "--board", "chessboard:9x6:25mm", "-o", out}, left...)...)
	require.Zero(t, code, stderr)
	assert.Equal(t, 13, strings.Count(stdout, "\nview "), "the board is found in every picture:\n%s", stdout)
	in, _, err := lens.Load(out)
	require.NoError(t, err)
	assert.InEpsilon(t, 535.9, in.Fx, 0.01)
	assert.LessOrEqual(t, in.RMS, 0.30)

	frontal, err := filepath.Glob(filepath.Join(sharedMaterial(t, "real", "photonvision_picam_chess_1080p"), "*.jpg"))
	require.NoError(t, err)
	bad := filepath.Join(dir, "bad.json")
	code, stdout, stderr = called(t, append([]string{"calibrate", "lens", "--board", "chessboard:7x7:25.4mm", "-o", bad}, frontal...)...)
	assert.Equal(t, 1, code)
	assert.Empty(t, stdout)
	assert.Contains(t, commandtest.LastLine(stderr), "focal length")
	assert.NoFileExists(t, bad)
}

// cornerError is the greatest distance, in mm on the mat, between where a
// calibration and the truth put the mat's corners.
func cornerError(t *testing.T, got calibration.Table, truth calibration.Camera) (worst float64) {
	t.Helper()
	w, h := float64(got.Layout.Width), float64(got.Layout.Height)
	for _, p := range []geom.Point{{}, {X: w}, {X: w, Y: h}, {Y: h}} {
		px, ok := truth.PixelOf(p, 0)
		require.True(t, ok)
		q, ok := got.PointAt(px, 0)
		require.True(t, ok)
		worst = max(worst, float64(p.Distance(q)))
	}
	return worst
}

// A lens file of another camera is refused by what the markers say, and no table is written.
func TestCalibrateTableRefusesTheLensOfAnotherCamera(t *testing.T) {
	dir := t.TempDir()
	picture, _, cam := commandtest.EmptyTable(t, dir, calibration.DefaultLayout(calibration.MatSide, calibration.MatSide))
	for _, times := range []float64{1.39, 0.7} {
		wrong, out := cam.Intrinsics, filepath.Join(dir, "table.json")
		wrong.Fx, wrong.Fy = times*wrong.Fx, times*wrong.Fy
		lensFile := filepath.Join(dir, "wrong.json")
		require.NoError(t, lens.Save(lensFile, wrong))
		code, _, stderr := called(t, "calibrate", "table", "--lens", lensFile, picture, "-o", out)
		assert.Equal(t, 1, code)
		assert.Contains(t, stderr, "the markers and the lens contradict each other", "%v times the focal length", times)
		assert.NoFileExists(t, out)
	}
}

func TestCalibrateTableFindsTheCamerasPlace(t *testing.T) {
	dir := t.TempDir()
	picture, lensFile, cam := commandtest.EmptyTable(t, dir, calibration.DefaultLayout(calibration.MatSide, calibration.MatSide))
	out := filepath.Join(dir, "table.json")
	code, stdout, stderr := called(t, "calibrate", "table", "--lens", lensFile, picture, picture, "-o", out)
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "8 of 8 used")
	table, err := calibration.LoadTable(out)
	require.NoError(t, err)
	worst := cornerError(t, table, cam)
	t.Logf("the mat's corners lie within %.3f mm", worst)
	assert.Less(t, worst, 0.3)
	assert.False(t, table.Made.IsZero())

	table.RMS++ // another one
	require.NoError(t, calibration.SaveTable(out, &table))
	code, stdout, stderr = called(t, "calibrate", "table", "--lens", lensFile, picture, "-o", out, "--json")
	require.Zero(t, code, stderr)
	raw, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, string(raw), stdout, "--json prints what was written and nothing else")
	assert.Contains(t, stderr, "it is kept as ")
	assert.Contains(t, stderr, "."+table.Hash[:8]+".json")

	require.NoError(t, os.WriteFile(out, []byte(strings.Replace(string(raw), `"scale_sigma": 0.0003`, `"scale_sigma": 0.0001`, 1)), 0o600))
	_, _, stderr = called(t, "calibrate", "budget", "--calibration", out)
	assert.Contains(t, stderr, "changed by hand since it was made")
}

func TestCalibrateTableFromTheSimulatedSource(t *testing.T) {
	dir := t.TempDir()
	spec := "sim:1280x720,fps=0"
	o, err := tablesim.ParseSpec(spec)
	require.NoError(t, err)
	src, err := tablesim.Open(o)
	require.NoError(t, err)
	lensFile, out := filepath.Join(dir, "lens.json"), filepath.Join(dir, "table.json")
	require.NoError(t, lens.Save(lensFile, src.Lens()))
	cam := src.Camera()
	require.NoError(t, src.Close())
	code, _, stderr := called(t, "calibrate", "table", "--lens", lensFile, "--source", spec, "-o", out)
	require.Zero(t, code, stderr)
	table, err := calibration.LoadTable(out)
	require.NoError(t, err)
	assert.Less(t, cornerError(t, table, cam), 0.3)
}

func TestCalibrateTableScalesTheLensOfAnotherResolution(t *testing.T) {
	dir := t.TempDir()
	picture, lensFile, cam := commandtest.EmptyTable(t, dir, calibration.DefaultLayout(calibration.MatSide, calibration.MatSide))
	big, err := cam.Scaled(2560, 1440)
	require.NoError(t, err)
	require.NoError(t, lens.Save(lensFile, big))
	out := filepath.Join(dir, "table.json")
	code, _, stderr := called(t, "calibrate", "table", "--lens", lensFile, picture, "-o", out)
	require.Zero(t, code, stderr)
	assert.Contains(t, stderr, "scaled to 1280×720")
	table, err := calibration.LoadTable(out)
	require.NoError(t, err)
	assert.Less(t, cornerError(t, table, cam), 0.3)

	big.Height = 1920
	require.NoError(t, lens.Save(lensFile, big))
	code, _, stderr = called(t, "calibrate", "table", "--lens", lensFile, picture, "-o", out)
	assert.Equal(t, 2, code)
	assert.Contains(t, commandtest.LastLine(stderr), "another shape")
}

func TestCalibrateTableOfAnotherMat(t *testing.T) {
	dir := t.TempDir()
	picture, lensFile, cam := commandtest.EmptyTable(t, dir, calibration.DefaultLayout(800*geom.Millimeter, 700*geom.Millimeter))
	out := filepath.Join(dir, "table.json")
	code, _, stderr := called(t, "calibrate", "table", "--lens", lensFile, "--mat", "800x700", picture, "-o", out)
	require.Zero(t, code, stderr)
	table, err := calibration.LoadTable(out)
	require.NoError(t, err)
	assert.Equal(t, 800*geom.Millimeter, table.Layout.Width)
	assert.Less(t, cornerError(t, table, cam), 0.3)
}

func TestCalibrateTableSaysWhenItCannotKnow(t *testing.T) {
	dir := t.TempDir()
	picture, lensFile, _ := commandtest.EmptyTable(t, dir, calibration.DefaultLayout(calibration.MatSide, calibration.MatSide))
	out := filepath.Join(dir, "table.json")
	blank := filepath.Join(dir, "blank.png")
	commandtest.WritePNG(t, blank, image.NewGray(image.Rect(0, 0, 1280, 720)))
	code, stdout, stderr := called(t, "calibrate", "table", "--lens", lensFile, blank, "-o", out)
	assert.Equal(t, 1, code)
	assert.Empty(t, stdout)
	assert.Contains(t, commandtest.LastLine(stderr), "0 of 8 markers")
	assert.NoFileExists(t, out)

	// The same table three pixels further on: the camera was moved.
	f, err := os.Open(picture)
	require.NoError(t, err)
	m, err := png.Decode(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	g := image.NewGray(m.Bounds())
	mirrored := filepath.Join(dir, "mirrored.png")
	for y := range 720 {
		for x := range 1280 {
			g.SetGray(1279-x, y, color.GrayModel.Convert(m.At(x, y)).(color.Gray))
		}
	}
	commandtest.WritePNG(t, mirrored, g)
	for _, args := range [][]string{{"table", "--lens", lensFile}, {"quick"}} {
		code, _, stderr = called(t, append(append([]string{"calibrate"}, args...), mirrored, "-o", out)...)
		assert.Equal(t, 1, code, args)
		assert.Contains(t, stderr, "mirrored.png: the picture is mirrored", args)
		assert.NoFileExists(t, out)
	}

	for y := range 720 {
		for x := range 1280 {
			g.Set(x, y, m.At(max(x-3, 0), y))
		}
	}
	moved := filepath.Join(dir, "moved.png")
	commandtest.WritePNG(t, moved, g)
	code, _, stderr = called(t, "calibrate", "table", "--lens", lensFile, picture, moved, "-o", out)
	assert.Equal(t, 1, code)
	assert.Contains(t, commandtest.LastLine(stderr), "3.0 px apart")
	assert.NoFileExists(t, out)
}

func TestCalibrateTableOfTheRenderedTables(t *testing.T) {
	root := sharedMaterial(t, "tables")
	for _, n := range []string{"02", "05", "08"} {
		var truth struct {
			Lens    json.RawMessage `json:"lens"`
			Corners [][3]float64    `json:"mat_corners_mm"`
			Pixels  [][2]float64    `json:"mat_corners_px"`
		}
		raw, err := os.ReadFile(filepath.Join(root, n, "truth.json"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &truth))
		dir := t.TempDir()
		lensFile, out := filepath.Join(dir, "lens.json"), filepath.Join(dir, "table.json")
		require.NoError(t, os.WriteFile(lensFile, truth.Lens, 0o600))
		code, _, stderr := called(t, "calibrate", "table", "--lens", lensFile, filepath.Join(root, n, "image.jpg"), "-o", out)
		require.Zero(t, code, stderr)
		table, err := calibration.LoadTable(out)
		require.NoError(t, err)
		assert.Len(t, table.Used, 8)
		worst := 0.0
		for i, c := range truth.Corners { // a corner of a mat that is not flat lies at its own height
			p, ok := table.PointAt(geom.Pixel{X: truth.Pixels[i][0], Y: truth.Pixels[i][1]}, geom.Length(c[2]))
			require.True(t, ok)
			worst = max(worst, float64(p.Distance(geom.Point{X: c[0], Y: c[1]})))
		}
		t.Logf("table %s: the mat's corners within %.3f mm", n, worst)
		assert.Less(t, worst, 0.3, "table %s", n)
	}
}

func TestWrongUsageOfCalibrateIsExplained(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, raw []byte) string {
		p := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(p, raw, 0o600))
		return p
	}
	lensFile := filepath.Join(dir, "good.json")
	require.NoError(t, lens.Save(lensFile, boardLens))
	small := filepath.Join(dir, "one.png")
	commandtest.WritePNG(t, small, image.NewGray(image.Rect(0, 0, 1, 1)))
	other := filepath.Join(dir, "other.png")
	commandtest.WritePNG(t, other, image.NewGray(image.Rect(0, 0, 40, 30)))
	wider := filepath.Join(dir, "wider.png")
	commandtest.WritePNG(t, wider, image.NewGray(image.Rect(0, 0, 50, 30)))
	raw, err := os.ReadFile(other)
	require.NoError(t, err)
	cut := file("cut.png", raw[:len(raw)/2])
	text := file("text.jpg", []byte("hello"))
	unknown := file("unknown.json", []byte(`{"image_width": 3, "fov": 90}`))
	out := filepath.Join(dir, "out.json")
	board := []string{"lens", "--board", "chessboard:9x6:25mm", "-o", out}
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no pictures", board, 2, "no pictures"},
		{"pictures and a source", append(board, "--source", "sim:", small), 2, "got both"},
		{"missing picture", append(board, filepath.Join(dir, "missing.jpg")), 2, "missing.jpg: no such file"},
		{"truncated picture", append(board, cut), 2, "cut.png: the file is cut off"},
		{"no picture", append(board, text), 2, "text.jpg: not a picture"},
		{"a picture of one pixel", append(board, small), 2, "picture of 1×1: expected at least 16×16"},
		{"a picture without a board", append(board, other), 1, "0 usable views"},
		{"two sizes", append(board, other, wider), 2, "expected pictures of one size"},
		{"missing source", append(board, "--source", filepath.Join(dir, "nothing")), 2, "nothing: no such file"},
		{"a marker larger than its square", []string{"lens", "--board", "charuco:5x7:30mm:32mm", "-o", out, other}, 2, "charuco"},
		{"another board", []string{"lens", "--board", "dots:5x7", "-o", out, small}, 2, "expected chessboard:"},
		{"file ending", []string{"lens", "--board", "chessboard:9x6:25mm", "-o", "lens.txt", small}, 2, "expected .json"},
		{"no directory", []string{"lens", "--board", "chessboard:9x6:25mm", "-o", filepath.Join(dir, "no", "lens.json"), small},
			2, "does not exist"},
		{"no output", []string{"lens", "--board", "chessboard:9x6:25mm", small}, 2, "--output"},
		{"missing lens", []string{"table", "--lens", filepath.Join(dir, "no.json"), "-o", out, small}, 2, "no.json: no such file"},
		{"unknown key in the lens", []string{"table", "--lens", unknown, "-o", out, small}, 2, `unknown key "fov"`},
		{"lens of another shape", []string{"table", "--lens", lensFile, "-o", out, small}, 2, "another shape"},
		{"a mat that is no size", []string{"table", "--lens", lensFile, "--mat", "large", "-o", out, small}, 2, "--mat"},
		{"a mat and a config", []string{"table", "--lens", lensFile, "--mat", "900x900", "--config", "a.toml", "-o", out, small}, 2, "got both"},
		{"missing config", []string{"table", "--lens", lensFile, "--config", filepath.Join(dir, "a.toml"), "-o", out, small}, 2, "a.toml"},
		{"verify without its calibration", []string{"verify", "--calibration", filepath.Join(dir, "a.json"), small}, 2, "a.json: no such file"},
	} {
		code, stdout, stderr := called(t, append([]string{"calibrate"}, c.args...)...)
		assert.Equal(t, c.code, code, "%s: %s", c.name, stderr)
		assert.Contains(t, commandtest.LastLine(stderr), c.want, c.name)
		if c.code == 1 {
			assert.Empty(t, stdout, c.name)
		}
		assert.NoFileExists(t, out, c.name)
	}
}
