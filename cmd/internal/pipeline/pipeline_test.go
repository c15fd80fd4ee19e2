package pipeline

import (
	"errors"
	"fmt"
	"image"
	"io"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"context"

	"sightline/calibration"
	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/racetest"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/hardware"
	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/locate"
	"sightline/vision/token"
	"sightline/vision/track"
)

// newLocator returns the real locator.
func newLocator(t calibration.Table, o locate.Options) (Locator, error) {
	return locate.New(t, o)
}

// benchParts are the parts of a bench.
type benchParts struct {
	gameOptions
	Options
}

type gameOptions = game.Options

// bench is a pipeline and its game with everything round them faked: the pictures are empty, the
// markers and ships are where the test puts them, and time stands still.
type bench struct {
	t        *testing.T
	now      time.Time
	status   capture.FeedStatus
	camera   calibration.Camera // where the camera truly is
	noise    int                // counts pictures, so that no two are the same
	look     string             // "dark", "blank", "frozen"; else an ordinary picture
	bumped   map[int]geom.Point // markers that lie elsewhere, and by how much
	hidden   int                // markers under a hand
	others   []vision.Detection // markers that are none of the mat's
	showing  []int              // ids of the only markers that are not under one; nil: hidden says
	searches int                // of whole pictures
	detect   error
	lens     bool
	ships    []engine.Ship
	twins    []vision.DuplicateID
	raised   []vision.RaisedToken
	spare    []vision.SpareToken
	small    []vision.SmallToken
	locate   error
	locating func()            // called before each search; may be nil
	watched  bool              // obstacles are
	located  calibration.Table // what the newest locator was made for
	seq      uint64
	size     image.Point // of the pictures; zero: 1280×720

	hub      *live.Hub
	game     *game.Game
	pipeline *Pipeline
}

// overhead is a camera that looks straight down on the middle of the mat.
func overhead(dx float64) calibration.Camera {
	return calibration.Camera{
		Intrinsics: calibration.Intrinsics{Width: 1280, Height: 720, Fx: 700, Fy: 700, Cx: 639.5, Cy: 359.5},
		Extrinsics: calibration.Extrinsics{
			R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}},
			T: calibration.Vec3{-457.2 + dx, 457.2, 1200},
		},
	}
}

func ship(id string, x, y float64) engine.Ship {
	code, err := token.CodeOfID(id)
	if err != nil {
		panic(err)
	}
	return engine.Ship{ID: id, Player: code.Player(), Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: x, Y: y}},
		Covariance: geom.Cov3{0.01, 0, 0, 0, 0.01, 0, 0, 0, 1e-6}}
}

func newBench(t *testing.T, change func(*bench, *benchParts)) *bench {
	b := &bench{
		t: t, now: time.Unix(1700000000, 0), camera: overhead(0), lens: true,
		status: capture.FeedStatus{State: capture.FeedLive, Source: "/dev/video0"},
		ships:  []engine.Ship{ship("A1", 300, 300), ship("B1", 300, 487)},
		hub:    live.NewHub(live.State{}),
	}
	now, log := func() time.Time { return b.now }, slog.New(slog.NewTextHandler(io.Discard, nil))
	o := benchParts{
		game.Options{
			Camera: b.Status, Rules: game.Rules{Edition: engine.Rules25, Profile: "nominal", Sigmas: 3}, Hub: b.hub,
			PanelName: func() string { return "bench" }, Now: now, Log: log,
		},
		Options{
			Frames: b, Now: now,
			RegistrationOptions: RegistrationOptions{
				Markers: b, Track: b.track, Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), Log: log,
				Lens: func() (calibration.Intrinsics, bool) { return b.camera.Intrinsics, b.lens },
			},
			NewLocator: func(t calibration.Table) (Locator, error) { b.located = t; return b, nil },
		},
	}
	o.Tracking.SettleFrames = 1 // one picture is enough, where time is not what is tested
	if change != nil {
		change(b, &o)
	}
	o.Mat = o.Layout
	b.game = game.New(o.gameOptions)
	o.Game = b.game
	b.pipeline = New(o.Options)
	return b
}

func (b *bench) Next(ctx context.Context, _ uint64) (vision.Frame, error) {
	<-ctx.Done()
	return vision.Frame{}, ctx.Err()
}
func (b *bench) Status() capture.FeedStatus { return b.status }

func (b *bench) DetectMarkers(*image.Gray) ([]vision.Detection, error) {
	var out []vision.Detection
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	b.searches++
	for _, m := range layout.Markers[b.hidden:] {
		if b.showing != nil && !slices.Contains(b.showing, m.ID) {
			continue
		}
		d := vision.Detection{ID: m.ID}
		m.Center = m.Center.Add(b.bumped[m.ID])
		for i, c := range m.Corners() {
			d.Corners[i], _ = b.camera.PixelOf(c, m.Z)
		}
		out = append(out, d)
	}
	return append(out, b.others...), b.detect
}

// track finds the markers that lie within two pixels of where they are expected.
func (b *bench) track(g *image.Gray, expected []calibration.MarkerSighting) (out []calibration.MarkerSighting) {
	before := b.searches
	found, _ := b.DetectMarkers(g)
	b.searches = before
	for _, s := range vision.Sightings(found) {
		for _, e := range expected {
			if e.ID == s.ID && e.Corners[0].Sub(s.Corners[0]).Norm() < 2 {
				out = append(out, s)
			}
		}
	}
	return out
}

