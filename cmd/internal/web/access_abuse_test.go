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
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
)

// served runs a server as the program does, and stops it at the test's end.
func served(t *testing.T, change ...func(*web.Options)) (*fakeTable, *web.Server, string) {
	f, s := everything(t, change...)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
	})
	return f, s, l.Addr().String()
}

// stranger makes even loopback peers strangers: the tests' clients are all there.
func stranger(o *web.Options) { o.Access.Here = func(netip.Addr) bool { return false } }

func TestWhoeverSendsSlowlyIsCutOff(t *testing.T) {
	t.Parallel()
	_, _, address := served(t)
	for name, c := range map[string]struct {
		begin  string
		within time.Duration
	}{
		"a header a letter at a time": {"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", time.Minute},
		"nothing at all":              {"", time.Minute},
		"a body a letter at a time":   {"POST /api/pair HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000\r\n\r\n{", time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", address)
			require.NoError(t, err)
			defer conn.Close()
			_, err = io.WriteString(conn, c.begin)
			require.NoError(t, err)
			began, gone := time.Now(), make(chan time.Duration, 1)
			go func() {
				_, _ = io.Copy(io.Discard, conn) // returns when the server has closed
				gone <- time.Since(began)
			}()
			ticker := time.NewTicker(200 * time.Millisecond)
			defer ticker.Stop()
			for {
				select {
				case took := <-gone:
					assert.Less(t, took, c.within)
					return
				case <-ticker.C:
					if c.begin != "" {
						_, _ = io.WriteString(conn, " ")
					}
				case <-time.After(c.within):
					t.Fatalf("still connected after %v", c.within)
				}
				if time.Since(began) > c.within {
					t.Fatalf("still connected after %v", c.within)
				}
			}
		})
	}
}

func TestNoBodyIsTooLargeToBeRefused(t *testing.T) {
	_, s, address := served(t)
	for _, r := range s.Routes() {
		method, path, _ := strings.Cut(r.Pattern, " ")
		if method == http.MethodGet {
			continue
		}
		const size = 512 << 20
		body := &endless{}
		body.left.Store(size)
		request, err := http.NewRequest(method, "http://"+address+strings.NewReplacer("{n}", "1").Replace(path), body)
		require.NoError(t, err)
		request.ContentLength = size
		request.Header.Set("Cookie", "sightline="+s.Cookie(access.Judge, "Jo", time.Now()))
		answer, err := http.DefaultClient.Do(request)
		if err == nil { // else it was cut off while it still sent
			answer.Body.Close()
			assert.True(t, answer.StatusCode >= 400 || path == "/api/unpair" || path == "/overlay/token", // which read none
				"%s: %d", r.Pattern, answer.StatusCode)
		}
		// A photograph of 32 MB is taken. What the client has handed over also lies in the kernel's buffers, some
		// of which hold 32 MB each, and it may still be sending.
		sent := size - body.left.Load()
		assert.Less(t, sent>>20, int64(128), "%s: MB that the server took", r.Pattern)
	}
}

// endless is a body of so many bytes.
type endless struct{ left atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	n := min(int64(len(p)), e.left.Load())
	if n == 0 {
		return 0, io.EOF
	}
	for i := range p[:n] {
		p[i] = '['
	}
	e.left.Add(-n)
	return int(n), nil
}

// idle opens a stream of events and reads its first line.
func idle(t *testing.T, address string) (net.Conn, string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(2*time.Minute)))
	_, err = io.WriteString(conn, "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	require.NoError(t, err)
	line, err := bufio.NewReaderSize(conn, 64).ReadString('\n')
	if err != nil {
		return conn, err.Error()
	}
	return conn, strings.TrimSpace(line)
}

