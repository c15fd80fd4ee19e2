package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// piRoot is the part of a Raspberry Pi OS that setup-board reads and writes.
func piRoot(t *testing.T, model, config string) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"proc/device-tree", "boot/firmware", "etc/modules-load.d"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "proc/device-tree/model"), []byte(model), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "boot/firmware/config.txt"), []byte(config), 0o644))
	return root
}

func TestSetupBoardWritesTheBoardsSettingsOnce(t *testing.T) {
	const before = "dtparam=audio=on\n"
	root := piRoot(t, "Raspberry Pi 4 Model B Rev 1.5\x00", before)
	path := filepath.Join(root, "boot/firmware/config.txt")
	text := func(path string) string {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(raw)
	}
	code, out, _ := called(t, "setup-board", "--root", root, "--print")
	assert.Zero(t, code)
	assert.Contains(t, out, "[pi4]")
	assert.Equal(t, before, text(path), "--print changes nothing")

	code, out, stderr := called(t, "setup-board", "--root", root)
	require.Zero(t, code, stderr)
	assert.Contains(t, out, "sudo reboot")
	once := text(path)
	assert.Contains(t, once, before+"\n# Sightline on a Raspberry Pi 4 B.")
	assert.Contains(t, once, "\ndtparam=i2c_arm=on\n")
	assert.Equal(t, before, text(path+".before-sightline"))
	assert.Contains(t, text(filepath.Join(root, "etc/modules-load.d/sightline.conf")), "\ni2c-dev\n")

	code, out, _ = called(t, "setup-board", "--root", root)
	assert.Zero(t, code)
	assert.Contains(t, out, "nothing to do")
	assert.Equal(t, once, text(path))
	code, _, _ = called(t, "setup-board", "--root", root, "--strip")
	assert.Zero(t, code)
	assert.Contains(t, text(path), "\ndtparam=spi=on\n")
	assert.Equal(t, before, text(path+".before-sightline"), "as it was at first")
}

func TestSetupBoardRefusesOtherMachines(t *testing.T) {
	for name, c := range map[string]struct {
		root string
		args []string
		want string
	}{
		"another board":      {piRoot(t, "Radxa ROCK\x00", ""), nil, `no settings for this board, "Radxa ROCK"`},
		"a laptop":           {t.TempDir(), nil, "does not say which board it is"},
		"an unknown model":   {t.TempDir(), []string{"--model", "pi2"}, "expected one of pi3, pi4, pi5, zero2w"},
		"without config.txt": {t.TempDir(), []string{"--model", "pi5"}, "expected Raspberry Pi OS"},
	} {
		code, _, stderr := called(t, append([]string{"setup-board", "--root", c.root}, c.args...)...)
		assert.Equal(t, 2, code, name)
		assert.Contains(t, stderr, c.want, name)
	}
}
