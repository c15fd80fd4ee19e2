package exposure

import (
	"errors"
	"fmt"
	"image"
	"math"
	"slices"
	"strings"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision/internal/gray"
)

// Light is how well the camera sees the table, measured on the mat's printed markers, black on
// white, and on the mat itself.
type Light struct {
	Edges  int     // measured edges of markers; 0: only Noise, Glare, Where and Banded are known
	Edge   float64 // px from black to white across a marker's edge: the median, in the worse direction
	EdgeMM float64 // the same on the table, mm
	Smear  float64 // width of the edges in the worse direction divided by that in the other; 1 if nothing moves, or all moves diagonally
	White  float64 // median grey level of the markers' paper
	Paper  float64 // grey level of the brighter paper: a quarter of the markers has it or more
	Black  float64 // median grey level of the markers' ink
	Noise  float64 // standard deviation of a pixel from picture to picture, grey levels; 0: unknown
	Burnt  float64 // share of the markers whose paper is clipped
	Glare  float64 // share of the mat that is clipped
	Where  string  // the part of the mat in which the middle of the glare lies: "left", "far right"; "" without glare
	Banded float64 // relative change of light from picture to picture that differs between bands of rows: standard deviation
}

// Gauges measures Light, about once a second (BenchmarkGauges). It belongs to one goroutine.
type Gauges struct {
	before *image.Gray // the picture before
}

// The limits of Advice. Beyond each of them the simulated table at 1080p loses ships, or the
// errors exceed the stated ones (TestWhatBadLightDoes, docs/seeing.md).
const (
	burntLevel   = 250  // grey level at which white is no longer measured
	brightPaper  = 240  // grey level of Paper from which tokens that lie in more light may be burnt out
	edgeSoft     = 3.1  // EdgeMM: a cell of the tokens' code is 2.7 mm long
	smeared      = 1.27 // Smear: sharp edges along the pixels' rows and columns have up to 1.21
	burntShare   = 0.25 // Burnt
	LeastInk     = 60.0 // White - Black
	noisyPixel   = 12.0 // Noise
	bandedLight  = 0.02 // Banded
	blankShare   = 0.25 // clipped share of the whole picture: the markers' paper is a fiftieth of it, a light table next to the mat half
	glareStep    = 6    // px between the samples of the mat
	bandRows     = 16   // rows of a band
	bandColumns  = 48
	leastBandRow = 12.0 // grey level below which a block's light is noise
)

// glareShare is the largest clipped share of the mat at which the page is silent and the mat can be
// learnt.
const glareShare = 0.01

// overexposed reports whether the exposure alone may clip the mat. Nothing on a table is whiter than
// the markers' paper. If the paper has the right level and the mat is clipped, the mat reflects a
// lamp; if the paper is too light, the mat may just be light.
func (l *Light) overexposed() bool { return l.Edges > 0 && l.Paper > goalHigh }

// Clipped says why the mat cannot be learnt because part of it is clipped, and what to do; "" if it can.
func (l *Light) Clipped() string {
	switch {
	case l.Glare <= glareShare:
		return ""
	case l.overexposed():
		return fmt.Sprintf("%.0f %% of the mat is burnt out (%s), and the markers' paper is at grey level %.0f: what lies there cannot be "+
			"learnt. Shorten the exposure.", 100*l.Glare, l.Where, l.Paper)
	}
	return fmt.Sprintf("%.0f %% of the mat is white with glare (%s): what lies there cannot be learnt. Turn the lamp or the camera, or "+
		"lower the exposure.", 100*l.Glare, l.Where)
}

// Look measures a picture. seen are the markers in it, or the places where they are expected; t
// is the calibration in use, or nil.
func (g *Gauges) Look(picture *image.Gray, seen []calibration.MarkerSighting, t *calibration.Table) Light {
	var l Light
	l.markers(picture, seen, t)
	if t != nil && t.Width == picture.Rect.Dx() && t.Height == picture.Rect.Dy() {
		l.mat(picture, t)
	}
	l.Banded, l.Noise = banding(picture, g.before), noise(picture, g.before)
	g.before = picture
	return l
}

