package texts

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const english = `<!doctype html>
<html lang="en"><head><title>The table</title><script>const the = "The table";</script></head>
<body><p title="Close">
  The   table
  <b>&amp; more</b></p><noscript><i>Close</i></noscript><img alt="The table" src="x.png"></body></html>`

func load(t *testing.T) *Languages {
	l, err := Load(fstest.MapFS{"texts/de.json": {Data: []byte(`{"The table":"Der <Tisch>","Close":"Schließen","& more":"& mehr"}`)}})
	require.NoError(t, err)
	return l
}

func TestAPageIsTranslatedAndItsScriptsAreNot(t *testing.T) {
	got := string(load(t).catalogues["de"].Page([]byte(english), "de"))
	assert.Equal(t, `<!doctype html>
<html lang="de"><head><title>Der &lt;Tisch&gt;</title><script>const the = "The table";</script></head>
<body><p title="Schließen">
  Der &lt;Tisch&gt;
  <b>&amp; mehr</b></p><noscript><i>Schließen</i></noscript><img alt="Der &lt;Tisch&gt;" src="x.png"></body></html>`, got)
	assert.Equal(t, []string{"The table", "Close", "& more"}, Of([]byte(english)))
}

func TestTheBrowserChoosesTheLanguage(t *testing.T) {
	l := load(t)
	for header, want := range map[string]string{
		"": "en", "de": "de", "de-AT,de;q=0.9,en;q=0.5": "de", "en-GB,en;q=0.9,de;q=0.8": "en", "fr,de;q=0.7": "de", "fr": "en",
		"*": "en", "nonsense;;;": "en", "de;q=0": "en",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Language", header)
		assert.Equal(t, want, l.Of(r), header)
	}
}

func TestOnlyPagesAreTranslated(t *testing.T) {
	l := load(t)
	for path, c := range map[string]struct{ kind, want string }{
		"/":                    {"text/html; charset=utf-8", "Schließen"},
		"/main.js":             {"text/javascript", `"Close"`},
		"/api/rulings/1/x.htm": {"text/html", `"Close"`},
	} {
		handler := l.Translated(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.kind)
			_, _ = fmt.Fprint(w, english)
		}))
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Accept-Language", "de")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		assert.Contains(t, w.Body.String(), c.want, path)
	}
}

// A stream's events go out one by one.
func TestStreamsPassAtOnce(t *testing.T) {
	handler := load(t).Translated(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, "data: 1\n\n")
		assert.NoError(t, http.NewResponseController(w).Flush())
	}))
	r := httptest.NewRequest(http.MethodGet, "/events", nil)
	r.Header.Set("Accept-Language", "de")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	assert.True(t, w.Flushed)
	assert.Equal(t, "data: 1\n\n", w.Body.String())
}

func TestACatalogueThatIsNone(t *testing.T) {
	_, err := Load(fstest.MapFS{"texts/de.json": {Data: []byte(`[]`)}})
	assert.ErrorContains(t, err, "texts/de.json")
	_, err = Load(fstest.MapFS{"texts/klingon!.json": {Data: []byte(`{}`)}})
	assert.ErrorContains(t, err, "expected a language's name")
}

func FuzzPage(f *testing.F) {
	f.Add(english)
	f.Add("<p title='Close'>The table</p><scr")
	c := Catalogue{"The table": "Der <Tisch>", "Close": `"zu"`}
	f.Fuzz(func(t *testing.T, in string) {
		c.Page([]byte(in), "de")
		if got := (Catalogue{}).Page([]byte(in), "en"); !assert.NotNil(t, append(got, 0)) {
			t.Fail()
		}
	})
}

func TestATextIsSaidWithItsFigures(t *testing.T) {
	c := Catalogue{"{} of {} mm": "von {2} mm {1}"}
	assert.Equal(t, "von 0,50 mm 1,25", c.Say("{} of {} mm", "1.25", "0.50"))
	assert.Equal(t, "1.25 of 0.50 mm", Catalogue(nil).Say("{} of {} mm", "1.25", "0.50"))
	assert.Equal(t, "what is 0,5", c.Say("what is {}", "0.5"), "which it does not hold")
}
