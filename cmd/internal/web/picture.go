package web

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"sync"
	"time"

	"sightline/cmd/internal/live"
	"sightline/vision"
)

const (
	pictureWidth   = 1300                   // wider pictures are halved until they fit
	pictureEvery   = 200 * time.Millisecond // at most five new pictures a second
	pictureQuality = 80
)

// errNoPicture is the error before the first picture.
var errNoPicture = errors.New("web: there is no picture yet")

// pictures encodes the newest picture once for all clients.
type pictures struct {
	now func() time.Time

	mu   sync.Mutex // guards the fields below
	seq  uint64
	made time.Time
	jpeg []byte
}

// encode returns the state's region of its frame as a JPEG. It returns the previous JPEG again
// until that is older than pictureEvery.
func (p *pictures) encode(state *live.State) ([]byte, error) {
	f := state.Frame
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
	if err := jpeg.Encode(&buf, small(f, state.Crop()), &jpeg.Options{Quality: pictureQuality}); err != nil {
		return nil, err
	}
	p.seq, p.made, p.jpeg = f.Seq, now, buf.Bytes()
	return p.jpeg, nil
}

// small returns a part of the picture for people: in colour if it has colour, halved until it is at
// most pictureWidth wide.
func small(f vision.Frame, part image.Rectangle) image.Image {
	c := f.Color
	if c == nil || !part.In(c.Bounds()) || len(c.Pix) < 3*c.Width*c.Height {
		return f.Gray.SubImage(part)
	}
	step := 1
	for part.Dx()/step > pictureWidth {
		step *= 2
	}
	return binned(c, part, step)
}

// binned averages squares of step×step pixels.
func binned(src *vision.BGR, part image.Rectangle, step int) *image.RGBA {
	w, h := max(1, part.Dx()/step), max(1, part.Dy()/step)
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	n := step * step
	for y := range h {
		for x := range w {
			var b, g, r int
			for dy := range step {
				i := 3 * ((part.Min.Y+y*step+dy)*src.Width + part.Min.X + x*step)
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
