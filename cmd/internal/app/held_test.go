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
			held, err := Held(t.Context(), w)
			assert.Equal(t, c.held, held, name)
			if c.err == "" {
				assert.NoError(t, err, name)
			} else {
				assert.ErrorContains(t, err, c.err, name)
			}
		}
	}
	s.Close()
	_, err = Held(t.Context(), Web{Listen: ":" + port})
	assert.ErrorContains(t, err, "the program does not answer")
}
