//go:build browser

package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/director"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
	"sightline/engine"
)

// directed is a server with the director's page, whose table tells a state five times a second.
func directed(t *testing.T) (*fakeTable, *httptest.Server, func()) {
	f := newFakeTable(t)
	f.options = func(o *web.Options) { o.Routes = (&director.Page{Direct: f.direct}).Routes() }
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	require.NoError(t, f.setMatch(live.Match{Round: "Round 3",
		Sides: [2]live.MatchSide{{Name: "Ada"}, {Name: "Maximilian E. Habsburg-Lothring"}}}))
	return f, serve(t, f), beat(t, f)
}

// air waits until an expression over the overlay's document d, in the director's page, is true.
func air(what string) chromedp.Action {
	return browsertest.Poll(`(() => { const d = document.getElementById("shown").contentDocument;
		const on = (id) => !!d.getElementById(id) && !d.getElementById(id).hidden, text = (id) => d.getElementById(id).textContent;
		const mark = (id) => d.getElementById(id).dataset.frozen || ""; return !!(`+what+`); })()`, nil,
		chromedp.WithPollingInterval(50*time.Millisecond))
}

// says waits until the director's page says this of what is on air.
func says(what string) chromedp.Action {
	return browsertest.Poll(fmt.Sprintf(`document.getElementById("air-note").textContent === %q`, what), nil)
}

// TestTheDirectorsKeysReachTheOverlay: each hotkey does what it says on an overlay whose
// address stays, and nothing frozen is on air without its mark.
func TestTheDirectorsKeysReachTheOverlay(t *testing.T) {
	t.Parallel()
	ctx := browsertest.New(t, 2*time.Minute)
	require.NoError(t, chromedp.Run(ctx, chromedp.EmulateViewport(1440, 900)))
	f, server, silence := directed(t)
	key := func(k string) chromedp.Action { return chromedp.KeyEvent(k) }
	begin := chromedp.Tasks{chromedp.Navigate(server.URL + "/director"), chromedp.WaitEnabled("#freeze")}
	all := `on("table") && on("pair") && on("match") && mark("pair") === ""`

	within(t, ctx, "everything is on air", begin, air(all+` && text("pair-to") === "B1"`))
	within(t, ctx, "a pair of the director's", key("t"), key("o"), air(`text("pair-from") === "A1" && text("pair-to") === "B2"`))
	assert.Equal(t, "B1", f.hub.Newest().Choice.To, "the players' choice stays")
	within(t, ctx, "the players' pair", key("p"), air(`text("pair-to") === "B1"`))
	within(t, ctx, "who has chosen in a list", chromedp.Focus("#pair select[name=to]"), key("o"), air(`text("pair-to") === "B2"`),
		key("p"), air(`text("pair-to") === "B1"`))
	within(t, ctx, "no table, no match", key("1"), key("4"), air(`!on("table") && !on("match") && on("pair")`))
	within(t, ctx, "both again", key("1"), key("4"), air(all))
	within(t, ctx, "no pair", key("2"), air(`!on("pair") && !d.querySelector("#top .measure")`), says("no pair: it is hidden"), key("2"),
		air(all), says("A1 to B1, front"))

	within(t, ctx, "frozen", key("f"), air(`on("pair") && / not live$/.test(mark("pair")) && / not live$/.test(mark("table"))`))
	if path := os.Getenv("DIRECTOR_PNG"); path != "" {
		var png []byte
		within(t, ctx, "a picture", chromedp.FullScreenshot(&png, 100))
		require.NoError(t, os.WriteFile(path, png, 0o644))
	}
	f.choose(live.Choice{From: "A2", To: "B1", Arc: engine.ArcFront})
	require.NoError(t, f.setMatch(live.Match{Round: "Round 4"}))
	within(t, ctx, "what is measured is kept, what is written is not", air(`text("match-round") === "Round 4"`),
		air(`text("pair-from") === "A1" && /FROZEN/.test(mark("pair"))`))
	within(t, ctx, "a page that comes later has nothing to keep", chromedp.Sleep(time.Second), begin,
		air(`on("match") && !on("pair") && !on("table")`))
	within(t, ctx, "live again", key("f"), air(all+` && text("pair-from") === "A2"`))

	f.change(func(s *live.State) { s.Held, s.Hold = true, &live.Held{Number: 1, At: s.At, AskedBy: "Anna"} })
	within(t, ctx, "held", air(`!on("pair") && !on("table")`), says("A judge was called. The picture is held."))
	f.change(func(s *live.State) { s.Held, s.Hold = false, nil })
	within(t, ctx, "released", air(all), says("A2 to B1, front"))

	within(t, ctx, "frozen again", key("f"), air(`/FROZEN/.test(mark("pair"))`))
	f.change(func(s *live.State) { s.Ruling = &live.Ruling{Number: 7, At: time.Now(), From: "A2", To: "B1"} })
	within(t, ctx, "a ruling ends it", air(`on("ruling") && mark("ruling") === "" && !on("pair") && !on("table")`))
	f.change(func(s *live.State) { s.Ruling = nil })
	within(t, ctx, "kept", air(`on("pair") && /FROZEN/.test(mark("pair"))`))
	silence()
	within(t, ctx, "a silent box shows nothing, frozen or not", air(`!on("pair") && !on("table") && !on("match")`))
}

