package rulings

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sightline/calibration/regularfile"
)

// ErrNewer is in the error for a log of a newer program, which can only be read.
var ErrNewer = errors.New("a newer program made the log")

// schemas are the declarations that each version of the schema adds. A new version appends its
// SQL; existing versions never change, because databases of every version are in use. A
// database of an older version is migrated before the next write, see begin.
var schemas = []string{schema1, schema2, schema3, schema4}

// schema1First is the first form of schema1, before a trigger compared the hash of the entry
// before.
var schema1First = strings.NewReplacer(
	"TEXT NOT NULL CHECK (length(hash) = 64)", "TEXT NOT NULL UNIQUE CHECK (length(hash) = 64)",
	triggerChain, "",
).Replace(schema1)

// landed returns every form of the declarations of databases of a version.
func landed(schemas []string, version int) []string {
	if version == 1 {
		return []string{schema1, schema1First}
	}
	return []string{strings.Join(schemas[:version], "")}
}

// versionOf returns the version of a database's schema.
func versionOf(ctx context.Context, q queryer) (v int, err error) {
	err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}

// schemas returns the declarations of this program's versions.
func (l *Log) schemas() []string {
	if l.o.schemas != nil {
		return l.o.schemas
	}
	return schemas
}

// newerThan returns an ErrNewer for a version that this program does not know, else nil.
func (l *Log) newerThan(version int) error {
	known := len(l.schemas())
	if version <= known {
		return nil
	}
	return fmt.Errorf("%w: %s is of version %d, and this program knows 1 to %d", ErrNewer, dbName, version, known)
}

// Newer returns an ErrNewer when a newer program made the log, which is then open for reading
// only, else nil.
func (l *Log) Newer() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.newer
}

// begin starts a transaction on a database of the newest version. It copies one of an older
// version and migrates it within the transaction, completely or not at all. All writes to the
// log start with it, except clock readings and notes of pruned files.
func (l *Log) begin(ctx context.Context) (*sql.Tx, error) {
	version, err := versionOf(ctx, l.write)
	if err != nil {
		return nil, err
	}
	older := version < len(l.schemas())
	if older {
		name, err := l.keepCopy(ctx, version)
		if err != nil {
			return nil, fmt.Errorf("copy %s of version %d: %w", dbName, version, err)
		}
		l.migrated = fmt.Sprintf("The record in %s was of an older version. It continues in the present one; %s is a copy of it as it was.",
			l.dir, name)
	}
	tx, err := l.write.BeginTx(ctx, nil)
	if err != nil || !older {
		return tx, err
	}
	if err := l.migrate(ctx, tx, version); err != nil {
		tx.Rollback()
		return nil, fmt.Errorf("bring %s from version %d to %d: %w", dbName, version, len(l.schemas()), err)
	}
	return tx, nil
}

// migrate migrates a database to the newest version. Entries stay unchanged to the byte.
func (l *Log) migrate(ctx context.Context, tx *sql.Tx, version int) error {
	before, err := sumOf(ctx, tx)
	if err != nil {
		return err
	}
	if version == 1 {
		if err := replaceFirst(ctx, tx); err != nil {
			return err
		}
	}
	newest := l.schemas()
	_, err = tx.ExecContext(ctx, fmt.Sprintf("%s PRAGMA user_version = %d;", strings.Join(newest[version:], ""), len(newest)))
	if err != nil {
		return err
	}
	after, err := sumOf(ctx, tx)
	if err == nil && after != before {
		err = fmt.Errorf("%w: %d entries were read, and %d written", ErrCorrupt, before.entries, after.entries)
	}
	l.step("migrated")
	return err
}

// replaceFirst replaces the table of entries of schema1First by that of schema1.
func replaceFirst(ctx context.Context, tx *sql.Tx) error {
	var text string
	err := tx.QueryRowContext(ctx, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'entries'").Scan(&text)
	if err != nil || !strings.Contains(schema1First, text) {
		return err
	}
	_, err = tx.ExecContext(ctx, `CREATE TABLE entries_copied (number INTEGER PRIMARY KEY, record TEXT, hash TEXT) STRICT;
		INSERT INTO entries_copied SELECT number, record, hash FROM entries;
		DROP TABLE entries;`+tableEntries+
		`INSERT INTO entries (number, record, hash) SELECT number, record, hash FROM entries_copied;
		DROP TABLE entries_copied;`+triggersEntries)
	return err
}

// keepCopy copies the unchanged database to a file next to it, and returns its name. It reuses
// the copy of an interrupted migration.
func (l *Log) keepCopy(ctx context.Context, version int) (name string, err error) {
	want, err := sumOf(ctx, l.write)
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		name = fmt.Sprintf("%s.v%d", dbName, version)
		if n > 1 {
			name = fmt.Sprintf("%s.%d", name, n)
		}
		_, err := os.Lstat(filepath.Join(l.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if sum, err := sumOfFile(ctx, filepath.Join(l.dir, name)); err == nil && sum == want {
			return name, nil
		}
	}
	path := filepath.Join(l.dir, name)
	fresh := path + ".new"
	if err := l.disk.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err = l.copyTo(ctx, fresh, want); err == nil {
		l.step("copied")
		err = l.disk.Rename(fresh, path)
	}
	if err != nil {
		os.Remove(fresh)
		os.Remove(fresh + "-journal")
		return "", err
	}
	return name, l.disk.SyncDir(l.dir)
}

// copyTo copies the database to a new file, and checks that it has the same entries.
func (l *Log) copyTo(ctx context.Context, path string, want chainSum) error {
	if _, err := l.write.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return err
	}
	sum, err := sumOfFile(ctx, path)
	if err == nil && sum != want {
		err = fmt.Errorf("%w: the copy has %d entries, expected %d", ErrCorrupt, sum.entries, want.entries)
	}
	if err != nil {
		return err
	}
	return l.disk.SyncDir(path) // which syncs a file too
}

// sumOfFile returns the sum of the entries of a database that no program has open.
func sumOfFile(ctx context.Context, path string) (chainSum, error) {
	if err := regularfile.Check(path); err != nil {
		return chainSum{}, err
	}
	db, err := openDB(path, "immutable", 1, "query_only(ON)")
	if err != nil {
		return chainSum{}, err
	}
	defer db.Close()
	return sumOf(ctx, db)
}

// step calls a test's hook.
func (l *Log) step(name string) {
	if l.o.atStep != nil {
		l.o.atStep(name)
	}
}

// announceMigrated gives notice of a migration, after the next write.
func (l *Log) announceMigrated() {
	if l.migrated != "" && l.o.Notice != nil {
		l.o.Notice(l.migrated)
	}
	l.migrated = ""
}
