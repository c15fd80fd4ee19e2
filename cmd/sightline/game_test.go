package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/rulings"
)

// gameFile writes a file of a game's and returns its path.
func gameFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func gameScene(x, y, heading float64) string {
	return fmt.Sprintf(`{"version":1,"rules":"2.5","mat":{"width_mm":914.4,"height_mm":914.4},"ships":[
		{"id":"A1","player":1,"base":"small","x_mm":%g,"y_mm":%g,"heading_deg":%g},
		{"id":"B1","player":2,"base":"small","x_mm":600,"y_mm":800,"heading_deg":180}]}`, x, y, heading)
}

func TestFlownSaysWhatWasFlown(t *testing.T) {
	before, after := gameFile(t, "before.json", gameScene(300, 200, 0)), gameFile(t, "after.json", gameScene(301, 360, 359))
	code, out, stderr := called(t, "flown", before, after, "--ship", "A1", "--json")
	require.Zero(t, code, stderr)
	var doc struct {
		Version           int
		Ship, Outcome     string
		Maneuver          string
		Residual          float64 `json:"residual_mm"`
		Turn              float64 `json:"residual_deg"`
		Partial           bool
		Touching, Alts    []string
		Alternatives      []map[string]any
		Action, NoSuchKey string
	}
	require.NoError(t, json.Unmarshal([]byte(out), &doc))
	assert.Equal(t, []any{1, "A1", "yes", "straight 3", false}, []any{doc.Version, doc.Ship, doc.Outcome, doc.Maneuver, doc.Partial})
	assert.InDelta(t, 1, doc.Residual, 1e-9)
	assert.InDelta(t, 1, doc.Turn, 1e-9)
	assert.Empty(t, doc.Alternatives)
	assert.Equal(t, 1, strings.Count(out, "\n"))

	code, out, _ = called(t, "flown", before, after, "--ship", "A1")
	assert.Zero(t, code)
	assert.Equal(t, "A1: straight 3, 1.0 mm and 1.0° off\n", out)
	code, out, _ = called(t, "flown", before, after, "--ship", "A1", "--dial", "2FB,3BW")
	assert.Zero(t, code, "that nothing fits is an answer")
	assert.Contains(t, out, "A1: fits none; nearest straight 2, ends 40.0 mm too far")
	code, out, _ = called(t, "flown", before, after, "--ship", "A1", "--slop-mm", "0.2", "--slop-deg", "0.2")
	assert.Zero(t, code)
	assert.Contains(t, out, "fits none; nearest straight 3", "with less slop it is too far off")
}

func TestFlownRefusesWhatCannotBeAsked(t *testing.T) {
	before, after := gameFile(t, "before.json", gameScene(300, 200, 0)), gameFile(t, "after.json", gameScene(301, 360, 359))
	other := gameFile(t, "other.json", strings.ReplaceAll(gameScene(300, 200, 0), `"A1"`, `"A2"`))
	huge := gameFile(t, "huge.json", strings.ReplaceAll(gameScene(300, 200, 0), `"small"`, `"huge-195"`))
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{before, after, "--ship", "A9"}, 1, `before.json: --ship: no ship "A9" in the scene, which has A1`},
		{[]string{before, other, "--ship", "A1"}, 1, `other.json: --ship: no ship "A1" in the scene`},
		{[]string{huge, huge, "--ship", "A1"}, 1, "huge ships move by templates of their own"},
		{[]string{before, huge, "--ship", "A1"}, 2, "base: expected that of before, small, got huge-195"},
		{[]string{before, after}, 2, "--ship"},
		{[]string{before, after, "--ship", "A1", "--dial", "7X"}, 2, `--dial: "7X": expected speed, bearing`},
		{[]string{before, after, "--ship", "A1", "--only", "boosts"}, 2, "--only: expected maneuvers or actions"},
		{[]string{before, after, "--ship", "A1", "--slop-mm=-1"}, 2, "--slop-mm: expected 0 to 100, got -1"},
		{[]string{before, after, "--ship", "A1", "--slop-deg=NaN"}, 2, "--slop-deg: expected 0 to 45, got NaN"},
		{[]string{before, after, "--ship", "A1", "--dial", "1FB", "--only", "actions"}, 2, "--dial: expected without --only actions"},
		{[]string{"-", "-", "--ship", "A1"}, 2, "- stands for one of the two scenes only"},
		{[]string{before, "nowhere.json", "--ship", "A1"}, 2, "nowhere.json"},
		{[]string{before, gameFile(t, "bad.json", `{"version":1}`), "--ship", "A1"}, 2, "bad.json: "},
	} {
		code, out, stderr := called(t, append([]string{"flown"}, c.args...)...)
		assert.Equal(t, c.code, code, "%v: %s", c.args, stderr)
		assert.Empty(t, out)
		assert.Contains(t, lastOf(stderr), c.want)
	}
}

