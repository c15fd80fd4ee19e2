package ship

import (
	"math"

	"sightline/engine/geom"
	"sightline/vision/token"
)

// A ship is identified by the likelihood of its cells, against that of every alternative and of no
// ship at all.
//
// A cell is compared with its print and with the inverted print, blurred and recorded as the camera
// does; a and b are the two squared residuals. The ratio (b-a)/(b+a), its showing, is 1 if it is as
// printed and -1 if inverted, whatever the noise. The frequencies of showings were counted in
// pictures: in cells of wholly visible sides, and in rims that were laid over anything else
// (miniatures, panels, rocks, other ships' rims). The logarithm of the ratio is the cell's
// evidence.

// shows is the showing of a cell, or nothing if it was not visible or has no contrast.
type shows struct {
	value float64
	seen  bool
}

const (
	// coveredCell is the share of covered cells on a visible side, and coveredSide the share of sides
	// that are not visible: a ship is not refused because its miniature hides something.
	coveredCell = 0.25
	coveredSide = 0.3
	// unseenRatio is how often a cell of a visible side is not seen, relative to how often it is
	// elsewhere.
	unseenRatio = 0.03 / 0.79
)

// showingRatio is how often a showing occurs in visible cells relative to elsewhere, for tenths of
// the range from -1 to 1.
var showingRatio = [10]float64{0.21, 0.41, 0.40, 0.43, 0.32, 0.33, 0.36, 0.42, 0.68, 11.4}

// cellEvidence is the evidence of a cell for its print, and for the inverted print.
type cellEvidence struct{ as, flipped float64 }

// evidence returns the log likelihood ratios of a showing against no print.
func (s shows) evidence() cellEvidence {
	if !s.seen {
		return unseenEvidence
	}
	return showingEvidence[min(int((s.value+1)*5), 9)]
}

var unseenEvidence = cellEvidence{ofRatio(unseenRatio), ofRatio(unseenRatio)}

// showingEvidence is the evidence of each tenth of showingRatio.
var showingEvidence = func() (e [len(showingRatio)]cellEvidence) {
	for k := range e {
		e[k] = cellEvidence{ofRatio(showingRatio[k]), ofRatio(showingRatio[len(e)-1-k])}
	}
	return e
}()

func ofRatio(ratio float64) float64 { return math.Log((1-coveredCell)*ratio + coveredCell) }

// evidence is the evidence of all cells of a fit.
type evidence [4][token.MaxCells]cellEvidence

func (f *rimFit) evidence() (e evidence) {
	for s := range e {
		for i := range token.Cells(f.token.Base, token.Side(s)) {
			e[s][i] = f.shown[s][i].evidence()
		}
	}
	return e
}

// sideLog returns the log likelihood ratio of a side from the sum of its cells' evidence.
func sideLog(sum float64) float64 {
	if sum > 30 {
		return sum + math.Log(1-coveredSide)
	}
	return math.Log((1-coveredSide)*math.Exp(sum) + coveredSide)
}

// likelihood returns the log likelihood ratio of the ship against no ship, and its lead over the
// likeliest alternative: any ship in any heading that the outline allows, and the same ship on
// another base that shares a corner with it. If no side is whole, so that no corners show where the
// ship ends, ships shifted by a cell or two are alternatives too, and a huge ship is its own
// alternative shifted by whole words.
func (f *rimFit) likelihood(whole bool) (own, lead float64) {
	e := f.evidence()
	own = f.wordLog(&e, f.token.Code, 0)
	if own < leastLog {
		return own, 0
	}
	rival := max(0, f.otherBaseLog(&e))
	for code := range token.ShipCode(token.Ships) {
		for turn := 0; turn < 4; turn += turns(f.token) {
			if code != f.token.Code || turn != 0 {
				rival = f.wordLogOver(&e, code, turn, rival)
			}
			if !whole {
				rival = max(rival, f.shiftedLog(&e, code, turn))
			}
		}
	}
	lead = own - rival
	if !whole && !token.Square(f.token.Base) {
		lead = min(lead, f.recurringLead(&e))
	}
	return own, lead
}

// wordLog returns the log likelihood ratio of a ship on the same outline, turned by quarters.
func (f *rimFit) wordLog(e *evidence, code token.ShipCode, turn int) (sum float64) {
	return f.wordLogOver(e, code, turn, math.Inf(-1))
}

