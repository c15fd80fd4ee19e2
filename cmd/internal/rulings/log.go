package rulings

import (
	"cmp"
	"context"
	"crypto/ed25519"
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

	"sightline/calibration/atomicfile"
)

// Options control a log.
type Options struct {
	// ReadOnly opens an existing log for reading, while another program may write it.
	ReadOnly bool
	// Keep is how long pictures are kept after their ruling; 0 means forever. Entries and
	// their other files are always kept.
	Keep time.Duration
	// Key is the machine's key, which signs each entry. If nil, call SignWith before the first
	// ruling.
	Key ed25519.PrivateKey
	// Notice is called with a text for users when the log was moved or removed while it was open
	// and the next ruling was recorded anyway, and when a log of an older version was migrated.
	// It may be nil, and must not use the log.
	Notice func(text string)

	uptime      func() uptime     // nil means the system's
	beforeCheck func()            // called before Append checks that the ruling is in place; may be nil
	atStep      func(step string) // called at each step of a migration and of settle; may be nil
	schemas     []string          // nil means this program's
}

// Head is the last entry's number and hash. Written down elsewhere (on a sheet, in an exported
// ruling), it later shows whether entries up to it were removed or rewritten. The zero value is
// the head of an empty log.
type Head struct {
	Number int64  `json:"number"`
	Hash   string `json:"hash"`
}

// String returns the head as ParseHead reads it: "12:3f9a…".
func (h Head) String() string { return fmt.Sprintf("%d:%s", h.Number, h.Hash) }

// ParseHead parses the result of String.
func ParseHead(text string) (Head, error) {
	number, hash, _ := strings.Cut(strings.TrimSpace(text), ":")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || !isHash(hash) {
		return Head{}, fmt.Errorf("expected an entry's number and its hash, such as 12:3f9a… with 64 hex digits, got %q", text)
	}
	return Head{n, hash}, nil
}

// Log is an open log. It is safe for concurrent use.
type Log struct {
	dir  string
	o    Options
	disk atomicfile.Disk

	mu           sync.Mutex // one ruling at a time; guards the fields below
	closed       bool
	lock         *os.File
	write        *sql.DB // nil when read-only, and until there is a log
	read         *sql.DB
	files        openFiles // the files that write has open
	head         Head      // that this program wrote or found
	sum          chainSum  // of the entries up to head
	acknowledged chainSum  // of the entries found when the log was opened, or acknowledged since
	settled      settled   // the result of the last settle
	commitUnsure bool      // whether the last commit, which failed, may be in the log
	abandoned    error     // why the log that was open before was abandoned; nil when it was not, or after the notice
	newer        error     // an ErrNewer when the log is open for reading only, else nil
	migrated     string    // notice about a migrated log; "" for none

	overwritten fs.FileInfo // the overwritten database, which must hold acknowledged before a ruling is recorded; nil for none
}

// Open opens the log in a folder. If there is none, the folder is created with the first ruling;
// opened read-only, the log must exist (fs.ErrNotExist). Only one program may have a log open for
// writing: ErrInUse. A damaged log is never replaced (ErrCorrupt), but can be opened read-only. A
// log of a newer program is opened for reading only, see Newer. A log of an older version is
// migrated with the next ruling.
//
// If the folder or its files are moved or removed while a log is open, the next ruling is recorded
// in the log that is there then, or in a new one.
func Open(dir string, o Options) (*Log, error) { return open(dir, o, atomicfile.OS{}) }

func open(dir string, o Options, d atomicfile.Disk) (*Log, error) {
	l := &Log{dir: dir, o: o, disk: d}
	for try := 1; ; try++ {
		err := l.open(context.Background())
		if err == nil {
			return l, nil
		}
		again := !o.ReadOnly && try < tries && (l.whyMoved(err) != nil || isVanished(err))
		l.closeAll()
		if !again {
			return nil, fmt.Errorf("rulings: open %s: %w", dir, err)
		}
		pause(try)
	}
}

// tries is the number of attempts to open or write a log that is moved or removed meanwhile.
const tries = 5

// pause gives rm -rf time to finish.
func pause(try int) { time.Sleep(time.Duration(try) * 10 * time.Millisecond) }

