package rulings_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/rulings"
)

func TestAProbeTellsBeforeTheFirstRulingWhatWouldStopIt(t *testing.T) {
	fresh := filepath.Join(t.TempDir(), "a", "rulings")
	assert.NoError(t, rulings.Probe(ctx, fresh))
	assert.NoDirExists(t, filepath.Dir(fresh), "it makes nothing")

	l, dir := newLog(t, 2)
	assert.NoError(t, rulings.Probe(ctx, dir), "while another writes")
	_, err := l.Append(ctx, ruling(t, 3), files(3))
	require.NoError(t, err, "it takes no lock")
	require.NoError(t, l.Close())
	tamper(t, dir, "UPDATE entries SET hash = replace(hash, substr(hash,1,4), 'beef') WHERE number = 3")
	assert.ErrorIs(t, rulings.Probe(ctx, dir), rulings.ErrCorrupt, "the last entry was changed")

	foreign := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "rulings.db"),
		[]byte("this is no database, though it is of the right name and long enough to be read as a header of one hundred bytes"), 0o644))
	assert.ErrorIs(t, rulings.Probe(ctx, foreign), rulings.ErrCorrupt)
	assert.Equal(t, 1, strings.Count(rulings.Probe(ctx, foreign).Error(), "rulings: "), rulings.Probe(ctx, foreign).Error())

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	assert.ErrorContains(t, rulings.Probe(ctx, file), "expected a folder")
	assert.Error(t, rulings.Probe(ctx, filepath.Join(file, "rulings")))

	assert.Error(t, rulings.Probe(ctx, "/proc/nowhere/rulings"), "where root may write, too")
	assert.Error(t, rulings.Probe(ctx, "/sys/rulings"))

	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	closed := t.TempDir()
	require.NoError(t, os.Chmod(closed, 0o500))
	assert.ErrorIs(t, rulings.Probe(ctx, filepath.Join(closed, "rulings")), fs.ErrPermission)
}
