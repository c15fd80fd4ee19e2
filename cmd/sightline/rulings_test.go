package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/app"
	"sightline/cmd/internal/rulings"
	"sightline/engine"
	"sightline/engine/scenefile"
)

// ruled makes a log of rulings on a scene of the rules' pictures, and returns its folder.
func ruled(t *testing.T, count int) string {
	t.Helper()
	raw, err := os.ReadFile("../../docs/rules/obstruction.json")
	require.NoError(t, err)
	scenes, _, err := scenefile.Parse(raw)
	require.NoError(t, err)
	scene := scenes[0]
	from, to := scene.Ships[0].ID, scene.Ships[1].ID
	p, err := engine.MeasurePair(&scene, from, to, engine.Options{Sigmas: 3})
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "rulings")
	l, err := rulings.Open(dir, rulings.Options{Key: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))})
	require.NoError(t, err)
	defer l.Close()
	for n := range count {
		_, err := l.Append(context.Background(), rulings.Ruling{
			At: time.Date(2026, 11, 21, 12, n, 0, 0, time.UTC), Program: "v1", Scene: scene, Sigmas: 3, From: from, To: to, Pair: &p,
			Decision: rulings.AsMeasured, Title: "Range 2\x0a", Text: "It is so.", Judge: "Zoë",
		}, rulings.Files{Calibration: []byte(`{"a":1}`)})
		require.NoError(t, err)
	}
	return dir
}

// answered runs a command line, and returns its exit code and what it printed.
func answered(t *testing.T, args ...string) (int, string) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	old := os.Stdout
	os.Stdout = w
	done := make(chan string)
	go func() {
		raw, _ := io.ReadAll(r)
		done <- string(raw)
	}()
	code := run(args)
	os.Stdout = old
	w.Close()
	return code, <-done
}

