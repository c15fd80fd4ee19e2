package draw

import (
	"fmt"

	"sightline/engine"
	"sightline/engine/tablecheck"
)

// areas draws where something may be placed. All of it must lie on green; where the rules require a
// range, part of it must lie on dark green.
func (d *drawing) areas() {
	for i := range d.o.Areas {
		d.area(i, &d.o.Areas[i])
	}
	text := "green: where all of it may lie"
	if len(d.o.Areas[0].Near) > 0 {
		text += ", with a part of it on dark green"
	}
	for i := range d.o.Areas {
		a := &d.o.Areas[i]
		d.lines = append(d.lines, fmt.Sprintf("%s (%s)", a.Of, a.Rule))
	}
	d.lines = append(d.lines, text)
}

// area draws one area. A stroke with round joins is exact: it covers all points nearer to an
// outline than half its width.
func (d *drawing) area(i int, a *tablecheck.Area) {
	rectangle := d.rectangle(box{a.Min.X, a.Min.Y, a.Max.X, a.Max.Y})
	if a.Min.X >= a.Max.X || a.Min.Y >= a.Max.Y {
		return
	}
	whole := d.rectangle(d.view)
	mask := func(name, ground, ink string, zones []tablecheck.Zone) {
		d.printf(`<mask id="%s" maskUnits="userSpaceOnUse" x="%s" y="0" width="%s" height="%s"><path fill="%s" d="%s"/>`+"\n", name,
			number(d.view.x0), number(d.view.x1-d.view.x0), number(d.view.y1-d.view.y0), ground, whole)
		for _, z := range zones {
			d.printf(`<path class="zone" fill="%[1]s" stroke="%[1]s" style="stroke-width:%[2]s;stroke-linejoin:round;stroke-linecap:round" d="%[3]s"/>`+
				"\n", ink, number(2*float64(z.Reach)), d.polygon(z.Outline...))
		}
		d.printf("</mask>\n")
	}
	beyond := fmt.Sprintf("beyond%d", i)
	mask(beyond, "#fff", "#000", a.Clear)
	d.printf(`<g class="legal" mask="url(#%s)" fill="#2e9e4f" fill-opacity=".22"><path d="%s"/></g>`+"\n", beyond, rectangle)
	if len(a.Near) == 0 {
		return
	}
	d.printf(`<g class="part" mask="url(#%s)" fill="#2e9e4f" fill-opacity=".4">`+"\n", beyond)
	for k, z := range a.Near {
		within := fmt.Sprintf("within%d-%d", i, k)
		mask(within, "#000", "#fff", []tablecheck.Zone{z})
		d.printf(`<g mask="url(#%s)">`+"\n", within)
	}
	d.path("legal", rectangle)
	for range a.Near {
		d.close()
	}
	d.close()
}

// overStyle is the style of areas over a picture: its green shows on a dark mat and on a light one.
const overStyle = ".legal{fill:#3ddc6d;fill-opacity:.45}"

// AreasOver draws only the areas, transparent and as large as the scene's mat, to lay over a
// picture of the mat from above.
func AreasOver(s *engine.Scene, areas []tablecheck.Area) ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	w, h := float64(s.MatWidth), float64(s.MatHeight)
	if w <= 0 || h <= 0 {
		return nil, fmt.Errorf("draw: %w", tablecheck.ErrNoMat)
	}
	d := &drawing{scene: s, view: box{x1: w, y1: h}}
	d.top = h
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s"><style>%s</style>`+"\n", number(w), number(h), overStyle)
	for i := range areas {
		d.area(i, &areas[i])
	}
	d.printf("</svg>\n")
	return []byte(d.b.String()), nil
}
