package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sightline/calibration/regularfile"
	"sightline/vision"
)

// ImageOptions control a source of picture files.
type ImageOptions struct {
	// Read reads a file into a frame (opencv.ReadImage). It must be set.
	Read func(path string) (vision.Frame, error)
	// FPS is the number of pictures per second; 0 means without waiting.
	FPS float64
	// Skipped, if set, is called for each picture that cannot be read; the source continues with the
	// next one. If none can be read, Next fails. If Skipped is nil, the source also continues, but
	// ends with an error that names the unreadable pictures instead of io.EOF.
	Skipped func(path string, err error)
	// Repeat makes the source start again after its last picture, without end.
	Repeat bool
}

// MaxPictureFile is the largest accepted size of a picture's file, in bytes: several times what a
// 50-megapixel camera writes. Without a limit, a device or a wrong file would fill the memory.
const MaxPictureFile = 128 << 20

// imageExtensions are the file name endings that count as pictures.
var imageExtensions = []string{".jpg", ".jpeg", ".png"}

// IsImageName reports whether a file name ends like that of a picture: .jpg, .jpeg or .png, in
// either case.
func IsImageName(path string) bool {
	return slices.Contains(imageExtensions, strings.ToLower(filepath.Ext(path)))
}

// OpenImageDir returns a source of the pictures in a directory (JPEG and PNG files, not in
// subdirectories), in the order of their names. If the directory has a RecordingName, the source
// has the pictures named there and, with an FPS, shows them at the recorded times.
func OpenImageDir(dir string, o ImageOptions) (vision.Source, error) {
	if paths, due, err := recorded(dir); err != nil || len(paths) > 0 {
		if o.FPS <= 0 {
			due = nil
		}
		return openImages(dir, paths, due, o, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("vision: source %s: %w", dir, regularfile.WithoutPath(err))
	}
	var paths []string
	for _, e := range entries { // sorted by name
		if !e.IsDir() && IsImageName(e.Name()) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("vision: source %s: no pictures in this directory, expected .jpg or .png files", dir)
	}
	return OpenImages(dir, paths, o)
}

// OpenImages returns a source of these picture files, in this order.
func OpenImages(name string, paths []string, o ImageOptions) (vision.Source, error) {
	return openImages(name, paths, nil, o, nil)
}

// openImages returns a source of pictures that are due at the given times, or else at the options'
// rate.
func openImages(name string, paths []string, due []time.Duration, o ImageOptions, err error) (vision.Source, error) {
	if err == nil && o.Read == nil {
		err = errors.New("vision: source of pictures: no reader")
	}
	if err != nil {
		return nil, err
	}
	return &images{name: name, paths: paths, due: due, o: o, pace: Pacer{FPS: o.FPS}}, nil
}

// images is a source of picture files.
type images struct {
	name    string
	paths   []string
	due     []time.Duration // of each picture after the first; nil: by rate
	began   time.Time       // when the first picture of this round was returned
	o       ImageOptions
	pace    Pacer
	next    int
	shown   vision.Frame // the last picture
	seq     uint64
	round   uint64 // seq at the end of the previous round
	skipped []error
}

// Next implements Source.
func (s *images) Next(ctx context.Context) (vision.Frame, error) {
	again, err := s.wait(ctx)
	if err != nil {
		return vision.Frame{}, err
	}
	if again {
		s.seq++
		s.shown.Seq = s.seq
		return s.shown, nil
	}
	for {
		if s.next == len(s.paths) {
			if !s.o.Repeat || s.seq == s.round {
				break
			}
			s.next, s.round, s.skipped = 0, s.seq, nil
		}
		if err := ctx.Err(); err != nil {
			return vision.Frame{}, err
		}
		path := s.paths[s.next]
		s.next++
		f, err := s.o.Read(path)
		if err != nil {
			s.skip(path, err)
			continue
		}
		s.seq++
		f.Seq, f.Name = s.seq, path
		if f.Captured.IsZero() {
			f.Captured = time.Now()
		}
		s.shown = f
		return f, nil
	}
	switch {
	case len(s.skipped) == 0:
	case s.o.Skipped == nil:
		return vision.Frame{}, fmt.Errorf("vision: source %s: %d of %d pictures could not be read: %w",
			s.name, len(s.skipped), len(s.paths), errors.Join(s.skipped...))
	case s.seq == s.round: // somebody was told of each, but this is more than a bad picture
		return vision.Frame{}, fmt.Errorf("vision: source %s: none of its %d pictures could be read: %w", s.name, len(s.paths), s.skipped[0])
	}
	return vision.Frame{}, io.EOF
}

// shownAgain is how often the picture of a recording is given again until the next one is due. A recording has a picture only when
// something was moved. A reader that hears nothing for some seconds takes the camera for lost.
const shownAgain = 500 * time.Millisecond

// wait blocks until the next picture is due, or reports that the last one is to be shown again.
func (s *images) wait(ctx context.Context) (again bool, err error) {
	at := s.next % max(1, len(s.paths))
	if s.due == nil || at == 0 { // between rounds, and without a recording
		err := s.pace.Wait(ctx)
		s.began = time.Now()
		return false, err
	}
	left := time.Until(s.began.Add(s.due[at] - s.due[0]))
	again = left > shownAgain && s.shown.Gray != nil
	if again {
		left = shownAgain
	}
	sleep(ctx, left)
	return again, ctx.Err()
}

func (s *images) skip(path string, err error) {
	s.skipped = append(s.skipped, err)
	if s.o.Skipped != nil {
		s.o.Skipped(path, err)
	}
}

// Close implements Source.
func (s *images) Close() error { return nil }

// String implements Source.
func (s *images) String() string { return s.name }

// Pacer delivers a recording at the rate of a camera: each frame lasts its time, also the last one.
// The zero value does not wait.
type Pacer struct {
	FPS float64 // frames per second; 0 or less means no waiting

	due time.Time
}

// Wait blocks until the next frame is due, or returns ctx.Err(). After a late call it does not
// catch up: the next frame is due a full interval later.
func (p *Pacer) Wait(ctx context.Context) error {
	if p.FPS <= 0 {
		return ctx.Err()
	}
	now := time.Now()
	if pause := p.due.Sub(now); pause > 0 {
		if !sleep(ctx, pause) {
			return ctx.Err()
		}
	} else {
		p.due = now
	}
	p.due = p.due.Add(time.Duration(float64(time.Second) / p.FPS))
	return ctx.Err()
}

var _ vision.Source = (*images)(nil)
