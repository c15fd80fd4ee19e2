//go:build browser

package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/tablesim"
	"sightline/vision/token"
)

// beat publishes the view with the present time now and then, as the program does.
func beat(t testing.TB, f *fakeTable) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			f.change(func(state *live.State) { state.At = time.Now() })
			select {
			case <-end:
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			close(end)
			<-ended
		}
	}
	t.Cleanup(stop)
	return stop
}

// empty reports whether a picture is transparent everywhere.
func empty(p image.Image) bool {
	b := p.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if _, _, _, a := p.At(x, y).RGBA(); a != 0 {
				return false
			}
		}
	}
	return true
}

const (
	gone  = `getComputedStyle(document.getElementById("%[1]s")).display === "none"`
	shown = `getComputedStyle(document.getElementById("%[1]s")).display !== "none"`
)

func until(id, what string) chromedp.Action {
	return browsertest.Poll(fmt.Sprintf(what, id), nil, chromedp.WithPollingInterval(50*time.Millisecond))
}

// TestOverlays runs every test of the overlay's pages in one browser.
func TestOverlays(t *testing.T) {
	t.Parallel()
	ctx := browsertest.New(t, 4*time.Minute)
	require.NoError(t, chromedp.Run(ctx, transparent(1920, 1080)))
	t.Run("what may be shown is decided from the state, the box's clock and nothing else", func(t *testing.T) { gateTable(t, ctx) })
	t.Run("what is frozen and hidden is decided from the state that the director froze, too", func(t *testing.T) { frozenTable(t, ctx) })
	t.Run("a laptop that slept knows that it does not know the time", func(t *testing.T) { clockJumps(t, ctx) })
	t.Run("a box whose clock is set is asked at once", func(t *testing.T) { boxClockSet(t, ctx) })
	t.Run("a question for the time that hangs is asked again", func(t *testing.T) { clockHangs(t, ctx) })
	t.Run("each widget shows the demo, on nothing", func(t *testing.T) { demoPages(t, ctx) })
	t.Run("the live page shows what is, and nothing that was", func(t *testing.T) { livePage(t, ctx) })
	t.Run("a box that is started again is found again", func(t *testing.T) { restarted(t, ctx) })
	t.Run("the file that waits embeds the page once the box answers", func(t *testing.T) { waitingFile(t, ctx) })
	t.Run("the page of all widgets gives the address", func(t *testing.T) { setupPage(t, ctx) })
}

