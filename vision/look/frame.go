package look

import (
	"fmt"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/token"
)

// A miniature hides, seen at an angle, a part of the plastic frame around the card. Views in several headings then differ all over the
// card; a single view shows it at the frame only.
const (
	frameInside = 0.7 // mm from the base's edge to the middle of the frame
	frameEnds   = 2.5 // mm at both ends of a side that are left out
	frameStep   = 0.5 // mm between samples
	// Grey levels by which a sample differs from its side's median, and the longest stretch of such samples, in mm. Of 144 bases
	// without miniatures 6 show more than 3 mm, highlights on clear plastic; of 90 with miniatures 88 do (1 to 3, 1001, 1101 to 1104).
	frameDiffers = 25
	frameMost    = 3.0
)

// CheckFrame returns an error if something hides a part of a base's frame in a view: a miniature that was left on it, most likely. Learn
// finds miniatures itself if the views have several headings.
func CheckFrame(b engine.Base, v View) error {
	if covered, ok := frameCovered(&v.Table, v.Frame, b, v.Pose); ok && covered > frameMost {
		return fmt.Errorf("something hides %.0f mm of the base's edge: is a miniature on the base? Remove it, or show the base in four quarter "+
			"turns", covered)
	}
	return nil
}

// frameCovered is the longest stretch, in mm, in which a side of the frame differs from the rest of that side; false: it is not in the
// picture.
func frameCovered(t *calibration.Table, f vision.Frame, b engine.Base, at geom.Pose) (longest float64, ok bool) {
	w, _ := b.Size()
	half := float64(w) / 2
	s, ok := newScan(t, f, at.Point, token.BaseTop, half*math.Sqrt2+2)
	if !ok {
		return 0, false
	}
	sin, cos := math.Sincos(float64(at.Heading))
	for side := range 4 {
		var line []float64
		for along := frameEnds - half; along <= half-frameEnds; along += frameStep {
			x, y := along, half-frameInside
			for range side {
				x, y = y, -x
			}
			px, py := s.view.pixel(x*cos+y*sin, -x*sin+y*cos)
			var p sample
			if !s.sharp.valueAt(px, py, &p) {
				return 0, false
			}
			line = append(line, float64(p.v[0]+p.v[1]+p.v[2])/channels)
		}
		middle, stretch := median(slices.Clone(line)), 0.0
		for _, v := range line {
			if stretch += frameStep; math.Abs(v-middle) <= frameDiffers {
				stretch = 0
			}
			longest = max(longest, stretch)
		}
	}
	return longest, true
}
