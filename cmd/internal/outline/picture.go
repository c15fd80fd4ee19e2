package outline

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/draw"
	_ "image/jpeg" // photographs
	_ "image/png"
	"slices"
	"sync"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/vision"
)

const (
	// photoBytes and photoPixels are larger than any photograph that the page sends, which has at
	// most 4096 px on its longer side.
	photoBytes  = 24 << 20
	photoPixels = 4096 * 4096
	photoSide   = 320 // smaller ones show no base

	keptMost = 3 // pictures; one of 4096 × 4096 px is 67 MB
	keptFor  = time.Hour
)

// picture is a picture on which someone marks bases. Only its calibration changes.
type picture struct {
	id     string
	source string // for people: "photo.jpg", "/dev/video0"
	frame  vision.Frame
	live   bool      // from the camera, with later pictures to compare
	used   time.Time // guarded by the desk's lock

	mu       sync.Mutex // guards the fields below
	register live.Register
	table    *calibration.Table // nil: not calibrated yet
	from     string             // table, markers, corners
	seen     live.Held          // what the camera saw; empty for a photograph
	codes    []engine.Ship      // of a picture of which nothing else is known: the ships whose printed codes it shows
}

// calibration returns the picture's table, or nil before there is one.
func (p *picture) calibration() (*calibration.Table, live.Register, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.table, p.register, p.from
}

// calibrate sets the picture's table.
func (p *picture) calibrate(t calibration.Table, from string, now time.Time) error {
	raw, hash, err := t.Sealed()
	if err != nil {
		return err
	}
	t.Hash, t.Integrity = hash, calibration.Intact
	p.mu.Lock()
	defer p.mu.Unlock()
	p.table, p.from = &t, from
	p.register = live.Register{From: "the mat's " + from + " in the picture", RMSPx: t.RMS, Markers: t.Used, At: now, Times: 1,
		Hash: hash, BaseHash: hash, File: raw, Lens: "estimated from the picture", Watch: live.Watch{State: "unwatched"}}
	return nil
}

// read notes the ships whose codes the picture shows.
func (p *picture) read(ships []engine.Ship) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.codes = ships
}

// named returns the ships whose codes are read in the picture.
func (p *picture) named() []engine.Ship {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Concat(p.seen.Scene().Ships, p.codes), func(s engine.Ship) bool {
		return s.Seen != "token" && s.Seen != "both"
	})
}

// readPhoto decodes a photograph. When it was taken is not known. Its errors are for people.
func readPhoto(raw []byte, name string) (vision.Frame, error) {
	size, _, err := image.DecodeConfig(bytes.NewReader(raw))
	switch {
	case err != nil:
		return vision.Frame{}, errors.New("this is not a JPEG or PNG picture")
	case size.Width*size.Height > photoPixels:
		return vision.Frame{}, fmt.Errorf("the picture has %d × %d pixels: expected at most 4096 × 4096", size.Width, size.Height)
	case min(size.Width, size.Height) < photoSide:
		return vision.Frame{}, fmt.Errorf("the picture has %d × %d pixels: expected at least %d on each side", size.Width, size.Height, photoSide)
	}
	img, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return vision.Frame{}, errors.New("the picture is cut off or damaged")
	}
	f := vision.Frame{Name: name}
	b := img.Bounds()
	f.Gray = image.NewGray(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(f.Gray, f.Gray.Rect, img, b.Min, draw.Src)
	if _, gray := img.(*image.Gray); !gray {
		f.Color = vision.NewBGR(img)
	}
	return f, nil
}

// shelf keeps a few pictures for a while, newest first.
type shelf struct {
	mu   sync.Mutex
	kept []*picture
}

// put adds a picture under a name that cannot be guessed, and drops the oldest.
func (s *shelf) put(p *picture, now time.Time) {
	var name [8]byte
	_, _ = rand.Read(name[:])
	p.id, p.used = hex.EncodeToString(name[:]), now
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append([]*picture{p}, s.kept...)
	s.expire(now)
}

// get returns a picture, or nil if it is unknown or was dropped.
func (s *shelf) get(id string, now time.Time) *picture {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	for _, p := range s.kept {
		if p.id == id {
			p.used = now
			return p
		}
	}
	return nil
}

// expire drops pictures unused for keptFor, and those over the limit. The caller holds mu.
func (s *shelf) expire(now time.Time) {
	s.kept = slices.DeleteFunc(s.kept, func(p *picture) bool { return now.Sub(p.used) > keptFor })
	if len(s.kept) > keptMost {
		clear(s.kept[keptMost:])
		s.kept = s.kept[:keptMost]
	}
}
