package obstacle

import (
	"image"
	"math"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/exposure"
	"sightline/vision/internal/gray"
)

// Where an obstacle would not have been noticed, the picture does not say that none lies
// there. What a token shows is not known before it is seen: of printed card it is assumed
// that its print departs from any mat by leastPrint of what white paper reflects there, rms
// over a square as wide as the narrowest obstacle. By the camera's curve that is so many grey
// levels, fewer where glare lies on it; held against the noise there, it is noticed or not.

// The contrast of a print in linear light, rms, as a share of white paper's, the level of the token and its surroundings apart. In half
// of a token's squares it is leastPrint or more: on 32 rendered obstacles in full view of tables 1401 to 1416 (2026-11-23) 0.023 to
// 0.124; the least are dark debris on plain mats (1404, 1413) and an asteroid (1416). Of the simulator's rocks, 6 grey levels darker than
// its wood, much of the contrast is that of the mean, which is followed as light or counts for shade: what the mean has taken is not
// expected any more (matTest.taken; TestFaintRocksAreNeverSilent). Means over broad squares keep broadPrint of it (0.83 and more of 18;
// 0.67 of 48 others, in glare): print is coarser than they are, and noise is not. Of what is as dark as shadow only what differs within
// the small square counts: 0.44 to 0.62 of the contrast of 28 of them, and 0.26 to 0.31 of gas clouds, which have two to five times
// leastPrint. Where the light has followed the mean, followedPrint of leastPrint and more is left of all but gas clouds (28 of 1601,
// 1602, 1604, 1605, 1632 and 1634, 2026-11-29; 0.7 and more of the simulator's rocks).
const (
	leastPrint    = 0.02
	broadPrint    = 0.75
	shadedPrint   = 0.45
	followedPrint = 0.58
)

// paperLight is the linear light of white paper at a marker of the mat, over that of black ink: light that a lamp mirrors in
// both, or that the lens scatters over both, gives a print no contrast.
type paperLight struct {
	at    geom.Point
	light float64 // 0…1
	share float64 // of the light in which the mat was learnt that falls there now, as the mat next to it shows
}

// paperLights measures the white and black of the markers in a picture; a marker that is hidden, or
// lies in no picture, says nothing.
func (f *Finder) paperLights(g *image.Gray) (out []paperLight) {
	for _, m := range f.table.Layout.Markers {
		var px [4]geom.Pixel
		seen := true
		for i, c := range m.Corners() {
			var ok bool
			px[i], ok = f.table.PixelOf(c, m.Z)
			seen = seen && ok
		}
		light := 0.0
		for i := range px {
			if !seen {
				break
			}
			if e, ok := exposure.MeasureEdge(g, px[i], px[(i+1)%4]); ok && e.White-e.Black > exposure.LeastInk/2 {
				light = max(light, linearOf(e.White)-linearOf(e.Black))
			}
		}
		if light > 0 {
			out = append(out, paperLight{m.Center, light, f.diff.shareNear(m.Center)})
		}
	}
	return out
}

func linearOf(level float64) float64 { return float64(gray.LinearLight[int(min(max(level, 0), 255))]) }

// paperUnknown is the light of white paper where no marker shows it: cameras expose so that
// it is more.
const paperUnknown = 0.3

// lightOn returns the linear light of white paper at a table point, between the markers by
// the inverse squares of their distances.
func lightOn(lights []paperLight, p geom.Point) float64 {
	var sum, weights float64
	for _, l := range lights {
		w := 1 / (sq(float64(p.Distance(l.at))) + 1)
		sum, weights = sum+w*l.light, weights+w
	}
	if weights == 0 {
		return paperUnknown
	}
	return sum / weights
}

// asLearnt returns the light of white paper at the markers if the light in which the mat was learnt fell there.
func asLearnt(lights []paperLight) (out []paperLight) {
	for _, l := range lights {
		out = append(out, paperLight{l.at, l.light / l.share, 1})
	}
	return out
}

// shareNear returns the share of the light in which the mat was learnt that falls on the mat next to a table point.
func (d *subtraction) shareNear(p geom.Point) float64 {
	w, h := d.mat.Size()
	p = geom.Point{X: min(max(p.X, 5), float64(w)-5), Y: min(max(p.Y, 5), float64(h)-5)}
	empty, _ := d.mat.At(p)
	return linearOf(max(d.gain.At(p)*empty, 1)) / linearOf(max(empty, 1)) // levels below 1 cannot be told apart
}