func gateTable(t *testing.T, ctx context.Context) {
	server := serve(t, newFakeTable(t))
	const now = 1700000100000
	type m = map[string]any
	state := func(change ...func(m)) m {
		s := m{
			"seq": 1, "at_unix_ms": now - 100, "health": m{"code": "ok", "title": ""}, "mat": m{"width_mm": 914.4}, "held": nil, "ruling": nil,
			"overlay": m{},
			"answer":  m{"outcome": "yes", "reason": ""}, "match": m{"title": "", "round": "3", "sides": []m{{"name": ""}, {"name": ""}}},
		}
		for _, c := range change {
			c(s)
		}
		return s
	}
	ruled := func(age int) func(m) { return func(s m) { s["ruling"] = m{"at_unix_ms": now - age} } }
	aged := func(at, age int) func(m) { return func(s m) { s["ruling"] = m{"at_unix_ms": at, "age_ms": age} } }
	set := func(key string, value any) func(m) { return func(s m) { s[key] = value } }
	in := func(s m, more ...any) m {
		c := m{"state": s, "now": now, "lost": false, "ttl": 12}
		for i := 0; i+1 < len(more); i += 2 {
			c[more[i].(string)] = more[i+1]
		}
		return c
	}
	cases := []struct {
		name  string
		input m
		want  string // what is shown
		why   string
	}{
		{"all is well", in(state()), "table places pair match", ""},
		{"nothing has come yet", in(nil), "", "no state"},
		{"the connection is lost", in(state(), "lost", true), "", "does not answer"},
		{"the box's clock is not known", in(state(), "now", nil), "", "clock is not known"},
		{"the state is 2.9 s old", in(state(set("at_unix_ms", now-2900))), "table places pair match", ""},
		{"the state is 3.1 s old", in(state(set("at_unix_ms", now-3100))), "", "3.1 s old"},
		{"the laptop slept for an hour", in(state(), "now", now+3600000), "", "s old"},
		{"a state from the future: a clock was set", in(state(set("at_unix_ms", now+5000))), "", "ahead of the clock"},
		{"clocks that differ a little", in(state(set("at_unix_ms", now+500))), "table places pair match", ""},
		{"the camera has moved", in(state(set("health", m{"code": "moved", "title": "Moved"}))), "match", "Moved"},
		{"no camera, and a ruling a moment ago", in(state(set("health", m{"code": "no_camera", "title": "No camera"}), ruled(3000))),
			"ruling match", "No camera"},
		{"held", in(state(set("held", m{"asked": ""}))), "match held", "the picture is held"},
		{"held, with a ruling", in(state(set("held", m{"asked": ""}), ruled(1000))), "ruling match held", ""},
		{"a ruling of this moment", in(state(ruled(0))), "table places pair ruling match", ""},
		{"a ruling just before its end", in(state(ruled(11900))), "table places pair ruling match", ""},
		{"a ruling just after its end", in(state(ruled(12100))), "table places pair match", "shown for 12 s"},
		{"a ruling of yesterday, on a page opened now", in(state(ruled(86400000))), "table places pair match", "86400 s old"},
		{"a longer life", in(state(ruled(20000)), "ttl", 30), "table places pair ruling match", ""},
		{"a ruling of tomorrow", in(state(ruled(-60000))), "table places pair match", "ruling"},
		{"a ruling of this moment, and the box's clock was set back since", in(state(aged(now+3600000, 2000))),
			"table places pair ruling match", ""},
		{"the clock was set back, and reaches the ruling's time", in(state(aged(now, 3600000))), "table places pair match", "3600 s old"},
		{"the clock was set forward since", in(state(aged(now-86400000, 2000))), "table places pair ruling match", ""},
		{"the state waited since", in(state(aged(now, 11950))), "table places pair match", "shown for 12 s"},
		{"too close", in(state(set("answer", m{"outcome": "too_close"}))), "table places pair match", ""},
		{"a covered ship: no view", in(state(set("answer", m{"outcome": "no_view", "reason": "B1 has not been seen for 4 s"}))),
			"table places match", "B1 has not been seen"},
		{"measuring is not agreed", in(state(set("answer", m{"outcome": "no_view", "reason": "only the judge measures at this table"}))),
			"table places match", "only the judge"},
		{"nothing is chosen", in(state(set("answer", m{"outcome": "none", "reason": ""}))), "table places match", "nothing is chosen"},
		{"where things are in the picture is not known", in(state(set("overlay", nil))), "table pair match", "camera:"},
		{"no match is written", in(state(set("match", m{"title": "", "round": "", "sides": []m{{"name": ""}, {"name": ""}}}))),
			"table places pair", "none was written"},
		{"a maneuver was flown", in(state(set("play", m{"last": "B2: bank left 2", "over": ""}))), "table places pair match last", ""},
		{"nothing was flown", in(state(set("play", m{"last": "", "over": ""}))), "table places pair match", "nothing was flown yet"},
		{"the game is over", in(state(set("play", m{"last": "B2: bank left 2", "over": "round 12"}))), "table places pair match", "game is over"},
	}
	inputs := []m{}
	for _, c := range cases {
		inputs = append(inputs, c.input)
	}
	data, err := json.Marshal(inputs)
	require.NoError(t, err)
	var answers []map[string]any
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate(server.URL+"/overlay/all?demo=1"),
		chromedp.Evaluate(`import("/overlay-gate.js").then((g) => `+string(data)+`.map(g.decide))`, &answers, awaiting)))
	for i, c := range cases {
		var got []string
		for _, key := range []string{"table", "places", "pair", "ruling", "match", "last", "held"} {
			if answers[i][key] == true {
				got = append(got, key)
			}
		}
		assert.Equal(t, c.want, strings.Join(got, " "), c.name)
		assert.Contains(t, fmt.Sprint(answers[i]["why"]), c.why, c.name)
	}
}

