package ship

import (
	"image"
	"math"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
	"sightline/vision/token"
)

// A token that lies on the mat without a base names no ship. It is lower than a token on a base, so
// it looks smaller: by 0.3 % from 1250 mm. A printer's scale may have the same effect, so the size
// counts only if nothing stands on the token: then the lines of its panel are visible from end to
// end, while a miniature and its peg always hide some of them.

const (
	// bareLines is the visible share of the panel's lines, and barePlain that of the plain panel
	// between them, from which on nothing stands on a token. Of 276 simulated tokens without a
	// miniature the least were 0.89 and 1.00; of 138 with one two have both, and one has 1.00 and 0.88
	// (docs/measurements/ships.md).
	bareLines = 0.80
	barePlain = 0.95
	// samePanel is by how much of the white a place of the plain panel may differ from the median.
	samePanel = 0.03
	// A line is visible if its contrast is leastLine to mostLine times that of the blurred print, and
	// the panel next to it is darker than darkPanel of the white.
	leastLine, mostLine = 0.3, 2.5
	darkPanel           = 0.25

	lineHalf  = 0.3 // half the width of a panel's line, mm
	lineFrom  = 4.0 // mm from the middle: a peg's hole is nearer
	lineStep  = 2.0 // mm, cut into lineParts
	lineParts = 4
	lineFlank = 2.2 // mm from the line to the panel with which it is compared
)

const (
	// spareShare is the prior probability that a token without a miniature lies on the mat.
	spareShare = 0.2
	// spareDrop is how much lower a token of paper lies on the mat than on a base.
	spareDrop = token.BaseTop - 0.3*geom.Millimeter
	// spareOdds is how much likelier a token's size must be on the mat than on a base.
	spareOdds = 1000
	// spareFit is how many standard deviations a size may differ from that of a token on the mat. A
	// smaller token was printed too small.
	spareFit = 4

	// printScale is the standard deviation of a printer's scale: within 0.3 % a sheet is good (docs/printing.md).
	printScale = 0.0017
	// sizeFloor is the standard deviation of the size of one token relative to others of its sheet:
	// from bases whose tops lie 0.34 mm too high or too low, and from blur and light.
	sizeFloor = 0.0005
)

// panelShown returns the visible share of the lines of the token's panel, after a fit.
func (l *Locator) panelShown(g *image.Gray) float64 {
	f := &l.fit
	ink := token.InkArc[f.token.Code.Player()]
	contrast := linear(ink.R, ink.G, ink.B) - linear(token.InkPanel.R, token.InkPanel.G, token.InkPanel.B)
	contrast *= f.white * min(2*lineHalf/(math.Sqrt(2*math.Pi)*f.sigma), 1)
	shows := func(over, panel float64) bool {
		return over > leastLine*contrast && over < mostLine*contrast && panel < darkPanel*f.white
	}
	shown, all := 0, 0
	for _, ahead := range [...]float64{1, -1} {
		for _, aside := range [...]float64{1, -1} {
			line := l.panelLine(aside, ahead)
			for r := lineFrom; r+lineStep < line.length; r += lineStep {
				all++
				// Behind the middle the panel between the lines has the ship's name.
				if shows(line.over(g, r, lineFlank)) && (ahead < 0 || shows(line.over(g, r, -lineFlank))) {
					shown++
				}
			}
		}
	}
	return float64(shown) / float64(max(all, 1))
}

// panelPlain returns the share of the panel between its lines that is as dark as most of it,
// excluding the ship's name and the chevron.
func (l *Locator) panelPlain(g *image.Gray) float64 {
	const rim = float64(token.RimDeep) + 1.5 // what blurs into the panel
	f := &l.fit
	z := l.top(f.pose.Point)
	hx, hy := f.token.Half()
	hx, hy = hx-rim, hy-rim
	light := f.panel[:0]
	for x := -math.Floor(hx); x <= hx; x++ {
		for y := -math.Floor(hy); y <= hy; y++ {
			if !plainPanel(f.token, x, y, hx, hy) {
				continue
			}
			px, ok := l.table.PixelOf(f.pose.Transform(geom.Point{X: x, Y: y}), z)
			if v, inside := lightAt(g, px.X, px.Y); ok && inside {
				light = append(light, v)
			}
		}
	}
	f.panel = light
	most := gray.Quantile(light, 0.5)
	same := 0
	for _, v := range light {
		if math.Abs(v-most) < samePanel*f.white {
			same++
		}
	}
	return float64(same) / float64(max(len(light), 1))
}

// plainPanel reports whether a place of a token's panel, in mm from the middle, is not printed: at
// the sides between lines and side marks, and ahead up to the chevron. The panel extends to hx and
// hy.
func plainPanel(t token.Token, x, y, hx, hy float64) bool {
	const fromLine, chevron, mark = 2.0, 9.0, 4.0
	s, c := math.Sincos(float64(token.FrontArcHalfAngle(t.Base)))
	aside, ahead := math.Abs(x)*c, math.Abs(y)*s
	switch {
	case math.Abs(aside-ahead) < fromLine || math.Hypot(x, y) < 2:
		return false
	case aside > ahead:
		return math.Abs(y) >= 1.5 || math.Abs(x) <= hx-mark
	}
	return y > 0 && y <= hy-chevron
}

// linear returns the light of an sRGB ink, weighted as in a grey picture.
func linear(r, g, b uint8) float64 {
	v := func(x uint8) float64 { return float64(x) / 255 }
	return math.Pow(0.299*v(r)+0.587*v(g)+0.114*v(b), 2.2)
}

