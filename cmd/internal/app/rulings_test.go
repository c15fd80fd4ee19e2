package app_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/app"
)

// home is a user's home, a working directory without rulings, and no service.
func home(t *testing.T) string {
	t.Helper()
	t.Chdir(t.TempDir())
	dir := t.TempDir()
	t.Setenv("STATE_DIRECTORY", "")
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("HOME", dir)
	return dir
}

func TestWhereRulingsAreKept(t *testing.T) {
	dir := home(t)
	var r app.Rulings
	assert.Equal(t, filepath.Join(dir, ".local/share/sightline/rulings"), r.Folder(), "the user's, wherever the program was started")
	t.Setenv("XDG_DATA_HOME", "share")
	assert.Equal(t, filepath.Join(dir, ".local/share/sightline/rulings"), r.Folder(),
		"a relative one is to be ignored, says the specification")
	t.Setenv("XDG_DATA_HOME", "/mnt/data")
	assert.Equal(t, "/mnt/data/sightline/rulings", r.Folder())
	t.Setenv("STATE_DIRECTORY", "/var/lib/one:/var/lib/two")
	assert.Equal(t, "/var/lib/one/rulings", r.Folder(), "the service's")
	r.Dir = "elsewhere"
	assert.Equal(t, "elsewhere", r.Folder(), "the configuration says where")
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	t.Setenv("STATE_DIRECTORY", filepath.Join(file, "state"))
	l, err := r.Open(nil)
	require.NoError(t, err, "what is there is read without one")
	_, err = r.Sign(l)
	require.ErrorContains(t, err, "the key that signs rulings: "+file, "no ruling is recorded without one")
	r.Key = filepath.Join(dir, "state", "rulings.key")
	_, err = r.Sign(l)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	assert.NoDirExists(t, "elsewhere", "it is made at the first ruling")
	t.Setenv("STATE_DIRECTORY", "")
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("HOME", "")
	r.Dir = ""
	assert.Equal(t, "rulings", r.Folder(), "without a home")
}

// aLog makes what a folder with a log has.
func aLog(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rulings.db"), []byte("a log"), 0o600))
}

func TestRulingsOfAnEarlierVersionAreFoundOrNamed(t *testing.T) {
	own := filepath.Join(home(t), ".local/share/sightline/rulings")
	here, err := filepath.Abs("rulings")
	require.NoError(t, err)
	var r app.Rulings
	f := r.Find()
	assert.Equal(t, own, f.Dir)
	assert.Equal(t, []string{own, "/var/lib/sightline/rulings", here}, f.Looked)
	assert.Empty(t, f.Others)
	assert.Empty(t, r.Earlier())

	aLog(t, here)
	f = r.Find()
	assert.Equal(t, here, f.Dir, "the only one")
	assert.Equal(t, here, r.Earlier())
	aLog(t, own)
	f = r.Find()
	assert.Equal(t, own, f.Dir)
	assert.Equal(t, []string{here}, f.Others)
	assert.Equal(t, here, r.Earlier())
	r.Dir = here
	assert.Equal(t, app.Found{Dir: here, Looked: []string{here}}, r.Find(), "the configuration says where")
	assert.Empty(t, r.Earlier())
	r.Dir = ""
	require.NoError(t, os.RemoveAll(here))
	require.NoError(t, os.Symlink(own, here))
	assert.Empty(t, r.Earlier(), "it is the same")
	assert.Empty(t, r.Find().Others)
}

func TestTheKeyOfTheMachineIsItsOwn(t *testing.T) {
	path := filepath.Join(home(t), ".config/sightline/rulings.key")
	r := app.Rulings{Dir: "r"}
	_, _, err := r.PublicKey()
	assert.ErrorContains(t, err, path+": there is none yet")
	sign := func() error {
		l, err := r.Open(nil)
		require.NoError(t, err)
		defer l.Close()
		_, err = r.Sign(l)
		return err
	}
	l, err := r.Open(nil)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	assert.NoFileExists(t, path, "who only reads makes none")
	require.NoError(t, sign())
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())
	first, from, err := r.PublicKey()
	require.NoError(t, err)
	assert.Equal(t, path, from)
	require.NoError(t, sign())
	again, _, err := r.PublicKey()
	require.NoError(t, err)
	assert.Equal(t, first, again)

	require.NoError(t, os.Chmod(path, 0o644))
	assert.ErrorContains(t, sign(), "others may read it")
	require.NoError(t, os.WriteFile(path, []byte("no key"), 0o600))
	require.NoError(t, os.Chmod(path, 0o600))
	assert.ErrorContains(t, sign(), path+": expected an Ed25519 private key as PEM")
}

func TestHowLongPicturesAreKept(t *testing.T) {
	c, err := parse("[rulings]\ndir = \"r\"\nkeep_pictures_days = 30\n")
	require.NoError(t, err)
	assert.Equal(t, app.Rulings{Dir: "r", Keep: 30 * 24 * time.Hour}, c.Rulings)
	assert.Zero(t, app.DefaultConfig().Rulings.Keep, "for ever")
	for _, bad := range []string{"-1", "4000"} {
		_, err = parse("[rulings]\n\nkeep_pictures_days = " + bad + "\n")
		assert.ErrorContains(t, err, "line 3, column 1: rulings.keep_pictures_days: expected 0 (for ever) to 3650 days, got "+bad)
	}
}
