package play_test

import (
	"context"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/play"
	"sightline/cmd/internal/round"
	"sightline/cmd/internal/rulings"
	"sightline/engine"
	"sightline/engine/geom"
)

const (
	reds = `{"version":"2.0.0","faction":"rebelalliance","name":"Red Flight","pilots":[
		{"id":"wedgeantilles","ship":"t65xwing","points":6},{"id":"lukeskywalker","ship":"t65xwing","points":6}]}`
	blacks = `{"version":"2.0.0","faction":"galacticempire","name":"Black Squadron","pilots":[
		{"id":"howlrunner","ship":"tielnfighter","points":4},{"id":"maulermithel","ship":"tielnfighter","points":3}]}`
)

// bench is a table whose camera and record a test holds in its hands.
type bench struct {
	t      *testing.T
	dir    string
	log    *rulings.Log
	hub    *live.Hub
	table  *play.Table
	shown  *live.Play
	opened []live.Declaration
	scene  engine.Scene
	policy live.Policy
	now    time.Time
	broken error // of the record
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dir: filepath.Join(t.TempDir(), "rulings"), now: time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)}
	at := func(id string, player int, x, y, heading float64) engine.Ship {
		return engine.Ship{ID: id, Player: player, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: x, Y: y},
			Heading: geom.Angle(heading) * geom.Degree}, Covariance: geom.Cov3{0: 0.04, 4: 0.04, 8: 1e-5}}
	}
	b.scene = engine.Scene{Rules: engine.Rules20, Profile: "nominal", MatWidth: 914.4, MatHeight: 914.4, Ships: []engine.Ship{
		at("A1", 1, 300, 300, 0), at("A2", 1, 500, 100, 0), at("B2", 2, 500, 800, 180), at("B1", 2, 300, 420, 180)}}
	b.hub = live.NewHub(live.State{Health: live.Health{Code: live.OK}})
	b.open()
	b.look()
	return b
}

// open opens the record and the table over it, as the program does when it starts.
func (b *bench) open() {
	b.t.Helper()
	var err error
	b.log, err = rulings.Open(b.dir, rulings.Options{})
	require.NoError(b.t, err)
	b.table = play.New(play.Options{Hub: b.hub, Record: b.record,
		Show:       func(p *live.Play, open []live.Declaration) { b.shown, b.opened = p, open },
		SetEdition: func(r engine.Rules) { b.scene.Rules = r }, Now: func() time.Time { return b.now }, Log: slog.New(slog.DiscardHandler)})
	b.t.Cleanup(func() { b.log.Close() })
}

// record opens the record for the table.
func (b *bench) record() (*rulings.Log, error) { return b.log, b.broken }

// resume runs the table until it has the game of the record.
func (b *bench) resume() {
	b.t.Helper()
	ctx, stop := context.WithCancel(b.t.Context())
	done := make(chan error)
	go func() { done <- b.table.Run(ctx) }()
	require.Eventually(b.t, func() bool { return b.game() != nil }, time.Minute, 10*time.Millisecond)
	stop()
	require.NoError(b.t, <-done)
}

// look lets the camera see the table for two seconds.
func (b *bench) look() {
	b.t.Helper()
	for range 4 {
		b.now = b.now.Add(500 * time.Millisecond)
		s := b.state()
		b.hub.Publish(s)
		b.table.See(&s)
	}
}

func (b *bench) state() live.State {
	r, err := engine.Measure(&b.scene, engine.Options{Sigmas: 3})
	require.NoError(b.t, err)
	s := live.State{At: b.now, Health: live.Health{Code: live.OK}, Sigmas: 3, Result: r, Play: b.shown, Policy: b.policy,
		Choice: live.Choice{Arc: engine.ArcFront}, ObstaclesWatched: true}
	s.Policy.Turn = b.opened
	s.Located.Scene = b.scene
	return s
}

// straight2 flies a ship.
func (b *bench) straight2(id string) {
	for i := range b.scene.Ships {
		if s := &b.scene.Ships[i]; s.ID == id {
			s.Pose.Point = s.Pose.Point.Add(s.Pose.Forward().Mul(120))
		}
	}
	b.look()
}

