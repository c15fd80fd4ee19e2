package engine

import (
	"math"

	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
	"sightline/engine/internal/uncertain"
)

// bandWidth is the length of one band of the range ruler.
const bandWidth = 100 * geom.Millimeter

// maxBands keeps the list of possible bands of a hopeless measurement short.
const maxBands = 1000

// Band returns the range band of a distance: closed at its far edge, so that
// exactly 100 mm is range 1. Contact (0, or less for an overlap) is range 0 in
// 2.0 and 2.5 and range 1 in the first edition.
func Band(r Rules, distance geom.Length) int {
	if distance <= geom.Tie {
		if r == Rules1e {
			return 1
		}
		return 0
	}
	return max(1, int(math.Ceil(float64((distance-geom.Tie)/bandWidth))))
}

// rangeVerdict turns the signed distance of two bases into a range. touch is the signed
// gap between the outlines, guides included, and contact what it says: whether the
// range is 0 in 2.0 and 2.5.
func (mem *memory) rangeVerdict(r Rules, m *uncertain.ClosestPair, touch geom.Interval, contact Outcome, k float64) RangeVerdict {
	s := m.Interval
	v := RangeVerdict{Distance: geom.Length(max(0, s.Val)), Band: max(1, Band(r, geom.Length(s.Val)))}
	lo, hi := max(1, Band(r, geom.Length(s.Lo))), max(1, Band(r, geom.Length(s.Hi)))
	if r != Rules1e {
		switch {
		case contact == Yes:
			v.Band, lo, hi = 0, 0, 0
		case contact == Indeterminate:
			lo = 0
			if touch.Val <= pieces.ContactTie {
				v.Band = 0
			}
		}
	}
	lo = min(lo, v.Band)
	hi = max(min(hi, lo+maxBands), v.Band)
	first := len(mem.bands)
	for b := lo; b <= hi; b++ {
		mem.bands = append(mem.bands, b)
	}
	v.Possible = mem.bands[first:len(mem.bands):len(mem.bands)]
	if lo == hi {
		v.Outcome = Yes
	}
	v.Margin, v.Sigma = v.limit(r, s, touch, k)
	first = len(mem.lines)
	mem.lines = append(mem.lines, m.Lines[0])
	if m.Band {
		mem.lines = append(mem.lines, m.Lines[1])
	}
	v.Lines = mem.lines[first:len(mem.lines):len(mem.lines)]
	return v
}

// limit returns how far the range is from what would change its band, and the
// standard deviation of that: contact, for which the gap between the outlines counts,
// or the edge of the band, for which the distance of the bases does. Where one of the
// two leaves the band undecided, it is that one.
func (v *RangeVerdict) limit(r Rules, bases, touch geom.Interval, k float64) (margin, sigma geom.Length) {
	decided := v.Outcome == Yes
	if r != Rules1e && v.Band <= 1 {
		touches := max(0, touch.Val)
		if v.Band == 0 {
			touches = max(0, -touch.Val)
		}
		edge := float64(bandWidth) - bases.Val
		if v.Band == 0 || v.Possible[0] == 0 || decided && touches <= edge {
			return geom.Length(touches), geom.Length(touch.Sigma(k, touches, decided))
		}
	}
	margin = max(0, geom.Length(v.Band)*bandWidth-geom.Length(bases.Val))
	if v.Band > 1 {
		margin = max(0, min(margin, geom.Length(bases.Val)-geom.Length(v.Band-1)*bandWidth))
	}
	return margin, geom.Length(bases.Sigma(k, float64(margin), decided))
}