// Key returns the key that signs entries; nil for none.
func (l *Log) Key() ed25519.PrivateKey {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.o.Key
}

// SignWith sets the key that signs entries from now on.
func (l *Log) SignWith(key ed25519.PrivateKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.o.Key = key
}

// Dir returns the log's folder.
func (l *Log) Dir() string { return l.dir }

func (l *Log) uptime() uptime {
	if l.o.uptime != nil {
		return l.o.uptime()
	}
	return systemUptime()
}

// ErrGone is in the error for a folder with files of entries but no database. The next ruling
// starts a new log there.
var ErrGone = errors.New(dbName + " is missing, though files of its entries are there")

// open opens the existing log. A missing log is an error only when read-only.
func (l *Log) open(ctx context.Context) error {
	path := filepath.Join(l.dir, dbName)
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		if !l.o.ReadOnly {
			return nil
		}
		if names, _ := os.ReadDir(filepath.Join(l.dir, filesDir)); len(names) > 0 {
			return ErrGone
		}
		return fmt.Errorf("%s: %w", dbName, fs.ErrNotExist)
	case err != nil:
		return err
	}
	version, err := checkHeader(path)
	if err != nil {
		return err
	}
	if l.newer = l.newerThan(version); l.newer == nil && !l.o.ReadOnly {
		if err := l.openToWrite(ctx, path); err != nil {
			return err
		}
	}
	if l.read, err = openReader(ctx, path); err != nil {
		return l.broken(err)
	}
	if version, err = versionOf(ctx, l.read); err == nil {
		l.newer = l.newerThan(version)
	}
	return l.broken(err)
}

const remedy = "(sightline rulings verify says more; to begin a new log, move this folder away)"

// openToWrite locks the log, opens the writing connection and checks that the log can be continued.
func (l *Log) openToWrite(ctx context.Context, path string) (err error) {
	if l.lock == nil {
		if l.lock, err = lock(l.dir); err != nil {
			return err
		}
	}
	before, err := os.Stat(path)
	if err != nil {
		return err
	}
	if l.write, err = openWriter(path); err != nil {
		return err
	}
	if version, err := versionOf(ctx, l.write); err != nil {
		return broken(err)
	} else if l.newer = l.newerThan(version); l.newer != nil { // by its WAL
		return l.giveUpWriting()
	}
	var verdict string
	if err := l.write.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return broken(err)
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", ErrCorrupt, verdict)
	}
	last, err := newest(ctx, l.write)
	if err != nil {
		return broken(err)
	}
	l.settled.stop()
	l.settled = settled{closes: watchCloses(path)}
	l.head, l.commitUnsure = Head{}, false
	if len(last) > 0 {
		if last[0].Damage != "" {
			return fmt.Errorf("%w: entry %d: %s "+remedy, ErrCorrupt, last[0].Number, last[0].Damage)
		}
		l.head = Head{last[0].Number, last[0].Hash}
	}
	if rest, err := missingTail(ctx, l.write); err != nil || rest != "" {
		return cmp.Or(broken(err), fmt.Errorf("%w: %s", ErrCorrupt, rest))
	}
	if l.sum, err = sumOf(ctx, l.write); err != nil {
		return broken(err)
	}
	if l.files, err = statOpenFiles(l.dir); err != nil {
		return err
	}
	if !os.SameFile(before, l.files[0]) || l.lockMoved() {
		return fmt.Errorf("%w: %s was replaced while it was opened", ErrMoved, l.dir)
	}
	if l.overwritten == nil {
		l.acknowledged = l.sum
	}
	(&store{l.dir, l.disk}).removeTemporary()
	return nil
}

