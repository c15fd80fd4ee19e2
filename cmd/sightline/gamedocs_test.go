package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// session finds the commands in docs/game.md and what they print.
var session = regexp.MustCompile("(?s)```\n\\$ sightline ([^\n]+)\n(.*?)```")

// TestTheGamePageShowsWhatTheProgramPrints runs every command of docs/game.md.
func TestTheGamePageShowsWhatTheProgramPrints(t *testing.T) {
	page, err := os.ReadFile("../../docs/game.md")
	require.NoError(t, err)
	found := session.FindAllStringSubmatch(string(page), -1)
	require.Len(t, found, 5)
	t.Chdir("../..")
	for _, m := range found {
		code, out, stderr := called(t, strings.Fields(m[1])...)
		assert.Zero(t, code, stderr)
		assert.Equal(t, m[2], out, "sightline %s", m[1])
	}
}
