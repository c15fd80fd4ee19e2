//go:build browser

package projector_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io"
	"log/slog"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration/lens"
	"sightline/cmd/internal/app"
	"sightline/cmd/internal/browsertest"
	"sightline/engine/geom"
	"sightline/hardware/hardwaretest"
	"sightline/vision"
	"sightline/vision/opencv"
	"sightline/vision/tablesim"
)

// stage is the whole program at a simulated table, over which a projector throws what a browser
// shows that fills its screen.
type stage struct {
	t       *testing.T
	dir     string
	source  *tablesim.Source
	url     string
	browser context.Context
	stop    func()
	lit     atomic.Int64 // pictures of the browser in which lines were lit

	mu    sync.Mutex // guards the fields below
	shown *image.RGBA
	lines *image.RGBA // the last picture with lines
}

const (
	stageWide, stageHigh = 960, 540
	matSide              = 420 * geom.Millimeter
)

func newStage(t *testing.T) *stage {
	t.Helper()
	if testing.Short() {
		t.Skip("the run without -short opens the browser")
	}
	d, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	if err != nil {
		t.Skip("it needs OpenCV to see the tags: ", err)
	}
	d.Close()
	ctx := browsertest.New(t, 5*time.Minute, chromedp.WindowSize(stageWide, stageHigh))
	s := &stage{t: t, dir: t.TempDir(), browser: ctx}
	require.NoError(t, chromedp.Run(ctx, chromedp.EmulateViewport(stageWide, stageHigh)))
	t.Chdir(s.dir)
	return s
}

// start runs the program until stop; the camera is pushed by so many degrees before.
func (s *stage) start(pushed float64) {
	s.t.Helper()
	p := tablesim.DefaultProjector(matSide)
	p.Light = 1.5
	options := tablesim.Options{Width: 860, Height: 800, FPS: 4, Seed: 3, Small: true, Still: true, Projector: &p}
	if pushed != 0 {
		options.Nudge = &tablesim.Nudge{Degrees: pushed}
	}
	source, err := tablesim.Open(options)
	require.NoError(s.t, err)
	c := app.DefaultConfig()
	c.Web.Listen = "localhost:0"
	c.Rulings.Dir = filepath.Join(s.dir, "rulings")
	c.Table.Layout = source.Layout()
	c.Table.Record = filepath.Join(s.dir, "session.json")
	ready, done := make(chan string, 1), make(chan error, 1)
	ctx, cancel := context.WithCancel(s.t.Context())
	c.Camera.Lens = filepath.Join(s.dir, "lens.json")
	require.NoError(s.t, lens.Save(c.Camera.Lens, source.Lens()))
	o := app.Options{StateDir: s.dir, Panel: &hardwaretest.Panel{}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Open: func(context.Context) (vision.Source, error) { // a slow machine may lose it
			source, err := tablesim.Open(options)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.source = source
			return source, err
		},
		Ready: func(address string) { ready <- address }, StaleAfter: time.Minute}
	go func() { done <- app.Run(ctx, c, o) }()
	s.stop = func() {
		cancel()
		require.NoError(s.t, <-done)
	}
	select {
	case address := <-ready:
		s.mu.Lock()
		s.url = "http://" + address
		s.mu.Unlock()
	case err := <-done:
		s.t.Fatal(err)
	}
}

// throw throws what the browser shows on the table, until the test ends.
func (s *stage) throw() {
	ctx, cancel := context.WithCancel(s.browser)
	done := make(chan struct{})
	s.t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			var data []byte
			shot, cancel := context.WithTimeout(ctx, 20*time.Second) // one that a navigation overtakes is never answered
			err := chromedp.Run(shot, chromedp.CaptureScreenshot(&data))
			cancel()
			if err != nil {
				continue
			}
			picture, err := png.Decode(bytes.NewReader(data))
			if err != nil {
				continue
			}
			own := image.NewRGBA(picture.Bounds())
			draw.Draw(own, own.Rect, picture, picture.Bounds().Min, draw.Src)
			s.mu.Lock()
			if s.source != nil {
				s.source.Project(own)
			}
			s.shown = own
			s.mu.Unlock()
			var state projectorState
			if s.get("/api/projector", &state) == nil && state.State == "ready" && bright(own) > 0 {
				s.mu.Lock()
				s.lines = own
				s.mu.Unlock()
				s.lit.Add(1)
			}
		}
	}()
}

