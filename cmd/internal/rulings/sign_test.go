package rulings_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/rulings"
)

var stranger = ed25519.NewKeyFromSeed([]byte("the seed of somebody else's key."))

// forge appends an entry in the judge's name to a database, by SQL alone: number,
// previous hash and hash are as they should be, and no trigger is taken away. It names
// a key, and signs with one, when there is one.
func forge(t *testing.T, dir string, names rulings.PublicKey, signs ed25519.PrivateKey) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "rulings.db"))
	require.NoError(t, err)
	defer db.Close()
	var number int64
	var record, hash string
	require.NoError(t, db.QueryRow("SELECT number, record, hash FROM entries ORDER BY number DESC LIMIT 1").Scan(&number, &record, &hash))
	r, err := rulings.ParseRecord([]byte(record))
	require.NoError(t, err)
	r.Number, r.Previous, r.Text, r.Key = number+1, hash, "Range 3, and A1 is destroyed.", names
	raw, err := rulings.Canonical(&r)
	require.NoError(t, err)
	sum := sha256.Sum256(raw)
	_, err = db.Exec("INSERT INTO entries (number, record, hash) VALUES (?, ?, ?)", r.Number, string(raw), hex.EncodeToString(sum[:]))
	require.NoError(t, err)
	if signs != nil {
		_, err = db.Exec("INSERT INTO signatures (number, signature) VALUES (?, ?)", r.Number, rulings.Sign(signs, hex.EncodeToString(sum[:])))
		require.NoError(t, err)
	}
}

// verified verifies a folder, and returns what was found and what the last entry shows.
func verified(t *testing.T, dir string, keys ...rulings.PublicKey) (rulings.Report, rulings.Entry) {
	t.Helper()
	l, err := rulings.Open(dir, rulings.Options{ReadOnly: true})
	require.NoError(t, err)
	defer l.Close()
	r, err := l.VerifyBy(ctx, keys)
	require.NoError(t, err)
	last, err := l.Last(ctx, 1)
	require.NoError(t, err)
	return r, last[0]
}

func TestAnEntryInAJudgesNameBySQLAloneIsFound(t *testing.T) {
	mine := rulings.PublicOf(key)
	for name, c := range map[string]struct {
		names   rulings.PublicKey
		signs   ed25519.PrivateKey
		what    string
		found   string
		harmful bool // the entry itself shows it
	}{
		"unsigned":                       {"", nil, "signature", "it is not signed, and entries before it are", true},
		"naming the key, unsigned":       {mine, nil, "signature", "its signature is missing", true},
		"naming the key, signed by none": {mine, stranger, "signature", "its signature is not by the key that its record names", true},
		"signed, naming no key":          {"", key, "signature", "it has a signature, and its record names no key", true},
		"with a key of its own":          {rulings.PublicOf(stranger), stranger, "key, from here on", string(rulings.PublicOf(stranger)), false},
	} {
		t.Run(name, func(t *testing.T) {
			l, dir := newLog(t, 2)
			require.NoError(t, l.Close())
			forge(t, dir, c.names, c.signs)
			r, last := verified(t, dir)
			require.Len(t, r.Findings, 1, "the chain itself is whole: %v", r.Findings)
			assert.Equal(t, rulings.Finding{Entry: 3, What: c.what, Expected: r.Findings[0].Expected, Found: c.found}, r.Findings[0])
			assert.Contains(t, r.Findings[0].Expected, mine)
			assert.Equal(t, c.harmful, last.Damage != "", "%s", last.Damage)
			_, err := rulings.Open(dir, rulings.Options{Key: key})
			if c.harmful {
				require.ErrorIs(t, err, rulings.ErrCorrupt, "nothing is built on it")
				return
			}
			r, _ = verified(t, dir, mine)
			assert.Len(t, r.Findings, 1)
			r, _ = verified(t, dir, mine, rulings.PublicOf(stranger))
			assert.Empty(t, r.Findings, "both keys were named: a machine in place of another")
			assert.Equal(t, []rulings.PublicKey{mine, rulings.PublicOf(stranger)}, r.Keys)
		})
	}
}

