//go:build browser

package web_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	cdp "github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/engine"
)

// onScreen reports the elements that reach beyond the screen's edge, or are not shown.
const onScreen = `((ids) => ids.filter((id) => {
	const r = document.querySelector(id).getBoundingClientRect();
	return !(r.height > 0 && r.top >= 0 && r.bottom <= innerHeight + 0.5 && r.left >= 0 && r.right <= innerWidth + 0.5);
}).join())(%s)`

func notOnScreen(out *string, ids string) chromedp.Action {
	return chromedp.Evaluate(fmt.Sprintf(onScreen, ids), out)
}

// TestTheAnswerAtAGlance: what is used in a game is on the first screen, and what is no
// shot looks like none.
func TestTheAnswerAtAGlance(t *testing.T) {
	t.Parallel()
	browser := browsertest.New(t, 3*time.Minute)
	require.NoError(t, chromedp.Run(browser))
	for rule, do := range map[string]func(*testing.T, context.Context){
		"on a phone the answer is on the first screen with the table": firstScreenOfAPhone,
		"on a desk nothing that is used in a game is below the fold":  firstScreenOfADesk,
		"a range stands large only where it is the answer":            largeOnlyWhereItIsTheAnswer,
		"messages leave after the time that they state":               messagesLeave,
		"a turret's arc is drawn where the turret points":             turretWedge,
		"a nudged ship's old place is drawn, to put it back":          nudgeGhost,
	} {
		t.Run(rule, func(t *testing.T) {
			tab, cancel := chromedp.NewContext(browser)
			defer cancel()
			require.NoError(t, chromedp.Run(tab))
			do(t, tab)
		})
	}
}

func firstScreenOfAPhone(t *testing.T, tab context.Context) {
	f := newFakeTable(t)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	server := steady(t, f)
	var missing, ghost string
	within(t, tab, "the answer", screen(phoneWide, "light"), chromedp.Navigate(server.URL),
		chromedp.WaitVisible(`#answer[data-kind="shot"]`),
		notOnScreen(&missing, `["#status", "#table", "#title", "#band", "#fact-arc", "#fact-obstruction"]`))
	assert.Empty(t, missing)
	within(t, tab, "a move", chromedp.Click(`.switch [data-view="try"]`), chromedp.WaitVisible(`#try-grid [data-move="turn right 3"]`),
		chromedp.Click(`#try-grid [data-move="turn right 3"]`), chromedp.WaitVisible(`#table .ghost .chosen .base`),
		chromedp.WaitVisible("#try-answer"),
		notOnScreen(&ghost, `["#table .ghost .chosen .base", '#try-grid [data-move="turn right 3"]']`))
	assert.Empty(t, ghost, "the ghost is seen while its key is pressed")
}

func firstScreenOfADesk(t *testing.T, tab context.Context) {
	f := newFakeTable(t)
	server := steady(t, f)
	for _, lang := range []string{"en", "de"} {
		for _, to := range []string{"B1", "B2"} { // in the arc, and outside it
			f.choose(live.Choice{From: "A1", To: to, Arc: engine.ArcFront})
			var missing string
			within(t, tab, "the desk", cdp.SetExtraHTTPHeaders(cdp.Headers{"Accept-Language": lang}), screen(deskWide, "light"),
				chromedp.Navigate(server.URL), chromedp.WaitVisible(`#targets li`), browsertest.Poll(`document.getElementById("nopicture").hidden`, nil),
				browsertest.Poll(fmt.Sprintf(`document.documentElement.lang === %q && document.getElementById("to").value === %q`, lang, to), nil),
				notOnScreen(&missing, `["#status", "#policy-text", "#table", "#title", "#band", "#fact-arc", "#fact-obstruction", "#from", "#ask-judge",
					"#targets li", '#try-grid [data-move="stationary"]', "#picture", "section.targets", "section.camera"]`))
			assert.Empty(t, missing, "%s, %s", lang, to)
		}
	}
}

