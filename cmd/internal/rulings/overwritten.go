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
// inode. SQLite does not notice: it trusts its page cache, and writes its pages between
// those of the copy. Only this program writes to the database file, at its checkpoints, so
// another size or modification time shows the copy, and what a new connection reads shows
// whether all entries are there.

// ErrOverwritten is in the error for a ruling that was not recorded because another file
// was copied over the database while it was open, and rulings that were acknowledged are
// not in it.
var ErrOverwritten = errors.New(dbName + " was overwritten while it was open")

// errChanged is in the errors that detect this. What the file holds then decides.
var errChanged = fmt.Errorf("%w: it is not as this program wrote it", ErrOverwritten)

// timeGrain is the resolution of modification times: Linux dates a change by its last
// clock tick, 10 ms at most.
const timeGrain = 10 * time.Millisecond

// chainSum is a digest of a log's entries as the database has them, whole or damaged.
type chainSum struct {
	entries int64
	digest  [sha256.Size]byte
}

// with returns the sum of the entries and one more.
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

// settle brings what was committed into the database file, remembers the file's size and
// time, and reads back every entry: an errChanged when one is not as it was written.
func (l *Log) settle(ctx context.Context) error {
	checkpoint(ctx, l.write)
	path := filepath.Join(l.dir, dbName)
	now, err := os.Stat(path)
	if err != nil || !os.SameFile(now, l.files[0]) {
		return l.moved()
	}
	l.files[0] = now
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

// closeOverwritten closes the database without writing to the copy, and sets aside the WAL,
// which belongs to what was there before.
func (l *Log) closeOverwritten() {
	l.overwritten = l.files[0]
	// The last connection that closes brings the WAL into the file. The reading ones cannot.
	l.write.Close()
	l.write = nil
	l.closeDatabases()
	_ = setAside(l.dir)
}

// checkOverwritten returns an ErrOverwritten unless a database that was overwritten has
// every entry that was acknowledged, and at most one more, which this program wrote and did
// not acknowledge. Continuing another one would give a number to two rulings.
func (l *Log) checkOverwritten(ctx context.Context) error {
	if l.overwritten == nil {
		return nil
	}
	kept, err := sumTo(ctx, l.write, l.acknowledged.entries)
	if err != nil {
		return broken(err)
	}
	last, err := newest(ctx, l.write, 1)
	if err != nil {
		return broken(err)
	}
	own := l.sum.entries == kept.entries ||
		l.sum.entries == kept.entries+1 && len(last) > 0 && last[0].Key == PublicOf(l.o.Key)
	if l.acknowledged.entries > 0 && (kept != l.acknowledged || !own) {
		return fmt.Errorf("%w: it has %d entries, and not the %d that this program left there (to begin a new log, move this folder away; "+
			"to continue this one, start the program again)", ErrOverwritten, l.sum.entries, l.acknowledged.entries)
	}
	l.overwritten, l.acknowledged = nil, l.sum
	return nil
}
