// Package browsertest starts a headless Chromium in tests.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how much longer than on a quiet machine a test may take on one that starves.
const patience = 8

// New starts a browser for a test that -short leaves out. On a quiet machine the test ends well
// within the time; the context of the browser ends after eight times as long.
func New(t testing.TB, within time.Duration, options ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("the run without -short opens the browser")
	}
	return Start(t, within, options...)
}

// Start starts a browser: CHROME, or one on the PATH. Without one the test is
// skipped, unless REQUIRE_CHROMIUM=1 says that there must be one.
func Start(t testing.TB, within time.Duration, options ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	path := os.Getenv("CHROME")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path == "" {
			path, _ = exec.LookPath(name)
		}
	}
	if path == "" {
		if os.Getenv("REQUIRE_CHROMIUM") == "1" {
			t.Fatal("no chromium on the PATH and CHROME is not set, and REQUIRE_CHROMIUM=1 wants one")
		}
		t.Skip("no chromium on the PATH and CHROME is not set")
	}
	all := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(profile(t)),
		chromedp.Env("LC_ALL=en_US.UTF-8", "LANGUAGE=en_US", "TZ=UTC"), chromedp.WSURLReadTimeout(5*time.Minute),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, cancelTime := context.WithTimeout(context.Background(), patience*within)
	ctx, cancelAllocator := chromedp.NewExecAllocator(ctx, append(all, options...)...)
	ctx, cancelBrowser := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits for the browser
		cancelBrowser()
		cancelAllocator()
		cancelTime()
	})
	if err := chromedp.Run(ctx); err != nil { // else the browser would end with the context of the first action
		t.Fatal(err)
	}
	return ctx
}

// profile returns a directory that the test's end removes. The browser's children may
// outlive it for a moment and write there, on which t.TempDir would fail the test.
func profile(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "browsertest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			err := os.RemoveAll(dir)
			if err == nil {
				return
			}
			if time.Now().After(end) {
				t.Log(err)
				return
			}
		}
	})
	return dir
}

// Poll waits until a JavaScript expression is true, for as long as the context of the browser or of
// the action lasts: chromedp.Poll gives up after 30 s.
func Poll(expression string, result any, options ...chromedp.PollOption) chromedp.PollAction {
	return chromedp.Poll(expression, result, append(options, chromedp.WithPollingTimeout(0))...)
}

// Complaints collects what the pages throw and what the browser logs, such as
// what a page's policy refuses, from now on. A hint for password managers is left out.
func Complaints(ctx context.Context) (all func() []string) {
	var mu sync.Mutex
	var texts []string
	chromedp.ListenTarget(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			texts = append(texts, e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if !strings.Contains(e.Entry.Text, "Password forms should have") {
				texts = append(texts, e.Entry.Text+" "+e.Entry.URL)
			}
		}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), texts...)
	}
}
