package app

import (
	"context"
	"errors"
	"image"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/cmd/internal/first"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/pipeline"
	"sightline/cmd/internal/setup"
	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/tablesim"
)

// eyes is a camera with a detector that knows what it sees: the mat's markers, always,
// and the board where the test holds it.
type eyes struct {
	camera calibration.Camera

	mu   sync.Mutex // guards the fields below
	seq  uint64
	held *tablesim.HeldBoard
	lost string // why no pictures come
	over bool
}

func (e *eyes) Next(ctx context.Context, _ uint64) (vision.Frame, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return vision.Frame{}, io.EOF
	}
	if e.lost != "" {
		return vision.Frame{}, context.DeadlineExceeded
	}
	time.Sleep(time.Millisecond) // so that others have their turn
	e.seq++
	g := image.NewGray(image.Rect(0, 0, e.camera.Width, e.camera.Height))
	return vision.Frame{Gray: g, Seq: e.seq, Captured: time.Unix(1700000000, 0).Add(time.Duration(e.seq) * 100 * time.Millisecond)}, nil
}

func (e *eyes) Status() capture.FeedStatus {
	e.mu.Lock()
	defer e.mu.Unlock()
	return capture.FeedStatus{Source: "/dev/video0", Err: e.lost}
}

func (e *eyes) change(do func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	do()
}

func (e *eyes) findBoard(vision.Frame, calibration.Board) (s calibration.BoardSighting, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.held == nil {
		return s, nil
	}
	for _, p := range e.held.Board.Points() {
		q := e.held.Pose.Camera(calibration.Vec3{p.X, p.Y, 0})
		s.Pixels = append(s.Pixels, e.camera.Intrinsics.Project(q[0]/q[2], q[1]/q[2]))
	}
	return s, nil
}

func (e *eyes) DetectMarkers(*image.Gray) (out []vision.Detection, err error) {
	for _, m := range calibration.DefaultLayout(calibration.MatSide, calibration.MatSide).Markers {
		d := vision.Detection{ID: m.ID}
		for i, c := range m.Corners() {
			d.Corners[i], _ = e.camera.PixelOf(c, m.Z)
		}
		out = append(out, d)
	}
	return out, nil
}

// calibrating is a calibrator that runs before these eyes.
type calibrating struct {
	*Calibrator
	eyes    *eyes
	t       *testing.T
	adopted chan string
}

func startCalibrating(t *testing.T, change func(*CalibratorOptions)) *calibrating {
	t.Helper()
	c := &calibrating{t: t, eyes: &eyes{camera: tablesim.DefaultCamera(1280, 720)}, adopted: make(chan string, 10)}
	dir := t.TempDir()
	o := CalibratorOptions{
		Frames: c.eyes, FindBoard: c.eyes.findBoard, Markers: c.eyes,
		SolveLens: func(calibration.Board, []calibration.BoardView, int, int) (s lens.Solution, err error) {
			s.Lens = c.eyes.camera.Intrinsics
			return s, nil
		},
		Setup: setup.Options{
			Layout:   calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
			LensPath: filepath.Join(dir, "new", "lens.json"), TablePath: filepath.Join(dir, "new", "table.json"),
			Guide: lens.GuideOptions{MinViews: 4, MaxViews: 6},
		},
		Hub: live.NewCalibrationHub(), Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		NewLens:  func(_ calibration.Intrinsics, file string) { c.adopted <- file },
		NewTable: func(file string) { c.adopted <- file },
	}
	if change != nil {
		change(&o)
	}
	c.Calibrator = NewCalibrator(o)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
	})
	return c
}

func (c *calibrating) state() setup.State { return c.o.Hub.Newest().State }

func (c *calibrating) wants(in setup.Intent) {
	c.t.Helper()
	require.NoError(c.t, c.Do(in))
}

func (c *calibrating) until(what string, is func(setup.State) bool) {
	c.t.Helper()
	require.Eventually(c.t, func() bool { return is(c.state()) }, 2*time.Minute, 5*time.Millisecond, "%s: %+v", what,
		func() any { return c.state().Lens.Problem }())
}

