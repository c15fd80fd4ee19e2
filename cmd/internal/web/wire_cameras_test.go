package web

import (
	"testing"

	"sightline/cmd/internal/live"

	"github.com/stretchr/testify/assert"
)

func TestWhatThePageSaysOfFurtherCameras(t *testing.T) {
	state := live.State{Cameras: []live.Camera{
		{Name: "left", Used: true},
		{Name: "far", Used: true, NoObstacles: "no picture of its empty mat is named"},
		{Name: "top", Why: "camera moved", NoObstacles: "the picture is changing"},
	}}
	var texts, not []string
	for _, c := range camerasOf(&state) {
		texts, not = append(texts, c.Text), append(not, c.NoObstacles)
	}
	assert.Equal(t, []string{
		"left in use", "far in use, but not for obstacles: no picture of its empty mat is named", "top left out: camera moved",
	}, texts)
	assert.Equal(t, []string{"", "no picture of its empty mat is named", "the picture is changing"}, not)
	assert.NotNil(t, camerasOf(&live.State{}), "a list of none, not null")
}
