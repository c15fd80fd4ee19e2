//go:build browser

package web_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// TestThePlayersPage goes through what players do, in tabs of one browser.
func TestThePlayersPage(t *testing.T) {
	t.Parallel()
	browser := browsertest.New(t, 3*time.Minute)
	require.NoError(t, chromedp.Run(browser))
	for _, c := range []struct {
		rule string
		do   func(*testing.T, context.Context)
	}{
		{"a move is tried by keys alone, and its ghost goes when the ship does", tryByKeys},
		{"of a huge ship only what is known can be tried", tryAHugeShip},
		{"who acts says so first, where the players keep the rules", declareOnThePage},
		{"a proposal is seen however far one has scrolled", proposalOnThePhone},
		{"a tap in the list chooses the target", chooseFromTheList},
		{"millimetres are shown on demand", figuresOnDemand},
		{"a judge was called, and what is held is said", askForAJudge},
		{"what a judge was called for is released after a question that names it", letGoOnASecondWord},
		{"on a phone that is scrolled, calling a judge is seen", askOnThePhone},
		{"an attack that the rules forbid is ticked nowhere", forbiddenOnThePage},
		{"what can be done with devices and markers is declared", declareObjects},
		{"an old picture and no camera are said, and nothing is asked of them", staleOnThePage},
		{"the page comes back by itself when the program was started again", reconnect},
		{"daylight is chosen on this device and kept", chooseTheme},
	} {
		t.Run(c.rule, func(t *testing.T) {
			tab, cancel := chromedp.NewContext(browser)
			defer cancel()
			require.NoError(t, chromedp.Run(tab)) // opens it for longer than the first step
			c.do(t, tab)
		})
	}
}

func tryByKeys(t *testing.T, tab context.Context) {
	f := newFakeTable(t)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	server := steady(t, f)
	var title, said, label string
	within(t, tab, "the ghost", screen(tabletWide, "dark"), chromedp.Navigate(server.URL),
		chromedp.WaitVisible(`#table .measure line`),
		chromedp.Focus(`#try-grid [tabindex="0"]`), // one stop of the tab key: the arrows go on from there
		chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowRight),
		chromedp.Evaluate(`document.activeElement.getAttribute("aria-label")`, &label),
		chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible(`#table .ghost .chosen .base`), chromedp.WaitVisible(`#table .ghost .template`),
		chromedp.Text("#try-title", &title), chromedp.Text("#try-lines", &said),
	)
	assert.Equal(t, "Bank right 3", label)
	assert.Equal(t, "A1: Bank right 3", title)
	assert.Contains(t, said, "It can be executed in full (obstacles are not watched).")
	assert.Contains(t, said, "Obstacles on the way are not watched.")
	assert.Equal(t, "A1", f.hub.Newest().Choice.From, "arrows within the grid choose no ship")

	// Another ship comes into its way, and is covered there: the answer follows both.
	f.change(func(state *live.State) {
		state.Located.Scene.Ships = append([]engine.Ship(nil), state.Located.Scene.Ships...)
		state.Located.Scene.Ships[3].Pose.Point = geom.Point{X: 370, Y: 450}
	})
	within(t, tab, "a ship in the way",
		browsertest.Poll(`document.getElementById("try-lines").textContent.includes("It would overlap B1") && !document.getElementById("try-answer").dataset.stale`, nil))
	f.change(func(state *live.State) {
		for _, s := range state.Located.Scene.Ships {
			k := vision.Track{Ship: s, State: vision.Still, Captured: state.At, Frames: 9}
			if s.ID == "B1" {
				k.State = vision.Hidden
			}
			state.Tracks = append(state.Tracks, k)
		}
		state.Located.Captured = state.At
	})
	within(t, tab, "a hand over it",
		browsertest.Poll(`document.getElementById("try-lines").textContent.includes("is not seen: B1 is covered") && !document.getElementById("try-lines").textContent.includes("It can be")`, nil))

	f.change(func(state *live.State) {
		state.Tracks = nil
		state.Located.Scene.Ships = append([]engine.Ship(nil), state.Located.Scene.Ships...)
		state.Located.Scene.Ships[0].Pose.X += 30
	})
	within(t, tab, "the ghost goes", chromedp.WaitNotPresent(`#table .ghost .base`))
}

