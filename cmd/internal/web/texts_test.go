package web_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/setup"
	catalogue "sightline/cmd/internal/texts"
	"sightline/cmd/internal/web"
)

func german(t *testing.T) catalogue.Catalogue {
	data, err := os.ReadFile("static/texts/de.json")
	require.NoError(t, err)
	var c catalogue.Catalogue
	require.NoError(t, json.Unmarshal(data, &c))
	return c
}

// sameInEvery are texts that are the same in every language: names, what people type, what
// programs read.
var sameInEvery = regexp.MustCompile(`^(Sightline.*|[A-Z]|Esc|[a-z -]+secret|page address|\{.*|σ|mm|1e|camera\.source|/overlay/all|` +
	`sightline hall invite 7|Assault at the Satellite Array|Chance Engagement|Salvage Mission|Scramble the Transmissions)$`)

// eachPage calls look with the path and the text of every page as it is served, and returns how
// many there are.
func eachPage(t *testing.T, look func(path, html string)) (pages int) {
	t.Helper()
	found, err := filepath.Glob("../*/static/*.html")
	require.NoError(t, err)
	for _, path := range found {
		w := httptest.NewRecorder()
		web.Static(os.DirFS(filepath.Dir(path)), filepath.Base(path))(w, httptest.NewRequest(http.MethodGet, "/", nil))
		require.Equal(t, http.StatusOK, w.Code, "%s: %s", path, w.Body)
		look(path, w.Body.String())
	}
	return len(found)
}

// eachOverlay is eachPage for the pages of overlays, which are templates.
func eachOverlay(t *testing.T, look func(path, html string)) {
	t.Helper()
	found, err := filepath.Glob("overlay/*.html")
	require.NoError(t, err)
	for _, path := range found {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		look(path, string(data))
	}
}

// TestNoTextOfAPageIsOutsideTheCatalogue: each text of each page's HTML is in German too.
func TestNoTextOfAPageIsOutsideTheCatalogue(t *testing.T) {
	c := german(t)
	check := func(path, html string) {
		for _, text := range catalogue.Of([]byte(html)) {
			if _, ok := c[text]; !ok && !sameInEvery.MatchString(text) {
				assert.Fail(t, "static/texts/de.json does not hold this text", "%s: %q", path, text)
			}
		}
	}
	assert.GreaterOrEqual(t, eachPage(t, check), 17)
	eachOverlay(t, check)
}

// TestEveryPageHasTheSameHeader: the mark, a name, the theme, and where else to go, the table (or the
// hall) last. The table's own page has no way back to itself.
func TestEveryPageHasTheSameHeader(t *testing.T) {
	header := regexp.MustCompile(`(?s)<header class="top">\n  <img class="mark" [^>]*>\n  <h1.*?</h1>\n.*` +
		`  <button type="button" class="theme" data-theme-button aria-label="Theme"><span aria-hidden="true">◐</span></button>\n` +
		`(?:  <nav aria-label="Pages">.*<a href="/[a-z]*">[A-Za-z ]+</a></nav>\n)?</header>`)
	pages := eachPage(t, func(path, html string) {
		assert.Regexp(t, header, html, path)
		if !strings.HasSuffix(path, "index.html") && !strings.HasSuffix(path, "hall.html") {
			assert.Regexp(t, `<a href="/">(Table|The hall)</a></nav>`, html, path)
		}
	})
	assert.GreaterOrEqual(t, pages, 17)
}

// TestEveryPageNamesItsIcon: a browser asks for /favicon.ico else, which is not there. The page that waits for
// the program is a file.
func TestEveryPageNamesItsIcon(t *testing.T) {
	check := func(path, html string) {
		if !strings.HasSuffix(path, "bootstrap.html") {
			assert.Regexp(t, `<link rel="icon" href="/icon.svg" type="image/svg\+xml">`, html, path)
		}
	}
	eachPage(t, check)
	eachOverlay(t, check)
}

