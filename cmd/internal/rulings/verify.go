package rulings

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Finding is something that is not as it was recorded.
type Finding struct {
	Entry    int64  `json:"entry"` // 0 for none
	What     string `json:"what"`  // "own hash", "frame files/3f/3f9a….png", "database"
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// String describes the finding in a line.
func (f Finding) String() string {
	at := "the log"
	if f.Entry > 0 {
		at = fmt.Sprintf("entry %d", f.Entry)
	}
	return fmt.Sprintf("%s: %s: expected %s, found %s", at, f.What, f.Expected, f.Found)
}

// Report is the result of verifying a log.
type Report struct {
	Entries int64 `json:"entries"`
	// GameEvents counts the events of games, up to a changed one.
	GameEvents int64 `json:"game_events"`
	Files      int   `json:"files"`  // intact, each counted once
	Pruned     int   `json:"pruned"` // pictures removed for their age
	Head       Head  `json:"head"`

	// Keys are the keys of the machines that signed entries, in the order of first use.
	// Entries below SignedFrom, from before signing was introduced, have no signature; later
	// entries cover their hashes. 0 means that none is signed.
	Keys       []PublicKey `json:"keys"`
	SignedFrom int64       `json:"signed_from"`

	Findings []Finding `json:"findings"` // empty when nothing was changed

	// Notes are not faults: for example files that no entry names, from an interrupted ruling.
	Notes []string `json:"notes"`
}

// OK reports whether nothing was found.
func (r *Report) OK() bool { return len(r.Findings) == 0 }

// Verify checks the whole log: SQLite's integrity check, the schema, each entry's number, form,
// hash and previous hash, that every file is there and unchanged, and that each entry from the
// first signed one is signed, all by one key. known are heads that were written down elsewhere:
// only they show that entries were cut off at the end.
//
// The report lists changes. An error means that the log could not be checked.
func (l *Log) Verify(ctx context.Context, known ...Head) (Report, error) {
	return l.VerifyBy(ctx, nil, known...)
}

// VerifyBy is Verify with the keys of the machines that may have signed entries. Without keys, that
// of the first signed entry counts as the machine's.
func (l *Log) VerifyBy(ctx context.Context, keys []PublicKey, known ...Head) (Report, error) {
	r := Report{Findings: []Finding{}, Notes: []string{}, Keys: []PublicKey{}}
	db, err := l.reader()
	if err != nil {
		return r, err
	}
	v := verifier{log: l, db: db, report: &r, keys: keys, known: known, seen: map[string]string{}}
	if db != nil {
		if err := v.verify(ctx); err != nil {
			return r, fmt.Errorf("rulings: verify %s: %w", l.dir, err)
		}
	}
	if r.GameEvents, err = l.VerifyGames(ctx); errors.Is(err, ErrCorrupt) {
		r.add(0, "games", "each event as it was recorded", err.Error())
	} else if err != nil {
		return r, fmt.Errorf("rulings: verify %s: %w", l.dir, err)
	}
	for _, h := range v.known {
		if h.Number > r.Head.Number {
			r.add(h.Number, "entry", h.Hash, fmt.Sprintf("nothing: the log ends with entry %d", r.Head.Number))
		}
	}
	return r, nil
}

func (r *Report) add(entry int64, what, expected, found string) {
	r.Findings = append(r.Findings, Finding{entry, what, expected, found})
}

// verifier is a verification in progress.
type verifier struct {
	log    *Log
	db     *sql.DB
	report *Report
	keys   []PublicKey
	known  []Head
	newer  bool              // a newer program made the database
	pruned map[string]string // time by hash
	seen   map[string]string // files already read: what was found instead, or ""
}

func (v *verifier) verify(ctx context.Context) error {
	if err := v.database(ctx); err != nil {
		return err
	}
	if err := v.readPruned(ctx); err != nil {
		v.report.add(0, "database, table pruned", "readable", err.Error())
	}
	last := Head{Hash: Genesis}
	err := eachEntry(ctx, v.db, func(e Entry) error {
		v.entry(&e, last)
		last = Head{e.Number, e.Hash}
		return ctx.Err()
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		v.report.add(last.Number+1, "entry", "readable", err.Error())
	}
	if last.Number > 0 {
		v.report.Head = last
	}
	v.unsigned()
	if rest, err := missingTail(ctx, v.db); err != nil {
		v.report.add(0, "database, tables signatures and looks", "readable", err.Error())
	} else if rest != "" {
		v.report.add(0, "the last entries", "there", rest)
	}
	v.unreferenced()
	return nil
}

// database runs SQLite's integrity check, and checks the schema that makes the log append-only.
func (v *verifier) database(ctx context.Context) error {
	rows, err := v.db.QueryContext(ctx, "PRAGMA integrity_check(20)")
	if err == nil {
		defer rows.Close()
		for rows.Next() {
			var text string
			if err = rows.Scan(&text); err != nil {
				break
			}
			if text != "ok" {
				v.report.add(0, "database", "ok", text)
			}
		}
		err = errors.Join(err, rows.Err())
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		v.report.add(0, "database", "ok", err.Error())
	}
	return v.schema(ctx)
}

// schema compares the database's declarations with those of its version.
func (v *verifier) schema(ctx context.Context) error {
	version, got, err := declared(ctx, v.db)
	if err != nil {
		v.report.add(0, "database, schema", "readable", err.Error())
	}
	schemas := v.log.schemas()
	if err := v.log.newerThan(version); err != nil {
		v.newer = true
		v.report.Notes = append(v.report.Notes, err.Error()+": what it declares was not checked")
		return nil
	}
	var least []Finding
	for i, text := range landed(schemas, max(version, 1)) {
		want, err := declaredBy(ctx, text)
		if err != nil {
			return err
		}
		if found := undeclared(got, want); i == 0 || len(found) < len(least) {
			least = found
		}
	}
	v.report.Findings = append(v.report.Findings, least...)
	return nil
}

// declaredBy returns what a schema declares, by kind and name.
func declaredBy(ctx context.Context, schema string) (map[string]string, error) {
	fresh, err := openDB(":memory:", "memory", 1)
	if err != nil {
		return nil, err
	}
	defer fresh.Close()
	if _, err := fresh.ExecContext(ctx, schema); err != nil {
		return nil, err
	}
	_, objects, err := declared(ctx, fresh)
	return objects, err
}

// undeclared returns the differences of a database's declarations.
func undeclared(got, want map[string]string) (out []Finding) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			out = append(out, Finding{0, "database, " + name, "as the program made it", words(got[name], "nothing of that name")})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if want[name] == "" {
			out = append(out, Finding{0, "database, " + name, "nothing of that name", words(got[name], "")})
		}
	}
	return out
}

