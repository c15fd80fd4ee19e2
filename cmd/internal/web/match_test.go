package web_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
)

// asked asks a server without a network and returns status and text.
func asked(t testing.TB, s http.Handler, method, path, body string, header ...string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:40000"
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, strings.TrimSpace(w.Body.String())
}

func patchMatch(t testing.TB, s *web.Server, body string, header ...string) (int, string) {
	t.Helper()
	return asked(t, s, http.MethodPatch, "/api/match", body, header...)
}

func TestTheMatchChangesInPartsAndIsInTheState(t *testing.T) {
	f := newFakeTable(t)
	s := f.server()
	status, text := patchMatch(t, s,
		`{"title":"Store championship","round":"Round 3","sides":[{"name":"Ada","score":7,"squad_points":20},{"name":"Ben"}]}`)
	require.Equal(t, http.StatusNoContent, status, text)
	status, text = patchMatch(t, s, `{"sides":[{},{"score":4}]}`)
	require.Equal(t, http.StatusNoContent, status, text)
	want := live.Match{Title: "Store championship", Round: "Round 3", Sides: [2]live.MatchSide{{Name: "Ada", Score: 7, Squad: 20},
		{Name: "Ben", Score: 4}}}
	assert.Equal(t, want, f.hub.Newest().Match)
	_, state := asked(t, s, http.MethodGet, "/api/state", "")
	assert.Contains(t, state,
		`"match":{"title":"Store championship","round":"Round 3","sides":[{"name":"Ada","score":7,"squad_points":20},{"name":"Ben","score":4,"squad_points":0}]}`)
}

func TestABadMatchIsRefusedWithASentence(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"not JSON":            {`round 3`, "must be JSON such as"},
		"unknown key":         {`{"rounds":"3"}`, "rounds"},
		"two documents":       {`{} {}`, "something follows it"},
		"one side":            {`{"sides":[{"name":"Ada"}]}`, "two sides, got 1"},
		"score below zero":    {`{"sides":[{"score":-1},{}]}`, "Player 1's score must be 0 to 999, got -1"},
		"score not whole":     {`{"sides":[{},{"score":1.5}]}`, "must be JSON such as"},
		"a name of 33":        {`{"sides":[{},{"name":"` + strings.Repeat("é", 33) + `"}]}`, "Player 2's name has at most 32 characters, got 33"},
		"a line break":        {`{"title":"a\nb"}`, "printable text on one line"},
		"a turned-round text": {`{"title":"a\u202eb"}`, "printable text on one line"},
		"a huge body":         {`{"title":"` + strings.Repeat("x", 10000) + `"}`, "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeTable(t)
			status, text := patchMatch(t, f.server(), c.body)
			assert.Equal(t, http.StatusBadRequest, status)
			assert.Contains(t, text, c.want)
			assert.Zero(t, f.hub.Newest().Match, "nothing has changed")
		})
	}
}

func TestAMatchThatCannotBeKeptIsSaidToWhoWroteIt(t *testing.T) {
	f := newFakeTable(t)
	s := web.NewServer(web.Options{Hub: f.hub, Choose: f.choose, SetMatch: func(live.Match) error {
		return errors.New(
			"match.json: no space left on device")
	}})
	status, text := patchMatch(t, s, `{"round":"4"}`)
	assert.Equal(t, http.StatusInsufficientStorage, status)
	assert.Contains(t, text, "no space left on device")
}

func TestAnotherSiteCannotWriteTheMatch(t *testing.T) {
	f := newFakeTable(t)
	status, _ := patchMatch(t, f.server(), `{"round":"4"}`, "Origin", "https://elsewhere.example", "Sec-Fetch-Site", "cross-site")
	assert.Equal(t, http.StatusForbidden, status)
	assert.Zero(t, f.hub.Newest().Match)
}