func (b *bench) Locate(f vision.Frame) (vision.Located, error) {
	if b.locating != nil {
		b.locating()
	}
	out := vision.Located{Scene: engine.Scene{Ships: append([]engine.Ship(nil), b.ships...)}, Duplicates: b.twins,
		Raised: b.raised, Spare: b.spare, Small: b.small, Captured: f.Captured, Seq: f.Seq}
	if b.watched {
		out.Obstacles = &vision.ObstacleSight{}
	}
	return out, b.locate
}

// gray is a picture of the camera's size, another one each time.
func (b *bench) gray() *image.Gray {
	if b.size == (image.Point{}) {
		b.size = image.Pt(1280, 720)
	}
	g := image.NewGray(image.Rectangle{Max: b.size})
	if b.look == "dark" {
		return g
	}
	if b.look != "frozen" {
		b.noise++
	}
	row := g.Pix[:b.size.X]
	for x := range row {
		row[x] = 128
		if b.look != "blank" && x > b.size.X/2 {
			row[x] = 30
		}
	}
	row[b.noise%b.size.X]++ // every row of a camera's picture has noise
	for y := 1; y < b.size.Y; y++ {
		copy(g.Pix[y*g.Stride:], row)
	}
	return g
}

// picture lets a picture come in after a time, and returns what is then known.
func (b *bench) picture(after time.Duration) live.State {
	b.now = b.now.Add(after)
	b.seq++
	b.pipeline.Update(vision.Frame{Gray: b.gray(), Seq: b.seq})
	return b.hub.Newest()
}

// wait lets time pass without a picture.
func (b *bench) wait(d time.Duration) live.State {
	b.now = b.now.Add(d)
	b.game.Publish()
	return b.hub.Newest()
}

const frameTime = 200 * time.Millisecond

func TestThePipelineRegistersAndAnswers(t *testing.T) {
	b := newBench(t, nil)
	v := b.picture(0)
	require.Equal(t, live.OK, v.Health.Code, "%+v", v.Health)
	assert.Equal(t, "the mat's markers", v.Register.From)
	assert.Len(t, v.Register.Markers, 8)
	assert.Equal(t, live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront}, v.Choice, "a first pair is chosen by itself")
	require.NotNil(t, v.Pair)
	assert.InDelta(t, 147, v.Pair.Range.Distance.Millimeters(), 1e-9)
	assert.Equal(t, 2, v.Panel.Band)
	assert.Equal(t, engine.Rules25, v.Located.Scene.Rules)
	assert.True(t, v.Region.In(image.Rect(0, 0, 1280, 720)) && !v.Region.Empty(), "%v", v.Region)
}

func TestAnOldPictureGivesNoAnswer(t *testing.T) {
	b := newBench(t, nil)
	b.picture(0)
	assert.Equal(t, live.OK, b.wait(2*time.Second).Health.Code, "exactly two seconds are not yet old")
	v := b.wait(time.Second)
	assert.Equal(t, live.Stale, v.Health.Code)
	assert.Contains(t, v.Health.Detail, "3 s old")
	assert.Nil(t, v.Pair)
	assert.Equal(t, engine.NoView, v.Panel.Range)
	assert.Equal(t, [hardware.NumLamps]hardware.Light{hardware.LampNoView: hardware.Lit}, hardware.Lights(v.Panel))
	assert.NotNil(t, b.picture(0).Pair, "and it comes back by itself")
}

func TestAnUnpluggedCameraIsReportedAndComesBack(t *testing.T) {
	b := newBench(t, nil)
	b.picture(0)
	b.status.State, b.status.Err = capture.FeedOpening, "no such device"
	v := b.wait(3 * time.Second)
	assert.Equal(t, live.NoCamera, v.Health.Code)
	assert.Equal(t, "/dev/video0 gives no pictures: no such device", v.Health.Detail)
	assert.NotEmpty(t, v.Health.Advice)
	assert.Equal(t, "no camera", v.Panel.Reason)
	b.status.State, b.status.Err = capture.FeedLive, ""
	assert.Equal(t, live.OK, b.picture(time.Second).Health.Code)
}

// Nobody can plug the simulated table in: what it lacks is time.
func TestASlowSimulatedTableIsNotLookedForAtAPlug(t *testing.T) {
	b := newBench(t, nil)
	b.picture(0)
	b.status.State, b.status.Source, b.status.Err = capture.FeedOpening, "sim:1920x1080,seed=0", "no frame for 3s"
	v := b.wait(3 * time.Second)
	assert.Equal(t, live.NoCamera, v.Health.Code)
	assert.Contains(t, v.Health.Advice, "choose a smaller table")
	assert.NotContains(t, v.Health.Advice, "plugged in")
}

func TestBeforeTheFirstPicture(t *testing.T) {
	b := newBench(t, nil)
	b.status.State = capture.FeedOpening
	assert.Equal(t, live.Starting, b.wait(0).Health.Code)
	b.status.Err = "no such file or directory"
	assert.Equal(t, live.NoCamera, b.wait(0).Health.Code)
}

