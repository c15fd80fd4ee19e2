package web_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/hardware"
	"sightline/vision"
)

// What the three agreements let be measured, as the rules' own sentences (G80 to G94).
// A1 and A2 are player 1's, B1 and B2 player 2's.
func TestWhatMayBeMeasuredWhen(t *testing.T) {
	attack := &live.Declaration{Doing: live.DoAttack, Ship: "A1"}
	lock := &live.Declaration{Doing: live.DoLock, Ship: "A1"}
	lockB1 := &live.Declaration{Doing: live.DoLock, Ship: "A1", Target: "B1"}
	ability := &live.Declaration{Doing: live.DoAbility, Ship: "A1"}
	bank := &live.Declaration{Doing: live.DoManeuver, Ship: "A1", Move: "bank left 1"}
	const nothing, rangeOnly, all = "nothing", "range", "range and arcs"
	first, second, third := engine.Rules1e, engine.Rules20, engine.Rules25
	for _, c := range []struct {
		rule      string
		measuring live.Measuring
		edition   engine.Rules
		declared  *live.Declaration
		from, to  string
		want      string
	}{
		{"free: everything, any time", live.MeasuringFree, first, nil, "A1", "B1", all},
		{"an agreement that nobody made is free", "", third, nil, "B1", "A1", all},
		{"judge: players measure nothing", live.MeasuringJudge, third, nil, "A1", "B1", nothing},
		{"judge: a declaration opens nothing", live.MeasuringJudge, third, attack, "A1", "B1", nothing},
		{"a word that is no agreement opens nothing", "sometimes", third, attack, "A1", "B1", nothing},

		{"G80: only when the rules let them", live.MeasuringEdition, first, nil, "A1", "B1", nothing},
		{"nothing is declared in 2.0", live.MeasuringEdition, second, nil, "A1", "B1", nothing},
		{"nothing is declared in 2.5", live.MeasuringEdition, third, nil, "A1", "B1", nothing},

		{"G81, G85: the attacker measures to an enemy and checks its arc", live.MeasuringEdition, first, attack, "A1", "B1", all},
		{"G85: to any number of enemies", live.MeasuringEdition, first, attack, "A1", "B2", all},
		{"G86: the same in 2.0", live.MeasuringEdition, second, attack, "A1", "B2", all},
		{"G86: the same in 2.5", live.MeasuringEdition, third, attack, "A1", "B2", all},
		{"an attack measures to enemies only, 1e", live.MeasuringEdition, first, attack, "A1", "A2", nothing},
		{"an attack measures to enemies only, 2.5", live.MeasuringEdition, third, attack, "A1", "A2", nothing},
		{"an attack measures from the attacker, not back", live.MeasuringEdition, third, attack, "B1", "A1", nothing},
		{"an attack measures from no other ship", live.MeasuringEdition, third, attack, "A2", "B1", nothing},

		{"G83: a lock of 1e measures to its declared target", live.MeasuringEdition, first, lockB1, "A1", "B1", rangeOnly},
		{"G83: and only to it", live.MeasuringEdition, first, lockB1, "A1", "B2", nothing},
		{"G87: a lock of 2.0 measures to any ship", live.MeasuringEdition, second, lock, "A1", "B2", rangeOnly},
		{"G87: to friends as well", live.MeasuringEdition, third, lock, "A1", "A2", rangeOnly},
		{"a lock measures from the locking ship only", live.MeasuringEdition, third, lock, "B1", "A1", nothing},

		{"G82: an ability's owner measures to its possible targets", live.MeasuringEdition, first, ability, "A1", "B2", rangeOnly},
		{"G82: friends among them", live.MeasuringEdition, third, ability, "A1", "A2", rangeOnly},
		{"an ability measures from its owner", live.MeasuringEdition, third, ability, "B2", "A1", nothing},

		{"a maneuver measures no range", live.MeasuringEdition, first, bank, "A1", "B1", nothing},
		{"a maneuver measures no range in 2.5", live.MeasuringEdition, third, bank, "A1", "B1", nothing},
	} {
		t.Run(c.rule, func(t *testing.T) {
			scene := knownScene()
			p := policyOf(c.measuring, c.declared)
			got := p.Pair(c.edition, shipNamed(t, &scene, c.from), shipNamed(t, &scene, c.to))
			words := map[[2]bool]string{{false, false}: nothing, {true, false}: rangeOnly, {true, true}: all}
			assert.Equal(t, c.want, words[[2]bool{got.Range, got.Arcs}])
			assert.Equal(t, c.want == all, got.Why == "", "why: %q", got.Why)
		})
	}
}

