package web_test

import (
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
	"sightline/hardware"
)

// onARock stands A1 on an obstacle of a kind, under an edition.
func onARock(edition engine.Rules, kind string) func(*live.State) {
	return func(state *live.State) {
		s := &state.Located.Scene
		s.Rules = edition
		s.Obstacles = []engine.Obstacle{{ID: "rock1", Kind: kind, Outline: square(300, 275, 25), Sigma: 0.2}}
		state.ObstaclesWatched = true
		measured(state)
	}
}

// An attack that the rules forbid where the ships stand is one nowhere: not in the answer,
// the list, the lamps, the display, what a judge sees and what is recorded.
func TestAForbiddenAttackIsNoAttackAnywhere(t *testing.T) {
	c := newCourtroom(t)
	c.change(onARock(engine.Rules20, "asteroid"))
	c.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	server := serve(t, c.fakeTable)
	const text = "no attack: at range 0 of an asteroid, rock1 (2.0 G177)"
	state := getJSON(t, server.URL+"/api/state")
	require.Equal(t, "yes", at(state, "answer", "in_arc", "outcome"), "in arc it is")
	assert.Equal(t, "yes", at(state, "answer", "no_attack", "outcome"))
	assert.Equal(t, text, at(state, "answer", "no_attack", "text"))
	assert.Equal(t, []any{"rock1"}, at(state, "answer", "no_attack", "because"))
	assert.Nil(t, at(state, "answer", "no_lock"), "an asteroid bars no lock")
	assert.Contains(t, at(state, "answer", "live"), "No attack: at range 0 of an asteroid")
	for _, row := range at(state, "targets", "list").([]any) {
		assert.Equal(t, text, at(row, "no_attack", "text"), "%v", at(row, "id"))
	}
	assert.Equal(t, "dark", at(state, "panel", "lamps", "in_arc"))
	assert.Equal(t, "lit", at(state, "panel", "lamps", "overlap"))
	assert.Equal(t, text, c.hub.Newest().Panel.NoAttack)

	c.freeze(t)
	held := c.do("GET", "/api/held?from=A1&to=B1", "")
	require.Equal(t, http.StatusOK, held.Code)
	assert.Contains(t, held.Body.String(), `"key":"may_attack","name":"May it attack","arc":"","outcome":"no","title":"No attack"`)
	assert.Contains(t, held.Body.String(), `"number":"G177","text":"At range 0 of an asteroid, no attack."`)
	ruled := c.do("POST", "/api/rulings", c.sending(confirm))
	require.Equal(t, http.StatusCreated, ruled.Code, ruled.Body)
	assert.Contains(t, ruled.Body.String(), text, "the record")

	c.change(func(v *live.State) { v.Held, v.Hold = false, nil })
	c.change(onARock(engine.Rules20, "gas"))
	c.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	state = getJSON(t, server.URL+"/api/state")
	assert.Nil(t, at(state, "answer", "no_attack"), "gas forbids none in 2.0")
	assert.Equal(t, "lit", at(state, "panel", "lamps", "in_arc"))
}

func TestWhatIsForbiddenWhere(t *testing.T) {
	for _, c := range []struct {
		name         string
		edition      engine.Rules
		change       func(*live.State)
		attack, lock string
		lamps        string // in arc, overlap, too close
	}{
		{"2.5, gas forbids attack and lock", engine.Rules25, onARock(engine.Rules25, "gas"),
			"no attack: at range 0 of an obstacle, rock1 (2.5 G178)", "no lock: at range 0 of a gas cloud, rock1 (2.5 G179)", "dark lit dark"},
		{"2.5, debris the attack", engine.Rules25, onARock(engine.Rules25, "debris"), "no attack: at range 0 of an obstacle, rock1 (2.5 G178)",
			"", "dark lit dark"},
		{"1e, debris nothing", engine.Rules1e, onARock(engine.Rules1e, "debris"), "", "", "lit dark dark"},
		{"2.0, a target at range 0", engine.Rules20, standAt(39, 0), "no attack: the target is at range 0 (2.0 G73)", "", "dark lit dark"},
		{"2.0, a target perhaps at range 0", engine.Rules20, standAt(41.6, 1),
			"perhaps no attack, too close to call: the target is at range 0 (2.0 G73)", "", "blinking blinking lit"},
		{"2.5, range 0 may be attacked", engine.Rules25, standAt(39, 0), "", "", "lit lit dark"},
		{"1e, contact whose history nobody saw", engine.Rules1e, standAt(39, 0),
			"perhaps no attack, it cannot be seen: the two ships are in contact; they are touching if one overlapped the other (1e G95)", "",
			"blinking lit lit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFakeTable(t)
			f.change(func(v *live.State) { v.Located.Scene.Rules = c.edition; c.change(v) })
			f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
			state := getJSON(t, serve(t, f).URL+"/api/state")
			text := func(key string) string {
				s, _ := at(state, "answer", key, "text").(string)
				return s
			}
			assert.Equal(t, c.attack, text("no_attack"))
			assert.Equal(t, c.lock, text("no_lock"))
			var lamps []string
			for _, lamp := range []string{"in_arc", "overlap", "too_close"} {
				lamps = append(lamps, at(state, "panel", "lamps", lamp).(string))
			}
			assert.Equal(t, c.lamps, strings.Join(lamps, " "))
		})
	}
}

