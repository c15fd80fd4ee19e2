//go:build browser

package web_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
	"sightline/engine/geom"
	"sightline/vision/catalogue"
)

// TestAnOldTraceThatFailedIsNotShown: why the last one failed is said to who was there, not to who comes later.
func TestAnOldTraceThatFailedIsNotShown(t *testing.T) {
	t.Parallel()
	browser := browsertest.New(t, time.Minute)
	const why = "No dark-edged token on white paper is seen: lay them on a sheet of white paper on the mat, each with paper all round."
	f, l := newFakeTable(t), &fakeLearning{state: taught()}
	l.state.Trace, l.state.Done, l.state.Problem, l.state.Ended = nil, "", why, time.Unix(1700000000, 0)
	f.options = func(o *web.Options) { o.Learning = l }
	server := steady(t, f)
	const shown = `!document.querySelector('[data-problem="trace"]').hidden`
	var old bool
	within(t, browser, "the page", chromedp.Navigate(server.URL+"/obstacles#tokens"), chromedp.WaitVisible("#trace:enabled"),
		chromedp.Evaluate(shown, &old))
	assert.False(t, old, "a page that was opened later says why an earlier trace failed")
	l.mu.Lock()
	l.state.Ended = time.Unix(1700000100, 0)
	l.mu.Unlock()
	within(t, browser, "one that fails now", browsertest.Poll(shown, nil))
	f.change(func(s *live.State) { s.Health = live.Health{Code: live.Ended, Title: "Recording over"} })
	var status, note string
	within(t, browser, "the film is over", chromedp.WaitVisible(`#status[data-code="ended"]`), chromedp.Text("#status-text", &status),
		chromedp.Text("#view-note", &note))
	assert.Equal(t, "recording over", status)
	assert.Equal(t, "1920 × 1080 px", note, "it is not live")
}

// TestWhoHasTaughtIsLedOn: what is done is no longer the main button, what comes next is, and unknown things come
// with advice.
func TestWhoHasTaughtIsLedOn(t *testing.T) {
	t.Parallel()
	browser := browsertest.New(t, time.Minute)
	f, l := newFakeTable(t), &fakeLearning{state: taught()}
	learnt := l.state.Mat
	l.state.Mat.Version = ""
	f.options = func(o *web.Options) { o.Learning = l }
	f.change(func(state *live.State) {
		recognised(state, &l.state)
		state.Located.Scene.Unknown = []geom.Polygon{state.Located.Obstacles.Unknown[0].Outline}
	})
	server := steady(t, f)
	var text string
	within(t, browser, "nothing is learnt", chromedp.Navigate(server.URL+"/obstacles"),
		chromedp.WaitVisible(`#learn-mat.primary:enabled`), chromedp.WaitVisible(`#mat-next:not(.primary)`),
		chromedp.WaitVisible(`header a[href="/first"]`))
	l.mu.Lock()
	l.state.MatBlockers = []string{"No camera is chosen yet: choose one on the page /first."}
	l.mu.Unlock()
	within(t, browser, "a page that is named leads there", chromedp.WaitVisible(`[data-way="mat"] a[href="/first"]`))
	l.mu.Lock()
	l.state.Mat, l.state.MatBlockers = learnt, nil
	l.mu.Unlock()
	within(t, browser, "the mat is learnt", chromedp.WaitVisible(`#mat-next.primary`), chromedp.WaitVisible(`#learn-mat:not(.primary)`),
		chromedp.Text("#mat-now", &text))
	assert.Contains(t, text, "914 × 914 mm (36″ × 36″)", "its picture has half a millimetre more")
	l.mu.Lock()
	l.state.Lying = []string{"rock1 is recognised on the mat: take it away."}
	l.mu.Unlock()
	within(t, browser, "a rock lies there", browsertest.Poll(`document.querySelector('[data-way="mat"]').textContent.includes("rock1")`, nil),
		chromedp.Click("#learn-mat"), chromedp.Text("#learn-mat", &text))
	assert.Equal(t, "Nothing lies there: learn it all the same", text)
	assert.Empty(t, l.wanted)
	within(t, browser, "it does not", chromedp.Click("#learn-mat"), chromedp.WaitVisible("#learn-mat:not(.sure)"),
		browsertest.Poll(`!document.querySelector("#learn-mat.sure")`, nil))
	require.Eventually(t, func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.wanted) > 0 }, 5*time.Second, 10*time.Millisecond)
	assert.Equal(t, live.LearnIntent{Do: live.LearnMat, Version: learnt.Version, Bare: true, Top: catalogue.TokenTop}, l.wanted[0])
	l.mu.Lock()
	l.wanted, l.state.Lying = nil, nil
	l.mu.Unlock()
	within(t, browser, "tokens to save", chromedp.Click("#mat-next"), chromedp.WaitVisible("#save.primary"),
		chromedp.WaitVisible("#tokens-next:not(.primary)"), chromedp.WaitVisible("#trace:not(.primary)"))
	within(t, browser, "nothing left to save", chromedp.Click(`#traced-list input[type=checkbox]:checked`),
		chromedp.WaitVisible("#tokens-next.primary"), chromedp.WaitVisible("#save:disabled:not(.primary)"))
	const name = `document.querySelector("#entries li input")`
	within(t, browser, "an entry without a name", chromedp.Evaluate(name+`.value = ""; `+name+`.dispatchEvent(new Event("input"))`, nil),
		chromedp.Click("#entries li:nth-child(1) button:not(.quiet)"), chromedp.WaitVisible("#catalogue-problem"),
		chromedp.Text("#catalogue-problem", &text))
	assert.Equal(t, "Give it a name.", text)
	assert.Empty(t, l.wanted, "it is not kept under its old one in silence")
	within(t, browser, "an unknown thing", chromedp.Click("#tokens-next"), chromedp.WaitVisible("#unknown-advice"),
		chromedp.Text("#unknown", &text), chromedp.WaitVisible(`#step-try a.button[href="/first"]`))
	assert.Equal(t, "1 thing is unknown.", text)
	within(t, browser, "the table", chromedp.Navigate(server.URL+"/"), chromedp.WaitVisible(`#things-note a[href="/obstacles"]`),
		chromedp.Text("#things-note", &text))
	assert.Contains(t, text, "Take it away, trace a token on /obstacles, show a ship on /looks.")
}