// Next keeps a picture that is not measured, for the next Look to compare with.
func (g *Gauges) Next(picture *image.Gray) { g.before = picture }

// markers measures the edges and levels of the markers.
func (l *Light) markers(g *image.Gray, seen []calibration.MarkerSighting, t *calibration.Table) {
	var whites, papers, blacks, scales []float64
	var turned [2][]float64 // widths of edges across rows, and across columns
	burnt, measured := 0, 0
	for _, m := range seen {
		white := 0.0
		for i := range 4 {
			a, b := m.Corners[i], m.Corners[(i+1)%4]
			e, ok := MeasureEdge(g, a, b)
			if !ok {
				continue
			}
			white = max(white, e.White)
			whites, blacks = append(whites, e.White), append(blacks, e.Black)
			scales = append(scales, b.Sub(a).Norm()/markerSize(t, m.ID).Millimeters())
			k := 0
			if math.Abs(b.Y-a.Y) > math.Abs(b.X-a.X) {
				k = 1
			}
			turned[k] = append(turned[k], e.Width)
		}
		if white > 0 {
			papers = append(papers, white)
			measured++
			if white >= burntLevel {
				burnt++
			}
		}
	}
	if l.Edges = len(whites); l.Edges == 0 {
		return
	}
	l.Paper = gray.Quantile(papers, 0.75)
	l.White, l.Black, l.Burnt = gray.Quantile(whites, 0.5), gray.Quantile(blacks, 0.5), float64(burnt)/float64(measured)
	across, along := gray.Quantile(turned[0], 0.5), gray.Quantile(turned[1], 0.5)
	l.Edge, l.Smear = max(across, along), 1
	l.EdgeMM = l.Edge / gray.Quantile(scales, 0.5)
	if across > 0 && along > 0 {
		l.Smear = max(across/along, along/across)
	}
}

// markerSize returns the length of a marker's black square.
func markerSize(t *calibration.Table, id int) geom.Length {
	if t != nil {
		for _, m := range t.Layout.Markers {
			if m.ID == id {
				return m.Size
			}
		}
	}
	return calibration.MarkerSize
}

// mat measures how much of the mat is clipped, and where.
func (l *Light) mat(g *image.Gray, t *calibration.Table) {
	box := gray.MatRegion(&t.Camera, t.Layout)
	clipped, all := 0, 0
	var middle geom.Point
	for y := box.Min.Y; y < box.Max.Y; y += glareStep {
		row := g.Pix[y*g.Stride:]
		for x := box.Min.X; x < box.Max.X; x += glareStep {
			all++
			// A clipped pixel counts next to clipped ones: printed stars and tokens' prints are smaller.
			if row[x] < burntLevel || x+glareStep >= g.Rect.Dx() || row[x+glareStep] < burntLevel ||
				y+glareStep >= g.Rect.Dy() || row[glareStep*g.Stride+x] < burntLevel {
				continue
			}
			if p, ok := t.PointAt(geom.Pixel{X: float64(x), Y: float64(y)}, 0); ok {
				clipped++
				middle = middle.Add(p)
			}
		}
	}
	if all == 0 || clipped == 0 {
		return
	}
	l.Glare = float64(clipped) / float64(all)
	middle = middle.Mul(1 / float64(clipped))
	l.Where = partOf(middle, t.Layout)
}

// partOf names the ninth of the mat that contains a point, as player 1 sees it.
func partOf(p geom.Point, layout calibration.Layout) string {
	third := func(v, of float64, low, high string) string {
		switch {
		case v < of/3:
			return low
		case v > of*2/3:
			return high
		}
		return ""
	}
	part := strings.TrimSpace(third(p.Y, float64(layout.Height), "near", "far") + " " + third(p.X, float64(layout.Width), "left", "right"))
	if part == "" {
		return "middle"
	}
	return part
}

