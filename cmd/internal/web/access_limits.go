package web

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"
)

// What one peer, and all together, may ask of the program. The figures leave honest
// pages ten times what they need (a page asks for at most ten pictures and details a
// second and holds one or two streams), and memory is bounded by all of them.
var (
	requestRate = rate{PerSecond: 100, Burst: 400} // of a peer on the network
	costlyTakes = 20.0                             // tokens for what takes the processor long: five a second
)

const (
	peersMost = 4096 // peers that are told apart; what comes beyond shares one bucket

	streamsMost      = 640 // event streams in all
	streamsOfPeer    = 32  // of one peer on the network
	streamsOfMachine = 600 // of this machine: stream software shows many overlays

	connectionsMost      = 1024 // in all
	connectionsOfPeer    = 128  // of one peer on the network
	connectionsOfMachine = 896  // of this machine, and of a proxy on it

	bodyAtMost = 64 << 10 // of any request; most handlers take less
)

// rate is a token bucket's: so many at once, and so many a second from then on.
type rate struct{ PerSecond, Burst float64 }

// bucket holds what is left of a rate. The zero value is full.
type bucket struct {
	spent float64
	at    time.Time
}

// drained returns the bucket as it is at an instant.
func (b bucket) drained(r rate, now time.Time) bucket {
	if dt := now.Sub(b.at).Seconds(); dt > 0 {
		b.spent, b.at = max(0, b.spent-dt*r.PerSecond), now
	}
	return b
}

// take takes n tokens; without enough it takes none and says how long they take to come.
func (b *bucket) take(r rate, n float64, now time.Time) (wait time.Duration, ok bool) {
	*b = b.drained(r, now)
	if over := b.spent + n - r.Burst; over > 1e-9 {
		return time.Duration(math.Ceil(over/r.PerSecond*1e9) * float64(time.Nanosecond)), false
	}
	b.spent += n
	return 0, true
}

// buckets keeps one bucket for each peer, for at most peersMost peers.
type buckets struct {
	rate rate

	mu    sync.Mutex // guards what follows
	of    map[netip.Addr]*bucket
	rest  bucket    // of the peers for which there is no room
	swept time.Time // when room was made last
}

func newBuckets(r rate) *buckets { return &buckets{rate: r, of: map[netip.Addr]*bucket{}} }

// take takes n tokens of a peer's bucket.
func (b *buckets) take(peer netip.Addr, n float64, now time.Time) (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bucket(peer, now).take(b.rate, n, now)
}

// give gives n tokens back.
func (b *buckets) give(peer netip.Addr, n float64, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.bucket(peer, now)
	k.spent = max(0, k.spent-n)
}

// bucket returns a peer's bucket. A full bucket says no more than none, and goes when
// there is no room for another. The caller holds mu.
func (b *buckets) bucket(peer netip.Addr, now time.Time) *bucket {
	if k, ok := b.of[peer]; ok {
		return k
	}
	if len(b.of) >= peersMost && now.Sub(b.swept) >= sweepEvery {
		b.swept = now
		for p, k := range b.of {
			if k.drained(b.rate, now).spent == 0 {
				delete(b.of, p)
			}
		}
	}
	if len(b.of) >= peersMost {
		return &b.rest
	}
	k := &bucket{at: now}
	b.of[peer] = k
	return k
}

// sweepEvery is how often room is made at most: a flood of addresses must not make every
// request go through all of them.
const sweepEvery = time.Second

// peerKey is what a peer is told apart by: its address, or in IPv6 its network, of
// which one machine may use any address. (All of fe80::/64 is one network to everyone.)
func peerKey(a netip.Addr) netip.Addr {
	if a.Is6() && !a.IsLinkLocalUnicast() && !a.IsLoopback() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}

// limited keeps a peer on the network to requestRate and every body to bodyAtMost. This
// machine itself is not counted: whoever runs programs on it needs no page to keep it busy.
func (s *Server) limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.here(r) {
			if wait, ok := s.requests.take(peerKey(peerOf(r)), 1, s.o.Now()); !ok {
				s.counts.limited.Add(1)
				tooMany(w, wait, "This device asks for too much at once; wait a moment.")
				return
			}
		}
		r.Body = http.MaxBytesReader(w, r.Body, bodyLimit(r))
		next.ServeHTTP(w, r)
	})
}

// costly keeps a peer on the network from asking often for what takes long to make.
func (s *Server) costly(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.here(r) {
			if wait, ok := s.requests.take(peerKey(peerOf(r)), costlyTakes, s.o.Now()); !ok {
				s.counts.limited.Add(1)
				tooMany(w, wait, "This takes the program long to make; wait a moment.")
				return
			}
		}
		next(w, r)
	}
}

// tooMany refuses for now, and says when to try again.
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
	allGone      // nobody gets one
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

// streaming keeps what goes on for long (events, video) to as many clients as the program
// can serve.
func (s *Server) streaming(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		release, ok := s.takeStream(w, r)
		if !ok {
			return
		}
		defer release()
		if r.Header.Get("Last-Event-ID") != "" {
			s.counts.streamsResumed.Add(1) // it gets the newest state at once, as everyone does
		}
		next(w, r)
	}
}

// takeStream lets a client have a stream of events, or answers why not: 503 when there
// are too many in all, 429 when this peer holds enough.
func (s *Server) takeStream(w http.ResponseWriter, r *http.Request) (release func(), ok bool) {
	peer, ofPeer := peerOf(r), streamsOfPeer
	if s.o.Access.Here(peer) {
		ofPeer = streamsOfMachine
	}
	release, no := s.streams.take(peerKey(peer), streamsMost, ofPeer)
	switch no {
	case peerHeld:
		s.counts.streamsRefused.Add(1)
		tooMany(w, 5*time.Second, fmt.Sprintf("This device listens to the table in %d places; close some of its pages.", ofPeer))
	case allGone:
		s.counts.streamsRefused.Add(1)
		w.Header().Set("Retry-After", "5")
		http.Error(w, fmt.Sprintf("%d pages listen to this table, and that is as many as it serves; close some.", streamsMost), http.StatusServiceUnavailable)
	}
	return release, no == granted
}

// fewListener takes at most so many connections, in all and of each peer, and closes
// what comes beyond at once: a peer that opens many and says nothing harms itself.
type fewListener struct {
	net.Listener
	open   shares
	ofPeer func(netip.Addr) int
	refuse func()
}

// Accept implements net.Listener.
func (l *fewListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		var peer netip.Addr
		if at, err := netip.ParseAddrPort(c.RemoteAddr().String()); err == nil {
			peer = at.Addr().Unmap().WithZone("")
		}
		release, no := l.open.take(peerKey(peer), connectionsMost, l.ofPeer(peer))
		if no != granted {
			l.refuse()
			_ = c.Close()
			continue
		}
		return &fewConn{Conn: c, release: release}, nil
	}
}

// fewConn is one of the connections of a fewListener.
type fewConn struct {
	net.Conn
	release func()
}

// Close implements net.Conn.
func (c *fewConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
