package calibration

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
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

// hashKey is the key that holds the hash of everything else in the file.
const hashKey = "hash"

// hashOfFile returns the hash of what a calibration file says: SHA-256, in hex, of
// its content as compact JSON with sorted keys, without the hash itself. Spaces, the
// order of keys and the choice of JSON or YAML do not change it; every figure does.
// A file that says nothing (a foreign one) has the hash of its bytes.
func hashOfFile(raw []byte, isYAML bool) string {
	if _, sum, err := readHash(raw, isYAML); err == nil {
		return sum
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// readHash returns the hash that the file states, "" for none, and the one that its
// content has.
func readHash(raw []byte, isYAML bool) (stated, actual string, err error) {
	var content map[string]any
	decode := json.Unmarshal
	if isYAML {
		decode = yaml.Unmarshal
	}
	if err := decode(raw, &content); err != nil {
		return "", "", err
	}
	stated, _ = content[hashKey].(string)
	delete(content, hashKey)
	plainJSON, err := json.Marshal(evened(content))
	if err != nil {
		return "", "", err
	}
	sum := sha256.Sum256(plainJSON)
	return stated, hex.EncodeToString(sum[:]), nil
}

// evened returns a decoded value with every number as a float64 and without negative
// zeros, so that JSON and YAML give the same.
func evened(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = evened(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = evened(x)
		}
		return out
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case float64:
		if v == 0 {
			return 0.0 // without its sign
		}
	}
	return v
}

// integrityOf compares the hash that a file states with its content.
func integrityOf(raw []byte, isYAML bool) (Integrity, string, error) {
	stated, actual, err := readHash(raw, isYAML)
	switch {
	case err != nil:
		return Unsealed, "", errors.New(strings.Join(strings.Fields(err.Error()), " "))
	case stated == "":
		return Unsealed, actual, nil
	case isYAML && !bytes.HasSuffix(bytes.TrimRight(raw, "\r\n"), []byte(yamlEnd)):
		// YAML has no closing bracket: this line is how a whole file is told from one
		// that lost its last keys.
		return Unsealed, "", fmt.Errorf("the file is cut off: expected it to end with a line %q", yamlEnd)
	case stated != actual:
		return Edited, actual, nil
	}
	return Intact, actual, nil
}

// yamlEnd ends a YAML document.
const yamlEnd = "..."

// FileInfo says what a loaded file is.
type FileInfo struct {
	Hash      string // of what it says, in hex; see docs/configuration.md
	Integrity Integrity
}

// isYAMLName tells YAML from anything else by the file's ending.
func isYAMLName(path string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, strings.ToLower(filepath.Ext(path)))
}
