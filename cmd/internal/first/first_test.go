package first

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/token"
)

// table is a calibration from straight above.
func table(t *testing.T) *calibration.Table {
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	c := calibration.Camera{
		Intrinsics: calibration.Intrinsics{Width: 1920, Height: 1080, Fx: 1250, Fy: 1250, Cx: 959.5, Cy: 539.5},
		Extrinsics: calibration.Extrinsics{R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, T: calibration.Vec3{-457.2, 457.2, 1250}},
	}
	c.Covariance = make([]float64, 81)
	c.Covariance[0], c.Covariance[10] = 1, 1
	var seen []calibration.MarkerSighting
	for _, m := range layout.Markers {
		s := calibration.MarkerSighting{ID: m.ID}
		for i, p := range m.Corners() {
			s.Corners[i], _ = c.PixelOf(p, m.Z)
		}
		seen = append(seen, s)
	}
	out, err := calibration.Register(c.Intrinsics, layout, seen)
	require.NoError(t, err)
	return &out
}

func statesOf(f Facts) (out []State) {
	for _, s := range Steps(f) {
		out = append(out, s.State)
	}
	return out
}

func TestTheWayFollowsFromWhatIsKnown(t *testing.T) {
	w, d, n, o, k := Waiting, Done, Next, Open, Skipped
	f := Facts{}
	assert.Equal(t, []State{n, o, w, w, w, w, w, w}, statesOf(f), "nothing at all")
	f.Camera, f.Trouble = "/dev/video0", "no such device"
	assert.Equal(t, n, statesOf(f)[0], "a camera that does not answer is not done")
	assert.Contains(t, Steps(f)[0].Now, "no such device")
	over := Facts{Camera: "game.mp4", Ended: true, Trouble: "it is closed."}
	assert.Equal(t, n, statesOf(over)[0])
	assert.Equal(t, "game.mp4 has ended.", Steps(over)[0].Now)
	f.Live, f.Height = true, 1080
	assert.Equal(t, []State{d, n, o, w, w, w, w, w}, statesOf(f))
	f.Print = &Print{BarX: 98, BarY: 98, ScaleX: 0.98, ScaleY: 0.98}
	assert.Equal(t, n, statesOf(f)[1], "to be printed again")
	f.Print.Good = true
	assert.Equal(t, []State{d, d, n, w, w, w, w, w}, statesOf(f))
	f.Lens = true
	assert.Equal(t, []State{d, d, d, n, w, w, w, w}, statesOf(f))
	f.Table = table(t)
	assert.Equal(t, []State{d, d, d, d, n, o, o, o}, statesOf(f))
	assert.Equal(t, "/calibrate#table", Steps(f)[7].Href, "nothing is saved that a verification could belong to")
	f.Saved = true
	assert.Equal(t, "/calibrate#verify", Steps(f)[7].Href)
	f.MatLearnt, f.Tokens, f.Ships, f.Answers = true, 3, 2, true
	assert.Equal(t, []State{d, d, d, d, d, d, d, n}, statesOf(f))
	f.Verified, f.Outcome, f.WorstError = true, "pass", 0.21
	assert.Equal(t, []State{d, d, d, d, d, d, d, d}, statesOf(f))
	f.Outcome = "fail"
	assert.Equal(t, n, statesOf(f)[7], "a verification that failed is not done")

	quick := Facts{Camera: "csi:0", Live: true, Quick: true, Print: f.Print}
	assert.Equal(t, []State{d, d, k, n, w, w, w, w}, statesOf(quick), "no board")
	assert.Equal(t, "/calibrate#quick", Steps(quick)[3].Href)
	quick.Table, quick.Lens, quick.Rough, quick.RoughTable = f.Table, true, true, true
	assert.Equal(t, []State{d, d, k, d, n, o, o, k}, statesOf(quick))
	assert.Contains(t, Steps(quick)[2].Does, "Improve it")
	exact := quick
	exact.Rough, exact.RoughTable = false, false
	assert.Equal(t, []State{d, d, d, d, n, o, o, o}, statesOf(exact), "what is exact already can be verified")
	quick.Busy = true
	assert.Equal(t, "/calibrate", Steps(quick)[3].Href, "what was saved counts once the calibration is finished")
	quick.Busy, quick.Quick = false, false
	assert.Equal(t, []State{d, d, n, o, o, o, o, o}, statesOf(quick), "the exact way makes lens and place again")
}