// banding returns the relative standard deviation of the change of light from one picture to the
// next between bands of rows. Mains lamps flicker, and a rolling shutter turns that into wandering
// bands. The median of each band ignores what moves.
func banding(g, before *image.Gray) float64 {
	if before == nil || before.Rect != g.Rect {
		return 0
	}
	var bands, ratios []float64
	for y := 0; y+bandRows <= g.Rect.Dy(); y += bandRows {
		ratios = ratios[:0]
		for x := 0; x+bandColumns <= g.Rect.Dx(); x += bandColumns {
			var now, then int
			for j := 0; j < bandRows; j += 2 {
				a, b := g.Pix[(y+j)*g.Stride+x:][:bandColumns], before.Pix[(y+j)*before.Stride+x:][:bandColumns]
				for i := 0; i < bandColumns; i += 2 {
					now, then = now+int(a[i]), then+int(b[i])
				}
			}
			if float64(then) >= leastBandRow*bandRows*bandColumns/4 {
				ratios = append(ratios, float64(now)/float64(then))
			}
		}
		if len(ratios) >= 5 {
			bands = append(bands, gray.Quantile(ratios, 0.5))
		}
	}
	if len(bands) < 8 {
		return 0
	}
	mean, square := 0.0, 0.0
	for _, b := range bands {
		mean += b / float64(len(bands))
	}
	for _, b := range bands {
		square += (b/mean - 1) * (b/mean - 1) / float64(len(bands))
	}
	return math.Sqrt(square)
}

// ExplainMarkers adds the reason to an error of calibration.Register if the markers' white is
// burnt out (bloom shrinks their black squares as another lens would), or if so much of the
// picture is burnt out that it may show no markers.
func ExplainMarkers(err error, picture *image.Gray, seen []calibration.MarkerSighting) error {
	if !errors.Is(err, calibration.ErrMarkers) {
		return err
	}
	var g Gauges
	if l := g.Look(picture, seen, nil); l.Edges > 0 && l.Burnt >= burntShare {
		return fmt.Errorf("the white of %.0f %% of the markers is burnt out, which moves their edges: shorten the exposure, by half to begin "+
			"with, and try again (as they look now: %w)", 100*l.Burnt, err)
	}
	if white := burntPart(picture); white > blankShare {
		return fmt.Errorf("%.0f %% of the picture is burnt out: shorten the exposure, by half to begin with, and try again (as it looks now: %w)",
			100*white, err)
	}
	return err
}

// burntPart returns the share of a picture that is clipped.
func burntPart(g *image.Gray) float64 {
	n, all := 0, 0
	for y := 0; y < g.Rect.Dy(); y += glareStep {
		for _, v := range g.Pix[y*g.Stride:][:g.Rect.Dx()] {
			if all++; v >= burntLevel {
				n++
			}
		}
	}
	return float64(n) / float64(max(all, 1))
}

