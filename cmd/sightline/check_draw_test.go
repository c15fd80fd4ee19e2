package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckDrawsWhereThingsMayBePlaced(t *testing.T) {
	out := filepath.Join(t.TempDir(), "area.svg")
	code, _, stderr := called(t, "check", "../../docs/game/setup.json", "--setup", "--draw", out, "--area", "ships")
	require.Zero(t, code, stderr)
	svg, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Contains(t, string(svg), "ships of player 1 (2.5 G207)")

	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--setup", "--draw", out, "--area", "dice"}, 2, "expected one of obstacles, ships, features and markers"},
		{[]string{"--setup", "--rules", "2.0", "--draw", out, "--area", "features"}, 2, "no features are placed in 2.0"},
		{[]string{"--setup", "--draw", out, "--area", "features"}, 1, "the scenario's markers are not on the table"},
		{[]string{"--setup", "--draw", "area.png"}, 2, "a name that ends in .svg"},
		{[]string{"--setup", "--area", "ships"}, 2, "--area: expected --draw as well"},
		{[]string{"--scenario", "assault", "--draw", out}, 2, "--draw: expected --setup as well"},
	} {
		code, _, stderr := called(t, append([]string{"check", "../../docs/game/setup.json"}, c.args...)...)
		assert.Equal(t, c.code, code, "%v: %s", c.args, stderr)
		assert.Contains(t, stderr, c.want)
	}
}
