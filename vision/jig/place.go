package jig

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
)

// Place is the pose of the sheet on the table.
type Place struct {
	Pose  geom.Pose // of its origin
	Scale float64   // of the print, 1 when true
	Seen  int       // markers
}

const (
	tagsLeast   = 3
	scaleMost   = 0.008 // relative error of the sheet's size
	offMost     = 0.7   // mm by which a marker may be off the others
	parallaxMin = 0.1   // mm of shift for each mm of height
	edgeLeast   = 3     // px from the picture's edge
)

// ErrUnseen means that the sheet is not in the picture, or too little of it.
var ErrUnseen = errors.New("the jig sheet is not seen")

// Find finds the sheet by its markers. Its errors are shown to people.
func Find(t *calibration.Table, seen []calibration.MarkerSighting) (Place, error) {
	var from, to []complex128
	markers := 0
	for _, m := range Tags() {
		for _, s := range seen {
			if s.ID != m.ID {
				continue
			}
			markers++
			for i, c := range m.Corners() {
				p, ok := t.PointAt(s.Corners[i], Paper)
				if !ok {
					return Place{}, ErrUnseen
				}
				from, to = append(from, complex(c.X, c.Y)), append(to, complex(p.X, p.Y))
			}
		}
	}
	if markers < tagsLeast || markers > len(Tags()) {
		return Place{}, fmt.Errorf("%w: %d of its %d markers are found", ErrUnseen, markers, len(Tags()))
	}
	factor, shift, off := similarity(from, to)
	scale := cmplx.Abs(factor)
	switch {
	case off > offMost:
		return Place{}, fmt.Errorf("the jig sheet does not lie flat: a marker is %.1f mm off the others", off)
	case math.Abs(scale-1) > scaleMost:
		return Place{}, fmt.Errorf("the jig sheet measures %.1f %% of its size: print it at 100 %%", 100*scale)
	}
	heading := geom.Angle(-cmplx.Phase(factor)).Normalized()
	return Place{Pose: geom.Pose{Point: geom.Point{X: real(shift), Y: imag(shift)}, Heading: heading}, Scale: scale, Seen: markers}, nil
}

// similarity fits to ≈ factor·from + shift by least squares. off is the largest remaining distance of the mean of a marker's
// four points.
func similarity(from, to []complex128) (factor, shift complex128, off float64) {
	var a, b complex128
	n := complex(float64(len(from)), 0)
	for i := range from {
		a, b = a+from[i]/n, b+to[i]/n
	}
	var both, own complex128
	for i := range from {
		d := from[i] - a
		both += cmplx.Conj(d) * (to[i] - b)
		own += cmplx.Conj(d) * d
	}
	factor = both / own
	shift = b - factor*a
	for i := 0; i < len(from); i += 4 {
		var mean complex128
		for k := i; k < i+4; k++ {
			mean += (to[k] - factor*from[k] - shift) / 4
		}
		off = max(off, cmplx.Abs(mean))
	}
	return factor, shift, off
}

// Base returns the pose of a base on the sheet in a quarter turn.
func (p Place) Base(b engine.Base, turn int) geom.Pose {
	own := poseOf(b, turn)
	return geom.Pose{Point: p.Pose.Transform(own.Point), Heading: (p.Pose.Heading + own.Heading).Normalized()}
}

// parallax returns the apparent shift of something above a point of the mat, in mm per mm of height.
func parallax(t *calibration.Table, at geom.Point) float64 {
	const height = 10
	px, ok := t.PixelOf(at, height)
	if !ok {
		return 0
	}
	p, ok := t.PointAt(px, 0)
	if !ok {
		return 0
	}
	return float64(p.Distance(at)) / height
}
