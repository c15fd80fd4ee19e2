package hall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/event"
	"sightline/cmd/internal/hall"
)

// says reports whether one of a table's problems holds a text.
func (r *running) says(t testing.TB, table, text string) bool {
	return strings.Contains(strings.Join(r.tile(t, table).Problems, "\n"), text)
}

// TestASecondProgramWithATablesInvitationIsRefused: the first is heard as before, the people at
// the second read it, the hall's page says where it is, and it joins when the first is gone.
func TestASecondProgramWithATablesInvitationIsRefused(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	i := r.invite(t, "7")
	first := join(t, i)
	eventually(t, "the first is heard", func() bool { return r.tile(t, "7").Live })
	told := make(chan string, 100)
	second := join(t, i, func(o *event.Options) { o.Notice = func(text string) { told <- text } })
	second.book.rule(t, "of the second", 0)
	eventually(t, "the page says so", func() bool { return r.says(t, "7", "A second program, at 127.0.0.1:") })
	hears(t, told, "in use by another program")
	first.book.rule(t, "of the first", 0)
	eventually(t, "the first's ruling is there", func() bool { return r.tile(t, "7").Rulings == 1 })
	eventually(t, "the first is heard as before", func() bool { return r.tile(t, "7").Live })
	assert.Len(t, found(t, r, "of the first"), 1)
	assert.False(t, second.client.Here())
	first.stop()
	eventually(t, "the second joins", func() bool { return second.client.Here() && len(found(t, r, "of the second")) == 1 })
}

// TestTwoProgramsThatBothSpeakAreSaid: a broker of the organiser's lets both in, so the hall
// says it when it hears both.
func TestTwoProgramsThatBothSpeakAreSaid(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	conn, err := dial(r.invite(t, "7"))
	require.NoError(t, err)
	defer conn.Close()
	s := event.SubjectsOf(r.event(t), "7")
	eventually(t, "it is said", func() bool {
		for _, session := range []string{"a", "b"} {
			require.NoError(t, conn.PublishMsg(word(s.Health(), session, 1, 1, `{"code":"ok"}`)))
		}
		return r.says(t, "7", "Two programs take turns as this table")
	})
}

// event is the hall's name for its event.
func (r *running) event(t testing.TB) string {
	name, err := r.invites.Event()
	require.NoError(t, err)
	return name
}

// word is a message of a program that is not ours.
func word(subject, session string, up, at int64, body string) *nats.Msg {
	m := nats.NewMsg(subject)
	m.Header = nats.Header{"Sightline-Session": {session}, "Sightline-Up": {fmt.Sprint(up)}, "Sightline-At": {fmt.Sprint(at)}}
	m.Data = []byte(body)
	return m
}

