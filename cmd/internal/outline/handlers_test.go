package outline

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
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
	"sightline/vision/fiducial"
	"sightline/vision/opencv"
	"sightline/vision/tablesim"
)

// bench is a desk with a clock that a test turns.
type bench struct {
	t    *testing.T
	desk *Desk
	mux  *http.ServeMux
	now  time.Time
	held *live.Held
	hub  *live.Hub
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, mux: http.NewServeMux(), now: time.Unix(1e9, 0), hub: &live.Hub{}}
	b.desk = New(Options{
		Hub: b.hub, Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
		Rules: func() Rules { return Rules{Edition: engine.Rules25, Sigmas: 3} },
		Hold: func(h live.Held, _ live.Choice) (uint64, error) {
			if b.held != nil {
				return 0, &live.Refusal{Kind: live.ErrOvertaken, Text: "A judge was called."}
			}
			b.held = &h
			return 7, nil
		},
		Now: func() time.Time { return b.now }, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	for _, r := range b.desk.Routes() {
		b.mux.HandleFunc(r.Pattern, r.Handler)
	}
	return b
}

func (b *bench) do(method, path string, body []byte) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.mux.ServeHTTP(w, httptest.NewRequest(method, path, bytes.NewReader(body)))
	return w
}

func (b *bench) post(path string, body any) *httptest.ResponseRecorder {
	raw, err := json.Marshal(body)
	require.NoError(b.t, err)
	return b.do("POST", path, raw)
}

func (b *bench) photo(w, h int) pictureJSON {
	var buf bytes.Buffer
	require.NoError(b.t, jpeg.Encode(&buf, image.NewRGBA(image.Rect(0, 0, w, h)), nil))
	got := b.do("POST", "/api/outline/pictures?name=dispute.jpg", buf.Bytes())
	require.Equal(b.t, http.StatusOK, got.Code, got.Body)
	var p pictureJSON
	require.NoError(b.t, json.Unmarshal(got.Body.Bytes(), &p))
	return p
}

// cornersOf are where a camera shows the mat's corners and two points of each edge.
func cornersOf(t *testing.T, cam *calibration.Camera) (out [][2]float64) {
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	mat := layout.Corners()
	points := mat[:]
	for i, p := range layout.Corners() {
		points = append(points, p.Lerp(mat[(i+1)%4], 0.3), p.Lerp(mat[(i+1)%4], 0.7))
	}
	for _, p := range points {
		px, ok := cam.PixelOf(p, 0)
		require.True(t, ok)
		out = append(out, [2]float64{px.X, px.Y})
	}
	return out
}

// What the players' agreement does not permit is not measured in a picture either, but for a judge.
func TestMarkedPicturesKeepTheAgreement(t *testing.T) {
	b, cam := newBench(t), tablesim.DefaultCamera(1920, 1080)
	at := "/api/outline/pictures/" + b.photo(1920, 1080).ID
	require.Equal(t, http.StatusOK, b.post(at+"/calibration", map[string]any{"corners_px": cornersOf(t, &cam)}).Code)
	ask := func() (a answerJSON) {
		got := b.post(at+"/answer", request{From: "A1", To: "B1", Arc: "front", Ships: []mark{
			{"A1", "small", []try{{400, 300, 0}}}, {"B1", "large", []try{{410, 520, 180}}},
		}})
		require.Equal(t, http.StatusOK, got.Code, got.Body)
		require.NoError(t, json.Unmarshal(got.Body.Bytes(), &a))
		return a
	}
	for _, c := range []struct {
		agreed   live.Policy
		measured string
		verdicts bool
		reason   string
	}{
		{live.Policy{}, "Range 2, in the front arc", true, ""},
		{live.Policy{Measuring: live.MeasuringJudge}, "", false, "only the judge measures at this table"},
		{live.Policy{Measuring: live.MeasuringEdition}, "", false, "no one has declared what to measure for"},
		{live.Policy{Measuring: live.MeasuringEdition, Window: &live.Window{Declaration: live.Declaration{Doing: live.DoLock, Ship: "A1"}}},
			"Range 2", true, ""},
	} {
		b.hub.Publish(live.State{Policy: c.agreed})
		a := ask()
		assert.Contains(t, a.Measured, c.measured)
		assert.Equal(t, c.reason, a.Reason)
		assert.Equal(t, c.verdicts, len(a.Verdicts) > 0)
		assert.Equal(t, !c.verdicts, a.Withheld, "it may be held for a judge")
		assert.Len(t, a.Ships, 2, "where the bases stand is no secret")
	}
	b.hub.Publish(live.State{Policy: live.Policy{Measuring: live.MeasuringEdition,
		Window: &live.Window{Declaration: live.Declaration{Doing: live.DoLock, Ship: "A1"}}}})
	assert.NotContains(t, ask().Measured, "front arc", "a lock measures ranges")
	b.hub.Publish(live.State{Policy: live.Policy{Measuring: live.MeasuringJudge}})
	b.desk.o.Judges = func(*http.Request) bool { return true }
	assert.Contains(t, ask().Measured, "Range 2, in the front arc", "no agreement binds judges")
}

