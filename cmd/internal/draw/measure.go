package draw

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sightline/engine"
	"sightline/engine/geom"
)

// measure measures the chosen pair. It returns nil if none was chosen.
func (d *drawing) measure() (*engine.PairVerdict, error) {
	if d.o.To == "" {
		return nil, nil
	}
	o := engine.Options{Sigmas: d.o.Sigmas}
	if to := d.scene.Ship(d.o.To); to != nil {
		v, err := engine.MeasurePair(d.scene, d.o.From, d.o.To, o)
		if err == nil && engine.HasSections(d.scene.Rules, to) {
			v.Sections, err = engine.MeasureSections(d.scene, d.o.From, d.o.To, o)
		}
		return &v, err
	}
	// The other is an object: measure its range with this ship alone on the table.
	alone := *d.scene
	alone.Ships = []engine.Ship{*d.from}
	r, err := engine.Measure(&alone, o)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(r.Objects, func(v engine.ObjectVerdict) bool { return v.To == d.o.To })
	if i < 0 {
		return nil, fmt.Errorf("to %q: ship or object %w", d.o.To, ErrNotThere)
	}
	v := &r.Objects[i]
	d.lines = append(d.lines, fmt.Sprintf("%s → %s: contact %s, overlap %s", name(v.From), name(v.To), words(v.Contact.String()),
		words(v.Overlap.String())))
	return &engine.PairVerdict{From: v.From, To: v.To, Range: v.Range, Contact: v.Contact}, nil
}

// measured draws the measurement: the range, and the attack range in each requested arc.
func (d *drawing) measured(v *engine.PairVerdict) {
	if v == nil {
		return
	}
	d.measuringLines("range", v.Range.Lines)
	for i := range v.Arcs {
		if at := v.Arcs[i].Attack; at != nil && slices.Contains(d.o.Arcs, v.Arcs[i].Arc) {
			d.measuringLines("attack "+at.Obstruction.Verdict, at.Lines)
		}
	}
	d.figure("range", "", &v.Range)
	line := fmt.Sprintf("%s → %s: %s", name(v.From), name(v.To), sentence(&v.Range))
	if v.Contact == engine.Yes {
		line += ", " + engine.ContactWords(v.Range.Distance)
	}
	d.lines = append(d.lines, line)
	for i := range v.Arcs {
		if slices.Contains(d.o.Arcs, v.Arcs[i].Arc) {
			d.attack(v, &v.Arcs[i])
		}
	}
	for i := range v.Sections {
		s := &v.Sections[i]
		if s.Range.Distance > v.Range.Distance {
			d.measuringLines("attack never", s.Range.Lines)
			d.figure("attack", s.Section.String()+": ", &s.Range)
		}
		d.lines = append(d.lines, fmt.Sprintf("%s section: %s", s.Section, sentence(&s.Range)))
	}
}

// attack writes the attack range inside an arc, and what is on its lines.
func (d *drawing) attack(v *engine.PairVerdict, a *engine.ArcVerdict) {
	line := fmt.Sprintf("%s arc: %s (margin %.2f mm)", words(a.Arc.String()), words(a.InArc.String()), float64(a.Margin))
	if at := a.Attack; at != nil {
		if math.Abs(float64(at.Distance-v.Range.Distance)) > 0.005 {
			d.figure("attack", "", &at.RangeVerdict)
		}
		line += ", attack " + sentence(&at.RangeVerdict) + "; obstructed: " + words(at.Obstruction.Verdict)
		if by := at.Obstruction.By; len(by) > 0 {
			line += " (" + names(by) + ")"
		}
		if on := slices.Concat(at.Obstruction.Ships, at.Obstruction.Devices); len(on) > 0 {
			line += ", on the line: " + names(on)
		}
	}
	d.lines = append(d.lines, line)
}

// names joins names, each shortened.
func names(ids []string) string {
	short := make([]string, len(ids))
	for i := range ids {
		short[i] = name(ids[i])
	}
	return strings.Join(short, ", ")
}

// measuringLines draws one line, or the band between two extreme ones.
func (d *drawing) measuringLines(class string, lines []geom.Line) {
	if len(lines) > 1 {
		d.path("span "+class, d.polygon(lines[0][0], lines[0][1], lines[1][1], lines[1][0]))
	}
	for _, l := range lines {
		d.segment("line "+class, l[0], l[1])
		d.takeLine(l[0], l[1])
		for _, p := range l {
			x, y := d.at(p)
			d.printf(`<circle class="end %s" cx="%s" cy="%s" r="%s"/>`+"\n", class, number(x), number(y), number(0.35*d.unit))
		}
	}
}

// figure writes a distance next to its lines, where it covers nothing.
func (d *drawing) figure(class, before string, r *engine.RangeVerdict) {
	const size = 2
	words := before + fmt.Sprintf("%.1f mm · range %s", float64(r.Distance), bandWords(r.Possible))
	l := d.labelBox(size, geom.Point{}, words)
	var places []geom.Point
	for _, along := range [...]float64{0.5, 0.35, 0.65, 0.2, 0.8} {
		for i := range r.Lines {
			m := &r.Lines[i]
			at := m[0].Lerp(m[1], along)
			side := geom.Point{X: 1}
			if v := m[1].Sub(m[0]); v.Norm() > 1e-6 {
				side = geom.Point{X: v.Y, Y: -v.X}.Mul(1 / v.Norm())
			}
			off := math.Abs(side.X)*l.x1 + math.Abs(side.Y)*l.y1 + 0.5*d.unit
			places = append(places, at.Add(side.Mul(off)), at.Sub(side.Mul(off)))
		}
	}
	d.label("figure "+class, size, words, places...)
}

func sentence(r *engine.RangeVerdict) string {
	return fmt.Sprintf("range %s, %.2f ± %.2f mm (margin %.2f mm)", bandWords(r.Possible), float64(r.Distance), float64(r.Sigma),
		float64(r.Margin))
}

// bandWords formats the possible bands of a range: "2", "2 or 3".
func bandWords(possible []int) string {
	switch n := len(possible); n {
	case 0:
		return "?"
	case 1:
		return fmt.Sprint(possible[0])
	case 2:
		return fmt.Sprintf("%d or %d", possible[0], possible[1])
	default:
		return fmt.Sprintf("%d to %d", possible[0], possible[n-1])
	}
}

func words(s string) string { return strings.ReplaceAll(s, "_", " ") }
