//go:build browser

package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/first"
	"sightline/cmd/internal/live"
	"sightline/engine"
)

// before serves what server does, but for what meddle answers itself.
func before(t *testing.T, server *httptest.Server, meddle func(http.ResponseWriter, *http.Request) bool) *httptest.Server {
	home, err := url.Parse(server.URL)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(home)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !meddle(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// TestWhatIsLateIsNotLive: states that a slow network hands on seconds after they were sent are not
// shown as live, and the page asks for the newest.
func TestWhatIsLateIsNotLive(t *testing.T) {
	t.Parallel()
	browser := browsertest.New(t, 2*time.Minute)
	for path, ids := range map[string]struct{ fresh, late string }{
		"/":       {`#status[data-code="ok"]`, `#status[data-code="lost"]`},
		"/remote": {`#answer[data-kind="shot"]`, `#answer[data-kind="no_view"]`},
	} {
		f := newFakeTable(t)
		f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
		table := steady(t, f)
		_, state := get(t, table.URL+"/api/state")
		drawn, again := make(chan struct{}), make(chan struct{})
		var connections atomic.Int32
		server := before(t, table, func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/api/events" {
				return false
			}
			flush := http.NewResponseController(w).Flush
			if connections.Add(1) > 1 {
				select {
				case <-again:
				case <-r.Context().Done():
				}
				return false
			}
			w.Header().Set("Content-Type", "text/event-stream")
			event := func(sent time.Time) {
				_, _ = fmt.Fprintf(w, "event: state\nid: 1-%d\ndata: %s\n\n", sent.UnixMilli(), strings.TrimSpace(state))
				_ = flush()
			}
			event(time.Now())
			<-drawn
			for { // a minute later than the first
				event(time.Now().Add(-time.Minute))
				select {
				case <-r.Context().Done():
					return true
				case <-time.After(100 * time.Millisecond):
				}
			}
		})
		var title string
		within(t, browser, path, chromedp.Navigate(server.URL+path), chromedp.WaitVisible(ids.fresh))
		close(drawn)
		within(t, browser, path, chromedp.WaitVisible(ids.late), chromedp.Text("#title", &title),
			chromedp.Poll(`!document.body.innerText.includes("144.")`, nil))
		assert.Contains(t, []string{"No answer now", "Connection lost"}, title)
		close(again)
		within(t, browser, "the newest", chromedp.WaitVisible(ids.fresh), chromedp.WaitVisible(`#answer[data-kind="shot"]`))
		assert.EqualValues(t, 2, connections.Load(), path)
	}
}

// TestAPageThatIsNotSeenLetsGo: a browser has six connections to a server, which pages behind others do
// not keep. What is seen again is not shown as live before it is.
func TestAPageThatIsNotSeenLetsGo(t *testing.T) {
	t.Parallel()
	browser := browsertest.New(t, time.Minute)
	f := newFakeTable(t)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	var streams, held atomic.Int32
	server := before(t, steady(t, f), func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/api/events" {
			streams.Add(1)
			held.Add(1)
			go func() { <-r.Context().Done(); held.Add(-1) }()
		}
		return false
	})
	seen := func(yes bool) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf(`Object.defineProperty(document, "hidden", { value: %t, configurable: true }),
			document.dispatchEvent(new Event("visibilitychange"))`, !yes), nil)
	}
	within(t, browser, "the page", chromedp.Navigate(server.URL), chromedp.WaitVisible(`#status[data-code="ok"]`), seen(false))
	require.Eventually(t, func() bool { return held.Load() == 0 }, time.Minute, 20*time.Millisecond,
		"it holds a connection that no one sees")
	within(t, browser, "seen again", seen(true), chromedp.WaitVisible(`#status[data-code="ok"]`),
		chromedp.WaitVisible(`#answer[data-kind="shot"]`))
	assert.EqualValues(t, 2, streams.Load())
	// Who lets it speak hears it behind other pages too.
	within(t, browser, "speaking", chromedp.KeyEvent("v"), seen(false), chromedp.Sleep(8*time.Second)) // it would let go after 5
	assert.EqualValues(t, 1, held.Load())
}