// Bases do not lie on each other: marks that say so are refused, and marks of bases that stand side
// by side are not, however they err within what is stated.
func TestMarkedBasesThatOverlapAreRefused(t *testing.T) {
	b, cam := newBench(t), tablesim.DefaultCamera(1920, 1080)
	at := "/api/outline/pictures/" + b.photo(1920, 1080).ID
	require.Equal(t, http.StatusOK, b.post(at+"/calibration", map[string]any{"corners_px": cornersOf(t, &cam)}).Code)
	ask := func(apart float64) *httptest.ResponseRecorder {
		return b.post(at+"/answer", request{From: "A1", To: "B1", Arc: "front", Ships: []mark{
			{"A1", "small", []try{{400, 300, 0}}}, {"B1", "small", []try{{400 + apart, 300, 0}}},
		}})
	}
	for _, apart := range []float64{40, 39} {
		assert.Equal(t, http.StatusOK, ask(apart).Code, ask(apart).Body)
	}
	got := ask(25)
	assert.Equal(t, http.StatusBadRequest, got.Code)
	assert.Equal(t, "B1 lies on A1 by 15 mm, and bases cannot: is it marked in its place?\n", got.Body.String())
}

// A photograph that shows no markers is calibrated by the mat's corners; two ships marked on it are answered about, and held.
func TestAPhotographIsMarkedMeasuredAndHeld(t *testing.T) {
	b, cam := newBench(t), tablesim.DefaultCamera(1920, 1080)
	p := b.photo(1920, 1080)
	assert.Empty(t, p.From)
	assert.Nil(t, p.Camera)
	at := "/api/outline/pictures/" + p.ID
	request := request{From: "A1", To: "B1", Arc: "front", Ships: []mark{
		{"A1", "small", []try{{400, 300, 0}, {400.3, 299.8, 0.2}}}, {"B1", "large", []try{{410, 520, 180}, {410, 520.4, 180.1}}},
	}}
	got := b.post(at+"/answer", request)
	assert.Equal(t, http.StatusBadRequest, got.Code)
	assert.Contains(t, got.Body.String(), "not calibrated yet")

	got = b.post(at+"/calibration", map[string]any{"corners_px": cornersOf(t, &cam), "mat_mm": []float64{914.4, 914.4}})
	require.Equal(t, http.StatusOK, got.Code, got.Body)
	require.NoError(t, json.Unmarshal(got.Body.Bytes(), &p))
	assert.Equal(t, "corners", p.From)
	assert.InDelta(t, 1.3, *p.SigmaMM, 1)

	var rough pictureJSON
	got = b.post(at+"/calibration", map[string]any{"corners_px": cornersOf(t, &cam), "sigma_px": 6})
	require.NoError(t, json.Unmarshal(got.Body.Bytes(), &rough))
	assert.Greater(t, *rough.SigmaMM, 1.5**p.SigmaMM, "corners that a finger tapped from afar")

	var bent pictureJSON
	got = b.post(at+"/calibration", map[string]any{"corners_px": cornersOf(t, &cam)[:4]})
	require.NoError(t, json.Unmarshal(got.Body.Bytes(), &bent))
	assert.Greater(t, *bent.WorstMM, 2**p.WorstMM, "four corners alone leave the lens's bend open between them")
	b.post(at+"/calibration", map[string]any{"corners_px": cornersOf(t, &cam)})

	got = b.post(at+"/answer", request)
	require.Equal(t, http.StatusOK, got.Code, got.Body)
	var a answerJSON
	require.NoError(t, json.Unmarshal(got.Body.Bytes(), &a))
	assert.Contains(t, a.Measured, "Range 2, in the front arc")
	require.Len(t, a.Ships, 2)
	assert.InDelta(t, 300, a.Ships[0].Y, 0.2)
	assert.Greater(t, a.Ships[0].SigmaMM, 0.5)
	require.NotEmpty(t, a.Verdicts)
	assert.Equal(t, "range", a.Verdicts[0].Key)
	assert.InDelta(t, 160, *a.Verdicts[0].DistanceMM, 1)
	require.NotEmpty(t, a.Verdicts[0].Lines)
	assert.Greater(t, len(a.Verdicts[0].Lines[0]), 10, "a line goes in pieces")
	obstructed := func(a answerJSON) string {
		for _, v := range a.Verdicts {
			if v.Key == "front_obstruction" {
				return v.Outcome + " " + v.Title
			}
		}
		return ""
	}
	assert.Contains(t, obstructed(a), "no_view", "obstacles were not marked")

	rock := func(x float64) rock {
		r := rock{Kind: "asteroid"}
		for _, d := range [][2]float64{{-60, -20}, {60, -20}, {60, 20}, {-60, 20}} {
			px, _ := cam.PixelOf(geom.Point{X: x + d[0], Y: 400 + d[1]}, 2)
			r.Outline = append(r.Outline, [2]float64{px.X, px.Y})
		}
		return r
	}
	request.AllObstacles, request.Obstacles = true, append(request.Obstacles, rock(405))
	require.NoError(t, json.Unmarshal(b.post(at+"/answer", request).Body.Bytes(), &a))
	assert.Contains(t, a.Measured, "obstructed by marked1")
	request.Obstacles[0] = rock(600)
	require.NoError(t, json.Unmarshal(b.post(at+"/answer", request).Body.Bytes(), &a))
	assert.NotContains(t, a.Measured, "obstructed by")

	got = b.post(at+"/hold", request)
	require.Equal(t, http.StatusOK, got.Code, got.Body)
	assert.JSONEq(t, `{"held":7,"judge":"/judge?from=A1&to=B1"}`, got.Body.String())
	require.NotNil(t, b.held)
	assert.True(t, b.held.Marked)
	assert.Nil(t, b.held.Play)
	assert.Equal(t, "photograph dispute.jpg", b.held.Source)
	assert.Zero(t, b.held.Located.Captured, "when it was taken is not known")
	for _, s := range b.held.Located.Scene.Ships {
		assert.Equal(t, "mark", s.Seen)
	}
	again, err := calibration.ParseTableFile(b.held.Register.File)
	require.NoError(t, err, "the ruling keeps a calibration that can be read")
	assert.InDelta(t, b.held.Table.Fx, again.Fx, 1e-6)
	assert.Equal(t, http.StatusConflict, b.post(at+"/hold", request).Code)

	b.now = b.now.Add(keptFor + time.Minute)
	assert.Equal(t, http.StatusNotFound, b.post(at+"/answer", request).Code, "after an hour nothing of it is left")
}

