package projector

import (
	"context"
	"encoding/json"
	"image"
	"image/color"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/capture"
)

// table is a desk over a mat with two ships, whose clock and state a test sets.
type table struct {
	t    *testing.T
	desk *Desk
	now  time.Time
	at   live.State
	path string
}

// overhead is the calibration of a camera that looks straight down from 1.2 m, moved by so much.
func overhead(moved float64) calibration.Table {
	var c calibration.Table
	c.Intrinsics = calibration.Intrinsics{Width: 1920, Height: 1080, Fx: 1225, Fy: 1225, Cx: 960, Cy: 540}
	c.R = [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}
	c.T = calibration.Vec3{-matSide/2 - moved, matSide / 2, 1250}
	c.Layout = calibration.DefaultLayout(matSide, matSide)
	c.PoseCovariance = make([]float64, 36)
	for i := range 6 {
		c.PoseCovariance[7*i] = 1e-8
	}
	return c
}

func sealed(t *testing.T, c calibration.Table) []byte {
	raw, _, err := c.Sealed()
	require.NoError(t, err)
	return raw
}

func newTable(t *testing.T) *table {
	w := &table{t: t, now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), path: filepath.Join(t.TempDir(), "projector.json")}
	rng := rand.New(rand.NewPCG(1, 1))
	p := randomThrower(rng)
	m, used, err := fit(screenWide, screenHigh, p.read(grid(8, 60, 113), 0.1, rng))
	require.NoError(t, err)
	k := kept{Version: keptVersion, Map: m, Errors: m.verify(p.read(grid(7, 117, 113), 0.1, rng)), Fitted: len(used), Delay: 200, Made: w.now,
		Table: sealed(t, overhead(0))}
	require.NoError(t, k.save(w.path))
	ship := func(id string, x, y float64) engine.Ship {
		return engine.Ship{ID: id, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: x, Y: y}, Heading: 0.3}}
	}
	w.at = live.State{Health: live.Health{Code: live.OK}, Choice: live.Choice{From: "A1", To: "B1"}, Figures: live.Figures{FPS: 10,
		Locating: 100 * time.Millisecond}}
	w.at.Located.Scene.Ships = []engine.Ship{ship("A1", 300, 300), ship("B1", 420, 600)}
	w.at.Pair = &engine.PairVerdict{}
	w.at.Pair.Range.Lines = []geom.Line{{{X: 310, Y: 318}, {X: 415, Y: 580}}}
	for _, s := range w.at.Located.Scene.Ships {
		w.at.Tracks = append(w.at.Tracks, vision.Track{Ship: s, State: vision.Still})
	}
	w.register(overhead(0))
	w.open()
	return w
}

func (w *table) open() {
	w.desk = New(Options{Hub: live.NewHub(w.at), Path: w.path, Stale: 2 * time.Second, Now: func() time.Time { return w.now },
		Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	w.ask(0)
}

func (w *table) register(c calibration.Table) {
	w.at.Register.File = sealed(w.t, c)
	w.at.Register.Hash = string(w.at.Register.File)
}

// picture publishes a picture that was taken just now, and plans.
func (w *table) picture() {
	w.at.Frame.Captured = w.now
	w.plan()
}

func (w *table) plan() {
	w.desk.mu.Lock()
	defer w.desk.mu.Unlock()
	w.desk.plan(&w.at, w.now)
}

func (w *table) pass(d time.Duration) { w.now = w.now.Add(d) }

// ask is the page's request, which must not wait: there is something new.
func (w *table) ask(shown uint64) commandJSON {
	w.t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/api/projector/screen", strings.NewReader(
		`{"id":"abcd","width_px":1920,"height_px":1080,"shown":`+jsonOf(shown)+`}`))
	answer := httptest.NewRecorder()
	w.desk.postScreen(answer, r)
	require.Equal(w.t, http.StatusOK, answer.Code, answer.Body.String())
	var c commandJSON
	require.NoError(w.t, json.Unmarshal(answer.Body.Bytes(), &c))
	return c
}

