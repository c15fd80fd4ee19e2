//go:build browser

package web_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdp "github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
)

// pageCase is a page in one state, as the harness looks at it.
type pageCase struct {
	name  string // of its golden pictures: "player", "player-empty"
	path  string // "/", with its query
	ready string // a selector of what is visible when all is drawn
	// open serves the page in a state that stays the same; the harness closes nothing.
	open func(t *testing.T) *httptest.Server
	do   []chromedp.Action // what brings the page into its state, after ready
	// brief: the phone in the dark and the desk in daylight are enough.
	brief bool
	// desk are selectors of what a desk shows without scrolling.
	desk []string
	// changing: its picture is never twice the same, and there is no golden one.
	changing bool
	// state: of a page that is looked at in another: a phone is enough, dark and in daylight, and there is no golden picture.
	state bool
}

// allPages are all pages in the states that are looked at. Whoever makes a page adds a
// function to this list, in a file of their own.
func allPages() []pageCase {
	return slices.Concat(playerPages(), calibrationPages(), overlayPages(), judgePages(), obstaclePages(), firstPages(), morePages(),
		hallPages(), statePages())
}

// firstLoadMost is how much a page may transfer at its first load, pictures of the
// camera left out. The overlay's setup takes most of it, 113 kB: it shows its previews, which
// are pages too.
const firstLoadMost = 120 << 10

// TestEveryPage opens every page on a phone, a tablet, a desk and a large screen, dark and in
// daylight. Nothing on it is beyond the reach of who cannot see or use a mouse
// (WCAG 2.2 AA, by axe-core), it looks as its golden picture, nothing is wider than the
// screen, and it asks no one but its own server for anything, and not for much.
//
// UPDATE_GOLDEN=1 renews the pictures; PAGES=player,judge looks at these alone;
// PAGES_DIR=/tmp/x keeps the pictures as they are seen.
func TestEveryPage(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short looks at the pages")
	}
	browsers := twoBrowsers(t)
	axe := axeScript(t)
	fonts := fontsOf(t, browsers)
	for _, p := range allPages() {
		if only := os.Getenv("PAGES"); only != "" && !slices.Contains(strings.Split(only, ","), p.name) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			browser := <-browsers
			defer func() { browsers <- browser }()
			server := p.open(t)
			tab, cancel := chromedp.NewContext(browser)
			defer cancel()
			seen := watchRequests(tab)
			require.NoError(t, chromedp.Run(tab,
				emulation.SetTimezoneOverride("UTC"), emulation.SetLocaleOverride().WithLocale("en-GB"),
				screen(phoneWide, "dark"),
				chromedp.Navigate(server.URL+p.path),
			))
			within(t, tab, "the page is not drawn: "+p.ready, chromedp.WaitVisible(p.ready))
			for _, do := range p.do {
				within(t, tab, "the page does not come into its state", do)
			}
			var wide string
			within(t, tab, "a narrow phone", screen(narrowWide, "dark"), chromedp.Evaluate(settled, nil, awaiting),
				chromedp.Evaluate(tooWide, &wide))
			assert.Empty(t, wide, "wider than %d px", narrowWide)
			var figures []string
			within(t, tab, "the figures", chromedp.Evaluate(figuresWith(","), &figures))
			assert.Empty(t, figures, "figures with a decimal comma, in English")
			for _, width := range []int64{phoneWide, tabletWide, deskWide, largeWide} {
				for _, theme := range []string{"dark", "light"} {
					if p.state && width != phoneWide {
						continue
					}
					if p.brief && (width != phoneWide || theme != "dark") && (width != deskWide || theme != "light") {
						continue
					}
					t.Run(fmt.Sprintf("%d-%s", width, theme), func(t *testing.T) {
						look(t, tab, p, width, theme, axe, fonts)
					})
				}
			}
			seen.check(t, server.URL)
		})
	}
}

// twoBrowsers starts two browsers for pages that are looked at side by side. In one browser only the
// tab in front would be drawn.
func twoBrowsers(t *testing.T) chan context.Context {
	browsers := make(chan context.Context, 2)
	for range cap(browsers) {
		browsers <- browsertest.New(t, 8*time.Minute)
	}
	return browsers
}

// fontsOf measures a text in a browser of these.
func fontsOf(t *testing.T, browsers chan context.Context) string {
	browser := <-browsers
	defer func() { browsers <- browser }()
	server := steady(t, newFakeTable(t))
	tab, cancel := chromedp.NewContext(browser)
	defer cancel()
	require.NoError(t, chromedp.Run(tab, chromedp.Navigate(server.URL), chromedp.WaitVisible("#table")))
	return fontsHere(t, tab)
}

