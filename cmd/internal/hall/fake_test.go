package hall_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/access"
	"sightline/cmd/internal/event"
	"sightline/cmd/internal/hall"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/rulings"
)

const secret = "a judge's secret of tests"

// running is a hall that a test runs.
type running struct {
	dir, page, tables string
	invites           *hall.Invites
	stop              func()
}

// run starts a hall in dir, and stops it at the test's end.
func run(t testing.TB, dir string, change ...func(*hall.Options)) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan [2]string, 1), make(chan error, 1)
	o := hall.Options{
		Dir: dir, Listen: "127.0.0.1:0", Tables: freeAddress(t), Version: "test", Access: access.Options{JudgeSecret: secret},
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Ready: func(pages, tables string) { ready <- [2]string{pages, tables} },
	}
	for _, f := range change {
		f(&o)
	}
	go func() { done <- hall.Run(ctx, o) }()
	r := &running{dir: dir}
	select {
	case at := <-ready:
		r.page, r.tables = "http://"+at[0], at[1]
	case err := <-done:
		t.Fatalf("the hall ended: %v", err)
	case <-time.After(2 * time.Minute):
		t.Fatal("the hall does not start")
	}
	var err error
	r.invites, err = hall.OpenInvites(dir, time.Now)
	require.NoError(t, err)
	var once sync.Once
	r.stop = func() { once.Do(func() { cancel(); require.NoError(t, <-done) }) }
	t.Cleanup(r.stop)
	return r
}

// invite invites a table for an hour.
func (r *running) invite(t testing.TB, table string) event.Invitation {
	t.Helper()
	i, err := r.invites.Invite(table, "", time.Hour)
	require.NoError(t, err)
	return i
}

// get asks the hall as the machine itself.
func (r *running) get(t testing.TB, path string) (int, []byte) {
	t.Helper()
	answer, err := http.Get(r.page + path)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, body
}

// send sends a request as the machine itself.
func (r *running) send(t testing.TB, method, path, body string) (int, string) {
	t.Helper()
	q, err := http.NewRequest(method, r.page+path, strings.NewReader(body))
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(q)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text)
}

// tile is a table on the hall's page.
func (r *running) tile(t testing.TB, table string) (tile hall.Tile) {
	t.Helper()
	var is struct{ Tables []hall.Tile }
	_, body := r.get(t, "/api/hall")
	require.NoError(t, json.Unmarshal(body, &is), string(body))
	for _, k := range is.Tables {
		if k.Table == table {
			return k
		}
	}
	return hall.Tile{Table: table}
}

// book is a table's record in memory.
type book struct {
	mu      sync.Mutex
	entries []event.Entry
}

// Head implements event.Source.
func (b *book) Head(context.Context) (int64, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.entries); n > 0 {
		return int64(n), b.entries[n-1].Hash, nil
	}
	return 0, "", nil
}

// Entry implements event.Source.
func (b *book) Entry(_ context.Context, number int64) (event.Entry, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if number < 1 || number > int64(len(b.entries)) {
		return event.Entry{}, rulings.ErrNoEntry
	}
	return b.entries[number-1], nil
}

// rule records a ruling with a picture of so many bytes.
func (b *book) rule(t testing.TB, reason string, picture int) event.Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.draft(reason, picture)
	if err != nil {
		t.Error(err)
	}
	b.entries = append(b.entries, e)
	return e
}

// draft makes the next entry. The caller holds mu.
func (b *book) draft(reason string, picture int) (event.Entry, error) {
	previous := rulings.Genesis
	if n := len(b.entries); n > 0 {
		previous = b.entries[n-1].Hash
	}
	r := rulings.Record{
		Version: 1, Number: int64(len(b.entries) + 1), At: time.Now().UTC().Round(0), Program: "test", Edition: "2.5", Profile: "nominal",
		Sigmas: 3, From: "A1", To: "B1", Title: "Range 2", Text: "Range 2.", Reason: reason, Judge: "Jo", Decision: rulings.AsMeasured,
		Scene: json.RawMessage(`{"rules":"2.5","profile":"nominal"}`), Verdict: json.RawMessage("null"), Unanswered: "of a test",
		Files: []rulings.FileRef{}, Previous: previous,
	}
	e := event.Entry{Number: r.Number, At: r.At}
	if picture > 0 {
		e.Picture = jpegOf(picture)
		e.SHA256, e.Type = sum(e.Picture), "image/jpeg"
		r.Files = append(r.Files, rulings.FileRef{Role: rulings.RoleColor, SHA256: e.SHA256, Bytes: int64(picture), Type: e.Type})
	}
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return e, err
	}
	e.Record = bytes.TrimSuffix(raw.Bytes(), []byte("\n"))
	e.Hash = sum(e.Record)
	return e, nil
}

