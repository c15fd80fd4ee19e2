package obstacle

import (
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"

	"sightline/calibration"
	"sightline/calibration/regularfile"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
	"sightline/vision/internal/shift"
)

// matStep is the spacing, in mm, of the cells in which the empty mat is remembered:
// finer than a pixel of a 1080p picture (0.9 mm) and about one of 4K (0.44 mm).
const matStep = 0.5

// Background is what the mat looks like with nothing on it, in the mat's own
// coordinates, so that it outlives a camera that was moved. Cell (i, j) is the grey
// level at table point ((i+½), (j+½))·matStep, times 256; row 0 lies at player 1's edge.
type Background struct {
	width, height int // cells
	level         []uint16
}

// Size returns the size of the mat that was learnt.
func (m *Background) Size() (width, height geom.Length) {
	return geom.Length(float64(m.width) * matStep), geom.Length(float64(m.height) * matStep)
}

// At returns the grey level at a table point, between the cells, and false outside the mat.
func (m *Background) At(p geom.Point) (float64, bool) {
	x, y := p.X/matStep-0.5, p.Y/matStep-0.5
	fx, fy := math.Floor(x), math.Floor(y)
	i, j := int(fx), int(fy)
	if i < 0 || j < 0 || i >= m.width-1 || j >= m.height-1 {
		return 0, false
	}
	ax, ay := x-fx, y-fy
	row := m.level[j*m.width+i:]
	next := row[m.width:]
	top := float64(row[0]) + ax*(float64(row[1])-float64(row[0]))
	bottom := float64(next[0]) + ax*(float64(next[1])-float64(next[0]))
	return (top + ay*(bottom-top)) / 256, true
}

// moved returns the mat as it looks where it was pushed.
func (m *Background) moved(p *shift.Push) *Background {
	out := &Background{width: m.width, height: m.height, level: make([]uint16, len(m.level))}
	for j := range m.height {
		for i := range m.width {
			at := geom.Point{X: (float64(i) + 0.5) * matStep, Y: (float64(j) + 0.5) * matStep}
			at = at.Sub(p.At(at))
			at.X = min(max(at.X, 0.5*matStep), (float64(m.width)-0.6)*matStep) // past its edge it looks as at its edge
			at.Y = min(max(at.Y, 0.5*matStep), (float64(m.height)-0.6)*matStep)
			v, _ := m.At(at)
			out.level[j*m.width+i] = uint16(v*256 + 0.5)
		}
	}
	return out
}

// BackgroundLearner averages pictures of the empty mat.
type BackgroundLearner struct {
	table         calibration.Table
	width, height int
	sum           []float32
	counts        []uint16
	frames        int
}

// NewBackgroundLearner returns a learner for the mat of one calibrated camera.
func NewBackgroundLearner(t calibration.Table) *BackgroundLearner {
	w, h := int(math.Round(float64(t.Layout.Width)/matStep)), int(math.Round(float64(t.Layout.Height)/matStep))
	return &BackgroundLearner{table: t, width: w, height: h, sum: make([]float32, w*h), counts: make([]uint16, w*h)}
}

// maxMatFrames is far more than anybody needs, and fits the counts.
const maxMatFrames = 10_000

// Add adds a picture of the empty mat.
func (l *BackgroundLearner) Add(f vision.Frame) error {
	w, h := f.Size()
	if w != l.table.Intrinsics.Width || h != l.table.Intrinsics.Height {
		return fmt.Errorf("obstacle: learn the mat: %s is %d×%d, the calibration is for %d×%d", f.Name, w, h, l.table.Intrinsics.Width,
			l.table.Intrinsics.Height)
	}
	if l.frames >= maxMatFrames {
		return fmt.Errorf("obstacle: learn the mat: expected at most %d pictures", maxMatFrames)
	}
	view := gray.MatView{Camera: &l.table.Camera, Width: l.width, Height: l.height, Step: matStep}
	view.Each(f.Gray, func(k int, level float32, ok bool) {
		if ok {
			l.sum[k] += level
			l.counts[k]++
		}
	})
	l.frames++
	return nil
}