func clockJumps(t *testing.T, ctx context.Context) {
	server := serve(t, newFakeTable(t))
	var got struct {
		Before, Quiet, Jumped, Again bool
		After                        *float64
	}
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate(server.URL+"/overlay/all?demo=1"),
		chromedp.Evaluate(`import("/overlay-clock.js").then(async ({ Clock }) => {
			const c = new Clock("/overlay/clock"), real = Date.now;
			await c.measure();
			const before = Math.abs(c.now() - real()) < 1000, quiet = c.tick();
			Date.now = () => real() + 3600000; // an hour that the steady clock did not see
			const jumped = c.tick(), after = c.now();
			for (let i = 0; i < 50 && c.now() === null; i++) await new Promise((done) => setTimeout(done, 100));
			const again = Math.abs(c.now() - real()) < 1000;
			Date.now = real;
			return { before, quiet, jumped, after, again };
		})`, &got, awaiting)))
	assert.True(t, got.Before, "the box's clock is known")
	assert.False(t, got.Quiet, "nothing has happened")
	assert.True(t, got.Jumped)
	assert.Nil(t, got.After, "until it is asked for again, nobody knows the time")
	assert.True(t, got.Again, "it is the box's time and not the laptop's")
}

func boxClockSet(t *testing.T, ctx context.Context) {
	var set atomic.Int64 // how far back, in ms
	f := newFakeTable(t)
	s := f.server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/overlay/clock" {
			fmt.Fprintf(w, `{"now_unix_ms": %d}`, time.Now().UnixMilli()-set.Load())
			return
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	const hour = 3600000
	const off = `Math.abs(c.now() - (Date.now() - %d)) < 1000`
	var asks, known bool
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate(server.URL+"/overlay/all?demo=1"),
		chromedp.Evaluate(`import("/overlay-clock.js").then(async ({ Clock }) => {
			globalThis.c = new Clock("/overlay/clock");
			await c.measure();
			c.heard(Date.now() - 500);
			return c.measuring;
		})`, &asks, awaiting), chromedp.Evaluate(fmt.Sprintf(off, 0), &known)))
	assert.False(t, asks, "a state that is as old as usual")
	assert.True(t, known)
	set.Store(hour)
	require.NoError(t, chromedp.Run(ctx, chromedp.Evaluate(fmt.Sprintf(`c.heard(Date.now() - %d); 0`, hour), nil),
		browsertest.Poll(fmt.Sprintf(off, hour), nil)))
}

func demoPages(t *testing.T, ctx context.Context) {
	server := serve(t, newFakeTable(t))
	for address, ids := range map[string]string{
		"table?demo=1&scene=0": "table", "pair?demo=1&scene=1": "pair", "ruling?demo=1&scene=6": "ruling", "match?demo=1": "match",
		"all?demo=1&scene=0": "table pair match", "all?demo=1&scene=7&view=camera": "over ruling match", "pair?demo=1&scene=3": "",
		"all?demo=1&scene=5": "held match",
		"table?demo=1&scene=0&view=camera&crop=300,100,800,600": "over",
	} {
		require.NoError(t, chromedp.Run(ctx, chromedp.Navigate(server.URL+"/overlay/"+address), until("demo", shown)), address)
		var visible string
		require.NoError(t, chromedp.Run(ctx,
			chromedp.Evaluate(`["over","table","pair","held","ruling","match"].filter((id) =>`+
				` getComputedStyle(document.getElementById(id)).display !== "none").join(" ")`, &visible)))
		assert.Equal(t, ids, visible, address)
		picture := shoot(t, ctx)
		require.Equal(t, image.Pt(1920, 1080), picture.Bounds().Size())
		clear := 0
		for _, at := range []image.Point{{2, 2}, {2, 1077}, {1917, 1077}, {960, 200}, {300, 560}} {
			if _, _, _, a := picture.At(at.X, at.Y).RGBA(); a == 0 {
				clear++
			}
		}
		assert.GreaterOrEqual(t, clear, 4, "%s: the ground is transparent", address)
		_, _, _, mark := picture.At(1900, 10).RGBA()
		assert.Equal(t, uint32(0xffff), mark, "%s is marked as a demo", address)
	}
}

// obstructionOf returns a copy of a pair with another verdict on its front arc's line.
func obstructionOf(t *testing.T, pair *engine.PairVerdict, verdict string, by ...string) *engine.PairVerdict {
	t.Helper()
	p := *pair
	p.Arcs = slices.Clone(p.Arcs)
	i := slices.IndexFunc(p.Arcs, func(a engine.ArcVerdict) bool { return a.Arc == engine.ArcFront })
	require.GreaterOrEqual(t, i, 0)
	require.NotNil(t, p.Arcs[i].Attack)
	attack := *p.Arcs[i].Attack
	attack.Obstruction = engine.ObstructionVerdict{Verdict: verdict, By: by}
	p.Arcs[i].Attack = &attack
	return &p
}

