package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// feedServer is a server over a hub that the test publishes to.
func feedServer(t testing.TB) (*live.Hub, *Server) {
	hub := live.NewHub(live.State{Health: live.Health{Code: live.OK}})
	return hub, NewServer(Options{Hub: hub, Choose: func(live.Choice) {}})
}

// shipAt is a view with one ship.
func shipAt(x float64) live.State {
	return live.State{
		At: time.Unix(1700000000, 0), Health: live.Health{Code: live.OK},
		Located: vision.Located{Scene: engine.Scene{Rules: engine.Rules25, MatWidth: 914.4, MatHeight: 914.4, Ships: []engine.Ship{
			{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: x, Y: 300}}},
		}}},
	}
}

func eventOf(t testing.TB, seq uint64, change func(*live.State)) *event {
	state := shipAt(300)
	state.Seq = seq
	if change != nil {
		change(&state)
	}
	e, err := newEvent(stateOf(&state))
	require.NoError(t, err)
	return e
}

func TestWhatIsUrgentGoesOutAtOnceAndTheRestNotTooOften(t *testing.T) {
	plain := eventOf(t, 1, nil)
	trembled := eventOf(t, 2, func(state *live.State) {
		state.Located.Scene.Ships[0].Pose.X += 0.01
		state.Figures.Frames++
		state.At = state.At.Add(time.Second)
	})
	moved := eventOf(t, 3, func(state *live.State) { state.Located.Scene.Ships[0].Pose.X += 1 })
	urgent := map[string]*event{
		"the choice":   eventOf(t, 4, func(state *live.State) { state.Choice.From = "A1" }),
		"the health":   eventOf(t, 4, func(state *live.State) { state.Health = live.Health{Code: live.Moved, Title: "Moved"} }),
		"the match":    eventOf(t, 4, func(state *live.State) { state.Match.Sides[1].Score = 1 }),
		"a ruling":     eventOf(t, 4, func(state *live.State) { state.Ruling = &live.Ruling{Number: 1} }),
		"what is held": eventOf(t, 4, func(state *live.State) { state.Held, state.Hold = true, &live.Held{Number: 3} }),
		"a note":       eventOf(t, 4, func(state *live.State) { state.Notes = []live.Note{{Text: "A1 was lifted."}} }),
	}
	now := time.Unix(1700000000, 0)
	for _, quiet := range []bool{false, true} {
		every := liveEvery
		if quiet {
			every = quietEvery
		}
		sent := func() pace { return pace{every: every, quiet: quiet, last: plain, lastAt: now} }
		for name, e := range urgent {
			p := sent()
			p.pending = e
			got, _ := p.due(now.Add(urgentEvery))
			assert.Same(t, e, got, name)
			p = sent()
			p.pending = e
			early, wait := p.due(now.Add(time.Millisecond))
			assert.Nil(t, early, "%s: nobody floods everybody by choosing", name)
			assert.Equal(t, urgentEvery-time.Millisecond, wait)
		}
		p := sent()
		p.pending = moved
		got, wait := p.due(now.Add(10 * time.Millisecond))
		assert.Nil(t, got)
		assert.Equal(t, every-10*time.Millisecond, wait)
		got, _ = p.due(now.Add(every))
		assert.Same(t, moved, got)

		p = sent()
		p.pending = trembled
		got, wait = p.due(now.Add(every))
		if quiet {
			assert.Nil(t, got, "nothing that is seen on a stream has changed")
			assert.Equal(t, heardEvery-every, wait)
			got, _ = p.due(now.Add(heardEvery))
		}
		assert.Same(t, trembled, got, "who listens hears once a second that we live")
		got, _ = p.due(now.Add(time.Hour))
		assert.Nil(t, got, "nothing is sent twice")
	}
}

// listenTo opens the events and gives each state's number.
func listenTo(t testing.TB, url string, header ...string) <-chan uint64 {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	require.NoError(t, err)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := (&http.Transport{DisableCompression: true}).RoundTrip(r)
	require.NoError(t, err)
	var body io.Reader = answer.Body
	if answer.Header.Get("Content-Encoding") == "gzip" {
		body, err = gzip.NewReader(answer.Body)
		require.NoError(t, err)
	}
	seqs := make(chan uint64, 1000)
	go func() {
		defer answer.Body.Close()
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var s struct{ Seq uint64 }
				if json.Unmarshal([]byte(data), &s) == nil {
					seqs <- s.Seq
				}
			}
		}
	}()
	return seqs
}

func hear(t testing.TB, seqs <-chan uint64, want uint64) {
	t.Helper()
	for {
		select {
		case got := <-seqs:
			if got >= want {
				return
			}
		case <-time.After(time.Minute):
			require.Failf(t, "silence", "state %d was not heard", want)
		}
	}
}

