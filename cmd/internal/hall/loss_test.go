package hall_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/event"
	"sightline/cmd/internal/hall"
)

// copied is a book with the first entries of another.
func (b *book) copied(n int) *book {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &book{entries: append([]event.Entry(nil), b.entries[:n]...)}
}

// become makes a book's entries another book's.
func (b *book) become(other *book) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries = other.entries
}

// TestWhatIsRuledAfterACutArrives: a table whose record was cut off at its end continues with
// numbers that the hall has already. Its new rulings arrive nevertheless, before it has caught up.
func TestWhatIsRuledAfterACutArrives(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	p := join(t, r.invite(t, "7"))
	for n := range 5 {
		p.book.rule(t, fmt.Sprint("ruling ", n), 0)
	}
	eventually(t, "they are there", func() bool { return r.tile(t, "7").Rulings == 5 })
	p.book.become(p.book.copied(2))
	p.book.rule(t, "after the cut", 1000)
	eventually(t, "the new one is there", func() bool { return len(found(t, r, "after the cut")) == 1 })
	eventually(t, "it is said", func() bool {
		return r.says(t, "7", "There are 2 different rulings with number 3") && r.says(t, "7", "differs from the one that the hall has "+
			"up to ruling 5")
	})
	assert.Equal(t, 6, r.tile(t, "7").Rulings, "the hall keeps what it has")
}

// TestARecordThatIsBegunAgainIsSaidToBe: a folder that was moved away is no cut.
func TestARecordThatIsBegunAgainIsSaidToBe(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	p := join(t, r.invite(t, "7"))
	for range 3 {
		p.book.rule(t, "of the old record", 0)
	}
	eventually(t, "they are there", func() bool { return r.tile(t, "7").Rulings == 3 })
	p.book.become(&book{})
	eventually(t, "it is empty", func() bool { return r.says(t, "7", "it was removed, or begun again") })
	p.book.rule(t, "of the new record", 0)
	eventually(t, "the new one is there", func() bool { return r.tile(t, "7").Rulings == 4 })
	eventually(t, "it is said", func() bool {
		return r.says(t, "7", "ends at ruling 1, differs from the one that the hall has up to ruling 3")
	})
	assert.False(t, r.says(t, "7", "cut off"))
}

// TestAStoreThatIsRemovedWhileTheHallRunsIsFilledAgain: the broker would write on into files that
// have no name, acknowledge them, and lose them at its end.
func TestAStoreThatIsRemovedWhileTheHallRunsIsFilledAgain(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, store, older string){
		// The hall may write there meanwhile.
		"removed": func(t *testing.T, store, _ string) {
			eventually(t, "it is removed", func() bool { return os.RemoveAll(store) == nil })
		},
		"emptied": func(t *testing.T, store, _ string) {
			eventually(t, "it is emptied", func() bool { return os.RemoveAll(filepath.Join(store, "jetstream")) == nil })
		},
		"replaced": func(t *testing.T, store, older string) {
			eventually(t, "it is replaced", func() bool { return os.RemoveAll(store) == nil && os.Rename(older, store) == nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, older := t.TempDir(), filepath.Join(t.TempDir(), "older")
			store := filepath.Join(dir, "jetstream")
			r := run(t, dir)
			i := r.invite(t, "7")
			p := join(t, i)
			p.book.rule(t, "before", 1000)
			eventually(t, "the first is there", func() bool { return r.tile(t, "7").Rulings == 1 })
			r.stop()
			require.NoError(t, os.CopyFS(older, os.DirFS(store)))
			r = run(t, dir, func(o *hall.Options) { o.Tables = strings.TrimPrefix(r.tables, "tls://") })
			for range 3 {
				p.book.rule(t, "before", 1000)
			}
			eventually(t, "all are there", func() bool { return r.tile(t, "7").Rulings == 4 && p.client.Sent() == 4 })
			change(t, store, older)
			p.book.rule(t, "after", 1000)
			eventually(t, "it is said", func() bool { return strings.Contains(r.trouble(t), "was removed or replaced while it ran") })
			eventually(t, "all are there again", func() bool { return r.tile(t, "7").Rulings == 5 && p.client.Sent() == 5 })
			assert.Empty(t, r.tile(t, "7").Problems)
			eventually(t, "the hall is well", r.well(t))
			p.stop()
			r.stop()
			again := run(t, dir)
			assert.Len(t, found(t, again, "table 7"), 5, "they are on the disk")
		})
	}
}

