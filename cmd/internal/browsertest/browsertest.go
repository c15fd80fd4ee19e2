//go:build browser

// Package browsertest starts a headless Chromium in tests.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// patience is how many times longer a test may take on a busy machine than on a quiet one.
const patience = 8

// Main runs the tests of a package and is called by its TestMain. The tests then share browsers,
// one test at a time in each, with cookies, storage and cache of their own.
func Main(m *testing.M) int {
	pool.shared = true
	defer func() {
		for _, b := range pool.idle {
			b.stop()
		}
	}()
	return m.Run()
}

// browser is a running browser.
type browser struct {
	ctx  context.Context
	stop func() // ends it and waits for its end
}

// pool holds the idle browsers.
var pool struct {
	shared bool
	mu     sync.Mutex
	idle   []browser
}

// take returns an idle browser that still runs.
func take() (browser, bool) {
	pool.mu.Lock()
	defer pool.mu.Unlock()
	for n := len(pool.idle); n > 0; n = len(pool.idle) {
		b := pool.idle[n-1]
		pool.idle = pool.idle[:n-1]
		if b.ctx.Err() == nil {
			return b, true
		}
		b.stop()
	}
	return browser{}, false
}

// window opens a window with cookies, storage and cache of its own, which the tabs opened from it share.
func (b browser) window(ctx context.Context) (context.Context, func(), error) {
	executor := cdp.WithExecutor(b.ctx, chromedp.FromContext(b.ctx).Browser)
	own, err := target.CreateBrowserContext().Do(executor)
	if err != nil {
		return nil, nil, err
	}
	tab, err := target.CreateTarget("about:blank").WithBrowserContextID(own).WithNewWindow(true).Do(executor)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := chromedp.NewContext(ctx, chromedp.WithTargetID(tab))
	chromedp.FromContext(ctx).BrowserContextID = own
	return ctx, func() {
		cancel()
		_ = target.DisposeBrowserContext(own).Do(executor) // closes what is still open
	}, nil
}

// New opens a window in a running browser, or starts one. It skips the test under -short. The
// context of the window ends after patience times the time in which the test ends on a quiet
// machine.
func New(t testing.TB, within time.Duration, options ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("the run without -short opens the browser")
	}
	return Start(t, within, options...)
}

// Start starts a browser: CHROME, or one on the PATH. Without one it skips the test, or fails it if
// REQUIRE_CHROMIUM=1. Browsers with options are not shared.
func Start(t testing.TB, within time.Duration, options ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	share := pool.shared && len(options) == 0
	b, ok := browser{}, false
	if share {
		b, ok = take()
	}
	if !ok {
		b = start(t, options)
	}
	ctx, cancelTime := context.WithTimeout(b.ctx, patience*within)
	cancel := func() {}
	if share {
		var err error
		if ctx, cancel, err = b.window(ctx); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		cancel()
		cancelTime()
		if !share || t.Failed() { // after a failure, the browser may be to blame
			b.stop()
			return
		}
		pool.mu.Lock()
		defer pool.mu.Unlock()
		pool.idle = append(pool.idle, b)
	})
	if err := chromedp.Run(ctx); err != nil { // otherwise the window would end with the context of the first action
		t.Fatal(err)
	}
	return ctx
}

// starts is how often to start a browser before the test fails: now and then one dies within its
// first half second, before it opens a page.
const starts = 5

// start starts a browser; its stop ends it.
func start(t testing.TB, options []chromedp.ExecAllocatorOption) browser {
	t.Helper()
	path := find(t)
	for n := 1; ; n++ {
		b, err := launch(path, options)
		if err == nil {
			return b
		}
		if n == starts {
			t.Fatalf("no browser in %d tries, the last: %v", starts, err)
		}
		t.Logf("try %d of %d: %v", n, starts, err)
	}
}

// find returns the path of the browser, or skips or fails the test.
func find(t testing.TB) string {
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
	return path
}

// launch starts the browser at path once, with a profile of its own.
func launch(path string, options []chromedp.ExecAllocatorOption) (browser, error) {
	profile, err := os.MkdirTemp("", "browsertest")
	if err != nil {
		return browser{}, err
	}
	all := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(profile),
		chromedp.Env("LC_ALL=en_US.UTF-8", "LANGUAGE=en_US", "TZ=UTC"), chromedp.WSURLReadTimeout(5*time.Minute),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.DisableGPU) // Debian's chromium draws with one otherwise, which a machine without one imitates
	ctx, cancelAllocator := chromedp.NewExecAllocator(context.Background(), append(all, options...)...)
	ctx, cancelBrowser := chromedp.NewContext(ctx)
	b := browser{ctx: ctx, stop: func() {
		_ = chromedp.Cancel(ctx) // waits for the browser
		cancelBrowser()
		cancelAllocator()
		remove(profile)
	}}
	if err := chromedp.Run(ctx); err != nil {
		b.stop()
		return browser{}, err
	}
	return b, nil
}

// remove removes the profile of a browser that ended. Its children may outlive it for a moment and
// write there.
func remove(profile string) {
	for end := time.Now().Add(10 * time.Second); os.RemoveAll(profile) != nil && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
}

// Poll waits until a JavaScript expression is true, or until the context of the browser or of the
// action ends. chromedp.Poll gives up after 30 s.
func Poll(expression string, result any, options ...chromedp.PollOption) chromedp.PollAction {
	return chromedp.Poll(expression, result, append(options, chromedp.WithPollingTimeout(0))...)
}

// Complaints collects from now on what the pages throw and what the browser logs, such as what a
// page's policy refuses. It leaves out a hint about password forms.
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

// HoldBack returns a script that keeps from a page what is answered to requests whose address contains a text. window.release, once one
// is answered, hands that on; window.late counts what was handed on.
func HoldBack(text string) string {
	return `window.late = 0; window.fetched = window.fetch;
		window.fetch = async (...args) => {
			const response = await window.fetched(...args);
			if (String(args[0]).includes(` + strconv.Quote(text) + `)) { await new Promise((go) => { window.release = go; }); window.late++; }
			return response;
		}; 0`
}