func TestFiveHundredIdleListenersTakeLittleAndLeaveNothing(t *testing.T) {
	f, s, address := served(t)
	memory := func() (bytes uint64) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	goroutines, before := runtime.NumGoroutine(), memory()
	var open []net.Conn
	for range 500 {
		conn, first := idle(t, address)
		require.Equal(t, "HTTP/1.1 200 OK", first)
		open = append(open, conn)
	}
	assert.Contains(t, ask(s, http.MethodGet, "/metrics", "", loopback, "").Body.String(), "\nsightline_sse_clients 500\n")
	for range 50 { // what they do not read is not kept for them
		f.change(func(*live.State) {})
	}
	grown := int64(memory()) - int64(before)
	t.Logf("500 idle listeners, their sockets' other ends included: %d kB of heap and stacks, %.1f kB each", grown>>10,
		float64(grown)/500/1024)
	assert.Less(t, grown, int64(500*100<<10), "each takes less than 100 kB")
	for _, c := range open {
		c.Close()
	}
	require.Eventually(t, func() bool { f.change(func(*live.State) {}); return runtime.NumGoroutine() <= goroutines+4 }, time.Minute,
		50*time.Millisecond,
		"%d goroutines before, %d after", goroutines, runtime.NumGoroutine())
	assert.Contains(t, ask(s, http.MethodGet, "/metrics", "", loopback, "").Body.String(), "\nsightline_sse_clients 0\n")
}

// listen opens a stream as a peer; it lasts until the returned function is called.
func listen(s http.Handler, peer, path string) (status func() int, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	r := httptest.NewRequest(http.MethodGet, path, nil).WithContext(ctx)
	r.Host, r.RemoteAddr = "table.local", peer
	w := httptest.NewRecorder()
	done := make(chan struct{})
	go func() { defer close(done); s.ServeHTTP(w, r) }()
	return func() int { <-done; return w.Code }, func() { cancel(); <-done }
}

func TestListenersAreLimitedInAllAndForEachPeer(t *testing.T) {
	_, s := everything(t)
	clients := func() string {
		return regexp.MustCompile(`\nsightline_sse_clients (\d+)\n`).FindStringSubmatch(ask(s, http.MethodGet, "/metrics", "", loopback,
			"").Body.String())[1]
	}
	var stops []func()
	for i := range 16 { // sixteen phones, 32 pages each
		for range 32 {
			_, stop := listen(s, peerNo(i), "/api/calibration/events")
			stops = append(stops, stop)
		}
	}
	require.Eventually(t, func() bool { return clients() == "512" }, time.Minute, 10*time.Millisecond)
	one := ask(s, http.MethodGet, "/api/events", "", peerNo(3), "")
	assert.Equal(t, http.StatusTooManyRequests, one.Code)
	assert.Contains(t, one.Body.String(), "This device has 32 pages")
	assert.NotEmpty(t, one.Header().Get("Retry-After"))
	full := ask(s, http.MethodGet, "/api/events", "", peerNo(99), "")
	assert.Equal(t, http.StatusServiceUnavailable, full.Code)
	assert.Contains(t, full.Body.String(), "512 pages of this table are open")
	assert.Equal(t, http.StatusServiceUnavailable, ask(s, http.MethodGet, "/api/events", "", loopback, "", "X-Forwarded-For",
		"192.168.7.99").Code, "by way of a proxy")
	assert.Equal(t, http.StatusOK, ask(s, http.MethodGet, "/api/events", "", loopback, "").Code, "this machine has its own")
	stops[0]()
	assert.Equal(t, http.StatusOK, ask(s, http.MethodGet, "/api/events", "", peerNo(0), "").Code, "who goes makes room")
	for _, stop := range stops {
		stop()
	}
	assert.Equal(t, "0", clients())
}

