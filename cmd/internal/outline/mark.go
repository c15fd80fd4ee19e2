package outline

import (
	"fmt"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// try is one placement of a base's wire frame by a person.
type try struct {
	X       float64 `json:"x_mm"`
	Y       float64 `json:"y_mm"`
	Heading float64 `json:"heading_deg"`
}

func (t try) pose() geom.Pose {
	return geom.Pose{Point: geom.Point{X: t.X, Y: t.Y}, Heading: (geom.Angle(t.Heading) * geom.Degree).Normalized()}
}

// mark is a base that a person marked, once or several times.
type mark struct {
	ID    string `json:"id"`
	Base  string `json:"base"`
	Tries []try  `json:"tries"`
}

const (
	triesMost = 10
	shipsMost = 40

	// priorSigma, in px, is the assumed precision of a person who has not made several tries: that
	// of two points of the base, along both axes. priorWeight is the number of measurements for
	// which the assumption counts; a second try of a base adds three. leastSigma is the best
	// precision that tries may show, since they do not show what a person sees wrongly every time.
	priorSigma  = 0.7
	priorWeight = 4.0
	leastSigma  = 0.4
)

// placed is a marked base on the table.
type placed struct {
	id     string
	player int
	base   engine.Base
	pose   geom.Pose // mean of the tries
	tries  []try
	unit   geom.Cov3 // error of a try by a hand of 1 px
	fit    geom.Cov3 // error of a try by this hand
	all    geom.Cov3 // including the calibration, the base's height and so on
}

// place returns the poses of marked bases and their uncertainty. The tries of all bases together
// give the precision of the hand, in px, which it also returns. Errors are for people.
func place(t *calibration.Table, marks []mark) (out []placed, hand float64, err error) {
	if len(marks) > shipsMost {
		return nil, 0, fmt.Errorf("expected at most %d ships, got %d", shipsMost, len(marks))
	}
	squares, freedom := priorWeight*priorSigma*priorSigma, priorWeight
	for _, m := range marks {
		p, err := m.read(t)
		if err != nil {
			return nil, 0, err
		}
		if slices.ContainsFunc(out, func(o placed) bool { return o.id == p.id }) {
			return nil, 0, fmt.Errorf("%s is marked twice", p.id)
		}
		for _, one := range p.tries {
			squares += p.off(one)
		}
		freedom += 3 * float64(len(p.tries)-1)
		out = append(out, p)
	}
	hand = max(leastSigma, math.Sqrt(squares/freedom))
	errors := calibration.NewErrorModel(*t, calibration.Uncertainty{})
	for i := range out {
		p := &out[i]
		w, _ := p.base.Size()
		sys := errors.Systematic(p.pose, token.BaseTop, w/2)
		for k := range p.fit {
			// Tries are not averaged: a person sees the base's edge in the same wrong place each time.
			p.fit[k] = hand * hand * p.unit[k]
			p.all[k] = p.fit[k] + sys[k]
		}
	}
	return out, hand, nil
}

// read checks a mark and returns the mean of its tries.
func (m *mark) read(t *calibration.Table) (p placed, err error) {
	code, err := token.CodeOfID(m.ID)
	if err != nil {
		return p, err
	}
	p.id, p.player, p.tries = m.ID, code.Player(), m.Tries
	if p.base, err = engine.ParseBase(m.Base); err != nil {
		return p, fmt.Errorf("%s: %w", m.ID, err)
	}
	if len(m.Tries) < 1 || len(m.Tries) > triesMost {
		return p, fmt.Errorf("%s: expected 1 to %d tries, got %d", m.ID, triesMost, len(m.Tries))
	}
	var sum geom.Point
	var sin, cos float64
	for _, one := range m.Tries {
		if !(math.Abs(one.X) < 1e4 && math.Abs(one.Y) < 1e4 && math.Abs(one.Heading) < 1e4) {
			return p, fmt.Errorf("%s: expected a place on the mat in millimetres and a heading in degrees", m.ID)
		}
		a := one.pose()
		sum = sum.Add(a.Point)
		s, c := math.Sincos(float64(a.Heading))
		sin, cos = sin+s, cos+c
	}
	p.pose = geom.Pose{Point: sum.Mul(1 / float64(len(m.Tries))), Heading: geom.Angle(math.Atan2(sin, cos)).Normalized()}
	for _, one := range m.Tries {
		if d := one.pose().Distance(p.pose.Point); float64(d) > tryApart {
			return p, fmt.Errorf("%s: its tries lie %.0f mm apart: is it the same base?", m.ID, 2*float64(d))
		}
		if d := one.pose().Heading.Distance(p.pose.Heading).Degrees(); d > tryTurned {
			return p, fmt.Errorf("%s: its tries point different ways: where does its nose point?", m.ID)
		}
	}
	if x, y := p.pose.X, p.pose.Y; x < 0 || y < 0 || x > float64(t.Layout.Width) || y > float64(t.Layout.Height) {
		return p, fmt.Errorf("%s would stand at (%.0f, %.0f), off the mat", m.ID, x, y)
	}
	return p, p.perPixel(t)
}

// A try may lie tryApart, in mm, from the mean, and be turned from it by tryTurned, in degrees. A
// hand as unsteady as that in place turns a small base by some 8° (one standard deviation). A frame
// laid a quarter turn wrong is turned by 45° from the mean of two tries, and by 84° from that of ten.
const (
	tryApart  = 10
	tryTurned = 20
)

// isOn reports whether a ship stands on the place of a marked base: two bases do not overlap.
func (p *placed) isOn(s *engine.Ship) bool {
	const onOne = 10 * geom.Millimeter
	return s.Pose.Distance(p.pose.Point) < onOne
}

// perPixel sets the error of a try by a hand that is off by 1 px.
func (p *placed) perPixel(t *calibration.Table) error {
	_, dx, dy, ok := t.PixelJacobian(p.pose.Point, token.BaseTop)
	det := dx.X*dy.Y - dx.Y*dy.X
	if !ok || math.Abs(det) < 1e-9 {
		return fmt.Errorf("%s: the picture does not show that place", p.id)
	}
	xx, xy, yx, yy := dy.Y/det, -dy.X/det, -dx.Y/det, dx.X/det // mm of x, y per px
	w, _ := p.base.Size()
	turn := math.Abs(1/det) / (float64(w) * float64(w)) // of four corners that determine the place as well as two points
	cross := (xx*yx + xy*yy) / 2
	p.unit = geom.Cov3{(xx*xx + xy*xy) / 2, cross, 0, cross, (yx*yx + yy*yy) / 2, 0, 0, 0, turn}
	return nil
}

// off returns the squared distance of a try from the mean, in units of perPixel, with three degrees
// of freedom.
func (p *placed) off(one try) float64 {
	a, u := one.pose(), &p.unit
	d := a.Sub(p.pose.Point)
	det := u[0]*u[4] - u[1]*u[3]
	turn := math.Remainder(float64(a.Heading-p.pose.Heading), 2*math.Pi)
	return (u[4]*d.X*d.X-2*u[1]*d.X*d.Y+u[0]*d.Y*d.Y)/det + turn*turn/u[8]
}

// sigma returns the standard deviations of a marked base's place, along the worst direction, and of
// its heading.
func (p *placed) sigma() (mm geom.Length, heading geom.Angle) {
	return geom.Length(math.Sqrt(max(0, p.all.Position().Largest()))), geom.Angle(math.Sqrt(max(0, p.all.HeadingVariance())))
}

// outline returns the upper corners of a marked base in the picture.
func (p *placed) outline(t *calibration.Table) (out [4]geom.Pixel) {
	for i, c := range p.base.Corners(p.pose) {
		out[i], _ = t.PixelOf(c, token.BaseTop+t.Surface.Height(c))
	}
	return out
}