// panelLine is a line of a token's panel, from the token's middle outwards.
type panelLine struct {
	l             *Locator
	along, across geom.Point // of the token's frame; across points away from the panel behind or ahead, to the side
	length        float64    // mm, up to the rim less its blur
	z             geom.Length
}

func (l *Locator) panelLine(aside, ahead float64) panelLine {
	t := l.fit.token
	s, c := math.Sincos(float64(token.FrontArcHalfAngle(t.Base)))
	hx, hy := t.Half()
	rim := float64(token.RimDeep) + 1
	return panelLine{
		l: l, along: geom.Point{X: aside * s, Y: ahead * c}, across: geom.Point{X: aside * c, Y: -ahead * s},
		length: min((hx-rim-lineFlank*c)/s, (hy-rim-lineFlank*s)/c), z: l.top(l.fit.pose.Point),
	}
}

// over returns by how much the line is lighter than the panel next to it, from r mm on, and the
// panel's light. Both are NaN outside the picture.
func (p *panelLine) over(g *image.Gray, r, flank float64) (over, panel float64) {
	light := func(r, aside float64) float64 {
		px, ok := p.l.table.PixelOf(p.l.fit.pose.Transform(p.along.Mul(r).Add(p.across.Mul(aside))), p.z)
		if v, inside := lightAt(g, px.X, px.Y); ok && inside {
			return v
		}
		return math.NaN()
	}
	for k := range lineParts {
		at := r + (float64(k)+0.5)/lineParts*lineStep
		next := light(at, flank)
		over, panel = over+(light(at, 0)-next)/lineParts, panel+next/lineParts
	}
	return over, panel
}

// sheetScale is the relative enlargement of a player's printed tokens, and its variance. It is
// computed from tokens that are surely on bases, because something stands on them.
type sheetScale struct{ larger, variance float64 }

func sheetOf(ships []found, player int) sheetScale {
	weights := 1 / (printScale * printScale)
	sum := 0.0
	for i := range ships {
		s := &ships[i]
		if s.bare || !s.height.known || s.token.Code.Player() != player || s.height.heldUp() {
			continue
		}
		w := 1 / (s.height.sigma*s.height.sigma + sizeFloor*sizeFloor)
		sum, weights = sum+w*s.height.larger, weights+w
	}
	return sheetScale{sum / weights, 1 / weights}
}

// flat returns the probability that a token lies on the mat without a base, and whether that is
// sure.
func (l *Locator) flat(s *found, sheet sheetScale) (share float64, sure bool) {
	if !s.bare {
		return 0, false
	}
	if !s.height.known {
		return spareShare, false
	}
	off := s.height.larger - sheet.larger
	on := off + float64(spareDrop)/l.table.Center()[2]
	variance := s.height.sigma*s.height.sigma + sizeFloor*sizeFloor + sheet.variance
	odds := math.Exp(min(max((off*off-on*on)/(2*variance), -50), 50))
	fits := on*on < spareFit*spareFit*variance
	return spareShare * odds / (spareShare*odds + 1 - spareShare), fits && odds > spareOdds
}

// stand adds to the poses' covariances the uncertainty of the tokens' heights and of their places
// on the bases, and removes the tokens that surely lie on the mat.
func (l *Locator) stand(ships []found) (kept []found, spare []vision.SpareToken, small []vision.SmallToken) {
	sheets := [3]sheetScale{1: sheetOf(ships, 1), 2: sheetOf(ships, 2)}
	for _, s := range ships {
		flat, sure := l.flat(&s, sheets[s.token.Code.Player()])
		if sure {
			spare = append(spare, vision.SpareToken{ID: s.token.Code.ID(), At: l.onMat(s.pose.Point)})
			continue
		}
		by := math.Sqrt((1-flat)*square(float64(l.raised(s.height))) + flat*square(float64(spareDrop)))
		radius := token.SideLength(s.token.Base, token.RightSide) / 2
		more := l.errors.HeightCovariance(s.pose, token.BaseTop, radius, geom.Length(by))
		if s.height.small() {
			small = append(small, vision.SmallToken{ID: s.token.Code.ID(), Smaller: -s.height.larger, Sigma: s.height.sigma})
			s.height.addPlay(&more, s.token)
		}
		for i, v := range more {
			s.cov[i] += v
			s.shared[i] += v
		}
		kept = append(kept, s)
	}
	return kept, spare, small
}

// onMat returns the place, if it is on the mat, of a point measured at the height of a base's top.
func (l *Locator) onMat(p geom.Point) geom.Point {
	px, ok := l.table.PixelOf(p, l.top(p))
	if !ok {
		return p
	}
	if q, ok := l.table.PointAt(px, l.top(p)-spareDrop); ok {
		return q
	}
	return p
}

// small reports whether the token was surely printed too small.
func (h height) small() bool {
	return h.known && -h.larger > mostStretch && -h.larger > sureStretch*h.sigma
}

// addPlay adds the play within its base of a token that was printed too small: uniform up to the
// edges, and a corresponding turn.
func (h height) addPlay(cov *geom.Cov3, t token.Token) {
	x, y := t.Half()
	play := square(-h.larger) / 3
	cov[0] += play * max(x, y) * max(x, y)
	cov[4] += play * max(x, y) * max(x, y)
	cov[8] += play
}
