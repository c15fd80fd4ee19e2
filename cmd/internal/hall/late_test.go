package hall_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/event"
	"sightline/cmd/internal/hall"
	"sightline/cmd/internal/live"
)

// asHall connects to the broker as the hall itself.
func asHall(t testing.TB, r *running, fingerprint string) *nats.Conn {
	t.Helper()
	key, err := hall.HallKey(r.dir)
	require.NoError(t, err)
	conn, err := connected(r.tables, fingerprint, key)
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	return conn
}

// TestARequestThatComesTooLateIsNotDone: a stalled network hands a judge's ruling on minutes later,
// when the judge was told that nothing is known of it and may have ruled at the table.
func TestARequestThatComesTooLateIsNotDone(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	i := r.invite(t, "7")
	p := join(t, i)
	var done atomic.Int64
	p.serve = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { done.Add(1) })
	eventually(t, "it is heard", func() bool { return r.tile(t, "7").Live })
	conn, s := asHall(t, r, i.Fingerprint), event.SubjectsOf(i.Event, "7")
	answer, err := conn.Request(s.Ask(event.AskClock), nil, time.Minute)
	require.NoError(t, err)
	var is event.Clock
	require.NoError(t, json.Unmarshal(answer.Data, &is))
	for _, c := range []struct {
		name, until string
		done        bool
	}{
		{"in time", event.Until(is.Session, is.UpMS+600_000), true},
		{"too late", event.Until(is.Session, is.UpMS-1), false},
		{"of the program before", event.Until("another", is.UpMS+600_000), false},
		{"malformed", "soon", false},
	} {
		before := done.Load()
		m := nats.NewMsg(s.Ask(event.AskHTTP))
		for key, value := range map[string]string{event.HeaderMethod: "POST", event.HeaderPath: "/api/rulings", event.HeaderRole: "judge",
			event.HeaderUntil: c.until} {
			m.Header.Set(key, value)
		}
		answer, err := conn.RequestMsg(m, time.Minute)
		require.NoError(t, err, c.name)
		want := map[bool]string{true: "200", false: "504"}[c.done]
		assert.Equal(t, want, answer.Header.Get(event.HeaderStatus), c.name)
		assert.Equal(t, c.done, done.Load() > before, c.name)
	}
	status, _ := r.send(t, http.MethodPost, "/t/7/api/rulings", `{}`)
	assert.Equal(t, http.StatusOK, status, "the hall says a time that has not come yet")
}

// TestATableThatIsNotHeardIsAskedNothing: the hall knows no time by which it would be too late.
func TestATableThatIsNotHeardIsAskedNothing(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	i := r.invite(t, "7")
	conn, err := dial(i)
	require.NoError(t, err)
	defer conn.Close()
	var asked atomic.Int64
	_, err = conn.Subscribe(event.SubjectsOf(i.Event, "7").Ask(event.AskHTTP), func(*nats.Msg) { asked.Add(1) })
	require.NoError(t, err)
	require.NoError(t, conn.PublishMsg(word(event.SubjectsOf(i.Event, "7").Health(), "a", 1, 1, `{"code":"ok"}`)))
	eventually(t, "it is heard", func() bool { return r.tile(t, "7").Health != nil })
	status, text := r.send(t, http.MethodPost, "/t/7/api/rulings", `{}`)
	assert.Equal(t, http.StatusBadGateway, status)
	assert.Contains(t, text, "Table 7 does not answer, and was not asked.")
	assert.Zero(t, asked.Load())
}

// TestACallThatARestartLostIsSaid: a judge who is on the way to the table finds nothing held there.
func TestACallThatARestartLostIsSaid(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	i := r.invite(t, "7")
	p := join(t, i)
	hold := func(s live.State) live.State {
		s.Hold = &live.Held{Number: 1, At: time.Now(), AskedBy: "Ada"}
		return s
	}
	p.hub.Update(hold)
	eventually(t, "the call is there", func() bool { h := r.tile(t, "7").Health; return h != nil && h.Call != nil })
	p.stop()
	again := join(t, i)
	eventually(t, "it is said", func() bool { return r.says(t, "7", "Ask the players whether they still wait") })
	again.hub.Update(hold)
	eventually(t, "they ask again", func() bool { h := r.tile(t, "7").Health; return h.Call != nil })
	assert.False(t, r.says(t, "7", "Ask the players"))
	again.hub.Update(func(s live.State) live.State { s.Hold = nil; return s })
	eventually(t, "it is released", func() bool { h := r.tile(t, "7").Health; return h.Call == nil })
	assert.False(t, r.says(t, "7", "Ask the players"), "that call was answered")
}

// TestOldMessagesOfATableChangeNothing: what was captured of a table is sent again by a program
// that has its key, in its present session's name and in an earlier one's.
func TestOldMessagesOfATableChangeNothing(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	i := r.invite(t, "7")
	s := event.SubjectsOf(i.Event, "7")
	ear := asHall(t, r, i.Fingerprint)
	var captured []*nats.Msg
	got := make(chan *nats.Msg, 1000)
	_, err := ear.ChanSubscribe(s.All(), got)
	require.NoError(t, err)
	earlier := join(t, i)
	earlier.hub.Update(func(s live.State) live.State { s.Match.Sides[0].Name = "of the earlier program"; return s })
	earlier.book.rule(t, "the only one", 1000)
	seen := r.follow(t, "/t/7/api/events")
	eventually(t, "it is captured", func() bool { return len(seen()) > 3 && r.tile(t, "7").Rulings == 1 })
	record := earlier.book
	earlier.stop()
	for len(got) > 0 {
		if m := <-got; !strings.Contains(m.Subject, ".ask.") {
			captured = append(captured, m)
		}
	}
	shown := len(seen())
	last := time.UnixMilli(seen()[shown-1].AtMS)
	eventually(t, "it is over", func() bool { return !r.tile(t, "7").Live && time.Since(last) > time.Second+staleFor })
	shown = len(seen())

	conn, err := dial(i)
	require.NoError(t, err)
	for _, m := range captured {
		require.NoError(t, conn.PublishMsg(&nats.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data}))
	}
	require.NoError(t, conn.Flush())
	conn.Close()
	assert.Len(t, seen(), shown, "none is shown")
	k := r.tile(t, "7")
	assert.False(t, k.Live)
	assert.Equal(t, 1, k.Rulings)

	now := join(t, i, func(o *event.Options) { o.Record = record })
	eventually(t, "the present program is live", func() bool { return r.tile(t, "7").Live && len(seen()) > shown })
	assert.Equal(t, "Ada", r.tile(t, "7").Names[0])
	record.rule(t, "the second", 0)
	eventually(t, "its ruling is there", func() bool { return now.client.Sent() == 2 && r.tile(t, "7").Rulings == 2 })
	assert.Empty(t, r.tile(t, "7").Problems, fmt.Sprint(k.Problems))
	noneOld(t, seen()[:shown], 3500*time.Millisecond)
	noneOld(t, seen()[shown:], 3500*time.Millisecond)
}
