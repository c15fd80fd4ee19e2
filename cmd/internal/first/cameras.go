package first

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"slices"
	"strings"
	"sync"
	"time"

	"sightline/vision"
	"sightline/vision/capture"
)

// Look finds cameras and takes pictures with them.
type Look struct {
	List func(ctx context.Context) []capture.Found
	// Take opens a camera that the program does not use, and takes one picture.
	Take func(ctx context.Context, source string) (vision.Frame, error)
	Now  func() time.Time
}

const (
	lookEvery  = 4 * time.Second // between two rounds, while the page is open
	lookWatch  = 8 * time.Second // how long the page counts as open
	takeWithin = 6 * time.Second
	thumbWide  = 480 // px
)

// seen is the last picture of a camera.
type seen struct {
	found   capture.Found
	jpeg    []byte
	count   uint64 // of its pictures
	problem string // why there is no new one
}

// cameras takes pictures with the machine's cameras while someone looks at the list. It leaves out
// the camera in use, which nothing else may open.
type cameras struct {
	look Look

	mu      sync.Mutex // guards the fields below
	asked   time.Time
	running bool
	rounds  int
	all     []seen
	inUse   string
}

// known returns the cameras found last. looking reports that the first round has not ended yet.
func (c *cameras) known() (all []seen, looking bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.all), c.rounds == 0
}

// watch looks for cameras for a while. inUse is the source that the program uses.
func (c *cameras) watch(inUse string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked, c.inUse = c.look.Now(), inUse
	if !c.running {
		c.running = true
		go c.run()
	}
}

// run takes pictures until the page is closed.
func (c *cameras) run() {
	for {
		c.round(context.Background())
		time.Sleep(lookEvery)
		if c.idle() {
			return
		}
	}
}

// idle reports whether the page is closed, and then stops taking pictures.
func (c *cameras) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.look.Now().Sub(c.asked) > lookWatch {
		c.running = false
	}
	return !c.running
}

// round lists the cameras and takes a picture with each free one.
func (c *cameras) round(ctx context.Context) {
	found := c.look.List(ctx)
	c.mu.Lock()
	before := c.all
	inUse := c.inUse
	c.mu.Unlock()
	next := make([]seen, len(found))
	for i, f := range found {
		next[i] = seen{found: f, problem: f.Problem}
		for _, s := range before {
			if s.found.Source == f.Source {
				next[i].jpeg, next[i].count = s.jpeg, s.count
				if f.Problem == "" && s.found.Problem == "" {
					next[i].problem = s.problem // until it is tried again
				}
			}
		}
	}
	c.publish(next, false)
	for i := range next {
		if next[i].found.Source == inUse || next[i].found.Problem != "" {
			continue
		}
		picture, err := c.take(ctx, next[i].found.Source)
		updated := slices.Clone(next)
		if err != nil {
			updated[i].problem, updated[i].jpeg = err.Error(), nil
		} else {
			updated[i].jpeg, updated[i].problem = picture, ""
			updated[i].count++
		}
		next = updated
		c.publish(next, false)
	}
	c.publish(next, true)
}

func (c *cameras) publish(all []seen, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = all
	if whole {
		c.rounds++
	}
}

// take takes a picture and reduces it.
func (c *cameras) take(ctx context.Context, source string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, takeWithin)
	defer cancel()
	f, err := c.look.Take(ctx, source)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("it gave no picture within %.0f s", takeWithin.Seconds())
	case err != nil:
		return nil, err
	}
	return thumbnail(f)
}

// picture returns the last picture of a camera that the program does not use.
func (c *cameras) picture(source string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.all {
		if s.found.Source == source {
			return s.jpeg
		}
	}
	return nil
}

// thumbnail reduces a picture, in colour if it has colour.
func thumbnail(f vision.Frame) ([]byte, error) {
	w, h := f.Size()
	if w == 0 || h == 0 {
		return nil, fmt.Errorf("the picture is empty")
	}
	var from image.Image = f.Gray
	if f.Color != nil {
		from = f.Color
	}
	step := max(1, (w+thumbWide-1)/thumbWide)
	out := image.NewRGBA(image.Rect(0, 0, max(1, w/step), max(1, h/step)))
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			out.Set(x, y, color.RGBAModel.Convert(from.At(x*step+step/2, y*step+step/2)))
		}
	}
	var b bytes.Buffer
	err := jpeg.Encode(&b, out, &jpeg.Options{Quality: 70})
	return b.Bytes(), err
}

// best returns the mode that suits a table: at least 1080 lines, at most 4K, and at least five
// pictures a second, compressed only if the bus is too slow for others. If there is none, it
// returns the mode with the most pixels.
func best(modes []capture.Mode) capture.Mode {
	if len(modes) == 0 {
		return capture.Mode{}
	}
	value := func(m capture.Mode) int {
		v := 0
		if m.FPS == 0 || m.FPS >= 5 {
			v += 4
		}
		if m.Height <= 2160 {
			v += 2
		}
		if m.Height >= 1080 {
			v++
		}
		return v
	}
	return slices.MaxFunc(modes, func(a, b capture.Mode) int {
		return cmp.Or(cmp.Compare(value(a), value(b)), cmp.Compare(min(a.Height, 1080), min(b.Height, 1080)), cmp.Compare(a.FPS, b.FPS))
	})
}

// modesText lists a camera's modes in a line: "1920×1080 at 30 a second (MJPG), …".
func modesText(modes []capture.Mode) string {
	const most = 4
	var out []string
	for _, m := range modes {
		text := fmt.Sprintf("%d×%d", m.Width, m.Height)
		if m.FPS > 0 {
			text += fmt.Sprintf(" at %.3g a second", m.FPS)
		}
		out = append(out, fmt.Sprintf("%s (%s)", text, m.Format))
	}
	if len(out) > most {
		out = append(out[:most], fmt.Sprintf("%d more", len(modes)-most))
	}
	return strings.Join(out, ", ")
}
