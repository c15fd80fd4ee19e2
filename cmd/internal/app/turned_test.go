package app

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/pipeline"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/fiducial"
	"sightline/vision/locate"
)

// The state warns of a base whose card lies a quarter turn off in it for as long as the table shows it, by the real search. The other
// ship, whose guides are hardly seen under its miniature, is found with a doubt.
func TestATurnedCardIsWarnedOfAsLongAsItLiesSo(t *testing.T) {
	table, known := stockTable(t)
	known.Looks[1] = known.Looks[1].Turned(1)
	camera := calibration.Table{Camera: table.Camera, Layout: table.Layout}
	c := newCourt(t, func(_ *desk, o *deskParts) {
		o.Layout, o.File = table.Layout, pipeline.CalibrationFile{Table: &camera, Name: "truth"}
		o.Markers, o.Track = nil, fiducial.TrackMarkers
		o.NewChange = pipeline.NewChangeDetector
		o.NewLocator = func(t calibration.Table) (pipeline.Locator, error) {
			return locate.New(t, locate.Options{Looks: known, InBackground: true})
		}
	})
	seq := uint64(0)
	render := func() vision.Frame {
		frame, _, err := table.Render()
		require.NoError(t, err)
		return frame
	}
	frame := render()
	picture := func() {
		seq++
		c.now = c.now.Add(deskFrame)
		frame.Seq, frame.Captured = seq, c.now
		c.pipeline.Update(frame)
	}
	until := func(what string, is func() bool) {
		for began := time.Now(); !is(); picture() {
			require.Less(t, time.Since(began), time.Minute, what)
			time.Sleep(10 * time.Millisecond) // the search runs meanwhile
		}
	}
	turned := func() bool { return len(c.hub.Newest().Turned) > 0 }
	until("the search sees it", turned)
	until("the other ship is found", func() bool { return len(c.hub.Newest().Located.Scene.Ships) == 1 })
	state := c.hub.Newest()
	require.Len(t, state.Warnings(), 2, "%v", state.Warnings())
	assert.Contains(t, state.Warnings()[0], "B1 at (280, 360) mm does not count: its card seems turned in its base")
	assert.Contains(t, state.Warnings()[1], "The guides of A1 are not seen clearly")
	c.now = c.now.Add(2 * time.Minute)
	picture()
	assert.True(t, turned(), "it lies so still")

	table.Scene.Ships = slices.DeleteFunc(table.Scene.Ships, func(s engine.Ship) bool { return s.ID == "B1" })
	frame = render()
	until("it is gone", func() bool { return !turned() })
	state = c.hub.Newest()
	assert.Len(t, state.Warnings(), 1, "A1 still stands where its guides are not seen")
}
