package web_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
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
