package tablesim_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/vision/locate"
	"sightline/vision/tablesim"
	"sightline/vision/token"
)

// The word of a side recurs along a huge base, and in a coarse picture its middle, where a
// miniature begins, was taken for a small base's corner: A11 was read as a small ship in 12 of 150
// of these pictures.
func TestAPieceOfAHugeShipIsNoSmallerShip(t *testing.T) {
	pictures := 40
	if testing.Short() {
		pictures = 10
	}
	s, err := tablesim.Open(tablesim.Options{Width: 1280, Height: 720, Huge: 2})
	require.NoError(t, err)
	l, err := locate.New(calibration.Table{Camera: s.Camera(), Layout: s.Layout()}, locate.Options{})
	require.NoError(t, err)
	huge := 0
	for range pictures {
		f, err := s.Next(t.Context())
		require.NoError(t, err)
		got, err := l.Locate(f)
		require.NoError(t, err)
		truth, err := s.TruthAt(f.Seq)
		require.NoError(t, err)
		for _, ship := range got.Scene.Ships {
			i := slices.IndexFunc(truth.Scene.Ships, func(s engine.Ship) bool { return s.ID == ship.ID })
			require.GreaterOrEqual(t, i, 0, "%s was invented", ship.ID)
			is := truth.Scene.Ships[i]
			assert.Equal(t, is.Base, ship.Base, "%s in picture %d", ship.ID, f.Seq)
			assert.Less(t, float64(is.Pose.Distance(ship.Pose.Point)), 3.0, "%s in picture %d, mm", ship.ID, f.Seq)
			if !token.Square(is.Base) {
				huge++
			}
		}
	}
	assert.Greater(t, huge, pictures, "huge ships found")
}