func TestWithoutALensItSaysHowToGetOne(t *testing.T) {
	b := newBench(t, func(b *bench, _ *benchParts) { b.lens = false })
	v := b.picture(0)
	assert.Equal(t, live.NoCalibration, v.Health.Code)
	assert.Contains(t, v.Health.Detail, "lens")
	assert.Contains(t, v.Health.Advice, "calibrate lens")
	assert.Equal(t, uint64(1), v.Frame.Seq, "the picture is shown all the same")
	assert.Empty(t, v.Located.Scene.Ships)
	b.lens = true
	assert.Equal(t, live.OK, b.picture(time.Second).Health.Code)
}

func TestTooFewMarkersAreReported(t *testing.T) {
	b := newBench(t, func(b *bench, _ *benchParts) { b.hidden = 6 })
	v := b.picture(0)
	assert.Equal(t, live.NoCalibration, v.Health.Code)
	assert.Contains(t, v.Health.Advice, "mat-markers")
}

func TestAProgramThatCannotSeeMarkersSaysSo(t *testing.T) {
	b := newBench(t, func(_ *bench, o *benchParts) { o.Markers = nil })
	v := b.picture(0)
	assert.Equal(t, live.NoCalibration, v.Health.Code)
	assert.Contains(t, v.Health.Detail, "OpenCV")
}

func TestALensForAnotherShapeOfPictureIsReported(t *testing.T) {
	b := newBench(t, func(b *bench, _ *benchParts) { b.camera.Intrinsics.Height = 960 })
	v := b.picture(0)
	assert.Equal(t, live.NoCalibration, v.Health.Code)
	assert.Contains(t, v.Health.Detail, "1280×960")
}

func TestACalibrationFileIsUsedAndFitsASmallerPicture(t *testing.T) {
	b := newBench(t, func(_ *bench, o *benchParts) {
		big := overhead(0)
		big.Width, big.Height, big.Fx, big.Fy, big.Cx, big.Cy = 2560, 1440, 1400, 1400, 1279.5, 719.5
		o.File, o.Markers = CalibrationFile{Table: &calibration.Table{Camera: big, Layout: o.Layout}, Name: "table.json"}, nil
	})
	v := b.picture(0)
	require.Equal(t, live.OK, v.Health.Code, "%+v", v.Health)
	assert.Equal(t, "table.json", v.Register.From)
	assert.InDelta(t, 700, b.located.Fx, 1e-9)
}

func TestACalibrationFileOfAnotherCameraIsReported(t *testing.T) {
	b := newBench(t, func(_ *bench, o *benchParts) {
		other := overhead(0)
		other.Height = 960
		o.File, o.Markers = CalibrationFile{Table: &calibration.Table{Camera: other, Layout: o.Layout}, Name: "table.json"}, nil
	})
	v := b.picture(0)
	assert.Equal(t, live.NoCalibration, v.Health.Code)
	assert.Contains(t, v.Health.Detail, "table.json: the lens was calibrated for 1280×960")
	assert.Contains(t, v.Health.Advice, "calibrate table")
}

// until lets pictures come, ten a second, until one has a state; it fails after a while.
func (b *bench) until(limit int, code live.Code) (v live.State, pictures int) {
	b.t.Helper()
	for pictures = 1; pictures <= limit; pictures++ {
		if v = b.picture(tenth); v.Health.Code == code {
			return v, pictures
		}
	}
	require.Failf(b.t, "never", "%s within %d pictures: %+v", code, limit, v.Health)
	return v, 0
}

// quiet lets n quiet pictures come, ten a second.
func (b *bench) quiet(n int) (v live.State) {
	for range n {
		v = b.picture(tenth)
	}
	return v
}

const tenth = 100 * time.Millisecond

func TestACameraThatMovedIsNoticedAndRegisteredAgain(t *testing.T) {
	racetest.Skip(t)
	for _, shift := range []float64{0.5, 3, 40} { // mm: seen where it is expected, just not, and far off
		b := newBench(t, nil)
		first := b.quiet(20)
		require.Equal(t, live.OK, first.Health.Code)
		searches := b.searches
		b.camera = overhead(shift)
		v, n := b.until(3, live.Moved)
		assert.Equal(t, 1, n, "%v mm: not one answer from where it no longer stands", shift)
		assert.Nil(t, v.Pair)
		assert.Equal(t, engine.NoView, v.Panel.Range)
		assert.Equal(t, "camera moved?", v.Panel.Reason)
		assert.Equal(t, "camera moved", b.quiet(1).Panel.Reason)
		v, n = b.until(5, live.OK)
		t.Logf("%v mm: registered again after %d more pictures, %d searches", shift, n, b.searches-searches)
		require.NotNil(t, v.Pair, "it is settled by itself")
		assert.Contains(t, v.Notes[0].Text, fmt.Sprintf("moved by %.1f mm", shift))
		assert.InDelta(t, -457.2+shift, b.located.T[0], 0.01)
		assert.Equal(t, 2, v.Register.Times)
		assert.Equal(t, first.Register.Hash, v.Register.BaseHash)
		assert.NotEqual(t, first.Register.Hash, v.Register.Hash, "each registration has its own hash")
		assert.Equal(t, live.OK, b.quiet(50).Health.Code)
	}
}

func TestQuietPicturesAreNotSearchedWhole(t *testing.T) {
	racetest.Skip(t)
	b := newBench(t, nil)
	b.quiet(100)
	assert.Equal(t, 1, b.searches, "once, to register")
	b.hidden = 1
	b.quiet(100)
	assert.Less(t, b.searches, 8, "a marker that stays away is not worth a search in every picture")
}