func tryAHugeShip(t *testing.T, tab context.Context) {
	f := newFakeTable(t)
	f.change(func(state *live.State) {
		state.Located.Scene.Ships = append([]engine.Ship(nil), state.Located.Scene.Ships...)
		state.Located.Scene.Ships[0].Base = engine.Huge195
	})
	const enabled = `[...document.querySelectorAll("#try-grid button:enabled")].map((b) => b.dataset.move).join()`
	var dial, stop, loops, drops, other, says string
	var others int
	pick := func(id, value string) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf(`{const s = document.getElementById(%q); s.value = %q; s.dispatchEvent(new Event("change"))}`, id,
			value), nil)
	}
	within(t, tab, "what can be tried",
		chromedp.Navigate(serve(t, f).URL), chromedp.WaitReady(`#try-ship option[value="A1"]`),
		pick("try-ship", "A1"), chromedp.Evaluate(enabled, &dial),
		chromedp.Evaluate(`document.querySelector('#try-grid [tabindex="0"]').dataset.move`, &stop), chromedp.Text("#try-huge", &says),
		pick("try-kind", "loops"), chromedp.Evaluate(enabled, &loops),
		pick("try-kind", "drop"), chromedp.Evaluate(enabled, &drops),
		pick("try-kind", "dial"), pick("try-ship", "B1"), chromedp.Evaluate(`document.querySelectorAll("#try-grid button:enabled").length`,
			&others), chromedp.Evaluate(`document.getElementById("try-huge").textContent`, &other),
	)
	assert.Equal(t, "stationary", dial)
	assert.Equal(t, "stationary", stop, "the tab key must find it")
	assert.Contains(t, says, "only stationary and drops are known")
	assert.Empty(t, loops)
	assert.Contains(t, drops, "bank left 1")
	assert.Greater(t, others, 20)
	assert.Empty(t, other)
}

func declareOnThePage(t *testing.T, tab context.Context) {
	f := newFakeTable(t)
	f.declare = func(d *live.Declaration) {
		f.change(func(state *live.State) {
			state.Policy.Window = nil
			if d != nil {
				state.Policy.Window = &live.Window{Declaration: *d, Until: state.At.Add(time.Minute)}
			}
		})
		f.choose(f.hub.Newest().Choice)
	}
	f.change(func(state *live.State) { state.Policy.Measuring = live.MeasuringEdition })
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	server := steady(t, f)
	drawn := func() (rings, lines, rows int) {
		within(t, tab, "counting",
			chromedp.Evaluate(`document.querySelectorAll("#table .ring, #table .wedge").length`, &rings),
			chromedp.Evaluate(`document.querySelectorAll("#table .measure line").length`, &lines),
			chromedp.Evaluate(`document.querySelectorAll("#targets li").length`, &rows))
		return rings, lines, rows
	}
	var reason, policy string
	within(t, tab, "no answer", screen(tabletWide, "dark"), chromedp.Navigate(server.URL),
		chromedp.WaitVisible(`#answer[data-outcome="no_view"]`), chromedp.WaitVisible(`#declare`), chromedp.Text("#margin", &reason))
	assert.Equal(t, "No one has declared what to measure for", reason)
	rings, lines, rows := drawn()
	assert.Equal(t, [3]int{0, 0, 0}, [3]int{rings, lines, rows}, "nothing that one could measure with")

	within(t, tab, "the attack", chromedp.Click(`#declare [data-doing="attack"]`), chromedp.WaitVisible(`#answer[data-outcome="yes"]`),
		chromedp.Text("#policy-text", &policy))
	assert.Regexp(t, `^A1 attacks \(\d+ s left\)$`, policy)
	rings, lines, rows = drawn()
	assert.Equal(t, [3]int{4, 1, 3}, [3]int{rings, lines, rows})
	within(t, tab, "done", chromedp.Click(`#declared-done`), chromedp.WaitVisible(`#answer[data-outcome="no_view"]`))

	// A move is declared by trying it, before everyone.
	var why string
	within(t, tab, "a move", chromedp.Click(`#try-grid [data-move="straight 2"]`), chromedp.WaitVisible(`#table .ghost .chosen .base`),
		chromedp.Text("#try-why", &why))
	assert.Equal(t, "A1: straight 2", f.hub.Newest().Policy.Window.Text())
	assert.Contains(t, why, "the rules do not measure ranges after a move before it is made")
	within(t, tab, "done", chromedp.Click(`#declared-done`), chromedp.WaitNotPresent(`#table .ghost .base`))
}

