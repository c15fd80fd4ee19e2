package fiducial

import (
	"image"
	"sightline/vision"
)

// Mirrored reports whether a picture shows markers only with left and right exchanged, like the
// pictures of some webcams meant for looking at oneself. Printed codes then read as other codes, so
// such a picture must not be used.
func Mirrored(d vision.MarkerDetector, g *image.Gray) (bool, error) {
	found, err := d.DetectMarkers(g)
	if err != nil || len(found) > 0 {
		return false, err
	}
	found, err = d.DetectMarkers(mirror(g))
	return len(found) > 1, err
}

// mirror exchanges left and right.
func mirror(g *image.Gray) *image.Gray {
	b := g.Bounds()
	out := image.NewGray(image.Rect(0, 0, b.Dx(), b.Dy()))
	for y := range b.Dy() {
		from, to := g.Pix[y*g.Stride:y*g.Stride+b.Dx()], out.Pix[y*out.Stride:]
		for x, v := range from {
			to[b.Dx()-1-x] = v
		}
	}
	return out
}
