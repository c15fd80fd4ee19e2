package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// drawn finds the commands in docs/rules.md that its pictures were made with.
var drawn = regexp.MustCompile("(?m)^`sightline (draw .*)`$")

// shellWord splits a command line as a shell does, as far as quotes go.
var shellWord = regexp.MustCompile(`"[^"]*"|\S+`)

func TestThePicturesOfTheRulesAreWhatTheProgramDraws(t *testing.T) {
	page, err := os.ReadFile("../../docs/rules.md")
	require.NoError(t, err)
	made := map[string]bool{}
	for _, m := range drawn.FindAllStringSubmatch(string(page), -1) {
		var c cli
		require.NoError(t, parsed(&c, m[1]), m[1])
		picture := c.Draw.Out
		scene, err := os.ReadFile("../../" + c.Draw.Scene)
		require.NoError(t, err)
		c.Draw.Scene, c.Draw.Out = "-", "-"
		var got bytes.Buffer
		require.NoError(t, c.Draw.draw(bytes.NewReader(scene), &got), m[1])

		want, err := os.ReadFile("../../" + picture)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, got.Bytes()), "%s is not what the program draws now; run: sightline %s", picture, m[1])
		assert.Contains(t, string(page), "("+strings.TrimPrefix(picture, "docs/")+")", "the page shows it")
		made[filepath.Base(picture)] = true
	}
	files, err := filepath.Glob("../../docs/rules/*.svg")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		assert.True(t, made[filepath.Base(f)], "%s: no command in docs/rules.md makes it", f)
	}
}

var (
	// pageCode finds the blocks of code of a page, fenced or indented, and code within a line.
	pageCode   = regexp.MustCompile("(?ms)^ *```\\w*\\n(.*?)^ *```|((?:^(?:    |       )[^\\n]*\\n)+)")
	inlineCode = regexp.MustCompile("`((?:bin/)?sightline [^`]+)`")
	// aCommand finds the program's commands in a line of shell; the user of that name has no command behind it.
	aCommand = regexp.MustCompile(`(?:^|[\s/(&])sightline ((?:[a-z][a-z-]+)(?:[^|&;#\n)]*))`)
)

// Every command that a page shows is one that the program has. Within a sentence it may leave out
// what it needs, not name what does not exist.
func TestEveryCommandOfThePagesExists(t *testing.T) {
	pages := []string{"../../README.md", "../../CONTRIBUTING.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../docs/*/*.md"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		pages = append(pages, files...)
	}
	require.Greater(t, len(pages), 20)
	understood := 0
	parser, err := kong.New(&cli{})
	require.NoError(t, err)
	options := append(optionsOf(parser.Model.Node), "allow-downgrades") // apt's
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range inlineOption.FindAllStringSubmatch(string(text), -1) {
			assert.Contains(t, options, m[1], "%s names --%s, which no command has", page, m[1])
		}
		for _, block := range pageCode.FindAllString(string(text), -1) {
			for _, line := range strings.Split(strings.ReplaceAll(block, "\\\n", " "), "\n") {
				line, _, _ = strings.Cut(line, "# ")
				for _, m := range aCommand.FindAllStringSubmatch(line, -1) {
					understood++
					assert.NoError(t, parsed(&cli{}, m[1]), "%s: sightline %s", page, m[1])
				}
			}
		}
		for _, m := range inlineCode.FindAllStringSubmatch(pageCode.ReplaceAllString(string(text), ""), -1) {
			for _, c := range aCommand.FindAllStringSubmatch(strings.ReplaceAll(m[1], "\n", " "), -1) {
				understood++
				if err := parsed(&cli{}, c[1]); err != nil && !unfinished.MatchString(err.Error()) {
					t.Errorf("%s: %s: %v", page, m[1], err)
				}
			}
		}
	}
	assert.Greater(t, understood, 80, "commands that the pages show")
	t.Logf("%d commands", understood)
}

// inlineOption finds an option that a page names without its command: `--looks DIR`.
var inlineOption = regexp.MustCompile("`--([a-z][a-z0-9-]+)")

// optionsOf lists the options of a command and of all below it.
func optionsOf(n *kong.Node) (names []string) {
	for _, f := range n.Flags {
		names = append(names, f.Name)
	}
	for _, child := range n.Children {
		names = append(names, optionsOf(child)...)
	}
	return names
}

// unfinished is the error of a command that needs more than it was given.
var unfinished = regexp.MustCompile(`^(missing flags|expected ("<|one of "))`)

// parsed reads a command line into c as the program does, and runs nothing.
func parsed(c *cli, line string) error {
	line = strings.TrimPrefix(line, "sightline ") // behind sudo -u
	var args []string
	for _, w := range shellWord.FindAllString(strings.NewReplacer("[", "", "]", "").Replace(line), -1) {
		args = append(args, strings.Trim(w, `"`))
	}
	parser, err := kong.New(c)
	if err != nil {
		return err
	}
	_, err = parser.Parse(args)
	return err
}
