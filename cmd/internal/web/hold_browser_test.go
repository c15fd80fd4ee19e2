//go:build browser

package web_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdp "github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/engine"
)

// phone is a phone of today, upright.
func phone(theme string) chromedp.Action {
	return chromedp.Tasks{
		emulation.SetDeviceMetricsOverride(390, 844, 1, true),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}),
	}
}

// shot keeps what is seen under a name where PAGES_DIR names a folder.
func shot(name string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		dir := os.Getenv("PAGES_DIR")
		if dir == "" {
			return nil
		}
		var png []byte
		if err := chromedp.CaptureScreenshot(&png).Do(ctx); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	})
}

// inView reports whether all of an element is on the screen with nothing over it.
const inView = `((e) => { const r = e.getBoundingClientRect(); const at = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
	return r.width > 0 && r.left >= 0 && r.right <= innerWidth && r.top >= 0 && r.bottom <= innerHeight && (e === at || e.contains(at)); })`

// courtTable is a court whose players' page is open too.
func courtTable(t *testing.T, from, to string) (*courtroom, string) {
	c := newCourtroom(t)
	c.choose(live.Choice{From: from, To: to, Arc: engine.ArcFront})
	return c, steadyCourt(t, c).URL
}

func askOnThePhone(t *testing.T, tab context.Context) {
	for _, theme := range []string{"dark", "light"} {
		c, url := courtTable(t, "A2", "B2")
		var live, held, button, said string
		var pill, note bool
		var wide string
		within(t, tab, "scrolled", phone(theme), chromedp.Navigate(url), chromedp.WaitVisible("#doubts"),
			chromedp.Text("#status-text", &live),
			chromedp.Evaluate(`document.getElementById("ask-judge").scrollIntoView({ block: "center" })`, nil),
			shot("ask-before-"+theme),
			chromedp.Click("#ask-judge"), chromedp.WaitVisible(`#status[data-code="held"]`),
			chromedp.Evaluate(inView+`(document.getElementById("status"))`, &pill),
			chromedp.Evaluate(inView+`(document.getElementById("asked"))`, &note),
			chromedp.Text("#status-text", &held), chromedp.Text("#ask-judge", &button), chromedp.Text("#asked", &said),
			chromedp.Evaluate(tooWide, &wide), shot("ask-after-"+theme))
		assert.Empty(t, wide, "wider than the screen")
		assert.Contains(t, live, "live")
		assert.NotContains(t, held, "live", "the pill does not call held answers live")
		assert.Regexp(t, `^held .+, judge called$`, held)
		assert.True(t, pill, "the page's state is on the screen, however far one has scrolled")
		assert.True(t, note, "so is what the button did")
		assert.Equal(t, "A judge was called", button)
		assert.Contains(t, said, "A judge was called. Picture and answers of ")
		require.NotNil(t, c.hub.Newest().Hold)
		var end bool
		within(t, tab, "at the very end", chromedp.Evaluate(`scrollTo(0, document.body.scrollHeight)`, nil),
			chromedp.Evaluate(inView+`(document.getElementById("status"))`, &end))
		assert.True(t, end)
	}
}

func letGoOnASecondWord(t *testing.T, tab context.Context) {
	c, url := courtTable(t, "A2", "B2")
	c.judges.ask("player 2")
	var says, focused string
	within(t, tab, "the question", phone("dark"), chromedp.Navigate(url), chromedp.WaitVisible("#held"),
		chromedp.Click("#go-on"), chromedp.WaitVisible("#let-go-text"), chromedp.Text("#let-go-text", &says),
		chromedp.Evaluate(`document.activeElement.id`, &focused), shot("let-go-dark"),
		chromedp.KeyEvent(kb.Enter), chromedp.WaitNotVisible("#let-go-text"))
	assert.Contains(t, says, "A judge was called by player 2 at ")
	assert.Contains(t, says, "(A2 to B2), and there is no ruling yet.")
	assert.Equal(t, "let-go-stay", focused, "Enter keeps it")
	require.NotNil(t, c.hub.Newest().Hold, "one Enter too many lets nothing go")
	within(t, tab, "release", chromedp.Click("#go-on"), chromedp.WaitVisible("#let-go-go"), chromedp.Click("#let-go-go"),
		chromedp.WaitNotVisible("#held"))
	require.Nil(t, c.hub.Newest().Hold)
	assert.Len(t, c.hub.Newest().Released, 1)
}

func forbiddenOnThePage(t *testing.T, tab context.Context) {
	f := newFakeTable(t)
	f.change(onARock(engine.Rules20, "asteroid"))
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	server := steady(t, f)
	for _, theme := range []string{"dark", "light"} {
		var ticks int
		var row, fact, note string
		within(t, tab, "the list", phone(theme), chromedp.Navigate(server.URL), chromedp.WaitVisible(`#forbidden`),
			chromedp.Text("#fact-forbidden", &fact), shot("forbidden-"+theme),
			chromedp.Click(`.switch [data-view="targets"]`), chromedp.WaitVisible(`#targets [data-id="B1"]`),
			chromedp.Text(`#targets [data-id="B1"]`, &row), chromedp.Text("#targets-note", &note),
			chromedp.Evaluate(`document.querySelectorAll('#targets [data-outcome="yes"].sign, #facts [data-outcome="yes"]').length`, &ticks),
			chromedp.Evaluate(`document.getElementById("targets-h").scrollIntoView({ block: "start" })`, nil), shot("forbidden-list-"+theme))
		assert.Contains(t, row, "✕")
		assert.Contains(t, row, "No attack: at range 0 of an asteroid, rock1 (2.0 G177)")
		assert.Equal(t, "No attack: at range 0 of an asteroid, rock1 (2.0 G177)", fact)
		assert.Equal(t, "0 of 3 can be attacked", note)
		assert.Zero(t, ticks, "check marks")
	}
}