// standAt puts B1 straight before A1, its centre at a distance, with a standard deviation.
func standAt(distance, sigma float64) func(*live.State) {
	return func(state *live.State) {
		s := &state.Located.Scene
		s.Ships = append([]engine.Ship(nil), s.Ships...)
		for i := range s.Ships {
			s.Ships[i].Covariance = geom.Cov3{0: sigma * sigma, 4: sigma * sigma}
			if s.Ships[i].ID == "B1" {
				s.Ships[i].Pose = geom.Pose{Point: geom.Point{X: 300, Y: 300 + distance}, Heading: math.Pi}
			}
		}
		measured(state)
	}
}

// What is forbidden is a measurement too: under an agreement it is shown with the act that
// was declared, and with nothing else.
func TestWhatIsForbiddenIsToldWithItsDeclaration(t *testing.T) {
	for _, c := range []struct {
		doing        live.Doing
		attack, lock bool
	}{{live.DoAttack, true, false}, {live.DoLock, false, true}, {live.DoAbility, false, false}} {
		f := newFakeTable(t)
		f.change(onARock(engine.Rules25, "gas"))
		f.change(func(v *live.State) {
			v.Policy = *policyOf(live.MeasuringEdition, &live.Declaration{Doing: c.doing, Ship: "A1"})
		})
		f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
		server := serve(t, f)
		state := getJSON(t, server.URL+"/api/state")
		assert.Equal(t, c.attack, at(state, "answer", "no_attack") != nil, c.doing)
		assert.Equal(t, c.lock, at(state, "answer", "no_lock") != nil, c.doing)
		assert.Equal(t, c.attack, f.hub.Newest().Panel.NoAttack != "", c.doing)
		_, body := get(t, server.URL+"/api/measure")
		assert.Equal(t, c.attack, strings.Contains(body, `"act":"attack"`), "%s: %s", c.doing, body)
		assert.Equal(t, c.lock, strings.Contains(body, `"act":"lock"`), c.doing)
		assert.NotContains(t, body, `"contacts":["`, "contacts are measurements that nobody declared")
	}
}

// withTokens puts a device and two markers on the table, on A1's right.
func withTokens(state *live.State) {
	s := &state.Located.Scene
	s.Rules = engine.Rules25
	token := func(id, kind string, x, y float64) engine.Token {
		return engine.Token{ID: id, Kind: kind, Pose: geom.Pose{Point: geom.Point{X: x, Y: y}}, Sigma: 0.2}
	}
	s.Devices = []engine.Token{token("bomb1", "proton_bomb", 400, 300), token("mines1", "cluster_mines", 300, 200)}
	s.Markers = []engine.Token{token("cache1", "supply_cache", 300, 380), token("sat1", "satellite", 480, 300)}
	s.Obstacles = []engine.Obstacle{{ID: "rock1", Kind: "asteroid", Outline: square(180, 300, 25), Sigma: 0.2}}
	state.ObstaclesWatched = true
	measured(state)
}