// TestWhatATableSaysIsReadWithCare: what is malformed, too large or impossible is named on the
// table's tile and changes nothing; then a table whose clock is years off is live as any other.
func TestWhatATableSaysIsReadWithCare(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	i := r.invite(t, "7")
	conn, err := dial(i)
	require.NoError(t, err)
	defer conn.Close()
	s := event.SubjectsOf(i.Event, "7")
	long := `"` + strings.Repeat("x", 600<<10) + `"`
	for name, c := range map[string]struct {
		m    *nats.Msg
		want string
	}{
		"no clock":              {&nats.Msg{Subject: s.Health(), Data: []byte(`{}`)}, "expected the table's clock"},
		"a clock that is none":  {word(s.Health(), "a", -1, 0, `{}`), "no clock says up -1 ms"},
		"a clock past 64 bits":  {word(s.Health(), "a", 9_000_000_000_000_000_000, 0, `{}`), "no clock says up 9"},
		"an endless session":    {word(s.Health(), strings.Repeat("a", 100), 1, 0, `{}`), "expected the table's clock"},
		"malformed JSON":        {word(s.Health(), "a", 1, 0, `{"version":`), "unexpected end of JSON input"},
		"another type":          {word(s.Health(), "a", 1, 0, `{"ships":"many"}`), "cannot unmarshal string"},
		"nothing":               {word(s.Health(), "a", 1, 0, `null`), "a health without a code"},
		"a list":                {word(s.Health(), "a", 1, 0, `[1]`), "cannot unmarshal array"},
		"no JSON":               {word(s.Health(), "a", 1, 0, "\xff\xfe\x00"), "invalid character"},
		"a negative ruling":     {word(s.Health(), "a", 1, 0, `{"code":"ok","record":{"number":-1}}`), "the number -1"},
		"a huge ruling":         {word(s.Health(), "a", 1, 0, `{"code":"ok","record":{"sent":9223372036854775807}}`), "number 9223372036854775807"},
		"a negative score":      {word(s.Health(), "a", 1, 0, `{"code":"ok","match":{"sides":[{"score":-7}]}}`), "the number -7"},
		"a long health":         {word(s.Health(), "a", 1, 0, long), "at most 16384 bytes of health"},
		"a long state":          {word(s.State(), "a", 1, 0, long), "at most 524288 bytes of state"},
		"a state of two events": {word(s.State(), "a", 1, 0, "{}\n\nevent: table\ndata: {}"), "one line of JSON"},
		"a state on two lines":  {word(s.State(), "a", 1, 0, "{\n}"), "one line of JSON"},
	} {
		require.NoError(t, conn.PublishMsg(c.m), name)
		eventually(t, name+": "+c.want, func() bool { return r.says(t, "7", c.want) })
		assert.Nil(t, r.tile(t, "7").Health, name)
	}
	assert.ErrorIs(t, conn.Publish(s.Health(), make([]byte, event.PayloadMost+1)), nats.ErrMaxPayload)
	for _, subject := range []string{s.Rulings(), s.Ruling(-1, "x"), s.Ruling(1, "x"), s.Picture("x"), s.Health() + ".x"} {
		_ = conn.Publish(strings.ReplaceAll(subject, ">", "1"), []byte("{"))
	}
	eventually(t, "an entry that is none is said", func() bool {
		return r.says(t, "7", "Ruling 1 cannot be trusted: its content does not match its hash")
	})

	began := time.Now().Add(-90 * time.Minute)
	up := func() int64 { return time.Since(began).Milliseconds() }
	const in1970 = 123_000
	_, err = conn.Subscribe(s.Ask(event.AskClock), func(m *nats.Msg) {
		body, _ := json.Marshal(event.Clock{Session: "b", UpMS: up(), AtMS: in1970})
		_ = m.Respond(body)
	})
	require.NoError(t, err)
	eventually(t, "it is live", func() bool {
		require.NoError(t, conn.PublishMsg(word(s.Health(), "b", up(), in1970, `{"code":"ok","call":{"held":1,"up_ms":-5}}`)))
		return r.tile(t, "7").Live
	})
	status, clock := r.get(t, "/t/7/overlay/clock")
	require.Equal(t, http.StatusOK, status)
	var is struct {
		NowMS int64 `json:"now_unix_ms"`
	}
	require.NoError(t, json.Unmarshal(clock, &is))
	assert.InDelta(t, in1970, is.NowMS, 30_000, "its own clock")
	says := "The table's clock says " + time.UnixMilli(in1970).Local().Format("2006-01-02 15:04")
	assert.True(t, r.says(t, "7", says), "its rulings have these times")
}