func largeOnlyWhereItIsTheAnswer(t *testing.T, tab context.Context) {
	f := newFakeTable(t)
	server := steady(t, f)
	within(t, tab, "the page", screen(tabletWide, "dark"), chromedp.Navigate(server.URL), chromedp.WaitVisible("#title"))
	for _, c := range []struct {
		from, to, kind, title, band string
		arc                         engine.Arc
	}{
		{"A1", "B1", "shot", "In range 2, in the front arc", "2", engine.ArcFront},
		{"A2", "B2", "close", "Too close to call: range 2 or 3", "2 or 3", engine.ArcFront},
		{"A1", "B1", "no_shot", "No shot: outside the rear arc", "✕", engine.ArcRear},
		{"A1", "B3", "no_shot", "No shot: beyond range 3", "✕", engine.ArcFront},
	} {
		f.choose(live.Choice{From: c.from, To: c.to, Arc: c.arc})
		var title, band string
		within(t, tab, c.title, chromedp.WaitVisible(`#answer[data-kind="`+c.kind+`"]`),
			browsertest.Poll(`document.getElementById("title").textContent === `+fmt.Sprintf("%q", c.title), nil),
			chromedp.Text("#title", &title), chromedp.Text("#band", &band))
		assert.Equal(t, c.title, title)
		assert.Equal(t, c.band, band, c.title)
	}
}

func messagesLeave(t *testing.T, tab context.Context) {
	f := newFakeTable(t)
	server := steady(t, f)
	f.change(func(state *live.State) {
		state.Notes = []live.Note{{At: state.At, Text: "B1 moved 67 mm unseen."}}
	})
	var note string
	within(t, tab, "the note", screen(tabletWide, "dark"), chromedp.Navigate(server.URL), chromedp.WaitVisible("#note"),
		chromedp.Text("#note", &note))
	assert.Equal(t, "B1 moved 67 mm unseen. leaves in 20 s", note)
	f.change(func(state *live.State) { state.Notes[0].At = state.At.Add(-21 * time.Second) })
	within(t, tab, "it leaves", chromedp.WaitNotVisible("#note"), chromedp.WaitVisible("#hint"))
}

func turretWedge(t *testing.T, tab context.Context) {
	f := newFakeTable(t)
	f.change(func(state *live.State) {
		state.Located.Scene.Ships = append([]engine.Ship(nil), state.Located.Scene.Ships...)
		state.Located.Scene.Ships[0].Turret = "right"
	})
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcTurret})
	server := steady(t, f)
	drawn := `document.querySelector("#table .wedge").getAttribute("d")`
	var turret, right string
	within(t, tab, "the turret", screen(tabletWide, "dark"), chromedp.Navigate(server.URL), chromedp.WaitReady("#table .wedge"),
		chromedp.Evaluate(drawn, &turret))
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcRight})
	within(t, tab, "the right arc", chromedp.WaitVisible(`#answer[data-kind="no_shot"]`),
		browsertest.Poll(`document.getElementById("title").textContent.includes("right arc")`, nil), chromedp.Evaluate(drawn, &right))
	assert.NotEmpty(t, turret)
	assert.Equal(t, right, turret)
}

func nudgeGhost(t *testing.T, tab context.Context) {
	f := newFakeTable(t)
	f.change(func(state *live.State) {
		a1 := state.Located.Scene.Ships[0]
		state.Play = &live.Play{Ghosts: []live.Ghost{
			{ID: a1.ID, XMM: a1.Pose.X + 3, YMM: a1.Pose.Y, HeadingDeg: 10, Text: "A1 stands 3.0 mm from where it stood"},
			{ID: "Z9", Text: "off the table"},
		}}
	})
	server := steady(t, f)
	var drawn string
	within(t, tab, "the old place", screen(tabletWide, "dark"), chromedp.Navigate(server.URL),
		chromedp.WaitVisible("#table .ghost .end .base"),
		chromedp.Evaluate(`[...document.querySelectorAll("#table .ghost .end")].map((e) => e.getAttribute("transform")).join()`, &drawn))
	assert.Regexp(t, `^translate\([0-9.]+ [0-9.]+\) rotate\(10\)$`, drawn)
}