// TestAPageWhoseQuestionsHangSaysSo: a connection that hangs is as lost as one that is refused.
func TestAPageWhoseQuestionsHangSaysSo(t *testing.T) {
	t.Parallel()
	browser := browsertest.New(t, 2*time.Minute)
	pages := map[string]*httptest.Server{}
	pages["/first"] = firstServer(t, first.Facts{Camera: "/dev/video0", Live: true, Height: 1080}, first.Kept{})
	for _, p := range morePages() {
		if p.name == "looks" || p.name == "projector" {
			pages[p.path] = p.open(t)
		}
	}
	require.Len(t, pages, 3)
	for path, server := range pages {
		var hang atomic.Bool
		hung := before(t, server, func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/api"+path || !hang.Load() {
				return false
			}
			<-r.Context().Done()
			return true
		})
		within(t, browser, path, chromedp.Navigate(hung.URL+path), chromedp.WaitVisible("#status"),

			chromedp.WaitVisible(`#status[data-code]:not([data-code="lost"])`))
		hang.Store(true)
		within(t, browser, path+" hangs", chromedp.WaitVisible(`#status[data-code="lost"]`))
		hang.Store(false)
		within(t, browser, path+" is back", chromedp.WaitVisible(`#status:not([data-code="lost"])`))
	}
}

// TestAnOldPictureSaysHowOldItIs: where pictures come too slowly, the one on the page is not shown as live.
func TestAnOldPictureSaysHowOldItIs(t *testing.T) {
	t.Parallel()
	browser := browsertest.New(t, time.Minute)
	f := newFakeTable(t)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	var hang atomic.Bool
	table := serve(t, f)
	everySecond(t, func() { f.change(func(s *live.State) { s.Frame.Seq++ }) })
	server := before(t, table, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/api/picture.jpg" || !hang.Load() {
			return false
		}
		<-r.Context().Done()
		return true
	})
	var text string
	within(t, browser, "the picture", screen(deskWide, "dark"), chromedp.Navigate(server.URL),
		chromedp.WaitVisible(`#status[data-code="ok"]`), chromedp.Poll(`document.getElementById("nopicture").hidden`, nil))
	hang.Store(true)
	within(t, browser, "an old one", chromedp.WaitVisible("#canvas[data-old]"), chromedp.WaitVisible("#nopicture"),
		chromedp.Text("#nopicture", &text))
	assert.Regexp(t, `^The picture is \d+ s old$`, text)
	hang.Store(false)
	within(t, browser, "a new one", chromedp.WaitVisible("#canvas:not([data-old])"),
		chromedp.Poll(`document.getElementById("nopicture").hidden`, nil))
}

// TestAClockThatIsSetBackStopsNoPicture: the device's clock counts for nothing that a page shows, and the judge's page says how old its
// live picture is too.
func TestAClockThatIsSetBackStopsNoPicture(t *testing.T) {
	t.Parallel()
	browser := browsertest.New(t, time.Minute)
	c := newCourtroom(t)
	table := serveCourtroom(t, c)
	everySecond(t, func() { c.change(func(s *live.State) { s.Frame.Seq++ }) })
	var hang atomic.Bool
	var pictures atomic.Int32
	server := before(t, table, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/api/picture.jpg" {
			return false
		}
		if pictures.Add(1); !hang.Load() {
			return false
		}
		<-r.Context().Done()
		return true
	})
	set := chromedp.Evaluate(`(() => { const now = Date.now.bind(Date); Date.now = () => now() - 3600000; })()`, nil)
	goesOn := func(what string) {
		was := pictures.Load()
		require.Eventually(t, func() bool { return pictures.Load() > was+2 }, time.Minute, 20*time.Millisecond, what)
	}
	within(t, browser, "the page", screen(deskWide, "dark"), chromedp.Navigate(server.URL), chromedp.WaitVisible(`#status[data-code="ok"]`),
		browsertest.Poll(`document.getElementById("nopicture").hidden`, nil), set)
	goesOn("the page's picture stands still")
	hang.Store(true)
	within(t, browser, "an old one", chromedp.WaitVisible("#canvas[data-old]"))
	hang.Store(false)

	within(t, browser, "the judge's page", chromedp.Navigate(server.URL+"/judge"), chromedp.WaitVisible("#secret-form"),
		chromedp.SendKeys("#secret-field", "correct horse battery"), chromedp.Click("#secret-form button"), chromedp.WaitVisible("#hold"),
		browsertest.Poll(`document.getElementById("nothing").hidden`, nil), set)
	goesOn("the judge's picture stands still")
	hang.Store(true)
	within(t, browser, "its age", browsertest.Poll(`/^The picture is \d+ s old$/.test(document.getElementById("stage-text").textContent)`, nil))
	hang.Store(false)
	within(t, browser, "a new one", browsertest.Poll(`document.getElementById("stage-text").textContent.startsWith("Live view")`, nil))
}