func TestAMarkerThatWasDisturbedOnceIsNoMove(t *testing.T) {
	b := newBench(t, nil)
	b.quiet(20)
	b.camera = overhead(3)
	assert.Nil(t, b.quiet(1).Pair, "that picture answers nothing")
	b.camera = overhead(0)
	for range 20 {
		v := b.picture(tenth)
		assert.NotNil(t, v.Pair)
		assert.Len(t, v.Notes, 1, "only the first registration: %v", v.Notes)
	}
}

func TestHandsOverSomeMarkersWidenTheAnswers(t *testing.T) {
	racetest.Skip(t)
	b := newBench(t, nil)
	before := b.quiet(30)
	b.hidden = 4
	var v live.State
	for range 50 {
		v = b.picture(tenth)
		require.Equal(t, live.OK, v.Health.Code)
		require.NotNil(t, v.Pair)
	}
	assert.Equal(t, "covered", v.Register.Watch.State)
	assert.Equal(t, []int{0, 1, 2, 3}, v.Register.Watch.Missing)
	assert.Contains(t, v.Register.Watch.Text, "4 of 8 markers in place (0, 1, 2, 3 not seen)")
	assert.Contains(t, v.Register.Watch.Text, "mm to sigma")
	assert.Greater(t, v.Pair.Range.Sigma, before.Pair.Range.Sigma, "the markers left say less")
	b.hidden = 0
	v = b.quiet(3)
	assert.Equal(t, "ok", v.Register.Watch.State)
	assert.LessOrEqual(t, v.Pair.Range.Sigma, before.Pair.Range.Sigma, "and they say it at once")
}

func TestHandsOverAllMarkersStopTheAnswersUntilTheyAreGone(t *testing.T) {
	racetest.Skip(t)
	b := newBench(t, nil)
	b.quiet(30)
	b.hidden = 8
	assert.Equal(t, live.OK, b.quiet(5).Health.Code, "a sleeve that passes")
	v, n := b.until(10, live.MarkersLost)
	assert.LessOrEqual(t, n, 5, "within a second")
	assert.Nil(t, v.Pair)
	assert.Contains(t, v.Health.Detail, "0 of 8")
	assert.NotEmpty(t, v.Health.Advice)
	b.hidden = 0
	_, n = b.until(5, live.OK)
	assert.Equal(t, 1, n)
	b.hidden = 8
	b.quiet(20)
	b.hidden, b.camera = 0, overhead(30)
	_, _ = b.until(10, live.Moved)
	v, _ = b.until(10, live.OK)
	assert.Contains(t, v.Notes[0].Text, "moved by 30.0 mm", "moved while nobody saw it")
}

func TestAfterAMoveTooFewMarkersAreReportedAndRetried(t *testing.T) {
	racetest.Skip(t)
	b := newBench(t, nil)
	b.quiet(30)
	b.camera, b.hidden = overhead(1), 5
	v, _ := b.until(10, live.Moved)
	b.quiet(10)
	v = b.hub.Newest()
	assert.Equal(t, live.Moved, v.Health.Code)
	assert.Contains(t, v.Health.Detail, "only 3 markers agree")
	assert.NotEmpty(t, v.Health.Advice)
	b.hidden = 0
	v, _ = b.until(10, live.OK)
	assert.NotNil(t, v.Pair)
}

func TestABumpedMarkerIsNamedAndLeftOut(t *testing.T) {
	racetest.Skip(t)
	b := newBench(t, nil)
	b.quiet(30)
	b.bumped = map[int]geom.Point{6: {X: 1.5}, 2: {Y: 25}} // one tracked, one found only by a search
	var v live.State
	for range 30 {
		v = b.picture(tenth)
		require.NotNil(t, v.Pair, "%+v", v.Health)
	}
	assert.Equal(t, []int{2, 6}, v.Register.Watch.Strays)
	assert.Contains(t, v.Register.Watch.Text, "(2, 6 moved)")
}

func TestARefocusedLensAsksForACalibration(t *testing.T) {
	racetest.Skip(t)
	b := newBench(t, nil)
	b.quiet(30)
	b.camera.Fx, b.camera.Fy = b.camera.Fx*1.014, b.camera.Fy*1.014
	v, n := b.until(10, live.LensChanged)
	assert.LessOrEqual(t, n, 8)
	assert.Contains(t, v.Health.Detail, "grew by 1.40 %")
	assert.Contains(t, v.Health.Advice, "calibrate lens")
	assert.Nil(t, v.Pair)
	v = b.quiet(100)
	assert.Equal(t, live.LensChanged, v.Health.Code, "it does not silently register again")
	assert.Equal(t, 1, v.Register.Times)
	b.camera = overhead(0)
	_, _ = b.until(5, live.OK)
}