func (b *bench) start(edition string) {
	b.t.Helper()
	r := play.StartRequest{Edition: edition, Points: 20}
	r.Players[0].Name, r.Players[0].Squad = "Ada", reds
	r.Players[1].Name, r.Players[1].Squad = "Ben", blacks
	require.NoError(b.t, b.table.Start(r))
	b.look()
}

// ask asks the routes.
func (b *bench) ask(method, path, body string) *httptest.ResponseRecorder {
	mux := http.NewServeMux()
	for _, r := range b.table.Routes() {
		mux.HandleFunc(r.Pattern, r.Handler)
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w
}

func (b *bench) game() map[string]any {
	b.t.Helper()
	w := b.ask("GET", "/api/game", "")
	require.Equal(b.t, 200, w.Code, w.Body)
	var out map[string]any
	require.NoError(b.t, json.Unmarshal(w.Body.Bytes(), &out))
	g, _ := out["game"].(map[string]any)
	return g
}

// tap taps Next as the page does.
func (b *bench) tap() *httptest.ResponseRecorder {
	b.t.Helper()
	raw, err := json.Marshal(b.game()["next_event"])
	require.NoError(b.t, err)
	var e map[string]any
	require.NoError(b.t, json.Unmarshal(raw, &e))
	delete(e, "number")
	delete(e, "at")
	raw, err = json.Marshal(e)
	require.NoError(b.t, err)
	w := b.ask("POST", "/api/game/do", string(raw))
	b.look()
	return w
}

func TestAGameFromTwoSquads(t *testing.T) {
	b := newBench(t)
	assert.Nil(t, b.game())
	b.start("2.0")
	require.NotNil(t, b.shown)
	assert.Equal(t, "R1 Planning", b.shown.Turn)
	assert.Equal(t, "A1 (Wedge Antilles)", b.shown.Named("A1"), "tied by order")
	assert.Equal(t, "“Howlrunner”", b.shown.Ship("B1").Pilot)
	assert.Equal(t, "“Mauler” Mithel", b.shown.Ship("B2").Pilot)
	assert.Equal(t, []string{"front"}, b.shown.Ship("A1").Arcs)
	assert.Equal(t, [2]string{"Ada", "Ben"}, b.shown.Players)
	assert.True(t, b.shown.Planning)

	for range 2 {
		require.Equal(t, 204, b.tap().Code)
	}
	assert.Equal(t, []string{"A2"}, b.shown.Active, "of initiative 5 as B1 and B2, and Ada is the first player")
}

// What the camera sees is in the game and its record.
func TestTheCameraFliesTheGame(t *testing.T) {
	b := newBench(t)
	b.start("2.0")
	b.tap()
	b.tap()
	require.Contains(t, b.shown.Turn, "Activation")
	first := b.shown.Active[0]
	b.straight2(first)
	assert.Equal(t, "straight 2", b.shown.Ship(first).Last)
	assert.Contains(t, b.shown.Last, "straight 2")
	assert.Equal(t, []live.Declaration{{Doing: live.DoLock, Ship: first}}, b.opened, "it may lock now (G87)")

	b.scene.Ships[0].Pose.X += 4
	b.look()
	require.Len(t, b.shown.Ghosts, 1)
	assert.InDelta(t, 300, b.shown.Ghosts[0].XMM, 0.5)
}

// A double tap is one tap, and what is not a tap is refused.
func TestTapsOnThePage(t *testing.T) {
	b := newBench(t)
	assert.Equal(t, 409, b.ask("POST", "/api/game/do", `{"kind":"advanced"}`).Code, "no game")
	b.start("2.0")
	tap := `{"kind":"advanced","round":1,"phase":"Planning"}`
	assert.Equal(t, 204, b.ask("POST", "/api/game/do", tap).Code)
	w := b.ask("POST", "/api/game/do", tap)
	assert.Equal(t, 409, w.Code)
	assert.Contains(t, w.Body.String(), "Round 1 Planning is over: it is round 1 System")
	for _, body := range []string{
		`{"kind":"moved","ship":"A1"}`, `{"kind":"started"}`, `{"kind":"noted","scene":{}}`, `{"kind":"strange"}`, `[]`,
		`{"kind":"said","text":"` + strings.Repeat("x", 600) + `"}`, `{"kind":"scored","player":1,"points":9999}`,
		`{"knd":"said"}`, `{} {}`, ``,
		`{"kind":"said","text":"Range \u202e2 on 1\u202c"}`, `{"kind":"said","text":"a\u200bb"}`, `{"kind":"said","text":"Over.\nRuling 3: range 1"}`,
		`{"kind":"ended","player":1,"text":"\u0007"}`, `{"kind":"towed","ship":"A1","with":"\u202e1 cache"}`,
	} {
		assert.Equal(t, 400, b.ask("POST", "/api/game/do", body).Code, body)
	}
	assert.Equal(t, 409, b.ask("POST", "/api/game/do", `{"kind":"changed","ship":"C9","status":"fled"}`).Code)
	assert.Equal(t, 204, b.ask("POST", "/api/game/do", `{"kind":"undone","undo":`+jsonOf(b.game()["undo"])+`}`).Code)
	assert.Equal(t, "R1 Planning", b.shown.Turn)
}

// Two devices with the form open start one game, and a tap meant for a game that was replaced does nothing to the new one.
func TestAGameThatSomeoneElseStartedIsNotReplaced(t *testing.T) {
	b := newBench(t)
	body := func(instead string) string {
		return `{"edition":"2.0",` + instead + `"players":[{"name":"Ada","squad":` + jsonOf(reds) + `},{"name":"Ben","squad":` + jsonOf(blacks) + `}]}`
	}
	require.Equal(t, 204, b.ask("POST", "/api/game/start", body(`"instead_of":0,`)).Code)
	w := b.ask("POST", "/api/game/start", body(`"instead_of":0,`))
	assert.Equal(t, 409, w.Code)
	assert.Contains(t, w.Body.String(), "A game is already being played, Ada against Ben")
	first := jsonOf(b.game()["id"])
	require.Equal(t, 204, b.ask("POST", "/api/game/start", body(`"instead_of":`+first+`,`)).Code, "the one that is seen is replaced")
	second := jsonOf(b.game()["id"])
	require.NotEqual(t, first, second)
	w = b.ask("POST", "/api/game/do", `{"kind":"ended","text":"x","game":`+first+`}`)
	assert.Equal(t, 409, w.Code)
	assert.Contains(t, w.Body.String(), "Another game was started meanwhile")
	assert.Empty(t, b.shown.Over)
	require.Equal(t, 204, b.ask("POST", "/api/game/do", `{"kind":"ended","text":"x","game":`+second+`}`).Code)
	require.Equal(t, 204, b.ask("POST", "/api/game/start", body(`"instead_of":0,`)).Code, "one that is over is in nobody's way")
}

// A game that cannot be recorded does not begin, and the table keeps its edition.
func TestAGameThatIsNotRecordedLeavesTheEdition(t *testing.T) {
	b := newBench(t)
	b.broken = errors.New("the disk is full")
	r := play.StartRequest{Edition: "2.5"}
	r.Players[0].Squad, r.Players[1].Squad = reds, blacks
	require.ErrorIs(t, b.table.Start(r), live.ErrUnwritten)
	assert.Equal(t, engine.Rules20, b.scene.Rules)
	b.broken = nil
	require.NoError(t, b.table.Start(r))
	assert.Equal(t, engine.Rules25, b.scene.Rules)
}

func jsonOf(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}

// Ten squads that are none, each with a clear answer.
func TestWhatNoGameStartsFrom(t *testing.T) {
	b := newBench(t)
	first := `{"faction":"rebel","pilots":[{"name":"wedgeantilles","ship":"xwing"}]}`
	for what, c := range map[string]struct{ squad, want string }{
		"nothing":       {"", "Player 1 has no squad: drop an XWS file, or paste one."},
		"no JSON":       {"Wedge, Luke", "expected JSON"},
		"a list":        {"[]", "expected an object"},
		"cut":           {reds[:60], "the file ends within the squad"},
		"no pilots":     {`{"faction":"rebelalliance","pilots":[]}`, "expected at least one"},
		"no faction":    {`{"pilots":[{"id":"wedgeantilles"}]}`, "faction: is missing"},
		"a number":      {`{"faction":"rebelalliance","pilots":7}`, "expected a list"},
		"twice":         {`{"faction":"a","faction":"b","pilots":[{"id":"x"}]}`, "is repeated"},
		"other edition": {first, "is of the first edition, and the game is one of 2.0"},
		"several":       {`{"container":[{}]}`, "several squads"},
	} {
		r := play.StartRequest{Edition: "2.0"}
		r.Players[0].Squad, r.Players[1].Squad = c.squad, blacks
		err := b.table.Start(r)
		require.ErrorIs(t, err, live.ErrInvalid, what)
		assert.Contains(t, err.Error(), c.want, what)
	}
	assert.Nil(t, b.shown)
	assert.Equal(t, 400, b.ask("POST", "/api/game/start", `{"players":[]} x`).Code)
	r := play.StartRequest{Edition: "3.0"}
	r.Players[0].Squad, r.Players[1].Squad = reds, blacks
	assert.Error(t, b.table.Start(r))
	r.Edition, r.Scenario = "2.0", round.Assault
	assert.ErrorContains(t, b.table.Start(r), "Scenarios are of 2.5")
	r.Edition, r.Scenario = "2.5", ""
	for name, want := range map[string]string{"A\x1b[31m": "printable text", "A\nB": "on one line", strings.Repeat("x", 5000): "at most"} {
		r.Players[1].Name = name
		assert.ErrorContains(t, b.table.Start(r), want)
	}
}

// A game continues where it was when the program is started again.
func TestAGameContinuesAfterARestart(t *testing.T) {
	b := newBench(t)
	b.start("2.0")
	b.tap()
	b.tap()
	require.Equal(t, 204, b.ask("POST", "/api/game/do", `{"kind":"changed","ship":"A2","status":"destroyed"}`).Code)
	turn, number := b.shown.Turn, b.game()["number"]
	require.NoError(t, b.log.Close())

	b.shown = nil
	b.open()
	b.resume()
	assert.Equal(t, turn, b.shown.Turn)
	assert.Equal(t, number, b.game()["number"])
	assert.Equal(t, 204, b.tap().Code)
	n, err := b.log.VerifyGames(t.Context())
	require.NoError(t, err)
	assert.Positive(t, n)
}

// A ruling is in the log of the game in which it was made, though the clock was set back since the game began, or starts behind. One that
// was there when the program started, and is older than the game, is not.
func TestRulingsAreInTheLogThoughTheClockIsBehind(t *testing.T) {
	b := newBench(t)
	ruled := func(number uint64, at time.Time) live.State {
		s := b.state()
		s.Ruling = &live.Ruling{Number: number, At: at, Text: fmt.Sprintf("Ruling %d.", number)}
		return s
	}
	logged := func() string { return b.ask("GET", "/api/games/1", "").Body.String() }
	b.start("2.0")
	b.now = b.now.Add(-time.Hour)
	s := ruled(3, b.now)
	b.table.See(&s)
	assert.Contains(t, logged(), "Ruling 3.", "the clock was set back")

	require.NoError(t, b.log.Close())
	b.hub.Publish(ruled(4, b.now.Add(-2*time.Hour)))
	b.open() // the program starts again, with its clock behind
	b.resume()
	s = ruled(4, b.now.Add(-2*time.Hour))
	b.table.See(&s)
	assert.NotContains(t, logged(), "Ruling 4.", "it was held again with the picture, and may be of before the game")
	s = ruled(5, b.now)
	b.table.See(&s)
	assert.Contains(t, logged(), "Ruling 5.")
}

// The game is played on by its own edition, whatever the configuration says, and also where the
// record can only be read a while after the start.
func TestAGameContinuesByItsEditionOnceTheRecordIsRead(t *testing.T) {
	b := newBench(t)
	b.start("2.0")
	require.NoError(t, b.log.Close())
	b.shown, b.scene.Rules = nil, engine.Rules25
	b.open()
	b.look()
	var mu sync.Mutex
	broken := errors.New("another program uses the record")
	log := b.log
	var edition engine.Rules
	b.table = play.New(play.Options{Hub: b.hub, Log: slog.New(slog.DiscardHandler), Record: func() (*rulings.Log, error) {
		mu.Lock()
		defer mu.Unlock()
		if err := broken; err != nil {
			broken = nil // the next time it can be read
			return nil, err
		}
		return log, nil
	}, SetEdition: func(r engine.Rules) {
		mu.Lock()
		defer mu.Unlock()
		edition = r
	}})
	b.resume()
	assert.Equal(t, engine.Rules20, edition)
}

// What the camera saw while the record could not be written is in the game afterwards.
func TestWhatAFullDiskKeptOutIsRecordedLater(t *testing.T) {
	b := newBench(t)
	b.start("2.0")
	for range 2 {
		b.tap() // to Activation
	}
	b.broken = errors.New("no space left on device")
	before := b.game()["number"]
	b.straight2("A2")
	b.look()
	assert.Equal(t, before, b.game()["number"])
	assert.Contains(t, b.ask("GET", "/api/game", "").Body.String(), "no space left on device")
	b.broken = nil
	b.look()
	b.look()
	assert.Contains(t, b.ask("GET", "/api/games/1/export/csv", "").Body.String(), "A2 (Luke Skywalker): straight 2")
}

// A record that is moved away during a game begins again with the whole game.
func TestARecordThatIsMovedAwayLosesNoEvent(t *testing.T) {
	b := newBench(t)
	b.start("2.0")
	b.tap()
	require.NoError(t, os.Rename(b.dir, b.dir+".away"))
	require.Equal(t, 204, b.tap().Code)
	games, err := b.log.Games(t.Context())
	require.NoError(t, err)
	require.Len(t, games, 1)
	events, err := play.Load(t.Context(), b.log, games[0])
	require.NoError(t, err)
	assert.Equal(t, round.Started, events[0].Kind)
	g, err := round.Fold(events)
	require.NoError(t, err)
	assert.Equal(t, b.shown.Turn, g.Turn())
}

// Under the edition's windows the phase and the active ship open what may be measured
// (G81, G85, G86, G87), and nothing opens in Planning.
func TestTheRoundOpensTheEditionsWindows(t *testing.T) {
	b := newBench(t)
	b.policy.Measuring = live.MeasuringEdition
	b.start("2.0")
	pair := func(from, to string) live.Permit {
		s := b.state()
		return s.Policy.Pair(s.Located.Scene.Rules, s.Located.Scene.Ship(from), s.Located.Scene.Ship(to))
	}
	assert.Empty(t, b.opened)
	assert.False(t, pair("A1", "B1").Range)
	s := b.state()
	_, err := s.CheckDeclaration(live.Declaration{Doing: live.DoAttack, Ship: "A1"})
	assert.ErrorContains(t, err, "Nothing is measured in the Planning phase")
	for !strings.Contains(b.shown.Turn, "Engagement") {
		b.tap()
	}
	active := b.shown.Active[0]
	require.Equal(t, "A1", active)
	assert.Equal(t, live.Permit{Range: true, Arcs: true}, pair("A1", "B1"))
	assert.Equal(t, "only A1 measures now", pair("B1", "A1").Why)
	assert.False(t, pair("A1", "A2").Range, "an attack measures to enemies only")

	w := b.ask("GET", "/api/game/shots?ship=A1&arc=front", "")
	assert.Contains(t, w.Body.String(), "A1 (Wedge Antilles) can attack B1 at range 1: one more attack die.")
	w = b.ask("GET", "/api/game/shots?ship=B1&arc=front", "")
	assert.Contains(t, w.Body.String(), `"shots":[]`)
	assert.Contains(t, w.Body.String(), "only A1 measures now")
	assert.Equal(t, 400, b.ask("GET", "/api/game/shots?ship=A1&arc=side", "").Code)
	assert.Equal(t, 400, b.ask("GET", "/api/game/shots?ship=A1&arc=front&from=9", "").Code)
	assert.Equal(t, 403, b.ask("GET", "/api/game/check/setup", "").Code, "a setup is measured before the first ship moves")
}

func TestTheLogOfAGame(t *testing.T) {
	b := newBench(t)
	b.start("2.5")
	b.ask("POST", "/api/game/do", `{"kind":"rolled","player":2}`)
	b.tap()
	b.ask("POST", "/api/game/do", `{"kind":"said","text":"=1+1 <b>; =2+2;@x","ship":"=1+1","phase":"@x"}`)
	assert.Equal(t, 409, b.ask("POST", "/api/game/do", `{"kind":"ended","player":7}`).Code)
	b.ask("POST", "/api/game/do", `{"kind":"ended"}`)
	assert.Equal(t, "ended by the players", b.shown.Over)

	var doc struct{ Events []round.Event }
	w := b.ask("GET", "/api/games/1/export/json", "")
	require.Equal(t, 200, w.Code)
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &doc))
	g, err := round.Fold(doc.Events)
	require.NoError(t, err, "what is exported is the whole game")
	assert.True(t, g.Ended)

	lines, err := csv.NewReader(b.ask("GET", "/api/games/1/export/csv", "").Body).ReadAll()
	require.NoError(t, err)
	assert.Len(t, lines, len(doc.Events)+1)
	page := b.ask("GET", "/api/games/1/export/html", "").Body.String()
	assert.Contains(t, page, "Ada against Ben")
	assert.Contains(t, page, "=1&#43;1 &lt;b&gt;")
	for _, line := range lines {
		for _, cell := range line {
			for part := range strings.SplitSeq(cell, ";") { // in many countries a semicolon parts cells
				part = strings.TrimSpace(part)
				assert.False(t, part != "" && strings.Contains("=@+", part[:1]), "%s: no formula for a spreadsheet", cell)
			}
		}
	}
	assert.Equal(t, 404, b.ask("GET", "/api/games/1/export/pdf", "").Code)
	assert.Equal(t, 404, b.ask("GET", "/api/games/77/export/csv", "").Code)
	assert.Equal(t, 404, b.ask("GET", "/api/games/first", "").Code)
}

