package access

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// fewListener takes at most so many connections, in all and of each peer, and keeps those
// of this machine apart. When there is no room for another, the one that has not been
// asked on for the longest time makes room, unless it streams: connections that say
// nothing, or say it slowly, from however many addresses, do not keep others out.
type fewListener struct {
	net.Listener
	here   func(netip.Addr) bool
	refuse func() // called for each connection closed for lack of room

	mu           sync.Mutex // guards what follows, and what changes of the connections
	machine, net map[*fewConn]struct{}
	turn         uint64
}

// fewConn is one of the connections of a fewListener.
type fewConn struct {
	net.Conn
	l     *fewListener
	peer  netip.Addr // by peerKey
	among map[*fewConn]struct{}

	turn    uint64 // rises with each connection and each request
	streams int    // that go out on it
}

func newFewListener(l net.Listener, here func(netip.Addr) bool, refuse func()) *fewListener {
	return &fewListener{Listener: l, here: here, refuse: refuse, machine: map[*fewConn]struct{}{}, net: map[*fewConn]struct{}{}}
}

// Listener returns a listener that takes at most so many connections as can be served.
func (g *Guard) Listener(l net.Listener) net.Listener {
	return newFewListener(l, g.o.Here, func() { g.counts.connectionsRefused.Add(1) })
}

// Accept implements net.Listener.
func (l *fewListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c, out := l.admit(conn)
		if out != nil {
			l.refuse()
			_ = out.Close()
		}
		if out != c {
			return c, nil
		}
	}
}

// admit takes a connection in and returns the one that must go for it: c itself when
// every other streams; nil when there is room.
func (l *fewListener) admit(conn net.Conn) (c, out *fewConn) {
	peer := addressOf(conn.RemoteAddr().String())
	c = &fewConn{Conn: conn, l: l, peer: peerKey(peer), among: l.net}
	most, ofPeer := connectionsOfNetwork, connectionsOfPeer
	if l.here(peer) {
		c.among, most, ofPeer = l.machine, connectionsOfMachine, connectionsOfMachine
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	same, oldest, oldestSame := 0, (*fewConn)(nil), (*fewConn)(nil)
	for k := range c.among {
		if k.streams == 0 && (oldest == nil || k.turn < oldest.turn) {
			oldest = k
		}
		if k.peer != c.peer {
			continue
		}
		same++
		if k.streams == 0 && (oldestSame == nil || k.turn < oldestSame.turn) {
			oldestSame = k
		}
	}
	switch {
	case same >= ofPeer:
		out = oldestSame
	case len(c.among) >= most:
		out = oldest
	default:
		l.keep(c)
		return c, nil
	}
	if out == nil {
		return c, c
	}
	delete(out.among, out)
	l.keep(c)
	return c, out
}

// keep counts a connection. The caller holds mu.
func (l *fewListener) keep(c *fewConn) {
	l.turn++
	c.turn = l.turn
	c.among[c] = struct{}{}
}

// Close implements net.Conn.
func (c *fewConn) Close() error {
	c.l.mu.Lock()
	delete(c.among, c)
	c.l.mu.Unlock()
	return c.Conn.Close()
}

// asked records that a request came on the connection.
func (c *fewConn) asked() {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	c.l.turn++
	c.turn = c.l.turn
}

// streamBuffer is how many bytes of a stream wait in the kernel: a few states, or part of a
// picture. What a slow network has not taken is old when it arrives; the kernel alone would
// keep up to 4 MB of it.
const streamBuffer = 16 << 10

// stream counts the connection's streams up or down. The connection of one that ends has its turn to make room last: the end of its
// answer is still to be written.
func (c *fewConn) stream(n int) {
	if b, ok := c.Conn.(interface{ SetWriteBuffer(bytes int) error }); ok && n > 0 {
		_ = b.SetWriteBuffer(streamBuffer) // without it the page still notices late data
	}
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	c.streams += n
	c.l.turn++
	c.turn = c.l.turn
}

// Streams says that the answer to a request streams, until done is called: its connection
// makes no room for another.
func Streams(r *http.Request) (done func()) {
	c := connOf(r)
	if c == nil {
		return func() {}
	}
	c.stream(1)
	return func() { c.stream(-1) }
}

// KeepsConnection marks the connection of a request that takes long to answer, or that must
// be answered, as streaming until it is: a full house does not close it to make room.
func KeepsConnection(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer Streams(r)()
		next(w, r)
	}
}

type connKey struct{}

// WithConn puts a connection of a fewListener into its requests' context.
func WithConn(ctx context.Context, c net.Conn) context.Context {
	if encrypted, ok := c.(*tls.Conn); ok {
		c = encrypted.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// connOf is the connection of a request; nil when it came by no fewListener.
func connOf(r *http.Request) *fewConn {
	c, _ := r.Context().Value(connKey{}).(*fewConn)
	return c
}

// Noted notes on a request's connection that it came.
func Noted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := connOf(r); c != nil {
			c.asked()
		}
		next.ServeHTTP(w, r)
	})
}