// TestTheJudgesOutlinesLieOverTheirOwnPicture: while the held picture comes slowly, or not at all, no other one lies under its outlines.
func TestTheJudgesOutlinesLieOverTheirOwnPicture(t *testing.T) {
	t.Parallel()
	browser := browsertest.New(t, time.Minute)
	c := newCourtroom(t)
	free := make(chan struct{})
	var slow atomic.Value // the number of the picture that comes late
	slow.Store("")
	server := before(t, steadyCourt(t, c), func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/api/held.png" {
			return false
		}
		if slow.CompareAndSwap("", r.URL.Query().Get("held")); slow.Load() == r.URL.Query().Get("held") {
			select {
			case <-free:
			case <-r.Context().Done():
			}
		}
		return false
	})
	const loading = `!document.getElementById("nothing").hidden`
	within(t, browser, "the live picture", chromedp.Navigate(server.URL+"/judge"), chromedp.WaitVisible("#secret-form"),
		chromedp.SendKeys("#secret-field", "correct horse battery"), chromedp.Click("#secret-form button"), chromedp.WaitVisible("#hold"),
		browsertest.Poll(`document.getElementById("nothing").hidden`, nil))
	within(t, browser, "held", chromedp.Click("#hold"), chromedp.WaitVisible(`.hold[data-held="true"]`), browsertest.Poll(loading, nil))
	require.Eventually(t, func() bool { return slow.Load() != "" }, time.Minute, 10*time.Millisecond)

	// Another picture is held meanwhile. What comes late of the first is not shown as it.
	c.judges.hold(false, "")
	within(t, browser, "live", chromedp.WaitVisible(`.hold[data-held="false"]`))
	c.judges.hold(true, "")
	within(t, browser, "the other", chromedp.WaitVisible(`.hold[data-held="true"]`),
		browsertest.Poll(`document.getElementById("nothing").hidden`, nil))
	close(free)
	var there bool
	within(t, browser, "the late one", chromedp.Sleep(time.Second), chromedp.Evaluate(`document.getElementById("nothing").hidden`, &there))
	assert.True(t, there, "it took the other's place")
}

