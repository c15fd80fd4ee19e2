package web_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	cdp "github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	catalogue "sightline/cmd/internal/texts"
	"sightline/engine"
	"sightline/vision"
)

func german(t *testing.T) catalogue.Catalogue {
	data, err := os.ReadFile("static/texts/de.json")
	require.NoError(t, err)
	var c catalogue.Catalogue
	require.NoError(t, json.Unmarshal(data, &c))
	return c
}

// Pages that are English only as yet: those of a judge and of the table's owner.
var englishOnly = []string{"static/judge.html", "static/calibrate.html", "static/obstacles.html", "overlay/bootstrap.html",
	"overlay/setup.html"}

// sameInEvery are texts that are the same in every language.
var sameInEvery = regexp.MustCompile(`^(Sightline.*|[A-Z]|Esc|[a-z-]+ [a-z-]+secret|page address|\{\{.*|σ|sightline judge-secret)$`)

// TestNoTextOfAPageIsOutsideTheCatalogue: each text of a page is in German too.
func TestNoTextOfAPageIsOutsideTheCatalogue(t *testing.T) {
	c := german(t)
	var pages []string
	for _, pattern := range []string{"static/*.html", "overlay/*.html", "../status/static/*.html", "../projector/static/*.html"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		pages = append(pages, found...)
	}
	for _, path := range pages {
		if slices.Contains(englishOnly, path) {
			continue
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, text := range catalogue.Of(data) {
			if _, ok := c[text]; !ok && !sameInEvery.MatchString(text) {
				assert.Fail(t, "static/texts/de.json does not hold this text", "%s: %q", path, text)
			}
		}
	}
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

// englishWords are words that no German text has.
var englishWords = regexp.MustCompile(`(?i)\b(the|is|are|of|not|and|range|which|obstacles?|ships?|arc|from|with|nothing|would|be|edge|yet)\b`)

// TestThePagesInGerman opens the players' pages in a German browser: nothing on them is
// English, whoever made the sentence.
func TestThePagesInGerman(t *testing.T) {
	browser := newBrowser(t, 3*time.Minute)
	require.NoError(t, chromedp.Run(browser, cdp.Enable(),
		cdp.SetExtraHTTPHeaders(cdp.Headers{"Accept-Language": "de-DE,de;q=0.9,en;q=0.6"})))
	for name, c := range map[string]struct {
		change   func(*live.State)
		from, to string
		arc      engine.Arc
		want     string
	}{
		"a shot":    {withObstacles, "A1", "B1", engine.ArcFront, "In Reichweite 2, im vorderen Feuerwinkel"},
		"too close": {withObstacles, "A2", "B2", engine.ArcFront, "Zu knapp: Reichweite 2 oder 3"},
		"no shot":   {func(*live.State) {}, "A1", "B1", engine.ArcRear, "Kein Schuss: außerhalb des hinteren Feuerwinkels"},
		"too far":   {withObstacles, "A1", "B3", engine.ArcFront, "Kein Schuss: jenseits von Reichweite 3"},
		"not allowed": {func(s *live.State) { s.Policy.Measuring = live.MeasuringEdition }, "A1", "B1", engine.ArcFront,
			"Wird zurzeit nicht gemessen"},
		"no ships": {func(s *live.State) {
			s.Located.Scene.Ships, s.Located.Ships, s.Result = nil, nil, engine.Result{}
			s.Register.Watch = live.Watch{State: "ok", Seen: 7, Of: 8}
		}, "", "", engine.ArcFront, "Wähle ein Paar"},
		"covered": {func(s *live.State) {
			s.Tracks = []vision.Track{{Ship: s.Located.Scene.Ships[3], State: vision.Hidden, Captured: s.At}}
			s.Located.Captured = s.At
		}, "A1", "B1", engine.ArcFront, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeTable(t)
			f.change(c.change)
			f.choose(live.Choice{From: c.from, To: c.to, Arc: c.arc})
			server := steady(t, f)
			var title, lang, all string
			within(t, browser, "the page", screen(1920, "dark"), chromedp.Navigate(server.URL),
				chromedp.Poll(`document.getElementById("status").dataset.code === "ok"`, nil), chromedp.Text("#title", &title),
				chromedp.Evaluate(`document.documentElement.lang`, &lang), chromedp.Evaluate(`document.body.innerText`, &all))
			assert.Equal(t, "de", lang)
			if c.want != "" {
				assert.Equal(t, c.want, title)
			}
			for line := range strings.SplitSeq(all, "\n") {
				assert.False(t, englishWords.MatchString(line), "English: %q", line)
			}
		})
	}
}