// leastShare is the share of the learnt light, by the mat's grey level, below which no print is expected to show. In a mug's deep shadow,
// with 6 % of the light, the mat's grey level stands for 16 %: scattered light, and noise that is cut off at black, raise it.
const leastShare = 0.2

// blindTile is the size, in cells, of the squares that make up blind areas.
const blindTile = 4

// blind returns where an obstacle of the catalogue would not have been noticed in the picture
// that was weighed last, as rectangles, row by row. f.diff.mask holds where things were
// noticed; known are the obstacles that were recognised. Squares that would hide an obstacle of the narrowest kind are counted by their
// middles: where they are fewer than lie in half of the smallest obstacle, its other part is
// noticed, unless they adjoin a thing that was, which may be that part.
func (f *Finder) blind(lights []paperLight, known []vision.ObstacleView) []engine.BlindArea {
	m := &f.test
	half := f.thingHalf()
	middles, found := f.unnoticed(lights, known)
	gaps := f.gaps(m.a, m.limit)
	if !found && gaps == nil {
		return nil
	}
	// What lies unnoticed reaches as far as the square.
	all := gray.BoxMask(middles, m.w, m.h, half, true)
	gray.Flood(middles, m.w, m.h, true, int(f.smallest/4))
	mask := gray.BoxMask(middles, m.w, m.h, half, true)
	around := gray.BoxMask(f.diff.mask, m.w, m.h, 2*half, true)
	cols, rows := (m.w+blindTile-1)/blindTile, (m.h+blindTile-1)/blindTile
	tiles := make([]bool, cols*rows)
	m.each(func(k, i, j int) {
		if mask[k] || all[k] && around[k] || gaps != nil && gaps[k] {
			tiles[j/blindTile*cols+i/blindTile] = true
		}
	})
	return f.blindAreas(tiles, cols, rows)
}

// unnoticed returns the middles of the squares in which a print would not have been noticed; found says that there is one. known are
// obstacles that were recognised.
func (f *Finder) unnoticed(lights []paperLight, known []vision.ObstacleView) (middles []bool, found bool) {
	m := &f.test
	half := f.thingHalf()
	sums, least := f.expectedSums(lights, known)
	middles = make([]bool, len(sums))
	for j := half; j < m.h-half; j++ { // an obstacle lies on the mat with all of its square
		for k := j*m.w + half; k < (j+1)*m.w-half; k++ {
			middles[k] = sums[k] < least
			found = found || middles[k]
		}
	}
	return middles, found
}

// gaps returns the cells of squares between two bases in which a print would not be noticed, as far as they are seen: what both bases hide
// of it may be the rest of an obstacle. sums are expectedSums', in which what ships hide counts as noticed. It returns nil where there are
// none.
func (f *Finder) gaps(sums []float32, limit float32) (mask []bool) {
	m, half := &f.test, f.thingHalf()
	near := make([]uint8, len(sums)) // to so many bases
	for _, b := range f.bases {
		f.eachInside(b, shipMargin+float64(half)*vision.DiffStep, func(k int) { near[k]++ })
	}
	for k, n := range near {
		i, j := k%m.w, k/m.w
		if n < 2 || f.covered[k] || i < half || j < half || i >= m.w-half || j >= m.h-half {
			continue
		}
		all, hidden := (2*half+1)*(2*half+1), 0
		for y := j - half; y <= j+half; y++ {
			for _, c := range f.covered[y*m.w+i-half : y*m.w+i+half+1] {
				if c {
					hidden++
				}
			}
		}
		if seen := all - hidden; gapSeen*seen < all || sums[k]-float32(hidden)*m.most >= limit*float32(seen) {
			continue
		}
		if mask == nil {
			mask = make([]bool, len(sums))
		}
		for y := j - half; y <= j+half; y++ {
			for at := y*m.w + i - half; at <= y*m.w+i+half; at++ {
				mask[at] = mask[at] || !f.covered[at]
			}
		}
	}
	return mask
}

// gapSeen is the part of a square, one in so many, that two bases must leave in view for it to tell anything.
const gapSeen = 4