// TestTheHallsClockMayBeYearsOff: invitations hold by the hall's clock; when that is set years
// ahead the tables are sent home, and come back when it is right again. No ruling is lost.
func TestTheHallsClockMayBeYearsOff(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	r := run(t, t.TempDir(), func(o *hall.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	p := join(t, r.invite(t, "7"))
	eventually(t, "it is heard", func() bool { return r.tile(t, "7").Live })
	ahead.Store(int64(20 * 365 * 24 * time.Hour))
	eventually(t, "it is sent home", func() bool { return !p.client.Here() })
	p.book.rule(t, "in 2046", 0)
	ahead.Store(int64(-30 * 365 * 24 * time.Hour))
	eventually(t, "it is back", func() bool { return r.tile(t, "7").Live && r.tile(t, "7").Rulings == 1 })
}

// TestATableThatFloodsIsSentHome, and the others are heard as before. It leaves no
// processor to other tests: it runs alone.
func TestATableThatFloodsIsSentHome(t *testing.T) {
	const most = 500 // that a starving machine sends in a second, too
	before := hall.FloodMost(most)
	t.Cleanup(func() { hall.FloodMost(before) })
	r := run(t, t.TempDir())
	p := join(t, r.invite(t, "8"))
	eventually(t, "table 8 is heard", func() bool { return r.tile(t, "8").Live })
	i := r.invite(t, "7")
	conn, err := dial(i)
	require.NoError(t, err)
	defer conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	flooded := make(chan int)
	go func() {
		n := 0
		for ; ctx.Err() == nil && conn.Publish(event.SubjectsOf(i.Event, "7").Health(), []byte("x")) == nil; n++ {
		}
		flooded <- n
	}()
	eventually(t, "it is sent home", func() bool { return r.says(t, "7", "turned the table away for a minute: it sent ") })
	cancel()
	n := <-flooded
	assert.Greater(t, n, 2*most)
	eventually(t, "its connection is closed", conn.IsClosed)
	_, err = dial(i)
	assert.ErrorIs(t, err, nats.ErrAuthorization, "and stays out")
	p.book.rule(t, "during the flood", 1000)
	eventually(t, "table 8 is heard as before", func() bool { return r.tile(t, "8").Live && r.tile(t, "8").Rulings == 1 })
	assert.Empty(t, r.tile(t, "8").Problems)
}

// TestAHallHasItsFolderToItself: two would write into the same streams.
func TestAHallHasItsFolderToItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	assert.False(t, hall.Runs(dir))
	r := run(t, dir)
	assert.True(t, hall.Runs(dir))
	err := hall.Run(t.Context(), hall.Options{Dir: dir, Listen: "127.0.0.1:0", Tables: "127.0.0.1:0"})
	assert.ErrorContains(t, err, "another hall runs with the folder "+dir)
	r.stop()
	assert.False(t, hall.Runs(dir))
	run(t, dir)
}

// TestABrokenListOfTablesSendsNoTableHome: what was read last counts, the page says what is
// wrong, and nothing is written over the file.
func TestABrokenListOfTablesSendsNoTableHome(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := run(t, dir)
	i := r.invite(t, "7")
	p := join(t, i)
	eventually(t, "it is heard", func() bool { return r.tile(t, "7").Live })
	path := filepath.Join(dir, "tables.json")
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(`{"event":"x`), 0o600))
	eventually(t, "it is said", func() bool { return strings.Contains(r.trouble(t), "tables.json") })
	_, err = r.invites.Invite("8", "", time.Hour)
	assert.ErrorContains(t, err, "tables.json: unexpected end of JSON input")
	p.stop()
	again := join(t, i)
	eventually(t, "a table may even come again", func() bool { return again.client.Here() && r.tile(t, "7").Live })
	require.NoError(t, os.WriteFile(path, good, 0o600))
	eventually(t, "all is well", func() bool { return r.trouble(t) == "" })
}

// TestRequestsThatMakeNoSenseGetAClearAnswer.
func TestRequestsThatMakeNoSenseGetAClearAnswer(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	join(t, r.invite(t, "7"))
	eventually(t, "it is heard", func() bool { return r.tile(t, "7").Live })
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/t/9/api/events", "", 404, "no table of that name"},
		{"GET", "/t/" + strings.Repeat("9", 300) + "/api/events", "", 404, "no table of that name"},
		{"GET", "/t/9/overlay/clock", "", 503, "clock is not known"},
		{"GET", "/t/9/api/state", "", 502, "Table 9 does not answer"},
		{"POST", "/t/7/api/match", strings.Repeat("x", 100<<10), 413, "The request is too long"},
		{"PUT", "/t/7/api/match", "", 405, "Method Not Allowed"},
		{"PUT", "/api/program", `{"table":7}`, 400, `such as {"table":"7"}`},
		{"PUT", "/api/program", `{"table":"` + strings.Repeat("7", 5000) + `"}`, 400, "longer than 4096 bytes"},
		{"GET", "/api/rulings/7/0/" + strings.Repeat("a", 64), "", 404, ""},
		{"GET", "/api/rulings/7/99999999999999999999/" + strings.Repeat("a", 64), "", 404, ""},
		{"GET", "/api/rulings/*/1/" + strings.Repeat("a", 64), "", 404, ""},
		{"GET", "/api/pictures/7/../../hall.seed", "", 404, ""},
		{"GET", "/hall/..%2f..%2fhall.go", "", 400, "invalid URL path"},
		{"GET", "/overlay/all", "", 400, "table is missing"},
	} {
		status, text := r.send(t, c.method, c.path, c.body)
		assert.Equal(t, c.status, status, "%s %.60s: %s", c.method, c.path, text)
		assert.Contains(t, text, c.want, "%s %.60s", c.method, c.path)
	}
	before := len(tables(t, r))
	for n := range 20 {
		r.get(t, fmt.Sprintf("/t/x%d/overlay/clock", n))
		r.get(t, fmt.Sprintf("/t/x%d/api/events", n))
	}
	assert.Len(t, tables(t, r), before, "who asks for a table does not make one")
}

