package game

import (
	"fmt"

	"sightline/calibration/strictjson"
)

// fileMost is the largest size of a stored file, in bytes.
const fileMost = 64 << 10

// readFile reads a JSON file that the program stored into v, and reports whether there is one.
// what names it in errors.
func readFile(path, what string, v any) (found bool, err error) {
	if found, err = strictjson.Load(path, fileMost, v); err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return found, err
}

// writeFile writes v for readFile.
func writeFile(path string, v any) error { return strictjson.Save(path, v, 0o600) }
