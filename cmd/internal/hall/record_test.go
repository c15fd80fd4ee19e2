package hall_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/event"
	"sightline/cmd/internal/hall"
)

// found are the rulings of the hall that hold the words.
func found(t testing.TB, r *running, words string) []hall.Ruling {
	t.Helper()
	status, body := r.get(t, "/api/search?q="+strings.ReplaceAll(words, " ", "+"))
	require.Equal(t, http.StatusOK, status, "%s", body)
	var out struct{ Rulings []hall.Ruling }
	require.NoError(t, json.Unmarshal(body, &out))
	return out.Rulings
}

// TestRulingsArriveToTheByteAndOnce: entries that were there before and that come later, with
// their pictures, each once, whatever the table sends again.
func TestRulingsArriveToTheByteAndOnce(t *testing.T) {
	t.Parallel()
	r := run(t, t.TempDir())
	i := r.invite(t, "7")
	cursor := filepath.Join(t.TempDir(), "cursor")
	p := join(t, i, func(o *event.Options) { o.Cursor = cursor })
	first := p.book.rule(t, "the first", 200_000)
	eventually(t, "the first is there", func() bool { return r.tile(t, "7").Rulings == 1 })
	p.book.rule(t, "the second", 0)
	eventually(t, "the second is there", func() bool { return r.tile(t, "7").Rulings == 2 })

	r.invite(t, "2")
	require.Equal(t, "2", r.tile(t, "2").Table)
	assert.Empty(t, found(t, r, "jo table 2"), "range 2 is no table")
	assert.Len(t, found(t, r, "jo range 2"), 2)
	list := found(t, r, "table 7 FIRST jo")
	require.Len(t, list, 1)
	assert.Empty(t, list[0].Problem)
	_, raw := r.get(t, fmt.Sprintf("/api/rulings/7/1/%s", first.Hash))
	assert.Equal(t, string(first.Record), string(raw))
	_, picture := r.get(t, "/api/pictures/7/"+list[0].Picture)
	assert.Equal(t, first.SHA256, sum(picture))

	// The table forgets how far it was, and sends all of it again.
	p.stop()
	require.NoError(t, os.Remove(cursor))
	again := join(t, i, func(o *event.Options) { o.Cursor, o.Record = cursor, p.book })
	eventually(t, "all is acknowledged again", func() bool {
		h := r.tile(t, "7").Health
		return h != nil && h.Record.Sent == 2
	})
	assert.Equal(t, 2, r.tile(t, "7").Rulings)
	assert.Empty(t, r.tile(t, "7").Problems)
	again.stop()
}

// TestEntriesCutOffAtATablesEndAreSaid: the hall keeps every chain's head, and so finds what
// docs/rulings.md says that the log alone cannot show.
func TestEntriesCutOffAtATablesEndAreSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*book)
		want   string
	}{
		"cut off": {func(b *book) { b.entries = b.entries[:1] },
			"ends at ruling 1, but the hall has it up to 3: 2 entries were cut off at its end"},
		"all gone": {func(b *book) { b.entries = nil }, "The table's record is empty, but the hall has it up to ruling 3"},
		"replaced": {func(b *book) { b.entries = b.entries[:2]; b.rule(t, "a friendlier one", 0) },
			"There are 2 different rulings with number 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, t.TempDir())
			p := join(t, r.invite(t, "7"))
			for n := range 3 {
				p.book.rule(t, fmt.Sprint("ruling ", n), 0)
			}
			eventually(t, "they are there", func() bool { return r.tile(t, "7").Rulings == 3 })
			assert.Empty(t, r.tile(t, "7").Problems)
			p.book.mu.Lock()
			entries := p.book.entries
			changed := &book{entries: entries}
			p.book.mu.Unlock()
			c.change(changed)
			p.book.mu.Lock()
			p.book.entries = changed.entries
			p.book.mu.Unlock()
			eventually(t, "it is said", func() bool { return strings.Contains(strings.Join(r.tile(t, "7").Problems, "\n"), c.want) })
			assert.GreaterOrEqual(t, len(found(t, r, "table 7")), 3, "the hall keeps what it has")
		})
	}
}

// TestAHallThatLostItsDiskGetsTheRecordAgain: what tables hand on they still have.
func TestAHallThatLostItsDiskGetsTheRecordAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := run(t, dir)
	address := strings.TrimPrefix(r.tables, "tls://")
	p := join(t, r.invite(t, "7"))
	for range 3 {
		p.book.rule(t, "x", 1000)
	}
	eventually(t, "they are there", func() bool { return r.tile(t, "7").Rulings == 3 })
	r.stop()
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "jetstream")))
	again := run(t, dir, func(o *hall.Options) { o.Tables = address })
	eventually(t, "they are there again", func() bool { return again.tile(t, "7").Rulings == 3 })
	assert.Empty(t, again.tile(t, "7").Problems)
}

// TestATablePlaysOnWithoutTheHall: what is recorded while there is none arrives afterwards, in
// its order.
func TestATablePlaysOnWithoutTheHall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := run(t, dir)
	address := strings.TrimPrefix(r.tables, "tls://")
	p := join(t, r.invite(t, "7"))
	p.book.rule(t, "with", 1000)
	eventually(t, "it is there", func() bool { return r.tile(t, "7").Rulings == 1 })
	r.stop()
	for range 5 {
		p.book.rule(t, "without", 1000)
	}
	time.Sleep(time.Second)
	again := run(t, dir, func(o *hall.Options) { o.Tables = address })
	eventually(t, "all are there", func() bool { return again.tile(t, "7").Rulings == 6 })
	assert.Empty(t, again.tile(t, "7").Problems)
	assert.Len(t, found(t, again, "without"), 5)
}