// A picture that grew by up to a hundredth does not show whether the camera sank or its lens was refocused. When it stays so, the camera is
// registered again, and sigma allows for either until there is a new lens.
func TestAPictureThatGrewALittleIsRegisteredAgain(t *testing.T) {
	racetest.Skip(t)
	focal := func(v *live.State) float64 {
		table, err := calibration.ParseTableFile(v.Register.File)
		require.NoError(t, err)
		if len(table.Intrinsics.Covariance) == 0 {
			return 0
		}
		return math.Sqrt(table.Intrinsics.Covariance[0]) / table.Intrinsics.Fx
	}
	for name, c := range map[string]struct {
		change func(*calibration.Camera)
		grown  float64
	}{
		"refocused": {func(k *calibration.Camera) { k.Fx, k.Fy = k.Fx*1.004, k.Fy*1.004 }, 0.004},
		"sank":      {func(k *calibration.Camera) { k.T[2] -= 5 }, 0.0042},
		"raised":    {func(k *calibration.Camera) { k.T[2] += 5 }, 0.0042},
	} {
		b := newBench(t, nil)
		b.quiet(30)
		v := b.hub.Newest()
		require.Less(t, focal(&v), 1e-4, name)
		c.change(&b.camera)
		v, _ = b.until(10, live.LensChanged)
		assert.Contains(t, v.Health.Advice, "the camera's place is found again", name)
		assert.Nil(t, v.Pair, name)
		v, n := b.until(40, live.OK)
		assert.GreaterOrEqual(t, n, 25, "%s: an autofocus may still search", name)
		assert.Equal(t, 2, v.Register.Times, name)
		assert.Contains(t, v.Notes[0].Text, "Sigma allows for either; registered again from 8 markers.", name)
		assert.InDelta(t, c.grown, focal(&v), 0.0003, name)

		b.camera.T[0] += 4 // and is pushed later: what the lens is like is as unknown as before
		_, _ = b.until(10, live.Moved)
		v, _ = b.until(20, live.OK)
		assert.Equal(t, 3, v.Register.Times, name)
		assert.InDelta(t, c.grown, focal(&v), 0.0003, name)
	}
	b := newBench(t, nil)
	b.quiet(30)
	for i := range 60 { // a focus that searches is not registered
		b.camera = overhead(0)
		b.camera.T[2] -= 5 + 3*float64(i/10%2)
		v := b.picture(tenth)
		assert.Equal(t, 1, v.Register.Times)
	}
}

func TestMarkersThatFitWorseAfterAMoveCallTheLensInQuestion(t *testing.T) {
	for distortion, told := range map[float64]bool{0: false, -0.03: true} {
		b := newBench(t, func(_ *bench, o *benchParts) {
			o.Lens = func() (calibration.Intrinsics, bool) { return overhead(0).Intrinsics, true } // what the program believes
		})
		b.quiet(30)
		b.camera = overhead(8)
		b.camera.Distortion[0] = distortion // turned at the ring and pushed in one go
		b.until(5, live.Moved)
		v, _ := b.until(30, live.OK)
		t.Logf("k1 %v: %s", distortion, v.Notes[0].Text)
		assert.Equal(t, told, strings.Contains(v.Notes[0].Text, "was the lens refocused?"))
	}
}

// The check card's markers lie on the mat, and are none of those that watch over the camera's place.
func TestMarkersOfTheCheckCardAreNotCountedAsTheMats(t *testing.T) {
	racetest.Skip(t)
	b := newBench(t, func(b *bench, o *benchParts) {
		table := calibration.Table{Camera: overhead(0), Layout: o.Layout}
		o.File = CalibrationFile{Table: &table, Name: "table.json"}
		for i := range 6 {
			at := geom.Pixel{X: 300 + 40*float64(i), Y: 300}
			b.others = append(b.others, vision.Detection{ID: calibration.CheckCardIDs + i,
				Corners: [4]geom.Pixel{at, at.Add(geom.Pixel{X: 20}), at.Add(geom.Pixel{X: 20, Y: 20}), at.Add(geom.Pixel{Y: 20})}})
		}
	})
	for range 20 {
		w := b.quiet(1).Register.Watch
		assert.LessOrEqual(t, w.Seen, w.Of)
	}
	assert.Equal(t, "ok", b.quiet(1).Register.Watch.State)
}

func TestACalibrationFileIsWatchedAsSoonAsItsMarkersAreSeen(t *testing.T) {
	racetest.Skip(t)
	file := func(b *bench, o *benchParts) {
		table := calibration.Table{Camera: overhead(0), Layout: o.Layout, Hash: "00112233", Integrity: calibration.Edited}
		o.File = CalibrationFile{Table: &table, Name: "table.json"}
		b.hidden = 8
	}
	b := newBench(t, file)
	v := b.quiet(20)
	require.Nil(t, v.Pair, "nothing confirms the file")
	assert.Contains(t, v.Health.Detail, "Nothing confirms that the camera stands where table.json puts it")
	assert.Equal(t, "unwatched", v.Register.Watch.State)
	assert.Equal(t, "00112233", v.Register.BaseHash)
	assert.Contains(t, v.Register.Integrity, "changed by hand")
	b.hidden = 0
	v = b.quiet(20)
	require.NotNil(t, v.Pair)
	assert.Equal(t, "ok", v.Register.Watch.State)
	assert.Equal(t, "table.json", v.Register.From)

	b = newBench(t, file)
	b.hidden, b.camera = 0, overhead(4)
	assert.Nil(t, b.quiet(1).Pair, "what contradicts the markers answers nothing")
	v = b.quiet(20)
	assert.Equal(t, "the mat's markers", v.Register.From)
	assert.Contains(t, v.Notes[0].Text, "not where table.json puts it, by 4.0 mm")
	assert.Equal(t, "00112233", v.Register.BaseHash, "what the program started with stays on record")
	assert.Empty(t, v.Register.Integrity, "it is the file's no longer")
	assert.NotEqual(t, v.Register.BaseHash, v.Register.Hash)
}

