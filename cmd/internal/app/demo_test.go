package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/vision/locate"
	"sightline/vision/tablesim"
)

// Whoever starts the simulated table sees obstacles watched and obstruction answered,
// without teaching anything, and what the demo wrote goes with the program.
func TestTheDemoKnowsItsMatAndItsObstacles(t *testing.T) {
	if testing.Short() {
		t.Skip("it searches a whole picture for obstacles, which takes seconds")
	}
	c := DefaultConfig()
	c.Camera.Source = "sim:"
	d, err := newDemo(&c, quiet)
	require.NoError(t, err)
	require.NotNil(t, d)
	require.Equal(t, c, withObstacleFiles(c), "the demo's files are used")
	source, err := tablesim.Open(tablesim.Options{Width: 1920, Height: 1080})
	require.NoError(t, err)
	defer source.Close()
	d.opened(source)

	known, err := newLearnt(c.Table, "table.empty_mat", quiet)
	require.NoError(t, err)
	o := known.options()
	require.NotNil(t, o.Background)
	require.Len(t, o.Catalogue.Entries, 3)
	l, err := locate.New(calibration.Table{Camera: source.Camera(), Layout: source.Layout()}, o)
	require.NoError(t, err)
	f, err := source.Next(t.Context())
	require.NoError(t, err)
	got, err := l.Locate(f)
	require.NoError(t, err)
	require.Empty(t, got.Obstacles.Unknown)
	require.Len(t, got.Scene.Obstacles, 3)
	pair, err := engine.MeasurePair(&got.Scene, "A5", "B5", engine.Options{Sigmas: engine.DefaultSigmas})
	require.NoError(t, err)
	require.NotEmpty(t, pair.Arcs)
	require.NotNil(t, pair.Arcs[0].Attack)
	assert.Contains(t, []string{"may", "must"}, pair.Arcs[0].Attack.Obstruction.Verdict)

	dir := filepath.Dir(c.Table.EmptyMat)
	require.NoError(t, d.Close())
	assert.NoDirExists(t, dir)
}

func TestTheDemoTakesNothingFromTheUser(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"a camera":                    func(c *Config) { c.Camera.Source = "/dev/video0" },
		"files that somebody named":   func(c *Config) { c.Table.Catalogue, c.Table.EmptyMat = "mine.json", "mine.png" },
		"a table to be learnt":        func(c *Config) { c.Camera.Source = "sim:learnt=0" },
		"tokens on paper":             func(c *Config) { c.Camera.Source = "sim:paper" },
		"the check card":              func(c *Config) { c.Camera.Source = "sim:card=1" },
		"a board before the camera":   func(c *Config) { c.Camera.Source = "sim:board=chessboard:9x6:25mm" },
		"huge ships that stand still": func(c *Config) { c.Camera.Source = "sim:huge=1" },
	} {
		c := DefaultConfig()
		c.Camera.Source = "sim:"
		change(&c)
		before := c
		d, err := newDemo(&c, quiet)
		require.NoError(t, err, name)
		assert.Nil(t, d, name)
		assert.Equal(t, before, c, name)
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	c := DefaultConfig()
	c.Camera.Source = "sim:"
	_, err := newDemo(&c, quiet)
	assert.ErrorIs(t, err, os.ErrNotExist)
}
