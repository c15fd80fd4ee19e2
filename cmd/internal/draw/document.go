package draw

import (
	"fmt"
	"strings"

	"sightline/engine/geom"
)

// style is the light theme; %s is the width of a hairline.
const style = `
text { font-family: system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; text-anchor: middle; dominant-baseline: central; fill: #13202c; }
path, rect, circle, ellipse { stroke-width: %[1]s; stroke-linejoin: round; }
.paper { fill: #ffffff; }
.mat { fill: #f4f7fa; stroke: #8695a3; }
.grid { fill: none; stroke: #dde4eb; stroke-width: %[2]s; }
.edge, .note { fill: #50606e; }
.note { text-anchor: start; }
.band { fill: #2b6cb0; fill-opacity: .05; stroke: #6b8fb3; stroke-dasharray: %[3]s; }
.ring { fill: #3c6690; paint-order: stroke; stroke: #ffffff; stroke-width: %[4]s; }
.arc { fill: #f2b705; fill-opacity: .16; stroke: #b98900; }
.base { fill: #ffffff; stroke: #46535f; }
.guide { fill: #46535f; stroke: none; }
.player1 .base, .device.player1 .body { fill: #fff3e3; stroke: #a34f00; }
.player2 .base, .device.player2 .body { fill: #e6f2fc; stroke: #075fa8; }
.card { fill: none; stroke: #9aa7b3; stroke-width: %[2]s; }
.aft { fill: #13202c; fill-opacity: .1; stroke: none; }
.dashed { stroke-dasharray: %[3]s; }
.nose { fill: #46535f; }
.player1 .nose, .player1 .guide { fill: #a34f00; }
.player2 .nose, .player2 .guide { fill: #075fa8; }
.turret { fill: #6a1b9a; }
.turretring { fill: none; stroke: #6a1b9a; stroke-width: %[2]s; }
.doubt { fill: #c2185b; fill-opacity: .12; stroke: #c2185b; stroke-width: %[2]s; }
.id, .figure { font-weight: 600; paint-order: stroke; stroke: #ffffff; stroke-width: %[4]s; stroke-linejoin: round; }
.tag { paint-order: stroke; stroke: #ffffff; stroke-width: %[4]s; stroke-linejoin: round; fill: #33414e; }
.rock { stroke: #5a4a3a; }
.asteroid { fill: #c9b8a3; }
.debris { fill: url(#debris); stroke: #6b6b6b; }
.gas { fill: url(#gas); stroke: #5b7f3a; stroke-dasharray: %[3]s; }
.rim { fill: none; stroke: #c2185b; stroke-opacity: .25; }
.device .body { fill: #fdecea; stroke: #a3201a; }
.marker .body { fill: #efe9f7; stroke: #5e35b1; }
.dot { fill: #5e35b1; }
.template { fill: #00796b; fill-opacity: .12; stroke: #00796b; }
.ghost .base { fill: none; stroke-dasharray: %[3]s; }
.final .base { stroke: #00796b; stroke-width: %[4]s; fill-opacity: .75; }
.ghost .guide, .ghost .nose { fill-opacity: .4; }
.final .guide, .final .nose { fill: #00796b; }
.option .base { fill: #00796b; fill-opacity: .04; stroke: #00796b; }
.illegal .base { fill: none; stroke: #a3201a; stroke-dasharray: %[3]s; }
.doubtful .base { fill: none; stroke: #b36b00; stroke-dasharray: %[3]s; }
.option .guide { fill: #00796b; }
.illegal .guide, .doubtful .guide { fill: none; }
.option .nose { fill: none; stroke: #00796b; stroke-width: %[1]s; }
.illegal .nose { fill: none; stroke: #a3201a; stroke-width: %[1]s; }
.doubtful .nose { fill: none; stroke: #b36b00; stroke-width: %[1]s; }
.sweep { stroke: none; fill-opacity: .1; }
.sweep.option { fill: #00796b; }
.sweep.illegal { fill: #a3201a; }
.sweep.doubtful { fill: #b36b00; }
.choice { paint-order: stroke; stroke: #ffffff; stroke-width: %[4]s; stroke-linejoin: round; }
.choice.option { fill: #005b50; }
.choice.illegal { fill: #a3201a; }
.choice.doubtful { fill: #8a5200; }
.line { fill: none; stroke: #13202c; stroke-width: %[5]s; }
.end { fill: #13202c; stroke: none; }
.span { fill: #13202c; fill-opacity: .1; stroke: none; }
.line.attack { stroke: #0d6b36; }
.end.attack { fill: #0d6b36; }
.span.attack { fill: #0d6b36; fill-opacity: .18; }
.figure.attack { fill: #0d6b36; }
.line.may, .line.too_close { stroke: #b36b00; }
.end.may, .end.too_close { fill: #b36b00; }
.span.may, .span.too_close { fill: #b36b00; }
.line.must { stroke: #a3201a; }
.end.must { fill: #a3201a; }
.span.must { fill: #a3201a; }
`