func livePage(t *testing.T, ctx context.Context) {
	f := newFakeTable(t)
	table := calibrated(t, f, tablesim.DefaultCamera(1920, 1080))
	stop := beat(t, f)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	f.change(func(state *live.State) { state.Match.Round = "Round 3" })
	server := serve(t, f)
	var title, who string
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Navigate(server.URL+"/overlay/all?view=camera&ttl=6"), until("pair", shown), until("match", shown), until("over", shown),
		chromedp.Text("#pair-title", &title), chromedp.Text("#pair-from", &who)))
	assert.Equal(t, "In range 2, in the front arc", title)
	assert.Equal(t, "A1", who)

	// Silence about obstacles would read as a clear line.
	facts := func(want string) {
		t.Helper()
		assert.NoError(t, chromedp.Run(ctx, until(want, `document.getElementById("pair-facts").textContent.includes("%[1]s")`)), want)
	}
	scene := knownScene()
	f.change(func(state *live.State) { state.ObstaclesWatched = false })
	facts("Obstacles are not watched")
	f.change(func(state *live.State) {
		state.ObstaclesWatched = true
		state.Pair = obstructionOf(t, state.Pair, engine.NoView.String())
	})
	facts("No view of what lies on the line")
	f.change(func(state *live.State) { state.Pair = obstructionOf(t, state.Pair, "too_close", "o1") })
	facts("Too close to call whether o1 obstructs")

	// On the screen, within a pixel of where vision projects it.
	var corners [][2]float64
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Evaluate(`(() => { const p = document.querySelector('.laid .ship[data-id="A1"] polygon.outline.over'), m = p.getScreenCTM();
		return Array.from(p.points).map((q) => { const r = q.matrixTransform(m); return [r.x, r.y]; }); })()`, &corners)))
	require.Len(t, corners, 4)
	for i, own := range [][2]float64{{-20, 20}, {20, 20}, {20, -20}, {-20, -20}} {
		want, ok := table.PixelOf(scene.Ships[0].Pose.Transform(pointAt(own)), token.BaseTop)
		require.True(t, ok)
		assert.Less(t, math.Hypot(corners[i][0]-want.X-0.5, corners[i][1]-want.Y-0.5), 1.0, "corner %d, px", i)
	}

	// A ruling comes, and goes after its time, while the states continue.
	f.change(func(state *live.State) {
		state.Ruling = &live.Ruling{Number: 12, At: time.Now(), From: "A1", To: "B1", Title: "Range 2, in the front arc",
			Lines: state.Pair.Range.Lines}
	})
	require.NoError(t, chromedp.Run(ctx, until("ruling", shown), until("pair", gone), chromedp.Text("#ruling-title", &title)))
	assert.Equal(t, "Range 2, in the front arc", title)
	require.NoError(t, chromedp.Run(ctx, until("ruling", gone), until("pair", shown)))

	// What is withheld is not shown; what is held is marked.
	f.change(func(state *live.State) { state.Pair, state.Reason = nil, "only the judge measures at this table" })
	require.NoError(t, chromedp.Run(ctx, until("pair", gone)))
	f.change(func(state *live.State) { state.Held, state.Hold = true, &live.Held{Number: 1, AskedBy: "Ada"} })
	require.NoError(t, chromedp.Run(ctx, until("held", shown), until("over", gone)))
	f.change(func(state *live.State) { state.Held, state.Hold = false, nil })
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	require.NoError(t, chromedp.Run(ctx, until("pair", shown)))

	// An attack that the rules forbid is said, and nothing of it is ticked.
	f.change(onARock(engine.Rules20, "asteroid"))
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	facts("No attack: at range 0 of an asteroid, rock1 (2.0 G177)")
	var ticked int
	require.NoError(t, chromedp.Run(ctx, chromedp.Evaluate(`document.querySelectorAll('#pair-facts [data-outcome="yes"], #pair-facts `+
		`[data-outcome="clear"]').length`, &ticked)))
	assert.Zero(t, ticked)

	// Hundreds of states leave no more in the page than one.
	var before, after, seq int
	count := `document.querySelectorAll("*").length`
	require.NoError(t, chromedp.Run(ctx, chromedp.Evaluate(count, &before)))
	for i := range 600 {
		to := []string{"B1", "B2", "B3"}[i%3]
		f.choose(live.Choice{From: []string{"A1", "A2"}[i%2], To: to, Arc: engine.ArcFront})
		time.Sleep(3 * time.Millisecond)
	}
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	require.NoError(t, chromedp.Run(ctx,
		browsertest.Poll(`document.getElementById("pair-to").textContent === "B1" && document.getElementById("pair-from").textContent === "A1"`,
			nil), chromedp.Evaluate(count, &after)))
	_ = seq
	assert.InDelta(t, before, after, 40)

	// The box falls silent: nothing is left on the picture, and all comes back with it.
	stop()
	require.NoError(t, chromedp.Run(ctx, until("pair", gone), until("match", gone), until("over", gone)))
	assert.True(t, empty(shoot(t, ctx)), "every pixel is transparent")
	beat(t, f)
	require.NoError(t, chromedp.Run(ctx, until("pair", shown)))
}

