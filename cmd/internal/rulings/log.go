package rulings

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options control a log.
type Options struct {
	// ReadOnly opens an existing log to look at, while another program may write it.
	ReadOnly bool
	// Keep is how long pictures are kept after their ruling; 0: for ever. Entries, and
	// the calibrations and other files that they rest on, are always kept.
	Keep time.Duration
}

// Head is the last entry's number and hash. Written down elsewhere (on a sheet, in an
// exported ruling), it shows later whether entries up to it are gone or were made anew.
// The zero value is the head of an empty log.
type Head struct {
	Number int64  `json:"number"`
	Hash   string `json:"hash"`
}

// String writes a head as it is written down: "12:3f9a…".
func (h Head) String() string { return fmt.Sprintf("%d:%s", h.Number, h.Hash) }

// ParseHead reads what String wrote.
func ParseHead(text string) (Head, error) {
	number, hash, _ := strings.Cut(strings.TrimSpace(text), ":")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || !isHash(hash) {
		return Head{}, fmt.Errorf("expected an entry's number and its hash, such as 12:3f9a… with 64 hex digits, got %q", text)
	}
	return Head{n, hash}, nil
}

// Log is an open log. Its methods may be called from several goroutines.
type Log struct {
	dir  string
	o    Options
	disk disk

	mu      sync.Mutex // one ruling at a time; guards what follows
	closed  bool
	lock    *os.File
	write   *sql.DB // nil when read-only, and until there is a log
	read    *sql.DB
	pruning time.Time // when age was last looked at
}

// Open opens the log in a folder. With nothing there, the folder is made at the first
// ruling and not before; a log that is only read must exist (fs.ErrNotExist). Only one
// program may have a log open for writing: ErrInUse. A damaged log is never replaced:
// ErrCorrupt. Opened read-only, a log in which entries are damaged can be looked at.
func Open(dir string, o Options) (*Log, error) { return open(dir, o, osDisk{}) }

func open(dir string, o Options, d disk) (*Log, error) {
	l := &Log{dir: dir, o: o, disk: d}
	if err := l.open(context.Background()); err != nil {
		l.shut()
		return nil, fmt.Errorf("rulings: open %s: %w", dir, err)
	}
	return l, nil
}

// Dir returns the log's folder.
func (l *Log) Dir() string { return l.dir }

// open opens what is there. A log that is not there yet is none, without an error.
func (l *Log) open(ctx context.Context) error {
	path := filepath.Join(l.dir, dbName)
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		if names, _ := os.ReadDir(filepath.Join(l.dir, filesDir)); len(names) > 0 {
			return fmt.Errorf("%w: %s is missing, though files of its entries are there", ErrCorrupt, dbName)
		}
		if l.o.ReadOnly {
			return fmt.Errorf("%s: %w", dbName, fs.ErrNotExist)
		}
		return nil
	case err != nil:
		return err
	}
	if err := checkHeader(path); err != nil {
		return err
	}
	if !l.o.ReadOnly {
		if err := l.openToWrite(ctx, path); err != nil {
			return err
		}
	}
	var err error
	l.read, err = openReader(ctx, path)
	return broken(err)
}

// openToWrite takes the lock, opens the writing connection and checks that the log can
// be gone on with.
func (l *Log) openToWrite(ctx context.Context, path string) (err error) {
	if l.lock == nil {
		if l.lock, err = lock(l.dir); err != nil {
			return err
		}
	}
	if l.write, err = openWriter(path); err != nil {
		return err
	}
	var verdict string
	if err := l.write.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return broken(err)
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", ErrCorrupt, verdict)
	}
	last, err := newest(ctx, l.write, 1)
	if err != nil {
		return broken(err)
	}
	if len(last) > 0 && last[0].Damage != "" {
		return fmt.Errorf("%w: entry %d: %s (sightline rulings verify says more; to begin a new log, move this folder away)", ErrCorrupt, last[0].Number, last[0].Damage)
	}
	(&store{l.dir, l.disk}).removeTemporary()
	return nil
}

