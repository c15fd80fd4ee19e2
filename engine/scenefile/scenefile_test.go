package scenefile_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/scenefile"
)

// full is a scene with every key of a scene file.
const full = `{"version":1, "rules":"2.5", "profile":{"name":"measured","bullseye_mm":16,"guides":false,"arc_small_deg":40,
 "bank_mm":[81,131,181]},
 "mat":{"width_mm":914.4,"height_mm":900}, "scale_sigma":0.0003,
 "ships":[{"id":"A1","player":1,"base":"small","x_mm":457.2,"y_mm":120.0,"heading_deg":90,
           "arcs":["front","bullseye"],"turret":"left","seen":"both","visible":0.75,
           "covariance":[0.06,0.01,0.02, 0.01,0.05,0, 0.02,0,0.03]}],
 "obstacles":[{"id":"rock1","kind":"asteroid","x_mm":400,"y_mm":400,"heading_deg":30,"outline_mm":[[0,0],[20,0],[12,15]],"sigma_mm":0.2}],
 "devices":[{"id":"b1","kind":"bomb","player":1,"x_mm":300,"y_mm":300,"heading_deg":45}],
 "markers":[{"id":"sat1","kind":"satellite","x_mm":457.2,"y_mm":457.2,"heading_deg":0}]}`

func TestNothingMayFollowAScene(t *testing.T) {
	const whole = `{"version":1,"rules":"2.5","ships":[]}`
	for _, rest := range []string{"garbage", "{}", "]", "}", ",", "\x00", "#", whole} {
		for _, doc := range []string{whole, `{"version":1,"scenes":[` + whole + `]}`} {
			_, _, err := scenefile.Parse([]byte(doc + rest))
			assert.ErrorContains(t, err, "expected nothing after the object", "%q", rest)
		}
	}
	_, _, err := scenefile.Parse([]byte(whole + " \n\t"))
	assert.NoError(t, err)
}

// A name in another encoding would be read as another name, and two as one.
func TestASceneIsUTF8(t *testing.T) {
	const whole = `{"version":1,"rules":"2.5","ships":[{"id":"Jäger","base":"small","x_mm":1,"y_mm":2,"heading_deg":0}]}`
	scenes, _, err := scenefile.Parse([]byte("\uFEFF" + whole))
	require.NoError(t, err, "some editors begin a file with a byte order mark")
	assert.Equal(t, "Jäger", scenes[0].Ships[0].ID)
	wide := []byte{0xff, 0xfe}
	for _, c := range utf16.Encode([]rune(whole)) {
		wide = append(wide, byte(c), byte(c>>8))
	}
	for _, raw := range [][]byte{[]byte(strings.Replace(whole, "ä", "\xe4", 1)), wide} {
		_, _, err := scenefile.Parse(raw)
		assert.ErrorContains(t, err, "expected UTF-8")
	}
}

func TestEveryKeyOfASceneIsRead(t *testing.T) {
	scenes, list, err := scenefile.Parse([]byte(full))
	require.NoError(t, err)
	assert.False(t, list)
	require.Len(t, scenes, 1)
	s := scenes[0]
	deg := math.Pi / 180
	assert.Equal(t, engine.Rules25, s.Rules)
	assert.Equal(t, geom.Length(900), s.MatHeight)
	assert.Equal(t, 0.0003, s.ScaleSigma)
	require.NotNil(t, s.Dimensions)
	assert.Equal(t, geom.Length(16), s.Dimensions.Bullseye)
	assert.Equal(t, geom.Length(35.4), s.Dimensions.Turn[0], "what is not overridden is the named profile's")
	assert.InDelta(t, 40, s.Dimensions.HalfAngle(engine.Rules1e, engine.Small).Degrees(), 1e-12)
	assert.False(t, s.Dimensions.Guides)
	ship := s.Ships[0]
	assert.InDelta(t, math.Pi/2, float64(ship.Pose.Heading), 1e-15)
	assert.InDelta(t, 0.02*deg, ship.Covariance[2], 1e-15, "covariances are of degrees on the wire, of radians inside")
	assert.InDelta(t, 0.03*deg*deg, ship.Covariance[8], 1e-15)
	assert.Equal(t, "both", ship.Seen)
	assert.Equal(t, 0.75, ship.Visible)
	assert.Equal(t, []geom.Point{{X: 0, Y: 0}, {X: 20, Y: 0}, {X: 12, Y: 15}}, s.Obstacles[0].Outline)
	assert.Equal(t, "bomb", s.Devices[0].Kind)
	assert.Equal(t, "sat1", s.Markers[0].ID)
}