// TestAnOlderStoreIsFilledAgain: a hall whose disk is of an earlier hour has another record of the
// table, just as long as the one that it learns of.
func TestAnOlderStoreIsFilledAgain(t *testing.T) {
	t.Parallel()
	dir, older := t.TempDir(), filepath.Join(t.TempDir(), "older")
	store := filepath.Join(dir, "jetstream")
	r := run(t, dir)
	address := strings.TrimPrefix(r.tables, "tls://")
	p := join(t, r.invite(t, "7"))
	for range 2 {
		p.book.rule(t, "of the old record", 0)
	}
	eventually(t, "they are there", func() bool { return r.tile(t, "7").Rulings == 2 })
	r.stop()
	require.NoError(t, os.CopyFS(older, os.DirFS(store)))
	r = run(t, dir, func(o *hall.Options) { o.Tables = address })
	p.book.become(&book{})
	for range 2 {
		p.book.rule(t, "of the new record", 0)
	}
	eventually(t, "all are there", func() bool { return r.tile(t, "7").Rulings == 4 && p.client.Sent() == 2 })
	r.stop()
	require.NoError(t, os.RemoveAll(store))
	require.NoError(t, os.Rename(older, store))
	r = run(t, dir, func(o *hall.Options) { o.Tables = address })
	eventually(t, "the new ones are there again", func() bool { return len(found(t, r, "new record")) == 2 && r.tile(t, "7").Rulings == 4 })
}

