//go:build browser

package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"sightline/cmd/internal/director"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
	"sightline/engine"
)

// statePages are states that pages are seldom in: help is asked for, something is wrong, the program is gone, the
// overlay is frozen, there is nothing to show.
func statePages() []pageCase {
	table := func(t *testing.T, change func(*live.State)) *fakeTable {
		f := newFakeTable(t)
		f.change(change)
		f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
		return f
	}
	steadily := func(change func(*live.State)) func(*testing.T) *httptest.Server {
		return func(t *testing.T) *httptest.Server { return steady(t, table(t, change)) }
	}
	once := func(t *testing.T) *httptest.Server { return serve(t, table(t, func(*live.State) {})) } // says nothing more
	ended := live.Health{Code: live.Ended, Title: "Recording over", Detail: "game.mp4 has ended."}
	return []pageCase{
		{name: "player-help", path: "/", ready: "#table .measure line", state: true, open: steadily(func(*live.State) {}),
			do: []chromedp.Action{chromedp.Click("#help-button"), chromedp.WaitVisible("#help-close")}},
		{name: "player-banner", path: "/", ready: "#banner", state: true, open: steadily(func(s *live.State) { s.Health = ended })},
		{name: "player-lost", path: "/", ready: `#status[data-code="lost"]`, state: true, open: once},
		{name: "remote-lost", path: "/remote", ready: `#status[data-code="lost"]`, state: true, open: once},
		{name: "director-frozen", path: "/director", ready: "#freeze:enabled", state: true, open: func(t *testing.T) *httptest.Server {
			f := table(t, func(*live.State) {})
			f.options = func(o *web.Options) { o.Routes = (&director.Page{Direct: f.direct}).Routes() }
			return steady(t, f)
		}, do: []chromedp.Action{chromedp.Click("#freeze"), chromedp.WaitVisible(`#freeze[aria-pressed="true"]`)}},
		{name: "overlay-frozen", path: "/overlay/", ready: "#address", state: true, open: func(t *testing.T) *httptest.Server {
			f := table(t, func(s *live.State) { s.Direction.FrozenMS = s.At.UnixMilli() })
			return steady(t, f)
		}, do: []chromedp.Action{chromedp.Click(`input[name="what"][value="live"]`)}},
		{name: "obstacles-ended", path: "/obstacles#tokens", ready: `#status[data-code="ended"]`, state: true,
			open: func(t *testing.T) *httptest.Server {
				f, l := table(t, func(s *live.State) { s.Health = ended }), &fakeLearning{}
				l.state.Blockers = []string{"Recording over: game.mp4 has ended."}
				f.options = func(o *web.Options) { o.Learning = l }
				return steady(t, f)
			}, do: []chromedp.Action{chromedp.WaitVisible(`[data-way="tokens"] li`)}},
		{name: "calibrate-refused", path: "/calibrate", ready: "#start:enabled", state: true, open: func(t *testing.T) *httptest.Server {
			_, server := serveCalibration(t)
			return before(t, server, func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodPost {
					return false
				}
				http.Error(w, "The program does not answer.", http.StatusConflict)
				return true
			})
		}, do: []chromedp.Action{chromedp.Click("#start"), chromedp.WaitVisible("#problem")}},
		{name: "replay-empty", path: "/replay", ready: "#no-games", state: true, open: gameServer(false)},
	}
}
