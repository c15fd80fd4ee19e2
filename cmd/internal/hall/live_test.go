package hall_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/event"
	"sightline/cmd/internal/live"
)

// wifi stands between tables and the hall's broker. While a direction of it is stalled it hands
// on nothing there and closes nothing, as a Wi-Fi does.
type wifi struct {
	address string

	mu      sync.Mutex
	stalled [2]chan struct{} // each direction's, closed when it is over; nil: it is not stalled
}

// The directions of a wifi.
const (
	toHall = iota
	toTable
)

func newWifi(t testing.TB, to string) *wifi {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	w := &wifi{address: l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(c, to)
		}
	}()
	return w
}

func (w *wifi) carry(c net.Conn, to string) {
	defer c.Close()
	w.wait(toHall)
	w.wait(toTable)
	d, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer d.Close()
	go w.copy(c, d, toTable)
	w.copy(d, c, toHall)
}

func (w *wifi) copy(to, from net.Conn, way int) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		w.wait(way)
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (w *wifi) wait(way int) {
	w.mu.Lock()
	stalled := w.stalled[way]
	w.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
}

// stall stops both directions, or those named, until end is called.
func (w *wifi) stall(ways ...int) (end func()) {
	if len(ways) == 0 {
		ways = []int{toHall, toTable}
	}
	c := make(chan struct{})
	set := func(c chan struct{}) {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, way := range ways {
			w.stalled[way] = c
		}
	}
	set(c)
	return func() {
		set(nil)
		close(c)
	}
}

// through returns an invitation that leads over the Wi-Fi.
func (w *wifi) through(i event.Invitation) event.Invitation {
	i.URL = "tls://" + w.address
	return i
}

// shown is one state that a client of the hall got.
type shown struct {
	came  time.Time
	table string // told last
	Seq   uint64 `json:"seq"`
	AtMS  int64  `json:"at_unix_ms"`
}

// follow collects the states that a client gets, until the test's end.
func (r *running) follow(t testing.TB, path string) func() []shown {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, r.page+path, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(q)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	var mu sync.Mutex
	var all []shown
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer answer.Body.Close()
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		kind, table := "", ""
		for lines.Scan() {
			if k, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				kind = k
			}
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok {
				continue
			}
			if kind == "table" {
				_ = json.Unmarshal([]byte(data), &table)
				continue
			}
			s := shown{came: time.Now(), table: table}
			if err := json.Unmarshal([]byte(data), &s); err != nil {
				if ctx.Err() == nil { // it is not the half line of a stream that ended
					t.Error(err)
				}
				return
			}
			mu.Lock()
			all = append(all, s)
			mu.Unlock()
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return func() []shown {
		mu.Lock()
		defer mu.Unlock()
		return append([]shown(nil), all...)
	}
}

// late is how much later than it should at most this process woke from a sleep: on a machine
// that is too busy, states wait here after the hall showed them.
var late atomic.Int64

// noteLate keeps late, until the process ends.
func noteLate() {
	const nap = 20 * time.Millisecond
	for {
		begun := time.Now()
		time.Sleep(nap)
		late.Store(max(late.Load(), int64(time.Since(begun)-nap)))
	}
}

// noneOld checks that no state was shown more than so late, by this machine's clock, which is
// the table's and the hall's.
func noneOld(t testing.TB, all []shown, most time.Duration) {
	t.Helper()
	most += time.Duration(late.Load())
	for i, s := range all {
		if late := s.came.Sub(time.UnixMilli(s.AtMS)); late > most {
			t.Errorf("state %d of %d was shown %v after it was so", i, len(all), late)
		}
		if i > 0 && s.table == all[i-1].table && s.Seq < all[i-1].Seq {
			t.Errorf("state %d of %d is older than the one before", i, len(all))
		}
	}
}

// TestNothingOldIsShownAfterAStall: a Wi-Fi that holds everything back for a while delivers all
// of it afterwards. None of it is shown, on no tile and no overlay.
func TestNothingOldIsShownAfterAStall(t *testing.T) {
	t.Parallel()
	stall := 6 * time.Second
	r := run(t, t.TempDir())
	w := newWifi(t, strings.TrimPrefix(r.tables, "tls://"))
	p := join(t, w.through(r.invite(t, "7")))
	seen := r.follow(t, "/t/7/api/events")
	eventually(t, "states come", func() bool { return len(seen()) > 5 })

	end := w.stall()
	p.book.rule(t, "during the stall", 1000)
	eventually(t, "the tile is grey", func() bool { return !r.tile(t, "7").Live })
	status, _ := r.get(t, "/t/7/overlay/clock")
	assert.Equal(t, http.StatusOK, status, "its clock still runs")
	time.Sleep(stall - staleFor)
	before := len(seen())
	end()
	eventually(t, "states come again", func() bool { return len(seen()) > before+5 && r.tile(t, "7").Live })
	noneOld(t, seen(), 3500*time.Millisecond)
	eventually(t, "the ruling is there", func() bool { return r.tile(t, "7").Rulings == 1 })
}