func TestPackedAndPlainClientsHearTheSameWheneverTheyCome(t *testing.T) {
	hub, s := feedServer(t)
	server := httptest.NewServer(s)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	var clients []<-chan uint64
	for i := range 6 {
		state := shipAt(300)
		state.Choice.From = fmt.Sprintf("A%d", i+1) // urgent
		hub.Publish(state)
		want := hub.Newest().Seq
		encoding := []string{"Accept-Encoding", "gzip, deflate, br"}
		if i%3 == 2 {
			encoding = []string{"Accept-Encoding", "identity"}
		}
		clients = append(clients, listenTo(t, server.URL+"/api/events"+[]string{"", "?quiet=1"}[i%2], encoding...))
		for _, c := range clients {
			hear(t, c, want)
		}
	}
	assert.Equal(t, 6, s.feed.clients)
	server.CloseClientConnections()
	require.Eventually(t, func() bool {
		s.feed.mu.Lock()
		defer s.feed.mu.Unlock()
		return s.feed.clients == 0
	}, time.Minute, 10*time.Millisecond)
	require.Eventually(t, func() bool {
		missed := hub.Missed()
		for range 100 {
			hub.Publish(live.State{Health: live.Health{Code: live.OK}})
		}
		return hub.Missed() == missed // whoever listened would miss some
	}, time.Minute, 10*time.Millisecond, "the pump stops with the last client")
}

func TestEachStateIsEncodedOnceForAll(t *testing.T) {
	hub, s := feedServer(t)
	var encoded atomic.Int64
	encode := s.feed.encode
	s.feed.encode = func(state *live.State) stateJSON { encoded.Add(1); return encode(state) }
	server := httptest.NewServer(s)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	var clients []<-chan uint64
	for range 40 {
		clients = append(clients, listenTo(t, server.URL+"/api/events"))
	}
	const states = 10
	for i := range states {
		state := shipAt(300)
		state.Choice.From = fmt.Sprintf("A%d", i+1)
		hub.Publish(state)
		for _, c := range clients {
			hear(t, c, hub.Newest().Seq)
		}
	}
	assert.LessOrEqual(t, encoded.Load(), int64(states+1))
}

func TestQuietClientsHearOnceASecondThatNothingMoves(t *testing.T) {
	hub, s := feedServer(t)
	server := httptest.NewServer(s)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	quiet, live := listenTo(t, server.URL+"/api/events?quiet=1"), listenTo(t, server.URL+"/api/events")
	began := time.Now()
	for i := 0; len(quiet) < 3 || len(live) < 12; i++ {
		require.Less(t, time.Since(began), time.Minute, "%d of the quiet client, %d of the other", len(quiet), len(live))
		state := shipAt(300)
		state.Figures.Frames = uint64(i)
		hub.Publish(state)
		time.Sleep(20 * time.Millisecond)
	}
	q, l := len(quiet), len(live)
	// Never more often than that, however long it took; less often on a busy machine.
	took := time.Since(began)
	assert.LessOrEqual(t, q, 2+int(took/heardEvery), "the first, and one a second")
	assert.LessOrEqual(t, l, 2+int(took/liveEvery), "eleven a second")
}

// slowWriter takes nothing.
type slowWriter struct{ header http.Header }

func (w *slowWriter) Header() http.Header              { return w.header }
func (w *slowWriter) WriteHeader(int)                  {}
func (w *slowWriter) Write([]byte) (int, error)        { return 0, errors.New("gone") }
func (w *slowWriter) SetWriteDeadline(time.Time) error { return nil }

func TestAClientThatIsGoneIsLetGo(t *testing.T) {
	_, s := feedServer(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.events(&slowWriter{http.Header{}}, httptest.NewRequest(http.MethodGet, "/api/events", nil))
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		require.Fail(t, "it is still served")
	}
	assert.Zero(t, s.feed.clients)
}

func TestEveryChoiceOfPackedEventsIsOneGzipStream(t *testing.T) {
	texts := []string{"retry: 1000\n\n", ": ping\n\n", strings.Repeat("data: the same again and again\n\n", 300), "", "data: ü\n\n"}
	for n := range 50 {
		stream, want := []byte(gzipHeader), ""
		for k := range 4 {
			text := texts[(n*7+k*k)%len(texts)]
			stream, want = append(stream, packed([]byte(text))...), want+text
		}
		r, err := gzip.NewReader(bytes.NewReader(stream))
		require.NoError(t, err)
		got := make([]byte, len(want))
		_, err = io.ReadFull(r, got)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

func TestGzipIsForThoseWhoSayThatTheyUnpackIt(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "deflate, gzip;q=1.0, *;q=0.5": true, "gzip;q=0": false, "gzip; q=0": false, "br": false, "identity": false,
		"xgzip": false,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", header)
		assert.Equal(t, want, takesGzip(r), "%q", header)
	}
}

// What one state costs for all clients together: writing it as JSON, its two sums, and
// packing it. Budget: 2 ms, at most eleven times a second.
func BenchmarkEvent(b *testing.B) {
	state := shipAt(300)
	for i := range 15 {
		ship := state.Located.Scene.Ships[0]
		ship.ID, ship.Pose.X = fmt.Sprintf("B%d", i+1), 300+37.123*float64(i)
		state.Located.Scene.Ships = append(state.Located.Scene.Ships, ship)
	}
	var e *event
	for b.Loop() {
		var err error
		if e, err = newEvent(stateOf(&state)); err != nil {
			b.Fatal(err)
		}
		e.pack()
	}
	b.ReportMetric(float64(len(e.text)), "B/event")
	b.ReportMetric(float64(len(e.packed)), "B/packed")
}
