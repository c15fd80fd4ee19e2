package calibration_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
)

// sightingsOf is what a camera over the table sees of the layout's markers, each
// turned by the given number of quarters.
func sightingsOf(t *testing.T, table *calibration.Table, turn func(id int) int) (out []calibration.MarkerSighting) {
	t.Helper()
	for _, m := range table.Layout.Markers {
		s := calibration.MarkerSighting{ID: m.ID}
		for k, p := range m.Corners() {
			px, ok := table.PixelOf(p, m.Z)
			require.True(t, ok)
			s.Corners[(k+turn(m.ID))%4] = px
		}
		out = append(out, s)
	}
	return out
}

func TestAMarkerLaidTheWrongWayRoundIsTurned(t *testing.T) {
	table := sampleTable()
	table.R = calibration.MulMat3(calibration.RotationFromVector(calibration.Vec3{0.15, -0.1, 0.3}), table.R)
	straight := sightingsOf(t, &table, func(int) int { return 0 })
	for name, turn := range map[string]func(int) int{
		"none":            func(int) int { return 0 },
		"all upside down": func(int) int { return 2 },
		"each its own":    func(id int) int { return id % 4 },
	} {
		assert.Equal(t, straight, calibration.TurnSightings(table.Layout, sightingsOf(t, &table, turn)), name)
	}

	turned := sightingsOf(t, &table, func(int) int { return 1 })
	assert.Equal(t, turned[:3], calibration.TurnSightings(table.Layout, turned[:3]), "three in a row cannot tell")
	assert.Equal(t, turned[:2], calibration.TurnSightings(table.Layout, turned[:2]), "two cannot tell")
	assert.Empty(t, calibration.TurnSightings(table.Layout, nil))
	stranger := append(append([]calibration.MarkerSighting(nil), turned...), calibration.MarkerSighting{ID: 99})
	assert.Equal(t, append(append([]calibration.MarkerSighting(nil), straight...), calibration.MarkerSighting{ID: 99}),
		calibration.TurnSightings(table.Layout, stranger), "an unknown marker is left alone")
}
