package calibration

import (
	"errors"

	"sightline/engine/geom"
)

// MarkerSighting is one of the mat's markers as a picture shows it.
type MarkerSighting struct {
	ID      int
	Corners [4]geom.Pixel // top left, top right, bottom right, bottom left of the print
}

// Register finds the camera's place over the table from sightings of the mat's markers.
func Register(lens Intrinsics, layout Layout, seen []MarkerSighting) (Table, error) {
	return Table{}, errors.New("calibration: register: under construction")
}