// The replay shows where ships were then, and measures again.
func TestTheReplayMeasuresAgain(t *testing.T) {
	b := newBench(t)
	b.start("2.0")
	b.tap()
	b.tap()
	first := b.shown.Active[0]
	before := b.game()["number"]
	b.straight2(first)
	type at struct {
		Turn, Answer, Meaning string
		Ships                 []struct {
			ID        string
			OutlineMM [4][2]float64 `json:"outline_mm"`
		}
	}
	get := func(n any) (out at) {
		w := b.ask("GET", "/api/games/1/at?event="+jsonOf(n)+"&from=A1&to=B1&arc=front", "")
		require.Equal(t, 200, w.Code, w.Body)
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &out))
		return out
	}
	y := func(a at) float64 {
		for _, s := range a.Ships {
			if s.ID == first {
				return s.OutlineMM[0][1]
			}
		}
		return 0
	}
	then, now := get(before), get(b.game()["number"])
	assert.InDelta(t, 120, math.Abs(y(then)-y(now)), 2)
	assert.Contains(t, then.Meaning, "A1 (Wedge Antilles) can attack B1 at range 1")
	assert.Equal(t, 404, b.ask("GET", "/api/games/1/at?event=999", "").Code)
	assert.Empty(t, get(1).Ships, "the table was not noted yet")
}

