package enrol

import (
	"encoding/json"
	"image"
	"log/slog"
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
	"sightline/vision"
	"sightline/vision/jig"
	"sightline/vision/look"
	"sightline/vision/tablesim"
)

// sheetSeen is a marker detector that knows where the sheet lies.
type sheetSeen struct {
	table  calibration.Table
	sheet  tablesim.LaidJig
	hidden bool
}

func (s *sheetSeen) DetectMarkers(*image.Gray) (out []vision.Detection, err error) {
	for _, m := range jig.Tags() {
		d := vision.Detection{ID: m.ID}
		for i, c := range m.Corners() {
			d.Corners[i], _ = s.table.PixelOf(s.sheet.Pose.Transform(c), jig.Paper)
		}
		if !s.hidden {
			out = append(out, d)
		}
	}
	return out, nil
}

// tried is a desk over a simulated table.
type tried struct {
	t       *testing.T
	desk    *Desk
	source  *tablesim.Source
	seen    *sheetSeen
	state   live.State
	hub     *live.Hub
	dir     string
	changed int
	now     time.Time
}

func newTried(t *testing.T) *tried {
	s, err := tablesim.Open(tablesim.Options{Small: true, Jig: 2 * time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	table := calibration.Table{Camera: s.Camera(), Layout: s.Layout()}
	file, _, err := table.Sealed()
	require.NoError(t, err)
	out := &tried{t: t, source: s, seen: &sheetSeen{table: table, sheet: s.Jig()}, dir: filepath.Join(t.TempDir(), "looks"),
		now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	out.state = live.State{Health: live.Health{Code: live.OK}, Register: live.Register{File: file}}
	out.hub = live.NewHub(out.state)
	out.desk = New(Options{Hub: out.hub, Markers: out.seen, Dir: out.dir, Changed: func() { out.changed++ },
		Now: func() time.Time { return out.now }, Log: slog.New(slog.DiscardHandler)})
	return out
}

// next shows the desk the next picture.
func (d *tried) next() {
	d.t.Helper()
	f, err := d.source.Next(d.t.Context())
	require.NoError(d.t, err)
	d.state.Frame = f
	d.hub.Publish(d.state)
	d.desk.Look()
}

// ask asks an address of the page.
func (d *tried) ask(method, path, body string) *httptest.ResponseRecorder {
	mux := http.NewServeMux()
	for _, r := range d.desk.Routes() {
		mux.HandleFunc(r.Pattern, r.Handler)
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w
}

func (d *tried) do(body string) *httptest.ResponseRecorder {
	return d.ask(http.MethodPost, "/api/looks", body)
}

func (d *tried) page() (s stateJSON) {
	d.t.Helper()
	require.NoError(d.t, json.Unmarshal(d.ask(http.MethodGet, "/api/looks", "").Body.Bytes(), &s))
	return s
}

// A person shows a ship: each turn is taken when it rests, and the program uses the look at once.
func TestAShipIsShownOnThePage(t *testing.T) {
	d := newTried(t)
	assert.Empty(t, d.page().Looks)
	assert.Nil(t, d.page().Showing)
	require.Equal(t, http.StatusNoContent, d.do(`{"do":"show","ships":"a1 A3","base":"small","pilot":"Academy"}`).Code)
	assert.Equal(t, http.StatusNotFound, d.ask(http.MethodGet, "/api/looks/sheet.jpg", "").Code)
	whys, dos := map[string]bool{}, map[string]bool{}
	for range 45 {
		d.next()
		s := d.page()
		if s.Showing == nil {
			break
		}
		assert.True(t, s.Showing.Sheet)
		whys[s.Showing.Why], dos[s.Showing.Do] = true, true
	}
	s := d.page()
	require.Nil(t, s.Showing, "%v", whys)
	assert.Equal(t, "A1", s.Learnt)
	assert.Equal(t, 1, d.changed)
	assert.Len(t, dos, 4)
	assert.True(t, whys["Something else lies on the sheet: push the base into the corner, and take your hand away."], "the hand: %v", whys)
	require.Len(t, s.Looks, 1)
	l := s.Looks[0]
	assert.Equal(t, []string{"A1", "A3"}, l.Ships)
	assert.Equal(t, "Academy", l.Pilot)
	assert.Equal(t, 4, l.Views)
	assert.InDelta(t, 0.15, l.Turn, 0.01)
	assert.Equal(t, "image/png", d.ask(http.MethodGet, l.Picture, "").Header().Get("Content-Type"))

	// The last turn of A1 is no first turn of A2: its base still stands there when somebody presses "Show another".
	require.Equal(t, http.StatusNoContent, d.do(`{"do":"show","ships":"A2","base":"small"}`).Code)
	last := d.state.Frame
	for i := range 4 {
		d.state.Frame = last
		d.state.Frame.Seq = last.Seq + 1
		last = d.state.Frame
		d.hub.Publish(d.state)
		d.desk.Look()
		if i > 0 { // one picture alone does not show that it rests
			require.Equal(t, "The base of A1 still stands there as it did last: put the base of A2 there, its front to the arrow 1.",
				d.page().Showing.Why)
		}
		require.Zero(t, d.page().Showing.Next)
	}
	a := d.do(`{"do":"show","ships":"B1","base":"small"}`)
	assert.Equal(t, http.StatusConflict, a.Code, "from a second device")
	assert.Equal(t, "A2 is being shown now, here or on another device: show all its turns, or press Stop.\n", a.Body.String())
	assert.Equal(t, "A2", d.page().Showing.Ship)
	for range 30 {
		if d.next(); d.page().Showing == nil || d.page().Showing.Next > 0 {
			break
		}
	}
	require.NotZero(t, d.page().Showing.Next, "the next base is taken: %s", d.page().Showing.Why)
	d.now = d.now.Add(2 * lookWatch)
	require.Equal(t, http.StatusNoContent, d.do(`{"do":"show","ships":"B1","base":"small"}`).Code, "nobody looks any more")

	// Through a camera that moved, or whose picture is frozen or broken, no turn is taken, and the page says why.
	require.Equal(t, http.StatusNoContent, d.do(`{"do":"stop"}`).Code)
	require.Equal(t, http.StatusNoContent, d.do(`{"do":"show","ships":"A2","base":"small"}`).Code)
	d.state.Health = live.Health{Code: live.Moved, Title: "Camera moved", Detail: "The markers are elsewhere."}
	for range 45 {
		d.next()
		require.NotNil(t, d.page().Showing)
		require.False(t, d.page().Showing.Sheet)
		require.Equal(t, "Camera moved: the markers are elsewhere.", d.page().Showing.Why)
	}
	assert.Len(t, d.page().Looks, 1)
	d.state.Health = live.Health{Code: live.OK}
	require.Equal(t, http.StatusNoContent, d.do(`{"do":"stop"}`).Code)

	before, err := look.LoadOne(d.dir, "A1")
	require.NoError(t, err)
	require.Equal(t, http.StatusNoContent, d.do(`{"do":"turn","name":"A1","quarters":1}`).Code)
	after, err := look.LoadOne(d.dir, "A1")
	require.NoError(t, err)
	assert.Equal(t, before.Turned(1).Version(), after.Version())
	assert.NotEqual(t, before.Version(), after.Version())
	assert.Equal(t, before.Version(), after.Turned(3).Version())
	twice := d.do(`{"do":"turn","name":"A1","quarters":1,"version":"` + before.Version() + `"}`)
	assert.Equal(t, http.StatusConflict, twice.Code, "two people turn it by one quarter, not by two")
	assert.Contains(t, twice.Body.String(), "Someone has changed this card")
	assert.NotEqual(t, l.Picture, d.page().Looks[0].Picture, "browsers fetch the turned one")

	// What the disk does not take is refused as everywhere, and the card is as it was.
	inTheWay := filepath.Join(d.dir, "B2.json")
	require.NoError(t, os.MkdirAll(filepath.Join(inTheWay, "full"), 0o700))
	refused := d.do(`{"do":"change","name":"A1","ships":"B2","pilot":"Omicron"}`)
	assert.Equal(t, http.StatusInsufficientStorage, refused.Code, refused.Body)
	require.NoError(t, os.RemoveAll(inTheWay))
	require.Len(t, d.page().Looks, 1)
	assert.Equal(t, "A1", d.page().Looks[0].Name)
	d.changed--

	require.Equal(t, http.StatusNoContent, d.do(`{"do":"change","name":"A1","ships":"B2","pilot":"Omicron"}`).Code)
	s = d.page()
	require.Len(t, s.Looks, 1)
	assert.Equal(t, "B2", s.Looks[0].Name)
	assert.Equal(t, "Omicron", s.Looks[0].Pilot)
	assert.Equal(t, http.StatusConflict, d.do(`{"do":"delete","name":"A1"}`).Code, "it is gone")
	require.Equal(t, http.StatusNoContent, d.do(`{"do":"delete","name":"B2"}`).Code)
	assert.Empty(t, d.page().Looks)
	left, err := os.ReadDir(d.dir)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.Equal(t, 4, d.changed)
}

// A disk that is full when all turns were taken loses none of them, and the page says why nothing is learnt.
func TestACardThatCannotBeSavedIsSavedLater(t *testing.T) {
	d := newTried(t)
	require.NoError(t, os.WriteFile(d.dir, nil, 0o600)) // where the folder is to be
	require.Equal(t, http.StatusNoContent, d.do(`{"do":"show","ships":"A1","base":"small"}`).Code)
	for range 45 {
		if d.next(); d.page().Showing.Next == jig.Turns {
			break
		}
	}
	for range 4 {
		d.next()
		s := d.page()
		require.Equal(t, "All four turns are taken.", s.Showing.Do)
		require.Contains(t, s.Showing.Why, "It cannot be saved, and is tried again: look: A1: ")
	}
	require.NoError(t, os.Remove(d.dir))
	d.next()
	s := d.page()
	assert.Nil(t, s.Showing)
	assert.Equal(t, "A1", s.Learnt)
}

func TestWhatThePageRefuses(t *testing.T) {
	d := newTried(t)
	for body, want := range map[string]string{
		`{"do":"show","ships":"","base":"small"}`:      "Expected the ship's name, such as A1.",
		`{"do":"show","ships":"C7","base":"small"}`:    "Name: expected",
		`{"do":"show","ships":"A1","base":"huge-195"}`: "Base: expected small, medium or large",
		`{"do":"show","ships":"A1","base":"tiny"}`:     "expected small",
		`{"do":"dance"}`:                     `Do: expected show, stop, change, turn or delete, got "dance".`,
		`{"do":"delete","name":"../secret"}`: "Name: expected",
		`{"do":"show","extra":1}`:            "The request must be JSON",
		`[]`:                                 "The request must be JSON",
		`{"do":"change","name":"A1","ships":"A1","pilot":""}`: "no longer there",
	} {
		a := d.do(body)
		if strings.Contains(want, "Name: expected") && strings.Contains(body, "C7") {
			want = "Ships: ship id"
		}
		assert.GreaterOrEqual(t, a.Code, 400, body)
		assert.Contains(t, a.Body.String(), want, body)
	}
	assert.Equal(t, http.StatusNotFound, d.ask(http.MethodGet, "/api/looks/A1/picture.png", "").Code)

	require.Equal(t, http.StatusNoContent, d.do(`{"do":"show","ships":"A1","base":"small"}`).Code)
	d.seen.hidden = true
	d.next()
	assert.Contains(t, d.page().Showing.Why, "0 of its 4 markers are found")
	assert.False(t, d.page().Showing.Sheet)
	d.state.Held = true
	d.next()
	assert.Contains(t, d.page().Showing.Why, "The picture is held")
	d.state.Held, d.state.Register.File = false, nil
	d.state.Health = live.Health{Code: live.NoCalibration, Title: "Not calibrated", Detail: "Markers are not seen."}
	d.next()
	assert.Equal(t, "Not calibrated: markers are not seen.", d.page().Showing.Why)
	require.Equal(t, http.StatusNoContent, d.do(`{"do":"stop"}`).Code)
	assert.Nil(t, d.page().Showing)
	d.next()

	before, err := d.desk.known()
	require.NoError(t, err)
	again, err := d.desk.known()
	require.NoError(t, err)
	assert.Same(t, before, again, "what has not changed is not read again, twice a second")
	require.NoError(t, os.MkdirAll(d.dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "A1.json"), []byte("{}"), 0o644))
	require.Len(t, d.page().Damaged, 1, "a broken file is said, and the page stays")
	assert.Contains(t, d.page().Damaged[0].Why, "A1.json")
	require.Equal(t, http.StatusNoContent, d.do(`{"do":"delete","name":"A1"}`).Code)
	assert.Empty(t, d.page().Damaged)
}

// No one's picture is searched when no one looks at the page.
func TestTheDeskRestsWhenNobodyLooks(t *testing.T) {
	d := newTried(t)
	require.Equal(t, http.StatusNoContent, d.do(`{"do":"show","ships":"A1","base":"small"}`).Code)
	d.seen.hidden = true
	d.now = d.now.Add(2 * lookWatch)
	d.next()
	d.desk.mu.Lock()
	assert.Empty(t, d.desk.why)
	d.desk.mu.Unlock()
	d.page()
	d.next()
	assert.NotEmpty(t, d.page().Showing.Why)
}

// A ruling on the held picture stores the card with which it was measured.
func TestLooksAreNotChangedUnderAHeldPicture(t *testing.T) {
	d := newTried(t)
	d.state.Held = true
	d.hub.Publish(d.state)
	for _, body := range []string{
		`{"do":"show","ships":"A1","base":"small"}`, `{"do":"change","name":"A1","ships":"B2"}`, `{"do":"turn","name":"A1","quarters":1}`,
		`{"do":"delete","name":"A1"}`,
	} {
		a := d.do(body)
		assert.Equal(t, http.StatusConflict, a.Code, body)
		assert.Contains(t, a.Body.String(), "The picture is held", body)
	}
	assert.Equal(t, http.StatusNoContent, d.do(`{"do":"stop"}`).Code)
}
