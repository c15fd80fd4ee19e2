package hall

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"sightline/cmd/internal/event"
	"sightline/cmd/internal/sentence"
)

const (
	roomWanted  = 64 << 20              // bytes free on the disk, below which the page warns
	roomLeast   = 4 * event.PayloadMost // below which nothing is tried again
	storeMost   = 1 << 50               // bytes of the streams: only the disk limits them
	reopenEvery = 5 * time.Second
)

// trouble describes what is wrong with the hall itself; "": nothing. The caller holds mu.
func (h *Hall) trouble() string {
	if err := h.invites.Trouble(); err != nil {
		return "The list of invited tables cannot be read, and what was read last counts: " + sentence.Of(err)
	}
	if h.broker != nil {
		if err := h.broker.trouble(); err != nil {
			return sentence.Of(err)
		}
	}
	if h.outage != "" {
		return h.outage
	}
	if !h.lost.IsZero() && h.o.Now().Sub(h.lost) < lossShown {
		return fmt.Sprintf("What the hall kept was removed or replaced while it ran; this was noticed at %s. It has again what the "+
			"connected tables pass on.", h.lost.Local().Format("15:04"))
	}
	if free, err := room(h.o.Dir); err == nil && free < roomWanted {
		return fmt.Sprintf("Only %d MB are free on the disk of %s.", free>>20, h.o.Dir)
	}
	if h.broker != nil {
		return h.broker.door.unknown()
	}
	return ""
}

// room returns the number of free bytes for the folder's files.
func room(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("hall: %s: %w", dir, err)
	}
	return int64(s.Bavail) * s.Bsize, nil
}

// trouble returns why the broker stores nothing; nil if it does.
func (b *broker) trouble() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stuck
}

// checkStore checks that the broker can write. After a disk error the broker refuses everything
// until it reads its files again, which checkStore makes it do once there is room. Tables send
// again what was not acknowledged. gone reports that the files were replaced, and that the broker
// has read the new ones.
func (b *broker) checkStore() (gone bool) {
	if b.moved() {
		b.reopened = time.Now()
		err := b.reopen()
		b.mu.Lock()
		b.stuck = err
		b.mu.Unlock()
		if err != nil {
			b.door.log.Error("hall", "err", err)
		}
		return err == nil
	}
	state := b.server.Healthz(nil)
	var err error
	if state.StatusCode != http.StatusOK {
		why := ""
		free, roomErr := room(b.dir)
		if roomErr == nil && free < roomLeast {
			why = fmt.Sprintf(": its disk is full (%d MB free)", free>>20)
		}
		err = fmt.Errorf("the hall keeps no rulings now%s; they wait at the tables: %s", why, state.Error)
		if roomErr == nil && free >= roomLeast && time.Since(b.reopened) >= reopenEvery {
			b.reopened = time.Now()
			err = errors.Join(err, b.reopen())
		}
	}
	b.mu.Lock()
	was := b.stuck
	b.stuck = err
	b.mu.Unlock()
	switch {
	case err != nil && was == nil:
		b.door.log.Error("hall", "err", err)
	case err == nil && was != nil:
		b.door.log.Info("hall: rulings are kept again")
	}
	return false
}

// noteFolder records the folder of the stream of rulings.
func (b *broker) noteFolder(stream string) {
	b.folder = filepath.Join(b.dir, storeFolder, server.JetStreamStoreDir, server.DEFAULT_GLOBAL_ACCOUNT, "streams", stream)
	b.noted, _ = os.Stat(b.folder) // nil: moved never reports it
}

// moved reports whether the folder of the rulings was removed or replaced. The broker would
// continue to write into deleted files.
func (b *broker) moved() bool {
	if b.noted == nil {
		return false
	}
	now, err := os.Stat(b.folder)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, b.noted)
}

// reopen makes the broker read its files again.
func (b *broker) reopen() error {
	if err := b.server.ShutdownJetStream(); err != nil {
		return err
	}
	return b.server.EnableJetStream(&server.JetStreamConfig{StoreDir: filepath.Join(b.dir, storeFolder), MaxStore: storeMost})
}
