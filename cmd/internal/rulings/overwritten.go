package rulings

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A file that is copied over rulings.db while it is open (cp, rsync --inplace) keeps its
// inode: SQLite does not notice, takes the pages that it remembers for the file's, and
// writes its own between those of the copy. Only this program writes to the database, at
// its checkpoints, so its size and time of change tell; and what a new connection reads
// tells whether all entries are there.

// ErrOverwritten is in the error for a ruling that was not recorded because another file
// was copied over the database while it was open, and rulings that were acknowledged are
// not in it.
var ErrOverwritten = errors.New(dbName + " was overwritten while it was open")

// errChanged is in the errors by which this is noticed. What is in the file then decides.
var errChanged = fmt.Errorf("%w: it is not as this program wrote it", ErrOverwritten)

// timeGrain is how finely file systems tell times of change apart, at worst: Linux dates
// a change by its last clock tick.
const timeGrain = 10 * time.Millisecond

// chainSum tells the entries of a log from others, byte for byte: it is a digest of all of
// them as they stand, whole or damaged.
type chainSum struct {
	entries int64
	digest  [sha256.Size]byte
}

// with returns the sum of the entries that follow on with one more.
func (s chainSum) with(number int64, record []byte, hash string) chainSum {
	h := sha256.New()
	h.Write(s.digest[:])
	_ = binary.Write(h, binary.LittleEndian, []int64{number, int64(len(record))})
	h.Write(record)
	h.Write([]byte(hash))
	s.entries++
	h.Sum(s.digest[:0])
	return s
}

// sumOf returns the sum of all entries.
func sumOf(ctx context.Context, q queryer) (chainSum, error) {
	return sumTo(ctx, q, -1)
}

// sumTo returns the sum of at most so many entries, the first ones; -1: all.
func sumTo(ctx context.Context, q queryer, most int64) (s chainSum, err error) {
	rows, err := q.QueryContext(ctx, "SELECT number, record, hash FROM entries ORDER BY number LIMIT ?", most)
	if err != nil {
		return s, err
	}
	defer rows.Close()
	for rows.Next() {
		var number int64
		var record []byte
		var hash string
		if err := rows.Scan(&number, &record, &hash); err != nil {
			return s, err
		}
		s = s.with(number, record, hash)
	}
	return s, rows.Err()
}

// settle brings what was committed into the database file, remembers the file's state, and
// reads back that it holds every entry: an errChanged when it does not.
func (l *Log) settle(ctx context.Context) error {
	checkpoint(ctx, l.write)
	path := filepath.Join(l.dir, dbName)
	now, err := os.Stat(path)
	if err != nil || !os.SameFile(now, l.held[0]) {
		return l.moved()
	}
	l.held[0] = now
	time.Sleep(min(timeGrain, time.Until(now.ModTime().Add(timeGrain)))) // what changes it from now on changes its time
	fresh, err := openDB(path, "ro", 1, "query_only(ON)")
	if err != nil {
		return err
	}
	defer fresh.Close()
	var verdict string
	err = fresh.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict)
	if err == nil && verdict != "ok" {
		err = errors.New(verdict)
	}
	var sum chainSum
	if err == nil {
		sum, err = sumOf(ctx, fresh)
	}
	switch {
	case code(err) == sqliteCantOpen && l.moved() != nil:
		return l.moved()
	case err != nil:
		return fmt.Errorf("%w: %w", errChanged, err)
	case sum != l.sum:
		return fmt.Errorf("%w: it has %d entries, expected %d", errChanged, sum.entries, l.sum.entries)
	}
	return nil
}

// leaveOverwritten closes the database without writing to what it was overwritten with, and
// sets its WAL aside, which belongs to what stood there before.
func (l *Log) leaveOverwritten() {
	l.overwritten = l.held[0]
	// While the reading connections are open, SQLite does not take the writing one for the
	// last one, which would bring the WAL into the file.
	l.write.Close()
	l.write = nil
	l.shutDBs()
	_ = setAside(l.dir)
}

// checkOverwritten makes sure that a database that was overwritten has every entry that was
// acknowledged, and at most one more: of this program, which was not acknowledged. Where it
// has not, going on with it would give numbers that were given already to other rulings.
func (l *Log) checkOverwritten(ctx context.Context) error {
	if l.overwritten == nil {
		return nil
	}
	kept, err := sumTo(ctx, l.write, l.acked.entries)
	if err != nil {
		return broken(err)
	}
	last, err := newest(ctx, l.write, 1)
	if err != nil {
		return broken(err)
	}
	own := l.sum.entries == kept.entries ||
		l.sum.entries == kept.entries+1 && len(last) > 0 && last[0].Key == PublicOf(l.o.Key)
	if l.acked.entries > 0 && (kept != l.acked || !own) {
		return fmt.Errorf("%w: it has %d entries, and not the %d that this program left there (to begin a new log, move this folder away; "+
			"to continue this one, start the program again)", ErrOverwritten, l.sum.entries, l.acked.entries)
	}
	l.overwritten, l.acked = nil, l.sum
	return nil
}
