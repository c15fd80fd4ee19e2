package web_test

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
	"sightline/vision"
)

// preview asks for a move and returns the status and what was answered.
func preview(t *testing.T, url, body string) (int, map[string]any, string) {
	t.Helper()
	res, err := http.Post(url+"/api/try", "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	var out map[string]any
	_ = json.Unmarshal(text, &out)
	return res.StatusCode, out, string(text)
}

// texts are the sentences of an answer with their outcomes.
func texts(v map[string]any) (out []string) {
	lines, _ := v["lines"].([]any)
	for _, l := range lines {
		out = append(out, at(l, "outcome").(string)+": "+at(l, "text").(string))
	}
	return out
}

func TestAManeuverIsTriedBeforeItIsMade(t *testing.T) {
	server := serve(t, newFakeTable(t)) // where no one watches obstacles
	status, got, text := preview(t, server.URL, `{"ship":"A1","maneuver":"Bank left 1"}`)
	require.Equal(t, http.StatusOK, status, text)
	assert.Equal(t, "bank left 1", got["move"])
	assert.Contains(t, texts(got), "yes: It can be executed in full (obstacles are not watched).")
	assert.Contains(t, texts(got), "no_view: Obstacles on the way are not watched.", "what nobody watches is not called clear")
	assert.NotEmpty(t, got["template_mm"])

	// The end is the engine's, and so are the ranges after it.
	scene := knownScene()
	moved, err := move.Execute(&scene, "A1", move.Maneuver{Bearing: move.BankTurn, Speed: 1, Left: true}, engine.Options{})
	require.NoError(t, err)
	end := at(got, "ends").([]any)[0]
	assert.InDelta(t, moved.Final.X, at(end, "x_mm"), 0.001)
	assert.InDelta(t, 315, at(end, "heading_deg"), 0.001)
	scene.Ships[0].Pose = moved.Final
	pair, err := engine.MeasurePair(&scene, "A1", "B1", engine.Options{})
	require.NoError(t, err)
	for _, row := range at(got, "after", "targets", "list").([]any) {
		if at(row, "id") == "B1" {
			assert.InDelta(t, float64(pair.Range.Distance), at(row, "distance_mm"), 0.001)
		}
	}
}

func TestWhatATriedMoveMeetsIsSaidInWords(t *testing.T) {
	for _, c := range []struct {
		rule, body string
		scene      func(*engine.Scene)
		want       []string
		after      string // why nothing is measured after it; "" when it is
	}{
		{"a ship in the way sends it back (G98)", `{"ship":"A1","maneuver":"straight 3"}`, func(s *engine.Scene) {},
			[]string{"no: It would overlap B1 and moves back along the template.", "no: It ends touching B1."}, ""},
		{"over the edge it flees (G201)", `{"ship":"A1","maneuver":"turn left 3"}`,
			func(s *engine.Scene) { s.Ships[0].Pose = geom.Pose{Point: geom.Point{X: 60, Y: 400}} },
			[]string{"no: It leaves the play area over the left edge: the ship flees."}, "the ship flees"},
		{"a rock under the template is named (G162)", `{"ship":"A1","maneuver":"straight 2"}`, func(s *engine.Scene) {
			s.ObstaclesUnseen = false
			s.Obstacles = []engine.Obstacle{{ID: "rock1", Kind: "asteroid", Pose: geom.Pose{Point: geom.Point{X: 300, Y: 345}},
				Outline: []geom.Point{{X: -8, Y: -8}, {X: 8, Y: -8}, {X: 8, Y: 8}, {X: -8, Y: 8}}}}
		}, []string{"no: rock1 lies under the template."}, ""},
		{"a roll names each of its ends", `{"ship":"A1","action":"barrel-roll left"}`, func(s *engine.Scene) {},
			[]string{"yes: Forward: possible", "yes: Middle: possible", "yes: Backward: possible"}, ""},
		{"a drop moves no ship", `{"ship":"A1","drop":"straight 1"}`, func(s *engine.Scene) {},
			[]string{"yes: It lies free of ships."}, "the ship stays where it is"},
		{"what is too close to call is not called", `{"ship":"A1","maneuver":"straight 1"}`, func(s *engine.Scene) {
			b1 := &s.Ships[3]
			for y := 415.0; y < 440; y += 0.1 { // the guides count: where exactly is the engine's affair
				b1.Pose = geom.Pose{Point: geom.Point{X: 300, Y: y}}
				r, err := move.Execute(s, "A1", move.Maneuver{Bearing: move.Straight, Speed: 1}, engine.Options{})
				if err == nil && r.FullyExecuted && r.Outcome == engine.Indeterminate {
					return
				}
			}
		}, []string{"too_close: Whether it can be executed in full is too close to call."}, "where it ends is too close to call: overlapping B1"},
		{"nor is it where it more likely overlaps", `{"ship":"A1","maneuver":"straight 1"}`, func(s *engine.Scene) {
			b1 := &s.Ships[3]
			for y := 440.0; y > 415; y -= 0.1 {
				b1.Pose = geom.Pose{Point: geom.Point{X: 300, Y: y}}
				r, err := move.Execute(s, "A1", move.Maneuver{Bearing: move.Straight, Speed: 1}, engine.Options{})
				if err == nil && !r.FullyExecuted && r.Outcome == engine.Indeterminate {
					return
				}
			}
		}, []string{"too_close: Whether it can be executed in full is too close to call.", "too_close: It may end touching B1."},
			"where it ends is too close to call: overlapping B1"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			f := newFakeTable(t)
			f.change(func(state *live.State) { state.ObstaclesWatched = true; c.scene(&state.Located.Scene) })
			status, got, text := preview(t, serve(t, f).URL, c.body)
			require.Equal(t, http.StatusOK, status, text)
			for _, want := range c.want {
				assert.Contains(t, texts(got), want)
			}
			assert.Equal(t, c.after, got["why_nothing_after"])
			assert.Equal(t, c.after == "", got["after"] != nil)
		})
	}
}

