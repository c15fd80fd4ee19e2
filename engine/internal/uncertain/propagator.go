package uncertain

import (
	"math"

	"sightline/engine/geom"
)

// Propagator measures between two bodies and propagates the uncertainty of their poses to the
// results.
type Propagator struct {
	RelativeError
	Scale float64 // relative error of scale
	Exact bool    // nothing is uncertain

	turned float64  // result of turn; 0 before its first call
	width  struct { // result of IntervalBound, with its levers
		lever0, lever1, bound float64
		narrow                [2]float64 // the width below which a gap before an edge of either body may need addCrossTerm
	}

	gaps   []edgeGap // scratch
	near   []candidate
	some   []geom.Point
	rivals []rival
	lines  []geom.Line
}

// leversOf returns the levers of two shapes, that of the first body first.
func leversOf(a, b *Shape) (lever0, lever1 float64) {
	if a.Body == From {
		return a.Lever, b.Lever
	}
	return b.Lever, a.Lever
}

// Set sets the two bodies of the propagator.
func (g *Propagator) Set(from, to Body, scale, k float64) {
	g.RelativeError = RelativeError{K: k, Bodies: [2]Body{from, to}, Scaled: to.At.Sub(from.At).Mul(scale)}
	g.lines = g.lines[:0]
	g.Scale = scale
	g.Exact = from.Cov == geom.Cov3{} && to.Cov == geom.Cov3{} && scale == 0
	g.turned, g.width.bound = 0, 0
}

// DistanceInterval returns the interval of the length along u from p on body a to q on body b.
// scaled is the part of the length that the error of scale stretches.
func (g *Propagator) DistanceInterval(val float64, u geom.Point, a, b int, p, q geom.Point, scaled float64) geom.Interval {
	if g.Exact {
		return geom.Exactly(val)
	}
	e := g.lengthError(u, a, b, p, q)
	return e.interval(g.K, val, g.Scale*scaled)
}

// Separation measures how far two convex shapes are apart in the best separating direction: the
// largest gap in front of any edge of either shape. If it is negative, they overlap by at least
// that depth in any direction. The shapes meet exactly if it is not positive; if they are apart, it
// never exceeds the distance. It decides contact, because each gap is linear in the positions.
func (g *Propagator) Separation(a, b *Shape) geom.Interval {
	g.gaps = g.gaps[:0]
	best, firm := math.Inf(-1), math.Inf(-1)
	turn := 0.0
	if len(a.rays)+len(b.rays) > 0 {
		turn = g.turn()
	}
	for side := range 2 {
		for i := range a.Edges {
			e := &a.Edges[i]
			p, out, least := e.At, e.Out(), math.Inf(1)
			ahead := b.ahead(out)
			if e.Lo == e.Hi || len(b.V) == 0 || ahead < 0 {
				continue
			}
			f := edgeGap{edge: i, side: side, firm: ahead >= turn}
			for _, q := range b.V {
				if h := out.X*(q.X-p.X) + out.Y*(q.Y-p.Y); h < least {
					least = h
				}
			}
			best = max(best, least)
			if f.firm {
				firm = max(firm, least)
			}
			f.least = least
			g.gaps = append(g.gaps, f)
		}
		a, b = b, a
	}
	if g.Exact {
		return geom.Exactly(best)
	}
	loose := g.IntervalBound(a, b) // a gap further than that below a firm one cannot be the largest
	s := geom.Exactly(math.Inf(-1))
	for i := range g.gaps {
		switch f := &g.gaps[i]; {
		case f.least < firm-loose:
		case f.side == 0:
			s = s.Max(g.gapBefore(a, b, f, loose))
		default:
			s = s.Max(g.gapBefore(b, a, f, loose))
		}
	}
	return s
}

// edgeGap is the distance of one shape in front of an edge of the other. The edge belongs to the
// first shape (side 0) or to the second (side 1).
type edgeGap struct {
	least      float64
	edge, side int
	firm       bool // also if the bodies turn as far as they may
}

// turn returns the sine of the angle by which the two bodies may be turned relative to each other.
func (g *Propagator) turn() float64 {
	if g.turned == 0 {
		g.turned = math.Sin(min(math.Pi/2, g.K*math.Sqrt(g.Bodies[0].Cov.HeadingVariance()+g.Bodies[1].Cov.HeadingVariance())))
	}
	return g.turned
}

// gapBefore measures the gap between an edge of a and the vertices of b that may be nearest to it.
func (g *Propagator) gapBefore(a, b *Shape, f *edgeGap, loose float64) geom.Interval {
	best := geom.Exactly(math.Inf(1))
	p, out := a.Edges[f.edge].At, a.Edges[f.edge].Out()
	scaled := out.Dot(g.Bodies[b.Body].At.Sub(g.Bodies[a.Body].At))
	for _, q := range b.V {
		if gap := out.Dot(q.Sub(p)); gap <= f.least+loose {
			i := g.DistanceInterval(gap, out, a.Body, b.Body, q, q, scaled)
			if i.Hi-i.Lo < g.width.narrow[a.Body] {
				g.addCrossTerm(&i, out, a.Body, b.Body, q)
			}
			best = best.Min(i)
		}
	}
	if !f.firm { // slightly turned, an arc along this edge crosses it far away
		best.Lo = math.Inf(-1)
	}
	return best
}