// A move must be declared before it is tried, where the players keep the edition's rules.
func TestWhichMovesMayBeTriedWhen(t *testing.T) {
	roll := &live.Declaration{Doing: live.DoAction, Ship: "A1", Move: "barrel-roll left"}
	attack := &live.Declaration{Doing: live.DoAttack, Ship: "A1"}
	for _, c := range []struct {
		rule      string
		measuring live.Measuring
		declared  *live.Declaration
		doing     live.Doing
		ship      string
		move      string
		ok, after bool
	}{
		{"free: any move, and the ranges after it", live.MeasuringFree, nil, live.DoManeuver, "A1", "bank left 1", true, true},
		{"judge: none", live.MeasuringJudge, roll, live.DoAction, "A1", "barrel-roll left", false, false},
		{"edition: none that was not declared", live.MeasuringEdition, nil, live.DoAction, "A1", "barrel-roll left", false, false},
		{"G88: the roll that was declared, without the ranges after it", live.MeasuringEdition, roll, live.DoAction, "A1", "barrel-roll left",
			true, false},
		{"G88: not to the other side", live.MeasuringEdition, roll, live.DoAction, "A1", "barrel-roll right", false, false},
		{"G92: not along another template", live.MeasuringEdition, roll, live.DoAction, "A1", "barrel-roll left bank forward", false, false},
		{"not with another ship", live.MeasuringEdition, roll, live.DoAction, "A2", "barrel-roll left", false, false},
		{"not a maneuver of that name", live.MeasuringEdition, roll, live.DoManeuver, "A1", "barrel-roll left", false, false},
		{"an attack tries no move", live.MeasuringEdition, attack, live.DoManeuver, "A1", "straight 1", false, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			p := policyOf(c.measuring, c.declared)
			ok, after, why := p.Move(c.doing, c.ship, c.move)
			assert.Equal(t, [2]bool{c.ok, c.after}, [2]bool{ok, after})
			assert.Equal(t, c.ok, why == "", why)
		})
	}
}

func TestADeclarationSaysAllThatTheEditionWantsDeclared(t *testing.T) {
	for _, c := range []struct {
		rule    string
		edition engine.Rules
		d       live.Declaration
		want    string // its words; "": refused
	}{
		{"an attack names the attacker", engine.Rules25, live.Declaration{Doing: live.DoAttack, Ship: "A1"}, "A1 attacks"},
		{"without a ship it is nothing", engine.Rules25, live.Declaration{Doing: live.DoAttack}, ""},
		{"G83: a lock of 1e names its target", engine.Rules1e, live.Declaration{Doing: live.DoLock, Ship: "A1", Target: "B1"}, "A1 locks B1"},
		{"G83: without a target it is refused", engine.Rules1e, live.Declaration{Doing: live.DoLock, Ship: "A1"}, ""},
		{"no ship locks itself", engine.Rules1e, live.Declaration{Doing: live.DoLock, Ship: "A1", Target: "A1"}, ""},
		{"G87: a lock of 2.5 chooses after measuring", engine.Rules25, live.Declaration{Doing: live.DoLock, Ship: "A1", Target: "B1"},
			"A1 locks"},
		{"a maneuver in the engine's words", engine.Rules25, live.Declaration{Doing: live.DoManeuver, Ship: "A1", Move: "K-turn 4"},
			"A1: koiogran 4"},
		{"G88: a roll names its side", engine.Rules25, live.Declaration{Doing: live.DoAction, Ship: "A1", Move: "barrel roll"}, ""},
		{"G91: a boost names its direction", engine.Rules1e, live.Declaration{Doing: live.DoAction, Ship: "A1", Move: "boost left"},
			"A1: boost left"},
		{"G93: a drop names its template", engine.Rules1e, live.Declaration{Doing: live.DoDrop, Ship: "A1", Move: "straight 1"},
			"A1: straight 1"},
		{"no such thing to do", engine.Rules25, live.Declaration{Doing: "dance", Ship: "A1"}, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got, err := c.d.Check(c.edition)
			if c.want == "" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got.Text())
		})
	}
}