// lastOf returns the last line of what was printed.
func lastOf(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

func TestCheckSaysHowTheTableWasSetUp(t *testing.T) {
	scene := gameFile(t, "scene.json", gameScene(300, 90, 0))
	code, out, stderr := called(t, "check", scene, "--setup", "--json")
	require.Zero(t, code, stderr)
	var doc struct {
		Version int
		Lines   []struct {
			Rule, Outcome, Text string
			Of                  []string
			Margin              float64 `json:"margin_mm"`
		}
		Control []map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(out), &doc))
	assert.Equal(t, 1, doc.Version)
	assert.NotNil(t, doc.Control)
	require.Len(t, doc.Lines, 4)
	assert.Equal(t, "G207", doc.Lines[1].Rule)
	assert.Equal(t, "no", doc.Lines[1].Outcome)
	assert.Equal(t, []string{"A1"}, doc.Lines[1].Of)
	assert.InDelta(t, -10, doc.Lines[1].Margin, 1e-9)

	code, out, _ = called(t, "check", scene, "--setup", "--rules", "1e")
	assert.Zero(t, code)
	assert.Regexp(t, `G206 +no +A1 is illegal by 10\.0 mm: within range 1 of its player's edge \(110\.0 mm from the near edge\)`, out)

	code, out, _ = called(t, "check", "../../docs/rules/scenarios.json", "--scenario", "assault")
	assert.Zero(t, code)
	assert.Contains(t, out, "sat1: player 2\n")
	assert.Contains(t, out, "sat3: no player\n")
	assert.NotContains(t, out, "G221", "what was placed legally is not repeated")
	code, out, _ = called(t, "check", "../../docs/rules/scenarios.json", "--setup", "--scenario", "assault")
	assert.Zero(t, code)
	assert.Contains(t, out, "G221")
}

func TestCheckRefusesWhatCannotBeAsked(t *testing.T) {
	scene := gameFile(t, "scene.json", gameScene(300, 90, 0))
	noMat := gameFile(t, "nomat.json", `{"version":1,"rules":"2.5","ships":[]}`)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{scene}, 2, "expected --setup or --scenario"},
		{[]string{scene, "--scenario", "chess"}, 2, "--scenario: expected assault, chance, salvage or scramble"},
		{[]string{scene, "--scenario", "chance", "--rules", "1e"}, 2, "rules: scenarios are of 2.5, the scene's are 1e"},
		{[]string{scene, "--scenario", "chance"}, 1, "the scenario's markers are not on the table"},
		{[]string{noMat, "--setup"}, 1, "the scene has no mat"},
		{[]string{scene, "--setup", "--sigmas", "0"}, 2, "--sigmas: expected more than 0"},
		{[]string{"nowhere.json", "--setup"}, 2, "nowhere.json"},
	} {
		code, out, stderr := called(t, append([]string{"check"}, c.args...)...)
		assert.Equal(t, c.code, code, "%v: %s", c.args, stderr)
		assert.Empty(t, out)
		assert.Contains(t, lastOf(stderr), c.want)
	}
}

func TestSquadsCheck(t *testing.T) {
	code, out, stderr := called(t, "squads", "check", "../internal/squads/testdata/red-flight.xws")
	require.Zero(t, code, stderr)
	assert.Contains(t, out, "Red Flight: rebelalliance, second edition\n")
	assert.Regexp(t, `(?m)^Wedge Antilles +T-65 X-wing +small +6 +front +1BB 1FB`, out)

	squad := gameFile(t, "squad.xws",
		`{"version":"2.0.0","faction":"scumandvillainy","name":"a\u001b[31m","pilots":[{"id":"bobafett"},{"id":"nosuchpilot"}]}`)
	code, out, _ = called(t, "squads", "check", squad)
	assert.Zero(t, code)
	assert.Contains(t, out, "unknown: nosuchpilot\n")
	assert.NotContains(t, out, "\x1b")
	code, out, _ = called(t, "squads", "check", squad, "--json")
	assert.Zero(t, code)
	var doc struct {
		Version int
		Faction string
		Ships   []struct {
			ID, Pilot, Ship, Base string
			Initiative            int
			Dial, Arcs            []string
		}
		Unknown []string
	}
	require.NoError(t, json.Unmarshal([]byte(out), &doc))
	assert.Equal(t, []string{"nosuchpilot"}, doc.Unknown)
	require.Len(t, doc.Ships, 1)
	assert.Equal(t, []any{"bobafett", "Boba Fett", "medium", 5}, []any{doc.Ships[0].ID, doc.Ships[0].Pilot, doc.Ships[0].Base,
		doc.Ships[0].Initiative})
	assert.Equal(t, []string{"front", "rear"}, doc.Ships[0].Arcs)

	code, out, _ = called(t, "squads", "notice")
	assert.Zero(t, code)
	assert.Contains(t, out, "Copyright (c) 2018 Guido Kessels")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{gameFile(t, "bad.xws", `{"faction":"scum"}`)}, "bad.xws: pilots: is missing"},
		{[]string{gameFile(t, "big.xws", strings.Repeat(" ", 2<<20+1))}, "big.xws: expected at most 2 MB"},
		{[]string{"nowhere.xws"}, "nowhere.xws"},
		{[]string{squad, "--data", t.TempDir()}, "--data: "},
	} {
		code, out, stderr := called(t, append([]string{"squads", "check"}, c.args...)...)
		assert.Equal(t, 2, code)
		assert.Empty(t, out)
		assert.Contains(t, lastOf(stderr), c.want)
	}
}

