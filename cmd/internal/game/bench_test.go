package game

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/token"
)

// gameBench is a game without a camera: it receives the ships that the test puts on the
// table, and time stands still.
type gameBench struct {
	t     *testing.T
	now   time.Time
	ships []engine.Ship

	hub  *live.Hub
	game *Game
}

func gameShip(id string, x, y float64) engine.Ship {
	code, err := token.CodeOfID(id)
	if err != nil {
		panic(err)
	}
	return engine.Ship{
		ID: id, Player: code.Player(), Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: x, Y: y}},
		Covariance: geom.Cov3{0.01, 0, 0, 0, 0.01, 0, 0, 0, 1e-6},
	}
}

func newGameBench(t *testing.T, change func(*gameBench, *Options)) *gameBench {
	b := &gameBench{
		t: t, now: time.Unix(1700000000, 0), hub: live.NewHub(live.State{}),
		ships: []engine.Ship{gameShip("A1", 300, 300), gameShip("B1", 300, 487)},
	}
	table := calibration.Table{Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), Camera: calibration.Camera{
		Intrinsics: calibration.Intrinsics{Width: 1280, Height: 720, Fx: 700, Fy: 700, Cx: 639.5, Cy: 359.5},
		Extrinsics: calibration.Extrinsics{R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, T: calibration.Vec3{-457.2, 457.2, 1200}},
	}}
	file, hash, err := table.Sealed()
	require.NoError(t, err)
	o := Options{
		Camera: func() capture.FeedStatus { return capture.FeedStatus{State: capture.FeedLive, Source: "/dev/video0"} },
		Rules:  Rules{Edition: engine.Rules25, Profile: "nominal", Sigmas: 3}, Mat: table.Layout, Hub: b.hub,
		PanelName: func() string { return "bench" }, Now: func() time.Time { return b.now }, Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(b, &o)
	}
	b.game = New(o)
	b.game.Update(func(s *Seen) {
		s.Health, s.Register = live.Health{Code: live.OK}, live.Register{From: "table.json", File: file, Hash: hash}
	})
	return b
}

// picture lets a picture come in after a time, on which all ships stand.
func (b *gameBench) picture(after time.Duration) live.State {
	b.now = b.now.Add(after)
	rules := b.game.Rules()
	scene := engine.Scene{Ships: append([]engine.Ship(nil), b.ships...), Rules: rules.Edition, Profile: rules.Profile}
	result, err := engine.Measure(&scene, engine.Options{Sigmas: rules.Sigmas})
	require.NoError(b.t, err)
	b.game.Update(func(s *Seen) {
		s.FrameAt, s.Located, s.Result, s.Tracks = b.now, vision.Located{Scene: scene, Captured: b.now}, result, nil
		for _, ship := range scene.Ships {
			s.Tracks = append(s.Tracks, vision.Track{Ship: ship, State: vision.Still, Captured: b.now, Frames: 3})
		}
	})
	return b.hub.Newest()
}

// wait lets time pass without a picture.
func (b *gameBench) wait(d time.Duration) live.State {
	b.now = b.now.Add(d)
	b.game.Publish()
	return b.hub.Newest()
}

// freeze holds what is seen or lets it go, whatever it is.
func (b *gameBench) freeze(hold bool) { _ = b.game.Hold(live.HoldRequest{Hold: hold, Judge: !hold}) }
