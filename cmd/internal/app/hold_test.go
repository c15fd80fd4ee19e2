package app

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/hardware"
)

func TestWhatIsHeldHasANumberOfItsOwn(t *testing.T) {
	h := newHandsOn(t)
	require.Nil(t, h.hub.Newest().Hold, "live")
	first := h.does(hardware.PushFreeze).Hold
	require.NotNil(t, first)
	assert.NotZero(t, first.Number)
	assert.Equal(t, h.hub.Newest().Register.Hash, first.Register.Hash)
	assert.Equal(t, first.Register.Hash, first.Table.Hash, "the camera that it was seen through")

	h.picture(time.Second)
	assert.Equal(t, first, h.hub.Newest().Hold, "a new picture changes nothing that is held")

	h.watcher.AskJudgeFor("player 2")
	assert.Equal(t, first.Number, h.hub.Newest().Hold.Number, "asking holds nothing new where something is held")
	assert.Equal(t, "player 2", h.hub.Newest().Hold.Asked)

	h.watcher.SetEdition(engine.Rules1e)
	second := h.hub.Newest().Hold
	assert.Greater(t, second.Number, first.Number, "under other rules it is another question")
	assert.Equal(t, "player 2", second.Asked)

	h.watcher.Freeze(false)
	require.Nil(t, h.hub.Newest().Hold)
	h.watcher.AskJudge()
	assert.Greater(t, h.hub.Newest().Hold.Number, second.Number)
	assert.Equal(t, "the table", h.hub.Newest().Hold.Asked)
}
