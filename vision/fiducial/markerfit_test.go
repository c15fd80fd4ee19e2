package fiducial

import (
	"image"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
)

// drawTag draws a tag seen in perspective: its black square on the corners, white
// paper around it, averaged over each pixel's area, blurred a little, and then
// through the tone curve.
func drawTag(t *testing.T, id, w, h int, c [4]geom.Pixel, tone func(light float64) float64) *image.Gray {
	t.Helper()
	m, ok := squareTo(c)
	require.True(t, ok)
	// The map's inverse by Newton's method from the middle: slow and obvious.
	inverse := func(p geom.Pixel) geom.Pixel {
		u := geom.Pixel{X: 0.5, Y: 0.5}
		for range 12 {
			const e = 1e-4
			at := m.At(u)
			a := m.At(geom.Pixel{X: u.X + e, Y: u.Y}).Sub(at).Mul(1 / e)
			b := m.At(geom.Pixel{X: u.X, Y: u.Y + e}).Sub(at).Mul(1 / e)
			d := p.Sub(at)
			det := a.X*b.Y - b.X*a.Y
			u = u.Add(geom.Pixel{X: (d.X*b.Y - b.X*d.Y) / det, Y: (a.X*d.Y - d.X*a.Y) / det})
		}
		return u
	}
	const sub = 6
	light := make([]float64, w*h)
	for y := range h {
		for x := range w {
			for i := range sub {
				for j := range sub {
					u := inverse(geom.Pixel{X: float64(x) - 0.5 + (float64(i)+0.5)/sub, Y: float64(y) - 0.5 + (float64(j)+0.5)/sub})
					col, row := int(math.Floor(u.X*markerCells)), int(math.Floor(u.Y*markerCells))
					white := col < 0 || row < 0 || col >= markerCells || row >= markerCells
					if !white {
						white, _ = calibration.TagWhite(id, col, row)
					}
					if white {
						light[y*w+x] += 0.8 / (sub * sub)
					} else {
						light[y*w+x] += 0.05 / (sub * sub)
					}
				}
			}
		}
	}
	at := func(x, y int) float64 { return light[min(max(y, 0), h-1)*w+min(max(x, 0), w-1)] }
	g := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			sum := 0.0
			for dy, ky := range [3]float64{1, 2, 1} {
				for dx, kx := range [3]float64{1, 2, 1} {
					sum += kx * ky / 16 * at(x+dx-1, y+dy-1)
				}
			}
			g.Pix[y*g.Stride+x] = uint8(math.Round(255 * min(tone(sum), 1)))
		}
	}
	return g
}

var tones = map[string]func(float64) float64{
	"straight":          func(v float64) float64 { return v },
	"gamma 2.2":         func(v float64) float64 { return math.Pow(v, 1/2.2) },
	"white clips":       func(v float64) float64 { return min(1.6*v, 1) },
	"gamma and clipped": func(v float64) float64 { return math.Pow(min(1.6*v, 1), 1/2.2) },
}

func TestRefinedCornersDoNotDependOnTheTone(t *testing.T) {
	if testing.Short() {
		t.Skip("looks at whole pictures in one goroutine: nothing for the race detector")
	}
	c := [4]geom.Pixel{{X: 22.3, Y: 18.9}, {X: 61.7, Y: 21.2}, {X: 60.1, Y: 60.4}, {X: 19.6, Y: 57.8}}
	for name, tone := range tones {
		t.Run(name, func(t *testing.T) {
			g := drawTag(t, 4, 84, 80, c, tone)
			near := c
			for i := range near { // as a detector might give them
				near[i] = near[i].Add([4]geom.Pixel{{X: 0.5, Y: 0.3}, {X: -0.4, Y: 0.5}, {X: -0.6, Y: -0.2}, {X: 0.2, Y: -0.5}}[i])
			}
			got, ok := RefineMarker(g, near)
			require.True(t, ok)
			for i := range c {
				assert.InDelta(t, 0, got[i].Sub(c[i]).Norm(), 0.08, "corner %d: RefineMarker = %v, want %v", i, got[i], c[i])
			}
		})
	}
}

func TestAMarkerInAPartOfAPictureKeepsItsPixels(t *testing.T) {
	c := [4]geom.Pixel{{X: 22.3, Y: 18.9}, {X: 61.7, Y: 21.2}, {X: 60.1, Y: 60.4}, {X: 19.6, Y: 57.8}}
	g := drawTag(t, 4, 84, 80, c, tones["straight"])
	whole, ok := RefineMarker(g, c)
	require.True(t, ok)
	part, ok := RefineMarker(g.SubImage(image.Rect(9, 8, 75, 74)).(*image.Gray), c)
	require.True(t, ok)
	assert.Equal(t, whole, part)
}

func TestOtherPatternsAreLeftUnchanged(t *testing.T) {
	c := [4]geom.Pixel{{X: 22, Y: 19}, {X: 62, Y: 21}, {X: 60, Y: 60}, {X: 20, Y: 58}}
	tag := drawTag(t, 4, 84, 80, c, tones["straight"])
	flat := image.NewGray(image.Rect(0, 0, 84, 80))
	nan := math.NaN()
	for _, k := range []struct {
		name string
		g    *image.Gray
		c    [4]geom.Pixel
	}{
		{"no picture", nil, c},
		{"empty picture", &image.Gray{}, c},
		{"one pixel", image.NewGray(image.Rect(0, 0, 1, 1)), c},
		{"nothing in it", flat, c},
		{"corners in the wrong turn", tag, [4]geom.Pixel{c[3], c[2], c[1], c[0]}},
		{"all corners in one point", tag, [4]geom.Pixel{}},
		{"not a number", tag, [4]geom.Pixel{{X: nan}, c[1], c[2], c[3]}},
		{"outside the picture", tag, [4]geom.Pixel{{X: 60, Y: 40}, {X: 120, Y: 40}, {X: 120, Y: 100}, {X: 60, Y: 100}}},
		{"too small to read", tag, [4]geom.Pixel{{X: 30, Y: 30}, {X: 40, Y: 30}, {X: 40, Y: 40}, {X: 30, Y: 40}}},
	} {
		got, ok := RefineMarker(k.g, k.c)
		assert.False(t, ok, k.name)
		if k.name != "not a number" {
			assert.Equal(t, k.c, got, k.name)
		}
	}
}