// A table that is not seen when a phase begins is noted as soon as it is.
func TestATableThatIsNotSeenIsNotedLater(t *testing.T) {
	b := newBench(t)
	dark := b.state()
	dark.Health = live.Health{Code: live.Stale}
	b.hub.Publish(dark)
	r := play.StartRequest{Edition: "2.0"}
	r.Players[0].Squad, r.Players[1].Squad = reds, blacks
	require.NoError(t, b.table.Start(r))
	assert.EqualValues(t, 1, b.game()["number"])
	b.look()
	assert.EqualValues(t, 2, b.game()["number"])
}

// Satellites are counted at the start of the End phase, and a tap confirms the points.
func TestTheScoreOfARoundIsProposed(t *testing.T) {
	b := newBench(t)
	b.scene.Rules = engine.Rules25
	b.scene.Markers = []engine.Token{{ID: "sat1", Kind: "satellite", Pose: geom.Pose{Point: geom.Point{X: 457, Y: 457}}, Sigma: 0.1,
		Outline: circle(22)}}
	for i := range b.scene.Ships {
		if b.scene.Ships[i].ID == "A1" {
			b.scene.Ships[i].Pose.Point = geom.Point{X: 420, Y: 340}
		}
	}
	r := play.StartRequest{Edition: "2.5", Scenario: round.Chance, Points: 20}
	r.Players[0].Squad, r.Players[1].Squad = reds, blacks
	require.NoError(t, b.table.Start(r))
	b.look()
	for b.shown.Round < 2 || b.shown.Phase != "End" {
		require.Equal(t, 204, b.tap().Code)
	}
	claims := jsonOf(b.game()["claims"])
	assert.Contains(t, claims, `"player":1,"points":`)
	score := b.shown.Score
	require.Equal(t, 204, b.ask("POST", "/api/game/do", `{"kind":"scored","player":1,"points":1,"round":2,"text":"contests"}`).Code)
	assert.Equal(t, score[0]+1, b.shown.Score[0])
	claims = jsonOf(b.game()["claims"])
	assert.NotContains(t, claims, `"player":1`)
	assert.Contains(t, claims, `"player":2`, "the other player's points are still to be confirmed")
	w := b.ask("GET", "/api/game/check/scenario", "")
	require.Equal(t, 200, w.Code, w.Body)
	assert.Contains(t, w.Body.String(), "sat1")
}

