//go:build browser

package web_test

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/engine"
)

// The verdict is spoken on the device that asks for it, and what no longer holds is not.
func TestTheVerdictIsSpokenOnDemand(t *testing.T) {
	t.Parallel()
	ctx := browsertest.New(t, time.Minute)
	f := newFakeTable(t)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	server := steady(t, f)
	var silent int
	var first, second string
	require.NoError(t, chromedp.Run(ctx, screen(tabletWide, "dark"), chromedp.Navigate(server.URL), chromedp.WaitVisible(`#answer[data-kind="shot"]`),
		chromedp.Evaluate(`window.spoken = []; speechSynthesis.speak = (words) => spoken.push(words.text); 0`, nil),
		chromedp.Sleep(time.Second), chromedp.Evaluate(`spoken.length`, &silent),
		chromedp.KeyEvent("v"), browsertest.Poll(`spoken.length === 1`, nil), chromedp.Evaluate(`spoken[0]`, &first)))
	assert.Zero(t, silent, "nothing is spoken before someone asks for it")
	assert.Equal(t, "A1, B1. In range 2, in the front arc. obstacles are not watched.", first)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcRear})
	require.NoError(t, chromedp.Run(ctx, browsertest.Poll(`spoken.length === 2`, nil), chromedp.Evaluate(`spoken[1]`, &second)))
	assert.Equal(t, "A1, B1. No shot: outside the rear arc.", second)
}

func TestKeysForEverything(t *testing.T) {
	ctx := browsertest.New(t, time.Minute)
	f := newFakeTable(t)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	server := steady(t, f)
	var help, inches, focus string
	require.NoError(t, chromedp.Run(ctx))
	within(t, ctx, "the page", emulation.SetDeviceMetricsOverride(390, 844, 1, true), chromedp.Navigate(server.URL),
		chromedp.WaitVisible(`#answer[data-kind="shot"]`))
	within(t, ctx, "the list of keys", chromedp.KeyEvent("?"), chromedp.WaitVisible("#help"), chromedp.Text("#help", &help),
		chromedp.Click("#help-close"), chromedp.WaitNotVisible("#help"))
	within(t, ctx, "inches", chromedp.KeyEvent("i"), chromedp.Text("#distance", &inches))
	within(t, ctx, "the targets", chromedp.KeyEvent("2"), chromedp.WaitVisible("#targets li"),
		browsertest.Poll(`getComputedStyle(document.getElementById("answer")).display === "none"`, nil))
	within(t, ctx, "moves to try", chromedp.KeyEvent("3"), chromedp.WaitVisible("#try-grid"), chromedp.KeyEvent("t"),
		chromedp.Evaluate(`document.activeElement.closest("#try-grid")?.id ?? ""`, &focus))
	assert.Contains(t, help, "call a judge")
	assert.Regexp(t, `^144\.\d mm ± 0\.\d\d mm = 5\.68 in$`, inches)
	assert.Equal(t, "try-grid", focus)
}

