package look

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"sightline/engine/geom"
	"sightline/vision/look/internal/signs"
)

// The search near a place correlates the look with the blurred picture, block by block, in many places and headings,
// and fits the best few.

const (
	captureBlur  = 1.2               // mm, of picture and look
	captureStep  = 2.0               // mm between places
	captureSigns = 8                 // poses that are fitted as well: the best by signs
	captureApart = 2.5               // mm by which guesses differ at least, unless they differ in heading
	captureTurn  = 6 * math.Pi / 180 // between headings of a small base; larger ones are turned by less

	// Between these steps the true pose scores less than it should: for 4 of 112 cards it was the 9th to 20th best guess, and the best
	// after climbing. But wrong guesses climb too, and a wide reach has more of them: one right pose was the 4th best before climbing and
	// the 9th best after.
	captureKeep = 32  // guesses that climb
	captureFits = 16  // guesses that are fitted then
	captureSame = 1.0 // mm or degrees by which they differ at least

	captureWorst = 0.5 // share of the best score below which a guess is not fitted
	tableStep    = 0.5 // mm between the samples of the table
	climbReach   = 6.0 // mm by which climbing may move a guess
)

// flat is a blurred part of the table, rectified at the height of a card.
type flat struct {
	origin geom.Point // of the first sample
	step   float64    // mm between the samples
	n      int        // samples along a side
	v      []float32  // three channels
}

// flatten rectifies the part of the picture up to reach mm around the scan's centre.
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

// nearest samples a picture bilinearly. Beyond the border it continues the border.
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

// turnedGrid is a matcher's grid at a heading.
type turnedGrid struct {
	heading geom.Angle
	at      []int32 // of each cell: offset of its sample from the centre's, times channels
}

// matcher compares a look with many places of a flat part of the table.
type matcher struct {
	g      *grid
	cells  []int32   // of the grid, block by block
	t      []float32 // their picture about its mean in the block, three channels
	blocks []matchedBlock
	weight float32 // of all blocks
	reach  float64 // mm from the middle to the farthest cell
}

// matchedBlock is a block of a look that varies enough to be compared.
type matchedBlock struct {
	end    int     // of its cells; they begin where those of the block before end
	n      float32 // its cells
	look   float32 // the sum of the look's squares, all channels
	weight float32
}

func newMatcher(g *grid) *matcher {
	m := &matcher{g: g, reach: math.Hypot(float64(g.u[0]), float64(g.v[0])) + 1}
	cells := make([][]int32, g.blocks)
	for k, w := range g.weight {
		if b := g.block[k]; w >= 0.5 && g.tell[b] >= tellLeast {
			cells[b] = append(cells[b], int32(k))
		}
	}
	for i, own := range cells {
		if len(own) < matchedCells {
			continue
		}
		b := matchedBlock{end: len(m.cells) + len(own), n: float32(len(own)), weight: min(g.tell[i]/tellFull, 1)}
		var mean [channels]float32
		for _, k := range own {
			for c := range channels {
				mean[c] += g.t[channels*int(k)+c] / b.n
			}
		}
		for _, k := range own {
			for c := range channels {
				v := g.t[channels*int(k)+c] - mean[c]
				m.t = append(m.t, v)
				b.look += v * v
			}
		}
		m.cells, m.blocks, m.weight = append(m.cells, own...), append(m.blocks, b), m.weight+b.weight
	}
	return m
}

// matchedCells is how many cells a block needs to be compared.
const matchedCells = 3

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

// scoreNone and scoreAll are the correlations of a block up to which it counts for nothing, and from which it counts in full.
const (
	scoreNone = 0.2
	scoreAll  = 0.75
)

// blockScore is how well a block agrees, 0…1, by its correlation.
func blockScore(r float32) float32 { return min(max((r-scoreNone)/(scoreAll-scoreNone), 0), 1) }

// score is how well a turned look agrees with a place: 0…1, the weighted mean over its blocks. at is the index of the
// place's sample; all cells must lie in the part.
func (m *matcher) score(f *flat, t *turnedGrid, at int) float32 {
	var sum float32
	from := 0
	for i := range m.blocks {
		b := &m.blocks[i]
		sum += b.weight * blockScore(b.correlation(f, at, t.at[from:b.end], m.t[channels*from:]))
		from = b.end
	}
	return sum / max(m.weight, 1e-6)
}

// evidence returns the evidence for the look at a pose; false: the look extends beyond the part.
func (m *matcher) evidence(f *flat, pose geom.Pose) (float64, bool) {
	at, ok := m.sampleAt(f, pose.Point)
	if !ok {
		return 0, false
	}
	t := m.turn(pose.Heading, f)
	var sum evidenceSum
	from := 0
	for i := range m.blocks {
		b := &m.blocks[i]
		sum.add(float64(b.weight), float64(b.correlation(f, at, t.at[from:b.end], m.t[channels*from:])))
		from = b.end
	}
	return slices.Max(sum[:]), true
}

