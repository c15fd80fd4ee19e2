package sheet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"sightline/calibration/atomicfile"
	"sightline/calibration/regularfile"
)

// Format is a file format of sheets.
type Format string

// The formats.
const (
	PDF Format = "pdf"
	PNG Format = "png"
	SVG Format = "svg"
)

// ParseFormat parses a format's name.
func ParseFormat(s string) (Format, error) {
	switch f := Format(s); f {
	case PDF, PNG, SVG:
		return f, nil
	}
	return "", fmt.Errorf("format: expected pdf, png or svg, got %q", s)
}

// FormatOf returns the format of a file: the requested one, or that of the file's ending if none
// was requested. It fails if the two disagree.
func FormatOf(asked, file string) (Format, error) {
	ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))
	of, err := ParseFormat(ending)
	switch {
	case asked == "" && err != nil:
		return "", fmt.Errorf("%s: expected a format, or a name ending in .pdf, .png or .svg", file)
	case asked == "":
		return of, nil
	}
	f, askedErr := ParseFormat(asked)
	if askedErr != nil {
		return "", askedErr
	}
	if err == nil && of != f {
		return "", fmt.Errorf("%s: format %s: expected a name ending in .%s", file, f, f)
	}
	return f, nil
}

// WriteFiles writes pages to a file. A PDF has all of them; of PNG and SVG each page is a file of
// its own, with -1, -2 … before the ending if there are several. It returns the names of the files.
// It removes a file that it could not finish.
func WriteFiles(file string, f Format, dpi int, pages []Page) ([]string, error) {
	if f == PDF {
		err := Create(file, func(w io.Writer) error { return WritePDF(w, pages) })
		return []string{file}, err
	}
	var names []string
	for i, p := range pages {
		name := file
		if len(pages) > 1 {
			ext := filepath.Ext(file)
			name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(file, ext), i+1, ext)
		}
		if err := Create(name, func(w io.Writer) error { return writePage(w, f, dpi, p) }); err != nil {
			return names, err
		}
		names = append(names, name)
	}
	return names, nil
}

func writePage(w io.Writer, f Format, dpi int, p Page) error {
	switch f {
	case SVG:
		return WriteSVG(w, p)
	case PNG:
		return WritePNG(w, p, dpi)
	}
	return WritePDF(w, []Page{p})
}

// WriteTo writes pages to a stream, which can have only one picture.
func WriteTo(w io.Writer, f Format, dpi int, pages []Page) error {
	if f == PDF {
		return WritePDF(w, pages)
	}
	if len(pages) != 1 {
		return fmt.Errorf("%d pages of %s: expected a file's name, or format pdf", len(pages), f)
	}
	return writePage(w, f, dpi, pages[0])
}

// Create writes a file wholly or not at all. If the name exists and is no file (/dev/stdout, a
// pipe), it writes to it directly.
func Create(name string, write func(io.Writer) error) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return createDirectly(name, write)
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("write %s: %w", name, regularfile.WithoutPath(err))
	}
	if err := atomicfile.Write(name, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("%s: expected a file that can be written: %w", name, regularfile.WithoutPath(err))
	}
	return nil
}

func createDirectly(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) { // opening it for writing would wait for a reader
		return fmt.Errorf("%s: expected a file that can be written: is a pipe from which nothing reads", name)
	}
	if err != nil {
		return fmt.Errorf("%s: expected a file that can be written: %w", name, regularfile.WithoutPath(err))
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, regularfile.WithoutPath(err))
	}
	return nil
}

// WriteFile writes a file wholly or not at all.
func WriteFile(name string, content []byte) error {
	return Create(name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}
