package web

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"sync"
	"time"

	"sightline/vision"
)

const (
	pictureWidth   = 1300                   // wider pictures are halved until they fit
	pictureEvery   = 200 * time.Millisecond // at most five new pictures a second
	pictureQuality = 80
)

// errNoPicture is what a picture is before the first one.
var errNoPicture = errors.New("web: there is no picture yet")

// pictures encodes the newest picture once for everyone who asks.
type pictures struct {
	now func() time.Time

	mu   sync.Mutex // guards what follows
	seq  uint64
	made time.Time
	jpeg []byte
}

// encode returns the frame as a JPEG, or the last one made when that is younger
// than pictureEvery.
func (p *pictures) encode(f vision.Frame) ([]byte, error) {
	if f.Gray == nil {
		return nil, errNoPicture
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.jpeg != nil && (p.seq == f.Seq || now.Sub(p.made) < pictureEvery) {
		return p.jpeg, nil
	}
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, small(f), &jpeg.Options{Quality: pictureQuality}); err != nil {
		return nil, err
	}
	p.seq, p.made, p.jpeg = f.Seq, now, buf.Bytes()
	return p.jpeg, nil
}

// small returns the picture for people: in colour where there is colour, halved
// until it is at most pictureWidth wide.
func small(f vision.Frame) image.Image {
	if f.Color == nil || len(f.Color.Pix) < 3*f.Color.Width*f.Color.Height {
		return f.Gray
	}
	step := 1
	for f.Color.Width/step > pictureWidth {
		step *= 2
	}
	return binned(f.Color, step)
}

// binned averages squares of step×step pixels.
func binned(src *vision.BGR, step int) *image.RGBA {
	w, h := src.Width/step, src.Height/step
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	n := step * step
	for y := range h {
		for x := range w {
			var b, g, r int
			for dy := range step {
				i := 3 * ((y*step+dy)*src.Width + x*step)
				for range step {
					b += int(src.Pix[i])
					g += int(src.Pix[i+1])
					r += int(src.Pix[i+2])
					i += 3
				}
			}
			o := dst.PixOffset(x, y)
			dst.Pix[o], dst.Pix[o+1], dst.Pix[o+2], dst.Pix[o+3] = uint8(r/n), uint8(g/n), uint8(b/n), 255
		}
	}
	return dst
}
