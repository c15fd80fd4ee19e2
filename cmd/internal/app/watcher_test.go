package app

import (
	"errors"
	"image"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"context"

	"sightline/calibration"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/hardware"
	"sightline/vision"
)

// bench is a watcher with everything round it faked: the pictures are empty, the
// markers and ships are where the test puts them, and time stands still.
type bench struct {
	t       *testing.T
	now     time.Time
	status  vision.FeedStatus
	camera  calibration.Camera // where the camera truly is
	hidden  int                // markers under a hand
	detect  error
	lens    bool
	ships   []engine.Ship
	locate  error
	located calibration.Table // what the newest locator was made for
	seq     uint64
	size    image.Point // of the pictures; zero: 1280×720

	hub     *web.Hub
	watcher *Watcher
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
	code, err := vision.CodeOfID(id)
	if err != nil {
		panic(err)
	}
	return engine.Ship{ID: id, Player: code.Player(), Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: x, Y: y}}, Covariance: geom.Cov3{0.01, 0, 0, 0, 0.01, 0, 0, 0, 1e-6}}
}

func newBench(t *testing.T, change func(*bench, *WatcherOptions)) *bench {
	b := &bench{
		t: t, now: time.Unix(1700000000, 0), camera: overhead(0), lens: true,
		status: vision.FeedStatus{State: vision.FeedLive, Source: "/dev/video0"},
		ships:  []engine.Ship{ship("A1", 300, 300), ship("B1", 300, 487)},
		hub:    web.NewHub(web.View{}),
	}
	o := WatcherOptions{
		Frames: b, Markers: b, Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
		Rules: Rules{Edition: engine.Rules25, Profile: "nominal", Sigmas: 3},
		Lens:  func() (calibration.Intrinsics, bool) { return b.camera.Intrinsics, b.lens },
		Hub:   b.hub, PanelName: func() string { return "bench" }, Now: func() time.Time { return b.now },
		Log:        slog.New(slog.NewTextHandler(io.Discard, nil)),
		NewLocator: func(t calibration.Table) (Locator, error) { b.located = t; return b, nil },
	}
	if change != nil {
		change(b, &o)
	}
	b.watcher = NewWatcher(o)
	return b
}

func (b *bench) Next(ctx context.Context, _ uint64) (vision.Frame, error) {
	<-ctx.Done()
	return vision.Frame{}, ctx.Err()
}
func (b *bench) Status() vision.FeedStatus { return b.status }

func (b *bench) DetectMarkers(*image.Gray) ([]vision.Detection, error) {
	var out []vision.Detection
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	for _, m := range layout.Markers[b.hidden:] {
		d := vision.Detection{ID: m.ID}
		for i, c := range m.Corners() {
			d.Corners[i], _ = b.camera.PixelOf(c, m.Z)
		}
		out = append(out, d)
	}
	return out, b.detect
}

func (b *bench) Locate(f vision.Frame) (vision.Located, error) {
	return vision.Located{Scene: engine.Scene{Ships: append([]engine.Ship(nil), b.ships...)}, Seq: f.Seq}, b.locate
}

// gray is an empty picture of the camera's size.
func (b *bench) gray() *image.Gray {
	if b.size == (image.Point{}) {
		b.size = image.Pt(1280, 720)
	}
	return image.NewGray(image.Rectangle{Max: b.size})
}

// picture lets a picture come in after a time, and returns what is then known.
func (b *bench) picture(after time.Duration) web.View {
	b.now = b.now.Add(after)
	b.seq++
	b.watcher.look(vision.Frame{Gray: b.gray(), Seq: b.seq})
	return b.hub.Newest()
}

// wait lets time pass without a picture.
func (b *bench) wait(d time.Duration) web.View {
	b.now = b.now.Add(d)
	b.watcher.update(func() {})
	return b.hub.Newest()
}

const frameTime = 200 * time.Millisecond