// A live picture keeps its own calibration and ships; a mark takes the place of the ship of its name, unless its code is read elsewhere.
func TestALivePictureIsMarked(t *testing.T) {
	b := newBench(t)
	assert.Contains(t, b.do("POST", "/api/outline/pictures?from=live", nil).Body.String(), "There is no picture of a camera")
	assert.Contains(t, b.do("POST", "/api/outline/pictures?from=held", nil).Body.String(), "Nothing is held")
	cam := tablesim.DefaultCamera(1280, 720)
	table := calibration.Table{Camera: cam, Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), CornerSigma: 0.05,
		PlacementFactor: 1, RegistrationCovariance: make([]float64, 36), PoseCovariance: make([]float64, 36)}
	raw, _, err := table.Sealed()
	require.NoError(t, err)
	ship := func(id string, x float64, seen string) engine.Ship {
		return engine.Ship{ID: id, Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: x, Y: 300}}, Seen: seen}
	}
	b.hub.Publish(live.State{Health: live.Health{Code: live.OK}, Source: "camera", Register: live.Register{File: raw},
		Play:  &live.Play{Ships: []live.PlayShip{{ID: "A2", Player: 1, Status: "destroyed"}}},
		Frame: vision.Frame{Gray: image.NewGray(image.Rect(0, 0, 1280, 720))},
		Located: vision.Located{Scene: engine.Scene{Ships: []engine.Ship{ship("A1", 200, "both"), ship("A2", 300, "edges")}},
			Ships: []vision.ShipView{{ID: "A1", Score: 0.5}, {ID: "A2"}}}})
	got := b.do("POST", "/api/outline/pictures?from=live", nil)
	require.Equal(t, http.StatusOK, got.Code, got.Body)
	var p pictureJSON
	require.NoError(t, json.Unmarshal(got.Body.Bytes(), &p))
	assert.Equal(t, "table", p.From)
	require.Len(t, p.Ships, 2)
	require.Len(t, p.Camera.Distortion, 5)
	picture := b.desk.shelf.get(p.ID, b.now)
	a, err := picture.measure(&request{From: "A1", To: "A2", Arc: "front", Ships: []mark{{"A2", "small", []try{{420, 300, 0}}}}},
		Rules{Edition: engine.Rules25, Sigmas: 3}, b.now)
	require.NoError(t, err)
	ships := a.held.Located.Scene.Ships
	require.Len(t, ships, 2)
	assert.Equal(t, "A1 both, A2 mark", ships[0].ID+" "+ships[0].Seen+", "+ships[1].ID+" "+ships[1].Seen)
	assert.Equal(t, 0.5, a.held.Located.Ships[0].Score)
	require.Len(t, a.held.Located.Ships, 2)
	require.NotEmpty(t, a.held.Result.Pairs)
	judged := a.held.State(live.Choice{From: "A1", To: "A2", Arc: engine.ArcFront})
	assert.Equal(t, "No shot: A2 is destroyed", judged.Headline().Text, "by the game that is played")
	assert.InDelta(t, 180, float64(a.held.Result.Pairs[0].Range.Distance), 1)
	_, err = picture.measure(&request{From: "A1", To: "A2", Arc: "front", Ships: []mark{{"A1", "small", []try{{420, 300, 0}}}}},
		Rules{Edition: engine.Rules25, Sigmas: 3}, b.now)
	assert.EqualError(t, err, "A1 is marked 220 mm from where its code is read: which base is it?")
	_, err = picture.measure(&request{From: "A1", To: "A2", Arc: "front", Ships: []mark{{"A1", "small", []try{{201, 300, 180}}}}},
		Rules{Edition: engine.Rules25, Sigmas: 3}, b.now)
	assert.EqualError(t, err, "A1 is marked turned by 180° from how its code is read: where is its front?")
	pixels := b.do("GET", "/api/outline/pictures/"+p.ID+"/pixels", nil)
	img, err := png.Decode(pixels.Body)
	require.NoError(t, err)
	assert.Equal(t, image.Rect(0, 0, 1280, 720), img.Bounds())
}

