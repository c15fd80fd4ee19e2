package jig

import (
	"image"
	"image/color"
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
)

// The part of the sheet that View shows, mm in its frame, and its resolution.
const (
	viewFrom = -52.0
	viewTo   = 132.0
	viewStep = 0.5 // mm a pixel
)

// View returns the sheet in a picture, rectified, with the arrow up.
func (p Place) View(t *calibration.Table, f vision.Frame) *image.NRGBA {
	n := int((viewTo - viewFrom) / viewStep)
	out := image.NewNRGBA(image.Rect(0, 0, n, n))
	w, h := f.Size()
	for j := range n {
		for i := range n {
			at := p.Pose.Transform(geom.Point{X: viewFrom + (float64(i)+0.5)*viewStep, Y: viewTo - (float64(j)+0.5)*viewStep})
			px, ok := t.PixelOf(at, Paper)
			x, y := int(math.Round(px.X)), int(math.Round(px.Y))
			if !ok || x < 0 || y < 0 || x >= w || y >= h {
				continue
			}
			c := color.NRGBA{A: 255}
			if f.Color != nil {
				v := f.Color.Pix[3*(y*f.Color.Width+x):]
				c.R, c.G, c.B = v[2], v[1], v[0]
			} else {
				v := f.Gray.GrayAt(x, y).Y
				c.R, c.G, c.B = v, v, v
			}
			out.SetNRGBA(i, j, c)
		}
	}
	return out
}
