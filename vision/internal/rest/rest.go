// Package rest detects, from pictures alone, whether a table has changed and whether it has come to rest.
package rest

import (
	"image"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision/internal/gray"
)

// Detector reports whether a picture differs from a stored one and from the one before. It compares
// the mean grey levels of small blocks of the mat, after removing the change that all blocks share.
type Detector struct {
	pixels  []int32 // of the samples, block by block
	starts  []int32 // of each block in pixels, and the end
	kept    []float32
	before  []float32
	now     []float32
	ratios  []float64
	sizes   []float64
	minimum float32 // change of a block's mean that counts
	most    float64 // change that a noisy camera's noise explains
}

const (
	blockSide  = 12 // mm: a token that moves by 1 mm changes a block by a twelfth of its contrast
	sampleStep = 1  // mm between samples
)

// New returns a detector for the visible part of a mat.
func New(cam *calibration.Camera, width, height geom.Length) Detector {
	var s Detector
	for y := 0.0; y+blockSide <= float64(height); y += blockSide {
		for x := 0.0; x+blockSide <= float64(width); x += blockSide {
			from := len(s.pixels)
			s.pixels = appendSamples(s.pixels, cam, geom.Point{X: x, Y: y})
			if len(s.pixels) > from {
				s.starts = append(s.starts, int32(from))
			}
		}
	}
	n := len(s.starts)
	s.starts = append(s.starts, int32(len(s.pixels)))
	s.kept, s.before, s.now = make([]float32, n), make([]float32, n), make([]float32, n)
	return s
}

// appendSamples appends to pixels those of a block's samples that are in the picture. The block has its first corner at at.
func appendSamples(pixels []int32, cam *calibration.Camera, at geom.Point) []int32 {
	for dy := sampleStep / 2.0; dy < blockSide; dy += sampleStep {
		for dx := sampleStep / 2.0; dx < blockSide; dx += sampleStep {
			px, ok := cam.PixelOf(at.Add(geom.Point{X: dx, Y: dy}), 0)
			i, j := int(math.Round(px.X)), int(math.Round(px.Y))
			if ok && i >= 0 && j >= 0 && i < cam.Width && j < cam.Height {
				pixels = append(pixels, int32(j*cam.Width+i))
			}
		}
	}
	return pixels
}

// Update compares the next picture. It reports whether it differs from the stored picture, and
// whether it agrees with the one before.
func (s *Detector) Update(g *image.Gray) (changed, resting bool) {
	s.before, s.now = s.now, s.before
	w := g.Rect.Dx()
	for b := range s.now {
		var sum int
		from, to := s.starts[b], s.starts[b+1]
		for _, p := range s.pixels[from:to] {
			i := int(p)
			if g.Stride != w {
				i = i/w*g.Stride + i%w
			}
			sum += int(g.Pix[i])
		}
		s.now[b] = float32(sum) / float32(to-from)
	}
	return s.differ(s.kept), !s.differ(s.before)
}

// Keep stores the present picture.
func (s *Detector) Keep() { copy(s.kept, s.now) }

// SetNoise sets the noise of a cell of the search, in grey levels. Changes of a block's mean that
// noise explains do not count.
func (s *Detector) SetNoise(noise float64) {
	s.minimum, s.most = float32(differLeast+0.5*noise), differShare*noise
}

// Differs reports whether the present picture differs from the stored one.
func (s *Detector) Differs() bool { return s.differ(s.kept) }

// differ reports whether any block differs from another picture's, apart from a change of light
// that all blocks share.
func (s *Detector) differ(from []float32) bool {
	s.ratios = s.ratios[:0]
	for b, v := range s.now {
		if v > gray.Darkest && from[b] > gray.Darkest && b%3 == 0 {
			s.ratios = append(s.ratios, float64(v/from[b]))
		}
	}
	gain := float32(1)
	if len(s.ratios) > 20 {
		gain = float32(gray.Quantile(s.ratios, 0.5))
	}
	s.sizes = s.sizes[:0]
	for b, v := range s.now {
		s.sizes = append(s.sizes, math.Abs(float64(v-gain*from[b])))
	}
	worst := slices.Max(append(s.sizes, 0))
	if worst <= differLeast {
		return false
	}
	// At least half of the table rests, so the median block shows the noise.
	noise := gray.Quantile(s.sizes, 0.5) / 0.6745
	return worst > max(float64(s.minimum), min(differSigmas*noise, max(s.most, differMost)))
}

// A block's mean changes by noise alone by up to 5.6 times the median block's standard
// deviation: dark blocks have more of it than light ones once the camera's curve is
// on them, and there are thousands of blocks (the simulated table's usual look at 900
// rows, 16 pairs of pictures, 2026-11-21: 2.1 grey levels at most, the median's
// deviation 0.37). With a fixed limit of 1.5 such a table never rested. With a sample every
// 2 mm neither did rendered ones in 600 electrons or in 1000 with a mosaic, whose blocks
// changed by up to 6.1; with one every millimetre they do by 4.4 at most, 0.6 to 0.85 of
// their noise (1663, 1701, 1702, 54 pairs, 2026-11-29).
const (
	differLeast  = 1.2 // grey levels: less is never a change
	differSigmas = 8.0
	differMost   = 5.0 // grey levels: more is never noise
	differShare  = 1.0 // but for cameras with more noise than that
)
