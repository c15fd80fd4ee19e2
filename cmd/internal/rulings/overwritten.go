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

// settled is what shows that nothing but this program has written to the database since
// every entry was read back, or found to be in it by this.
type settled struct {
	whole   bool        // whether the last settle found every entry
	closes  *closeWatch // of the database file
	version int64       // of its content as SQLite counts the commits of other connections
}

// stop ends the watch, and forgets what was found.
func (s *settled) stop() {
	s.closes.stop()
	*s = settled{}
}

// untouched reports whether nothing else wrote to the database since the last call. Together
// with the file's size and time before a checkpoint this is complete: what wrote before the
// checkpoint changed those, and what wrote meanwhile, and has finished, has closed the file.
func (l *Log) untouched(ctx context.Context) bool {
	quiet := l.settled.closes.quiet()
	var version int64
	if err := l.write.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil {
		return false
	}
	same := version == l.settled.version
	l.settled.version = version
	return quiet && same
}

// settle brings what was committed into the database file, remembers the file's size and
// time, and reads back what may have changed: the newest entry where nothing else wrote to
// the database since the last settle, else every one. It returns an errChanged when one is not
// as it was written.
func (l *Log) settle(ctx context.Context) error {
	whole := l.settled.whole && l.moved() == nil
	l.settled.whole = false
	checkpoint(ctx, l.write)
	l.step("checkpoint")
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
	if l.untouched(ctx) && whole {
		err = l.readNewest(ctx, fresh)
	} else {
		l.step("every entry")
		err = l.readEvery(ctx, fresh)
	}
	switch {
	case code(err) == sqliteCantOpen && l.moved() != nil:
		return l.moved()
	case err != nil:
		return fmt.Errorf("%w: %w", errChanged, err)
	}
	l.settled.whole = true
	return nil
}

// readNewest reads the newest entry back.
func (l *Log) readNewest(ctx context.Context, q queryer) error {
	last, err := newest(ctx, q, 1)
	if err != nil {
		return err
	}
	head := Head{}
	if len(last) > 0 && last[0].Damage == "" {
		head = Head{last[0].Number, last[0].Hash}
	}
	if head != l.head {
		return fmt.Errorf("its last entry is %v, expected %v", head, l.head)
	}
	return nil
}

// readEvery reads every entry back.
func (l *Log) readEvery(ctx context.Context, q queryer) error {
	var verdict string
	if err := q.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return errors.New(verdict)
	}
	sum, err := sumOf(ctx, q)
	if err != nil {
		return err
	}
	if sum != l.sum {
		return fmt.Errorf("it has %d entries, expected %d", sum.entries, l.sum.entries)
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
