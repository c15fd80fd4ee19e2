package web_test

import (
	"encoding/json"
	"html"
	"image"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/tablesim"
	"sightline/vision/token"
)

func init() {
	for pattern, line := range map[string]routeLine{
		"GET /overlay/{widget}":       {least: access.Nobody, path: "/overlay/all"},
		"GET /overlay/{$}":            {least: access.Nobody, path: "/overlay/"},
		"POST /overlay/token":         {least: access.Player},
		"GET /api/video.mjpg":         {least: access.Reader, status: 503},
		"GET /overlay/clock":          {least: access.Nobody},
		"GET /overlay/demo.json":      {least: access.Nobody},
		"GET /overlay/bootstrap.html": {least: access.Nobody},
	} {
		routeLines[pattern] = line
	}
}

// pageOptions are the options as an overlay's page gives them to its script.
type pageOptions struct {
	Widgets  []string
	Pos      string
	Theme    string
	Scale    float64
	Opacity  float64
	TTL      float64
	View     string
	Crop     *[4]int
	Region   bool
	Demo     bool
	Scene    int
	Debug    bool
	Token    string
	Problems []string
}

var inPage = regexp.MustCompile(`data-options="([^"]*)"`)

func optionsOf(t testing.TB, address string) pageOptions {
	t.Helper()
	w := httptest.NewRecorder()
	newFakeTable(t).server().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+address, nil))
	require.Equal(t, http.StatusOK, w.Code, "%s: %s", address, w.Body)
	found := inPage.FindStringSubmatch(w.Body.String())
	require.NotNil(t, found)
	var o pageOptions
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(found[1])), &o))
	return o
}

func TestAnOverlaysOptionsAreReadFromItsAddress(t *testing.T) {
	all := optionsOf(t, "/overlay/all")
	assert.Equal(t, pageOptions{
		Widgets: []string{"table", "pair", "ruling", "match", "last"}, Pos: "bottom-left", Theme: "dark",
		Scale: 1, Opacity: 1, TTL: 12, View: "top", Scene: -1, Problems: []string{},
	}, all)
	assert.Equal(t, pageOptions{
		Widgets: []string{"pair"}, Pos: "top-right", Theme: "high-contrast", Scale: 1.5, Opacity: 0.8, TTL: 30, View: "camera",
		Crop: &[4]int{420, 0, 1080, 1080}, Region: true, Demo: true, Scene: 2, Debug: true, Token: "abc.d-_", Problems: []string{},
	}, optionsOf(t, "/overlay/pair?pos=top-right&theme=high-contrast&scale=1.5&opacity=0.8&ttl=30&view=camera&crop=420,0,1080,1080&region=1"+
		"&demo=1&scene=2&debug=1&token=abc.d-_"))
}

func TestABadOptionIsNamedAndLeftAtItsDefault(t *testing.T) {
	for query, want := range map[string]string{
		"pos=middle":                   `pos: expected one of top-left, top`,
		"theme=Dark":                   `theme: expected one of dark, light, high-contrast, got "Dark"`,
		"view=side":                    `view: expected one of top, camera`,
		"scale=0":                      `scale: expected a number from 0.3 to 3, got "0"`,
		"scale=NaN":                    `scale: expected a number`,
		"scale=1e999":                  `scale: expected a number`,
		"opacity=2":                    `opacity: expected a number from 0.2 to 1`,
		"ttl=-1":                       `ttl: expected a number from 1 to 3600`,
		"ttl=Inf":                      `ttl: expected a number`,
		"demo=yes":                     `demo: expected 1 or 0, got "yes"`,
		"debug=":                       `debug: expected 1 or 0`,
		"scene=-1":                     `scene: expected a whole number`,
		"scene=8":                      `scene: expected a whole number from 0 to 7`,
		"crop=1,2,3":                   `crop: expected left,top,width,height`,
		"crop=0,0,0,0":                 `crop: expected left,top,width,height`,
		"crop=0,0,100,99999":           `crop: expected left,top,width,height`,
		"token=%20":                    `token: expected the one`,
		"colour=red":                   `"colour": there is no such option`,
		"pos=%22%3E%3Cscript%3Ealert(": `got "\">\u003cscript>alert("`,
	} {
		o := optionsOf(t, "/overlay/all?"+query)
		require.Len(t, o.Problems, 1, query)
		if !strings.Contains(want, `\u003c`) {
			assert.Contains(t, o.Problems[0], want, query)
		}
		o.Problems = []string{}
		assert.Equal(t, optionsOf(t, "/overlay/all"), o, "%s: everything else is as without it", query)
	}
	w := httptest.NewRecorder()
	newFakeTable(t).server().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/overlay/pair?pos=middle", nil))
	assert.Contains(t, w.Header().Get("Sightline-Overlay-Problem"), "pos: expected")
}

