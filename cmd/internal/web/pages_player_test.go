//go:build browser

package web_test

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/status"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// playerPages are the player's page in its states.
func playerPages() []pageCase {
	table := func(change func(*live.State), from, to string) func(*testing.T) *httptest.Server {
		return func(t *testing.T) *httptest.Server {
			f := newFakeTable(t)
			f.change(change)
			f.choose(live.Choice{From: from, To: to, Arc: engine.ArcFront})
			return steady(t, f)
		}
	}
	pictureThere := browsertest.Poll(`document.getElementById("nopicture").hidden`, nil)
	return []pageCase{
		{name: "player", path: "/", ready: "#table .measure line", open: table(withObstacles, "A1", "B1"), do: []chromedp.Action{
			pictureThere, chromedp.Click(`.switch [data-view="try"]`),
			chromedp.Click(`#try-grid [data-move="bank right 2"]`), chromedp.WaitVisible(`#try-answer`),
		}},
		{name: "player-close", path: "/", ready: "#doubts", open: table(func(state *live.State) {}, "A2", "B2"), brief: true,
			do: []chromedp.Action{
				pictureThere, chromedp.Click(`.switch [data-view="camera"]`), chromedp.Click("#sees"), chromedp.WaitVisible("#seen-rows tr"),
			}},
		{name: "player-rules", path: "/", ready: `#answer[data-outcome="no_view"]`, open: table(func(state *live.State) {
			state.Policy = live.Policy{Measuring: live.MeasuringEdition}
			state.Held, state.Hold = true, &live.Held{Number: 1, At: state.At, AskedBy: "player 2"}
		}, "A1", "B1"), brief: true, do: []chromedp.Action{pictureThere, chromedp.Click("#agree summary")}},
		{name: "player-empty", path: "/", ready: "#banner", brief: true, open: table(func(state *live.State) {
			state.Health = live.Health{Code: live.NoCamera, Title: "No camera", Detail: "/dev/video0: no such device",
				Advice: "Check that it is plugged in or that its stream runs, and that no other program uses it. Retrying automatically."}
			state.Located.Scene.Ships, state.Located.Ships, state.Result, state.Frame = nil, nil, engine.Result{}, vision.Frame{}
		}, "", "")},
		{name: "player-no-ships", path: "/", ready: "#empty-steps a", brief: true, open: func(t *testing.T) *httptest.Server {
			f := newFakeTable(t)
			f.change(func(state *live.State) {
				state.Located.Scene.Ships, state.Located.Ships, state.Result = nil, nil, engine.Result{}
				state.Register.Watch = live.Watch{State: "ok", Seen: 8, Of: 8}
			})
			f.options = func(o *web.Options) { // the pages that the next steps lead to
				o.Calibration, o.Learning = live.NewCalibrationHub(), &fakeLearning{state: taught()}
			}
			return steady(t, f)
		}, do: []chromedp.Action{pictureThere}},
		{name: "remote", path: "/remote", ready: `#answer[data-kind="shot"]`, open: table(func(*live.State) {}, "A1", "B1"), brief: true},
		{name: "status", path: "/status", ready: "#log p", brief: true, changing: true, open: func(t *testing.T) *httptest.Server {
			f := newFakeTable(t)
			tail := status.NewTail(slog.DiscardHandler)
			_ = tail.Handle(t.Context(), slog.NewRecord(time.Unix(1700000000, 0), slog.LevelWarn, "the panel continues without a part", 0))
			page := status.Page{Hub: f.hub, Tail: tail, Version: "v1", Started: time.Now(), Now: time.Now}
			f.options = func(o *web.Options) { o.Routes = page.Routes() }
			return steady(t, f)
		}},
		{name: "player-crowd", path: "/", ready: "#table .measure line", brief: true, open: table(crowd(), "A1", "B4"),
			do: []chromedp.Action{pictureThere}},
	}
}

// withObstacles puts one obstacle of each kind on the table, and something unknown.
func withObstacles(state *live.State) {
	square := func(r float64) []geom.Point {
		return []geom.Point{{X: -r, Y: -0.7 * r}, {X: 0.2 * r, Y: -r}, {X: r, Y: -0.3 * r}, {X: 0.8 * r, Y: 0.8 * r}, {X: -0.5 * r, Y: r}}
	}
	s := &state.Located.Scene
	at := func(x, y float64) geom.Pose { return geom.Pose{Point: geom.Point{X: x, Y: y}} }
	s.Obstacles = []engine.Obstacle{
		{ID: "asteroid-3", Kind: "asteroid", Pose: at(420, 400), Outline: square(42), Sigma: 0.2},
		{ID: "debris-1", Kind: "debris", Pose: at(200, 640), Outline: square(50), Sigma: 0.2},
		{ID: "gas-2", Kind: "gas", Pose: at(700, 620), Outline: square(46), Sigma: 0.3},
	}
	s.Unknown = []geom.Polygon{{{X: 780, Y: 300}, {X: 840, Y: 310}, {X: 830, Y: 360}, {X: 790, Y: 350}}}
	s.Blind = []engine.BlindArea{{Outline: geom.Polygon{{X: 100, Y: 100}, {X: 160, Y: 100}, {X: 160, Y: 140}, {X: 100, Y: 140}}, Why: "glare"}}
	sight := &vision.ObstacleSight{Unknown: make([]vision.UnknownObject, 1)}
	for _, o := range s.Obstacles {
		var px []geom.Pixel
		for _, p := range o.Outline {
			q := o.Pose.Transform(p)
			px = append(px, geom.Pixel{X: 500 + q.X, Y: 1000 - q.Y})
		}
		sight.Views = append(sight.Views, vision.ObstacleView{ID: o.ID, Visible: 0.97, Misfit: 0.12, OutlinePx: px})
	}
	state.Located.Obstacles, state.ObstaclesWatched = sight, true
	measured(state)
}

// crowd is a table of ten ships close together.
func crowd() func(*live.State) {
	return func(state *live.State) {
		s := &state.Located.Scene
		s.Ships = nil
		for i := range 5 {
			for player := 1; player <= 2; player++ {
				base := []engine.Base{engine.Small, engine.Medium, engine.Large}[i%3]
				s.Ships = append(s.Ships, engine.Ship{
					ID: fmt.Sprintf("%c%d", 'A'+player-1, i+1), Player: player, Base: base, Seen: "token", Visible: 0.8, Covariance: geom.Cov3{0.04, 0, 0,
						0, 0.04, 0, 0, 0, 1e-5},
					Pose: geom.Pose{Point: geom.Point{X: 250 + 90*float64(i) + 20*float64(player), Y: 330 + 130*float64(player) + 35*float64(i%2)},
						Heading: geom.Angle(180*(player-1)+25*i) * geom.Degree},
				})
			}
		}
		state.Located.Ships = outlinesOf(*s)
		measured(state)
	}
}

// calibrationPages are the guided calibration's, and the page to pair a device.
func calibrationPages() []pageCase {
	return []pageCase{
		{name: "calibrate", path: "/calibrate", ready: "#start:enabled", brief: true, open: func(t *testing.T) *httptest.Server {
			_, server := serveCalibration(t)
			return server
		}},
		// It shows a code that no one can foresee.
		{name: "pair", path: "/pair", ready: "#who", brief: true, changing: true, open: func(t *testing.T) *httptest.Server {
			return steady(t,
				newFakeTable(t))
		}},
	}
}
