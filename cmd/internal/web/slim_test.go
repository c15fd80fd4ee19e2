package web

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestASlimLineLiesWhereTheLineLies: every point of a line is near the slim one, whose points
// are the line's own, in their order, with its ends.
func TestASlimLineLiesWhereTheLineLies(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		var line polyline
		bend, size := random.Float64()*3, 50+random.Float64()*1000
		for i := range 2 + random.IntN(120) {
			at := float64(i) / 40
			line = append(line, [2]float64{tenth(size * math.Cos(bend*at)), tenth(size * math.Sin(bend*at))})
		}
		if n%3 == 0 { // closed
			line = append(line, line[0])
		}
		slim := line.slim()
		assert.Equal(t, line[0], slim[0])
		assert.Equal(t, line[len(line)-1], slim[len(slim)-1])
		next := 0
		for _, p := range line {
			if next < len(slim) && p == slim[next] {
				next++
			}
			near := math.Inf(1)
			for i := 1; i < len(slim); i++ {
				near = min(near, toSegment(p, slim[i-1], slim[i]))
			}
			assert.LessOrEqual(t, near, slimWithin, "line %d", n)
		}
		assert.Equal(t, len(slim), next, "line %d: its own points, in their order", n)
	}
	assert.Len(t, polyline{{0, 0}, {10, 0.1}, {20, -0.1}, {30, 0}}.slim(), 2)
	assert.Equal(t, polyline{}, polyline{}.slim())
}