// What a tried move says of its end is what the list of ranges after it says: a ship that
// it ends touching is at range 0, however unsure the camera is, and none is counted as in
// arc beyond what attacks reach.
func TestATriedMoveDoesNotContradictItself(t *testing.T) {
	f := newFakeTable(t)
	f.change(func(state *live.State) {
		state.ObstaclesWatched = true
		s := &state.Located.Scene
		for i := range s.Ships {
			switch s.Ships[i].ID {
			case "A1":
				s.Ships[i].Pose = geom.Pose{Point: geom.Point{X: 300, Y: 300}}
			case "B1": // in the way
				s.Ships[i].Pose = geom.Pose{Point: geom.Point{X: 300, Y: 430}, Heading: 0.3}
			case "B2": // in both front arcs, at range 3 of the end
				s.Ships[i].Pose = geom.Pose{Point: geom.Point{X: 400, Y: 650}, Heading: math.Pi}
			case "B3": // in both front arcs, beyond range 3
				s.Ships[i].Pose = geom.Pose{Point: geom.Point{X: 200, Y: 860}, Heading: math.Pi}
			}
		}
	})
	status, got, text := preview(t, serve(t, f).URL, `{"ship":"A1","maneuver":"straight 3"}`)
	require.Equal(t, http.StatusOK, status, text)
	require.Contains(t, texts(got), "no: It ends touching B1.")
	fronts := map[string]bool{}
	for _, row := range at(got, "after", "targets", "list").([]any) {
		id := at(row, "id").(string)
		if id == "B1" {
			assert.Equal(t, "Contact (range 0)", at(row, "title"))
			assert.Equal(t, "0", at(row, "band"))
			assert.Equal(t, "yes", at(row, "outcome"))
		}
		for _, a := range at(row, "arcs").([]any) {
			if at(a, "arc") == "front" {
				fronts[id] = true
				if id == "B1" {
					assert.Equal(t, "Contact (range 0)", at(a, "attack"))
				}
			}
		}
	}
	assert.True(t, fronts["B1"] && fronts["B2"], "%v", fronts)
	assert.False(t, fronts["B3"], "beyond range 3")
	var incoming []any
	for _, i := range at(got, "after", "incoming").([]any) {
		incoming = append(incoming, at(i, "from"))
	}
	assert.Contains(t, incoming, "B2")
	assert.NotContains(t, incoming, "B3", "beyond range 3")
}

