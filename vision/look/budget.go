package look

import (
	"fmt"
	"strings"

	"sightline/calibration"
	"sightline/engine/geom"
)

// The terms of a budget that a card has instead of a token's.
const (
	termFit      = "fit"
	TermJig      = "jig"
	termSlip     = "card slip"
	TermBorrowed = "another copy's look"
	TermCard     = "card height"
)

// Budget sums the position errors of a base that is found by its look, at points of the table. Averaging pictures reduces
// only the fit's term.
type Budget struct {
	calibration *calibration.Budget
	looks       []*Look
}

// NewBudget returns the budget of a calibrated table for the ships that have looks.
func NewBudget(t calibration.Table, looks *Library) *Budget {
	return &Budget{calibration.NewBudget(t, cardUncertainty(calibration.Uncertainty{})), looks.Looks}
}

// jig returns the largest position uncertainty of the looks' enrolments, and its source.
func (b *Budget) jig() (sigma geom.Length, source string) {
	for _, l := range b.looks {
		if l.Known.Place > sigma {
			sigma, source = l.Known.Place, fmt.Sprintf("where the base stood as its look was learnt: %s, the worst of %d", l.Name, len(b.looks))
		}
	}
	return sigma, source
}

// borrowed returns the uncertainty of ships whose own cards were not shown, and its source.
func (b *Budget) borrowed() (sigma geom.Length, source string) {
	var ships []string
	for _, l := range b.looks {
		ships = append(ships, l.Ships[1:]...)
	}
	if len(ships) == 0 {
		return 0, "each ship's own card was shown"
	}
	return BorrowedSigma, "of " + strings.Join(ships, ", ") + ", whose own cards were not shown; 0 of the others"
}

// At returns the budget at a point; false: the camera does not see it. The fit's term is the minimum; each fit states its own.
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
	out := calibration.Terms{term(termFit, calibration.Random, fitFloor, "the least; a fit states its own")}
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
	jig, jigSource := b.jig()
	borrowed, borrowedSource := b.borrowed()
	return append(out, term(TermJig, calibration.Own, jig, jigSource),
		term(termSlip, calibration.Own, slipSigma, "in its frame since then"),
		term(TermBorrowed, calibration.Own, borrowed, borrowedSource)), true
}
