package web_test

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
)

// A ruling decides: what the measurement leaves open, the judge chooses among what is
// possible, and the server takes nothing less.
func TestARulingDecides(t *testing.T) {
	const open = `{"held":HELD,"from":"A2","to":"B2","arc":"front","decision":`
	for name, line := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"as measured decides nothing": {open + `"as_measured"}`, 400,
			"This ruling decides nothing: the range (range 2 or 3) is left open. Choose one of the possible results."},
		"one of the possible results": {open + `"decided","ruled":{"range":"2"},"judge":"Jo"}`, 201,
			`"title":"Range 2, in the front arc, obstacles are not watched"`},
		"with the reason suggested": {open + `"decided","ruled":{"range":"3"},"judge":"Jo"}`, 201,
			`"reason":"Too close to measure; ruled by Jo."`},
		"or another one": {open + `"decided","ruled":{"range":"3"},"reason":"the ruler says so"}`, 201,
			`ruled where the measurement does not decide (range 2 or 3, in the front arc, obstacles are not watched) by Jo. Reason: the ruler ` +
				`says so"`},
		"none of the possible results": {open + `"decided","ruled":{"range":"1"}}`, 400,
			`The range was measured as range 2 or 3, which excludes "1": ruling that means overruling it.`},
		"what is not open": {open + `"decided","ruled":{"range":"2","in_arc":"no"}}`, 400,
			`The arc is not open: ruling "no" against the measurement means overruling it.`},
		"nothing chosen": {open + `"decided"}`, 400, "decides nothing"},
		"overruled, and the range is left open": {open + `"overruled","ruled":{"in_arc":"no"},"reason":"it was bumped"}`, 400,
			"the range (range 2 or 3) is left open"},
		"overruled, all of it": {open + `"overruled","ruled":{"range":"1"},"reason":"it was bumped"}`, 201,
			`"title":"Range 1, in the front arc`},
		"where nothing is open": {`{"held":HELD,"from":"A1","to":"B1","arc":"front","decision":"decided","ruled":{"range":"2"}}`,
			400, "The measurement leaves nothing open"},
		"a word that is none": {open + `"overruled","ruled":{"range":"2","may_attack":"maybe"},"reason":"x"}`, 400,
			`Whether it may attack cannot be ruled to be "maybe"; expected yes or no.`},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourtroom(t)
			c.freeze(t)
			answer := c.do("POST", "/api/rulings", c.sending(line.body))
			assert.Equal(t, line.status, answer.Code, answer.Body)
			assert.Contains(t, answer.Body.String(), line.says)
			state := ask(c.server, "GET", "/api/state", "", network, "").Body.String()
			assert.Equal(t, line.status == 201, !strings.Contains(state, `"ruling":null`), "only what decides is announced")
		})
	}
}

// Each kind of open question is offered with its possible results, and moot is what does not
// matter any more.
func TestWhatAMeasurementLeavesOpen(t *testing.T) {
	atTheArc := func(state *live.State) { // B1 a hair from the edge of A1's front arc, at range 1
		s := &state.Located.Scene
		s.Ships = append([]engine.Ship(nil), s.Ships...)
		for i := range s.Ships {
			if s.Ships[i].ID == "B1" {
				profile := engine.Nominal()
				edge := 90 * math.Tan(float64(profile.HalfAngle(s.Rules, engine.Small)))
				s.Ships[i].Pose = geom.Pose{Point: geom.Point{X: 300 + edge + 20, Y: 300 + 90 - 20}}
			}
		}
		measured(state)
	}
	rockAtTheLine := func(state *live.State) {
		withRock(state)
		p, err := engine.MeasurePair(&state.Located.Scene, "A1", "B1", engine.Options{})
		require.NoError(t, err)
		middle := p.Arc(engine.ArcFront).Attack.Lines[0][0].Lerp(p.Arc(engine.ArcFront).Attack.Lines[0][1], 0.5)
		state.Located.Scene.Obstacles[0].Outline = []geom.Point{middle, middle.Add(geom.Point{X: 40, Y: -20}),
			middle.Add(geom.Point{X: 40, Y: 20})}
		measured(state)
	}
	for _, c := range []struct {
		name    string
		change  func(*live.State)
		open    string
		decides live.Ruled
	}{
		{"the arc", atTheArc, "in_arc yes no", live.Ruled{InArc: "yes"}},
		{"out of the arc nothing else matters", atTheArc, "in_arc yes no", live.Ruled{InArc: "no"}},
		{"the obstruction", rockAtTheLine, "obstructed yes no choose", live.Ruled{Obstructed: "no"}},
		{"contact in 2.0, with what follows from it", func(state *live.State) {
			state.Located.Scene.Rules = engine.Rules20
			standAt(41.6,
				1)(state)
		},
			"range 0 1", live.Ruled{Range: "0"}},
		{"contact in 1e, whose history nobody saw", func(state *live.State) { state.Located.Scene.Rules = engine.Rules1e; standAt(39, 0)(state) },
			"may_attack yes no", live.Ruled{MayAttack: "no"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			court := newCourtroom(t)
			court.change(c.change)
			court.freeze(t)
			var held struct {
				Open []struct {
					Key      string
					Possible []struct{ Value string }
				}
				Reasons []string
			}
			answer := court.do("GET", "/api/held?from=A1&to=B1&arc=front", "")
			require.Equal(t, http.StatusOK, answer.Code)
			require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &held))
			var open []string
			for _, q := range held.Open {
				words := []string{q.Key}
				for _, p := range q.Possible {
					words = append(words, p.Value)
				}
				open = append(open, strings.Join(words, " "))
			}
			assert.Equal(t, c.open, strings.Join(open, "; "))
			assert.Equal(t, "Too close to measure; ruled by the judge.", held.Reasons[0])

			h := court.hub.Newest().Hold
			choice := live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront}
			_, err := live.NewRuling(h, live.RuleRequest{Choice: choice, Decision: live.AsMeasured})
			require.ErrorContains(t, err, "This ruling decides nothing")
			r, err := live.NewRuling(h, live.RuleRequest{Choice: choice, Decision: live.Decided, Ruled: c.decides})
			require.NoError(t, err)
			for _, word := range []string{" or ", "too close", "perhaps"} {
				assert.NotContains(t, r.Title, word)
			}
		})
	}
	court := newCourtroom(t)
	court.change(func(state *live.State) { state.Located.Scene.Rules = engine.Rules20; standAt(41.6, 1)(state) })
	court.freeze(t)
	for ruled, title := range map[string]string{"0": "Contact (range 0), in the front arc, obstacles are not watched, no attack: the " +
		"target is at range 0 (2.0 G73)", "1": "Range 1, in the front arc, obstacles are not watched"} {
		r, err := live.NewRuling(court.hub.Newest().Hold, live.RuleRequest{Choice: live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront},
			Decision: live.Decided, Ruled: live.Ruled{Range: ruled}})
		require.NoError(t, err)
		assert.Equal(t, title, r.Title)
	}
}

