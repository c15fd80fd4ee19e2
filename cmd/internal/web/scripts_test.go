package web_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// browserNames are the names that a browser declares and the pages' scripts use.
var browserNames = strings.Fields(`AbortSignal Array Boolean BroadcastChannel Date Error Event EventSource Infinity Intl JSON Map Math
	MutationObserver Node Number Object Option Promise RegExp ResizeObserver Set SpeechSynthesisUtterance String TypeError URL URLSearchParams
	Uint8Array WeakMap addEventListener clearInterval clearTimeout console createImageBitmap crypto decodeURIComponent devicePixelRatio
	document encodeURIComponent fetch getComputedStyle globalThis history innerHeight innerWidth localStorage location matchMedia navigator performance
	removeEventListener requestAnimationFrame sessionStorage setInterval setTimeout speechSynthesis undefined window`)

// script parses the module of a page.
func script(t *testing.T, path string) *js.AST {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	ast, err := js.Parse(parse.NewInputBytes(raw), js.Options{})
	require.NoError(t, err, path)
	return ast
}

// scripts returns the pages' modules by their paths.
func scripts(t *testing.T) map[string]*js.AST {
	t.Helper()
	paths, err := filepath.Glob("../*/static/*.js")
	require.NoError(t, err)
	require.Greater(t, len(paths), 50)
	all := map[string]*js.AST{}
	for _, path := range paths {
		all[path] = script(t, path)
	}
	return all
}

// A name that is declared nowhere throws when its line is reached; one that its module does not export leaves the page empty.
func TestEveryNameInAScriptIsDeclared(t *testing.T) {
	all := scripts(t)
	for path, ast := range all {
		declared := slices.Clone(browserNames)
		for _, statement := range ast.List {
			imported, ok := statement.(*js.ImportStmt)
			if !ok {
				continue
			}
			from := exports(all[moduleFile(all, path, imported)])
			for _, alias := range imported.List {
				name := string(alias.Name)
				if name == "" {
					name = string(alias.Binding)
				}
				assert.Contains(t, from, name, "%s imports it from %s", path, imported.Module)
				declared = append(declared, string(alias.Binding))
			}
		}
		for _, v := range ast.Undeclared {
			assert.Contains(t, declared, string(v.Name()), "%s: declared nowhere", path)
		}
	}
}

// moduleFile returns the file of an imported module: in the folder of the one that imports it, or among those that all pages share.
func moduleFile(all map[string]*js.AST, path string, imported *js.ImportStmt) string {
	name := filepath.Base(strings.Trim(string(imported.Module), `"`))
	if own := filepath.Join(filepath.Dir(path), name); all[own] != nil {
		return own
	}
	return filepath.Join("../web/static", name)
}

// exports returns what a module exports.
func exports(ast *js.AST) (names []string) {
	if ast == nil {
		return nil
	}
	for _, statement := range ast.List {
		export, ok := statement.(*js.ExportStmt)
		if !ok {
			continue
		}
		for _, alias := range export.List {
			names = append(names, string(alias.Binding))
		}
		switch decl := export.Decl.(type) {
		case *js.FuncDecl:
			names = append(names, string(decl.Name.Data))
		case *js.ClassDecl:
			names = append(names, string(decl.Name.Data))
		case *js.VarDecl:
			for _, element := range decl.List {
				if v, ok := element.Binding.(*js.Var); ok {
					names = append(names, string(v.Data))
				}
			}
		}
	}
	return names
}

// TestARequestThatChangesSomethingEndsInTime: a program that hangs must not keep a button pressed.
func TestARequestThatChangesSomethingEndsInTime(t *testing.T) {
	n := 0
	for path, ast := range scripts(t) {
		var found changes
		js.Walk(&found, ast)
		for _, call := range found {
			n++
			assert.Contains(t, call, "signal:", path)
		}
	}
	assert.Greater(t, n, 3)
}

// changes are the calls of fetch that name a method other than HEAD.
type changes []string

func (r *changes) Enter(n js.INode) js.IVisitor {
	call, ok := n.(*js.CallExpr)
	if !ok {
		return r
	}
	if f, ok := call.X.(*js.Var); ok && string(f.Name()) == "fetch" {
		var b strings.Builder
		call.JS(&b)
		if text := b.String(); strings.Contains(text, "method") && !strings.Contains(text, `"HEAD"`) || strings.Contains(text, "...") {
			*r = append(*r, text)
		}
	}
	return r
}

func (*changes) Exit(js.INode) {}
