package look

import (
	"fmt"

	"sightline/calibration"
	"sightline/engine/geom"
)

// The names of the terms that a card brings to a budget, in place of what our tokens do.
const (
	TermFit      = "fit"
	TermJig      = "jig"
	TermSlip     = "card slip"
	TermBorrowed = "another copy's look"
	TermCard     = "card height"
)

// Budget adds up the errors of the place of a base that is found by its look, at points of the table. Its terms never
// shrink but for the fit's.
type Budget struct{ calibration *calibration.Budget }

// NewBudget returns the budget of a calibrated table.
func NewBudget(t calibration.Table) *Budget {
	return &Budget{calibration.NewBudget(t, cardUncertainty(calibration.Uncertainty{}))}
}

// At returns the budget at a point; false: the camera does not see it. The fit's term is its least; a fit states its own.
func (b *Budget) At(p geom.Point) (calibration.Terms, bool) {
	all, ok := b.calibration.At(p, CardTop)
	if !ok {
		return nil, false
	}
	round := func(sigma geom.Length) geom.Cov2 {
		return geom.Cov2{XX: float64(sigma * sigma), YY: float64(sigma * sigma)}
	}
	term := func(name string, nature calibration.Nature, sigma geom.Length, source string) calibration.Term {
		return calibration.Term{Name: name, Nature: nature, Input: fmt.Sprintf("%.2g mm", float64(sigma)), Source: source, Cov: round(sigma)}
	}
	out := calibration.Terms{term(TermFit, calibration.Random, fitFloor, "the least; a fit states its own")}
	for _, t := range all {
		switch t.Name {
		case calibration.TermPixel, calibration.TermPrint, calibration.TermInsert:
			continue
		case calibration.TermHeight:
			t.Name, t.Nature = TermCard, calibration.Shared
			t.Source = fmt.Sprintf("%.2g ± %.2g mm, not measured; one sign for all bases of a size: times √2", float64(CardTop),
				float64(CardTopSigma))
		}
		out = append(out, t)
	}
	return append(out, term(TermJig, calibration.Own, KnownBySay.Place, "where the base stood as its look was learnt; a look states its own"),
		term(TermSlip, calibration.Own, SlipSigma, "in its frame since then"),
		term(TermBorrowed, calibration.Own, BorrowedSigma, "where the ship's own card was not shown; else 0")), true
}
