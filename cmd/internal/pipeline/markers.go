package pipeline

import (
	"errors"
	"fmt"
	"image"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/exposure"
	"sightline/vision/fiducial"
)

// markersToTrust is how many markers a registration needs to contradict an older one: with a
// hand over the others, three say little about the far corner.
const markersToTrust = 4

// errNoLens is the error of registering without a lens.
var errNoLens = errors.New("the lens is not known")

// FindMarkers returns the mat's markers in a picture. The error is fiducial.ErrMirrored if they
// can only be read mirrored.
func FindMarkers(d vision.MarkerDetector, g *image.Gray) ([]calibration.MarkerSighting, error) {
	found, err := fiducial.DetectMarkers(d, g)
	if err != nil {
		return nil, fmt.Errorf("look for markers: %w", err)
	}
	return vision.Sightings(found), nil
}

// register finds the camera's place from the markers in one picture. It also returns these
// markers.
func (r *Registration) register(g *image.Gray) (calibration.Table, []calibration.MarkerSighting, error) {
	lens, ok := r.o.Lens()
	if !ok {
		return calibration.Table{}, nil, errNoLens
	}
	lens, err := lens.Scaled(g.Bounds().Dx(), g.Bounds().Dy())
	if err != nil {
		return calibration.Table{}, nil, err
	}
	seen, err := FindMarkers(r.o.Markers, g)
	if err != nil {
		return calibration.Table{}, nil, err
	}
	t, err := calibration.Register(lens.WithFocalSigma(r.grown), r.o.Layout, seen)
	return t, seen, exposure.ExplainMarkers(err, g, seen)
}

// regionOf returns the part of the picture that shows the mat and its markers, with a small
// border.
func regionOf(t *calibration.Table) image.Rectangle {
	w, h := float64(t.Layout.Width), float64(t.Layout.Height)
	points := []geom.Point{}
	const steps = 8 // lens distortion bends the mat's edges
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
