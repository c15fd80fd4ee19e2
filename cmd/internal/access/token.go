package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"sightline/cmd/internal/kept"
)

// A browser source in OBS has no login dialog and, embedded by a local file, no cookies. So its
// permission to read is a token in its address. Whoever has the address may read, and nothing else,
// until the token expires or the program's key changes.

// readTokenFor is the lifetime of an overlay's token: a season of evenings with the same scene in
// OBS.
const readTokenFor = 90 * 24 * time.Hour

// readToken returns a token that lets its bearer read: when it expires by the time of day, when it was made by the clock that is
// not set, and a signature.
func (s *sessions) readToken(now time.Time) string {
	made := s.clock.Stamp(now)
	said := strings.Join([]string{strconv.FormatInt(now.Add(readTokenFor).Unix(), 36), strconv.FormatInt(int64(made.Up), 36),
		strconv.FormatBool(made.Unset), shortBoot(made.Boot)}, "_")
	return said + "." + base64.RawURLEncoding.EncodeToString(s.mac("overlay", []byte(said)))
}

// shortBoot tells one start of the machine from another in the few letters that an address has room for.
func shortBoot(boot string) string {
	sum := sha256.Sum256([]byte(boot))
	return hex.EncodeToString(sum[:6])
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
	said, signature, ok := strings.Cut(token, ".")
	if !ok {
		return false
	}
	sum, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	if err != nil || !hmac.Equal(sum, s.mac("overlay", []byte(said))) {
		return false
	}
	until, rest, stamped := strings.Cut(said, "_")
	unix, err := strconv.ParseInt(until, 36, 64)
	if err != nil {
		return false
	}
	expires := time.Unix(unix, 0)
	if fields := strings.Split(rest, "_"); stamped && len(fields) == 3 { // earlier versions' have none
		if up, err := strconv.ParseInt(fields[0], 36, 64); err == nil {
			made := kept.Stamp{At: expires.Add(-readTokenFor), Up: float64(up), Unset: fields[1] == "true"}
			return s.tokenLeft(made, fields[2], now) > 0
		}
	}
	return now.Before(expires)
}

// tokenLeft returns how long a token is still valid, as left does: whatever the clock is set to while the machine runs.
func (s *sessions) tokenLeft(made kept.Stamp, boot string, now time.Time) time.Duration {
	if present := s.clock.Stamp(now).Boot; shortBoot(present) == boot {
		made.Boot = present
	}
	age, _ := s.clock.Since(made, now)
	return readTokenFor - age
}