// A proposal takes effect on its own: who has scrolled down on a phone sees it too.
func proposalOnThePhone(t *testing.T, tab context.Context) {
	f := newFakeTable(t)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	objected := make(chan live.Measuring, 1)
	f.agree = func(m live.Measuring, _ bool) { objected <- m }
	server := steady(t, f)
	within(t, tab, "scrolled", screen(phoneWide, "dark"), chromedp.Navigate(server.URL), chromedp.WaitReady(`#targets li`),
		chromedp.Evaluate(`scrollTo(0, document.body.scrollHeight)`, nil))
	f.change(func(state *live.State) {
		state.Policy.Proposal = &live.Proposal{To: live.MeasuringEdition, Until: state.At.Add(15 * time.Second)}
	})
	var seen bool
	var role, said string
	within(t, tab, "the proposal", chromedp.WaitVisible("#proposal"), chromedp.Evaluate(`scrollTo(0, document.body.scrollHeight)`, nil),
		chromedp.Evaluate(`(() => { const r = document.getElementById("object").getBoundingClientRect(); const at = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2); return scrollY > 300 && r.top >= 0 && r.bottom <= innerHeight / 2 && at.id === "object"; })()`, &seen),
		chromedp.AttributeValue("#proposal-text", "role", &role, nil), chromedp.Text("#proposal", &said))
	assert.True(t, seen, "the button to object stands in the upper half of the screen with nothing over it")
	assert.Equal(t, "alert", role)
	assert.Contains(t, said, "It holds unless someone objects. 15 s left")
	within(t, tab, "objecting", chromedp.Evaluate(`document.getElementById("object").click()`, nil))
	select {
	case m := <-objected:
		assert.Empty(t, m, "an objection")
	case <-time.After(time.Minute):
		assert.Fail(t, "nobody heard the objection")
	}
}

func chooseFromTheList(t *testing.T, tab context.Context) {
	f := newFakeTable(t)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	server := steady(t, f)
	var label string
	within(t, tab, "the list", screen(phoneWide, "light"), chromedp.Navigate(server.URL),
		chromedp.WaitReady(`#targets li`), // before the page's script runs, the button does nothing
		chromedp.Click(`.switch [data-view="targets"]`), chromedp.WaitVisible(`#targets [data-id="B3"]`),
		chromedp.AttributeValue(`#targets [data-id="B3"]`, "aria-label", &label, nil),
		chromedp.Click(`#targets [data-id="B3"]`),
		chromedp.WaitVisible(`#targets [data-id="B3"][aria-pressed="true"]`))
	assert.Equal(t, "B3: Beyond range 3, in arc, too far", label)
	assert.Equal(t, "B3", f.hub.Newest().Choice.To)
}

