package engine_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lastRule is the number of the last geometric statement of the rules.
const lastRule = 237

// ruleRow is one line of a table in docs/rules.md.
type ruleRow struct {
	line            int
	rule            string // "G12"
	where, provedBy string // the third and the fourth cell
}

var (
	ruleLine = regexp.MustCompile(`^\| (G\d+) \|`)
	inCode   = regexp.MustCompile("`([^`]+)`")
	// reasons begin the cell of a rule that no code is named for.
	reasons = regexp.MustCompile(`^(Cards|Dice|Timing|Players|Locating)(:|\.)`)
)

// libraryOnly begins the cell of a rule whose code no command and no page uses yet.
const libraryOnly = "library only: "

func readRules(t *testing.T) []ruleRow {
	t.Helper()
	data, err := os.ReadFile("../docs/rules.md")
	require.NoError(t, err)
	var rows []ruleRow
	for i, line := range strings.Split(string(data), "\n") {
		m := ruleLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		require.Len(t, cells, 5, "docs/rules.md:%d: expected five cells", i+1)
		rows = append(rows, ruleRow{i + 1, m[1], strings.TrimSpace(cells[3]), strings.TrimSpace(cells[4])})
	}
	return rows
}

// declared holds what the repository's Go files declare: names as "engine.Band" and
// "engine.Profile.Size", and of each test its source.
type declared struct {
	names map[string]bool
	tests map[string]string
}

func readSources(t *testing.T, dirs ...string) declared {
	t.Helper()
	d := declared{map[string]bool{}, map[string]string{}}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, file, src, parser.ParseComments)
			require.NoError(t, err)
			pkg := strings.TrimSuffix(f.Name.Name, "_test")
			for _, decl := range f.Decls {
				d.add(pkg, decl, func(from, to token.Pos) string {
					return string(src[fset.Position(from).Offset:fset.Position(to).Offset])
				}, strings.HasSuffix(file, "_test.go"))
			}
		}
	}
	return d
}

func (d *declared) add(pkg string, decl ast.Decl, source func(from, to token.Pos) string, test bool) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		name := decl.Name.Name
		if test {
			if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") || strings.HasPrefix(name, "Example") {
				from := decl.Pos()
				if decl.Doc != nil {
					from = decl.Doc.Pos()
				}
				d.tests[pkg+"."+name] = source(from, decl.End())
			}
			return
		}
		if decl.Recv != nil {
			recv := decl.Recv.List[0].Type
			if star, ok := recv.(*ast.StarExpr); ok {
				recv = star.X
			}
			name = fmt.Sprint(recv) + "." + name
		}
		d.names[pkg+"."+name] = true
	case *ast.GenDecl:
		if test {
			return
		}
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				d.names[pkg+"."+spec.Name.Name] = true
			case *ast.ValueSpec:
				for _, n := range spec.Names {
					d.names[pkg+"."+n.Name] = true
				}
			}
		}
	}
}

// TestTheTableOfRulesIsTrue holds docs/rules.md to the sources: every rule stands
// there once; what is named as its code exists; what is named as its test exists and
// speaks of the rule by its number; and where no command and no page uses the code, the row
// says so.
func TestTheTableOfRulesIsTrue(t *testing.T) {
	rows := readRules(t)
	code := readSources(t, ".", "geom", "../cmd/internal/draw", "../cmd/internal/live", "../cmd/internal/web", "../cmd/sightline")
	require.Greater(t, len(code.names), 100)

	used := reached(t)
	seen := map[string]int{}
	proved, told := 0, 0
	for _, r := range rows {
		at := fmt.Sprintf("docs/rules.md:%d: %s", r.line, r.rule)
		if first := seen[r.rule]; first != 0 {
			t.Errorf("%s stands in line %d already", at, first)
		}
		seen[r.rule] = r.line
		names, tests := inCode.FindAllStringSubmatch(r.where, -1), inCode.FindAllStringSubmatch(r.provedBy, -1)
		for _, n := range names {
			assert.True(t, code.names[n[1]], "%s: %s is not declared in the sources", at, n[1])
		}
		if reasons.MatchString(r.where) {
			told++
			assert.Equal(t, "–", r.provedBy, "%s: no test is expected beside a reason", at)
			continue
		}
		proved++
		unused := slices.ContainsFunc(names, func(n []string) bool { return !used(n[1]) })
		assert.Equal(t, unused, strings.HasPrefix(r.where, libraryOnly), "%s: says %q where the program does not use what is named", at,
			libraryOnly)
		assert.NotEmpty(t, names, "%s: expected the code that implements it, or a reason why none does", at)
		assert.NotEmpty(t, tests, "%s: expected a test that names it", at)
		mention := regexp.MustCompile(`\b` + r.rule + `\b`)
		for _, n := range tests {
			source, ok := code.tests[n[1]]
			assert.True(t, ok, "%s: there is no test %s", at, n[1])
			assert.True(t, !ok || mention.MatchString(source), "%s: %s does not name the rule", at, n[1])
		}
	}
	for i := 1; i <= lastRule; i++ {
		assert.NotZero(t, seen["G"+strconv.Itoa(i)], "docs/rules.md: G%d is missing", i)
	}
	assert.Len(t, rows, lastRule)

	data, err := os.ReadFile("../docs/rules.md")
	require.NoError(t, err)
	assert.Contains(t, string(data), fmt.Sprintf("%d are implemented and tested", proved), "the summary counts the rules")
	assert.Contains(t, string(data), fmt.Sprintf("%d are not", told), "the summary counts the rules")
}