// TestADamagedStoreKeepsNoHallFromRunning: whichever file of the stopped hall was removed, emptied
// or written over, the hall starts, and has all that the tables have.
func TestADamagedStoreKeepsNoHallFromRunning(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a hall for each file")
	}
	t.Parallel()
	dir := t.TempDir()
	r := run(t, dir)
	address := strings.TrimPrefix(r.tables, "tls://")
	p := join(t, r.invite(t, "7"))
	for range 5 {
		p.book.rule(t, "of five", 3000)
	}
	eventually(t, "they are there", func() bool { return r.tile(t, "7").Rulings == 5 && p.client.Sent() == 5 })
	r.stop()
	store := filepath.Join(dir, "jetstream")
	var files []string
	require.NoError(t, filepath.WalkDir(store, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	require.NotEmpty(t, files)
	good := filepath.Join(t.TempDir(), "good")
	require.NoError(t, os.CopyFS(good, os.DirFS(store)))
	for _, path := range files {
		name, err := filepath.Rel(store, path)
		require.NoError(t, err)
		for how, damage := range map[string]func() error{
			"removed": func() error { return os.Remove(path) },
			"emptied": func() error { return os.Truncate(path, 0) },
			"written over": func() error {
				raw, err := os.ReadFile(path)
				for i := len(raw) / 2; i < len(raw)/2+64 && i < len(raw); i++ {
					raw[i] ^= 0xa5
				}
				if err == nil {
					err = os.WriteFile(path, raw, 0o600)
				}
				return err
			},
		} {
			require.NoError(t, os.RemoveAll(store))
			require.NoError(t, os.CopyFS(store, os.DirFS(good)))
			require.NoError(t, damage(), "%s %s", name, how)
			again := run(t, dir, func(o *hall.Options) { o.Tables = address })
			eventually(t, fmt.Sprintf("all are there again: %s %s", name, how), func() bool { return again.tile(t, "7").Rulings == 5 })
			assert.Empty(t, again.tile(t, "7").Problems, "%s %s", name, how)
			for _, k := range found(t, again, "table 7") {
				assert.Empty(t, k.Problem, "%s %s", name, how)
			}
			again.stop()
		}
	}
}

// TestACopiedRecordIsSaid: a card that was copied with its record plays as two tables. Their
// common rulings are named once, and both tables' tiles say it.
func TestACopiedRecordIsSaid(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	p := join(t, r.invite(t, "7"))
	p.book.rule(t, "at the club", 1000)
	p.book.rule(t, "at the club", 1000)
	eventually(t, "they are there", func() bool { return r.tile(t, "7").Rulings == 2 })
	other := p.book.copied(2)
	join(t, r.invite(t, "8"), func(o *event.Options) { o.Record = other })
	other.rule(t, "at the event", 0)
	eventually(t, "both say so", func() bool {
		return r.says(t, "8", "Rulings that table 7 has, too: 2.") && r.says(t, "7", "Rulings that table 8 has, too: 2.")
	})
	eventually(t, "the new one is table 8's", func() bool { return len(found(t, r, "event")) == 1 })
	all := found(t, r, "club")
	require.Len(t, all, 2)
	for _, k := range all {
		assert.Equal(t, "7", k.Table)
		assert.Equal(t, []string{"8"}, k.Also)
	}
}

// TestAHallWithAnotherCertificateIsSaid: a hall whose certificate was lost is another one to its
// tables, and their people read so. Invited again, a table hands on what waited.
func TestAHallWithAnotherCertificateIsSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := run(t, dir)
	address := strings.TrimPrefix(r.tables, "tls://")
	told := make(chan string, 100)
	cursor := filepath.Join(t.TempDir(), "cursor")
	p := join(t, r.invite(t, "7"), func(o *event.Options) { o.Notice, o.Cursor = func(text string) { told <- text }, cursor })
	p.book.rule(t, "before", 0)
	eventually(t, "it is there", func() bool { return r.tile(t, "7").Rulings == 1 })
	r.stop()
	require.NoError(t, os.Remove(filepath.Join(dir, "broker.pem")))
	again := run(t, dir, func(o *hall.Options) { o.Tables = address })
	hears(t, told, "its certificate differs")
	p.book.rule(t, "meanwhile", 0)
	assert.False(t, p.client.Here())
	p.stop()
	join(t, again.invite(t, "7"), func(o *event.Options) { o.Record, o.Cursor = p.book, cursor })
	eventually(t, "all is there", func() bool { return again.tile(t, "7").Rulings == 2 && again.tile(t, "7").Live })
	assert.Empty(t, again.tile(t, "7").Problems)
}

// TestAListOfTablesThatIsGoneSendsNoTableHome, and neither does another event's in its place.
func TestAListOfTablesThatIsGoneSendsNoTableHome(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := run(t, dir)
	p := join(t, r.invite(t, "7"))
	eventually(t, "it is heard", func() bool { return r.tile(t, "7").Live })
	path := filepath.Join(dir, "tables.json")
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	eventually(t, "it is said", func() bool { return strings.Contains(r.trouble(t), "tables.json is gone") })
	_, err = hall.OpenInvites(dir, time.Now) // as sightline hall invite does: it begins another event
	require.NoError(t, err)
	eventually(t, "it is said", func() bool { return strings.Contains(r.trouble(t), "is of another event") })
	p.book.rule(t, "meanwhile", 0)
	eventually(t, "it arrives", func() bool { return r.tile(t, "7").Rulings == 1 && r.tile(t, "7").Live })
	require.NoError(t, os.WriteFile(path, good, 0o600))
	eventually(t, "all is well", func() bool { return r.trouble(t) == "" })
}

