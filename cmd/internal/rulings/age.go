package rulings

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"sightline/cmd/internal/kept"
)

// ErrClock is in the error when pictures were not pruned because the clock went back or jumped.
var ErrClock = errors.New("the clock went back or jumped")

// leapMost is how far the clock may drift from the machine's uptime before pruning stops: more
// than NTP's slewing and a leap second between two rulings, and far less than a picture's age.
const leapMost = time.Hour

// trustAfter is the time after a clock fault during which nothing is pruned.
const trustAfter = 24 * time.Hour

// readEvery is the least time between two readings without a ruling.
const readEvery = time.Hour

// uptime is the time since the machine started, including suspension, which cannot be set, and
// the id of that boot.
type uptime struct {
	boot string
	up   time.Duration
}

// systemUptime reads the machine's.
func systemUptime() uptime {
	boot, up := kept.Uptime()
	return uptime{boot, up}
}

// clockReading is a row of the table looks: the clock's time, the machine's uptime and the
// last entry at one moment. passed is the proven time since the log's first reading: the sum
// of the uptime between readings of the same boot. Time during which the machine was off
// does not count.
type clockReading struct {
	entry  int64
	at     time.Time
	up     uptime
	passed time.Duration
}

// readClock returns a reading of now, the last one (nil for none) and the clock's fault since
// then.
func (l *Log) readClock(ctx context.Context, q queryer, entry int64, now time.Time) (n clockReading, last *clockReading, fault error,
	err error) {
	n = clockReading{entry: entry, at: now, up: l.uptime()}
	last, err = lastReading(ctx, q)
	if err != nil || last == nil {
		return n, nil, nil, err
	}
	n.passed = last.passed
	if gone := n.up.up - last.up.up; n.up.boot == last.up.boot && gone > 0 {
		n.passed += gone
	}
	return n, last, n.faultSince(last), nil
}

// faultSince returns the clock's fault since an earlier reading: an ErrClock, or nil.
func (n *clockReading) faultSince(last *clockReading) error {
	gone, clock := n.up.up-last.up.up, n.at.Sub(last.at)
	if n.up.boot != last.up.boot || gone < 0 {
		if clock < -leapMost {
			return fmt.Errorf("%w: it is %s now, and was %s at the last reading", ErrClock, stamp(n.at), stamp(last.at))
		}
		return nil
	}
	if d := clock - gone; d > leapMost || d < -leapMost {
		return fmt.Errorf("%w: from %s it went to %s while %s passed", ErrClock, stamp(last.at), stamp(n.at), gone.Round(time.Second))
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// lastReading returns the newest reading; nil for none.
func lastReading(ctx context.Context, q queryer) (*clockReading, error) {
	n, err := scanReading(q.QueryRowContext(ctx, "SELECT entry, at, boot, up, passed FROM looks ORDER BY look DESC LIMIT 1"))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return n, err
}

// lastFault returns the newest fault of the clock in readings with more passed time than after;
// nil for none. Faults are computed from the table, so a restart does not forget them.
func lastFault(ctx context.Context, q queryer, after time.Duration) (fault, err error) {
	rows, err := q.QueryContext(ctx, `SELECT entry, at, boot, up, passed FROM looks
		WHERE look >= (SELECT coalesce(max(look), 0) FROM looks WHERE passed <= ?) ORDER BY look`, int64(after/time.Second))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var last *clockReading
	for rows.Next() {
		n, err := scanReading(rows)
		if err != nil {
			return nil, err
		}
		if last != nil {
			fault = cmp.Or(n.faultSince(last), fault)
		}
		last = n
	}
	return fault, rows.Err()
}

// scanReading reads a row of the table looks.
func scanReading(row interface{ Scan(...any) error }) (*clockReading, error) {
	var n clockReading
	var at string
	var up, passed int64
	err := row.Scan(&n.entry, &at, &n.up.boot, &up, &passed)
	if err != nil {
		return nil, err
	}
	n.up.up, n.passed = time.Duration(up)*time.Second, time.Duration(passed)*time.Second
	n.at, err = time.Parse(time.RFC3339, at)
	return &n, err
}

// write adds a reading to the log.
func (n *clockReading) write(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO looks (entry, at, boot, up, passed) VALUES (?, ?, ?, ?, ?)",
		n.entry, stamp(n.at), n.up.boot, int64(n.up.up/time.Second), int64(n.passed/time.Second))
	return err
}

// noteEntryAge records when an entry was added to the log.
func (l *Log) noteEntryAge(ctx context.Context, tx *sql.Tx, e *Entry) error {
	n, _, _, err := l.readClock(ctx, tx, e.Number, e.At)
	if err != nil {
		return err
	}
	return n.write(ctx, tx)
}

// noteClock records a reading, unless the last one is recent and the clock has no fault since.
// It returns the proven time until now.
func (l *Log) noteClock(ctx context.Context, now time.Time) (passed time.Duration, err error) {
	tx, err := l.write.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	head, err := headOf(ctx, tx)
	if err != nil {
		return 0, err
	}
	n, last, fault, err := l.readClock(ctx, tx, head.Number, now)
	if err != nil {
		return 0, err
	}
	if last != nil && last.up.boot == n.up.boot && n.passed-last.passed < readEvery && fault == nil {
		return n.passed, nil
	}
	if err := n.write(ctx, tx); err != nil {
		return 0, err
	}
	return n.passed, tx.Commit()
}

// lastEntryBefore returns the last entry that was in the log when before had passed.
func lastEntryBefore(ctx context.Context, q queryer, before time.Duration) (n int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT coalesce(max(entry), 0) FROM looks WHERE passed <= ?", int64(before/time.Second)).Scan(&n)
	return n, err
}
