//go:build browser

package outline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/jpeg"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/app"
	"sightline/cmd/internal/browsertest"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/hardware/hardwaretest"
	"sightline/vision"
	"sightline/vision/tablesim"
)

// visitor is someone with a photograph, at a program whose camera is not there.
type visitor struct {
	t       *testing.T
	browser context.Context
	url     string
	secret  string
}

func newVisitor(t *testing.T) *visitor {
	t.Helper()
	ctx := browsertest.New(t, 4*time.Minute)
	v := &visitor{t: t, browser: ctx}
	v.start()
	return v
}

// start runs the whole program without a camera until the test ends.
func (v *visitor) start() {
	v.t.Chdir(v.t.TempDir())
	c := app.DefaultConfig()
	c.Web.Listen = "localhost:0"
	c.Rulings.Dir = filepath.Join(v.t.TempDir(), "rulings")
	v.secret = "correct horse battery staple"
	c.Web.JudgeSecretFile = filepath.Join(v.t.TempDir(), "secret")
	require.NoError(v.t, os.WriteFile(c.Web.JudgeSecretFile, []byte(v.secret), 0o600))
	ready, done := make(chan string, 1), make(chan error, 1)
	ctx, stop := context.WithCancel(v.t.Context())
	o := app.Options{StateDir: v.t.TempDir(), Panel: &hardwaretest.Panel{}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Open:  func(context.Context) (vision.Source, error) { return nil, errors.New("no such camera") },
		Ready: func(address string) { ready <- address }}
	go func() { done <- app.Run(ctx, c, o) }()
	v.t.Cleanup(func() {
		stop()
		require.NoError(v.t, <-done)
	})
	select {
	case address := <-ready:
		v.url = "http://" + address
	case err := <-done:
		v.t.Fatal(err)
	}
}

func (v *visitor) do(actions ...chromedp.Action) {
	v.t.Helper()
	for i, a := range actions {
		ctx, cancel := context.WithTimeout(v.browser, 3*time.Minute)
		err := chromedp.Run(ctx, a)
		cancel()
		if err != nil {
			var text string
			_ = chromedp.Run(v.browser, chromedp.Evaluate(`document.body.innerText`, &text))
			v.shot("failed")
			v.t.Fatalf("action %d: %v; %s", i, err, text)
		}
	}
}

// shot saves what the browser shows into OUTLINE_PNG, if that names a directory.
func (v *visitor) shot(name string) {
	dir := os.Getenv("OUTLINE_PNG")
	var png []byte
	if dir != "" && chromedp.Run(v.browser, chromedp.CaptureScreenshot(&png)) == nil {
		_ = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
}

func (v *visitor) eval(script string, into any) { v.t.Helper(); v.do(chromedp.Evaluate(script, into)) }

// photograph writes a picture of two ships without a code and nothing between them.
func photograph(t *testing.T) (path string, table *tablesim.Table) {
	t.Helper()
	table = tablesim.RandomTable(3, 1920, 1080)
	table.Scene.Ships = []engine.Ship{
		{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 330, Y: 280}, Heading: 20 * geom.Degree}},
		{ID: "B1", Player: 2, Base: engine.Medium, Pose: geom.Pose{Point: geom.Point{X: 400, Y: 470}, Heading: 200 * geom.Degree}},
	}
	table.Scene.Obstacles, table.Minis, table.Clutter, table.Hands = nil, nil, nil, nil
	table.Worn, table.Heights = nil, nil
	table.Layout.Markers = nil // nothing but the mat
	f, _, err := table.Render()
	require.NoError(t, err)
	var buf bytes.Buffer
	if f.Color != nil {
		require.NoError(t, jpeg.Encode(&buf, f.Color, &jpeg.Options{Quality: 95}))
	} else {
		require.NoError(t, jpeg.Encode(&buf, f.Gray, &jpeg.Options{Quality: 95}))
	}
	path = filepath.Join(t.TempDir(), "dispute.jpg")
	require.NoError(t, os.WriteFile(path, buf.Bytes(), 0o644))
	return path, table
}

// tap taps the stage where it shows a pixel of the picture.
func (v *visitor) tap(px geom.Pixel) {
	v.t.Helper()
	x, y := v.onScreen(px)
	v.do(chromedp.MouseClickXY(x, y))
}

