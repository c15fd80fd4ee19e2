package rulings

import (
	"archive/zip"
	"bytes"
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

//go:embed index.html
var indexHTML string

var indexTemplate = template.Must(template.New("index").Parse(indexHTML))

// index is the content of the page that lists a log's documents.
type index struct {
	Head    Head
	Keys    []PublicKey // that signed entries
	Entries []indexed
	Missing []string // files that the log should have
}

type indexed struct {
	Entry
	When, Page string
	Overruled  bool
}

// ExportZip writes the whole log as a zip: a snapshot of the database, every file, a document for
// each ruling, a page that lists them, and how to check the chain. Unpacked, it is a log that can
// be opened read-only.
func (l *Log) ExportZip(ctx context.Context, w io.Writer) error {
	if err := l.exportZip(ctx, w); err != nil {
		return fmt.Errorf("rulings: export %s: %w", l.dir, full(err))
	}
	return nil
}

func (l *Log) exportZip(ctx context.Context, w io.Writer) error {
	db, err := l.reader()
	if err != nil {
		return err
	}
	if db == nil {
		return fmt.Errorf("%w: there are no rulings yet", ErrNoEntry)
	}
	dir, err := os.MkdirTemp("", "sightline-rulings-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	copied := filepath.Join(dir, dbName)
	if err := l.copyDB(ctx, copied); err != nil {
		return err
	}
	snapshot, err := openReader(ctx, copied)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	z := zip.NewWriter(w)
	if err := l.zipAll(ctx, z, copied, snapshot); err != nil {
		return err
	}
	return z.Close()
}

// copyDB writes a snapshot of the database while it is in use.
func (l *Log) copyDB(ctx context.Context, to string) error {
	from, err := openReader(ctx, filepath.Join(l.dir, dbName))
	if err != nil {
		return err
	}
	defer from.Close()
	conn, err := from.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "PRAGMA query_only = OFF"); err != nil { // to write the copy
		return err
	}
	_, err = conn.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}

func (l *Log) zipAll(ctx context.Context, z *zip.Writer, copied string, snapshot *sql.DB) error {
	raw, err := os.ReadFile(copied)
	if err != nil {
		return err
	}
	page := index{}
	packed := map[string]bool{}
	var last time.Time
	err = eachEntry(ctx, snapshot, func(e Entry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := indexed{Entry: e, Page: fmt.Sprintf("rulings/ruling-%04d.html", e.Number), Overruled: e.Decision != AsMeasured}
		if !e.At.IsZero() {
			at.When = e.At.UTC().Format("2006-01-02 15:04 UTC")
		}
		page.Entries = append(page.Entries, at)
		page.Head, last = Head{e.Number, e.Hash}, e.At
		if e.Key != "" && !slices.Contains(page.Keys, e.Key) {
			page.Keys = append(page.Keys, e.Key)
		}
		for _, f := range e.Files {
			if f.validate() != nil || packed[f.Path()] {
				continue
			}
			packed[f.Path()] = true
			missing, err := l.zipEvidence(ctx, z, f, e.At)
			if err != nil {
				return err
			}
			if missing != "" {
				page.Missing = append(page.Missing, missing)
			}
		}
		var b bytes.Buffer
		if err := l.ExportHTML(ctx, &b, e.Number); err != nil {
			return err
		}
		return zipFile(z, at.Page, zip.Deflate, e.At, b.Bytes())
	})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := indexTemplate.Execute(&b, page); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		raw  []byte
	}{{dbName, raw}, {"index.html", b.Bytes()}, {"README.txt", []byte(readme(&page))}} {
		if err := zipFile(z, f.name, zip.Deflate, last, f.raw); err != nil {
			return err
		}
	}
	return nil
}

// zipEvidence adds a file as it is, even if changed. missing describes a missing or changed file.
func (l *Log) zipEvidence(ctx context.Context, z *zip.Writer, f FileRef, at time.Time) (missing string, err error) {
	s := store{l.dir, l.disk}
	raw, found, err := s.get(f)
	if err != nil {
		_, err := l.File(ctx, f) // the reason
		return err.Error(), nil
	}
	if found != "" {
		missing = fmt.Sprintf("%s is not as it was recorded: its SHA-256 is %s", f.Path(), found)
	}
	method := zip.Store // pictures are compressed already
	if f.Type == "application/json" || f.Type == "application/yaml" {
		method = zip.Deflate
	}
	return missing, zipFile(z, f.Path(), method, at, raw)
}

func zipFile(z *zip.Writer, name string, method uint16, at time.Time, raw []byte) error {
	h := &zip.FileHeader{Name: name, Method: method}
	if at.Year() >= 1980 { // the format has no earlier time
		h.Modified = at.UTC()
	}
	h.SetMode(0o644)
	w, err := z.CreateHeader(h)
	if err != nil {
		return err
	}
	_, err = w.Write(raw)
	return err
}

// keyLines names the keys that signed entries.
func keyLines(keys []PublicKey) string {
	var b strings.Builder
	for _, key := range keys {
		fmt.Fprintf(&b, "\nSigned with the key\n  %s\n", key)
	}
	return b.String()
}

// readme describes the zip and how to check it with other programs.
func readme(page *index) string {
	var b strings.Builder
	fmt.Fprintf(&b, `The rulings of one table, as recorded by Sightline.

index.html            opens the list of rulings; each is one page that needs nothing else
rulings/              these pages
rulings.db            the log: SQLite, tables "entries" (number, record, hash) and
                      "signatures" (number, signature)
files/                pictures, calibrations and the like, named by their SHA-256

The head of this log, worth writing down:
  entry %d
  %s
%s
Check it with Sightline, in the folder in which this was unpacked:
  sightline rulings verify --rulings .
  sightline replay 1 --rulings .

Check it with other programs: the hash of each entry is the SHA-256 of its record, and each
record holds the hash of the one before as "previous" (64 zeros in the first).
  sqlite3 rulings.db "SELECT record FROM entries WHERE number = 1" | tr -d '\n' | sha256sum
  sqlite3 rulings.db "SELECT number, hash, previous FROM entries ORDER BY number"
  sha256sum files/*/*

A chain cannot show that entries are missing at its end. A head that was written down
earlier can: it must still be there, number and hash. A signature is that of the hash, by
the key that the record names as "key" (Ed25519). Whether it is the machine's key shows
who wrote that down, or has another ruling of that machine on a page.
`, page.Head.Number, page.Head.Hash, keyLines(page.Keys))
	if len(page.Missing) > 0 {
		fmt.Fprintf(&b, "\nNot in this zip, or not as it was recorded:\n")
		for _, m := range page.Missing {
			fmt.Fprintf(&b, "  %s\n", m)
		}
	}
	return b.String()
}
