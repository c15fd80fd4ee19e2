package web_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// noScriptSays are strings of scripts that no one reads: selectors, classes, HTML, a font, what is compared or
// sent, and what an overlay with ?debug states in English.
var noScriptSays = regexp.MustCompile(`^[.#][a-z]+ [a-z]+$|^header nav a$|^<|^600 14px |` +
	`^(said buttons|rock blind|end chosen|no panel|not used)$|` +
	`^(Sightline overlay\{|Not shown:|Everything is shown)`)

// TestWhatTheScriptsSayIsInTheCatalogue: so is each text with two words of English that a page's
// script makes.
func TestWhatTheScriptsSayIsInTheCatalogue(t *testing.T) {
	known := knownIn(german(t))
	scripts, err := filepath.Glob("../*/static/*.js")
	require.NoError(t, err)
	n := 0
	for _, path := range scripts {
		if strings.HasSuffix(path, "overlay-gate.js") { // why something is not shown, for ?debug
			continue
		}
		for _, text := range textsOfScript(t, path) {
			if n++; !noScriptSays.MatchString(text) && !known(text) {
				assert.Fail(t, "static/texts/de.json does not hold this text", "%s: %q", path, text)
			}
		}
	}
	assert.Greater(t, n, 200)
}

// textsOfScript lists the texts that a script makes; {} stands for what is put into them.
func textsOfScript(t *testing.T, path string) []string {
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	script, err := js.Parse(parse.NewInputBytes(raw), js.Options{})
	require.NoError(t, err, path)
	var found scriptTexts
	js.Walk(&found, script)
	return found
}

type scriptTexts []string

func (s *scriptTexts) Enter(n js.INode) js.IVisitor {
	switch n := n.(type) {
	case *js.ImportStmt, *js.ExportStmt:
		if e, ok := n.(*js.ExportStmt); ok && e.Decl != nil {
			return s
		}
		return nil
	case *js.BinaryExpr:
		if n.Op == js.AddToken {
			s.add(scriptText(n))
		}
	case *js.TemplateExpr, *js.LiteralExpr:
		s.add(scriptText(n.(js.IExpr)))
	}
	return s
}

func (*scriptTexts) Exit(js.INode) {}

func (s *scriptTexts) add(text string) {
	if twoWords.MatchString(text) {
		*s = append(*s, text)
	}
}

// scriptText is what an expression says; {} stands for what is not written there.
func scriptText(e js.IExpr) string {
	switch x := e.(type) {
	case *js.LiteralExpr:
		if x.TokenType == js.StringToken {
			return unescaped(x.Data[1 : len(x.Data)-1])
		}
	case *js.TemplateExpr:
		var b strings.Builder
		for _, part := range x.List {
			b.WriteString(unescaped(part.Value[1:len(part.Value)-2]) + "{}") // `text${ or }text${
		}
		return b.String() + unescaped(x.Tail[1:len(x.Tail)-1])
	case *js.BinaryExpr:
		if x.Op == js.AddToken {
			return scriptText(x.X) + scriptText(x.Y)
		}
	}
	return "{}"
}

func unescaped(text []byte) string {
	return strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\'`, `'`, "\\`", "`").Replace(string(text))
}
