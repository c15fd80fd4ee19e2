package look

import (
	"fmt"
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// A card can be put into its base a quarter turn off. Its arcs then point to where the base has no guides. Such a base is refused: its
// heading is that of the card for arcs, but that of the plastic for moves. The guides show it: two steps of brightness along a side, just
// outside the plastic, where no other side of a base has them. A half turn cannot be seen, and need not: front and rear of the plastic are
// the same.
const (
	guideHeight = 3.0 * geom.Millimeter // at which the picture is sampled: the guides are 3.2 mm high
	guideStep   = 0.5                   // mm between samples along a side
	guideEnds   = 2.75                  // mm at both ends of a small base's side that are left out
	guideSlack  = 0.4                   // mm around a guide's edges that are left out
	guideBeside = 6.0                   // mm from the middle of a guide within which the mat is compared with it
	guideClip   = 40                    // grey levels from the median, beyond which samples are clipped: stars, miniatures
	guideNoise  = 2.0                   // grey levels²

	// Correlations of a side with the picture of two guides, and grey levels by which both differ from what is beside them. With each card of
	// eleven tables as it lies (1 to 3, 1 at 4K, 1201 to 1207), no side without guides has more than 0.59. Turned by a quarter in
	// thought, guides are seen there and none in front on more than half of the bases.
	guidesSeen = 0.7
	guidesNone = 0.5
	guideDepth = 5.0
)

// guideSides samples the picture 0.4 to 1.2 mm outside the front, right, rear and left of a base, in the middle 35 mm: grey levels, the
// means across. nil stands for a side that is not in the picture.
func (f *Finder) guideSides(frame vision.Frame, b engine.Base, at geom.Pose) (sides [4][]float64) {
	w, _ := b.Size()
	half := float64(w) / 2
	s, ok := newScan(&f.table, frame, at.Point, guideHeight, half*math.Sqrt2+3)
	if !ok {
		return sides
	}
	sin, cos := math.Sincos(float64(at.Heading))
	end := 20 - guideEnds
	for side := range sides {
		for along := -end; along <= end; along += guideStep {
			var mean float64
			for _, out := range [...]float64{0.4, 0.8, 1.2} {
				x, y := along, half+out
				for range side {
					x, y = y, -x
				}
				px, py := s.view.pixel(x*cos+y*sin, -x*sin+y*cos)
				var p sample
				if !s.sharp.valueAt(px, py, &p) {
					mean = math.NaN()
				}
				mean += float64(p.v[0]+p.v[1]+p.v[2]) / (3 * channels)
			}
			sides[side] = append(sides[side], mean)
		}
		if slices.ContainsFunc(sides[side], math.IsNaN) {
			sides[side] = nil
		}
	}
	return sides
}

// guidesOn returns how well a side of guideSides correlates with two guides, 0…1, and the grey levels by which both differ from what is
// beside them; 0 if one is brighter and the other darker.
func guidesOn(side []float64) (correlation, depth float64) {
	const middle, half = float64(engine.GuideInner+engine.GuideOuter) / 2, float64(engine.GuideOuter-engine.GuideInner) / 2
	end := 20 - guideEnds
	least := median(slices.Clone(side)) - guideClip
	var picture, cover []float64 // of each sample, without those at the guides' edges
	var mean [2]float64
	var on, off [2][]float64
	for i, v := range side {
		along := float64(i)*guideStep - end
		left := 0
		if along > 0 {
			left = 1
		}
		switch d := math.Abs(math.Abs(along) - middle); {
		case d < half-guideSlack/2:
			on[left] = append(on[left], v)
			picture, cover = append(picture, min(max(v, least), least+2*guideClip)), append(cover, 1)
		case d > half+guideSlack:
			picture, cover = append(picture, min(max(v, least), least+2*guideClip)), append(cover, 0)
			if d < guideBeside {
				off[left] = append(off[left], v)
			}
		}
	}
	for i := range picture {
		mean[0] += cover[i] / float64(len(cover))
		mean[1] += picture[i] / float64(len(cover))
	}
	var both, covers, pictures float64
	for i := range picture {
		a, b := cover[i]-mean[0], picture[i]-mean[1]
		both, covers, pictures = both+a*b, covers+a*a, pictures+b*b+guideNoise
	}
	first, second := median(on[0])-median(off[0]), median(on[1])-median(off[1])
	if first*second > 0 {
		depth = min(math.Abs(first), math.Abs(second))
	}
	return math.Abs(both) / math.Sqrt(covers*pictures), depth
}

// turned reports whether a base has guides where its card has its sides, and none where the card has its front and rear.
func (f *Finder) turned(frame vision.Frame, b engine.Base, at geom.Pose) bool {
	sides, seen := f.guideSides(frame, b, at), false
	for i, side := range sides {
		across := i%2 == 1
		if side == nil {
			if !across {
				return false
			}
			continue
		}
		correlation, depth := guidesOn(side)
		if !across && correlation > guidesNone {
			return false
		}
		seen = seen || across && correlation >= guidesSeen && depth >= guideDepth
	}
	return seen
}

// A TurnedError is the error for a base whose card lies a quarter turn off in it.
type TurnedError struct {
	Card string // the name of its look
	At   geom.Point
}

// Error says what to do.
func (e *TurnedError) Error() string {
	return fmt.Sprintf("the card of %s at (%.0f, %.0f) lies a quarter turn off in its base, whose guides are at the card's sides: put it in "+
		"the right way round", e.Card, e.At.X, e.At.Y)
}
