package play_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/play"
	"sightline/engine"
)

// A ship that the data do not know is in the game all the same, and the log says so.
func TestAPilotThatTheDataDoNotKnowIsInTheGame(t *testing.T) {
	b := newBench(t)
	r := play.StartRequest{Edition: "2.0"}
	r.Players[0].Name = "Ada"
	r.Players[0].Squad = `{"faction":"rebelalliance","pilots":[{"id":"nobody","ship":"nothing","points":4},{"id":"wedgeantilles","ship":"t70xwing"}]}`
	r.Players[1].Squad = blacks
	require.NoError(t, b.table.Start(r))
	ships := jsonOf(b.game()["ships"])
	assert.Contains(t, ships, `"pilot":"nobody"`)
	assert.Contains(t, ships, `"pilot":"Wedge Antilles"`)
	says := jsonOf(b.game()["says"])
	assert.Contains(t, says, "The squad of Ada: the ship data do not know nobody, nothing.")
	assert.Contains(t, says, "The squad of Ada: wedgeantilles flies t65xwing, the squad says t70xwing.")
}

// G54: the sections of a huge ship of the first edition are two cards on one base.
func TestTheTwoSectionsOfAHugeShipAreOneShip(t *testing.T) {
	b := newBench(t)
	b.scene.Rules = engine.Rules1e
	b.look()
	section := func(id string, points int) string {
		return fmt.Sprintf(`{"name":%q,"ship":%[1]q,"points":%d}`, id, points)
	}
	for _, c := range []struct {
		name   string
		pilots []string
		ships  []string
	}{
		{"one ship", []string{section("cr90corvettefore", 50), section("cr90corvetteaft", 40)}, []string{"CR90 Corvette 90"}},
		{"the aft section first, another ship between", []string{section("cr90corvetteaft", 40), section("wedgeantilles", 29),
			section("cr90corvettefore", 50)}, []string{"CR90 Corvette 90", "Wedge Antilles 29"}},
		{"two ships", []string{section("cr90corvettefore", 50), section("cr90corvettefore", 51), section("cr90corvetteaft", 40),
			section("cr90corvetteaft", 41)}, []string{"CR90 Corvette 90", "CR90 Corvette 92"}},
		{"half a ship", []string{section("cr90corvettefore", 50)}, []string{"CR90 Corvette (Fore) 50"}},
		{"sections of two ships", []string{section("raiderclasscorvettefore", 50), section("cr90corvetteaft", 40)},
			[]string{"Raider-class Corvette (Fore) 50", "CR90 Corvette (Aft) 40"}},
	} {
		r := play.StartRequest{Edition: "1e"}
		r.Players[0].Squad = `{"faction":"rebel","version":"0.3.0","pilots":[` + strings.Join(c.pilots, ",") + `]}`
		r.Players[1].Squad = `{"faction":"imperial","version":"0.3.0","pilots":[{"name":"soontirfel","ship":"tieinterceptor"}]}`
		require.NoError(t, b.table.Start(r), c.name)
		var got []string
		for _, s := range b.game()["ships"].([]any) {
			if s := s.(map[string]any); s["player"] == 1.0 {
				got = append(got, fmt.Sprintf("%v %v", s["pilot"], s["points"]))
			}
		}
		assert.ElementsMatch(t, c.ships, got, c.name)
	}
}

func TestSquadsThatAreTooLargeAreRefusedInASentence(t *testing.T) {
	b := newBench(t)
	body := `{"edition":"2.0","players":[{"name":"Ada","squad":"` + strings.Repeat(" ", 70<<10) + `"},{"name":"Ben","squad":""}]}`
	w := b.ask("POST", "/api/game/start", body)
	assert.Equal(t, http.StatusRequestEntityTooLarge, w.Code)
	assert.Equal(t, "The two squads are too large: 71 kB together, and at most 64 kB are taken. A squad of a builder has 1 to 10 kB; leave "+
		"out what is no squad.\n", w.Body.String())

	mux := http.NewServeMux()
	for _, route := range b.table.Routes() {
		mux.HandleFunc(route.Pattern, route.Handler)
	}
	sent := httptest.NewRequest("POST", "/api/game/start", strings.NewReader(body))
	sent.ContentLength = -1 // in pieces
	w = httptest.NewRecorder()
	mux.ServeHTTP(w, sent)
	assert.Equal(t, http.StatusBadRequest, w.Code)
	assert.Contains(t, w.Body.String(), "too large")
	assert.Nil(t, b.game())
}

