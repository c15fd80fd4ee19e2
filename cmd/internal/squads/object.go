package squads

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// object is a JSON object with undecoded values. at is its place: "pilots[2]", or "" for the whole
// file.
type object struct {
	at   string
	keys map[string]json.RawMessage
}

// path returns the path of a key: "pilots[2].id".
func (o object) path(key string) string {
	if o.at == "" {
		return key
	}
	return o.at + "." + key
}

// readObject parses an object. Unlike package json it rejects repeated keys and does not accept
// "Pilots" for "pilots".
func readObject(at string, raw []byte) (object, error) {
	o := object{at, map[string]json.RawMessage{}}
	if !isKind(raw, '{') {
		return o, fmt.Errorf("%s: expected an object in braces, got %s", cmp.Or(at, "the file"), kindOf(raw))
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return o, err
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return o, err
		}
		key, _ := t.(string)
		if _, twice := o.keys[key]; twice {
			return o, fmt.Errorf("%s: is repeated", o.path(short(key)))
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return o, err
		}
		o.keys[key] = value
	}
	return o, nil
}

// text returns a key's text; "" if it is absent or null.
func (o object) text(key string) (string, error) {
	raw := o.keys[key]
	if raw == nil || isNull(raw) {
		return "", nil
	}
	var s string
	if !isKind(raw, '"') {
		return "", fmt.Errorf("%s: expected a text, got %s", o.path(key), kindOf(raw))
	}
	err := json.Unmarshal(raw, &s)
	return s, err
}

// id returns a key's text as an id: not empty, not too long, without blanks or control characters.
func (o object) id(key string) (string, error) {
	s, err := o.text(key)
	if err != nil {
		return "", err
	}
	return s, checkID(o.path(key), s, o.keys[key] == nil)
}

// maxID is more than twice the longest id of the data.
const maxID = 100

func checkID(at, s string, missing bool) error {
	switch {
	case missing:
		return fmt.Errorf("%s: is missing", at)
	case s == "":
		return fmt.Errorf("%s: expected an id, got nothing", at)
	case len(s) > maxID:
		return fmt.Errorf("%s: expected an id of at most %d bytes, got %q", at, maxID, short(s))
	case strings.ContainsFunc(s, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) || r == 0xFFFD }):
		return fmt.Errorf("%s: expected an id without blanks, got %q", at, short(s))
	}
	return nil
}

// list returns a key's list; nil if it is absent or null.
func (o object) list(key string) ([]json.RawMessage, error) {
	raw := o.keys[key]
	if raw == nil || isNull(raw) {
		return nil, nil
	}
	var all []json.RawMessage
	if !isKind(raw, '[') {
		return nil, fmt.Errorf("%s: expected a list in brackets, got %s", o.path(key), kindOf(raw))
	}
	err := json.Unmarshal(raw, &all)
	return all, err
}

// ids returns a key's list of ids.
func (o object) ids(key string) ([]string, error) {
	entries, err := o.list(key)
	if err != nil {
		return nil, err
	}
	var ids []string
	for i, raw := range entries {
		at := fmt.Sprintf("%s[%d]", o.path(key), i)
		var s string
		if !isKind(raw, '"') {
			return nil, fmt.Errorf("%s: expected an id in quotes, got %s", at, kindOf(raw))
		}
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, err
		}
		if err := checkID(at, s, false); err != nil {
			return nil, err
		}
		ids = append(ids, s)
	}
	return ids, nil
}

func isKind(raw []byte, first byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && raw[0] == first
}

func isNull(raw []byte) bool { return string(bytes.TrimSpace(raw)) == "null" }

// kindOf names the kind of a JSON value.
func kindOf(raw []byte) string {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0:
		return "nothing"
	case raw[0] == '{':
		return "an object"
	case raw[0] == '[':
		return "a list"
	case raw[0] == '"':
		return "a text"
	case string(raw) == "null":
		return "null"
	case string(raw) == "true" || string(raw) == "false":
		return string(raw)
	}
	return "the number " + short(string(raw))
}

// short cuts a value of the file to a length that fits on one line of an error.
func short(s string) string {
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// wellFormed returns an error that says where a file is not JSON.
func wellFormed(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	var v json.RawMessage
	err := d.Decode(&v)
	if err == nil {
		if rest := bytes.TrimSpace(data[d.InputOffset():]); len(rest) > 0 {
			return fmt.Errorf("line %d: expected the end of the file after the squad", lineOf(data, d.InputOffset()))
		}
		return nil
	}
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("expected a squad in JSON, got nothing")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("line %d: the file ends within the squad", lineOf(data, int64(len(data))))
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: expected JSON: %w", lineOf(data, syntax.Offset), err)
	}
	return err
}

func lineOf(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(0, offset), int64(len(data)))], []byte("\n"))
}
