package web_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/access"
)

// What a judge was called for is let go by a judge, or by a player who names it.
func TestWhoLetsGoWhatWaitsForAJudge(t *testing.T) {
	c := newCourtroom(t)
	player := c.server.Cookie(access.Player, "Ada", c.hub.Newest().At)
	asPlayer := func(body string) (int, string) {
		a := ask(c.server, "POST", "/api/freeze", body, loopback, player)
		return a.Code, a.Body.String()
	}
	require.Equal(t, 200, c.do("POST", "/api/ask-judge", `{"by":"player 2"}`).Code)
	number := c.held()

	status, text := asPlayer(`{"hold":false}`)
	assert.Equal(t, http.StatusConflict, status)
	assert.Contains(t, text, "A judge was called by player 2 at ")
	assert.Contains(t, text, fmt.Sprintf(`{"hold":false,"held":%d}`, number))
	require.NotNil(t, c.hub.Newest().Hold, "it is held still")
	status, text = asPlayer(`{"hold":false,"held":1}`)
	assert.Equal(t, http.StatusConflict, status)
	assert.Contains(t, text, "Something else is held now")
	status, _ = asPlayer(fmt.Sprintf(`{"hold":false,"held":%d}`, number))
	assert.Equal(t, http.StatusOK, status)
	require.Nil(t, c.hub.Newest().Hold)

	// A judge finds it and holds it again; a player cannot.
	state := ask(c.server, "GET", "/api/state", "", network, "").Body.String()
	assert.Contains(t, state, fmt.Sprintf(`"released":[{"number":%d,`, number))
	again := fmt.Sprintf(`{"hold":true,"held":%d}`, number)
	status, text = asPlayer(again)
	assert.Equal(t, http.StatusForbidden, status, text)
	require.Equal(t, 200, c.do("POST", "/api/freeze", again).Code)
	assert.Equal(t, number, c.held(), "it is the same")
	assert.Equal(t, 201, c.do("POST", "/api/rulings", c.sending(confirm)).Code)
	status, _ = asPlayer(`{"hold":false}`)
	assert.Equal(t, http.StatusOK, status, "what was ruled on waits for nobody")
	gone := c.do("POST", "/api/freeze", `{"hold":true,"held":7}`)
	assert.Equal(t, http.StatusConflict, gone.Code)
	assert.Contains(t, gone.Body.String(), "no longer kept")

	// What no one was called for is anyone's.
	require.Equal(t, 200, ask(c.server, "POST", "/api/freeze", `{"hold":true}`, loopback, player).Code)
	status, _ = asPlayer(`{"hold":false}`)
	assert.Equal(t, http.StatusOK, status)
}

// TestOnlyTheMachineItselfAnnouncesItsRestart: a player far away cannot keep others from asking for
// a judge.
func TestOnlyTheMachineItselfAnnouncesItsRestart(t *testing.T) {
	c := newCourtroom(t)
	player := c.server.Cookie(access.Player, "Ada", c.hub.Newest().At)
	const announced = `{"hold":false,"restart":true}`
	assert.Equal(t, http.StatusForbidden, ask(c.server, "POST", "/api/freeze", announced, network, player).Code)
	assert.Equal(t, http.StatusForbidden, c.do("POST", "/api/freeze", `{"hold":true,"restart":true}`).Code)
	assert.Equal(t, http.StatusOK, ask(c.server, "POST", "/api/freeze", announced, loopback, "").Code)
}
