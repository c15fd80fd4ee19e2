package main

import (
	"io"

	"sightline/cmd/internal/sheet"
)

// writeWhole writes a file as a whole or not at all.
func writeWhole(name string, content []byte) error {
	return sheet.Create(name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}