// broken marks errors by which SQLite says that a file is not what it should be, or
// that a table is not there.
func broken(err error) error {
	switch code(err) {
	case 1, 11, 26: // SQLITE_ERROR (of a statement of ours: the schema is another), CORRUPT, NOTADB
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return full(err)
}

// begin makes sure that there is a log to write to.
func (l *Log) begin(ctx context.Context) (err error) {
	if l.write != nil {
		return nil
	}
	if err := os.MkdirAll(l.dir, 0o755); err != nil {
		return err
	}
	if err := l.disk.SyncDir(filepath.Dir(filepath.Clean(l.dir))); err != nil {
		return err
	}
	if l.lock == nil {
		if l.lock, err = lock(l.dir); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(l.dir, dbName)); errors.Is(err, fs.ErrNotExist) {
		if err := create(l.dir); err != nil {
			return err
		}
	}
	if err := l.open(ctx); err != nil {
		l.shutDBs()
		return err
	}
	return nil
}

var errClosed = errors.New("rulings: the log is closed")

// Append records a ruling and returns its entry once that will outlast a power cut.
// With an error nothing was recorded: ErrRuling says that the ruling itself is at
// fault, ErrFull that there is no room. A context that ends stops it only before it
// begins to commit.
func (l *Log) Append(ctx context.Context, r Ruling, f Files) (Entry, error) {
	record, err := r.record()
	if err != nil {
		return Entry{}, err
	}
	files, err := f.contents()
	if err != nil {
		return Entry{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e, err := l.append(ctx, record, files)
	if err != nil {
		return Entry{}, fmt.Errorf("rulings: append to %s: %w", l.dir, full(err))
	}
	l.pruneDaily(ctx, e.At)
	return e, nil
}

func (l *Log) append(ctx context.Context, r Record, files []content) (Entry, error) {
	switch {
	case l.closed:
		return Entry{}, errClosed
	case l.o.ReadOnly:
		return Entry{}, errors.New("the log was opened to be read only")
	}
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	if err := l.begin(ctx); err != nil {
		return Entry{}, err
	}
	// The files first: an entry must not name one that is not there.
	s := store{l.dir, l.disk}
	r.Files = []FileRef{}
	for _, c := range files {
		if err := s.put(c); err != nil {
			return Entry{}, fmt.Errorf("%s: %w", c.ref.Role, err)
		}
		r.Files = append(r.Files, c.ref)
	}
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	return l.insert(context.WithoutCancel(ctx), r)
}

// insert writes the entry in one transaction.
func (l *Log) insert(ctx context.Context, r Record) (Entry, error) {
	tx, err := l.write.BeginTx(ctx, nil)
	if err != nil {
		return Entry{}, err
	}
	defer tx.Rollback()
	head, err := headOf(ctx, tx)
	if err != nil {
		return Entry{}, err
	}
	r.Number, r.Previous = head.Number+1, head.Hash
	if head.Number == 0 {
		r.Previous = Genesis
	}
	raw, err := canonical(&r)
	if err != nil {
		return Entry{}, err
	}
	e := readEntry(r.Number, raw, hashOf(raw))
	if e.Damage != "" { // what could not be read back must not be written
		return Entry{}, refuse("it would not read back: %s", e.Damage)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO entries (number, record, hash) VALUES (?, ?, ?)", r.Number, string(raw), e.Hash); err != nil {
		return Entry{}, err
	}
	return e, tx.Commit()
}

// queryer is a database or a transaction.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func headOf(ctx context.Context, q queryer) (Head, error) {
	var h Head
	err := q.QueryRowContext(ctx, "SELECT number, hash FROM entries ORDER BY number DESC LIMIT 1").Scan(&h.Number, &h.Hash)
	if errors.Is(err, sql.ErrNoRows) {
		return Head{}, nil
	}
	return h, err
}

func newest(ctx context.Context, q queryer, count int) ([]Entry, error) {
	return query(ctx, q, "SELECT number, record, hash FROM entries ORDER BY number DESC LIMIT ?", count)
}

func query(ctx context.Context, q queryer, text string, args ...any) ([]Entry, error) {
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Entry
	for rows.Next() {
		var number int64
		var record []byte
		var hash string
		if err := rows.Scan(&number, &record, &hash); err != nil {
			return nil, err
		}
		out = append(out, readEntry(number, record, hash))
	}
	return out, rows.Err()
}

// reader returns the reading database; nil while there is no log.
func (l *Log) reader() (*sql.DB, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errClosed
	}
	return l.read, nil
}

// ErrNoEntry is in the error for an entry that the log does not have.
var ErrNoEntry = errors.New("no such entry")

// Entry returns an entry by its number. One that was tampered with is returned with
// its Damage; one that is not there is ErrNoEntry.
func (l *Log) Entry(ctx context.Context, n int64) (Entry, error) {
	entries, err := l.Entries(ctx, n, 1)
	if err != nil {
		return Entry{}, err
	}
	if n < 1 || len(entries) == 0 || entries[0].Number != n {
		head, err := l.Head(ctx)
		if err != nil {
			return Entry{}, err
		}
		return Entry{}, fmt.Errorf("rulings: entry %d: %w: the log has 1 to %d", n, ErrNoEntry, head.Number)
	}
	return entries[0], nil
}

// Entries returns at most count entries in their order, from the first whose number is
// from or more.
func (l *Log) Entries(ctx context.Context, from int64, count int) ([]Entry, error) {
	return l.list(ctx, "SELECT number, record, hash FROM entries WHERE number >= ? ORDER BY number LIMIT ?", from, max(0, count))
}

// Last returns at most count entries, the newest first.
func (l *Log) Last(ctx context.Context, count int) ([]Entry, error) {
	return l.list(ctx, "SELECT number, record, hash FROM entries ORDER BY number DESC LIMIT ?", max(0, count))
}

func (l *Log) list(ctx context.Context, text string, args ...any) ([]Entry, error) {
	db, err := l.reader()
	if err != nil || db == nil {
		return nil, err
	}
	out, err := query(ctx, db, text, args...)
	if err != nil {
		return nil, fmt.Errorf("rulings: read %s: %w", l.dir, broken(err))
	}
	return out, nil
}

// Head returns the last entry's number and hash.
func (l *Log) Head(ctx context.Context) (Head, error) {
	db, err := l.reader()
	if err != nil || db == nil {
		return Head{}, err
	}
	h, err := headOf(ctx, db)
	if err != nil {
		return Head{}, fmt.Errorf("rulings: read %s: %w", l.dir, broken(err))
	}
	return h, nil
}

// ErrPruned is in the error for a picture that was removed for its age.
var ErrPruned = errors.New("the picture was pruned for its age")

// File returns the bytes of an entry's file. A file that is gone is fs.ErrNotExist, or
// ErrPruned; one that was changed is ErrCorrupt.
func (l *Log) File(ctx context.Context, f FileRef) ([]byte, error) {
	if err := f.validate(); err != nil {
		return nil, fmt.Errorf("rulings: file: %w", err)
	}
	raw, found, err := (&store{l.dir, l.disk}).get(f)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if at, ok := l.prunedAt(ctx, f.SHA256); ok {
			return nil, fmt.Errorf("rulings: %s: %w, on %s", f.Path(), ErrPruned, at)
		}
		return nil, fmt.Errorf("rulings: %s: %w", f.Path(), fs.ErrNotExist)
	case err != nil:
		return nil, fmt.Errorf("rulings: %w", err)
	case found != "":
		return nil, fmt.Errorf("rulings: %w: %s: expected SHA-256 %s, found %s", ErrCorrupt, f.Path(), f.SHA256, found)
	}
	return raw, nil
}

// Close closes the log. A ruling that is being recorded is finished first.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	if err := l.shut(); err != nil {
		return fmt.Errorf("rulings: close %s: %w", l.dir, err)
	}
	return nil
}

func (l *Log) shut() error {
	err := l.shutDBs()
	if l.lock != nil {
		l.lock.Close() // which gives up the lock
		l.lock = nil
	}
	return err
}

// shutDBs closes the databases, the writing one last: it tidies the WAL up.
func (l *Log) shutDBs() (err error) {
	for _, db := range []**sql.DB{&l.read, &l.write} {
		if *db != nil {
			if e := (*db).Close(); err == nil {
				err = e
			}
			*db = nil
		}
	}
	return err
}