func TestEachRegistrationIsRecordedWhereTheConfigurationSays(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, func(_ *bench, o *benchParts) { o.Record = filepath.Join(dir, "registration.json") })
	first := b.quiet(20)
	b.camera = overhead(3)
	b.quiet(2)
	second, _ := b.until(10, live.OK)
	table, err := calibration.LoadTable(filepath.Join(dir, "registration.json"))
	require.NoError(t, err)
	assert.Equal(t, second.Register.Hash, table.Hash, "the file is found by the hash that the answers name")
	kept, err := filepath.Glob(filepath.Join(dir, "registration.*."+first.Register.Hash[:8]+".json"))
	require.NoError(t, err)
	assert.Len(t, kept, 1)
	again, err := calibration.ParseTableFile(second.Register.File)
	require.NoError(t, err)
	assert.Equal(t, second.Register.Hash, again.Hash)

	b = newBench(t, func(_ *bench, o *benchParts) { o.Record = filepath.Join(dir, "no", "such", "place.json") })
	v := b.quiet(5)
	assert.NotNil(t, v.Pair, "the answers do not suffer")
	assert.Contains(t, v.Notes[0].Text, "could not be recorded")
}

// followed is a bench whose pipeline waits until ships are still, as the program does.
func followed(t *testing.T) *bench {
	b := newBench(t, func(_ *bench, o *benchParts) { o.Tracking = track.TrackerOptions{} })
	for range 4 {
		b.picture(frameTime)
	}
	return b
}

func TestAShipHasAnAnswerOnceItWasStillForHalfASecond(t *testing.T) {
	b := newBench(t, func(_ *bench, o *benchParts) { o.Tracking = track.TrackerOptions{} })
	for range 3 {
		v := b.picture(frameTime)
		assert.Nil(t, v.Pair)
		assert.Equal(t, "A1 was still for less than half a second", v.Reason)
	}
	assert.NotNil(t, b.picture(frameTime).Pair)
}

func TestAMovingShipHasNoAnswer(t *testing.T) {
	b := followed(t)
	b.ships[1].Pose.Y += 1.5
	v := b.picture(frameTime)
	assert.Nil(t, v.Pair)
	assert.Equal(t, "B1 is moving", v.Reason)
	track, _ := vision.Tracked{Tracks: v.Tracks}.Track("B1")
	assert.InDelta(t, 1.5, track.Moved.Millimeters(), 1e-9)
	for range 2 {
		assert.Nil(t, b.picture(frameTime).Pair, "not yet still for half a second")
	}
	assert.NotNil(t, b.picture(frameTime).Pair)
}

func TestACoveredShipHasNoAnswerAndKeepsTheChoice(t *testing.T) {
	b := followed(t)
	b.game.Choose(live.Choice{From: "B1", To: "A1", Arc: engine.ArcFront})
	assert.Equal(t, "B1", b.hub.Newest().Pair.From, "a choice shows at once")
	all := b.ships
	b.ships = b.ships[:1]
	v := b.picture(frameTime)
	assert.Nil(t, v.Pair, "whatever covers B1 may be carrying it")
	assert.Equal(t, "B1 is covered", v.Reason)
	for range 15 {
		v = b.picture(frameTime)
	}
	assert.Nil(t, v.Pair)
	assert.Equal(t, "B1 has not been seen for 3 s", v.Reason)
	assert.Equal(t, "B1", v.Choice.From)
	b.ships = all
	assert.NotNil(t, b.picture(frameTime).Pair, "it stands where it stood")
}

func TestAShipThatMovedUnseenIsNoted(t *testing.T) {
	b := followed(t)
	all := b.ships
	b.ships = b.ships[:1]
	b.picture(frameTime)
	b.ships = all
	b.ships[1].Pose.Y += 34
	for range 4 {
		b.picture(frameTime)
	}
	assert.Equal(t, "B1 moved 34 mm unseen.", b.hub.Newest().Notes[0].Text)
}

func TestWhatWasSeenThroughAnotherCalibrationIsForgotten(t *testing.T) {
	b := followed(t)
	b.pipeline.drop()
	v := b.picture(frameTime)
	assert.Nil(t, v.Pair)
	assert.Contains(t, v.Reason, "less than half a second")
}

func TestTheChoiceIsNeverOverruled(t *testing.T) {
	b := newBench(t, nil)
	b.game.Choose(live.Choice{Arc: engine.ArcRear})
	v := b.picture(0)
	assert.Empty(t, v.Choice.From)
	assert.Contains(t, v.Reason, "click")
}

func TestFailedSearchesAreReported(t *testing.T) {
	b := newBench(t, nil)
	b.picture(0)
	b.locate = errors.New("the picture is 1×1, the calibration is for 1280×720")
	v := b.picture(frameTime)
	assert.Equal(t, live.Broken, v.Health.Code)
	assert.Contains(t, v.Health.Detail, "1×1")
	assert.Nil(t, v.Pair)
	b.locate = nil
	assert.Equal(t, live.OK, b.picture(frameTime).Health.Code)
}

func TestAnUnmeasurableSceneIsReported(t *testing.T) {
	b := newBench(t, nil)
	b.ships[0].Base = engine.BaseUnknown
	v := b.picture(0)
	assert.Equal(t, live.Broken, v.Health.Code, "a ship without a size: %+v", v.Health)
	assert.Nil(t, v.Pair)
}

