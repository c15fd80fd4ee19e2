package projector

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// Place is a place on the screen in canvas coordinates: pixels from the top left corner of the top
// left pixel, to the right and down.
type Place struct{ X, Y float64 }

// Map maps the mat to the screen: a homography plus a cubic polynomial for the distortion by the
// projector's lens.
type Map struct {
	Width      int                    `json:"width_px"` // of the screen
	Height     int                    `json:"height_px"`
	Homography calibration.Homography `json:"homography"` // from the mat, mm, to the screen
	Cubic      [2][cubicTerms]float64 `json:"cubic_px"`   // added to x and y: of 1, u, v, u², uv, v², u³, u²v, uv², v³
	Region     []geom.Point           `json:"region_mm"`  // convex: the area with tags
}

// cubicTerms is the number of terms of a polynomial of degree 3 in two variables.
const cubicTerms = 10

// terms returns the terms at a place, with u and v from -1 to 1 over the longer side of the screen.
func (m *Map) terms(p geom.Pixel) [cubicTerms]float64 {
	half := float64(max(m.Width, m.Height)) / 2
	u, v := (p.X-float64(m.Width)/2)/half, (p.Y-float64(m.Height)/2)/half
	return [cubicTerms]float64{1, u, v, u * u, u * v, v * v, u * u * u, u * u * v, u * v * v, v * v * v}
}

// Screen returns the place on the screen that lights a point of the mat. It reports false for a
// point that no place can light.
func (m *Map) Screen(p geom.Point) (Place, bool) {
	h, ok := m.Homography.Map(p)
	if !ok {
		return Place{}, false
	}
	t := m.terms(h)
	q := Place{h.X, h.Y}
	for i, k := range t {
		q.X += m.Cubic[0][i] * k
		q.Y += m.Cubic[1][i] * k
	}
	return q, true
}

// jacobian returns how the place on the screen moves with the point, px/mm: columns of x and y.
func (m *Map) jacobian(p geom.Point) (at Place, dx, dy Place, ok bool) {
	const step = 0.5 // mm: the map is smooth over hundreds
	at, ok = m.Screen(p)
	x0, ok1 := m.Screen(geom.Point{X: p.X - step, Y: p.Y})
	x1, ok2 := m.Screen(geom.Point{X: p.X + step, Y: p.Y})
	y0, ok3 := m.Screen(geom.Point{X: p.X, Y: p.Y - step})
	y1, ok4 := m.Screen(geom.Point{X: p.X, Y: p.Y + step})
	return at, Place{x1.X - x0.X, x1.Y - x0.Y}, Place{y1.X - y0.X, y1.Y - y0.Y}, ok && ok1 && ok2 && ok3 && ok4
}

// Off returns how far the light of a place on the screen misses a point of the mat, mm.
func (m *Map) Off(p geom.Point, s Place) (float64, bool) {
	at, dx, dy, ok := m.jacobian(p)
	det := dx.X*dy.Y - dx.Y*dy.X
	if !ok || !(math.Abs(det) > 1e-9) {
		return 0, false
	}
	ex, ey := s.X-at.X, s.Y-at.Y
	return math.Hypot((dy.Y*ex-dy.X*ey)/det, (dx.X*ey-dx.Y*ex)/det), true
}

// Scale returns the screen's pixels per millimetre at a point, the mean of all directions.
func (m *Map) Scale(p geom.Point) float64 {
	_, dx, dy, ok := m.jacobian(p)
	if !ok {
		return 0
	}
	return math.Sqrt(math.Abs(dx.X*dy.Y - dx.Y*dy.X))
}

// reading is one tag of a pattern, and its corners on the mat as the camera sees them.
type reading struct {
	id int
	on [4]Place      // on the screen
	at [4]geom.Point // on the mat, mm
}

// The limits of a fit. A cubic map has 28 parameters; a tag gives 8 figures. A tag with something
// under it is further off than the others.
const (
	fewestFitted  = 20  // tags
	outlierAt     = 1.0 // mm: the least distance by which a left-out tag is off
	outlierTimes  = 4.0 // and its ratio to the median
	outliersShare = 0.1 // largest share of left-out tags
)

var errNoMap = errors.New("the tags that were read do not fix where the screen falls")

// fit computes the map from the tags of a pattern. It leaves out a few that fit badly.
func fit(width, height int, read []reading) (Map, []reading, error) {
	used := slices.Clone(read)
	for {
		if len(used) < fewestFitted {
			return Map{}, nil, fmt.Errorf("%d tags were read that agree; at least %d are needed", len(used), fewestFitted)
		}
		m, err := fitAll(width, height, used)
		if err != nil {
			return Map{}, nil, err
		}
		worst, off, typical := m.outlier(used)
		if len(read)-len(used) >= int(outliersShare*float64(len(read))) || off < max(outlierAt, outlierTimes*typical) {
			return m, used, nil
		}
		used = slices.Delete(used, worst, worst+1)
	}
}

// outlier returns the tag that fits worst, its distance and the median distance.
func (m *Map) outlier(used []reading) (worst int, off, typical float64) {
	offs := make([]float64, len(used))
	for i := range used {
		sum := 0.0
		for k := range 4 {
			d, ok := m.Off(used[i].at[k], used[i].on[k])
			if !ok {
				d = math.Inf(1)
			}
			sum += d * d / 4
		}
		if offs[i] = math.Sqrt(sum); offs[i] > offs[worst] {
			worst = i
		}
	}
	off = offs[worst]
	slices.Sort(offs)
	return worst, off, offs[len(offs)/2]
}