func TestAStrippedSignatureIsFound(t *testing.T) {
	l, whole := newLog(t, 3)
	require.NoError(t, l.Close())
	for name, statements := range map[string][]string{
		"of one":                  {"DELETE FROM signatures WHERE number = 2"},
		"of the last":             {"DELETE FROM signatures WHERE number = 3"},
		"of all":                  {"DELETE FROM signatures"},
		"another's":               {"UPDATE signatures SET signature = (SELECT signature FROM signatures WHERE number = 1) WHERE number = 2"},
		"in upper case":           {"UPDATE signatures SET signature = upper(signature) WHERE number = 2"},
		"with the key's name":     {`UPDATE entries SET record = replace(record, '"key":', '"kez":') WHERE number = 3`},
		"as if it were version 1": {"DROP TABLE signatures; DROP TABLE looks; PRAGMA user_version = 1"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(whole)))
			if strings.HasPrefix(name, "as if") {
				db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "rulings.db"))
				require.NoError(t, err)
				_, err = db.Exec(statements[0])
				require.NoError(t, err)
				require.NoError(t, db.Close())
			} else {
				tamper(t, dir, statements...)
			}
			r, _ := verified(t, dir)
			require.NotEmpty(t, r.Findings)
			assert.Contains(t, fmt.Sprint(r.Findings), "signature")
		})
	}
}

func TestARewrittenLogIsFoundByTheKeyThatWasWrittenDown(t *testing.T) {
	l, dir := newLog(t, 3)
	require.NoError(t, l.Close())
	other := filepath.Join(t.TempDir(), "rulings")
	strangers, err := rulings.Open(other, rulings.Options{Key: stranger})
	require.NoError(t, err)
	_, err = strangers.Append(ctx, ruling(t, 0), files(0))
	require.NoError(t, err)
	require.NoError(t, strangers.Close())
	mine := rulings.PublicOf(key)
	r, _ := verified(t, dir, mine)
	assert.Empty(t, r.Findings)
	assert.Equal(t, []rulings.PublicKey{mine}, r.Keys)
	assert.EqualValues(t, 1, r.SignedFrom)
	r, _ = verified(t, other)
	assert.Empty(t, r.Findings, "it is whole")
	r, _ = verified(t, other, mine)
	require.Len(t, r.Findings, 1)
	assert.Contains(t, r.Findings[0].String(), mine)
	r, _ = verified(t, oldLog(t, "schema1"), mine)
	require.Len(t, r.Findings, 1)
	assert.Equal(t, "none is signed", r.Findings[0].Found)
}

func TestALogOfTheVersionBeforeGoesOnAndIsSignedFromThen(t *testing.T) {
	dir := oldLog(t, "schema1")
	r, last := verified(t, dir)
	assert.Empty(t, r.Findings)
	assert.Zero(t, r.SignedFrom)
	assert.EqualValues(t, 3, r.Entries)
	assert.Contains(t, strings.Join(r.Notes, "\n"), "no entry is signed")
	assert.Empty(t, last.Damage)
	old := last.Canonical()

	looks, err := rulings.Open(dir, rulings.Options{ReadOnly: true}) // before the writer changes it
	require.NoError(t, err)
	defer looks.Close()
	l, err := rulings.Open(dir, rulings.Options{Key: key, Keep: day})
	require.NoError(t, err)
	n, err := l.Prune(ctx, noon.AddDate(1, 0, 0))
	require.NoError(t, err)
	assert.Zero(t, n)
	version, err := l.Pragma("user_version")
	require.NoError(t, err)
	assert.Equal(t, "1", version, "nothing is changed before there is a ruling")
	e, err := l.Append(ctx, ruling(t, 3), files(3))
	require.NoError(t, err)
	assert.EqualValues(t, 4, e.Number)
	assert.Equal(t, last.Hash, e.Previous)
	require.NoError(t, l.Close())

	r, last = verified(t, dir)
	assert.Empty(t, r.Findings)
	assert.EqualValues(t, 4, r.SignedFrom)
	assert.Contains(t, strings.Join(r.Notes, "\n"), "entries before 4 are not signed")
	assert.Equal(t, e.Hash, last.Hash)
	third, err := looks.Entry(ctx, 3)
	require.NoError(t, err)
	assert.Equal(t, old, third.Canonical(), "byte for byte")
	fourth, err := looks.Entry(ctx, 4)
	require.NoError(t, err)
	assert.Empty(t, fourth.Damage, "who opened it before sees the signature")

	forge(t, dir, "", nil)
	r, _ = verified(t, dir)
	require.Len(t, r.Findings, 1)
	assert.EqualValues(t, 5, r.Findings[0].Entry)
}