// broken adds ErrCorrupt to SQLite's errors about a damaged file or a missing table.
func broken(err error) error {
	switch code(err) {
	case 1, 11, 26: // SQLITE_ERROR (of a statement of ours: the schema is another), CORRUPT, NOTADB
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return full(err)
}

// broken is broken for this log: a newer one may have another schema.
func (l *Log) broken(err error) error {
	if l.newer != nil && code(err) == 1 {
		return fmt.Errorf("%w: %w", l.newer, err)
	}
	return broken(err)
}

// giveUpWriting closes the writing connection and unlocks the log.
func (l *Log) giveUpWriting() (err error) {
	if l.write != nil {
		err = l.write.Close()
		l.write = nil
	}
	if l.lock != nil {
		l.lock.Close()
		l.lock = nil
	}
	return err
}

// openAgain opens the log again that was a newer program's: it may have been moved away since.
func (l *Log) openAgain(ctx context.Context) error {
	l.closeDatabases()
	l.newer = nil
	if err := l.open(ctx); err != nil {
		return err
	}
	return l.newer
}

// ensureOpen ensures that a log is open for writing, in its place, with every acknowledged ruling.
func (l *Log) ensureOpen(ctx context.Context) error {
	if l.write != nil {
		if err := l.moved(); err != nil {
			l.abandon(err)
		}
	}
	if l.write == nil {
		if err := l.openOrCreate(ctx); err != nil {
			l.closeDatabases()
			return err
		}
	}
	return l.checkOverwritten(ctx)
}

// openOrCreate opens the log in the folder for writing, or creates it.
func (l *Log) openOrCreate(ctx context.Context) (err error) {
	if err := atomicfile.MkdirAll(l.disk, l.dir, 0o755); err != nil {
		return err
	}
	if l.lock == nil {
		if l.lock, err = lock(l.dir); err != nil {
			return err
		}
	}
	info, err := os.Stat(filepath.Join(l.dir, dbName))
	if errors.Is(err, fs.ErrNotExist) {
		if err := create(l.dir, l.schemas()); err != nil {
			return err
		}
	}
	if l.overwritten != nil && !os.SameFile(info, l.overwritten) {
		l.overwritten, l.abandoned = nil, fmt.Errorf("%w: %s is another file than the one that was opened", ErrMoved, dbName)
	}
	if err := l.open(ctx); err != nil {
		if l.overwritten != nil {
			return fmt.Errorf("%w: %w", ErrOverwritten, err)
		}
		return err
	}
	if l.newer != nil {
		return cmp.Or(l.giveUpWriting(), l.newer)
	}
	if l.write == nil {
		return fmt.Errorf("%w: %s is no longer in %s", ErrMoved, dbName, l.dir)
	}
	return nil
}

var errClosed = errors.New("rulings: the log is closed")

// Append records a ruling and returns its entry once it is durable. After an error nothing was
// recorded: ErrRuling means that the ruling itself is invalid, ErrFull that the disk is full. The
// context can cancel it only before the commit starts.
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
	l.announceMoved(&e)
	l.announceMigrated()
	return e, nil
}

func (l *Log) append(ctx context.Context, r Record, files []content) (Entry, error) {
	switch {
	case l.closed:
		return Entry{}, errClosed
	case l.o.ReadOnly:
		return Entry{}, errors.New("the log was opened to be read only")
	case len(l.o.Key) != ed25519.PrivateKeySize:
		return Entry{}, errors.New("expected a key to sign the entry with")
	case l.newer != nil:
		if err := l.openAgain(ctx); err != nil {
			return Entry{}, err
		}
	}
	// When the folder is moved or removed while the ruling is written, it is written again to
	// the log that is there then.
	var made Entry // committed to a log that was moved
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return Entry{}, err
		}
		e, err := l.tryAppend(ctx, r, files, made)
		if err == nil {
			return e, nil
		}
		why := l.whyMoved(err)
		switch {
		case why != nil:
			err = why
		case l.write != nil || !isVanished(err):
			return e, err
		}
		l.abandon(err)
		if try == tries {
			return Entry{}, err
		}
		pause(try)
		made = e
	}
}

