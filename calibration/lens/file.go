package lens

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"sightline/calibration"
	"sightline/calibration/internal/document"
	"sightline/calibration/strictjson"
)

// FileInfo describes a loaded file.
type FileInfo struct {
	Hash      string // of its content, in hex; see docs/configuration.md
	Integrity calibration.Integrity
}

// Load reads a lens file, JSON or YAML by its ending (.json, .yaml, .yml). An unknown key
// is an error that names it.
func Load(path string) (in calibration.Intrinsics, info FileInfo, err error) {
	isYAML, err := lensFormat(path)
	var raw []byte
	if err == nil {
		raw, err = document.Read(path)
	}
	if err == nil {
		in, err = parse(raw, isYAML)
	}
	if err == nil {
		// OpenCV's files have no hash; theirs is that of the same lens in a file of ours.
		sealed, sealedYAML := raw, isYAML
		if isYAML && isOpenCVFile(raw) {
			sealedYAML = false
			sealed, err = Marshal(in)
		}
		if err == nil {
			info.Integrity, info.Hash, err = calibration.IntegrityOf(sealed, sealedYAML)
		}
		if isYAML && isOpenCVFile(raw) {
			info.Integrity = calibration.Unsealed
		}
	}
	if err != nil {
		return calibration.Intrinsics{}, FileInfo{}, fmt.Errorf("calibration: load lens %s: %w", path, err)
	}
	return in, info, nil
}

// Save is Store without the name of the backup.
func Save(path string, in calibration.Intrinsics) error {
	_, err := Store(path, in)
	return err
}

// Store writes a lens file, JSON or YAML by its ending, atomically. The previous file
// stays in the same directory as a backup, whose name Store returns; "" when there was
// none.
func Store(path string, in calibration.Intrinsics) (kept string, err error) {
	raw, err := formatLens(path, in)
	if err == nil {
		kept, err = document.Save(path, raw)
	}
	if err != nil {
		return "", fmt.Errorf("calibration: save lens %s: %w", path, err)
	}
	return kept, nil
}

func formatLens(path string, in calibration.Intrinsics) ([]byte, error) {
	isYAML, err := lensFormat(path)
	if err != nil {
		return nil, err
	}
	f := calibration.NewLensFile(in)
	if _, err := f.Intrinsics(); err != nil {
		return nil, err
	}
	marshal := document.MarshalJSON
	if isYAML {
		marshal = document.MarshalYAML
	}
	return document.Seal(isYAML, func(hash string) ([]byte, error) {
		f.Hash = hash
		return marshal(f)
	})
}

// CheckPath reports a path whose ending Save does not accept, so a command can fail before
// it works for a minute.
func CheckPath(path string) error {
	if _, err := lensFormat(path); err != nil {
		return fmt.Errorf("calibration: lens file %s: %w", path, err)
	}
	return nil
}

// lensFormat returns the format for a file's ending.
func lensFormat(path string) (isYAML bool, err error) {
	ext := strings.ToLower(filepath.Ext(path))
	if ext == ".json" || document.IsYAML(path) {
		return document.IsYAML(path), nil
	}
	return false, fmt.Errorf("file ending %q: expected .json, .yaml or .yml", ext)
}

func parse(raw []byte, isYAML bool) (calibration.Intrinsics, error) {
	if isYAML && isOpenCVFile(raw) {
		return parseOpenCVLens(raw)
	}
	var f calibration.LensFile
	decode := strictjson.Decode
	if isYAML {
		decode = document.DecodeYAML
	}
	if err := decode(raw, &f); err != nil {
		if !isYAML && document.Kind(raw) == "table" {
			err = errors.New("it is a table calibration, expected a lens file")
		}
		return calibration.Intrinsics{}, err
	}
	return f.Intrinsics()
}

// Marshal returns the content of the lens's JSON file.
func Marshal(in calibration.Intrinsics) ([]byte, error) { return formatLens("lens.json", in) }
