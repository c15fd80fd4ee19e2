package pictures

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sightline/calibration"
	"sightline/calibration/lens"
)

// CheckOutput reports a file that cannot be written because its directory is missing, so a
// command can fail before it works for a minute.
func CheckOutput(path string) error { return CheckFile("-o", path) }

// CheckFile is CheckOutput for the file of another option.
func CheckFile(option, path string) error {
	if path == "" || path == "-" {
		return fmt.Errorf("%s %q: expected a file's name", option, path)
	}
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("%s %s: the directory %s does not exist", option, path, dir)
	case !info.IsDir():
		return fmt.Errorf("%s %s: %s is not a directory", option, path, dir)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s %s: exists and is not a file", option, path)
	}
	return nil
}

// TellKept prints the name of the backup of a replaced file.
func TellKept(progress io.Writer, path, kept string) {
	if kept != "" {
		fmt.Fprintf(progress, "%s was there: it is kept as %s\n", path, kept)
	}
}

// LoadTable reads a table calibration for a command, and warns if its figures are unverified.
func LoadTable(progress io.Writer, path string) (calibration.Table, error) {
	t, err := calibration.LoadTable(path)
	if err == nil {
		TellDoubts(progress, path, t.Doubts())
	}
	return t, err
}

// LoadLens is LoadTable for a lens file, and returns its integrity.
func LoadLens(progress io.Writer, path string) (calibration.Intrinsics, calibration.Integrity, error) {
	lens, file, err := lens.Load(path)
	if err == nil && file.Integrity == calibration.Edited {
		TellDoubts(progress, path, []string{file.Integrity.String()})
	}
	return lens, file.Integrity, err
}

// TellDoubts prints a warning for each reason not to trust a calibration file.
func TellDoubts(progress io.Writer, path string, doubts []string) {
	for _, d := range doubts {
		fmt.Fprintf(progress, "warning: %s: %s: its figures, and what follows from them, are unverified\n", path, d)
	}
}