// What the camera does not see is not counted as not there.
func TestASatelliteOrAShipThatIsNotSeenIsNotCounted(t *testing.T) {
	b := newBench(t)
	b.scene.Rules = engine.Rules25
	satellite := []engine.Token{{ID: "sat1", Kind: "satellite", Pose: geom.Pose{Point: geom.Point{X: 457, Y: 457}}, Sigma: 0.1,
		Outline: circle(22)}}
	r := play.StartRequest{Edition: "2.5", Scenario: round.Chance, Points: 20}
	r.Players[0].Squad, r.Players[1].Squad = reds, blacks
	require.NoError(t, b.table.Start(r))
	b.look()
	for b.shown.Round < 2 || b.shown.Phase != "End" {
		require.Equal(t, 204, b.tap().Code)
	}
	g := b.game()
	assert.Empty(t, g["claims"], "no satellite is seen: that is not 0 points")
	assert.Equal(t, "0 of 1 satellites are seen on the table", g["uncounted"])
	b.scene.Markers = satellite
	b.look()
	claims := b.game()["claims"]
	assert.Len(t, claims, 2)
	stranger := b.scene.Ships[0]
	stranger.ID, stranger.Player, stranger.Pose.Point = "B7", 2, geom.Point{X: 457, Y: 560}
	b.scene.Ships = append(b.scene.Ships, stranger)
	b.look()
	assert.Equal(t, jsonOf(claims), jsonOf(b.game()["claims"]), "B7 is no ship of this game")
	b.scene.Ships = b.scene.Ships[:3]
	b.look()
	g = b.game()
	assert.Empty(t, g["claims"])
	assert.Contains(t, g["uncounted"], "is not seen on the table")
}