// Marks on a photograph must agree with the codes that it shows, however the base is named.
func TestMarksAgreeWithTheCodesOfAPhotograph(t *testing.T) {
	b, cam := newBench(t), tablesim.DefaultCamera(1920, 1080)
	read := engine.Ship{ID: "A1", Player: 1, Base: engine.Small, Seen: "both",
		Pose: geom.Pose{Point: geom.Point{X: 400, Y: 300}, Heading: 350 * geom.Degree}}
	faint := read
	faint.ID, faint.Seen, faint.Pose.Y = "B1", "edges", 700 // its code is not read
	b.desk.o.Read = func(calibration.Table, vision.Frame) ([]engine.Ship, error) { return []engine.Ship{read, faint}, nil }
	at := "/api/outline/pictures/" + b.photo(1920, 1080).ID
	require.Equal(t, http.StatusOK, b.post(at+"/calibration", map[string]any{"corners_px": cornersOf(t, &cam)}).Code)
	for _, c := range []struct {
		first try
		id    string
		want  string // "": it is measured
	}{
		{try{401, 300, 5}, "A1", ""},
		{try{400, 300, 200}, "A1", "A1 is marked turned by 150° from how its code is read: where is its front?"},
		{try{400, 300, 80}, "A3", "A3 is marked turned by 90° from how its code is read: where is its front?"},
		{try{400, 250, 0}, "A1", "A1 is marked 50 mm from where its code is read: which base is it?"},
		{try{400, 200, 80}, "A3", ""},
	} {
		got := b.post(at+"/answer", request{From: c.id, To: "B1", Arc: "front",
			Ships: []mark{{c.id, "small", []try{c.first}}, {"B1", "large", []try{{410, 520, 180}}}}})
		if c.want == "" {
			assert.Equal(t, http.StatusOK, got.Code, got.Body)
			continue
		}
		assert.NotEqual(t, http.StatusOK, got.Code)
		assert.Contains(t, got.Body.String(), c.want)
	}
}