// Advice returns what to do about the light. It is empty when all is well.
func (l *Light) Advice() (out []string) {
	say := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	if l.Edges > 0 {
		switch contrast := l.White - l.Black; {
		case l.Smear > smeared:
			say("the picture is smeared in one direction (an edge takes %.1f px, %.1f times what it takes across): a shorter exposure and more "+
				"light, and a mount that does not shake", l.Edge, l.Smear)
		case l.EdgeMM > edgeSoft:
			say("the picture is not sharp (an edge takes %.1f px, %.1f mm on the table): focus on the mat, lock the focus, clean the lens, then "+
				"calibrate the lens again", l.Edge, l.EdgeMM)
		case contrast < LeastInk:
			say("the picture is flat (%.0f grey levels from black to white): give more light, or lengthen the exposure", contrast)
		}
		switch {
		case l.Burnt >= burntShare:
			say("the white of %.0f %% of the markers is burnt out, which moves their edges and the tokens', and ships may be lost: shorten the "+
				"exposure, by half to begin with", 100*l.Burnt)
		case l.Paper >= brightPaper:
			say("the markers' paper is nearly burnt out (grey level %.0f of 255), and tokens in more light are: shorten the exposure to %.0f %% "+
				"of what it is",
				l.Paper, 100*linearOf(Goal)/linearOf(l.Paper))
		}
	}
	if l.Noise > noisyPixel {
		say("the picture is noisy (%.0f grey levels): give more light and less gain", l.Noise)
	}
	switch {
	case l.Glare <= glareShare:
	case l.overexposed():
		say("%.0f %% of the mat is burnt out at its %s: shorten the exposure", 100*l.Glare, l.Where)
	default:
		say("a lamp is reflected in the mat at its %s (%.0f %% of it is white): move the lamp, "+
			"or hang a cloth in front of it", l.Where, 100*l.Glare)
	}
	if l.Banded > bandedLight {
		say("the light flickers by %.0f %% in bands: set the camera's powerline frequency to that of your mains (camera.powerline)", 100*l.Banded)
	}
	return out
}

// noise returns the standard deviation of a pixel from one picture to the next, computed from the
// nine tenths of the pixels that differ least: the others may show something that moved.
func noise(g, before *image.Gray) float64 {
	if before == nil || before.Rect != g.Rect {
		return 0
	}
	var count [256]int
	n := 0
	for y := 0; y < g.Rect.Dy(); y += 11 {
		a, b := g.Pix[y*g.Stride:][:g.Rect.Dx()], before.Pix[y*before.Stride:][:g.Rect.Dx()]
		for x := 0; x < len(a); x += 13 {
			d := int(a[x]) - int(b[x])
			count[max(d, -d)]++
			n++
		}
	}
	sum, left := 0, n*9/10
	for d, c := range count {
		k := min(c, left)
		sum, left = sum+k*d, left-k
	}
	// The smaller nine tenths of the absolute values of a normal distribution have a mean of 0.657
	// sigma. The difference of two pictures has √2 times the noise of one.
	return float64(sum) / float64(max(n*9/10, 1)) / 0.657 / math.Sqrt2
}

// Edge is a straight edge from black to white as a picture shows it.
type Edge struct {
	Width        float64 // px from black to white: the contrast divided by the steepest slope
	White, Black float64 // grey levels at its ends
}

// MeasureEdge measures the edge between two corners of a marker's black square, over its middle
// third. It looks to both sides as far as the marker's border and paper reach, at most 8 px. It
// reports false if the edge is shorter than 12 px or not wholly in the picture.
func MeasureEdge(g *image.Gray, a, b geom.Pixel) (e Edge, ok bool) {
	d := b.Sub(a)
	length := d.Norm()
	if !(length >= 12) {
		return e, false
	}
	const most, step, rows = 8, 4, 9
	out := geom.Pixel{X: -d.Y / length, Y: d.X / length}
	reach := min(most, length/8*0.8) // the border is an eighth of the side
	n := int(2*reach*step) + 1
	profile := make([]float64, n)
	for r := range rows {
		at := a.Add(d.Mul(1.0/3 + float64(r)/(rows-1)/3))
		for i := range profile {
			p := at.Add(out.Mul(float64(i)/step - reach))
			v, in := gray.Bilinear(g, p.X, p.Y)
			if !in {
				return e, false
			}
			profile[i] += v / rows
		}
	}
	lo, hi, steepest := slices.Min(profile), slices.Max(profile), 0.0
	for i := 1; i < n; i++ {
		steepest = max(steepest, math.Abs(profile[i]-profile[i-1])*step)
	}
	if steepest <= 0 {
		return e, false
	}
	return Edge{Width: (hi - lo) / steepest, White: hi, Black: lo}, true
}
