package look

import (
	"cmp"
	"math"
	"slices"

	"sightline/engine/geom"
)

// The search for a look near a place compares blocks of the blurred picture with the look's in many places and
// headings, and fits the best few.

const (
	captureBlur  = 1.2               // mm, of picture and look
	captureStep  = 2.0               // mm between places
	captureApart = 2.5               // mm between guesses, or by which they are turned
	captureTurn  = 6 * math.Pi / 180 // between headings of a small base; larger ones are turned by less

	// Between these steps the true pose agrees less than it should: of 112 cards that stood there 4 were the 9th to 20th best, and no
	// worse than the best after the climb. But wrong ones climb as well, and of a wide reach there are more: one right pose was the 4th
	// best before and the 9th after.
	captureKeep = 32  // from which is climbed
	captureFits = 16  // that are fitted then
	captureSame = 1.0 // mm or degrees by which they differ

	// What agrees so much worse than the best guess, of its score, is not fitted.
	captureWorst = 0.5
	tableStep    = 0.5 // mm, between the samples of the table that the search reads
	climbReach   = 6.0 // mm that a guess may be moved
)

// flat is a part of the table at a card's height, seen from above, blurred.
type flat struct {
	origin geom.Point // of the first sample
	step   float64    // mm between the samples
	n      int        // samples along a side
	v      []float32  // three channels
}

// flatten samples the part of the picture up to reach mm round the scan's middle.
func (s *scan) flatten(blur, reach float64) *flat {
	img := s.blurred(blur)
	n := 2*int(math.Ceil(reach/tableStep)) + 1
	out := &flat{origin: s.view.at.Sub(geom.Point{X: reach, Y: reach}), n: n, step: tableStep, v: make([]float32, channels*n*n)}
	for j := range n {
		for i := range n {
			x, y := s.view.pixel(float64(i)*tableStep-reach, float64(j)*tableStep-reach)
			img.nearest(x, y, out.v[channels*(j*n+i):])
		}
	}
	return out
}

// nearest samples a picture between its pixels bilinearly; what lies outside is its border's.
func (p *planes) nearest(x, y float64, out []float32) {
	x = min(max(x-float64(p.x0), 0), float64(p.w)-1.001)
	y = min(max(y-float64(p.y0), 0), float64(p.h)-1.001)
	i, j := int(x), int(y)
	ax, ay := float32(x-float64(i)), float32(y-float64(j))
	a := p.v[channels*(j*p.w+i):]
	b := a[channels*p.w:]
	for c := range channels {
		top := a[c] + ax*(a[channels+c]-a[c])
		out[c] = top + ay*(b[c]+ax*(b[channels+c]-b[c])-top)
	}
}

// turnedGrid is a grid at a heading: where each cell's sample lies from the middle's, and the block sums of the look.
type turnedGrid struct {
	heading geom.Angle
	at      []int32 // of the cells that say something: offset in samples, times channels
}

// matcher compares a look with many places of a flat part of the table.
type matcher struct {
	g     *grid
	cells []int32 // of the grid that say something
	t     []float32
	block []int32
	n     []float32           // cells of each block
	mean  [][channels]float32 // of the look in each block
	look  []float32           // variance of the look in each block, summed over the channels
	tell  []float32           // weight of each block
	sums  []matchSums
	reach float64 // mm from the middle to the farthest cell
}

type matchSums struct {
	i, ti [channels]float32
	ii    float32
}

func newMatcher(g *grid) *matcher {
	m := &matcher{g: g, reach: math.Hypot(float64(g.u[0]), float64(g.v[0])) + 1, n: make([]float32, g.blocks),
		mean: make([][channels]float32, g.blocks), look: make([]float32, g.blocks),
		tell: make([]float32, g.blocks), sums: make([]matchSums, g.blocks)}
	for k, w := range g.weight {
		b := g.block[k]
		if w < 0.5 || g.tell[b] < tellLeast {
			continue
		}
		m.cells, m.block = append(m.cells, int32(k)), append(m.block, b)
		m.t = append(m.t, g.t[channels*k:channels*(k+1)]...)
		m.n[b]++
		for c := range channels {
			m.mean[b][c] += g.t[channels*k+c]
		}
	}
	for b, n := range m.n {
		for c := range channels {
			m.mean[b][c] /= max(n, 1)
		}
		if n >= 3 {
			m.tell[b] = min(g.tell[b]/tellFull, 1)
		}
	}
	for i, b := range m.block {
		for c := range channels {
			v := m.t[channels*i+c] - m.mean[b][c]
			m.t[channels*i+c] = v // about the block's mean
			m.look[b] += v * v
		}
	}
	return m
}

// turn returns the grid at a heading over the samples of a flat part.
func (m *matcher) turn(heading geom.Angle, f *flat) turnedGrid {
	sin, cos := math.Sincos(float64(heading))
	out := turnedGrid{heading: heading, at: make([]int32, len(m.cells))}
	for i, k := range m.cells {
		u, v := float64(m.g.u[k]), float64(m.g.v[k])
		x, y := math.Round((u*cos+v*sin)/f.step), math.Round((-u*sin+v*cos)/f.step)
		out.at[i] = int32(channels * (int(y)*f.n + int(x)))
	}
	return out
}

