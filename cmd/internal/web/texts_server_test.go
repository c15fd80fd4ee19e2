package web_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	catalogue "sightline/cmd/internal/texts"
)

// saidIn are the packages whose texts players, judges and owners read on a page.
var saidIn = []string{"access", "director", "enrol", "first", "game", "live", "outline", "pipeline", "play", "projector", "round", "setup",
	"web", "squads", "naming", "../../vision/exposure", "../../vision/obstacle", "../../engine/alike", "../../engine/flown",
	"../../engine/tablecheck", "../../calibration/watch"}

// saidBy are files of other packages whose errors and reasons pages hand on: why a picture, a board, a card or a token is not
// taken, what is in the way of an answer, what a record or a hall refuses.
var saidBy = []string{"../../vision/tracked.go", "../../vision/located.go", "../../vision/obstacle.go",
	"../../vision/look/refuse.go", "../../vision/look/guides.go", "../../vision/fusion/fuse.go", "../../vision/fusion/obstacles.go",
	"../../vision/jig/session.go", "../../vision/capture/feed.go", "../../vision/opencv/board.go", "../../vision/opencv/capture.go",
	"../../calibration/register_few.go", "../../calibration/register.go", "../../calibration/lens/guide*.go",
	"../../calibration/verify/cause.go", "app/calibrate.go", "app/held.go", "app/learn*.go", "app/rule.go", "event/answer.go",
	"event/client.go", "hall/broker.go", "hall/chain.go", "hall/pairings.go", "hall/table.go", "rulings/place.go",
	"rulings/photo.go", "../../calibration/verify/verify.go", "../../calibration/lens_consistency.go",
	"../../calibration/integrity.go", "../../calibration/quick/quick.go", "../../calibration/lens/s*.go",
	"../../vision/ship/mark.go", "../../engine/[bcmprs]*.go", "../../engine/move/*.go"}

// readByPrograms are their files that say nothing on a page: requests that are wrong, figures for
// monitors, kinds of errors, the command line, the demo, files for restarts.
var readByPrograms = []string{"web/body.go", "web/metrics.go", "web/judge_picture.go", "web/overlay_demo.go", "live/refusal.go",
	"play/list.go", "move/maneuver.go", "flown/dial.go", "squads/object.go", "squads/facts.go", "squads/table.go",
	"pipeline/lying.go", "game/heldfile.go", "game/releasedfile.go"}

// noPageSays are texts of the others that no page shows: what only a request by hand brings about,
// how a file is wrong, what the log wraps, codes and keys.
var noPageSays = regexp.MustCompile(`(^|: |\. )[Ee]xpected |cannot be (written as JSON|encoded|written: )|` +
	`^(web|app|pipeline|session|map|vision|obstacle|exposure|calibration|hall|tablecheck): |^opencv: (new|find) |` +
	`^whether (a picture|something) is held|^Sightline hall$|` +
	`^[a-z_]+ (yes|no|choose)$|` +
	`, [a-z_]+(, [a-z_]+)* and [a-z]+$|^look for markers|is (missing|not UTF-8)\b|must be a whole number|has (two sides|a whole number)|` +
	`^\{"|such picture|^event \{\} (of|stands)|^not used$|has no end|the spot$|begins with its start|measuring, instead_of|` +
	`^who marked|takes no body|a game has ships|decision must be|There is no (such option|overlay of|mode|\{\})|` +
	`: there is no such option|confirm by naming it|from another range, where|` +
	`corner at \{\}$|^(moving through|template at) |^not said$|no such ship before$`)