func jsonOf(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

// TestLinesAreLitBetweenPictures: lines are lit once after each picture, for so long that the next
// one comes before answers are stale, and pictures of that time are kept back.
func TestLinesAreLitBetweenPictures(t *testing.T) {
	w := newTable(t)
	w.picture()
	begun := w.now
	c := w.ask(1)
	require.Equal(t, showLines, c.Show)
	require.Len(t, c.Lines, 2, "the measuring line and the attacker's outline")
	assert.Equal(t, int64(800), c.ForMS)
	const delay, litMost = 200 * time.Millisecond, 800 * time.Millisecond
	for after, want := range map[time.Duration]bool{
		-time.Millisecond: false, 0: true, litMost: true, litMost + delay - time.Millisecond: true, litMost + delay: false,
	} {
		assert.Equal(t, want, w.desk.lit(begun.Add(after)), "a picture after %v", after)
	}
	w.pass(300 * time.Millisecond)
	assert.Equal(t, int64(500), w.ask(1).ForMS, "whoever asks later has less time")
	w.pass(800 * time.Millisecond)
	w.plan()
	assert.Equal(t, showDark, w.ask(c.Seq).Show)
	w.plan()
	assert.Equal(t, showDark, w.ask(c.Seq).Show, "no second time without a new picture")
	w.pass(300 * time.Millisecond)
	w.picture()
	assert.Equal(t, showLines, w.ask(1).Show)
}

// TestTheTimeOfLinesEndsBeforeAnswersAreStale: a slow machine has less time, and none at last.
func TestTheTimeOfLinesEndsBeforeAnswersAreStale(t *testing.T) {
	for _, c := range []struct {
		locating time.Duration
		fps      float64
		want     time.Duration // 0: nothing is lit
	}{
		{100 * time.Millisecond, 10, 800 * time.Millisecond}, {400 * time.Millisecond, 5, 700 * time.Millisecond}, {500 * time.Millisecond, 5, 0},
		{2 * time.Second, 5, 0},
	} {
		w := newTable(t)
		w.at.Figures = live.Figures{Locating: c.locating, FPS: c.fps}
		w.at.Frame.Captured = w.now
		w.pass(c.locating)
		w.plan()
		answer := w.ask(1)
		if c.want == 0 {
			assert.Equal(t, showDark, answer.Show, "%+v", c)
			continue
		}
		require.Equal(t, showLines, answer.Show, "%+v", c)
		dark := time.Duration(answer.ForMS) * time.Millisecond
		next := w.now.Add(dark + 200*time.Millisecond + time.Duration(float64(time.Second)/c.fps) + c.locating)
		assert.LessOrEqual(t, next.Sub(w.at.Frame.Captured), 2*time.Second, "%+v", c)
		assert.LessOrEqual(t, answer.ForMS, c.want.Milliseconds())
	}
}

// TestWhatIsNotLiveIsDark: each of these ends the lines at once, and says why.
func TestWhatIsNotLiveIsDark(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*table)
		want   string
	}{
		"no answers":     {func(w *table) { w.at.Health = live.Health{Code: live.Moved, Title: "Moved"} }, "there are no answers: Moved"},
		"held":           {func(w *table) { w.at.Held = true }, "the answers are held"},
		"a ship moves":   {func(w *table) { w.at.Tracks[1].State = vision.Moving }, "B1 is moving"},
		"a hand":         {func(w *table) { w.at.Tracks[0].State = vision.Frozen }, "A1 is frozen"},
		"nothing chosen": {func(w *table) { w.at.Choice, w.at.Pair = live.Choice{}, nil }, "there is nothing to point at"},
		"switched off":   {func(w *table) { require.NoError(w.t, w.desk.Switch(false)) }, "it is switched off"},
		"calibrating":    {func(w *table) { w.desk.Calibrating(func() bool { return true }) }, "the camera is being calibrated"},
		"no page":        {func(w *table) { w.desk.screen.asked = w.now.Add(-4 * time.Second) }, "no page is in front of the projector"},
		"another screen": {func(w *table) { w.desk.screen.width = 1280 }, "the screen has 1280×1080 px, and 1920×1080 when it was set up"},
		"set aside":      {func(w *table) { require.NoError(w.t, w.desk.Forget()) }, "it is to be set up again"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTable(t)
			w.picture()
			c1 := w.ask(1)
			require.Equal(t, showLines, c1.Show)
			w.pass(100 * time.Millisecond)
			c.change(w)
			w.plan()
			assert.Equal(t, c.want, w.desk.state().Why)
			dark := w.desk.now
			assert.Equal(t, showDark, dark.show)
			if name == "no page" || name == "another screen" {
				return
			}
			w.ask(c1.Seq)
			w.desk.screen.asked = time.Time{} // lets the request below wait no longer than it must
			require.True(t, w.desk.enter(&screenRequest{ID: "abcd", Width: 1920, Height: 1080, Shown: dark.seq}, w.now))
			assert.True(t, w.desk.lit(w.now.Add(199*time.Millisecond)))
			assert.False(t, w.desk.lit(w.now.Add(200*time.Millisecond)), "once the page says that it is dark, pictures count again")
		})
	}
}

