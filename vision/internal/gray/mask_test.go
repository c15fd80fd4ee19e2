package gray

import (
	"image"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFloodTurnsSmallParts(t *testing.T) {
	const w, h = 12, 10
	mask := make([]bool, w*h)
	fill := func(r image.Rectangle, v bool) {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				mask[y*w+x] = v
			}
		}
	}
	fill(image.Rect(1, 1, 7, 7), true)
	fill(image.Rect(3, 3, 5, 5), false) // a hole of four cells
	fill(image.Rect(9, 1, 11, 3), true) // a speck of four cells
	Flood(mask, w, h, false, 5)
	assert.True(t, mask[3*w+3], "the hole is filled")
	assert.False(t, mask[0], "what is round it stays")
	Flood(mask, w, h, true, 5)
	assert.False(t, mask[1*w+9], "the speck is gone")
	assert.True(t, mask[1*w+1], "the large part stays")
}

// The squares are counted cell by cell, on grids that are narrower and wider than a word, and than the squares.
func TestBoxMaskLooksAtSquares(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, size := range [...]image.Point{{1, 1}, {5, 9}, {64, 3}, {70, 40}, {128, 7}, {200, 30}} {
		for _, r := range [...]int{0, 1, 2, 3, 8, 31, 70} {
			w, h := size.X, size.Y
			mask := make([]bool, w*h)
			share := random.Float64()
			for k := range mask {
				mask[k] = random.Float64() < share*share
			}
			for _, grow := range [2]bool{true, false} {
				got := BoxMask(mask, w, h, r, grow)
				for k := range got {
					x, y := k%w, k/w
					want := !grow
					for j := max(y-r, 0); j <= min(y+r, h-1); j++ {
						for i := max(x-r, 0); i <= min(x+r, w-1); i++ {
							if mask[j*w+i] == grow {
								want = grow
							}
						}
					}
					if got[k] != want {
						t.Fatalf("%v, radius %d, grow %t, (%d, %d): %t", size, r, grow, x, y, got[k])
					}
				}
			}
			assert.Equal(t, BoxMask(BoxMask(mask, w, h, r, true), w, h, r, false), Close(mask, w, h, r))
			assert.Equal(t, BoxMask(BoxMask(mask, w, h, r, false), w, h, r, true), Open(mask, w, h, r))
		}
	}
}

// Parts of random masks are told by growing each from one cell.
func TestFloodSeparatesPartsOfAnyShape(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		w, h, least := 1+random.IntN(12), 1+random.IntN(12), random.IntN(20)
		mask := make([]bool, w*h)
		for k := range mask {
			mask[k] = random.IntN(5) < 3
		}
		for _, kind := range [2]bool{true, false} {
			want := append([]bool(nil), mask...)
			for k := range mask {
				if mask[k] != kind {
					continue
				}
				part := map[int]bool{k: true}
				for more := true; more; {
					more = false
					for c := range mask {
						if mask[c] == kind && !part[c] && (c%w > 0 && part[c-1] || c%w < w-1 && part[c+1] || part[c-w] || part[c+w]) {
							part[c], more = true, true
						}
					}
				}
				if len(part) < least {
					want[k] = !kind
				}
			}
			Flood(mask, w, h, kind, least)
			assert.Equal(t, want, mask, "%d×%d, %d cells of %t", w, h, least, kind)
		}
	}
}
