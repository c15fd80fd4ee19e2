package web_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/setup"
	"sightline/cmd/internal/web"
	"sightline/vision/tablesim"
)

// fakeCalibration is a state machine behind a hub, without a camera.
type fakeCalibration struct {
	hub *live.CalibrationHub

	mu      sync.Mutex // guards the fields below
	machine *setup.Machine
	asked   []setup.Intent
}

func (f *fakeCalibration) do(in setup.Intent) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, in)
	_, err := f.machine.Do(in)
	f.hub.Publish(live.CalibrationState{State: f.machine.State()})
	return err
}

func serveCalibration(t *testing.T) (*fakeCalibration, *httptest.Server) {
	t.Helper()
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	f := &fakeCalibration{hub: live.NewCalibrationHub(), machine: setup.New(setup.Options{
		Layout: layout, LensPath: "lens.json", TablePath: "table.json",
		Lens: func() (calibration.Intrinsics, bool) { return tablesim.DefaultCamera(960, 540).Intrinsics, true },
	})}
	f.hub.Publish(live.CalibrationState{State: f.machine.State()})
	s := httptest.NewServer(web.NewServer(web.Options{
		Hub: live.NewHub(live.State{}), Calibration: f.hub, Calibrate: f.do, Layout: layout,
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return f, s
}

// post asks for something and returns status and text.
func post(t *testing.T, url, body string, header ...string) (int, string) {
	t.Helper()
	return send(t, http.MethodPost, url+"/api/calibration", body, header...)
}

func TestCalibrationRequestsThatMakeNoSense(t *testing.T) {
	f, s := serveCalibration(t)
	for name, c := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"nothing":              {"", 400, "must be JSON"},
		"no JSON":              {"start", 400, "must be JSON"},
		"cut off":              {`{"do":"sta`, 400, "must be JSON"},
		"a list":               {`["start"]`, 400, "must be JSON"},
		"a wrong type":         {`{"do":7}`, 400, "must be JSON"},
		"an unknown key":       {`{"do":"start","now":true}`, 400, `unknown key "now"`},
		"two objects":          {`{"do":"start"}{"do":"cancel"}`, 400, "something follows it"},
		"a huge body":          {`{"do":"` + strings.Repeat("x", 1<<20) + `"}`, 400, "too large"},
		"a huge number":        {`{"do":"bars","bar_x_mm":1e999}`, 400, "must be JSON"},
		"a long board":         {`{"do":"capture","board":"` + strings.Repeat("9", 100) + `"}`, 400, "at most 64 characters"},
		"a step before start":  {`{"do":"go","step":"lens"}`, 409, "No calibration is running"},
		"saving before start":  {`{"do":"save"}`, 409, "No calibration is running"},
		"save before start":    {`{"do":"save"}`, 409, "No calibration is running"},
		"measure before start": {`{"do":"card","card_bar_mm":220}`, 409, "No calibration is running"},
	} {
		t.Run(name, func(t *testing.T) {
			status, text := post(t, s.URL, c.body)
			assert.Equal(t, c.status, status, text)
			assert.Contains(t, text, c.says)
			assert.Less(t, len(text), 300)
		})
	}
	assert.False(t, f.hub.Newest().State.Active)

	status, text := post(t, s.URL, `{"do":"start"}`)
	require.Equal(t, http.StatusNoContent, status, text)
	for body, want := range map[string]string{
		`{"do":"go","step":"verify"}`:               "409 There is nothing to verify: do the table first.",
		`{"do":"go","step":"moon"}`:                 `400 There is no step "moon".`,
		`{"do":"fly"}`:                              `400 There is no action "fly".`,
		`{"do":"bars","bar_x_mm":96,"bar_y_mm":97}`: "400 A bar of 100 mm cannot come out 96.0 × 97.0 mm",
	} {
		status, text := post(t, s.URL, body)
		assert.Contains(t, http.StatusText(status)+" "+text, strings.SplitN(want, " ", 2)[1])
		assert.Equal(t, want[:3], map[int]string{400: "400", 409: "409"}[status], body)
	}
}

func TestCalibrationIsOnlyForThisPage(t *testing.T) {
	f, s := serveCalibration(t)
	status, _ := post(t, s.URL, `{"do":"start"}`, "Sec-Fetch-Site", "cross-site")
	assert.Equal(t, http.StatusForbidden, status)
	status, _ = post(t, s.URL, `{"do":"start"}`, "Origin", "http://elsewhere.example")
	assert.Equal(t, http.StatusForbidden, status)
	assert.Empty(t, f.asked)
	status, _ = post(t, s.URL, `{"do":"start"}`, "Sec-Fetch-Site", "same-origin")
	assert.Equal(t, http.StatusNoContent, status)
}

func TestTheCalibrationsMeasuresArriveInMillimetres(t *testing.T) {
	f, s := serveCalibration(t)
	post(t, s.URL, `{"do":"start"}`)
	post(t, s.URL, `{"do":"bars","bar_x_mm":100.1,"bar_y_mm":99.9}`)
	post(t, s.URL, `{"do":"card","card_bar_mm":219.8,"card_thickness_mm":0.3,"base_top_mm":4.1}`)
	assert.Equal(t, setup.Intent{Do: setup.Bars, BarX: 100.1, BarY: 99.9}, f.asked[1])
	assert.Equal(t, setup.CardMeasures{Bar: 219.8, Thickness: 0.3, BaseTop: 4.1}, f.asked[2].Card)
	post(t, s.URL, `{"do":"rule","distances":[{"from":0,"to":7,"length_mm":970.6}]}`)
	assert.Equal(t, []calibration.ScaleDistance{{From: 0, To: 7, Length: 970.6, Sigma: 0.3}}, f.asked[3].Distances)
	_, body := get(t, s.URL+"/api/calibration")
	var state struct {
		Active bool   `json:"active"`
		Busy   bool   `json:"busy"`
		Step   string `json:"step"`
		Print  struct {
			Phase string  `json:"phase"`
			BarX  float64 `json:"bar_x_mm"`
		} `json:"print"`
		Lens struct {
			Guide struct {
				Counts [][]int `json:"counts"`
			} `json:"guide"`
		} `json:"lens"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &state))
	assert.True(t, state.Active)
	assert.False(t, state.Busy)
	assert.Equal(t, "saved", state.Print.Phase)
	assert.Equal(t, 100.1, state.Print.BarX)
	assert.Len(t, state.Lens.Guide.Counts, lens.GuideRows)
}

func TestASecondBrowserSeesTheSameCalibration(t *testing.T) {
	_, s := serveCalibration(t)
	r, err := http.Get(s.URL + "/api/calibration/events")
	require.NoError(t, err)
	defer r.Body.Close()
	states := make(chan string, 100)
	go func() {
		for lines := bufio.NewScanner(r.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				states <- data
			}
		}
	}()
	require.Contains(t, <-states, `"active":false`)
	post(t, s.URL, `{"do":"start"}`)
	post(t, s.URL, `{"do":"go","step":"lens"}`)
	deadline := time.After(time.Minute)
	for {
		select {
		case data := <-states:
			if strings.Contains(data, `"active":true`) && strings.Contains(data, `"step":"lens"`) && strings.Contains(data, `"busy":true`) {
				return
			}
		case <-deadline:
			t.Fatal("the second browser has not heard of it")
		}
	}
}

func TestSheetsAreDrawnForThePrinterAsMeasured(t *testing.T) {
	_, s := serveCalibration(t)
	sheet := func(name string) (int, string) {
		r, body := get(t, s.URL+"/api/calibration/sheet/"+name)
		return r.StatusCode, body
	}
	_, before := sheet("mat-markers.pdf")
	post(t, s.URL, `{"do":"start"}`)
	post(t, s.URL, `{"do":"bars","bar_x_mm":99,"bar_y_mm":100}`)
	_, after := sheet("mat-markers.pdf")
	assert.NotEqual(t, before, after)
	for name, want := range map[string]int{
		"board.pdf?board=charuco:9x6:25mm:18mm": 200, "board.pdf?board=9x6:25mm&paper=letter": 200, "check-card.pdf?paper=a4": 200,
		"board.pdf": 400, "board.pdf?board=99x99:25mm": 400, "check-card.pdf?paper=napkin": 400, "secrets.pdf": 404, "..%2Fgo.mod": 404,
	} {
		status, body := sheet(name)
		assert.Equal(t, want, status, "%s: %.80s", name, body)
		assert.Equal(t, want == 200, strings.HasPrefix(body, "%PDF-"), name)
	}
}

func TestWithoutACalibrationThereIsNoPicture(t *testing.T) {
	_, s := serveCalibration(t)
	for _, path := range []string{"/api/calibration/picture.jpg", "/api/calibration/heat.svg"} {
		r, body := get(t, s.URL+path)
		assert.Equal(t, http.StatusNotFound, r.StatusCode, path)
		assert.Contains(t, body, "There is no")
	}
	r, body := get(t, s.URL+"/calibrate")
	assert.Equal(t, http.StatusOK, r.StatusCode)
	assert.Contains(t, r.Header.Get("Content-Type"), "text/html")
	assert.Contains(t, body, "What this does")
}
