package app

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"sightline/vision/catalogue"
)

// BenchmarkTwins compares the publisher's outlines with each other: it is done when the
// catalogue changes, budget 1 s.
func BenchmarkTwins(b *testing.B) {
	f, err := os.Open("../../../../shared/obstacles/outlines.json")
	if err != nil {
		b.Skip(err)
	}
	c, err := catalogue.Parse(f)
	require.NoError(b, err)
	for b.Loop() {
		twinsOf(c.Entries)
	}
}