// rough fits only the homography, which suffices to lay a pattern on the mat.
func rough(width, height int, read []reading) (Map, error) {
	m := Map{Width: width, Height: height}
	var from []geom.Point
	var to []geom.Pixel
	for i := range read {
		for k := range 4 {
			from, to = append(from, read[i].at[k]), append(to, geom.Pixel{X: read[i].on[k].X, Y: read[i].on[k].Y})
			m.Region = append(m.Region, read[i].at[k])
		}
	}
	h, ok := calibration.FitHomography(from, to)
	if !ok {
		return Map{}, errNoMap
	}
	m.Homography = h
	m.Region = geom.Polygon(m.Region).Hull(nil)
	return m, nil
}

// fitAll fits homography and polynomial to all tags.
func fitAll(width, height int, read []reading) (Map, error) {
	m, err := rough(width, height, read)
	if err != nil {
		return Map{}, err
	}
	normal := make([]float64, cubicTerms*cubicTerms)
	var right [2][]float64
	right[0], right[1] = make([]float64, cubicTerms), make([]float64, cubicTerms)
	for i := range read {
		for k := range 4 {
			h, ok := m.Homography.Map(read[i].at[k])
			if !ok {
				return Map{}, errNoMap
			}
			t := m.terms(h)
			for a := range t {
				right[0][a] += t[a] * (read[i].on[k].X - h.X)
				right[1][a] += t[a] * (read[i].on[k].Y - h.Y)
				for b := range t {
					normal[a*cubicTerms+b] += t[a] * t[b]
				}
			}
		}
	}
	for axis := range right {
		x, ok := linalg.SolveSPD(normal, right[axis])
		if !ok {
			return Map{}, errNoMap
		}
		copy(m.Cubic[axis][:], x)
	}
	return m, nil
}

// Errors are the distances by which the light of a second pattern, which was not fitted, misses the
// prediction.
type Errors struct {
	RMS   float64    `json:"rms_mm"`
	Worst float64    `json:"worst_mm"`
	At    geom.Point `json:"worst_at_mm"`
	Tags  int        `json:"tags"`
}

// verify compares a map with the tags read of a second pattern.
func (m *Map) verify(read []reading) (e Errors) {
	sum := 0.0
	for i := range read {
		for k := range 4 {
			d, ok := m.Off(read[i].at[k], read[i].on[k])
			if !ok {
				d = math.Inf(1)
			}
			if sum += d * d; d > e.Worst {
				e.Worst, e.At = d, read[i].at[k]
			}
		}
	}
	e.Tags = len(read)
	if e.Tags > 0 {
		e.RMS = math.Sqrt(sum / float64(4*e.Tags))
	}
	return e
}

// The largest errors of a map. Lines keep 5 mm from every base; with errors below half of that, no
// light falls on the bases. For a lens that bends its picture by 6 mm, the largest error is 0.8 mm
// (TestTheMapIsTrue).
const (
	rmsMost        = 0.5 // mm
	worstMost      = 2.0 // mm
	fewestVerified = 12  // tags
	verifiedShare  = 0.5 // least share of the fitted area that the second pattern covers
)

// accept returns why a map must not be used; "": it may.
func (m *Map) accept(read []reading, e Errors) string {
	var corners []geom.Point
	for i := range read {
		corners = append(corners, read[i].at[:]...)
	}
	switch {
	case e.Tags < fewestVerified:
		return fmt.Sprintf("Only %d tags of the second pattern were read; at least %d are needed. Clear the mat, dim the room's lamps a little, "+
			"and set it up again.", e.Tags, fewestVerified)
	case math.Abs(geom.Polygon(corners).Hull(nil).Area()) < verifiedShare*math.Abs(geom.Polygon(m.Region).Area()):
		return "The second pattern was read on a small part of the mat only. Clear the mat and set it up again."
	case !(e.RMS <= rmsMost) || !(e.Worst <= worstMost):
		return fmt.Sprintf("The light misses its places by %.1f mm rms, %.1f mm at worst, near (%.0f, %.0f) mm; %.1f and %.1f mm are allowed. "+
			"Clear the mat, focus the projector, and set it up again.", e.RMS, e.Worst, e.At.X, e.At.Y, rmsMost, worstMost)
	}
	return ""
}

// check returns an error for what no fit produces.
func (m *Map) check() error {
	if m.Width < smallestScreen || m.Height < smallestScreen || m.Width > largestScreen || m.Height > largestScreen {
		return fmt.Errorf("screen: expected %d to %d px, got %d×%d", smallestScreen, largestScreen, m.Width, m.Height)
	}
	numbers := slices.Concat(m.Homography[:], m.Cubic[0][:], m.Cubic[1][:])
	for _, p := range m.Region {
		numbers = append(numbers, p.X, p.Y)
	}
	for _, x := range numbers {
		if math.IsNaN(x) || math.Abs(x) > 1e9 {
			return fmt.Errorf("map: expected numbers up to 1e9, got %g", x)
		}
	}
	if len(m.Region) < 3 || !geom.Polygon(m.Region).Convex() {
		return fmt.Errorf("region: expected a convex outline of 3 corners or more, got %d", len(m.Region))
	}
	return nil
}

// The sizes of screens, px.
const (
	smallestScreen = 320
	largestScreen  = 16384
)