func FuzzOverlayOptions(f *testing.F) {
	for _, q := range []string{"", "pos=top&theme=light", "crop=1,2,300,400&ttl=9", "scale=%zz", "a=1&a=2;b", "token=" + strings.Repeat("x",
		600), "view=camera&view=top"} {
		f.Add("all", q)
		f.Add("ruling", q)
	}
	s := newFakeTable(f).server()
	f.Fuzz(func(t *testing.T, widget, query string) {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/overlay/all", nil)
		r.URL.Path, r.URL.RawQuery = "/overlay/"+widget, query
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			return
		}
		found := inPage.FindStringSubmatch(w.Body.String())
		if found == nil { // the page of all widgets
			return
		}
		var o pageOptions
		if err := json.Unmarshal([]byte(html.UnescapeString(found[1])), &o); err != nil {
			t.Fatalf("the page's options are no JSON: %v", err)
		}
		if o.Scale < 0.3 || o.Scale > 3 || o.Opacity < 0.2 || o.Opacity > 1 || o.TTL < 1 || o.TTL > 3600 || len(o.Widgets) == 0 {
			t.Fatalf("an option is out of its range: %+v", o)
		}
		if n := strings.Count(w.Body.String(), "<script"); n != 1 {
			t.Fatalf("the page has %d scripts", n)
		}
	})
}

func TestOnlyTheOverlaysPagesMayBeEmbedded(t *testing.T) {
	s := newFakeTable(t).server()
	policy := func(path string) string {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
		return w.Header().Get("Content-Security-Policy")
	}
	for _, path := range []string{"/", "/overlay/", "/calibrate", "/api/state"} {
		assert.Contains(t, policy(path), "frame-ancestors 'none'", path)
	}
	for _, widget := range []string{"all", "table", "pair", "ruling", "match", "last"} {
		got := policy("/overlay/" + widget)
		assert.NotContains(t, got, "frame-ancestors", widget)
		assert.Contains(t, got, "default-src 'none'", widget)
		assert.NotContains(t, got, "unsafe", widget)
	}
}

func TestTheFileThatWaitsNamesTheBoxAndThePage(t *testing.T) {
	s := newFakeTable(t).server()
	get := func(path, host string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = host
		s.ServeHTTP(w, r)
		return w
	}
	w := get("/overlay/bootstrap.html?widget=pair&view=camera&ttl=20", "192.168.7.4:8080")
	require.Equal(t, http.StatusOK, w.Code)
	assert.Contains(t, w.Header().Get("Content-Disposition"), `attachment; filename="sightline-overlay-pair.html"`)
	assert.Contains(t, w.Body.String(), `var box = "http://192.168.7.4:8080"`)
	assert.Contains(t, strings.ReplaceAll(w.Body.String(), `\u0026`, "&"),
		`var page = "http://192.168.7.4:8080/overlay/pair?ttl=20&view=camera"`)
	assert.Equal(t, http.StatusBadRequest, get("/overlay/bootstrap.html?widget=clock", "localhost").Code)
	assert.Equal(t, http.StatusBadRequest, get("/overlay/bootstrap.html?pos=nowhere", "localhost").Code)
	assert.Equal(t, http.StatusMisdirectedRequest, get("/overlay/bootstrap.html", `"</script>.example`).Code)
}

