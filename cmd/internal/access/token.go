package access

import (
	"crypto/hmac"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// A browser source in OBS has no login dialog and, embedded by a local file, no cookies. So its
// permission to read is a token in its address. Whoever has the address may read, and nothing else,
// until the token expires or the program's key changes.

// readTokenFor is the lifetime of an overlay's token: a season of evenings with the same scene in
// OBS.
const readTokenFor = 90 * 24 * time.Hour

// readToken returns a token that lets its bearer read.
func (s *sessions) readToken(now time.Time) string {
	until := strconv.FormatInt(now.Add(readTokenFor).Unix(), 36)
	return until + "." + base64.RawURLEncoding.EncodeToString(s.mac("overlay", []byte(until)))
}

// ReadToken returns a token that lets its bearer read, and when it expires.
func (g *Guard) ReadToken() (token string, until time.Time) {
	now := g.now()
	return g.sessions.readToken(now), now.Add(readTokenFor)
}

// maySee reports whether a token was signed with this key and has not expired.
func (s *sessions) maySee(token string, now time.Time) bool {
	if token == "" || len(token) > 128 {
		return false
	}
	until, signature, ok := strings.Cut(token, ".")
	if !ok {
		return false
	}
	sum, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	if err != nil || !hmac.Equal(sum, s.mac("overlay", []byte(until))) {
		return false
	}
	unix, err := strconv.ParseInt(until, 36, 64)
	return err == nil && now.Unix() < unix
}