// Servers that are started again listen at an address of this machine that no other test has: the kernel would give the port of one
// that has stopped to the next test's server.
const (
	overlayAgain = "127.0.0.2:0"
	playerAgain  = "127.0.0.3:0"
)

// listenAt listens at an address, as soon as no connection has its port: the kernel gives those that
// no one listens on to whoever connects to anything.
func listenAt(t *testing.T, address string) (l net.Listener) {
	t.Helper()
	require.Eventually(t, func() (ok bool) {
		var err error
		l, err = net.Listen("tcp", address)
		return err == nil
	}, time.Minute, 100*time.Millisecond, address)
	return l
}

// sameAddress serves at an address, so that a server can be started again there.
func sameAddress(t *testing.T, address string, handler http.Handler) *httptest.Server {
	t.Helper()
	s := &httptest.Server{Listener: listenAt(t, address), Config: &http.Server{Handler: handler}}
	s.Start()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// clockHangs: a connection that a browser kept over a change of networks answers nothing, and ends after a quarter of an hour.
func clockHangs(t *testing.T, ctx context.Context) {
	f := newFakeTable(t)
	calibrated(t, f, tablesim.DefaultCamera(1920, 1080))
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	beat(t, f)
	var asked atomic.Int32
	server := before(t, serve(t, f), func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/overlay/clock" || asked.Add(1) > 2 {
			return false
		}
		<-r.Context().Done()
		return true
	})
	within(t, ctx, "an answer", chromedp.Navigate(server.URL+"/overlay/pair"), until("pair", shown))
	assert.LessOrEqual(t, asked.Load(), int32(5), "it is not asked in a hurry")
}

func restarted(t *testing.T, ctx context.Context) {
	f := newFakeTable(t)
	calibrated(t, f, tablesim.DefaultCamera(1920, 1080))
	beat(t, f)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	first := sameAddress(t, overlayAgain, f.server())
	address := first.Listener.Addr().String()
	obs := chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(`window.obsstudio = {}`).Do(ctx)
		return err
	})
	require.NoError(t, chromedp.Run(ctx, obs, chromedp.Navigate("http://"+address+"/overlay/pair"), until("pair", shown)))
	var told bool
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Evaluate(`typeof window.obsstudio.onActiveChange === "function" && typeof window.obsstudio.onVisibilityChange === "function"`,
			&told)))
	assert.True(t, told, "OBS can say that the source is seen again")
	first.CloseClientConnections()
	first.Close()
	require.NoError(t, chromedp.Run(ctx, until("pair", gone)))
	assert.True(t, empty(shoot(t, ctx)))

	g := newFakeTable(t) // another process: it counts its states from the beginning
	beat(t, g)
	g.choose(live.Choice{From: "A2", To: "B2", Arc: engine.ArcFront})
	sameAddress(t, address, g.server())
	began := time.Now()
	require.NoError(t, chromedp.Run(ctx, until("pair", shown)))
	t.Logf("shown again after %.1f s", time.Since(began).Seconds())
	var who string
	require.NoError(t, chromedp.Run(ctx, chromedp.Text("#pair-from", &who)))
	assert.Equal(t, "A2", who)
}

