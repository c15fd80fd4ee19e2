package regularfile_test

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration/regularfile"
)

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir, err := os.MkdirTemp("", "rf") // a socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("file"), []byte("four"), 0o600))
	require.NoError(t, syscall.Mkfifo(at("fifo"), 0o600))
	require.NoError(t, os.Symlink("fifo", at("link to fifo")))
	require.NoError(t, os.Symlink("file", at("link")))
	require.NoError(t, os.Symlink("nowhere", at("dangling")))
	l, err := net.Listen("unix", at("socket"))
	require.NoError(t, err)
	defer l.Close()
	for path, want := range map[string]string{
		at("file"): "", at("link"): "", at("fifo"): "is a pipe, expected a file", at("link to fifo"): "is a pipe, expected a file",
		at("socket"): "is a socket, expected a file", dir: "is a directory, expected a file", "/dev/zero": "is a device, expected a file",
		"/dev/null": "is a device, expected a file", at("dangling"): "no such file", at("absent"): "no such file", at("file") +
			"/x": "not a directory",
		"": "no such file", "a\x00b": "invalid argument",
	} {
		for _, open := range []func(string) (*os.File, error){
			regularfile.Open, func(path string) (*os.File, error) { return regularfile.OpenOrCreate(path, 0o600) },
		} {
			if path == at("absent") || path == at("dangling") {
				open = regularfile.Open // the other one makes it
			}
			f, err := open(path)
			if want == "" {
				require.NoError(t, err, path)
				f.Close()
				continue
			}
			var pe *fs.PathError
			require.ErrorAs(t, err, &pe, path)
			assert.Contains(t, pe.Err.Error(), want, path)
			assert.Equal(t, path, pe.Path)
		}
	}
	content, err := regularfile.Read(at("file"), 4)
	require.NoError(t, err)
	assert.Equal(t, "four", string(content))
	_, err = regularfile.Read(at("file"), 3)
	require.ErrorContains(t, err, "expected at most 3 bytes")
	f, err := regularfile.OpenOrCreate(at("made"), 0o600)
	require.NoError(t, err)
	f.Close()
	assert.FileExists(t, at("made"))
	_, err = regularfile.ReadAll(strings.NewReader(strings.Repeat("x", 2049)), "-", 2048)
	require.ErrorContains(t, err, "read -: expected at most 2 kB")
}

func TestAPipeThatTheProgramWasStartedWithIsRead(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	_, err = w.WriteString("four")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	content, err := regularfile.Read(fmt.Sprintf("/dev/fd/%d", r.Fd()), 10)
	require.NoError(t, err)
	assert.Equal(t, "four", string(content))
}

func TestALockedFileIsNotLockedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := regularfile.Lock(path, 0o600)
	require.NoError(t, err)
	_, err = regularfile.Lock(path, 0o600)
	require.ErrorIs(t, err, regularfile.ErrLocked)
	assert.ErrorContains(t, err, path)
	require.NoError(t, os.Remove(path))
	require.NoError(t, first.Close())
	again, err := regularfile.Lock(path, 0o600)
	require.NoError(t, err)
	require.NoError(t, again.Close())
	_, err = regularfile.Lock(filepath.Dir(path), 0o600)
	assert.ErrorIs(t, err, regularfile.ErrKind)
}
