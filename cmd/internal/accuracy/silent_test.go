package accuracy

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/exposure"
	"sightline/vision/locate"
	"sightline/vision/obstacle"
	"sightline/vision/tablesim"
)

// TestFaintRocksAreNeverSilent lays the rocks of the simulated game, whose print has less contrast than any rendered one and which
// are 6 grey levels darker than wood, on mats of one picture and of ten, and looks at one picture and at the mean of ten. A rock that
// is not recognised must be unknown or blind.
func TestFaintRocksAreNeverSilent(t *testing.T) {
	notShort(t)
	silent := 0
	for _, spec := range []string{"mat=wood,camera=webcam,quality=60", "mat=wood,camera=webcam", "mat=wood,camera=good-webcam",
		"mat=plain,camera=webcam", "mat=stars,camera=phone", "mat=wood,camera=phone,tone=0.6",
		"camera=webcam,quality=60", "mat=wood,camera=picam3"} {
		o, err := tablesim.ParseSpec("sim:" + spec)
		require.NoError(t, err)
		s, err := tablesim.Open(o)
		require.NoError(t, err)
		table := calibration.Table{Camera: s.Camera(), Layout: s.Layout()}
		rocks, err := catalogue.Of(s.Obstacles())
		require.NoError(t, err)
		var one vision.Frame
		var frames exposure.Averager
		for range 10 {
			one, err = s.Next(context.Background())
			require.NoError(t, err)
			one.Color = nil
			require.NoError(t, frames.Add(one))
		}
		mean, err := frames.Frame()
		require.NoError(t, err)
		mats, learner := map[int]*obstacle.Background{}, obstacle.NewBackgroundLearner(table)
		for n := 1; n <= 10; n++ {
			bare, err := s.Bare()
			require.NoError(t, err)
			require.NoError(t, learner.Add(bare))
			if n == 1 || n == 10 {
				mats[n], err = learner.Background()
				require.NoError(t, err)
			}
		}
		for empties, mat := range mats {
			for n, f := range map[int]vision.Frame{1: one, 10: mean} {
				l, err := locate.New(table, locate.Options{Catalogue: rocks, Background: mat})
				require.NoError(t, err)
				got, err := l.Locate(f)
				require.NoError(t, err)
				sum := &obstacleTally{name: fmt.Sprintf("%s, mean of %d, mat of %d", spec, n, empties)}
				sum.add(trueRocks(s.Obstacles()), got)
				t.Log(sum)
				assert.Zero(t, sum.wrong+sum.invented, sum.name)
				silent += sum.silent
			}
		}
	}
	assert.Zero(t, silent, "rocks that nothing was said of")
}
