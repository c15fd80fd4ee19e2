package document

import (
	"encoding/json"
	"regexp"
	"strings"
)

// MarshalJSON formats a value: indented, with lists of numbers on one line and a final
// newline.
func MarshalJSON(v any) ([]byte, error) {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(numberList.ReplaceAllFunc(raw, func(list []byte) []byte {
		return []byte(strings.Join(strings.Fields(string(list)), " "))
	}), '\n'), nil
}

// numberList matches an indented JSON list of numbers.
var numberList = regexp.MustCompile(`\[\s+[-+0-9.eE]+(,\s+[-+0-9.eE]+)*\s+\]`)

// Kind distinguishes a table calibration from a lens file by the keys that only one of
// them has, for errors about the wrong kind of file.
func Kind(raw []byte) string {
	var keys struct {
		Camera json.RawMessage `json:"camera"`
		Matrix json.RawMessage `json:"camera_matrix"`
	}
	switch {
	case json.Unmarshal(raw, &keys) != nil:
		return ""
	case keys.Camera != nil:
		return "table"
	case keys.Matrix != nil:
		return "lens"
	}
	return ""
}