// In a game of the first edition marks are measured by what it knows of the tokens' arcs and of which ships touch. Where a ship that the
// camera did not see there was marked, it may have moved unseen, and may touch any other.
func TestMarksAreMeasuredByTheGameOfTheFirstEdition(t *testing.T) {
	b := newBench(t)
	table := calibration.Table{Camera: tablesim.DefaultCamera(1280, 720), Layout: calibration.DefaultLayout(calibration.MatSide,
		calibration.MatSide), CornerSigma: 0.05, PlacementFactor: 1, RegistrationCovariance: make([]float64, 36),
		PoseCovariance: make([]float64, 36)}
	raw, _, err := table.Sealed()
	require.NoError(t, err)
	ships := []live.PlayShip{{ID: "A1", Player: 1, Arcs: []string{"front", "rear_aux"}}, {ID: "B1", Player: 2}, {ID: "B2", Player: 2}}
	ship := func(id string, player int, y float64) engine.Ship {
		return engine.Ship{ID: id, Player: player, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 300, Y: y}}, Seen: "both"}
	}
	b.hub.Publish(live.State{Health: live.Health{Code: live.OK}, Source: "camera", Register: live.Register{File: raw},
		Play: &live.Play{Ships: ships, Printed: live.NewPrinted(ships), Touch: &live.Touch{Ships: []string{"A1", "B1", "B2"},
			Touching: [][2]string{{"A1", "B1"}}}},
		Frame:   vision.Frame{Gray: image.NewGray(image.Rect(0, 0, 1280, 720))},
		Located: vision.Located{Scene: engine.Scene{Ships: []engine.Ship{ship("A1", 1, 300), ship("B1", 2, 340.2)}}}})
	var p pictureJSON
	require.NoError(t, json.Unmarshal(b.do("POST", "/api/outline/pictures?from=live", nil).Body.Bytes(), &p))
	picture := b.desk.shelf.get(p.ID, b.now)
	marked := func(to string, ships ...mark) (answered, *live.Restriction) {
		a, err := picture.measure(&request{From: "A1", To: to, Arc: "front", Ships: ships}, Rules{Edition: engine.Rules1e, Sigmas: 3}, b.now)
		require.NoError(t, err)
		state := a.held.State(a.choice)
		require.NotNil(t, state.Pair, state.Reason)
		return a, state.Restricted("attack")
	}
	a, no := marked("B1", mark{"A1", "small", []try{{300, 299.9, 0}, {300, 299.9, 0}}})
	assert.Equal(t, [][2]string{{"A1", "B1"}}, a.held.Touch.Touching, "the camera sees A1 there")
	require.NotNil(t, no)
	assert.Equal(t, "no attack: the two ships are touching (1e G102)", no.Text)
	assert.Contains(t, a.held.Located.Scene.Ship("A1").Arcs, "rear_aux")

	a, no = marked("B2", mark{"B2", "small", []try{{300, 259.8, 0}, {300, 259.8, 0}}})
	assert.Contains(t, a.held.Touch.May, [2]string{"B2", "A1"}, "B2 may have moved unseen")
	require.NotNil(t, no)
	assert.Equal(t, engine.Indeterminate, no.Outcome)
	assert.Equal(t, a.held.Result, mustMeasure(t, &a.held), "after a restart it gives the same")
}

