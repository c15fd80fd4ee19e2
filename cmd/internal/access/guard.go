// Package access controls who may use the web server: which host names it answers to, who is paired
// ([Session]), how a device pairs ([Guard.Pair]), and how many requests, streams and connections a
// client may have.
//
// A [Guard] does all of this. It knows nothing about the table, and answers requests only to refuse
// them.
package access

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"sightline/cmd/internal/kept"
)

// Role is what a client may do. A higher role may do everything that a lower one may.
type Role int

// The roles.
const (
	Nobody Role = iota // may open pages and pair, and see the table unless reading needs pairing
	Reader             // sees everything
	Player             // chooses, holds, calls a judge, calibrates
	Judge              // rules
)

// String returns the role as the API spells it.
func (r Role) String() string {
	switch r {
	case Reader:
		return "reader"
	case Player:
		return "player"
	case Judge:
		return "judge"
	}
	return "nobody"
}

// Options are the rules of access. With the zero value anyone may read, pairings end with the
// program, and there is no judge.
type Options struct {
	// PairToRead hides the table from clients that are not paired.
	PairToRead bool
	// Key signs the sessions: whoever knows it can be anyone. Nil means a random key, so that all
	// pairings end with the program.
	Key []byte
	// JudgeSecret is what a judge signs in with; "" means that there is no judge.
	JudgeSecret string
	// Hall marks the server as a hall's: it shows no pairing code and has no players, so only judges
	// sign in.
	Hall bool
	// Names are further host names that the server answers to, as CanonicalName writes them. It always
	// answers to addresses and localhost.
	Names []string
	// Here reports whether a peer is this machine. Nil means: if its address is a loopback address.
	Here    func(netip.Addr) bool
	Address func() string // of the page for a phone; nil or "": not reachable from the network
	Log     *slog.Logger  // nil: slog.Default()
	Pairing *Pairing      // nil: one of its own
	Clock   *kept.Clock   // tells how old a pairing is; nil: the time of day does
}

// Session is the identity behind a request.
type Session struct {
	Role    Role
	Name    string    // given when pairing; "" for none
	Here    bool      // on this machine, without a proxy
	Expires time.Time // of the pairing; zero: not paired
}

// Paired reports whether the session comes from a pairing.
func (s Session) Paired() bool { return !s.Expires.IsZero() }

// forwarding are the headers by which a proxy announces another client.
var forwarding = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"}

// forwarded reports whether a request came through a proxy. The peer is then the proxy, so a local
// peer does not mean a local client.
func forwarded(r *http.Request) bool {
	for _, h := range forwarding {
		if r.Header[h] != nil {
			return true
		}
	}
	for h := range r.Header {
		if strings.HasPrefix(h, "X-Forwarded-") {
			return true
		}
	}
	return false
}

// Guard controls access to a server: it knows the paired devices, pairs new ones, and limits each
// client.
type Guard struct {
	o        Options
	now      func() time.Time
	sessions *sessions
	pairing  *Pairing

	codeTries, judgeTries *tries
	requests              *buckets[netip.Addr] // of clients on the network
	streams, ownStreams   shares               // of events: the network's and this machine's

	counts guardCounts
}

// guardCounts are a guard's counters since it was made.
type guardCounts struct {
	limited            atomic.Uint64 // requests and attempts refused by a rate limit
	wrongCodes         atomic.Uint64 // wrong codes and secrets
	streamsRefused     atomic.Uint64
	streamsResumed     atomic.Uint64 // clients that reconnected with a Last-Event-ID
	connectionsRefused atomic.Uint64
}

// Figures are the values of a guard's counters.
type Figures struct {
	Limited            uint64 // requests and attempts refused by a rate limit
	WrongCodes         uint64 // wrong codes and secrets
	Streams            int    // at present
	StreamsRefused     uint64
	StreamsResumed     uint64 // clients that reconnected
	ConnectionsRefused uint64
}

// Figures returns the counters.
func (g *Guard) Figures() Figures {
	return Figures{
		Limited: g.counts.limited.Load(), WrongCodes: g.counts.wrongCodes.Load(), Streams: g.streams.held() + g.ownStreams.held(),
		StreamsRefused: g.counts.streamsRefused.Load(), StreamsResumed: g.counts.streamsResumed.Load(),
		ConnectionsRefused: g.counts.connectionsRefused.Load(),
	}
}

// NewGuard returns a guard.
func NewGuard(o Options, now func() time.Time) *Guard {
	if o.Here == nil {
		o.Here = netip.Addr.IsLoopback
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Pairing == nil {
		o.Pairing = &Pairing{}
	}
	return &Guard{
		o: o, now: now, sessions: newSessions(o), pairing: o.Pairing,
		codeTries: newTries(), judgeTries: newTries(), requests: newBuckets[netip.Addr](requestRate),
	}
}

// peerOf returns the address at the other end of the connection, whatever the headers say; the zero
// Addr if there is none.
func peerOf(r *http.Request) netip.Addr { return addressOf(r.RemoteAddr) }

// addressOf returns the address in an address and port.
func addressOf(text string) netip.Addr {
	at, err := netip.ParseAddrPort(text)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// here reports whether a request comes from this machine without a proxy.
func (g *Guard) here(r *http.Request) bool {
	peer := peerOf(r)
	return peer.IsValid() && g.o.Here(peer) && !forwarded(r)
}

// sessionKey is the key of a session in a request's context.
type sessionKey struct{}

// WithSession returns a context that gives its requests a session, whatever they carry. The program
// uses it to call its own server for a client that it has authenticated; no remote client can set
// it.
func WithSession(ctx context.Context, s Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// Session returns the session of a request. It never fails: an invalid pairing counts as none.
func (g *Guard) Session(r *http.Request) Session {
	if s, ok := r.Context().Value(sessionKey{}).(Session); ok {
		return s
	}
	who := Session{Role: Reader, Here: g.here(r)}
	if g.o.PairToRead {
		who.Role = Nobody
	}
	if who.Role == Nobody && g.sessions.maySee(r.URL.Query().Get("token"), g.now()) {
		who.Role = Reader
	}
	if who.Here {
		who.Role = Player
	}
	if paired, ok := g.sessions.read(r, g.now()); ok {
		who.Role, who.Name, who.Expires = max(who.Role, paired.Role), paired.Name, paired.Expires
	}
	return who
}

// Guarded is a handler that requires a role.
type Guarded struct {
	role Role
	by   *Guard
	next http.HandlerFunc
}

// Allow returns a handler for clients with a role. Others get 403, a sentence, and the required
// role in the header Sightline-Needs.
func (g *Guard) Allow(role Role, next http.HandlerFunc) *Guarded { return &Guarded{role, g, next} }

// Needs returns the required role.
func (g *Guarded) Needs() Role { return g.role }

// ServeHTTP implements http.Handler.
func (g *Guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.role > Nobody && g.by.Session(r).Role < g.role {
		needs, text := g.role, refusals[g.role]
		if g.by.o.Hall {
			needs, text = Judge, refusals[Judge]
			if g.role == Reader {
				text = "This hall is shown to judges only. Open /pair and type the judge's secret."
			}
		}
		w.Header().Set("Sightline-Needs", needs.String())
		http.Error(w, text, http.StatusForbidden)
		return
	}
	g.next(w, r)
}

// refusals say what is missing for each role.
var refusals = [...]string{
	Reader: "This table is shown to paired devices only. Open /pair and type the table's code: whoever runs the table sees it on that page.",
	Player: "This needs a paired device. Open /pair and type the table's code: whoever runs the table sees it on that page.",
	Judge:  "This needs a judge. Open /pair and type the judge's secret.",
}
