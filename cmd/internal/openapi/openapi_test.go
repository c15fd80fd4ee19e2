package openapi_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/openapi"
)

func TestPartsMakeOneDocument(t *testing.T) {
	files := fstest.MapFS{
		"own/a.json":   {Data: []byte(`{"openapi":"3.1.0","paths":{"/x":{"get":{}}}}`)},
		"own/b.json":   {Data: []byte(`{"paths":{"/x":{"post":{}},"/y":{"get":{}}}}`)},
		"other/c.json": {Data: []byte(`{"paths":{"/z":{"get":{}}}}`)},
		"twice.json":   {Data: []byte(`{"paths":{"/y":{"get":{"summary":"again"}}},"openapi":"3.0.0"}`)},
		"broken.json":  {Data: []byte(`{`)},
	}
	answer := httptest.NewRecorder()
	document := openapi.Document(openapi.Part{Files: files, Glob: "own/*.json"}, openapi.Part{Files: files, Glob: "other/c.json"})
	openapi.Handler(document)(answer, httptest.NewRequest(http.MethodGet, "/api/openapi.json", nil))
	assert.JSONEq(t, `{"openapi":"3.1.0","paths":{"/x":{"get":{},"post":{}},"/y":{"get":{}},"/z":{"get":{}}}}`, answer.Body.String())
	assert.Contains(t, answer.Header().Get("Content-Type"), "application/vnd.oai.openapi+json")
	for name, want := range map[string]string{"twice.json": `"openapi" is described twice`, "broken.json": "broken.json", "[": "syntax error"} {
		_, err := openapi.Document(openapi.Part{Files: files, Glob: "own/*.json"}, openapi.Part{Files: files, Glob: name})()
		require.ErrorContains(t, err, want)
		answer := httptest.NewRecorder()
		openapi.Handler(func() ([]byte, error) { return nil, err })(answer, nil)
		assert.Equal(t, http.StatusInternalServerError, answer.Code)
	}
}
