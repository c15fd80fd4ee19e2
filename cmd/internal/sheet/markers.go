package sheet

import (
	"fmt"
	"math"
	"strings"

	"sightline/calibration"
	"sightline/engine/geom"
)

// MatMarkers draws the cards of the mat's markers, and a last page with their places. The layout's
// markers must lie flush against an edge of the mat with their printed up direction away from
// player 1, like calibration.DefaultLayout, and have ids that calibration.TagWhite knows.
func MatMarkers(paper Paper, layout calibration.Layout) ([]Page, error) {
	const gap = 6.0
	card := float64(calibration.MarkerCard)
	area := paper.content()
	perRow, perColumn := int((area.width()+gap)/(card+gap)), int((area.height()+gap)/(card+gap))
	perPage := perRow * perColumn
	sheets := (len(layout.Markers) + perPage - 1) / perPage
	var pages []Page
	for i, m := range layout.Markers {
		if i%perPage == 0 {
			pages = append(pages, paper.newPage(fmt.Sprintf("Mat markers · sheet %d of %d · matt paper", len(pages)+1, sheets+1)))
		}
		k := i % perPage
		at := geom.Point{
			X: area.x0 + card/2 + float64(k%perRow)*(card+gap),
			Y: area.y0 + card/2 + float64(k/perRow)*(card+gap),
		}
		if err := pages[len(pages)-1].markerCard(at, m, placementOf(layout, m)); err != nil {
			return nil, err
		}
	}
	return append(pages, placementPage(paper, layout, fmt.Sprintf("Mat markers · sheet %d of %d · where they lie", sheets+1, sheets+1))), nil
}

// placement describes the place of a card for a person.
type placement struct {
	edge   string  // of the mat, next to the card: left, far, right
	corner string  // of the mat, the nearer one along that edge
	begins float64 // from the corner to the card, mm along the edge
	center float64 // from the corner to the card's middle
}

// placementOf finds the mat's edge next to a marker, and the nearer corner. If two corners are
// equally near, it takes the near or left one.
func placementOf(l calibration.Layout, m calibration.Marker) placement {
	w, h, half := float64(l.Width), float64(l.Height), float64(calibration.MarkerCard)/2
	var p placement
	switch {
	case m.Center.X < 0 || m.Center.X > w:
		p = placement{edge: "left", corner: "near left", center: m.Center.Y}
		if m.Center.X > w {
			p.edge, p.corner = "right", "near right"
		}
		if m.Center.Y > h/2 {
			p.corner, p.center = "far "+p.edge, h-m.Center.Y
		}
	default:
		p = placement{edge: "far", corner: "far left", center: m.Center.X}
		if m.Center.Y < 0 {
			p.edge, p.corner = "near", "near left"
		}
		if m.Center.X > w/2 {
			p.corner, p.center = p.edge+" right", w-m.Center.X
		}
	}
	p.begins = p.center - half
	return p
}

// markerCard draws one card around its middle: the tag, at least 5 mm of white around it, small
// print outside, and lines to cut along.
func (p *Page) markerCard(at geom.Point, m calibration.Marker, where placement) error {
	half := float64(calibration.MarkerCard) / 2
	const line = 0.15
	p.frame(at.X-half-line, at.Y-half-line, at.X+half+line, at.Y+half+line, line, grey) // outside the cut
	p.cutMarks(at.X-half, at.Y-half, at.X+half, at.Y+half)
	tag, err := tagShape(at, m)
	if err != nil {
		return err
	}
	p.add(tag)

	along := fmt.Sprintf("card begins %.1f mm from the mat's %s corner", where.begins, where.corner)
	flush := fmt.Sprintf("this edge flush against the mat's %s edge", where.edge)
	p.cardPrint(at, 0, fmt.Sprintf("marker %d · this edge away from player 1", m.ID))
	switch where.edge {
	case "left": // a card left of the mat: its right edge touches
		p.cardPrint(at, 90*geom.Degree, flush)
		p.cardPrint(at, 180*geom.Degree, along)
	case "right":
		p.cardPrint(at, 270*geom.Degree, flush)
		p.cardPrint(at, 180*geom.Degree, along)
	default:
		p.cardPrint(at, 180*geom.Degree, flush)
		p.cardPrint(at, 270*geom.Degree, along)
	}
	return nil
}

// cardPrint writes small text along a card's edge in the direction turn, clockwise from the top.
// Text at the lower edge is upright. The letters stay within the outer 2.6 mm of the card.
func (p *Page) cardPrint(at geom.Point, turn geom.Angle, s string) {
	const capital, edge, most = 1.6, 0.8, 53.0 // letters; from card's edge; length
	height := capital * min(1, most/regular().width(s, capital))
	half := float64(calibration.MarkerCard) / 2
	base := geom.Point{Y: -(half - edge - height)}
	if turn == 180*geom.Degree {
		base, turn = geom.Point{Y: half - edge}, 0
	}
	sin, cos := math.Sincos(float64(turn))
	p.text(regular(), at.Add(geom.Point{X: base.X*cos - base.Y*sin, Y: base.X*sin + base.Y*cos}), height, center, turn, black, s)
}

// tagShape draws the black cells of a 36h11 tag around its middle, as one shape.
func tagShape(at geom.Point, m calibration.Marker) (Shape, error) {
	cell := float64(m.Size) / calibration.TagCells
	x0, y0 := at.X-float64(m.Size)/2, at.Y-float64(m.Size)/2
	out := Shape{Fill: black}
	for r := range calibration.TagCells {
		for c := range calibration.TagCells {
			white, err := calibration.TagWhite(m.ID, c, r)
			if err != nil {
				return Shape{}, err
			}
			if !white {
				x, y := x0+float64(c)*cell, y0+float64(r)*cell
				out.Rings = append(out.Rings, box(x, y, x+cell, y+cell))
			}
		}
	}
	return out, nil
}

