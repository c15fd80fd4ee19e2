package sheet

import (
	"fmt"
	"image/color"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/jig"
)

// Jig draws the sheet on which ships' cards are shown to the camera. A second page explains it and
// has the two arms of its stop, to glue on card and cut out.
func Jig(paper Paper) ([]Page, error) {
	page := paper.newPage("Jig sheet · sheet 1 of 2 · matt paper, do not cut")
	area := paper.content()
	tags := jig.Tags()
	reach := tags[2].Center.X + float64(jig.TagSize)/2
	const margin = 6.0
	at := geom.Point{X: (area.x0+area.x1)/2 - (tags[0].Center.X+tags[2].Center.X)/2, Y: area.y0 + margin + reach}
	to := func(x, y float64) geom.Point { return geom.Point{X: at.X + x, Y: at.Y - y} }
	for _, m := range tags {
		m.Center = to(m.Center.X, m.Center.Y)
		tag, err := tagShape(m.Center, m)
		if err != nil {
			return nil, err
		}
		page.add(tag)
	}
	for _, arm := range jig.Arms() {
		page.outline(arm, to, grey)
	}
	for _, b := range []engine.Base{engine.Small, engine.Medium, engine.Large} {
		w, _ := b.Size()
		s := float64(w)
		page.line(to(0, s), to(s, s), 0.15, grey)
		page.line(to(s, 0), to(s, s), 0.15, grey)
		page.text(regular(), to(s-1, s+1), 1.8, right, 0, grey, b.String())
	}
	page.turns(to)
	return []Page{page, armsPage(paper)}, nil
}

// turns draws a numbered arrow for each quarter turn.
func (p *Page) turns(to func(x, y float64) geom.Point) {
	const from, tip = 16.0, 30.0 // mm from the place of the largest base, or from the arms
	for i, a := range [4][2]geom.Point{
		{{X: 40, Y: 80 + from}, {X: 40, Y: 80 + tip}}, {{X: 80 + from, Y: 40}, {X: 80 + tip, Y: 40}},
		{{X: 40, Y: -from}, {X: 40, Y: -tip}}, {{X: -from, Y: 40}, {X: -tip, Y: 40}},
	} {
		ink := grey
		if i == 0 {
			ink = black
		}
		p.arrow(to(a[0].X, a[0].Y), to(a[1].X, a[1].Y), 1, ink)
		middle := a[0].Lerp(a[1], 0.5).Add(geom.Point{X: 4, Y: -2})
		if i%2 == 1 {
			middle = a[0].Lerp(a[1], 0.5).Add(geom.Point{X: -1.5, Y: 4})
		}
		p.text(bold(), to(middle.X, middle.Y), 4, left, 0, ink, fmt.Sprint(i+1))
	}
	p.text(bold(), to(50, 101.5), 3, left, 0, black, "front")
}

// outline draws the sides of a polygon; to maps its corners to the page.
func (p *Page) outline(ring []geom.Point, to func(x, y float64) geom.Point, ink color.RGBA) {
	for i, q := range ring {
		next := ring[(i+1)%len(ring)]
		p.line(to(q.X, q.Y), to(next.X, next.Y), 0.15, ink)
	}
}

// armsPage draws the page with the explanation and the arms.
func armsPage(paper Paper) Page {
	page := paper.newPage("Jig sheet · sheet 2 of 2 · the stop, to cut out")
	area := paper.content()
	at := geom.Point{X: area.x0 + 6, Y: area.y0 + 10}
	for _, line := range []string{
		"1  Check both 100 mm rules with a steel rule, on both sheets.",
		"2  Glue this sheet on stiff card, 2 to 3 mm in all (two layers of a box do). Cut each arm's long straight edges first,",
		"    with a knife along a steel rule, then the notches, which leave room for the bases' guides and need not be exact.",
		"3  Glue the arms on sheet 1, on their outlines, the notches towards the corner. Their inner edges are the stop: lay them",
		"    on the lines to 0.15 mm, with a base of your own as the square.",
		"4  Lay sheet 1 flat on the mat, anywhere but right under the camera. Take the miniature and its pegs off the base.",
		"5  Push the base into the corner, its front to the arrow 1. Then turn it by quarters, to 2, 3 and 4.",
		"    sightline looks learn --jig A1,small, or the page /looks, says when to turn.",
	} {
		page.text(regular(), at, 2.2, left, 0, black, line)
		at.Y += 5.4
	}
	for i, arm := range jig.Arms() {
		y := at.Y + 24 + 34*float64(i)
		to := func(x, y0 float64) geom.Point {
			if i == 1 { // it also runs along the paper's short side
				x, y0 = y0, -x
			}
			return geom.Point{X: area.x0 + 30 + x, Y: y - y0}
		}
		page.outline(arm, to, black)
		page.text(regular(), geom.Point{X: area.x0 + 30, Y: y + jig.ArmWidth + 6}, 1.8, left, 0, black,
			[...]string{"arm along the bottom", "arm along the left"}[i])
	}
	return page
}
