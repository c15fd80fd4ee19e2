package look

import (
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
)

// What a pose by a look is uncertain by, per axis and for the heading (docs/stock.md). Only the fit's part differs from
// picture to picture.
const (
	fitFactor    = 1.5 // of what the fit states
	fitFloor     = 0.08 * geom.Millimeter
	fitFloorTurn = 0.10 * geom.Degree

	// SlipSigma is how far a card has slipped in its frame since its look was learnt: it has 0.25 mm and 0.35° of play,
	// and may lie anywhere within.
	SlipSigma = 0.14 * geom.Millimeter
	SlipTurn  = 0.20 * geom.Degree

	// BorrowedSigma is how far the card of another copy lies elsewhere in its frame than the one whose look is used.
	BorrowedSigma = 0.22 * geom.Millimeter
	BorrowedTurn  = 0.36 * geom.Degree
)

// cardUncertainty is what the calibration's error model needs for a card in place of our token: nothing of ours is
// printed or laid, and the card's height is less well known. All bases of one size have one height, so that two ships
// on opposite sides of the mat are both moved outwards or both inwards: their distance is off by the sum. Stated as if
// each had its own, it takes a factor of √2.
func cardUncertainty(u calibration.Uncertainty) calibration.Uncertainty {
	if u == (calibration.Uncertainty{}) {
		u = calibration.DefaultUncertainty
	}
	u.Print, u.Insert, u.Height = 0, 0, CardTopSigma*math.Sqrt2
	return u
}

// fitCovariance is what of a pose's covariance differs from picture to picture.
func fitCovariance(s *Sight) geom.Cov3 {
	out := s.Fit
	for i := range out {
		out[i] *= fitFactor * fitFactor
	}
	add(&out, fitFloor, fitFloorTurn)
	return out
}

// add adds a standard deviation of the place, per axis, and of the heading.
func add(c *geom.Cov3, place geom.Length, turn geom.Angle) {
	c[0] += float64(place * place)
	c[4] += float64(place * place)
	c[8] += float64(turn * turn)
}

// covariance of a pose; borrowed says that the look is not of this ship's own card.
func (f *Finder) covariance(s *Sight, borrowed bool) geom.Cov3 {
	w, _ := s.Look.Base.Size()
	out := fitCovariance(s)
	for i, v := range f.errors.Systematic(s.Pose, s.Look.Z, w/2) {
		out[i] += v
	}
	add(&out, s.Look.Known.Place, s.Look.Known.Turn)
	add(&out, SlipSigma, SlipTurn)
	if borrowed {
		add(&out, BorrowedSigma, BorrowedTurn)
	}
	return out
}