// What can be attacked is not said for want of a picture, and not of the ship.
func TestWhyNothingIsSaidOfAnAttack(t *testing.T) {
	b := newBench(t)
	b.start("2.0")
	s := b.hub.Newest()
	s.Health.Code, s.Health.Title = "no_camera", "No camera"
	b.hub.Publish(s)
	assert.Contains(t, b.ask("GET", "/api/game/shots?ship=A1&arc=front", "").Body.String(), `"reason":"no camera"`)
	b.look()
	assert.Contains(t, b.ask("GET", "/api/game/shots?ship=A7&arc=front", "").Body.String(), `"reason":"A7 is not seen on the table"`)
}

// The first edition's arcs come from the ship data: what no camera reads is measured all the same.
func TestWhatFirstEditionShipsAttack(t *testing.T) {
	b := newBench(t)
	b.policy = live.Policy{}
	b.scene.Rules = engine.Rules1e
	b.look()
	squads := [2]string{`{"faction":"rebel","pilots":[{"name":"wedgeantilles","ship":"xwing"},{"name":"ketsuonyo","ship":"lancerclasspursuitcraft"}]}`,
		`{"faction":"imperial","pilots":[{"name":"soontirfel","ship":"tieinterceptor"},{"name":"bobafett","ship":"firespray31"}]}`}
	require.Equal(t, http.StatusNoContent, b.ask("POST", "/api/game/start", fmt.Sprintf(`{"edition":"1e","players":[{"squad":%q},{"squad":%q}]}`,
		squads[0], squads[1])).Code)
	require.NotNil(t, b.shown.Printed)
	b.shown.Printed.Apply(&b.scene) // as the pipeline does
	b.look()
	said := func(query string) string { return b.ask("GET", "/api/game/shots?"+query, "").Body.String() }
	assert.Contains(t, said("ship=B2&arc=rear_aux"), "outside the rear aux arc")
	assert.NotContains(t, said("ship=B2&arc=rear_aux"), "no rear aux")
	assert.Contains(t, said("ship=B2&arc=rear_aux&special=1"), "secondary weapons do not fire in the rear aux arc")
	// A1 stands at 300, 300 and B1 before it at 300, 420; A2 at 500, 100 has B1 on its left.
	assert.Contains(t, said("ship=A1&arc=primary_turret&special=1&from=1&to=2"), "A1 (Wedge Antilles) can attack B1 at range 1.")
	left := said("ship=A2&arc=left")
	assert.Contains(t, left, "B1")
	assert.NotContains(t, left, "Not known")
	assert.NotContains(t, left, "no primary weapon")

	require.Equal(t, http.StatusNoContent, b.ask("POST", "/api/game/do", `{"kind":"changed","ship":"B1","status":"destroyed"}`).Code)
	b.look()
	assert.Contains(t, said("ship=A1&arc=front"), "No shot: B1 is destroyed.")
}

// Where things may be placed is drawn as a plan, or alone, as large as the mat.
func TestTheAreasAreDrawnToLieOverThePicture(t *testing.T) {
	b := newBench(t)
	b.policy = live.Policy{}
	b.look()
	plan, over := b.ask("GET", "/api/game/setup.svg?area=ships", ""), b.ask("GET", "/api/game/setup.svg?area=ships&over=picture", "")
	assert.Contains(t, plan.Body.String(), "A1")
	assert.Contains(t, over.Body.String(), `viewBox="0 0 914.4 914.4"`)
	assert.NotContains(t, over.Body.String(), "A1")
	assert.Equal(t, 2, strings.Count(over.Body.String(), `<g class="legal"`))
	assert.Equal(t, http.StatusBadRequest, b.ask("GET", "/api/game/setup.svg?area=ships&over=lamp", "").Code)
}