func TestObstaclesOfNoSceneAreNotWatched(t *testing.T) {
	b := newBench(t, nil)
	assert.False(t, b.picture(0).ObstaclesWatched)
	assert.Equal(t, engine.NoView, b.hub.Newest().Panel.Obstructed)
}

func TestPicturesOfAnotherSizeAreRegisteredAgain(t *testing.T) {
	for name, fromFile := range map[string]bool{"from the markers": false, "from a file": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench, o *benchParts) {
				if fromFile {
					o.File, o.Markers = CalibrationFile{Table: &calibration.Table{Camera: overhead(0), Layout: o.Layout}, Name: "table.json"}, nil
				}
			})
			require.Equal(t, live.OK, b.picture(0).Health.Code)
			b.size = image.Pt(640, 480)
			v := b.picture(frameTime)
			assert.Equal(t, live.NoCalibration, v.Health.Code, "another shape")
			assert.Nil(t, v.Pair)
			assert.Empty(t, v.Located.Scene.Ships, "nothing of the other pictures is shown on this one")
			assert.Contains(t, v.Notes[0].Text, "size changed from 1280×720 to 640×480")
			b.size = image.Pt(640, 360)
			b.camera.Fx, b.camera.Fy, b.camera.Cx, b.camera.Cy = 350, 350, 319.5, 179.5
			b.camera.Width, b.camera.Height = 640, 360
			v = b.picture(frameTime)
			require.Equal(t, live.OK, v.Health.Code, "%+v", v.Health)
			require.NotNil(t, v.Pair)
			assert.Equal(t, 640, b.located.Width)
		})
	}
}

func TestAFrozenCameraGivesNoAnswers(t *testing.T) {
	racetest.Skip(t)
	b := newBench(t, func(_ *bench, o *benchParts) { o.FrozenAfter = 2 * time.Second })
	b.quiet(30)
	b.look = "frozen"
	assert.NotNil(t, b.quiet(19).Pair, "for two seconds it may be chance")
	v := b.quiet(2)
	assert.Equal(t, live.Frozen, v.Health.Code)
	assert.Nil(t, v.Pair)
	assert.Equal(t, "picture frozen", v.Panel.Reason)
	b.look = ""
	assert.NotNil(t, b.quiet(1).Pair, "and back with the first new one")

	b = newBench(t, nil) // a directory with one picture
	b.look = "frozen"
	for range 60 {
		assert.Equal(t, live.OK, b.picture(time.Second).Health.Code)
	}
}

// After pictures that were not good, and after a calibration, what is known of the table is old until a picture is searched.
// Until then nobody may see it as an answer.
func TestNoOldAnswerComesBackBeforeTheSearch(t *testing.T) {
	racetest.Skip(t)
	for name, c := range map[string]struct {
		look string
		busy bool
		want live.Code
	}{"frozen": {"frozen", false, live.Frozen}, "calibrating": {"", true, live.Calibrating}} {
		t.Run(name, func(t *testing.T) {
			busy := false
			b := newBench(t, func(_ *bench, o *benchParts) {
				o.FrozenAfter = frozenCamera
				o.Busy = func() bool { return busy }
			})
			require.Equal(t, 2, b.quiet(30).Pair.Range.Band)
			b.look, busy = c.look, c.busy
			require.Equal(t, c.want, b.quiet(20).Health.Code)
			b.ships[1] = ship("B1", 300, 400) // unseen, from range 2 to range 1
			b.look, busy = "", false
			v := b.wait(0) // before the next picture
			assert.Equal(t, c.want, v.Health.Code)
			assert.Nil(t, v.Pair)
			searched := 0
			b.locating = func() {
				if searched++; searched == 1 {
					assert.Nil(t, b.hub.Newest().Pair, "an old answer before the search")
					assert.Equal(t, c.want, b.hub.Newest().Health.Code)
				}
			}
			v = b.quiet(20)
			require.NotZero(t, searched)
			assert.Equal(t, live.OK, v.Health.Code)
			require.NotNil(t, v.Pair)
			assert.Equal(t, 1, v.Pair.Range.Band)
		})
	}
}

func TestABlackOrBlankPictureGivesNoAnswersAfterASecond(t *testing.T) {
	for look, title := range map[string]string{"dark": "Black picture", "blank": "Blank picture"} {
		b := newBench(t, nil)
		b.quiet(30)
		b.look, b.hidden = look, 8
		assert.Equal(t, live.OK, b.quiet(7).Health.Code, look)
		v := b.quiet(5)
		assert.Equal(t, live.Dark, v.Health.Code, look)
		assert.Equal(t, title, v.Health.Title)
		assert.Nil(t, v.Pair)
		b.look, b.hidden = "", 0
		assert.NotNil(t, b.quiet(2).Pair, look)
	}
	b := newBench(t, func(b *bench, _ *benchParts) { b.look, b.hidden = "dark", 8 })
	v := b.quiet(15)
	assert.Equal(t, live.Dark, v.Health.Code, "said rather than that the markers are missing")
}

