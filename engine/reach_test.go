package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// reached returns the names that the program uses, as "engine.Band" and
// "engine.Profile.Size": what can be followed from cmd/sightline, by name alone. A method
// counts as used where any method of its name is, so that reached errs towards use.
func reached(t *testing.T) func(name string) bool {
	t.Helper()
	g := nameGraph{uses: map[string][]string{}, known: map[string]bool{}}
	require.NoError(t, filepath.WalkDir("..", g.walk))
	seen := map[string]bool{}
	var follow func(string)
	follow = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		for _, n := range g.uses[name] {
			follow(n)
		}
	}
	follow("cmd/sightline.")
	require.Greater(t, len(seen), 1000, "names that the program uses")
	return func(name string) bool {
		pkg, rest, _ := strings.Cut(name, ".")
		if _, method, ok := strings.Cut(rest, "."); ok {
			return seen["."+method] && name != namesake
		}
		for known := range g.known {
			if path.Base(path.Dir(known+"/x")) == pkg && seen[known+"."+rest] {
				return true
			}
		}
		return false
	}
}

// namesake is a method that the program does not use and that is called as one of time.Time.
const namesake = "engine.Touching.After"

// nameGraph says which names the code of a name uses. A package-level name is
// "folder.Name", a method ".Name"; "folder." stands for what runs without being called:
// main, init and the values of variables.
type nameGraph struct {
	uses  map[string][]string
	known map[string]bool // folders
}

func (g *nameGraph) walk(p string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if d.IsDir() {
		_, module := os.Stat(filepath.Join(p, "go.mod"))
		if p != ".." && (module == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		return nil
	}
	if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
		return nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), p, nil, 0)
	if err != nil {
		return err
	}
	folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(p)), "../")
	g.known[folder] = true
	imports := map[string]string{}
	for _, i := range f.Imports {
		at, _ := strconv.Unquote(i.Path.Value)
		if at, ok := strings.CutPrefix(at, "sightline/"); ok {
			name := path.Base(at)
			if i.Name != nil {
				name = i.Name.Name
			}
			imports[name] = at
		}
	}
	for _, d := range f.Decls {
		g.add(folder, imports, d)
	}
	return nil
}

func (g *nameGraph) add(folder string, imports map[string]string, decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		switch {
		case d.Recv != nil:
			g.from("."+d.Name.Name, folder, imports, d)
			if folder == "cmd/sightline" { // kong calls the commands' methods by reflection
				g.from(folder+".", folder, imports, d)
			}
		case d.Name.Name == "main" || d.Name.Name == "init":
			g.from(folder+".", folder, imports, d)
		default:
			g.from(folder+"."+d.Name.Name, folder, imports, d)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				g.from(folder+"."+s.Name.Name, folder, imports, s)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					g.from(folder+"."+n.Name, folder, imports, s)
				}
			}
		}
	}
}

// from adds what a piece of code uses to a name's uses.
func (g *nameGraph) from(name, folder string, imports map[string]string, code ast.Node) {
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && imports[x.Name] != "" {
				g.uses[name] = append(g.uses[name], imports[x.Name]+"."+n.Sel.Name, imports[x.Name]+".")
				return false
			}
			g.uses[name] = append(g.uses[name], "."+n.Sel.Name)
		case *ast.Ident:
			g.uses[name] = append(g.uses[name], folder+"."+n.Name)
		}
		return true
	})
}
