//go:build browser

package play_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/round"
	"sightline/cmd/internal/web"
	"sightline/engine/geom"
)

// A new user starts a game from two XWS files, taps through it, and finds its log at the end,
// by what the page says alone.
func TestANewUserPlaysAGameAndFindsItsLog(t *testing.T) {
	ctx := browsertest.New(t, 2*time.Minute)
	complaints := browsertest.Complaints(ctx)
	b := newBench(t)
	s := web.NewServer(web.Options{Hub: b.hub, Choose: func(live.Choice) {}, Routes: b.table.Routes(),
		Access: access.Options{Key: make([]byte, 32), JudgeSecret: "x", Log: slog.New(slog.DiscardHandler)}})
	server := httptest.NewServer(s)
	defer server.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{"reds.xws": reds, "blacks.xws": blacks} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}

	var problem, squad, address, turn, next string
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Navigate(server.URL+"/game"),
		chromedp.WaitVisible("#start-form"),
		chromedp.SetValue("#edition", "2.0"),
		chromedp.Evaluate(`document.getElementById("edition").dispatchEvent(new Event("change"))`, nil),
		chromedp.SendKeys("#name-1", "Ada"), chromedp.SendKeys("#name-2", "Ben"),
		chromedp.SetUploadFiles("#file-1", []string{filepath.Join(dir, "reds.xws")}),
		browsertest.Poll(`document.getElementById("squad-text-1").textContent !== ""`, nil),
		chromedp.Text("#squad-text-1", &squad),
		chromedp.Click("#start-form button.primary"),
		chromedp.WaitVisible("#start-problem:not(:empty)"),
		chromedp.Text("#start-problem", &problem),
		chromedp.SetValue("#squad-2", "https://yasb.app/?f=Galactic%20Empire"), // pasted
		chromedp.Evaluate(`document.getElementById("squad-2").dispatchEvent(new Event("input"))`, nil),
		chromedp.Text("#squad-text-2", &address),
		chromedp.Evaluate(`(() => {
			const dropped = new DataTransfer();
			dropped.items.add(new File([`+jsonOf(blacks)+`], "blacks.xws"));
			document.querySelector('fieldset[data-player="2"]').dispatchEvent(
				new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
		})()`, nil),
		browsertest.Poll(`document.getElementById("squad-text-2").textContent === "Black Squadron: 2 pilots"`, nil),
		chromedp.Click("#start-form button.primary"),
		chromedp.WaitVisible("#play"),
		browsertest.Poll(`document.getElementById("turn-h").textContent !== ""`, nil),
		chromedp.Text("#turn-h", &turn), chromedp.Text("#next", &next),
	))
	assert.Equal(t, "Red Flight: 2 pilots", squad)
	assert.Equal(t, "This is an address: in the squad builder choose Export, then XWS, and paste that text.", address)
	assert.Equal(t, "Player 2 has no squad: drop an XWS file, or paste one.", problem)
	assert.Equal(t, "R1 Planning", turn)
	assert.Equal(t, "System begins", next)

	tapped := func(button, want string) {
		t.Helper()
		require.NoError(t, chromedp.Run(ctx, chromedp.Click(button),
			browsertest.Poll(`document.getElementById("turn-h").textContent === `+jsonOf(want), nil)), want)
	}
	tapped("#next", "R1 System")
	tapped("#next", "R1 Activation: A2 next")
	tapped("#next", "R1 Activation: B1 or B2 next")
	tapped("#undo", "R1 Activation: A2 next")
	var wide, narrow bool
	require.NoError(t, chromedp.Run(ctx,
		emulation.SetDeviceMetricsOverride(390, 844, 1, true),
		chromedp.Evaluate(`document.documentElement.scrollWidth <= 390`, &narrow),
		emulation.SetDeviceMetricsOverride(1440, 900, 1, false),
		chromedp.Evaluate(`document.documentElement.scrollWidth <= 1440`, &wide),
	))
	assert.True(t, narrow, "nothing is wider than a phone")
	assert.True(t, wide)

	var log, events string
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Click("#end"),
		browsertest.Poll(`document.getElementById("turn-h").textContent.startsWith("The game is over")`, nil),
		chromedp.Click(`[data-log="html"]`),
		chromedp.WaitVisible("h1"),
		chromedp.Text("body", &log),
		chromedp.Navigate(server.URL+"/replay?game=1"),
		chromedp.WaitVisible("#table polygon.base"),
		browsertest.Poll(`document.getElementById("meaning").textContent !== ""`, nil),
		chromedp.AttributeValue("#scrub", "max", &events, nil),
	))
	// Nothing of another event or pair is shown while the program does not answer.
	asks := func(fetch string) chromedp.Action {
		return chromedp.Evaluate(`window.fetch = () => `+fetch+`; document.getElementById("back").click(); 0`, nil)
	}
	const shown = `document.getElementById("answer").textContent + document.getElementById("meaning").textContent`
	var waiting, failed string
	require.NoError(t, chromedp.Run(ctx,
		asks(`new Promise(() => {})`), chromedp.Evaluate(shown, &waiting),
		asks(`Promise.reject(new TypeError())`), chromedp.WaitVisible("#trouble"), chromedp.Text("#trouble", &failed),
		chromedp.WaitNotPresent("#table polygon.base"),
	))
	assert.Empty(t, waiting)
	assert.Equal(t, "The program does not answer.", failed)
	assert.Contains(t, log, "Ada against Ben")
	assert.Contains(t, log, "ended by the players")
	assert.NotEqual(t, "1", events)
	assert.Empty(t, unexpected(complaints()))
}