// A scene may come from anywhere: its names colour no terminal and forge no rows of a table.
func TestNamesOfASceneAreOnlyNames(t *testing.T) {
	const evil = `A\u001b[31m\nX9 \u202e`
	scene := strings.ReplaceAll(measureScene, `"A1"`, `"`+evil+`"`)
	scene = strings.ReplaceAll(scene, `"rock1"`, `"rock\u001b]0;x\u0007"`)
	before := gameFile(t, "before.json", scene)
	after := gameFile(t, "after.json", strings.Replace(scene, `"y_mm":200`, `"y_mm":280`, 1))
	const ship, shown = "A\x1b[31m\nX9 \u202e", `A\x1b[31m\nX9 \u202e`
	for _, args := range [][]string{
		{"measure", before}, {"measure", before, "--from", ship}, {"move", before, "--ship", ship, "--maneuver", "straight 2"},
		{"flown", before, after, "--ship", ship}, {"check", before, "--setup"},
	} {
		code, out, stderr := called(t, args...)
		require.Zero(t, code, stderr)
		assert.NotRegexp(t, `[\x00-\x09\x0b-\x1f\x7f]|\x{202e}`, out, "%v", args)
		assert.NotContains(t, out, "\nX9", "%v", args)
		assert.Contains(t, out, shown, "%v", args)
	}
	code, out, _ := called(t, "measure", before, "--json")
	assert.Zero(t, code)
	assert.Contains(t, out, evil[:9], "a program gets them as they are")
}

// What could not be written was not answered.
func TestAFailedWriteOfAnAnswerIsAnError(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no device that is always full: " + err.Error())
	}
	defer full.Close()
	scene := gameFile(t, "scene.json", gameScene(300, 200, 0))
	far := gameFile(t, "far.json", gameScene(600, 600, 90))
	kept := os.Stdout
	os.Stdout = full
	defer func() { os.Stdout = kept }()
	for _, args := range [][]string{
		{"check", scene, "--setup"}, {"flown", scene, far, "--ship", "A1"}, {"measure", scene}, {"version"},
		{"move", scene, "--ship", "A1", "--maneuver", "straight 1"},
	} {
		assert.Equal(t, 2, run(args), "%v", args)
	}
}

// TestAGameIsExportedInTheFormOfItsFile runs the example of the command's own help.
func TestAGameIsExportedInTheFormOfItsFile(t *testing.T) {
	dir := t.TempDir()
	log, err := rulings.Open(filepath.Join(dir, "rulings"), rulings.Options{})
	require.NoError(t, err)
	_, err = log.AppendGame(t.Context(), 0, []json.RawMessage{json.RawMessage(
		`{"number":1,"at":"2026-11-29T12:00:00Z","kind":"started","start":{"edition":"2.0","ships":[{"id":"A1","player":1,"base":"small"},{"id":"B1","player":2,"base":"small"}]}}`)})
	require.NoError(t, err)
	require.NoError(t, log.Close())
	for _, c := range []struct{ file, form, begins string }{
		{"game.html", "", "<!doctype html>"},
		{"game.csv", "", "number,at,round"},
		{"game.json", "", "{"},
		{"game.JSON", "", "{"},
		{"game", "csv", "number,at,round"},
		{"-", "", "{"},
		{"-", "html", "<!doctype html>"},
	} {
		file := c.file
		if file != "-" {
			file = filepath.Join(dir, file)
		}
		args := []string{"game", "export", "1", "--rulings", filepath.Join(dir, "rulings"), "-o", file}
		if c.form != "" {
			args = append(args, "--form", c.form)
		}
		code, out, stderr := called(t, args...)
		require.Zero(t, code, "%v: %s", c, stderr)
		if file != "-" {
			written, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, "wrote "+file+"\n", out)
			out = string(written)
		}
		assert.True(t, strings.HasPrefix(out, c.begins), "%v begins with %.40q", c, out)
	}
	for _, c := range []struct{ file, form, want string }{
		{"game.txt", "", "game.txt: expected --form, or a name ending in .json, .csv or .html"},
		{"game.html", "json", "--form json: expected a name ending in .json, got game.html"},
		{"game.html", "pdf", `--form: expected json, csv or html, got "pdf"`},
	} {
		code, _, stderr := called(t, "game", "export", "--rulings", filepath.Join(dir, "rulings"), "-o", c.file, "--form", c.form)
		assert.Equal(t, 2, code)
		assert.Contains(t, stderr, c.want)
		assert.NoFileExists(t, c.file)
	}
}
