package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/scenefile"
	"sightline/hardware"
)

func serve(t testing.TB, f *fakeTable) *httptest.Server {
	s := httptest.NewServer(f.server())
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func get(t testing.TB, url string) (*http.Response, string) {
	t.Helper()
	r, err := http.Get(url)
	require.NoError(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return r, string(body)
}

// patch asks for a change of the choice and returns status and text.
func patch(t testing.TB, url, body string, header ...string) (int, string) {
	t.Helper()
	return send(t, http.MethodPatch, url+"/api/choice", body, header...)
}

// send asks an address with headers, each a name and its value, and returns status and text.
func send(t testing.TB, method, address, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, strings.TrimSpace(string(text))
}

func TestStateSaysTheAnswerWithItsUnits(t *testing.T) {
	f := newFakeTable(t)
	f.change(func(v *live.State) { v.LampLabels[hardware.LampInArc] = "In arc!" })
	s := serve(t, f)
	status, text := patch(t, s.URL, `{"from":"A1","to":"B1"}`)
	require.Equal(t, http.StatusNoContent, status, text)
	_, body := get(t, s.URL+"/api/state")
	var state struct {
		Answer struct {
			Outcome    string  `json:"outcome"`
			Title      string  `json:"title"`
			DistanceMM float64 `json:"distance_mm"`
			SigmaMM    float64 `json:"sigma_mm"`
			Live       string  `json:"live"`
		} `json:"answer"`
		Panel struct {
			Lamps  map[string]string `json:"lamps"`
			Labels map[string]string `json:"labels"`
		} `json:"panel"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &state))
	assert.Equal(t, "yes", state.Answer.Outcome)
	assert.Equal(t, "Range 2", state.Answer.Title)
	assert.InDelta(t, 144.3, state.Answer.DistanceMM, 0.5)
	assert.Positive(t, state.Answer.SigmaMM)
	assert.Equal(t, "A1 to B1: Range 2. In the front arc. Obstacles are not watched.", state.Answer.Live)
	assert.Equal(t, "lit", state.Panel.Lamps["range2"])
	assert.Equal(t, "lit", state.Panel.Lamps["in_arc"])
	assert.Equal(t, "dark", state.Panel.Lamps["obstructed"])
	assert.Equal(t, map[string]string{"in_arc": "In arc!"}, state.Panel.Labels)
}

func TestSceneAndMeasureAreTheContracts(t *testing.T) {
	s := serve(t, newFakeTable(t))
	_, scene := get(t, s.URL+"/api/scene")
	scenes, _, err := scenefile.Parse([]byte(scene))
	require.NoError(t, err, "measure reads what /api/scene says")
	require.Len(t, scenes[0].Ships, 6)
	_, result := get(t, s.URL+"/api/measure")
	assert.Contains(t, result, `"from":"A1","to":"B1"`)
	assert.Contains(t, result, `"distance_mm"`)

	answer, one := get(t, s.URL+"/api/measure?from=A1&to=B1")
	assert.Equal(t, http.StatusOK, answer.StatusCode)
	assert.Equal(t, 1, strings.Count(one, `"from":"A1","to":"B1"`))
	assert.NotContains(t, one, `"to":"B2"`)
	assert.NotContains(t, one, `"from":"B1"`)
	answer, one = get(t, s.URL+"/api/measure?from=A1")
	assert.Equal(t, http.StatusOK, answer.StatusCode)
	assert.Contains(t, one, `"to":"B2"`)
	assert.NotContains(t, one, `"from":"B1"`)
	answer, one = get(t, s.URL+"/api/measure?from=A1&to=Z9")
	assert.Equal(t, http.StatusNotFound, answer.StatusCode)
	assert.Contains(t, one, `nothing is measured from "A1" to "Z9": expected ids of /api/scene`)
	_, one = get(t, s.URL+"/api/measure?to=Z9")
	assert.Contains(t, one, `nothing is measured to "Z9": expected ids of /api/scene`)
}

func TestAnOldSceneIsNotGivenOut(t *testing.T) {
	f := newFakeTable(t)
	f.change(func(state *live.State) {
		state.Health = live.Health{Code: live.Stale, Title: "Old picture", Detail: "the last one is 4 s old"}
	})
	s := serve(t, f)
	for _, path := range []string{"/api/scene", "/api/measure"} {
		r, body := get(t, s.URL+path)
		assert.Equal(t, http.StatusServiceUnavailable, r.StatusCode, path)
		assert.Contains(t, body, "4 s old")
	}
	r, body := get(t, s.URL+"/healthz")
	assert.Equal(t, http.StatusServiceUnavailable, r.StatusCode, "a monitor hears that the table is not answered about")
	assert.Contains(t, body, `"status":"stale"`)

	f.change(func(state *live.State) {
		state.Health, state.RulingsTrouble = live.Health{Code: live.OK}, "The record is damaged."
	})
	r, body = get(t, s.URL+"/healthz")
	assert.Equal(t, http.StatusOK, r.StatusCode, "the table is answered about; starting anew would mend no record")
	assert.Contains(t, body, `"rulings":"The record is damaged."`)
	assert.Contains(t, body, `"held":false`)
	_, body = get(t, s.URL+"/api/state")
	assert.Contains(t, body, `"rulings_trouble":"The record is damaged."`)
	f.change(func(state *live.State) {
		state.Hold, state.Health.Code = &live.Held{Number: 3, AskedBy: "Ada"}, live.Broken
	})
	r, body = get(t, s.URL+"/healthz")
	assert.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
	assert.Contains(t, body, `"held":true`)
	r, body = get(t, s.URL+"/livez")
	assert.Equal(t, http.StatusOK, r.StatusCode, "a table without answers is no reason to start the program again")
	assert.JSONEq(t, `{"status":"alive"}`, body)
	_, body = get(t, s.URL+"/metrics")
	for _, line := range []string{"sightline_held 1", "sightline_judge_asked 1", `sightline_health{code="broken"} 1`, `sightline_health{code="ok"} 0`} {
		assert.Contains(t, body, "\n"+line+"\n")
	}
}

func TestBadChoicesAreRefusedWithASentence(t *testing.T) {
	f := newFakeTable(t)
	s := serve(t, f)
	for name, c := range map[string]struct{ body, want string }{
		"not JSON":         {`{"from":`, "must be JSON"},
		"nothing":          {``, "must be JSON"},
		"unknown key":      {`{"form":"A1"}`, "unknown key"},
		"wrong type":       {`{"from":7}`, "must be JSON"},
		"something after":  {`{} {}`, "something follows it"},
		"same ship twice":  {`{"from":"A1","to":"A1"}`, "two ships"},
		"no ship's name":   {`{"from":"ZZ"}`, `Ship id "ZZ": expected A1…A18 or B1…B18`},
		"no target's name": {`{"to":"A19"}`, `Ship id "A19"`},
		"unknown arc":      {`{"arc":"sideways"}`, `There is no arc "sideways"`},
		"name too long":    {`{"from":"` + strings.Repeat("A", 33) + `"}`, "at most 32"},
		"control sequence": {`{"from":"A\n"}`, "at most 32"},
		"far too large":    {`{"from":"` + strings.Repeat("A", 1<<20) + `"}`, "too large"},
		"long arc":         {`{"arc":"` + strings.Repeat("é", 1000) + `"}`, `There is no arc "` + strings.Repeat("é", 40) + `"; expected`},
	} {
		t.Run(name, func(t *testing.T) {
			status, text := patch(t, s.URL, c.body)
			assert.Equal(t, http.StatusBadRequest, status)
			assert.Contains(t, text, c.want)
		})
	}
	assert.Empty(t, f.hub.Newest().Choice.From, "nothing was chosen")
}

func TestOtherSitesMayNotChoose(t *testing.T) {
	f := newFakeTable(t)
	s := serve(t, f)
	status, _ := patch(t, s.URL, `{"from":"A1","to":"B1"}`, "Sec-Fetch-Site", "cross-site", "Origin", "http://elsewhere.example")
	assert.Equal(t, http.StatusForbidden, status)
	status, _ = patch(t, s.URL, `{"from":"A1","to":"B1"}`, "Origin", "http://elsewhere.example")
	assert.Equal(t, http.StatusForbidden, status, "an older browser says only its origin")
	assert.Empty(t, f.hub.Newest().Choice.From)
}

func TestEverythingComesWithAStrictPolicy(t *testing.T) {
	s := serve(t, newFakeTable(t))
	for _, path := range []string{"/", "/main.js", "/style.css", "/api/state", "/nowhere"} {
		r, _ := get(t, s.URL+path)
		policy := r.Header.Get("Content-Security-Policy")
		assert.Contains(t, policy, "default-src 'none'", path)
		assert.NotContains(t, policy, "unsafe", path)
		assert.Equal(t, "nosniff", r.Header.Get("X-Content-Type-Options"), path)
	}
}

func TestThePageNamesNoOtherServer(t *testing.T) {
	s := serve(t, newFakeTable(t))
	elsewhere := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9.-]+\.[a-z]{2,}`)
	for _, path := range []string{"/", "/main.js", "/style.css", "/table.js", "/camera.js", "/answer.js", "/choose.js", "/live.js",
		"/panel.js", "/dom.js"} {
		r, body := get(t, s.URL+path)
		require.Equal(t, http.StatusOK, r.StatusCode, path)
		for _, address := range elsewhere.FindAllString(body, -1) {
			assert.Contains(t, address, "www.w3.org", "%s names %s", path, address) // the SVG name space, never fetched
		}
		assert.NotContains(t, body, "style=\"", "%s: inline style is refused by the policy", path)
		assert.NotRegexp(t, `<script(?:[^>]*)>[^<]`, body, "%s: inline script is refused by the policy", path)
	}
}

func TestPictures(t *testing.T) {
	f := newFakeTable(t)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	s := serve(t, f)
	r, body := get(t, s.URL+"/api/picture.jpg")
	require.Equal(t, "image/jpeg", r.Header.Get("Content-Type"))
	picture, err := jpeg.Decode(strings.NewReader(body))
	require.NoError(t, err)
	assert.Equal(t, image.Rect(0, 0, 960, 540), picture.Bounds(), "1080p is halved")
	f.change(func(state *live.State) { state.Frame.Seq++; state.Region = image.Rect(400, 100, 1500, 1100) })
	time.Sleep(250 * time.Millisecond) // at most five pictures a second
	_, body = get(t, s.URL+"/api/picture.jpg")
	picture, err = jpeg.Decode(strings.NewReader(body))
	require.NoError(t, err)
	assert.Equal(t, image.Rect(0, 0, 1100, 980), picture.Bounds(), "the mat's part, as far as the picture goes")
	r, body = get(t, s.URL+"/api/display.png")
	require.Equal(t, "image/png", r.Header.Get("Content-Type"))
	display, err := png.Decode(strings.NewReader(body))
	require.NoError(t, err)
	assert.Equal(t, image.Rect(0, 0, 128, 64), display.Bounds())
}

func TestNoPictureYet(t *testing.T) {
	f := newFakeTable(t)
	f.change(func(v *live.State) { v.Frame.Gray, v.Frame.Color = nil, nil })
	s := serve(t, f)
	r, body := get(t, s.URL+"/api/picture.jpg")
	assert.Equal(t, http.StatusNotFound, r.StatusCode)
	assert.Contains(t, body, "no picture yet")
	_, state := get(t, s.URL+"/api/state")
	assert.Contains(t, state, `"picture":null`)
}

// event reads one event's data from a stream.
func event(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return data
		}
	}
}

func TestEventsBeginWithTheStateAndFollowChanges(t *testing.T) {
	f := newFakeTable(t)
	s := serve(t, f)
	r, err := http.Get(s.URL + "/api/events")
	require.NoError(t, err)
	defer r.Body.Close()
	assert.Equal(t, "text/event-stream", r.Header.Get("Content-Type"))
	stream := bufio.NewReader(r.Body)
	assert.Contains(t, event(t, stream), `"outcome":"none"`, "the first event is the present state")
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	assert.Contains(t, event(t, stream), `"title":"Range 2"`)
}

func TestASlowListenerGetsTheNewestAndHoldsNobodyUp(t *testing.T) {
	f := newFakeTable(t)
	views, stop := f.hub.Listen()
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 1000 {
			f.hub.Publish(live.State{})
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("Publish waits for a listener that does not listen")
	}
	state := <-views
	assert.Equal(t, f.hub.Newest().Seq, state.Seq)
	assert.Equal(t, uint64(1000), f.hub.Missed())
}

func TestServeStopsCleanlyWithAClientThatListens(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- newFakeTable(t).server().Serve(ctx, l) }()
	r, err := http.Get("http://" + l.Addr().String() + "/api/events")
	require.NoError(t, err)
	defer r.Body.Close()
	event(t, bufio.NewReader(r.Body))
	cancel()
	select {
	case err := <-done:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		t.Fatal("Serve does not stop")
	}
}

