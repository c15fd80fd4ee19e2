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
	line  int
	rule  string   // "G12"
	where string   // the fourth cell
	tests []string // the tests that the page's list names for it, as "engine.TestFleeing"
}

var (
	ruleLine = regexp.MustCompile(`^\| (G\d+) \|`)
	// The page's list of tests: a line for the package, an item for each test.
	testPackage = regexp.MustCompile(`(?m)^Package (\w+):$`)
	testItem    = regexp.MustCompile("(?m)^- `(\\w+)`:((?:\\s+G\\d+,?)+)$")
	ruleNumber  = regexp.MustCompile(`G\d+`)
	inCode      = regexp.MustCompile("`([^`]+)`")
	// reasons begin the cell of a rule that no code is named for.
	reasons = regexp.MustCompile(`^(Cards|Dice|Timing|Players|Locating)(:|\.)`)
)

// libraryOnly begins the cell of a rule whose code no command and no page uses yet.
const libraryOnly = "library only: "

func readRules(t *testing.T) []ruleRow {
	t.Helper()
	data, err := os.ReadFile("../docs/rules.md")
	require.NoError(t, err)
	tables, list, found := strings.Cut(string(data), "\n## The tests\n")
	require.True(t, found, "docs/rules.md: expected a section \"The tests\"")
	tests := readTestList(t, list)
	var rows []ruleRow
	for i, line := range strings.Split(tables, "\n") {
		m := ruleLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		require.Len(t, cells, 4, "docs/rules.md:%d: expected four cells", i+1)
		rows = append(rows, ruleRow{i + 1, m[1], strings.TrimSpace(cells[3]), tests[m[1]]})
		delete(tests, m[1])
	}
	assert.Empty(t, tests, "docs/rules.md: tests are listed for rules that no table has")
	return rows
}

// readTestList returns the tests that a section of docs/rules.md lists for each rule. Every
// line of the section's lists must be understood.
func readTestList(t *testing.T, section string) map[string][]string {
	t.Helper()
	section, _, _ = strings.Cut(section, "\n## ")
	tests := map[string][]string{}
	items := 0
	heads := testPackage.FindAllStringSubmatchIndex(section, -1)
	for i, h := range heads {
		end := len(section)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		for _, m := range testItem.FindAllStringSubmatch(section[h[1]:end], -1) {
			items++
			for _, rule := range ruleNumber.FindAllString(m[2], -1) {
				tests[rule] = append(tests[rule], section[h[2]:h[3]]+"."+m[1])
			}
		}
	}
	require.Equal(t, strings.Count(section, "\n- "), items, "docs/rules.md: expected every item as \"- `TestName`: G1, G2\"")
	require.NotEmpty(t, tests, "docs/rules.md: no tests are listed")
	return tests
}

// declared holds what the repository's Go files declare: names as "engine.Band" and
// "engine.Profile.Size", and of each test its source.
type declared struct {
	names    map[string]bool
	tests    map[string]string
	packages map[string]bool
}

// qualified returns a name as the page gives it with its package, which is engine unless
// the name begins with another.
func (d declared) qualified(name string) string {
	if pkg, _, _ := strings.Cut(name, "."); d.packages[pkg] {
		return name
	}
	return "engine." + name
}

func readSources(t *testing.T, dirs ...string) declared {
	t.Helper()
	d := declared{map[string]bool{}, map[string]string{}, map[string]bool{}}
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
			d.packages[pkg] = true
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
	code := readSources(t, ".", "geom", "move", "internal/uncertain", "internal/pieces", "../cmd/internal/draw",
		"../cmd/internal/live", "../cmd/internal/play", "../cmd/internal/round",
		"../cmd/internal/web", "../cmd/sightline")
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
		var names []string
		for _, m := range inCode.FindAllStringSubmatch(r.where, -1) {
			name := code.qualified(m[1])
			assert.True(t, code.names[name], "%s: %s is not declared in the sources", at, name)
			names = append(names, name)
		}
		if reasons.MatchString(r.where) {
			told++
			assert.Empty(t, r.tests, "%s: no test is expected beside a reason", at)
			continue
		}
		proved++
		unused := slices.ContainsFunc(names, func(name string) bool { return !used(name) })
		assert.Equal(t, unused, strings.HasPrefix(r.where, libraryOnly), "%s: says %q where the program does not use what is named", at,
			libraryOnly)
		assert.NotEmpty(t, names, "%s: expected the code that implements it, or a reason why none does", at)
		assert.NotEmpty(t, r.tests, "%s: expected a test that names it", at)
		mention := regexp.MustCompile(`\b` + r.rule + `\b`)
		for _, test := range r.tests {
			source, ok := code.tests[test]
			assert.True(t, ok, "%s: there is no test %s", at, test)
			assert.True(t, !ok || mention.MatchString(source), "%s: %s does not name the rule", at, test)
		}
	}
	for i := 1; i <= lastRule; i++ {
		assert.NotZero(t, seen["G"+strconv.Itoa(i)], "docs/rules.md: G%d is missing", i)
	}
	assert.Len(t, rows, lastRule)

	data, err := os.ReadFile("../docs/rules.md")
	require.NoError(t, err)
	assert.Contains(t, string(data), fmt.Sprintf("%d of the %d statements are implemented and tested", proved, lastRule),
		"the summary counts the rules")
	assert.Contains(t, string(data), fmt.Sprintf("The other %d are", told), "the summary counts the rules")
}
