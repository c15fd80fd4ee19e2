package flown_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/flown"
	"sightline/engine/geom"
)

// BenchmarkFlown asks what was flown on crowded tables, with every maneuver as a candidate.
func BenchmarkFlown(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	every := flown.Every()
	slop := flown.Slop{Place: 1.5, Turn: 1.5 * geom.Degree}
	for b.Loop() {
		b.StopTimer()
		s := table(rng, engine.Rules25)
		after, _, _, ok := s.person(every, slop, 0)
		b.StartTimer()
		if !ok {
			continue
		}
		_, err := flown.Flown(&s.measured, &after, "S1", every, slop)
		require.NoError(b, err)
	}
}
