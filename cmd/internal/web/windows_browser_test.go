//go:build browser

package web_test

import (
	"context"
	"fmt"
	"net/http"
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
)

// TestManyWindowsOfABrowserShareAStream: a browser has six connections to a server, and eight windows whose streams kept them could
// ask nothing. When the window that hears the server is closed, another does.
func TestManyWindowsOfABrowserShareAStream(t *testing.T) {
	t.Parallel()
	browser := browsertest.New(t, 2*time.Minute)
	f := newFakeTable(t)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	var opened, held, stalled atomic.Int32
	table := steady(t, f)
	server := before(t, table, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/api/events" {
			return false
		}
		held.Add(1)
		defer held.Add(-1)
		number := opened.Add(1)
		hand(w, r, table.URL, func() bool { return number <= stalled.Load() })
		return true
	})
	var tabs []context.Context
	var closing []context.CancelFunc
	for i := range 8 {
		tab, cancel := chromedp.NewContext(browser)
		defer cancel()
		require.NoError(t, chromedp.Run(tab)) // otherwise it would end with the context of the first action
		tabs, closing = append(tabs, tab), append(closing, cancel)
		within(t, tab, fmt.Sprintf("window %d", i+1), seenAlways(), chromedp.Navigate(server.URL),
			chromedp.WaitVisible(`#status[data-code="ok"]`), chromedp.WaitVisible(`#answer[data-kind="shot"]`))
	}
	require.Eventually(t, func() bool { return held.Load() == 1 }, time.Minute, 20*time.Millisecond, "each holds a connection")
	var answered bool
	within(t, tabs[7], "a question", chromedp.Evaluate(`fetch("/api/me").then((a) => a.ok)`, &answered, awaiting))
	assert.True(t, answered)

	f.choose(live.Choice{From: "B1", To: "A1", Arc: engine.ArcFront})
	for i, tab := range tabs {
		within(t, tab, fmt.Sprintf("the other pair in window %d", i+1), chosen("B1"))
	}
	pairIn := func(first int, from, to string) {
		f.choose(live.Choice{From: from, To: to, Arc: engine.ArcFront})
		for i, tab := range tabs[first:] {
			within(t, tab, fmt.Sprintf("%s to %s in window %d", from, to, first+i+1), chosen(from))
		}
	}
	closing[0]()
	pairIn(1, "A1", "B1")
	require.Eventually(t, func() bool { return held.Load() == 1 }, time.Minute, 20*time.Millisecond, "each holds a connection")
	stalled.Store(opened.Load()) // its connection hangs: it does not keep the others from hearing
	pairIn(2, "B1", "A1")
	require.Eventually(t, func() bool { return held.Load() == 1 }, time.Minute, 20*time.Millisecond, "each holds a connection")
}

// hand hands on a server's events until the client goes, but none that come while they stall.
func hand(w http.ResponseWriter, r *http.Request, from string, stalls func() bool) {
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, from+r.URL.RequestURI(), nil)
	if err != nil {
		return
	}
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	some := make([]byte, 1<<16)
	for err == nil {
		var n int
		if n, err = answer.Body.Read(some); !stalls() {
			_, _ = w.Write(some[:n])
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// seenAlways makes a tab behind others seem seen, as a window beside them is.
func seenAlways() chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(`Object.defineProperty(document, "hidden", { value: false })`).Do(ctx)
		return err
	})
}

// chosen waits until a window shows the attacker, also in a tab behind others, which draws nothing.
func chosen(id string) chromedp.Action {
	shown := fmt.Sprintf(`document.getElementById("from").value === %q`, id)
	return browsertest.Poll(shown, nil, chromedp.WithPollingInterval(50*time.Millisecond))
}
