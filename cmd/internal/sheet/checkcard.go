package sheet

import (
	"sightline/calibration/verify"
	"sightline/engine/geom"
)

// CheckCard draws the card's two strips on one sheet, for cutting out.
func CheckCard(paper Paper, card verify.Card) (Page, error) {
	const marks, gap = 3.0, 6.0
	page := paper.newPage("Check card · matt paper, glue on stiff card, cut from mark to mark")
	area := paper.content()
	x := area.x0 + marks
	for _, s := range card.Strips {
		// The strip's frame has y up, the page y down.
		at := geom.Point{X: x, Y: area.y0 + marks + float64(s.Height)}
		if err := page.checkStrip(at, s); err != nil {
			return Page{}, err
		}
		x += float64(s.Width) + gap
	}
	return page, nil
}

// checkStrip draws one strip, its lower left corner at the given place.
func (p *Page) checkStrip(at geom.Point, s verify.Strip) error {
	w, h := float64(s.Width), float64(s.Height)
	to := func(q geom.Point) geom.Point { return geom.Point{X: at.X + q.X, Y: at.Y - q.Y} }
	p.cutMarks(at.X, at.Y-h, at.X+w, at.Y)
	for _, m := range s.Tags {
		tag, err := tagShape(to(m.Center), m)
		if err != nil {
			return err
		}
		p.add(tag)
	}
	p.checkBar(to(s.Bar[0]), to(s.Bar[1]))
	words := []string{"M", "Lay it on the mat,", "flat, nothing under it", "but its own card."}
	if s.Name != "mat" {
		words = []string{"B", "Lay it on three empty", "bases of ships: both ends", "and the middle."}
	}
	words = append(words, "Put both strips at several", "places of the mat: middle,", "corners, turned. One", "picture for each place.")
	x, y := to(geom.Point{X: w - 36}).X, to(geom.Point{Y: h - 16}).Y
	p.text(bold(), geom.Point{X: x, Y: y}, 9, left, 0, black, words[0])
	for i, line := range words[1:] {
		p.text(regular(), geom.Point{X: x, Y: y + 8 + 4.6*float64(i)}, 2, left, 0, black, line)
	}
	return nil
}

// checkBar draws the long rule of a strip upwards from a to b, and to its right the box for its
// measured length.
func (p *Page) checkBar(a, b geom.Point) {
	const half, marks = float64(ruleWidth) / 2, 23 // one mark every centimetre
	p.rect(a.X-half, b.Y, a.X+half, a.Y, black)
	for i := range marks {
		p.tick(geom.Point{X: a.X + half, Y: b.Y + 10*float64(i)}, geom.Point{X: 1}, i, marks)
	}
	p.measured(geom.Point{X: a.X + half + 6, Y: a.Y - 12}, -90*geom.Degree, "220 mm")
}
