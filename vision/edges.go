package vision

import (
	"sightline/engine"
	"sightline/engine/geom"
)

// EdgeHint says which base to search and about where.
type EdgeHint struct {
	Base  engine.Base // any base that has tokens
	Pose  geom.Pose
	Reach geom.Length // largest distance of its centre from there
	Turn  geom.Angle  // largest turn from there; from Base's AnyTurn on, any turn
	Read  bool        // its code was read before
}

// EdgeSight is a base found by its edges.
type EdgeSight struct {
	Base       engine.Base
	Pose       geom.Pose   // of the four headings, or the two of a huge base, the one nearest to the hint's
	Covariance geom.Cov3   // systematic part included
	Fit        geom.Cov3   // the fit's part of it
	Sides      [4]float64  // share of each side on which its edge was found, clockwise from the front
	Inset      geom.Length // of the edges that were found, from the base's nominal size
	Residual   geom.Length // rms of the edge places from the square
	Ours       bool        // it carries our print; otherwise the covariance includes the effect of another card's edges
}

// Visible is the share of the outline that was found.
func (s EdgeSight) Visible() float64 {
	w, l := s.Base.Size()
	across := 0.25 // the front's share of the outline
	if w+l > 0 {
		across = float64(w / (2 * (w + l)))
	}
	return min((s.Sides[0]+s.Sides[2])*across+(s.Sides[1]+s.Sides[3])*(0.5-across), 1)
}

// EdgeShip returns the ship of a base found by its edges. quarters says that its heading is known
// only up to quarter turns, or half turns for a huge base.
func EdgeShip(id string, player int, base engine.Base, s EdgeSight, quarters bool) engine.Ship {
	return engine.Ship{ID: id, Player: player, Base: base, Pose: s.Pose, Covariance: s.Covariance, Seen: "edges", Visible: s.Visible(),
		Quarters: quarters}
}
