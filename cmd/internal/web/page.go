package web

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"
)

// headHTML is the beginning of every page, up to its body.
//
//go:embed head.html
var headHTML string

var headTemplate = template.Must(template.New("head").Parse(strings.TrimSpace(headHTML)))

// head returns the beginning of a page with a title, its module and its style sheets.
func head(title, script string, styles ...string) (template.HTML, error) {
	var b bytes.Buffer
	err := headTemplate.Execute(&b, struct {
		Title, Script string
		Styles        []string
	}{title, script, styles})
	return template.HTML(b.String()), err
}

// pages are a package's files. The first line of a page (.html) is
// {{head "Title" "/module.js" "/style.css" …}}, which becomes its head.
type pages struct{ files fs.FS }

// Open implements fs.FS.
func (p pages) Open(name string) (fs.File, error) {
	f, err := p.files.Open(name)
	if err != nil || path.Ext(name) != ".html" {
		return f, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	source, err := fs.ReadFile(p.files, name)
	if err != nil {
		return nil, err
	}
	t, err := template.New(name).Funcs(template.FuncMap{"head": head}).Parse(string(source))
	if err != nil {
		return nil, fmt.Errorf("web: page: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, nil); err != nil {
		return nil, fmt.Errorf("web: page: %w", err)
	}
	return page{info, bytes.NewReader(b.Bytes())}, nil
}

// page is an open page and its own description.
type page struct {
	fs.FileInfo
	*bytes.Reader
}

// Stat implements fs.File.
func (p page) Stat() (fs.FileInfo, error) { return p, nil }

// Size implements fs.FileInfo: the head counts.
func (p page) Size() int64 { return p.Reader.Size() }

// Close implements fs.File.
func (page) Close() error { return nil }
