package game

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"sightline/calibration/atomicfile"
	"sightline/calibration/regular"
)

// keptMost is the size in bytes up to which a kept file is read.
const keptMost = 64 << 10

// readKept reads a small JSON file that the program keeps for itself into v, and reports
// whether there is one. what names it in errors, and expected is what it should hold.
func readKept(path, what, expected string, v any) (found bool, err error) {
	f, err := regular.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", what, err)
	}
	defer f.Close()
	d := json.NewDecoder(io.LimitReader(f, keptMost))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return false, fmt.Errorf("%s: %s: expected JSON with %s: %w", what, path, expected, err)
	}
	return true, nil
}

// writeKept writes v as such a file.
func writeKept(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(data, '\n'), 0o600)
}
