package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/time/rate"
)

// A pairing code has six of 24 letters and digits that are hard to confuse, without vowels, so that
// it spells no word: 24^6 = 191 102 976 codes. At most two of them are valid at a time. A client
// has 5 attempts and then 20 an hour, and all clients together have 24 and then 120 an hour. Over
// twelve hours one client guesses a code with a chance of 1 in 390 000, and any number of clients
// with 1 in 65 000. Changing the code after some wrong attempts would not lower these chances, but
// would invalidate the code that someone is typing.
const (
	codeLetters = "BCDFGHJKMPQRTVWXY2346789"
	codeLength  = 6
	codeLife    = 5 * time.Minute
	codeGrace   = time.Minute // how much longer the previous code is valid: someone may be typing it
	codesKept   = 16          // used codes that are remembered, to tell a second device why its code fails
)

// The limits of wrong codes and secrets. A device may have up to four addresses with different keys
// (IPv4, two networks of IPv6, link-local). Even with all four it cannot exhaust the common limit:
// 4 × 5 at once, 4 × 20 an hour.
var (
	triesOfPeer = allowance{PerSecond: 20.0 / 3600, Burst: 5}
	triesOfAll  = allowance{PerSecond: 120.0 / 3600, Burst: 24}
)

// NewSecret returns a judge's secret that is easy to copy by hand: one of 24^20, more than 2^91.
func NewSecret() string {
	s := strings.ToLower(letters(20))
	return strings.Join([]string{s[:5], s[5:10], s[10:15], s[15:]}, "-")
}

// newCode returns a random code.
func newCode() string { return letters(codeLength) }

// letters returns n random letters of a code, all equally likely: it discards the bytes that would
// favour the first letters.
func letters(n int) string {
	code := make([]byte, 0, n)
	const fair = 256 / len(codeLetters) * len(codeLetters)
	for len(code) < n {
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails
		for _, x := range b {
			if int(x) < fair && len(code) < n {
				code = append(code, codeLetters[int(x)%len(codeLetters)])
			}
		}
	}
	return string(code)
}

// tries limits wrong attempts. Those of strangers also count together. This machine and devices
// that were paired before have limits of their own, which strangers cannot exhaust even from the
// same address.
type tries struct {
	strangers, known *buckets[trier]
	all              *rate.Limiter // of all strangers together

	mu     sync.Mutex // guards the following field
	logged time.Time  // when too many attempts were last logged
}

// trier identifies who makes an attempt.
type trier struct {
	client  netip.Addr
	here    bool   // this machine itself
	pairing string // the number of a device's earlier pairing; "": none
}

// trier returns who makes an attempt with a request.
func (g *Guard) trier(r *http.Request) trier {
	if id, ok := g.sessions.known(r, g.now()); ok {
		return trier{pairing: id}
	}
	if g.here(r) { // or through a local proxy without headers
		return trier{here: true}
	}
	return trier{client: g.clientOf(r)}
}

// logEvery is the least time between log entries about too many attempts.
const logEvery = time.Minute

// shouldLog reports whether to log now that there are too many attempts.
func (t *tries) shouldLog(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.logged.IsZero() && now.Sub(t.logged) < logEvery {
		return false
	}
	t.logged = now
	return true
}

func newTries() *tries {
	return &tries{strangers: newBuckets[trier](triesOfPeer), known: newBuckets[trier](triesOfPeer), all: triesOfAll.limiter()}
}

// take takes one attempt, which back returns after a right one. If there is none, wait is the time
// until there is.
func (t *tries) take(who trier, now time.Time) (back func(), wait time.Duration, ok bool) {
	if who.here || who.pairing != "" {
		return t.known.take(who, 1, now)
	}
	own, wait, ok := t.strangers.take(who, 1, now)
	if !ok {
		return nil, wait, false
	}
	shared, wait, ok := take(t.all, 1, now)
	if !ok {
		own()
		return nil, wait, false
	}
	return func() { own(); shared() }, 0, true
}

// Pairing holds the code that pairs a device. The zero value has none yet.
type Pairing struct {
	mu     sync.Mutex // guards the fields below
	code   string
	made   time.Time
	before string    // the previous code
	until  time.Time // when the previous code expires
	used   []string  // the last codes that paired a device, newest first
}

// Code returns the current pairing code, for the box's display.
func (p *Pairing) Code(now time.Time) string {
	code, _ := p.current(now)
	return code
}

// current returns the code and when the display stops showing it.
func (p *Pairing) current(now time.Time) (code string, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.renew(now)
	return p.code, p.made.Add(codeLife)
}

// renew replaces a code that is too old. The caller holds mu.
func (p *Pairing) renew(now time.Time) {
	age := now.Sub(p.made)
	if p.code != "" && age < codeLife && age >= 0 {
		return
	}
	p.before, p.until = p.code, p.made.Add(codeLife+codeGrace)
	p.code, p.made = newCode(), now
}