// missingTail returns the evidence of missing entries at the end; "" for none.
func missingTail(ctx context.Context, q queryer) (string, error) {
	if !hasSignatures(ctx, q) {
		return "", nil
	}
	var last, signed, looked int64
	err := q.QueryRowContext(ctx, `SELECT (SELECT coalesce(max(number), 0) FROM entries), (SELECT coalesce(max(number), 0) FROM signatures),
		(SELECT coalesce(max(entry), 0) FROM looks)`).Scan(&last, &signed, &looked)
	if err != nil || max(signed, looked) <= last {
		return "", err
	}
	return fmt.Sprintf("the log ends with entry %d, and had %d", last, max(signed, looked)), nil
}

func words(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return strings.Join(strings.Fields(text), " ")
}

// declared returns the version of a database's schema and its declarations, by kind and name. One
// statement reads both: a writer may migrate the database between two.
func declared(ctx context.Context, q queryer) (version int, objects map[string]string, err error) {
	rows, err := q.QueryContext(ctx, `SELECT user_version, coalesce(type || ' ' || name, ''), coalesce(sql, '')
		FROM pragma_user_version LEFT JOIN sqlite_schema ON sql IS NOT NULL`)
	if err != nil {
		return 0, nil, err
	}
	defer rows.Close()
	objects = map[string]string{}
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&version, &name, &text); err != nil {
			return version, objects, err
		}
		if name != "" {
			objects[name] = text
		}
	}
	return version, objects, rows.Err()
}

func (v *verifier) readPruned(ctx context.Context) error {
	v.pruned = map[string]string{}
	rows, err := v.db.QueryContext(ctx, "SELECT sha256, at FROM pruned")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var hash, at string
		if err := rows.Scan(&hash, &at); err != nil {
			return err
		}
		v.pruned[hash] = at
	}
	return rows.Err()
}