// TestACutInOneDirectionShowsNothingOld: only what the table says is held back, or only what the
// hall says. Both notice, and what is ruled meanwhile is there once.
func TestACutInOneDirectionShowsNothingOld(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]int{"to the hall": toHall, "to the table": toTable} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, t.TempDir())
			w := newWifi(t, strings.TrimPrefix(r.tables, "tls://"))
			p := join(t, w.through(r.invite(t, "7")))
			seen := r.follow(t, "/t/7/api/events")
			eventually(t, "states come", func() bool { return len(seen()) > 5 })
			end := w.stall(way)
			p.book.rule(t, "during the cut", 1000)
			eventually(t, "the tile is grey", func() bool { return !r.tile(t, "7").Live })
			eventually(t, "the table notices", func() bool { return !p.client.Here() })
			before := len(seen())
			end()
			eventually(t, "states come again", func() bool { return len(seen()) > before+5 && r.tile(t, "7").Live })
			noneOld(t, seen(), 3500*time.Millisecond)
			eventually(t, "the ruling is there", func() bool { return p.client.Sent() == 1 && r.tile(t, "7").Rulings == 1 })
			assert.Empty(t, r.tile(t, "7").Problems)
		})
	}
}

// staleFor is about how long a tile takes to turn grey.
const staleFor = 3 * time.Second

// TestAStateIsSentOnlyWhileSomebodyWatches: the lease ends unless it is renewed.
func TestAStateIsSentOnlyWhileSomebodyWatches(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	i := r.invite(t, "7")
	i8 := r.invite(t, "8")
	asked := make(chan string, 1000)
	p := join(t, i)
	count := p.serve
	p.serve = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { asked <- q.URL.Path; count.ServeHTTP(w, q) })
	join(t, i8)
	eventually(t, "both are heard", func() bool { return r.tile(t, "7").Live && r.tile(t, "8").Live })
	assert.Empty(t, asked, "no one watches")
	ctx, cancel := context.WithCancel(context.Background())
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, r.page+"/t/7/api/events", nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(q)
	require.NoError(t, err)
	eventually(t, "somebody watches", func() bool { return len(asked) > 3 })
	cancel()
	answer.Body.Close()
	time.Sleep(event.Lease)
	eventually(t, "no one watches any more", func() bool { // whoever is watched is asked five times a second
		for len(asked) > 0 {
			<-asked
		}
		time.Sleep(2 * time.Second)
		return len(asked) == 0
	})
}

// TestTheProgramSwitchesAndItsAddressStays: a client of the table on air gets the other table's
// states after it is sent, and its clock with them.
func TestTheProgramSwitchesAndItsAddressStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := run(t, dir)
	for _, table := range []string{"7", "8"} {
		p := join(t, r.invite(t, table))
		p.serve = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			s := p.hub.Newest()
			seq := s.Seq
			if table == "8" {
				seq += 1 << 40
			}
			fmt.Fprintf(w, `{"seq":%d,"at_unix_ms":%d}`, seq, s.At.UnixMilli())
		})
	}
	eventually(t, "both are heard", func() bool { return r.tile(t, "7").Live && r.tile(t, "8").Live })
	status, _ := r.get(t, "/t/program/overlay/clock")
	assert.Equal(t, http.StatusServiceUnavailable, status, "nothing is on air")
	seen := r.follow(t, "/t/program/api/events")
	for _, table := range []string{"7", "8", "7"} {
		status, text := r.send(t, http.MethodPut, "/api/program", `{"table":"`+table+`"}`)
		require.Equal(t, http.StatusOK, status, text)
		before := len(seen())
		eventually(t, "table "+table, func() bool { return len(seen()) > before+3 && seen()[len(seen())-1].table == table })
		_, clock := r.get(t, "/t/program/overlay/clock")
		assert.Contains(t, string(clock), `"table":"`+table+`"`)
	}
	for i, s := range seen() {
		assert.Equal(t, s.table == "8", s.Seq >= 1<<40, "state %d is table %s's", i, s.table)
	}
	noneOld(t, seen(), 3500*time.Millisecond)
	for body, want := range map[string]int{`{}`: 400, `{"table":"a b"}`: 400, `{"table":"program"}`: 400, `{"table":"9"}`: 404, `{"table":""}`: 200} {
		status, _ := r.send(t, http.MethodPut, "/api/program", body)
		assert.Equal(t, want, status, body)
	}
	for path, want := range map[string]int{"/overlay/all?table=program": 200, "/overlay/all": 400, "/overlay/none?table=7": 404} {
		status, _ := r.get(t, path)
		assert.Equal(t, want, status, path)
	}
	r.stop()
	_, body := run(t, dir).get(t, "/api/program")
	assert.JSONEq(t, `{"table":""}`, string(body), "it is remembered")
}

