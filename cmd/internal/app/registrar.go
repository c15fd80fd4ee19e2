package app

import (
	"errors"
	"fmt"
	"image"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
)

// movedBy is how far a corner of the mat may lie from where a calibration file puts
// it for the file to be used. Two registrations of the same camera differ by a tenth
// of that.
const movedBy = 0.5 * geom.Millimeter

// markersToTrust is how many markers a registration needs to contradict an older
// one: with a hand over the others, three say little about the far corner.
const markersToTrust = 4

// errNoLens is what a registration lacks when nobody said what the lens is.
var errNoLens = errors.New("the lens is not known")

// errMirrored is what is wrong with a picture whose markers can be read in a mirror.
var errMirrored = errors.New("the picture is mirrored: left and right are exchanged")

// registrar finds the camera's place from the mat's markers.
type registrar struct {
	detector vision.MarkerDetector // nil: this program cannot see markers
	layout   calibration.Layout
	lens     func() (calibration.Intrinsics, bool)
}

// register returns the camera's place in one picture, and the markers that fixed it.
func (r *registrar) register(g *image.Gray) (calibration.Table, []calibration.MarkerSighting, error) {
	lens, ok := r.lens()
	if !ok {
		return calibration.Table{}, nil, errNoLens
	}
	lens, err := lens.Scaled(g.Bounds().Dx(), g.Bounds().Dy())
	if err != nil {
		return calibration.Table{}, nil, err
	}
	found, err := r.detector.DetectMarkers(g)
	if err != nil {
		return calibration.Table{}, nil, fmt.Errorf("look for markers: %w", err)
	}
	if len(found) == 0 {
		if mirrored, err := vision.Mirrored(r.detector, g); err == nil && mirrored {
			return calibration.Table{}, nil, errMirrored
		}
	}
	seen := vision.Sightings(found)
	t, err := calibration.Register(lens, r.layout, seen)
	return t, seen, vision.ExplainMarkers(err, g, seen)
}

// regionOf returns the part of the picture that holds the mat and its markers, with
// a little room: what is worth showing.
func regionOf(t *calibration.Table) image.Rectangle {
	w, h := float64(t.Layout.Width), float64(t.Layout.Height)
	points := []geom.Point{}
	const steps = 8 // a bent lens bends the mat's edges
	for i := range steps + 1 {
		k := float64(i) / steps
		points = append(points, geom.Point{X: k * w}, geom.Point{X: k * w, Y: h}, geom.Point{Y: k * h}, geom.Point{X: w, Y: k * h})
	}
	for _, m := range t.Layout.Markers {
		c := m.Corners()
		points = append(points, c[:]...)
	}
	var box image.Rectangle
	for _, p := range points {
		if px, ok := t.PixelOf(p, 0); ok {
			x, y := int(px.X), int(px.Y)
			box = box.Union(image.Rect(x, y, x+1, y+1))
		}
	}
	return box.Inset(-max(box.Dx(), box.Dy()) / 25).Intersect(image.Rect(0, 0, t.Intrinsics.Width, t.Intrinsics.Height))
}
