package web_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
)

// door is a listener whose clients come from whatever address they like.
type door struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// cameFrom is a connection from an address.
type cameFrom struct {
	net.Conn
	from net.Addr
}

func (c cameFrom) RemoteAddr() net.Addr { return c.from }

func (d *door) Accept() (net.Conn, error) {
	select {
	case c := <-d.conns:
		return c, nil
	case <-d.done:
		return nil, net.ErrClosed
	}
}
func (d *door) Close() error { d.once.Do(func() { close(d.done) }); return nil }
func (d *door) Addr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:1"))
}

// dial comes to the door from an address and sends the beginning of something.
func (d *door) dial(t *testing.T, from, begin string) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	t.Cleanup(func() { client.Close() })
	select {
	case d.conns <- cameFrom{server, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(from))}:
	case <-time.After(time.Minute):
		t.Fatal("no connection is taken any more")
	}
	if begin != "" {
		_ = client.SetWriteDeadline(time.Now().Add(time.Minute))
		_, _ = io.WriteString(client, begin) // it may have been closed already
	}
	return client
}

// get asks for a path from an address and returns the status; 0 when there is no answer.
func (d *door) get(t *testing.T, from, path string) int {
	t.Helper()
	c := d.dial(t, from, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path))
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	return answer.StatusCode
}

// atDoor serves a table at a door.
func atDoor(t *testing.T, change ...func(*web.Options)) (*web.Server, *door) {
	_, s := everything(t, change...)
	d := &door{conns: make(chan net.Conn), done: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, d) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
	})
	return s, d
}

const (
	somePhone   = "192.168.7.21:40000"
	someMachine = "127.0.0.1:40000"
)

// However many connections someone opens, and whatever little they say on them, the
// machine itself, another phone and the watchdog are answered.
func TestNoCrowdAtTheDoorKeepsOthersOut(t *testing.T) {
	const many = 1200
	addresses := func(format string, n int) func(int) string {
		return func(i int) string { return fmt.Sprintf(format, i%n+1) + ":50000" }
	}
	for name, from := range map[string]func(int) string{
		"one IPv4 address":      addresses("192.168.7.%d", 1),
		"twenty IPv4 addresses": addresses("192.168.8.%d", 20),
		"one network of IPv6":   addresses("[2001:db8::%x]", 1200),
		"link-local addresses":  addresses("[fe80::%x%%eth0]", 1200),
		"every kind of address": func(i int) string {
			return []func(int) string{addresses("[fd00::%x]", 1200), addresses("10.0.0.%d", 9)}[i%2](i)
		},
		"the machine itself":                addresses("127.0.0.%d", 1),
		"many addresses of this machine":    addresses("127.0.0.%d", 200),
		"many networks of IPv6":             addresses("[2001:db8:0:%x::1]", 1200),
		"the machine itself, over IPv6":     addresses("[::%d]", 1),
		"IPv4 addresses, written like IPv6": addresses("[::ffff:192.168.9.%d]", 100),
	} {
		for what, begin := range map[string]string{
			"nothing":         "",
			"half a header":   "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
			"half a body":     "POST /api/pair HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000\r\n\r\n{",
			"an answer first": "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		} {
			t.Run(name+" say "+what, func(t *testing.T) {
				t.Parallel()
				s, d := atDoor(t)
				for i := range many {
					c := d.dial(t, from(i), begin)
					if what == "an answer first" {
						go func() { _, _ = io.Copy(io.Discard, c) }()
					}
				}
				for range 3 {
					assert.Equal(t, http.StatusOK, d.get(t, someMachine, "/healthz"), "the machine")
					assert.Equal(t, http.StatusOK, d.get(t, somePhone, "/healthz"), "a phone")
				}
				assert.NotZero(t, d.get(t, from(0), "/healthz"), "and even one of them, if only with 429")
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				assert.NoError(t, s.Answers(ctx), "the watchdog")
			})
		}
	}
}

