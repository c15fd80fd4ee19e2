package web

import (
	"embed"

	"sightline/cmd/internal/openapi"
)

// openAPIFiles are the parts of the OpenAPI 3.1 document: one for each part of the
// server, so that who adds an address describes it in the same part.
//
//go:embed openapi
var openAPIFiles embed.FS

// openAPI is the whole document.
var openAPI = openapi.Document(openapi.Part{Files: openAPIFiles, Glob: "openapi/*.json"})

// PairAPI describes PairRoutes, and what every part of a document refers to.
func PairAPI() []openapi.Part {
	return []openapi.Part{{Files: openAPIFiles, Glob: "openapi/common.json"}, {Files: openAPIFiles, Glob: "openapi/pairing.json"}}
}
