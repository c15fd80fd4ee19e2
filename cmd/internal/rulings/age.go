package rulings

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ErrClock is in the error for pictures that were not pruned because the clock went back
// or leapt.
var ErrClock = errors.New("the clock went back or leapt")

// leapMost is by how much the clock may gain or lose against the time since the machine
// was started, and pictures still be pruned: more than NTP's slewing and a leap second
// ever take between two rulings, and far less than what would age a picture.
const leapMost = time.Hour

// trustAfter is how long nothing is pruned after the clock went back or leapt.
const trustAfter = 24 * time.Hour

// lookEach is how often a look is written that no ruling asks for.
const lookEach = time.Hour

// uptime is the time since the machine was started, suspended or not, which no clock
// that somebody sets can change, and the name of that start.
type uptime struct {
	boot string
	up   time.Duration
}

// start stands in for the machine's where the system tells neither.
var (
	startName = "program-" + rand.Text()
	startTime = time.Now()
)

// systemUptime reads Linux's own: proc_uptime(5) counts since the boot that boot_id
// names (random(4)).
func systemUptime() uptime {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	raw, err2 := os.ReadFile("/proc/uptime")
	seconds, _, _ := strings.Cut(string(raw), " ")
	up, err3 := strconv.ParseFloat(seconds, 64)
	if errors.Join(err, err2, err3) != nil || up < 0 {
		return uptime{startName, time.Since(startTime)}
	}
	return uptime{strings.TrimSpace(string(boot)), time.Duration(up * float64(time.Second))}
}

// look is a row of the table looks: at that time on the clock, so long after a start of
// the machine, the log had so many entries. passed is the time for which there is
// evidence since the log's first look: the time between looks of one start. While the
// machine was off, nothing tells.
type look struct {
	entry  int64
	at     time.Time
	up     uptime
	passed time.Duration
}

// look returns the look that is now, the last one, nil when there is none, and what is
// wrong with the clock since then.
func (l *Log) look(ctx context.Context, q queryer, entry int64, now time.Time) (n look, last *look, fault error, err error) {
	n = look{entry: entry, at: now, up: l.uptime()}
	last, err = lastLook(ctx, q)
	if err != nil || last == nil {
		return n, nil, nil, err
	}
	n.passed = last.passed
	if gone := n.up.up - last.up.up; n.up.boot == last.up.boot && gone > 0 {
		n.passed += gone
	}
	return n, last, n.faultSince(last), nil
}

// faultSince returns what is wrong with the clock between two looks: nil for nothing, or
// an ErrClock.
func (n *look) faultSince(last *look) error {
	gone, clock := n.up.up-last.up.up, n.at.Sub(last.at)
	if n.up.boot != last.up.boot || gone < 0 {
		if clock < -leapMost {
			return fmt.Errorf("%w: it is %s now, and was %s at the last look", ErrClock, stamp(n.at), stamp(last.at))
		}
		return nil
	}
	if d := clock - gone; d > leapMost || d < -leapMost {
		return fmt.Errorf("%w: from %s it went to %s while %s passed", ErrClock, stamp(last.at), stamp(n.at), gone.Round(time.Second))
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// lastLook returns the newest look; nil when there is none.
func lastLook(ctx context.Context, q queryer) (*look, error) {
	n, err := scanLook(q.QueryRowContext(ctx, "SELECT entry, at, boot, up, passed FROM looks ORDER BY look DESC LIMIT 1"))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return n, err
}

// lastFault returns what was last wrong with the clock between two looks, of which the
// later one was taken after so much time had passed; nil: nothing. The looks tell it, so
// that a restart of the program does not forget it.
func lastFault(ctx context.Context, q queryer, after time.Duration) (fault, err error) {
	rows, err := q.QueryContext(ctx, `SELECT entry, at, boot, up, passed FROM looks
		WHERE look >= (SELECT coalesce(max(look), 0) FROM looks WHERE passed <= ?) ORDER BY look`, int64(after/time.Second))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var last *look
	for rows.Next() {
		n, err := scanLook(rows)
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

// scanLook reads a row of the table looks.
func scanLook(row interface{ Scan(...any) error }) (*look, error) {
	var n look
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

// write adds a look to the log.
func (n *look) write(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO looks (entry, at, boot, up, passed) VALUES (?, ?, ?, ?, ?)",
		n.entry, stamp(n.at), n.up.boot, int64(n.up.up/time.Second), int64(n.passed/time.Second))
	return err
}

// noteAge writes down when an entry came into the log.
func (l *Log) noteAge(ctx context.Context, tx *sql.Tx, e *Entry) error {
	n, _, _, err := l.look(ctx, tx, e.Number, e.At)
	if err != nil {
		return err
	}
	return n.write(ctx, tx)
}

// lookAgain writes a look down, unless the last one is young and the clock is right since.
// It returns how much time passed until now.
func (l *Log) lookAgain(ctx context.Context, now time.Time) (passed time.Duration, err error) {
	tx, err := l.write.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	head, err := headOf(ctx, tx)
	if err != nil {
		return 0, err
	}
	n, last, fault, err := l.look(ctx, tx, head.Number, now)
	if err != nil {
		return 0, err
	}
	if last != nil && last.up.boot == n.up.boot && n.passed-last.passed < lookEach && fault == nil {
		return n.passed, nil
	}
	if err := n.write(ctx, tx); err != nil {
		return 0, err
	}
	return n.passed, tx.Commit()
}

// lastAged returns the last entry that was in the log before so much time had passed.
func lastAged(ctx context.Context, q queryer, before time.Duration) (n int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT coalesce(max(entry), 0) FROM looks WHERE passed <= ?", int64(before/time.Second)).Scan(&n)
	return n, err
}