// A tap on what the page proposes says who tows a supply cache, and the setup's areas are drawn.
func TestAnObjectiveIsTakenWithOneTap(t *testing.T) {
	ctx := browsertest.New(t, 2*time.Minute)
	complaints := browsertest.Complaints(ctx)
	b := newBench(t)
	b.scenario(round.Salvage, "supply_cache", five()...)
	b.scene.Ships[0].Pose.Point = geom.Point{X: 300, Y: 480}
	require.NoError(t, b.table.Do(round.Event{Kind: round.Acted, Ship: "A1", Round: 2, Phase: round.Activation}))
	b.look()
	s := web.NewServer(web.Options{Hub: b.hub, Choose: func(live.Choice) {}, Routes: b.table.Routes(),
		Access: access.Options{Key: make([]byte, 32), JudgeSecret: "x", Log: slog.New(slog.DiscardHandler)}})
	server := httptest.NewServer(s)
	defer server.Close()
	var text, pressed string
	var width int
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Navigate(server.URL+"/game"),
		chromedp.WaitVisible("#offers button"),
		chromedp.Click("#offers button"),
		browsertest.Poll(`document.getElementById("objectives").textContent.includes("towed by A1")`, nil),
		chromedp.Text("#objectives", &text),
		chromedp.Click(`[data-check="setup"]`),
		chromedp.WaitVisible("#areas button"),
		chromedp.Click("#areas button:nth-of-type(2)"), // obstacles
		chromedp.WaitVisible("#area"),
		browsertest.Poll(`document.getElementById("area").naturalWidth > 0`, nil),
		chromedp.Evaluate(`document.getElementById("area").clientWidth`, &width),
		chromedp.Click("#over"), // here is no camera: the drawing stays, and it is said
		browsertest.Poll(`document.getElementById("check-problem").textContent.includes("camera's picture is not available")`, nil),
		chromedp.WaitVisible("#area"),
		chromedp.AttributeValue("#over", "aria-pressed", &pressed, nil),
	))
	assert.Equal(t, "false", pressed)
	assert.Contains(t, text, "m2: towed by A1 (Wedge Antilles)")
	assert.Greater(t, width, 200)
	assert.Empty(t, unexpected(complaints()))
}

// unexpected leaves out the start that the test wants refused, and the icon that a browser asks
// of a page without one.
func unexpected(all []string) (out []string) {
	for _, text := range all {
		if !strings.Contains(text, "status of 404 (Not Found)") && !strings.Contains(text, "status of 400 (Bad Request)") &&
			!strings.Contains(text, "/api/video.mjpg") {
			out = append(out, text)
		}
	}
	return out
}

// What a check found is shown as long as the table and the game are as they were, and the page hears of them.
func TestACheckIsNotShownOfAnotherTable(t *testing.T) {
	ctx := browsertest.New(t, 2*time.Minute)
	b := newBench(t)
	b.scenario(round.Salvage, "supply_cache", five()...)
	b.look()
	var gone atomic.Bool
	s := web.NewServer(web.Options{Hub: b.hub, Choose: func(live.Choice) {}, Routes: b.table.Routes(),
		Access: access.Options{Key: make([]byte, 32), JudgeSecret: "x", Log: slog.New(slog.DiscardHandler)}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone.Load() {
			panic(http.ErrAbortHandler)
		}
		s.ServeHTTP(w, r)
	}))
	defer server.Close()
	listed := browsertest.Poll(`document.getElementById("checklist").offsetHeight > 0`, nil)
	none := browsertest.Poll(`document.getElementById("checklist").offsetHeight === 0`, nil)
	problem := func(text string) chromedp.Action {
		return browsertest.Poll(`document.getElementById("check-problem").textContent.startsWith(`+jsonOf(text)+`)`, nil)
	}
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate(server.URL+"/game"), chromedp.WaitVisible("#play"),
		browsertest.Poll(`document.getElementById("status").dataset.code === "ok"`, nil),
		chromedp.Click(`[data-check="setup"]`), listed))
	b.look() // the same table again
	require.NoError(t, chromedp.Run(ctx, chromedp.Sleep(time.Second), listed))

	b.scene.Ships[0].Pose.Point.X += 30
	b.look()
	require.NoError(t, chromedp.Run(ctx, none, problem("The table or the game has changed since this check."),
		chromedp.Click(`[data-check="setup"]`), listed, problem("")))
	b.scene.Markers[1].Pose.Point.Y += 0.2 // the camera's noise
	b.look()
	require.NoError(t, chromedp.Run(ctx, chromedp.Sleep(time.Second), listed))
	b.scene.Markers[1].Pose.Point.Y += 3
	b.look()
	require.NoError(t, chromedp.Run(ctx, none, problem("The table or the game has changed since this check."),
		chromedp.Click(`[data-check="setup"]`), listed, problem("")))

	gone.Store(true)
	server.CloseClientConnections()
	require.NoError(t, chromedp.Run(ctx, none, chromedp.Click(`[data-check="setup"]`), problem("The program does not answer."), none))
}
