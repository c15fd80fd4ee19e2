// Package strictjson reads JSON that people may have edited. Unlike Go's decoder alone, it
// rejects unknown keys, repeated keys and a second document. It also loads and saves the
// program's own small files.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"strings"

	"sightline/calibration/atomicfile"
	"sightline/calibration/regularfile"
)

// Decode decodes exactly one JSON document into to. Its errors are in plain words without a
// prefix, with the line if the document has several.
func Decode(raw []byte, to any) error {
	if key := KeyTwice(raw); key != "" {
		return Twice(key)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return Plain(raw, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%ssomething follows it", line(raw, d.InputOffset()))
	}
	return nil
}

// Load decodes a file of at most most bytes into to. It reports false, and leaves to
// unchanged, when the file does not exist. Errors name the path.
func Load(path string, most int64, to any) (found bool, err error) {
	raw, err := regularfile.Read(path, most)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	if err := Decode(raw, to); err != nil {
		return false, fmt.Errorf("%s: expected JSON: %w", path, err)
	}
	return true, nil
}

// Save writes v to a file, indented and atomically.
func Save(path string, v any, mode fs.FileMode) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(raw, '\n'), mode)
}

// Plain returns an error of Go's decoder about a JSON text in plain words.
func Plain(raw []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return errors.New("it is empty")
	case errors.Is(err, io.ErrUnexpectedEOF), err.Error() == "unexpected end of JSON input":
		return errors.New("it ends in the middle")
	case errors.As(err, &syntax):
		return fmt.Errorf("%snot JSON: %w", line(raw, syntax.Offset), err)
	case errors.As(err, &kind):
		at := line(raw, kind.Offset)
		if kind.Field != "" {
			at += kind.Field + ": "
		}
		return fmt.Errorf("%sexpected %s, got %s", at, kindWord(kind.Type), kind.Value)
	}
	return errors.New(strings.Replace(strings.TrimPrefix(err.Error(), "json: "), "unknown field ", "unknown key ", 1))
}

// line returns "line N: " for the line, from 1, of a byte in a text of several lines.
func line(raw []byte, offset int64) string {
	if !bytes.Contains(bytes.TrimSpace(raw), []byte("\n")) {
		return ""
	}
	return fmt.Sprintf("line %d: ", 1+bytes.Count(raw[:min(max(offset, 0), int64(len(raw)))], []byte("\n")))
}

// kindWord returns the JSON values of a type in words.
func kindWord(t reflect.Type) string {
	switch k := t.Kind(); {
	case k == reflect.String:
		return "a text"
	case k == reflect.Bool:
		return "true or false"
	case k == reflect.Slice || k == reflect.Array:
		return "a list"
	case k == reflect.Struct || k == reflect.Map:
		return "an object"
	case k >= reflect.Uint && k <= reflect.Uint64:
		return "a whole number that is not negative"
	case k >= reflect.Int && k <= reflect.Int64:
		return "a whole number"
	}
	return "a number"
}

// Twice returns the error for a key that [KeyTwice] found.
func Twice(key string) error {
	return fmt.Errorf("the key %q appears twice in one object: expected once", key)
}

// KeyTwice returns a key that is repeated in one object of a JSON text, in upper or lower case. (The
// decoder would silently keep the last value.) It returns "" if there is none or the text is not JSON.
func KeyTwice(raw []byte) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	type level struct {
		keys  map[string]bool // nil: a list
		value bool            // the next token is a key's value
	}
	var open []level
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		if n := len(open) - 1; n >= 0 && open[n].keys != nil && token != json.Delim('}') {
			if key, ok := token.(string); ok && !open[n].value {
				folded := strings.ToLower(strings.ToUpper(key)) // as the decoder folds it
				if open[n].keys[folded] {
					return key
				}
				open[n].keys[folded], open[n].value = true, true
				continue
			}
			open[n].value = false
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{keys: map[string]bool{}})
		case json.Delim('['):
			open = append(open, level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
	}
}
