package play_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/play"
)

// A ship of which the data know nothing is in the game all the same, and the log says so.
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