func TestRequestsThatMakeNoSenseAreRefusedAndChangeNothing(t *testing.T) {
	f := newFakeTable(t)
	s := serve(t, f)
	before := f.hub.Newest().Choice
	for _, body := range []string{
		"", "[]", "{", `{"from":1}`, `{"x":"A1"}`, `{"from":"A1"}{}`, `{"from":"A1","to":"A1"}`, `{"arc":"nope"}`, "\xff\xfe",
		`{"from":"` + strings.Repeat("A", 33) + `"}`, `{"from":"` + strings.Repeat("A", 1<<20) + `"}`, strings.Repeat("[", 4000),
		`{"from":"a\u0007"}`,
	} {
		status, text := patch(t, s.URL, body)
		assert.Equal(t, http.StatusBadRequest, status, "%.40q", body)
		assert.NotEmpty(t, text)
	}
	assert.Equal(t, before, f.hub.Newest().Choice)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodTrace} {
		r, err := http.NewRequest(method, s.URL+"/api/choice", nil)
		require.NoError(t, err)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		answer.Body.Close()
		assert.Equal(t, http.StatusMethodNotAllowed, answer.StatusCode, method)
	}
	for _, path := range []string{"/..%2f..%2fserver.go", "/%2e%2e/server.go", "/static/style.css", "/%00", "/api/", "/.git/config"} {
		answer, _ := get(t, s.URL+path)
		assert.Equal(t, http.StatusNotFound, answer.StatusCode, path)
	}
}