// Under the agreement "edition" locks on objects, tow, scramble and the blast of a bomb can
// be declared, and each opens its own measurements and no others.
func TestWhatADeclarationOpensOfObjects(t *testing.T) {
	for _, c := range []struct {
		rule    string
		edition engine.Rules
		d       *live.Declaration
		objects string
		blasts  string
	}{
		{"nothing is declared", engine.Rules25, nil, "", ""},
		{"an attack measures to no object", engine.Rules25, &live.Declaration{Doing: live.DoAttack, Ship: "A1"}, "", ""},
		{"G79: a lock of 2.5 may be on objects, not on scenario features (G219)", engine.Rules25, &live.Declaration{Doing: live.DoLock,
			Ship: "A1"},
			"bomb1 lock yes; rock1 lock yes; mines1 lock yes; mines1.left lock yes; mines1.right lock yes", ""},
		{"a lock of 2.0 is on ships", engine.Rules20, &live.Declaration{Doing: live.DoLock, Ship: "A1"}, "", ""},
		{"G228: a cache at range 0-1", engine.Rules25, &live.Declaration{Doing: live.DoTow, Ship: "A1"}, "cache1 tow yes", ""},
		{"G232: a satellite at range 0-1", engine.Rules25, &live.Declaration{Doing: live.DoScramble, Ship: "A1"}, "sat1 scramble no", ""},
		{"G191: the ships near a bomb", engine.Rules25, &live.Declaration{Doing: live.DoBlast, Target: "bomb1"}, "", "bomb1: A1 Range 1"},
		{"G191: near mines, of their nearest card", engine.Rules1e, &live.Declaration{Doing: live.DoBlast, Target: "mines1"}, "",
			"mines1: A1 Range 1"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			f := newFakeTable(t)
			f.change(withTokens)
			f.change(func(v *live.State) {
				v.Located.Scene.Rules = c.edition
				measured(v)
				v.Policy = *policyOf(live.MeasuringEdition, c.d)
			})
			f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
			server := serve(t, f)
			state := getJSON(t, server.URL+"/api/state")
			want := map[string]bool{}
			for _, s := range strings.Split(c.objects, "; ") {
				want[s] = s != ""
			}
			rows := at(state, "targets", "objects").([]any)
			for _, o := range rows {
				text := at(o, "id").(string) + " " + at(o, "act").(string) + " " + at(o, "may").(string)
				assert.True(t, want[text], text)
			}
			if c.objects == "" {
				assert.Empty(t, rows)
			} else {
				assert.Len(t, rows, len(want))
			}
			var blasts []string
			for _, b := range at(state, "targets", "blasts").([]any) {
				first := at(b, "ships").([]any)[0]
				blasts = append(blasts, at(b, "id").(string)+": "+at(first, "id").(string)+" "+at(first, "title").(string))
			}
			assert.Equal(t, c.blasts, strings.Join(blasts, "; "))
			res, body := get(t, server.URL+"/api/measure")
			if c.objects+c.blasts != "" {
				require.Equal(t, http.StatusOK, res.StatusCode, body)
				assert.Contains(t, body, `"kind":`)
			}
			if c.blasts != "" {
				assert.NotContains(t, body, "cache1")
				assert.Equal(t, "Not measured", at(state, "answer", "title"), "a detonation measures no range between ships")
			}
		})
	}
	for _, c := range []struct {
		d       live.Declaration
		edition engine.Rules
		words   string
	}{
		{live.Declaration{Doing: live.DoTow, Ship: "A1"}, engine.Rules25, "A1 takes a supply cache in tow"},
		{live.Declaration{Doing: live.DoScramble, Ship: "A1", Target: "x"}, engine.Rules25, "A1 scrambles a satellite"},
		{live.Declaration{Doing: live.DoTow, Ship: "A1"}, engine.Rules20, ""},
		{live.Declaration{Doing: live.DoBlast, Target: "bomb1"}, engine.Rules1e, "bomb1 detonates"},
		{live.Declaration{Doing: live.DoBlast}, engine.Rules1e, ""},
	} {
		got, err := c.d.Check(c.edition)
		if c.words == "" {
			require.Error(t, err)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, c.words, got.Text())
	}
}

func TestOnlyADeviceOnTheTableDetonates(t *testing.T) {
	f := newFakeTable(t)
	f.change(withTokens)
	f.change(func(state *live.State) { state.Policy.Measuring = live.MeasuringEdition })
	var declared []string
	f.declare = func(d *live.Declaration) { declared = append(declared, d.Text()) }
	s := f.server()
	for target, want := range map[string]int{
		"bomb1": http.StatusNoContent, "rock1": http.StatusConflict, "cache1": http.StatusConflict, "nothing": http.StatusConflict,
	} {
		answer := ask(s, "POST", "/api/declare", `{"doing":"blast","target":"`+target+`"}`, loopback, "")
		assert.Equal(t, want, answer.Code, "%s: %s", target, answer.Body)
	}
	assert.Equal(t, []string{"bomb1 detonates"}, declared)
}

// A move that ends on a rock says that the ship could not attack there, and ticks nothing.
func TestATriedMoveSaysWhatIsForbiddenAtItsEnd(t *testing.T) {
	scene := knownScene()
	scene.Rules = engine.Rules25
	scene.Obstacles = []engine.Obstacle{{ID: "rock1", Kind: "asteroid", Outline: square(300, 395, 28), Sigma: 0.2}}
	f := newFakeTable(t)
	f.change(func(state *live.State) { state.Located.Scene, state.ObstaclesWatched = scene, true; measured(state) })
	server := serve(t, f)
	res, err := http.Post(server.URL+"/api/try", "application/json", strings.NewReader(`{"ship":"A1","maneuver":"straight 1"}`))
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	body := string(raw)
	require.Equal(t, http.StatusOK, res.StatusCode, body)
	assert.Contains(t, body, `{"outcome":"no","text":"There: no attack: at range 0 of an asteroid, rock1 (2.5 G178)."}`)
	assert.Contains(t, body, `"no_attack":{"outcome":"yes"`)
}

func TestTheDisplaySaysThatThereIsNoAttack(t *testing.T) {
	f := newFakeTable(t)
	f.change(onARock(engine.Rules20, "asteroid"))
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	with := f.hub.Newest().Panel
	without := with
	without.NoAttack = ""
	assert.NotEqual(t, hardware.Draw(without).Pix, hardware.Draw(with).Pix)
}
