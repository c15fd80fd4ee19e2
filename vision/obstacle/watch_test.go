package obstacle

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNoiseInOnePictureMovesNoObstacle(t *testing.T) {
	w := &Watch{background: true}
	for range doubtsMost - 1 {
		assert.True(t, w.doubted(false))
	}
	assert.True(t, w.doubted(true))
	for range doubtsMost - 1 {
		assert.True(t, w.doubted(false), "it was seen where it lay since")
	}
	assert.False(t, w.doubted(false), "%d pictures agree that it moved", doubtsMost)

	alone := &Watch{}
	assert.False(t, alone.doubted(false), "no other picture of the table follows")
}
