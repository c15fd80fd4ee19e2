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

func TestWhereRulingsAreKept(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("STATE_DIRECTORY", "")
	var r app.Rulings
	assert.Equal(t, "rulings", r.Folder(), "in the directory in which the program was started")
	t.Setenv("STATE_DIRECTORY", "/var/lib/one:/var/lib/two")
	assert.Equal(t, "/var/lib/one/rulings", r.Folder(), "the service's")
	r.Dir = "elsewhere"
	assert.Equal(t, "elsewhere", r.Folder(), "the configuration says where")
	assert.Equal(t, "elsewhere", r.Existing())
	l, err := r.Open()
	require.NoError(t, err)
	require.NoError(t, l.Close())
	_, err = os.Stat(filepath.Join(".", "elsewhere"))
	assert.ErrorIs(t, err, os.ErrNotExist, "it is made at the first ruling")
}

func TestHowLongPicturesAreKept(t *testing.T) {
	c, err := parse("[rulings]\ndir = \"r\"\nkeep_pictures_days = 30\n")
	require.NoError(t, err)
	assert.Equal(t, app.Rulings{Dir: "r", Keep: 30 * 24 * time.Hour}, c.Rulings)
	assert.Zero(t, app.DefaultConfig().Rulings.Keep, "for ever")
	for _, bad := range []string{"-1", "4000"} {
		_, err = parse("[rulings]\n\nkeep_pictures_days = " + bad + "\n")
		assert.ErrorContains(t, err, "line 3: rulings.keep_pictures_days: expected 0 (for ever) to 3650 days, got "+bad)
	}
}
