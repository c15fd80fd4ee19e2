package uncertain

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
)

// Lines that may be the closest lie side by side; whatever order they are found in, the
// two outermost are kept. Of three at even distances, the middle one first, rounding
// decided once which of the outer two was lost.
func TestTheOutermostLinesAreKeptInWhateverOrderTheyCome(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		n := 2 + rng.IntN(5)
		lines := make([]geom.Line, n)
		for i := range lines {
			s := float64(i) / float64(n-1) * (1 + 1e-15*rng.NormFloat64())
			lines[i] = geom.Line{{X: 3, Y: 4}, {X: 200 + 30*s, Y: 100 - 12*s}}
		}
		width := Apart(lines[0], lines[n-1])
		rng.Shuffle(n, func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		var e extremes
		for _, l := range lines {
			e.add(l)
		}
		kept, differ := e.pair()
		assert.True(t, differ)
		require.InDelta(t, width, Apart(kept[0], kept[1]), 1e-9, "%v of %v", kept, lines)
	}
}
