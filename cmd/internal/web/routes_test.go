package web_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/web"
)

// TestRoutesOfOtherPackagesAreGuarded: an address that another package answers needs its
// role, and a request from another site is refused.
func TestRoutesOfOtherPackagesAreGuarded(t *testing.T) {
	answers := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") }
	_, s := everything(t, func(o *web.Options) {
		o.Routes = []web.Route{ // in place of the real ones
			{Pattern: "GET /api/other", Role: access.Reader, Handler: answers},
			{Pattern: "POST /api/other", Role: access.Player, Handler: answers},
			{Pattern: "GET /api/other/events", Role: access.Reader, Handler: answers, Streams: true},
		}
	})
	for _, c := range []struct {
		method, path, peer string
		header             []string
		want               int
	}{
		{http.MethodGet, "/api/other", network, nil, http.StatusOK},
		{http.MethodGet, "/api/other/events", network, nil, http.StatusOK},
		{http.MethodPost, "/api/other", network, nil, http.StatusForbidden},
		{http.MethodPost, "/api/other", loopback, nil, http.StatusOK},
		{http.MethodPost, "/api/other", loopback, []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
	} {
		answer := ask(s, c.method, c.path, "", c.peer, "", c.header...)
		assert.Equal(t, c.want, answer.Code, "%s %s by %s %v: %s", c.method, c.path, c.peer, c.header, answer.Body)
	}
}

// TestRoutesOfOtherPackagesMayTakeMore: a body is as long as its route says at most, and every other one is short.
func TestRoutesOfOtherPackagesMayTakeMore(t *testing.T) {
	counts := func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprint(w, n, err != nil)
	}
	_, s := everything(t, func(o *web.Options) {
		o.Routes = []web.Route{
			{Pattern: "POST /api/photo", Role: access.Player, Handler: counts, Body: 100 << 10},
			{Pattern: "POST /api/word", Role: access.Player, Handler: counts},
		}
	})
	long := strings.Repeat("x", 100<<10)
	assert.Equal(t, "102400 false", ask(s, http.MethodPost, "/api/photo", long, loopback, "").Body.String())
	assert.Equal(t, "102400 true", ask(s, http.MethodPost, "/api/photo", long+"x", loopback, "").Body.String())
	assert.Equal(t, "65536 true", ask(s, http.MethodPost, "/api/word", long, loopback, "").Body.String())
}
