package tablesim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"sightline/calibration"
)

// Nudge is a push of the camera once in a game, which changes its direction.
type Nudge struct {
	After   time.Duration // of the game
	Degrees float64       // about an axis in the picture's plane
}

// ParseNudge reads SECONDS:DEGREES, as in "20:0.05".
func ParseNudge(text string) (Nudge, error) {
	at, angle, ok := strings.Cut(text, ":")
	seconds, err := strconv.ParseFloat(at, 64)
	degrees, err2 := strconv.ParseFloat(angle, 64)
	if !ok || err != nil || err2 != nil || !(seconds >= 0 && seconds < 1e6) || !(math.Abs(degrees) <= 10) {
		return Nudge{}, fmt.Errorf("nudge: expected SECONDS:DEGREES, as in 20:0.05, got %q", text)
	}
	return Nudge{time.Duration(seconds * float64(time.Second)), degrees}, nil
}

// Turned returns a camera turned about its own centre by a rotation vector about its
// own axes, in degrees.
func Turned(c calibration.Camera, x, y, z float64) calibration.Camera {
	const deg = math.Pi / 180
	r := calibration.RotationFromVector(calibration.Vec3{x * deg, y * deg, z * deg})
	t := c.T
	c.R = calibration.MulMat3(r, c.R)
	for i := range 3 {
		c.T[i] = r[i][0]*t[0] + r[i][1]*t[1] + r[i][2]*t[2]
	}
	return c
}

// Disturb changes the camera's place or lens, the light or the markers' places, from the next frame
// on. change gets a copy of the table as it was opened. Lens, Camera, Layout and TruthAt continue
// to describe the original table, as the program believes it. Disturb is safe to call while Next
// runs.
func (s *Source) Disturb(change func(*Table)) { s.change.Store(&change) }

// disturb applies a change by Disturb or a nudge.
func (s *Source) disturb() error {
	change := s.change.Swap(nil)
	if n := s.o.Nudge; n != nil && !s.nudged && s.timeOf(s.seq) >= n.After {
		s.nudged = true
		nudge := func(t *Table) { t.Camera = Turned(t.Camera, 0.8*n.Degrees, 0.6*n.Degrees, 0) }
		change = &nudge
	}
	if change == nil {
		return nil
	}
	t := *s.table
	t.Layout.Markers = append([]calibration.Marker(nil), t.Layout.Markers...)
	(*change)(&t)
	r, err := newRenderer(&t)
	if err != nil {
		return fmt.Errorf("source %s: disturb: %w", s, err)
	}
	s.shown, s.renderer = &t, r
	return nil
}
