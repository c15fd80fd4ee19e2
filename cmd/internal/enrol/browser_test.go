//go:build browser && opencv

package enrol_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	cdp "github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/app"
	"sightline/cmd/internal/browsertest"
	"sightline/hardware/hardwaretest"
	"sightline/vision"
	"sightline/vision/look"
	"sightline/vision/tablesim"
)

// person is somebody with a browser at the whole program, whose camera sees a simulated jig sheet.
type person struct {
	t       *testing.T
	browser context.Context
	source  *tablesim.Source
	url     string
}

func newPerson(t *testing.T) *person {
	t.Helper()
	ctx := browsertest.New(t, 4*time.Minute, chromedp.WindowSize(1280, 1000))
	p := &person{t: t, browser: ctx}
	p.start()
	return p
}

// start runs the program until the test ends.
func (p *person) start() {
	p.t.Chdir(p.t.TempDir())
	var err error
	p.source, err = tablesim.Open(tablesim.Options{Small: true, Jig: time.Hour, FPS: 4})
	require.NoError(p.t, err)
	p.source.ShowTurn(0)
	c := app.DefaultConfig()
	c.Web.Listen, c.Table.Layout = "localhost:0", calibration.DefaultLayout(p.source.Layout().Width, p.source.Layout().Height)
	c.Rulings.Dir = filepath.Join(p.t.TempDir(), "rulings")
	c.Camera.Source = "sim:jig"
	lens := p.source.Lens()
	file := filepath.Join(p.t.TempDir(), "lens.json")
	require.NoError(p.t, os.WriteFile(file, fmt.Appendf(nil, `{"image_width":%d,"image_height":%d,"camera_matrix":{"rows":3,"cols":3,"data":[%g,0,%g,0,%g,%g,0,0,1]},`+
		`"distortion_model":"plumb_bob","distortion_coefficients":{"rows":1,"cols":5,"data":[%g,%g,%g,%g,%g]}}`, lens.Width, lens.Height, lens.Fx,
		lens.Cx, lens.Fy, lens.Cy, lens.Distortion[0], lens.Distortion[1], lens.Distortion[2], lens.Distortion[3], lens.Distortion[4]), 0o644))
	c.Camera.Lens = file
	ready, done := make(chan string, 1), make(chan error, 1)
	ctx, stop := context.WithCancel(p.t.Context())
	o := app.Options{StaleAfter: time.Minute, StateDir: p.t.TempDir(), Panel: &hardwaretest.Panel{},
		Log:   slog.New(slog.NewTextHandler(io.Discard, nil)),
		Open:  func(context.Context) (vision.Source, error) { return p.source, nil },
		Ready: func(address string) { ready <- address }}
	go func() { done <- app.Run(ctx, c, o) }()
	p.t.Cleanup(func() {
		stop()
		require.NoError(p.t, <-done)
	})
	select {
	case address := <-ready:
		p.url = "http://" + address
	case err := <-done:
		p.t.Fatal(err)
	}
}

func (p *person) do(actions ...chromedp.Action) {
	p.t.Helper()
	for i, a := range actions {
		ctx, cancel := context.WithTimeout(p.browser, 3*time.Minute)
		err := chromedp.Run(ctx, a)
		cancel()
		if err != nil {
			p.shot("failed")
			var text string
			_ = chromedp.Run(p.browser, chromedp.Evaluate(`document.body.innerText`, &text))
			p.t.Fatalf("action %d: %v; %s", i, err, text)
		}
	}
}