// TestCallsAreListedTheOldestFirst, with how long each waits by its table's clock.
func TestCallsAreListedTheOldestFirst(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	began := time.Now()
	for n, ago := range []time.Duration{10 * time.Second, 100 * time.Second, 0} {
		p := join(t, r.invite(t, fmt.Sprint(n+1)))
		at := began.Add(-ago)
		p.hub.Update(func(s live.State) live.State {
			if ago > 0 {
				s.Hold = &live.Held{Number: uint64(n + 1), At: at, AskedBy: "Ada"}
			}
			return s
		})
	}
	var is struct {
		Calls []struct {
			Table, Asked, Page string
			Waiting            int64 `json:"waiting_ms"`
		}
	}
	eventually(t, "two call", func() bool {
		_, body := r.get(t, "/api/hall")
		require.NoError(t, json.Unmarshal(body, &is))
		return len(is.Calls) == 2 && r.tile(t, "1").Live && r.tile(t, "2").Live
	})
	assert.Equal(t, []string{"2", "1"}, []string{is.Calls[0].Table, is.Calls[1].Table})
	assert.InDelta(t, 100e3+float64(time.Since(began).Milliseconds()), is.Calls[0].Waiting, 10e3+float64(late.Load())/1e6)
	assert.Equal(t, "/t/2/judge", is.Calls[0].Page)
	_, figures := r.get(t, "/metrics")
	assert.Contains(t, string(figures), "sightline_hall_calls 2\n")
	assert.Contains(t, string(figures), `sightline_table_judge_asked{table="3"} 0`)
	assert.Contains(t, string(figures), `sightline_table_up{table="1"} 1`)
}

// TestATableIsAskedAsWhoAsksTheHall: what is handed on has the role and the name of who asks
// here, and only players and above may ask.
func TestATableIsAskedAsWhoAsksTheHall(t *testing.T) {
	t.Parallel()
	guard := access.NewGuard(access.Options{}, time.Now)
	r := run(t, t.TempDir())
	p := join(t, r.invite(t, "7"))
	p.serve = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		s := guard.Session(q)
		body, _ := io.ReadAll(q.Body)
		w.Header().Set("Content-Type", q.URL.Query().Get("as"))
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s %v %s %v %s", q.Method, q.URL.Path, s.Role, s.Name, s.Here, body)
	})
	eventually(t, "it is heard", func() bool { return r.tile(t, "7").Live })
	status, text := r.send(t, http.MethodPost, "/t/7/api/rulings", `{"x":1}`)
	assert.Equal(t, http.StatusTeapot, status)
	assert.Equal(t, `POST /api/rulings player  false {"x":1}`, text)

	judge := asJudge(t, r)
	answer, err := judge.Post(r.page+"/t/7/api/rulings?as=text/plain", "application/json", strings.NewReader(`{}`))
	require.NoError(t, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	answer.Body.Close()
	assert.Equal(t, `POST /api/rulings judge Jo false {}`, string(body))

	q, err := http.NewRequest(http.MethodPost, r.page+"/t/7/api/rulings", strings.NewReader(`{}`))
	require.NoError(t, err)
	q.Header.Set("X-Forwarded-For", "192.168.7.9") // asks for someone else: a reader
	answer, err = http.DefaultClient.Do(q)
	require.NoError(t, err)
	answer.Body.Close()
	assert.Equal(t, http.StatusForbidden, answer.StatusCode)

	for path, want := range map[string]int{"/t/7/api/video.mjpg": 501, "/t/7/api/calibration/events": 501, "/t/program/api/state": 404} {
		status, _ := r.get(t, path)
		assert.Equal(t, want, status, path)
	}
	p.stop()
	eventually(t, "it is gone", func() bool { return !r.tile(t, "7").Live }) // asked in the instant it goes, the hall waits longer
	status, text = r.send(t, http.MethodPost, "/t/7/api/rulings", `{}`)
	assert.Equal(t, http.StatusBadGateway, status)
	assert.Contains(t, text, "check at the table")
}
