package gray

import (
	"image"
	"math"
)

// Steps are those to which JPEG rounds the 64 waves of a block of 8×8 pixels, row by row, in grey levels of the orthonormal transform.
type Steps = [64]float32

const (
	// JPEGBlock is the side of a block in pixels.
	JPEGBlock = 8

	// What is smaller than waveLeast may be the rounding of pixels. A wave's step is known from wavesLeast larger ones, of which no
	// more than waveStray are smaller than the step by more than that.
	waveLeast, wavesLeast, waveStray = 1.5, 20, 0.05
	// The mean cosine of larger waves, a turn to a step, is 1 on multiples of the step and 0.7 with the noise of a picture's change
	// of colours, at a step of 4. Steps below stepLeast do not matter.
	latticeLeast, stepLeast = 0.65, 3
	// sampleEvery is which of the blocks are looked at, and stepsLeast how many waves' steps must be found in them.
	sampleEvery, stepsLeast = 3, 5
)

// waves are the cosines of the transform of a block: those of wave u at pixel x.
var waves = func() (t [JPEGBlock][JPEGBlock]float32) {
	for u := range t {
		for x := range t[u] {
			t[u][x] = float32(0.5 * math.Cos(math.Pi*float64(2*x+1)*float64(u)/16))
			if u == 0 {
				t[u][x] = float32(math.Sqrt(1.0 / JPEGBlock))
			}
		}
	}
	return t
}()

// StepsOf finds the steps of the JPEG that a picture was, by the multiples on which its waves lie; false if it was none, or one of such
// quality that its steps do not matter. The steps of a wave of which the picture has little, and of one that seems to have less than half
// the step of the longer waves next to it, are taken for theirs.
func StepsOf(g *image.Gray) (s Steps, ok bool) {
	var sizes [64][]float64
	n := 0
	for y := 0; y+JPEGBlock <= g.Rect.Dy(); y += JPEGBlock {
		for x := 0; x+JPEGBlock <= g.Rect.Dx(); x += JPEGBlock {
			if n++; n%sampleEvery > 0 {
				continue
			}
			b, even := blockAt(g, x, y)
			if even || clipped(&b) {
				continue
			}
			b = transformed(&b)
			for k, v := range b {
				if v = max(v, -v); v >= waveLeast {
					sizes[k] = append(sizes[k], float64(v))
				}
			}
		}
	}
	found := 0
	for k := 1; k < len(s); k++ {
		if s[k] = stepOf(sizes[k]); s[k] > 0 {
			found++
		}
	}
	if found < stepsLeast {
		return Steps{}, false
	}
	s[0] = max(s[1], s[JPEGBlock], stepLeast-1)
	for k := 1; k < len(s); k++ {
		before := float32(0) // of the longer waves next to this one
		if k%JPEGBlock > 0 {
			before = s[k-1]
		}
		if k >= JPEGBlock {
			before = max(before, s[k-JPEGBlock])
		}
		if s[k] < before/2 {
			s[k] = before
		}
	}
	return s, true
}

// stepOf returns the step of waves of these sizes, or 0 if they tell none.
func stepOf(sizes []float64) float32 {
	if len(sizes) < wavesLeast {
		return 0
	}
	most := Quantile(sizes, waveStray) + waveLeast
	best, step := latticeLeast, 0.0
	for q := math.Floor(most); q >= stepLeast; q-- {
		sum := 0.0
		for _, v := range sizes {
			sum += math.Cos(2 * math.Pi * v / q)
		}
		if mean := sum / float64(len(sizes)); mean > best {
			best, step = mean+0.02, q // of a step's parts all are multiples too
		}
	}
	return float32(step)
}

// blockAt returns the levels of the block that begins at a pixel, and whether they are all the same.
func blockAt(g *image.Gray, x, y int) (b [64]float32, even bool) {
	even = true
	first := g.Pix[y*g.Stride+x]
	for j := range JPEGBlock {
		for i, v := range g.Pix[(y+j)*g.Stride+x:][:JPEGBlock] {
			b[j*JPEGBlock+i] = float32(v) - 128
			even = even && v == first
		}
	}
	return b, even
}

// clipped reports whether some levels of a block may have been beyond the scale: its waves are no multiples of the steps then.
func clipped(b *[64]float32) bool {
	for _, v := range b {
		if v == -128 || v == 127 {
			return true
		}
	}
	return false
}

// transformed returns a block's waves.
func transformed(b *[64]float32) [64]float32 {
	return product(b, func(u, x int) float32 { return waves[u][x] })
}

// composed returns the block of some waves.
func composed(c *[64]float32) [64]float32 {
	return product(c, func(x, u int) float32 { return waves[u][x] })
}

// product multiplies a block by a matrix from the left, and by its transpose from the right.
func product(b *[64]float32, m func(i, j int) float32) (out [64]float32) {
	var half [64]float32
	for i := range JPEGBlock {
		for j := range JPEGBlock {
			f := m(i, j)
			for k := range JPEGBlock {
				half[i*JPEGBlock+k] += f * b[j*JPEGBlock+k]
			}
		}
	}
	for i := range JPEGBlock {
		for j := range JPEGBlock {
			f := m(i, j)
			for k := range JPEGBlock {
				out[k*JPEGBlock+i] += f * half[k*JPEGBlock+j]
			}
		}
	}
	return out
}

// Lost estimates the variance of what JPEG added to the pixels of a block: of what it would add if it compressed the picture once more,
// its blocks half a block elsewhere. column and row count blocks.
func Lost(g *image.Gray, s *Steps, column, row int) float32 {
	const half = JPEGBlock / 2
	x, y := column*JPEGBlock, row*JPEGBlock
	var sum float32
	n := 0
	for q := range 4 {
		at := image.Point{X: x - half + q%2*JPEGBlock, Y: y - half + q/2*JPEGBlock}
		if at.X < 0 || at.Y < 0 || at.X+JPEGBlock > g.Rect.Dx() || at.Y+JPEGBlock > g.Rect.Dy() {
			continue
		}
		n += half * half
		change := changeOf(g, s, at)
		for j := max(at.Y, y); j < min(at.Y, y)+JPEGBlock; j++ {
			for i := max(at.X, x); i < min(at.X, x)+JPEGBlock; i++ {
				d := change[(j-at.Y)*JPEGBlock+i-at.X]
				sum += d * d
			}
		}
	}
	return sum / float32(max(n, 1))
}

// changeOf returns what JPEG changes in the block that begins at a pixel.
func changeOf(g *image.Gray, s *Steps, at image.Point) (change [64]float32) {
	b, even := blockAt(g, at.X, at.Y)
	if even {
		return change
	}
	c := transformed(&b)
	for k, v := range c {
		c[k] = s[k] * float32(math.Round(float64(v/s[k])))
	}
	again := composed(&c)
	for k := range change {
		change[k] = again[k] - b[k]
	}
	return change
}
