package cmd_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	// columns is the longest line of a page or a Go file, in characters; a tab is one.
	columns = 140
)

// page is a Markdown file of the repository.
type page struct {
	path  string // from the repository's root, with slashes
	text  string
	prose string // without blocks of code
}

var (
	codeBlock  = regexp.MustCompile("(?ms)^ *```.*?^ *```$|^    .*?$")
	pageLink   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAName = regexp.MustCompile(`[^\pL\pN_\- ]`)
)

// pages reads every Markdown file of the repository.
func pages(t *testing.T) []page {
	t.Helper()
	var out []page
	err := filepath.WalkDir("..", func(file string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == ".git" || name == "out" || name == "node_modules") {
			return filepath.SkipDir
		}
		if path.Ext(file) != ".md" {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(file), "../")
		out = append(out, page{name, string(text), codeBlock.ReplaceAllString(string(text), "")})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 20 {
		t.Fatalf("found %d pages, expected README.md, docs/*.md and others", len(out))
	}
	return out
}

func TestNoLineOfAPageIsLong(t *testing.T) {
	for _, p := range pages(t) {
		for i, line := range strings.Split(p.text, "\n") {
			if n := utf8.RuneCountInString(line); n > columns {
				t.Errorf("%s:%d has %d columns, expected at most %d", p.path, i+1, n, columns)
			}
		}
	}
}

// bodies parses the Go files of the repository with what stands in their functions.
func bodies(t *testing.T) []source {
	t.Helper()
	all := sources(t)
	for i, s := range all {
		f, err := parser.ParseFile(s.fset, filepath.Join("..", s.path), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		all[i].file = f
	}
	return all
}

// A raw string is data (a style sheet, JSON, a struct's tag), which cannot be wrapped: it does not count.
func TestNoLineOfCodeIsLong(t *testing.T) {
	for _, s := range bodies(t) {
		src, err := os.ReadFile(filepath.Join("..", s.path))
		if err != nil {
			t.Fatal(err)
		}
		data, raw := map[int]bool{}, map[int]int{} // lines within raw strings; columns that raw strings take of a line
		ast.Inspect(s.file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				for i := s.fset.Position(l.Pos()).Line + 1; i <= s.fset.Position(l.End()).Line; i++ {
					data[i] = true
				}
				if from := s.fset.Position(l.Pos()); l.Value[0] == '`' {
					first, _, _ := strings.Cut(l.Value, "\n")
					raw[from.Line] += utf8.RuneCountInString(first)
				}
			}
			return true
		})
		for i, line := range bytes.Split(src, []byte("\n")) {
			n := utf8.RuneCount(line) - raw[i+1]
			if n <= columns || data[i+1] {
				continue
			}
			t.Errorf("%s:%d has %d columns, expected at most %d", s.path, i+1, n, columns)
		}
	}
}

// sharedPath matches a path from a package's folder to the shared folder next to the repository.
var sharedPath = regexp.MustCompile(`(?:"\.\.", )+"shared"|"(?:\.\./)+shared`)

// A test that uses the shared folder skips if it does not exist. With a wrong path it skips everywhere.
func TestTestsFindTheSharedFolder(t *testing.T) {
	found := 0
	for _, s := range sources(t) {
		if !s.test() || s.dir() == "cmd" {
			continue
		}
		src, err := os.ReadFile(filepath.Join("..", s.path))
		if err != nil {
			t.Fatal(err)
		}
		for _, way := range sharedPath.FindAllString(string(src), -1) {
			found++
			if up, want := strings.Count(way, ".."), strings.Count(s.dir(), "/")+2; up != want {
				t.Errorf("%s: %s goes up %d folders, expected %d", s.path, way, up, want)
			}
		}
	}
	if found < 5 {
		t.Errorf("found %d paths to the shared folder, expected more", found)
	}
}

// Every exported name of the program has a comment: its own, its group's, or one behind it.
func TestEveryExportedNameIsDescribed(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		f, err := parser.ParseFile(s.fset, filepath.Join("..", s.path), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		undescribed := func(n *ast.Ident, comments ...*ast.CommentGroup) {
			if n.IsExported() && !slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c.Text() != "" }) {
				t.Errorf("%s:%d: %s has no comment", s.path, s.fset.Position(n.Pos()).Line, n.Name)
			}
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || ast.IsExported(receiver(d)) {
					undescribed(d.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						undescribed(spec.Name, d.Doc, spec.Doc, spec.Comment)
					case *ast.ValueSpec:
						for _, n := range spec.Names {
							undescribed(n, d.Doc, spec.Doc, spec.Comment)
						}
					}
				}
			}
		}
	}
}

// receiver names the type of a method.
func receiver(d *ast.FuncDecl) string {
	of := d.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	if g, ok := of.(*ast.IndexExpr); ok {
		of = g.X
	}
	name, _ := of.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}

// anchors returns what a link may name of a page behind #, as GitHub makes it of the headings.
func anchors(p page) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(p.prose, -1) {
		name := pageLink.ReplaceAllString(strings.ToLower(m[1]), "]")
		out[strings.ReplaceAll(notInAName.ReplaceAllString(name, ""), " ", "-")] = true
	}
	return out
}