// mustMeasure measures a held picture again.
func mustMeasure(t *testing.T, h *live.Held) engine.Result {
	t.Helper()
	scene := h.Scene()
	r, err := engine.Measure(&scene, h.Touch.Options(&scene, h.Sigmas))
	require.NoError(t, err)
	return r
}

// What was known of the table before the camera moved does not fit its picture, and an old picture is not marked as one of now.
func TestALivePictureIsNotMarkedByWhatNoLongerHolds(t *testing.T) {
	b := newBench(t)
	mat := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	table := calibration.Table{Camera: tablesim.DefaultCamera(1280, 720), Layout: mat, CornerSigma: 0.05,
		PlacementFactor: 1, RegistrationCovariance: make([]float64, 36), PoseCovariance: make([]float64, 36)}
	raw, _, err := table.Sealed()
	require.NoError(t, err)
	take := func(h live.Health) *httptest.ResponseRecorder {
		b.hub.Publish(live.State{Health: h, Source: "camera", Register: live.Register{File: raw}, ObstaclesWatched: true,
			Frame: vision.Frame{Gray: image.NewGray(image.Rect(0, 0, 1280, 720))},
			Located: vision.Located{Scene: engine.Scene{Ships: []engine.Ship{{ID: "A1", Player: 1, Base: engine.Small, Seen: "both"}}},
				Ships: []vision.ShipView{{ID: "A1"}}}})
		return b.do("POST", "/api/outline/pictures?from=live", nil)
	}
	for _, code := range []live.Code{live.Moved, live.LensChanged, live.MarkersLost, live.Calibrating, live.Broken} {
		got := take(live.Health{Code: code, Title: "Trouble"})
		require.Equal(t, http.StatusOK, got.Code, got.Body)
		var p pictureJSON
		require.NoError(t, json.Unmarshal(got.Body.Bytes(), &p))
		assert.Empty(t, p.From, code)
		assert.Empty(t, p.Ships, code)
		assert.False(t, p.Watched, code)
		_, register, _ := b.desk.shelf.get(p.ID, b.now).calibration()
		assert.Empty(t, register.File, code)
	}
	for _, code := range []live.Code{live.Stale, live.Frozen, live.NoCamera, live.Torn} {
		got := take(live.Health{Code: code, Title: "Old picture", Detail: "The last picture is 9 s old."})
		assert.Equal(t, http.StatusBadRequest, got.Code, code)
		assert.Contains(t, got.Body.String(), "The camera's picture is not of now: Old picture: The last picture is 9 s old.")
	}
}

