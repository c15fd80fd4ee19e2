// Package access keeps the server of the page to those who may ask it, and each of them to
// what it can serve: which hosts it answers to, who is paired ([Session]), how a device pairs
// ([Guard.Pair]), and how many requests, streams and connections a client has.
//
// A [Guard] does all of it. It knows nothing of the table, and what it answers itself is
// why it refuses.
package access

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"
)

// Role is what a client may do. A higher role may do everything that a lower one may.
type Role int

// The roles.
const (
	Nobody Role = iota // sees the pages and may pair; nothing of the table where reading needs pairing
	Reader             // sees everything
	Player             // chooses, holds, asks for a judge, calibrates
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

// Options say who may do what. The zero value: reading is open, pairings are
// forgotten when the program ends, and there is no judge.
type Options struct {
	// PairToRead closes the table to those who are not paired.
	PairToRead bool
	// Key signs the sessions: whoever knows it can be anyone. nil: a random one that is
	// forgotten at the end, and with it every pairing.
	Key []byte
	// JudgeSecret makes a judge of whoever knows it; "": there is none.
	JudgeSecret string
	// Hall says that these are a hall's pages: there is no box that shows a code and no player, and
	// only judges sign in.
	Hall bool
	// Names are the host names that the page answers to, as CanonicalName writes them,
	// besides addresses and localhost.
	Names []string
	// Here reports whether a peer is this very machine; nil: a loopback address is.
	Here    func(netip.Addr) bool
	Address func() string // of the page for a phone; nil or "": others do not reach it now
	Log     *slog.Logger  // nil: slog.Default()
	Pairing *Pairing      // nil: one of its own
}

// Session is who asks: what they may do, and as whom.
type Session struct {
	Role    Role
	Name    string    // as they said when they paired; "" for none
	Here    bool      // a program or browser on this very machine, by no way round
	Expires time.Time // of the pairing; zero: not paired
}

// Paired reports whether the session comes from a pairing.
func (s Session) Paired() bool { return !s.Expires.IsZero() }

// forwarding are the headers by which a proxy announces another client.
var forwarding = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"}

// forwarded reports whether a request came by way of a proxy, which is then the peer:
// what stands at this machine need not come from it.
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

// Guard keeps a server to those who may ask it, and each of them to what it can serve: it
// knows the paired devices, pairs others and counts what each client takes.
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

// guardCounts is what a guard counts from its start.
type guardCounts struct {
	limited            atomic.Uint64 // requests and tries refused for their number
	wrongCodes         atomic.Uint64 // codes and secrets
	streamsRefused     atomic.Uint64
	streamsResumed     atomic.Uint64 // clients that came back and said what they had last
	connectionsRefused atomic.Uint64
}

// Figures are what a guard has counted.
type Figures struct {
	Limited            uint64 // requests and tries refused for their number
	WrongCodes         uint64 // codes and secrets
	Streams            int    // that go out now
	StreamsRefused     uint64
	StreamsResumed     uint64 // of clients that came back
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
		o: o, now: now, sessions: newSessions(o.Key, o.JudgeSecret, o.Hall), pairing: o.Pairing,
		codeTries: newTries(), judgeTries: newTries(), requests: newBuckets[netip.Addr](requestRate),
	}
}

// peerOf is the address at the other end of the connection, whatever the headers say;
// the zero Addr when there is none.
func peerOf(r *http.Request) netip.Addr { return addressOf(r.RemoteAddr) }

// addressOf is the address of an address and port.
func addressOf(text string) netip.Addr {
	at, err := netip.ParseAddrPort(text)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// here reports whether a request comes from this very machine, by no way round.
func (g *Guard) here(r *http.Request) bool {
	peer := peerOf(r)
	return peer.IsValid() && g.o.Here(peer) && !forwarded(r)
}

// sessionKey is the key of a session in a request's context.
type sessionKey struct{}

// WithSession returns a context whose requests are those of a session, whatever they carry: the
// program asks its own server for someone whom it knows already. No connection can set it.
func WithSession(ctx context.Context, s Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// Session returns who asks. It never fails: an invalid pairing counts as none.
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

// Guarded is a handler behind the role that it takes.
type Guarded struct {
	role Role
	by   *Guard
	next http.HandlerFunc
}

// Allow lets a handler be asked by those who have the role, and answers the others
// with 403, a sentence and the role in the header Sightline-Needs.
func (g *Guard) Allow(role Role, next http.HandlerFunc) *Guarded { return &Guarded{role, g, next} }

// Needs is the role that the handler takes.
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

// refusals word what is missing for each role.
var refusals = [...]string{
	Reader: "This table is shown to paired devices only. Open /pair and type the table's code: whoever runs the table sees it on that page.",
	Player: "This needs a paired device. Open /pair and type the table's code: whoever runs the table sees it on that page.",
	Judge:  "This needs a judge. Open /pair and type the judge's secret.",
}
