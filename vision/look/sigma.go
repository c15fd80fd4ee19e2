package look

import (
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
)

// The uncertainty of a pose by a look, per axis and of the heading (docs/stock.md). Only the fit's part differs between
// pictures.
const (
	fitFactor    = 1.5 // of what the fit states
	fitFloor     = 0.08 * geom.Millimeter
	fitFloorTurn = 0.10 * geom.Degree

	// slipSigma is the slip of a card in its frame since its look was learnt: uniform within a play of 0.25 mm and
	// 0.35°.
	slipSigma = 0.14 * geom.Millimeter
	slipTurn  = 0.20 * geom.Degree

	// BorrowedSigma is the difference between the positions of two copies' cards in their frames.
	BorrowedSigma = 0.22 * geom.Millimeter
	BorrowedTurn  = 0.36 * geom.Degree
)

// cardUncertainty adapts the calibration's uncertainty to cards: there is no print or insert of ours, and the height is
// less well known. All bases of a size have the same height error, so two ships on opposite sides of the mat both move
// outwards or both inwards, and their distance is off by the sum. The error model treats the errors as independent; a
// factor of √2 makes up for it.
func cardUncertainty(u calibration.Uncertainty) calibration.Uncertainty {
	if u == (calibration.Uncertainty{}) {
		u = calibration.DefaultUncertainty
	}
	u.Print, u.Insert, u.Height = 0, 0, CardTopSigma*math.Sqrt2
	return u
}

// fitCovariance returns the part of a pose's covariance that differs between pictures.
func fitCovariance(s *Sight) geom.Cov3 {
	out := s.Fit
	for i := range out {
		out[i] *= fitFactor * fitFactor
	}
	add(&out, fitFloor, fitFloorTurn)
	return out
}

// add adds standard deviations of the position, per axis, and of the heading.
func add(c *geom.Cov3, place geom.Length, turn geom.Angle) {
	c[0] += float64(place * place)
	c[4] += float64(place * place)
	c[8] += float64(turn * turn)
}

// covariance returns the covariance of a pose. borrowed means that the look is of a copy's card.
func (f *Finder) covariance(s *Sight, borrowed bool) geom.Cov3 {
	w, _ := s.Look.Base.Size()
	out := fitCovariance(s)
	for i, v := range f.errors.Systematic(s.Pose, s.Look.Z, w/2) {
		out[i] += v
	}
	add(&out, s.Look.Known.Place, s.Look.Known.Turn)
	add(&out, slipSigma, slipTurn)
	add(&out, 0, s.Slip)
	if borrowed {
		add(&out, BorrowedSigma, BorrowedTurn)
	}
	return out
}