// A ship that moves or is hidden may stand in the way: nothing that it could change is
// told for sure.
func TestATriedMoveIsNotSureOfWhatAnUncountedShipMayChange(t *testing.T) {
	for _, c := range []struct {
		rule    string
		state   vision.TrackState
		ship    string
		body    string
		want    []string
		never   string // the beginning of no line
		after   bool
		outcome any // of move_result
	}{
		{"a hand over the ship in the way turns no no into a yes", vision.Hidden, "B1", `{"ship":"A1","maneuver":"straight 3"}`,
			[]string{"no_view: Whether it can be executed in full is not seen: B1 has not been seen for 1 s.",
				"no_view: B1 has not been seen for 1 s: it may stand in the way."}, "yes: It can", false, "no_view"},
		{"nor does lifting it", vision.Lifted, "B1", `{"ship":"A1","maneuver":"straight 3"}`,
			[]string{"no_view: Whether it can be executed in full is not seen: B1 is not in its place any more."}, "yes: It can", false, "no_view"},
		{"nor moving it", vision.Moving, "B1", `{"ship":"A1","maneuver":"straight 3"}`,
			[]string{"no_view: Whether it can be executed in full is not seen: B1 is moving."}, "yes: It can", false, "no_view"},
		{"a ship that settles is not counted yet", vision.Settling, "B1", `{"ship":"A1","maneuver":"straight 3"}`,
			[]string{"no_view: B1 was still for less than half a second: it may stand in the way."}, "yes: It can", false, "no_view"},
		{"one that is far away leaves the answer", vision.Hidden, "B3", `{"ship":"A1","maneuver":"straight 1"}`,
			[]string{"yes: It can be executed in full.", "no_view: B3 has not been seen for 1 s: it is not counted."},
			"no_view: Whether", true, "yes"},
		{"what meets a ship that is seen stays met", vision.Hidden, "A3", `{"ship":"A1","maneuver":"straight 3"}`,
			[]string{"no: It would overlap B1 and moves back along the template."}, "yes: It can", true, "yes"},
		{"a boost to where it may stand is not seen", vision.Hidden, "B1", `{"ship":"A1","action":"boost straight"}`,
			[]string{"no_view: Straight: not seen (B1 has not been seen for 1 s)"}, "yes: ", false, "no_view"},
		{"a device may lie under it", vision.Hidden, "A2", `{"ship":"A1","drop":"straight 1"}`,
			[]string{"no_view: Whether it lies free of ships is not seen: A2 has not been seen for 1 s."}, "yes: It lies", false, "no_view"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			f := newFakeTable(t)
			f.change(func(state *live.State) {
				scene := state.Located.Scene
				scene.Ships[1].Pose.Point = geom.Point{X: 300, Y: 200} // A2, behind A1
				if strings.Contains(c.body, "boost") {
					scene.Ships[3].Pose.Y = 440 // B1, 20 mm ahead of the end
				}
				*state = followedView(t, map[string]vision.TrackState{c.ship: c.state})
				state.Located.Scene, state.ObstaclesWatched = scene, true
				for i := range state.Tracks {
					state.Tracks[i].Ship = scene.Ships[i]
				}
			})
			status, got, text := preview(t, serve(t, f).URL, c.body)
			require.Equal(t, http.StatusOK, status, text)
			for _, want := range c.want {
				assert.Contains(t, texts(got), want)
			}
			for _, line := range texts(got) {
				assert.False(t, strings.HasPrefix(line, c.never), line)
			}
			assert.Equal(t, c.after, got["after"] != nil, got["why_nothing_after"])
			assert.Equal(t, c.outcome, at(got, "move_result", "outcome"))
			full, inFull := at(got, "move_result", "fully_executed"), at(got, "move_result", "in_full")
			assert.Equal(t, inFull == "yes", full)
			if strings.Contains(c.body, "maneuver") && c.outcome == "no_view" {
				assert.Equal(t, "no_view", inFull, "fully_executed claims no more than the outcome")
			}
			if c.after {
				want := []any{}
				if c.ship == "B3" {
					want = []any{"B3 has not been seen for 1 s"}
				}
				assert.Equal(t, want, at(got, "after", "uncounted"), "an arc that is empty of all others may hold an enemy that is not seen")
			}
		})
	}
}

