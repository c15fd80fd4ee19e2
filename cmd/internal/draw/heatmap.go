package draw

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"sightline/calibration"
	"sightline/cmd/internal/texts"
	"sightline/engine/geom"
)

// HeatOptions control a heat map; the zero value is the default.
type HeatOptions struct {
	Z      geom.Length     // height over the mat of the measured points; 0: a base's top, 4 mm
	Frames int             // number of averaged frames; 0: one
	Title  string          // "": the default
	Texts  texts.Catalogue // of the reader's language; nil: English
}

// heatColors run from little uncertainty to much. They are Cividis (Nuñez, Anderton and Renslow
// 2018) backwards: the lightness falls evenly, so the map reads the same to colour-blind people and
// in a grey print.
var heatColors = [...]string{"#fff3a8", "#fee838", "#dcc85a", "#bdae6b", "#9f9776", "#83817b", "#69707a", "#4d5b6e", "#2b446e", "#00224e"}

// maxBands is the largest number of steps of a heat map.
const maxBands = 10

// HeatMap writes an SVG of the calibration's uncertainty over the mat: the standard deviation along
// the longest axis of the covariance as coloured steps with lines of equal sigma, magnified
// ellipses at some places, the markers, and a legend in mm. The frame is the table's: player 1 sits
// below. It fails if the camera does not see the mat.
func HeatMap(w io.Writer, b *calibration.Budget, o HeatOptions) error {
	if o.Z == 0 {
		o.Z = 4 * geom.Millimeter
	}
	h, err := newHeat(b, o)
	if err != nil {
		return err
	}
	_, err = w.Write(h.document())
	return err
}

// heat is the state of a heat map while it is drawn.
type heat struct {
	canvas
	budget *calibration.Budget
	o      HeatOptions
	w, h   float64 // of the mat, mm
	margin float64 // around the mat, for the markers
	nx, ny int     // cells
	sigma  []float64
	low    float64 // lower end of the least band
	step   float64 // mm between bands
	bands  int
}

func newHeat(b *calibration.Budget, o HeatOptions) (*heat, error) {
	t := b.Table()
	h := &heat{budget: b, o: o, w: float64(t.Layout.Width), h: float64(t.Layout.Height)}
	const cells = 48
	side := math.Max(h.w, h.h)
	h.nx, h.ny = max(4, int(cells*h.w/side)), max(4, int(cells*h.h/side))
	h.unit, h.margin = side/100, 0.075*side
	h.top = h.h + h.margin
	for j := range h.ny + 1 {
		for i := range h.nx + 1 {
			terms, ok := b.At(h.node(i, j), o.Z)
			if !ok {
				return nil, fmt.Errorf("draw: heat map: the mat lies behind the camera at %.0f, %.0f mm", h.node(i, j).X, h.node(i, j).Y)
			}
			h.sigma = append(h.sigma, float64(calibration.LargestSigma(terms.Total(o.Frames))))
		}
	}
	h.choose()
	return h, nil
}

func (h *heat) node(i, j int) geom.Point {
	return geom.Point{X: h.w * float64(i) / float64(h.nx), Y: h.h * float64(j) / float64(h.ny)}
}

func (h *heat) at(i, j int) float64 { return h.sigma[j*(h.nx+1)+i] }

// choose chooses the finest round step that gives at most maxBands bands.
func (h *heat) choose() {
	least, most := slices.Min(h.sigma), slices.Max(h.sigma)
	for decade := 1e-4; ; decade *= 10 {
		for _, k := range [...]float64{1, 2, 5} {
			h.step = k * decade
			first := math.Floor(least/h.step + 1e-9)
			h.low = first * h.step
			h.bands = int(math.Ceil(most/h.step-1e-9) - first)
			if h.bands <= maxBands && h.step >= 0.005 {
				h.bands = max(h.bands, 1)
				return
			}
		}
	}
}

// color returns a band's colour; the colours spread over all bands.
func (h *heat) color(band int) string {
	if h.bands == 1 {
		return heatColors[1]
	}
	return heatColors[int(math.Round(float64(band)/float64(h.bands-1)*float64(len(heatColors)-1)))]
}

