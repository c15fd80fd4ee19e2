package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"sync"
)

// openAPIFiles are the parts of the OpenAPI 3.1 document: one for each part of the
// server, so that who adds an address describes it in the same part.
//
//go:embed openapi
var openAPIFiles embed.FS

// openAPI is the whole document.
var openAPI = sync.OnceValues(func() ([]byte, error) {
	whole := map[string]any{}
	names, err := fs.Glob(openAPIFiles, "openapi/*.json")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := openAPIFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var part map[string]any
		if err := json.Unmarshal(data, &part); err != nil {
			return nil, fmt.Errorf("web: %s: %w", name, err)
		}
		if err := merge(whole, part); err != nil {
			return nil, fmt.Errorf("web: %s: %w", name, err)
		}
	}
	return json.Marshal(whole)
})

// merge adds what stands in part to whole; the same place may not say two things.
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

// describe answers with the OpenAPI document.
func (s *Server) describe(w http.ResponseWriter, _ *http.Request) {
	data, err := openAPI()
	if err != nil {
		http.Error(w, "The description cannot be read.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.oai.openapi+json;version=3.1; charset=utf-8")
	_, _ = w.Write(data)
}
