package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/event"
)

// TestATableIsInvitedAndRevoked: the invitation alone goes to standard output, and a phone reads
// the same from the QR code's picture.
func TestATableIsInvitedAndRevoked(t *testing.T) {
	t.Chdir(t.TempDir())
	code, _, stderr := called(t, "hall", "invite", "7", "--state", "hall")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "no hall has run with the folder hall, so its address is not known: start sightline hall first; if yours runs "+
		"with --state, name that here too; or name the hall's address with --url")

	const url = "tls://192.168.7.1:4222"
	code, stdout, stderr := called(t, "hall", "invite", "7", "--state", "hall", "--url", url, "--for", "48h", "--png", "7.png")
	require.Equal(t, 0, code, stderr)
	i, err := event.ParseInvitation(stdout)
	require.NoError(t, err, stdout)
	assert.Equal(t, "7", i.Table)
	assert.Contains(t, stderr, "Keep this secret")
	assert.Contains(t, stderr, "no hall runs with the folder hall now; if yours runs with another --state, name that one here")
	assert.Contains(t, stderr, "█")
	raw, err := os.ReadFile("7.png")
	require.NoError(t, err)
	picture, err := png.Decode(bytes.NewReader(raw))
	require.NoError(t, err)
	bitmap, err := gozxing.NewBinaryBitmapFromImage(picture)
	require.NoError(t, err)
	// It is drawn and not photographed. Of 3000 invitations the reader did not find its way round 14 as in a photograph, and read all.
	read, err := qrcode.NewQRCodeReader().Decode(bitmap, map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_PURE_BARCODE: true})
	require.NoError(t, err)
	assert.Equal(t, strings.TrimSpace(stdout), read.GetText())
	for _, path := range []string{"7.png", filepath.Join("hall", "tables.json")} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.EqualValues(t, 0o600, info.Mode().Perm(), path)
	}
	kept, err := os.ReadFile(filepath.Join("hall", "tables.json"))
	require.NoError(t, err)
	assert.NotContains(t, string(kept), i.Seed, "the hall keeps no table's secret")

	code, stdout, stderr = called(t, "hall", "invite", "8", "--state", "hall", "--url", url, "-o", "8.invitation")
	require.Equal(t, 0, code, stderr)
	assert.Empty(t, stdout)
	info, err := os.Stat("8.invitation")
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())

	_, stdout, _ = called(t, "hall", "tables", "--state", "hall")
	assert.Equal(t, 2, strings.Count(stdout, "\n"), stdout)
	code, _, stderr = called(t, "hall", "revoke", "7", "--state", "hall")
	require.Equal(t, 0, code, stderr)
	_, stdout, _ = called(t, "hall", "tables", "--state", "hall")
	assert.True(t, strings.HasPrefix(stdout, "8\t") && strings.Count(stdout, "\n") == 1, stdout)
	for _, args := range [][]string{
		{"revoke", "7"}, {"revoke", "99"}, {"invite", "a b"}, {"invite", "7", "--for", "1s"}, {"invite", "7", "--url", "x"},
	} {
		code, _, stderr := called(t, append(append([]string{"hall"}, args...), "--state", "hall")...)
		assert.Equal(t, 2, code, "%v: %s", args, stderr)
	}
}

// TestTheHallsJudgesHaveASecretOfTheirOwn: it is in the hall's folder. A table of this machine has
// another one.
func TestTheHallsJudgesHaveASecretOfTheirOwn(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("STATE_DIRECTORY", t.TempDir())
	code, _, stderr := called(t, "hall", "judge-secret", "--state", "hall")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "there is none yet: sightline hall makes it when it starts")
	require.NoError(t, os.Mkdir("hall", 0o700))
	require.NoError(t, os.WriteFile(filepath.Join("hall", "judge.secret"), []byte("of the hall, long enough\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(os.Getenv("STATE_DIRECTORY"), "judge.secret"), []byte("of the table, long enough\n"), 0o600))
	_, stdout, stderr := called(t, "hall", "judge-secret", "--state", "hall")
	assert.Equal(t, "of the hall, long enough\n", stdout, stderr)
	code, _, stderr = called(t, "hall", "judge-secret")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, filepath.Join(os.Getenv("STATE_DIRECTORY"), "hall", "judge.secret")+": there is none yet")
}
