package calibration

import (
	"fmt"
	"math"

	"sightline/engine/geom"
)

// DefaultScaleSigma is the relative scale error that all distances share when the
// markers were laid with a steel rule: 0.3 mm in the mat's 914 mm. The camera cannot
// see it.
const DefaultScaleSigma = 0.0003

// Marker is a printed AprilTag (family 36h11) in a known place next to the mat.
type Marker struct {
	ID      int
	Center  geom.Point  // of the black square, mm in the table frame
	Heading geom.Angle  // the printed up direction, clockwise from +y
	Size    geom.Length // side of the black square
	Z       geom.Length // height of the print over the mat's surface
}

// Corners returns the black square's corners on the table, in the order top
// left, top right, bottom right, bottom left of the printed picture.
func (m Marker) Corners() [4]geom.Point {
	p := geom.Pose{Point: m.Center, Heading: m.Heading}
	h := float64(m.Size) / 2
	return [4]geom.Point{
		p.Transform(geom.Point{X: -h, Y: h}), p.Transform(geom.Point{X: h, Y: h}),
		p.Transform(geom.Point{X: h, Y: -h}), p.Transform(geom.Point{X: -h, Y: -h}),
	}
}

// Layout is the set of markers around a mat.
type Layout struct {
	Width, Height geom.Length // of the mat
	Markers       []Marker
	Placement     Placement // how exactly the markers lie; zero: DefaultPlacement
}

// Placement states the standard deviations of each marker's place from the layout. The
// four corners of a marker share these errors, so a marker counts as one place, not
// four.
type Placement struct {
	XY   geom.Length // of its centre, along each axis
	Turn geom.Angle
	Z    geom.Length // of the print's height over the mat's surface
	Size float64     // relative, of the printed square's width and length each, as it appears
}

// DefaultPlacement is for cards cut with a knife and laid by hand with a steel rule:
// 0.2 mm for the cut, 0.2 mm for reading the rule and 0.1 mm for laying the card flush
// make 0.3 mm; 0.3 mm across a 56 mm card is 0.3 degrees; card and mat are equally
// thick to 0.2 mm. The size is that of the square in the picture: ink and light spread
// over it, by 0.4 mm on rendered tables under hard lamps, so the size of a marker says
// little about its distance.
var DefaultPlacement = Placement{XY: 0.3 * geom.Millimeter, Turn: 0.3 * geom.Degree, Z: 0.2 * geom.Millimeter, Size: 0.01}

// ExactPlacement is for markers known better than any picture shows them: those of the
// simulated table, or printed on one plate.
var ExactPlacement = Placement{XY: 0.01 * geom.Millimeter, Turn: 0.01 * geom.Degree, Z: 0.01 * geom.Millimeter, Size: 1e-5}

// PlacementOf returns the default placement scaled to another sigma of place and turn.
func PlacementOf(xy geom.Length) Placement {
	p := DefaultPlacement
	p.Turn *= geom.Angle(xy / p.XY)
	p.XY = xy
	return p
}

// placement returns the layout's placement, or the default.
func (l Layout) placement() Placement {
	if l.Placement == (Placement{}) {
		return DefaultPlacement
	}
	return l.Placement
}

// validate reports impossible sigmas.
func (p Placement) validate() error {
	for _, s := range [...]struct {
		name string
		v    float64
		most float64
	}{
		{"xy (mm)", p.XY.Millimeters(), 20}, {"turn (degrees)", p.Turn.Degrees(), 20},
		{"z (mm)", p.Z.Millimeters(), 20}, {"size (relative)", p.Size, 0.1},
	} {
		if !(s.v >= 0) || s.v > s.most {
			return fmt.Errorf("markers: placement: %s: expected a standard deviation of 0 to %g, got %g", s.name, s.most, s.v)
		}
	}
	return nil
}

// Sizes of the printed mat markers: cards of MarkerCard side, laid flush against the
// mat's edge, of paper 0.2 mm thick on card as thick as the mat.
const (
	MarkerSize   = 40 * geom.Millimeter
	MarkerMargin = 8 * geom.Millimeter // white border: the black square starts here
	MarkerCard   = MarkerSize + 2*MarkerMargin
	markerZ      = 0.2 * geom.Millimeter
)

// MatSide is the standard play area, 3 ft square (rules/dimensions: 914.4 mm).
const MatSide = 914.4 * geom.Millimeter

// DefaultLayout returns the eight markers, ids 0…7, of a mat: three along the
// left edge, two along the far edge, three along the right edge; none at player
// 1's edge, where hands and dials lie.
func DefaultLayout(width, height geom.Length) Layout {
	const end = 40 * geom.Millimeter // centres of the corner markers from the mat's corner
	o := MarkerSize/2 + MarkerMargin
	at := [8][2]geom.Length{
		{-o, end}, {-o, height / 2}, {-o, height - end},
		{0.33 * width, height + o}, {0.67 * width, height + o},
		{width + o, height - end}, {width + o, height / 2}, {width + o, end},
	}
	l := Layout{Width: width, Height: height}
	for i, p := range at {
		l.Markers = append(l.Markers, Marker{
			ID: i, Center: geom.Point{X: float64(p[0]), Y: float64(p[1])}, Size: MarkerSize, Z: markerZ,
		})
	}
	return l
}

// maxSide is the longest side of a mat, one that fits on a floor.
const maxSide = 10000 * geom.Millimeter

// Validate reports why the layout is unusable.
func (l Layout) Validate() error {
	if !(l.Width > 0) || !(l.Height > 0) {
		return fmt.Errorf("mat: width and height must be positive, got %v × %v", l.Width, l.Height)
	}
	if l.Width > maxSide || l.Height > maxSide {
		return fmt.Errorf("mat: expected sides of at most %v, got %v × %v", maxSide, l.Width, l.Height)
	}
	if len(l.Markers) < 3 {
		return fmt.Errorf("markers: at least 3 are needed, got %d", len(l.Markers))
	}
	seen := map[int]bool{}
	for _, m := range l.Markers {
		if seen[m.ID] {
			return fmt.Errorf("markers: id %d appears twice", m.ID)
		}
		if !(m.Size > 0) || m.Size > maxSide {
			return fmt.Errorf("markers: id %d: size must be positive and at most %v, got %v", m.ID, maxSide, m.Size)
		}
		for _, v := range [...]float64{m.Center.X, m.Center.Y, float64(m.Z), m.Heading.Degrees()} {
			if !(math.Abs(v) <= 10*float64(maxSide)) { // also true of NaN
				return fmt.Errorf("markers: id %d: expected a place beside the mat, got %g", m.ID, v)
			}
		}
		seen[m.ID] = true
	}
	return l.Placement.validate()
}

// Corners returns the mat's corners.
func (l *Layout) Corners() [4]geom.Point {
	w, h := float64(l.Width), float64(l.Height)
	return [4]geom.Point{{}, {X: w}, {X: w, Y: h}, {Y: h}}
}