// expectedSums returns the energy that a print has in the large square about every cell, in m.a, and the least that is noticed. known
// are obstacles that were recognised.
func (f *Finder) expectedSums(lights []paperLight, known []vision.ObstacleView) (sums []float32, least float32) {
	m, half := &f.test, f.thingHalf()
	f.expectedEnergy(lights, leastPrint)
	for i := range known {
		f.eachInside(known[i].Outline, 0, func(k int) { m.a[k] = m.most })
	}
	gray.SumBoxes(m.a, m.a, m.w, m.h, half)
	return m.a, m.limit * float32((2*half+1)*(2*half+1))
}

// expectedEnergy sets m.a to the energy that a print of a contrast, as leastPrint, has at every cell, less what noise may take from it:
// twice the spread that squares of bare mat show. Of energy far beyond the cap noise takes nothing.
func (f *Finder) expectedEnergy(lights []paperLight, contrast float64) {
	m, d := &f.test, f.diff
	prints := f.printsOf(contrast, lights)
	var broad float32
	local := make([]float32, m.w)
	m.each(func(k, i, j int) {
		if i == 0 {
			m.local.row(j, local)
		}
		if prints.goTo(i, j) {
			broad = float32(sq(m.coarse.At(cellAt(i+lightRun/2, j))))
		}
		slight := sq(m.slight[k])
		energy := func(e float32) float32 { // less what noise takes of it
			return min(1+e, m.most) - 2*m.spread*min(max(2-(1+e)/m.most, 0), 1)
		}
		switch v := d.work[k]; {
		case f.covered[k]: // what a ship hides is no line's
			m.a[k] = m.most
		case m.dark(k) && d.mask[k]: // something dark lies there, and was listed
			m.a[k] = m.most
		case m.dark(k), m.seen[k] && m.shade[k] == plainShade && m.z[k] < -inShadow:
			// Shadow dims a print too, and of what is in it only what is uneven counts.
			level, variance := m.shadeAt(d, k, local[i])
			c := shadedPrint * prints.light(level, k, i) * levelsPerLight[level]
			m.a[k] = energy(sq(c) / (variance + slight) / max(m.one, 1))
		case m.seen[k]:
			// By the light of the mat: what lies there and is lighter was noticed.
			level := uint8(min(max(d.work[k]-m.rest[k], 0), 255))
			c, variance := prints.light(level, k, i)*levelsPerLight[level], sq(m.sigma(d, k)*local[i])
			least := float32(followedPrint)
			if m.shade[k] == plainShade {
				least = shadedPrint
			}
			left := max(sq(c)-m.taken[k], sq(least*c))
			m.a[k] = energy(left * max(sq[float32](broadPrint)/(variance*broad+slight), 1/(variance+slight)/max(m.one, 1)))
		case v == v && d.diff[k] > matWhiter && d.mask[k]: // something lies there, and was listed
			m.a[k] = m.most
		default:
			m.a[k] = 1 - 2*m.spread
		}
	})
}

// prints tells what light a print of a contrast sends back, cell by cell. Where less light falls than when the mat was learnt, a print is
// dimmed as the mat is.
type prints struct {
	d              *subtraction
	contrast       float64
	lights, before []paperLight
	gains          []float32
	now, inLearnt  float64
}

// lightRun is a run of cells: light and noise change slowly.
const lightRun = 32

func (f *Finder) printsOf(contrast float64, lights []paperLight) *prints {
	return &prints{d: f.diff, contrast: contrast, lights: lights, before: asLearnt(lights), gains: make([]float32, f.diff.view.Width)}
}

// goTo goes to column i of row j; cells are visited row by row. It reports whether the light is that of another part of the mat now.
func (p *prints) goTo(i, j int) bool {
	if i == 0 {
		p.d.gain.row(j, p.gains)
	}
	if i%lightRun > 0 {
		return false
	}
	at := cellAt(i+lightRun/2, j)
	p.now, p.inLearnt = p.contrast*lightOn(p.lights, at), p.contrast*lightOn(p.before, at)
	return true
}

// light returns the linear light of a print at cell k in column i, where the picture shows the mat with a grey level.
func (p *prints) light(level uint8, k, i int) float32 {
	empty := uint8(min(max((p.d.work[k]-p.d.diff[k])/max(p.gains[i], 1e-3), 1), 255))
	share := gray.LinearLight[max(level, 1)] / gray.LinearLight[empty]
	if share < leastShare {
		return 0
	}
	return float32(min(p.now, p.inLearnt*float64(share)))
}