func TestAnAddressWithATokenReadsAndDoesNothingElse(t *testing.T) {
	now := time.Unix(1700000000, 0)
	_, s := everything(t, func(o *web.Options) {
		o.Access.PairToRead = true
		o.Now = func() time.Time { return now }
	})
	var given struct {
		Token  string
		Needed bool
	}
	answer := ask(s, http.MethodPost, "/overlay/token", "", network, s.Cookie(access.Player, "Anna", now))
	require.Equal(t, http.StatusOK, answer.Code)
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &given))
	assert.True(t, given.Needed)

	read := func(token string) int {
		return ask(s, http.MethodGet, "/api/state?token="+token, "", network, "").Code
	}
	assert.Equal(t, http.StatusOK, read(given.Token))
	assert.Equal(t, http.StatusForbidden, ask(s, http.MethodPatch, "/api/match?token="+given.Token, `{"round":"9"}`, network, "").Code)
	assert.Equal(t, http.StatusForbidden, ask(s, http.MethodPost, "/overlay/token?token="+given.Token, "", network, "").Code)
	for name, token := range map[string]string{
		"none": "", "another": "x" + given.Token, "no signature": strings.Split(given.Token, ".")[0] + ".",
		"a later end": "zzzzzz." + strings.Split(given.Token, ".")[1],
		"long":        strings.Repeat("a", 5000),
	} {
		assert.Equal(t, http.StatusForbidden, read(token), name)
	}
	now = now.Add(91 * 24 * time.Hour)
	assert.Equal(t, http.StatusForbidden, read(given.Token), "it has expired")
}

// overlayState is what the state says for overlays.
type overlayState struct {
	Overlay *struct {
		Width  int            `json:"width_px"`
		Mat    [][2]float64   `json:"mat_px"`
		Arc    [][2]float64   `json:"arc_px"`
		ArcMM  [][2]float64   `json:"arc_mm"`
		Lines  [][][2]float64 `json:"lines_px"`
		Ruling [][][2]float64 `json:"ruling_lines_px"`
		Ships  []struct {
			ID      string       `json:"id"`
			Outline [][2]float64 `json:"outline_px"`
		} `json:"ships"`
		Rings []struct {
			Band  int
			Parts [][][2]float64 `json:"parts_px"`
		}
	}
}

func overlayIn(t testing.TB, f *fakeTable) overlayState {
	t.Helper()
	_, text := asked(t, f.server(), http.MethodGet, "/api/state", "")
	var s overlayState
	require.NoError(t, json.Unmarshal([]byte(text), &s))
	return s
}

// calibrated gives the fake table a camera, through which vision would see its outlines.
func calibrated(t testing.TB, f *fakeTable, camera calibration.Camera) *calibration.Table {
	table := &calibration.Table{Camera: camera, Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)}
	file, hash, err := table.Sealed()
	require.NoError(t, err)
	f.change(func(state *live.State) {
		state.Register.File, state.Register.Hash = file, hash
		state.Frame = vision.Frame{Gray: image.NewGray(image.Rect(0, 0, camera.Intrinsics.Width, camera.Intrinsics.Height)),
			Seq: state.Frame.Seq + 1}
	})
	return table
}