// While the agreement forbids an answer, nothing that leaves the program tells it: not the
// page's state, not the lamps, not the display, not the list, not /api/measure.
func TestNothingTellsAnAnswerThatIsForbidden(t *testing.T) {
	f := newFakeTable(t)
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	server := serve(t, f)
	free := getJSON(t, server.URL+"/api/state")
	require.Equal(t, "yes", at(free, "answer", "outcome"))
	require.Equal(t, "lit", at(free, "panel", "lamps", "range2"))
	require.Len(t, at(free, "targets", "list"), 5)

	for _, m := range []live.Measuring{live.MeasuringEdition, live.MeasuringJudge} {
		f.change(func(v *live.State) { v.Policy = live.Policy{Measuring: m} })
		f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
		state := getJSON(t, server.URL+"/api/state")
		assert.Equal(t, "Not measured", at(state, "answer", "title"))
		assert.Equal(t, "no_view", at(state, "answer", "outcome"))
		assert.NotEmpty(t, at(state, "answer", "reason"))
		assert.Empty(t, at(state, "answer", "lines_mm"))
		assert.Zero(t, at(state, "answer", "distance_mm"))
		assert.Empty(t, at(state, "answer", "band"))
		assert.Nil(t, at(state, "answer", "attack"))
		assert.Empty(t, at(state, "targets", "list"))
		assert.NotEmpty(t, at(state, "targets", "reason"))
		assert.Equal(t, true, at(state, "policy", "withheld"))
		assert.Equal(t, false, at(state, "policy", "reach"))
		for lamp, light := range at(state, "panel", "lamps").(map[string]any) {
			assert.Equal(t, "dark", light, lamp)
		}
		v := f.hub.Newest()
		assert.Empty(t, v.Panel.Pointers)
		assert.Zero(t, v.Panel.DistanceMM)
		assert.Empty(t, v.Panel.Possible)
		assert.Equal(t, hardware.Draw(v.Panel).Pix, hardware.Draw(hardware.State{From: "A1", To: "B1", Withheld: true, Reason: v.Reason}).Pix,
			"the display shows the reason and nothing else")

		res, err := http.Get(server.URL + "/api/measure")
		require.NoError(t, err)
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		assert.Equal(t, http.StatusForbidden, res.StatusCode)
		assert.NotContains(t, string(body), "{")
		assert.NotEmpty(t, at(getJSON(t, server.URL+"/api/scene"), "ships"), "poses are what the camera sees, no measurement")
	}

	// An attack opens the attacker's own questions and no others.
	f.change(func(v *live.State) {
		v.Policy = *policyOf(live.MeasuringEdition, &live.Declaration{Doing: live.DoAttack, Ship: "A1"})
	})
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	state := getJSON(t, server.URL+"/api/state")
	assert.Equal(t, "Range 2", at(state, "answer", "title"))
	assert.Len(t, at(state, "targets", "list"), 3, "the enemies")
	for _, p := range at(getJSON(t, server.URL+"/api/measure"), "pairs").([]any) {
		assert.Equal(t, "A1", at(p, "from"))
		assert.Contains(t, at(p, "to"), "B")
	}

	// A lock opens ranges, and not arcs.
	f.change(func(v *live.State) {
		v.Policy = *policyOf(live.MeasuringEdition, &live.Declaration{Doing: live.DoLock, Ship: "A1"})
	})
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	state = getJSON(t, server.URL+"/api/state")
	assert.Equal(t, "Range 2", at(state, "answer", "title"))
	assert.Equal(t, "arcs are not measured now", at(state, "answer", "in_arc", "text"))
	assert.Nil(t, at(state, "answer", "attack"))
	assert.Equal(t, "dark", at(state, "panel", "lamps", "in_arc"))
	for _, row := range at(state, "targets", "list").([]any) {
		assert.Empty(t, at(row, "arcs"))
	}
}

