package gray

import (
	"fmt"
	"image"
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// SearchScale is the scale, in px/mm, above which a picture is reduced for the search. The cells of
// 2.67 mm need 2.5 px each; more only costs time.
const SearchScale = 1.75

// Reduced returns the lens of a picture whose pixels are means of k×k pixels.
func Reduced(in calibration.Intrinsics, k int) calibration.Intrinsics {
	f := float64(k)
	in.Width, in.Height = in.Width/k, in.Height/k
	in.Fx, in.Fy = in.Fx/f, in.Fy/f
	in.Cx, in.Cy = (in.Cx+0.5)/f-0.5, (in.Cy+0.5)/f-0.5
	return in
}

// MatRegion returns the part of the picture that shows the mat, with a margin for a base's height.
func MatRegion(cam *calibration.Camera, layout calibration.Layout) image.Rectangle {
	var box image.Rectangle
	w, h := float64(layout.Width), float64(layout.Height)
	const steps = 8
	for i := range steps + 1 {
		t := float64(i) / steps
		for _, p := range [...]geom.Point{{X: t * w}, {X: t * w, Y: h}, {Y: t * h}, {X: w, Y: t * h}} {
			px, ok := cam.PixelOf(p, token.BaseTop)
			if !ok {
				continue
			}
			x, y := int(math.Round(px.X)), int(math.Round(px.Y))
			box = box.Union(image.Rect(x-6, y-6, x+7, y+7))
		}
	}
	return box.Intersect(image.Rect(0, 0, cam.Width, cam.Height))
}

// SearchReduction returns the factor by which a table's pictures are reduced for a
// search, and the scale of the whole picture in px/mm.
func SearchReduction(t *calibration.Table) (int, float64, error) {
	middle := geom.Point{X: float64(t.Layout.Width) / 2, Y: float64(t.Layout.Height) / 2}
	_, dx, dy, ok := t.PixelJacobian(middle, 0)
	if !ok {
		return 0, 0, fmt.Errorf("vision: the middle of the %v × %v mat lies behind the camera", t.Layout.Width, t.Layout.Height)
	}
	scale := math.Sqrt(math.Abs(dx.X*dy.Y - dx.Y*dy.X))
	reduce := 1
	for scale/float64(reduce) > SearchScale {
		reduce++
	}
	return reduce, scale, nil
}
