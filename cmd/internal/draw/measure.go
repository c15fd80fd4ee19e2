package draw

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sightline/engine"
	"sightline/engine/geom"
)

// measure measures the chosen pair; nil when none was chosen.
func (d *drawing) measure() (*engine.PairVerdict, error) {
	if d.o.To == "" {
		return nil, nil
	}
	o := engine.Options{Sigmas: d.o.Sigmas}
	if d.find(d.o.To) != nil {
		v, err := engine.MeasurePair(d.scene, d.o.From, d.o.To, o)
		return &v, err
	}
	// An object: the range to it is measured with this ship alone on the table.
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
	d.lines = append(d.lines, fmt.Sprintf("%s → %s: contact %s, overlap %s", name(v.From), name(v.To), words(v.Contact.String()), words(v.Overlap.String())))
	return &engine.PairVerdict{From: v.From, To: v.To, Range: v.Range, Contact: v.Contact}, nil
}

// measured draws what was measured: the range, and the attack range in each asked arc.
func (d *drawing) measured(v *engine.PairVerdict) {
	if v == nil {
		return
	}
	d.measuringLines("range", v.Range.Lines)
	d.figure("range", &v.Range, 0)
	d.lines = append(d.lines, fmt.Sprintf("%s → %s: %s", name(v.From), name(v.To), sentence(&v.Range)))
	for i := range v.Arcs {
		if slices.Contains(d.o.Arcs, v.Arcs[i].Arc) {
			d.attack(v, &v.Arcs[i])
		}
	}
}

// attack draws the measuring lines inside an arc, coloured by what stands on them.
func (d *drawing) attack(v *engine.PairVerdict, a *engine.ArcVerdict) {
	line := fmt.Sprintf("%s arc: %s (margin %.2f mm)", words(a.Arc.String()), words(a.InArc.String()), float64(a.Margin))
	if at := a.Attack; at != nil {
		d.measuringLines("attack "+at.Obstruction.Verdict, at.Lines)
		if math.Abs(float64(at.Distance-v.Range.Distance)) > 0.005 {
			d.figure("attack", &at.RangeVerdict, 1)
		}
		line += ", attack " + sentence(&at.RangeVerdict) + "; obstructed: " + words(at.Obstruction.Verdict)
		if by := at.Obstruction.By; len(by) > 0 {
			short := make([]string, len(by))
			for i := range by {
				short[i] = name(by[i])
			}
			line += " (" + strings.Join(short, ", ") + ")"
		}
	}
	d.lines = append(d.lines, line)
}

// measuringLines draws one line, or the band between the two extreme ones.
func (d *drawing) measuringLines(class string, lines []engine.Line) {
	if len(lines) > 1 {
		d.path("span "+class, d.polygon(lines[0][0], lines[0][1], lines[1][1], lines[1][0]))
	}
	for _, l := range lines {
		d.segment("line "+class, l[0], l[1])
		for _, p := range l {
			x, y := d.at(p)
			d.printf(`<circle class="end %s" cx="%s" cy="%s" r="%s"/>`+"\n", class, number(x), number(y), number(0.35*d.unit))
		}
	}
}

// figure writes a distance beside the middle of its lines; row keeps two apart.
func (d *drawing) figure(class string, r *engine.RangeVerdict, row float64) {
	var mid geom.Point
	for _, l := range r.Lines {
		mid = mid.Add(l[0].Add(l[1]).Mul(0.5 / float64(len(r.Lines))))
	}
	along := r.Lines[0][1].Sub(r.Lines[0][0])
	side := geom.Point{X: 1}
	if n := along.Norm(); n > 1e-6 {
		side = geom.Point{X: along.Y, Y: -along.X}.Mul(1 / n)
	}
	if side.X < 0 {
		side = side.Mul(-1)
	}
	words := fmt.Sprintf("%.1f mm · range %s", float64(r.Distance), bandWords(r.Possible))
	off := math.Abs(side.X)*0.32*float64(len([]rune(words)))*2 + math.Abs(side.Y)*2.2
	p := mid.Add(side.Mul(off * d.unit)).Add(geom.Point{Y: -2.4 * row * d.unit})
	// Stay inside the picture.
	half := 0.32 * float64(len([]rune(words))) * 2 * d.unit
	p.X = math.Max(d.view.x0+half, math.Min(d.view.x1-half, p.X))
	d.text("figure "+class, 2, p, words)
}

func sentence(r *engine.RangeVerdict) string {
	return fmt.Sprintf("range %s, %.2f ± %.2f mm (margin %.2f mm)", bandWords(r.Possible), float64(r.Distance), float64(r.Sigma), float64(r.Margin))
}

// bandWords writes the bands that a range may be: "2", "2 or 3".
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
