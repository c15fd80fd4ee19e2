package web

import (
	"embed"

	"sightline/cmd/internal/openapi"
)

// openAPIFiles are the parts of the OpenAPI 3.1 document, one for each part of the server: a new
// address and its description belong to the same part.
//
//go:embed openapi
var openAPIFiles embed.FS

// openAPI is the whole OpenAPI document.
var openAPI = openapi.Document(openapi.Part{Files: openAPIFiles, Glob: "openapi/*.json"})

// PairAPI describes PairRoutes, and has what every part of a document refers to.
func PairAPI() []openapi.Part {
	return []openapi.Part{{Files: openAPIFiles, Glob: "openapi/common.json"}, {Files: openAPIFiles, Glob: "openapi/pairing.json"}}
}
