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
		var args []string
		for _, w := range shellWord.FindAllString(m[1], -1) {
			args = append(args, strings.Trim(w, `"`))
		}
		var c cli
		parser, err := kong.New(&c)
		require.NoError(t, err)
		_, err = parser.Parse(args)
		require.NoError(t, err, m[1])
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
