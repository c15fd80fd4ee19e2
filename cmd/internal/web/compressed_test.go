package web_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/web"
)

// Scripts, styles and JSON are sent as gzip to clients that accept it, with the same content, and plain to all others.
func TestScriptsStylesAndCataloguesArePacked(t *testing.T) {
	s := newFakeTable(t).server()
	for _, c := range []struct {
		path, accept string
		packed       bool
	}{
		{"main.js", "gzip, deflate, br, zstd", true},
		{"overlay-page.css", "gzip", true},
		{"texts/de.json", "br;q=1, gzip;q=0.5", true},
		{"main.js", "", false},
		{"main.js", "br", false},
		{"main.js", "gzip;q=0", false},
	} {
		t.Run(c.path+" "+c.accept, func(t *testing.T) {
			want, err := fs.ReadFile(web.Files(), c.path)
			require.NoError(t, err)
			r := httptest.NewRequest(http.MethodGet, "/"+c.path, nil)
			r.Host = "localhost"
			r.Header.Set("Accept-Encoding", c.accept)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			require.Equal(t, http.StatusOK, w.Code)
			assert.Equal(t, c.packed, w.Header().Get("Content-Encoding") == "gzip")
			assert.Contains(t, w.Header().Get("Vary"), "Accept-Encoding")
			body := io.Reader(w.Body)
			if c.packed {
				assert.Less(t, w.Body.Len(), len(want)/2)
				body, err = gzip.NewReader(body)
				require.NoError(t, err)
			}
			got, err := io.ReadAll(body)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}
