package geom

import (
	"math"
	"strconv"
)

// Length is a distance in millimetres. Write 40*geom.Millimeter, never a bare 40.
type Length float64

// Units of length.
const (
	Millimeter Length = 1
	Inch              = 25.4 * Millimeter
)

// Millimeters returns the length as a number of millimetres.
func (l Length) Millimeters() float64 { return float64(l) }

// String prints the length with its unit, to a hundredth of a millimetre.
func (l Length) String() string { return strconv.FormatFloat(float64(l), 'f', 2, 64) + " mm" }

// Angle is an angle in radians. Headings grow clockwise from +y.
type Angle float64

// Units of angle.
const (
	Radian Angle = 1
	Degree       = math.Pi / 180 * Radian
)

// Degrees returns the angle as a number of degrees.
func (a Angle) Degrees() float64 { return float64(a / Degree) }

// String prints the angle in degrees, to a hundredth.
func (a Angle) String() string { return strconv.FormatFloat(a.Degrees(), 'f', 2, 64) + "°" }

// Normalized returns the same direction in [0, 2π).
func (a Angle) Normalized() Angle {
	r := math.Mod(float64(a), 2*math.Pi)
	if r < 0 {
		r += 2 * math.Pi
	}
	if r >= 2*math.Pi { // a tiny negative angle rounds up to 2π
		r = 0
	}
	return Angle(r)
}

// Distance returns the angle between two directions, in [0, π].
func (a Angle) Distance(b Angle) Angle { return Angle(math.Abs(float64((a - b).Signed()))) }

// Signed returns the same direction in (-π, π], the form in which differences
// of headings are compared.
func (a Angle) Signed() Angle {
	r := a.Normalized()
	if r > math.Pi {
		r -= 2 * math.Pi
	}
	return r
}