// addCrossTerm moves the ends of the interval of a gap outward, because the edge of body a turns while the vertex q of
// body b moves along it: the product of the two, which first order leaves out. The product matters at the interval's
// ends, where turn and movement are as large as they are tied to the gap. A share of the rest is worth its price there,
// as in lengthError.
func (g *Propagator) addCrossTerm(i *geom.Interval, out geom.Point, a, b int, q geom.Point) {
	turning, moving := &g.Bodies[a], &g.Bodies[b]
	along := geom.Point{X: out.Y, Y: -out.X} // a heading that grows turns out to it
	own, slip := geom.Jacobian{-along.X, -along.Y, 0}, geom.PointJacobian(along, q.Sub(moving.At))
	gapA, gapB := geom.PointJacobian(out.Mul(-1), q.Sub(turning.At)), geom.PointJacobian(out, q.Sub(moving.At))
	stretch := g.Scaled.Dot(along)
	turn2, slip2 := turning.Cov[8], turning.Cov.Variance(&own)+moving.Cov.Variance(&slip)+geom.Sq(stretch)
	gap2 := turning.Cov.Variance(&gapA) + moving.Cov.Variance(&gapB) + geom.Sq(g.Scaled.Dot(out))
	tie := turning.Cov.Covariance(&geom.Jacobian{0, 0, 1}, &own)
	k2, most := geom.Sq(g.K), math.Sqrt(turn2*slip2)
	if k2*(most+math.Abs(tie)) <= negligible*(i.Hi-i.Lo) {
		return
	}
	half := g.K * math.Sqrt(gap2) / 2
	up, down := k2*(tie+most)/2, k2*(most-tie)/2 // the most and the least of the product
	if gap2 == 0 {
		i.Lo, i.Hi = i.Lo-down, i.Hi+up
		return
	}
	turnGap := turning.Cov.Covariance(&geom.Jacobian{0, 0, 1}, &gapA)
	slipGap := turning.Cov.Covariance(&own, &gapA) + moving.Cov.Covariance(&slip, &gapB) + stretch*g.Scaled.Dot(out)
	at := k2 * turnGap * slipGap / gap2
	freeTurn, freeSlip, freeTie := max(0, turn2-turnGap*turnGap/gap2), max(0, slip2-slipGap*slipGap/gap2), tie-turnGap*slipGap/gap2
	mixed := k2 * k2 / 4 * max(0, turnGap*turnGap*freeSlip+slipGap*slipGap*freeTurn+2*turnGap*slipGap*freeTie) / gap2
	most = math.Sqrt(freeTurn * freeSlip)
	worst := func(at, free, limit float64) float64 {
		if price := half + at - free; price > 0 {
			limit = min(limit, at+mixed/price)
		}
		return max(0, limit)
	}
	i.Lo -= worst(-at, k2*(most-freeTie)/2, down)
	i.Hi += worst(at, k2*(most+freeTie)/2, up)
}

// negligible is the share of an interval's width that does not change what it decides: 2 % of three standard
// deviations is the difference between 0.27 % and 0.33 % of the truths.
const negligible = 0.02

// IntervalBound returns an upper bound of the width of the interval of any gap between the two
// shapes: twice k standard deviations and the second order, for each body's longest lever to a
// corner of either shape.
func (g *Propagator) IntervalBound(a, b *Shape) float64 {
	own0, own1 := leversOf(a, b)
	w := &g.width
	if w.bound != 0 && w.lever0 == own0 && w.lever1 == own1 {
		return w.bound
	}
	between := g.Bodies[0].At.Sub(g.Bodies[1].At)
	far := math.Sqrt(between.Dot(between))
	lever0, lever1 := max(own0, far+own1), max(own1, far+own0)
	secondOrder := 2*g.Bodies[0].Cov.SecondOrderBound(lever0, g.K) + 2*g.Bodies[1].Cov.SecondOrderBound(lever1, g.K)
	w.lever0, w.lever1 = own0, own1
	w.narrow = [2]float64{g.narrow(0, 1, own1), g.narrow(1, 0, own0)}
	secondOrder += negligible / 2 * (w.narrow[0] + w.narrow[1])
	w.bound = 1.001*(2*g.K*(math.Sqrt(g.VarianceBound(lever0, lever1))+g.Scale*far)+secondOrder) + geom.Tie
	return w.bound
}

// narrow returns the width below which the interval of a gap between an edge of one body and points of the other, no
// further from its centre than lever, may need addCrossTerm.
func (g *Propagator) narrow(turning, moving int, lever float64) float64 {
	c, o := &g.Bodies[turning].Cov, &g.Bodies[moving].Cov
	slip2 := c[0] + c[4] + o.VarianceBound(lever) + g.Scaled.Dot(g.Scaled)
	return 2 / negligible * geom.Sq(g.K) * math.Sqrt(c[8]*slip2)
}
