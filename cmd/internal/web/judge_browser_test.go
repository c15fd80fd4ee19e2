package web_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestTakeTheJudgesPictures takes pictures of the judge's page on the fake table:
// JUDGE_PNG=/tmp/judge go test -run TakeTheJudges writes /tmp/judge-360-dark.png ….
func TestTakeTheJudgesPictures(t *testing.T) {
	path := os.Getenv("JUDGE_PNG")
	if path == "" {
		t.Skip("JUDGE_PNG does not name where to write")
	}
	c := newCourtroom(t)
	c.change(withRock)
	s := serveCourtroom(t, c)
	ctx := newBrowser(t, time.Minute)
	complaints := listenForComplaints(ctx)
	step, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := chromedp.Run(step, logIn(s.URL, "A1", "B1")); err != nil {
		var png []byte
		_ = chromedp.Run(ctx, chromedp.FullScreenshot(&png, 100))
		_ = os.WriteFile(path+"-failed.png", png, 0o644)
		t.Fatal(err, complaints())
	}
	for _, theme := range []string{"dark", "light"} {
		for _, width := range []int64{360, 820, 1920} {
			var png []byte
			require.NoError(t, chromedp.Run(ctx,
				emulation.SetDeviceMetricsOverride(width, cmp.Or(map[int64]int64{360: 780, 820: 1180}[width], 1080), 1, false),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}),
				chromedp.Click("#go-pair"),
				chromedp.Sleep(600*time.Millisecond),
				chromedp.FullScreenshot(&png, 100),
			))
			require.NoError(t, os.WriteFile(fmt.Sprintf("%s-%d-%s.png", path, width, theme), png, 0o644))
		}
	}
}

// logIn opens the judge's page with the secret, freezes and chooses a pair.
func logIn(url, from, to string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		return chromedp.Run(ctx,
			chromedp.Navigate(url+"/judge"),
			chromedp.WaitVisible("#secret-form"),
			chromedp.SendKeys("#secret-field", "correct horse battery"),
			chromedp.SendKeys("#secret-name", "Jo"),
			chromedp.Click("#secret-form button"),
			chromedp.WaitVisible("#hold"),
			chromedp.Click("#hold"),
			chromedp.WaitVisible(`#stage path[data-ship="A1"]`),
			chromedp.WaitVisible(`.hold[data-held="true"]`),
			chooseOption("#from", from), chooseOption("#to", to),
			chromedp.WaitVisible(`#verdicts [data-key="range"]`),
		)
	})
}

// chooseOption chooses in a list as a person does: the list says that it changed.
func chooseOption(list, value string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		return chromedp.Run(ctx,
			chromedp.Poll(fmt.Sprintf(`[...document.querySelector(%q).options].some((o) => o.value === %q)`, list, value), nil),
			chromedp.Evaluate(fmt.Sprintf(`{const e=document.querySelector(%q); e.value=%q; e.dispatchEvent(new Event("input",{bubbles:true})); e.dispatchEvent(new Event("change",{bubbles:true}));}`, list, value), nil),
		)
	})
}

// listenForComplaints collects what the browser has to complain about a page.
func listenForComplaints(ctx context.Context) func() []string {
	var mu sync.Mutex
	var all []string
	chromedp.ListenTarget(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			all = append(all, e.ExceptionDetails.Error())
		case *log.EventEntryAdded: // what the policy refuses stands here
			all = append(all, e.Entry.Text+" "+e.Entry.URL)
		}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}