// TestLongNamesAreShortenedGracefully: long names stay within their place.
func TestLongNamesAreShortenedGracefully(t *testing.T) {
	ctx := browsertest.New(t, time.Minute)
	require.NoError(t, chromedp.Run(ctx, transparent(1920, 1080)))
	f, server, _ := directed(t)
	var short, long string
	var fits bool
	within(t, ctx, "the match", chromedp.Navigate(server.URL+"/overlay/match"), chromedp.WaitVisible("#match"),
		chromedp.Text("#match-name-1", &short), chromedp.Text("#match-name-2", &long),
		chromedp.Evaluate(`(() => { const e = document.getElementById("match-name-2"); return e.scrollWidth <= e.clientWidth; })()`, &fits))
	assert.Equal(t, "Ada", short)
	assert.True(t, strings.HasPrefix(long, "M. ") && strings.HasSuffix(long, "Habsburg-Lothring"), long)
	assert.True(t, fits)
	// The event's title, as long as one may be: it takes no more than its place from the names.
	for _, title := range []string{"Regional Championship of Lower Saxony and the Hanseatic City", strings.Repeat("W", 60),
		strings.Repeat("機", 60)} {
		require.Len(t, []rune(title), 60)
		require.NoError(t, f.setMatch(live.Match{Title: title, Round: "Round 3, quarter finals", Sides: f.hub.Newest().Match.Sides}))
		var over []string
		within(t, ctx, title, browsertest.Poll(fmt.Sprintf(`document.getElementById("match-title").textContent === %q`, title), nil), chromedp.Evaluate(`(() => {
			const box = (id) => document.getElementById(id).getBoundingClientRect(), bar = box("match"), out = [];
			const event = document.querySelector("#match .event").getBoundingClientRect();
			for (const id of ["match-title", "match-round", "match-name-1", "match-name-2", "match-score-1", "match-score-2"]) {
				const b = box(id);
				if (b.left < bar.left || b.right > bar.right || b.top < bar.top || b.bottom > bar.bottom) out.push(id + " leaves the bar");
			}
			for (const id of ["match-title", "match-round"]) {
				const b = box(id);
				if (b.left < event.left + 20 || b.right > event.right - 20) out.push(id + " reaches the edge of its place");
			}
			for (const id of ["match-name-1", "match-name-2"]) {
				const e = document.getElementById(id);
				if (e.scrollWidth > e.clientWidth) out.push(id + " is cut");
			}
			return out;
		})()`, &over))
		assert.Empty(t, over, title)
		if path := os.Getenv("MATCH_PNG"); path != "" {
			var png []byte
			within(t, ctx, "a picture", chromedp.Screenshot("#match", &png))
			require.NoError(t, os.WriteFile(path+string([]rune(title)[:1])+".png", png, 0o644))
		}
	}
	var ways []string
	within(t, ctx, "the ways", chromedp.Evaluate(`import("/overlay-name.js").then((m) => m.shorter("Ada Éva Lovelace"))`, &ways, awaiting))
	assert.Equal(t, []string{"Ada Éva Lovelace", "A. Éva Lovelace", "A. É. Lovelace"}, ways)
	within(t, ctx, "the ways", chromedp.Evaluate(`import("/overlay-name.js").then((m) => m.shorter("👩\u200d👧 Ada"))`, &ways, awaiting))
	assert.Equal(t, []string{"👩\u200d👧 Ada", "👩\u200d👧. Ada"}, ways)
}

