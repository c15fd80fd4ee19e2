package access

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// The limits for each client and for all together. Honest pages need a tenth of them: a page makes
// at most ten requests a second and holds one or two streams. The limits also bound the memory.
//
// This machine has streams and connections of its own, which the network cannot exhaust. There are
// more connections than streams, so that clients with streams can still make requests.
var requestRate = allowance{PerSecond: 100, Burst: 400} // of a client on the network

const (
	costlyTakes = 20   // tokens of an expensive request: five a second
	peersMost   = 4096 // clients with a limiter of their own; the others share one

	streamsOfNetwork = 512 // event streams in all
	streamsOfPeer    = 32  // of one client
	streamsOfMachine = 600 // of this machine: streaming software shows many overlays

	connectionsOfNetwork = 768 // in all
	connectionsOfPeer    = 128 // of one peer
	connectionsOfMachine = 896 // of this machine, including a proxy on it, whose clients' streams count as the network's
)

// allowance is a client's rate and burst.
type allowance struct {
	PerSecond rate.Limit
	Burst     int
}

func (a allowance) limiter() *rate.Limiter { return rate.NewLimiter(a.PerSecond, a.Burst) }

// take takes n tokens, which back returns. If there are too few, it takes none and returns how long
// to wait.
func take(l *rate.Limiter, n int, now time.Time) (back func(), wait time.Duration, ok bool) {
	r := l.ReserveN(now, n)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		return nil, wait, false
	}
	return func() { r.CancelAt(now) }, 0, true
}

// buckets keeps one limiter for each client, for at most peersMost clients.
type buckets[K comparable] struct {
	each allowance

	mu    sync.Mutex // guards the fields below
	of    map[K]*rate.Limiter
	rest  *rate.Limiter // shared by the clients beyond peersMost
	swept time.Time     // when full limiters were last removed
}

func newBuckets[K comparable](each allowance) *buckets[K] {
	return &buckets[K]{each: each, of: map[K]*rate.Limiter{}, rest: each.limiter()}
}

// take takes n tokens of a client, like the function take.
func (b *buckets[K]) take(client K, n int, now time.Time) (back func(), wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return take(b.limiter(client, now), n, now)
}

// limiter returns a client's limiter. At peersMost clients it removes full limiters, which say no
// more than none. The caller holds mu.
func (b *buckets[K]) limiter(client K, now time.Time) *rate.Limiter {
	if l, ok := b.of[client]; ok {
		return l
	}
	if len(b.of) >= peersMost && now.Sub(b.swept) >= sweepEvery {
		b.swept = now
		maps.DeleteFunc(b.of, func(_ K, l *rate.Limiter) bool { return l.TokensAt(now) >= float64(b.each.Burst) })
	}
	if len(b.of) >= peersMost {
		return b.rest
	}
	l := b.each.limiter()
	b.of[client] = l
	return l
}

// sweepEvery is the least time between removals, so that a flood of addresses does not make every
// request look at all limiters.
const sweepEvery = time.Second

// linkLocal stands for every link-local address of an interface.
var linkLocal = netip.MustParseAddr("fe80::")

// peerKey returns the key of a peer: its address, or in IPv6 its network, because one machine may
// use all of a network's addresses. All link-local addresses of an interface count as one network.
func peerKey(a netip.Addr) netip.Addr {
	switch {
	case !a.Is6() || a.IsLoopback():
		return a
	case a.IsLinkLocalUnicast():
		return linkLocal.WithZone(a.Zone())
	}
	p, err := a.WithZone("").Prefix(64)
	if err != nil {
		panic("access: the network of " + a.String() + ": " + err.Error()) // 64 bits fit
	}
	return p.Addr()
}

// clientOf returns the client that a request counts for: the peer or, behind a proxy on this
// machine, the proxy's client. The zero Addr stands for all clients that the proxy does not name.
func (g *Guard) clientOf(r *http.Request) netip.Addr {
	peer := peerOf(r)
	if !g.o.Here(peer) || !forwarded(r) {
		return peerKey(peer)
	}
	if a := forwardedFor(r.Header); a.IsValid() && !a.IsLoopback() {
		return peerKey(a)
	}
	return netip.Addr{}
}

