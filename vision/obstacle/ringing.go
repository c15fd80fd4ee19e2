package obstacle

import (
	"slices"

	"sightline/vision"
	"sightline/vision/internal/gray"
)

// JPEG rounds the waves of whole blocks of 8×8 pixels. In a block that shows the edge of a ship it adds to the mat what it takes from the
// waves of that edge: some grey levels, up to 8 mm beyond the base, and the same in every picture of a table at rest. The spread of the
// bare mat does not tell of it, as the mat has no such edges. So it is estimated block by block, from what the same compression would add
// once more.

// ringingShare is what is left in a cell of the variance of pixels, which neighbours do not share: the cell lies between four of them.
const ringingShare = 4.0 / 9

// measureRinging sets the test's ringing: the variance that JPEG adds to cells of the mat next to ships.
func (f *Finder) measureRinging() {
	m, g := &f.test, f.picture.Gray
	clear(m.ringing)
	if !slices.Contains(f.covered, true) {
		return
	}
	steps, ok := f.steps()
	if !ok {
		return
	}
	view := gray.MatView{Camera: &f.table.Camera, Width: f.diff.view.Width, Height: f.diff.view.Height, Step: vision.DiffStep}
	columns, rows := g.Rect.Dx()/gray.JPEGBlock, g.Rect.Dy()/gray.JPEGBlock
	ships := make([]bool, columns*rows)
	at := func(x, y float32) (b int, ok bool) {
		c, r := int(x+0.5)/gray.JPEGBlock, int(y+0.5)/gray.JPEGBlock
		return r*columns + c, c < columns && r < rows && x > -0.5 && y > -0.5
	}
	view.EachPixel(func(k int, x, y float32, ok bool) {
		if b, in := at(x, y); ok && in && f.covered[k] {
			ships[b] = true
		}
	})
	lost := make([]float32, columns*rows)
	for b, set := range ships {
		if set {
			lost[b] = gray.Lost(g, &steps, b%columns, b/columns) * ringingShare / float32(f.reduce*f.reduce)
		}
	}
	view.EachPixel(func(k int, x, y float32, ok bool) {
		if b, in := at(x, y); ok && in {
			m.ringing[k] = lost[b]
		}
	})
}

// steps returns the steps to which JPEG rounded the waves of the picture that was compared last; false if none did.
func (f *Finder) steps() (gray.Steps, bool) {
	if s := f.picture.Steps; s != nil {
		return *s, true
	}
	return gray.StepsOf(f.picture.Gray)
}
