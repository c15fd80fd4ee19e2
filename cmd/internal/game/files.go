package game

import (
	"fmt"

	"sightline/calibration/strictjson"
)

// keptMost is the size in bytes up to which a kept file is read.
const keptMost = 64 << 10

// readKept reads a small JSON file that the program keeps for itself into v, and reports
// whether there is one. what names it in errors.
func readKept(path, what string, v any) (found bool, err error) {
	if found, err = strictjson.Load(path, keptMost, v); err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return found, err
}

// writeKept writes v as such a file.
func writeKept(path string, v any) error { return strictjson.Save(path, v, 0o600) }