func TestGainsAreThoseOfTheBudget(t *testing.T) {
	tb := table(t)
	g := gainsOf(tb)
	b := calibration.NewBudget(*tb, calibration.Uncertainty{})
	at := func(x float64) calibration.Spot {
		s := calibration.Spot{Z: token.BaseTop}
		s.X, s.Y = float64(tb.Layout.Width)/2+x, float64(tb.Layout.Height)/2
		return s
	}
	want, ok := b.Distance(at(-150), at(150), 1)
	require.True(t, ok)
	assert.InDelta(t, float64(want), float64(g.total), 1e-12)
	assert.InDelta(t, 300*tb.ScaleSigma, float64(g.scale), 1e-9)
	assert.Less(t, float64(g.lensMiddle), float64(g.total))
	for _, s := range Steps(Facts{Table: tb, Lens: true, Live: true, Camera: "x"}) {
		assert.NotEmpty(t, s.Gain, s.ID)
		assert.NotContains(t, s.Gain+s.Now, "NaN")
	}
}

// TestALensIsNotSaidToLeaveNothing: a standard deviation of 0.00 mm would be none.
func TestALensIsNotSaidToLeaveNothing(t *testing.T) {
	f := Facts{Table: table(t), Lens: true, Live: true, Camera: "sim:"}
	gain := func() string { return Steps(f)[2].Gain }
	assert.Regexp(t, `^Its error is 0\.\d\d mm over 300 mm`, gain())
	f.Table.Covariance = nil
	assert.Contains(t, gain(), "states no uncertainty")
	f.Simulated = true
	assert.Contains(t, gain(), "known exactly")
	assert.Equal(t, "less than 0.01 mm", millimetres(0.004))
	assert.Equal(t, "0.01 mm", millimetres(0.006))
}

// rig is the page before machine and cameras that a test makes up.
type rig struct {
	*Desk
	t     *testing.T
	facts Facts
	found []capture.Found
	used  []Camera
	takes map[string]error
	now   time.Time
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, takes: map[string]error{}, now: time.Unix(1e9, 0)}
	r.Desk = New(Options{
		Path: filepath.Join(t.TempDir(), "sub", "first-table.json"), Facts: func() Facts { return r.facts }, Board: "chessboard:9x6:25mm",
		Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), ScaleX: 1, ScaleY: 1,
		Frame: func() vision.Frame { return gray(640, 360) },
		Look: Look{
			List: func(context.Context) []capture.Found { return r.found },
			Take: func(_ context.Context, source string) (vision.Frame, error) { return gray(1920, 1080), r.takes[source] },
			Now:  func() time.Time { return r.now },
		},
		UseCamera: func(c Camera) { r.used = append(r.used, c) },
	}, Kept{Version: 1, Paper: "a4", Ships: "A1-A4,B1-B4"})
	r.cameras.running = true // the test looks when it wants to
	return r
}

func gray(w, h int) vision.Frame {
	return vision.Frame{Gray: image.NewGray(image.Rect(0, 0, w, h)), Seq: 7}
}

func (r *rig) ask(method, address, body string) *httptest.ResponseRecorder {
	r.t.Helper()
	answer := httptest.NewRecorder()
	for _, route := range r.Routes() {
		if at, err := url.Parse(address); err == nil && route.Pattern == method+" "+at.Path {
			route.Handler(answer, httptest.NewRequest(method, address, strings.NewReader(body)))
			return answer
		}
	}
	r.t.Fatalf("no route for %s %s", method, address)
	return nil
}