func TestASceneSurvivesWritingAndReading(t *testing.T) {
	scenes, _, err := scenefile.Parse([]byte(full))
	require.NoError(t, err)
	doc, err := scenefile.Marshal(scenes[0])
	require.NoError(t, err)
	again, list, err := scenefile.Parse(doc)
	require.NoError(t, err, "%s", doc)
	assert.False(t, list)
	for i := range scenes[0].Ships[0].Covariance {
		assert.InDelta(t, scenes[0].Ships[0].Covariance[i], again[0].Ships[0].Covariance[i], 1e-16)
	}
	again[0].Ships[0].Covariance = scenes[0].Ships[0].Covariance
	p, q := *scenes[0].Dimensions, *again[0].Dimensions
	for i := range p.HalfAngle1e {
		assert.InDelta(t, float64(p.HalfAngle1e[i]), float64(q.HalfAngle1e[i]), 1e-15)
		assert.InDelta(t, float64(p.HalfAngle2e[i]), float64(q.HalfAngle2e[i]), 1e-15)
	}
	again[0].Dimensions, scenes[0].Dimensions = nil, nil
	assert.InDelta(t, float64(scenes[0].Obstacles[0].Pose.Heading), float64(again[0].Obstacles[0].Pose.Heading), 1e-15)
	again[0].Obstacles[0].Pose = scenes[0].Obstacles[0].Pose
	assert.Equal(t, scenes, again)

	scenes[0].Ships[0].Look, scenes[0].Ships[0].LookDoubt, scenes[0].Ships[0].TurnDoubt = "A1", true, true
	doc, err = scenefile.Marshal(scenes[0])
	require.NoError(t, err)
	assert.Contains(t, string(doc), `"look_doubt":true`)
	again, _, err = scenefile.Parse(doc)
	require.NoError(t, err)
	assert.Equal(t, "A1", again[0].Ships[0].Look)
	assert.True(t, again[0].Ships[0].LookDoubt)
	assert.True(t, again[0].Ships[0].TurnDoubt)

	both, err := scenefile.MarshalList([]engine.Scene{scenes[0], {Rules: engine.Rules1e}})
	require.NoError(t, err)
	again, list, err = scenefile.Parse(both)
	require.NoError(t, err)
	assert.True(t, list)
	assert.Len(t, again, 2)
}

func TestWhatMayBeLeftOut(t *testing.T) {
	for _, doc := range []string{
		`{"version":1,"rules":"1e"}`,
		`{"version":1,"rules":"2.0","ships":[{"id":"A","base":"huge-225","x_mm":1,"y_mm":2,"heading_deg":3}]}`,
		`{"version":1,"rules":"2.0","profile":"measured"}`,
		`{"version":1,"rules":"2.0","profile":{}}`,
		`{"version":1,"rules":"2.0","obstacles":[{"outline_mm":[[0,0],[1,0],[0,1]]}],"devices":[{},{}],"markers":[{}]}`,
	} {
		_, list, err := scenefile.Parse([]byte(doc))
		assert.NoError(t, err, doc)
		assert.False(t, list)
	}
	scenes, list, err := scenefile.Parse([]byte(`{"version":1,"scenes":[]}`))
	require.NoError(t, err)
	assert.True(t, list)
	assert.Empty(t, scenes)
}

// change returns the full scene with one text in place of another.
func change(t *testing.T, from, to string) string {
	t.Helper()
	require.Contains(t, full, from)
	return strings.Replace(full, from, to, 1)
}

