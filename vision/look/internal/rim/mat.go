// Package rim tells from the picture of a base's plastic rim whether there is one, and whether the card lies straight in it.
package rim

import (
	"math"

	"sightline/vision/internal/gray"
)

// A card that lies on the mat without a base has a base's picture, and no miniature hides it: it agrees with its look better than any
// ship does. But it has no guides, and where a base has its plastic rim, the mat goes on up to the card. So the rim is compared with the
// mat outside it, in colour: mat differs from mat by a shadow only. Each side counts by how far the rim's median colour lies from that of
// the mat, whatever the shadow. A rim that something covers differs as well, and counts for a base.
//
// Black plastic on a dark grey mat hardly differs from it. So a card is refused only where the mat's colour is none of black plastic.
const (
	full       = 12.0 // grey levels, in the look's light, from which a side counts in full
	share      = 3.0  // grey levels that count as much as 1 of the logarithm of the odds of guides
	shadowMost = 0.75 // share of the light that a shadow leaves on the mat
	shadowNone = 1.03 // and the most that differs without one
	blackMost  = 85.0 // grey levels of black plastic; in a dark picture it may be as dark as any mat

	// Of 84 bases with miniatures on eight tables (1801 to 1803, 1811, 1812, 1831, 1832, 1861) the least odds are 8.8, and of 136 without
	// miniatures where the mat tells, 7.4. Of 84 cards without a base on the same tables, 76 have less than 5, and 82 less than 9.
	bareMost  = 5.0  // odds from which a base stands there
	bareTells = 16.0 // grey levels, of the four sides, by which the mat must differ from black plastic
	bareNamed = 9.0  // odds from which a look names it
)

const channels = 3

// Odds says whether a card lies in a base.
type Odds struct {
	plastic float64 // in units of the logarithm of odds
	tells   float64 // grey levels by which the mat differs from black plastic
}

// Hidden adds a side that is not in the picture.
func (o *Odds) Hidden() { o.plastic += full / share }

// Side adds a side from samples on its rim and on the mat beside each of them. gain is how much brighter the picture is than the look.
func (o *Odds) Side(on, mat [][channels]float64, gain float64) {
	o.plastic += min(offMat(on, mat)/gain, full) / share
	o.tells += min(offBlack(mat, gain)/gain, full)
}

// Guides adds the logarithm of the odds of guides.
func (o *Odds) Guides(odds float64) { o.plastic += odds }

// Bare reports whether the card lies on the mat without a base.
func (o *Odds) Bare() bool { return o.plastic < bareMost && o.tells >= bareTells }

// Doubtful reports whether it may.
func (o *Odds) Doubtful() bool { return o.plastic < bareNamed }

// offMat returns by how many grey levels samples differ from those of the mat beside each of them, in any shadow.
func offMat(on, mat [][channels]float64) float64 {
	least, differ := math.Inf(1), make([]float64, len(on))
	for light := shadowMost; light <= shadowNone; light += 0.01 {
		var sum float64
		for c := range channels {
			for i := range on {
				differ[i] = on[i][c] - light*mat[i][c]
			}
			m := median(differ)
			sum += m * m
		}
		least = min(least, math.Sqrt(sum))
	}
	return least
}

// offBlack returns by how many grey levels the mat, in any shadow, differs from black plastic.
func offBlack(mat [][channels]float64, gain float64) float64 {
	var middle [channels]float64
	of := make([]float64, len(mat))
	for c := range channels {
		for i := range mat {
			of[i] = mat[i][c]
		}
		middle[c] = median(of)
	}
	least := math.Inf(1)
	for light := shadowMost; light <= shadowNone; light += 0.02 {
		var mean, sum float64
		for _, v := range middle {
			mean += light * v / channels
		}
		grey := min(mean, blackMost*gain)
		for _, v := range middle {
			sum += (light*v - grey) * (light*v - grey)
		}
		least = min(least, math.Sqrt(sum))
	}
	return least
}

// median returns the value in the middle. It reorders its argument.
func median(v []float64) float64 { return gray.Quantile(v, 0.5) }
