package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/event"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/play"
	"sightline/cmd/internal/round"
	"sightline/cmd/internal/web"
	"sightline/engine"
)

// A base that is one of two ships, or one that was shown or another, has no name on any way out of the program.
var unsure = map[string][]string{"one of two": {"A1", "A2"}, "one or a stranger": {"A1"}}

// Where names may stand that a base is not said to have: the list of what it may be, which look fits best, and both names together.
var (
	mayBe    = regexp.MustCompile(`\\?"name_doubt\\?":\s*\[[^\]]*\]|\\?"look\\?":\s*\\?"[^"]*"|A1 or A2|A1 or another( ship)?`)
	sureName = regexp.MustCompile(`.{0,60}\bA[12]\b.{0,60}`)
)

// unsureCourt is a court before a table on which one base is unsure, with all that tells of it.
type unsureCourt struct {
	*court
	log   bytes.Buffer
	table *play.Table
	page  *web.Server
}

func newUnsureCourt(t *testing.T, may []string) *unsureCourt {
	u := &unsureCourt{}
	log := slog.New(slog.NewTextHandler(&u.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	u.court = newCourt(t, func(b *desk, o *deskParts) {
		s := shipAt("A1", 300, 300)
		s.ID, s.NameDoubt, s.Look, s.Seen = "?1", may, "A1", "look"
		b.ships = []engine.Ship{s, shipAt("B1", 300, 487)}
		o.gameOptions.Log, o.RegistrationOptions.Log = log, log
	})
	u.judges.log = log
	u.table = play.New(play.Options{Hub: u.hub, Record: u.judges.record, Show: u.game.SetPlay, SetEdition: u.game.SetEdition, Log: log,
		Now: func() time.Time { return u.now }})
	u.page = web.NewServer(web.Options{Hub: u.hub, Choose: u.game.Choose, Freeze: u.game.Hold, AskJudge: u.game.AskJudgeFor, Rulings: u.judges,
		SetMatch: u.game.SetMatch, Agree: u.game.Agree, Declare: u.game.Declare, Routes: u.table.Routes()})
	return u
}

// get returns what an address answers to a judge, as far as it is text.
func (u *unsureCourt) get(t *testing.T, address string) string {
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+address, nil)
	ctx := access.WithSession(t.Context(), access.Session{Role: access.Judge, Expires: u.now.Add(24 * time.Hour)})
	answer := httptest.NewRecorder()
	u.page.ServeHTTP(answer, r.WithContext(ctx))
	kind := answer.Header().Get("Content-Type")
	if strings.HasPrefix(kind, "image/") && kind != "image/svg+xml" {
		return ""
	}
	return answer.Body.String()
}

// ways returns everything that leaves the program, by where it goes.
func (u *unsureCourt) ways(t *testing.T) map[string]string {
	out := map[string]string{"log": u.log.String()}
	for _, address := range []string{"/api/state", "/api/scene", "/api/measure", "/api/table.json", "/api/held", "/api/rulings",
		"/api/rulings/1", "/api/rulings/1/export.html", "/api/game", "/api/game/shots", "/api/game/setup.svg", "/api/games/1",
		"/api/games/1/at?event=1", "/api/games/1/export/html", "/metrics", "/healthz"} {
		if out[address] = u.get(t, address); len(out[address]) < 3 {
			assert.Fail(t, "an address says nothing", address)
		}
	}
	state := u.hub.Newest()
	panel, err := json.Marshal(state.Panel)
	require.NoError(t, err)
	health, err := json.Marshal(event.HealthOf(&state, func(time.Time) int64 { return 0 }))
	require.NoError(t, err)
	out["panel"], out["hall"], out["notes"], out["text"] = string(panel), string(health), u.notes(), fmt.Sprintf("%+v", state.Text())
	return out
}

// without fails for each way on which a sure name leaves the program.
func without(t *testing.T, ways map[string]string) {
	t.Helper()
	for where, text := range ways {
		for _, found := range sureName.FindAllString(mayBe.ReplaceAllString(html.UnescapeString(text), ""), -1) {
			assert.Fail(t, "a doubtful name is said to be sure", "%s: …%s…", where, found)
		}
	}
}

func TestADoubtfulNameIsNowhereAName(t *testing.T) {
	for name, may := range unsure {
		t.Run(name, func(t *testing.T) {
			u := newUnsureCourt(t, may)
			u.aPicture()
			u.game.Choose(live.Choice{From: "?1", To: "B1", Arc: engine.ArcFront})
			u.picture(deskFrame)
			ways := u.ways(t)
			require.Contains(t, ways["/api/state"], `"id":"?1"`)
			require.Contains(t, ways["hall"], `"?1"`)
			require.Contains(t, ways["panel"], `"?1"`)
			without(t, ways)

			u.game.AskJudgeFor("player 1")
			_, err := u.rule()
			require.ErrorContains(t, err, "A1 is not in the held picture", "no ruling on a name that no base has")
			u.ships[0].ID, u.ships[0].NameDoubt = "A1", nil // while it is held a person says which ship it is
			u.picture(deskFrame)
			r, err := u.rule(func(r *live.RuleRequest) { r.From, r.Judge = "?1", "Jo" })
			require.NoError(t, err)
			assert.Contains(t, r.Text, "?1 ("+live.PossibleShips(may)+") to B1")
			entry, err := u.judges.Entry(1)
			require.NoError(t, err)
			record, err := u.judges.record()
			require.NoError(t, err)
			var page bytes.Buffer
			require.NoError(t, u.judges.Export(&page, 1))
			replayed, err := record.Replay(t.Context(), 1, "v-test")
			require.NoError(t, err)
			ways = u.ways(t)
			ways["entry"], ways["export"], ways["replay"] = string(entry), page.String(), fmt.Sprintf("%+v", replayed)
			without(t, ways)
		})
	}
}

// The squads of a game of two ships alike against one.
const (
	twoWings = `{"version":"2.0.0","faction":"rebelalliance","name":"Red","pilots":[{"id":"wedgeantilles","ship":"t65xwing","points":6},
		{"id":"lukeskywalker","ship":"t65xwing","points":6}]}`
	oneTie = `{"version":"2.0.0","faction":"galacticempire","name":"Black","pilots":[{"id":"howlrunner","ship":"tielnfighter","points":4}]}`
)

// A game that begins over bases without names has the ships that they may be, and no pilot flies a number; what such a base does is no
// ship's in its log.
func TestAGameOverUnsureBases(t *testing.T) {
	u := newUnsureCourt(t, []string{"A1", "A2"})
	second := u.ships[0]
	second.ID, second.Pose.X = "?2", 500
	u.ships = append(u.ships, second)
	u.aPicture()
	request := play.StartRequest{Edition: "2.5"}
	request.Players[0].Squad, request.Players[1].Squad = twoWings, oneTie
	require.NoError(t, u.table.Start(request))
	u.game.Choose(live.Choice{From: "?1", To: "B1", Arc: engine.ArcFront})
	for i := range 30 { // ?1 moves, and rests there
		u.ships[0].Pose.Y = 300 + 4*float64(min(i, 10))
		s := u.picture(deskFrame)
		u.table.See(&s)
	}
	var said struct {
		Ships []struct{ ID, Name string }
		Play  struct{ Ships []live.PlayShip }
	}
	require.NoError(t, json.Unmarshal([]byte(u.get(t, "/api/state")), &said))
	require.Len(t, said.Ships, 3)
	for _, s := range said.Ships {
		assert.Equal(t, s.ID == "B1", strings.Contains(s.Name, "("), "a pilot is named of %s only where it is sure: %s", s.ID, s.Name)
	}
	var pilots []string
	for _, s := range said.Play.Ships {
		pilots = append(pilots, s.ID+" "+s.Pilot)
	}
	assert.Equal(t, []string{"A1 Wedge Antilles", "A2 Luke Skywalker", "B1 “Howlrunner”"}, pilots)

	var game struct{ Events []round.Event }
	require.NoError(t, json.Unmarshal([]byte(u.get(t, "/api/games/1")), &game))
	asked := false
	for _, e := range game.Events[1:] {
		assert.NotContains(t, []string{"A1", "A2"}, e.Ship, "%+v", e)
		assert.NotEqual(t, round.Moved, e.Kind, "%+v", e)
		asked = asked || e.Kind == round.Asked && e.Ship == "?1"
	}
	assert.True(t, asked)
	var then struct{ Ships []struct{ ID, Name string } }
	require.NoError(t, json.Unmarshal([]byte(u.get(t, fmt.Sprintf("/api/games/1/at?event=%d", len(game.Events)))), &then))
	require.Len(t, then.Ships, 3)
	assert.Equal(t, "?1 (A1 or A2)", then.Ships[0].Name)
}

// A base without a name that is chosen stays the chosen one when it gets a name, and another base that gets its number is not.
func TestAChosenNumberIsOneBase(t *testing.T) {
	for name, c := range map[string]struct {
		then func(*unsureCourt)
		want string
	}{
		"it is named":                       {func(u *unsureCourt) { u.ships[0].ID, u.ships[0].NameDoubt = "A2", nil }, "A2"},
		"it is covered":                     {func(u *unsureCourt) { u.ships = u.ships[1:] }, "?1"},
		"it moves":                          {func(u *unsureCourt) { u.ships[0].Pose.X += 4 }, "?1"},
		"another base gets its number":      {func(u *unsureCourt) { u.ships[0].Pose.X += 150 }, ""},
		"a base of another size has it now": {func(u *unsureCourt) { u.ships[0].Base = engine.Large }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUnsureCourt(t, []string{"A1", "A2"})
			u.aPicture()
			u.game.Choose(live.Choice{From: "?1", To: "B1", Arc: engine.ArcFront})
			u.picture(deskFrame)
			c.then(u)
			assert.Equal(t, c.want, u.picture(deskFrame).Choice.From)
			assert.Equal(t, "B1", u.hub.Newest().Choice.To)
		})
	}
}
