package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine"
)

func TestEveryArcHasItsName(t *testing.T) {
	for a := engine.ArcFront; a <= engine.ArcFront136; a++ {
		got, err := engine.ParseArc(a.String())
		assert.True(t, err == nil && got == a, a.String())
	}
	_, err := engine.ParseArc("sideways")
	assert.Error(t, err)
}
