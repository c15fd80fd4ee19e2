//go:build browser

package web_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/web"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A phone: nothing it clicks is chosen until someone types the code of the display.
func TestAPhoneIsPairedWithTheCodeOfTheDisplay(t *testing.T) {
	t.Parallel()
	f, s, address := served(t, stranger)
	ctx := browsertest.New(t, time.Minute)
	url := "http://" + address
	a1, b1 := `#table .ship[aria-label^="A1,"]`, `#table .ship[aria-label^="B1,"]`
	require.NoError(t, chromedp.Run(ctx,
		emulation.SetDeviceMetricsOverride(390, 844, 1, true),
		chromedp.Navigate(url), chromedp.WaitVisible(a1),
		chromedp.Evaluate(`fetch("/api/choice", {method: "PATCH", body: '{"from":"A1","to":"B1"}'}).then((answer) =>`+
			` document.title = "answer " + answer.status)`, nil),
		browsertest.Poll(`document.title === "answer 403"`, nil),
	))
	assert.Empty(t, f.hub.Newest().Choice.From, "nothing is chosen by a phone that is not paired")

	var problem, title string
	var focused, cookie string
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Navigate(url+"/pair"), chromedp.WaitVisible("#code"),
		chromedp.SendKeys("#code", wrongCode(s)+kb.Enter),
		chromedp.WaitVisible(`#code[aria-invalid="true"]`),
		chromedp.Text("#code-problem", &problem),
		chromedp.Evaluate(`document.activeElement.id`, &focused),
		chromedp.Evaluate(`document.getElementById("code").value = ""`, nil), chromedp.SendKeys("#name", "Anna"), chromedp.SendKeys("#code",
			s.PairingCode()+kb.Enter),
		chromedp.WaitVisible("#unpair"), chromedp.Text("#who-h", &title),
		chromedp.Evaluate(`document.cookie`, &cookie),
	))
	assert.Contains(t, problem, "not the code")
	assert.Equal(t, "code", focused, "the cursor is where it is to be put right")
	assert.Equal(t, "You may play, Anna", title)
	assert.Empty(t, cookie, "no script reads the cookie")

	require.NoError(t, chromedp.Run(ctx,
		chromedp.Click("#on"), chromedp.WaitVisible(a1), chromedp.Click(a1),
		chromedp.WaitVisible(a1+`[data-role="attacker"]`), chromedp.Click(b1),
		chromedp.WaitVisible(`#answer[data-outcome="yes"]`),
	))
	assert.Equal(t, "B1", f.hub.Newest().Choice.To, "clicking works")

	// The QR code brings the code along; it is written in capitals.
	var typed string
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Navigate(url+"/pair"), chromedp.Click("#unpair"), chromedp.WaitVisible("#code"),
		chromedp.Navigate(url+"/PAIR/"+s.PairingCode()), chromedp.WaitVisible("#code"),
		browsertest.Poll(`document.getElementById("code").value !== ""`, nil),
		chromedp.Value("#code", &typed),
	))
	assert.Equal(t, s.PairingCode(), typed)
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Click("#code-form button"), chromedp.WaitVisible("#unpair"),
		browsertest.Poll(`location.pathname === "/pair"`, nil), // the used code is not kept in the history
	))

	// And the judge's secret makes a judge.
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Navigate(url+"/pair?next=/judge"), chromedp.WaitVisible("#secret"),
		chromedp.SendKeys("#secret", "correct horse battery"+kb.Enter),
		browsertest.Poll(`document.getElementById("who-h").textContent === "You are the judge"`, nil),
		browsertest.Poll(`document.getElementById("on").getAttribute("href") === "/judge"`, nil),
		chromedp.WaitVisible("#host-code"),
	))

	// Another window ends the pairing, or its time does: this one says so.
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Evaluate(`fetch("/api/unpair", {method: "POST"}).then(() => 0)`, nil),
		browsertest.Poll(`document.getElementById("who-h").textContent === "Not paired"`, nil),
		chromedp.WaitNotVisible("#host-code"), chromedp.WaitVisible("#code"),
		chromedp.Evaluate(`document.getElementById("rule").open = true; 0`, nil),
		chromedp.SendKeys("#secret", "correct horse battery"+kb.Enter), chromedp.WaitVisible("#host-code"),
	))

	// A program that does not answer may have another code by now; when it does, the page shows that one.
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Evaluate(`window.asks = fetch; window.fetch = (_, o) => new Promise((_, no) => o.signal.addEventListener("abort", no)); 0`, nil),
		chromedp.WaitNotVisible("#host-code"),
		chromedp.Evaluate(`window.fetch = window.asks; 0`, nil),
		chromedp.WaitVisible("#host-code"),
	))
}

// TestWhoMayNotLookIsLedToPair: where reading is for paired devices too, no page says that the program does not
// answer.
func TestWhoMayNotLookIsLedToPair(t *testing.T) {
	t.Parallel()
	ctx := browsertest.New(t, time.Minute)
	_, _, address := served(t, stranger, func(o *web.Options) { o.Access.PairToRead = true })
	for _, path := range []string{"/", "/first", "/obstacles"} {
		var at string
		within(t, ctx, path, chromedp.Navigate("http://"+address+path), chromedp.WaitVisible("#code"), chromedp.Location(&at))
		assert.Equal(t, "http://"+address+"/pair?next="+url.QueryEscape(path), at)
	}
}

// TestTakeThePairingPagesPictures writes pictures of the page to look at:
// PAIR_PNG=/tmp/pair go test -tags browser -run TakeThePairing.
func TestTakeThePairingPagesPictures(t *testing.T) {
	dir := os.Getenv("PAIR_PNG")
	if dir == "" {
		t.Skip("PAIR_PNG does not name a directory to write to")
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	ctx := browsertest.New(t, time.Minute)
	_, _, network := served(t, stranger)
	_, _, here := served(t)
	for name, address := range map[string]string{"phone": network, "here": here} {
		for _, width := range []int64{360, 1440} {
			for _, scheme := range []string{"dark", "light"} {
				var png []byte
				require.NoError(t, chromedp.Run(ctx,
					emulation.SetDeviceMetricsOverride(width, 900, 1, false),
					emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
					chromedp.Navigate("http://"+address+"/pair"), chromedp.WaitVisible("#who"), chromedp.Sleep(200*time.Millisecond),
					chromedp.CaptureScreenshot(&png),
				))
				require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), png, 0o644))
			}
		}
	}
}
