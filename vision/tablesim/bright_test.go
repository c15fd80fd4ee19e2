package tablesim

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
)

// Ships are read, and their sigmas hold, where paper has four times the light that the picture can show.
func TestShipsAreReadFarBeyondWhite(t *testing.T) {
	whole, found, worst, tables := 0, 0, 0.0, 3
	if testing.Short() {
		tables = 1
	}
	for seed := range uint64(tables) {
		table := RandomTable(8400+seed, 1920, 1080)
		m, err := CameraNamed("render")
		require.NoError(t, err)
		m.Blur = 0.95
		m = m.exposed(4)
		table.Hands, table.Heights, table.Model, table.Look.Light = nil, nil, &m, 0.95
		_, truth, err := table.Render()
		require.NoError(t, err)
		got := located(t, table)
		for i, s := range truth.Ships {
			k := slices.IndexFunc(got.Scene.Ships, func(g engine.Ship) bool { return g.ID == s.ID })
			if s.WholeSide() {
				whole++
				if k >= 0 {
					found++
				}
			}
			if k >= 0 {
				worst = max(worst, sigmasOff(got.Scene.Ships[k], table.Scene.Ships[i]))
			}
		}
	}
	t.Logf("%d of %d with a whole side in view; %.1f sigmas off at most", found, whole, worst)
	assert.GreaterOrEqual(t, 10*found, 6*whole)
	assert.Less(t, worst, 4.0)
}