// A game that somebody changed does not hide the others.
func TestADamagedGameHidesNoOther(t *testing.T) {
	b := newBench(t)
	b.start("2.0")
	b.start("2.5")
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.dir, "rulings.db"))
	require.NoError(t, err)
	for _, change := range []string{"DROP TRIGGER game_events_no_update", "UPDATE game_events SET record = '{}' WHERE number = 1"} {
		_, err = db.Exec(change)
		require.NoError(t, err)
	}
	require.NoError(t, db.Close())
	var out strings.Builder
	assert.ErrorIs(t, play.Print(t.Context(), &out, b.log), rulings.ErrCorrupt)
	assert.Regexp(t, `(?m)^\d+ .*Ada against Ben .*2\.5`, out.String())
	assert.Regexp(t, `(?m)^1 +not readable`, out.String())
	b.start("2.5")
	var page struct {
		Games  []struct{ Rules string }
		Record string `json:"trouble"`
	}
	require.NoError(t, json.Unmarshal(b.ask("GET", "/api/game", "").Body.Bytes(), &page))
	assert.Len(t, page.Games, 2)
	assert.Contains(t, page.Record, "not as it was recorded")
}

// The log holds the measurements that somebody asked for in this game, and no others.
func TestWhatNobodyAskedIsNotInTheLog(t *testing.T) {
	b := newBench(t)
	b.start("2.0")
	asked := func() (n int) {
		return strings.Count(b.ask("GET", fmt.Sprintf("/api/games/%d", b.shown.ID), "").Body.String(), `"kind":"asked"`)
	}
	see := func(chosen bool, of *live.Play) {
		s := b.state()
		s.Chosen, s.Play, s.Choice.From, s.Choice.To = chosen, of, "A1", "B1"
		s = s.WithChoice(s.Choice)
		require.NotNil(t, s.Pair)
		b.table.See(&s)
	}
	see(false, b.shown)
	assert.Zero(t, asked(), "the program chose the pair")
	other := *b.shown
	other.ID++
	see(true, &other)
	assert.Zero(t, asked(), "it was made before this game began")
	see(true, b.shown)
	see(true, b.shown)
	assert.Equal(t, 1, asked())
}

