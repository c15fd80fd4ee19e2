package cmd_test

import (
	"go/ast"
	"maps"
	"slices"
	"testing"
)

const (
	functionLines = 60    // the longest function, from func to its closing brace
	packageLines  = 6_000 // the largest package, without its tests
)

// isTable reports whether a function does nothing but return one composite literal.
func isTable(f *ast.FuncDecl) bool {
	if len(f.Body.List) != 1 {
		return false
	}
	r, ok := f.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(r.Results) != 1 {
		return false
	}
	_, ok = r.Results[0].(*ast.CompositeLit)
	return ok
}

func TestNoFunctionIsLong(t *testing.T) {
	functions := 0
	for _, s := range bodies(t) {
		if s.test() {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || isTable(f) {
				continue
			}
			functions++
			from := s.fset.Position(f.Pos()).Line
			if n := s.fset.Position(f.End()).Line - from + 1; n > functionLines {
				t.Errorf("%s:%d: %s has %d lines, expected at most %d", s.path, from, f.Name.Name, n, functionLines)
			}
		}
	}
	if functions < 1000 {
		t.Errorf("found %d functions, expected the repository's thousands", functions)
	}
}

func TestNoPackageIsLarge(t *testing.T) {
	lines := map[string]int{}
	for _, s := range bodies(t) {
		if !s.test() {
			lines[s.dir()] += s.fset.File(s.file.Pos()).LineCount()
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(lines)) {
		if n := lines[dir]; n > packageLines {
			t.Errorf("%s has %d lines without tests, expected at most %d", dir, n, packageLines)
		}
	}
}
