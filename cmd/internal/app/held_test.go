package app

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
)

func TestWhetherAPictureIsHeldIsAskedOfTheProgramThatRuns(t *testing.T) {
	status, body := http.StatusOK, ""
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/healthz", r.URL.Path)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	})
	s, encrypted := httptest.NewServer(answer), httptest.NewTLSServer(answer)
	t.Cleanup(func() { s.Close(); encrypted.Close() })
	encrypted.TLS.MinVersion = tls.VersionTLS12
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	require.NoError(t, err)
	for name, c := range map[string]struct {
		status int
		body   string
		held   bool
		err    string
	}{
		"held":             {503, `{"status":"frozen","held":true}`, true, ""},
		"not held":         {200, `{"status":"ok","held":false}`, false, ""},
		"not, no camera":   {503, `{"status":"no_camera","held":false}`, false, ""},
		"an older version": {200, `{"status":"ok"}`, false, "does not name it"},
		"another program":  {404, `<html>`, false, "whether a picture is held"},
		"an endless one":   {200, strings.Repeat(" ", 1<<20), false, "whether a picture is held"},
	} {
		status, body = c.status, c.body
		for _, w := range []Web{{Listen: ":" + port}, {Listen: "0.0.0.0:" + port}, {Listen: "localhost:" + port},
			{Listen: encrypted.Listener.Addr().String(), TLSCertificate: "some.pem"}} {
			held, err := Held(t.Context(), w, false)
			assert.Equal(t, c.held, held != "", name)
			if c.err == "" {
				assert.NoError(t, err, name)
			} else {
				assert.ErrorContains(t, err, c.err, name)
			}
		}
	}
	s.Close()
	_, err = Held(t.Context(), Web{Listen: ":" + port}, false)
	assert.ErrorContains(t, err, "the program does not answer")
}

// TestNothingIsHeldBeforeARestart: what is asked before a restart keeps the picture from being held,
// which closes the time between the question and the restart; something that is held is not touched.
func TestNothingIsHeldBeforeARestart(t *testing.T) {
	c := newCourt(t, func(_ *desk, o *deskParts) { o.Judges = true })
	c.aPicture()
	var answer int // in place of the program's own, as another version gives it
	own := web.NewServer(web.Options{Hub: c.hub, Freeze: c.game.Hold, AskJudge: c.game.AskJudgeFor})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && answer != 0 {
			w.WriteHeader(answer)
			return
		}
		own.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	at := Web{Listen: s.Listener.Addr().String()}

	held, err := Held(t.Context(), at, false)
	require.NoError(t, err)
	assert.Empty(t, held)
	require.NoError(t, c.game.AskJudgeFor("Ada"), "asking alone changes nothing")
	held, err = Held(t.Context(), at, true)
	require.NoError(t, err)
	assert.Equal(t, "A picture is held, and a restart may lose it.", held)
	asked := c.hub.Newest().Hold.Number
	require.NoError(t, c.game.Hold(live.HoldRequest{Held: asked, By: "a player"}))
	held, err = Held(t.Context(), at, true)
	require.NoError(t, err)
	assert.Contains(t, held, "A picture that was held for a judge was released by a player: a judge can hold it again until ")
	require.NoError(t, c.game.Hold(live.HoldRequest{Hold: true, Held: asked, Judge: true}))
	require.NoError(t, c.game.Hold(live.HoldRequest{Judge: true}))

	held, err = Held(t.Context(), at, true)
	require.NoError(t, err)
	assert.Empty(t, held)
	require.ErrorIs(t, c.game.AskJudgeFor("Ada"), live.ErrRestarting)
	assert.Nil(t, c.hub.Newest().Hold)

	for status, problem := range map[int]string{400: "", 403: "", 500: "status 500"} {
		answer = status
		_, err = Held(t.Context(), at, true)
		if problem == "" {
			assert.NoError(t, err, "%d: healthz has said it", status)
		} else {
			assert.ErrorContains(t, err, problem)
		}
	}
	answer = http.StatusConflict
	held, err = Held(t.Context(), at, true)
	require.NoError(t, err)
	assert.NotEmpty(t, held, "it was held since healthz was asked")
}
