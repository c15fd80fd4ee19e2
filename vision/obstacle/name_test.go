package obstacle

import (
	"sightline/vision"
	"sightline/vision/catalogue"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A catalogue from before such names were refused may hold a ship's: no two things in a
// scene have one name for all that.
func TestNoObstacleIsCalledAsAShipIs(t *testing.T) {
	c := &catalogue.Catalogue{Entries: []catalogue.Entry{{Name: "A1"}, {Name: "A1-2"}, {Name: "rock"}}}
	views := []vision.ObstacleView{{Entry: &c.Entries[2]}, {Entry: &c.Entries[0]}, {Entry: &c.Entries[0]}, {Entry: &c.Entries[1]},
		{Entry: &c.Entries[2]}}
	(&Finder{catalogue: c}).name(views)
	seen := map[string]bool{}
	for _, v := range views {
		assert.False(t, seen[v.ID] || catalogue.IsShipName(v.ID), v.ID)
		seen[v.ID] = true
	}
	assert.True(t, seen["rock"] && seen["rock-2"] && seen["A1-2"], "%v", seen)
}