func figuresOnDemand(t *testing.T, tab context.Context) {
	f := newFakeTable(t)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	server := steady(t, f)
	var on, off string
	within(t, tab, "the figures", screen(tabletWide, "dark"), chromedp.Navigate(server.URL), chromedp.WaitVisible(`#answer[data-kind="shot"]`),
		chromedp.Text("#answer", &on), chromedp.Click("#figures"), chromedp.WaitNotVisible("#distance"), chromedp.Text("#answer", &off))
	assert.Contains(t, on, "±")
	assert.NotContains(t, off, "±")
	assert.Contains(t, off, "In range 2")
	within(t, tab, "kept", chromedp.Reload(), chromedp.WaitVisible(`#answer[data-outcome="yes"]`), chromedp.WaitNotVisible("#distance"),
		chromedp.Click("#figures"))
}

func askForAJudge(t *testing.T, tab context.Context) {
	f := newFakeTable(t)
	f.choose(live.Choice{From: "A2", To: "B2", Arc: engine.ArcFront})
	hold := func(on bool) {
		f.change(func(state *live.State) {
			state.Held, state.Hold = on, nil
			if on {
				state.Hold = &live.Held{Number: 5, At: state.At, AskedBy: "the table"}
			}
		})
	}
	f.options = func(o *web.Options) {
		o.AskJudge, o.Freeze = func(string) error { hold(true); return nil }, func(r live.HoldRequest) error { hold(r.Hold); return nil }
	}
	server := steady(t, f)
	var doubt, held string
	within(t, tab, "asking", screen(tabletWide, "dark"), chromedp.Navigate(server.URL), chromedp.WaitVisible(`#doubts`), chromedp.Text("#doubts",
		&doubt),
		chromedp.Click("#ask-judge"), chromedp.WaitVisible("#held"), chromedp.Text("#held", &held))
	assert.Contains(t, doubt, "mm from the edge between range 2 and 3; it would take more than 0.90 mm to be sure.")
	assert.Contains(t, doubt, "move nothing")
	assert.Contains(t, held, "A judge was called")
	within(t, tab, "going on", chromedp.Click("#go-on"), chromedp.WaitVisible("#let-go-go"), chromedp.Click("#let-go-go"),
		chromedp.WaitNotVisible("#held"))
	f.change(func(state *live.State) {
		state.Ruling = &live.Ruling{Number: 3, At: state.At, From: "A2", To: "B2", Title: "Range 2", Measured: "Range 2 or 3",
			Decision: live.Overruled,
			Reason:   "measured with the ruler"}
	})
	within(t, tab, "the ruling", chromedp.WaitVisible("#ruling"), chromedp.Text("#ruling", &held), chromedp.Click("#ruling-close"),
		chromedp.WaitNotVisible("#ruling"))
	assert.Contains(t, held, "Ruling 3, A2 to B2: Range 2 Measured: Range 2 or 3. Overruled: measured with the ruler")

	// It leaves by how old it is, though the table's clock was set back to before it was made, and its time comes again.
	var left string
	f.change(func(state *live.State) { state.Ruling = &live.Ruling{Number: 4, At: state.At.Add(-20 * time.Second)} })
	within(t, tab, "the next", chromedp.WaitVisible("#ruling"), chromedp.Text("#ruling-left", &left))
	assert.Equal(t, "leaves in 40 s", left)
	f.change(func(state *live.State) {
		state.Ruling = &live.Ruling{Number: 5, At: state.At.Add(time.Hour), Undated: true}
	})
	within(t, tab, "an old one", chromedp.WaitNotVisible("#ruling"))
}

