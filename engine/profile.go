package engine

import (
	"fmt"
	"math"

	"sightline/engine/geom"
)

// Profile holds the dimensions that sources disagree about or that players may
// measure on their own set. Lengths in mm, angles in radians.
type Profile struct {
	Name string // the built-in profile that it is or that it changes

	Small, Medium, Large geom.Length // side of the square base
	HugeWidth            geom.Length
	Huge195, Huge225     geom.Length // length of the huge bases
	HugePlastic          geom.Length // length of each of the two plastic bases under a huge ship's token

	Bullseye geom.Length // width of the strip
	Guides   bool        // whether guides belong to any outline

	// Half angle of the front arc by base (all huge bases share one): of the
	// first edition's tokens and of the second's.
	HalfAngle1e, HalfAngle2e [4]geom.Angle

	Bank, Turn [3]geom.Length // centre-line radius of the templates, speed 1 to 3
}

// Nominal returns the dimensions that the community's programs share; it is the
// default profile.
func Nominal() Profile {
	return Profile{
		Name:  "nominal",
		Small: 40 * geom.Millimeter, Medium: 60 * geom.Millimeter, Large: 80 * geom.Millimeter,
		HugeWidth: 80 * geom.Millimeter, Huge195: 195 * geom.Millimeter, Huge225: 224.8 * geom.Millimeter,
		// One program puts the apex of the side arcs 40 mm from a huge ship's ends,
		// the middle of a plastic base as long as it is wide.
		HugePlastic: 80 * geom.Millimeter,
		Bullseye:    15 * geom.Millimeter,
		Guides:      true,
		// The first edition has no medium base; its half angle is the second's.
		HalfAngle1e: [4]geom.Angle{40.45 * geom.Degree, 41.40 * geom.Degree, 42.03 * geom.Degree, 40.45 * geom.Degree},
		HalfAngle2e: [4]geom.Angle{40.62 * geom.Degree, 41.40 * geom.Degree, 41.76 * geom.Degree, 41.45 * geom.Degree},
		Bank:        [3]geom.Length{80, 130, 180},
		Turn:        [3]geom.Length{35, 62.5, 90},
	}
}

// Measured returns the nominal dimensions with the template radii that calipers
// found on five template sets.
func Measured() Profile {
	p := Nominal()
	p.Name = "measured"
	p.Bank = [3]geom.Length{82.3, 131.7, 181.2}
	p.Turn = [3]geom.Length{35.4, 62.3, 89.2}
	return p
}

// ProfileNamed returns a built-in profile; "" is nominal.
func ProfileNamed(name string) (Profile, error) {
	switch name {
	case "", "nominal":
		return Nominal(), nil
	case "measured":
		return Measured(), nil
	}
	return Profile{}, fmt.Errorf("profile: expected nominal or measured, got %q", name)
}

// ProfileOf returns the dimensions of a scene, for drawing: nominal ones if it names others that are not known.
func ProfileOf(s *Scene) Profile {
	p, err := s.dimensions()
	if err != nil && s.Dimensions == nil {
		return Nominal()
	}
	return p
}

// Corners returns the corners of a base at a pose: front left, front right, rear right, rear left.
func (p *Profile) Corners(b Base, at geom.Pose) []geom.Point {
	w, l := p.Size(b)
	x, y := float64(w)/2, float64(l)/2
	return at.TransformAll([]geom.Point{{X: -x, Y: y}, {X: x, Y: y}, {X: x, Y: -y}, {X: -x, Y: -y}})
}

// Size returns a base's width across the heading and length along it.
func (p *Profile) Size(b Base) (width, length geom.Length) {
	switch b {
	case Small:
		return p.Small, p.Small
	case Medium:
		return p.Medium, p.Medium
	case Large:
		return p.Large, p.Large
	case Huge195:
		return p.HugeWidth, p.Huge195
	case Huge225:
		return p.HugeWidth, p.Huge225
	}
	return 0, 0
}