func TestOutlinesLieWhereVisionSeesThem(t *testing.T) {
	for name, camera := range map[string]calibration.Camera{
		"1080p": tablesim.DefaultCamera(1920, 1080), "720p": tablesim.DefaultCamera(1280, 720),
		"askew": tablesim.Turned(tablesim.DefaultCamera(1920, 1080), 3, -4, 8),
	} {
		f := newFakeTable(t)
		table := calibrated(t, f, camera)
		o := overlayIn(t, f).Overlay
		require.NotNil(t, o, name)
		scene := knownScene()
		require.Len(t, o.Ships, len(scene.Ships))
		for i, ship := range scene.Ships {
			w, l := ship.Base.Size()
			for c, corner := range []geom.Point{{X: -1, Y: 1}, {X: 1, Y: 1}, {X: 1, Y: -1}, {X: -1, Y: -1}} { // as locate.Locator outlines a ship
				want, ok := table.PixelOf(ship.Pose.Transform(geom.Point{X: corner.X * float64(w) / 2, Y: corner.Y * float64(l) / 2}), token.BaseTop)
				require.True(t, ok)
				got := o.Ships[i].Outline[c]
				assert.Less(t, math.Hypot(got[0]-want.X, got[1]-want.Y), 0.1, "%s: %s corner %d, px", name, ship.ID, c)
			}
		}
	}
}

func TestRingsAndArcsLieOnTheMatAtTheirDistance(t *testing.T) {
	f := newFakeTable(t)
	table := calibrated(t, f, tablesim.DefaultCamera(1920, 1080))
	for _, arc := range []engine.Arc{engine.ArcFront, engine.ArcRear, engine.ArcLeft, engine.ArcRight, engine.ArcFullFront, engine.ArcFullRear,
		engine.ArcBullseye} {
		f.choose(live.Choice{From: "A1", To: "B1", Arc: arc})
		o := overlayIn(t, f).Overlay
		require.Len(t, o.Rings, 3)
		scene := knownScene()
		ship := scene.Ships[0]
		onTable := func(px [2]float64) geom.Point {
			p, ok := table.PointAt(geom.Pixel{X: px[0], Y: px[1]}, token.BaseTop)
			require.True(t, ok)
			return p
		}
		fromBase := func(p geom.Point) float64 { // an independent way to the distance from the base
			q := ship.Pose.Inverse(p)
			return math.Hypot(math.Max(0, math.Abs(q.X)-20), math.Max(0, math.Abs(q.Y)-20))
		}
		for _, ring := range o.Rings {
			require.NotEmpty(t, ring.Parts)
			for _, part := range ring.Parts {
				for _, px := range part {
					p := onTable(px)
					assert.InDelta(t, 100*float64(ring.Band), fromBase(p), 0.3, "ring %d", ring.Band)
					assert.True(t, p.X > -0.2 && p.Y > -0.2 && p.X < 914.6 && p.Y < 914.6, "%v is off the mat", p)
				}
			}
		}
		require.NotEmpty(t, o.Arc, arc)
		target := engine.Ship{ID: "B9", Base: engine.Small}
		inside := 0
		for x := 20.0; x < 900; x += 97 { // the arc as drawn holds what the engine finds in it, seen by a point that is far smaller than a base
			for y := 20.0; y < 900; y += 97 {
				p := geom.Point{X: x, Y: y}
				if d := fromBase(p); d < 30 || d > 270 {
					continue
				}
				target.Pose = geom.Pose{Point: p}
				s := engine.Scene{Rules: engine.Rules25, MatWidth: 914.4, MatHeight: 914.4, Ships: []engine.Ship{ship, target}}
				pair, err := engine.MeasurePair(&s, ship.ID, target.ID, engine.Options{})
				require.NoError(t, err)
				drawn := holds(o.ArcMM, p)
				inside += map[bool]int{true: 1}[drawn]
				if v := pair.Arc(arc); v != nil && drawn { // a base whose middle is in the arc is in the arc
					assert.Equal(t, engine.Yes, v.InArc, "%v: %v is drawn in the arc", arc, p)
				} else if v != nil && v.InArc == engine.Yes && v.Margin > 29 { // deeper than half a base's diagonal
					assert.True(t, drawn, "%v: %v is in the arc by %v and not drawn", arc, p, v.Margin)
				}
			}
		}
		if arc != engine.ArcBullseye {
			assert.Positive(t, inside, arc)
		}
	}
}

