package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
)

// In the first edition the range is decided where contact is not: the answer, its doubts and
// the judge's page say so.
func TestContactThatIsNotDecidedIsADoubt(t *testing.T) {
	c := newCourtroom(t)
	c.change(func(v *live.State) { v.Located.Scene.Rules = engine.Rules1e; standAt(43.3, 0.1)(v) })
	c.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	var state struct {
		Answer struct {
			Explain, Live string
			Doubts        []struct{ Question, Text string }
		}
	}
	answer := ask(c.server, "GET", "/api/state", "", network, "")
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &state))
	require.Contains(t, answer.Body.String(), `"contact":"too_close"`)
	assert.Contains(t, state.Answer.Explain, "Whether the ships are in contact is too close to call.")
	assert.NotContains(t, state.Answer.Live, "ships are in contact")
	require.Len(t, state.Answer.Doubts, 1)
	assert.Equal(t, "Whether it may attack", state.Answer.Doubts[0].Question)
	assert.Contains(t, state.Answer.Doubts[0].Text, "may be in contact")
	c.freeze(t)
	held := c.do("GET", "/api/held?from=A1&to=B1&arc=front", "")
	require.Equal(t, http.StatusOK, held.Code)
	assert.Contains(t, held.Body.String(), "If they are in contact, it depends on whether one overlapped the other")
}

// After a maneuver that overlaps a ship the two touch, and the preview says that there is no
// attack, and not perhaps.
func TestAFirstEditionOverlapIsPreviewedAsTouching(t *testing.T) {
	f := newFakeTable(t)
	f.change(func(state *live.State) { state.ObstaclesWatched = true; state.Located.Scene.Rules = engine.Rules1e })
	status, got, text := preview(t, serve(t, f).URL, `{"ship":"A1","maneuver":"straight 3"}`)
	require.Equal(t, http.StatusOK, status, text)
	require.Contains(t, texts(got), "no: It ends touching B1.")
	seen := 0
	for _, row := range append(at(got, "after", "targets", "list").([]any), at(got, "after", "incoming").([]any)...) {
		if id, _ := row.(map[string]any)["id"].(string); id != "B1" && row.(map[string]any)["from"] != "B1" {
			continue
		}
		seen++
		assert.Equal(t, "yes", at(row, "no_attack", "outcome"))
		assert.Equal(t, "no attack: the two ships are touching (1e G102)", at(row, "no_attack", "text"))
	}
	assert.Equal(t, 2, seen, text)
}

// G98: a boost ends in an overlap with no ship, so that it makes no ships touch in the first
// edition, however near they stand to each other then.
func TestAFirstEditionBoostIntoContactIsNoTouch(t *testing.T) {
	f := newFakeTable(t)
	f.change(func(v *live.State) {
		v.ObstaclesWatched = true
		s := &v.Located.Scene
		s.Rules = engine.Rules1e
		s.Ship("A1").Pose = geom.Pose{Point: geom.Point{X: 300, Y: 300}}
		s.Ship("B1").Pose = geom.Pose{Point: geom.Point{X: 300, Y: 423.3}} // 0.1 mm between the guides at its end
	})
	status, got, text := preview(t, serve(t, f).URL, `{"ship":"A1","action":"boost straight"}`)
	require.Equal(t, http.StatusOK, status, text)
	require.NotNil(t, at(got, "after"), text)
	seen := 0
	for _, row := range at(got, "after", "targets", "list").([]any) {
		if at(row, "id") == "B1" {
			seen++
			assert.Nil(t, at(row, "no_attack"), text)
		}
	}
	assert.Equal(t, 1, seen, text)
}

// Ships that touch outside an arc are at range 0, and the attack range in the arc is another:
// every place that says both says why.
func TestContactOutsideTheArcIsExplained(t *testing.T) {
	c := newCourtroom(t)
	c.change(func(v *live.State) {
		v.Located.Scene.Rules = engine.Rules20
		standAt(41.6, 0)(v) // B1's guides touch A1's front
		measured(v)
	})
	v := c.hub.Newest()
	for i := range v.Result.Pairs {
		p := &v.Result.Pairs[i]
		if p.From != "A1" || p.To != "B1" {
			continue
		}
		require.Equal(t, engine.Yes, p.Contact)
		explained := 0
		for k := range p.Arcs {
			a := &p.Arcs[k]
			says := a.Attack != nil && a.Attack.Possible[0] > 0
			if says {
				explained++
			}
			assert.Equal(t, says, strings.Contains(a.Explain(engine.Rules20, p), "in contact outside the arc"), a.Arc)
			c.choose(live.Choice{From: "A1", To: "B1", Arc: a.Arc})
			state := ask(c.server, "GET", "/api/state", "", network, "").Body.String()
			assert.Equal(t, says, strings.Contains(state, "The ships are in contact outside the "), a.Arc)
		}
		assert.Positive(t, explained, "an arc in which they do not touch")
	}
}
