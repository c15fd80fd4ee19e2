package web_test

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// unlike says how two pictures of blocks differ; "" when they do not.
func unlike(got, wanted image.Image) string {
	g, w := got.Bounds(), wanted.Bounds()
	if g.Dx() != w.Dx() || abs(g.Dy()-w.Dy()) > goldenHeight/goldenBlock {
		return fmt.Sprintf("it is %d×%d px, not %d×%d", g.Dx()*goldenBlock, g.Dy()*goldenBlock, w.Dx()*goldenBlock, w.Dy()*goldenBlock)
	}
	other, all := 0, 0
	var first image.Point
	for y := range min(g.Dy(), w.Dy()) {
		for x := range g.Dx() {
			all++
			if colourDistance(got.At(x, y), wanted.At(x, y)) < goldenNear {
				continue
			}
			if other == 0 {
				first = image.Pt(x*goldenBlock, y*goldenBlock)
			}
			other++
		}
	}
	if share := float64(other) / float64(all); share > goldenMost {
		return fmt.Sprintf("%.1f %% of it looks otherwise, from %v on", 100*share, first)
	}
	return ""
}

func abs(x int) int { return max(x, -x) }

func colourDistance(a, b color.Color) float64 {
	ar, ag, ab, _ := a.RGBA()
	br, bg, bb, _ := b.RGBA()
	d := func(x, y uint32) float64 { return math.Abs(float64(x>>8) - float64(y>>8)) }
	return math.Max(d(ar, br), math.Max(d(ag, bg), d(ab, bb)))
}

// blocks returns the mean colours of a picture's squares.
func blocks(src image.Image) *image.RGBA {
	all, ok := src.(*image.RGBA)
	if !ok || all.Rect.Min != (image.Point{}) {
		all = image.NewRGBA(image.Rect(0, 0, src.Bounds().Dx(), src.Bounds().Dy()))
		draw.Draw(all, all.Rect, src, src.Bounds().Min, draw.Src)
	}
	out := image.NewRGBA(image.Rect(0, 0, all.Rect.Dx()/goldenBlock, all.Rect.Dy()/goldenBlock))
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			var sum [3]int
			for dy := range goldenBlock {
				from := all.PixOffset(x*goldenBlock, y*goldenBlock+dy)
				for i := range goldenBlock {
					for c := range sum {
						sum[c] += int(all.Pix[from+4*i+c])
					}
				}
			}
			const n = goldenBlock * goldenBlock
			out.SetRGBA(x, y, color.RGBA{uint8(sum[0] / n), uint8(sum[1] / n), uint8(sum[2] / n), 255})
		}
	}
	return out
}

// TestGoldenPicturesSeeWhatPeopleSee: a changed colour, a moved card and a missing one
// are seen; letters that are smoothed otherwise are not.
func TestGoldenPicturesSeeWhatPeopleSee(t *testing.T) {
	drawn := func(change func(x, y int) (color.RGBA, bool)) image.Image {
		img := image.NewRGBA(image.Rect(0, 0, 320, 320))
		for y := range 320 {
			for x := range 320 {
				c := color.RGBA{20, 24, 30, 255}
				if x > 40 && x < 200 && y > 40 && y < 120 {
					c = color.RGBA{60, 70, 80, 255}
				}
				if change != nil {
					if other, ok := change(x, y); ok {
						c = other
					}
				}
				img.SetRGBA(x, y, c)
			}
		}
		return blocks(img)
	}
	plain := drawn(nil)
	assert.Empty(t, unlike(plain, plain))
	assert.Empty(t, unlike(drawn(func(x, y int) (color.RGBA, bool) {
		return color.RGBA{60, 70, 80, 255}, x > 40 && x <= 201 && y > 40 && y < 121
	}), plain), "an edge that is smoothed otherwise")
	assert.NotEmpty(t, unlike(drawn(func(x, y int) (color.RGBA, bool) { return color.RGBA{20, 24, 30, 255}, true }), plain),
		"a card is missing")
	assert.NotEmpty(t, unlike(drawn(func(x, y int) (color.RGBA, bool) {
		return color.RGBA{90, 70, 80, 255}, x > 40 && x < 200 && y > 40 && y < 120
	}), plain), "a card has another colour")
}

// Golden pictures are kept as the mean colours of squares of goldenBlock pixels: small,
// and blind to how a browser's version smooths its letters.
const (
	goldenBlock  = 8
	goldenNear   = 14.0 // of 255: a block is alike when its mean colour differs by less
	goldenMost   = 0.012
	goldenHeight = 24 // px by which a page may grow or shrink
)
