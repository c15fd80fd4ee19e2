package game

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/cmd/internal/live"
)

// What touches is measured with, and a picture is not searched again for what stays the same.
func TestTheGameSaysWhatTouches(t *testing.T) {
	g := newGameBench(t, nil).game
	before := g.Rules()
	assert.Nil(t, before.Touch)
	touch := func() *live.Play {
		return &live.Play{Touch: &live.Touch{Ships: []string{"A1", "B1"}, Touching: [][2]string{{"A1", "B1"}}}}
	}
	g.SetPlay(touch(), nil)
	set := g.Rules()
	assert.NotEqual(t, before, set)
	assert.Equal(t, [][2]string{{"A1", "B1"}}, set.Touch.Touching)
	g.SetPlay(touch(), nil)
	assert.True(t, g.Rules() == set)
	g.SetPlay(nil, nil)
	assert.Nil(t, g.Rules().Touch)
}
