//go:build browser

package web_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/engine"
)

// TestTakeTheJudgesPicture takes a picture of a running program's page while a judge
// rules, for docs/judge.md: JUDGE_PNG=docs/judge.png JUDGE_SECRET="$(sightline
// judge-secret)" [JUDGE_URL=http://localhost:8080] go test -tags browser -run TakeTheJudges.
func TestTakeTheJudgesPicture(t *testing.T) {
	path := os.Getenv("JUDGE_PNG")
	if path == "" {
		t.Skip("JUDGE_PNG does not name a file to write")
	}
	ctx := browsertest.New(t, 2*time.Minute)
	var png []byte
	require.NoError(t, chromedp.Run(ctx,
		emulation.SetDeviceMetricsOverride(1440, 1150, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}),
		chromedp.Navigate(cmp.Or(os.Getenv("JUDGE_URL"), "http://localhost:8080")+"/judge"),
		logInWith(os.Getenv("JUDGE_SECRET"), cmp.Or(os.Getenv("JUDGE_FROM"), "A1"), cmp.Or(os.Getenv("JUDGE_TO"), "B1")),
		chromedp.Evaluate(`window.scrollTo(0, 0)`, nil),
		browsertest.Poll(`document.getElementById("nothing").hidden`, nil),
		chromedp.Sleep(4*time.Second), // the part of the picture in full resolution
		chromedp.CaptureScreenshot(&png),
	))
	require.NoError(t, os.WriteFile(path, png, 0o644))
}

// logIn opens the judge's page (url "": it is open) with the secret, freezes and chooses a pair.
func logIn(url, from, to string) chromedp.Action {
	if url == "" {
		return logInWith("correct horse battery", from, to)
	}
	return chromedp.Tasks{chromedp.Navigate(url + "/judge"), logInWith("correct horse battery", from, to)}
}

// logInWith gives the secret, freezes and chooses a pair, on the page that is open.
func logInWith(secret, from, to string) chromedp.Tasks {
	return chromedp.Tasks{
		chromedp.WaitVisible("#secret-form"),
		chromedp.SendKeys("#secret-field", secret),
		chromedp.SendKeys("#secret-name", "Jo"),
		chromedp.Click("#secret-form button"),
		chromedp.WaitVisible("#hold"),
		chromedp.WaitVisible(fmt.Sprintf(`#stage path[data-ship=%q]`, from)),
		chromedp.Click("#hold"),
		chromedp.WaitVisible(`.hold[data-held="true"]`),
		chooseOption("#from", from), chooseOption("#to", to),
		chromedp.WaitVisible(`#verdicts [data-key="range"]`),
	}
}

// chooseOption chooses in a list as a person does: the list says that it changed.
func chooseOption(list, value string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		return chromedp.Run(ctx,
			browsertest.Poll(fmt.Sprintf(`[...document.querySelector(%q).options].some((o) => o.value === %q)`, list, value), nil),
			chromedp.Evaluate(fmt.Sprintf(
				`{const e=document.querySelector(%q); e.value=%q; e.dispatchEvent(new Event("input",{bubbles:true})); e.dispatchEvent(new Event("change",{bubbles:true}));}`, list, value), nil),
		)
	})
}

// TestTheJudgesPictureFollowsThePair: who chooses a pair by the lists sees it, whatever part of the
// picture was enlarged before.
func TestTheJudgesPictureFollowsThePair(t *testing.T) {
	s := steadyCourt(t, newCourtroom(t))
	ctx := browsertest.New(t, time.Minute)
	const inView = `["A2", "B2"].every((id) => { const s = document.querySelector("#stage").getBoundingClientRect(),
		r = document.querySelector('#stage path[data-ship="' + id + '"]')?.getBoundingClientRect();
		return r && r.left > s.left && r.right < s.right && r.top > s.top && r.bottom < s.bottom; })`
	var before bool
	require.NoError(t, chromedp.Run(ctx, screen(deskWide, "dark"), logIn(s.URL, "A1", "B1"), chromedp.Click("#go-from"),
		chromedp.Evaluate(inView, &before), chooseOption("#from", "A2"), chooseOption("#to", "B2"), browsertest.Poll(inView, nil)))
	assert.False(t, before, "the attacker fills the picture")
}

