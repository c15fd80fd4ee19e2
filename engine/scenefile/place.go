package scenefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// noPlace is the offset of an error about several places.
const noPlace = -1

// placed is an error with its place: the offset in bytes in the JSON value that is read,
// or noPlace.
type placed struct {
	err    error
	offset int
}

// Error implements error.
func (p *placed) Error() string { return p.err.Error() }

// Unwrap returns the error without its place.
func (p *placed) Unwrap() error { return p.err }

// within takes an error about a value to the value that holds it, offset bytes before.
func within(err error, offset int) error {
	var p *placed
	if !errors.As(err, &p) {
		return &placed{err, offset}
	}
	if p.offset != noPlace {
		p.offset += offset
	}
	return err
}

// reworded returns an error with another text at the same place.
func reworded(err error, text string) error {
	var p *placed
	if errors.As(err, &p) {
		return &placed{errors.New(text), p.offset}
	}
	return errors.New(text)
}

// atLine puts the line and the column, both from 1, before an error about a document.
func atLine(data []byte, err error) error {
	offset := 0
	var p *placed
	var syntax *json.SyntaxError
	switch wrong := json.Unmarshal(data, new(json.RawMessage)); {
	case errors.As(wrong, &syntax):
		offset = int(syntax.Offset) - 1
	case !errors.As(err, &p) || p.offset == noPlace:
		return err
	default:
		offset = p.offset
	}
	before := data[:min(max(offset, 0), len(data))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Errorf("line %d, column %d: %w", line, column, err)
}