func declareObjects(t *testing.T, tab context.Context) {
	f := newFakeTable(t)
	f.change(withTokens)
	f.change(func(state *live.State) { state.Policy.Measuring = live.MeasuringEdition })
	f.declare = func(d *live.Declaration) {
		f.change(func(state *live.State) {
			if state.Policy.Window = nil; d != nil {
				state.Policy.Window = &live.Window{Declaration: *d, Until: state.At.Add(time.Minute)}
			}
		})
		f.choose(f.hub.Newest().Choice)
	}
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	server := steady(t, f)
	var tow, blast string
	within(t, tab, "a tow", phone("light"), chromedp.Navigate(server.URL), chromedp.WaitVisible(`#declare [data-doing="tow"]`),
		shot("declare-light"),
		chromedp.Click(`#declare [data-doing="tow"]`), chromedp.WaitVisible("#objects-list li"), chromedp.Text("#objects-list", &tow),
		chromedp.Evaluate(`document.getElementById("objects").scrollIntoView({ block: "center" })`, nil), shot("tow-light"),
		chromedp.Click("#declared-done"), chromedp.WaitNotVisible("#objects"),
		chromedp.Click(`#declare [data-blast="bomb1"]`), chromedp.WaitVisible("#blasts li"), chromedp.Text("#blasts", &blast))
	assert.Contains(t, tow, "cache1")
	assert.Contains(t, tow, "Supply cache, near enough to tow")
	assert.NotContains(t, tow, "sat1")
	assert.Contains(t, blast, "bomb1, proton bomb: A1: range 1")
}

// After the login one key more lets nothing go, and what a player let go a judge holds again.
func TestAJudgeKeepsWhatWasCalledFor(t *testing.T) {
	t.Parallel()
	ctx := browsertest.New(t, time.Minute)
	require.NoError(t, chromedp.Run(ctx)) // opens it for longer than the first step
	c, url := courtTable(t, "A1", "B1")
	c.judges.ask("player 2")
	number := c.held()
	var released, focused string
	within(t, ctx, "after the login", chromedp.Navigate(url+"/judge"), chromedp.WaitVisible("#secret-form"),
		chromedp.SendKeys("#secret-field", "correct horse battery"), chromedp.SendKeys("#secret-name", "Jo"),
		chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(`.hold[data-held="true"]`),
		browsertest.Poll(`document.activeElement.id === "hold-h"`, nil),
		chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(" "), chromedp.Sleep(300*time.Millisecond),
		chromedp.Evaluate(`document.activeElement.id`, &focused))
	require.NotNil(t, c.hub.Newest().Hold, "one Enter too many lets nothing go")
	assert.Equal(t, "hold-h", focused)

	require.NoError(t, c.judges.freeze(live.HoldRequest{Held: number, By: "Ada"}))
	within(t, ctx, "the list", chromedp.WaitVisible("#released li"), chromedp.Text("#released", &released), screen(largeWide, "dark"),
		chromedp.Evaluate(`scrollTo(0, 0)`, nil), shot("released-desktop"), phone("light"), shot("released-phone"),
		chromedp.Click("#released button"), chromedp.WaitVisible(`.hold[data-held="true"]`), chromedp.WaitNotVisible("#released-box"),
		chromedp.WaitVisible(`#verdicts [data-key="range"]`))
	assert.Regexp(t, `^Held at .+, A1 to B1, a judge was called by player 2\. Released at .+ by Ada\. Hold it again$`,
		strings.Join(strings.Fields(released), " "))
	assert.Equal(t, number, c.held())
}

// Where the measurement does not decide, the page offers the possible results and records
// nothing less.
func TestAJudgeDecidesOnThePage(t *testing.T) {
	t.Parallel()
	ctx := browsertest.New(t, time.Minute)
	require.NoError(t, chromedp.Run(ctx)) // opens it for longer than the first step
	for _, c := range []struct {
		name   string
		screen chromedp.Action
	}{{"phone-dark", phone("dark")}, {"desktop-light", screen(largeWide, "light")}} {
		court, url := courtTable(t, "A2", "B2")
		within(t, ctx, "another device", cdp.ClearBrowserCookies())
		var confirm, needs, reason, done string
		var disabled bool
		within(t, ctx, "the form", c.screen, logIn(url, "A2", "B2"),
			chromedp.WaitVisible("#open-range"), chromedp.Text("#confirm-text", &confirm),
			chromedp.Evaluate(`document.getElementById("confirm").disabled`, &disabled), chromedp.Value("#reason", &reason),
			chromedp.Click("#record"), chromedp.WaitVisible("#rule-problem:not(:empty)"), chromedp.Text("#rule-problem", &needs),
			chromedp.Evaluate(`document.getElementById("ruling-h").scrollIntoView()`, nil), shot("decide-"+c.name))
		assert.True(t, disabled, "as measured cannot be recorded")
		assert.Equal(t, "decides nothing: the measurement leaves something open", confirm)
		assert.Equal(t, "Choose what holds: the range.", needs)
		assert.Equal(t, "Too close to measure; ruled by Jo.", reason)
		within(t, ctx, "ruled", chooseOption("#open-range", "2"), chromedp.Click("#record"), chromedp.WaitVisible("#done"),
			chromedp.Text("#done", &done))
		assert.Contains(t, done, "Range 2, in the front arc")
		require.Len(t, court.judges.made, 1)
		assert.Equal(t, live.Decided, court.judges.made[0].Decision)
	}
}