func (v *visitor) onScreen(px geom.Pixel) (x, y float64) {
	v.t.Helper()
	var at []float64
	v.eval(fmt.Sprintf(`(() => { const box = document.getElementById("stage").getBoundingClientRect(),
		[x, y] = sightlineOutline.toScreen([%g, %g]); return [box.left + x, box.top + y]; })()`, px.X, px.Y), &at)
	return at[0], at[1]
}

// drag moves the frame by its middle to where the base is, as a hand does; the last tenths of a millimetre are keys.
func (v *visitor) drag(cam *calibration.Camera, to geom.Pose) {
	v.t.Helper()
	var s frameState
	v.eval(`sightlineOutline.state().frame.pose`, &s)
	from, _ := cam.PixelOf(geom.Point{X: s.X, Y: s.Y}, 4)
	aim, _ := cam.PixelOf(to.Point, 4)
	x0, y0 := v.onScreen(from)
	x1, y1 := v.onScreen(aim)
	mouse := func(kind input.MouseType, x, y float64) chromedp.Action {
		return input.DispatchMouseEvent(kind, x, y).WithButton(input.Left).WithClickCount(1)
	}
	v.do(mouse(input.MousePressed, x0, y0), mouse(input.MouseMoved, (x0+x1)/2+9, (y0+y1)/2+9), mouse(input.MouseMoved, x1, y1),
		mouse(input.MouseReleased, x1, y1))
	v.eval(`sightlineOutline.state().frame.pose`, &s)
	turn := math.Remainder(to.Heading.Degrees()-s.Heading, 360)
	key := "."
	if turn < 0 {
		key = ","
	}
	v.do(chromedp.Focus("#stage"))
	for range int(math.Abs(turn)) { // with Shift a degree
		v.do(chromedp.KeyEvent(map[string]string{".": ">", ",": "<"}[key], chromedp.KeyModifiers(input.ModifierShift)))
	}
	for range int(10*math.Abs(turn)) % 10 {
		v.do(chromedp.KeyEvent(key))
	}
}

type frameState struct {
	X       float64 `json:"x_mm"`
	Y       float64 `json:"y_mm"`
	Heading float64 `json:"heading_deg"`
}