func TestRulingsAreListedCheckedAndReplayed(t *testing.T) {
	dir := ruled(t, 3)
	code, out := answered(t, "rulings", "list", "--rulings", dir)
	assert.Zero(t, code)
	assert.Equal(t, 4, strings.Count(out, "\n")-2, "a title, three rulings, the head:\n%s", out)
	assert.Contains(t, out, "the last is entry 3, ")
	code, out = answered(t, "rulings", "list", "--rulings", dir, "--json")
	assert.Zero(t, code)
	var list struct {
		Head    rulings.Head
		Rulings []struct {
			Sha256 string
			Record struct{ Judge string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Len(t, list.Rulings, 3)
	assert.Equal(t, "Zoë", list.Rulings[2].Record.Judge)
	assert.Equal(t, list.Head.Hash, list.Rulings[2].Sha256)

	code, out = answered(t, "rulings", "verify", "--rulings", dir, "--head", list.Head.String())
	assert.Zero(t, code)
	assert.Contains(t, out, "3 entries, 1 file\nnothing was changed")
	for n := range 3 {
		code, out = answered(t, "replay", string(rune('1'+n)), "--rulings", dir)
		assert.Zero(t, code)
		assert.Contains(t, out, "the recorded verdict, to the last digit")
		assert.Contains(t, out, "\nthe same today\n")
	}
	code, out = answered(t, "replay", "2", "--rulings", dir, "--json")
	assert.Zero(t, code)
	assert.Contains(t, out, `{"version":1,"same":true,"entry":2,`)
	assert.Contains(t, out, `"tampering":[]`)
}

func TestOneByteOfTheLogIsReportedByReplay(t *testing.T) {
	for name, file := range map[string]string{"the database": "rulings.db", "a file": "files/*/*.json"} {
		t.Run(name, func(t *testing.T) {
			dir := ruled(t, 2)
			paths, err := filepath.Glob(filepath.Join(dir, file))
			require.NoError(t, err)
			require.Len(t, paths, 1)
			raw, err := os.ReadFile(paths[0])
			require.NoError(t, err)
			if bytes.Contains(raw, []byte("It is so")) { // SQLite's pages may hold old copies in room that is free
				raw = bytes.ReplaceAll(raw, []byte("It is so"), []byte("It is sn"))
			} else {
				raw[0] ^= 1
			}
			require.NoError(t, os.WriteFile(paths[0], raw, 0o644))
			for _, n := range []string{"1", "2"} {
				code, out := answered(t, "replay", n, "--rulings", dir)
				assert.Equal(t, 1, code)
				assert.Contains(t, out, "record   CHANGED")
				code, out = answered(t, "replay", n, "--rulings", dir, "--json")
				assert.Equal(t, 1, code)
				assert.Contains(t, out, `"same":false`)
				assert.Contains(t, out, `"expected":"`)
			}
			code, out := answered(t, "rulings", "verify", "--rulings", dir)
			assert.Equal(t, 1, code)
			assert.Contains(t, out, "CHANGED entry ")
		})
	}
}

// told runs a command line, and returns its exit code and what it wrote to standard
// error.
func told(t *testing.T, args ...string) (int, string) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	old := os.Stderr
	os.Stderr = w
	code, _ := answered(t, args...)
	os.Stderr = old
	w.Close()
	raw, err := io.ReadAll(r)
	require.NoError(t, err)
	return code, string(raw)
}

func TestEveryCommandOfRulingsSaysWhereItLooked(t *testing.T) {
	home, other := t.TempDir(), ruled(t, 1)
	t.Chdir(t.TempDir())
	for name, value := range map[string]string{"STATE_DIRECTORY": "", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "HOME": home} {
		t.Setenv(name, value)
	}
	own := filepath.Join(home, ".local/share/sightline/rulings")
	here, err := filepath.Abs("rulings")
	require.NoError(t, err)
	commands := []string{"rulings list", "rulings verify", "replay 1", "rulings export 1 -o -", "rulings list --json", "rulings verify --json"}
	for _, c := range commands {
		code, text := told(t, strings.Fields(c)...)
		assert.Equal(t, 1, code, c)
		assert.Contains(t, text, "there are no rulings and no games yet; looked in "+own+", /var/lib/sightline/rulings, "+here, c)
		code, text = told(t, append(strings.Fields(c), "--rulings", other)...)
		assert.Zero(t, code, c)
		assert.Equal(t, "sightline: the rulings in "+other+"\n", text, c)
	}
	require.NoError(t, os.CopyFS(here, os.DirFS(other)))
	for _, c := range commands {
		code, text := told(t, strings.Fields(c)...)
		assert.Zero(t, code, c)
		assert.Contains(t, text, "the rulings in "+here+"\n", c)
		assert.Contains(t, text, "an earlier version kept them there; sightline run keeps them in "+own, c)
	}
	require.NoError(t, os.CopyFS(own, os.DirFS(other)))
	for _, c := range commands {
		code, text := told(t, strings.Fields(c)...)
		assert.Zero(t, code, c)
		assert.Equal(t, "sightline: the rulings in "+own+"\nsightline: there are rulings in "+here+" too: --rulings reads them\n", text, c)
	}
}

func TestTheKeyIsPrintedAndChecked(t *testing.T) {
	t.Setenv("STATE_DIRECTORY", t.TempDir())
	dir := ruled(t, 2)
	const key = "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29" // of the seed of zeros, by another program
	code, out := answered(t, "rulings", "verify", "--rulings", dir)
	assert.Zero(t, code)
	assert.Contains(t, out, "\nsigned with key "+key+"\n")
	code, _ = answered(t, "rulings", "verify", "--rulings", dir, "--key", key)
	assert.Zero(t, code)
	code, out = answered(t, "rulings", "verify", "--rulings", dir, "--key", strings.Repeat("a", 64))
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "CHANGED entry 1: key, from here on: expected "+strings.Repeat("a", 64)+", found "+key)
	code, _ = answered(t, "rulings", "verify", "--rulings", dir, "--key", "abc")
	assert.Equal(t, 2, code)
	code, _ = answered(t, "rulings", "verify", "--rulings", dir, "--key", "machine")
	assert.Equal(t, 2, code, "it has none yet")
	machine := app.Rulings{Dir: t.TempDir()}
	l, err := machine.Open(nil)
	require.NoError(t, err)
	_, err = machine.Sign(l)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	code, out = answered(t, "rulings", "verify", "--rulings", dir, "--key", "machine")
	assert.Equal(t, 1, code, "another machine's")
	assert.NotContains(t, out, "this machine's")
	for _, args := range [][]string{{"2", "-o", "-"}, {"-o", "-"}} {
		code, out = answered(t, append([]string{"rulings", "export", "--rulings", dir}, args...)...)
		assert.Zero(t, code)
		if args[0] == "2" {
			assert.Contains(t, out, "<dt>Key of the machine</dt><dd><code>"+key)
		}
	}
}

func TestInvalidQuestionsAboutRulings(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("STATE_DIRECTORY", t.TempDir())
	dir := filepath.Join(t.TempDir(), "rulings")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rulings.db"),
		[]byte("this is no database, though it is of the right name and long enough to be read as a header of one hundred bytes"), 0o644))
	for _, c := range []struct {
		args string
		code int
	}{
		{"replay", 2}, {"replay one", 2}, {"replay 0", 2}, {"replay -1", 2}, {"rulings", 2}, {"rulings export", 2},
		{"rulings list --rulings nowhere", 2},
		{"rulings verify --head 3 --rulings " + dir, 2}, {"rulings verify --head 3:beef --rulings " + dir, 2},
		{"replay 1", 1}, {"rulings list", 1}, {"rulings verify", 1}, {"rulings export 1 -o x.html", 1}, // no rulings yet
		{"replay 1 --rulings " + dir, 1}, {"rulings list --rulings " + dir, 1},
	} {
		code, out := answered(t, strings.Fields(c.args)...)
		assert.Equal(t, c.code, code, c.args)
		if c.args != "rulings" && c.args != "replay" {
			assert.Empty(t, out, c.args)
		}
	}
	assert.NoFileExists(t, "x.html")
	assert.NoDirExists(t, "rulings")
}

