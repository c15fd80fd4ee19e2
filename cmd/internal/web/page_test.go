package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"

	"sightline/cmd/internal/web"
)

// TestAPageBeginsWithItsHead: the head has the page's title, module and style sheets, and a page
// that asks for it wrongly is an error, not half a page.
func TestAPageBeginsWithItsHead(t *testing.T) {
	get := func(source string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		files := fstest.MapFS{"x.html": {Data: []byte(source)}, "x.js": {Data: []byte(source)}}
		web.Static(files, "x.html")(w, httptest.NewRequest(http.MethodGet, "/x", nil))
		return w
	}
	w := get(`{{head "Ships & more" "/x.js" "/a.css" "/b.css"}}` + "\n<main></main>\n</body>\n</html>\n")
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark light">
<title>Ships &amp; more</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<script src="/theme.js"></script>
<link rel="stylesheet" href="/tokens.css">
<link rel="stylesheet" href="/a.css">
<link rel="stylesheet" href="/b.css">
<script type="module" src="/texts.js"></script>
<script type="module" src="/x.js"></script>
</head>
<body>
<main></main>
</body>
</html>
`, w.Body.String())
	assert.Equal(t, http.StatusInternalServerError, get(`{{head "a title only"}}`).Code)
	assert.Equal(t, http.StatusInternalServerError, get(`{{head "unclosed"`).Code)
}