// TestNoValueOfAnOptionIsTranslated: an option without a value has its text for one, which
// another language would change.
func TestNoValueOfAnOptionIsTranslated(t *testing.T) {
	eachPage(t, func(path, html string) { assert.NotContains(t, html, "<option>", path) })
}

// TestEveryRuleIsInTheCatalogue: the rules' words on the judge's page are in German too, each whole.
func TestEveryRuleIsInTheCatalogue(t *testing.T) {
	c := german(t)
	assert.NotEmpty(t, web.RulesInWords)
	for number, words := range web.RulesInWords {
		assert.NotEmpty(t, c[words], "%s: static/texts/de.json does not hold %q", number, words)
	}
}

// TestTheHeatMapIsInTheBrowsersLanguage: every text in the picture is from the catalogue, and its figures have a
// decimal comma.
func TestTheHeatMapIsInTheBrowsersLanguage(t *testing.T) {
	table := calibration.Table{Camera: straightDown(), Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
		PoseCovariance: make([]float64, 36), RMS: 0.05, Used: []int{0, 1, 2, 3, 4, 5, 6}}
	for i := range 6 {
		table.PoseCovariance[7*i] = 1e-8
	}
	f, s := serveCalibration(t)
	f.hub.Publish(live.CalibrationState{State: setup.State{Table: setup.TableState{Table: &table}}})
	heat := func(lang string) (out []string) {
		r, err := http.NewRequest(http.MethodGet, s.URL+"/api/calibration/heat.svg", nil)
		require.NoError(t, err)
		r.Header.Set("Accept-Language", lang)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.StatusCode, string(body))
		assert.Equal(t, "Accept-Language", answer.Header.Get("Vary"))
		for _, m := range regexp.MustCompile(`<(?:text|title|desc)[^>]*>([^<]*)<`).FindAllStringSubmatch(string(body), -1) {
			out = append(out, html.UnescapeString(m[1]))
		}
		return out
	}
	english, translated := heat("en"), heat("de")
	require.Len(t, translated, len(english))
	c, words, figures := german(t), regexp.MustCompile(`[a-z]{2}`), 0
	for i, text := range translated {
		assert.NotRegexp(t, `\d\.\d`, text)
		if !words.MatchString(english[i]) { // a figure
			assert.Equal(t, strings.ReplaceAll(english[i], ".", ","), text)
			figures++
			continue
		}
		assert.NotEqual(t, english[i], text)
	}
	assert.Greater(t, figures, 10)
	assert.Contains(t, english, "player 1")
	assert.Contains(t, translated, c["player 1"])
	assert.Contains(t, translated, c["sigma, mm"])
	assert.Contains(t, strings.Join(english, "\n"), "markers: 7 used, 1 left out (red)")
	assert.Contains(t, strings.Join(translated, "\n"), "Marker: 7 verwendet, 1 weggelassen (rot)")
	assert.Contains(t, strings.Join(translated, "\n"), " mm für ein Bild; ")
}

// TestEveryHealthIsInTheCatalogue: how the table is, in a few words, in detail and with advice, is
// said in German too. What a place in a text holds is left out.
func TestEveryHealthIsInTheCatalogue(t *testing.T) {
	c := german(t)
	var patterns []*regexp.Regexp
	for key := range c {
		if strings.Contains(key, "{}") {
			patterns = append(patterns, regexp.MustCompile("(?i)^"+strings.ReplaceAll(regexp.QuoteMeta(key), `\{\}`, ".+")+"$"))
		}
	}
	known := func(s string) bool {
		_, whole := c[s]
		_, open := c[strings.TrimSuffix(s, ".")]
		return whole || open || slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(s) })
	}
	words := regexp.MustCompile(`[a-z]{2,} [a-z]{2,}`)
	n := 0
	files, err := filepath.Glob("../*/*.go")
	require.NoError(t, err)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, text := range healthsOf(t, path) {
			for sentence := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(text), "."), ". ") {
				if n++; words.MatchString(sentence) {
					with, without := strings.ReplaceAll(sentence, "{}", "A7"), strings.TrimSpace(strings.ReplaceAll(sentence, "{}", ""))
					assert.True(t, known(with+".") || known(without+"."), "%s: static/texts/de.json does not hold %q", path, sentence)
				}
			}
		}
	}
	assert.Greater(t, n, 40)
}