// TestShotsOfAnEarlierChoiceAreNotShown: an answer that comes after another ship was chosen is not shown
// as that ship's.
func TestShotsOfAnEarlierChoiceAreNotShown(t *testing.T) {
	t.Parallel()
	browser := browsertest.New(t, time.Minute)
	const slow = "A2"
	free := make(chan struct{})
	var asked, others atomic.Int32
	server := before(t, gameServer(true)(t), func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/api/game/shots" {
			return false
		}
		if r.URL.Query().Get("ship") != slow {
			others.Add(1)
			return false
		}
		asked.Add(1)
		select {
		case <-free:
		case <-r.Context().Done():
		}
		return false
	})
	choose := func(ship string) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf(`(() => {
			const select = document.getElementById("shot-ship");
			select.value = %q;
			select.dispatchEvent(new Event("change"));
			return select.value;
		})()`, ship), nil)
	}
	const watch = `(() => {
		const list = document.getElementById("shotlist");
		window.seen = [];
		new MutationObserver(() => seen.push(list.innerText)).observe(list, { childList: true, subtree: true });
	})()`
	var seen, wrong []string
	_, text := get(t, server.URL+"/api/game/shots?ship=A1&arc=front")
	within(t, browser, "the game", chromedp.Navigate(server.URL+"/game"), chromedp.WaitVisible("#play .ship"), choose("A1"),
		chromedp.WaitVisible("#shotlist li"), chromedp.Evaluate(watch, nil), choose(slow))
	require.Eventually(t, func() bool { return asked.Load() > 0 }, time.Minute, 10*time.Millisecond)
	within(t, browser, "back", choose("A1"))
	close(free)
	was := others.Load()
	require.Eventually(t, func() bool { return others.Load() > was+1 }, time.Minute, 10*time.Millisecond)
	within(t, browser, "what was shown", chromedp.Evaluate(`seen`, &seen),
		chromedp.Evaluate(`seen.filter((text) => text.includes("Luke"))`, &wrong))
	assert.NotContains(t, text, "Luke", "these are A1's")
	assert.Empty(t, wrong, "shots of another ship stand where A1 is chosen")
}

// TestAPageThatCannotShowAStateShowsNoOldOne: a page that was open while the program was replaced by another version, whose states
// it does not understand, shows no answer and is loaded again.
func TestAPageThatCannotShowAStateShowsNoOldOne(t *testing.T) {
	t.Parallel()
	browser := browsertest.New(t, 2*time.Minute)
	for path, ids := range map[string]struct{ answers, nothing string }{
		"/":            {`#answer[data-outcome="yes"]`, `main[hidden]`},
		"/remote":      {`#answer[data-kind="shot"]`, `main[hidden]`},
		"/overlay/all": {`#pair:not([hidden])`, `#pair[hidden]`},
	} {
		f := newFakeTable(t)
		f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
		stop := beat(t, f)
		table := serve(t, f)
		var other atomic.Bool
		var loads atomic.Int32
		server := before(t, table, func(w http.ResponseWriter, r *http.Request) bool {
			switch r.URL.Path {
			case path:
				loads.Add(1)
			case "/api/events":
				flush := http.NewResponseController(w).Flush
				w.Header().Set("Content-Type", "text/event-stream")
				for n := 0; r.Context().Err() == nil; n++ {
					_, state := get(t, table.URL+"/api/state")
					if other.Load() {
						state = strings.Replace(state, `"answer":`, `"answers":`, 1)
					}
					fmt.Fprintf(w, "event: state\nid: %d-%d\ndata: %s\n\n", n, time.Now().UnixMilli(), state)
					_ = flush()
					time.Sleep(100 * time.Millisecond)
				}
				return true
			}
			return false
		})
		require.NoError(t, chromedp.Run(browser, chromedp.Navigate(server.URL+path), chromedp.WaitReady(ids.answers, chromedp.ByQuery)), path)
		before := loads.Load()
		other.Store(true)
		require.NoError(t, chromedp.Run(browser, chromedp.WaitReady(ids.nothing, chromedp.ByQuery)), path)
		require.Eventually(t, func() bool { return loads.Load() > before+1 }, time.Minute, 50*time.Millisecond, "%s is loaded again", path)
		other.Store(false)
		require.NoError(t, chromedp.Run(browser, chromedp.WaitReady(ids.answers, chromedp.ByQuery), chromedp.WaitNotPresent(`main[hidden]`,
			chromedp.ByQuery)), path)
		stop()
	}
}