// verdict is the result of checking a typed code.
type verdict int

const (
	codeIsWrong verdict = iota
	codeIsRight
	codeWasUsed
)

// use checks a code. The right one can be used once.
func (p *Pairing) use(typed string, now time.Time) verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.renew(now)
	isNow, isBefore := same(typed, p.code), same(typed, p.before)
	isBefore = isBefore && p.before != "" && now.Before(p.until)
	switch {
	case isNow, isBefore:
		p.used = append([]string{typed}, p.used[:min(len(p.used), codesKept-1)]...)
		if isBefore {
			p.before = ""
			return codeIsRight
		}
		p.code, p.made = newCode(), now
		return codeIsRight
	}
	for _, u := range p.used {
		if same(typed, u) {
			return codeWasUsed
		}
	}
	return codeIsWrong
}

// same reports whether two secrets are equal, in constant time.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// tidyCode normalises a code as people type it: in any case, with spaces and dashes. It reports
// false for a text that cannot be a code; that does not count as a wrong attempt.
func tidyCode(typed string) (code string, ok bool) {
	code = strings.ToUpper(strings.Map(func(r rune) rune {
		if r == '-' || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, typed))
	if len(code) != codeLength || strings.Trim(code, codeLetters) != "" {
		return "", false
	}
	return code, true
}

// Pair makes the client a player if the code is right, or a judge if the secret is, and sets the
// cookie. Otherwise it answers the request and reports false.
func (g *Guard) Pair(w http.ResponseWriter, r *http.Request, code, secret, name string) (who Session, ok bool) {
	role := Player
	if secret != "" {
		role, ok = Judge, g.isJudge(w, r, secret)
	} else {
		ok = g.isHere(w, r, code)
	}
	if !ok {
		return who, false
	}
	g.sessions.end(r, g.now()) // the cookie it replaces
	who, value := g.NewSession(role, name, g.now())
	who.Here = g.here(r)
	g.sessions.give(w, r, value, validFor(role))
	g.o.Log.Info("paired", "role", role.String(), "name", name, "peer", peerOf(r).String())
	return who, true
}

// Code returns the current pairing code and when the display stops showing it.
func (g *Guard) Code() (code string, until time.Time) { return g.pairing.current(g.now()) }

// Unpair ends the client's pairing.
func (g *Guard) Unpair(w http.ResponseWriter, r *http.Request) {
	g.sessions.end(r, g.now())
	g.sessions.give(w, r, "", 0)
}

// isHere checks a code, which shows that its sender can see the box's display. It answers the
// request if the code is wrong.
func (g *Guard) isHere(w http.ResponseWriter, r *http.Request, typed string) bool {
	code, ok := tidyCode(typed)
	if !ok {
		text := fmt.Sprintf("That is not a pairing code. A code has %d of these letters and digits: %s.", codeLength, codeLetters)
		http.Error(w, text, http.StatusBadRequest)
		return false
	}
	now := g.now()
	back, wait, ok := g.codeTries.take(g.trier(r), now)
	if !ok {
		g.tooOften(w, r, g.codeTries, wait)
		return false
	}
	switch g.pairing.use(code, now) {
	case codeIsRight:
		back()
		return true
	case codeWasUsed:
		back()
		http.Error(w, "This code has been used. The display shows a new one for each device.", http.StatusConflict)
	default:
		g.counts.wrongCodes.Add(1)
		http.Error(w, "This is not the code, or no longer. The display shows a new one every five minutes.", http.StatusForbidden)
	}
	return false
}

// isJudge checks the judge's secret and answers the request if it is wrong.
func (g *Guard) isJudge(w http.ResponseWriter, r *http.Request, secret string) bool {
	if g.o.JudgeSecret == "" {
		http.Error(w, "This table has no judge's secret; its log says why.", http.StatusForbidden)
		return false
	}
	back, wait, ok := g.judgeTries.take(g.trier(r), g.now())
	if !ok {
		g.tooOften(w, r, g.judgeTries, wait)
		return false
	}
	if !same(secret, g.o.JudgeSecret) {
		g.counts.wrongCodes.Add(1)
		hint := "On the table's computer, \"sightline judge-secret\" prints it."
		if g.o.Hall {
			hint = "On the hall's machine, \"sightline hall judge-secret\" prints it."
		}
		http.Error(w, "This is not the judge's secret. "+hint, http.StatusForbidden)
		return false
	}
	back()
	return true
}

// tooOften refuses a client after too many wrong attempts, its own or those of all strangers.
func (g *Guard) tooOften(w http.ResponseWriter, r *http.Request, t *tries, wait time.Duration) {
	g.counts.limited.Add(1)
	if t.shouldLog(g.now()) {
		g.o.Log.Warn("too many wrong tries to pair", "peer", peerOf(r).String())
	}
	tooMany(w, wait, fmt.Sprintf("Too many wrong tries. Try again in %.0f s.", max(1, wait.Seconds())))
}