// entry checks an entry against the one before it.
func (v *verifier) entry(e *Entry, last Head) {
	r := v.report
	r.Entries++
	for n := last.Number + 1; n < e.Number; n++ {
		if n-last.Number > 20 {
			r.add(n, "entries from here on", "there", fmt.Sprintf("missing up to %d", e.Number-1))
			break
		}
		r.add(n, "entry", "there", "missing")
	}
	if actual := hashOf(e.raw); actual != e.Hash {
		r.add(e.Number, "own hash", e.Hash, actual+" of what stands there")
	}
	if record, err := ParseRecord(e.raw); v.newer && errors.Is(err, ErrNewer) {
		r.Notes = append(r.Notes, fmt.Sprintf("entry %d: %v: its content was not checked", e.Number, err))
	} else if err != nil {
		r.add(e.Number, "record", "one in canonical form", err.Error())
	} else if record.Number != e.Number {
		r.add(e.Number, "number in the record", fmt.Sprint(e.Number), fmt.Sprint(record.Number))
	}
	if last.Number == e.Number-1 && e.Previous != last.Hash {
		r.add(e.Number, "hash of the entry before", last.Hash, words(e.Previous, "nothing"))
	}
	v.signature(e)
	for _, h := range v.known {
		if h.Number == e.Number && h.Hash != e.Hash {
			r.add(e.Number, "hash that was written down elsewhere", h.Hash, e.Hash)
		}
	}
	for _, f := range e.Files {
		v.file(e.Number, f)
	}
}

// signature checks an entry's signature and its key.
func (v *verifier) signature(e *Entry) {
	r := v.report
	fault := signatureFault(e.Key, e.Hash, e.Signature, r.SignedFrom > 0)
	if fault != "" {
		r.add(e.Number, "signature", "one by the machine's key "+words(string(v.expected()), string(e.Key)), fault)
	}
	if e.Key == "" {
		return
	}
	if r.SignedFrom == 0 {
		r.SignedFrom = e.Number
	}
	if slices.Contains(r.Keys, e.Key) {
		return
	}
	if allowed := v.keys; len(allowed) == 0 && len(r.Keys) > 0 || len(allowed) > 0 && !slices.Contains(allowed, e.Key) {
		r.add(e.Number, "key, from here on", words(string(v.expected()), "another"), string(e.Key))
	}
	r.Keys = append(r.Keys, e.Key)
}

// expected returns the key that should sign the next entry, if known.
func (v *verifier) expected() PublicKey {
	switch {
	case len(v.report.Keys) > 0:
		return v.report.Keys[len(v.report.Keys)-1]
	case len(v.keys) > 0:
		return v.keys[0]
	}
	return ""
}

// unsigned reports which entries have no signature.
func (v *verifier) unsigned() {
	r := v.report
	switch {
	case r.Entries == 0:
	case r.SignedFrom == 0 && len(v.keys) > 0:
		r.add(0, "signatures", "entries signed with "+string(v.keys[0]), "none is signed")
	case r.SignedFrom == 0:
		r.Notes = append(r.Notes, "no entry is signed: a version before signing recorded them all, or the whole log was rewritten "+
			"without signatures (--key shows that)")
	case r.SignedFrom > 1:
		r.Notes = append(r.Notes, fmt.Sprintf("entries before %d are not signed: a version before signing recorded them; entry %d covers "+
			"their hashes",
			r.SignedFrom, r.SignedFrom))
	}
}

// file checks a file of an entry. It reads each only once.
func (v *verifier) file(entry int64, f FileRef) {
	if f.validate() != nil {
		return // the record is reported
	}
	found, ok := v.seen[f.Path()]
	if !ok {
		found = v.read(f)
		v.seen[f.Path()] = found
	}
	if found != "" {
		v.report.add(entry, string(f.Role)+" "+f.Path(), "SHA-256 "+f.SHA256, found)
	}
}

func (v *verifier) read(f FileRef) (found string) {
	s := store{v.log.dir, v.log.disk}
	switch _, other, err := s.get(f); {
	case errors.Is(err, fs.ErrNotExist) && v.pruned[f.SHA256] != "" && f.Role.picture():
		v.report.Pruned++
		v.report.Notes = append(v.report.Notes, fmt.Sprintf("%s was pruned for its age on %s", f.Path(), v.pruned[f.SHA256]))
		return ""
	case errors.Is(err, fs.ErrNotExist):
		return "no such file"
	case err != nil:
		return err.Error()
	case other != "":
		return "SHA-256 " + other
	}
	v.report.Files++
	return ""
}

// unreferenced notes the files that no entry names.
func (v *verifier) unreferenced() {
	root := filepath.Join(v.log.dir, filesDir)
	const most = 20
	var names []string
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(v.log.dir, path)
		if err != nil {
			return nil
		}
		if _, ok := v.seen[filepath.ToSlash(rel)]; !ok {
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	})
	for i, name := range names {
		if i == most {
			v.report.Notes = append(v.report.Notes, fmt.Sprintf("and %d more files that no entry names", len(names)-most))
			break
		}
		v.report.Notes = append(v.report.Notes, name+": no entry names it")
	}
}