// tryAppend records a ruling. After an ErrMoved, the returned entry may have been committed. made
// is an entry that was; if it is the newest, it is not recorded again.
func (l *Log) tryAppend(ctx context.Context, r Record, files []content, made Entry) (Entry, error) {
	if err := l.ensureOpen(ctx); err != nil {
		return made, err
	}
	// The files come first: an entry must not name a missing one.
	s := store{l.dir, l.disk}
	r.Files = []FileRef{}
	for _, c := range files {
		if err := s.put(c); err != nil {
			return made, fmt.Errorf("%s: %w", c.ref.Role, err)
		}
		r.Files = append(r.Files, c.ref)
	}
	r.Version = versionFor(r.Files)
	if err := ctx.Err(); err != nil {
		return made, err
	}
	e := made
	if made.Number == 0 || l.head != (Head{made.Number, made.Hash}) {
		var err error
		if e, err = l.insert(context.WithoutCancel(ctx), r); err != nil {
			return e, err
		}
	}
	if err := l.moved(); err != nil { // else a checkpoint would write into the file that overwrote it
		return e, err
	}
	err := l.settle(context.WithoutCancel(ctx))
	if l.o.beforeCheck != nil {
		l.o.beforeCheck()
	}
	if err := cmp.Or(l.hasFiles(files), l.moved(), err); err != nil {
		return e, err
	}
	l.acknowledged = l.sum
	return e, nil
}

// insert writes the entry in one transaction.
func (l *Log) insert(ctx context.Context, r Record) (Entry, error) {
	tx, err := l.begin(ctx)
	if err != nil {
		return Entry{}, err
	}
	defer tx.Rollback()
	head, err := l.verifyHead(ctx, tx)
	if err != nil {
		return Entry{}, err
	}
	sum := l.sum
	if head != l.head {
		if sum, err = sumOf(ctx, tx); err != nil {
			return Entry{}, err
		}
	}
	r.Number, r.Previous, r.Key = head.Number+1, head.Hash, PublicOf(l.o.Key)
	if head.Number == 0 {
		r.Previous = Genesis
	}
	raw, err := canonical(&r)
	if err != nil {
		return Entry{}, err
	}
	hash := hashOf(raw)
	e := readEntry(r.Number, raw, hash, sign(l.o.Key, hash), true)
	if e.Damage != "" { // what cannot be read back must not be written
		return Entry{}, refuse("it would not read back: %s", e.Damage)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO entries (number, record, hash) VALUES (?, ?, ?)", r.Number, string(raw), e.Hash)
	if err != nil {
		return Entry{}, err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO signatures (number, signature) VALUES (?, ?)", r.Number, e.Signature)
	if err != nil {
		return Entry{}, err
	}
	if err := l.noteEntryAge(ctx, tx, &e); err != nil {
		return Entry{}, err
	}
	if err := tx.Commit(); err != nil {
		l.commitUnsure = true
		return e, err
	}
	l.step("committed")
	l.head, l.sum, l.commitUnsure = Head{e.Number, e.Hash}, sum.with(e.Number, raw, e.Hash), false
	return e, nil
}

// verifyHead returns the head, which must be the one that this program wrote or found.
func (l *Log) verifyHead(ctx context.Context, tx *sql.Tx) (Head, error) {
	head, err := headOf(ctx, tx)
	if err != nil || head == l.head {
		return head, err
	}
	last, err := newest(ctx, tx)
	if err != nil {
		return head, err
	}
	if l.commitUnsure && len(last) > 0 && last[0].Damage == "" && last[0].Key == PublicOf(l.o.Key) {
		return head, nil
	}
	return head, fmt.Errorf("%w: its last entry is %d, which this program did not write: it wrote %d last "+remedy, ErrCorrupt, head.Number,
		l.head.Number)
}

// Close closes the log, after a ruling in progress.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	if l.write != nil {
		if err := l.moved(); err != nil { // the file of its name is another
			l.abandon(err)
			return nil
		}
	}
	if err := l.closeAll(); err != nil {
		return fmt.Errorf("rulings: close %s: %w", l.dir, err)
	}
	return nil
}

func (l *Log) closeAll() error {
	err := l.closeDatabases()
	if l.lock != nil {
		l.lock.Close() // which unlocks it
		l.lock = nil
	}
	return err
}

// closeDatabases closes the databases, the writing one last, which removes the WAL.
func (l *Log) closeDatabases() (err error) {
	for _, db := range []**sql.DB{&l.read, &l.write} {
		if *db != nil {
			if e := (*db).Close(); err == nil {
				err = e
			}
			*db = nil
		}
	}
	l.settled.stop()
	l.files = openFiles{}
	return err
}
