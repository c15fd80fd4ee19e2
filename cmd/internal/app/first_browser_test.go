//go:build browser

package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"

	"sightline/vision/tablesim"
)

// printed goes one of the two ways on the page of the first table as far as the scale of the
// print.
func (u *newcomer) printed(quick bool) {
	t := u.t
	t.Helper()
	u.do(chromedp.Navigate(u.url+"/first"),
		chromedp.WaitVisible(`#step-camera[data-state="done"]`), chromedp.WaitVisible(`#step-print[data-state="next"]`))
	if quick {
		u.do(chromedp.WaitVisible(`#way-quick[aria-pressed="true"]`), chromedp.WaitVisible(`#step-lens[data-state="skipped"]`))
	} else {
		u.press("#way-full")
		u.do(chromedp.WaitVisible(`#step-lens[data-state="next"], #step-lens[data-state="open"]`))
	}
	var href string
	u.do(chromedp.AttributeValue("#pdf", "href", &href, nil))
	u.actions++ // it is opened, and printed
	code, body := u.get(href)
	assert.Equal(t, http.StatusOK, code)
	assert.True(t, strings.HasPrefix(body, "%PDF-"))
	u.enter("#bar-x", "100.1")
	u.enter("#bar-y", "99.9")
	u.press("#bars button")
	u.do(chromedp.WaitVisible(`#step-print[data-state="done"]`), chromedp.WaitVisible("#bars + #print-says.saved"))
	u.picture("first")
}

// TestTheQuickWayLeadsToAnAnswer goes from an empty directory to the first answer without a
// board, and compares what is stated with the simulated truth. What was done is known again
// by a page that is opened again.
func TestTheQuickWayLeadsToAnAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes half a minute: run without -short")
	}
	began := time.Now()
	u := newNewcomer(t, tablesim.Options{Width: 1280, Height: 720, Seed: 5, FPS: 6})
	u.printed(true)
	u.press("#step-markers button")
	u.press("#table-save")
	u.picture("quick")
	u.do(chromedp.WaitNotVisible("#cancel")) // nothing is left that could be cancelled
	u.press(`header nav a[href="/first"]`)   // who leaves once all is saved has finished
	u.do(chromedp.WaitVisible(`#step-markers[data-state="done"]`), chromedp.WaitVisible(`#step-ships[data-state="done"]`))
	took, actions := time.Since(began), u.actions
	u.do(chromedp.Navigate(u.url+"/"),
		chromedp.WaitVisible(`#status[data-code="ok"]`),
		chromedp.WaitVisible(`#answer[data-outcome="yes"], #answer[data-outcome="too_close"]`))
	t.Logf("quick: answers after %.0f s and %d actions", took.Seconds(), actions)
	assert.LessOrEqual(t, actions, 7)
	worst := u.compareTable()
	assert.Greater(t, worst, 0.0)

	// The page offers to do better.
	u.do(chromedp.Navigate(u.url+"/first"), chromedp.WaitVisible(`#step-markers[data-state="done"]`))
	var offers string
	u.do(chromedp.Text("#step-lens .actions", &offers))
	assert.Contains(t, offers, "Improve it")
	u.press("#way-full")
	u.do(chromedp.WaitVisible(`#step-lens[data-state="next"]`), chromedp.WaitVisible(`#step-markers[data-state="open"]`))
	u.picture("better")
}
