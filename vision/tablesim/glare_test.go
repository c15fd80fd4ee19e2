package tablesim_test

import (
	"image"
	"image/color"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/obstacle/trace"
	"sightline/vision/tablesim"
)

// glared adds a lamp's mirror image on the mat to a picture: a hump of light about a place,
// of a sigma in mm, so many times full scale at its top.
func glared(f vision.Frame, table *tablesim.Table, at geom.Point, wide, top float64) {
	cal := tableOf(table)
	var light [256]float64
	for v := range light {
		light[v] = math.Pow((float64(v)/255+0.055)/1.055, 2.4)
	}
	middle, _ := cal.PixelOf(at, 0)
	edge, _ := cal.PixelOf(at.Add(geom.Point{X: wide}), 0)
	for y := range f.Gray.Rect.Dy() {
		for x := range f.Gray.Rect.Dx() {
			d := math.Hypot(float64(x)-middle.X, float64(y)-middle.Y) / edge.Sub(middle).Norm()
			i := y*f.Gray.Stride + x
			l := light[f.Gray.Pix[i]] + top*math.Exp(-d*d/2)
			f.Gray.Pix[i] = uint8(min(255*(1.055*math.Pow(l, 1/2.4)-0.055), 255))
		}
	}
}

// Glare on a bare mat, clipped or not, is not called paper; paper is, glare or not.
func TestGlareIsNoSheetOfPaper(t *testing.T) {
	bare := sheetTable()
	bare.Clutter = nil
	bare.Look.Samples = 1
	for _, mat := range []tablesim.MatStyle{tablesim.MatStars, tablesim.MatPlain} {
		bare.Look.Mat = mat
		clean := render(t, bare)
		for _, wide := range []float64{40, 160} {
			for _, top := range []float64{0.5, 3} {
				f := clean
				f.Gray = &image.Gray{Pix: slices.Clone(clean.Gray.Pix), Stride: clean.Gray.Stride, Rect: clean.Gray.Rect}
				glared(f, bare, geom.Point{X: 300, Y: 560}, wide, top)
				assert.False(t, trace.HasPaper(f, tableOf(bare)), "mat %v, glare of %v mm, %v times full scale", mat, wide, top)
			}
		}
	}
	for _, light := range []float64{0.8, 1.6} {
		table := sheetTable()
		table.Look.Light = light
		f := render(t, table)
		assert.True(t, trace.HasPaper(f, tableOf(table)), "light %v", light)
		glared(f, table, geom.Point{X: 200, Y: 200}, 60, 1)
		assert.True(t, trace.HasPaper(f, tableOf(table)), "light %v, glare elsewhere", light)
	}
	dirty := sheetTable()
	dirty.Clutter[0].Color = color.RGBA{225, 220, 205, 255}
	dirty.Clutter[0].Pose.Heading, dirty.Look.Light = 0.7, 0.8
	assert.True(t, trace.HasPaper(render(t, dirty), tableOf(dirty)), "aslant, yellowed")
}
