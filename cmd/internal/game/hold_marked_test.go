package game

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/vision"
)

// markedPicture is a picture in which a person marked two ships.
func markedPicture() live.Held {
	scene := engine.Scene{Rules: engine.Rules25, MatWidth: 914.4, MatHeight: 914.4,
		Ships: []engine.Ship{gameShip("A7", 300, 200), gameShip("B7", 300, 400)}}
	result, _ := engine.Measure(&scene, engine.Options{Sigmas: 3})
	return live.Held{Marked: true, Source: "photograph x.jpg", Located: vision.Located{Scene: scene}, Result: result, Sigmas: 3}
}

// What a person marked is held in place of the camera's picture, and everyone is answered from it; what waits for a judge
// is not put aside for it.
func TestWhatAPersonMarkedIsHeld(t *testing.T) {
	h := newHoldBench(t)
	n, err := h.game.HoldMarked(markedPicture(), live.Choice{From: "A7", To: "B7", Arc: engine.ArcFront})
	require.NoError(t, err)
	v := h.hub.Newest()
	require.NotNil(t, v.Hold)
	assert.Equal(t, n, v.Hold.Number)
	assert.True(t, v.Hold.Marked)
	require.NotNil(t, v.Pair, v.Reason)
	assert.Equal(t, "A7", v.Pair.From)
	assert.Contains(t, v.Notes[0].Text, "marked by hand in photograph x.jpg")
	h.picture(time.Second)
	assert.Equal(t, n, h.hub.Newest().Hold.Number, "the camera's next picture changes nothing")

	again, err := h.game.HoldMarked(markedPicture(), live.Choice{From: "A7", To: "B7"})
	require.NoError(t, err)
	assert.Greater(t, again, n)
	h.game.AskJudgeFor("Ada")
	_, err = h.game.HoldMarked(markedPicture(), live.Choice{From: "A7", To: "B7"})
	assert.ErrorIs(t, err, live.ErrOvertaken)
	assert.Equal(t, again, h.hub.Newest().Hold.Number)
	require.NoError(t, h.game.Hold(live.HoldRequest{Held: again, By: "Ada"}))
	assert.Nil(t, h.hub.Newest().Hold)
	assert.Equal(t, "A1", h.hub.Newest().Located.Scene.Ships[0].ID, "live again")
}

// A photograph needs no camera.
func TestWhatAPersonMarkedIsHeldWithoutACamera(t *testing.T) {
	h := newGameBench(t, func(*gameBench, *Options) {})
	_, err := h.game.HoldMarked(markedPicture(), live.Choice{From: "A7", To: "B7", Arc: engine.ArcFront})
	require.NoError(t, err)
	v := h.hub.Newest()
	assert.NotEqual(t, live.OK, v.Health.Code)
	require.NotNil(t, v.Pair, v.Reason)
}