func TestErrorsNameTheKeyAndWhereItStands(t *testing.T) {
	for _, c := range []struct{ doc, want string }{
		{"", "expected a JSON object"},
		{"[]", "expected a JSON object"},
		{`{"version":1`, "ends too early"},
		{`{} {}`, "nothing after"},
		{change(t, `"version":1`, `"version":2`), "version: expected 1, got 2"},
		{change(t, `"version":1, `, ``), "version: missing"},
		{change(t, `"rules":"2.5"`, `"rules":"2.6"`), "rules: expected 1e, 2.0 or 2.5"},
		{change(t, `"rules":"2.5", `, ``), "rules: missing"},
		{change(t, `"scale_sigma"`, `"scale"`), "scale: unknown key"},
		{change(t, `"turret"`, `"turet"`), "ships[0] (A1): turet: unknown key"},
		{change(t, `"turret":"left"`, `"turret":"up"`), "ships[0] (A1): turret: expected"},
		{change(t, `"height_mm"`, `"length_mm"`), "mat.length_mm: unknown key"},
		{change(t, `,"height_mm":900`, ``), "mat: expected both width_mm and height_mm, or neither"},
		{change(t, `0.02,0,0.03]`, `0.02,0,2e5]`), "from 0 to 1e+06 mm² and 131312 deg², got 200000"},
		{change(t, `"bullseye_mm":16`, `"bullseye":16`), "profile.bullseye: unknown key"},
		{change(t, `"bullseye_mm":16`, `"bullseye_mm":0`), "profile: bullseye_mm: expected"},
		{change(t, `"bank_mm":[81,131,181]`, `"bank_mm":[81,131]`), "profile.bank_mm: expected 3 numbers, got 2"},
		{change(t, `"measured"`, `"mine"`), "profile: expected nominal or measured"},
		{change(t, `"base":"small"`, `"base":"tiny"`), "ships[0] (A1): base: expected small"},
		{change(t, `"x_mm":457.2,"y_mm":120.0`, `"y_mm":120.0`), "ships[0] (A1): x_mm: missing"},
		{change(t, `"x_mm":457.2,"y_mm":120.0`, `"x_mm":1e308,"y_mm":120.0`), "ships[0] (A1): x_mm: expected a place"},
		{change(t, `"x_mm":457.2,"y_mm":120.0`, `"x_mm":1e999,"y_mm":120.0`), "ships[0] (A1): x_mm: expected a number"},
		{change(t, `"x_mm":457.2,"y_mm":120.0`, `"x_mm":null,"y_mm":120.0`), "ships[0] (A1): x_mm: expected a number"},
		{change(t, `"x_mm":457.2,"y_mm":120.0`, `"x_mm":1,"x_mm":1,"y_mm":120.0`), "ships[0].x_mm: appears twice"},
		{change(t, `"player":1,"base"`, `"player":3,"base"`), "ships[0] (A1): player: expected 1 or 2"},
		{change(t, `0.02,0,0.03]`, `0.02,0]`), "ships[0] (A1): covariance: expected 9 numbers, row by row, got 8"},
		{change(t, `[0.06,0.01,`, `[-0.06,0.01,`), "ships[0] (A1): covariance: expected variances"},
		{change(t, `[0.06,0.01,0.02, 0.01,`, `[0.06,0.1,0.02, 0.1,`), "ships[0] (A1): covariance: expected a positive semi-definite"},
		{change(t, `"arcs":["front"`, `"arcs":["frnt"`), "ships[0] (A1): arcs: "},
		{change(t, `"arcs":["front"`, `"arcs":[null`), "ships[0] (A1): arcs[0]: expected a value, got null"},
		{change(t, `[0.06,0.01,`, `[null,0.01,`), "ships[0] (A1): covariance[0]: expected a value, got null"},
		{change(t, `"bank_mm":[81,131,181]`, `"bank_mm":[81,null,181]`), "profile.bank_mm[1]: expected a value, got null"},
		{change(t, `[[0,0],[20,0],[12,15]]`, `[[0,0],[20,null],[12,15]]`), "obstacles[0] (rock1): outline_mm[1][1]: expected a value, got null"},
		{change(t, `"visible":0.75`, `"visible":75`), "ships[0] (A1): visible: expected 0 to 1"},
		{change(t, `"id":"rock1"`, `"id":"A1"`), `obstacles[0]: id: "A1" appears twice`},
		{change(t, `"kind":"asteroid"`, `"kind":"moon"`), "obstacles[0] (rock1): kind: expected asteroid"},
		{change(t, `[[0,0],[20,0],[12,15]]`, `[[0,0],[20,0]]`), "obstacles[0] (rock1): outline_mm: expected 3"},
		{change(t, `[[0,0],[20,0],[12,15]]`, `[[0,0],[20,20],[20,0],[0,20]]`),
			"outline_mm: expected a simple polygon, but the edge from vertex 0 meets the edge from vertex 2"},
		{change(t, `[[0,0],[20,0],[12,15]]`, `[[0,0],[20,0],[12]]`), "obstacles[0] (rock1): outline_mm[2]: expected [x, y], got 1 numbers"},
		{change(t, `"devices":[{"id":"b1"`, `"devices":[{"id":"b1","size":3`), "devices[0] (b1): size: unknown key"},
		{`{"version":1,"scenes":[{"version":1,"rules":"1e"},{"version":1,"rules":"1e","ships":[{"id":"Z","base":"small","x_mm":0,
 "y_mm":0}]}]}`, "scenes[1].ships[0] (Z): heading_deg: missing"},
		{`{"version":1,"scenes":[{"version":1,"rules":"1e","scale_sigma":7}]}`, "scenes[0]: scale_sigma: expected 0 to 1"},
		{`{"version":1,"scenes":[],"more":1}`, "more: unknown key"},
		{`{"version":1,"scenes":[],"rules":"1e"}`, "rules: unknown key next to scenes: it belongs inside each of them"},
		{`{"version":2,"lens":{},"camera":{}}`, "it is a table calibration, expected a scene"},
		{`{"image_width":3,"camera_matrix":{}}`, "it is a lens file, expected a scene"},
		{`{"scenes":[]}`, "version: missing"},
	} {
		_, _, err := scenefile.Parse([]byte(c.doc))
		if assert.Error(t, err, c.doc) {
			assert.Contains(t, err.Error(), c.want)
			assert.NotContains(t, err.Error(), "\n")
		}
	}
}