// A phone next to the mat shows the verdict and large buttons, and all on one screen.
func TestTheRemote(t *testing.T) {
	ctx := browsertest.New(t, time.Minute)
	f := newFakeTable(t)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	server := steady(t, f)
	var missing, title string
	require.NoError(t, chromedp.Run(ctx, emulation.SetDeviceMetricsOverride(390, 844, 1, true), chromedp.Navigate(server.URL+"/remote"),
		chromedp.WaitVisible(`#answer[data-kind="shot"]`), chromedp.Text("#title", &title),
		notOnScreen(&missing, `["#title", "#band", "#from-back", "#from-next", "#to-back", "#to-next", "#arc-name", "#arc-back", "#arc-next", "#swap", "#ask-judge"]`),
		chromedp.Click("#to-next"), browsertest.Poll(`document.getElementById("to-name").textContent === "B2"`, nil),
		chromedp.Click("#swap"), browsertest.Poll(`document.getElementById("from-name").textContent === "B2"`, nil)))
	assert.Equal(t, "In range 2, in the front arc", title)
	assert.Empty(t, missing)
	assert.Equal(t, "A1", f.hub.Newest().Choice.To)

	var arc, asked, ruled string
	require.NoError(t, chromedp.Run(ctx, chromedp.Click("#arc-next"),
		browsertest.Poll(`document.getElementById("arc-name").textContent !== "front"`, nil), chromedp.Text("#arc-name", &arc),
		chromedp.Click("#arc-back"), browsertest.Poll(`document.getElementById("arc-name").textContent === "front"`, nil)))
	assert.Equal(t, f.hub.Newest().Choice.Arc, engine.ArcFront)
	assert.NotEmpty(t, arc)
	f.change(func(s *live.State) { s.Held, s.Hold = true, &live.Held{Number: 1, At: s.At, AskedBy: "Anna"} })
	require.NoError(t, chromedp.Run(ctx, chromedp.WaitVisible("#held"), chromedp.Text("#held-text", &asked),
		browsertest.Poll(`document.getElementById("ask-judge").disabled`, nil)))
	assert.Contains(t, asked, "by Anna. ")
	f.change(func(s *live.State) {
		s.Held, s.Hold, s.Ruling = false, nil, &live.Ruling{Number: 3, At: s.At, From: "A1", To: "B1", Title: "In range 2"}
	})
	require.NoError(t, chromedp.Run(ctx, chromedp.WaitNotVisible("#held"), chromedp.WaitVisible("#ruling"),
		chromedp.Text("#ruling-title", &ruled)))
	assert.Equal(t, "Ruling 3, A1 to B1: In range 2", ruled)
}

// What everyone must see of the agreement on measuring is seen on a remote too, and its player may object.
func TestTheRemoteShowsWhatIsProposed(t *testing.T) {
	ctx := browsertest.New(t, time.Minute)
	f := newFakeTable(t)
	f.change(func(s *live.State) {
		s.Policy = live.Policy{Measuring: live.MeasuringEdition,
			Proposal: &live.Proposal{To: live.MeasuringFree, Until: s.At.Add(14 * time.Second)}}
	})
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	server := steady(t, f)
	var proposed, why, declared string
	require.NoError(t, chromedp.Run(ctx, emulation.SetDeviceMetricsOverride(390, 844, 1, true), chromedp.Navigate(server.URL+"/remote"),
		chromedp.WaitVisible(`#answer[data-kind="withheld"]`), chromedp.WaitVisible("#proposal"), chromedp.Text("#proposal-text", &proposed),
		chromedp.Text("#obstruction", &why), chromedp.WaitEnabled("#object"), chromedp.WaitNotPresent("#declared:not([hidden])")))
	assert.Equal(t, "Proposed: measuring is free, at any time. It holds unless someone objects.", proposed)
	assert.Equal(t, "No one has declared what to measure for", why)
	f.change(func(s *live.State) {
		s.Policy = live.Policy{Measuring: live.MeasuringEdition, Window: &live.Window{
			Declaration: live.Declaration{Doing: live.DoAttack, Ship: "A1"}, Opened: s.At, Until: s.At.Add(time.Minute)}}
	})
	require.NoError(t, chromedp.Run(ctx, chromedp.WaitNotVisible("#proposal"), chromedp.WaitVisible("#declared"),
		chromedp.Text("#declared", &declared)))
	assert.Contains(t, declared, "A1 attacks")
}

// A remote that is not paired shows the answer, and says how its buttons come to work.
func TestTheRemoteOfAStranger(t *testing.T) {
	f, _, address := served(t, stranger)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	ctx := browsertest.New(t, time.Minute)
	var pressable int
	var to string
	require.NoError(t, chromedp.Run(ctx, emulation.SetDeviceMetricsOverride(390, 844, 1, true), chromedp.Navigate("http://"+address+"/remote"),
		chromedp.WaitVisible(`#answer[data-kind="shot"]`), chromedp.WaitVisible("#unpaired"),
		browsertest.Poll(`document.getElementById("from-name").textContent === "A1"`, nil),
		chromedp.Evaluate(`document.querySelectorAll("#pads button:enabled").length`, &pressable),
		chromedp.Click("#unpaired a"), chromedp.WaitVisible("#code"), chromedp.Location(&to)))
	assert.Zero(t, pressable)
	assert.Contains(t, to, "/pair?next=/remote")
}
