package lens

import (
	"fmt"
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
)

// This file says what a view would add to those that a guide has.

// cell returns the grid cell of a pixel.
func (g *Guide) cell(px geom.Pixel) (col, row int, ok bool) {
	col = int(math.Floor((px.X + 0.5) / float64(g.width) * GuideCols))
	row = int(math.Floor((px.Y + 0.5) / float64(g.height) * GuideRows))
	return col, row, col >= 0 && row >= 0 && col < GuideCols && row < GuideRows
}

// appearance is how a board appears: its tilts, and the share of the picture it spans.
type appearance struct {
	tilts     [4]bool
	near, far bool
}

func (g *Guide) appearance(pose calibration.Extrinsics, v calibration.BoardView) (l appearance) {
	// The board's plane in the camera's frame is z = a x + b y + …, with a > 0 when the
	// left side is nearer.
	n := calibration.Vec3{pose.R[0][2], pose.R[1][2], pose.R[2][2]}
	if n[2] != 0 {
		across, down := math.Atan(-n[0]/n[2]), math.Atan(-n[1]/n[2])
		limit := float64(guideTilt)
		l.tilts = [4]bool{across > limit, across < -limit, down > limit, down < -limit}
	}
	lo, hi := v.Pixels[0], v.Pixels[0]
	for _, p := range v.Pixels {
		lo = geom.Pixel{X: min(lo.X, p.X), Y: min(lo.Y, p.Y)}
		hi = geom.Pixel{X: max(hi.X, p.X), Y: max(hi.Y, p.Y)}
	}
	span := max((hi.X-lo.X)/float64(g.width), (hi.Y-lo.Y)/float64(g.height))
	whole := len(v.Pixels) == g.board.Cols*g.board.Rows
	l.near, l.far = span >= nearSpan, whole && span <= farSpan
	return l
}

// adds says what a view would add; "" for nothing.
func (g *Guide) adds(v calibration.BoardView, pose calibration.Extrinsics) string {
	if len(g.views) >= mostViews {
		return ""
	}
	l := g.appearance(pose, v)
	for _, old := range g.views {
		d := viewDistance(old, v)
		if d < minChange*float64(g.width) && (d < askedChange*float64(g.width) || !g.asked(v, l)) {
			return ""
		}
	}
	if len(g.views) == 0 {
		return "the first view"
	}
	for s, tilted := range l.tilts {
		if tilted && !g.state.Tilts[s] {
			return fmt.Sprintf("the %s side towards the camera", Side(s))
		}
	}
	if fresh := g.freshCells(v); fresh > 0 {
		return fmt.Sprintf("%d new parts of the picture", fresh)
	}
	switch {
	case l.near && !g.state.Near:
		return "the board close to the camera"
	case l.far && !g.state.Far:
		return "the board further from the camera"
	}
	if gain := g.gain(v, pose); gain*float64(len(g.views)) >= minGain {
		return fmt.Sprintf("the lens known %.0f %% better", 100*gain)
	}
	if g.asked(v, l) {
		return "what was asked for"
	}
	return ""
}

// asked reports whether a view does what the advice asks for. Such a view is taken even
// when it adds little: a person who followed the advice must not be refused.
func (g *Guide) asked(v calibration.BoardView, l appearance) bool {
	t := g.state.Target
	switch {
	case t.Tilted && !l.tilts[t.Tilt]:
		return false
	case t.Col >= 0 && t.Row >= 0:
		for _, px := range v.Pixels {
			if c, r, ok := g.cell(px); ok && c == t.Col && r == t.Row {
				return true
			}
		}
		return false
	case t.Turn:
		return l.tilts != [4]bool{}
	}
	return t.Tilted
}

func (g *Guide) freshCells(v calibration.BoardView) (n int) {
	seen := map[[2]int]bool{}
	for _, px := range v.Pixels {
		c, r, ok := g.cell(px)
		if ok && g.state.Counts[r][c] == 0 && !seen[[2]int{c, r}] {
			seen[[2]int{c, r}] = true
			n++
		}
	}
	return n
}

// gain is the share by which a view would lower the sigma that is furthest from its goal.
func (g *Guide) gain(v calibration.BoardView, pose calibration.Extrinsics) float64 {
	if !g.ready {
		return 0
	}
	all := g.problem()
	all.views, all.poses = append(all.views, v), append(all.poses, pose)
	after, ok := all.inverse()
	if !ok {
		return 0
	}
	now, then := sigmaOf(g.lens, g.inv, g.noise, 0), sigmaOf(g.lens, after, g.noise, 0)
	worst := func(s GuideSigma) float64 {
		return max(s.Fx/g.lens.Fx/g.o.MaxFocalSigma, s.Fy/g.lens.Fy/g.o.MaxFocalSigma, float64(s.Mat/g.o.MaxMatSigma))
	}
	return 1 - worst(then)/worst(now)
}

// count computes coverage, tilts and distances again from all views, since the lens is
// better known now than when each was taken.
func (g *Guide) count() {
	s := &g.state
	s.Views = len(g.views)
	s.Counts, s.Tilts, s.Near, s.Far = [GuideRows][GuideCols]int{}, [4]bool{}, false, false
	for i, v := range g.views {
		for _, px := range v.Pixels {
			if c, r, ok := g.cell(px); ok {
				s.Counts[r][c]++
			}
		}
		l := g.appearance(g.poses[i], v)
		for k, tilted := range l.tilts {
			s.Tilts[k] = s.Tilts[k] || tilted
		}
		s.Near, s.Far = s.Near || l.near, s.Far || l.far
	}
	covered := 0
	for _, row := range s.Counts {
		for _, n := range row {
			if n > 0 {
				covered++
			}
		}
	}
	s.Covered = float64(covered) / (GuideCols * GuideRows)
}
