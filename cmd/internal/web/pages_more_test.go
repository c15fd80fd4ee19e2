//go:build browser

package web_test

import (
	"image"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/director"
	"sightline/cmd/internal/enrol"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/outline"
	"sightline/cmd/internal/play"
	"sightline/cmd/internal/projector"
	"sightline/cmd/internal/round"
	"sightline/cmd/internal/rulings"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/vision"
)

// morePages are the pages that other packages bring: the game and its replay, marking by hand,
// the director's, the projector's and that of ships shown once.
func morePages() []pageCase {
	return []pageCase{
		{name: "game-start", path: "/game", ready: "#start-form", brief: true, open: gameServer(false)},
		{name: "game", path: "/game", ready: "#play .ship", open: gameServer(true), do: []chromedp.Action{
			chromedp.WaitVisible("#shotlist li"), chromedp.Click(`[data-check="setup"]`), chromedp.WaitVisible("#checklist li"),
		}},
		{name: "replay", path: "/replay?game=1", ready: "#table .base", open: gameServer(true), do: []chromedp.Action{
			browsertest.Poll(`document.getElementById("answer").textContent !== ""`, nil)}},
		{name: "replay-choose", path: "/replay", ready: "#games a", open: gameServer(true), brief: true},
		{name: "outline", path: "/outline", ready: "#take-live", open: outlineServer(true), brief: true},
		{name: "outline-corners", path: "/outline?from=held", ready: "#mat", open: outlineServer(true), brief: true},
		{name: "outline-marking", path: "/outline?from=live", ready: "#marking", open: outlineServer(false), do: []chromedp.Action{
			chromedp.Evaluate(`(() => { // the frame is dragged onto the first ship
				const o = window.sightlineOutline, { picture } = o.state(), stage = document.getElementById("stage");
				const s = picture.ships[0], p = o.pixelOf(picture.camera, s.x_mm, s.y_mm, 4);
				const box = stage.getBoundingClientRect(), [x, y] = o.toScreen(p);
				for (const kind of ["pointerdown", "pointerup"]) {
					stage.dispatchEvent(new PointerEvent(kind, { pointerId: 1, clientX: box.left + x, clientY: box.top + y, pointerType: "mouse" }));
				}
			})()`, nil), chromedp.WaitVisible("#nudge"),
		}},
		// Its overlay shows nothing of a table that stands still.
		{name: "director", path: "/director", ready: "#freeze:enabled", open: func(t *testing.T) *httptest.Server {
			f := newFakeTable(t)
			f.options = func(o *web.Options) { o.Routes = (&director.Page{Direct: f.direct}).Routes() }
			f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
			return steady(t, f)
		}},
		{name: "projector", path: "/projector", ready: "#start:enabled", open: func(t *testing.T) *httptest.Server {
			f := newFakeTable(t)
			desk := projector.New(projector.Options{Hub: f.hub, Markers: noMarkers{}, Path: filepath.Join(t.TempDir(), "projector.json"),
				Now: time.Now, Log: slog.New(slog.DiscardHandler)})
			f.options = func(o *web.Options) { o.Routes = desk.Routes() }
			return steady(t, f)
		}},
		{name: "looks", path: "/looks", ready: "#begin", open: func(t *testing.T) *httptest.Server {
			f := newFakeTable(t)
			desk := enrol.New(enrol.Options{Hub: f.hub, Markers: noMarkers{}, Dir: filepath.Join(t.TempDir(), "looks"), Now: time.Now,
				Log: slog.New(slog.DiscardHandler)})
			f.options = func(o *web.Options) { o.Routes = desk.Routes() }
			return steady(t, f)
		}},
	}
}

// noMarkers sees no marker in any picture.
type noMarkers struct{}

func (noMarkers) DetectMarkers(*image.Gray) ([]vision.Detection, error) { return nil, nil }

const (
	redSquad = `{"version":"2.0.0","faction":"rebelalliance","name":"Red Flight","pilots":[
		{"id":"wedgeantilles","ship":"t65xwing","points":6},{"id":"lukeskywalker","ship":"t65xwing","points":6}]}`
	blackSquad = `{"version":"2.0.0","faction":"galacticempire","name":"Black Squadron","pilots":[
		{"id":"howlrunner","ship":"tielnfighter","points":4},{"id":"maulermithel","ship":"tielnfighter","points":3}]}`
)

// gameServer serves the game's page, where a game may have begun.
func gameServer(begun bool) func(t *testing.T) *httptest.Server {
	return func(t *testing.T) *httptest.Server {
		f := newFakeTable(t)
		f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
		log, err := rulings.Open(filepath.Join(t.TempDir(), "rulings"), rulings.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { _ = log.Close() })
		now := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
		table := play.New(play.Options{Hub: f.hub, Record: func() (*rulings.Log, error) { return log, nil },
			Show: func(p *live.Play, _ []live.Declaration) { f.change(func(s *live.State) { s.Play = p }) },
			Now:  func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)})
		if begun {
			r := play.StartRequest{Edition: "2.0", Points: 200}
			r.Players[0].Name, r.Players[0].Squad = "Ada", redSquad
			r.Players[1].Name, r.Players[1].Squad = "Ben", blackSquad
			require.NoError(t, table.Start(r))
			for _, phase := range []round.Phase{round.Planning, round.System} {
				require.NoError(t, table.Do(round.Event{Kind: round.Advanced, Round: 1, Phase: phase}))
			}
			require.NoError(t, table.Do(round.Event{Kind: round.Scored, Player: 1, Points: 2, Text: "by hand"}))
		}
		f.options = func(o *web.Options) { o.Routes = table.Routes() }
		return steady(t, f)
	}
}

// outlineServer serves the page for marking by hand: the live picture is calibrated, a held one is
// not.
func outlineServer(held bool) func(t *testing.T) *httptest.Server {
	return func(t *testing.T) *httptest.Server { return serveOutline(t, held) }
}

func serveOutline(t *testing.T, held bool) *httptest.Server {
	f := newFakeTable(t)
	table := calibration.Table{Camera: straightDown(), Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
		PoseCovariance: make([]float64, 36), RMS: 0.05, Used: []int{0, 1, 2, 3, 4, 5, 6, 7}}
	for i := range 6 {
		table.PoseCovariance[7*i] = 1e-8
	}
	raw, _, err := table.Sealed()
	require.NoError(t, err)
	f.change(func(s *live.State) {
		if s.Register.File = raw; held {
			s.Hold = &live.Held{Number: 1, Source: s.Source, Frame: s.Frame, Located: s.Located}
		}
	})
	desk := outline.New(outline.Options{Hub: f.hub, Layout: table.Layout,
		Rules: func() outline.Rules { return outline.Rules{Edition: engine.Rules25, Sigmas: 3} },
		Hold:  func(live.Held, live.Choice) (uint64, error) { return 1, nil }, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	f.options = func(o *web.Options) { o.Routes = desk.Routes() }
	return steady(t, f)
}