// A camera that is registered again while its picture is held: marks in that picture use the calibration it was measured with.
func TestAHeldPictureIsMarkedWithItsOwnCalibration(t *testing.T) {
	b := newBench(t)
	cam := tablesim.DefaultCamera(1280, 720)
	table := calibration.Table{Camera: cam, Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), CornerSigma: 0.05,
		PlacementFactor: 1, RegistrationCovariance: make([]float64, 36), PoseCovariance: make([]float64, 36)}
	before, _, err := table.Sealed()
	require.NoError(t, err)
	pushed := table
	pushed.T[0] += 20
	after, _, err := pushed.Sealed()
	require.NoError(t, err)
	frame := vision.Frame{Gray: image.NewGray(image.Rect(0, 0, 1280, 720))}
	b.hub.Publish(live.State{Source: "camera", Register: live.Register{File: after}, Frame: frame, Held: true,
		Hold: &live.Held{Register: live.Register{File: before}, Frame: frame}})
	for _, from := range []string{"live", "held"} {
		got := b.do("POST", "/api/outline/pictures?from="+from, nil)
		require.Equal(t, http.StatusOK, got.Code, got.Body)
		var p pictureJSON
		require.NoError(t, json.Unmarshal(got.Body.Bytes(), &p))
		assert.InDelta(t, table.T[0], b.desk.shelf.get(p.ID, b.now).table.T[0], 1e-6, from)
	}
}

func TestBadRequestsOfAPhotographAreRefused(t *testing.T) {
	b := newBench(t)
	var small bytes.Buffer
	require.NoError(t, png.Encode(&small, image.NewGray(image.Rect(0, 0, 100, 400))))
	wide := append([]byte(nil), small.Bytes()...)
	copy(wide[16:24], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536 × 65536 by its header
	var cut bytes.Buffer
	noisy := image.NewGray(image.Rect(0, 0, 640, 480))
	for i := range noisy.Pix {
		noisy.Pix[i] = byte(i * i)
	}
	require.NoError(t, png.Encode(&cut, noisy))
	for says, body := range map[string][]byte{
		"not a JPEG or PNG":    []byte("GIF89a"),
		"at least 320":         small.Bytes(),
		"cut off or damaged":   cut.Bytes()[:cut.Len()/2],
		"larger than 24 MB":    make([]byte, photoBytes+1),
		"This is not a JPEG o": nil,
	} {
		got := b.do("POST", "/api/outline/pictures", body)
		assert.Equal(t, http.StatusBadRequest, got.Code)
		assert.Contains(t, got.Body.String(), says)
	}
	got := b.do("POST", "/api/outline/pictures", wide)
	assert.Equal(t, http.StatusBadRequest, got.Code, "a header that lies about its size reserves nothing")
	p := b.photo(640, 480)
	at := "/api/outline/pictures/" + p.ID
	for says, c := range map[string]struct{ path, body string }{
		"must be JSON":            {"/calibration", "{"},
		"got 1 points":            {"/calibration", `{"corners_px":[[1,2]]}`},
		"is not in the picture":   {"/calibration", `{"corners_px":[[1,2],[3,4],[5,6],[9000,1]]}`},
		"No usual lens shows":     {"/calibration", `{"corners_px":[[1,2],[2,4],[3,6],[4,8]]}`},
		"width and height must":   {"/calibration", `{"corners_px":[[100,400],[500,400],[500,100],[100,100]],"mat_mm":[-1,914]}`},
		"sigma_px: expected":      {"/calibration", `{"corners_px":[],"sigma_px":-1}`},
		"not calibrated yet":      {"/snap", `{"base":"small","x_mm":1,"y_mm":2,"heading_deg":0}`},
		"unknown key \"ship\"":    {"/answer", `{"ship":[]}`},
		"longer than 61440 bytes": {"/answer", `{"from":"` + strings.Repeat("x", bodyMost) + `"}`},
	} {
		got := b.do("POST", at+c.path, []byte(c.body))
		assert.Equal(t, http.StatusBadRequest, got.Code, "%s %s", c.path, got.Body)
		assert.Contains(t, got.Body.String(), says)
	}
	for range keptMost {
		b.photo(640, 480)
	}
	assert.Equal(t, http.StatusNotFound, b.do("GET", at, nil).Code, "only the last few are kept")
	assert.Equal(t, http.StatusOK, b.do("GET", "/outline", nil).Code)
	assert.Equal(t, http.StatusOK, b.do("GET", "/outline/camera.js", nil).Code)
	assert.Equal(t, http.StatusNotFound, b.do("GET", "/outline/handlers.go", nil).Code)
}

func TestColoursOfAPhotographAreKept(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 400, 400))
	m.Set(3, 5, color.RGBA{10, 20, 30, 255})
	var buf bytes.Buffer
	require.NoError(t, png.Encode(&buf, m))
	f, err := readPhoto(buf.Bytes(), "x.png")
	require.NoError(t, err)
	assert.Equal(t, color.RGBA{10, 20, 30, 255}, f.Color.At(3, 5))
	assert.Equal(t, color.GrayModel.Convert(color.RGBA{10, 20, 30, 255}), f.Gray.At(3, 5))
}