// document assembles the drawing: the picture, and the notes below it.
func (d *drawing) document() []byte {
	w, h := d.view.x1-d.view.x0, d.view.y1-d.view.y0
	notes := wrapped(d.notes(), int((w/d.unit-3)/(0.54*1.9)))
	foot := (1.2 + 2.6*float64(len(notes))) * d.unit
	title := d.title()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="%s 0 %s %s" width="%s" height="%s" role="img">`+"\n",
		number(d.view.x0), number(w), number(h+foot), number(pixels(w, w, h)), number(pixels(h+foot, w, h)))
	fmt.Fprintf(&b, "<title>%s</title>\n", escaped(title))
	fmt.Fprintf(&b, "<desc>%s</desc>\n", escaped(strings.Join(d.notes(), ". ")))
	fmt.Fprintf(&b, "<style>"+style+"</style>\n", number(0.18*d.unit), number(0.1*d.unit), number(0.6*d.unit), number(0.5*d.unit),
		number(0.26*d.unit))
	fmt.Fprintf(&b, `<defs><pattern id="debris" width="%[1]s" height="%[1]s" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">`+
		`<rect width="%[1]s" height="%[1]s" fill="#e6e6e6"/><rect width="%[2]s" height="%[1]s" fill="#a9a9a9"/></pattern>`+
		`<pattern id="gas" width="%[1]s" height="%[1]s" patternUnits="userSpaceOnUse"><rect width="%[1]s" height="%[1]s" fill="#e9f3df"/>`+
		`<circle cx="%[2]s" cy="%[2]s" r="%[3]s" fill="#9dbf7c"/></pattern>`+
		`<clipPath id="picture"><rect x="%[4]s" y="0" width="%[5]s" height="%[6]s"/></clipPath></defs>`+"\n",
		number(1.6*d.unit), number(0.8*d.unit), number(0.35*d.unit), number(d.view.x0), number(w), number(h))
	if d.hasMat() {
		d.clipToMat(&b)
	}
	fmt.Fprintf(&b, `<rect class="paper" x="%s" y="0" width="%s" height="%s"/>`+"\n", number(d.view.x0), number(w), number(h+foot))
	b.WriteString(`<g clip-path="url(#picture)">` + "\n" + d.b.String() + "</g>\n")
	d.b.Reset()
	const size = 1.9
	for i, n := range notes {
		p := geom.Point{X: d.view.x0 + 1.5*d.unit, Y: d.top - h - (1.5+2.6*float64(i))*d.unit}
		d.text("note", size, p, n)
	}
	b.WriteString(d.b.String() + "</svg>\n")
	return []byte(b.String())
}

// wrapped breaks lines longer than n letters at a space.
func wrapped(lines []string, n int) []string {
	var out []string
	for _, l := range lines {
		for r := []rune(l); ; {
			if len(r) <= n {
				out = append(out, string(r))
				break
			}
			cut := n
			for i := n; i > n/2; i-- {
				if r[i] == ' ' {
					cut = i
					break
				}
			}
			out = append(out, string(r[:cut]))
			r = append([]rune("    "), []rune(strings.TrimLeft(string(r[cut:]), " "))...)
		}
	}
	return out
}

// pixels scales a length of a picture w × h mm to the page, where the picture's longer side has 900
// px.
func pixels(v, w, h float64) float64 { return v * 900 / max(w, h) }

// clipToMat defines the mat as a clipping path.
func (d *drawing) clipToMat(b *strings.Builder) {
	fmt.Fprintf(b, `<defs><clipPath id="mat"><path d="%s"/></clipPath></defs>`+"\n", d.rectangle(box{0, 0, float64(d.scene.MatWidth),
		float64(d.scene.MatHeight)}))
}

func (d *drawing) title() string {
	if d.o.Title != "" {
		return d.o.Title
	}
	n := len(d.scene.Ships)
	ships := fmt.Sprintf("%d ships", n)
	if n == 1 {
		ships = "1 ship"
	}
	return "Table of " + ships + ", rules " + d.scene.Rules.String()
}

// notes returns the lines below the picture.
func (d *drawing) notes() []string {
	first := "rules " + d.scene.Rules.String() + ", grid 100 mm"
	for i := range d.scene.Ships {
		if d.scene.Ships[i].Covariance != (geom.Cov3{}) {
			first += fmt.Sprintf("; ellipses: %g sigmas, %d times their size", d.o.Sigmas, magnified)
			break
		}
	}
	return append(append([]string{}, d.lines...), first)
}