// A photograph of a dispute is dropped on the page, the mat's corners and the two bases are marked, and the judge rules on
// it: with no camera, and with no marker in the picture. Then the page's camera is held to Go's.
func TestAPhotographIsRuledOn(t *testing.T) {
	v := newVisitor(t)
	path, table := photograph(t)
	cam := &table.Camera
	complaints := browsertest.Complaints(v.browser)
	v.do(emulation.SetDeviceMetricsOverride(1440, 900, 1, false), chromedp.Navigate(v.url+"/outline"),
		chromedp.WaitVisible("#photo"), chromedp.SetUploadFiles("#photo", []string{path}), chromedp.WaitVisible("#mat"))
	mat := table.Layout.Corners()
	corners := func() {
		for i, p := range append(mat[:], mat[:]...) {
			if i >= 4 { // the middle of an edge
				p = p.Lerp(table.Layout.Corners()[(i+1)%4], 0.45)
			}
			px, _ := cam.PixelOf(p, 0)
			v.tap(px)
		}
	}
	corners()
	v.anotherBefore("#corners-done", "/calibration", path)
	corners()
	v.shot("outline-corners")
	v.do(chromedp.Click("#corners-done"), chromedp.WaitVisible("#marking"))
	v.compareCameras()

	var complaint string
	for i, s := range table.Scene.Ships {
		v.do(chromedp.SetValue("#ship", s.ID), chromedp.SetValue("#size", s.Base.String()))
		px, _ := cam.PixelOf(s.Pose.Transform(geom.Point{X: 4, Y: 3}), 4)
		v.tap(px)
		v.do(chromedp.WaitEnabled("#keep"))
		v.drag(cam, s.Pose)
		if i == 0 {
			name := func(id string) {
				v.eval(`(() => { const f = document.getElementById("ship"); f.value = "`+id+`"; f.dispatchEvent(new Event("change")); })()`, nil)
			}
			var problem string
			name("Q1")
			v.do(chromedp.Click("#keep"), chromedp.WaitVisible("#problem:not(:empty)"), chromedp.Text("#problem", &problem))
			assert.Equal(t, "Ship: expected A1 to A18 or B1 to B18, got Q1.", problem, "before it costs the answers of the others")
			name(s.ID)
		}
		v.do(chromedp.Click("#keep"), chromedp.WaitVisible("#keep"))
		v.eval(`document.getElementById("problem").textContent`, &complaint)
		assert.Empty(t, complaint)
		v.drag(cam, s.Pose)
		if i == 0 {
			v.do(chromedp.KeyEvent(kb.ArrowLeft, chromedp.KeyModifiers(0)), chromedp.Click("#propose"), chromedp.WaitVisible("#accept"))
			v.shot("outline-frame")
			v.do(chromedp.KeyEvent(kb.ArrowRight))
		}
		v.do(chromedp.Click("#keep"), browsertest.Poll(fmt.Sprintf(`document.querySelectorAll("#ships li").length === %d`, i+1), nil))
	}
	var measured, rangeText string
	v.do(chromedp.WaitVisible("#measured:not(:empty)"), chromedp.Text("#measured", &measured),
		chromedp.Text(`#verdicts [data-key="range"]`, &rangeText), chromedp.WaitEnabled("#hold"))
	v.shot("outline")
	assert.Contains(t, measured, "Range 2")
	assert.Contains(t, rangeText, "sigma")
	// While the program does not answer, what was measured is not said of what is asked now.
	v.eval(`window.answering = window.fetch; window.fetch = () => new Promise(() => {});
		document.getElementById("arc").dispatchEvent(new Event("change")); 0`, nil)
	var shown string
	v.eval(`document.getElementById("measured").textContent + document.getElementById("verdicts").textContent`, &shown)
	assert.Empty(t, shown)
	v.eval(`window.fetch = window.answering; 0`, nil)
	v.agreeOn("judge", "only the judge measures at this table")
	v.agreeOn("free", measured)
	v.do(emulation.SetDeviceMetricsOverride(390, 844, 2, true))
	v.shot("outline-phone")
	var wide bool
	v.eval(`document.documentElement.scrollWidth > innerWidth`, &wide)
	assert.False(t, wide, "the page is no wider than a phone")
	v.do(emulation.SetDeviceMetricsOverride(1440, 900, 1, false), chromedp.Click("#hold"), chromedp.WaitVisible("#secret-form"),
		chromedp.SendKeys("#secret-field", v.secret), chromedp.SendKeys("#secret-name", "Jo"), chromedp.Click("#secret-form button"),
		chromedp.WaitVisible(`#verdicts [data-key="range"]`), browsertest.Poll(`document.getElementById("nothing").hidden`, nil))
	v.shot("outline-judge")
	assert.Empty(t, complaints(), "the browser complains")
	v.rule()
}

// anotherBefore presses a button and chooses another photograph before the program has answered: what it answers then is
// not about that photograph.
func (v *visitor) anotherBefore(button, path, photo string) {
	v.t.Helper()
	v.eval(`window.before = sightlineOutline.state().picture.id;`+browsertest.HoldBack(path), nil)
	v.do(chromedp.Click(button), browsertest.Poll(`window.release !== undefined`, nil), chromedp.SetUploadFiles("#photo", []string{photo}),
		browsertest.Poll(`sightlineOutline.state().picture.id !== window.before`, nil),
		chromedp.Evaluate(`window.release(); window.fetch = window.fetched; 0`, nil), browsertest.Poll(`window.late === 1`, nil),
		chromedp.Sleep(300*time.Millisecond))
	var calibrated bool
	v.eval(`sightlineOutline.state().picture.camera !== null || sightlineOutline.state().picture.id === window.before`, &calibrated)
	assert.False(v.t, calibrated, "the first photograph's calibration is not the second's")
}

