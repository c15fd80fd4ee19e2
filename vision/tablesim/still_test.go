package tablesim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/vision/locate"
)

// What the tracker takes for granted when it averages (vision's lasting): on a table
// that does not change, poses scatter from picture to picture by far less than the fit
// states, so that averaging must not make them much surer than one picture is.
func TestAStillTableScattersLessThanTheFitStates(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders and searches a dozen pictures")
	}
	s, err := Open(Options{Width: 1920, Height: 1080, Seed: 1})
	require.NoError(t, err)
	l, err := locate.New(calibration.Table{Camera: s.Camera(), Layout: s.Layout()}, locate.Options{})
	require.NoError(t, err)
	type sums struct{ n, x, xx, stated float64 }
	all := map[string]*sums{}
	for range 12 {
		f, err := s.Next(t.Context())
		require.NoError(t, err)
		truth, err := s.TruthAt(f.Seq)
		require.NoError(t, err)
		found, err := l.Locate(f)
		require.NoError(t, err)
		for i, ship := range found.Scene.Ships {
			for _, w := range truth.Ships {
				if w.ID != ship.ID {
					continue
				}
				if all[ship.ID] == nil {
					all[ship.ID] = &sums{}
				}
				k, d := all[ship.ID], ship.Pose.X-w.Pose.X
				k.n, k.x, k.xx, k.stated = k.n+1, k.x+d, k.xx+d*d, k.stated+found.Ships[i].Fit[0]
			}
		}
	}
	var scatter, lasting float64
	for _, k := range all {
		mean := k.x / k.n
		scatter += (k.xx - k.n*mean*mean) / (k.n - 1) / (k.stated / k.n) / float64(len(all))
		lasting += mean * mean / (k.stated / k.n) / float64(len(all))
	}
	t.Logf("%d ships: scatter %.3f, mean %.3f of the stated variance", len(all), scatter, lasting)
	assert.Greater(t, len(all), 7)
	assert.Less(t, scatter, 0.05)
	assert.Less(t, lasting, 2.0)
}
