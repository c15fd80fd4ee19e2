package rulings

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"modernc.org/sqlite" // the driver, and its errors

	"sightline/calibration/atomicfile"
	"sightline/calibration/regularfile"
)

const (
	dbName   = "rulings.db"
	lockName = "rulings.lock"

	// applicationID in the file's header is "SIGL".
	applicationID = 0x5349474c
)

// ErrInUse is in the error when another program has the log open for writing.
var ErrInUse = errors.New("another program writes this log")

// ErrCorrupt is in the error for a log that cannot be trusted: its database is not one of
// rulings, is damaged, or is missing while its files are there.
var ErrCorrupt = errors.New("the log is damaged")

// ErrFull is in the error when the disk is full. Nothing was recorded, earlier entries are
// intact, and the log continues when there is room again.
var ErrFull = errors.New("there is no room on the disk")

// schema1 makes the log append-only for everything that goes through SQLite: entries cannot
// be changed, deleted or replaced, and a new entry can only be the next one. Generated
// columns are computed when they are read, so they cannot contradict the record.
const schema1 = tableEntries + triggersEntries + `CREATE TABLE pruned (
	sha256 TEXT PRIMARY KEY CHECK (length(sha256) = 64),
	at     TEXT NOT NULL,
	entry  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER pruned_no_update BEFORE UPDATE ON pruned
	BEGIN SELECT raise(ABORT, 'what was pruned stays pruned'); END;
CREATE TRIGGER pruned_no_delete BEFORE DELETE ON pruned
	BEGIN SELECT raise(ABORT, 'what was pruned stays pruned'); END;
`

const tableEntries = `
CREATE TABLE entries (
	number   INTEGER PRIMARY KEY CHECK (number > 0),
	record   TEXT NOT NULL,
	hash     TEXT NOT NULL CHECK (length(hash) = 64),
	at       TEXT GENERATED ALWAYS AS (json_extract(record, '$.at')) VIRTUAL,
	from_id  TEXT GENERATED ALWAYS AS (json_extract(record, '$.from')) VIRTUAL,
	to_id    TEXT GENERATED ALWAYS AS (json_extract(record, '$.to')) VIRTUAL,
	decision TEXT GENERATED ALWAYS AS (json_extract(record, '$.decision')) VIRTUAL,
	judge    TEXT GENERATED ALWAYS AS (json_extract(record, '$.judge')) VIRTUAL,
	ruling   TEXT GENERATED ALWAYS AS (json_extract(record, '$.ruling')) VIRTUAL,
	previous TEXT GENERATED ALWAYS AS (json_extract(record, '$.previous')) VIRTUAL
) STRICT;
`

const triggersEntries = `CREATE TRIGGER entries_next BEFORE INSERT ON entries
	WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM entries)
` + triggerChain + `	BEGIN SELECT raise(ABORT, 'rulings are append-only: an entry can only be the next one'); END;
CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries
	BEGIN SELECT raise(ABORT, 'rulings are append-only: an entry cannot be changed'); END;
CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries
	BEGIN SELECT raise(ABORT, 'rulings are append-only: an entry cannot be deleted'); END;
`

const triggerChain = `		OR json_extract(NEW.record, '$.number') IS NOT NEW.number
		OR NEW.number > 1 AND json_extract(NEW.record, '$.previous') IS NOT (SELECT hash FROM entries ORDER BY number DESC LIMIT 1)
`

// schema2 adds signatures, and the clock readings that prove the age of entries.
const schema2 = `
CREATE TABLE signatures (
	number    INTEGER PRIMARY KEY CHECK (number > 0),
	signature TEXT NOT NULL CHECK (length(signature) = 128)
) STRICT;
CREATE TRIGGER signatures_next BEFORE INSERT ON signatures
	WHEN NEW.number IS NOT (SELECT max(number) FROM entries) OR EXISTS (SELECT 1 FROM signatures WHERE number = NEW.number)
	BEGIN SELECT raise(ABORT, 'rulings are append-only: a signature can only be that of the newest entry'); END;
CREATE TRIGGER signatures_no_update BEFORE UPDATE ON signatures
	BEGIN SELECT raise(ABORT, 'rulings are append-only: a signature cannot be changed'); END;
CREATE TRIGGER signatures_no_delete BEFORE DELETE ON signatures
	BEGIN SELECT raise(ABORT, 'rulings are append-only: a signature cannot be deleted'); END;
CREATE TABLE looks (
	look   INTEGER PRIMARY KEY,
	entry  INTEGER NOT NULL,
	at     TEXT NOT NULL,
	boot   TEXT NOT NULL,
	up     INTEGER NOT NULL,
	passed INTEGER NOT NULL
) STRICT;
CREATE TRIGGER looks_no_update BEFORE UPDATE ON looks
	BEGIN SELECT raise(ABORT, 'a look at the clock cannot be changed'); END;
CREATE TRIGGER looks_no_delete BEFORE DELETE ON looks
	BEGIN SELECT raise(ABORT, 'a look at the clock cannot be deleted'); END;
`

// checkpoint moves committed transactions from the WAL into the database file. While another
// connection reads, some may stay in the WAL, where they are as durable.
func checkpoint(ctx context.Context, db *sql.DB) {
	_, _ = db.ExecContext(ctx, "PRAGMA busy_timeout = 100; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout = 5000")
}