// GeoJSON repeats a ring's first point at its end.
func TestAnOutlineMayBeClosed(t *testing.T) {
	open, _, err := scenefile.Parse([]byte(change(t, `[[0,0],[20,0],[12,15]]`, `[[0,0],[20,0],[12,15]]`)))
	require.NoError(t, err)
	closed, _, err := scenefile.Parse([]byte(change(t, `[[0,0],[20,0],[12,15]]`, `[[0,0],[20,0],[12,15],[0,0]]`)))
	require.NoError(t, err)
	assert.Len(t, closed[0].Obstacles[0].Outline, 3)
	assert.Equal(t, open, closed)

	_, _, err = scenefile.Parse([]byte(change(t, `[[0,0],[20,0],[12,15]]`, `[[0,0],[20,0],[0,0]]`)))
	assert.ErrorContains(t, err, "outline_mm: expected 3 to")
}

// keys lists the keys of a document's objects by path, lists merged.
func keys(v any, path string, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			into[path+"."+k] = true
			keys(e, path+"."+k, into)
		}
	case []any:
		for _, e := range v {
			keys(e, path, into)
		}
	}
}

func TestAResultHasTheContractsKeys(t *testing.T) {
	// The example of the contract's page on measure, values left out.
	const contract = `{"version":1,"rules":"2.5","pairs":[
 {"from":"A1","to":"B1",
  "range":{"distance_mm":1,"sigma_mm":1,"band":3,"possible_bands":[3],"margin_mm":1,"outcome":"yes","lines_mm":[[[1,1],[1,1]]]},
  "contact":"no",
  "arcs":[{"arc":"front","in_arc":"yes","margin_mm":1,"sigma_mm":1,
           "attack":{"distance_mm":1,"sigma_mm":1,"band":3,"possible_bands":[3],"margin_mm":1,
                     "distance_arc_start_mm":1,"band_arc_start":3,"lines_mm":[[[0,0],[1,1]]],
                     "obstruction":{"verdict":"never","by":["rock1"],"ships":[],"margin_mm":1,"sigma_mm":1}}}]}],
 "objects":[{"from":"A1","to":"rock1","kind":"asteroid","distance_mm":1,"sigma_mm":1,"band":1,"possible_bands":[1],
 "margin_mm":1,"outcome":"yes","contact":"no","overlap":"no"}],
 "problems":[{"id":"A2","problem":"outside the play area","margin_mm":1}]}`
	two, err := os.ReadFile("../testdata/two.json")
	require.NoError(t, err)
	scenes, _, err := scenefile.Parse(two)
	require.NoError(t, err)
	s := scenes[0]
	s.Ships[0].Pose.X = 0
	r, err := engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	doc, err := scenefile.MarshalResult(r)
	require.NoError(t, err)
	want, got := map[string]bool{}, map[string]bool{}
	for text, into := range map[string]map[string]bool{contract: want, string(doc): got} {
		var v any
		require.NoError(t, json.Unmarshal([]byte(text), &v))
		keys(v, "", into)
	}
	for _, k := range []string{"farthest", "farthest.band", "farthest.distance_mm", "farthest.margin_mm", "farthest.possible_bands",
		"farthest.sigma_mm", "side"} {
		require.Contains(t, got, ".pairs."+k, "what stands there beside the contract's keys")
		delete(got, ".pairs."+k)
	}
	assert.Equal(t, want, got)
}

