package app

import (
	"context"
	"image"
	"log/slog"
	"testing"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/pipeline"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/token"
)

// deskParts are the parts of a desk.
type deskParts struct {
	gameOptions
	pipelineOptions
}

type (
	gameOptions     = game.Options
	pipelineOptions = pipeline.Options
)

// desk is a pipeline and its game with a camera round them that is faked: the markers and
// ships are where the test puts them, and time stands still.
type desk struct {
	t      *testing.T
	now    time.Time
	status capture.FeedStatus
	camera calibration.Camera
	ships  []engine.Ship
	locate error // of Locate
	seq    uint64

	hub      *live.Hub
	game     *game.Game
	pipeline *pipeline.Pipeline
	locators func(calibration.Table) (pipeline.Locator, error)
}

// The pictures of a desk come so often.
const deskFrame = 200 * time.Millisecond

func shipAt(id string, x, y float64) engine.Ship {
	code, err := token.CodeOfID(id)
	if err != nil {
		panic(err)
	}
	return engine.Ship{
		ID: id, Player: code.Player(), Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: x, Y: y}},
		Covariance: geom.Cov3{0.01, 0, 0, 0, 0.01, 0, 0, 0, 1e-6},
	}
}

func newDesk(t *testing.T, change func(*desk, *deskParts)) *desk {
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	b := &desk{
		t: t, now: time.Unix(1700000000, 0), hub: live.NewHub(live.State{}),
		status: capture.FeedStatus{State: capture.FeedLive, Source: "/dev/video0"},
		ships:  []engine.Ship{shipAt("A1", 300, 300), shipAt("B1", 300, 487)},
		camera: calibration.Camera{ // it looks straight down on the middle of the mat
			Intrinsics: calibration.Intrinsics{Width: 1280, Height: 720, Fx: 700, Fy: 700, Cx: 639.5, Cy: 359.5},
			Extrinsics: calibration.Extrinsics{R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, T: calibration.Vec3{-457.2, 457.2, 1200}},
		},
	}
	now := func() time.Time { return b.now }
	o := deskParts{
		game.Options{
			Camera: b.Status, Rules: game.Rules{Edition: engine.Rules25, Profile: "nominal", Sigmas: 3}, Hub: b.hub,
			PanelName: func() string { return "desk" }, Now: now, Log: slog.New(slog.DiscardHandler),
		},
		pipeline.Options{
			Frames: b, Now: now,
			RegistrationOptions: pipeline.RegistrationOptions{
				Markers: b, Track: b.track, Layout: layout, Log: slog.New(slog.DiscardHandler),
				Lens: func() (calibration.Intrinsics, bool) { return b.camera.Intrinsics, true },
			},
			NewLocator: func(calibration.Table) (pipeline.Locator, error) { return b, nil },
		},
	}
	o.Tracking.SettleFrames = 1 // one picture is enough, where time is not what is tested
	if change != nil {
		change(b, &o)
	}
	o.Mat, b.locators = o.Layout, o.NewLocator
	b.game = game.New(o.gameOptions)
	o.Game = b.game
	b.pipeline = pipeline.New(o.pipelineOptions)
	return b
}

func (b *desk) Next(ctx context.Context, _ uint64) (vision.Frame, error) {
	<-ctx.Done()
	return vision.Frame{}, ctx.Err()
}
func (b *desk) Status() capture.FeedStatus { return b.status }

func (b *desk) DetectMarkers(*image.Gray) (out []vision.Detection, err error) {
	for _, m := range calibration.DefaultLayout(calibration.MatSide, calibration.MatSide).Markers {
		d := vision.Detection{ID: m.ID}
		for i, c := range m.Corners() {
			d.Corners[i], _ = b.camera.PixelOf(c, m.Z)
		}
		out = append(out, d)
	}
	return out, nil
}

func (b *desk) track(g *image.Gray, _ []calibration.MarkerSighting) []calibration.MarkerSighting {
	found, _ := b.DetectMarkers(g)
	return vision.Sightings(found)
}

func (b *desk) Locate(f vision.Frame) (vision.Located, error) {
	return vision.Located{Scene: engine.Scene{Ships: append([]engine.Ship(nil), b.ships...)}, Captured: f.Captured, Seq: f.Seq}, b.locate
}

// picture lets a picture come in after a time, and returns what is then known. No two
// pictures are the same.
func (b *desk) picture(after time.Duration) live.State {
	b.now = b.now.Add(after)
	b.seq++
	g := image.NewGray(image.Rect(0, 0, 1280, 720))
	for i := range g.Pix {
		g.Pix[i] = 128
		if i%g.Stride > 640 {
			g.Pix[i] = 30
		}
	}
	for y := range 720 { // every row of a camera's picture has noise
		g.Pix[y*g.Stride+int(b.seq)%1280]++
	}
	b.pipeline.Update(vision.Frame{Gray: g, Seq: b.seq})
	return b.hub.Newest()
}

// wait lets time pass without a picture.
func (b *desk) wait(d time.Duration) live.State {
	b.now = b.now.Add(d)
	b.game.Publish()
	return b.hub.Newest()
}

// freeze holds what is seen or lets it go, whatever it is.
func (b *desk) freeze(hold bool) { _ = b.game.Hold(live.HoldRequest{Hold: hold, Judge: !hold}) }
