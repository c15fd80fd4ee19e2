package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"

	"sightline/calibration"
	"sightline/calibration/internal/document"
	"sightline/calibration/strictjson"
	"sightline/engine/geom"
)

// Record summarises a calibration's last verification. It has its own file next to the
// table's, so the calibration and its hash stay unchanged.
type Record struct {
	At              time.Time // of the last picture, or of the verification when pictures have no time
	Outcome         Outcome
	WorstError      geom.Length
	WorstNormalised float64
	Places          int
	Covered         float64 // share of the mat
	Calibration     string  // hash of the verified table file
}

// Record returns the record of a verification.
func (v Result) Record(at time.Time, hash string) Record {
	return Record{At: at, Outcome: v.Outcome, WorstError: v.WorstError, WorstNormalised: v.WorstNormalised,
		Places: v.Places, Covered: v.Covered, Calibration: hash}
}

// recordFile is the file form of a record.
type recordFile struct {
	Version     *int      `json:"version"`
	At          time.Time `json:"at"`
	Outcome     string    `json:"outcome"`
	WorstError  float64   `json:"worst_error_mm"`
	WorstSigmas float64   `json:"worst_sigmas"`
	Places      int       `json:"places"`
	Covered     float64   `json:"covered"`
	Calibration string    `json:"calibration"`
}

// RecordPath returns the name of a table file's record: table.json.verify.json.
func RecordPath(table string) string { return table + ".verify.json" }

// SaveRecord writes the record next to the table file. An older record is kept as a
// backup, like a calibration.
func SaveRecord(table string, r Record) error {
	path := RecordPath(table)
	version := 1
	micro := func(v float64) float64 { return math.Round(v*1e6) / 1e6 }
	raw, err := document.MarshalJSON(recordFile{
		Version: &version, At: r.At.UTC().Truncate(time.Second), Outcome: string(r.Outcome),
		WorstError: micro(float64(r.WorstError)), WorstSigmas: micro(r.WorstNormalised),
		Places: r.Places, Covered: micro(r.Covered), Calibration: r.Calibration,
	})
	if err == nil {
		_, err = parseRecord(raw) // what cannot be read back must not be written
	}
	if err == nil {
		_, err = document.Save(path, raw)
	}
	if err != nil {
		return fmt.Errorf("calibration: save verification %s: %w", path, err)
	}
	return nil
}

// LoadRecord reads the record of a table file. It reports false when there is none.
func LoadRecord(table string) (Record, bool, error) {
	path := RecordPath(table)
	raw, err := document.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, false, nil
	}
	var r Record
	if err == nil {
		r, err = parseRecord(raw)
	}
	if err != nil {
		return Record{}, false, fmt.Errorf("calibration: load verification %s: %w", path, err)
	}
	return r, true, nil
}

func parseRecord(raw []byte) (Record, error) {
	var f recordFile
	if err := strictjson.Decode(raw, &f); err != nil {
		return Record{}, err
	}
	sane := func(v float64) bool { return v >= 0 && v <= 1e6 }
	switch {
	case f.Version == nil || *f.Version != 1:
		return Record{}, errors.New("version: expected 1: is it a verification?")
	case f.At.IsZero():
		return Record{}, errors.New("at: missing")
	case f.At.UTC().Year() < 1970 || f.At.UTC().Year() > 9000:
		return Record{}, fmt.Errorf("at: expected a date, got the year %d", f.At.UTC().Year())
	case f.Outcome != string(Pass) && f.Outcome != string(Fail) && f.Outcome != string(Undecided):
		return Record{}, fmt.Errorf("outcome: expected pass, fail or undecided, got %q", f.Outcome)
	case !sane(f.WorstError) || !sane(f.WorstSigmas):
		return Record{}, errors.New("worst_error_mm, worst_sigmas: expected numbers from 0 to a million")
	case f.Places < 1 || !(f.Covered >= 0) || f.Covered > 1:
		return Record{}, errors.New("places, covered: expected at least 1, and 0 to 1")
	case f.Calibration == "":
		return Record{}, errors.New("calibration: missing, expected the hash of the table file")
	}
	return Record{At: f.At, Outcome: Outcome(f.Outcome), WorstError: geom.Length(f.WorstError), WorstNormalised: f.WorstSigmas,
		Places: f.Places, Covered: f.Covered, Calibration: f.Calibration}, nil
}

// Stale says why a verification no longer applies to a calibration; "" if it does. file is the
// table in the file, now the one in use, which may have been registered again since.
func (r Record) Stale(file, now *calibration.Table) string {
	if r.Calibration != file.Hash {
		return "it was made with another calibration file"
	}
	then := *file
	if in, err := then.Intrinsics.Scaled(now.Width, now.Height); err == nil { // pictures of another size
		then.Intrinsics = in
	}
	moved := then.Shift(now)
	if allowed := cornerSigmaOf(file); moved > allowed {
		return fmt.Sprintf("the camera was registered again since, %.1f mm off at the mat's corners", float64(moved))
	}
	return ""
}

// cornerSigmaOf returns the calibration's largest standard deviation, from pose and lens,
// at a corner of the mat.
func cornerSigmaOf(t *calibration.Table) (most geom.Length) {
	b := calibration.NewBudget(*t, calibration.Uncertainty{})
	for _, p := range t.Layout.Corners() {
		if terms, ok := b.At(p, 0); ok {
			most = max(most, calibration.LargestSigma(terms.Named(calibration.TermPose).Add(terms.Named(calibration.TermLens))))
		}
	}
	return most
}

// AnswerJSON is the form of a verification in scenes and answers. See docs/scene.md.
type AnswerJSON struct {
	At          time.Time `json:"at"`
	Outcome     string    `json:"outcome"`
	WorstError  float64   `json:"worst_error_mm"`
	WorstSigmas float64   `json:"worst_sigmas"`
	Places      int       `json:"places"`
	Covered     float64   `json:"covered"`
	Holds       bool      `json:"holds"` // whether it applies to the calibration in use
	Why         string    `json:"why"`   // why it does not; "" when it does
}

// String describes the verification in a line.
func (v *AnswerJSON) String() string {
	if v == nil {
		return "this calibration was never verified"
	}
	s := fmt.Sprintf("verified %s: %s, largest error %.2f mm (%.1f of its sigma) at %d places",
		v.At.Format("2006-01-02 15:04 UTC"), v.Outcome, v.WorstError, v.WorstSigmas, v.Places)
	if !v.Holds {
		s += "; it no longer holds: " + v.Why
	}
	return s
}

// Answer returns the record in the form that accompanies answers.
func (r Record) Answer(file, now *calibration.Table) *AnswerJSON {
	round := func(v float64) float64 { return math.Round(v*1000) / 1000 }
	why := r.Stale(file, now)
	return &AnswerJSON{
		At: r.At.UTC(), Outcome: string(r.Outcome), WorstError: round(float64(r.WorstError)), WorstSigmas: round(r.WorstNormalised),
		Places: r.Places, Covered: round(r.Covered), Holds: why == "", Why: why,
	}
}

// AddTo returns a JSON object with the verification, or null, appended under the key
// "verified".
func AddTo(doc []byte, v *AnswerJSON) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	doc = bytes.TrimRight(doc, " \n")
	if len(doc) < 3 || doc[len(doc)-1] != '}' { // our own documents have a version at least
		return nil, errors.New("calibration: add verification: expected a JSON object")
	}
	out := append([]byte(nil), doc[:len(doc)-1]...)
	return append(append(append(out, `,"verified":`...), raw...), '}'), nil
}