func circle(r float64) (out []geom.Point) {
	for i := range 24 {
		a := geom.Angle(float64(i) * 15 * float64(geom.Degree))
		p := geom.Pose{Heading: a}.Forward()
		out = append(out, p.Mul(r))
	}
	return out
}

func TestGamesAreListedAndExported(t *testing.T) {
	b := newBench(t)
	var out strings.Builder
	require.NoError(t, play.Print(t.Context(), &out, b.log))
	assert.Equal(t, "no games\n", out.String())
	_, err := play.ExportFrom(t.Context(), b.log, 0, "json")
	assert.ErrorContains(t, err, "no game")
	b.start("2.0")
	assert.Equal(t, 400, b.ask("POST", "/api/game/do", `{"kind":"ended","text":"ended \u001b[31mby the players"}`).Code)
	b.ask("POST", "/api/game/do", `{"kind":"ended","text":"ended by the players"}`)
	out.Reset()
	require.NoError(t, play.Print(t.Context(), &out, b.log))
	assert.Regexp(t, `1 .*Ada against Ben .*2\.0 .*0 to 0 .*over: ended by the players`, out.String())
	data, err := play.ExportFrom(t.Context(), b.log, 0, "csv")
	require.NoError(t, err)
	assert.Contains(t, string(data), "Ada against Ben")
	assert.NotContains(t, string(data), "\x1b")
	_, err = play.ExportFrom(t.Context(), b.log, 7, "csv")
	assert.ErrorIs(t, err, rulings.ErrNoGame)
}

