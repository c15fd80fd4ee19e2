package hall_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/hall"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/openapitest"
)

// TestEveryAddressOfTheHallIsDescribed: its OpenAPI document has every route and nothing else,
// and answers say nothing that is not described.
func TestEveryAddressOfTheHallIsDescribed(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	_, raw := r.get(t, "/api/openapi.json")
	d := openapitest.Read(t, raw)
	d.CheckRoutes(t, hall.Roles())
	d.CheckReferences(t)

	p := join(t, r.invite(t, "7"))
	r.invite(t, "8") // and does not come
	p.hub.Update(func(s live.State) live.State {
		s.Play = &live.Play{ID: 1, Round: 2, Rounds: 12, Phase: "planning", Players: [2]string{"Ada", "Ben"}}
		s.Hold = &live.Held{Number: 4711, At: s.At, AskedBy: "Ada"}
		return s
	})
	e := p.book.rule(t, "to be described", 1000)
	eventually(t, "all is there", func() bool { k := r.tile(t, "7"); return k.Live && k.Rulings == 1 })
	judge := asJudge(t, r)
	asked := map[string]struct{ path, body string }{ // what a pattern stands for
		"GET /hall/{file}": {"/hall/hall.js", ""}, "GET /{file...}": {"/tokens.css", ""}, "GET /overlay/{widget}": {"/overlay/all?table=7", ""},
		"PUT /api/program": {"/api/program", `{"table":"7"}`}, "GET /api/search": {"/api/search?q=table", ""},
		"GET /api/rulings/{table}/{number}/{hash}": {"/api/rulings/7/1/" + e.Hash, ""},
		"GET /api/pictures/{table}/{sha256}":       {"/api/pictures/7/" + e.SHA256, ""},
		"PUT /api/pairings":                        {"/api/pairings", "table,player1,player2\n7,Ada,Ben\n"},
		"GET /t/{table}/api/events":                {"/t/9/api/events", ""}, // an endless one is not read here
		"GET /t/{table}/overlay/clock":             {"/t/7/overlay/clock", ""},
		"GET /t/{table}/{path...}":                 {"/t/7/api/state", ""}, "POST /t/{table}/{path...}": {"/t/7/api/x", "{}"},
		"PATCH /t/{table}/{path...}": {"/t/7/api/x", "{}"},
	}
	checked := 0
	for pattern := range hall.Roles() {
		method, path, _ := strings.Cut(pattern, " ")
		ask := asked[pattern]
		if ask.path == "" {
			ask.path = strings.TrimSuffix(path, "{$}")
		}
		for _, c := range []*http.Client{judge, http.DefaultClient} {
			q, err := http.NewRequest(method, r.page+ask.path, strings.NewReader(ask.body))
			require.NoError(t, err)
			answer, err := c.Do(q)
			require.NoError(t, err, pattern)
			body, err := io.ReadAll(answer.Body)
			require.NoError(t, err, pattern)
			answer.Body.Close()
			as := &httptest.ResponseRecorder{Code: answer.StatusCode, HeaderMap: answer.Header, Body: bytes.NewBuffer(body)}
			if d.CheckAnswer(t, pattern, as) {
				checked++
			}
		}
	}
	assert.Greater(t, checked, 15)
	for _, name := range []string{"8", "nobody", "a.b", "program"} {
		status, _ := r.get(t, fmt.Sprintf("/t/%s/api/state", name))
		assert.Contains(t, []int{404, 502}, status, name)
	}
}