// agreeOn lets a judge order an agreement on measuring. The page then shows what it permits, and the
// picture may be held whatever that is.
func (v *visitor) agreeOn(measuring, shown string) {
	v.t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(v.t, err)
	judge := http.Client{Jar: jar}
	for _, ask := range [][2]string{
		{"pair", `{"judge_secret":"` + v.secret + `","name":"Jo"}`},
		{"policy", `{"measuring":"` + measuring + `"}`},
	} {
		response, err := judge.Post(v.url+"/api/"+ask[0], "application/json", strings.NewReader(ask[1]))
		require.NoError(v.t, err)
		response.Body.Close()
		require.Less(v.t, response.StatusCode, 300, ask)
	}
	v.eval(`document.getElementById("arc").dispatchEvent(new Event("change")); 0`, nil)
	v.do(browsertest.Poll(fmt.Sprintf(`document.getElementById("measured").textContent === %q`, shown), nil), chromedp.WaitEnabled("#hold"))
}

// rule records the ruling as the judge's page does, and reads it again.
func (v *visitor) rule() {
	t := v.t
	var state struct {
		Held struct {
			Number uint64 `json:"number"`
		} `json:"held"`
	}
	response, err := http.Get(v.url + "/api/state")
	require.NoError(t, err)
	require.NoError(t, json.NewDecoder(response.Body).Decode(&state))
	response.Body.Close()
	require.NotZero(t, state.Held.Number)
	var answer string
	v.do(chromedp.Evaluate(fmt.Sprintf(`fetch("/api/rulings", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({
		held: %d, from: "A1", to: "B1", arc: "front", decision: "overruled", ruled: {range: "2", in_arc: "yes", obstructed: "no"}, reason: "One look", judge: "Jo"})})
		.then(async (r) => r.status + " " + await r.text())`, state.Held.Number), &answer, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
		return p.WithAwaitPromise(true)
	}))
	require.True(t, strings.HasPrefix(answer, "201"), answer)
	response, err = http.Get(v.url + "/api/rulings/1")
	require.NoError(t, err)
	entry, err := io.ReadAll(response.Body)
	response.Body.Close()
	require.NoError(t, err)
	assert.Contains(t, string(entry), `"seen":"mark"`)
	assert.Contains(t, string(entry), `photograph dispute.jpg`)
	assert.Contains(t, string(entry), `"role":"calibration"`)
	assert.Contains(t, string(entry), `"role":"frame"`)
}

// compareCameras holds the page's projection to Go's, all over the mat.
func (v *visitor) compareCameras() {
	v.t.Helper()
	var c struct {
		Width, Height int
		Fx, Fy        float64
		Cx, Cy        float64
		Distortion    [5]float64
		R             [3][3]float64
		T             [3]float64 `json:"t_mm"`
	}
	v.eval(`sightlineOutline.state().picture.camera`, &c)
	cam := calibration.Camera{Extrinsics: calibration.Extrinsics{R: c.R, T: c.T},
		Intrinsics: calibration.Intrinsics{Width: c.Width, Height: c.Height, Fx: c.Fx, Fy: c.Fy, Cx: c.Cx, Cy: c.Cy, Distortion: c.Distortion}}
	var got [][]float64
	v.eval(`(() => { const out = [], c = sightlineOutline.state().picture.camera;
		for (let x = 0; x <= 900; x += 100) for (let y = 0; y <= 900; y += 100) for (const z of [0, 4]) {
			const p = sightlineOutline.pixelOf(c, x, y, z);
			out.push([...p, ...sightlineOutline.pointAt(c, ...p, z), ...sightlineOutline.inTable({x_mm: x, y_mm: y, heading_deg: x / 3}, 7, 11)]);
		} return out; })()`, &got)
	i := 0
	for x := 0.0; x <= 900; x += 100 {
		for y := 0.0; y <= 900; y += 100 {
			for _, z := range []geom.Length{0, 4} {
				px, ok := cam.PixelOf(geom.Point{X: x, Y: y}, z)
				require.True(v.t, ok)
				there := geom.Pose{Point: geom.Point{X: x, Y: y}, Heading: geom.Angle(x/3) * geom.Degree}.Transform(geom.Point{X: 7, Y: 11})
				for k, want := range []float64{px.X, px.Y, x, y, there.X, there.Y} {
					require.InDelta(v.t, want, got[i][k], 1e-6, "place (%g, %g), z %g, number %d", x, y, float64(z), k)
				}
				i++
			}
		}
	}
}
