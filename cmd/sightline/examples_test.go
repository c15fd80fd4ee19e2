package main

import (
	"bytes"
	"maps"
	"os"
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
	for _, leaf := range newParser(func(int) {}).Model.Leaves(false) {
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
	for _, leaf := range parser.Model.Leaves(false) {
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
