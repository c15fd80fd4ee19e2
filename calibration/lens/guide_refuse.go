package lens

import (
	"fmt"
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
)

// This file says why a guide refuses a view that would add something: the board moves, the picture is not sharp, or the
// corners do not fit the views so far.

// rests reports whether the board has been at rest for long enough.
func (g *Guide) rests(s calibration.BoardSighting) bool {
	if g.restCount == 0 || s.At.Before(g.rest.At) || g.moved(s) > g.o.MaxMotion*float64(g.width) {
		g.rest, g.restCount = s, 1
		return false
	}
	g.restCount++
	return s.At.Sub(g.rest.At) >= g.o.StillFor
}

// moved returns the rms motion, px, of the board's points since it came to rest.
func (g *Guide) moved(s calibration.BoardSighting) float64 {
	return viewDistance(calibration.BoardView{Pixels: g.rest.Pixels, Indices: g.rest.Indices},
		calibration.BoardView{Pixels: s.Pixels, Indices: s.Indices})
}

// sharp checks the picture's sharpness and contrast.
func (g *Guide) sharp(s calibration.BoardSighting) (GuideStep, bool) {
	if s.Contrast > 0 && s.Contrast < g.o.MinContrast {
		return GuideStep{Outcome: GuideDim, Reason: fmt.Sprintf("the board's black and white differ by %.0f grey levels only, %.0f are "+
			"needed: more light", s.Contrast, g.o.MinContrast)}, false
	}
	if s.EdgeWidth <= 0 {
		return GuideStep{}, true
	}
	if limit := max(3, g.o.MaxEdge*float64(g.width)); s.EdgeWidth > limit {
		return GuideStep{Outcome: GuideBlurred, Reason: fmt.Sprintf("the picture is blurred: an edge is %.1f px wide, at most %.1f is sharp "+
			"enough: hold still, or set the focus", s.EdgeWidth, limit)}, false
	}
	// Much less sharp than the best view: motion, or a camera that refocused.
	if g.best > 0 && s.EdgeWidth > max(3, 1.75*g.best) {
		return GuideStep{Outcome: GuideBlurred, Reason: fmt.Sprintf("the picture is less sharp than others were (an edge is %.1f px wide, the "+
			"best was %.1f): hold still, and lock the focus", s.EdgeWidth, g.best)}, false
	}
	if g.best == 0 || s.EdgeWidth < g.best {
		g.best = s.EdgeWidth
	}
	return GuideStep{}, true
}

// agrees reports whether a view fits the lens of the views so far.
func (g *Guide) agrees(v calibration.BoardView, pose calibration.Extrinsics) (GuideStep, bool) {
	if !g.ready || len(g.views) < 2*MinViews {
		return GuideStep{}, true
	}
	// A good view in a new part of the picture may deviate by several px from the present
	// lens; a bent board or wrong corners deviate by more.
	p := g.problem()
	rms, limit := p.foreignRMS(v, pose), 1+5*g.noise
	if !(rms <= limit) {
		return GuideStep{Outcome: GuideDisagrees, Reason: fmt.Sprintf("the corners lie %.1f px (rms) from where the views so far put them: is "+
			"the board flat, stiff and still?", rms)}, false
	}
	return GuideStep{}, true
}

// viewDistance returns the rms distance, px, of the points in both views; +Inf if they have few in common. A chessboard's
// corners may be numbered from either end.
func viewDistance(a, b calibration.BoardView) float64 {
	at := map[int]geom.Pixel{}
	for k, px := range a.Pixels {
		at[a.Index(k)] = px
	}
	n, straight, reversed := 0, 0.0, 0.0
	for k, px := range b.Pixels {
		if was, ok := at[b.Index(k)]; ok {
			d := px.Sub(was)
			straight += d.X*d.X + d.Y*d.Y
			n++
		}
		if a.Indices == nil && b.Indices == nil && len(a.Pixels) == len(b.Pixels) {
			d := px.Sub(a.Pixels[len(a.Pixels)-1-k])
			reversed += d.X*d.X + d.Y*d.Y
		} else {
			reversed = math.Inf(1)
		}
	}
	if n < 4 {
		return math.Inf(1)
	}
	return math.Sqrt(min(straight, reversed) / float64(n))
}