// What a page writes into an address is a name, never a path.
func TestPhotographsAreNamedForPeople(t *testing.T) {
	b := newBench(t)
	var buf bytes.Buffer
	require.NoError(t, jpeg.Encode(&buf, image.NewGray(image.Rect(0, 0, 400, 400)), nil))
	got := b.do("POST", "/api/outline/pictures?name=..%2F..%2Fetc%2Fpasswd", buf.Bytes())
	assert.Contains(t, got.Body.String(), `"photograph passwd"`)
}

// newMarkerBench returns a bench whose desk sees markers.
func newMarkerBench(t *testing.T) *bench {
	d, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	if err != nil {
		t.Skip("markers are detected by OpenCV: ", err)
	}
	t.Cleanup(func() { d.Close() })
	b := newBench(t)
	b.desk.o.Markers = d
	return b
}

// A mirrored photograph is refused: its arcs would be on the wrong sides.
func TestAMirroredPhotographIsRefused(t *testing.T) {
	b := newMarkerBench(t)
	f, _, err := tablesim.RandomTable(3, 1280, 720).Render()
	require.NoError(t, err)
	var buf bytes.Buffer
	require.NoError(t, jpeg.Encode(&buf, fiducial.Mirror(f.Gray), &jpeg.Options{Quality: 95}))
	got := b.do("POST", "/api/outline/pictures", buf.Bytes())
	assert.Equal(t, http.StatusBadRequest, got.Code)
	assert.Contains(t, got.Body.String(), "The picture is mirrored")
}

// The mat's printed markers calibrate a photograph, where this program can see them.
func TestAPhotographIsCalibratedByItsMarkers(t *testing.T) {
	b := newMarkerBench(t)
	table := tablesim.RandomTable(3, 1920, 1080)
	f, _, err := table.Render()
	require.NoError(t, err)
	var buf bytes.Buffer
	require.NoError(t, jpeg.Encode(&buf, f.Gray, &jpeg.Options{Quality: 95}))
	var p pictureJSON
	require.NoError(t, json.Unmarshal(b.do("POST", "/api/outline/pictures", buf.Bytes()).Body.Bytes(), &p))
	assert.Equal(t, "markers", p.From)
	assert.Less(t, *p.WorstMM, 1.0)
	known, _, _ := b.desk.shelf.get(p.ID, b.now).calibration()
	for _, at := range []geom.Point{{X: 100, Y: 100}, {X: 457, Y: 457}, {X: 800, Y: 500}} {
		px, _ := table.Camera.PixelOf(at, 4)
		got, ok := known.PointAt(px, 4)
		require.True(t, ok)
		assert.Less(t, float64(got.Distance(at)), 1.2)
	}
}