// tables names the tables of /metrics.
func tables(t testing.TB, r *running) (out []string) {
	_, figures := r.get(t, "/metrics")
	for line := range strings.Lines(string(figures)) {
		if strings.HasPrefix(line, "sightline_table_up{") {
			out = append(out, line)
		}
	}
	return out
}

// TestNoTableSpendsAnothersMessages: what one table recorded arrives although another one used its
// message's id before, and copies of it stand under the other's own name only.
func TestNoTableSpendsAnothersMessages(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	honest, other := r.invite(t, "7"), r.invite(t, "8")
	b := &book{}
	e := b.rule(t, "the first", 2000)
	conn, err := dial(other)
	require.NoError(t, err)
	defer conn.Close()
	s := event.SubjectsOf(other.Event, "8")
	for _, id := range []string{"7:" + e.Hash, "7:" + e.SHA256} {
		m := word(s.Picture(sum([]byte(id))), "a", 1, 1, "x")
		m.Header.Set("ce-id", id)
		m.Header.Set(nats.MsgIdHdr, id)
		_, err := conn.RequestMsg(m, time.Minute)
		require.NoError(t, err)
	}
	p := join(t, honest, func(o *event.Options) { o.Record = b })
	eventually(t, "it is handed on", func() bool { return p.client.Sent() == 1 })
	eventually(t, "it is there", func() bool { return r.tile(t, "7").Rulings == 1 })
	status, raw := r.get(t, "/api/rulings/7/1/"+e.Hash)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, string(e.Record), string(raw))
	status, _ = r.get(t, "/api/pictures/7/"+e.SHA256)
	assert.Equal(t, http.StatusOK, status)

	require.NoError(t, conn.Publish(s.Ruling(1, e.Hash), e.Record), "table 8 says that the ruling is its own")
	eventually(t, "it is said", func() bool { return r.says(t, "7", "Rulings that table 8 has, too: 1.") })
	list := found(t, r, "the first")
	require.Len(t, list, 1)
	assert.Equal(t, []string{"8"}, list[0].Also)
}

// TestATablesGamesAreBounded: a table that tells of ever more games fills no memory.
func TestATablesGamesAreBounded(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	i := r.invite(t, "7")
	conn, err := dial(i)
	require.NoError(t, err)
	defer conn.Close()
	for n := range 201 {
		body := fmt.Sprintf(`{"code":"ok","game":{"id":%d,"players":["Ada","Ben"]}}`, n)
		require.NoError(t, conn.PublishMsg(word(event.SubjectsOf(i.Event, "7").Health(), "a", int64(n), 1, body)))
	}
	eventually(t, "it is said", func() bool { return r.says(t, "7", "expected at most 200 games of one table") })
}

// TestARequestWaitsForItsTurnAtTheTable: many pages at once lose none of their requests.
func TestARequestWaitsForItsTurnAtTheTable(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	p := join(t, r.invite(t, "7"))
	eventually(t, "it is heard", func() bool { return r.tile(t, "7").Live })
	var inside atomic.Int64
	release := make(chan struct{})
	p.serve = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		inside.Add(1)
		<-release
	})
	const many = 30
	answers := make(chan int, many)
	for range many {
		go func() {
			answer, err := http.Get(r.page + "/t/7/api/state")
			if err != nil {
				answers <- 0
				return
			}
			answer.Body.Close()
			answers <- answer.StatusCode
		}()
	}
	eventually(t, "the table has as many as it takes at once", func() bool { return inside.Load() == 8 })
	close(release)
	done := 0
	for range many {
		switch status := <-answers; status {
		case http.StatusOK:
			done++
		default: // on a machine that is much too slow: it says that it was not done
			assert.Equal(t, http.StatusServiceUnavailable, status)
		}
	}
	assert.GreaterOrEqual(t, done, 8)
}

// TestATablesPagesSayWhichTableItIs: all look alike, and a judge may have several open. What is
// downloaded is as the table gives it.
func TestATablesPagesSayWhichTableItIs(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	p := join(t, r.invite(t, "7"))
	const page = `<html><head><title>Judge</title></head><body><h1>Judge</h1><a href="/judge">x</a></body></html>`
	p.serve = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if q.URL.Path == "/file" {
			w.Header().Set("Content-Disposition", `attachment; filename="x.html"`)
		}
		fmt.Fprint(w, page)
	})
	eventually(t, "it is heard", func() bool { return r.tile(t, "7").Live })
	_, got := r.get(t, "/t/7/judge")
	for _, want := range []string{"<title>Table 7 · Judge", "<b>Table 7</b>", `<a href="/">The hall</a>`, `href="/t/7/judge"`, "/hall/table.css"} {
		assert.Contains(t, string(got), want)
	}
	_, got = r.get(t, "/t/7/file")
	assert.Equal(t, page, string(got))
	status, _ := r.get(t, "/hall/table.css")
	assert.Equal(t, http.StatusOK, status)
}

