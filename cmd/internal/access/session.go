package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"sightline/cmd/internal/kept"
)

// The lifetimes of pairings, and limits.
const (
	playerFor  = 7 * 24 * time.Hour
	judgeFor   = 12 * time.Hour
	knownFor   = 90 * 24 * time.Hour // how long a device that was paired is not a stranger
	cookieMost = 1 << 10
	endedMost  = 4096 // revoked pairings that are remembered
)

// keyBytes is the least length of a key that signs sessions.
const keyBytes = 32

// sessions makes and verifies the signed cookies of paired devices. Cookies are signed, not
// encrypted.
type sessions struct {
	key    []byte
	cookie string // its name
	judge  string // tag of the judge's secret: changing the secret ends the judges' sessions
	clock  *kept.Clock

	mu    sync.Mutex           // guards the following field
	ended map[string]time.Time // revoked pairings, with their expiry by the clock that is not set
}

// newSessions returns sessions signed with the options' key, or with a random one if there is none.
// Browsers send cookies to all ports of a machine, so a hall's cookies have another name.
func newSessions(o Options) *sessions {
	key := o.Key
	if len(key) == 0 {
		key = make([]byte, keyBytes)
		_, _ = rand.Read(key) // never fails
	}
	s := &sessions{key: key, cookie: "sightline", clock: o.Clock, ended: map[string]time.Time{}}
	if o.Hall {
		s.cookie = "sightline-hall"
	}
	s.judge = base64.RawURLEncoding.EncodeToString(s.mac("judge's secret", []byte(o.JudgeSecret))[:12])
	return s
}

// cookieJSON is the content of a cookie.
type cookieJSON struct {
	ID      string `json:"i"` // of the pairing
	Role    Role   `json:"r"`
	Name    string `json:"n,omitempty"`
	Expires int64  `json:"e"`           // unix seconds
	Judge   string `json:"j,omitempty"` // the tag of the judge's secret

	// When it was made, as in kept.Stamp.
	Boot  string  `json:"b,omitempty"`
	Up    float64 `json:"u,omitempty"`
	Unset bool    `json:"s,omitempty"`
}

// validFor returns the lifetime of a role's pairing.
func validFor(role Role) time.Duration {
	if role == Judge {
		return judgeFor
	}
	return playerFor
}

// left returns how long a pairing is still valid. If the machine's clock does not tell how old it is,
// a player's ends when that clock says so, and a judge's has ended: it would be renewed by every start.
func (s *sessions) left(c cookieJSON, now time.Time) time.Duration {
	made := kept.Stamp{At: time.Unix(c.Expires, 0).Add(-validFor(c.Role)), Boot: c.Boot, Up: c.Up, Unset: c.Unset}
	age, known := s.clock.Since(made, now)
	if !known && c.Role == Judge {
		return 0
	}
	return validFor(c.Role) - age
}

// mac signs data for one purpose; the signature is invalid for any other.
func (s *sessions) mac(purpose string, data []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(purpose))
	h.Write([]byte{0})
	h.Write(data)
	return h.Sum(nil)
}

// make returns a new pairing and its cookie's value.
func (s *sessions) make(role Role, name string, now time.Time) (Session, string) {
	made := s.clock.Stamp(now)
	c := cookieJSON{ID: rand.Text(), Role: role, Name: name, Expires: now.Add(validFor(role)).Unix(), Boot: made.Boot, Up: made.Up,
		Unset: made.Unset}
	if role == Judge {
		c.Judge = s.judge
	}
	data, err := json.Marshal(c)
	if err != nil {
		panic("access: a session cannot be written: " + err.Error())
	}
	value := base64.RawURLEncoding.EncodeToString(data) + "." + base64.RawURLEncoding.EncodeToString(s.mac("session", data))
	return Session{Role: role, Name: name, Expires: time.Unix(c.Expires, 0)}, value
}

// parse returns the content of a cookie. It reports false unless the cookie was signed with this
// key, has not expired and was not revoked.
func (s *sessions) parse(value string, now time.Time) (c cookieJSON, ok bool) {
	c, ok = s.verify(value)
	if !ok || s.left(c, now) <= 0 || c.Role == Judge && c.Judge != s.judge {
		return cookieJSON{}, false
	}
	return c, true
}

// verify returns the content of a cookie, expired or not. It reports false unless the cookie was
// signed with this key and was not revoked.
func (s *sessions) verify(value string) (c cookieJSON, ok bool) {
	text, signature, ok := strings.Cut(value, ".")
	if !ok || len(value) > cookieMost {
		return c, false
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return c, false
	}
	sum, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	if err != nil || !hmac.Equal(sum, s.mac("session", data)) {
		return c, false
	}
	if json.Unmarshal(data, &c) != nil || c.Role < Player || c.Role > Judge {
		return cookieJSON{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ended := s.ended[c.ID]; ended {
		return cookieJSON{}, false
	}
	return c, true
}

// known returns the number of the pairing that a request carries. It reports false if the pairing
// is invalid or expired more than knownFor ago.
func (s *sessions) known(r *http.Request, now time.Time) (id string, ok bool) {
	cookie, err := r.Cookie(s.cookieName(r))
	if err != nil {
		return "", false
	}
	c, ok := s.verify(cookie.Value)
	if !ok || now.After(time.Unix(c.Expires, 0).Add(knownFor)) {
		return "", false
	}
	return c.ID, true
}

// cookieName returns the cookie's name. Under TLS its prefix makes the browser accept it only from
// this host over TLS.
func (s *sessions) cookieName(r *http.Request) string {
	if r.TLS != nil {
		return "__Host-" + s.cookie
	}
	return s.cookie
}

// read returns the pairing that a request carries.
func (s *sessions) read(r *http.Request, now time.Time) (Session, bool) {
	cookie, err := r.Cookie(s.cookieName(r))
	if err != nil {
		return Session{}, false
	}
	c, ok := s.parse(cookie.Value, now)
	if !ok {
		return Session{}, false
	}
	return Session{Role: c.Role, Name: c.Name, Expires: now.Add(s.left(c, now)).Round(0)}, true
}

// NewSession returns a new pairing and its cookie's value.
func (g *Guard) NewSession(role Role, name string, now time.Time) (Session, string) {
	return g.sessions.make(role, name, now)
}

// give sets the cookie of a pairing that is valid for a time; an empty value removes it. The browser
// keeps the cookie for longer, so that the device is known when it pairs again. It counts the seconds:
// this machine's clock may not be right.
func (s *sessions) give(w http.ResponseWriter, r *http.Request, value string, valid time.Duration) {
	c := &http.Cookie{
		Name: s.cookieName(r), Value: value, Path: "/", MaxAge: int((valid + knownFor).Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// end revokes the pairing that a request carries, for every copy of its cookie, until the program
// ends.
func (s *sessions) end(r *http.Request, now time.Time) {
	cookie, err := r.Cookie(s.cookieName(r))
	if err != nil {
		return
	}
	c, ok := s.parse(cookie.Value, now)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, until := range s.ended {
		if now.After(until) {
			delete(s.ended, id)
		}
	}
	if len(s.ended) < endedMost {
		s.ended[c.ID] = now.Add(s.left(c, now))
	}
}
