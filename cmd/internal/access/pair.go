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

// A pairing code is six of 24 letters and digits that are not easily mistaken for one another, and
// without vowels, so that it spells no word: 24^6 = 191 102 976 codes. At any time at
// most two of them are good. A client has 5 wrong tries and then 20 an hour, all together
// 24 and then 120 an hour. Over twelve hours that is a chance of 1 in 390 000 for one
// client, and of 1 in 65 000 for any number. Another code after so many wrong tries
// would change nothing of that, and would take the code from the one who is typing it.
const (
	codeLetters = "BCDFGHJKMPQRTVWXY2346789"
	codeLength  = 6
	codeLife    = 5 * time.Minute
	codeGrace   = time.Minute // for which the last code stays valid: someone may be typing it
	codesKept   = 16          // used codes that are remembered, to say so to who comes second
)

// How often someone may be wrong: a code or a judge's secret. A device has up to four
// addresses that are told apart (IPv4, two networks of IPv6, link-local), and with all
// four it cannot use up what all have together: 4 × 5 at once, 4 × 20 an hour.
var (
	triesOfPeer = allowance{PerSecond: 20.0 / 3600, Burst: 5}
	triesOfAll  = allowance{PerSecond: 120.0 / 3600, Burst: 24}
)

// NewSecret makes a judge's secret that is easily copied by hand and not guessed: 24^20,
// more than 2^91, of them.
func NewSecret() string {
	s := strings.ToLower(letters(20))
	return strings.Join([]string{s[:5], s[5:10], s[10:15], s[15:]}, "-")
}

// newCode makes a code.
func newCode() string { return letters(codeLength) }

// letters makes n random letters of a code. They are equally likely: bytes that would
// favour the first ones are thrown away.
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

// tries limits wrong tries. Those of strangers are also counted together; a device that
// was paired before and this machine have tries of their own, which strangers cannot use
// up, whatever address they share with it.
type tries struct {
	strangers, known *buckets[trier]
	all              *rate.Limiter // of the strangers

	mu   sync.Mutex // guards what follows
	told time.Time  // when the log heard of too many
}

// trier is who tries.
type trier struct {
	client  netip.Addr
	here    bool   // this machine itself
	pairing string // of a device that was paired before: its number; "": it was not
}

// trier returns who tries with a request.
func (g *Guard) trier(r *http.Request) trier {
	if id, ok := g.sessions.known(r, g.now()); ok {
		return trier{pairing: id}
	}
	if g.here(r) { // or behind a proxy on this machine that does not say so
		return trier{here: true}
	}
	return trier{client: g.clientOf(r)}
}

// tellEvery is how often the log hears of too many wrong tries.
const tellEvery = time.Minute

// tell reports whether the log should hear of it now.
func (t *tries) tell(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.told.IsZero() && now.Sub(t.told) < tellEvery {
		return false
	}
	t.told = now
	return true
}

func newTries() *tries {
	return &tries{strangers: newBuckets[trier](triesOfPeer), known: newBuckets[trier](triesOfPeer), all: triesOfAll.limiter()}
}

// take takes one try, which back gives back to someone who was right; wait says how long
// until there is one.
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
	mu     sync.Mutex // guards what follows
	code   string
	made   time.Time
	before string    // the code before, good until
	until  time.Time // then
	used   []string  // the last codes that paired a device, newest first
}

// Code returns the code that pairs a device now: for the box's display.
func (p *Pairing) Code(now time.Time) string {
	code, _ := p.current(now)
	return code
}

// current returns the code and until when it is shown.
func (p *Pairing) current(now time.Time) (code string, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.renew(now)
	return p.code, p.made.Add(codeLife)
}

// renew makes a fresh code when the one there is is too old. The caller holds mu.
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

// use tries a code. The right one is good once.
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

// same reports whether two secrets are the same, in a time that says nothing of where
// they differ.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// tidyCode is a code as people type it: in any case, with spaces and dashes. ok says
// that it could be one; what could not is a slip and no guess.
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

// Pair makes a player of who knows the code, and a judge of who knows the secret, and gives
// them the cookie. What is wrong is answered, with ok false.
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
	g.sessions.give(w, r, value, who.Expires)
	g.o.Log.Info("paired", "role", role.String(), "name", name, "peer", peerOf(r).String())
	return who, true
}

// Code returns the code that pairs a device, and until when it is shown.
func (g *Guard) Code() (code string, until time.Time) { return g.pairing.current(g.now()) }

// Unpair ends the pairing of who asks.
func (g *Guard) Unpair(w http.ResponseWriter, r *http.Request) {
	g.sessions.end(r, g.now())
	g.sessions.give(w, r, "", time.Time{})
}

// isHere checks a code: who knows it stands before the box. What is wrong is answered.
func (g *Guard) isHere(w http.ResponseWriter, r *http.Request, typed string) bool {
	code, ok := tidyCode(typed)
	if !ok {
		text := fmt.Sprintf("That is no pairing code: it has %d of these letters and digits: %s.", codeLength, codeLetters)
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

// isJudge checks the judge's secret, and answers the request if it is wrong.
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
		hint := "On the table's computer, \"sightline judge-secret\" says it."
		if g.o.Hall {
			hint = "On the hall's machine, \"sightline hall judge-secret\" says it."
		}
		http.Error(w, "This is not the judge's secret. "+hint, http.StatusForbidden)
		return false
	}
	back()
	return true
}

// tooOften answers who was wrong too often, or comes while others were.
func (g *Guard) tooOften(w http.ResponseWriter, r *http.Request, t *tries, wait time.Duration) {
	g.counts.limited.Add(1)
	if t.tell(g.now()) {
		g.o.Log.Warn("too many wrong tries to pair", "peer", peerOf(r).String())
	}
	tooMany(w, wait, fmt.Sprintf("Too many wrong tries. Try again in %.0f s.", max(1, wait.Seconds())))
}
