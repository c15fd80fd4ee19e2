package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheJudgesSecretIsPrintedToThoseWhoMayReadIt(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("STATE_DIRECTORY", filepath.Join(dir, "state"))
	if _, err := os.Stat("/var/lib/sightline/judge.secret"); err == nil {
		t.Skip("this machine is a box: it has a secret of its own")
	}
	code, stdout, stderr := called(t, "judge-secret")
	assert.Equal(t, 1, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "there is none yet")
	assert.NoFileExists(t, filepath.Join(dir, "state", "judge.secret"), "asking makes none")

	require.NoError(t, os.Mkdir("state", 0o700))
	require.NoError(t, os.WriteFile("state/judge.secret", []byte("abcde-fghij-klmno-pqrst\n"), 0o600))
	code, stdout, stderr = called(t, "judge-secret")
	assert.Equal(t, 0, code, stderr)
	assert.Equal(t, "abcde-fghij-klmno-pqrst\n", stdout, "the secret alone, for scripts")
	assert.Contains(t, stderr, filepath.Join(dir, "state", "judge.secret"))

	require.NoError(t, os.WriteFile("own.secret", []byte("correct horse battery"), 0o644))
	require.NoError(t, os.WriteFile("own.toml", []byte("[web]\njudge_secret_file = \"own.secret\"\n"), 0o644))
	code, stdout, stderr = called(t, "judge-secret", "--config", "own.toml")
	assert.Equal(t, 1, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "chmod 600 own.secret")

	const service = "/var/lib/sightline/judge.secret"
	assert.NotContains(t, secretNote("judge.secret", "there", ""), "service")
	assert.Contains(t, secretNote("judge.secret", "there", service),
		"the service on this machine has another, which sudo cat "+service+" prints")

	err := printSecret("", "", "", "", &fs.PathError{Op: "open", Path: "/var/lib/sightline/judge.secret", Err: fs.ErrPermission})
	assert.ErrorContains(t, err, "permission denied; the same command with sudo reads it", "the service's own secret")
}