// TestAFolderThatIsPutBackSaysWhomItNoLongerKnows: yesterday's copy of the hall's folder does not
// have today's invitations. Those tables are refused, and the page says so.
func TestAFolderThatIsPutBackSaysWhomItNoLongerKnows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := run(t, dir)
	address := strings.TrimPrefix(r.tables, "tls://")
	p := join(t, r.invite(t, "7"))
	eventually(t, "it is heard", func() bool { return r.tile(t, "7").Live })
	r.stop()
	copied := filepath.Join(t.TempDir(), "yesterday")
	require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
	r = run(t, dir, func(o *hall.Options) { o.Tables = address })
	q := join(t, r.invite(t, "8"))
	p.book.rule(t, "of today", 0)
	eventually(t, "both are there", func() bool { return r.tile(t, "8").Live && r.tile(t, "7").Rulings == 1 })
	r.stop()
	r = run(t, copied, func(o *hall.Options) { o.Tables = address })
	eventually(t, "what was known yesterday is there, with today's ruling", func() bool {
		return r.tile(t, "7").Live && r.tile(t, "7").Rulings == 1
	})
	eventually(t, "the other is said to be refused", func() bool {
		return strings.Contains(r.trouble(t), "no table was invited with its key")
	})
	assert.False(t, q.client.Here())
	q.stop()
	eventually(t, "it is said as long as it tries", func() bool { return r.trouble(t) == "" })
}

// TestATileSaysThatItsTableIsNotLetIn, and why.
func TestATileSaysThatItsTableIsNotLetIn(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	p := join(t, r.invite(t, "7"))
	eventually(t, "it is heard", func() bool { return r.tile(t, "7").Live })
	assert.Empty(t, r.tile(t, "7").Problems)
	require.NoError(t, r.invites.Revoke("7"))
	eventually(t, "it is said", func() bool {
		return r.says(t, "7", "does not let it in: its invitation was revoked") && !r.tile(t, "7").Live
	})
	p.book.rule(t, "after it was revoked", 0)
	time.Sleep(time.Second)
	assert.Equal(t, 0, r.tile(t, "7").Rulings)
}

// TestATablesClockMayBeSetBack: an hour back, while it plays: it stays live, its overlays get the
// clock as it is now, and how long a call waits does not change.
func TestATablesClockMayBeSetBack(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	i := r.invite(t, "7")
	conn, err := dial(i)
	require.NoError(t, err)
	defer conn.Close()
	s := event.SubjectsOf(i.Event, "7")
	began := time.Now()
	var set atomic.Int64 // ms
	clock := func() (up, at int64) { return time.Since(began).Milliseconds(), time.Now().UnixMilli() + set.Load() }
	sub, err := conn.Subscribe(s.Ask(event.AskClock), func(m *nats.Msg) {
		up, at := clock()
		body, _ := json.Marshal(event.Clock{Session: "a", UpMS: up, AtMS: at})
		_ = m.Respond(body)
	})
	require.NoError(t, err)
	defer func() { _ = sub.Unsubscribe() }()
	live := func() bool {
		up, at := clock()
		require.NoError(t, conn.PublishMsg(word(s.Health(), "a", up, at, `{"code":"ok","call":{"held":1,"up_ms":-60000,"asked":"Ada"}}`)))
		return r.tile(t, "7").Live
	}
	eventually(t, "it is live", live)
	for _, by := range []time.Duration{-time.Hour, 3 * time.Hour} {
		set.Store(by.Milliseconds())
		eventually(t, "its clock is the new one", func() bool {
			if !live() { // nothing was heard for three seconds: a machine with much to do
				return false
			}
			_, text := r.get(t, "/t/7/overlay/clock")
			var is struct {
				NowMS int64 `json:"now_unix_ms"`
			}
			_, at := clock()
			return json.Unmarshal(text, &is) == nil && is.NowMS-at < 3000 && at-is.NowMS < 3000
		})
		_, body := r.get(t, "/api/hall")
		var is struct{ Calls []hall.OpenCall }
		require.NoError(t, json.Unmarshal(body, &is))
		require.Len(t, is.Calls, 1)
		assert.InDelta(t, 60e3+float64(time.Since(began).Milliseconds()), is.Calls[0].WaitingMS, 10e3+float64(late.Load())/1e6)
	}
}
