// Package pictures reads the input of commands: pictures from files, a source or standard input, and
// their calibrations.
package pictures

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sightline/cmd/internal/terminal"
	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/opencv"
	"sightline/vision/tablesim"
)

// LiveFrames is the number of averaged frames of a source.
const LiveFrames = 10

// Input names the pictures of a calibration: files, or a source.
type Input struct {
	Images []string `arg:"" optional:"" name:"image" help:"Pictures; - is one on standard input."`
	Source string   `placeholder:"S" help:"Take the pictures from here instead: /dev/video0, a file, a directory, a URL, gst:, csi: or sim:."`
}

// Check returns an error for an input that names neither pictures nor a source, or both, or
// standard input twice.
func (p Input) Check() error {
	switch {
	case len(p.Images) == 0 && p.Source == "":
		return errors.New("no pictures: expected IMAGE… or --source S")
	case len(p.Images) > 0 && p.Source != "":
		return errors.New("expected IMAGE… or --source S, got both")
	}
	return CheckImages(p.Images)
}

// CheckImages reports a list of pictures with standard input twice: it can be read only once.
func CheckImages(names []string) error {
	n := 0
	for _, name := range names {
		if name == "-" {
			n++
		}
	}
	if n > 1 {
		return fmt.Errorf("-: standard input holds one picture, expected it once, got it %d times", n)
	}
	return nil
}

// Live reports whether the source does not end, so that not every picture needs to be useful.
func (p Input) Live() bool { return p.Source != "" && !IsDirectory(p.Source) }

// Files returns the picture files: those named, or all of a directory.
func (p Input) Files() ([]string, error) {
	if p.Source == "" {
		return p.Images, nil
	}
	entries, err := os.ReadDir(p.Source)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && capture.IsImageName(e.Name()) {
			names = append(names, filepath.Join(p.Source, e.Name()))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("--source %s: no pictures there: expected .jpg or .png files", p.Source)
	}
	return names, nil
}

// IsDirectory reports whether a path is a folder.
func IsDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// idleLimit is how long a live source may show nothing useful before the command continues with
// what it has.
const idleLimit = 60 * time.Second

// Each calls f with every picture until f has enough or the pictures end. From a source it also
// stops when f has found nothing useful for idleLimit.
func (p Input) Each(ctx context.Context, f func(vision.Frame) (useful, enough bool, err error)) error {
	if !p.Live() {
		images, err := p.Files()
		if err != nil {
			return err
		}
		for i, name := range images {
			if err := ctx.Err(); err != nil {
				return errors.New("interrupted")
			}
			terminal.Step(ctx, "picture", i+1, len(images))
			frame, err := Read(name)
			if err != nil {
				return err
			}
			if _, enough, err := f(frame); err != nil || enough {
				return err
			}
		}
		return nil
	}
	src, err := Open(ctx, p.Source)
	if err != nil {
		return err
	}
	defer src.Close()
	lastUse := time.Now()
	for n := 1; ; n++ {
		terminal.Step(ctx, "picture", n, 0)
		frame, err := src.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return errors.New("interrupted")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("source %s: %w", src, err)
		}
		if frame.Name == "" {
			frame.Name = fmt.Sprintf("frame %d", frame.Seq)
		}
		useful, enough, err := f(frame)
		if err != nil || enough {
			return err
		}
		if useful {
			lastUse = time.Now()
		} else if time.Since(lastUse) > idleLimit {
			return nil
		}
	}
}

// Read reads a picture file, or standard input for "-".
func Read(name string) (vision.Frame, error) {
	if name != "-" {
		return opencv.ReadImage(name)
	}
	raw, err := io.ReadAll(io.LimitReader(os.Stdin, capture.MaxPictureFile+1))
	if err != nil {
		return vision.Frame{}, fmt.Errorf("standard input: %w", err)
	}
	f, err := opencv.DecodeImage(raw)
	if err != nil {
		return vision.Frame{}, fmt.Errorf("standard input: %w", err)
	}
	f.Name = "standard input"
	return f, nil
}

// Open opens a camera, a recording or the simulated table. If the source allows it, frames come at
// the pace at which they are requested.
func Open(ctx context.Context, spec string) (vision.Source, error) {
	if !strings.HasPrefix(spec, "sim:") {
		return opencv.Open(ctx, spec, opencv.OpenOptions{Unpaced: true})
	}
	o, err := tablesim.ParseSpec(spec)
	if err != nil {
		return nil, err
	}
	return tablesim.Open(o)
}

// SameSize checks that all pictures have the size of the first.
type SameSize struct {
	W, H int
	Name string
}

// Check reports a picture of another size than the first.
func (s *SameSize) Check(f vision.Frame) error {
	w, h := f.Size()
	if s.Name == "" {
		*s = SameSize{w, h, f.Name}
	}
	if w != s.W || h != s.H {
		return fmt.Errorf("%s is %d×%d, %s is %d×%d: expected pictures of one size", f.Name, w, h, s.Name, s.W, s.H)
	}
	return nil
}
