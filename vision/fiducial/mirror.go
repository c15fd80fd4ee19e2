package fiducial

import (
	"image"
	"sightline/vision"
)

// Mirrored reports whether a picture shows its markers only when left and right are
// exchanged, as cameras do that are meant for looking at oneself. In such a picture
// printed codes read as other ones, and nothing in it may be believed.
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
