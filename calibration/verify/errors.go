package verify

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// The standard deviations of the card and of its picture, which do not count against the
// calibration.
const (
	ruleSigma    = 0.05  // mm, a steel rule of 300 mm (DIN 866 class B allows 0.14 mm at the ends)
	readSigma    = 0.1   // mm, reading the rule at both ends: ±0.2 mm
	printSigma   = 0.003 // relative, of a print that was not measured
	inkSigma     = 0.05  // mm per axis, of each marker on the paper: one dot of 600 dpi
	heightSigma  = 0.1   // mm, of the height of each marker: a strip is not flat
	cornerRandom = 0.08  // px per axis, of a marker's corner in one picture (docs/accuracy.md: 0.06-0.11 on photographs)
)

// checkPoint is the centre of a marker of the card at one place.
type checkPoint struct {
	geom.Point             // on the table, by the calibration
	z          geom.Length // over the mat
	place      int
	strip, tag int
	noise      float64 // sigma of its pixel, px
}

// checkLine is a known distance between two points.
type checkLine struct {
	deviation Deviation
	from, to  int        // points
	along     geom.Point // unit vector on the table
	onCard    geom.Point // unit vector on the strip
	nominal   geom.Point // the vector on the strip as designed
}

// growth returns by how much the line grows, for each mm that a point moves along x and y.
func (l *checkLine) growth(point int) geom.Point {
	switch point {
	case l.from:
		return l.along.Mul(-1)
	case l.to:
		return l.along
	}
	return geom.Point{}
}

// check is a verification in progress: the distances and the covariances of their errors.
type check struct {
	table  *calibration.Table
	setup  Setup
	points []checkPoint
	lines  []checkLine
	notes  []string
	moved  float64 // mm, of the mat's markers from the calibration; 0: not seen

	errors    []float64     // of the lines, mm
	stated    []float64     // n×n covariance by the calibration, mm²
	reference []float64     // n×n by the card and the picture
	factor    linalg.Factor // Cholesky factor of their sum
}

// newCheck measures every distance in the sightings.
func newCheck(t *calibration.Table, setup Setup, seen []Sighting) *check {
	c := &check{table: t, setup: setup}
	c.moved = markersOff(t, seen)
	for place, s := range seen {
		for strip := range setup.Card.Strips {
			c.addStrip(&s, place, strip)
		}
	}
	return c
}

// addStrip measures every distance on one strip in a sighting.
func (c *check) addStrip(s *Sighting, place, strip int) {
	first := len(c.points)
	for k, tag := range c.setup.Card.Strips[strip].Tags {
		var found []calibration.MarkerSighting
		for _, m := range s.Tags {
			if m.ID == tag.ID {
				found = append(found, m)
			}
		}
		if len(found) > 1 {
			c.notes = append(c.notes, fmt.Sprintf("%s: marker %d is seen more than once and left out", s.Name, tag.ID))
			continue
		}
		for _, m := range found {
			c.addPoint(m, place, strip, k, s.Frames)
		}
	}
	c.addLines(first)
}

// markersOff returns the distance, in mm, of the mat's markers from the layout: the median
// of those seen, so a bumped marker does not count; 0 when fewer than three were seen.
func markersOff(t *calibration.Table, seen []Sighting) float64 {
	at := map[int]calibration.Marker{}
	for _, m := range t.Layout.Markers {
		at[m.ID] = m
	}
	var off []float64
	for _, s := range seen {
		for _, tag := range s.Tags {
			m, ok := at[tag.ID]
			var mid geom.Point
			for _, px := range tag.Corners {
				p, inView := t.PointAt(px, m.Z)
				ok = ok && inView
				mid = mid.Add(p.Mul(0.25))
			}
			if ok {
				off = append(off, float64(mid.Distance(m.Center)))
			}
		}
	}
	if len(off) < 3 {
		return 0
	}
	slices.Sort(off)
	return off[len(off)/2]
}

// addPoint measures the centre of a marker: the mean of its corners on the table.
func (c *check) addPoint(m calibration.MarkerSighting, place, strip, tag, frames int) {
	p := checkPoint{place: place, strip: strip, tag: tag, z: c.setup.height(strip)}
	for _, px := range m.Corners {
		q, ok := c.table.PointAt(px, p.z)
		if !ok {
			c.notes = append(c.notes, fmt.Sprintf("marker %d lies where the calibration cannot measure", m.ID))
			return
		}
		p.Point = p.Point.Add(q.Mul(0.25))
	}
	p.noise = cornerRandom / 2 / math.Sqrt(float64(max(frames, 1))) // the mean of four corners
	c.points = append(c.points, p)
}