func TestAMoveIsNotTriedWhereItMayNotBe(t *testing.T) {
	f := newFakeTable(t)
	server := serve(t, f)
	for _, c := range []struct {
		rule, body string
		change     func(*live.State)
		status     int
	}{
		{"no such maneuver", `{"ship":"A1","maneuver":"bank left 4"}`, nil, http.StatusBadRequest},
		{"a ship that is not seen", `{"ship":"A9","maneuver":"bank left 1"}`, nil, http.StatusConflict},
		{"no such ship", `{"ship":"Z9","maneuver":"bank left 1"}`, nil, http.StatusBadRequest},
		{"not a ship's name", `{"ship":"a1","maneuver":"bank left 1"}`, nil, http.StatusBadRequest},
		{"two moves at once", `{"ship":"A1","maneuver":"bank left 1","drop":"straight 1"}`, nil, http.StatusBadRequest},
		{"nothing", `{"ship":"A1"}`, nil, http.StatusBadRequest},
		{"no such end", `{"ship":"A1","action":"barrel-roll left","option":"sideways"}`, nil, http.StatusBadRequest},
		{"the judge measures", `{"ship":"A1","maneuver":"bank left 1"}`, func(state *live.State) { state.Policy.Measuring = live.MeasuringJudge },
			http.StatusForbidden},
		{"it was not declared", `{"ship":"A1","maneuver":"bank left 1"}`,
			func(state *live.State) { state.Policy.Measuring = live.MeasuringEdition }, http.StatusForbidden},
		{"another was declared", `{"ship":"A1","maneuver":"bank left 1"}`, func(state *live.State) {
			state.Policy = *policyOf(live.MeasuringEdition, &live.Declaration{Doing: live.DoManeuver, Ship: "A1", Move: "bank right 1"})
		}, http.StatusForbidden},
		{"it was declared", `{"ship":"A1","maneuver":"bank left 1"}`, func(state *live.State) {
			state.Policy = *policyOf(live.MeasuringEdition, &live.Declaration{Doing: live.DoManeuver, Ship: "A1", Move: "bank left 1"})
		}, http.StatusOK},
		{"no camera", `{"ship":"A1","maneuver":"bank left 1"}`, func(state *live.State) {
			state.Policy, state.Health = live.Policy{}, live.Health{Code: live.NoCamera, Title: "No camera"}
		}, http.StatusServiceUnavailable},
	} {
		if c.change != nil {
			f.change(c.change)
		}
		status, got, text := preview(t, server.URL, c.body)
		assert.Equal(t, c.status, status, "%s: %s", c.rule, text)
		if status == http.StatusOK {
			assert.Nil(t, got["after"], "the edition measures no ranges after a move before it is made")
		}
	}
}

// Where the players keep the edition's rules, a declared move tells what is decided and
// what is too close, and not by how much.
func TestADeclaredMoveTellsNoMillimetresThatTheRulesDoNotMeasure(t *testing.T) {
	for body, d := range map[string]live.Declaration{
		`{"ship":"A1","maneuver":"straight 2"}`:     {Doing: live.DoManeuver, Ship: "A1", Move: "straight 2"},
		`{"ship":"A1","action":"barrel-roll left"}`: {Doing: live.DoAction, Ship: "A1", Move: "barrel-roll left"},
		`{"ship":"A1","action":"boost straight"}`:   {Doing: live.DoAction, Ship: "A1", Move: "boost straight"},
		`{"ship":"A1","drop":"launch straight 5"}`:  {Doing: live.DoDrop, Ship: "A1", Move: "launch straight 5"},
	} {
		f := newFakeTable(t)
		server := serve(t, f)
		_, free, text := preview(t, server.URL, body)
		require.Regexp(t, `by [\d.]+ mm`, free["nearest"], "free tells it: %s", text)
		require.NotNil(t, at(free, "move_result", "margin_mm"))

		f.change(func(state *live.State) { state.Policy = *policyOf(live.MeasuringEdition, &d) })
		status, got, text := preview(t, server.URL, body)
		require.Equal(t, http.StatusOK, status, text)
		assert.Equal(t, texts(free), texts(got), "what is decided is told")
		assert.Empty(t, got["nearest"])
		assert.Nil(t, at(got, "move_result", "margin_mm"))
		assert.Zero(t, at(got, "move_result", "sigma_mm"))
		assert.NotRegexp(t, `\d mm`, text)
	}
}