// healthsOf lists the texts that a file gives to a live.Health; {} stands for their arguments.
func healthsOf(t *testing.T, path string) (out []string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	said := []string{"Title", "Detail", "Advice"}
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.CompositeLit:
			if kind, ok := x.Type.(*ast.SelectorExpr); !ok || kind.Sel.Name != "Health" {
				return true
			}
			for _, e := range x.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && slices.Contains(said, kv.Key.(*ast.Ident).Name) {
					out = append(out, textOf(kv.Value))
				}
			}
		case *ast.AssignStmt:
			if to, ok := x.Lhs[0].(*ast.SelectorExpr); ok && slices.Contains(said, to.Sel.Name) {
				if of, ok := to.X.(*ast.Ident); ok && of.Name == "h" {
					out = append(out, textOf(x.Rhs[0]))
				}
			}
		}
		return true
	})
	return out
}

// TestTheCatalogueIsSound: what a translation puts in stands in the text, and all of it.
func TestTheCatalogueIsSound(t *testing.T) {
	place := regexp.MustCompile(`\{(\d?)\}`)
	for text, translation := range german(t) {
		n := strings.Count(text, "{}")
		var used []string
		for _, m := range place.FindAllStringSubmatch(translation, -1) {
			used = append(used, m[1])
		}
		slices.Sort(used)
		used = slices.Compact(used)
		for i := range used {
			k, err := strconv.Atoi(used[i])
			assert.NoError(t, err, "%q: expected {1} to {%d} in its translation", text, n)
			assert.LessOrEqual(t, k, n, text)
		}
		// A ship or a figure that is left out would be another statement.
		assert.True(t, len(used) == n || strings.HasPrefix(text, "The ships are in contact outside"), "%q: %q leaves something out", text,
			translation)
		assert.Equal(t, strings.TrimSpace(translation), translation, text)
	}
}

// TestTheSentencesOfAGameAreInTheCatalogue: what the log, the score and the shots of a game say
// comes from the server, and on no page's HTML.
func TestTheSentencesOfAGameAreInTheCatalogue(t *testing.T) {
	catalogue := german(t)
	for _, text := range []string{"{} can attack {} at range {}.", "{} can attack {} at range {}, if its turret points to the rear arc.",
		"by the ship data {} has no primary weapon in the rear arc", "{} is at range {}, and the weapon's ranges are {}",
		"No shot: {} is destroyed", "{} can lock {}.", "Not counted: {}. Give the points by hand.", "{}: too close to call: {}",
		"it overlaps {}", "SLAM, at the speed of its maneuver ({})", "{} tows {}", "{} may tow {}: it is at range 0–1 ({} mm)",
		"{} supply caches on ship cards", "{} for contesting the satellite", "{} stands on a {} base, and {} has a {} one",
		"placed in the play area", "it gains, allocates and uses energy before its action", "The game is over: {}, {} to {}, a draw",
		"Ships tow and scramble from round 2 on.", "{} counts as {} at {}: at range {} ({} mm) ({})"} {
		assert.Contains(t, catalogue, text)
	}
}

// englishWords are words that no German text has.
var englishWords = regexp.MustCompile(`(?i)\b(the|is|are|of|not|and|range|which|obstacles?|ships?|arc|from|with|nothing|would|be|edge|yet)\b`)

// pageAddresses are those of pages, which are the same in every language.
var pageAddresses = regexp.MustCompile(`(^|\s)/[a-z-]+`)
