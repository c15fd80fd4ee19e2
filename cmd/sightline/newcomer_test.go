package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
)

// stderrOf runs a command line and returns its code and what it says of its error.
func stderrOf(t *testing.T, args ...string) (int, string) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	old := os.Stderr
	os.Stderr = w
	code := run(args)
	os.Stderr = old
	require.NoError(t, w.Close())
	said, err := io.ReadAll(r)
	require.NoError(t, err)
	return code, string(said)
}

func TestWrongUsageIsReportedInOneLine(t *testing.T) {
	good := sceneFile(t, measureScene)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"measure", good, "--sigmas", "-1"}, "--sigmas: expected more than 0, got -1"},
		{[]string{"move", good, "--ship", "A1", "--sigmas", "-.5", "--maneuver", "straight 1"}, "--sigmas: expected more than 0, got -0.5"},
		{[]string{"measure", good, "--sigmas", "abc"}, `--sigmas: expected a number, got "abc"`},
		{[]string{"draw", good, "-o", "x.svg", "--index", "a"}, `--index: expected a whole number, got "a"`},
		{[]string{"replay", "x"}, `<entry>: expected a whole number, got "x"`},
		{[]string{"completion", "tcsh"}, `[<shell>]: expected bash, zsh or fish, got "tcsh"`},
		{[]string{"move", good, "--ship", "A1"}, "expected one of --maneuver, --action and --drop"},
		{[]string{"move", good, "--ship", "A1", "--maneuver", "sideways 3"}, `maneuver "sideways 3": no such maneuver; expected straight N`},
	} {
		code, said := stderrOf(t, c.args...)
		assert.Equal(t, 2, code)
		assert.Contains(t, said, c.want)
		assert.Equal(t, 1, strings.Count(said, "\n"), said)
	}
}

func TestAnUnknownCommandIsAnsweredWithTheCommands(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"bogus"}, "unexpected argument bogus: expected one of run, measure, move, "},
		{[]string{"bogus"}, "; sightline --help says what they do\n"},
		{[]string{"calibrate", "bogus"}, "unexpected argument bogus: expected one of lens, table, "},
		{[]string{"calibrate", "bogus"}, "; sightline calibrate --help says what they do\n"},
		{[]string{"version", "bogus"}, "unexpected argument bogus; sightline version --help says what is expected\n"},
	} {
		code, said := stderrOf(t, c.args...)
		assert.Equal(t, 2, code)
		assert.Contains(t, said, c.want)
		assert.Equal(t, 1, strings.Count(said, "\n"), said)
	}
}

func TestANameInTheWrongCaseSuggestsTheRightOne(t *testing.T) {
	scene := sceneFile(t, measureScene)
	for _, args := range [][]string{
		{"measure", scene, "--from", "a1"}, {"measure", scene, "--from", "B1", "--to", "a1"}, {"move", scene, "--ship", "a1", "--maneuver",
			"straight 1"},
	} {
		code, said := stderrOf(t, args...)
		assert.Equal(t, 1, code)
		assert.Contains(t, said, "did you mean A1?", "%v", args)
	}
	_, said := stderrOf(t, "measure", scene, "--from", "Z1")
	assert.NotContains(t, said, "did you mean")
}

func TestProblemsNameDevicesAsDevices(t *testing.T) {
	var out bytes.Buffer
	scene := `{"version":1,"rules":"2.5","ships":[],"devices":[{"id":"r","kind":"nuke","x_mm":0,"y_mm":0,"heading_deg":0}]}`
	require.NoError(t, (&measureCmd{Scene: "-", Sigmas: 3}).measure(strings.NewReader(scene), &out))
	assert.Regexp(t, `PROBLEM +OF +BY mm`, out.String())
	assert.Regexp(t, `device not measured: no size is known of the kind "nuke", and no outline_mm is given +r *\n`, out.String())
}

func TestTheScenesPageListsKindsThatExist(t *testing.T) {
	page, err := os.ReadFile("../../docs/scene.md")
	require.NoError(t, err)
	_, list, found := strings.Cut(string(page), "Kinds of known size:")
	require.True(t, found)
	list, _, _ = strings.Cut(list, "Of any other kind")
	kinds := strings.Split(list, "`")
	require.Greater(t, len(kinds), 40)
	for i := 1; i < len(kinds); i += 2 {
		assert.NotEmpty(t, engine.TokenOutlines(kinds[i]), kinds[i])
	}
}
