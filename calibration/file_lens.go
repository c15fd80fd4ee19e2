package calibration

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// FileInfo says what a loaded file is.
type FileInfo struct {
	Hash      string // of what it says, in hex; see docs/configuration.md
	Integrity Integrity
}

// LoadLens reads a lens file, JSON or YAML by its ending (.json, .yaml, .yml). An
// unknown key is an error that names it.
func LoadLens(path string) (Intrinsics, error) {
	in, _, err := LoadLensFile(path)
	return in, err
}

// LoadLensFile is LoadLens, and says whether the file is as the program wrote it.
func LoadLensFile(path string) (in Intrinsics, info FileInfo, err error) {
	isYAML, err := lensFormat(path)
	var raw []byte
	if err == nil {
		raw, err = readFile(path)
	}
	if err == nil {
		in, err = parseLens(raw, isYAML)
	}
	if err == nil {
		// OpenCV's files hold no hash; theirs is that of the same lens in a file of ours.
		sealed, sealedYAML := raw, isYAML
		if isYAML && isOpenCVFile(raw) {
			sealedYAML = false
			sealed, err = MarshalLens(in)
		}
		if err == nil {
			info.Integrity, info.Hash, err = integrityOf(sealed, sealedYAML)
		}
		if isYAML && isOpenCVFile(raw) {
			info.Integrity = Unsealed
		}
	}
	if err != nil {
		return Intrinsics{}, FileInfo{}, fmt.Errorf("calibration: load lens %s: %w", path, err)
	}
	return in, info, nil
}

// SaveLens writes a lens file, JSON or YAML by its ending: StoreLens for those who do
// not ask under which name an older file is kept.
func SaveLens(path string, in Intrinsics) error {
	_, err := StoreLens(path, in)
	return err
}

// StoreLens writes a lens file, JSON or YAML by its ending, whole or not at all. What
// the file held before is kept in the same directory; StoreLens returns its new name,
// or "" when there was nothing to keep.
func StoreLens(path string, in Intrinsics) (kept string, err error) {
	raw, err := formatLens(path, in)
	if err == nil {
		kept, err = saveFile(path, raw)
	}
	if err != nil {
		return "", fmt.Errorf("calibration: save lens %s: %w", path, err)
	}
	return kept, nil
}

func formatLens(path string, in Intrinsics) ([]byte, error) {
	isYAML, err := lensFormat(path)
	if err != nil {
		return nil, err
	}
	f := newLensFile(in)
	if _, err := f.lens(); err != nil {
		return nil, err
	}
	marshal := marshalJSON
	if isYAML {
		marshal = marshalYAML
	}
	return sealed(isYAML, func(hash string) ([]byte, error) {
		f.Hash = hash
		return marshal(f)
	})
}

// CheckLensPath reports a path that SaveLens could not write to because of its
// ending, so that a command can say so before it works for a minute.
func CheckLensPath(path string) error {
	if _, err := lensFormat(path); err != nil {
		return fmt.Errorf("calibration: lens file %s: %w", path, err)
	}
	return nil
}

// lensFormat tells YAML from JSON by the file's ending.
func lensFormat(path string) (isYAML bool, err error) {
	ext := strings.ToLower(filepath.Ext(path))
	if ext == ".json" || isYAMLName(path) {
		return isYAMLName(path), nil
	}
	return false, fmt.Errorf("file ending %q: expected .json, .yaml or .yml", ext)
}

func parseLens(raw []byte, isYAML bool) (Intrinsics, error) {
	if isYAML && isOpenCVFile(raw) {
		return parseOpenCVLens(raw)
	}
	var f lensFile
	decode := decodeJSON
	if isYAML {
		decode = decodeYAML
	}
	if err := decode(raw, &f); err != nil {
		if !isYAML && kindOf(raw) == "table" {
			err = errors.New("it is a table calibration, expected a lens file")
		}
		return Intrinsics{}, err
	}
	return f.lens()
}

// MarshalLens returns the lens as its JSON file would hold it.
func MarshalLens(in Intrinsics) ([]byte, error) { return formatLens("lens.json", in) }
