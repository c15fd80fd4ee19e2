package engine

import (
	"math"

	"sightline/engine/geom"
)

// bandWidth is the length of one band of the range ruler.
const bandWidth = 100 * geom.Millimeter

// maxBands keeps the list of possible bands of a hopeless measurement short.
const maxBands = 1000

// Band returns the range band of a distance: closed at its far edge, so that
// exactly 100 mm is range 1. Contact (0, or less for an overlap) is range 0 in
// 2.0 and 2.5 and range 1 in the first edition.
func Band(r Rules, distance geom.Length) int {
	if distance <= tie {
		if r == Rules1e {
			return 1
		}
		return 0
	}
	return max(1, int(math.Ceil(float64((distance-tie)/bandWidth))))
}

// bandMargin returns how far a distance is from what would change its band. A
// negative distance is the depth of an overlap.
func bandMargin(r Rules, distance geom.Length) geom.Length {
	band := Band(r, distance)
	if band == 0 {
		return max(0, -distance)
	}
	margin := geom.Length(band)*bandWidth - distance
	if near := geom.Length(band-1) * bandWidth; band > 1 || r != Rules1e {
		margin = min(margin, distance-near)
	}
	return max(0, margin)
}

// rangeVerdict turns a signed distance into a range. contact says whether the two
// meet; it is what allows or rules out band 0.
func (mem *memory) rangeVerdict(r Rules, m *meeting, contact Outcome, k float64) RangeVerdict {
	s := m.span
	v := RangeVerdict{
		Distance: geom.Length(max(0, s.val)),
		Band:     Band(r, geom.Length(s.val)),
		Margin:   bandMargin(r, geom.Length(s.val)),
	}
	lo, hi := Band(r, geom.Length(s.lo)), Band(r, geom.Length(s.hi))
	if s.lo != s.hi { // measured: an end point that is exactly a band's edge is in both bands
		switch contact {
		case Yes:
			lo, hi = v.Band, v.Band
		case No:
			lo = max(lo, 1)
		default:
			lo = Band(r, 0)
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
	v.Sigma = geom.Length(s.sigma(k, float64(v.Margin), lo == hi))
	first = len(mem.lines)
	mem.lines = append(mem.lines, m.lines[0])
	if m.band {
		mem.lines = append(mem.lines, m.lines[1])
	}
	v.Lines = mem.lines[first:len(mem.lines):len(mem.lines)]
	return v
}

// contactOutcome decides whether two shapes meet, from their signed gap. Where
// nothing is uncertain touching counts as meeting.
func contactOutcome(s span) Outcome {
	switch {
	case s.lo == s.hi && s.val <= tie, s.hi < 0:
		return Yes
	case s.lo == s.hi, s.lo > 0:
		return No
	}
	return Indeterminate
}