// dsn returns the driver's name for a database, with pragmas for each connection.
func dsn(path string, mode string, pragmas ...string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	q := url.Values{"mode": {mode}, "_pragma": append([]string{"busy_timeout(5000)", "trusted_schema(OFF)"}, pragmas...)}
	if mode == "immutable" {
		q.Set("mode", "ro")
		q.Set("immutable", "1")
	}
	if mode == "rw" || mode == "rwc" {
		q.Set("_txlock", "immediate")
	}
	return (&url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}).String(), nil
}

// openDB opens a database with at most connections connections.
func openDB(path, mode string, connections int, pragmas ...string) (*sql.DB, error) {
	name, err := dsn(path, mode, pragmas...)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	return db, nil
}

// openWriter opens the only writing connection. synchronous=FULL makes a commit durable in WAL
// mode too. Only checkpoint writes to the database file.
func openWriter(path string) (*sql.DB, error) {
	return openDB(path, "rw", 1, "journal_mode(WAL)", "synchronous(FULL)", "recursive_triggers(ON)", "wal_autocheckpoint(0)")
}

// openReader opens a database for reading. SQLite cannot share a WAL in a read-only folder, such
// as a copy on a read-only medium; without a WAL it need not.
func openReader(ctx context.Context, path string) (*sql.DB, error) {
	db, err := openDB(path, "ro", 2, "query_only(ON)")
	if err != nil {
		return nil, err
	}
	var n int
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n)
	if err == nil {
		return db, nil
	}
	db.Close()
	if wal, e := os.Stat(path + "-wal"); e == nil && wal.Size() > 0 || code(err) != sqliteCantOpen && code(err) != sqliteReadOnly {
		return nil, err
	}
	return openDB(path, "immutable", 2, "query_only(ON)")
}

// Primary result codes of SQLite, https://www.sqlite.org/rescode.html.
const (
	sqliteReadOnly = 8
	sqliteIOErr    = 10
	sqliteFull     = 13
	sqliteCantOpen = 14

	sqliteNoShared = 10 | 19<<8 // no room for the file that connections share (SQLITE_IOERR_SHMSIZE)
)

// isVanished reports whether an error of opening a database may mean that its files were removed
// in the meantime.
func isVanished(err error) bool {
	return slices.Contains([]int{sqliteReadOnly, sqliteIOErr, sqliteCantOpen}, code(err))
}

func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// create creates the database under another name and renames it, so there is never one without
// its tables. A database that was put there in the meantime stays: ErrMoved.
func create(dir string, schemas []string) error {
	path := filepath.Join(dir, dbName)
	if err := setAside(dir); err != nil {
		return err
	}
	fresh := path + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := fill(fresh, schemas)
	if err == nil {
		err = atomicfile.NameNew(atomicfile.OS{}, fresh, path)
	}
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w: %s is there again", ErrMoved, path)
	}
	if err != nil {
		os.Remove(fresh)
		os.Remove(fresh + "-journal")
		return err
	}
	return atomicfile.OS{}.SyncDir(dir)
}

func fill(path string, schemas []string) error {
	db, err := openDB(path, "rwc", 1, "journal_mode(DELETE)", "synchronous(FULL)")
	if err != nil {
		return err
	}
	_, err = db.Exec(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; BEGIN; %s COMMIT;",
		applicationID, len(schemas), strings.Join(schemas, "")))
	if e := db.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return atomicfile.OS{}.SyncDir(path) // which syncs a file too
}

// checkHeader checks the header of the database file, so that no other file is opened as a log.
// It returns the version of the schema, without regard to a WAL.
func checkHeader(path string) (version int, err error) {
	for _, suffix := range []string{"-wal", "-shm", "-journal"} { // SQLite opens them too
		if err := regularfile.Check(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	f, err := regularfile.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var h [100]byte // https://www.sqlite.org/fileformat.html#the_database_header
	if _, err := io.ReadFull(f, h[:]); err != nil || !strings.HasPrefix(string(h[:]), "SQLite format 3\x00") {
		return 0, fmt.Errorf("%w: %s is no SQLite database", ErrCorrupt, dbName)
	}
	if id := binary.BigEndian.Uint32(h[68:]); id != applicationID {
		return 0, fmt.Errorf("%w: %s is another program's database: expected application id %#x, found %#x", ErrCorrupt, dbName,
			applicationID, id)
	}
	v := binary.BigEndian.Uint32(h[60:])
	if v < 1 || v > 1<<30 {
		return 0, fmt.Errorf("%w: %s is of version %d, which no program wrote", ErrCorrupt, dbName, v)
	}
	return int(v), nil
}

// lock locks the folder for the only program that writes.
func lock(dir string) (*os.File, error) {
	f, err := regularfile.Lock(filepath.Join(dir, lockName), 0o644)
	if errors.Is(err, regularfile.ErrLocked) {
		return nil, fmt.Errorf("%w (it holds %s)", ErrInUse, lockName)
	}
	return f, err
}

// full adds ErrFull to errors of a full disk.
func full(err error) error {
	if err == nil || errors.Is(err, ErrFull) {
		return err
	}
	var e *sqlite.Error
	noShared := errors.As(err, &e) && e.Code() == sqliteNoShared
	if noShared || code(err) == sqliteFull ||
		errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}