func TestWhoComesBackGetsTheNewestStateFirst(t *testing.T) {
	f, s := everything(t)
	for range 5 {
		f.change(func(*live.State) {})
	}
	for _, last := range []string{"", "3", "6", "999999", "-1", "nonsense", strings.Repeat("9", 5000)} {
		answer := ask(s, http.MethodGet, "/api/events", "", network, "", "Last-Event-ID", last)
		assert.Equal(t, http.StatusOK, answer.Code)
		first := regexp.MustCompile(`(?m)^id: (\S+)$`).FindStringSubmatch(answer.Body.String())
		require.NotEmpty(t, first, "%.20q", last)
		seq, sent, ok := strings.Cut(first[1], "-")
		require.True(t, ok, "number and time, got %q", first[1])
		assert.Equal(t, fmt.Sprint(f.hub.Newest().Seq), seq, "%.20q", last)
		ms, err := strconv.ParseInt(sent, 10, 64)
		require.NoError(t, err)
		assert.WithinDuration(t, time.Now(), time.UnixMilli(ms), time.Hour)
	}
	assert.Contains(t, ask(s, http.MethodGet, "/metrics", "", loopback, "").Body.String(), "\nsightline_sse_resumed_total 6\n")
}

func TestAPeerThatAsksTooMuchWaitsAndTheOthersDoNot(t *testing.T) {
	s, c := timed(t)
	count := func(peer string, n int) (ok int) {
		for range n {
			if ask(s, http.MethodGet, "/api/me", "", peer, "").Code == http.StatusOK {
				ok++
			}
		}
		return ok
	}
	assert.Equal(t, 400, count(network, 500), "400 at once")
	limited := ask(s, http.MethodGet, "/api/me", "", network, "")
	assert.Equal(t, http.StatusTooManyRequests, limited.Code)
	assert.Equal(t, "1", limited.Header().Get("Retry-After"))
	c.pass(time.Second)
	assert.Equal(t, 100, count(network, 200), "then 100 a second")
	assert.Equal(t, 100, count("192.168.7.22:1", 100), "another phone")
	assert.Equal(t, 1000, count(loopback, 1000), "the machine itself")
	assert.Equal(t, 400, count("[2001:db8::1]:1", 400))
	assert.Zero(t, count("[2001:db8::ffff]:1", 10), "in IPv6 a machine has a whole network of addresses")
	assert.Equal(t, 10, count("[2001:db8:0:1::1]:1", 10))
	assert.Equal(t, 400, count("[fe80::1%eth0]:1", 400))
	assert.Zero(t, count("[fe80::2%eth0]:1", 10), "and any link-local one")
	assert.Equal(t, 10, count("[fe80::1%wlan0]:1", 10), "of another network")
	assert.Equal(t, 400, count("[::ffff:192.168.7.23]:1", 400))
	assert.Zero(t, count("192.168.7.23:1", 10), "which is the same")

	heat := func(peer string) int { return ask(s, http.MethodGet, "/api/calibration/heat.svg", "", peer, "").Code }
	ok := 0
	for range 50 {
		if heat("10.9.9.9:1") == http.StatusNotFound {
			ok++
		}
	}
	assert.Equal(t, 400/21, ok, "what takes long is dearer")
}

func TestAPeerHoldsSoManyConnectionsAndNoMore(t *testing.T) {
	_, s, address := served(t, stranger)
	var open []net.Conn
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	for range 129 {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		open = append(open, c)
	}
	closed := func(c net.Conn, within time.Duration) bool {
		require.NoError(t, c.SetReadDeadline(time.Now().Add(within)))
		_, err := c.Read(make([]byte, 1))
		require.Error(t, err)
		var timeout net.Error
		return !errors.As(err, &timeout) || !timeout.Timeout()
	}
	assert.True(t, closed(open[0], time.Minute), "the oldest makes room, at once")
	assert.False(t, closed(open[1], 50*time.Millisecond))
	assert.False(t, closed(open[128], 50*time.Millisecond))
	assert.Contains(t, ask(s, http.MethodGet, "/metrics", "", loopback, "").Body.String(), "sightline_http_connections_refused_total 1\n")
}