func TestALogThatBeginsToSignWhileItIsVerifiedIsWhole(t *testing.T) {
	dir := oldLog(t, "schema1")
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "rulings.db"))
	require.NoError(t, err)
	defer db.Close()
	version, objects, err := rulings.Declared(ctx, &between{db, 0, func() {
		l, err := rulings.Open(dir, rulings.Options{Key: key})
		require.NoError(t, err)
		_, err = l.Append(ctx, ruling(t, 3), files(3))
		require.NoError(t, err)
		require.NoError(t, l.Close())
	}})
	require.NoError(t, err)
	_, signs := objects["table signatures"]
	assert.Equal(t, version == 2, signs, "version %d: %v", version, objects)
}

// between is a database to which something happens after the first statement.
type between struct {
	*sql.DB
	statements int
	happen     func()
}

func (b *between) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	b.next()
	return b.DB.QueryContext(ctx, query, args...)
}

func (b *between) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	b.next()
	return b.DB.QueryRowContext(ctx, query, args...)
}

func (b *between) next() {
	if b.statements++; b.statements == 2 {
		b.happen()
	}
}

func TestASignatureIsCheckedByAnyProgram(t *testing.T) {
	// What docs/rulings.md says, without this package.
	l, dir := newLog(t, 2)
	require.NoError(t, l.Close())
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "rulings.db")+"?mode=ro")
	require.NoError(t, err)
	defer db.Close()
	rows, err := db.Query("SELECT hash, signature, json_extract(record, '$.key') FROM entries JOIN signatures USING (number)")
	require.NoError(t, err)
	n := 0
	for rows.Next() {
		var hash, signature, public string
		require.NoError(t, rows.Scan(&hash, &signature, &public))
		raw, err := hex.DecodeString(signature)
		require.NoError(t, err)
		p, err := hex.DecodeString(public)
		require.NoError(t, err)
		assert.True(t, ed25519.Verify(p, []byte(hash), raw))
		n++
	}
	require.NoError(t, rows.Err())
	assert.Equal(t, 2, n)
}

func TestALogIsReadButNotWrittenWithoutAKey(t *testing.T) {
	made, dir := newLog(t, 1)
	require.NoError(t, made.Close())
	l, err := rulings.Open(dir, rulings.Options{})
	require.NoError(t, err)
	defer l.Close()
	last, err := l.Last(ctx, 1)
	require.NoError(t, err)
	require.Len(t, last, 1)
	_, err = l.Append(ctx, ruling(t, 1), files(1))
	assert.ErrorContains(t, err, "expected a key to sign the entry with")
	l.SignWith(key)
	e, err := l.Append(ctx, ruling(t, 1), files(1))
	require.NoError(t, err)
	assert.Equal(t, rulings.PublicOf(key), e.Key)
	for _, bad := range []string{"", "beef", strings.Repeat("A", 64)} {
		_, err := rulings.ParsePublicKey(bad)
		assert.ErrorContains(t, err, "64 hex digits")
	}
}