// TestAMapIsKeptAndVoided: it lasts over a restart and a camera that registers itself a little
// otherwise, and not over a push, for good.
func TestAMapIsKeptAndVoided(t *testing.T) {
	w := newTable(t)
	w.register(overhead(0.3))
	w.picture()
	require.Equal(t, showLines, w.ask(1).Show)
	w.register(overhead(0.7))
	w.plan()
	assert.Equal(t, showDark, w.ask(1).Show)
	state := w.desk.state()
	assert.Equal(t, "void", state.State)
	assert.Equal(t, "The camera or the mat has moved by 0.7 mm since the projector was set up. Set it up again.", state.Text)
	w.register(overhead(0))
	w.pass(time.Minute)
	w.open()
	w.picture()
	assert.Equal(t, showDark, w.ask(1).Show, "moved back, after a restart")
	assert.Equal(t, "void", w.desk.state().State)
}

// TestABadFileIsLeftOut: what is no file of ours is said, and never lit.
func TestABadFileIsLeftOut(t *testing.T) {
	good, err := os.ReadFile(newTable(t).path)
	require.NoError(t, err)
	var whole map[string]any
	require.NoError(t, json.Unmarshal(good, &whole))
	spoil := func(how func(m map[string]any)) string {
		var m map[string]any
		require.NoError(t, json.Unmarshal(good, &m))
		how(m)
		return jsonOf(m)
	}
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":       {"{", "it ends in the middle"},
		"another":       {spoil(func(m map[string]any) { m["version"] = 2 }), "version: expected 1, got 2"},
		"an extra key":  {spoil(func(m map[string]any) { m["x"] = 2 }), `unknown key "x"`},
		"bad errors":    {spoil(func(m map[string]any) { m["errors"].(map[string]any)["worst_mm"] = 30 }), "errors: expected at most"},
		"a delay of 0":  {spoil(func(m map[string]any) { m["delay_ms"] = 0 }), "delay_ms: expected 150 to 60000, got 0"},
		"a tiny screen": {spoil(func(m map[string]any) { m["map"].(map[string]any)["width_px"] = 1 }), "screen: expected 320 to 16384 px"},
		"no region":     {spoil(func(m map[string]any) { m["map"].(map[string]any)["region_mm"] = nil }), "region: expected a convex outline"},
		"no table":      {spoil(func(m map[string]any) { m["table"] = nil }), "calibration: table"},
	} {
		path := filepath.Join(t.TempDir(), "projector.json")
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o644))
		_, err := load(path)
		assert.ErrorContains(t, err, c.want, name)
		d := New(Options{Hub: live.NewHub(live.State{}), Path: path, Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
		assert.Equal(t, "none", d.state().State, name)
		assert.Contains(t, d.state().Trouble, "cannot be read", name)
	}
}