// TestNoTwoTablesHaveNamesThatPeopleTakeForOne.
func TestNoTwoTablesHaveNamesThatPeopleTakeForOne(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	r.invite(t, "7")
	r.invite(t, "70")
	r.invite(t, "A")
	for _, name := range []string{"07", "007", "a"} {
		_, err := r.invites.Invite(name, "", time.Hour)
		assert.ErrorContains(t, err, "revoke it first", name)
	}
	r.invite(t, "7") // again
	require.NoError(t, r.invites.Revoke("7"))
	r.invite(t, "07")
}

// TestNoStrangerGetsPastARole: whoever is not at the hall's machine and is no judge reads, or does
// nothing at all in a hall for judges only; every address refuses methods that it does not have.
func TestNoStrangerGetsPastARole(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		r := run(t, t.TempDir(), func(o *hall.Options) { o.Access.PairToRead = closed })
		for pattern, role := range hall.Roles() {
			method, path, _ := strings.Cut(pattern, " ")
			path = strings.NewReplacer("{$}", "", "{table}", "7", "{path...}", "judge", "{number}", "1", "{hash}", strings.Repeat("a", 64),
				"{sha256}", strings.Repeat("a", 64), "{file...}", "x.js", "{file}", "x.js", "{widget}", "all").Replace(path)
			status, needs, text := r.stranger(t, method, path)
			switch {
			case role == access.Nobody.String():
			case role == access.Reader.String() && !closed:
				assert.NotEqual(t, http.StatusForbidden, status, pattern)
			default:
				assert.Equal(t, http.StatusForbidden, status, "%s: %s", pattern, text)
				assert.Equal(t, "judge", needs, "%s: there are no players here", pattern)
				assert.Contains(t, text, "the judge's secret", pattern)
			}
			status, _, _ = r.stranger(t, "DELETE", path)
			assert.Equal(t, http.StatusMethodNotAllowed, status, "DELETE %s", path)
		}
		_, _, text := r.stranger(t, "POST", "/api/pair", `{"judge_secret":"not the secret","name":"x"}`)
		assert.Contains(t, text, `"sightline hall judge-secret" prints it`)
	}
}

// stranger sends a request from elsewhere.
func (r *running) stranger(t testing.TB, method, path string, body ...string) (status int, needs, text string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), method, r.page+path, strings.NewReader(strings.Join(body, "")))
	require.NoError(t, err)
	q.Header.Set("X-Forwarded-For", "192.168.7.9")
	if len(body) > 0 {
		q.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(q)
	require.NoError(t, err)
	defer answer.Body.Close()
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		return answer.StatusCode, "", ""
	}
	raw, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, answer.Header.Get("Sightline-Needs"), string(raw)
}

// TestAThousandRequestsAtOnceLeaveTheHallAsItWas.
func TestAThousandRequestsAtOnceLeaveTheHallAsItWas(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	p := join(t, r.invite(t, "7"))
	eventually(t, "it is heard", func() bool { return r.tile(t, "7").Live })
	answers := make(chan int, 1000)
	for n := range 1000 {
		go func() {
			answer, err := http.Get(r.page + []string{"/api/hall", "/t/7/api/state", "/metrics", "/"}[n%4])
			if err != nil {
				answers <- 0
				return
			}
			answer.Body.Close()
			answers <- answer.StatusCode
		}()
	}
	got := map[int]int{}
	for range 1000 {
		got[<-answers]++
	}
	t.Log(got)
	assert.Greater(t, got[http.StatusOK], 0)
	for status := range got { // 0: there were too many connections; 429, 502, 503: the hall or the table has too much to do
		assert.Contains(t, []int{0, http.StatusOK, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable}, status)
	}
	e := p.book.rule(t, "after it", 1000)
	eventually(t, "it is live, and has the ruling", func() bool { k := r.tile(t, "7"); return k.Live && k.Rulings == 1 })
	status, _ := r.get(t, "/api/rulings/7/1/"+e.Hash)
	assert.Equal(t, http.StatusOK, status)
}