// jpegOf is bytes that look like a picture, each time others.
func jpegOf(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(rand.Uint32())
	}
	copy(p, "\xff\xd8\xff\xe0")
	return p
}

func sum(raw []byte) string {
	s := sha256.Sum256(raw)
	return hex.EncodeToString(s[:])
}

// played is a table that a test plays at.
type played struct {
	book    *book
	hub     *live.Hub
	serve   http.Handler
	client  *event.Client
	stopped chan struct{}
	stop    context.CancelFunc
	timed   atomic.Bool // its first player is called by the time, in ms
	hangs   atomic.Bool // nothing is seen there any more
}

// newState is a state of a test.
func newState(change func(*live.State)) live.State {
	s := live.State{At: time.Now(), Health: live.Health{Code: live.OK, Title: "ok"}}
	s.Match = live.Match{Round: "Round 3", Sides: [2]live.MatchSide{{Name: "Ada", Score: 7}, {Name: "Ben"}}}
	if change != nil {
		change(&s)
	}
	return s
}

// join lets a table play and join the hall until the test's end.
func join(t testing.TB, i event.Invitation, change ...func(*event.Options)) *played {
	t.Helper()
	p := &played{book: &book{}, hub: live.NewHub(newState(nil)), stopped: make(chan struct{})}
	p.serve = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := p.hub.Newest()
		fmt.Fprintf(w, `{"seq":%d,"at_unix_ms":%d,"pad":%q}`+"\n", s.Seq, s.At.UnixMilli(), strings.Repeat("x", 1000))
	})
	o := event.Options{
		Invitation: i, Newest: p.hub.Newest, Record: p.book,
		Serve:   http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve.ServeHTTP(w, r) }),
		Version: "test", Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Cursor: filepath.Join(t.TempDir(), "cursor"),
	}
	for _, f := range change {
		f(&o)
	}
	client, err := event.New(o)
	require.NoError(t, err)
	p.client = client
	ctx, cancel := context.WithCancel(context.Background())
	p.stop = func() { cancel(); <-p.stopped }
	go func() {
		defer close(p.stopped)
		if err := client.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	go func() {
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for ctx.Err() == nil {
			<-ticker.C
			if p.hangs.Load() {
				continue
			}
			p.hub.Update(func(s live.State) live.State {
				s.Seq++
				s.At = time.Now()
				if p.timed.Load() {
					s.Match.Sides[0].Name = strconv.FormatInt(s.At.UnixMilli(), 10)
				}
				return s
			})
		}
	}()
	t.Cleanup(p.stop)
	return p
}

// eventually waits until something is so.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

// hears waits until people read something, whatever else they read before.
func hears(t testing.TB, told <-chan string, want string) {
	t.Helper()
	end := time.After(3 * time.Minute)
	for {
		select {
		case text := <-told:
			if strings.Contains(text, want) {
				return
			}
		case <-end:
			t.Fatalf("nobody is told: %s", want)
		}
	}
}

// well says whether the hall tells monitors that it is well.
func (r *running) well(t testing.TB) func() bool {
	return func() bool { status, _ := r.get(t, "/healthz"); return status == http.StatusOK }
}

// asJudge is a client that is paired as a judge.
func asJudge(t testing.TB, r *running) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	c := &http.Client{Jar: jar}
	answer, err := c.Post(r.page+"/api/pair", "application/json", strings.NewReader(`{"judge_secret":"`+secret+`","name":"Jo"}`))
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	return c
}

// ask holds what the table sees for a judge.
func (p *played) ask(number uint64, who string) {
	p.hub.Update(func(s live.State) live.State {
		s.Held = true
		s.Hold = &live.Held{Number: number, At: time.Now(), AskedBy: who, Register: s.Register, Frame: s.Frame, Located: s.Located, Sigmas: 3,
			Result: s.Result, Source: "a camera of tests", Table: calibration.Table{Camera: calibration.Camera{
				Intrinsics: calibration.Intrinsics{Width: 960, Height: 960, Fx: 1300, Fy: 1300, Cx: 480, Cy: 480},
				Extrinsics: calibration.Extrinsics{R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, T: calibration.Vec3{-457, 460, 1300}},
			}}}
		return s
	})
}
