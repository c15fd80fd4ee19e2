package look

import (
	"math"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
)

// standing says where the middles of bases of a size may be, in squares of signStep.
type standing struct {
	w, h int
	may  []bool
}

// newStanding returns where bases may stand in some heading: where something lies under a circle that fits into the base,
// and no base that is taken is too near.
func newStanding(mat *calibration.Layout, b engine.Base, lies func(geom.Point) bool, taken []engine.Ship) *standing {
	s := &standing{w: int(float64(mat.Width)/signStep) + 1, h: int(float64(mat.Height)/signStep) + 1}
	s.may = make([]bool, s.w*s.h)
	width, _ := b.Size()
	if r := int((float64(width)/2 - 2) / signStep); lies != nil {
		s.fill(r, lies)
	} else {
		for k := range s.may {
			s.may[k] = true
		}
	}
	for k := range s.may {
		for i := range taken {
			own, _ := taken[i].Base.Size()
			if s.point(k).Distance(taken[i].Pose.Point) < (width+own)/2-2 {
				s.may[k] = false
			}
		}
	}
	return s
}

// fill marks where something lies in standsLeast of a circle of r squares about the middle.
func (s *standing) fill(r int, lies func(geom.Point) bool) {
	w := s.w + 2*r + 1
	sums := make([]int32, w*(s.h+2*r)) // along each row, from r beyond the mat on
	for j := range s.h + 2*r {
		row := sums[j*w:][:w]
		for i := range w - 1 {
			row[i+1] = row[i]
			if lies(geom.Point{X: float64(i-r) * signStep, Y: float64(j-r) * signStep}) {
				row[i+1]++
			}
		}
	}
	reach, all := make([]int, 2*r+1), 0
	for j := range reach {
		reach[j] = int(math.Sqrt(float64(r*r - (j-r)*(j-r))))
		all += 2*reach[j] + 1
	}
	for k := range s.may {
		i, j := k%s.w+r, k/s.w
		here := int32(0)
		for d, x := range reach {
			row := sums[(j+d)*w:]
			here += row[i+x+1] - row[i-x]
		}
		s.may[k] = float64(here) >= standsLeast*float64(all)
	}
}

// point is the middle of a square.
func (s *standing) point(k int) geom.Point {
	return geom.Point{X: float64(k%s.w) * signStep, Y: float64(k/s.w) * signStep}
}

// at reports whether the middle of a base may be at a point.
func (s *standing) at(p geom.Point) bool {
	x, y := p.X/signStep+0.5, p.Y/signStep+0.5
	i, j := int(x), int(y)
	return x >= 0 && y >= 0 && i < s.w && j < s.h && s.may[j*s.w+i]
}
