//go:build opencv

package opencv

import (
	"image"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/engine/geom"
	"sightline/vision"
)

// boardScene is a chessboard of 9 × 6 inner corners, turned by angle about its
// first inner corner, with squares of side px.
type boardScene struct {
	first geom.Pixel
	side  float64
	angle float64
}

func (s boardScene) corner(c, r int) geom.Pixel {
	sin, cos := math.Sincos(s.angle)
	x, y := float64(c)*s.side, float64(r)*s.side
	return s.first.Add(geom.Pixel{X: cos*x - sin*y, Y: sin*x + cos*y})
}

func (s boardScene) at(x, y float64) float64 {
	sin, cos := math.Sincos(s.angle)
	dx, dy := x-s.first.X, y-s.first.Y
	col := int(math.Floor((cos*dx+sin*dy)/s.side)) + 1
	row := int(math.Floor((-sin*dx+cos*dy)/s.side)) + 1
	if col < 0 || row < 0 || col > 9 || row > 6 || (col+row)%2 == 1 {
		return 215
	}
	return 35
}

func TestAKnownPictureFixesTheChessboardConvention(t *testing.T) {
	var e errorStats
	for i := range 6 {
		s := boardScene{first: geom.Pixel{X: 70.31 + 0.13*float64(i), Y: 66.78 - 0.19*float64(i)}, side: 22.4 + 0.3*float64(i),
			angle: 0.03*float64(i) - 0.05}
		got, found, err := FindChessboard(vision.Frame{Gray: render(330, 250, s.at)}, 9, 6)
		require.NoError(t, err)
		require.True(t, found)
		require.Len(t, got, 54)
		for k := range got {
			want := s.corner(k%9, k/9)
			if got[0].Sub(s.corner(0, 0)).Norm() > s.side { // it may count from the other end
				want = s.corner(8-k%9, 5-k/9)
			}
			e.add(got[k], want)
		}
	}
	n := float64(e.n)
	t.Logf("mean (%.4f, %.4f) px, rms per axis %.4f, worst %.4f", e.x/n, e.y/n, math.Sqrt((e.xx+e.yy)/(2*n)), e.worst)
	assert.InDelta(t, 0, e.x/n, 0.05)
	assert.InDelta(t, 0, e.y/n, 0.05)
	assert.Less(t, e.worst, 0.3)
}

func TestAPictureWithoutABoardHasNone(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {15, 400}, {64, 64}} {
		_, found, err := FindChessboard(vision.Frame{Gray: image.NewGray(image.Rect(0, 0, size[0], size[1]))}, 9, 6)
		assert.NoError(t, err, "%v", size)
		assert.False(t, found, "%v", size)
	}
	_, _, err := FindChessboard(vision.Frame{}, 9, 6)
	assert.ErrorContains(t, err, "no picture")
	_, _, err = FindChessboard(vision.Frame{Gray: image.NewGray(image.Rect(0, 0, 100, 100))}, 1, 6)
	assert.ErrorContains(t, err, "at least 3×3")
}

func TestTheQuickSearchFindsTheSameCorners(t *testing.T) {
	for name, pattern := range map[string]string{"rendered 1080p": shared(t, "tables", "lens") + "/*/image.jpg", "photographs": shared(t,
		"real", "opencv_chess_9x6") + "/left*.jpg"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		var e errorStats
		quick, found := 0, 0
		var spent time.Duration
		for _, f := range files[:6] {
			frame, err := ReadImage(f)
			require.NoError(t, err)
			start := time.Now()
			px, ok, err := QuickChessboard(frame, 9, 6)
			spent += time.Since(start)
			require.NoError(t, err)
			slow, ok2, err := FindChessboard(frame, 9, 6)
			require.NoError(t, err)
			if ok {
				quick++
			}
			if ok2 {
				found++
			}
			for k := range px {
				if !ok || !ok2 {
					break
				}
				want := slow[k]
				if px[0].Sub(slow[0]).Norm() > 20 {
					want = slow[len(slow)-1-k]
				}
				e.add(px[k], want)
			}
		}
		n := float64(e.n)
		t.Logf("%s: %d found, %d the slow way, %v each; mean (%.4f, %.4f) px, rms per axis %.4f, worst %.4f", name, quick, found, spent/6, e.x/n,
			e.y/n, math.Sqrt((e.xx+e.yy)/(2*n)), e.worst)
		assert.GreaterOrEqual(t, 3*quick, 2*found, "%s: a live picture in three may be missed, the next one comes at once", name)
		assert.Less(t, math.Sqrt((e.xx+e.yy)/(2*n)), 0.2, name)
	}
}