func TestItRegistersItselfAndAnswers(t *testing.T) {
	b := newBench(t, nil)
	v := b.picture(0)
	require.Equal(t, web.OK, v.Health.Code, "%+v", v.Health)
	assert.Equal(t, "the mat's markers", v.Register.From)
	assert.Len(t, v.Register.Markers, 8)
	assert.Equal(t, web.Choice{From: "A1", To: "B1", Arc: engine.ArcFront}, v.Choice, "a first pair is chosen by itself")
	require.NotNil(t, v.Pair)
	assert.InDelta(t, 147, v.Pair.Range.Distance.Millimeters(), 1e-9)
	assert.Equal(t, 2, v.Panel.Band)
	assert.Equal(t, engine.Rules25, v.Located.Scene.Rules)
	assert.True(t, v.Region.In(image.Rect(0, 0, 1280, 720)) && !v.Region.Empty(), "%v", v.Region)
}

func TestAnOldPictureGivesNoAnswer(t *testing.T) {
	b := newBench(t, nil)
	b.picture(0)
	assert.Equal(t, web.OK, b.wait(2*time.Second).Health.Code, "exactly two seconds are not yet old")
	v := b.wait(time.Second)
	assert.Equal(t, web.Stale, v.Health.Code)
	assert.Contains(t, v.Health.Detail, "3 s old")
	assert.Nil(t, v.Pair)
	assert.Equal(t, engine.NoView, v.Panel.Range)
	assert.Zero(t, hardware.Lights(v.Panel))
	assert.NotNil(t, b.picture(0).Pair, "and it comes back by itself")
}

func TestAnUnpluggedCameraIsSaidAndComesBack(t *testing.T) {
	b := newBench(t, nil)
	b.picture(0)
	b.status.State, b.status.Err = vision.FeedOpening, "no such device"
	v := b.wait(3 * time.Second)
	assert.Equal(t, web.NoCamera, v.Health.Code)
	assert.Equal(t, "/dev/video0: no such device", v.Health.Detail)
	assert.NotEmpty(t, v.Health.Advice)
	assert.Equal(t, "no camera", v.Panel.Reason)
	b.status.State, b.status.Err = vision.FeedLive, ""
	assert.Equal(t, web.OK, b.picture(time.Second).Health.Code)
}

func TestBeforeTheFirstPicture(t *testing.T) {
	b := newBench(t, nil)
	b.status.State = vision.FeedOpening
	assert.Equal(t, web.Starting, b.wait(0).Health.Code)
	b.status.Err = "no such file or directory"
	assert.Equal(t, web.NoCamera, b.wait(0).Health.Code)
}

func TestWithoutALensItSaysHowToGetOne(t *testing.T) {
	b := newBench(t, func(b *bench, _ *WatcherOptions) { b.lens = false })
	v := b.picture(0)
	assert.Equal(t, web.NoCalibration, v.Health.Code)
	assert.Contains(t, v.Health.Detail, "lens")
	assert.Contains(t, v.Health.Advice, "calibrate lens")
	assert.Equal(t, uint64(1), v.Frame.Seq, "the picture is shown all the same")
	assert.Empty(t, v.Located.Scene.Ships)
	b.lens = true
	assert.Equal(t, web.OK, b.picture(time.Second).Health.Code)
}

func TestTooFewMarkersAreSaid(t *testing.T) {
	b := newBench(t, func(b *bench, _ *WatcherOptions) { b.hidden = 6 })
	v := b.picture(0)
	assert.Equal(t, web.NoCalibration, v.Health.Code)
	assert.Contains(t, v.Health.Advice, "mat-markers")
}

func TestAProgramThatCannotSeeMarkersSaysSo(t *testing.T) {
	b := newBench(t, func(_ *bench, o *WatcherOptions) { o.Markers = nil })
	v := b.picture(0)
	assert.Equal(t, web.NoCalibration, v.Health.Code)
	assert.Contains(t, v.Health.Detail, "OpenCV")
}

func TestALensForAnotherShapeOfPictureIsSaid(t *testing.T) {
	b := newBench(t, func(b *bench, _ *WatcherOptions) { b.camera.Intrinsics.Height = 960 })
	v := b.picture(0)
	assert.Equal(t, web.NoCalibration, v.Health.Code)
	assert.Contains(t, v.Health.Detail, "1280×960")
}