// TestAJudgeRulesOnWhatIsShown: while what was measured of the judge's new pair has not come, the verdict on the old
// pair is not shown of it and cannot be recorded, and what was chosen for the old pair is not chosen for the new one.
func TestAJudgeRulesOnWhatIsShown(t *testing.T) {
	t.Parallel()
	ctx := browsertest.New(t, time.Minute)
	court, address := courtTable(t, "A2", "B2")
	var hangs atomic.Bool
	answers := make(chan struct{})
	s := before(t, &httptest.Server{URL: address}, func(_ http.ResponseWriter, r *http.Request) bool {
		if hangs.Load() && r.URL.Path == "/api/held" {
			<-answers
		}
		return false
	})
	var first, between, after, chosen string
	var lines int
	require.NoError(t, chromedp.Run(ctx))
	within(t, ctx, "the first pair", logIn(s.URL, "A2", "B2"), chromedp.WaitVisible("#open-range"), chooseOption("#open-range", "2"),
		chromedp.Text("#measured", &first))
	hangs.Store(true)
	within(t, ctx, "another pair", chooseOption("#to", "B1"),
		browsertest.Poll(`document.getElementById("measured").textContent === "Not measured yet."`, nil),
		chromedp.Text("#verdicts", &between, chromedp.NodeReady),
		chromedp.Evaluate(`document.querySelectorAll('#shapes [data-kind="line"]').length`, &lines),
		chromedp.Evaluate(`document.getElementById("rule").requestSubmit(); 0`, nil), chromedp.Sleep(200*time.Millisecond))
	assert.Empty(t, between)
	assert.Zero(t, lines)
	assert.Empty(t, court.judges.made, "nothing is ruled that is not shown")
	close(answers)
	within(t, ctx, "measured", browsertest.Poll(`!["Not measured yet.", `+fmt.Sprintf("%q", first)+`].includes(document.getElementById("measured").textContent)`, nil),
		chromedp.WaitEnabled("#record"), chromedp.Text("#measured", &after),
		chromedp.Evaluate(`document.getElementById("open-range")?.value ?? ""`, &chosen))
	assert.Empty(t, chosen)
	assert.NotEqual(t, first, after)
}

// TestALookIsTurnedByThePictureThatIsShown: until a look's new picture has arrived, the browser shows the one before, and who turns by
// that one would turn twice.
func TestALookIsTurnedByThePictureThatIsShown(t *testing.T) {
	t.Parallel()
	browser := browsertest.New(t, time.Minute)
	var page *httptest.Server
	for _, p := range morePages() {
		if p.name == "looks" {
			page = p.open(t)
		}
	}
	var version atomic.Int32
	arrives, turned := make(chan struct{}), make(chan string, 9)
	server := before(t, page, func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.URL.Path == "/api/looks" && r.Method == http.MethodPost:
			body, _ := io.ReadAll(r.Body)
			turned <- string(body)
			w.WriteHeader(http.StatusNoContent)
		case r.URL.Path == "/api/looks":
			v := version.Load()
			_, _ = fmt.Fprintf(w, `{"looks":[{"name":"A1","ships":["A1"],"base":"small","views":4,"px_per_mm":2,"jig_mm":0.1,"jig_deg":0.1,
				"version":"%d","picture":"/icon.svg?v=%d"}],"damaged":[],"learnt":"A1","showing":null,"problem":""}`, v, v)
		case r.URL.RawQuery == "v=1":
			select {
			case <-arrives:
			case <-r.Context().Done():
			}
			return false
		default:
			return false
		}
		return true
	})
	click := chromedp.Evaluate(`document.getElementById("turn").click(), document.querySelector('[data-do="turn"]').click()`, nil)
	shown := func(v int) chromedp.Action {
		return browsertest.Poll(fmt.Sprintf(`[...document.querySelectorAll("#learnt-picture, #known img")].
			filter((i) => i.src.endsWith("v=%d")).length === 2`, v), nil)
	}
	arrived := browsertest.Poll(`document.getElementById("learnt-picture").complete && document.querySelector("#known img").complete`, nil)
	within(t, browser, "shown", chromedp.Navigate(server.URL+"/looks"), shown(0), arrived)
	version.Store(1)
	within(t, browser, "another version", shown(1), click, chromedp.Sleep(300*time.Millisecond))
	assert.Empty(t, turned, "its picture has not arrived")
	close(arrives)
	within(t, browser, "its picture", arrived, click)
	for range 2 {
		assert.Contains(t, <-turned, `"version":"1"`)
	}
}
