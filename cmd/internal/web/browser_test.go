//go:build browser

package web_test

import (
	"cmp"
	"os"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }

func TestThePageAnswersForAChosenPair(t *testing.T) {
	f := newFakeTable(t)
	server := steady(t, f)
	ctx := browsertest.Start(t, time.Minute) // the one page that is also seen with the race detector
	complaints := browsertest.Complaints(ctx)

	var title, distance, arc, obstruction, line, live string
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Navigate(server.URL),
		chromedp.Click(`#table .ship[aria-label^="A1,"]`),
		chromedp.WaitVisible(`#table .ship[aria-label^="A1,"][data-role="attacker"]`),
		chromedp.Click(`#table .ship[aria-label^="B1,"]`),
		chromedp.WaitVisible(`#answer[data-outcome="yes"]`),
		chromedp.Text("#title", &title), chromedp.Text("#distance", &distance),
		chromedp.Text("#fact-arc", &arc), chromedp.Text("#fact-obstruction", &obstruction),
		chromedp.TextContent("#table .measure", &line), chromedp.TextContent("#live", &live),
	))
	assert.Equal(t, "In range 2, in the front arc", title)
	assert.Regexp(t, `^144\.\d mm ± 0\.\d\d mm$`, distance)
	assert.Contains(t, arc, "In the front arc")
	assert.Equal(t, "Obstacles are not watched", obstruction)
	assert.Regexp(t, `^144\.\d mm$`, line)
	assert.Equal(t, "A1 to B1: Range 2. In the front arc. Obstacles are not watched.", live)

	// By keys alone: the next target of A1 is B2, and the answer turns.
	require.NoError(t, chromedp.Run(ctx,
		chromedp.KeyEvent(kb.ArrowRight),
		chromedp.WaitVisible(`#table .ship[aria-label^="B2,"][data-role="target"]`),
	))
	assert.Equal(t, "B2", f.hub.Newest().Choice.To)

	var picture bool
	require.NoError(t, chromedp.Run(ctx,
		browsertest.Poll(`document.getElementById("nopicture").hidden`, &picture),
	))
	assert.True(t, picture)
	assert.Empty(t, complaints(), "the browser complains")
}

func TestThePageSaysPlainlyWhatIsWrong(t *testing.T) {
	f := newFakeTable(t)
	server := serve(t, f)
	ctx := browsertest.New(t, time.Minute)
	f.change(func(state *live.State) {
		state.Health = live.Health{Code: live.NoCamera, Title: "No camera", Detail: "/dev/video0: no such device",
			Advice: "Plug it in. The page /first lists the cameras of this machine."}
	})
	var text, title, margin, lost, link string
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Navigate(server.URL),
		chromedp.WaitVisible("#banner"),
		chromedp.Text("#banner", &text),
		chromedp.Text("#title", &title),
		chromedp.Text("#margin", &margin),
		chromedp.Text(`#banner a[href="/first"]`, &link),
	))
	assert.Equal(t, "/first", link)
	assert.Equal(t, "No answer now", title, "a pair would bring none")
	assert.Equal(t, "No camera", margin)
	assert.Contains(t, text, "Plug it in. The page /first lists the cameras of this machine.")
	assert.Contains(t, text, "No camera")
	assert.Contains(t, text, "/dev/video0: no such device")

	// Nothing more is heard: the watchdog says so, whatever the last state was.
	require.NoError(t, chromedp.Run(ctx,
		chromedp.WaitVisible(`#status[data-code="lost"]`),
		chromedp.Text("#banner-title", &lost),
	))
	assert.Equal(t, "Connection lost", lost)
}

// TestTakeThePagesPicture takes a picture of a running program's page, for the
// README: PAGE_PNG=docs/page.png [PAGE_URL=http://localhost:8080/] go test -tags browser -run TakeThePages.
// PAGE_PHONE=1 takes it on a phone in daylight; a move is tried first where PAGE_TRY
// names one.
func TestTakeThePagesPicture(t *testing.T) {
	path := os.Getenv("PAGE_PNG")
	if path == "" {
		t.Skip("PAGE_PNG does not name a file to write")
	}
	ctx := browsertest.New(t, time.Minute)
	var png []byte
	size, theme := emulation.SetDeviceMetricsOverride(1440, 1160, 1, false), "dark"
	if os.Getenv("PAGE_PHONE") == "1" {
		size, theme = emulation.SetDeviceMetricsOverride(390, 1300, 1, true), "light"
	}
	try := chromedp.Tasks{}
	if move := os.Getenv("PAGE_TRY"); move != "" {
		try = chromedp.Tasks{chromedp.Click(`#try-grid [data-move="` + move + `"]`), chromedp.WaitVisible("#try-answer"),
			chromedp.Evaluate("scrollTo(0, 0)", nil)}
	}
	require.NoError(t, chromedp.Run(ctx,
		size,
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}),
		chromedp.Navigate(cmp.Or(os.Getenv("PAGE_URL"), "http://localhost:8080/")),
		chromedp.WaitVisible("#table .measure line"),
		browsertest.Poll(`document.getElementById("nopicture").hidden`, nil),
		try,
		chromedp.Sleep(500*time.Millisecond), // the picture and the outlines of one frame
		chromedp.CaptureScreenshot(&png),
	))
	require.NoError(t, os.WriteFile(path, png, 0o644))
}