// TestWhatTheServerSaysIsInTheCatalogue: each text with two words of English in these packages
// is in the catalogue, or a part of one of its texts, or is no page's.
func TestWhatTheServerSaysIsInTheCatalogue(t *testing.T) {
	known := knownIn(german(t))
	n := 0
	patterns := slices.Clone(saidBy)
	for _, pkg := range saidIn {
		patterns = append(patterns, pkg+"/*.go")
	}
	for _, pattern := range patterns {
		files, err := filepath.Glob("../" + pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, path := range files {
			no := func(file string) bool { return strings.HasSuffix(path, file) }
			if no("_test.go") || slices.ContainsFunc(readByPrograms, no) {
				continue
			}
			for _, text := range textsOf(t, path) {
				text = strings.TrimPrefix(text, "engine: ") // which pages leave out
				if n++; !noPageSays.MatchString(text) && !known(text) {
					assert.Fail(t, "static/texts/de.json does not hold this text", "%s: %q", path, text)
				}
			}
		}
	}
	assert.Greater(t, n, 700)
	assert.False(t, known("Nothing like this was ever said."), "else every text would be known")
}

var (
	twoWords = regexp.MustCompile(`[a-z]{2,} [a-z]{2,}`)
	verb     = regexp.MustCompile(`%[-+#.\d]*[a-zA-Z]`)
	joint    = regexp.MustCompile(`\. |; |: |, | · `)
)

// knownIn returns whether a catalogue can say a text, as static/texts.js does: whole, with
// what changes in its places, or put together from others. {} in the text stands for a name.
func knownIn(c catalogue.Catalogue) func(string) bool {
	whole := map[string]bool{}
	var all []string
	type pattern struct {
		fixed []string // in it, which is sooner looked for than the whole
		whole *regexp.Regexp
	}
	var patterns []pattern
	for key := range c {
		lower := strings.ToLower(key)
		whole[lower], whole[strings.TrimSuffix(lower, ".")] = true, true
		all = append(all, lower)
		if strings.Contains(key, "{}") {
			patterns = append(patterns, pattern{strings.Split(lower, "{}"),
				regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(lower), `\{\}`, "(.+?)") + "$")})
		}
	}
	answered := map[string]bool{}
	var known, look func(string) bool
	known = func(text string) bool {
		text = strings.ToLower(strings.TrimSpace(text))
		if _, ok := answered[text]; !ok {
			answered[text] = look(text)
		}
		return answered[text]
	}
	look = func(text string) bool {
		if !twoWords.MatchString(text) || whole[text] || whole[strings.TrimSuffix(text, ".")] {
			return true
		}
		name := strings.ReplaceAll(text, "{}", "A7")
		said := func(p pattern, text string) bool { // with nothing in its places but names, or what is known
			if slices.ContainsFunc(p.fixed, func(s string) bool { return !strings.Contains(text, s) }) {
				return false
			}
			found := p.whole.FindStringSubmatch(text)
			return found != nil && !slices.ContainsFunc(found[1:], func(s string) bool { return !known(s) })
		}
		if slices.ContainsFunc(patterns, func(p pattern) bool { return said(p, name) || said(p, name+".") }) {
			return true
		}
		for _, at := range joint.FindAllStringIndex(text, -1) {
			if known(text[:at[0]]) && known(text[at[1]:]) {
				return true
			}
		}
		return false
	}
	part := func(text string) bool { // of a text that is put together where the catalogue's key shows it whole
		pieces := strings.Split(strings.ToLower(text), "{}")
		return !slices.ContainsFunc(pieces, func(p string) bool {
			p = strings.Trim(p, " ,.;:()")
			return twoWords.MatchString(p) && !slices.ContainsFunc(all, func(key string) bool { return strings.Contains(key, p) })
		})
	}
	return func(text string) bool {
		return known(text) || known(strings.ReplaceAll(text, "{}", "front")) || known(strings.ReplaceAll(text, "{}", "")) || part(text)
	}
}

// noSentences are functions that take no texts for people.
var noSentences = []string{"Debug", "Info", "Warn", "MustCompile", "HandleFunc", "Handle"}

// textsOf lists the texts that a file's functions make, but for those of logs and panics; {}
// stands for their arguments.
func textsOf(t *testing.T, path string) (out []string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field: // its tag
			return false
		case *ast.CallExpr:
			if f, ok := x.Fun.(*ast.SelectorExpr); ok && slices.Contains(noSentences, f.Sel.Name) {
				return false
			}
			if f, ok := x.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Error" {
				if on, ok := f.X.(*ast.SelectorExpr); ok && strings.EqualFold(on.Sel.Name, "log") {
					return false
				}
			}
			if f, ok := x.Fun.(*ast.Ident); ok && f.Name == "panic" {
				return false
			}
		case *ast.BinaryExpr:
			if text := textOf(x); twoWords.MatchString(text) {
				out = append(out, text)
				return false
			}
		case *ast.BasicLit:
			if text := textOf(x); x.Kind == token.STRING && twoWords.MatchString(text) {
				out = append(out, text)
			}
		}
		return true
	})
	return out
}

// textOf is what an expression says; {} stands for what is not written there.
func textOf(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(x.Value) // the compiler takes it
		return strings.ReplaceAll(verb.ReplaceAllString(s, "{}"), "%%", "%")
	case *ast.BinaryExpr:
		if x.Op == token.ADD {
			return textOf(x.X) + textOf(x.Y)
		}
	case *ast.CallExpr:
		if f, ok := x.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Sprintf" {
			return textOf(x.Args[0])
		}
	}
	return "{}"
}