// The whole way of a ruling, on the page alone: the secret, freeze, choose, look into the
// pixels, overrule, what goes wrong on the way, export.
func TestAJudgeRulesOnThePage(t *testing.T) {
	t.Parallel()
	c := newCourtroom(t)
	c.change(withRock)
	s := steadyCourt(t, c)
	ctx := browsertest.New(t, 2*time.Minute)
	complaints := browsertest.Complaints(ctx)

	var secret string
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Navigate(s.URL+"/judge"),
		chromedp.WaitVisible("#secret-form"),
		chromedp.SendKeys("#secret-field", "wrong"),
		chromedp.Click("#secret-form button"),
		chromedp.WaitVisible("#secret-problem:not(:empty)"),
		chromedp.Text("#secret-problem", &secret),
		chromedp.Evaluate(`document.getElementById("secret-field").value = ""`, nil),
	))
	assert.NotEmpty(t, secret)
	require.NotEmpty(t, complaints(), "the browser tells of the refusal")
	before := len(complaints())

	var measured, title, rules string
	var lines int
	require.NoError(t, chromedp.Run(ctx, logIn("", "A1", "B1"),
		chromedp.Text("#measured", &measured),
		chromedp.Text(`#verdicts [data-key="front_attack"] b`, &title),
		chromedp.Text(`#verdicts [data-key="front_attack"] .rules`, &rules),
		chromedp.Evaluate(`document.querySelectorAll('#shapes path[data-kind="line"][data-state="chosen"]:not(.under)').length`, &lines),
	))
	assert.Equal(t, "Range 2, in the front arc, obstructed by rock1", measured)
	var head string
	c.change(func(s *live.State) { s.Source = "another camera" })
	require.NoError(t, chromedp.Run(ctx, browsertest.Poll(`fetch("/api/state").then((r) => r.json()).then((s) => s.camera.source === "another camera")`,
		nil), chromedp.Sleep(300*time.Millisecond), chromedp.Text("#source", &head)))
	assert.Contains(t, head, "fake camera", "what is held is not the camera's picture of now")
	assert.Equal(t, "Range 2", title)
	assert.Contains(t, rules, "2.5 G4 Attack range goes to the closest point")
	assert.Equal(t, 1, lines, "the line of the verdict that is looked at")

	// The line drawn lies where the server's projection puts it, a pixel's centre being at
	// half in the drawing.
	var d string
	require.NoError(t, chromedp.Run(ctx, chromedp.AttributeValue(`#shapes path[data-kind="base"][data-ship="A1"]`, "d", &d, nil)))
	assert.True(t, strings.HasPrefix(d, "M780.5 680.5L"), "%.40s", d)

	// Into the pixels by keys; the part that is looked at comes in full resolution.
	var zoomed string
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Focus("#stage"), chromedp.KeyEvent("1"), chromedp.KeyEvent("+"), chromedp.KeyEvent("+"), chromedp.KeyEvent("+"),
		chromedp.KeyEvent(kb.ArrowLeft),
		chromedp.Text("#zoom", &zoomed),
		chromedp.Click("#show-above"), chromedp.WaitVisible("#stage.above"),
		chromedp.Click("#show-picture"),
	))
	percent, err := strconv.Atoi(strings.TrimSuffix(zoomed, " %"))
	require.NoError(t, err)
	assert.Greater(t, percent, 300)

	// Another verdict is looked at, by keys.
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Focus(`#verdicts [data-key="front_obstruction"] button`), chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible(`#verdicts [data-key="front_obstruction"] .detail`),
	))

	// Overruling needs a reason; a full disk is said; what was written stays.
	c.judges.fail(&live.Refusal{Kind: live.ErrUnwritten, Text: "There is no room on the disk: nothing was recorded."})
	var needs, full, reason string
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Click("#overrule"), chromedp.WaitVisible("#reason"),
		chooseOption("#rule-obstruction", "no"),
		chromedp.Click("#record"), chromedp.WaitVisible("#rule-problem:not(:empty)"), chromedp.Text("#rule-problem", &needs),
		chromedp.SendKeys("#reason", "The rock was nudged."),
		chromedp.Click("#record"), browsertest.Poll(`document.getElementById("rule-problem").textContent.includes("disk")`, nil),
		chromedp.Text("#rule-problem", &full), chromedp.Value("#reason", &reason),
	))
	assert.Equal(t, "A ruling against what was measured needs a reason.", needs)
	assert.Equal(t, "There is no room on the disk: nothing was recorded.", full)
	assert.Equal(t, "The rock was nudged.", reason)
	c.judges.fail(nil)

	// Another judge was quicker: this one hears of it, and may rule then.
	_, err = c.judges.Rule(live.RuleRequest{Held: c.held(), Choice: live.Choice{From: "A2", To: "B1", Arc: engine.ArcFront}, Judge: "Max"})
	require.NoError(t, err)
	var other, done, item, export, kept string
	require.NoError(t, chromedp.Run(ctx,
		chromedp.WaitVisible(`#log li[value="1"]`), chromedp.WaitVisible("#banner"), chromedp.Text("#banner", &other),
		chromedp.Click("#record"), chromedp.WaitVisible("#done"),
		chromedp.Text("#done", &done),
		chromedp.WaitVisible(`#log li[value="2"]`), chromedp.Text(`#log li[value="2"]`, &item),
		chromedp.AttributeValue("#done a", "href", &export, nil),
		chromedp.Value("#reason", &kept),
	))
	assert.Contains(t, other, "Ruling 1 was made by someone else.")
	assert.Contains(t, other, "by Max.")
	assert.Contains(t, done, "Ruling 2 is recorded: Range 2, in the front arc, not obstructed.")
	assert.Contains(t, item, "Overruled. Measured: Range 2, in the front arc, obstructed by rock1. Reason: The rock was nudged.")
	assert.Equal(t, "/api/rulings/2/export.html", export)
	assert.Empty(t, kept, "what was recorded leaves the form")
	ruling, err := c.judges.find(2)
	require.NoError(t, err)
	assert.Equal(t, c.held(), ruling.Held)
	assert.Equal(t, "Jo", ruling.Judge)

	// A page that was opened again while its ruling was on its way does not call it another's.
	require.NoError(t, chromedp.Run(ctx, chromedp.Evaluate(`sessionStorage.setItem("sightline.ruling-after", 2)`, nil)))
	_, err = c.judges.Rule(live.RuleRequest{Held: c.held(), After: 2, Choice: live.Choice{From: "A2", To: "B1", Arc: engine.ArcFront},
		Judge: "Jo"})
	require.NoError(t, err)
	require.NoError(t, chromedp.Run(ctx, chromedp.WaitVisible(`#log li[value="3"]`),
		browsertest.Poll(`document.getElementById("banner").textContent.includes("Ruling 3 is recorded.")`, nil)))

	// What is held is let go under the judge: nothing more can be ruled.
	require.NoError(t, c.judges.freeze(live.HoldRequest{Judge: true}))
	var hold string
	require.NoError(t, chromedp.Run(ctx,
		chromedp.WaitVisible(`.hold[data-held="false"]`), chromedp.WaitVisible("#record:disabled"), chromedp.Text("#hold-h", &hold),
	))
	assert.Equal(t, "Everything is live", hold)
	for _, complaint := range complaints()[before:] {
		assert.Contains(t, complaint, "507", "the browser complains")
	}
}