// placementPage draws the mat in reduced size with its markers and the distances for laying them,
// and lists the same below.
func placementPage(paper Paper, l calibration.Layout, title string) Page {
	page := paper.newPage(title)
	area := paper.content()
	w, h, card := float64(l.Width), float64(l.Height), float64(calibration.MarkerCard)
	k := min((area.width()-70)/w, 120/h) // room for the figures at both sides
	x0, y0 := (area.x0+area.x1-k*w)/2, area.y0+24+k*h
	to := func(x, y float64) geom.Point { return geom.Point{X: x0 + k*x, Y: y0 - k*y} } // table to page
	a, b := to(0, h), to(w, 0)
	page.frame(a.X, a.Y, b.X, b.Y, 0.4, black)
	middle := geom.Point{X: (a.X + b.X) / 2, Y: (a.Y + b.Y) / 2}
	page.text(regular(), middle, 3, center, 0, black, fmt.Sprintf("mat %s × %s mm", number(w), number(h)))
	page.text(regular(), middle.Add(geom.Point{Y: 6}), 2, center, 0, grey, "seen from above, not to scale")
	page.text(bold(), geom.Point{X: middle.X, Y: b.Y + 6}, 2.6, center, 0, black, "player 1 sits here")
	for _, m := range l.Markers {
		p, q := to(m.Center.X-card/2, m.Center.Y+card/2), to(m.Center.X+card/2, m.Center.Y-card/2)
		page.frame(p.X, p.Y, q.X, q.Y, 0.25, black)
		page.text(bold(), geom.Point{X: (p.X + q.X) / 2, Y: (p.Y+q.Y)/2 + k*card/6}, k*card/3, center, 0, black, fmt.Sprint(m.ID))
		page.dimension(l, m, to)
	}
	page.placementList(l, geom.Point{X: area.x0, Y: b.Y + 18})
	return page
}

// dimension draws the distance from the mat's corner to a card, outside the cards: short ones near
// them, long ones further out, so that they do not cross.
func (p *Page) dimension(l calibration.Layout, m calibration.Marker, to func(x, y float64) geom.Point) {
	const short, near, far = 12.0, 2.5, 12.0 // on the page; the last two from the cards' outer edge
	where := placementOf(l, m)
	corner, along, away := where.axes(l)
	card := corner.Add(along.Mul(where.begins))
	from, end := to(corner.X, corner.Y), to(card.X, card.Y)
	out := to(corner.X+away.X, corner.Y+away.Y).Sub(from) // outwards, in the drawing's scale
	scale := out.Norm()
	out = out.Mul(1 / scale)
	level := scale*float64(calibration.MarkerCard) + near
	if end.Sub(from).Norm() > short {
		level += far - near
	}
	from, end = from.Add(out.Mul(level)), end.Add(out.Mul(level))
	middle := from.Lerp(end, 0.5)
	if end.Sub(from).Norm() > short {
		p.arrow(middle, from, 0.25, black)
		p.arrow(middle, end, 0.25, black)
	} else {
		p.line(from, end, 0.4, black)
	}
	for _, q := range [2]geom.Point{from, end} {
		p.line(q.Sub(out), q.Add(out), 0.2, black)
	}
	// The figure is beyond the line: next to it at the mat's sides, above or below it at the far and
	// near edge.
	at, share := middle.Add(out.Mul(2)), center
	switch {
	case out.X < -0.5:
		at, share = at.Add(geom.Point{Y: 1}), right
	case out.X > 0.5:
		at, share = at.Add(geom.Point{Y: 1}), left
	case out.Y > 0.5:
		at = at.Add(geom.Point{Y: 2})
	}
	p.text(regular(), at, 2, share, 0, black, fmt.Sprintf("%.1f", where.begins))
}

// axes returns the corner of the table from which a card is measured, and the unit vectors from
// there to the card and out of the mat.
func (w placement) axes(l calibration.Layout) (corner, along, away geom.Point) {
	switch w.edge {
	case "left":
		along, away = geom.Point{Y: 1}, geom.Point{X: -1}
	case "right":
		along, away = geom.Point{Y: 1}, geom.Point{X: 1}
	case "far":
		along, away = geom.Point{X: 1}, geom.Point{Y: 1}
	default:
		along, away = geom.Point{X: 1}, geom.Point{Y: -1}
	}
	if strings.HasSuffix(w.corner, "right") {
		corner.X = float64(l.Width)
		along.X = -along.X
	}
	if strings.HasPrefix(w.corner, "far") {
		corner.Y = float64(l.Height)
		along.Y = -along.Y
	}
	return corner, along, away
}

// placementList writes the rules for laying the cards, and one line per marker.
func (p *Page) placementList(l calibration.Layout, at geom.Point) {
	lines := []string{
		"1  Check both 100 mm rules with a steel rule, on every sheet: 99.7 to 100.3 mm. Else print again at 100 %.",
		"2  Glue each sheet on card as thick as the mat, then cut along the grey lines.",
		"3  Lay each card flush against the mat's edge, the words \"away from player 1\" pointing there.",
		"4  The figures are millimetres from the mat's corner to the card, along the mat's edge.",
	}
	const step = 5.0
	for _, s := range lines {
		p.text(regular(), at, 2, left, 0, black, s)
		at.Y += step
	}
	at.Y += 2
	for _, m := range l.Markers {
		where := placementOf(l, m)
		p.text(regular(), at, 2, left, 0, black, fmt.Sprintf(
			"marker %d: %s edge, card begins %.1f mm (its middle %.1f mm) from the %s corner",
			m.ID, where.edge, where.begins, where.center, where.corner))
		at.Y += step
	}
}