func TestACalibrationFileIsUsedAndFitsASmallerPicture(t *testing.T) {
	b := newBench(t, func(_ *bench, o *WatcherOptions) {
		big := overhead(0)
		big.Width, big.Height, big.Fx, big.Fy, big.Cx, big.Cy = 2560, 1440, 1400, 1400, 1279.5, 719.5
		o.Table, o.TableName, o.Markers = &calibration.Table{Camera: big, Layout: o.Layout}, "table.json", nil
	})
	v := b.picture(0)
	require.Equal(t, web.OK, v.Health.Code, "%+v", v.Health)
	assert.Equal(t, "table.json", v.Register.From)
	assert.InDelta(t, 700, b.located.Fx, 1e-9)
}

func TestACalibrationFileForAnotherCameraIsSaid(t *testing.T) {
	b := newBench(t, func(_ *bench, o *WatcherOptions) {
		other := overhead(0)
		other.Height = 960
		o.Table, o.TableName, o.Markers = &calibration.Table{Camera: other, Layout: o.Layout}, "table.json", nil
	})
	v := b.picture(0)
	assert.Equal(t, web.NoCalibration, v.Health.Code)
	assert.Contains(t, v.Health.Detail, "table.json: the lens was calibrated for 1280×960")
	assert.Contains(t, v.Health.Advice, "calibrate table")
}

func TestACameraThatMovedIsNoticedAndRegisteredAgain(t *testing.T) {
	b := newBench(t, nil)
	b.picture(0)
	b.camera = overhead(3)
	assert.NotNil(t, b.picture(frameTime).Pair, "nobody looks at the markers on every picture")
	v := b.picture(time.Second)
	assert.Nil(t, v.Pair)
	assert.Equal(t, "the camera moved", v.Reason)
	v = b.picture(frameTime)
	require.NotNil(t, v.Pair, "the next picture settles it")
	assert.Contains(t, v.Notes[0].Text, "The camera moved by 3.0 mm")
	assert.InDelta(t, -454.2, b.located.T[0], 1e-3)
}

func TestAMarkerThatWasDisturbedOnceIsNoMove(t *testing.T) {
	b := newBench(t, nil)
	b.picture(0)
	b.camera = overhead(3)
	assert.Equal(t, "the camera moved", b.picture(time.Second).Reason)
	b.camera = overhead(0)
	v := b.picture(frameTime)
	assert.NotNil(t, v.Pair)
	assert.Len(t, v.Notes, 1, "only the first registration: %v", v.Notes)
}

func TestHandsOverTheMarkersChangeNothing(t *testing.T) {
	b := newBench(t, nil)
	b.picture(0)
	b.hidden = 8
	for range 25 {
		require.Equal(t, web.OK, b.picture(time.Second).Health.Code)
	}
	assert.Contains(t, b.hub.Newest().Notes[0].Text, "markers are not seen", "but people are told after a while")
	b.hidden, b.camera = 5, overhead(3)
	assert.NotNil(t, b.picture(time.Second).Pair, "three markers do not contradict eight")
}

func TestAMovingShipHasNoAnswer(t *testing.T) {
	b := newBench(t, nil)
	b.picture(0)
	b.ships[1].Pose.Y += 1.5
	v := b.picture(frameTime)
	assert.Nil(t, v.Pair)
	assert.Equal(t, "B1 is moving", v.Reason)
	assert.InDelta(t, 1.5, v.Moving["B1"].Millimeters(), 1e-9)
	b.ships[1].Pose.Y += 0.4
	assert.NotNil(t, b.picture(frameTime).Pair, "less than a millimetre is measuring noise")
}