// ink returns the colour of text on a band.
func (h *heat) ink(band int) string {
	if float64(band) > 0.55*float64(h.bands-1) {
		return "#ffffff"
	}
	return "#13202c"
}

const heatStyle = `
text { font-family: system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; text-anchor: middle; dominant-baseline: central; fill: #13202c; }
.paper { fill: #ffffff; }
.mat { fill: none; stroke: #13202c; stroke-width: %[1]s; }
.iso { fill: none; stroke: #13202c; stroke-width: %[2]s; }
.iso.dark { stroke: #ffffff; }
.doubt { fill: none; stroke: #13202c; stroke-width: %[1]s; }
.doubt.dark { stroke: #ffffff; }
.marker { fill: #ffffff; stroke: #13202c; stroke-width: %[2]s; }
.left { fill: #ffffff; stroke: #a3201a; stroke-width: %[1]s; }
.foot { fill: none; stroke: #13202c; stroke-width: %[1]s; }
.level { font-weight: 600; }
.title { text-anchor: start; font-weight: 600; }
.note { text-anchor: start; fill: #50606e; }
.edge { fill: #50606e; }
`

func (h *heat) document() []byte {
	legend := 22 * h.unit
	x0, width, height := -h.margin, h.w+2*h.margin+legend, h.h+2*h.margin
	title, notes := h.words()
	head, foot := 5*h.unit, (1.5+2.6*float64(len(notes)))*h.unit
	h.bandsOf()
	h.lines()
	h.ellipses()
	h.markers()
	h.legend()
	body := h.b.String()
	h.b.Reset()
	h.text("title", 2.4, geom.Point{X: 0, Y: h.top + 2*h.unit}, title)
	for i, n := range notes {
		h.text("note", 1.9, geom.Point{X: 0, Y: h.top - height - (1+2.6*float64(i))*h.unit}, n)
	}
	texts := h.b.String()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="%s %s %s %s" width="%s" height="%s" role="img">`+"\n",
		number(x0), number(-head), number(width), number(height+head+foot), number(pixels(width, width, height)),
		number(pixels(height+head+foot, width, height)))
	fmt.Fprintf(&b, "<title>%s</title>\n<desc>%s</desc>\n", escaped(title), escaped(strings.Join(notes, ". ")))
	fmt.Fprintf(&b, "<style>"+heatStyle+"</style>\n", number(0.25*h.unit), number(0.18*h.unit))
	fmt.Fprintf(&b, `<rect class="paper" x="%s" y="%s" width="%s" height="%s"/>`+"\n", number(x0), number(-head), number(width),
		number(height+head+foot))
	b.WriteString(body + texts + "</svg>\n")
	return []byte(b.String())
}

// words returns the title and the lines below the picture.
func (h *heat) words() (string, []string) {
	title := h.o.Title
	if title == "" {
		title = h.o.Texts.Say("How sure: sigma along its longest axis, mm, {} mm over the mat", number(float64(h.o.Z)))
	}
	t := h.budget.Table()
	frames := h.o.Texts.Say("one frame")
	if h.o.Frames > 1 {
		frames = h.o.Texts.Say("the mean of {} frames", strconv.Itoa(h.o.Frames))
	}
	least, most := fmt.Sprintf("%.2f", slices.Min(h.sigma)), fmt.Sprintf("%.2f", slices.Max(h.sigma))
	return title, []string{
		h.o.Texts.Say("{} to {} mm for {}; ellipses: one sigma, {} times its size; cross: below the camera", least, most, frames,
			number(h.magnified())),
		h.o.Texts.Say("markers: {} used, {} left out (red); noise, lens, pose, heights, flatness, scale, print and insert play",
			strconv.Itoa(len(t.Used)), strconv.Itoa(len(t.Layout.Markers)-len(t.Used))),
	}
}

// bandsOf fills the mat with the coloured steps, row by row, with one rectangle for each run of a
// band.
func (h *heat) bandsOf() {
	const fine = 3 // rows per cell
	paths := make([]strings.Builder, h.bands)
	for row := range h.ny * fine {
		f := (float64(row) + 0.5) / fine
		j := int(f)
		f -= float64(j)
		value := func(i int) float64 { return (1-f)*h.at(i, j) + f*h.at(i, j+1) }
		y, tall := h.h*(1-(float64(row)+1)/float64(h.ny*fine))+h.margin, h.h/float64(h.ny*fine)
		emit := func(band int, from, to float64) {
			if to > from {
				fmt.Fprintf(&paths[min(max(band, 0), h.bands-1)], "M%s %sh%sv%sh%sz", number(from), number(y), number(to-from), number(tall),
					number(from-to))
			}
		}
		start, band := 0.0, h.band(value(0))
		for i := range h.nx {
			a, b := value(i), value(i+1)
			for next := h.band(b); band != next; {
				level := h.low + h.step*float64(band+1)
				to := band + 1
				if next < band {
					level, to = h.low+h.step*float64(band), band-1
				}
				x := h.w * (float64(i) + min(max((level-a)/(b-a), 0), 1)) / float64(h.nx)
				emit(band, start, x)
				start, band = x, to
			}
		}
		emit(band, start, h.w)
	}
	for i := range paths {
		if paths[i].Len() > 0 {
			h.printf(`<path fill="%s" shape-rendering="crispEdges" d="%s"/>`+"\n", h.color(i), paths[i].String())
		}
	}
	h.printf(`<rect class="mat" x="0" y="%s" width="%s" height="%s"/>`+"\n", number(h.margin), number(h.w), number(h.h))
}

func (h *heat) band(v float64) int {
	return min(max(int(math.Floor((v-h.low)/h.step+1e-9)), 0), h.bands-1)
}

// lines draws the lines of equal sigma between the bands, each with its figure.
func (h *heat) lines() {
	var placed []geom.Point
	for k := 1; k < h.bands; k++ {
		level := h.low + h.step*float64(k)
		segments := h.contour(level)
		if len(segments) == 0 {
			continue
		}
		var d strings.Builder
		for _, s := range segments {
			d.WriteString("M" + h.xy(s[0]) + "L" + h.xy(s[1]))
		}
		class := "iso"
		if h.ink(k) == "#ffffff" {
			class += " dark"
		}
		h.path(class, d.String())
		if p, ok := h.labelPlace(segments, placed); ok {
			placed = append(placed, p)
			x, y := h.canvas.at(p)
			h.printf(`<rect x="%s" y="%s" width="%s" height="%s" rx="%s" fill="#ffffff"/>`+"\n",
				number(x-2.6*h.unit), number(y-1.2*h.unit), number(5.2*h.unit), number(2.4*h.unit), number(0.6*h.unit))
			h.text("level", 1.9, p, h.o.Texts.Say("{}", h.figure(level)))
		}
	}
}

// figure formats a level with the digits that its step needs.
func (h *heat) figure(v float64) string {
	if h.step < 0.0099 {
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// contour returns the line of one level as short segments, by marching squares.
func (h *heat) contour(level float64) (out [][2]geom.Point) {
	for j := range h.ny {
		for i := range h.nx {
			corners := [4][2]int{{i, j}, {i + 1, j}, {i + 1, j + 1}, {i, j + 1}}
			var cuts []geom.Point
			for k, c := range corners {
				n := corners[(k+1)%4]
				a, b := h.at(c[0], c[1])-level, h.at(n[0], n[1])-level
				if (a < 0) != (b < 0) {
					p, q := h.node(c[0], c[1]), h.node(n[0], n[1])
					cuts = append(cuts, p.Add(q.Sub(p).Mul(a/(a-b))))
				}
			}
			for k := 0; k+1 < len(cuts); k += 2 {
				out = append(out, [2]geom.Point{cuts[k], cuts[k+1]})
			}
		}
	}
	return out
}

// labelPlace returns the place on a line that is best for its figure: near the ray from the middle
// to the right, away from the rim and from other figures.
func (h *heat) labelPlace(segments [][2]geom.Point, taken []geom.Point) (geom.Point, bool) {
	best, at, found := math.Inf(1), geom.Point{}, false
	for _, s := range segments {
		p := s[0].Add(s[1]).Mul(0.5)
		rim := min(p.X, h.w-p.X, p.Y, h.h-p.Y)
		if rim < 3.5*h.unit {
			continue
		}
		cost := math.Abs(math.Atan2(p.Y-h.h/2, p.X-h.w/2) - 0.6)
		for _, q := range taken {
			if math.Abs(p.X-q.X) < 6*h.unit && math.Abs(p.Y-q.Y) < 3*h.unit {
				cost += 10
			}
		}
		if cost < best {
			best, at, found = cost, p, true
		}
	}
	return at, found && best < 10
}

// magnified is the scale of the ellipses: a round figure at which the largest is about as wide as a
// base.
func (h *heat) magnified() float64 {
	most := slices.Max(h.sigma)
	for decade := 1.0; ; decade *= 10 {
		for _, k := range [...]float64{1, 2, 5} {
			if k*decade*most > 0.028*math.Max(h.w, h.h) {
				return k * decade
			}
		}
	}
}

// ellipses draws the covariance at some places, which shows the direction of the uncertainty.
func (h *heat) ellipses() {
	const across = 5
	k := h.magnified()
	for j := range across {
		for i := range across {
			p := geom.Point{X: h.w * (float64(i) + 0.5) / across, Y: h.h * (float64(j) + 0.5) / across}
			terms, ok := h.budget.At(p, h.o.Z)
			if !ok {
				continue
			}
			c := terms.Total(h.o.Frames)
			long := calibration.LargestSigma(c)
			short := math.Sqrt(math.Max(0, c.XX+c.YY-float64(long*long)))
			turn := math.Atan2(2*c.XY, c.XX-c.YY) / 2
			x, y := h.canvas.at(p)
			class := "doubt"
			if h.ink(h.band(float64(long))) == "#ffffff" {
				class += " dark"
			}
			h.printf(`<ellipse class="%s" rx="%s" ry="%s" transform="translate(%s %s) rotate(%s)"/>`+"\n",
				class, number(k*float64(long)), number(k*short), number(x), number(y), number(-turn*180/math.Pi))
		}
	}
}

// markers draws the markers, crosses those that were left out, and draws the camera's foot.
func (h *heat) markers() {
	t := h.budget.Table()
	for _, m := range t.Layout.Markers {
		c := m.Corners()
		class := "marker"
		if !slices.Contains(t.Used, m.ID) {
			class = "left"
		}
		h.path(class, h.polygon(c[:]...))
		if class == "left" {
			h.segment("left", c[0], c[2])
			h.segment("left", c[1], c[3])
		} else {
			h.text("", 2, m.Center, fmt.Sprint(m.ID))
		}
	}
	center := t.Center()
	foot := geom.Point{X: center[0], Y: center[1]}
	if foot.X > 0 && foot.X < h.w && foot.Y > 0 && foot.Y < h.h {
		arm := 1.2 * h.unit
		h.segment("foot", foot.Add(geom.Point{X: -arm}), foot.Add(geom.Point{X: arm}))
		h.segment("foot", foot.Add(geom.Point{Y: -arm}), foot.Add(geom.Point{Y: arm}))
	}
	h.text("edge", 1.9, geom.Point{X: h.w / 2, Y: -h.margin / 2}, h.o.Texts.Say("player 1"))
}

// legend draws the bands next to the mat, the largest uncertainty at the top.
func (h *heat) legend() {
	x, tall := h.w+h.margin+1.5*h.unit, 5.5*h.unit
	bottom := h.h/2 - tall*float64(h.bands)/2
	h.text("level", 2, geom.Point{X: x + 10*h.unit, Y: bottom + tall*float64(h.bands) + 2.4*h.unit}, h.o.Texts.Say("sigma, mm"))
	for k := range h.bands {
		p := geom.Point{X: x, Y: bottom + tall*float64(k)}
		px, py := h.canvas.at(geom.Point{X: p.X, Y: p.Y + tall})
		h.printf(`<rect x="%s" y="%s" width="%s" height="%s" fill="%s" stroke="#13202c" stroke-width="%s"/>`+"\n",
			number(px), number(py), number(6*h.unit), number(tall), h.color(k), number(0.12*h.unit))
		from := h.low + h.step*float64(k)
		h.text("", 2, geom.Point{X: x + 14*h.unit, Y: p.Y + tall/2}, h.o.Texts.Say("{} – {}", h.figure(from), h.figure(from+h.step)))
	}
}
