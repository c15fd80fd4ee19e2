// Package dots reads the coloured dots by which ships that look alike are told: two stickers of 8 mm at the rear corners of a
// card, each a disc of 6 mm in one of five colours with a white ring. A ship's number says which two it carries.
package dots

import (
	"strconv"

	"sightline/engine"
	"sightline/engine/geom"
)

// Colour is a dot's colour; None: no dot is read.
type Colour int

// The colours. Orange is none of them: a camera takes it for red or yellow.
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

// The sticker's measures.
const (
	Disc = 6 * geom.Millimeter // diameter of the colour
	Ring = 8 * geom.Millimeter // and with its white ring

	FromSide = 6.2 * geom.Millimeter // of the dot's middle from the base's side
	FromRear = 11 * geom.Millimeter  // and from its rear edge
)

// Numbers is how many numbers the dots can say: more than a player has ships.
const Numbers = colours * colours

// OfNumber are the dots of a ship's number, 1 to Numbers, at its left and its right rear corner. The first five have the same
// colour twice, so that one of the two says enough; each further one has two.
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

// OfShip are the dots of a ship: "A7" has those of number 7.
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

// Places are where the middles of the left and the right dot lie in a base's frame, in mm.
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

// Resolve says which of the ships the dots name: the only one that has all dots that are read. It says nothing where no dot is
// read, where several have them (A1 and B1 have the same), or where none has.
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