// bright counts the pixels that are not black.
func bright(p *image.RGBA) (n int) {
	for i := 0; i < len(p.Pix); i += 4 {
		if p.Pix[i] > 40 || p.Pix[i+1] > 40 {
			n++
		}
	}
	return n
}

type projectorState struct {
	State, Text, Trouble, Why string
	Lit                       bool
	Map                       *struct {
		RMS   float64 `json:"rms_mm"`
		Worst float64 `json:"worst_mm"`
		Delay int     `json:"delay_ms"`
	}
}

type tableState struct {
	Health struct{ Code, Title, Detail string }
	Ships  []struct {
		ID    string
		Track struct{ State string }
	}
}

func (s *stage) get(path string, into any) error {
	s.mu.Lock()
	url := s.url
	s.mu.Unlock()
	response, err := http.Get(url + path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return json.NewDecoder(response.Body).Decode(into)
}

func (s *stage) send(method, path, body string) string {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return fmt.Sprint(response.StatusCode, " ", string(text))
}

// wait waits until the projector's state fits.
func (s *stage) wait(what string, fits func(*projectorState) bool) (state projectorState) {
	s.t.Helper()
	for begun := time.Now(); time.Since(begun) < 10*time.Minute; time.Sleep(100 * time.Millisecond) {
		if s.get("/api/projector", &state) == nil && fits(&state) {
			return state
		}
	}
	s.shot("failed")
	s.t.Fatalf("%s: %+v", what, state)
	return state
}

// setUp sets the projector up, again where the machine is too busy for the camera and the page to keep their time.
func (s *stage) setUp() (set projectorState) {
	s.t.Helper()
	for range 10 {
		said := s.send("POST", "/api/projector", `{"do":"start"}`)
		time.Sleep(time.Second)
		if set.Trouble = said; !strings.HasPrefix(said, "200") { // the page was not in front just then, say
			s.t.Log(said)
			continue
		}
		s.shot("pattern")
		set = s.wait("it is set up", func(p *projectorState) bool { return p.State == "ready" || p.Trouble != "" })
		if set.Trouble == "" {
			return set
		}
		s.t.Log(set.Trouble)
	}
	require.Empty(s.t, set.Trouble)
	return set
}

// seen waits until the table answers with all its ships.
func (s *stage) seen() {
	s.t.Helper()
	var state tableState
	for begun := time.Now(); time.Since(begun) < 5*time.Minute; time.Sleep(100 * time.Millisecond) {
		if s.get("/api/state", &state) == nil && state.Health.Code == "ok" && len(state.Ships) == 4 {
			return
		}
	}
	s.t.Fatalf("the table does not answer: %+v", state)
}

// shot saves what the browser shows into PROJECTOR_PNG, if that names a directory.
func (s *stage) shot(name string) {
	var data []byte
	dir := os.Getenv("PROJECTOR_PNG")
	if dir != "" && chromedp.Run(s.browser, chromedp.CaptureScreenshot(&data)) == nil {
		_ = os.WriteFile(filepath.Join(dir, name+".png"), data, 0o644)
	}
}

// A projector is set up with a browser's page as its picture, points, keeps off the bases, is dark
// when the program ends, knows its place after a restart, and is void when the camera is pushed.
func TestTheProjectorPoints(t *testing.T) {
	s := newStage(t)
	s.start(0)
	s.seen()
	require.NoError(t, chromedp.Run(s.browser, chromedp.Navigate(s.url+"/projector"), chromedp.WaitVisible("#fact-lines:not(:empty)")))
	s.shot("page")
	var wide bool
	require.NoError(t, chromedp.Run(s.browser, chromedp.EmulateViewport(390, 844),
		chromedp.Evaluate(`document.documentElement.scrollWidth > innerWidth`, &wide)))
	assert.False(t, wide, "the page is no wider than a phone")
	s.shot("phone")
	require.NoError(t, chromedp.Run(s.browser, chromedp.EmulateViewport(stageWide, stageHigh),
		chromedp.Click("#fill"), chromedp.WaitVisible("#screen")))
	s.throw()
	s.wait("the page is in front of the projector", func(p *projectorState) bool { return p.Why == "it is not set up" })
	set := s.setUp()
	t.Logf("%.2f mm rms, %.2f mm at worst; %d ms from the page to the picture", set.Map.RMS, set.Map.Worst, set.Map.Delay)

	s.send("PATCH", "/api/choice", `{"from":"A1","to":"B1","arc":"front"}`)
	s.seen()
	for begun := time.Now(); s.lit.Load() < 4; time.Sleep(50 * time.Millisecond) {
		require.Less(t, time.Since(begun), 5*time.Minute, "lines are lit")
		var table tableState
		if assert.NoError(t, s.get("/api/state", &table)) && assert.Equal(t, "ok", table.Health.Code) {
			assert.Len(t, table.Ships, 4, "the ships are seen as without the projector")
		}
	}
	s.keepsOff()
	s.stop()
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return bright(s.shown) == 0
	}, 2*time.Minute, 100*time.Millisecond, "without the program it is dark")

	again := func(pushed float64) {
		s.start(pushed)
		s.seen()
		s.send("PATCH", "/api/choice", `{"from":"A1","to":"B1","arc":"front"}`)
		require.NoError(t, chromedp.Run(s.browser, chromedp.Navigate(s.url+"/projector#screen")))
	}
	again(0)
	before := s.lit.Load()
	s.wait("it knows its place after a restart", func(*projectorState) bool { return s.lit.Load() > before })
	s.stop()
	again(0.1)
	void := s.wait("void", func(p *projectorState) bool { return p.State == "void" })
	assert.Contains(t, void.Text, "The camera or the mat has moved by")
	s.stop()
}

