package access

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// fewListener limits the number of connections, in total and per peer, and counts those of this
// machine separately. When the limit is reached, it closes the connection whose last request is the
// oldest, unless that one streams: silent or slow connections, from however many addresses, cannot
// keep others out.
type fewListener struct {
	net.Listener
	here   func(netip.Addr) bool
	refuse func() // called for each connection closed because of the limit

	mu           sync.Mutex // guards the fields below, and those of the connections that change
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
	streams int    // being sent on it
}

func newFewListener(l net.Listener, here func(netip.Addr) bool, refuse func()) *fewListener {
	return &fewListener{Listener: l, here: here, refuse: refuse, machine: map[*fewConn]struct{}{}, net: map[*fewConn]struct{}{}}
}

// Serve serves a listener until ctx is cancelled, then closes all connections. It returns nil after
// a clean stop. It limits the connections, what a client may send before its request is checked,
// and how long it may do nothing. With a TLSConfig it serves TLS.
func (g *Guard) Serve(ctx context.Context, l net.Listener, server *http.Server) error {
	server.ReadHeaderTimeout, server.IdleTimeout, server.MaxHeaderBytes = 5*time.Second, 60*time.Second, 16<<10
	server.BaseContext, server.ConnContext = func(net.Listener) context.Context { return ctx }, withConn
	server.ErrorLog = slog.NewLogLogger(g.o.Log.Handler(), slog.LevelDebug) // clients' errors
	few := newFewListener(l, g.o.Here, func() { g.counts.connectionsRefused.Add(1) })
	done := make(chan error, 1)
	go func() {
		if server.TLSConfig != nil {
			done <- server.ServeTLS(few, "", "")
			return
		}
		done <- server.Serve(few)
	}()
	select {
	case err := <-done:
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if server.Shutdown(stop) != nil {
		return server.Close() // closes connections that do not end
	}
	return nil
}

// shutdownTime is how long connections may take to end when a server stops.
const shutdownTime = 2 * time.Second

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

// admit adds a connection and returns the one to close for it: c itself if all others stream, nil
// if the limit is not reached.
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

// keep adds a connection. The caller holds mu.
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

// asked records a request on the connection.
func (c *fewConn) asked() {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	c.l.turn++
	c.turn = c.l.turn
}

// streamBuffer is the kernel's send buffer for a stream, in bytes: a few states, or part of a
// picture. The default of up to 4 MB would deliver stale data on a slow network.
const streamBuffer = 16 << 10

// stream changes the number of the connection's streams. A stream that ends counts as a request,
// because the end of its response is still to be written.
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

// Streams marks the connection of a request as streaming until done is called, so that the listener
// does not close it.
func Streams(r *http.Request) (done func()) {
	c := connOf(r)
	if c == nil {
		return func() {}
	}
	c.stream(1)
	return func() { c.stream(-1) }
}

// KeepsConnection keeps the listener from closing the connection of a request before it is
// answered. It is for requests that take long or must be answered.
func KeepsConnection(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer Streams(r)()
		next(w, r)
	}
}

type connKey struct{}

// withConn puts a connection of a fewListener into its requests' context.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if encrypted, ok := c.(*tls.Conn); ok {
		c = encrypted.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// connOf returns the connection of a request; nil if it came through another listener.
func connOf(r *http.Request) *fewConn {
	c, _ := r.Context().Value(connKey{}).(*fewConn)
	return c
}

// Noted records each request on its connection.
func Noted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := connOf(r); c != nil {
			c.asked()
		}
		next.ServeHTTP(w, r)
	})
}