// addLines pairs up the points of one strip at one place.
func (c *check) addLines(first int) {
	for i := first; i < len(c.points); i++ {
		for j := i + 1; j < len(c.points); j++ {
			p, q := c.points[i], c.points[j]
			tags := &c.setup.Card.Strips[p.strip].Tags
			nominal := tags[q.tag].Center.Sub(tags[p.tag].Center)
			arm := q.Sub(p.Point)
			if !(arm.Norm() > 0) {
				continue
			}
			// The bar gives the scale along the strip; across it the print is as designed.
			printed := geom.Point{X: nominal.X, Y: nominal.Y * c.barScale(p.strip)}
			c.lines = append(c.lines, checkLine{
				from: i, to: j, along: arm.Mul(1 / arm.Norm()), onCard: printed.Mul(1 / printed.Norm()), nominal: nominal,
				deviation: Deviation{
					Place: p.place, Strip: p.strip, From: tags[p.tag].ID, To: tags[q.tag].ID, At: [2]geom.Point{p.Point, q.Point},
					True: geom.Length(printed.Norm()), Measured: geom.Length(arm.Norm()),
				},
			})
		}
	}
}

func (c *check) barScale(strip int) float64 {
	if b := c.setup.Bars[strip]; b != 0 {
		return float64(b / Bar)
	}
	return 1
}

// setCovariances computes the covariances of all errors.
func (c *check) setCovariances() error {
	n := len(c.lines)
	c.errors = make([]float64, n)
	for i, l := range c.lines {
		c.errors[i] = float64(l.deviation.Error())
	}
	spots := make([]calibration.Spot, len(c.points))
	for i, p := range c.points {
		spots[i] = calibration.Spot{Point: p.Point, Z: p.z, Object: 2*p.place + p.strip + 1}
	}
	joint, ok := calibration.NewBudget(*c.table, c.setup.Limits).JointCovariance(spots)
	if !ok {
		return errors.New("the card lies where the calibration cannot measure")
	}
	c.stated = c.onLines(joint)
	c.addScale()
	c.reference = make([]float64, n*n)
	c.addCard()
	c.addPicture()
	sum := make([]float64, n*n)
	for i := range sum {
		sum[i] = c.stated[i] + c.reference[i]
	}
	if c.factor, ok = linalg.Cholesky(sum, n); !ok {
		return errors.New("the error model gives no covariance: is the calibration's covariance finite?")
	}
	return nil
}

// onLines propagates a covariance of all points (x, y, x, y …) to the lines' lengths.
func (c *check) onLines(joint []float64) []float64 {
	n, m := len(c.lines), 2*len(c.points)
	out := make([]float64, n*n)
	for i, a := range c.lines {
		for j, b := range c.lines[:i+1] {
			sum := 0.0
			for _, p := range [2]int{a.from, a.to} {
				for _, q := range [2]int{b.from, b.to} {
					k, l := joint[2*p*m+2*q:], joint[(2*p+1)*m+2*q:]
					to, by := a.growth(p), b.growth(q)
					sum += to.X*(k[0]*by.X+k[1]*by.Y) + to.Y*(l[0]*by.X+l[1]*by.Y)
				}
			}
			out[i*n+j], out[j*n+i] = sum, sum
		}
	}
	return out
}

// addScale adds the calibration's scale error, which all distances share.
func (c *check) addScale() {
	addTerm(c.stated, len(c.lines), func(i int) float64 {
		return c.table.ScaleSigma * float64(c.lines[i].deviation.True)
	})
}

// addTerm adds the covariance v vᵀ of an error whose sigma changes line i by v(i).
func addTerm(cov []float64, n int, v func(i int) float64) {
	values := make([]float64, n)
	for i := range values {
		values[i] = v(i)
	}
	for i, a := range values {
		for j, b := range values {
			cov[i*n+j] += a * b
		}
	}
}

// addCard adds the errors of the printed card, the same at every place: its scale along
// and across, and each marker's place on the paper.
func (c *check) addCard() {
	c.addPrint()
	for strip := range c.setup.Card.Strips {
		for tag := range c.setup.Card.Strips[strip].Tags {
			c.addInk(strip, tag, geom.Point{X: 1})
			c.addInk(strip, tag, geom.Point{Y: 1})
		}
	}
}