// shot saves what the browser shows into ENROL_PNG, if that names a directory.
func (p *person) shot(name string) {
	var png []byte
	if dir := os.Getenv("ENROL_PNG"); dir != "" && chromedp.Run(p.browser, chromedp.FullScreenshot(&png, 100)) == nil {
		_ = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
}

// turnTaken waits until the page says that a turn was taken.
func turnTaken(n int) chromedp.Action {
	return browsertest.Poll(fmt.Sprintf(`document.querySelectorAll("#turns li")[%d].dataset.state === "taken"`, n), nil)
}

// englishWords are words that no German text has.
var englishWords = regexp.MustCompile(`(?i)\b(the|is|are|of|not|and|ships?|base|from|with|sheet|turn|card)\b`)

// A newcomer whose table shows no ship follows the button, shows a ship, and the program knows it.
func TestANewcomerShowsAShip(t *testing.T) {
	p := newPerson(t)
	p.do(chromedp.Navigate(p.url), chromedp.WaitVisible(`#empty-steps a[href="/looks"]`, chromedp.ByQuery))
	p.shot("empty")
	p.do(chromedp.Click(`#empty-steps a[href="/looks"]`, chromedp.ByQuery), chromedp.WaitVisible("#begin", chromedp.ByQuery),
		chromedp.SetValue("#base", "medium", chromedp.ByQuery), chromedp.Click("#begin", chromedp.ByQuery),
		browsertest.Poll(`document.getElementById("why").textContent.startsWith("A small base stands in the corner, not a medium one")`, nil))
	p.shot("refused")
	p.do(chromedp.SetValue("#base", "small", chromedp.ByQuery), chromedp.SetValue("#pilot", "Academy Pilot", chromedp.ByQuery),
		chromedp.Click("#begin", chromedp.ByQuery))
	for turn := range 3 {
		p.source.ShowTurn(turn)
		p.do(turnTaken(turn))
	}
	p.shot("turns")
	var says string
	p.do(chromedp.Text("#says", &says, chromedp.ByQuery))
	assert.Contains(t, says, "its front to the arrow 4")
	p.source.ShowTurn(3)
	p.do(chromedp.WaitVisible("#learnt", chromedp.ByQuery), chromedp.WaitVisible(`#known li[data-name="A1"]`, chromedp.ByQuery))
	p.shot("learnt")
	l, err := look.LoadOne(filepath.FromSlash(app.SimulatedLooksPath), "A1")
	require.NoError(t, err)
	assert.Equal(t, "Academy Pilot", l.Pilot)
	p.do(chromedp.Click("#turn", chromedp.ByQuery),
		browsertest.Poll(fmt.Sprintf(`document.getElementById("learnt-picture").src.endsWith("%s")`, l.Turned(1).Version()), nil),
		chromedp.Click("#another", chromedp.ByQuery), browsertest.Poll(`document.getElementById("ship").value === "A2"`, nil))

	var text string
	p.do(cdp.Enable(), cdp.SetExtraHTTPHeaders(cdp.Headers{"Accept-Language": "de"}), chromedp.Navigate(p.url+"/looks"),
		chromedp.WaitVisible("#begin", chromedp.ByQuery), browsertest.Poll(`document.getElementById("why").textContent !== "" || `+
			`document.querySelector("#turns li").dataset.state === "taken"`, nil), chromedp.Text("main", &text, chromedp.ByQuery))
	p.shot("german")
	assert.Contains(t, text, "Zeig jede Karte einmal")
	assert.Empty(t, englishWords.FindAllString(text, -1), text)

	require.NoError(t, os.WriteFile(filepath.Join(filepath.FromSlash(app.SimulatedLooksPath), "B1.json"), []byte("{"), 0o644))
	p.do(chromedp.Text(`#damaged li[data-name="B1"] .problem`, &text, chromedp.ByQuery))
	p.shot("damaged")
	assert.Contains(t, text, "Die Karte von B1 ist nicht lesbar")
	assert.Empty(t, englishWords.FindAllString(text, -1), text)
	p.do(chromedp.Click(`#damaged [data-do="delete"]`, chromedp.ByQuery), chromedp.Click(`#damaged [data-do="delete"]`, chromedp.ByQuery),
		chromedp.WaitNotPresent(`#damaged li`, chromedp.ByQuery))

	p.do(chromedp.Click(`#known [data-do="delete"]`, chromedp.ByQuery), chromedp.Click(`#known [data-do="delete"]`, chromedp.ByQuery),
		chromedp.WaitNotPresent(`#known li[data-name="A1"]`, chromedp.ByQuery))
}
