// Package openapi puts the parts of an OpenAPI 3.1 document together and serves it.
package openapi

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"sync"
)

// Part is a set of a document's files.
type Part struct {
	Files fs.FS
	Glob  string // "openapi/*.json"
}

// Document merges the files of the parts when it is first asked for. Two files may describe the
// same address or component, but must not set the same key of it.
func Document(parts ...Part) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		whole := map[string]any{}
		for _, p := range parts {
			names, err := fs.Glob(p.Files, p.Glob)
			if err != nil {
				return nil, fmt.Errorf("openapi: %w", err)
			}
			for _, name := range names {
				if err := add(whole, p.Files, name); err != nil {
					return nil, fmt.Errorf("openapi: %s: %w", name, err)
				}
			}
		}
		return json.Marshal(whole)
	})
}

// add merges a file into a document.
func add(whole map[string]any, files fs.FS, name string) error {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	var part map[string]any
	if err := json.Unmarshal(data, &part); err != nil {
		return err
	}
	return merge(whole, part)
}

// merge adds part to whole. It returns an error if both set the same key, except to objects, which it merges.
func merge(whole, part map[string]any) error {
	for key, value := range part {
		there, known := whole[key]
		if !known {
			whole[key] = value
			continue
		}
		a, ok := there.(map[string]any)
		b, both := value.(map[string]any)
		if !ok || !both {
			return fmt.Errorf("%q is described twice", key)
		}
		if err := merge(a, b); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// Handler answers with a document.
func Handler(document func() ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		data, err := document()
		if err != nil {
			http.Error(w, "The description cannot be read.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.oai.openapi+json;version=3.1; charset=utf-8")
		_, _ = w.Write(data)
	}
}
