package rulings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Prune removes the pictures of entries that are older than Options.Keep at an instant, and
// records that. The age counts both by the clock and by the machine's uptime: pictures of
// entries that have been in the log for less than Options.Keep of running time are kept. For a
// day after the clock went back or jumped nothing is removed: ErrClock. Entries are never
// removed, nor pictures that a younger entry uses too. It returns the number of removed files.
func (l *Log) Prune(ctx context.Context, now time.Time) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return 0, errClosed
	case l.o.Keep <= 0 || l.write == nil || l.overwritten != nil || l.moved() != nil:
		return 0, nil
	}
	n, err := l.prune(ctx, now)
	if l.moved() == nil {
		if changed := l.settle(context.WithoutCancel(ctx)); changed != nil {
			l.abandon(changed)
			err = cmp.Or(err, changed)
		}
	}
	if err != nil {
		return n, fmt.Errorf("rulings: prune %s: %w", l.dir, full(err))
	}
	return n, nil
}

// prunable returns the last entry that is old enough by the uptime.
func (l *Log) prunable(ctx context.Context, now time.Time) (int64, error) {
	if !hasSignatures(ctx, l.write) {
		return 0, nil // version 1 has no evidence of its age
	}
	passed, err := l.noteClock(ctx, now)
	if err != nil {
		return 0, err
	}
	fault, err := lastFault(ctx, l.write, passed-trustAfter)
	if err != nil {
		return 0, err
	}
	if fault != nil {
		return 0, fault
	}
	last, err := newest(ctx, l.write)
	if err == nil && len(last) > 0 && now.Before(last[0].At.Add(-leapMost)) {
		err = fmt.Errorf("%w: it is %s now, and the last entry is of %s", ErrClock, stamp(now), stamp(last[0].At))
	}
	if err != nil {
		return 0, err
	}
	return lastEntryBefore(ctx, l.write, passed-l.o.Keep)
}

// prune records removals before it removes: a missing picture without a note would look like
// tampering.
func (l *Log) prune(ctx context.Context, now time.Time) (int, error) {
	aged, err := l.prunable(ctx, now)
	if err != nil || aged == 0 {
		return 0, err
	}
	old, err := l.oldPictures(ctx, aged, now.Add(-l.o.Keep))
	if err != nil || len(old) == 0 {
		return 0, err
	}
	tx, err := l.write.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	for _, p := range old {
		_, err := tx.ExecContext(ctx, "INSERT INTO pruned (sha256, at, entry) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
			p.ref.SHA256, now.UTC().Format(time.RFC3339), p.entry)
		if err != nil {
			return 0, err
		}
	}
	if err := tx.Commit(); err != nil {
		return 0, err
	}
	s, n := store{l.dir, l.disk}, 0
	for _, p := range old {
		switch err := s.disk.Remove(s.path(p.ref)); {
		case err == nil:
			n++
		case !errors.Is(err, fs.ErrNotExist):
			return n, err
		}
	}
	return n, nil
}

// oldPicture is a picture that only old entries use.
type oldPicture struct {
	ref   FileRef
	entry int64 // the last that uses it
}

func (l *Log) oldPictures(ctx context.Context, aged int64, before time.Time) ([]oldPicture, error) {
	last := map[string]oldPicture{}
	young := map[string]bool{}
	err := eachEntry(ctx, l.write, func(e Entry) error {
		for _, f := range e.Files {
			if !f.Role.picture() || f.validate() != nil {
				young[f.SHA256] = true // the same bytes in another role are kept
				continue
			}
			last[f.SHA256] = oldPicture{f, e.Number}
			if e.Damage != "" || e.Number > aged || !e.At.Before(before) {
				young[f.SHA256] = true
			}
		}
		return nil
	})
	var out []oldPicture
	for hash, p := range last {
		if !young[hash] {
			out = append(out, p)
		}
	}
	return out, err
}

// eachEntry visits all entries in order, in batches.
func eachEntry(ctx context.Context, q queryer, visit func(Entry) error) error {
	const batch = 100
	for from := int64(-1 << 62); ; {
		entries, err := query(ctx, q, "WHERE number >= ? ORDER BY number LIMIT ?", from, batch)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := visit(e); err != nil {
				return err
			}
		}
		if len(entries) < batch {
			return nil
		}
		from = entries[len(entries)-1].Number + 1
	}
}

// prunedAt returns the time at which a picture was pruned.
func (l *Log) prunedAt(ctx context.Context, hash string) (string, bool) {
	db, err := l.reader()
	if err != nil || db == nil {
		return "", false
	}
	var at string
	err = db.QueryRowContext(ctx, "SELECT at FROM pruned WHERE sha256 = ?", hash).Scan(&at)
	return at, err == nil
}