// solve holds the board as the advice says until there is a lens.
func (c *calibrating) solve() {
	c.t.Helper()
	board, err := calibration.ParseBoard("9x6:25mm")
	require.NoError(c.t, err)
	c.wants(setup.Intent{Do: setup.Start})
	c.wants(setup.Intent{Do: setup.Go, Step: setup.Lens})
	c.wants(setup.Intent{Do: setup.Capture, Board: board.String()})
	for n := 0; c.state().Lens.Phase == setup.Looking; n++ {
		require.Less(c.t, n, 100)
		views := len(c.state().Lens.Views)
		held, err := tablesim.Obey(c.state().Lens.Guide.Advice, n).Hold(c.eyes.camera.Intrinsics, board)
		require.NoError(c.t, err)
		c.eyes.change(func() { c.eyes.held = &held })
		for wait := time.Now(); time.Since(wait) < 5*time.Second && len(c.state().Lens.Views) == views && c.state().Lens.Phase == setup.Looking; {
			time.Sleep(2 * time.Millisecond)
		}
	}
	c.until("a lens", func(s setup.State) bool { return s.Lens.Phase == setup.Ready })
}

func TestACalibrationIsSavedAndTakenIntoUse(t *testing.T) {
	c := startCalibrating(t, nil)
	assert.False(t, c.Busy())
	c.solve()
	assert.True(t, c.Busy())
	assert.Positive(t, c.o.Hub.Newest().Frame.Seq)
	c.wants(setup.Intent{Do: setup.Save})
	assert.Equal(t, c.o.Setup.LensPath, <-c.adopted)
	lens, _, err := lens.Load(c.o.Setup.LensPath)
	require.NoError(t, err, "its directory was made")
	assert.Equal(t, c.eyes.camera.Fx, lens.Fx)

	c.wants(setup.Intent{Do: setup.Go, Step: setup.Table})
	c.until("a table", func(s setup.State) bool { return s.Table.Phase == setup.Ready })
	c.wants(setup.Intent{Do: setup.Save})
	assert.Equal(t, c.o.Setup.TablePath, <-c.adopted)
	table, err := calibration.LoadTable(c.o.Setup.TablePath)
	require.NoError(t, err)
	assert.Len(t, table.Used, 8)
	c.wants(setup.Intent{Do: setup.Finish})
	assert.False(t, c.Busy())
	assert.Nil(t, c.o.Hub.Newest().Frame.Gray)
}

// The camera's loop has a picture, or none for long, when the calibration ends: neither is kept or shown.
func TestWhatComesAfterTheEndOfACalibrationIsDropped(t *testing.T) {
	c := startCalibrating(t, nil)
	c.wants(setup.Intent{Do: setup.Start})
	c.wants(setup.Intent{Do: setup.Go, Step: setup.Lens}) // where nothing is looked for yet, as after the end
	c.until("pictures", func(s setup.State) bool { return s.Camera.Width == 1280 })
	late, err := c.eyes.Next(t.Context(), 0)
	require.NoError(t, err)
	c.wants(setup.Intent{Do: setup.Finish})
	ended := c.o.Hub.Newest()
	c.look(late)
	c.cameraLost("no picture for 3 s")
	assert.Equal(t, ended.Seq, c.o.Hub.Newest().Seq)
	assert.Nil(t, c.o.Hub.Newest().Frame.Gray)
}

func TestACameraThatIsLostInTheMiddleIsSaidAndComesBack(t *testing.T) {
	c := startCalibrating(t, nil)
	c.wants(setup.Intent{Do: setup.Start})
	c.wants(setup.Intent{Do: setup.Go, Step: setup.Lens})
	c.wants(setup.Intent{Do: setup.Capture, Board: "9x6:25mm"})
	c.until("pictures", func(s setup.State) bool { return s.Camera.Width == 1280 })
	c.eyes.change(func() { c.eyes.lost = "no such device" })
	c.until("the loss", func(s setup.State) bool { return s.Camera.Lost == "/dev/video0 gives no pictures: no such device" })
	c.eyes.change(func() { c.eyes.lost = "" })
	c.until("the return", func(s setup.State) bool { return s.Camera.Lost == "" })
	assert.Equal(t, setup.Looking, c.state().Lens.Phase)

	c.eyes.change(func() { c.eyes.over = true })
	c.until("the end", func(s setup.State) bool { return s.Camera.Lost == "the recording has come to its end" })
	c.wants(setup.Intent{Do: setup.Cancel})
	assert.False(t, c.state().Active)
}