// HalfAngle returns the half angle of the front arc printed on a base's token.
func (p *Profile) HalfAngle(r Rules, b Base) geom.Angle {
	angles := &p.HalfAngle2e
	if r == Rules1e {
		angles = &p.HalfAngle1e
	}
	switch b {
	case Small:
		return angles[0]
	case Medium:
		return angles[1]
	case Large:
		return angles[2]
	}
	return angles[3]
}

// Validate reports the first dimension outside its limits.
func (p *Profile) Validate() error {
	for i := range Dimensions {
		d := &Dimensions[i]
		for _, v := range d.Values(p) {
			if err := d.check(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// Dimension is one dimension of a profile, or several of a kind.
type Dimension struct {
	Name  string // its key in a scene file, with the unit
	Count int    // how many numbers; 0: one number and not a list

	unit   float64 // inner units in one of the name's
	lo, hi float64 // in the name's unit
	at     func(*Profile, int) *float64
}

// Values returns the dimension's values in a profile, in the unit of its name.
func (d *Dimension) Values(p *Profile) []float64 {
	vs := make([]float64, max(1, d.Count))
	for i := range vs {
		vs[i] = *d.at(p, i) / d.unit
	}
	return vs
}

// Set changes the dimension's values in a profile: as many as Values returns, in the
// unit of its name. The front arc's angle is the token's, and a scene is played in one
// edition, so that it is set for both.
func (d *Dimension) Set(p *Profile, values []float64) {
	for i, v := range values {
		at := d.at(p, i)
		*at = v * d.unit
		for b := range p.HalfAngle2e {
			if at == (*float64)(&p.HalfAngle2e[b]) {
				p.HalfAngle1e[b] = p.HalfAngle2e[b]
			}
		}
	}
}

func (d *Dimension) check(v float64) error {
	if math.IsNaN(v) || v < d.lo || v > d.hi {
		return fmt.Errorf("profile: %s: expected %g to %g, got %g", d.Name, d.lo, d.hi, v)
	}
	return nil
}

func lengthOf(name string, at func(*Profile) *geom.Length) Dimension {
	return Dimension{Name: name, unit: 1, lo: 1, hi: 1000, at: func(p *Profile, _ int) *float64 { return (*float64)(at(p)) }}
}

func angleOf(name string, base int) Dimension {
	return Dimension{Name: name, unit: float64(geom.Degree), lo: 1, hi: 89, at: func(p *Profile,
		_ int) *float64 {
		return (*float64)(&p.HalfAngle2e[base])
	}}
}

// Dimensions lists the dimensions of a profile that a scene file may set.
var Dimensions = []Dimension{
	lengthOf("small_mm", func(p *Profile) *geom.Length { return &p.Small }),
	lengthOf("medium_mm", func(p *Profile) *geom.Length { return &p.Medium }),
	lengthOf("large_mm", func(p *Profile) *geom.Length { return &p.Large }),
	lengthOf("huge_width_mm", func(p *Profile) *geom.Length { return &p.HugeWidth }),
	lengthOf("huge_195_mm", func(p *Profile) *geom.Length { return &p.Huge195 }),
	lengthOf("huge_225_mm", func(p *Profile) *geom.Length { return &p.Huge225 }),
	lengthOf("huge_plastic_mm", func(p *Profile) *geom.Length { return &p.HugePlastic }),
	lengthOf("bullseye_mm", func(p *Profile) *geom.Length { return &p.Bullseye }),
	angleOf("arc_small_deg", 0),
	angleOf("arc_medium_deg", 1),
	angleOf("arc_large_deg", 2),
	angleOf("arc_huge_deg", 3),
	{Name: "bank_mm", unit: 1, lo: 1, hi: 1000, Count: 3, at: func(p *Profile, i int) *float64 { return (*float64)(&p.Bank[i]) }},
	{Name: "turn_mm", unit: 1, lo: 1, hi: 1000, Count: 3, at: func(p *Profile, i int) *float64 { return (*float64)(&p.Turn[i]) }},
}
