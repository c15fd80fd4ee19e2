package game

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
)

func hideTable(frozen *bool) (c live.DirectionChange) {
	hide := true
	c.Hidden.Table, c.Frozen = &hide, frozen
	return c
}

// What a director hid stays off the air over a restart; what was frozen is not kept.
func TestHiddenWidgetsStayHiddenOverARestart(t *testing.T) {
	dir, frozen := t.TempDir(), true
	before := newGameBench(t, func(_ *gameBench, o *Options) { o.Dir = dir })
	now, err := before.game.Direct(hideTable(&frozen))
	require.NoError(t, err)
	assert.NotZero(t, now.FrozenMS)
	assert.Equal(t, now, before.hub.Newest().Direction)

	after := newGameBench(t, func(_ *gameBench, o *Options) { o.Dir = dir })
	after.game.Publish()
	assert.Equal(t, live.Direction{Hidden: live.HiddenWidgets{Table: true}}, after.hub.Newest().Direction)
}

func TestADirectionThatCannotBeKeptIsNotMade(t *testing.T) {
	b := newGameBench(t, func(_ *gameBench, o *Options) { o.Dir = filepath.Join(t.TempDir(), "nowhere") })
	_, err := b.game.Direct(hideTable(nil))
	require.ErrorContains(t, err, "nowhere")
	assert.Zero(t, b.hub.Newest().Direction)
}