// wordLogOver returns wordLog if it is more than least, and otherwise least: no side counts for
// more than its cells do.
func (f *rimFit) wordLogOver(e *evidence, code token.ShipCode, turn int, least float64) (sum float64) {
	var sides [4]float64
	most := 0.0
	for s := range sides {
		sides[s] = f.sideSum(e, code, turn, s, 0)
		most += max(sides[s], 0)
	}
	if most <= least {
		return least
	}
	for _, v := range sides {
		sum += sideLog(v)
	}
	return max(sum, least)
}

// shiftedLog returns the same for a ship shifted by a cell or two along one of its sides. The sides
// across then show nothing, because their rim lies elsewhere. Front and rear of A15 look alike when
// turned around and shifted by a cell.
func (f *rimFit) shiftedLog(e *evidence, code token.ShipCode, turn int) (most float64) {
	for axis := range 2 {
		for _, shift := range [...]int{-2, -1, 1, 2} {
			most = max(most, sideLog(f.sideSum(e, code, turn, axis, shift))+sideLog(f.sideSum(e, code, turn, axis+2, -shift)))
		}
	}
	return most
}

// sideSum returns the evidence of one side for a ship shifted by some cells.
func (f *rimFit) sideSum(e *evidence, code token.ShipCode, turn, s, shift int) (sum float64) {
	own, word := f.token.Code.Word(token.Side(s)), code.Word(token.Side((s+turn)%4))
	n := token.Cells(f.token.Base, token.Side(s))
	for i := range n {
		at := i + shift
		white := at >= 0 && at < n && word>>(at%token.WordBits)&1 == 1 // the corner beyond the cells is dark
		if own>>(i%token.WordBits)&1 == 1 == white {
			sum += e[s][i].as
		} else {
			sum += e[s][i].flipped
		}
	}
	return sum
}

// recurringLead returns the lead of a huge ship over itself shifted by whole words, where its long
// sides have the same cells. Its front and rear count if their keylines are visible: elsewhere mat
// and panel look like dark cells. The shift does not go beyond an end whose two corners are both
// seen to turn; a miniature's edge may imitate one corner.
func (f *rimFit) recurringLead(e *evidence) float64 {
	code := f.token.Code
	along := func(shift int) float64 {
		return sideLog(f.sideSum(e, code, 0, 1, shift)) + sideLog(f.sideSum(e, code, 0, 3, -shift))
	}
	own, rival := along(0), 0.0
	for s := 0; s < 4; s += 2 {
		if 2*f.keys[s] >= token.Cells(f.token.Base, token.Side(s)) {
			own += sideLog(f.sideSum(e, code, 0, s, 0))
		}
	}
	ahead := !(f.corner[0] && f.corner[3])
	behind := !(f.corner[1] && f.corner[2])
	for words := token.WordBits; words < token.MaxCells; words += token.WordBits {
		for off := -2; off <= 2; off++ {
			if ahead {
				rival = max(rival, along(words+off))
			}
			if behind {
				rival = max(rival, along(-words-off))
			}
		}
	}
	return own - rival
}

// otherBaseLog returns the largest log likelihood ratio of the same ship on a base of another size
// that shares a corner with it: both may begin with the same cells there. A corner that is seen to
// turn where the other base has none excludes it.
func (f *rimFit) otherBaseLog(e *evidence) (most float64) {
	corners := f.token.Corners() // corner k of f.corner is corner k+1 of these
	for _, base := range token.Bases {
		if base == f.token.Base {
			continue
		}
		other := token.Token{Code: f.token.Code, Base: base}
		for k, c := range other.Corners() {
			shift := c.Sub(corners[k]) // from this ship's frame to the other's
			if !f.turnsBeyond(other, shift) {
				most = max(most, f.laidOver(e, other, shift))
			}
		}
	}
	return most
}

// laidOver returns the log likelihood ratio of another token, whose frame is shifted from this
// one's, from the cells that lie under it.
func (f *rimFit) laidOver(e *evidence, other token.Token, shift geom.Point) (total float64) {
	for s := token.Front; s <= token.LeftSide; s++ {
		h, _ := f.token.HalfAlong(s)
		w := float64(token.CellWidth(f.token.Base, s))
		sum := 0.0
		for i := range token.Cells(f.token.Base, s) {
			middle := f.token.Place(s, -h+float64(token.Corner)+(float64(i)+0.5)*w, float64(token.Keyline+token.CellDeep/2))
			white, ok := other.RimWhite(middle.Add(shift))
			switch {
			case !ok: // something else lies there
			case white == f.token.Cell(s, i):
				sum += e[s][i].as
			default:
				sum += e[s][i].flipped
			}
		}
		total += sideLog(sum)
	}
	return total
}
