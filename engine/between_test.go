package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine"
)

// TestBetweenKeepsWhatWasAskedFor: from a ship, to a ship or an object, a device's cards
// included.
func TestBetweenKeepsWhatWasAskedFor(t *testing.T) {
	whole := engine.Result{
		Pairs:    []engine.PairVerdict{{From: "A1", To: "B1"}, {From: "B1", To: "A1"}, {From: "A1", To: "A2"}},
		Objects:  []engine.ObjectVerdict{{From: "A1", To: "rock1"}, {From: "B1", To: "rock1"}, {From: "A1", To: "mines.2"}},
		Standing: []engine.Standing{{ID: "A1"}, {ID: "B1"}},
	}
	for _, c := range []struct {
		from, to                 string
		pairs, objects, standing int
	}{
		{"", "", 3, 3, 2}, {"A1", "", 2, 2, 1}, {"", "A1", 1, 0, 2}, {"A1", "B1", 1, 0, 1}, {"A1", "rock1", 0, 1, 1}, {"A1", "mines", 0, 1, 1},
	} {
		got := whole.Between(c.from, c.to)
		assert.Len(t, got.Pairs, c.pairs, c)
		assert.Len(t, got.Objects, c.objects, c)
		assert.Len(t, got.Standing, c.standing, c)
	}
	assert.Len(t, whole.Pairs, 3)
}
