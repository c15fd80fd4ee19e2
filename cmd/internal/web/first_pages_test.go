//go:build browser

package web_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/first"
	"sightline/cmd/internal/web"
)

// firstPages are the page of the first table: with cameras to choose from and nothing done,
// and on the quick way.
func firstPages() []pageCase {
	return []pageCase{
		{name: "first", path: "/first", ready: `#cameras:has(img):has(.trouble:not(:empty))`, open: func(t *testing.T) *httptest.Server {
			return firstServer(t, first.Facts{}, first.Kept{Version: 1, Quick: true, Paper: "a4", Ships: "A1-A4,B1-B4"})
		}, do: []chromedp.Action{browsertest.Poll(`document.querySelectorAll("#cameras li").length === 3 && !document.querySelector("#looking:not([hidden])")`, nil)}},
		{name: "first-quick", path: "/first", ready: `#step-markers[data-state="next"]`, brief: true, open: func(t *testing.T) *httptest.Server {
			return firstServer(t, first.Facts{Camera: "/dev/video0", Live: true, Height: 1080}, first.Kept{Version: 1, Quick: true, Paper: "letter",
				Ships: "A1-A4,B1-B4", Print: &first.Print{BarX: 100.1, BarY: 99.9, ScaleX: 1, ScaleY: 1, Good: true}})
		}},
	}
}

// firstServer serves the page with two cameras, one of them in use by another program.
func firstServer(t *testing.T, facts first.Facts, kept first.Kept, change ...func(*web.Options)) *httptest.Server {
	_, s := everything(t, append(change, func(o *web.Options) { o.Routes = firstDesk(t, facts, kept).Routes() })...)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server
}

// TestWhoIsNotPairedIsToldToPair: no thumbnail is broken, and what is refused leads to the page that helps.
func TestWhoIsNotPairedIsToldToPair(t *testing.T) {
	t.Parallel()
	browser := browsertest.New(t, time.Minute)
	complaints := browsertest.Complaints(browser)
	open := func(change ...func(*web.Options)) string {
		return firstServer(t, first.Facts{}, first.Kept{Version: 1, Quick: true, Paper: "a4", Ships: "A1"}, change...).URL + "/first"
	}
	var shown string
	within(t, browser, "a stranger", chromedp.Navigate(open(stranger)), chromedp.WaitVisible(`#unpaired a[href="/pair?next=/first"]`),
		browsertest.Poll(`document.querySelectorAll("#cameras li").length === 3 && !document.querySelector("#looking:not([hidden])")`, nil),
		chromedp.Text("#cameras", &shown))
	assert.Contains(t, shown, "shown to paired devices")
	assert.Empty(t, complaints(), "no picture is asked for")
	within(t, browser, "a stranger chooses", chromedp.Click(`#cameras li:first-child button`), chromedp.WaitVisible(`#problem a[href="/pair"]`))
	within(t, browser, "the machine itself", chromedp.Navigate(open()), chromedp.WaitVisible(`#cameras img`), chromedp.WaitNotVisible("#unpaired"))
}
