package pipeline

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision/look"
)

// A fit that starts 0.8 mm beside a base, where the search over the whole mat left it, slips off the third ship of this set-up: the
// search must find it all the same. Only the part of the mat where it stands is searched, since the rest takes long.
func TestASearchFindsTheShipThatItsFirstFitMisses(t *testing.T) {
	if testing.Short() {
		t.Skip("renders six pictures")
	}
	g := newStockGame(t, 2, 5, false, true)
	g.truth.MatWidth, g.truth.MatHeight = stockMat, stockMat
	table := calibration.Table{Camera: g.sim.Camera, Layout: g.sim.Layout}
	g.truth.Ships = g.truth.Ships[:5]
	looks := g.learn(t, &table, false)
	for _, s := range g.truth.Ships {
		g.sim.Minis[s.ID] = stockMini
	}
	f, _, err := g.sim.Render()
	require.NoError(t, err)
	third := g.truth.Ships[2].Pose
	near := func(p geom.Point) bool { return third.Distance(p) < 25 }
	found := look.NewFinder(table, looks, calibration.Uncertainty{}).Search(f, near, nil)
	require.Len(t, found, 1)
	assert.Less(t, found[0].Pose.Distance(third.Point), 0.5*geom.Millimeter)
}
