package tablesim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/fiducial"
)

func TestANudgeInTheSourcesName(t *testing.T) {
	o, err := ParseSpec("sim:640x360,nudge=20:-0.05")
	require.NoError(t, err)
	assert.Equal(t, &Nudge{20 * time.Second, -0.05}, o.Nudge)
	for _, bad := range []string{"nudge", "nudge=", "nudge=3", "nudge=3:", "nudge=-1:1", "nudge=1:90", "nudge=NaN:1", "nudge=1:NaN",
		"nudge=1e300:1"} {
		_, err := ParseSpec("sim:" + bad)
		assert.ErrorContains(t, err, "SECONDS:DEGREES", bad)
	}
}

// seenAt returns where the markers appear in a frame, near where they are expected.
func seenAt(t *testing.T, f vision.Frame, c calibration.Camera, l calibration.Layout) map[int]geom.Pixel {
	t.Helper()
	var expected []calibration.MarkerSighting
	for _, m := range l.Markers {
		s := calibration.MarkerSighting{ID: m.ID}
		for i, p := range m.Corners() {
			s.Corners[i], _ = c.PixelOf(p, m.Z)
		}
		expected = append(expected, s)
	}
	out := map[int]geom.Pixel{}
	for _, s := range fiducial.TrackMarkers(f.Gray, expected) {
		for _, p := range s.Corners {
			out[s.ID] = out[s.ID].Add(p.Mul(0.25))
		}
	}
	return out
}

func TestANudgedCameraSeesTheMarkersElsewhere(t *testing.T) {
	s, err := Open(Options{Width: 1280, Height: 720, Nudge: &Nudge{400 * time.Millisecond, 0.05}}) // fps 5 of the game: the third frame
	require.NoError(t, err)
	defer s.Close()
	believed := s.Camera()
	turned := Turned(believed, 0.04, 0.03, 0)
	for frame := 1; frame <= 4; frame++ {
		f, err := s.Next(t.Context())
		require.NoError(t, err)
		truth := believed
		if frame >= 3 {
			truth = turned
		}
		seen := seenAt(t, f, truth, s.Layout())
		require.Len(t, seen, 8)
		for _, m := range s.Layout().Markers {
			px, _ := truth.PixelOf(m.Center, m.Z)
			assert.InDelta(t, 0, seen[m.ID].Sub(px).Norm(), 0.1, "frame %d, marker %d", frame, m.ID)
		}
		assert.Equal(t, believed, s.Camera(), "what the program believes")
	}
}

// Changing light moves no marker: what the watch over a calibration takes for granted.
func TestLightMovesNoMarker(t *testing.T) {
	s, err := Open(Options{Width: 1920, Height: 1080})
	require.NoError(t, err)
	defer s.Close()
	var first map[int]geom.Pixel
	worst := 0.0
	for _, light := range []float64{0.8, 0.2, 0.5, 1.1} {
		s.Disturb(func(t *Table) { t.Look.Light, t.Look.Falloff = light, 0.25+0.2*light })
		f, err := s.Next(t.Context())
		require.NoError(t, err)
		seen := seenAt(t, f, s.Camera(), s.Layout())
		require.Len(t, seen, 8, "light %v", light)
		if first == nil {
			first = seen
		}
		for id, px := range seen {
			worst = max(worst, px.Sub(first[id]).Norm())
		}
	}
	t.Logf("from a quarter of the light to clipped whites, a marker moves by at most %.4f px", worst)
	assert.Less(t, worst, 0.03)
}
