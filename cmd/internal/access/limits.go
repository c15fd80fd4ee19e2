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

// What one peer, and all together, may ask of the program. The figures leave honest
// pages ten times what they need (a page asks for at most ten pictures and details a
// second and holds one or two streams), and memory is bounded by all of them.
//
// This machine has streams and connections of its own, which the network cannot use up.
// There are more connections than streams, so that those who listen leave room to ask.
var requestRate = allowance{PerSecond: 100, Burst: 400} // of a client on the network

const (
	costlyTakes = 20   // tokens for what takes the processor long: five a second
	peersMost   = 4096 // clients with a bucket of their own; all others share one

	streamsOfNetwork = 512 // event streams in all
	streamsOfPeer    = 32  // of one client
	streamsOfMachine = 600 // of this machine: stream software shows many overlays

	connectionsOfNetwork = 768 // in all
	connectionsOfPeer    = 128 // of one peer
	connectionsOfMachine = 896 // of this machine, and of a proxy on it, whose clients' streams count as the network's

)

// allowance is a client's burst, and its rate per second.
type allowance struct {
	PerSecond rate.Limit
	Burst     int
}

func (a allowance) limiter() *rate.Limiter { return rate.NewLimiter(a.PerSecond, a.Burst) }

// take takes n tokens, which back gives back; without enough it takes none and says how
// long they take to come.
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

	mu    sync.Mutex // guards what follows
	of    map[K]*rate.Limiter
	rest  *rate.Limiter // of the clients for which there is no room
	swept time.Time     // when room was made last
}

func newBuckets[K comparable](each allowance) *buckets[K] {
	return &buckets[K]{each: each, of: map[K]*rate.Limiter{}, rest: each.limiter()}
}

// take takes n tokens of a client's, as the function take does.
func (b *buckets[K]) take(client K, n int, now time.Time) (back func(), wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return take(b.limiter(client, now), n, now)
}

// limiter returns a client's limiter. A full one says no more than none, and goes when
// there is no room for another. The caller holds mu.
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

// sweepEvery is how often room is made at most: a flood of addresses must not make every
// request go through all of them.
const sweepEvery = time.Second

// linkLocal is what stands for every link-local address of an interface.
var linkLocal = netip.MustParseAddr("fe80::")

// peerKey is what a peer is told apart by: its address; in IPv6 its network, whose
// addresses one machine may all use. All link-local addresses of an interface are one network.
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

// clientOf is whom the limits count for a request: the peer, or behind a proxy on this
// machine the one for whom it asks. The zero Addr stands for all of whom the proxy does
// not say who they are.
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

// forwardedFor returns for whom a proxy asks: in each header the last one named, since a
// proxy adds its own client behind what that client claims. A proxy passes on what its
// client sends in a header that it does not set, so where headers disagree one of them is
// forged, and the zero Addr is returned.
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

// parseClient parses an address with or without a port; the zero Addr is none.
func parseClient(text string) netip.Addr {
	if a, err := netip.ParseAddrPort(text); err == nil {
		return a.Addr().Unmap()
	}
	a, _ := netip.ParseAddr(strings.Trim(text, "[]"))
	return a.Unmap()
}

// forParameter reads "for" of an element of the header Forwarded (RFC 7239).
func forParameter(element string) string {
	for pair := range strings.SplitSeq(element, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if strings.EqualFold(key, "for") {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

// Limited keeps a peer on the network to requestRate. This
// machine itself is not counted: whoever runs programs on it needs no page to keep it busy.
func (g *Guard) Limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.here(r) {
			if _, wait, ok := g.requests.take(g.clientOf(r), 1, g.now()); !ok {
				g.counts.limited.Add(1)
				tooMany(w, wait, "This device asks for too much at once; wait a moment.")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Costly keeps a peer on the network from asking often for what takes long to make.
func (g *Guard) Costly(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !g.here(r) {
			if _, wait, ok := g.requests.take(g.clientOf(r), costlyTakes, g.now()); !ok {
				g.counts.limited.Add(1)
				tooMany(w, wait, "This takes the program long to make; wait a moment.")
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

// shares counts what peers hold at one time, in all and each.
type shares struct {
	mu  sync.Mutex // guards what follows
	all int
	of  map[netip.Addr]int
}

// why is why there is no share.
type why int

const (
	granted  why = iota
	allGone      // none is left
	peerHeld     // this peer holds enough
)

// take takes a share; release gives it back, once.
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

// held is how many shares are out.
func (c *shares) held() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}

// Streaming keeps long responses (events, video) to as many clients as the program
// can serve.
func (g *Guard) Streaming(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		release, ok := g.takeStream(w, r)
		if !ok {
			return
		}
		defer release()
		defer Streams(r)()
		if r.Header.Get("Last-Event-ID") != "" {
			g.counts.streamsResumed.Add(1) // it gets the newest state at once, as everyone does
		}
		next(w, r)
	}
}

// takeStream lets a client have a stream of events, or answers why not: 503 when there
// are too many in all, 429 when this client holds enough.
func (g *Guard) takeStream(w http.ResponseWriter, r *http.Request) (release func(), ok bool) {
	held, most, ofPeer := &g.streams, streamsOfNetwork, streamsOfPeer
	if g.here(r) {
		held, most, ofPeer = &g.ownStreams, streamsOfMachine, streamsOfMachine
	}
	release, no := held.take(g.clientOf(r), most, ofPeer)
	switch no {
	case peerHeld:
		g.counts.streamsRefused.Add(1)
		tooMany(w, 5*time.Second, fmt.Sprintf("This device listens to the table in %d places; close some of its pages.", ofPeer))
	case allGone:
		g.counts.streamsRefused.Add(1)
		w.Header().Set("Retry-After", "5")
		http.Error(w, fmt.Sprintf("%d pages listen to this table, and that is as many as it serves; close some.", most),
			http.StatusServiceUnavailable)
	}
	return release, no == granted
}