func TestEmptyListsAreListsAndNotNull(t *testing.T) {
	doc, err := scenefile.MarshalResults([]engine.Result{{Rules: engine.Rules1e}, {Rules: engine.Rules25}})
	require.NoError(t, err)
	assert.JSONEq(t, `{"version":1,"results":[
		{"version":1,"rules":"1e","pairs":[],"objects":[],"problems":[]},
		{"version":1,"rules":"2.5","pairs":[],"objects":[],"problems":[]}]}`, string(doc))
}

func FuzzParseScenes(f *testing.F) {
	f.Add([]byte(full))
	two, err := os.ReadFile("../testdata/two.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(two)
	f.Add([]byte(`{"version":1,"scenes":[` + string(two) + `]}`))
	f.Add([]byte(`{"version":1,"rules":"1e","ships":[{"id":"A","base":"huge-195","x_mm":0,"y_mm":0,"heading_deg":1e6,
 "covariance":[1e6,0,0,0,1e6,0,0,0,1e5],"turret":"left","arcs":["mobile"]},{"id":"B","base":"small","x_mm":0,"y_mm":0,
 "heading_deg":-0.0}],"obstacles":[{"outline_mm":[[0,0],[1e-300,0],[0,1e6]]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		scenes, _, err := scenefile.Parse(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") && !strings.Contains(string(data), "\n") && !strings.Contains(string(data), `\n`) {
				t.Fatalf("an error of more than one line: %q", err)
			}
			return
		}
		for _, s := range scenes {
			if len(s.Ships) > 4 || len(s.Obstacles) > 4 {
				continue // only slow
			}
			r, err := engine.Measure(&s, engine.Options{})
			if err != nil {
				t.Fatalf("a scene that was accepted cannot be measured: %v", err)
			}
			if _, err := scenefile.MarshalResult(r); err != nil { // also finds NaN and Inf
				t.Fatal(err)
			}
			doc, err := scenefile.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			again, _, err := scenefile.Parse(doc)
			if err != nil {
				t.Fatalf("what was written cannot be read: %v\n%s", err, doc)
			}
			if len(again) != 1 || len(again[0].Ships) != len(s.Ships) || len(again[0].Obstacles) != len(s.Obstacles) {
				t.Fatalf("%+v became %+v", s, again)
			}
			for i := range s.Ships {
				if a, b := s.Ships[i], again[0].Ships[i]; a.ID != b.ID || a.Pose.Point != b.Pose.Point || a.Base != b.Base {
					t.Fatalf("%+v became %+v", a, b)
				}
			}
		}
	})
}

func TestASceneMayCarryHowItsCalibrationWasVerified(t *testing.T) {
	const ship = `{"id":"A1","base":"small","x_mm":1,"y_mm":2,"heading_deg":0}`
	for _, verified := range []string{`{"at":"2026-11-21T10:30:00Z","outcome":"pass"}`, "null"} {
		one := `{"version":1,"rules":"2.5","verified":` + verified + `,"ships":[` + ship + `]}`
		for _, doc := range []string{one, `{"version":1,"scenes":[` + one + `],"verified":` + verified + `}`} {
			scenes, _, err := scenefile.Parse([]byte(doc))
			require.NoError(t, err, doc)
			assert.Len(t, scenes[0].Ships, 1)
		}
	}
	_, _, err := scenefile.Parse([]byte(`{"version":1,"rules":"2.5","verified":"yes","ships":[]}`))
	assert.ErrorContains(t, err, "verified: expected an object or null")
}

// A scene that was written to a file and read again differs by rounding in the last
// place: no answer may differ by more than that.
func TestRoundingInTheSceneChangesNoAnswer(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	cov := geom.Cov3{0.06, 0, 0, 0, 0.06, 0, 0, 0, 1e-5}
	compared := 0
	for range 1000 {
		s := engine.Scene{Rules: engine.Rules25, Profile: "nominal", MatWidth: 914.4, MatHeight: 914.4, ScaleSigma: 0.0003,
			Ships: []engine.Ship{
				{ID: "A1", Player: 1, Base: engine.Small, Covariance: cov},
				{ID: "B1", Player: 2, Base: engine.Medium, Covariance: cov},
			},
			Obstacles: []engine.Obstacle{{ID: "rock1", Kind: "asteroid", Pose: geom.Pose{Point: geom.Point{X: 410, Y: 300}, Heading: 0.4},
				Outline: []geom.Point{{X: -20, Y: -20}, {X: 20, Y: -15}, {X: 0, Y: 25}}, Sigma: 0.2}},
		}
		for i := range s.Ships {
			s.Ships[i].Pose = geom.Pose{
				Point:   geom.Point{X: 350 + 150*rng.Float64(), Y: 200 + 200*float64(i) + 60*rng.Float64()},
				Heading: geom.Angle(2*math.Pi*rng.Float64() - math.Pi),
			}
		}
		raw, err := scenefile.Marshal(s)
		require.NoError(t, err)
		again, _, err := scenefile.Parse(raw)
		require.NoError(t, err)
		p, err := engine.MeasurePair(&s, "A1", "B1", engine.Options{})
		require.NoError(t, err)
		q, err := engine.MeasurePair(&again[0], "A1", "B1", engine.Options{})
		require.NoError(t, err)
		for i := range p.Arcs {
			a, b := p.Arcs[i].Attack, q.Arcs[i].Attack
			if a == nil || b == nil {
				require.Equal(t, a == nil, b == nil, "%s: %v", p.Arcs[i].Arc, s.Ships)
				continue
			}
			compared++
			assert.Equal(t, a.Obstruction.Verdict, b.Obstruction.Verdict, "%s: %v", p.Arcs[i].Arc, s.Ships)
			assert.InDelta(t, float64(a.Obstruction.Margin), float64(b.Obstruction.Margin), 1e-6, "%s: %v", p.Arcs[i].Arc, s.Ships)
			assert.InDelta(t, float64(a.Distance), float64(b.Distance), 1e-9, "%s: %v", p.Arcs[i].Arc, s.Ships)
		}
	}
	assert.Greater(t, compared, 2000)
}

// A file of half a million keys is refused at once: reading takes as long as the file is.
func TestManyKeysAreReadInTheTimeThatTheyTake(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"version":1,"rules":"2.5","ships":[]`)
	for i := range 500000 {
		b.WriteString(`,"k` + strconv.Itoa(i) + `":0`)
	}
	b.WriteString("}")
	done := make(chan error, 1)
	go func() {
		_, _, err := scenefile.Parse([]byte(b.String()))
		done <- err
	}()
	select {
	case err := <-done:
		assert.ErrorContains(t, err, "k0: unknown key")
	case <-time.After(5 * time.Minute):
		t.Fatal("it compares each key with all before it")
	}
}
