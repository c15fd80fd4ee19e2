package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/opencv"
	"sightline/vision/tablesim"
)

type calibrateCmd struct {
	Lens   calibrateLensCmd   `cmd:"" help:"Find the lens from pictures of a chessboard."`
	Table  calibrateTableCmd  `cmd:"" help:"Find the camera's place over the mat from the mat's printed markers."`
	Quick  calibrateQuickCmd  `cmd:"" help:"Estimate lens and place from the mat alone, without a chessboard: coarser, and it says by how much."`
	Verify calibrateVerifyCmd `cmd:"" help:"Measure the printed check card and say how far off the calibration is."`
	Budget calibrateBudgetCmd `cmd:"" help:"Print the error budget of a table calibration, term by term, and draw it over the mat."`
}

// pictureInput is where a calibration's pictures come from: files, or a source.
type pictureInput struct {
	Images []string `arg:"" optional:"" name:"image" help:"Pictures; - is one on standard input."`
	Source string   `placeholder:"S" help:"Take the pictures from here instead: /dev/video0, a file, a directory, a URL, gst:, csi: or sim:."`
}

func (p pictureInput) check() error {
	switch {
	case len(p.Images) == 0 && p.Source == "":
		return errors.New("no pictures: expected IMAGE… or --source S")
	case len(p.Images) > 0 && p.Source != "":
		return errors.New("expected IMAGE… or --source S, got both")
	}
	return checkImages(p.Images)
}

// checkImages reports a list of pictures that asks for standard input twice: it can
// be read once only.
func checkImages(names []string) error {
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

// live reports whether the pictures come one after the other for as long as
// somebody asks, so that not every one of them counts.
func (p pictureInput) live() bool { return p.Source != "" && !isDirectory(p.Source) }

// images returns the picture files: those that were named, or all of a directory's,
// every one of which counts as if it had been named.
func (p pictureInput) images() ([]string, error) {
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

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// idleLimit is how long a live source may show nothing of use before the command
// works with what it has.
const idleLimit = 60 * time.Second

// each calls f with every picture until f says that it has enough or the pictures
// end. From a source it also stops when f has found nothing of use for idleLimit.
func (p pictureInput) each(ctx context.Context, f func(vision.Frame) (useful, enough bool, err error)) error {
	if !p.live() {
		images, err := p.images()
		if err != nil {
			return err
		}
		for _, name := range images {
			if err := ctx.Err(); err != nil {
				return errors.New("interrupted")
			}
			frame, err := readPicture(name)
			if err != nil {
				return err
			}
			if _, enough, err := f(frame); err != nil || enough {
				return err
			}
		}
		return nil
	}
	src, err := openSource(ctx, p.Source)
	if err != nil {
		return err
	}
	defer src.Close()
	lastUse := time.Now()
	for {
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

// readPicture reads one picture file, or standard input for "-".
func readPicture(name string) (vision.Frame, error) {
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

// openSource opens a camera, a recording or the simulated table, at the pace at
// which frames are asked for where the source allows it.
func openSource(ctx context.Context, spec string) (vision.Source, error) {
	if !strings.HasPrefix(spec, "sim:") {
		return opencv.Open(ctx, spec, opencv.OpenOptions{Unpaced: true})
	}
	o, err := tablesim.ParseSpec(spec)
	if err != nil {
		return nil, err
	}
	return tablesim.Open(o)
}

// checkOutput reports a file that cannot be written because its directory is
// missing, before a command works for a minute.
func checkOutput(path string) error {
	if path == "" || path == "-" {
		return fmt.Errorf("-o %q: expected a file's name", path)
	}
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("-o %s: the directory %s is not there", path, dir)
	case !info.IsDir():
		return fmt.Errorf("-o %s: %s is not a directory", path, dir)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("-o %s: is there and is not a file", path)
	}
	return nil
}

// tellKept says under which name the file that was there is kept.
func tellKept(progress io.Writer, path, kept string) {
	if kept != "" {
		fmt.Fprintf(progress, "%s was there: it is kept as %s\n", path, kept)
	}
}

// loadTable reads a table calibration and warns of one that no longer says what was
// measured: every command that reads one does it here.
func loadTable(progress io.Writer, path string) (calibration.Table, error) {
	t, err := calibration.LoadTable(path)
	if err == nil {
		tellDoubts(progress, path, t.Doubts())
	}
	return t, err
}

// loadLens is loadTable for a lens file, and returns its state.
func loadLens(progress io.Writer, path string) (calibration.Intrinsics, calibration.Integrity, error) {
	lens, file, err := lens.LoadFile(path)
	if err == nil && file.Integrity == calibration.Edited {
		tellDoubts(progress, path, []string{file.Integrity.String()})
	}
	return lens, file.Integrity, err
}

// tellDoubts warns of a calibration file for each reason not to trust it.
func tellDoubts(progress io.Writer, path string, doubts []string) {
	for _, d := range doubts {
		fmt.Fprintf(progress, "warning: %s: %s: its figures, and what follows from them, are unverified\n", path, d)
	}
}

// sameSize checks that all pictures have one size; it remembers the first.
type sameSize struct {
	w, h int
	name string
}

func (s *sameSize) check(f vision.Frame) error {
	w, h := f.Size()
	if s.name == "" {
		*s = sameSize{w, h, f.Name}
	}
	if w != s.w || h != s.h {
		return fmt.Errorf("%s is %d×%d, %s is %d×%d: expected pictures of one size", f.Name, w, h, s.name, s.w, s.h)
	}
	return nil
}