func staleOnThePage(t *testing.T, tab context.Context) {
	f := newFakeTable(t)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	server := steady(t, f)
	within(t, tab, "live", screen(tabletWide, "dark"), chromedp.Navigate(server.URL), chromedp.WaitVisible(`#answer[data-outcome="yes"]`))
	for _, h := range []live.Health{
		{Code: live.Stale, Title: "Old picture", Detail: "The last picture is 4 s old.", Advice: "Answers come back with the next picture."},
		{Code: live.NoCamera, Title: "No camera", Detail: "/dev/video0: gone"},
	} {
		f.change(func(state *live.State) { state.Health, state.Pair, state.Reason = h, nil, "old picture" })
		var banner, status string
		var lines, rows int
		within(t, tab, "said", chromedp.WaitVisible(`#status[data-code="`+string(h.Code)+`"]`), chromedp.WaitVisible(`body.stale #banner`),
			chromedp.Text("#banner", &banner), chromedp.Text("#status", &status), chromedp.WaitVisible(`#ask-judge:disabled`),
			chromedp.Evaluate(`document.querySelectorAll("#table .measure line").length`, &lines),
			chromedp.Evaluate(`document.querySelectorAll("#targets li").length`, &rows),
			chromedp.Click(`#try-grid [data-move="straight 1"]`), chromedp.WaitVisible("#try-refused:not(:empty)"))
		assert.Contains(t, banner, h.Title)
		assert.Contains(t, banner, h.Detail)
		assert.Zero(t, lines+rows, "no line and no list rest on an old picture")
	}
}

// reconnect serves on one port, stops, and serves there again.
func reconnect(t *testing.T, tab context.Context) {
	if testing.Short() {
		t.Skip("it takes the page five seconds to be sure that nobody answers")
	}
	f := newFakeTable(t)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	l, err := net.Listen("tcp", playerAgain)
	require.NoError(t, err)
	address := l.Addr().String()
	run := func(l net.Listener) (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- f.server().Serve(ctx, l) }()
		telling := time.AfterFunc(0, func() {
			for ctx.Err() == nil {
				f.change(func(*live.State) {})
				time.Sleep(500 * time.Millisecond)
			}
		})
		return func() { telling.Stop(); cancel(); assert.NoError(t, <-done) }
	}
	f.change(func(state *live.State) {
		state.Ruling = &live.Ruling{Number: 1, At: state.At, From: "A1", To: "B1", Title: "Range 2"}
		state.Notes = []live.Note{{At: state.At, Text: "B1 moved 67 mm unseen."}}
	})
	stop := run(l)
	within(t, tab, "live", chromedp.Navigate("http://"+address+"/"), chromedp.WaitVisible(`#status[data-code="ok"]`))
	stop()
	http.DefaultClient.CloseIdleConnections()
	var title, left string
	within(t, tab, "lost", chromedp.WaitVisible(`#status[data-code="lost"]`), chromedp.Text("#banner-title", &title),
		chromedp.Evaluate(`document.getElementById("ruling-left").textContent + document.getElementById("note-left").textContent`, &left))
	assert.Equal(t, "Connection lost", title)
	assert.Empty(t, left, "no time is counted that stands still")
	l = listenAt(t, address)
	f.choose(live.Choice{From: "A1", To: "B3", Arc: engine.ArcFront})
	defer run(l)()
	within(t, tab, "back", chromedp.WaitVisible(`#status[data-code="ok"]`),
		chromedp.WaitVisible(`#targets [data-id="B3"][aria-pressed="true"]`), chromedp.WaitNotVisible("#banner"))
}

func chooseTheme(t *testing.T, tab context.Context) {
	server := steady(t, newFakeTable(t))
	theme := `getComputedStyle(document.documentElement).getPropertyValue("--bg").trim()`
	var system, light, kept, label string
	within(t, tab, "the theme", screen(phoneWide, "dark"), chromedp.Navigate(server.URL), chromedp.WaitVisible("[data-theme-button]"),
		chromedp.Evaluate(theme, &system), chromedp.Click("[data-theme-button]"), chromedp.Evaluate(theme, &light),
		chromedp.AttributeValue("[data-theme-button]", "aria-label", &label, nil),
		chromedp.Reload(), chromedp.Evaluate(theme, &kept), chromedp.Evaluate(`localStorage.removeItem("sightline-theme")`, nil))
	assert.Equal(t, tokens(t, "\n:root")["--bg"], system)
	assert.Equal(t, tokens(t, `:root[data-theme="light"]`)["--bg"], light)
	assert.Equal(t, light, kept)
	assert.Equal(t, "Theme: light", label)
}