// holds reports whether a point is in a polygon, by counting crossings.
func holds(polygon [][2]float64, p geom.Point) bool {
	in := false
	for i, a := range polygon {
		b := polygon[(i+1)%len(polygon)]
		if (a[1] > p.Y) != (b[1] > p.Y) && p.X < a[0]+(p.Y-a[1])/(b[1]-a[1])*(b[0]-a[0]) {
			in = !in
		}
	}
	return in
}

func TestNothingIsLaidOverAPictureThatItDoesNotBelongTo(t *testing.T) {
	f := newFakeTable(t)
	assert.Nil(t, overlayIn(t, f).Overlay, "without a calibration")
	calibrated(t, f, tablesim.DefaultCamera(1920, 1080))
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	require.NotNil(t, overlayIn(t, f).Overlay)
	assert.NotEmpty(t, overlayIn(t, f).Overlay.Lines)
	f.change(func(state *live.State) { state.Held = true })
	held := overlayIn(t, f).Overlay
	assert.Empty(t, held.Ships, "what is held may have moved")
	assert.Empty(t, held.Lines)
	assert.Empty(t, held.Rings)
	f.change(func(state *live.State) {
		state.Held = false
		state.Frame = vision.Frame{Gray: image.NewGray(image.Rect(0, 0, 640, 480)), Seq: 99}
	})
	assert.Nil(t, overlayIn(t, f).Overlay, "the picture has another size")
	calibrated(t, f, tablesim.DefaultCamera(1920, 1080))
	f.change(func(state *live.State) { state.Health = live.Health{Code: live.Moved, Title: "Moved"} })
	assert.Nil(t, overlayIn(t, f).Overlay, "the camera has moved")
	f.change(func(state *live.State) {
		state.Health = live.Health{Code: live.OK}
		state.Pair, state.Reason = nil, "only the judge measures at this table"
	})
	closed := overlayIn(t, f).Overlay
	assert.NotEmpty(t, closed.Ships)
	assert.Empty(t, closed.Rings, "rings measure too")
	assert.Empty(t, closed.Lines)
}

func TestTheDemoShowsWhatAStreamerMustLayOut(t *testing.T) {
	_, text := asked(t, newFakeTable(t).server(), http.MethodGet, "/overlay/demo.json", "")
	var demo struct {
		LengthMS int64 `json:"length_ms"`
		Scenes   []struct {
			FromMS int64 `json:"from_ms"`
			What   string
			State  struct {
				Answer struct {
					Outcome     string
					Obstruction struct{ Outcome string }
					InArc       struct{ Outcome string } `json:"in_arc"`
				}
				Held   *struct{}
				Ruling *struct{ Overruled bool }
				Match  live.Match
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &demo))
	var seen []string
	for i, k := range demo.Scenes {
		assert.Equal(t, int64(i)*demo.LengthMS/int64(len(demo.Scenes)), k.FromMS)
		assert.NotEmpty(t, k.State.Match.Sides[0].Name)
		switch {
		case k.State.Ruling != nil && k.State.Ruling.Overruled:
			seen = append(seen, "overruled")
		case k.State.Ruling != nil:
			seen = append(seen, "ruling")
		case k.State.Held != nil:
			seen = append(seen, "held")
		case k.State.Answer.Obstruction.Outcome == "yes":
			seen = append(seen, "obstructed")
		case k.State.Answer.Outcome == "yes" && k.State.Answer.InArc.Outcome == "no":
			seen = append(seen, "out of arc")
		default:
			seen = append(seen, k.State.Answer.Outcome)
		}
	}
	assert.Equal(t, []string{"yes", "too_close", "obstructed", "no_view", "out of arc", "held", "ruling", "overruled"}, seen)
}
