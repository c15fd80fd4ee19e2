// Package dots reads the coloured dots that distinguish ships with the same card: two stickers of 8 mm at the rear corners of a
// card, each a disc of 6 mm in one of five colours with a white ring. A ship's number determines its two colours.
package dots

import (
	"strconv"

	"sightline/engine"
	"sightline/engine/geom"
)

// Colour is a dot's colour; None: no dot is read.
type Colour int

// The colours. Orange is not among them, because cameras confuse it with red or yellow.
const (
	None Colour = iota
	Red
	Green
	Blue
	Yellow
	Magenta
	colours = int(Magenta)
)

// String names a colour.
func (c Colour) String() string {
	return [...]string{"none", "red", "green", "blue", "yellow", "magenta"}[c]
}

// The dimensions of the sticker.
const (
	Disc = 6 * geom.Millimeter // diameter of the colour
	Ring = 8 * geom.Millimeter // and with its white ring

	FromSide = 6.2 * geom.Millimeter // of the dot's middle from the base's side
	FromRear = 11 * geom.Millimeter  // and from its rear edge
)

// Numbers is the number of different pairs of dots: more than a player has ships.
const Numbers = colours * colours

// OfNumber returns the dots of a ship's number, 1 to Numbers, at its left and right rear corners. The first five numbers have the
// same colour twice, so that one dot is enough; the others have two colours.
func OfNumber(n int) (left, right Colour, ok bool) {
	switch {
	case n < 1 || n > Numbers:
		return None, None, false
	case n <= colours:
		return Colour(n), Colour(n), true
	}
	k := n - colours - 1
	i := k % colours
	return Colour(1 + i), Colour(1 + (i+1+k/colours)%colours), true
}

// OfShip returns the dots of a ship: "A7" has those of number 7.
func OfShip(id string) (left, right Colour, ok bool) {
	if len(id) < 2 || id[0] != 'A' && id[0] != 'B' {
		return None, None, false
	}
	n, err := strconv.Atoi(id[1:])
	if err != nil {
		return None, None, false
	}
	return OfNumber(n)
}

// Places returns the centres of the left and the right dot in the base's frame, in mm.
func Places(b engine.Base) [2]geom.Point {
	w, l := b.Size()
	x, y := float64(w/2-FromSide), float64(FromRear-l/2)
	return [2]geom.Point{{X: -x, Y: y}, {X: x, Y: y}}
}

// Reading is what a picture shows of a ship's dots, the left one first.
type Reading [2]Colour

// Both reports whether both dots are read.
func (r Reading) Both() bool { return r[0] != None && r[1] != None }

// Allows reports whether a ship has all dots that are read.
func (r Reading) Allows(id string) bool {
	left, right, ok := OfShip(id)
	return ok && (r[0] == None || r[0] == left) && (r[1] == None || r[1] == right)
}

// Resolve returns the only one of the ships that has all dots that are read. It returns none if no dot is read, if several ships
// have them (A1 and B1 have the same), or if no ship has.
func (r Reading) Resolve(ids []string) (id string, ok bool) {
	if r == (Reading{}) {
		return "", false
	}
	for _, one := range ids {
		switch {
		case !r.Allows(one):
		case ok:
			return "", false
		default:
			id, ok = one, true
		}
	}
	return id, ok
}
