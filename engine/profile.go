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

// Validate says which dimension is not one that geometry can be done with.
func (p *Profile) Validate() error {
	for _, k := range profileKeys {
		for _, v := range k.values(p) {
			if err := k.check(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// profileKey is one dimension of a profile and its key on the wire.
type profileKey struct {
	name   string
	unit   float64 // inner units in one unit of the wire
	lo, hi float64 // on the wire
	n      int     // how many numbers; 0: one number and not an array
	at     func(*Profile, int) *float64
}

func (k *profileKey) values(p *Profile) []float64 {
	vs := make([]float64, max(1, k.n))
	for i := range vs {
		vs[i] = *k.at(p, i) / k.unit
	}
	return vs
}

// set changes a dimension. The front arc's angle is the token's, and a scene is
// played in one edition, so that it is set for both.
func (k *profileKey) set(p *Profile, i int, v float64) {
	*k.at(p, i) = v
	for b := range p.HalfAngle2e {
		if k.at(p, i) == (*float64)(&p.HalfAngle2e[b]) {
			p.HalfAngle1e[b] = geom.Angle(v)
		}
	}
}

func (k *profileKey) check(v float64) error {
	if math.IsNaN(v) || v < k.lo || v > k.hi {
		return fmt.Errorf("profile: %s: expected %g to %g, got %g", k.name, k.lo, k.hi, v)
	}
	return nil
}

func lengthKey(name string, at func(*Profile) *geom.Length) profileKey {
	return profileKey{name: name, unit: 1, lo: 1, hi: 1000, at: func(p *Profile, _ int) *float64 { return (*float64)(at(p)) }}
}

func angleKey(name string, base int) profileKey {
	return profileKey{name: name, unit: float64(geom.Degree), lo: 1, hi: 89, at: func(p *Profile, _ int) *float64 { return (*float64)(&p.HalfAngle2e[base]) }}
}

var profileKeys = []profileKey{
	lengthKey("small_mm", func(p *Profile) *geom.Length { return &p.Small }),
	lengthKey("medium_mm", func(p *Profile) *geom.Length { return &p.Medium }),
	lengthKey("large_mm", func(p *Profile) *geom.Length { return &p.Large }),
	lengthKey("huge_width_mm", func(p *Profile) *geom.Length { return &p.HugeWidth }),
	lengthKey("huge_195_mm", func(p *Profile) *geom.Length { return &p.Huge195 }),
	lengthKey("huge_225_mm", func(p *Profile) *geom.Length { return &p.Huge225 }),
	lengthKey("huge_plastic_mm", func(p *Profile) *geom.Length { return &p.HugePlastic }),
	lengthKey("bullseye_mm", func(p *Profile) *geom.Length { return &p.Bullseye }),
	angleKey("arc_small_deg", 0),
	angleKey("arc_medium_deg", 1),
	angleKey("arc_large_deg", 2),
	angleKey("arc_huge_deg", 3),
	{name: "bank_mm", unit: 1, lo: 1, hi: 1000, n: 3, at: func(p *Profile, i int) *float64 { return (*float64)(&p.Bank[i]) }},
	{name: "turn_mm", unit: 1, lo: 1, hi: 1000, n: 3, at: func(p *Profile, i int) *float64 { return (*float64)(&p.Turn[i]) }},
}
