package app

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/hardware"
)

// handsOn is a bench with a person at the panel's controls.
type handsOn struct {
	*desk
	task *controlsTask
}

func newHandsOn(t *testing.T) *handsOn {
	h := &handsOn{task: &controlsTask{menu: &panelMenu{address: func() string { return "http://10.0.0.7:8080/" }}}}
	h.desk = newDesk(t, func(b *desk, o *deskParts) {
		h.task.hub, h.task.menu.now = b.hub, func() time.Time { return b.now }
		o.Screen = h.task.menu.screen
		b.ships = append(b.ships, shipAt("A2", 500, 300), shipAt("B2", 500, 487))
	})
	h.task.game = h.game
	h.picture(0)
	h.picture(deskFrame)
	return h
}

// does lets the person do things one after the other and returns what is then seen.
func (h *handsOn) does(inputs ...hardware.Input) live.State {
	for _, in := range inputs {
		h.task.did(hardware.Did{Input: in})
	}
	return h.hub.Newest()
}

func TestAPairIsChosenAtThePanel(t *testing.T) {
	h := newHandsOn(t)
	v := h.does(hardware.PushChoose)
	assert.Equal(t, "Attacker?", v.Panel.Screen.Title)
	assert.Equal(t, []string{"A1", "A2", "B1", "B2"}, v.Panel.Screen.Items)
	v = h.does(hardware.TurnRight, hardware.PushChoose, hardware.TurnRight, hardware.PushKnob)
	assert.Equal(t, live.Choice{From: "A2", To: "B2", Arc: engine.ArcFront}, v.Choice)
	assert.Equal(t, "A2→B2", v.Panel.Pair())
	assert.Equal(t, hardware.ScreenAnswer, v.Panel.Screen.Kind)
	assert.Equal(t, engine.Yes, v.Panel.Range)
	require.Len(t, v.Panel.Pointers, 2)
	assert.Equal(t, hardware.Pointer{XMM: 500, YMM: 487, Target: true}, v.Panel.Pointers[1])
}

// A game is played by one edition: the panel offers no other until it is over.
func TestThePanelLeavesAGamesEditionAlone(t *testing.T) {
	menu := &panelMenu{}
	assert.True(t, menu.world(&live.State{}).CanEdition)
	assert.False(t, menu.world(&live.State{Play: &live.Play{}}).CanEdition)
	assert.True(t, menu.world(&live.State{Play: &live.Play{Over: "round 12 was the last"}}).CanEdition)
}

func TestAFrozenAnswerStaysWhileTheShipsMoveAndTheCameraGoes(t *testing.T) {
	h := newHandsOn(t)
	before := h.does(hardware.PushFreeze)
	require.True(t, before.Held)
	h.ships[1] = shipAt("B1", 300, 700)
	h.picture(deskFrame)
	v := h.picture(deskFrame)
	assert.Equal(t, before.Panel.DistanceMM, v.Panel.DistanceMM)
	assert.True(t, v.Panel.Frozen)
	v = h.wait(10 * game.StaleAfter)
	assert.Equal(t, live.Stale, v.Health.Code, "the camera's state is never hidden")
	assert.Equal(t, before.Panel.DistanceMM, v.Panel.DistanceMM)

	h.picture(deskFrame)
	h.picture(deskFrame)
	v = h.does(hardware.PushFreeze)
	assert.False(t, v.Held)
	assert.NotEqual(t, before.Panel.DistanceMM, v.Panel.DistanceMM)
}

func TestWhatCannotBeAnsweredCannotBeFrozen(t *testing.T) {
	h := newHandsOn(t)
	h.wait(10 * game.StaleAfter)
	assert.False(t, h.does(hardware.PushFreeze).Held)
	h.freeze(true)
	assert.False(t, h.hub.Newest().Held)
}

func TestAskingAJudgeFreezesAndTellsEverybody(t *testing.T) {
	h := newHandsOn(t)
	v := h.does(hardware.HoldFreeze)
	assert.True(t, v.Held)
	assert.Contains(t, v.Notes[0].Text, "A judge was called: A1 to B1")
	assert.Equal(t, "Judge called", v.Panel.Screen.Title)
}

func TestTheEditionIsChangedAtThePanel(t *testing.T) {
	h := newHandsOn(t)
	turn := func(n int) (in []hardware.Input) {
		for range n {
			in = append(in, hardware.TurnRight)
		}
		return in
	}
	h.does(hardware.PushFreeze, hardware.PushKnob)
	h.does(turn(5)...)
	v := h.does(hardware.PushKnob)
	require.Equal(t, "Edition?", v.Panel.Screen.Title)
	v = h.does(hardware.TurnLeft, hardware.TurnLeft, hardware.PushKnob)
	assert.Equal(t, engine.Rules1e, v.Located.Scene.Rules, "also of what is frozen")
	assert.Equal(t, "1e", v.Panel.Edition)
	assert.Equal(t, engine.Rules1e, v.Result.Rules)
	h.does(hardware.PushFreeze)
	v = h.picture(deskFrame)
	assert.Equal(t, engine.Rules1e, v.Result.Rules)
}

func TestTheControlsEndWithTheProgram(t *testing.T) {
	h := newHandsOn(t)
	h.task.inputs = hardware.OpenControls([hardware.NumControls]hardware.ControlLines{}, nil)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	assert.NoError(t, h.task.Run(ctx))
}

func TestAtTheBoxWhatWaitsForAJudgeIsLetGoOnASecondWord(t *testing.T) {
	h := newHandsOn(t)
	h.does(hardware.HoldFreeze, hardware.PushKnob)
	v := h.does(hardware.PushFreeze)
	require.True(t, v.Held)
	assert.Equal(t, "Judge called", v.Panel.Screen.Title)
	assert.Equal(t, []string{"stay held", "release it"}, v.Panel.Screen.Items)
	v = h.does(hardware.PushKnob)
	require.True(t, v.Held, "the first entry keeps it")
	v = h.does(hardware.PushFreeze, hardware.TurnRight, hardware.PushChoose)
	assert.False(t, v.Held)
	assert.Equal(t, "who stands at the box", v.Released[0].By)
}