func (r *rig) state() (s stateJSON) {
	r.t.Helper()
	answer := r.ask(http.MethodGet, "/api/first?cameras", "")
	require.NoError(r.t, json.Unmarshal(answer.Body.Bytes(), &s))
	return s
}

func TestACameraIsChosenFromTheListAndKept(t *testing.T) {
	r := newRig(t)
	r.found = []capture.Found{
		{Source: "/dev/video0", Name: "Webcam", Modes: []capture.Mode{{Format: "MJPG", Width: 1920, Height: 1080, FPS: 30}}},
		{Source: "/dev/video2", Name: "Broken"},
		{Source: "csi:0", Name: "imx708", Modes: []capture.Mode{{Format: "R", Width: 4608, Height: 2592, FPS: 14}}},
	}
	r.takes["/dev/video2"] = errors.New("device busy")
	assert.True(t, r.state().Looking)
	r.cameras.round(t.Context())
	s := r.state()
	require.Len(t, s.Found, 4)
	assert.False(t, s.Looking)
	assert.Equal(t, "1920×1080 at 30 a second (MJPG)", s.Found[0].Modes)
	assert.Equal(t, "device busy", s.Found[1].Problem)
	r.takes["/dev/video2"] = fmt.Errorf("opencv: source /dev/video2: %w", context.DeadlineExceeded)
	r.cameras.round(t.Context())
	assert.Equal(t, "it gave no picture within 6 s", r.state().Found[1].Problem)
	assert.Empty(t, s.Found[1].Picture)
	assert.Equal(t, "sim:", s.Found[3].Source, "there is always something to choose")
	picture := r.ask(http.MethodGet, s.Found[0].Picture, "")
	assert.Equal(t, "image/jpeg", picture.Header().Get("Content-Type"))
	size, _, err := image.DecodeConfig(picture.Body)
	require.NoError(t, err)
	assert.Equal(t, 480, size.Width)
	assert.Equal(t, http.StatusNotFound, r.ask(http.MethodGet, "/api/first/camera.jpg?source=/dev/video2", "").Code)

	answer := r.ask(http.MethodPost, "/api/first", `{"do":"camera","source":"/dev/video0"}`)
	require.Equal(t, http.StatusOK, answer.Code, answer.Body)
	assert.Equal(t, []Camera{{Source: "/dev/video0", Name: "Webcam", Width: 1920, Height: 1080, FPS: 30}}, r.used)
	kept, err := LoadKept(r.o.Path)
	require.NoError(t, err)
	assert.Equal(t, r.used[0], *kept.Camera, "also for the next start")

	r.ask(http.MethodPost, "/api/first", `{"do":"camera","source":"csi:0"}`)
	assert.Zero(t, r.used[1].Width, "a sensor's modes are no sizes of a video")
	r.ask(http.MethodPost, "/api/first", `{"do":"camera","source":"sim:"}`)
	assert.Equal(t, "sim:", r.used[2].Source)

	// Nothing else can be opened: a source may be a pipeline that reads files.
	for _, source := range []string{"gst:filesrc location=/etc/passwd", "/dev/video9", "", "sim:board=x"} {
		answer := r.ask(http.MethodPost, "/api/first", `{"do":"camera","source":"`+source+`"}`)
		assert.Equal(t, http.StatusBadRequest, answer.Code, source)
	}
	assert.Len(t, r.used, 3)
}

// A camera is tried again with each round: the list does not change between its trouble and "opening" meanwhile.
func TestATroubleStandsUntilTheCameraWasTriedAgain(t *testing.T) {
	r := newRig(t)
	r.found = []capture.Found{{Source: "/dev/video2", Name: "Broken"}}
	r.takes["/dev/video2"] = errors.New("device busy")
	r.cameras.round(t.Context())
	take, tried := r.cameras.look.Take, 0
	r.cameras.look.Take = func(ctx context.Context, source string) (vision.Frame, error) {
		tried++
		assert.Equal(t, "device busy", r.state().Found[0].Problem)
		return take(ctx, source)
	}
	r.takes["/dev/video2"] = nil
	r.cameras.round(t.Context())
	assert.Equal(t, 1, tried)
	assert.Empty(t, r.state().Found[0].Problem, "it gives pictures again")
	r.found[0].Problem = "another program has it"
	r.cameras.round(t.Context())
	assert.Equal(t, 1, tried)
	assert.Equal(t, "another program has it", r.state().Found[0].Problem)
}

