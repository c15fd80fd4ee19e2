package projector

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sightline/calibration"
	"sightline/calibration/strictjson"
)

// kept is the set-up in its file.
type kept struct {
	Version int             `json:"version"`
	Map     Map             `json:"map"`
	Errors  Errors          `json:"errors"`
	Fitted  int             `json:"fitted_tags"`
	Delay   int             `json:"delay_ms"` // from the page to the camera's picture
	Made    time.Time       `json:"made"`
	Off     bool            `json:"off"`            // switched off
	Void    string          `json:"void,omitempty"` // why it is no longer valid, a sentence; "": it is
	Table   json.RawMessage `json:"table"`          // the calibration of the set-up

	table calibration.Table // Table, parsed
}

const (
	keptVersion = 1
	keptMost    = 256 << 10
)

// load reads the stored set-up; nil if there is none.
func load(path string) (*kept, error) {
	var k kept
	found, err := strictjson.Load(path, keptMost, &k)
	switch {
	case err != nil:
		return nil, fmt.Errorf("projector: %w", err)
	case !found:
		return nil, nil
	}
	if err := k.check(); err != nil {
		return nil, fmt.Errorf("projector: %s: %w", path, err)
	}
	return &k, nil
}

// check reads the table, and returns an error for what this program never writes.
func (k *kept) check() (err error) {
	switch {
	case k.Version != keptVersion:
		return fmt.Errorf("version: expected %d, got %d", keptVersion, k.Version)
	case !(k.Errors.Worst >= 0 && k.Errors.Worst <= worstMost && k.Errors.RMS >= 0 && k.Errors.RMS <= rmsMost):
		return fmt.Errorf("errors: expected at most %g mm rms and %g mm at worst, got %g and %g", rmsMost, worstMost, k.Errors.RMS,
			k.Errors.Worst)
	case k.Delay < int(delayLeast.Milliseconds()) || k.Delay > int(delayKept.Milliseconds()):
		return fmt.Errorf("delay_ms: expected %d to %d, got %d", delayLeast.Milliseconds(), delayKept.Milliseconds(), k.Delay)
	}
	if err := k.Map.check(); err != nil {
		return err
	}
	k.table, err = calibration.ParseTableFile(k.Table)
	return err
}

// save writes the file atomically.
func (k *kept) save(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return strictjson.Save(path, k, 0o644)
}

// shiftMost is how far a place on the mat may seem to move when a camera registers again. The
// markers determine it to some tenths of a millimetre (docs/calibration.md). A push against the
// mat, the camera or the projector's own stand moves it further.
const shiftMost = 0.5 // mm

// voided returns why the map is invalid for the present registration; "": it is valid.
func (k *kept) voided(now *calibration.Table) string {
	if k.table.Layout.Width != now.Layout.Width || k.table.Layout.Height != now.Layout.Height {
		return "The mat has another size than the one that the projector was set up with. Set it up again."
	}
	if k.table.Width != now.Width || k.table.Height != now.Height {
		return "The camera's pictures have another size than when the projector was set up. Set it up again."
	}
	if shift := k.table.Shift(now); !(float64(shift) <= shiftMost) {
		return fmt.Sprintf("The camera or the mat has moved by %.1f mm since the projector was set up. Set it up again.", float64(shift))
	}
	return ""
}