func TestAFileThatCannotBeWrittenIsAProblemInWords(t *testing.T) {
	c := startCalibrating(t, func(o *CalibratorOptions) {
		file := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		o.Setup.LensPath = filepath.Join(file, "lens.json")
	})
	c.solve()
	c.wants(setup.Intent{Do: setup.Save})
	assert.Contains(t, c.state().Lens.Problem, "could not be saved")
	assert.Equal(t, setup.Ready, c.state().Lens.Phase)
	assert.Empty(t, c.adopted)
}

func TestASolverThatFailsLeavesTheViews(t *testing.T) {
	c := startCalibrating(t, func(o *CalibratorOptions) {
		o.SolveLens = func(calibration.Board, []calibration.BoardView, int, int) (s lens.Solution, err error) {
			return s, errors.New("out of paper")
		}
	})
	board, err := calibration.ParseBoard("9x6:25mm")
	require.NoError(t, err)
	c.wants(setup.Intent{Do: setup.Start})
	c.wants(setup.Intent{Do: setup.Go, Step: setup.Lens})
	c.wants(setup.Intent{Do: setup.Capture, Board: board.String()})
	for n := 0; c.state().Lens.Problem == ""; n++ {
		require.Less(t, n, 100)
		held, err := tablesim.Obey(c.state().Lens.Guide.Advice, n).Hold(c.eyes.camera.Intrinsics, board)
		require.NoError(t, err)
		c.eyes.change(func() { c.eyes.held = &held })
		time.Sleep(40 * time.Millisecond)
	}
	assert.Contains(t, c.state().Lens.Problem, "out of paper")
	assert.NotEmpty(t, c.state().Lens.Views)
	assert.Equal(t, setup.Looking, c.state().Lens.Phase)
}

func TestWhatThePageSavedIsFoundAtTheNextStart(t *testing.T) {
	t.Chdir(t.TempDir())
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	c := DefaultConfig()
	c.Camera.Source = "/dev/video0"
	assert.Equal(t, c, withSavedCalibration(c, &first.Kept{}, log), "nothing was saved")
	require.NoError(t, os.Mkdir("calibration", 0o700))
	for _, path := range []string{DefaultLensPath, DefaultTablePath} {
		require.NoError(t, os.WriteFile(path, []byte("{}"), 0o600))
	}
	found := withSavedCalibration(c, &first.Kept{}, log)
	assert.Equal(t, DefaultLensPath, found.Camera.Lens)
	assert.Equal(t, DefaultTablePath, found.Table.Calibration)
	examined, err := c.Setup()
	require.NoError(t, err)
	assert.Equal(t, []string{DefaultLensPath, DefaultTablePath}, []string{examined.Lens, examined.Table}, "doctor examines them")
	c.Camera.Lens = "my.yaml"
	assert.Equal(t, "my.yaml", withSavedCalibration(c, &first.Kept{}, log).Camera.Lens, "what is configured stands")
	lens, table := calibrationPaths(c)
	assert.Equal(t, []string{"my.yaml", DefaultTablePath}, []string{lens, table}, "and is where a new one is saved")
	c.Camera.Source = "sim:"
	assert.Empty(t, withSavedCalibration(c, &first.Kept{}, log).Table.Calibration, "a real camera's table is none of the simulated table's")
}

// A table is verified in a later run too, but not one whose file the program does not work with: it may be of another camera.
func TestOnlyTheTableInUseIsVerified(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.json")
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	options := func(file string) CalibratorOptions {
		log := slog.New(slog.NewTextHandler(io.Discard, nil))
		return calibratorOptions(Config{Table: Table{Calibration: file, Layout: layout}}, nil, nil, &pipeline.Adopted{}, Options{Log: log})
	}
	c := &eyes{camera: tablesim.DefaultCamera(1280, 720)}
	found, err := c.DetectMarkers(nil)
	require.NoError(t, err)
	table, err := calibration.Register(c.camera.Intrinsics, layout, vision.Sightings(found))
	require.NoError(t, err)

	o := options(path)
	_, ok := o.Setup.Saved()
	assert.False(t, ok, "it cannot be read")
	require.NoError(t, calibration.SaveTable(path, &table))
	loaded, ok := o.Setup.Saved()
	require.True(t, ok)
	assert.Equal(t, table.Hash, loaded.Hash)

	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("calibration", 0o755))
	require.NoError(t, calibration.SaveTable(DefaultTablePath, &table))
	o = options("")
	_, ok = o.Setup.Saved()
	assert.False(t, ok, "nobody said that it is of this camera")
	o.NewTable(DefaultTablePath)
	_, ok = o.Setup.Saved()
	assert.True(t, ok)
}