// What /api/measure says of nothing is the state's own reason, and never that nothing is
// declared where something is.
func TestMeasureSaysWhyADeclarationMeasuresNothing(t *testing.T) {
	attack := live.Declaration{Doing: live.DoAttack, Ship: "A1"}
	for _, c := range []struct {
		rule string
		d    *live.Declaration
		to   string
		hide string
		want string
	}{
		{"nothing is declared", nil, "B1", "", "nothing is declared that would"},
		{"a movement", &live.Declaration{Doing: live.DoManeuver, Ship: "A1", Move: "bank left 1"}, "B1", "",
			"A1: bank left 1 is declared: a movement measures no ranges"},
		{"the attacker is covered", &attack, "B1", "A1", "A1 attacks, and A1 has not been seen for 1 s"},
		{"the pair is not measurable", &attack, "A2", "", "A1 attacks: an attack measures to enemies only"},
		{"nobody is chosen", &attack, "", "", "A1 attacks, and no ship that it measures to is seen standing still"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			f := newFakeTable(t)
			f.change(func(state *live.State) {
				*state = followedView(t, map[string]vision.TrackState{c.hide: vision.Hidden})
				state.Policy = *policyOf(live.MeasuringEdition, c.d)
			})
			f.choose(live.Choice{From: "A1", To: c.to, Arc: engine.ArcFront})
			f.change(func(state *live.State) { state.Result = engine.Result{Rules: state.Result.Rules} }) // nothing stands to be measured
			status, body := get(t, serve(t, f).URL+"/api/measure")
			assert.Equal(t, http.StatusForbidden, status.StatusCode)
			assert.Contains(t, body, "The players agreed to measure only when the rules allow it: "+c.want+".")
		})
	}
}

func TestWhoMayChangeTheAgreement(t *testing.T) {
	f := newFakeTable(t)
	var to []live.Measuring
	var declared []*live.Declaration
	f.agree = func(m live.Measuring, judge bool) { to = append(to, m) }
	f.declare = func(d *live.Declaration) { declared = append(declared, d) }
	server := serve(t, f)
	status := func(path, body string) int {
		res, err := http.Post(server.URL+path, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		if res.StatusCode >= 400 {
			assert.Regexp(t, `^[A-Z].*\.\n$`, string(text), "a sentence for people")
		}
		return res.StatusCode
	}
	assert.Equal(t, http.StatusNoContent, status("/api/policy", `{"measuring":"edition"}`))
	assert.Equal(t, http.StatusNoContent, status("/api/policy", `{"object":true}`))
	assert.Equal(t, []live.Measuring{live.MeasuringEdition, ""}, to)
	assert.Equal(t, http.StatusBadRequest, status("/api/policy", `{"measuring":"never"}`))
	assert.Equal(t, http.StatusBadRequest, status("/api/policy", `{"measuring":`))

	assert.Equal(t, http.StatusConflict, status("/api/declare", `{"doing":"attack","ship":"A1"}`),
		"nothing needs declaring where measuring is free")
	f.change(func(state *live.State) { state.Policy.Measuring, state.Policy.JudgesOnly = live.MeasuringEdition, true })
	assert.Equal(t, http.StatusForbidden, status("/api/policy", `{"measuring":"free"}`), "a player, where there is a judge")
	assert.Equal(t, http.StatusNoContent, status("/api/declare", `{"doing":"attack","ship":"A1"}`))
	assert.Equal(t, http.StatusNoContent, status("/api/declare", `{"doing":"maneuver","ship":"A1","move":"bank left 1"}`))
	assert.Equal(t, http.StatusNoContent, status("/api/declare", `{"doing":"done"}`))
	assert.Equal(t, http.StatusConflict, status("/api/declare", `{"doing":"attack","ship":"C9"}`))
	assert.Equal(t, http.StatusBadRequest, status("/api/declare", `{"doing":"dance","ship":"A1"}`))
	assert.Equal(t, http.StatusBadRequest, status("/api/declare", `{"doing":"attack","ship":"A1","x":1}`))
	require.Len(t, declared, 3)
	assert.Equal(t, "A1: bank left 1", declared[1].Text())
	assert.Nil(t, declared[2])
}

func policyOf(m live.Measuring, d *live.Declaration) *live.Policy {
	p := &live.Policy{Measuring: m}
	if d != nil {
		p.Window = &live.Window{Declaration: *d, Until: time.Unix(1700000060, 0)}
	}
	return p
}

func shipNamed(t *testing.T, s *engine.Scene, id string) *engine.Ship {
	for i := range s.Ships {
		if s.Ships[i].ID == id {
			return &s.Ships[i]
		}
	}
	require.FailNow(t, "no ship "+id)
	return nil
}

// getJSON fetches a document.
func getJSON(t testing.TB, url string) map[string]any {
	t.Helper()
	res, body := get(t, url)
	require.Equal(t, http.StatusOK, res.StatusCode, body)
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(body), &out))
	return out
}

// at follows keys into a document; nil where there is none.
func at(v any, keys ...string) any {
	for _, k := range keys {
		m, _ := v.(map[string]any)
		v = m[k]
	}
	return v
}
