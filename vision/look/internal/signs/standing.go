package signs

import (
	"math"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
)

// Cards are printed all over. Places where less than variesLeast of a base varies are skipped. On t1 to t3 and 901 to 904 that share of all
// 49 small cards varies by 14 grey levels or more, and of a large one under a freighter by 9; on nine tenths of the mats by at most 7.
const (
	variesLeast = 0.4
	standsLeast = 0.7 // share of a base that must differ from the empty mat
)

// Standing holds where the centres of bases of a size may be, in squares of Step.
type Standing struct {
	w, h int
	away []uint8 // squares to the nearest one where a centre may be, the larger of both directions, at most farthest; 0: here
}

const farthest = math.MaxUint8

// NewStanding returns where bases may stand in any heading: the picture varies like a card in a circle within the base, something lies
// there, and no taken base is too near.
func NewStanding(mat *calibration.Layout, b engine.Base, varies, lies func(geom.Point) bool, taken []engine.Ship) *Standing {
	s := &Standing{w: int(float64(mat.Width)/Step) + 1, h: int(float64(mat.Height)/Step) + 1}
	s.away = make([]uint8, s.w*s.h)
	width, _ := b.Size()
	for i := range taken {
		own, _ := taken[i].Base.Size()
		s.exclude(taken[i].Pose.Point, float64(width+own)/2-2)
	}
	r := int((float64(width)/2 - 2) / Step)
	s.ask(r, variesLeast, varies)
	if lies != nil {
		s.ask(r, standsLeast, lies)
	}
	s.spread()
	return s
}

// spread measures how far away the nearest square is where a centre may be: from the rows above and the squares on the left first, then
// from the others.
func (s *Standing) spread() {
	n := len(s.away)
	for k := range n {
		s.nearer(k, k%s.w, -1)
	}
	for k := n - 1; k >= 0; k-- {
		s.nearer(k, k%s.w, 1)
	}
}

// nearer looks at four neighbours of a square in column i: the one before it (to -1) or after it (1) in its row, and the three in the row
// before or after.
func (s *Standing) nearer(k, i, to int) {
	least := s.away[k]
	if least == 0 {
		return
	}
	by := func(k int) {
		if k >= 0 && k < len(s.away) {
			least = min(least, s.away[k]+one[uint8](s.away[k] < farthest))
		}
	}
	by(k + to*s.w)
	if i > 0 {
		by(k + to*s.w - 1)
	}
	if i < s.w-1 {
		by(k + to*s.w + 1)
	}
	if i+to >= 0 && i+to < s.w {
		by(k + to)
	}
	s.away[k] = least
}

// ask excludes the centres of circles of r squares in which is holds for less than the share.
func (s *Standing) ask(r int, share float64, is func(geom.Point) bool) {
	w := s.w + 2*r + 1
	sums := make([]int32, w*(s.h+2*r)) // along each row, from r beyond the mat on
	for j := range s.h + 2*r {
		row := sums[j*w:][:w]
		for i := range w - 1 {
			row[i+1] = row[i]
			if is(geom.Point{X: float64(i-r) * Step, Y: float64(j-r) * Step}) {
				row[i+1]++
			}
		}
	}
	reach, all := make([]int, 2*r+1), 0
	for j := range reach {
		reach[j] = int(math.Sqrt(float64(r*r - (j-r)*(j-r))))
		all += 2*reach[j] + 1
	}
	for k := range s.away {
		if s.away[k] > 0 {
			continue
		}
		i, j := k%s.w+r, k/s.w
		here := int32(0)
		for d, x := range reach {
			row := sums[(j+d)*w:]
			here += row[i+x+1] - row[i-x]
		}
		if float64(here) < share*float64(all) {
			s.away[k] = farthest
		}
	}
}

// exclude excludes the squares whose centres lie within r mm of a point.
func (s *Standing) exclude(p geom.Point, r float64) {
	square := func(mm float64, n int) int { return min(max(int(mm/Step), 0), n) }
	for j := square(p.Y-r, s.h); j < square(p.Y+r+Step, s.h); j++ {
		for i := square(p.X-r, s.w); i < square(p.X+r+Step, s.w); i++ {
			if float64(p.Distance(geom.Point{X: float64(i) * Step, Y: float64(j) * Step})) < r {
				s.away[j*s.w+i] = farthest
			}
		}
	}
}

// At reports whether the centre of a base may be at a point.
func (s *Standing) At(p geom.Point) bool {
	x, y := p.X/Step+0.5, p.Y/Step+0.5
	i, j := int(x), int(y)
	return x >= 0 && y >= 0 && i < s.w && j < s.h && s.away[j*s.w+i] == 0
}

// Along appends the samples of a lattice's row where the centre of a base may be.
func (s *Standing) Along(l *Lattice, j int, to []int) []int {
	from := l.Point(0, j)
	x, y := from.X/Step+0.5, from.Y/Step+0.5
	first, end := clip(0, l.Side, x, l.cos, float64(s.w))
	first, end = clip(first, end, y, -l.sin, float64(s.h))
	fx, fy, dx, dy := fixed(x+float64(first)*l.cos), fixed(y-float64(first)*l.sin), fixed(l.cos), fixed(-l.sin)
	w, h := uint(s.w), uint(s.h)
	for i := first; i < end; {
		skip := 1 // samples: each lies at most one square further, in both directions
		if k, m := uint(fx>>fixedBits), uint(fy>>fixedBits); k < w && m < h {
			if away := s.away[m*w+k]; away > 0 {
				skip = int(away)
			} else {
				to = append(to, i)
			}
		}
		i += skip
		fx += int64(skip) * dx
		fy += int64(skip) * dy
	}
	return to
}

// clip returns the part of the integers from first to end for which x + i·d is from 0 to size, and a few more.
func clip(first, end int, x, d, size float64) (int, int) {
	if math.Abs(d) < 1e-9 {
		return first, end
	}
	a, b := -x/d, (size-x)/d
	if a > b {
		a, b = b, a
	}
	return max(first, int(max(a, float64(first)))-1), min(end, int(min(b, float64(end)))+2)
}