func TestAReplayOfAMissingEntryIsNotADifference(t *testing.T) {
	dir := ruled(t, 3)
	code, out, problem := called(t, "replay", "9", "--rulings", dir)
	assert.Equal(t, 2, code, "1 is for an answer that differs")
	assert.Empty(t, out)
	assert.Contains(t, problem, "sightline: replay: no entry 9; the log has 1 to 3\n")
}

func TestARulingAndTheLogAreExported(t *testing.T) {
	dir := ruled(t, 2)
	page, archive := filepath.Join(t.TempDir(), "r.html"), filepath.Join(t.TempDir(), "r.zip")
	code, _ := answered(t, "rulings", "export", "2", "--rulings", dir, "-o", page)
	assert.Zero(t, code)
	raw, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(raw), "It is so.")
	code, _ = answered(t, "rulings", "export", "--rulings", dir, "-o", archive)
	assert.Zero(t, code)
	raw, err = os.ReadFile(archive)
	require.NoError(t, err)
	assert.True(t, bytes.HasPrefix(raw, []byte("PK")))
	code, out := answered(t, "rulings", "export", "1", "--rulings", dir, "-o", "-")
	assert.Zero(t, code)
	assert.True(t, strings.HasPrefix(out, "<!doctype html>"), out[:min(40, len(out))])
	code, _ = answered(t, "rulings", "export", "7", "--rulings", dir, "-o", page+"7")
	assert.Equal(t, 1, code)
	assert.NoFileExists(t, page+"7")
}

func TestARecordOfANewerProgramIsRead(t *testing.T) {
	dir := ruled(t, 2)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "rulings.db"))
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE weather (day TEXT); PRAGMA user_version = 99")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	code, out := answered(t, "rulings", "list", "--rulings", dir)
	assert.Zero(t, code)
	assert.Contains(t, out, "the last is entry 2, ")
	code, out = answered(t, "rulings", "verify", "--rulings", dir)
	assert.Zero(t, code)
	assert.Contains(t, out, "note: a newer program made the log: rulings.db is of version 99, and this program knows 1 to ")
	assert.Contains(t, out, "nothing was changed")
	code, _ = answered(t, "rulings", "export", "--rulings", dir, "-o", filepath.Join(t.TempDir(), "all.zip"))
	assert.Zero(t, code)
}