// look looks at a page on one screen.
func look(t *testing.T, tab context.Context, p pageCase, width int64, theme, axe, fonts string) {
	var wide string
	var shot []byte
	within(t, tab, "the screen", screen(width, theme), chromedp.Evaluate(`scrollTo(0, 0)`, nil), chromedp.Evaluate(settled, nil, awaiting),
		chromedp.Evaluate(tooWide, &wide))
	assert.Empty(t, wide, "wider than the screen")
	if width == deskWide {
		onTheFirstScreen(t, tab, p.desk)
	}
	dir, compared := os.Getenv("PAGES_DIR"), !p.changing && !p.state
	if dir != "" || compared {
		within(t, tab, "the picture", chromedp.ActionFunc(func(ctx context.Context) (err error) {
			shot, err = page.CaptureScreenshot().WithCaptureBeyondViewport(true).WithFromSurface(true).WithOptimizeForSpeed(true).Do(ctx)
			return err
		}))
	}
	if axe != "" {
		accessible(t, tab, axe, theme == "dark")
	}
	file := fmt.Sprintf("%s-%d-%s.png", p.name, width, theme)
	if dir != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), shot, 0o644))
	}
	if compared {
		golden(t, file, shot, fonts)
	}
}

// onTheFirstScreen checks that things are seen without scrolling.
func onTheFirstScreen(t *testing.T, tab context.Context, selectors []string) {
	t.Helper()
	for _, s := range selectors {
		var below float64
		bottom := fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().bottom - innerHeight`, s)
		within(t, tab, s, chromedp.WaitVisible(s), chromedp.Evaluate(bottom, &below))
		assert.LessOrEqual(t, below, 0.0, "px by which %s is below the first screen", s)
	}
}

// within does something in a limited time, so that what never comes is named.
func within(t *testing.T, tab context.Context, what string, do ...chromedp.Action) {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab, 3*time.Minute)
	defer cancel()
	require.NoError(t, chromedp.Run(ctx, do...), what)
}

// The screens on which pages are looked at, by their width in pixels.
const (
	narrowWide = 360 // nothing is wider than the narrowest of phones
	phoneWide  = 390
	tabletWide = 820
	deskWide   = 1440
	largeWide  = 1920
)

// screen makes the browser one of a width, in a theme, without motion.
func screen(width int64, theme string) chromedp.Action {
	height := map[int64]int64{narrowWide: 780, phoneWide: 844, tabletWide: 1180, deskWide: 900, largeWide: 1080}[width]
	return chromedp.Tasks{
		page.BringToFront(), // a tab behind another draws nothing
		emulation.SetDeviceMetricsOverride(width, height, 1, width < 1000),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}),
	}
}

func awaiting(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// settled waits until what has a new size is laid out and drawn.
const settled = `(async () => {
	for (let i = 0; i < 3; i++) await new Promise((done) => requestAnimationFrame(done));
	await new Promise((done) => setTimeout(done, 120));
	await document.fonts.ready;
})()`

// tooWide names what makes the page scroll sideways; "" when nothing does.
const tooWide = `(() => {
	const most = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth <= most) return "";
	const out = [];
	for (const e of document.body.querySelectorAll("*")) {
		const r = e.getBoundingClientRect();
		if (r.width > 0 && r.right > most + 0.5) out.push(e.tagName + (e.id ? "#" + e.id : "." + e.getAttribute("class")) + " to " + Math.round(r.right));
	}
	return out.slice(0, 5).join(", ") || "something";
})()`

// requests are what a page asked for.
type requests struct {
	mu    sync.Mutex
	urls  []string
	paths map[cdp.RequestID]string
	bytes float64
}

func watchRequests(tab context.Context) *requests {
	r := &requests{paths: map[cdp.RequestID]string{}}
	chromedp.ListenTarget(tab, func(event any) {
		r.mu.Lock()
		defer r.mu.Unlock()
		switch e := event.(type) {
		case *cdp.EventRequestWillBeSent:
			r.urls = append(r.urls, e.Request.URL)
			r.paths[e.RequestID] = e.Request.URL
		case *cdp.EventWebSocketCreated:
			r.urls = append(r.urls, e.URL)
		case *cdp.EventLoadingFinished:
			if u := r.paths[e.RequestID]; !strings.Contains(u, "picture.jpg") && !strings.Contains(u, "held.png") && !strings.Contains(u, ".mjpg") &&
				!strings.HasSuffix(u, "/pixels") {
				r.bytes += e.EncodedDataLength
			}
		}
	})
	return r
}

// check asserts that a page asked its own server only, and not for too much.
func (r *requests) check(t *testing.T, own string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	require.NotEmpty(t, r.urls, "requests are watched")
	home, err := url.Parse(own)
	require.NoError(t, err)
	for _, address := range r.urls {
		u, err := url.Parse(address)
		require.NoError(t, err)
		if u.Scheme == "data" || u.Scheme == "blob" || u.Scheme == "about" {
			continue
		}
		assert.Equal(t, home.Host, u.Host, "a request leaves the machine: %s", address)
	}
	assert.Less(t, r.bytes, float64(firstLoadMost), "bytes at the first load")
	t.Logf("%d requests, %.0f kB", len(r.urls), r.bytes/1024)
}

// What axe-core checks with, fetched by make deps-axe; the content is fixed here.
const (
	axeVersion = "4.10.3"
	axeSum     = "880970c081707360e64f34cea25ff91892f5bc95675b0776925b9709dd8a68bb"
)

// axeScript returns axe-core, or "" where it was not fetched and need not be.
func axeScript(t *testing.T) string {
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(cache, "sightline", "axe-core-"+axeVersion, "axe.min.js"))
	switch {
	case err == nil:
		sum := sha256.Sum256(data)
		require.Equal(t, axeSum, hex.EncodeToString(sum[:]), "axe-core is not what it was")
		return string(data)
	case os.Getenv("REQUIRE_AXE") == "1":
		require.NoError(t, err, "REQUIRE_AXE=1 wants axe-core: make deps-axe")
	}
	t.Log("accessibility is not checked: make deps-axe fetches what it takes")
	return ""
}

// accessible asserts that axe-core finds nothing, by all of its rules or by those on colours, which
// are what another theme changes.
func accessible(t *testing.T, tab context.Context, axe string, all bool) {
	t.Helper()
	var there bool
	within(t, tab, "axe", chromedp.Evaluate(`"axe" in window`, &there))
	if !there {
		within(t, tab, "axe", chromedp.Evaluate(axe+";0", nil))
	}
	rules, least := `"color-contrast", "link-in-text-block"`, 1
	kind := "rule"
	if all {
		rules, kind, least = `"wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"`, "tag", 11
	}
	var found string
	within(t, tab, "axe", chromedp.Evaluate(fmt.Sprintf(`axe.run(document, { resultTypes: ["violations"], runOnly: { type: %q, values: [%s] } })
		.then((r) => JSON.stringify({ Passed: r.passes.length, Violations: r.violations.map((v) => ({ Rule: v.id, Help: v.help,
			Where: v.nodes.map((n) => n.target.join(" ") + ": " + n.failureSummary) })) }))`, kind, rules), &found, awaiting))
	var result struct {
		Passed     int
		Violations []struct {
			Rule, Help string
			Where      []string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(found), &result))
	assert.GreaterOrEqual(t, result.Passed, least, "rules that axe-core looked at and found kept")
	for _, v := range result.Violations {
		assert.Fail(t, v.Rule+": "+v.Help, strings.Join(v.Where[:min(3, len(v.Where))], "\n"))
	}
}

// fontsHere measures a text: where another font is installed, every page looks
// otherwise and no golden picture says anything.
func fontsHere(t *testing.T, tab context.Context) (out string) {
	within(t, tab, "the fonts", chromedp.Evaluate(`(() => {
		const c = document.createElement("canvas").getContext("2d");
		c.font = "600 100px " + getComputedStyle(document.body).fontFamily;
		return c.measureText("Range 2 in the front arc 144.2 mm ±").width.toFixed(0);
	})()`, &out))
	return out
}

// golden compares a picture with the one that is kept of it.
func golden(t *testing.T, file string, shot []byte, fonts string) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(shot))
	require.NoError(t, err)
	got := blocks(img)
	path := filepath.Join("testdata", "golden", file)
	fontsPath := filepath.Join("testdata", "golden", "fonts.txt")
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, encoded(t, got), 0o644))
		require.NoError(t, os.WriteFile(fontsPath, []byte(fonts+"\n"), 0o644))
		return
	}
	kept, err := os.ReadFile(fontsPath)
	require.NoError(t, err)
	if strings.TrimSpace(string(kept)) != fonts {
		t.Logf("not compared with its golden picture: this machine has other fonts (a text is %s px wide, not %s)", fonts,
			strings.TrimSpace(string(kept)))
		return
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err, "no golden picture: UPDATE_GOLDEN=1 makes one")
	wanted, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	if problem := unlike(got, wanted); problem != "" {
		kept := filepath.Join(os.TempDir(), "sightline-golden-"+file)
		_ = os.WriteFile(kept, shot, 0o644)
		assert.Fail(t, problem, "%s; seen: %s; if it is meant so: UPDATE_GOLDEN=1", path, kept)
	}
}

func encoded(t *testing.T, img image.Image) []byte {
	var buf bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&buf, img))
	return buf.Bytes()
}
