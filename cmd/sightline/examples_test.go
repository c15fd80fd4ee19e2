package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryCommandShowsExamplesThatParse: each command has an example, and the command
// line accepts it.
func TestEveryCommandShowsExamplesThatParse(t *testing.T) {
	left := maps.Clone(examples)
	for _, leaf := range newParser(func(int) {}).Model.Leaves(true) {
		path := leaf.Path()
		assert.NotEmpty(t, examples[path], "%s: expected an example in examples.go", path)
		delete(left, path)
		if group := leaf.Parent; group.Type == kong.CommandNode {
			assert.Contains(t, group.Detail, examples[path][0], "the help of %s", group.Path())
		}
		for _, line := range examples[path] {
			for part := range strings.SplitSeq(line, " | ") {
				words := shellWords(part)
				if words[0] != "sightline" {
					continue
				}
				if end := slices.Index(words, ">"); end > 0 {
					words = words[:end]
				}
				parsed, err := newParser(func(int) {}).Parse(words[1:])
				if assert.NoError(t, err, line) && part == line {
					assert.Equal(t, path, parsed.Selected().Path(), line)
				}
			}
		}
	}
	assert.Empty(t, slices.Sorted(maps.Keys(left)), "examples of commands that do not exist")
}

// shellWords splits a line at spaces that are not in quotes.
func shellWords(line string) (words []string) {
	for i, part := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "source <("), ")"), "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// TestManNamesEveryCommand: the manual page has each command and its examples.
func TestManNamesEveryCommand(t *testing.T) {
	var out bytes.Buffer
	parser := newParser(func(int) {})
	parser.Stdout = &out
	k, err := parser.Parse([]string{"man"})
	require.NoError(t, err)
	require.NoError(t, k.Run())
	page := strings.ReplaceAll(out.String(), `\-`, "-")
	assert.True(t, strings.HasPrefix(page, ".TH SIGHTLINE 1"), page[:min(80, len(page))])
	for _, leaf := range parser.Model.Leaves(true) {
		assert.True(t, strings.Contains(page, ".SS "+leaf.Path()), leaf.Path())
	}
	assert.True(t, strings.Contains(page, "\nsightline measure scene.json --from A1 --to B1\n"))
}

// TestTheShellCompletesCommandsAndFlags asks as bash does: with the line in COMP_LINE.
func TestTheShellCompletesCommandsAndFlags(t *testing.T) {
	for line, want := range map[string]string{
		"sightline mea":                "measure\n",
		"sightline calibrate bud":      "budget\n",
		"sightline print tokens --pap": "--paper\n",
	} {
		assert.Equal(t, want, completed(t, line), line)
	}
}

// completed returns what the program writes to a shell that completes a line.
func completed(t *testing.T, line string) string {
	t.Setenv("COMP_LINE", line)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	stdout := os.Stdout
	os.Stdout = w
	code := run(nil)
	os.Stdout = stdout
	require.NoError(t, w.Close())
	var out bytes.Buffer
	_, err = out.ReadFrom(r)
	require.NoError(t, err)
	assert.Equal(t, 0, code)
	return out.String()
}

// TestEveryShellReadsItsCompletion: what completion prints for a shell that started without its own files completes a
// command, and the name of a file where the program knows nothing.
func TestEveryShellReadsItsCompletion(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "scene.json"), nil, 0o644))
	stub := filepath.Join(dir, "knows one command")
	require.NoError(t, os.WriteFile(stub, []byte("#!/bin/sh\n[ \"$COMP_LINE\" = 'sightline mea' ] && echo measure\nexit 0\n"), 0o755))
	for shell, try := range map[string]struct {
		args []string
		ask  string
	}{
		"bash": {[]string{"--norc", "--noprofile"}, `eval "set -- $(complete -p sightline)"
while [ "$1" != -C ]; do shift; done
COMP_LINE="sightline mea" eval "$2"`},
		"zsh": {[]string{"-f"}, `zmodload zsh/zpty
zpty -b it zsh -fi
ask() { zpty -w -n it "$1"; local all= part=; for i in {1..600}; do zpty -r -t it part && all+=$part; [[ $all == *$2* ]] && { print -r -- $2; return }; sleep 0.1; done; print -r -- $all }
zpty -w it "PS1=; source $PWD/code; print rea''dy"
ask "" ready
ask $'sightline mea\t' "sightline measure"
ask $'sce\t' scene.json`},
		"fish": {[]string{"--no-config"}, `complete -C "sightline mea"; complete -C "sightline measure sc"`},
	} {
		t.Run(shell, func(t *testing.T) {
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Skip(shell + " is not installed")
			}
			code := fmt.Sprintf(completionUse[shell].code, stub)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "code"), []byte(code), 0o644))
			cmd := exec.CommandContext(t.Context(), program, append(try.args, "-c", "source ./code\n"+try.ask)...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "ZDOTDIR="+dir, "TERM=dumb")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			want := map[string]string{"bash": "measure\n", "zsh": "ready\nsightline measure\nscene.json\n", "fish": "measure\nscene.json\n"}
			assert.Equal(t, want[shell], string(out))
		})
	}
}
