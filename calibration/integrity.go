package calibration

import (
	"errors"
	"fmt"
	"sightline/calibration/internal/document"
	"strings"
)

// Integrity says whether a calibration file is as the program wrote it.
type Integrity int

// The states of a file. Only the figures of an Intact file are known to be measured.
const (
	Unsealed Integrity = iota // without a hash: an older file, or one from elsewhere
	Intact                    // the hash fits the content
	Edited                    // the hash does not fit: changed by hand since it was made
)

// String returns the state in words.
func (i Integrity) String() string {
	switch i {
	case Intact:
		return "intact"
	case Edited:
		return "changed by hand since it was made"
	}
	return "without a hash: made by an older program or elsewhere"
}

// key returns the state of the lens file as a table's file stores it; "" when unknown.
func (i Integrity) key() string {
	switch i {
	case Intact:
		return "intact"
	case Edited:
		return "edited"
	}
	return ""
}

// parseIntegrity reads what key wrote.
func parseIntegrity(s string) (Integrity, error) {
	for _, i := range [...]Integrity{Unsealed, Intact, Edited} {
		if s == i.key() {
			return i, nil
		}
	}
	return Unsealed, fmt.Errorf("expected intact or edited, got %q", s)
}

// Doubts returns the reasons not to trust the table's figures, each a clause about its
// file; nil when there is none.
func (t *Table) Doubts() (out []string) {
	if t.Integrity == Edited {
		out = append(out, Edited.String())
	}
	if t.LensIntegrity == Edited {
		out = append(out, "made with a lens file that was changed by hand")
	}
	if t.Contradiction != "" {
		out = append(out, t.Contradiction)
	}
	return out
}

// State says in words whether the table's file can be trusted: its Doubts, or its
// Integrity when there are none.
func (t *Table) State() string {
	if d := t.Doubts(); len(d) > 0 {
		return strings.Join(d, "; ")
	}
	return t.Integrity.String()
}

// IntegrityOf compares a file's hash with its content.
func IntegrityOf(raw []byte, isYAML bool) (Integrity, string, error) {
	stated, actual, err := document.Hashes(raw, isYAML)
	switch {
	case err != nil:
		return Unsealed, "", errors.New(strings.Join(strings.Fields(err.Error()), " "))
	case stated == "":
		return Unsealed, actual, nil
	case isYAML && !document.IsWholeYAML(raw):
		return Unsealed, "", fmt.Errorf("the file is cut off: expected it to end with a line %q", document.YAMLEnd)
	case stated != actual:
		return Edited, actual, nil
	}
	return Intact, actual, nil
}