// TestOneWindowIsInFrontOfTheProjector: a second one is refused while the first asks, and bad
// requests are.
func TestOneWindowIsInFrontOfTheProjector(t *testing.T) {
	w := newTable(t)
	post := func(body string) int {
		answer := httptest.NewRecorder()
		w.desk.postScreen(answer, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
		return answer.Code
	}
	other := `{"id":"other","width_px":800,"height_px":600,"shown":0}`
	assert.Equal(t, http.StatusConflict, post(other))
	w.pass(4 * time.Second)
	assert.Equal(t, http.StatusOK, post(other))
	assert.Equal(t, http.StatusBadRequest, post(`{"id":"x","width_px":800,"height_px":600,"shown":0}`))
	assert.Equal(t, http.StatusBadRequest, post(`{"id":"other","width_px":0,"height_px":600,"shown":0}`))
	assert.Equal(t, http.StatusBadRequest, post(`{"id":"other","width_px":99999,"height_px":600,"shown":0}`))
}

// TestSettingUpIsRefusedWithAReason: what is missing is said.
func TestSettingUpIsRefusedWithAReason(t *testing.T) {
	w := newTable(t)
	assert.ErrorContains(t, w.desk.Start(), "built without OpenCV")
	w.desk.o.Markers = noMarkers{}
	w.desk.Calibrating(func() bool { return true })
	assert.ErrorContains(t, w.desk.Start(), "The camera is being calibrated")
	w.desk.Calibrating(func() bool { return false })
	w.pass(4 * time.Second)
	assert.ErrorContains(t, w.desk.Start(), "No page is in front of the projector")
	w.ask(0)
	w.at.Health = live.Health{Code: live.MarkersLost, Title: "Markers lost"}
	w.desk.o.Hub.Publish(w.at)
	assert.EqualError(t, w.desk.Start(), "The camera does not know its place over the mat now: Markers lost.")
}

type noMarkers struct{}

func (noMarkers) DetectMarkers(*image.Gray) ([]vision.Detection, error) { return nil, nil }

// pictures are those of a camera, one for each time.
type pictures []time.Time

func (p pictures) Next(ctx context.Context, after uint64) (vision.Frame, error) {
	if int(after) >= len(p) {
		return vision.Frame{}, io.EOF
	}
	return vision.Frame{Seq: after + 1, Captured: p[after]}, nil
}
func (pictures) Status() capture.FeedStatus { return capture.FeedStatus{} }

// TestTheGateKeepsLitPicturesBack: whoever looks through it sees none that may show lines.
func TestTheGateKeepsLitPicturesBack(t *testing.T) {
	w := newTable(t)
	w.picture()
	var p pictures
	for i := -2; i < 15; i++ {
		p = append(p, w.now.Add(time.Duration(i)*100*time.Millisecond))
	}
	gate := w.desk.Gate(p)
	var got []uint64
	for after := uint64(0); ; {
		f, err := gate.Next(t.Context(), after)
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
		got, after = append(got, f.Seq), f.Seq
	}
	assert.Equal(t, []uint64{1, 2, 13, 14, 15, 16, 17}, got)
}

// TestNoLineComesNearABase: whatever lies on the mat, no light falls within 5 mm of a base, none
// outside of what was verified, and what is far from all bases is drawn.
func TestNoLineComesNearABase(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	w := newTable(t)
	m := &w.desk.kept.Map
	drawn := 0
	for range 25 {
		s := w.at
		s.Located.Scene.Ships, s.Tracks = nil, nil
		for i := range 12 {
			ship := engine.Ship{ID: string(rune('a' + i)), Base: []engine.Base{engine.Small, engine.Medium, engine.Large}[rng.IntN(3)]}
			ship.Pose = geom.Pose{Point: geom.Point{X: matSide * rng.Float64(), Y: matSide * rng.Float64()}, Heading: geom.Angle(7 * rng.Float64())}
			s.Located.Scene.Ships = append(s.Located.Scene.Ships, ship)
		}
		s.Choice.From = "c"
		s.Pair = &engine.PairVerdict{}
		for range 3 {
			s.Pair.Range.Lines = append(s.Pair.Range.Lines, geom.Line{{X: matSide * rng.Float64(), Y: matSide * rng.Float64()},
				{X: matSide * rng.Float64(), Y: matSide * rng.Float64()}})
		}
		const worst = 0.8
		for _, l := range linesOf(&s, m, worst) {
			for i := range len(l.Points) - 1 {
				for f := 0.0; f <= 1; f += 0.5 {
					at := Place{l.Points[i][0] + f*(l.Points[i+1][0]-l.Points[i][0]), l.Points[i][1] + f*(l.Points[i+1][1]-l.Points[i][1])}
					p := m.point(at)
					half := l.Width / m.Scale(p) / 2
					drawn++
					require.GreaterOrEqual(t, geom.Polygon(m.Region).Depth(p), -0.1)
					for _, b := range basesOf(&s) {
						own := b.pose.Inverse(p)
						gap := math.Hypot(max(math.Abs(own.X)-b.width/2, 0), max(math.Abs(own.Y)-b.length/2, 0))
						require.GreaterOrEqual(t, gap-half-worst, 4.98, "%v of %v", own, b)
					}
				}
			}
		}
	}
	assert.Greater(t, drawn, 5000)
}

// point inverts the map by Newton's method.
func (m *Map) point(s Place) (p geom.Point) {
	p = geom.Point{X: matSide / 2, Y: matSide / 2}
	for range 6 {
		at, dx, dy, _ := m.jacobian(p)
		det := dx.X*dy.Y - dx.Y*dy.X
		ex, ey := s.X-at.X, s.Y-at.Y
		p = p.Add(geom.Point{X: (dy.Y*ex - dy.X*ey) / det, Y: (dx.X*ey - dx.Y*ex) / det})
	}
	return p
}

// TestARatioShowsThePatternAlone: what is printed on the mat goes out of it.
func TestARatioShowsThePatternAlone(t *testing.T) {
	encode := func(v float64) byte { // as a camera does
		if v <= 0.0031308 {
			return byte(255*12.92*v + 0.5)
		}
		return byte(255*(1.055*math.Pow(min(v, 1), 1/2.4)-0.055) + 0.5)
	}
	room, both := image.NewGray(image.Rect(0, 0, 64, 64)), image.NewGray(image.Rect(0, 0, 64, 64))
	for y := range 64 {
		for x := range 64 {
			print := 0.05 + 0.35*float64(x)/63 // a bright planet to the right
			light := 0.0
			if y >= 32 {
				light = 1.2
			}
			room.SetGray(x, y, color.Gray{Y: encode(print)})
			both.SetGray(x, y, color.Gray{Y: encode(print * (1 + light))})
		}
	}
	var dark, lit mean
	dark.add(room)
	dark.add(room)
	lit.add(both)
	got := ratio(&lit, &dark)
	for y := range 64 {
		for x := range 64 {
			v := got.GrayAt(x, y).Y
			if y < 32 {
				assert.Less(t, v, byte(12))
			} else {
				assert.Greater(t, v, byte(190), "x %d", x)
			}
		}
	}
}
