package fiducial

import (
	"errors"
	"image"

	"sightline/vision"
)

// ErrMirrored is the error for a picture that shows markers only with left and right exchanged, like the pictures of some webcams meant
// for looking at oneself. Printed codes then read as other codes, so such a picture must not be used.
var ErrMirrored = errors.New("the picture is mirrored: left and right are exchanged")

// DetectMarkers returns the markers in a picture. The error is ErrMirrored if they can only be read mirrored.
func DetectMarkers(d vision.MarkerDetector, g *image.Gray) ([]vision.Detection, error) {
	found, err := d.DetectMarkers(g)
	if err != nil || len(found) > 0 {
		return found, err
	}
	if mirrored, err := d.DetectMarkers(Mirror(g)); err == nil && len(mirrored) > 1 {
		return nil, ErrMirrored
	}
	return nil, nil
}

// Mirror returns a picture with left and right exchanged.
func Mirror(g *image.Gray) *image.Gray {
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
