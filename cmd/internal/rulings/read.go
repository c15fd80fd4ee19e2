package rulings

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

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

// newest returns the last entry; none if there is none.
func newest(ctx context.Context, q queryer) ([]Entry, error) {
	return query(ctx, q, "ORDER BY number DESC LIMIT 1")
}

// Selects entries with their signatures, or from a database of version 1.
const (
	selectSigned = `SELECT number, record, hash, coalesce(signature, ''),
		EXISTS (SELECT 1 FROM signatures AS s WHERE s.number < entries.number)
		FROM entries LEFT JOIN signatures USING (number) `
	selectUnsigned = "SELECT number, record, hash, '', 0 FROM entries "
)

// query returns the entries of a SELECT with an end.
func query(ctx context.Context, q queryer, end string, args ...any) ([]Entry, error) {
	signed := hasSignatures(ctx, q)
	out, err := queryFrom(ctx, q, signed, end, args...)
	if err == nil && !signed && slices.ContainsFunc(out, func(e Entry) bool { return e.Key != "" }) && hasSignatures(ctx, q) {
		return queryFrom(ctx, q, true, end, args...) // the writer migrated the database in between
	}
	return out, err
}

func hasSignatures(ctx context.Context, q queryer) bool {
	var n int
	err := q.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'signatures'").Scan(&n)
	return err == nil && n == 1
}

func queryFrom(ctx context.Context, q queryer, signed bool, end string, args ...any) ([]Entry, error) {
	text := selectUnsigned
	if signed {
		text = selectSigned
	}
	rows, err := q.QueryContext(ctx, text+end, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Entry
	for rows.Next() {
		var number int64
		var record []byte
		var hash, signature string
		var after bool
		if err := rows.Scan(&number, &record, &hash, &signature, &after); err != nil {
			return nil, err
		}
		out = append(out, readEntry(number, record, hash, signature, after))
	}
	return out, rows.Err()
}

// reader returns the database for reading; nil while there is no log. It does not read one that was
// moved or removed.
func (l *Log) reader() (*sql.DB, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errClosed
	}
	if l.write != nil {
		if err := l.moved(); err != nil {
			l.abandon(err)
		}
	}
	if l.write == nil && l.abandoned != nil {
		if err := l.open(context.Background()); err != nil {
			l.closeAll()
			return nil, fmt.Errorf("rulings: open %s: %w", l.dir, err)
		}
	}
	return l.read, nil
}

// ErrNoEntry is in the error for a missing entry.
var ErrNoEntry = errors.New("no such entry")

// Entry returns an entry by its number. A damaged entry is returned with its Damage; a missing one
// is ErrNoEntry.
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

// Entries returns at most count entries in order, starting with number from.
func (l *Log) Entries(ctx context.Context, from int64, count int) ([]Entry, error) {
	return l.list(ctx, "WHERE number >= ? ORDER BY number LIMIT ?", from, max(0, count))
}

// Last returns at most count entries, the newest first.
func (l *Log) Last(ctx context.Context, count int) ([]Entry, error) {
	return l.list(ctx, "ORDER BY number DESC LIMIT ?", max(0, count))
}

func (l *Log) list(ctx context.Context, end string, args ...any) ([]Entry, error) {
	db, err := l.reader()
	if err != nil || db == nil {
		return nil, err
	}
	out, err := query(ctx, db, end, args...)
	if err != nil {
		return nil, fmt.Errorf("rulings: read %s: %w", l.dir, l.whyUnread(err))
	}
	return out, nil
}

// whyUnread is broken with the mutex locked.
func (l *Log) whyUnread(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken(err)
}

// Head returns the last entry's number and hash.
func (l *Log) Head(ctx context.Context) (Head, error) {
	db, err := l.reader()
	if err != nil || db == nil {
		return Head{}, err
	}
	h, err := headOf(ctx, db)
	if err != nil {
		return Head{}, fmt.Errorf("rulings: read %s: %w", l.dir, l.whyUnread(err))
	}
	return h, nil
}

// ErrPruned is in the error for a picture that was pruned for its age.
var ErrPruned = errors.New("the picture was pruned for its age")

// File returns the bytes of an entry's file. A missing file is fs.ErrNotExist or ErrPruned, a
// changed one ErrCorrupt.
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