// Two hundred screens that show the page, and some that never read: everyone who
// reads hears of each change, and all of them let go at the end.
func TestManyListenersAndSomeThatNeverRead(t *testing.T) {
	f := newFakeTable(t)
	before := runtime.NumGoroutine()
	s := httptest.NewServer(f.server())
	client := &http.Client{Transport: &http.Transport{}}
	var readers []*bufio.Reader
	var open []io.Closer
	for range 200 {
		r, err := client.Get(s.URL + "/api/events")
		require.NoError(t, err)
		open = append(open, r.Body)
		readers = append(readers, bufio.NewReader(r.Body))
	}
	for range 20 {
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		require.NoError(t, err)
		open = append(open, c)
		_, err = io.WriteString(c, "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
		require.NoError(t, err)
	}
	status, text := patch(t, s.URL, `{"from":"B2","to":"A3"}`)
	require.Equal(t, http.StatusNoContent, status, text)
	for _, r := range readers {
		for {
			line, err := r.ReadString('\n')
			require.NoError(t, err)
			if strings.HasPrefix(line, "data: ") && strings.Contains(line, `"from":"B2"`) {
				break
			}
		}
	}
	for _, c := range open {
		c.Close()
	}
	s.CloseClientConnections()
	client.CloseIdleConnections()
	http.DefaultClient.CloseIdleConnections()
	s.Close()
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+2 }, time.Minute, 20*time.Millisecond,
		"goroutines are left")
}

// No page has two elements of one id: of two, a script finds the first one only.
func TestNoPageHasAnIDTwice(t *testing.T) {
	eachPage(t, func(path, html string) {
		seen := map[string]bool{}
		for _, m := range regexp.MustCompile(`\sid="([^"]+)"`).FindAllStringSubmatch(html, -1) {
			assert.False(t, seen[m[1]], "%s: id %q stands there twice", path, m[1])
			seen[m[1]] = true
		}
	})
}
