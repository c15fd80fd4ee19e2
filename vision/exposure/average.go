package exposure

import (
	"errors"
	"fmt"
	"image"
	"math"

	"sightline/vision"
	"sightline/vision/internal/gray"
)

// Averager takes the mean of pictures of a table at rest: of n pictures it has 1/√n of the
// noise of one. Its zero value is ready.
type Averager struct {
	first vision.Frame
	sum   []uint16
	n     int
}

// averageMost is how many pictures the 16-bit sums hold.
const averageMost = 250

// Add adds a picture. It fails if its size differs from the first picture's, or if something
// moved since the first.
func (a *Averager) Add(f vision.Frame) error {
	w, h := f.Size()
	switch {
	case w == 0 || h == 0:
		return fmt.Errorf("exposure: average: %s: no picture", f.Name)
	case a.n >= averageMost:
		return fmt.Errorf("exposure: average: expected at most %d pictures", averageMost)
	case a.n == 0:
		a.first, a.sum = f, make([]uint16, w*h)
	case f.Gray.Rect != a.first.Gray.Rect:
		fw, fh := a.first.Size()
		return fmt.Errorf("exposure: average: %s is %d×%d, %s is %d×%d", f.Name, w, h, a.first.Name, fw, fh)
	case Moved(a.first.Gray, f.Gray):
		return fmt.Errorf("exposure: average: something moved between %s and %s", a.first.Name, f.Name)
	}
	for y := range h {
		sum := a.sum[y*w : (y+1)*w]
		for x, v := range f.Gray.Pix[y*f.Gray.Stride:][:w] {
			sum[x] += uint16(v)
		}
	}
	a.n++
	return nil
}

// Len returns how many pictures were added.
func (a *Averager) Len() int { return a.n }

// Reset forgets all pictures.
func (a *Averager) Reset() { *a = Averager{} }

// Frame returns the mean of the pictures, named and timed as the first of them, with the steps of its compression.
func (a *Averager) Frame() (vision.Frame, error) {
	if a.n == 0 {
		return vision.Frame{}, errors.New("exposure: average: expected at least one picture, got none")
	}
	f := a.first
	if s, ok := gray.StepsOf(f.Gray); ok && f.Steps == nil {
		f.Steps = &s
	}
	f.Gray = image.NewGray(a.first.Gray.Rect)
	for i, v := range a.sum {
		f.Gray.Pix[i] = uint8((int(v) + a.n/2) / a.n)
	}
	return f, nil
}

// Moved reports whether two pictures differ by more than noise and a change of the whole
// picture's light: whether the means of movedLeast blocks of 8×8 pixels differ by more than
// movedLevel grey levels. A ship that moves by a millimetre changes more blocks than that at
// its edges. The mean of a block has an eighth of a pixel's noise.
func Moved(a, b *image.Gray) bool {
	const block, movedLevel, movedLeast = 8, 10.0, 8
	if a.Rect != b.Rect {
		return true
	}
	w, h := a.Rect.Dx(), a.Rect.Dy()
	blocks := (w / block) * (h / block)
	now, then := make([]float64, 0, blocks), make([]float64, 0, blocks)
	var sumA, sumB float64
	for y := 0; y+block <= h; y += block {
		for x := 0; x+block <= w; x += block {
			p, q := 0, 0
			for j := range block {
				ra, rb := a.Pix[(y+j)*a.Stride+x:][:block], b.Pix[(y+j)*b.Stride+x:][:block]
				for i := range ra {
					p, q = p+int(ra[i]), q+int(rb[i])
				}
			}
			sumA, sumB = sumA+float64(p), sumB+float64(q)
			then, now = append(then, float64(p)/(block*block)), append(now, float64(q)/(block*block))
		}
	}
	gain := (sumB + 1) / (sumA + 1)
	if gain < 0.5 || gain > 2 {
		return true
	}
	moved := 0
	for i := range now {
		if math.Abs(now[i]-gain*then[i]) > movedLevel {
			moved++
		}
	}
	return moved >= movedLeast
}
