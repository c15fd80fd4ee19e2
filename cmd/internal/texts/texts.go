// Package texts serves the pages in the browser's language. The pages are written in English; a
// catalogue has their texts in another language. What a catalogue lacks stays English.
package texts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/text/language"
)

// Catalogue maps English texts to another language. {} in a text is a placeholder; {1} in its
// translation is the first of them.
type Catalogue map[string]string

// Languages are the languages of the pages, English first, with their catalogues.
type Languages struct {
	matcher    language.Matcher
	names      []string
	catalogues map[string]Catalogue
}

// Load reads the catalogues texts/de.json … of a file system.
func Load(files fs.FS) (*Languages, error) {
	l := &Languages{names: []string{"en"}, catalogues: map[string]Catalogue{}}
	tags := []language.Tag{language.English}
	paths, err := fs.Glob(files, "texts/*.json")
	if err != nil {
		return nil, fmt.Errorf("texts: %w", err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(strings.TrimPrefix(path, "texts/"), ".json")
		tag, err := language.Parse(name)
		if err != nil {
			return nil, fmt.Errorf("texts: %s: expected a language's name: %w", path, err)
		}
		data, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, fmt.Errorf("texts: %w", err)
		}
		var c Catalogue
		if err := json.Unmarshal(data, &c); err != nil {
			return nil, fmt.Errorf("texts: %s: %w", path, err)
		}
		l.names, tags, l.catalogues[name] = append(l.names, name), append(tags, tag), c
	}
	l.matcher = language.NewMatcher(tags)
	return l, nil
}

// Of returns the available language that a browser prefers: "en", "de".
func (l *Languages) Of(r *http.Request) string {
	wanted, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil || len(wanted) == 0 {
		return l.names[0]
	}
	_, i, confidence := l.matcher.Match(wanted...)
	if confidence < language.High {
		return l.names[0]
	}
	return l.names[i]
}

// CatalogueOf returns the catalogue of the language that a browser prefers; nil: English.
func (l *Languages) CatalogueOf(r *http.Request) Catalogue { return l.catalogues[l.Of(r)] }

// Say returns a text with values for its placeholders. With a catalogue, figures have a decimal
// comma, in English a point.
func (c Catalogue) Say(text string, values ...string) string {
	said, ok := c[text]
	if !ok {
		said = text
	}
	for i, v := range values {
		if c != nil {
			v = strings.Replace(v, ".", ",", 1)
		}
		said = strings.Replace(said, "{}", v, 1)
		said = strings.ReplaceAll(said, fmt.Sprintf("{%d}", i+1), v)
	}
	return said
}

// Translated translates a handler's pages into the browser's language. Everything else passes
// unchanged, streams too.
func (l *Languages) Translated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := l.Of(r)
		c, ok := l.catalogues[name]
		if !ok || r.Method != http.MethodGet || strings.HasPrefix(r.URL.Path, "/api/") {
			next.ServeHTTP(w, r)
			return
		}
		// A part of a page, or an unchanged page, cannot be translated.
		r = r.Clone(r.Context())
		r.Header.Del("Range")
		r.Header.Del("If-Modified-Since")
		p := &page{ResponseWriter: w}
		next.ServeHTTP(p, r)
		if !p.kept {
			return
		}
		body := c.Page(p.body.Bytes(), name)
		h := w.Header()
		h.Set("Content-Language", name)
		h.Add("Vary", "Accept-Language")
		h.Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(p.status)
		_, _ = w.Write(body)
	})
}

// page collects a page until it is complete; it passes on anything else at once.
type page struct {
	http.ResponseWriter
	status int // 0: nothing was written yet
	kept   bool
	body   bytes.Buffer
}

// Unwrap returns the wrapped writer for http.ResponseController.
func (p *page) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (p *page) WriteHeader(status int) {
	if p.status != 0 {
		return
	}
	kind, _, _ := mime.ParseMediaType(p.Header().Get("Content-Type"))
	p.status = status
	p.kept = kind == "text/html" && status == http.StatusOK && p.Header().Get("Content-Encoding") == "" &&
		p.Header().Get("Content-Disposition") == ""
	if !p.kept {
		p.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (p *page) Write(b []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	if p.kept {
		return p.body.Write(b)
	}
	return p.ResponseWriter.Write(b)
}

// spoken are the attributes that people read or hear.
var spoken = []string{"aria-label", "title", "alt", "placeholder", "label"}

// raws are the elements whose content the tokenizer returns as one text.
var raws = []string{"script", "style", "noscript"}

// Page translates a page: its texts, and the attributes that people read.
func (c Catalogue) Page(in []byte, name string) []byte {
	var out bytes.Buffer
	silent := "" // inside a script or a style; noscript: a page of its own
	for z := html.NewTokenizer(bytes.NewReader(in)); ; {
		kind := z.Next()
		raw := bytes.Clone(z.Raw())
		if kind == html.ErrorToken {
			if z.Err() != io.EOF { // leave invalid HTML as it is
				return in
			}
			return out.Bytes()
		}
		switch t := z.Token(); {
		case kind == html.TextToken && silent == "noscript":
			out.Write(c.Page(raw, name))
			continue
		case kind == html.TextToken && silent == "":
			out.Write(c.text(raw))
			continue
		case kind == html.EndTagToken && t.Data == silent:
			silent = ""
		case kind == html.StartTagToken || kind == html.SelfClosingTagToken:
			if slices.Contains(raws, t.Data) {
				silent = t.Data
			}
			if c.attributes(&t, name) {
				raw = []byte(t.String())
			}
		}
		out.Write(raw)
	}
}

// text translates a text of a page, and keeps the space around it.
func (c Catalogue) text(raw []byte) []byte {
	inner := bytes.TrimSpace(raw)
	translated, ok := c[keyOf(string(inner))]
	if len(inner) == 0 || !ok {
		return raw
	}
	at := bytes.Index(raw, inner)
	return slices.Concat(raw[:at], []byte(html.EscapeString(translated)), raw[at+len(inner):])
}

// attributes translates a tag's attributes, and reports whether any was.
func (c Catalogue) attributes(t *html.Token, name string) (changed bool) {
	for i := range t.Attr {
		a := &t.Attr[i]
		if t.Data == "html" && a.Key == "lang" {
			a.Val, changed = name, true
		}
		if translated, ok := c[keyOf(a.Val)]; ok && slices.Contains(spoken, a.Key) {
			a.Val, changed = translated, true
		}
	}
	return changed
}

// keyOf returns a page's text as the key of a catalogue: with entities decoded, and single spaces.
func keyOf(text string) string { return strings.Join(strings.Fields(html.UnescapeString(text)), " ") }

// Of returns the texts of a page that people read, which a catalogue must have.
func Of(in []byte) (out []string) {
	silent := ""
	add := func(text string) {
		if key := keyOf(text); strings.ContainsFunc(key, isLetter) && !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	for z := html.NewTokenizer(bytes.NewReader(in)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return out
		}
		raw := bytes.Clone(z.Raw())
		switch t := z.Token(); {
		case kind == html.TextToken && silent == "noscript":
			for _, text := range Of(raw) {
				add(text)
			}
		case kind == html.TextToken && silent == "":
			add(t.Data)
		case kind == html.EndTagToken && t.Data == silent:
			silent = ""
		case kind == html.StartTagToken || kind == html.SelfClosingTagToken:
			if slices.Contains(raws, t.Data) {
				silent = t.Data
			}
			for _, a := range t.Attr {
				if slices.Contains(spoken, a.Key) {
					add(a.Val)
				}
			}
		}
	}
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' }
