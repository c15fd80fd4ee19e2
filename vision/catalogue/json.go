package catalogue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// pointFile is a corner of an outline, x and y in mm.
type pointFile [2]float64

// UnmarshalJSON implements json.Unmarshaler. A point without one of its coordinates is
// refused: it is no point on an axis.
func (p *pointFile) UnmarshalJSON(raw []byte) error {
	var v []*float64
	if json.Unmarshal(raw, &v) != nil || len(v) != 2 || v[0] == nil || v[1] == nil {
		return fmt.Errorf("a point: expected [x, y] in mm, got %.40s", raw)
	}
	*p = pointFile{*v[0], *v[1]}
	return nil
}

// plainJSON says in words for people what is wrong with a JSON text.
func plainJSON(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends in the middle")
	case errors.As(err, &kind):
		at := ""
		if kind.Field != "" {
			at = kind.Field + ": "
		}
		return fmt.Errorf("%sexpected %s, got %s", at, jsonWord(kind.Type), kind.Value)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// jsonWord names what JSON calls a type.
func jsonWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a number"
}

// KeyTwice returns a key that stands twice in one object of a JSON text, in whatever case: the
// decoder would keep the last one without a word. It returns "" for a text that is no JSON.
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
