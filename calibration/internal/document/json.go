package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// DecodeJSON decodes exactly one JSON document without unknown keys.
func DecodeJSON(raw []byte, to any) error { return decodeJSONDocument(raw, to, true) }

// DecodeLoose decodes exactly one JSON document and ignores unknown keys.
func DecodeLoose(raw []byte, to any) error { return decodeJSONDocument(raw, to, false) }

func decodeJSONDocument(raw []byte, to any, strict bool) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if strict {
		d.DisallowUnknownFields()
	}
	err := d.Decode(to)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("the file is empty, expected JSON")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the file is cut off: its JSON does not end")
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: not JSON: %w", lineOf(raw, syntax.Offset), err)
	case errors.As(err, &kind):
		if kind.Field == "" {
			return fmt.Errorf("line %d: expected %s, got %s", lineOf(raw, kind.Offset), kindName(kind.Type.String()), kind.Value)
		}
		return fmt.Errorf("line %d: key %q: expected %s, got %s", lineOf(raw, kind.Offset), kind.Field, kindName(kind.Type.String()), kind.Value)
	case err != nil:
		if key, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return fmt.Errorf("unknown key %s", key)
		}
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("line %d: something follows the JSON document", lineOf(raw, d.InputOffset()))
	}
	return nil
}

// kindName names a Go type in plain words.
func kindName(t string) string {
	switch {
	case strings.HasPrefix(t, "[]"):
		return "a list"
	case t == "int", strings.HasPrefix(t, "uint"):
		return "a whole number"
	case t == "float64":
		return "a number"
	case t == "string":
		return "a text"
	}
	return "an object"
}

// lineOf returns the line, from 1, of a byte offset.
func lineOf(raw []byte, offset int64) int {
	return 1 + bytes.Count(raw[:min(max(offset, 0), int64(len(raw)))], []byte("\n"))
}

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
	switch err := DecodeLoose(raw, &keys); {
	case err != nil:
		return ""
	case keys.Camera != nil:
		return "table"
	case keys.Matrix != nil:
		return "lens"
	}
	return ""
}
