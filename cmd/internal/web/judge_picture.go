package web

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"strconv"
	"sync"

	"sightline/cmd/internal/live"
)

// cropMost is the largest number of pixels in a part of the held picture, about that of a large
// screen.
const cropMost = 1 << 21

// cropping allows one part of a picture to be encoded at a time, which takes a small computer a
// tenth of a second.
var cropping sync.Mutex

// heldPicture sends a part of the held picture without loss: ?held=N&x=&y=&w=&h= in pixels of the
// picture. step=2 or 4 averages squares of that many pixels into one; gray=1 selects the measured
// picture if there is also one in colour. held is the number of the held picture: the answer never
// shows another one.
func (s *Server) heldPicture(w http.ResponseWriter, r *http.Request) {
	state := s.o.Hub.Newest()
	if state.Hold == nil || state.Hold.Frame.Gray == nil {
		http.Error(w, "Nothing is held. Hold the picture first.", http.StatusNotFound)
		return
	}
	h := state.Hold
	if text := r.URL.Query().Get("held"); text != "" && text != strconv.FormatUint(h.Number, 10) {
		http.Error(w, "Another picture is held now.", http.StatusConflict)
		return
	}
	part, step, problem := readCrop(r, h)
	if problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	var buf bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	cropping.Lock()
	err := encoder.Encode(&buf, crop(h, part, step, r.URL.Query().Get("gray") == "1"))
	cropping.Unlock()
	if err != nil {
		http.Error(w, "The picture cannot be encoded.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("Sightline-Held", strconv.FormatUint(h.Number, 10))
	_, _ = w.Write(buf.Bytes())
}

// readCrop parses the requested part of the picture; problem is a sentence for people.
func readCrop(r *http.Request, h *live.Held) (part image.Rectangle, step int, problem string) {
	width, height := h.Frame.Size()
	region := h.Crop()
	values := map[string]int{"x": region.Min.X, "y": region.Min.Y, "w": region.Dx(), "h": region.Dy(), "step": 1}
	for _, name := range []string{"x", "y", "w", "h", "step"} {
		text := r.URL.Query().Get(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 1<<16 {
			return part, 0, fmt.Sprintf("%s must be a whole number of pixels, got %.40q.", name, text)
		}
		values[name] = n
	}
	step = values["step"]
	if step < 1 || step > 8 {
		return part, 0, fmt.Sprintf("step must be from 1 to 8, got %d.", step)
	}
	part = image.Rect(values["x"], values["y"], values["x"]+values["w"], values["y"]+values["h"])
	if part.Empty() || !part.In(image.Rect(0, 0, width, height)) {
		return part, 0, fmt.Sprintf("x, y, w and h must name a part of the %d×%d picture.", width, height)
	}
	if part.Dx() < step || part.Dy() < step {
		return part, 0, fmt.Sprintf("That part is smaller than one square of step=%d.", step)
	}
	if n := part.Dx() * part.Dy() / step / step; n > cropMost {
		return part, 0, fmt.Sprintf("That part has %d pixels; at most %d are given out at once. Ask for less, or for step=2.", n, cropMost)
	}
	return part, step, ""
}

// crop returns a part of the held picture, in colour if it has colour.
func crop(h *live.Held, part image.Rectangle, step int, gray bool) image.Image {
	c := h.Frame.Color
	if !gray && c != nil && part.In(c.Bounds()) && len(c.Pix) >= 3*c.Width*c.Height {
		return binned(c, part, step)
	}
	if step == 1 {
		return h.Frame.Gray.SubImage(part)
	}
	return binnedGray(h.Frame.Gray, part, step)
}

// binnedGray averages squares of step×step pixels.
func binnedGray(src *image.Gray, part image.Rectangle, step int) *image.Gray {
	w, h := max(1, part.Dx()/step), max(1, part.Dy()/step)
	dst := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			sum, n := 0, 0
			for dy := range step {
				for dx := range step {
					if at := image.Pt(part.Min.X+x*step+dx, part.Min.Y+y*step+dy); at.In(part) {
						sum += int(src.GrayAt(at.X, at.Y).Y)
						n++
					}
				}
			}
			dst.Pix[y*dst.Stride+x] = uint8(sum / max(n, 1))
		}
	}
	return dst
}
