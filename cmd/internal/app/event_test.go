package app

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration/atomicfile"
	"sightline/cmd/internal/hall"
	"sightline/cmd/internal/live"
)

// TestTheHallGetsTheRecordToTheByte: what is handed on is the entry as its hash covers it, with
// the picture that it names.
func TestTheHallGetsTheRecordToTheByte(t *testing.T) {
	c := newCourt(t, func(_ *desk, o *deskParts) { o.Judges = true })
	given := handedOn{c.judges}
	number, hash, err := given.Head(t.Context())
	require.NoError(t, err)
	assert.Zero(t, number)
	assert.Empty(t, hash)
	c.aPicture()
	c.game.AskJudgeFor("Ada")
	r, err := c.rule()
	require.NoError(t, err)
	number, hash, err = given.Head(t.Context())
	require.NoError(t, err)
	assert.Equal(t, int64(r.Number), number)
	assert.Equal(t, r.EntryHash, hash)
	e, err := given.Entry(t.Context(), number)
	require.NoError(t, err)
	sum := sha256.Sum256(e.Record)
	assert.Equal(t, hash, hex.EncodeToString(sum[:]))
	sum = sha256.Sum256(e.Picture)
	assert.Equal(t, e.SHA256, hex.EncodeToString(sum[:]))
	assert.Contains(t, string(e.Record), e.SHA256)
	_, err = given.Entry(t.Context(), number+1)
	assert.Error(t, err)
}

// TestATableJoinsAHallOnlyWhenConfigured: without [event] there is no task for it; with it the
// invitation must be there, be private, and be one.
func TestATableJoinsAHallOnlyWhenConfigured(t *testing.T) {
	c := newCourt(t, nil)
	invites, err := hall.OpenInvites(t.TempDir(), time.Now)
	require.NoError(t, err)
	i, err := invites.Invite("7", "tls://192.0.2.1:4222", time.Hour)
	require.NoError(t, err)
	good := filepath.Join(t.TempDir(), "hall.invitation")
	require.NoError(t, os.WriteFile(good, []byte(i.String()+"\n"), 0o600))
	shared, other := good+".shared", good+".other"
	require.NoError(t, os.WriteFile(shared, []byte(i.String()), 0o644))
	require.NoError(t, os.WriteFile(other, []byte("hello\n"), 0o600))
	for path, want := range map[string]string{
		"": "", good: "", good + ".none": "no such file", shared: "others may read it", other: "begins with sightline-hall:?",
	} {
		p := &program{}
		err := p.joinHall(Config{Event: Event{path}}, c.hub, c.game, c.judges, nil, c.options())
		if want != "" {
			assert.ErrorContains(t, err, want, path)
			assert.True(t, strings.HasPrefix(err.Error(), "event.invitation: "), err)
			continue
		}
		require.NoError(t, err, path)
		assert.Len(t, p.tasks, map[bool]int{true: 1}[path != ""], path)
	}
}

// TestATableJoinsAgainWithAnotherInvitation: the invitation was replaced while the program runs, which
// a restart would cost what is held. A file that holds none changes nothing.
func TestATableJoinsAgainWithAnotherInvitation(t *testing.T) {
	page, invites := runHall(t)
	file := filepath.Join(t.TempDir(), "hall.invitation")
	invite := func(table string) string {
		i, err := invites.Invite(table, "", time.Hour)
		require.NoError(t, err)
		return i.String() + "\n"
	}
	give := func(text string) { require.NoError(t, atomicfile.Write(file, []byte(text), 0o600)) }
	c := newCourt(t, nil)
	c.aPicture()
	heard := func(table, up string) {
		line := `sightline_table_up{table="` + table + `"} ` + up + "\n"
		require.Eventually(t, func() bool {
			c.hub.Update(func(s live.State) live.State { s.At = time.Now(); return s })
			return strings.Contains(hallSays(t, page+"/metrics"), line)
		}, 2*time.Minute, 100*time.Millisecond, line)
	}
	give(invite("7"))
	p, o := &program{}, c.options()
	o.StateDir = t.TempDir()
	require.NoError(t, p.joinHall(Config{Event: Event{file}}, c.hub, c.game, c.judges, http.NotFoundHandler(), o))
	inBackground(t, p.tasks[0].Run)
	heard("7", "1")
	give("half an invit")
	eight := invite("8")
	give(eight)
	heard("8", "1")
	again := invite("8")
	heard("8", "0") // the key before has ended
	give(again)
	heard("8", "1")
}