// slightShare is the share of a print's least contrast by which light may change the bare mat that is not followed: what white bases and
// tokens throw on it, and what soft shadows take. In the mean of ten pictures such light is far beyond the noise, and was an unknown
// thing; it is far from any print.
const slightShare = 0.131

// weigh weighs the picture that was compared last; lights are the paper's in it.
func (f *Finder) weigh(lights []paperLight) {
	f.lights = lights
	m, d := &f.test, f.diff
	w, h := d.view.Width, d.view.Height
	m.begin(d, f.covered)
	f.measureRinging()
	means := m.a
	for k, v := range d.work {
		if means[k] = v; v != v {
			means[k] = 0
		}
	}
	gray.SumBoxes(means, means, w, h, matSmall)
	const cells = (2*matSmall + 1) * (2*matSmall + 1)
	prints := f.printsOf(slightShare*leastPrint, lights)
	m.each(func(k, i, j int) {
		prints.goTo(i, j)
		m.slight[k] = 0
		if m.seen[k] {
			level := uint8(min(max(min(means[k]/cells, d.work[k]-d.diff[k]), 1), 255))
			m.slight[k] = prints.light(level, k, i) * levelsPerLight[level]
		}
	})
	m.find(d, f.covered, f.thingHalf())
}

// inShadow is by how many standard deviations a cell of a shadow is darker than the mat.
const inShadow = 2

// shadeAt returns the mean grey level of the small square about a cell in shadow, and the variance of a cell of such a level; local is
// m.local's.
func (m *matTest) shadeAt(d *subtraction, k int, local float32) (level uint8, variance float32) {
	var sum, n float32
	r := m.smallSquare(k)
	for j := r.Min.Y; j < r.Max.Y; j++ {
		for at := j*m.w + r.Min.X; at < j*m.w+r.Max.X; at++ {
			if m.seen[at] {
				sum, n = sum+d.work[at], n+1
			}
		}
	}
	mean := sum / n
	return uint8(max(mean, 0)), m.dimmed(d, k, mean, local)
}

// levelsPerLight is how many grey levels a camera gives a step of linear light, by the
// grey level.
var levelsPerLight = func() (t [256]float32) {
	for i := range t {
		at := min(max(i, 2), 253)
		t[i] = 4 / (gray.LinearLight[at+2] - gray.LinearLight[at-2])
	}
	return t
}()

// blindAreas makes rectangles of tiles: runs along the rows, joined with equal runs of the
// rows before.
func (f *Finder) blindAreas(tiles []bool, cols, rows int) (out []engine.BlindArea) {
	open := map[[2]int]int{} // of the row before: a run's columns, and its place in out
	for r := range rows {
		now := map[[2]int]int{}
		for c := 0; c < cols; c++ {
			from := c
			for c < cols && tiles[r*cols+c] {
				c++
			}
			if c == from {
				continue
			}
			x0, x1 := float64(from*blindTile)*vision.DiffStep, math.Min(float64(c*blindTile), float64(f.test.w))*vision.DiffStep
			y0, y1 := float64(r*blindTile)*vision.DiffStep, math.Min(float64((r+1)*blindTile), float64(f.test.h))*vision.DiffStep
			run := [2]int{from, c}
			at, ok := open[run]
			if why := f.whyBlind(x0, y0, x1, y1); ok && out[at].Why == why {
				out[at].Outline[2].Y, out[at].Outline[3].Y = y1, y1
			} else {
				at = len(out)
				out = append(out, engine.BlindArea{Outline: geom.Polygon{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}, Why: why})
			}
			now[run] = at
		}
		open = now
	}
	return out
}

// whyBlind says what most of a rectangle that is not seen well enough suffers from.
func (f *Finder) whyBlind(x0, y0, x1, y1 float64) string {
	var clipped, outside, light, all int
	for y := y0; y < y1; y += vision.DiffStep {
		for x := x0; x < x1; x += vision.DiffStep {
			k := int(y/vision.DiffStep)*f.test.w + int(x/vision.DiffStep)
			all++
			switch v := f.diff.work[k]; {
			case v != v:
				outside++
			case v > matClipped:
				clipped++
			case v > glareLevel:
				light++
			}
		}
	}
	switch {
	case 4*outside > all:
		return vision.BlindOutside
	case 4*clipped > all || 2*(clipped+light) > all:
		return vision.BlindGlare
	}
	return vision.BlindNoise
}

// glareLevel is the grey level above which it is the light rather than its noise that hides
// a print.
const glareLevel = 180