// gridSpread takes the place of rightSpread between the steps of a search, where the right pose correlates less.
const gridSpread = 0.2

// gridBins is how many steps of correlation gridRatios has.
const gridBins = 64

// gridRatios are a block's terms of an evidenceSum by its correlation, with gridSpread.
var gridRatios = sync.OnceValue(func() *[gridBins + 1]evidenceSum {
	var out [gridBins + 1]evidenceSum
	for i := range out {
		out[i].addRatio(1, blockRatio(float64(i)/gridBins, gridSpread))
	}
	return &out
})

// both returns the score and the evidence at a point of the table, which may be between the steps of a search. Both are 0 if the look
// extends beyond the part.
func (m *matcher) both(f *flat, t *turnedGrid, p geom.Point) (score, evidence float64) {
	at, ok := m.sampleAt(f, p)
	if !ok {
		return 0, 0
	}
	var sum evidenceSum
	from, terms := 0, gridRatios()
	for i := range m.blocks {
		b := &m.blocks[i]
		r := b.correlation(f, at, t.at[from:b.end], m.t[channels*from:])
		score += float64(b.weight * blockScore(r))
		for k, v := range terms[int(min(r, 1)*gridBins)] {
			sum[k] += float64(b.weight) * v
		}
		from = b.end
	}
	return score / max(float64(m.weight), 1e-6), slices.Max(sum[:])
}

// correlation returns a block's correlation with the samples at some offsets from one; 0 if it is negative.
func (b *matchedBlock) correlation(f *flat, at int, offsets []int32, look []float32) float32 {
	var s0, s1, s2, squares, both float32
	look = look[:channels*len(offsets)]
	for _, o := range offsets {
		v, l := (*[channels]float32)(f.v[at+int(o):]), (*[channels]float32)(look)
		look = look[channels:]
		s0, s1, s2 = s0+v[0], s1+v[1], s2+v[2]
		squares += v[0]*v[0] + v[1]*v[1] + v[2]*v[2]
		both += v[0]*l[0] + v[1]*l[1] + v[2]*l[2]
	}
	if both <= 0 {
		return 0
	}
	noise := blockNoise * channels * b.n
	return both / float32(math.Sqrt(float64((b.look+noise)*(max(squares-(s0*s0+s1*s1+s2*s2)/b.n, 0)+noise))))
}

// guess is a pose that the search found, with its score.
type guess struct {
	pose  geom.Pose
	score float64
}

// near reports whether two guesses differ by less than a distance in mm and a turn.
func (g *guess) near(o guess, distance, turn float64) bool {
	return float64(g.pose.Distance(o.pose.Point)) < distance && float64(g.pose.Heading.Distance(o.pose.Heading)) < turn
}

// capture returns the best poses near a place in the given headings.
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

// apart returns the best guesses that differ from each other by a distance in mm or a turn.
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

// climb moves a guess to the best score near it. Scores are cached between steps.
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

// scoreAt returns the score at a point of the table; false: the look extends beyond the part.
func (m *matcher) scoreAt(f *flat, t *turnedGrid, p geom.Point) (float64, bool) {
	at, ok := m.sampleAt(f, p)
	if !ok {
		return 0, false
	}
	return float64(m.score(f, t, at)), true
}

// sampleAt returns the index of the sample at a point of the table; false: the look extends beyond the part.
func (m *matcher) sampleAt(f *flat, p geom.Point) (int, bool) {
	x, y := int(math.Round((p.X-f.origin.X)/f.step)), int(math.Round((p.Y-f.origin.Y)/f.step))
	r := int(math.Ceil(m.reach / f.step))
	return channels * (y*f.n + x), x >= r && y >= r && x < f.n-r && y < f.n-r
}

// near returns the poses around the centre whose signs agree best with a look.
func near(mat *signs.Mat, l *Look, reach float64, headings []geom.Angle) []guess {
	turned, scorer := signs.NewLattice(mat), signs.NewScorer([]*signs.Look{&l.grids().signs})
	middle, n := turned.Side/2, int(math.Ceil(reach/signs.Step))
	samples := make([]int, 2*n+1)
	for i := range samples {
		samples[i] = middle - n + i
	}
	var all []guess
	for _, h := range headings {
		turned.Turn(h)
		for j := middle - n; j <= middle+n; j++ {
			scorer.Score(turned, j, samples, func(_, i int, score float64) {
				if score > 0 {
					all = append(all, guess{geom.Pose{Point: turned.Point(i, j), Heading: h}, score})
				}
			})
		}
	}
	return apart(all, captureSigns, captureApart, 1.5*captureTurn)
}

// signs returns the signs of a rectified part of the mat.
func (f *flat) signs() *signs.Mat { return signs.NewMat(f.origin, f.step, f.n, f.v) }

// signs returns the look's signs.
func (l *Look) signs() signs.Look {
	return signs.NewLook(l.blurred(captureBlur/cellMM), l.weight, l.side, cellMM)
}