// What another site's page may make a browser send changes nothing, though the browser
// is a player's on the machine itself; nor does a name that someone pointed here.
func TestOtherSitesGetNothingDone(t *testing.T) {
	_, s := everything(t)
	for _, r := range s.Routes() {
		method, path, _ := strings.Cut(r.Pattern, " ")
		if line := routeLines[r.Pattern]; line.path != "" {
			path = line.path
		}
		path = strings.TrimSuffix(path, "{$}")
		cookie := s.Cookie(access.Judge, "Jo", time.Now())
		if method != http.MethodGet {
			for _, header := range [][]string{
				{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "http://evil.example"}, {"Origin", "null"},
				{"Origin", "http://table.local:81"},
			} {
				assert.Equal(t, http.StatusForbidden, ask(s, method, path, routeLines[r.Pattern].body, loopback, cookie, header...).Code, "%s with %v",
					r.Pattern, header)
			}
		}
		request := httptest.NewRequest(method, path, nil)
		request.Host, request.RemoteAddr = "rebound.evil.example", loopback
		w := httptest.NewRecorder()
		s.ServeHTTP(w, request)
		assert.Equal(t, http.StatusMisdirectedRequest, w.Code, "%s under a name of the internet", r.Pattern)
		assert.Empty(t, w.Header().Get("Access-Control-Allow-Origin"), r.Pattern)
	}
}

func TestNoPathLeadsOutOfThePages(t *testing.T) {
	_, _, address := served(t)
	for _, path := range []string{
		"/../server.go", "/..%2fserver.go", "/%2e%2e/%2e%2e/etc/passwd", "/..\\server.go", "/static/index.html", "//etc/passwd",
		"/./../../etc/passwd",
		"/api/calibration/sheet/..%2f..%2fetc%2fpasswd", "/overlay/..%2findex.html", "/api/rulings/..%2f..%2fx", "/%00", "/pair.html%00.js",
		"/%ff", "/judge/%ff",
		"/openapi/main.json",
	} {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path)
		require.NoError(t, err)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err, path)
		body, _ := io.ReadAll(answer.Body)
		conn.Close()
		assert.NotEqual(t, http.StatusOK, answer.StatusCode, "%s: %.80s", path, body)
		assert.Less(t, answer.StatusCode, 500, "%s: %.80s", path, body)
		assert.NotContains(t, string(body), "package web", path)
		assert.NotContains(t, string(body), "root:", path)
	}
}

func TestMetricsAreInPrometheusFormat(t *testing.T) {
	f, s := everything(t)
	f.change(func(v *live.State) { v.Health.Code = live.Moved })
	pair(s, network, wrongCode(s))
	answer := ask(s, http.MethodGet, "/metrics", "", network, "")
	assert.Equal(t, "text/plain; version=0.0.4; charset=utf-8", answer.Header().Get("Content-Type"))
	text := answer.Body.String()
	typed := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if m := regexp.MustCompile(`^# TYPE (\w+) (counter|gauge)$`).FindStringSubmatch(line); m != nil {
			assert.False(t, typed[m[1]], "%s is said twice", m[1])
			typed[m[1]] = true
			assert.Equal(t, m[2] == "counter", strings.HasSuffix(m[1], "_total"), line)
			continue
		}
		if strings.HasPrefix(line, "# HELP ") {
			continue
		}
		m := regexp.MustCompile(`^([a-z_]+)(\{[a-z]+="[^"]*"\})? (-?[0-9.e+-]+)$`).FindStringSubmatch(line)
		if assert.NotNil(t, m, line) {
			assert.True(t, typed[m[1]], "%s has no type", m[1])
		}
	}
	for _, want := range []string{
		"sightline_frames_total 120", "sightline_frames_dropped_total 3", "sightline_locating_seconds 0.041", "sightline_ships 6",
		`sightline_health{code="moved"} 1`, `sightline_health{code="ok"} 0`, "sightline_pairing_wrong_total 1",
		`sightline_http_requests_total{status="4xx"} 1`,
	} {
		assert.Contains(t, text, "\n"+want+"\n")
	}
	if runtime.GOOS == "linux" {
		assert.Regexp(t, `\nprocess_resident_memory_bytes [1-9]`, text)
	}
	f.change(func(v *live.State) { *v = live.State{} })
	assert.NotContains(t, ask(s, http.MethodGet, "/metrics", "", network, "").Body.String(), "NaN")
}
