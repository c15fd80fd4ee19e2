package gray

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// edges is a picture of squares that stand at any angle on a mat with some noise.
func edges(seed uint64, noise float64) *image.Gray {
	rng := rand.New(rand.NewPCG(seed, 1))
	g := image.NewGray(image.Rect(0, 0, 640, 480))
	for y := range 480 {
		for x := range 640 {
			v := 60 + noise*rng.NormFloat64()
			if fx, fy := float64(x)+0.3*float64(y), float64(y)-0.3*float64(x)+640; math.Mod(fx, 160) < 50 && math.Mod(fy, 160) < 50 {
				v += 120
			}
			g.Pix[y*g.Stride+x] = uint8(math.Round(min(max(v, 0), 255)))
		}
	}
	return g
}

func packedAt(t *testing.T, g *image.Gray, quality int) *image.Gray {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, g, &jpeg.Options{Quality: quality}))
	m, err := jpeg.Decode(&b)
	require.NoError(t, err)
	return m.(*image.Gray)
}

func TestStepsOfACompressedPicture(t *testing.T) {
	// The first row and column of the table that JPEG's standard gives for luma; Go scales it by the quality.
	along, down := [8]float64{16, 11, 10, 16, 24, 40, 51, 61}, [8]float64{16, 12, 14, 14, 18, 24, 49, 72}
	plain := edges(1, 1.5)
	for _, quality := range []int{40, 60, 75, 85} {
		g := packedAt(t, plain, quality)
		s, ok := StepsOf(g)
		require.True(t, ok, "quality %d", quality)
		scale := float64(200-2*quality) / 100
		if quality < 50 {
			scale = 50 / float64(quality)
		}
		for k := 1; k < 4; k++ {
			assert.InDelta(t, math.Floor(along[k]*scale+0.5), s[k], 1, "quality %d, wave %d along", quality, k)
			assert.InDelta(t, math.Floor(down[k]*scale+0.5), s[8*k], 1, "quality %d, wave %d down", quality, k)
		}
		for k := range s {
			assert.GreaterOrEqual(t, s[k], s[0]/2, "quality %d, wave %d", quality, k)
		}
	}
	for _, quality := range []int{99, 100} {
		_, ok := StepsOf(packedAt(t, plain, quality))
		assert.False(t, ok, "quality %d", quality)
	}
	_, ok := StepsOf(plain)
	assert.False(t, ok, "not compressed")
	_, ok = StepsOf(image.NewGray(image.Rect(0, 0, 640, 480)))
	assert.False(t, ok, "black")
}

// TestNoStepIsZero averages compressed pictures, which hardly show their steps.
func TestNoStepIsZero(t *testing.T) {
	for _, noise := range []float64{0.3, 1, 3, 8} {
		mean := edges(1, 0)
		sums := make([]int, len(mean.Pix))
		for seed := range uint64(6) {
			for k, v := range packedAt(t, edges(seed, noise), 60).Pix {
				sums[k] += int(v)
			}
			for k, v := range sums {
				mean.Pix[k] = uint8(v / int(seed+1))
			}
			if s, ok := StepsOf(mean); ok {
				assert.NotContains(t, s, float32(0), "mean of %d with noise %g", seed+1, noise)
			}
		}
	}
}

// TestLostIsWhatCompressionAdds compares the estimate with the truth, block by block.
func TestLostIsWhatCompressionAdds(t *testing.T) {
	for _, quality := range []int{60, 80} {
		t.Run(fmt.Sprint(quality), func(t *testing.T) {
			plain := edges(2, 0)
			g := packedAt(t, plain, quality)
			s, ok := StepsOf(g)
			require.True(t, ok)
			sumLost, sumTrue, bare := 0.0, 0.0, 0
			for row := 1; row < 59; row++ {
				for column := 1; column < 79; column++ {
					was := 0.0
					for j := range 8 {
						for i := range 8 {
							k := (8*row+j)*g.Stride + 8*column + i
							d := float64(g.Pix[k]) - float64(plain.Pix[k])
							was += d * d / 64
						}
					}
					lost := float64(Lost(g, &s, column, row))
					if was == 0 && lost == 0 {
						bare++
						continue
					}
					sumLost, sumTrue = sumLost+lost, sumTrue+was
				}
			}
			t.Logf("lost %.2f, in truth %.2f, %d blocks without", sumLost, sumTrue, bare)
			assert.InDelta(t, 1, sumLost/sumTrue, 0.3)
			assert.Greater(t, bare, 100, "blocks of bare mat")
		})
	}
}
