package web

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
)

// The table from above as a small video, for a monitor next to the stream or a commentator's
// laptop. It is no source for a broadcast (docs/streaming.md).

const (
	videoEvery   = 150 * time.Millisecond // under seven pictures a second
	videoClients = 4                      // of all sizes together
	videoQuality = 75
	videoEdge    = 8 // px of the frame around a held picture
)

// videoWidths are the available sizes: few, so that each is made once for all clients.
var videoWidths = []int{320, 480, 640, 960}

// heldMark is the colour around a picture that is not live: the page's --close.
var heldMark = color.RGBA{0xff, 0xd2, 0x4a, 0xff}

// videos makes the pictures for all viewers.
type videos struct {
	mu      sync.Mutex // guards the fields below
	clients int
	sizes   map[int]*video
}

// video is one size: its newest picture and its viewers.
type video struct {
	pictures live.Broadcast[[]byte]
	watchers int
	stop     chan struct{}
}

// videoMJPEG streams the mat from above as a multipart of JPEG pictures. A slow client misses
// pictures. While there is nothing current, it shows one empty picture.
func (s *Server) videoMJPEG(w http.ResponseWriter, r *http.Request) {
	width := 640
	if text := r.URL.Query().Get("width"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || !slices.Contains(videoWidths, n) {
			http.Error(w, fmt.Sprintf("width: expected one of 320, 480, 640 or 960, got %s.", quoted(text)), http.StatusBadRequest)
			return
		}
		width = n
	}
	state := s.o.Hub.Newest()
	if s.tables.of(&state.Register) == nil || state.Frame.Gray == nil {
		http.Error(w, "There is no picture from above: "+state.Health.Title+" "+state.Health.Detail, http.StatusServiceUnavailable)
		return
	}
	pictures, leave, ok := s.watch(width)
	if !ok {
		w.Header().Set("Retry-After", "30")
		http.Error(w, fmt.Sprintf("%d people already watch, and this video serves no more. docs/streaming.md says what does.", videoClients),
			http.StatusServiceUnavailable)
		return
	}
	defer leave()
	defer access.Streams(r)()
	w.Header().Set("Content-Type", "multipart/x-mixed-replace; boundary=picture")
	w.Header().Set("X-Accel-Buffering", "no")
	control := http.NewResponseController(w)
	for {
		select {
		case <-r.Context().Done():
			return
		case data := <-pictures:
			if data == nil { // none was made yet
				continue
			}
			head := fmt.Sprintf("--picture\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n", len(data))
			if _, err := w.Write([]byte(head)); err != nil {
				return
			}
			if _, err := w.Write(data); err != nil {
				return
			}
			if send(w, control, []byte("\r\n")) != nil {
				return
			}
		}
	}
}

// watch adds a viewer of a size. It reports false if there is no room.
func (s *Server) watch(width int) (pictures <-chan []byte, leave func(), ok bool) {
	vs := &s.videos
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if vs.clients >= videoClients {
		return nil, nil, false
	}
	vs.clients++
	if vs.sizes == nil {
		vs.sizes = map[int]*video{}
	}
	v := vs.sizes[width]
	if v == nil {
		v = &video{stop: make(chan struct{})}
		vs.sizes[width] = v
		go s.film(width, v)
	}
	v.watchers++
	pictures, end := v.pictures.Listen()
	return pictures, func() {
		end()
		vs.mu.Lock()
		defer vs.mu.Unlock()
		vs.clients--
		if v.watchers--; v.watchers == 0 {
			close(v.stop)
			delete(vs.sizes, width)
		}
	}, true
}

// film makes the pictures of one size until its last viewer leaves.
func (s *Server) film(width int, v *video) {
	states, end := s.o.Hub.Listen()
	defer end()
	c := camera{width: width}
	ticker := time.NewTicker(videoEvery)
	defer ticker.Stop()
	for {
		select {
		case <-v.stop:
			return
		case <-ticker.C:
		}
		select {
		case <-v.stop:
			return
		case state := <-states:
			if data, fresh := c.shot(&state, s.tables.of(&state.Register)); fresh {
				v.pictures.Publish(data)
			}
		}
	}
}

// camera makes one size's pictures.
type camera struct {
	width int

	hash      string // the calibration that rectifier is for
	rectifier *rectifier
	shown     string // content of the last picture
}

// shot returns the picture of a state if it differs from the last one.
func (c *camera) shot(state *live.State, table *calibration.Table) (data []byte, fresh bool) {
	hash := state.Register.Hash
	if state.Hold != nil { // held pictures have their own calibration
		hash, table = state.Hold.Register.Hash, &state.Hold.Table
	}
	if table == nil || state.Frame.Gray == nil || (state.Health.Code != live.OK && !state.Held) {
		return c.once("nothing", func() image.Image { return c.empty() })
	}
	if w, h := state.Frame.Size(); w != table.Intrinsics.Width || h != table.Intrinsics.Height {
		return c.once("nothing", func() image.Image { return c.empty() })
	}
	if c.rectifier == nil || c.hash != hash {
		mat := [2]float64{float64(table.Layout.Width), float64(table.Layout.Height)}
		c.hash, c.rectifier = hash, newRectifier(table, mat, c.width)
	}
	return c.once(fmt.Sprint(c.hash, state.Frame.Seq, state.Held), func() image.Image {
		picture := c.rectifier.picture(&state.Frame)
		if state.Held {
			mark(picture)
		}
		return picture
	})
}

// once encodes a picture unless the last one shows the same.
func (c *camera) once(what string, make func() image.Image) ([]byte, bool) {
	if c.shown == what {
		return nil, false
	}
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, make(), &jpeg.Options{Quality: videoQuality}); err != nil {
		return nil, false
	}
	c.shown = what
	return buf.Bytes(), true
}

// empty is the picture while nothing current can be shown: an old picture would pass for the
// present table.
func (c *camera) empty() image.Image {
	height := c.width
	if c.rectifier != nil {
		height = c.rectifier.height
	}
	return image.NewGray(image.Rect(0, 0, c.width, height))
}

// mark frames a held picture.
func mark(p *image.RGBA) {
	b := p.Bounds()
	for _, r := range []image.Rectangle{
		image.Rect(b.Min.X, b.Min.Y, b.Max.X, b.Min.Y+videoEdge), image.Rect(b.Min.X, b.Max.Y-videoEdge, b.Max.X, b.Max.Y),
		image.Rect(b.Min.X, b.Min.Y, b.Min.X+videoEdge, b.Max.Y), image.Rect(b.Max.X-videoEdge, b.Min.Y, b.Max.X, b.Max.Y),
	} {
		draw.Draw(p, r, image.NewUniform(heldMark), image.Point{}, draw.Src)
	}
}
