// Package commandtest runs commands in tests as a person does, and makes their input files.
package commandtest

import (
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/cmd/internal/terminal"
	"sightline/engine"
	"sightline/vision/tablesim"
)

// Run returns a function that runs a command line of a struct of commands and returns its exit
// code.
func Run(commands any) func(args []string) int {
	return func(args []string) int {
		return terminal.Run(args, func(exit func(code int)) *kong.Kong { return terminal.NewParser(commands, exit) })
	}
}

// Call runs a command line and returns its exit code and its output.
func Call(t *testing.T, run func(args []string) int, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	oldOut, oldErr := os.Stdout, os.Stderr
	defer func() { os.Stdout, os.Stderr = oldOut, oldErr }()
	outFile, err := os.CreateTemp(t.TempDir(), "out")
	ok(t, err)
	errFile, err := os.CreateTemp(t.TempDir(), "err")
	ok(t, err)
	os.Stdout, os.Stderr = outFile, errFile
	code = run(args)
	read := func(f *os.File) string {
		_, err := f.Seek(0, io.SeekStart)
		ok(t, err)
		b, err := io.ReadAll(f)
		ok(t, err)
		ok(t, f.Close())
		return string(b)
	}
	return code, read(outFile), read(errFile)
}

// LastLine returns the last line of stderr, which is the error of a failed command.
func LastLine(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	return lines[len(lines)-1]
}

// WritePNG writes a picture file, as fast as can be.
func WritePNG(t *testing.T, path string, m image.Image) {
	t.Helper()
	f, err := os.Create(path)
	ok(t, err)
	fast := png.Encoder{CompressionLevel: png.BestSpeed}
	ok(t, fast.Encode(f, m))
	ok(t, f.Close())
}

// EmptyTable renders an empty simulated table at 1280 × 720 into dir and returns its picture and lens files, and the
// true camera.
func EmptyTable(t *testing.T, dir string, layout calibration.Layout) (picture, lensFile string, cam calibration.Camera) {
	t.Helper()
	table := &tablesim.Table{
		Camera: tablesim.DefaultCamera(1280, 720), Layout: layout,
		Scene: engine.Scene{MatWidth: layout.Width, MatHeight: layout.Height}, Look: tablesim.DefaultLook(), Seed: 3,
	}
	f, _, err := table.Render()
	ok(t, err)
	picture, lensFile = filepath.Join(dir, "table.png"), filepath.Join(dir, "lens.json")
	WritePNG(t, picture, f.Gray)
	ok(t, lens.Save(lensFile, table.Camera.Intrinsics))
	return picture, lensFile, table.Camera
}

// ok fails the test on an error.
func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