// addPrint adds the error of the card's scale, along the strips and across.
func (c *check) addPrint() {
	n := len(c.lines)
	along := func(i int) float64 { return c.lines[i].onCard.Y * c.lines[i].nominal.Y } // mm per unit of scale
	across := func(i int) float64 { return c.lines[i].onCard.X * c.lines[i].nominal.X }
	bars := c.setup.Bars
	of := func(strip int, f func(int) float64, sigma float64) func(int) float64 {
		return func(i int) float64 {
			if c.lines[i].deviation.Strip != strip {
				return 0
			}
			return sigma * f(i)
		}
	}
	addTerm(c.reference, n, func(i int) float64 { return printSigma * across(i) })
	both := bars[0] != 0 && bars[1] != 0
	switch {
	case both && bars[0] == bars[1]: // one figure for both: one reading
		sigma := math.Hypot(ruleSigma, readSigma) / float64(Bar)
		addTerm(c.reference, n, func(i int) float64 { return sigma * along(i) })
	case both:
		addTerm(c.reference, n, func(i int) float64 { return ruleSigma / float64(Bar) * along(i) })
		for strip := range bars {
			addTerm(c.reference, n, of(strip, along, readSigma/float64(Bar)))
		}
	case bars[0] == 0 && bars[1] == 0:
		addTerm(c.reference, n, func(i int) float64 { return printSigma * along(i) })
	default: // one of them measured
		for strip, b := range bars {
			sigma := printSigma
			if b != 0 {
				sigma = math.Hypot(ruleSigma, readSigma) / float64(Bar)
			}
			addTerm(c.reference, n, of(strip, along, sigma))
		}
	}
}

// addInk adds the error of a marker's place on the paper along one axis.
func (c *check) addInk(strip, tag int, axis geom.Point) {
	addTerm(c.reference, len(c.lines), func(i int) float64 {
		l := &c.lines[i]
		switch p, q := &c.points[l.from], &c.points[l.to]; {
		case p.strip != strip:
			return 0
		case p.tag == tag:
			return -inkSigma * l.onCard.Dot(axis)
		case q.tag == tag:
			return inkSigma * l.onCard.Dot(axis)
		}
		return 0
	})
}

// addPicture adds the errors of each sighting: the corners' noise, and the strip's height.
func (c *check) addPicture() {
	n := len(c.lines)
	for k, p := range c.points {
		rise := c.slope(k).Mul(heightSigma)
		noise := c.pixelSize(k) * p.noise
		for _, move := range [3]geom.Point{rise, {X: noise}, {Y: noise}} {
			addTerm(c.reference, n, func(i int) float64 { return c.lines[i].growth(k).Dot(move) })
		}
	}
}

// slope returns the apparent motion of a point, in mm, per mm of height.
func (c *check) slope(k int) geom.Point {
	p := c.points[k]
	s, _ := heightSensitivity(c.table, p.Point, p.z)
	return s
}

// heightSensitivity returns the apparent motion of the point at height z when it is raised
// by a millimetre.
func heightSensitivity(t *calibration.Table, p geom.Point, z geom.Length) (geom.Point, bool) {
	px, ok := t.PixelOf(p, z+1)
	if !ok {
		return geom.Point{}, false
	}
	q, ok := t.PointAt(px, z)
	return q.Sub(p), ok
}

// pixelSize returns the size of a pixel on the table at a point, in mm.
func (c *check) pixelSize(k int) float64 {
	_, dx, dy, ok := c.table.PixelJacobian(c.points[k].Point, c.points[k].z)
	if area := math.Abs(dx.X*dy.Y - dx.Y*dy.X); ok && area > 0 {
		return 1 / math.Sqrt(area)
	}
	return 0
}

// chiSquare returns eᵀ C⁻¹ e for errors of the lines.
func (c *check) chiSquare(e []float64) float64 { return linalg.Dot(e, c.solve(e)) }

// solve returns C⁻¹ e.
func (c *check) solve(e []float64) []float64 {
	x := append([]float64(nil), e...)
	linalg.CholeskySolve(c.factor, x)
	return x
}

// covered returns the share of the mat that lies within checkReach of a marker.
func (c *check) covered() float64 {
	const grid = 20
	w, h := float64(c.table.Layout.Width), float64(c.table.Layout.Height)
	near := 0
	for i := range grid {
		for j := range grid {
			at := geom.Point{X: w * (float64(i) + 0.5) / grid, Y: h * (float64(j) + 0.5) / grid}
			for _, l := range c.lines {
				if min(at.Distance(l.deviation.At[0]), at.Distance(l.deviation.At[1])) < checkReach {
					near++
					break
				}
			}
		}
	}
	return float64(near) / (grid * grid)
}