func TestAShipThatIsNotSeenKeepsTheChoice(t *testing.T) {
	b := newBench(t, nil)
	b.picture(0)
	b.watcher.Choose(web.Choice{From: "B1", To: "A1", Arc: engine.ArcFront})
	assert.Equal(t, "B1", b.hub.Newest().Pair.From, "a choice shows at once")
	all := b.ships
	b.ships = b.ships[:1]
	v := b.picture(frameTime)
	assert.Nil(t, v.Pair)
	assert.Equal(t, "B1 is not seen", v.Reason)
	assert.Equal(t, "B1", v.Choice.From)
	b.ships = all
	assert.NotNil(t, b.picture(frameTime).Pair)
}

func TestNobodysChoiceIsOverruled(t *testing.T) {
	b := newBench(t, nil)
	b.watcher.Choose(web.Choice{Arc: engine.ArcRear})
	v := b.picture(0)
	assert.Empty(t, v.Choice.From)
	assert.Contains(t, v.Reason, "click")
}

func TestWhatCannotBeLocatedIsSaid(t *testing.T) {
	b := newBench(t, nil)
	b.picture(0)
	b.locate = errors.New("the picture is 1×1, the calibration is for 1280×720")
	v := b.picture(frameTime)
	assert.Equal(t, web.Broken, v.Health.Code)
	assert.Contains(t, v.Health.Detail, "1×1")
	assert.Nil(t, v.Pair)
	b.locate = nil
	assert.Equal(t, web.OK, b.picture(frameTime).Health.Code)
}

func TestASceneThatCannotBeMeasuredIsSaid(t *testing.T) {
	b := newBench(t, nil)
	b.ships = append(b.ships, b.ships[0])
	v := b.picture(0)
	assert.Equal(t, web.Broken, v.Health.Code, "two ships of one name: %+v", v.Health)
	assert.Nil(t, v.Pair)
}

func TestObstaclesOfNoSceneAreNotWatched(t *testing.T) {
	b := newBench(t, nil)
	assert.False(t, b.picture(0).ObstaclesWatched)
	assert.Equal(t, engine.NoView, b.hub.Newest().Panel.Obstructed)
}

func TestPicturesOfAnotherSizeAreRegisteredAnew(t *testing.T) {
	for name, fromFile := range map[string]bool{"from the markers": false, "from a file": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench, o *WatcherOptions) {
				if fromFile {
					o.Table, o.TableName, o.Markers = &calibration.Table{Camera: overhead(0), Layout: o.Layout}, "table.json", nil
				}
			})
			require.Equal(t, web.OK, b.picture(0).Health.Code)
			b.size = image.Pt(640, 480)
			v := b.picture(frameTime)
			assert.Equal(t, web.NoCalibration, v.Health.Code, "another shape")
			assert.Nil(t, v.Pair)
			assert.Empty(t, v.Located.Scene.Ships, "nothing of the other pictures is shown on this one")
			assert.Contains(t, v.Notes[0].Text, "size changed from 1280×720 to 640×480")
			b.size = image.Pt(640, 360)
			b.camera.Fx, b.camera.Fy, b.camera.Cx, b.camera.Cy = 350, 350, 319.5, 179.5
			b.camera.Width, b.camera.Height = 640, 360
			v = b.picture(frameTime)
			require.Equal(t, web.OK, v.Health.Code, "%+v", v.Health)
			require.NotNil(t, v.Pair)
			assert.Equal(t, 640, b.located.Width)
		})
	}
}

func TestAFrozenCameraIsTold(t *testing.T) {
	frozen := func(v web.View) (n int) {
		for _, note := range v.Notes {
			if strings.Contains(note.Text, "frozen") {
				n++
			}
		}
		return n
	}
	b := newBench(t, func(_ *bench, o *WatcherOptions) { o.Camera = true })
	for range 15 {
		assert.Zero(t, frozen(b.picture(time.Second)))
	}
	for range 60 {
		b.picture(time.Second)
	}
	assert.Equal(t, 1, frozen(b.hub.Newest()), "once, not every second")
	assert.Equal(t, web.OK, b.hub.Newest().Health.Code)

	b = newBench(t, nil) // a directory with one picture
	for range 60 {
		b.picture(time.Second)
	}
	assert.Zero(t, frozen(b.hub.Newest()))
}