func TestWhatWasCalibratedBeforeIsOfTheFormerCamera(t *testing.T) {
	for was, want := range map[string]*Camera{"/dev/video7": {Source: "/dev/video7"}, "": nil, "sim:seed=3": nil} {
		r := newRig(t)
		r.o.InUse = Camera{Source: was}
		require.Equal(t, http.StatusOK, r.ask(http.MethodPost, "/api/first", `{"do":"camera","source":"sim:"}`).Code)
		assert.Equal(t, want, r.Kept().Calibrated, was)
	}
}

// Looking opens every camera, so that it happens while someone looks only.
func TestCamerasAreLeftAloneWhileNobodyLooks(t *testing.T) {
	r := newRig(t)
	r.cameras.running = false
	r.ask(http.MethodGet, "/api/first", "")
	assert.False(t, r.cameras.running)
	r.cameras.asked = r.now
	r.now = r.now.Add(lookWatch + time.Second)
	assert.True(t, r.cameras.idle(), "a while after somebody looked it ends")
	r.cameras.running = true
	r.state()
	assert.False(t, r.cameras.idle())
}

func TestTheCameraInUseIsShownFromItsOwnPictures(t *testing.T) {
	r := newRig(t)
	r.found = []capture.Found{{Source: "/dev/video0", Name: "Webcam"}}
	r.facts = Facts{Camera: "/dev/video0", Live: true}
	r.takes["/dev/video0"] = errors.New("it is opened twice")
	r.state()
	r.cameras.round(t.Context())
	s := r.state()
	assert.True(t, s.Found[0].InUse)
	assert.Empty(t, s.Found[0].Problem)
	assert.Equal(t, http.StatusOK, r.ask(http.MethodGet, s.Found[0].Picture, "").Code)
}

func TestWhatIsDecidedIsKept(t *testing.T) {
	r := newRig(t)
	post := func(body string) *httptest.ResponseRecorder { return r.ask(http.MethodPost, "/api/first", body) }
	require.Equal(t, http.StatusOK, post(`{"do":"way","quick":true}`).Code)
	require.Equal(t, http.StatusOK, post(`{"do":"sheets","paper":"letter","ships":" A1-A2,B1:large "}`).Code)
	drawn := r.state()
	for range 2 { // a tap that is repeated measures no other sheet
		answer := post(fmt.Sprintf(`{"do":"bars","bar_x_mm":99.0,"bar_y_mm":99.1,"scale_x":%g,"scale_y":%g}`, drawn.ScaleX, drawn.ScaleY))
		require.Equal(t, http.StatusOK, answer.Code)
		assert.Contains(t, answer.Body.String(), "print them again")
	}
	s := r.state()
	assert.False(t, s.Print.Good)
	assert.Contains(t, s.Sheets, "scale=0.99000,0.99100")
	require.Equal(t, http.StatusOK, post(`{"do":"bars","bar_x_mm":100.1,"bar_y_mm":100}`).Code)
	kept, err := LoadKept(r.o.Path)
	require.NoError(t, err)
	assert.Equal(t, Kept{Version: 1, Quick: true, Paper: "letter", Ships: "A1-A2,B1:large",
		Print: &Print{BarX: 100.1, BarY: 100, ScaleX: 0.99, ScaleY: 0.991, Good: true}}, kept)

	for body, want := range map[string]string{
		`{"do":"bars","bar_x_mm":95,"bar_y_mm":95}`:        "100 %",
		`{"do":"bars","bar_x_mm":98,"bar_y_mm":98}`:        "measure the newest sheet?\n",
		`{"do":"sheets","paper":"a5","ships":"A1"}`:        "expected a4 or letter",
		`{"do":"sheets","paper":"a4","ships":"Z1"}`:        "ship id",
		`{"do":"sheets","paper":"a4","ships":"A1:huge-9"}`: "base",
		`{"do":"dance"}`:                     "nothing called",
		`{"do":`:                             `must be JSON such as {"do":"way","quick":true}`,
		`{"do":"way","quick":true,"more":1}`: `unknown key "more"`,
		`{"do":"way","ships":"` + strings.Repeat("x", 9000) + `"}`: "longer than 4096 bytes",
	} {
		answer := post(body)
		assert.Equal(t, http.StatusBadRequest, answer.Code, body)
		assert.Contains(t, answer.Body.String(), want, body)
	}
	after, err := LoadKept(r.o.Path)
	require.NoError(t, err)
	assert.Equal(t, kept, after, "what was refused changed nothing")

	r.o.Path += "/below-a-file.json"
	answer := post(`{"do":"way","quick":false}`)
	assert.Equal(t, http.StatusInsufficientStorage, answer.Code)
	assert.Contains(t, answer.Body.String(), "It cannot be saved: ")
}