// score is how well a turned look agrees with a place: 0…1, weighed over its telling blocks. at is the index of the
// place's sample; all cells must lie in the part.
func (m *matcher) score(f *flat, t *turnedGrid, at int) float32 {
	clear(m.sums)
	for i, o := range t.at {
		v := f.v[at+int(o):][:channels]
		l := m.t[channels*i:][:channels]
		s := &m.sums[m.block[i]]
		for c := range channels {
			s.i[c] += v[c]
			s.ti[c] += v[c] * l[c]
			s.ii += v[c] * v[c]
		}
	}
	var sum, all float32
	for b := range m.sums {
		w := m.tell[b]
		if w == 0 {
			continue
		}
		s, n := &m.sums[b], m.n[b]
		picture := s.ii - (s.i[0]*s.i[0]+s.i[1]*s.i[1]+s.i[2]*s.i[2])/n
		both := s.ti[0] + s.ti[1] + s.ti[2]
		noise := blockNoise * channels * n
		all += w
		if both > 0 {
			ncc := both / float32(math.Sqrt(float64((m.look[b]+noise)*(max(picture, 0)+noise))))
			sum += w * min(max((ncc-0.2)/0.55, 0), 1)
		}
	}
	return sum / max(all, 1e-6)
}

// guess is a pose that the search found, and how well it agrees.
type guess struct {
	pose  geom.Pose
	score float64
}

// near reports whether two guesses differ by less than a distance in mm and a turn.
func (g *guess) near(o guess, distance, turn float64) bool {
	return float64(g.pose.Distance(o.pose.Point)) < distance && float64(g.pose.Heading.Distance(o.pose.Heading)) < turn
}

// capture returns the best few poses near a place, in any of the headings.
func (m *matcher) capture(f *flat, at geom.Point, reach float64, headings []geom.Angle, keep int) []guess {
	var all []guess
	steps := int(math.Ceil(reach / captureStep))
	for _, h := range headings {
		t := m.turn(h, f)
		for j := -steps; j <= steps; j++ {
			for i := -steps; i <= steps; i++ {
				p := at.Add(geom.Point{X: captureStep * float64(i), Y: captureStep * float64(j)})
				if score, ok := m.scoreAt(f, &t, p); ok {
					all = append(all, guess{geom.Pose{Point: p, Heading: h}, score})
				}
			}
		}
	}
	return apart(all, keep, captureApart, 1.5*captureTurn)
}

// apart returns the best guesses that differ by more than a distance in mm or a turn.
func apart(all []guess, keep int, distance, turn float64) (out []guess) {
	slices.SortStableFunc(all, func(a, b guess) int { return cmp.Compare(b.score, a.score) })
	for _, c := range all {
		if len(out) == keep {
			break
		}
		if !slices.ContainsFunc(out, func(o guess) bool { return c.near(o, distance, turn) }) {
			out = append(out, c)
		}
	}
	return out
}

// climb moves a guess to where the look agrees best near it. What was compared in one step is not compared again in the next.
func (m *matcher) climb(f *flat, g guess) guess {
	for _, step := range [...]struct{ place, turn float64 }{{1, 3 * math.Pi / 180}, {0.5, 1.5 * math.Pi / 180}} {
		turned, scores := map[int]*turnedGrid{}, map[[2]int]float64{} // by turns from here, and by the place's sample as well
		turns := 0
		for range 4 {
			best, by := g, 0
			for _, turn := range [...]int{-1, 0, 1} {
				h := (g.pose.Heading + geom.Angle(float64(turn)*step.turn)).Normalized()
				t := turned[turns+turn]
				if t == nil {
					grid := m.turn(h, f)
					t = &grid
					turned[turns+turn] = t
				}
				for _, dx := range [...]float64{-step.place, 0, step.place} {
					for _, dy := range [...]float64{-step.place, 0, step.place} {
						p := g.pose.Add(geom.Point{X: dx, Y: dy})
						at, ok := m.sampleAt(f, p)
						if !ok {
							continue
						}
						s, ok := scores[[2]int{turns + turn, at}]
						if !ok {
							s = float64(m.score(f, t, at))
							scores[[2]int{turns + turn, at}] = s
						}
						if s > best.score {
							best, by = guess{geom.Pose{Point: p, Heading: h}, s}, turn
						}
					}
				}
			}
			if best == g {
				break
			}
			g = best
			turns += by
		}
	}
	return g
}

// scoreAt is score at a point of the table; false: the look does not lie whole in the part.
func (m *matcher) scoreAt(f *flat, t *turnedGrid, p geom.Point) (float64, bool) {
	at, ok := m.sampleAt(f, p)
	if !ok {
		return 0, false
	}
	return float64(m.score(f, t, at)), true
}

// sampleAt is the index of the sample at a point of the table; false: the look does not lie whole in the part.
func (m *matcher) sampleAt(f *flat, p geom.Point) (int, bool) {
	x, y := int(math.Round((p.X-f.origin.X)/f.step)), int(math.Round((p.Y-f.origin.Y)/f.step))
	r := int(math.Ceil(m.reach / f.step))
	return channels * (y*f.n + x), x >= r && y >= r && x < f.n-r && y < f.n-r
}
