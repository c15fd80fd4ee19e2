package web_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/openapitest"
	"sightline/engine"
)

func described(t testing.TB, s http.Handler) openapitest.Document {
	answer := ask(s, http.MethodGet, "/api/openapi.json", "", network, "")
	require.Equal(t, http.StatusOK, answer.Code, answer.Body)
	return openapitest.Read(t, answer.Body.Bytes())
}

func TestEveryRouteIsDescribedAndNothingElse(t *testing.T) {
	_, s := everything(t)
	roles := map[string]string{}
	for _, r := range s.Routes() {
		roles[r.Pattern] = r.Role.String()
	}
	described(t, s).CheckRoutes(t, roles)
}

func TestEveryReferenceOfTheDescriptionLeadsSomewhere(t *testing.T) {
	_, s := everything(t)
	described(t, s).CheckReferences(t)
}

// Real answers, in several states of the table, say nothing that is not described.
func TestAnswersAreAsDescribed(t *testing.T) {
	states := map[string]func(*fakeTable){
		"a pair is answered": func(f *fakeTable) { f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront}) },
		"nothing is chosen":  func(*fakeTable) {},
		"too close":          func(f *fakeTable) { f.choose(live.Choice{From: "A1", To: "A2", Arc: engine.ArcFront}) },
		"no camera": func(f *fakeTable) {
			f.change(func(state *live.State) { *state = live.State{Health: live.Health{Code: live.NoCamera}} })
		},
	}
	for name, make := range states {
		t.Run(name, func(t *testing.T) {
			f, s := everything(t)
			make(f)
			d := described(t, s)
			checked := 0
			for _, r := range s.Routes() {
				method, asked := openapitest.Address(r.Pattern)
				line := routeLines[r.Pattern]
				if line.path != "" {
					asked = line.path
				}
				answer := ask(s, strings.ToUpper(method), asked, line.body, loopback, s.Cookie(access.Judge, "Jo", time.Now()))
				if d.CheckAnswer(t, r.Pattern, answer) {
					checked++
				}
			}
			assert.Greater(t, checked, 4)
		})
	}
}

func TestTheCheckOfTheDescriptionFindsWhatIsWrong(t *testing.T) {
	_, s := everything(t)
	d := described(t, s)
	var state map[string]any
	require.NoError(t, json.Unmarshal(ask(s, http.MethodGet, "/api/state", "", loopback, "").Body.Bytes(), &state))
	schema := map[string]any{"$ref": "#/components/schemas/State"}
	require.Empty(t, d.Check(schema, state, "state"))
	for name, spoil := range map[string]func(map[string]any){
		"a key too many":     func(m map[string]any) { m["surprise"] = 1.0 },
		"a key too few":      func(m map[string]any) { delete(m, "ships") },
		"a text for a list":  func(m map[string]any) { m["ships"] = "none" },
		"null for a number":  func(m map[string]any) { m["seq"] = nil },
		"a fraction":         func(m map[string]any) { m["seq"] = 1.5 },
		"no such state":      func(m map[string]any) { m["health"].(map[string]any)["code"] = "fine" },
		"a list in a number": func(m map[string]any) { m["sigmas"] = []any{3.0} },
	} {
		var copied map[string]any
		data, err := json.Marshal(state)
		require.NoError(t, err)
		require.NoError(t, json.NewDecoder(bytes.NewReader(data)).Decode(&copied))
		spoil(copied)
		assert.NotEmpty(t, d.Check(schema, copied, "state"), name)
	}
}
