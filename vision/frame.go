package vision

import (
	"image"
	"image/color"
	"image/draw"
	"time"

	"sightline/calibration"
	"sightline/engine/geom"
)

// Frame is one picture of the table. It is immutable, and any goroutine may read it.
type Frame struct {
	Gray  *image.Gray // the luma picture that is measured; bounds start at (0, 0)
	Color *BGR        // the same picture in colour for people, or nil

	Seq      uint64    // counts the frames of one source, from 1
	Captured time.Time // time of the exposure, as well as the source knows
	Name     string    // its file, if it came from one

	// Steps are those to which JPEG rounded the 64 waves of each block of 8×8 pixels, where the picture no longer shows them, as the
	// mean of several does not; nil: it shows them, or none did.
	Steps *[64]float32
}

// Size returns the picture's width and height in pixels.
func (f Frame) Size() (w, h int) {
	if f.Gray == nil {
		return 0, 0
	}
	b := f.Gray.Bounds()
	return b.Dx(), b.Dy()
}

// BGR is a colour picture in OpenCV's byte order, three bytes a pixel without
// padding. It is an image.Image.
type BGR struct {
	Pix           []byte
	Width, Height int
}

// NewBGR copies a picture.
func NewBGR(img image.Image) *BGR {
	b := img.Bounds()
	out := &BGR{Width: b.Dx(), Height: b.Dy(), Pix: make([]byte, 3*b.Dx()*b.Dy())}
	row := image.NewRGBA(image.Rect(0, 0, b.Dx(), 1))
	for y := range b.Dy() {
		draw.Draw(row, row.Rect, img, image.Point{X: b.Min.X, Y: b.Min.Y + y}, draw.Src)
		for x := range b.Dx() {
			to := out.Pix[3*(y*out.Width+x):]
			to[0], to[1], to[2] = row.Pix[4*x+2], row.Pix[4*x+1], row.Pix[4*x]
		}
	}
	return out
}

// ColorModel implements image.Image.
func (b *BGR) ColorModel() color.Model { return color.RGBAModel }

// Bounds implements image.Image.
func (b *BGR) Bounds() image.Rectangle { return image.Rect(0, 0, b.Width, b.Height) }

// At implements image.Image.
func (b *BGR) At(x, y int) color.Color {
	if !(image.Point{X: x, Y: y}).In(b.Bounds()) {
		return color.RGBA{}
	}
	i := 3 * (y*b.Width + x)
	return color.RGBA{b.Pix[i+2], b.Pix[i+1], b.Pix[i], 255}
}

// Detection is one fiducial marker seen once in a frame.
type Detection struct {
	ID      int
	Corners [4]geom.Pixel // of the black square: top left, top right, bottom right, bottom left of the print
	Margin  float64       // the detector's decision margin, grey levels
	Hamming int           // number of corrected bits
}

// A MarkerDetector finds printed AprilTags (family 36h11) in a grey picture.
type MarkerDetector interface {
	DetectMarkers(g *image.Gray) ([]Detection, error)
}

// Sightings converts detections for calibration.Register.
func Sightings(found []Detection) []calibration.MarkerSighting {
	out := make([]calibration.MarkerSighting, len(found))
	for i, d := range found {
		out[i] = calibration.MarkerSighting{ID: d.ID, Corners: d.Corners}
	}
	return out
}

// Elapsed returns how much time passed between two readings of this machine's clock, also while the machine slept: then the clock
// that Sub uses stood still. A clock that was set meanwhile makes it longer, never shorter.
func Elapsed(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}