// Streams may last: they make no room. So there are fewer of them than connections.
func TestListenersLeaveRoomToAsk(t *testing.T) {
	s, d := atDoor(t)
	listening := 0
	for i := range 800 {
		c := d.dial(t, fmt.Sprintf("10.0.0.%d:50000", i%25), "GET /api/calibration/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err, i)
		if answer.StatusCode == http.StatusOK {
			listening++
			go func() { _, _ = io.Copy(io.Discard, c) }()
		}
	}
	assert.Equal(t, 512, listening)
	for range 900 { // and a crowd that says nothing besides
		d.dial(t, somePhone, "")
	}
	for i := range 50 {
		assert.Equal(t, http.StatusOK, d.get(t, peerNo(i), "/healthz"), "a phone")
	}
	assert.Contains(t, ask(s, http.MethodGet, "/metrics", "", loopback, "").Body.String(), "\nsightline_sse_clients 512\n",
		"none of them was cut off")
	assert.Equal(t, http.StatusServiceUnavailable, d.get(t, somePhone, "/api/events"))
	assert.Equal(t, http.StatusOK, d.get(t, someMachine, "/api/events"), "the stream software")
	require.NoError(t, s.Answers(t.Context()))
}

// slowRulings answer when the test lets them.
type slowRulings struct {
	web.Rulings
	begun, end chan struct{}
}

func (r slowRulings) Rule(request live.RuleRequest) (live.Ruling, error) {
	close(r.begun)
	<-r.end
	return live.Ruling{Number: 7}, nil
}

func (r slowRulings) ExportAll(w io.Writer) error {
	close(r.begun)
	<-r.end
	_, err := io.WriteString(w, "zip")
	return err
}

// A ruling that is being recorded, and a record that is being packed, are answered
// however full the house gets meanwhile.
func TestARulingIsAnsweredInAFullHouse(t *testing.T) {
	body := `{"held":1,"from":"A1","to":"B1","arc":"front","decision":"as_measured"}`
	for name, begin := range map[string]string{
		"record": fmt.Sprintf("POST /api/rulings HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", len(body)),
		"pack":   "GET /api/rulings.zip HTTP/1.1\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			slow := slowRulings{begun: make(chan struct{}), end: make(chan struct{})}
			s, d := atDoor(t, func(o *web.Options) { o.Rulings = slow })
			cookie := s.Cookie(access.Judge, "Zoe", time.Now())
			text := begin + "Host: localhost\r\nCookie: sightline=" + cookie + "\r\n\r\n"
			if name == "record" {
				text += body
			}
			judge := d.dial(t, somePhone, text)
			select {
			case <-slow.begun:
			case <-time.After(time.Minute):
				t.Fatal("the request is not handled")
			}
			for range 900 {
				d.dial(t, somePhone, "")
			}
			for i := range 900 {
				d.dial(t, fmt.Sprintf("10.%d.%d.1:50000", i/200, i%200), "")
			}
			close(slow.end)
			_ = judge.SetReadDeadline(time.Now().Add(time.Minute))
			answer, err := http.ReadResponse(bufio.NewReader(judge), nil)
			require.NoError(t, err)
			assert.Less(t, answer.StatusCode, 300)
		})
	}
}

// deadlines notes what a client is given time for.
type deadlines struct {
	httptest.ResponseRecorder
	log []string
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.log = append(d.log, fmt.Sprint("time ", time.Until(at) > time.Second))
	return nil
}

func (d *deadlines) Write(data []byte) (int, error) {
	d.log = append(d.log, string(data))
	return d.ResponseRecorder.Write(data)
}

// A client has its time for each write, however long its answer was in the making, and for
// what is left to be sent at the end.
func TestAClientsTimeBeginsWithEachWrite(t *testing.T) {
	slow := slowRulings{begun: make(chan struct{}), end: make(chan struct{})}
	_, s := everything(t, func(o *web.Options) { o.Rulings = slow })
	close(slow.end)
	r := httptest.NewRequest(http.MethodGet, "/api/rulings.zip", nil)
	r.RemoteAddr, r.Host = someMachine, "localhost"
	r.AddCookie(&http.Cookie{Name: "sightline", Value: s.Cookie(access.Judge, "Zoe", time.Now())})
	d := &deadlines{ResponseRecorder: *httptest.NewRecorder()}
	s.ServeHTTP(d, r)
	assert.Equal(t, http.StatusOK, d.Code)
	assert.Equal(t, []string{"time true", "zip", "time true"}, d.log)
}

func TestAServerThatHangsDoesNotAnswer(t *testing.T) {
	hang := make(chan time.Time)
	_, s := everything(t, func(o *web.Options) {
		o.Now = func() time.Time { return <-hang }
		o.Access.Here = func(netip.Addr) bool { return false }
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Answers(ctx), context.DeadlineExceeded)
	require.ErrorContains(t, s.Answers(t.Context()), "an earlier question is not answered yet", "they do not pile up")
	close(hang)
	require.Eventually(t, func() bool { return s.Answers(t.Context()) == nil }, time.Minute, time.Millisecond)
}

func TestAServerThatPanicsDoesNotAnswer(t *testing.T) {
	_, s := everything(t, func(o *web.Options) {
		o.Now = func() time.Time { panic("no time") }
		o.Access.Here = func(netip.Addr) bool { return false }
	})
	require.ErrorContains(t, s.Answers(t.Context()), "no time")
	require.False(t, errors.Is(s.Answers(t.Context()), context.Canceled))
}
