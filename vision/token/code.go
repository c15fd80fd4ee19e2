package token

import (
	"fmt"
	"math/bits"
	"strconv"
)

// The ship code. Every side of a token carries one word of twelve cells, and no
// two sides in the whole set carry the same word, so any one side that can be
// read names the ship and the side, that is the identity and the heading.
//
// The words are the (12, 144, 4) code, the largest of its kind (A(12,4) = 144:
// MacWilliams & Sloane, "The Theory of Error-Correcting Codes", ch. 2 §7): the 132
// hexads of the Steiner system S(5,6,12), six disjoint pairs and their six
// complements. Any two words differ in at least four of their twelve cells, so a
// single misread cell is corrected and two are noticed.
//
// A hexad has six white and six dark cells, and hardly anything on a table looks
// like one by chance. The pairs and their complements are nearly plain: a seam in a
// wooden table passes for one. Twelve ships carry one such word each, as the left
// side of the highest numbers, and no ship is ever believed on its strength alone.
const (
	WordBits = 12  // cells in a word
	Ships    = 36  // ship codes: 1…18 for player 1, 19…36 for player 2
	Words    = 144 // Ships × 4 sides
)

// Side is a side of a base.
type Side int

// The sides, clockwise from the front.
const (
	Front Side = iota
	RightSide
	Rear
	LeftSide
)

// String returns the side's name.
func (s Side) String() string { return [...]string{"front", "right", "rear", "left"}[s&3] }

// ShipCode is the number that a token carries, 0…35.
type ShipCode int

// CodeOfID returns the code of a ship's id as it stands on the printed tokens:
// A1…A18 are player 1's, B1…B18 player 2's.
func CodeOfID(id string) (ShipCode, error) {
	if len(id) >= 2 && (id[0] == 'A' || id[0] == 'B') {
		if n, err := strconv.Atoi(id[1:]); err == nil && n >= 1 && n <= Ships/2 && id[1] != '+' && id[1] != '0' {
			return ShipCode(int(id[0]-'A')*Ships/2 + n - 1), nil
		}
	}
	return 0, fmt.Errorf("ship id %.40q: expected A1…A%d or B1…B%d", id, Ships/2, Ships/2)
}

// ID returns the printed id, "A1"…"B18".
func (c ShipCode) ID() string {
	return string(rune('A'+int(c)/(Ships/2))) + strconv.Itoa(int(c)%(Ships/2)+1)
}

// Player returns 1 or 2.
func (c ShipCode) Player() int { return int(c)/(Ships/2) + 1 }

// Word returns the twelve cells of one side, the first cell in bit 0. Seen from
// outside the base, looking at the side with the base beyond it, the cells run
// from right to left: clockwise round the token as it is seen from above. A set
// bit is a white cell.
func (c ShipCode) Word(s Side) uint16 { return AllWords[4*int(c)+int(s)] }

// AllWords are the words of all codes: of each code its four sides.
var AllWords = codeWords()

// generators are z+1, 3z and -1/z modulo 11, which generate PSL(2,11). Point 11 stands for ∞.
var generators = [3]func(int) int{
	func(z int) int {
		if z == 11 {
			return 11
		}
		return (z + 1) % 11
	},
	func(z int) int {
		if z == 11 {
			return 11
		}
		return 3 * z % 11
	},
	func(z int) int {
		switch z {
		case 11:
			return 0
		case 0:
			return 11
		}
		return (11 - inverse(z)) % 11
	},
}

// inverse returns 1/z modulo 11, of z from 1 to 10.
func inverse(z int) int {
	w := 1
	for z*w%11 != 1 {
		w++
	}
	return w
}

// hexads returns the 132 hexads, as words with a bit for each point: the images of {∞, 1, 3, 4, 5, 9} (infinity and the
// quadratic residues modulo 11) under PSL(2,11).
func hexads() map[uint16]bool {
	start := uint16(1<<11 | 1<<1 | 1<<3 | 1<<4 | 1<<5 | 1<<9)
	set := map[uint16]bool{start: true}
	for queue := []uint16{start}; len(queue) > 0; queue = queue[1:] {
		for _, g := range generators {
			var image uint16
			for z := range 12 {
				if queue[0]>>z&1 == 1 {
					image |= 1 << g(z)
				}
			}
			if !set[image] {
				set[image] = true
				queue = append(queue, image)
			}
		}
	}
	return set
}

// codebook lists the words in order, so that the order is fixed by the code itself: the strong ones, with as many bits
// set as not, which are the hexads, and the weak ones, six pairs of points and their complements.
func codebook() (strong, weak []uint16) {
	set := hexads()
	for i := range 6 {
		pair := uint16(3 << (2 * i))
		set[pair], set[pair^0xfff] = true, true
	}
	for w := range uint16(1 << WordBits) {
		switch {
		case set[w] && bits.OnesCount16(w) == 6:
			strong = append(strong, w)
		case set[w]:
			weak = append(weak, w)
		}
	}
	if len(strong) != 132 || len(weak) != 12 {
		panic(fmt.Sprintf("vision: the ship code has %d+%d words, want 132+12", len(strong), len(weak)))
	}
	return strong, weak
}

// codeWords builds the 144 words and deals them out to ships and sides, with a stride
// that puts the sides of one ship far apart in the list.
func codeWords() [Words]uint16 {
	strong, weak := codebook()
	var out [Words]uint16
	next, nextWeak := 0, 0
	for i := range out {
		ship, side := ShipCode(i/4), Side(i%4)
		if side == LeftSide && int(ship)%(Ships/2) >= 12 {
			out[i] = weak[nextWeak]
			nextWeak++
			continue
		}
		out[i] = strong[next*61%len(strong)] // 61 and 132 share no factor: every word once
		next++
	}
	return out
}

// WeakWord reports whether a word is too plain to be believed alone.
func WeakWord(w uint16) bool { return bits.OnesCount16(w) != 6 }

// Distance is the number of cells in which two words differ.
func Distance(a, b uint16) int { return bits.OnesCount16(a ^ b) }