// The files of a directory come again and again with the times that they have: what each
// shows now counts, whatever was said of the one before.
func TestThePicturesOfADirectoryCountThoughTheyAreNotNewer(t *testing.T) {
	b := newBench(t, nil)
	made := b.now
	look := func(name string, captured time.Time, ships ...engine.Ship) live.State {
		b.now = b.now.Add(time.Second)
		b.seq++
		b.ships = ships
		b.pipeline.Update(vision.Frame{Gray: b.gray(), Name: name, Seq: b.seq, Captured: captured})
		return b.hub.Newest()
	}
	ids := func(v live.State) (out []string) {
		for _, s := range v.Located.Scene.Ships {
			out = append(out, s.ID)
		}
		return out
	}
	look("1.jpg", made, ship("A1", 300, 300))
	v := look("2.jpg", made.Add(-time.Hour), ship("A2", 300, 300))
	assert.Equal(t, []string{"A2"}, ids(v), "an older picture of another table")
	v = look("3.jpg", made.Add(-time.Hour), ship("A3", 300, 300))
	assert.Equal(t, []string{"A3"}, ids(v), "another picture of the same second")
	b.watched = true
	v = look("3.jpg", made.Add(-time.Hour), ship("A3", 300, 300))
	assert.True(t, v.ObstaclesWatched, "the same picture, by what was learnt since")
	b.watched = false
	v = look("3.jpg", made.Add(-time.Hour), ship("A3", 300, 300))
	assert.False(t, v.ObstaclesWatched, "and by a mat that was deleted")
	assert.Equal(t, []string{"A3"}, ids(v))
}

func TestNoAnswerUsesStaleCalibrations(t *testing.T) {
	racetest.Skip(t)
	fails := false
	b := newBench(t, func(b *bench, o *benchParts) {
		o.NewLocator = func(calibration.Table) (Locator, error) {
			if fails {
				return nil, errors.New("out of order")
			}
			return b, nil
		}
	})
	require.NotNil(t, b.quiet(30).Pair)
	fails = true
	b.pipeline.Relearn()
	assert.Nil(t, b.quiet(1).Pair)
	fails = false
	assert.NotNil(t, b.quiet(30).Pair, "it is tried again")
}

// spy is a marker detector and a locator that tells when it is used.
type spy struct {
	vision.MarkerDetector
	Locator
	used func(what string)
}

func (s spy) DetectMarkers(g *image.Gray) ([]vision.Detection, error) {
	s.used("detect")
	return s.MarkerDetector.DetectMarkers(g)
}

func (s spy) Locate(f vision.Frame) (vision.Located, error) {
	s.used("locate")
	return s.Locator.Locate(f)
}

// What is learnt before the first registration is used at once, and no locator takes its place with the next picture: the
// search for obstacles that it began would go on beside another.
func TestWhatWasLearntBeforeARegistrationIsInstalledOnce(t *testing.T) {
	locators, fails := 0, true
	b := newBench(t, func(b *bench, o *benchParts) {
		o.Markers = spy{b, b, func(string) {
			if locators == 0 {
				b.pipeline.Relearn()
			}
		}}
		o.NewLocator = func(calibration.Table) (Locator, error) {
			if locators++; fails {
				return nil, errors.New("not yet")
			}
			return b, nil
		}
	})
	b.quiet(1)
	require.Positive(t, locators)
	fails = false
	require.NotNil(t, b.quiet(30).Pair)
	settled := locators
	b.pipeline.Relearn()
	b.quiet(30)
	assert.Equal(t, settled+1, locators, "what is learnt later is used too")

	locators = 0
	b.pipeline.registration.Invalidate(nil)
	require.NotNil(t, b.quiet(30).Pair)
	assert.Equal(t, 1, locators)
}

// While the camera's place is searched for, which takes a while, no one is shown what was
// seen through the registration before.
func TestNothingOfTheRegistrationBeforeIsShownWhileAnotherIsFound(t *testing.T) {
	for name, change := range map[string]func(*bench, *Adopted){
		"another size": func(b *bench, _ *Adopted) {
			b.camera.Width, b.camera.Height, b.size = 640, 360, image.Pt(640, 360)
			b.camera.Fx, b.camera.Fy, b.camera.Cx, b.camera.Cy = 350, 350, 319.5, 179.5
		},
		"another lens": func(b *bench, a *Adopted) { a.SetLens(b.camera.Intrinsics, "lens.json") },
	} {
		shown := map[string]live.State{}
		var adopted Adopted
		b := newBench(t, func(b *bench, o *benchParts) {
			s := spy{b, b, func(what string) { shown[what] = b.hub.Newest() }}
			o.Markers, o.Adopted = s, &adopted
			o.NewLocator = func(t calibration.Table) (Locator, error) { b.located = t; return s, nil }
		})
		b.picture(0)
		require.NotNil(t, b.picture(tenth).Pair, name)
		clear(shown)
		change(b, &adopted)
		v := b.picture(tenth)
		require.Equal(t, live.OK, v.Health.Code, name)
		require.Len(t, shown, 2, name)
		assert.Equal(t, live.Starting, shown["detect"].Health.Code, name)
		for what, v := range shown {
			assert.Empty(t, v.Located.Scene.Ships, "%s: %s", name, what)
			assert.Empty(t, v.Result.Pairs, "%s: %s", name, what)
		}

		b.locate = errors.New("out of order")
		require.Equal(t, live.Broken, b.picture(tenth).Health.Code, name)
		b.locate = nil
		b.pipeline.registration.Invalidate(nil)
		v = b.picture(tenth)
		require.Equal(t, live.OK, v.Health.Code, name)
		assert.Equal(t, live.OK, shown["locate"].Health.Code, "%s: what was wrong before is not said of the next search", name)
	}
}
