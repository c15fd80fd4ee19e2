//go:build browser

package web_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdp "github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/first"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/vision"
)

// TestThePagesInGerman opens the players' pages in a German browser: nothing on them is
// English, whoever made the sentence.
func TestThePagesInGerman(t *testing.T) {
	t.Parallel()
	browser := browsertest.New(t, 3*time.Minute)
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
			within(t, browser, "the page", screen(largeWide, "dark"), chromedp.Navigate(server.URL),
				browsertest.Poll(`document.getElementById("status").dataset.code === "ok"`, nil), chromedp.Text("#title", &title),
				chromedp.Evaluate(`document.documentElement.lang`, &lang), chromedp.Evaluate(`document.body.innerText`, &all))
			assert.Equal(t, "de", lang)
			if c.want != "" {
				assert.Equal(t, c.want, title)
			}
			for line := range strings.SplitSeq(all, "\n") {
				assert.False(t, englishWords.MatchString(pageAddresses.ReplaceAllString(line, "")), "English: %q", line)
			}
		})
	}
}

// TestNamesStandInGermanSentences: a source with options does not keep a sentence English, and a game's title names its players as they
// are called.
func TestNamesStandInGermanSentences(t *testing.T) {
	t.Parallel()
	browser := browsertest.New(t, time.Minute)
	var said, list, title string
	within(t, browser, "the sentence", cdp.Enable(), cdp.SetExtraHTTPHeaders(cdp.Headers{"Accept-Language": "de"}),
		chromedp.Navigate(gameServer(true)(t).URL+"/replay"), chromedp.WaitVisible("#games a"), chromedp.Text("#games a", &title),
		chromedp.Evaluate(`import("/texts.js").then(async (t) => (await t.ready, t.say("sim:1280x720,still=1,seed=3 gives pictures.")))`, &said,
			func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	assert.Equal(t, "sim:1280x720,still=1,seed=3 liefert Bilder.", said)
	assert.Equal(t, "Ada gegen Ben", title)
	within(t, browser, "the game", chromedp.Navigate(gameServer(true)(t).URL+"/game"), chromedp.WaitReady("#games strong"),
		chromedp.TextContent("#games strong", &list))
	assert.Equal(t, "Ada gegen Ben", list)
}

// TestACatalogueThatComesLateTranslatesWhatIsDrawn: the page says its texts while the catalogue is
// still on its way, on a slow network. A text whose figures were German by then is in no catalogue.
func TestACatalogueThatComesLateTranslatesWhatIsDrawn(t *testing.T) {
	browser := browsertest.New(t, time.Minute)
	_, s := everything(t, func(o *web.Options) {
		o.Routes = firstDesk(t, first.Facts{}, first.Kept{Version: 1, Quick: true, Paper: "a4", Ships: "A1-A4,B1-B4"}).Routes()
	})
	drawn := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/texts/de.json" {
			select {
			case <-drawn:
			case <-r.Context().Done():
			}
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	const gain = `document.querySelector("#step-obstacles .gain span")?.textContent`
	var before string
	within(t, browser, "the page before the catalogue", cdp.Enable(),
		cdp.SetExtraHTTPHeaders(cdp.Headers{"Accept-Language": "de-DE,de;q=0.9,en;q=0.6"}), chromedp.Navigate(server.URL+"/first"),
		browsertest.Poll(gain, nil), chromedp.Evaluate(gain, &before))
	assert.Equal(t, "Obstruction is answered, to 0.2 mm of a traced edge.", before)
	close(drawn)
	within(t, browser, "the page in German",
		browsertest.Poll(gain+` === "Die Versperrung wird beantwortet, auf 0,2 mm einer nachgezeichneten Kante."`, nil))
}

// foreign lists the visible texts of a page that the catalogue cannot have made. A text is
// the catalogue's when it is a translation, one with something put in, or put together from
// such; names, numbers and what translate="no" marks are as they are.
const foreign = `(async () => {
	const catalogue = await (await fetch("/texts/de.json")).json();
	const all = Object.values(catalogue), whole = new Set(all.map((t) => t.toLowerCase()));
	const patterns = all.filter((t) => t.includes("{")).map((t) => new RegExp("^" +
		t.split(/\{\d\}/).map((s) => s.replace(/[.*+?^$()|[\]\\{}]/g, "\\$&")).join("(.+?)") + "$", "i"));
	const asIs = /^[^a-zäöüß]*$|^[A-Za-z]\d+(?: \([^()]*\))?$|^[\w./:-]*[\d_/:][\w./:,-]*$|^Sightline/;
	const shown = (e) => (e.closest("select") ?? e).checkVisibility(); // a list's options are seen once it is opened
	const known = new Map();
	const ok = (text) => {
		const t = text.trim();
		if (!known.has(t)) { known.set(t, false); known.set(t, judge(t)); }
		return known.get(t);
	};
	const judge = (t) => asIs.test(t.replace(/\b(mm²?|px|rms|m?s|min|MJPG|XWS|CSV|JSON|OBS)(?![\wäöüß])/g, "")) || whole.has(t.toLowerCase()) || whole.has(t.toLowerCase() + ".") || patterns.some((p) => {
		const found = p.exec(t);
		return found && found.slice(1).every((s) => ok(s) || !/\b(the|is|are|of|not|and|which|obstacles?|ships?|from|with|would|be|yet)\b/i.test(s));
	}) || (/[.:]$/.test(t) && ok(t.slice(0, -1))) || [". ", "; ", ": ", ", ", " · "].some((j) => t.includes(j) &&
		t.split(j).every((s) => s !== t && ok(s)));
	const out = new Set(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const at = walk.currentNode, e = at.parentElement, text = at.data.replace(/\s+/g, " ").trim();
		if (!text || e.closest('[translate="no"], script, style, noscript, textarea, template, code, kbd') || !shown(e)) continue;
		if (!ok(text)) out.add((e.closest("[id]")?.id ?? "") + ": " + text);
	}
	for (const group of document.querySelectorAll("optgroup")) if (shown(group) && !ok(group.label)) out.add("a group: " + group.label);
	return [...out].sort();
})()`

// figuresWith lists a page's visible figures with a unit that have this mark before their decimals, also where
// the unit stands in an element of its own.
func figuresWith(mark string) string {
	return `(() => {
		const figure = /\d` + mark + `\d+\s?(?:[%°σ″]|±|(?:mm²?|cm|m|px(?:\/mm)?|m?s|min|in|rms|MB|kB)(?![\wäöüß]))/;
		const silent = '[translate="no"], script, style, noscript, textarea, template, code';
		const out = new Set();
		for (const e of document.body.querySelectorAll("*")) {
			if (e.closest(silent) || !e.checkVisibility()) continue;
			const texts = ["aria-label", "title", "alt", "placeholder", "data-name"].map((name) => e.getAttribute(name) ?? "");
			if (!e.querySelector(silent) && e.textContent.length < 400) texts.push(e.textContent);
			else for (const child of e.childNodes) if (child.nodeType === Node.TEXT_NODE) texts.push(child.data);
			for (const text of texts) if (figure.test(text)) out.add(figure.exec(text)[0] + " in: " + text.trim().slice(0, 120));
		}
		return [...out].sort();
	})()`
}

// overfull returns the texts of the buttons that reach beyond their edge.
const overfull = `[...document.querySelectorAll("button, summary")].filter((e) =>
	e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).textOverflow !== "ellipsis").map((e) => e.textContent.trim())`

// TestEveryPageInGerman opens every page in every state that is looked at in a German browser:
// each visible text is from the catalogue. PAGES=game,judge looks at these alone.
func TestEveryPageInGerman(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short looks at the pages")
	}
	browsers := twoBrowsers(t)
	for _, p := range allPages() {
		if only := os.Getenv("PAGES"); only != "" && !slices.Contains(strings.Split(only, ","), p.name) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			browser := <-browsers
			defer func() { browsers <- browser }()
			server := p.open(t)
			tab, cancel := chromedp.NewContext(browser)
			defer cancel()
			require.NoError(t, chromedp.Run(tab)) // without a time: the tab ends with its first run's
			within(t, tab, "the page is not drawn: "+p.ready, cdp.Enable(),
				cdp.SetExtraHTTPHeaders(cdp.Headers{"Accept-Language": "de-DE,de;q=0.9,en;q=0.6"}), emulation.SetTimezoneOverride("UTC"),
				emulation.SetLocaleOverride().WithLocale("de-DE"), screen(phoneWide, "dark"), chromedp.Navigate(server.URL+p.path),
				chromedp.WaitVisible(p.ready))
			for _, do := range p.do {
				within(t, tab, "the page does not come into its state", do)
			}
			var found []string
			within(t, tab, "the buttons", chromedp.Evaluate(overfull, &found))
			assert.Empty(t, found, "texts that are wider than their button, on a phone")
			within(t, tab, "the texts", screen(largeWide, "dark"), chromedp.Evaluate(settled, nil, awaiting),
				chromedp.Evaluate(foreign, &found, awaiting))
			assert.Empty(t, found, "visible texts that are not from static/texts/de.json")
			within(t, tab, "the figures", chromedp.Evaluate(figuresWith(`\.`), &found))
			assert.Empty(t, found, "figures with a decimal point, in German")
			if dir := os.Getenv("PAGES_DIR"); dir != "" {
				var shot []byte
				within(t, tab, "the picture", chromedp.FullScreenshot(&shot, 100))
				require.NoError(t, os.WriteFile(filepath.Join(dir, "de-"+p.name+".png"), shot, 0o644))
			}
		})
	}
}