func TestNoLinkOfAPageIsDead(t *testing.T) {
	all := map[string]page{}
	for _, p := range pages(t) {
		all[p.path] = p
	}
	links := 0
	for _, p := range all {
		for _, m := range pageLink.FindAllStringSubmatch(p.text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			links++
			file := p.path
			if target != "" {
				file = path.Join(path.Dir(p.path), target)
			}
			if _, err := os.Stat(filepath.Join("..", file)); err != nil {
				t.Errorf("%s links to %s, which is not there", p.path, m[1])
			} else if to, ok := all[file]; ok && anchor != "" && !anchors(to)[anchor] {
				t.Errorf("%s links to %s: %s has no such heading", p.path, m[1], file)
			}
		}
	}
	if links < 100 {
		t.Errorf("found %d links, expected more", links)
	}
}

var (
	namedTest    = regexp.MustCompile("`((?:Test|Fuzz|Example|Benchmark)[A-Z]\\w+)`")
	namedPackage = regexp.MustCompile(`go test [^#\n]*?(\./[\w./-]+)`)
	runPattern   = regexp.MustCompile(`-(?:run|bench|fuzz) '?([\w|]+)'?`)
	namedPath    = regexp.MustCompile("`((?:\\.ci|calibration|cmd|docs|engine|firmware-config|hardware|vision)/[\\w./-]*)`")
	testCommand  = regexp.MustCompile("(go test [^#`\n]*)")
	aPackage     = regexp.MustCompile(`\./[\w./-]+`)
	makeTarget   = regexp.MustCompile("(?:^    |`|&& )make ([a-z0-9-]+)")
	ruleOfMake   = regexp.MustCompile(`(?m)^([a-z0-9-]+):`)
)

// What a page names of the sources exists: tests, packages, files, targets of make.
func TestThePagesNameWhatExists(t *testing.T) {
	tests := map[string]bool{}
	within := map[string][]string{} // the folders of a test
	for _, s := range bodies(t) {
		if !s.test() {
			continue
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				tests[f.Name.Name] = true
				within[f.Name.Name] = append(within[f.Name.Name], s.dir())
			}
		}
	}
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, m := range ruleOfMake.FindAllStringSubmatch(string(makefile), -1) {
		targets[m[1]] = true
	}
	named := 0
	for _, p := range pages(t) {
		for _, m := range namedTest.FindAllStringSubmatch(p.text, -1) {
			named++
			if !tests[m[1]] {
				t.Errorf("%s names %s: there is no such test", p.path, m[1])
			}
		}
		for _, m := range runPattern.FindAllStringSubmatch(p.text, -1) {
			for _, part := range strings.Split(m[1], "|") {
				named++
				if part != "xxx" && part != "TARGET" && !anyContains(tests, part) {
					t.Errorf("%s: no test, benchmark or fuzz target matches %q", p.path, part)
				}
			}
		}
		for _, m := range namedPackage.FindAllStringSubmatch(p.text, -1) {
			named++
			if _, err := os.Stat(filepath.Join("..", strings.TrimSuffix(m[1], "/..."))); err != nil {
				t.Errorf("%s names the package %s, which is not there", p.path, m[1])
			}
		}
		for _, m := range namedPath.FindAllStringSubmatch(p.text, -1) {
			if ext := path.Ext(m[1]); ext == ".json" || ext == ".png" {
				continue // what the running program keeps
			}
			named++
			if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
				t.Errorf("%s names %s, which is not there", p.path, m[1])
			}
		}
		for _, m := range testCommand.FindAllStringSubmatch(p.text, -1) {
			checkTestCommand(t, p.path, m[1], within)
		}
		for _, line := range strings.Split(p.text, "\n") {
			for _, m := range makeTarget.FindAllStringSubmatch(line, -1) {
				named++
				if !targets[m[1]] {
					t.Errorf("%s names make %s: the Makefile has no such target", p.path, m[1])
				}
			}
		}
	}
	if named < 150 {
		t.Errorf("the pages name %d tests, packages and targets, expected more", named)
	}
}

// checkTestCommand reports what a command that names packages runs in none of them.
func checkTestCommand(t *testing.T, page, command string, within map[string][]string) {
	packages := aPackage.FindAllString(command, -1)
	run := runPattern.FindStringSubmatch(command)
	if run == nil || len(packages) == 0 {
		return
	}
	for _, part := range strings.Split(run[1], "|") {
		found := part == "xxx" || part == "TARGET" // none, or one of those that the page lists
		for name, dirs := range within {
			for _, p := range packages {
				in := func(dir string) bool { return matches(strings.TrimPrefix(p, "./"), dir) }
				found = found || strings.Contains(name, part) && slices.ContainsFunc(dirs, in)
			}
		}
		if !found {
			t.Errorf("%s: %s: %q matches nothing in %v", page, command, part, packages)
		}
	}
}

func anyContains(names map[string]bool, part string) bool {
	for name := range names {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