// A name that a person corrected is an event of the game, no ship has flown anything by it, and the game that is looked back at has the
// ships under their names from then on.
func TestACorrectedNameIsInTheGame(t *testing.T) {
	b := newBench(t)
	b.start("2.0")
	require.Equal(t, 204, b.tap().Code)
	events := func() (out []round.Event) {
		games, err := b.log.Games(t.Context())
		require.NoError(t, err)
		out, err = play.Load(t.Context(), b.log, games[0])
		require.NoError(t, err)
		return out
	}
	before := len(events())
	b.scene.Ships[0].ID, b.scene.Ships[1].ID = "A2", "A1"
	b.table.Rename("A1", "A2")
	b.look()
	now := events()
	require.Len(t, now, before+1, "%+v", now[before:])
	e := now[before]
	assert.Equal(t, []string{string(round.Renamed), "A1", "A2"}, []string{string(e.Kind), e.Ship, e.With})
	g, scene, ok, err := play.Scene(now)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, "What was taken for A1 (Wedge Antilles) is A2 (Luke Skywalker)", round.Words(g, &e))
	for _, s := range scene.Ships {
		if s.ID == "A2" {
			assert.Equal(t, 300.0, s.Pose.X, "the table as it was noted, with its names put right")
		}
	}
	assert.Zero(t, round.Undoable(now[before:]), "the camera follows them under these names: undo does not take that back")
}

// The replay of the game that is played measures no more than the agreement permits: its newest
// event is the present table.
func TestTheReplayKeepsTheAgreement(t *testing.T) {
	b := newBench(t)
	b.start("2.0")
	b.tap()
	answer := func() string {
		w := b.ask("GET", "/api/games/1/at?event="+jsonOf(b.game()["number"])+"&from=A1&to=B1&arc=front", "")
		require.Equal(t, 200, w.Code, w.Body)
		var out struct{ Answer, Meaning string }
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &out))
		return out.Answer + out.Meaning
	}
	assert.Contains(t, answer(), "Range 1")
	for _, m := range []live.Measuring{live.MeasuringJudge, live.MeasuringEdition} {
		b.policy.Measuring = m
		b.look()
		assert.NotContains(t, answer(), "ange 1", m)
		assert.NotContains(t, answer(), "attack", m)
		assert.NotEmpty(t, answer(), "it says why")
	}
	b.table.SetJudges(func(*http.Request) bool { return true })
	assert.Contains(t, answer(), "Range 1", "no agreement binds judges")
	b.table.SetJudges(func(*http.Request) bool { return false })
	require.Equal(t, http.StatusNoContent, b.ask("POST", "/api/game/do", `{"kind":"ended"}`).Code)
	b.look()
	assert.Contains(t, answer(), "Range 1", "after the game everyone may measure it")
}
