package imprint

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/vision/catalogue"
	"sightline/vision/obstacle"
	"sightline/vision/tablesim"
)

// Whoever learns the mat with rocks on it is told. (On wood nothing is, as in the search.)
func TestWhatLayOnTheMatAsItWasLearntIsNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws and searches several mats: run without -short")
	}
	table := tablesim.RandomTable(5003, 1920, 1080)
	table.Scene.Ships, table.Hands, table.Clutter, table.Minis = nil, nil, nil, nil
	table.Shot = 1
	rocks, known := table.Scene.Obstacles, &catalogue.Catalogue{}
	for _, o := range rocks {
		e, err := catalogue.NewEntry(o.ID, o.Kind, o.Outline)
		require.NoError(t, err)
		known.Entries = append(known.Entries, e)
	}
	for print, least := range map[tablesim.MatStyle]int{tablesim.MatStars: 1, tablesim.MatPlain: 2} {
		table.Look.Mat = print
		for _, lie := range []int{0, 2} {
			table.Scene.Obstacles = rocks[:lie]
			f, _, err := table.Render()
			require.NoError(t, err)
			l := obstacle.NewBackgroundLearner(calibration.Table{Camera: table.Camera, Layout: table.Layout})
			require.NoError(t, l.Add(f))
			mat, err := l.Background()
			require.NoError(t, err)
			got, err := On(mat, known)
			require.NoError(t, err)
			assert.GreaterOrEqual(t, len(got), min(lie, least), "%v, %d lie there", print, lie)
			assert.LessOrEqual(t, len(got), lie, "%v, %d lie there", print, lie)
		}
	}
}
