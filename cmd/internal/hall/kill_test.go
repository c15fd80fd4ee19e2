package hall_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sightline/calibration/atomicfile"
	"sightline/cmd/internal/event"
	"sightline/cmd/internal/live"
)

// readBook reads a record that keep wrote.
func readBook(dir string) (*book, error) {
	b := &book{}
	for n := int64(1); ; n++ {
		raw, err := os.ReadFile(entryFile(dir, n))
		if errors.Is(err, fs.ErrNotExist) {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
		picture, err := os.ReadFile(entryFile(dir, n) + ".jpg")
		if err != nil {
			return nil, err
		}
		b.entries = append(b.entries, event.Entry{Number: n, Hash: sum(raw), At: time.Now(), Record: raw, Picture: picture,
			SHA256: sum(picture), Type: "image/jpeg"})
	}
}

func entryFile(dir string, n int64) string { return filepath.Join(dir, fmt.Sprintf("%d.json", n)) }

// keep records a ruling as a table does: it is on the disk before anyone learns of it.
func (b *book) keep(dir string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.draft("while somebody is killed", 20_000)
	if err == nil {
		err = atomicfile.Write(entryFile(dir, e.Number)+".jpg", e.Picture, 0o600)
	}
	if err == nil {
		err = atomicfile.Write(entryFile(dir, e.Number), e.Record, 0o600)
	}
	if err == nil {
		b.entries = append(b.entries, e)
	}
	return err
}

// playAlone is a table in a process of its own, which rules all the time until it is killed.
func playAlone(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "invitation"))
	if err != nil {
		return err
	}
	i, err := event.ParseInvitation(string(text))
	if err != nil {
		return err
	}
	b, err := readBook(dir)
	if err != nil {
		return err
	}
	hub := live.NewHub(newState(nil))
	client, err := event.New(event.Options{Invitation: i, Newest: hub.Newest, Record: b, Serve: http.NotFoundHandler(),
		Cursor: filepath.Join(dir, "cursor"), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		return err
	}
	go func() { _ = client.Run(context.Background()) }()
	for {
		time.Sleep(50 * time.Millisecond)
		if err := b.keep(dir); err != nil {
			return err
		}
		hub.Update(func(s live.State) live.State { s.Seq++; s.At = time.Now(); return s })
	}
}

// TestNothingIsLostWhoeverIsKilled: HALL_KILLS=50 kills the hall, a table, or all of them at once
// so often while rulings arrive.
func TestNothingIsLostWhoeverIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 20 s")
	}
	kills := size(t, "HALL_KILLS", 4)
	if kills < 10 {
		t.Parallel()
	}
	p := spawn(t, true)
	names := []string{"1", "2", "3"}
	dirs, tables := map[string]string{}, map[string]*exec.Cmd{}
	start := func(name string) {
		tables[name] = exec.Command(os.Args[0])
		tables[name].Env = append(os.Environ(), childTable+"="+dirs[name])
		require.NoError(t, tables[name].Start())
	}
	end := func(name string) {
		_ = tables[name].Process.Kill()
		_ = tables[name].Wait()
	}
	for _, name := range names {
		dirs[name] = t.TempDir()
		i := p.invite(t, name)
		require.NoError(t, os.WriteFile(filepath.Join(dirs[name], "invitation"), []byte(i.String()), 0o600))
		start(name)
		t.Cleanup(func() { end(name) })
	}
	for k := range kills {
		time.Sleep(time.Duration(400+rand.IntN(600)) * time.Millisecond)
		switch k % 3 {
		case 0: // the hall alone
			p.end(syscall.SIGKILL)
			p.start(t)
		case 1: // a table alone
			end(names[k%len(names)])
			start(names[k%len(names)])
		case 2: // everything at once
			var group sync.WaitGroup
			group.Go(func() { p.end(syscall.SIGKILL) })
			for _, name := range names {
				group.Go(func() { end(name) })
			}
			group.Wait()
			p.start(t)
			for _, name := range names {
				start(name)
			}
		}
	}
	total := 0
	for _, name := range names {
		end(name)
		b, err := readBook(dirs[name])
		require.NoError(t, err)
		text, err := os.ReadFile(filepath.Join(dirs[name], "invitation"))
		require.NoError(t, err)
		i, err := event.ParseInvitation(string(text))
		require.NoError(t, err)
		q := join(t, i, func(o *event.Options) { o.Record, o.Cursor = b, filepath.Join(dirs[name], "cursor") })
		p.whole(t, name, q, int64(len(b.entries)))
		total += len(b.entries)
	}
	t.Logf("%d kills of the hall, a table, or all, %d rulings, every one is there once", kills, total)
}