func TestEverythingToPrintIsOneDocument(t *testing.T) {
	r := newRig(t)
	pages := func(quick bool, paper string) int {
		out, err := r.pages(&Kept{Quick: quick, Paper: paper, Ships: "A1-A4,B1-B4"})
		require.NoError(t, err)
		return len(out)
	}
	for _, paper := range []string{"a4", "letter"} {
		assert.Equal(t, pages(true, paper)+2, pages(false, paper), "%s: the quick way has no board and no check card", paper)
	}
	answer := r.ask(http.MethodGet, "/api/first/sheets.pdf", "")
	assert.True(t, strings.HasPrefix(answer.Body.String(), "%PDF-"))
	assert.Contains(t, answer.Header().Get("Content-Disposition"), "first-table-a4.pdf")
}

func TestAFileThatNobodyOfUsWroteIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "first-table.json")
	for text, want := range map[string]string{
		`{`:                          "it ends in the middle",
		`{"version":2}`:              "version: expected 1",
		`{"version":1,"paper":"b5"}`: "paper",
		`{"version":1,"ships":"A"}`:  "ships",
		`{"version":1,"camera":{}}`:  "camera",
		`{"version":1,"what":1}`:     "unknown key",
		`{"version":1,"print":{"scale_x":2,"scale_y":1}}`: "print",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		k, err := LoadKept(path)
		require.ErrorContains(t, err, want, text)
		assert.Equal(t, "a4", k.Paper, "and there is something to go on with")
	}
}

func mode(format string, w, h int, fps float64) capture.Mode {
	return capture.Mode{Format: format, Width: w, Height: h, FPS: fps}
}

func TestTheModeThatSuitsATableIsChosen(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []capture.Mode
		want capture.Mode
	}{
		{"nothing is said", nil, capture.Mode{}},
		{"raw pictures come too slowly", []capture.Mode{mode("YUYV", 1920, 1080, 3), mode("MJPG", 1920, 1080, 30)}, mode("MJPG", 1920, 1080, 30)},
		{"quick rather than large", []capture.Mode{mode("MJPG", 3840, 2160, 15), mode("MJPG", 1920, 1080, 30)}, mode("MJPG", 1920, 1080, 30)},
		{"an old webcam", []capture.Mode{mode("YUYV", 640, 480, 30), mode("YUYV", 1280, 720, 10)}, mode("YUYV", 1280, 720, 10)},
		{"no 8K", []capture.Mode{mode("MJPG", 7680, 4320, 30), mode("MJPG", 3840, 2160, 10)}, mode("MJPG", 3840, 2160, 10)},
	} {
		assert.Equal(t, c.want, best(c.in), c.name)
	}
}
