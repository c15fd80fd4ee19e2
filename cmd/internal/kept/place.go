package kept

import (
	"fmt"
	"math"

	"sightline/engine/geom"
)

// Place is where something lay on the mat, in its coordinates.
type Place struct {
	X       float64 `json:"x_mm"`
	Y       float64 `json:"y_mm"`
	Heading float64 `json:"heading_deg"`
}

// The limits of a place: beyond any mat, and a turn more than a heading has.
const (
	farthest  = 5000 // mm
	mostTurns = 720  // degrees
)

// PlaceOf returns the place of a pose.
func PlaceOf(p geom.Pose) Place { return Place{p.X, p.Y, p.Heading.Degrees()} }

// Pose returns the pose at a place.
func (p Place) Pose() geom.Pose {
	return geom.Pose{Point: geom.Point{X: p.X, Y: p.Y}, Heading: (geom.Angle(p.Heading) * geom.Degree).Normalized()}
}

// Check returns an error for a place where nothing of a table can lie.
func (p Place) Check() error {
	if math.Abs(p.X) <= farthest && math.Abs(p.Y) <= farthest && math.Abs(p.Heading) <= mostTurns {
		return nil
	}
	return fmt.Errorf("expected a place of at most %d mm and a heading of at most %d°, got %v, %v, %v", farthest, mostTurns,
		p.X, p.Y, p.Heading)
}