// boardViews finds the board in pictures; those without it are left out.
func boardViews(t *testing.T, b calibration.Board, pattern string) (views []calibration.BoardView, w, h int) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		frame, err := ReadImage(f)
		require.NoError(t, err)
		w, h = frame.Size()
		px, found, err := FindChessboard(frame, b.Cols, b.Rows)
		require.NoError(t, err)
		if found {
			views = append(views, calibration.BoardView{Name: filepath.Base(filepath.Dir(f)) + "/" + filepath.Base(f), Pixels: px})
		}
	}
	return views, w, h
}

func logSolution(t *testing.T, s lens.Solution) {
	t.Helper()
	sx, sy := s.FocalSigma()
	for _, m := range s.Models {
		t.Logf("model %-16s rms %.4f held out %.4f, worse by %.5f ± %.5f px², left out %.1f %v", m.Name, m.RMS, m.HeldOut, m.Worse,
			m.StandardError, m.LeftOut, m.Chosen)
	}
	if s.Lens.Covariance != nil {
		c := s.Lens.Covariance
		t.Logf("sigma of cx %.2f, cy %.2f, mat %.3f mm", math.Sqrt(c[20]), math.Sqrt(c[30]), float64(s.MatSigma))
	}
	t.Logf("fx %.2f ± %.2f, fy %.2f ± %.2f, cx %.2f, cy %.2f, distortion %.4f, rms %.4f px over %d views, tilt %.1f°, dropped %v",
		s.Lens.Fx, sx, s.Lens.Fy, sy, s.Lens.Cx, s.Lens.Cy, s.Lens.Distortion, s.Lens.RMS, s.Lens.Views, s.Tilt.Degrees(), s.Dropped)
}

func TestTheLensOfOpenCVsSamples(t *testing.T) {
	b := calibration.Board{Cols: 9, Rows: 6, Square: 25 * geom.Millimeter}
	views, w, h := boardViews(t, b, filepath.Join(shared(t, "real", "opencv_chess_9x6"), "left*.jpg"))
	assert.Len(t, views, 13, "every board is found")
	s, err := lens.Solve(b, views, w, h)
	require.NoError(t, err)
	logSolution(t, s)
	for _, v := range s.Views {
		t.Logf("%s %.3f px", v.Name, v.RMS)
	}
	assert.LessOrEqual(t, s.HeldOut, 0.26)
	// What OpenCV 4.6 finds with its exhaustive detector and calibrateCamera (five
	// parameters, 12 of the 13 pictures; its own sigmas are 0.8-0.9 px, rms 0.234).
	sigmas := func(k int) float64 { return 2 * math.Sqrt(s.Lens.Covariance[10*k]) }
	assert.InDelta(t, 532.461, s.Lens.Fx, sigmas(0))
	assert.InDelta(t, 532.410, s.Lens.Fy, sigmas(1))
	assert.InDelta(t, 341.969, s.Lens.Cx, sigmas(2))
	assert.InDelta(t, 232.658, s.Lens.Cy, sigmas(3))
	// The view that upstream's detector read wrongly (1.18 px) is read rightly.
	for _, v := range s.Views {
		assert.Less(t, v.RMS, 0.3, v.Name)
	}
}

func TestAFrontalSetCannotFixTheFocalLength(t *testing.T) {
	b := calibration.Board{Cols: 7, Rows: 7, Square: 25.4 * geom.Millimeter}
	views, w, h := boardViews(t, b, filepath.Join(shared(t, "real", "photonvision_picam_chess_1080p"), "*.jpg"))
	s, err := lens.Solve(b, views, w, h)
	logSolution(t, s)
	require.ErrorIs(t, err, lens.ErrViews)
	assert.ErrorContains(t, err, "focal length")
}

func TestTheLensOfTheRenderedBoards(t *testing.T) {
	b := calibration.Board{Cols: 9, Rows: 6, Square: 25 * geom.Millimeter}
	views, w, h := boardViews(t, b, filepath.Join(shared(t, "tables", "lens"), "*", "image.jpg"))
	s, err := lens.Solve(b, views, w, h)
	require.NoError(t, err)
	logSolution(t, s)
	got, want := [4]float64{s.Lens.Fx, s.Lens.Fy, s.Lens.Cx, s.Lens.Cy}, [4]float64{1225, 1226.2, 968.8, 533.1}
	for k := range want {
		assert.InDelta(t, want[k], got[k], 2*math.Sqrt(s.Lens.Covariance[10*k]), "parameter %d", k)
		assert.InEpsilon(t, want[k], got[k], 0.001, "parameter %d", k)
	}
}