// Frames returns how many pictures were added.
func (l *BackgroundLearner) Frames() int { return l.frames }

// seenLeast is the share of the mat that must have been in the pictures.
const seenLeast = 0.9

// Background returns the mean of the pictures so far.
func (l *BackgroundLearner) Background() (*Background, error) {
	if l.frames == 0 {
		return nil, errors.New("obstacle: learn the mat: no picture yet")
	}
	m := &Background{width: l.width, height: l.height, level: make([]uint16, len(l.sum))}
	seen := 0
	for i, v := range l.sum {
		if l.counts[i] == 0 {
			continue
		}
		seen++
		m.level[i] = uint16(min(max(v/float32(l.counts[i])*256, 0), math.MaxUint16-1) + 0.5)
	}
	if share := float64(seen) / float64(len(l.sum)); share < seenLeast {
		return nil, fmt.Errorf("obstacle: learn the mat: %.0f %% of it is in the picture, expected at least %.0f %%", 100*share, 100*seenLeast)
	}
	return m, nil
}

// LearnBackground learns the mat of one calibrated camera from the next n pictures of it empty.
func LearnBackground(t calibration.Table, n int, next func() (vision.Frame, error)) (*Background, error) {
	l := NewBackgroundLearner(t)
	for range n {
		f, err := next()
		if err == nil {
			err = l.Add(f)
		}
		if err != nil {
			return nil, err
		}
	}
	return l.Background()
}

// WritePNG writes the mat as a 16-bit grey picture, row 0 at the top being the far edge.
func (m *Background) WritePNG(w io.Writer) error {
	img := image.NewGray16(image.Rect(0, 0, m.width, m.height))
	for j := range m.height {
		for i := range m.width {
			v := m.level[(m.height-1-j)*m.width+i]
			img.Pix[j*img.Stride+2*i], img.Pix[j*img.Stride+2*i+1] = uint8(v>>8), uint8(v)
		}
	}
	return png.Encode(w, img)
}

// maxMatSide is the longest side of a learnt mat in cells: 10 m.
const maxMatSide = 20000

// ReadBackground reads what WritePNG wrote.
func ReadBackground(r io.ReadSeeker) (*Background, error) {
	c, err := png.DecodeConfig(r)
	if err != nil {
		return nil, fmt.Errorf("not a PNG picture: %w", err)
	}
	if c.Width < 100 || c.Height < 100 || c.Width > maxMatSide || c.Height > maxMatSide {
		return nil, fmt.Errorf("expected a learnt mat of 100 to %d cells a side, got %d×%d", maxMatSide, c.Width, c.Height)
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	img, err := png.Decode(r)
	if err != nil {
		return nil, fmt.Errorf("not a whole PNG picture: %w", err)
	}
	g, ok := img.(*image.Gray16)
	if !ok {
		return nil, fmt.Errorf("expected a grey picture of 16 bits, as `obstacles learn-mat` writes it, got %T", img)
	}
	m := &Background{width: c.Width, height: c.Height, level: make([]uint16, c.Width*c.Height)}
	for j := range m.height {
		for i := range m.width {
			m.level[(m.height-1-j)*m.width+i] = uint16(g.Pix[j*g.Stride+2*i])<<8 | uint16(g.Pix[j*g.Stride+2*i+1])
		}
	}
	return m, nil
}

// LoadBackground reads a learnt mat's file.
func LoadBackground(path string) (*Background, error) {
	f, err := regularfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("obstacle: learnt mat: %w", err)
	}
	defer f.Close()
	m, err := ReadBackground(f)
	if err != nil {
		return nil, fmt.Errorf("obstacle: learnt mat %s: %w", path, err)
	}
	return m, nil
}
