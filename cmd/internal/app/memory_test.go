package app

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The limits are for the simulated table: a camera's pictures, and pictures that are larger than
// those that were measured, keep Go's own.
func TestOnlyASimulatedTableIsLimited(t *testing.T) {
	for source, want := range map[string]struct {
		percent int
		most    int64
	}{
		"sim:":               {simulatedGarbage, simulatedMemory},
		"sim:1280x720,fps=5": {simulatedGarbage, simulatedMemory},
		"sim:3840x2160":      {simulatedGarbage, math.MaxInt64},
		"/dev/video0":        {100, math.MaxInt64},
		"":                   {100, math.MaxInt64},
	} {
		percent, most := garbageOf(Config{Camera: Camera{Source: source}})
		assert.Equal(t, want.percent, percent, source)
		assert.Equal(t, want.most, most, source)
	}
	_, most := garbageOf(Config{Camera: Camera{Source: "sim:"}, Cameras: make([]FurtherCamera, 1)})
	assert.EqualValues(t, math.MaxInt64, most, "two tables are rendered")
}
