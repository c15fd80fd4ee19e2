package rulings

import (
	"context"
	"crypto/ed25519"
	"slices"
	"strconv"
	"time"

	"sightline/calibration/atomicfile"
)

// For tests: a log on a disk that fails, and the canonical form.

// OpenOn is Open on another disk.
func OpenOn(dir string, o Options, d atomicfile.Disk) (*Log, error) { return open(dir, o, d) }

// OpenChecked is Open with a hook before it is checked that a ruling is in its place.
func OpenChecked(dir string, o Options, checking func()) (*Log, error) {
	o.beforeCheck = checking
	return Open(dir, o)
}

// OpenNewer is Open by a program whose schema is a version further.
func OpenNewer(dir string, o Options, schema string) (*Log, error) {
	return OpenNewerAt(dir, o, schema, nil)
}

// OpenNewerAt is OpenNewer with a hook at each step of a migration.
func OpenNewerAt(dir string, o Options, schema string, atStep func(step string)) (*Log, error) {
	o.schemas, o.atStep = append(slices.Clone(schemas), schema), atStep
	return Open(dir, o)
}

// OpenClocked is Open on a machine that says for how long it runs.
func OpenClocked(dir string, o Options, clock func() (boot string, up time.Duration)) (*Log, error) {
	o.uptime = func() uptime {
		boot, up := clock()
		return uptime{boot, up}
	}
	return Open(dir, o)
}

// Sign signs an entry's hash.
func Sign(key ed25519.PrivateKey, hash string) string { return sign(key, hash) }

// Canonical writes a record as it is hashed.
func Canonical(r *Record) ([]byte, error) { return canonical(r) }

// Declared returns the version of a database's schema and what it declares.
var Declared = declared

// Limit makes the database full at a number of pages of 4096 bytes.
func (l *Log) Limit(pages int) error {
	_, err := l.write.Exec("PRAGMA max_page_count = " + strconv.Itoa(pages))
	return err
}

// Pages returns how many pages the database has.
func (l *Log) Pages() (n int, err error) {
	err = l.write.QueryRow("PRAGMA page_count").Scan(&n)
	return n, err
}

// Pragma reads a setting of the connection that writes.
func (l *Log) Pragma(name string) (value string, err error) {
	err = l.write.QueryRow("PRAGMA " + name).Scan(&value)
	return value, err
}

// SystemUptime returns the machine's start and the time since.
func SystemUptime() (boot string, up time.Duration) {
	u := systemUptime()
	return u.boot, u.up
}

// OpenStepped is Open with a hook at each step of a migration and of settle.
func OpenStepped(dir string, o Options, atStep func(step string)) (*Log, error) {
	o.atStep = atStep
	return Open(dir, o)
}

// Fill records a ruling so many times in one transaction, and forgets that the log was read back.
func (l *Log) Fill(ctx context.Context, ruling Ruling, count int) error {
	r, err := ruling.record()
	if err != nil {
		return err
	}
	r.Files = []FileRef{}
	tx, err := l.begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for range count {
		r.Number, r.Previous, r.Key = l.head.Number+1, l.head.Hash, PublicOf(l.o.Key)
		raw, err := canonical(&r)
		if err != nil {
			return err
		}
		hash := hashOf(raw)
		if _, err := tx.ExecContext(ctx, "INSERT INTO entries (number, record, hash) VALUES (?, ?, ?)", r.Number, string(raw), hash); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO signatures (number, signature) VALUES (?, ?)", r.Number, sign(l.o.Key, hash)); err != nil {
			return err
		}
		l.head, l.sum = Head{r.Number, hash}, l.sum.with(r.Number, raw, hash)
	}
	l.settled.whole = false
	return tx.Commit()
}

// RecountOf measures an entry's stored scene again.
func RecountOf(e *Entry) Recount { return recount(e) }
