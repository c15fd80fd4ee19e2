package app_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/app"
	"sightline/hardware/hardwaretest"
)

// What the file names and is not there is reported with the file and the line, unless the
// command line named something else.
func TestAFileThatIsNotThereIsToldWithTheLineThatNamesIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.toml")
	for rule, c := range map[string]struct {
		text, want string
	}{
		"a lens":            {"[camera]\nsource = \"sim:\"\nlens = \"no-lens.json\"\n", "config: " + path + ": line 3, column 1: camera.lens: "},
		"a source":          {"# mine\n[camera]\nsource = \"ftp://nowhere\"\n", "config: " + path + ": line 3, column 1: camera.source: "},
		"a film":            {"[camera]\nsource = \"no.mp4\"\n", ": line 2, column 1: camera.source: source no.mp4: no such file"},
		"a calibration":     {"[table]\n\ncalibration = \"no-table.json\"\n", "config: " + path + ": line 3, column 1: table.calibration: "},
		"dotted, in a line": {"camera = {lens = \"no-lens.json\"}\n", "config: " + path + ": line 1, column 11: camera.lens: "},
	} {
		t.Run(rule, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			config, err := app.LoadConfig(path)
			require.NoError(t, err)
			config.Web.Listen = "localhost:0"
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a state in place of an error runs on
			defer cancel()
			err = app.Overrides{}.InFile(path, app.Run(ctx, config, app.Options{Panel: &hardwaretest.Panel{}, StateDir: t.TempDir()}))
			require.ErrorContains(t, err, c.want)
		})
	}
	require.NoError(t, os.WriteFile(path, []byte("[camera]\nlens = \"a.json\"\n"), 0o600))
	err := errors.New("camera.lens: b.json is not there")
	assert.Same(t, err, app.Overrides{Lens: "b.json"}.InFile(path, err), "it came from the command line")
	for _, other := range []error{errors.New("camera.source: a default"), errors.New("web: no port"), nil} {
		assert.Equal(t, other, app.Overrides{}.InFile(path, other))
	}
	assert.Equal(t, err, app.Overrides{}.InFile(filepath.Join(t.TempDir(), "none.toml"), err))
	wrapped := app.Overrides{}.InFile(path, err)
	assert.ErrorIs(t, wrapped, err)
}
