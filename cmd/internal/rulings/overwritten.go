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

// Copying another file over rulings.db while it is open (cp, rsync --inplace) keeps the
// inode. SQLite does not notice: it trusts its page cache, and mixes its pages with those of
// the copy. Only this program writes to the database file, at its checkpoints, so a changed
// size or modification time shows the copy, and a new connection shows whether all entries
// are there.

// ErrOverwritten is in the error for a ruling that was not recorded because another file was
// copied over the open database and acknowledged rulings are not in it.
var ErrOverwritten = errors.New(dbName + " was overwritten while it was open")

// errChanged is in the errors that detect this. The file's content then decides.
var errChanged = fmt.Errorf("%w: it is not as this program wrote it", ErrOverwritten)

// timeGrain is the resolution of modification times: Linux dates a change by its last
// clock tick, 10 ms at most.
const timeGrain = 10 * time.Millisecond

// chainSum is a digest of a log's entries, intact or damaged.
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

// sumTo returns the sum of the first most entries, or of all for -1.
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

// settled is the evidence that no other program has written to the database since every entry
// was last found in it.
type settled struct {
	whole   bool        // the last settle found every entry
	closes  *closeWatch // of the database file
	version int64       // SQLite's count of the commits of other connections
}

// stop ends the watch and discards the evidence.
func (s *settled) stop() {
	s.closes.stop()
	*s = settled{}
}

// untouched reports whether no other program wrote to the database since the last call. This
// is complete together with the file's size and time before a checkpoint: a write before the
// checkpoint changed those, and a completed write during it closed the file.
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

// settle checkpoints the database, remembers the file's size and time, and reads back what may
// have changed: the newest entry if no other program wrote since the last settle, else every
// entry. It returns an errChanged when an entry differs from what was written.
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
	time.Sleep(min(timeGrain, time.Until(now.ModTime().Add(timeGrain)))) // so that later changes change the time
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
	last, err := newest(ctx, q)
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

// closeOverwritten closes the database without writing to the copy, and renames the WAL, which
// belongs to the overwritten database.
func (l *Log) closeOverwritten() {
	l.overwritten = l.files[0]
	// The last connection to close checkpoints the WAL. Reading connections cannot.
	l.write.Close()
	l.write = nil
	l.closeDatabases()
	_ = setAside(l.dir)
}

// checkOverwritten returns an ErrOverwritten unless an overwritten database has every
// acknowledged entry and at most one more, which this program wrote and did not acknowledge.
// Continuing any other would give two rulings the same number.
func (l *Log) checkOverwritten(ctx context.Context) error {
	if l.overwritten == nil {
		return nil
	}
	kept, err := sumTo(ctx, l.write, l.acknowledged.entries)
	if err != nil {
		return broken(err)
	}
	last, err := newest(ctx, l.write)
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
