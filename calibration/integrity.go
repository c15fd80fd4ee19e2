package calibration

import (
	"errors"
	"fmt"
	"sightline/calibration/internal/document"
	"strings"
)

// Integrity says whether a calibration file still says what the program wrote.
type Integrity int

// The states of a file. Only Intact means that its figures were measured.
const (
	Unsealed Integrity = iota // it holds no hash: an older file, or one from elsewhere
	Intact                    // its hash fits its content
	Edited                    // its hash does not fit: changed by hand since it was made
)

// String says the state for people.
func (i Integrity) String() string {
	switch i {
	case Intact:
		return "intact"
	case Edited:
		return "changed by hand since it was made"
	}
	return "without a hash: made by an older program or elsewhere"
}

// key returns the state as a table's file holds that of its lens; "" when unknown.
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

// Doubts returns why the table's figures are unverified, each as a clause about its
// file; nil when nothing speaks against them.
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

// State says for people whether the table's file can be trusted: its Doubts, or its
// Integrity when there are none.
func (t *Table) State() string {
	if d := t.Doubts(); len(d) > 0 {
		return strings.Join(d, "; ")
	}
	return t.Integrity.String()
}

// IntegrityOf compares the hash that a file states with its content.
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