// frozenTable tries what may be shown of what the director froze and hid.
func frozenTable(t *testing.T, ctx context.Context) {
	server := serve(t, newFakeTable(t))
	const now = 1700000100000
	type m = map[string]any
	state := func(at, frozen int, hidden string, change ...func(m)) m {
		h := m{"table": false, "pair": false, "ruling": false, "match": false}
		for _, widget := range strings.Fields(hidden) {
			h[widget] = true
		}
		s := m{"at_unix_ms": at, "health": m{"code": "ok"}, "mat": m{"width_mm": 914.4}, "held": nil, "ruling": nil, "overlay": m{},
			"answer": m{"outcome": "yes"}, "match": m{"title": "", "round": "3", "sides": []m{}}, "policy": m{"measuring": "free"},
			"director": m{"frozen_unix_ms": frozen, "hidden": h}}
		for _, c := range change {
			c(s)
		}
		return s
	}
	set := func(key string, value any) func(m) { return func(s m) { s[key] = value } }
	frozen := now - 60000
	kept := state(frozen+50, frozen, "")
	cases := []struct {
		name  string
		state m
		kept  any
		want  string
	}{
		{"live", state(now, 0, ""), nil, "table places pair match"},
		{"hidden", state(now, 0, "table match"), nil, "pair"},
		{"a hidden ruling", state(now, 0, "ruling", set("ruling", m{"number": 1, "at_unix_ms": now - 1000})), nil,
			"table places pair match"},
		{"frozen for a minute: nothing over the camera", state(now, frozen, ""), kept, "table pair match frozen"},
		{"frozen, and the pair is not seen any more", state(now, frozen, "", set("answer", m{"outcome": "no_view"})), kept,
			"table pair match frozen"},
		{"frozen, and the table hidden", state(now, frozen, "table"), kept, "pair match frozen"},
		{"frozen before this page was there", state(now, frozen, ""), nil, "match"},
		{"frozen, and the box is silent", state(now-4000, frozen, ""), kept, ""},
		{"frozen, and a judge was called", state(now, frozen, "", set("held", m{"asked": "Ada"})), kept, "match held"},
		{"frozen, and ruled since", state(now, frozen, "", set("ruling", m{"number": 1, "at_unix_ms": now - 1000})), kept, "ruling match"},
		{"frozen, and agreed otherwise since", state(now, frozen, "", set("policy", m{"measuring": "judge"})), kept, "match"},
		{"all hidden, and a judge was called", state(now, 0, "table pair ruling match", set("held", m{"asked": ""})), nil, ""},
	}
	inputs := []m{}
	for _, c := range cases {
		inputs = append(inputs, m{"state": c.state, "kept": c.kept, "now": now, "lost": false, "ttl": 12})
	}
	data, err := json.Marshal(inputs)
	require.NoError(t, err)
	first, err := json.Marshal([]m{kept, state(frozen+5000, frozen, "")})
	require.NoError(t, err)
	var answers []m
	var kepts []bool
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate(server.URL+"/overlay/all?demo=1"),
		chromedp.Evaluate(`import("/overlay-gate.js").then((g) => `+string(data)+`.map(g.decide))`, &answers, awaiting),
		chromedp.Evaluate(`import("/overlay-gate.js").then((g) => { const [a, b] = `+string(first)+`;
			return [g.froze(a, null) === a, g.froze(b, a) === a, g.froze(b, null) === null]; })`, &kepts, awaiting)))
	for i, c := range cases {
		var got []string
		for _, key := range []string{"table", "places", "pair", "ruling", "match", "held", "frozen"} {
			if answers[i][key] == true {
				got = append(got, key)
			}
		}
		assert.Equal(t, c.want, strings.Join(got, " "), fmt.Sprint(c.name, ": ", answers[i]["why"]))
	}
	assert.Equal(t, []bool{true, true, true}, kepts, "the first state is kept, and only by a page that was there")
}
