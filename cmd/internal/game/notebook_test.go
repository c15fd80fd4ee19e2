package game

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A secondary camera that comes and goes has one note, and the others stay.
func TestACameraThatFlapsDrivesOutNoOtherNotes(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 3, 0, 0, time.UTC)
	w := notebook{now: func() time.Time { return now }, log: slog.New(slog.DiscardHandler)}
	texts := func() (out []string) {
		for _, n := range w.notes {
			out = append(out, n.Text)
		}
		return out
	}
	w.add("The camera was moved.")
	w.camera(CameraChange{"far", "old picture", "x."})
	w.camera(CameraChange{"far", "", ""})
	assert.Equal(t, []string{"far is back.", "far is left out: old picture. x.", "The camera was moved."}, texts(), "once is told as it is")
	for range 9 {
		now = now.Add(time.Minute)
		w.camera(CameraChange{"far", "old picture", "x."})
		w.camera(CameraChange{"far", "", ""})
	}
	assert.Equal(t, []string{"far is back. It was left out 10 times since 14:03, last: old picture.", "The camera was moved."}, texts())
	w.camera(CameraChange{"far2", "no camera", "y."})
	w.camera(CameraChange{"far", "old picture", "x."})
	assert.Equal(t, []string{"far is left out: old picture. x. It was left out 11 times since 14:03.", "far2 is left out: no camera. y.",
		"The camera was moved."}, texts())

	for range notesToKeep {
		w.add("Something else.")
	}
	w.camera(CameraChange{"far", "", ""})
	assert.Equal(t, "far is back.", texts()[0], "what nobody is shown any more is not counted on")
	assert.Zero(t, strings.Count(strings.Join(texts(), " "), "times"))
}