// Whether the rules forbid an attack is open by the arc that is ruled, not by the one that was
// measured, and no ruling says perhaps.
func TestNoRulingSaysPerhaps(t *testing.T) {
	const open = `{"held":HELD,"from":"A1","to":"B1","arc":"front","reason":"x","decision":`
	for name, line := range map[string]struct {
		body   string
		rock   bool
		status int
		says   string
	}{
		"out of the arc there is no attack": {open + `"as_measured"}`, false, 201,
			`"title":"Range 1, not in the front arc, obstacles are not watched"`},
		"ruled to be in the arc the attack is open": {open + `"overruled","ruled":{"in_arc":"yes"}}`, false, 400,
			"whether it may attack (perhaps no attack"},
		"and is ruled too": {open + `"overruled","ruled":{"in_arc":"yes","may_attack":"no"}}`, false, 201,
			`"title":"Range 1, in the front arc, obstacles are not watched, it may not attack"`},
		"range 2 is no contact": {open + `"overruled","ruled":{"range":"2","in_arc":"yes"}}`, false, 201,
			`"title":"Range 2, in the front arc, obstacles are not watched"`},
		"with obstacles the obstruction is open": {open + `"overruled","ruled":{"in_arc":"yes","may_attack":"yes"}}`, true, 400,
			"the obstruction (no line was measured in this arc) is left open"},
		"and with all of it something is decided": {open + `"overruled","ruled":{"in_arc":"yes","may_attack":"yes","obstructed":"no"}}`, true,
			201, `"title":"Range 1, in the front arc, not obstructed, it may attack"`},
		"out of the arc may_attack is no question": {open + `"decided","ruled":{"may_attack":"yes"}}`, false, 400,
			"The measurement leaves nothing open"},
		"nor does it matter against another distance": {open + `"overruled","ruled":{"range":"2"}}`, false, 201,
			`"title":"Range 2, not in the front arc, obstacles are not watched"`},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourtroom(t)
			c.change(func(state *live.State) {
				state.Located.Scene.Rules = engine.Rules1e
				standAt(0, 0)(state)
				for i := range state.Located.Scene.Ships {
					if state.Located.Scene.Ships[i].ID == "B1" {
						state.Located.Scene.Ships[i].Pose = geom.Pose{Point: geom.Point{X: 340, Y: 290}} // in contact, next to A1
					}
				}
				measured(state)
				if line.rock {
					withRock(state)
				}
			})
			c.freeze(t)
			answer := c.do("POST", "/api/rulings", c.sending(line.body))
			assert.Equal(t, line.status, answer.Code, answer.Body)
			assert.Contains(t, answer.Body.String(), line.says)
			if answer.Code == http.StatusCreated {
				var r struct{ Title, Text string }
				require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &r))
				assert.NotContains(t, r.Title+r.Text, "perhaps")
			}
		})
	}
}

// What the measurement leaves possible is decided, and not recorded as if a judge had ruled
// against it.
func TestWhatIsPossibleIsDecidedNotOverruled(t *testing.T) {
	c := newCourtroom(t)
	c.freeze(t)
	const open = `{"held":HELD,"from":"A2","to":"B2","arc":"front","reason":"by hand","decision":`
	for _, ruled := range []string{`{"range":"2"}`, `{"range":"3","in_arc":"yes"}`} {
		answer := c.do("POST", "/api/rulings", c.sending(open+`"overruled","ruled":`+ruled+`}`))
		assert.Equal(t, http.StatusBadRequest, answer.Code, ruled)
		assert.Contains(t, answer.Body.String(), "decide what is open instead of overruling")
	}
	answer := c.do("POST", "/api/rulings", c.sending(open+`"decided","ruled":{"range":"3","in_arc":"yes"}}`))
	assert.Equal(t, http.StatusCreated, answer.Code, answer.Body)
}
