package lens

import (
	"fmt"
	"math"
	"strings"
)

// advise sets the target and the advice from what is still missing.
func (g *Guide) advise() {
	s := &g.state
	s.Enough, s.Target = false, GuideTarget{Col: -1, Row: -1}
	if s.Views == 0 {
		s.Advice = "hold the board in the middle of the picture, facing the camera"
		return
	}
	var todo []string
	if side, ok := g.missingTilt(); ok {
		s.Target.Tilt, s.Target.Tilted = side, true
		todo = append(todo, fmt.Sprintf("tilt the board's %s side towards the camera, by about %d degrees", side, wantedTilt))
	}
	if col, row, ok := g.missingCell(); ok {
		s.Target.Col, s.Target.Row = col, row
		todo = append(todo, "bring it to the "+placeName(col, row)+" of the picture")
	}
	if len(todo) == 0 {
		switch {
		case !s.Near:
			s.Target.Near = true
			todo = append(todo, "bring the board closer, until it fills more than half of the picture")
		case !s.Far:
			s.Target.Far = true
			todo = append(todo, "hold the board further away, until it fills a third of the picture")
		}
	}
	if len(todo) == 0 {
		todo = g.improve()
		if s.Views >= g.o.MaxViews && s.Sigma != nil && max(s.Sigma.Fx/g.lens.Fx, s.Sigma.Fy/g.lens.Fy) <= maxFocalSigma {
			s.Enough, s.Target = true, GuideTarget{Col: -1, Row: -1}
			s.Advice = fmt.Sprintf("enough: %d views are taken, more would help little: a mat point is known to %.2f mm",
				s.Views, float64(s.Sigma.Mat))
			return
		}
	}
	if len(todo) == 0 {
		s.Enough, s.Advice = true, fmt.Sprintf("enough: %d views", s.Views)
		return
	}
	what := "the board"
	if len(todo) > 1 {
		what = "it"
	}
	s.Advice = strings.Replace(strings.Join(todo, ", and "), "bring it", "bring "+what, 1)
}

// missingTilt returns the first side that was never tilted towards the camera.
func (g *Guide) missingTilt() (Side, bool) {
	for s, seen := range g.state.Tilts {
		if !seen {
			return Side(s), true
		}
	}
	return 0, false
}

// missingCell returns the most important empty cell: the picture's corners first, then
// the one with the most empty cells around it. It reports false when enough of the
// picture is covered.
func (g *Guide) missingCell() (col, row int, ok bool) {
	counts := &g.state.Counts
	for _, c := range [4][2]int{{0, 0}, {GuideCols - 1, GuideRows - 1}, {GuideCols - 1, 0}, {0, GuideRows - 1}} {
		if counts[c[1]][c[0]] == 0 {
			return c[0], c[1], true
		}
	}
	if g.state.Covered >= minCovered {
		return 0, 0, false
	}
	most := -1
	for r := range GuideRows {
		for c := range GuideCols {
			if counts[r][c] > 0 {
				continue
			}
			if empty := g.emptyAround(r, c); empty > most {
				most, col, row, ok = empty, c, r, true
			}
		}
	}
	return col, row, ok
}

// emptyAround counts the cells without a view among a cell and its neighbours.
func (g *Guide) emptyAround(row, col int) (n int) {
	for r := max(row-1, 0); r <= min(row+1, GuideRows-1); r++ {
		for c := max(col-1, 0); c <= min(col+1, GuideCols-1); c++ {
			if g.state.Counts[r][c] == 0 {
				n++
			}
		}
	}
	return n
}

// placeName names a cell's place in the picture.
func placeName(col, row int) string {
	across := [...]string{"left", "", "right"}[third(col, GuideCols)]
	down := [...]string{"top", "", "bottom"}[third(row, GuideRows)]
	switch {
	case across == "" && down == "":
		return "middle"
	case across == "":
		return down + " edge"
	case down == "":
		return across + " edge"
	}
	return down + " " + across + " corner"
}

// third returns -1, 0 and 1 for the first quarter, the middle and the last quarter of n.
func third(i, n int) int {
	switch {
	case 4*(i+1) <= n+2:
		return 0
	case 4*i >= 3*n-2:
		return 2
	}
	return 1
}

// improve returns what to do when everything is covered but the lens's sigma is too
// large; nothing when it is small enough.
func (g *Guide) improve() []string {
	s, o := g.state.Sigma, g.o
	target := &g.state.Target
	if s == nil {
		return []string{fmt.Sprintf("tilt the board more, by %d to 45 degrees: its views are too much alike to fix the lens", wantedTilt)}
	}
	if focal := max(s.Fx/g.lens.Fx, s.Fy/g.lens.Fy); focal > o.MaxFocalSigma {
		side := g.weakestTilt()
		target.Tilt, target.Tilted = side, true
		return []string{fmt.Sprintf("tilt the board's %s side towards the camera, by %d to 45 degrees: the focal length is known to %.2f "+
			"percent, wanted %.2f", side, wantedTilt, 100*focal, 100*o.MaxFocalSigma)}
	}
	if s.Mat > o.MaxMatSigma {
		col, row := g.thinnestCorner()
		target.Col, target.Row = col, row
		target.Tilt, target.Tilted = g.weakestTilt(), true
		return []string{fmt.Sprintf("bring the board to the %s of the picture, its %s side tilted towards the camera: a point there is known "+
			"to %.3f mm, wanted %.3f", placeName(col, row), target.Tilt, float64(s.Mat), float64(o.MaxMatSigma))}
	}
	if n := len(g.views); n < o.MinViews {
		target.Turn = true
		return []string{fmt.Sprintf("turn the board by a quarter, tilted, for another view (%d of at least %d)", n+1, o.MinViews)}
	}
	return nil
}

// weakestTilt returns the side with the least total tilt towards the camera.
func (g *Guide) weakestTilt() Side {
	var sum [4]float64
	for i := range g.poses {
		r := g.poses[i].R
		if r[2][2] == 0 {
			continue
		}
		across, down := math.Atan(-r[0][2]/r[2][2]), math.Atan(-r[1][2]/r[2][2])
		sum[Left] += max(0, across)
		sum[Right] += max(0, -across)
		sum[Top] += max(0, down)
		sum[Bottom] += max(0, -down)
	}
	weakest := Left
	for s := range sum {
		if sum[s] < sum[weakest] {
			weakest = Side(s)
		}
	}
	return weakest
}

// thinnestCorner returns the corner cell with the fewest board corners in its
// neighbourhood.
func (g *Guide) thinnestCorner() (col, row int) {
	fewest := math.MaxInt
	for _, c := range [4][2]int{{0, 0}, {GuideCols - 1, 0}, {0, GuideRows - 1}, {GuideCols - 1, GuideRows - 1}} {
		n := 0
		for dr := range 2 {
			for dc := range 2 {
				n += g.state.Counts[abs(c[1]-dr)][abs(c[0]-dc)]
			}
		}
		if n < fewest {
			fewest, col, row = n, c[0], c[1]
		}
	}
	return col, row
}

func abs(i int) int { return max(i, -i) }