func waitingFile(t *testing.T, ctx context.Context) {
	f := newFakeTable(t)
	l, err := net.Listen("tcp", overlayAgain)
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/overlay/bootstrap.html?widget=all&demo=1&scene=0", nil)
	r.Host = address
	f.server().ServeHTTP(w, r)
	path := filepath.Join(t.TempDir(), "sightline-overlay-all.html")
	require.NoError(t, os.WriteFile(path, w.Body.Bytes(), 0o644))

	var frames int
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate("file://"+path), chromedp.Sleep(time.Second),
		chromedp.Evaluate(`document.querySelectorAll("iframe").length`, &frames)))
	assert.Zero(t, frames, "nothing is embedded before the box answers")
	assert.True(t, empty(shoot(t, ctx)))

	sameAddress(t, address, f.server())
	require.NoError(t, chromedp.Run(ctx, browsertest.Poll(`document.querySelectorAll("iframe").length === 1`, nil)))
	var picture image.Image
	require.Eventually(t, func() bool {
		picture = shoot(t, ctx)
		_, _, _, a := picture.At(1900, 10).RGBA() // the demo's mark
		return a == 0xffff
	}, 2*time.Minute, 200*time.Millisecond)
	_, _, _, a := picture.At(960, 560).RGBA()
	assert.Zero(t, a, "the embedded page is transparent, too")
}

func setupPage(t *testing.T, ctx context.Context) {
	f := newFakeTable(t)
	server := serve(t, f)
	var address, file, said string
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Navigate(server.URL+"/overlay/"), chromedp.WaitVisible("#address"),
		chromedp.Evaluate(`(() => { const o = document.getElementById("options").elements; o.widget.value = "pair"; o.view.value = "camera"; o.theme.value = "light"; o.ttl.value = "30"; o.crop.value = "420,0,1080,1080";
			document.getElementById("options").dispatchEvent(new Event("input", { bubbles: true })); })()`, nil),
		chromedp.Value("#address", &address), chromedp.AttributeValue("#bootstrap", "href", &file, nil),
		chromedp.SendKeys(`#match input[name="round"]`, "Round 3"), chromedp.SendKeys(`#match input[name="name-0"]`, "Ada"),
		chromedp.Click(`#match button[aria-label="Player 2: one more"]`),
		browsertest.Poll(`document.getElementById("match-said").textContent !== ""`, nil), chromedp.Text("#match-said", &said)))
	assert.Equal(t, server.URL+"/overlay/pair?view=camera&theme=light&ttl=30&crop=420,0,1080,1080", address)
	assert.Equal(t, "/overlay/bootstrap.html?view=camera&theme=light&ttl=30&crop=420,0,1080,1080&widget=pair", file)
	assert.Equal(t, "It is shown.", said)
	assert.Equal(t, live.Match{Round: "Round 3", Sides: [2]live.MatchSide{{Name: "Ada"}, {Score: 1}}}, f.hub.Newest().Match)
	status, _ := get(t, server.URL+strings.TrimPrefix(address, server.URL))
	assert.Empty(t, status.Header.Get("Sightline-Overlay-Problem"), "the page makes no bad addresses")
	status, _ = get(t, server.URL+file)
	assert.Equal(t, http.StatusOK, status.StatusCode)
	if path := os.Getenv("SETUP_PNG"); path != "" {
		var png []byte
		require.NoError(t, chromedp.Run(ctx, chromedp.Sleep(time.Second), chromedp.FullScreenshot(&png, 100)))
		require.NoError(t, os.WriteFile(path, png, 0o644))
	}
}

func pointAt(p [2]float64) geom.Point { return geom.Point{X: p[0], Y: p[1]} }

func overlayPages() []pageCase {
	return []pageCase{
		{name: "overlay", path: "/overlay/", ready: "#address", brief: true, do: []chromedp.Action{
			chromedp.Click(`input[name="what"][value="live"]`), // the demo moves; this table stands still and is of long ago: nothing is shown
			browsertest.Poll(`document.getElementById("shown").src.indexOf("demo") < 0`, nil),
		}, open: func(t *testing.T) *httptest.Server { return serve(t, newFakeTable(t)) }},
	}
}