// keepsOff looks where the last picture's lines fall on the mat: 5 mm and more from every base,
// and the measuring line where it belongs.
func (s *stage) keepsOff() {
	t := s.t
	s.mu.Lock()
	picture := s.lines
	s.mu.Unlock()
	if dir := os.Getenv("PROJECTOR_PNG"); dir != "" {
		f, err := os.Create(filepath.Join(dir, "lines.png"))
		require.NoError(t, err)
		require.NoError(t, png.Encode(f, picture))
		f.Close()
	}
	truth, err := s.source.TruthAt(1)
	require.NoError(t, err)
	projector := tablesim.DefaultProjector(matSide)
	nearest, white := 1e9, 0
	for y := range picture.Rect.Dy() {
		for x := range picture.Rect.Dx() {
			c := picture.RGBAAt(x, y)
			if c.R < 40 && c.G < 40 {
				continue
			}
			p, ok := projector.Lens.PointAt(geom.Pixel{X: (float64(x)+0.5)*1920/stageWide - 0.5, Y: (float64(y)+0.5)*1080/stageHigh - 0.5}, 0)
			require.True(t, ok)
			for _, ship := range truth.Ships {
				nearest = min(nearest, offBase(&ship, p))
			}
			if c.R > 200 {
				white++
			}
		}
	}
	assert.Greater(t, nearest, 5.0, "mm between light and a base")
	assert.Greater(t, white, 50, "the measuring line")
	t.Logf("the nearest light is %.1f mm from a base; %d px of the measuring line", nearest, white)
}

// offBase returns how far a point lies off a ship's base.
func offBase(ship *tablesim.ShipTruth, p geom.Point) float64 {
	w, l := ship.Base.Size()
	own := ship.Pose.Inverse(p)
	return math.Hypot(max(math.Abs(own.X)-float64(w)/2, 0), max(math.Abs(own.Y)-float64(l)/2, 0))
}