// forwardedFor returns the client that a proxy names: the last one in each header, because a proxy
// appends its client to what that client claims. A proxy passes on headers that it does not set
// itself. So if headers disagree, one of them is forged, and forwardedFor returns the zero Addr.
func forwardedFor(h http.Header) (client netip.Addr) {
	for _, name := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip"} {
		lines := h[name]
		if len(lines) == 0 {
			continue
		}
		all := lines[len(lines)-1]
		last := strings.TrimSpace(all[strings.LastIndexByte(all, ',')+1:])
		if name == "Forwarded" {
			last = forParameter(last)
		}
		a := parseClient(last)
		if !a.IsValid() || client.IsValid() && a != client {
			return netip.Addr{}
		}
		client = a
	}
	return client
}

// parseClient parses an address with or without a port. It returns the zero Addr for anything else.
func parseClient(text string) netip.Addr {
	if a, err := netip.ParseAddrPort(text); err == nil {
		return a.Addr().Unmap()
	}
	a, _ := netip.ParseAddr(strings.Trim(text, "[]"))
	return a.Unmap()
}

// forParameter returns the parameter "for" of an element of the Forwarded header (RFC 7239).
func forParameter(element string) string {
	for pair := range strings.SplitSeq(element, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if strings.EqualFold(key, "for") {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

// Limited limits a client on the network to requestRate. This machine has no limit: a local program
// needs no web server to keep it busy.
func (g *Guard) Limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.here(r) {
			if _, wait, ok := g.requests.take(g.clientOf(r), 1, g.now()); !ok {
				g.counts.limited.Add(1)
				tooMany(w, wait, "This device sends too many requests at once; wait a moment.")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Costly limits how often a client on the network may make expensive requests.
func (g *Guard) Costly(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !g.here(r) {
			if _, wait, ok := g.requests.take(g.clientOf(r), costlyTakes, g.now()); !ok {
				g.counts.limited.Add(1)
				tooMany(w, wait, "This takes a while; wait a moment.")
				return
			}
		}
		next(w, r)
	}
}

// tooMany refuses a request and says when to try again.
func tooMany(w http.ResponseWriter, wait time.Duration, text string) {
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	http.Error(w, text, http.StatusTooManyRequests)
}

// shares counts what is in use, in total and by peer.
type shares struct {
	mu  sync.Mutex // guards the fields below
	all int
	of  map[netip.Addr]int
}

// why is the reason for refusing a share.
type why int

const (
	granted  why = iota
	allGone      // all are in use
	peerHeld     // this peer has as many as it may
)

// take takes a share; calling release more than once has no effect.
func (c *shares) take(peer netip.Addr, most, ofPeer int) (release func(), w why) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.of[peer] >= ofPeer:
		return nil, peerHeld
	case c.all >= most:
		return nil, allGone
	}
	if c.of == nil {
		c.of = map[netip.Addr]int{}
	}
	c.all++
	c.of[peer]++
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all--
		if c.of[peer]--; c.of[peer] <= 0 {
			delete(c.of, peer)
		}
	}), granted
}

// held returns how many shares are in use.
func (c *shares) held() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}

// Streaming limits the number of long responses (events, video).
func (g *Guard) Streaming(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		release, ok := g.takeStream(w, r)
		if !ok {
			return
		}
		defer release()
		defer Streams(r)()
		if r.Header.Get("Last-Event-ID") != "" {
			g.counts.streamsResumed.Add(1) // it gets the newest state at once, like every client
		}
		next(w, r)
	}
}

// takeStream takes a stream for a client, or answers the request: with 503 if there are too many in
// total, with 429 if the client has too many.
func (g *Guard) takeStream(w http.ResponseWriter, r *http.Request) (release func(), ok bool) {
	held, most, ofPeer := &g.streams, streamsOfNetwork, streamsOfPeer
	if g.here(r) {
		held, most, ofPeer = &g.ownStreams, streamsOfMachine, streamsOfMachine
	}
	release, no := held.take(g.clientOf(r), most, ofPeer)
	switch no {
	case peerHeld:
		g.counts.streamsRefused.Add(1)
		tooMany(w, 5*time.Second, fmt.Sprintf("This device has %d pages of this table open; close some.", ofPeer))
	case allGone:
		g.counts.streamsRefused.Add(1)
		w.Header().Set("Retry-After", "5")
		http.Error(w, fmt.Sprintf("%d pages of this table are open, and it serves no more; close some.", most),
			http.StatusServiceUnavailable)
	}
	return release, no == granted
}
