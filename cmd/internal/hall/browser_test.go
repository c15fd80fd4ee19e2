//go:build browser

package hall_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/director"
	"sightline/cmd/internal/event"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// browser returns a browser and what its pages complain of, but for the icon that it asks for.
func browser(t *testing.T) (ctx context.Context, complaints func() []string) {
	ctx = browsertest.New(t, 3*time.Minute, chromedp.WindowSize(1280, 900))
	all := browsertest.Complaints(ctx)
	return ctx, func() []string {
		return slices.DeleteFunc(all(), func(c string) bool { return strings.HasSuffix(c, "/favicon.ico") })
	}
}

// judged is the record of a table's own server.
type judged struct {
	t testing.TB
	p *played
}

// Rule implements web.Rulings.
func (j judged) Rule(q live.RuleRequest) (live.Ruling, error) {
	s := j.p.hub.Newest()
	if s.Hold == nil || s.Hold.Number != q.Held {
		return live.Ruling{}, live.ErrHeldChanged
	}
	r, err := live.NewRuling(s.Hold, q)
	if err != nil {
		return r, err
	}
	e := j.p.book.rule(j.t, "from the hall, by "+q.Judge, 5000)
	r.Number, r.EntryHash, r.At = uint64(e.Number), e.Hash, e.At
	j.p.hub.Update(func(s live.State) live.State { s.Ruling = &r; return s })
	return r, nil
}

func (judged) List(uint64, int) ([]live.Ruling, error) { return nil, nil }
func (judged) Entry(uint64) ([]byte, error)            { return nil, live.ErrNoRuling }
func (judged) Picture(uint64) ([]byte, string, error)  { return nil, "", live.ErrNoRuling }
func (judged) Export(io.Writer, uint64) error          { return errors.New("no export") }
func (judged) ExportAll(io.Writer) error               { return errors.New("no export") }

// seeing lets a table see two ships, and serve its own pages.
func (p *played) seeing(t testing.TB, names [2]string) {
	t.Helper()
	cov := geom.Cov3{0.04, 0, 0, 0, 0.04, 0, 0, 0, 1e-5}
	scene := engine.Scene{Rules: engine.Rules25, MatWidth: 914.4, MatHeight: 914.4, ScaleSigma: 0.0003}
	for i, y := range []float64{300, 487.3} {
		scene.Ships = append(scene.Ships, engine.Ship{ID: []string{"A1", "B1"}[i], Player: i + 1, Base: engine.Small, Covariance: cov,
			Seen: "token", Visible: 1, Pose: geom.Pose{Point: geom.Point{X: 300, Y: y}, Heading: geom.Angle(180*i) * geom.Degree}})
	}
	result, err := engine.Measure(&scene, engine.Options{})
	require.NoError(t, err)
	gray := image.NewGray(image.Rect(0, 0, 960, 960))
	for i := range gray.Pix {
		gray.Pix[i] = byte(60 + i%7)
	}
	pair := result.Pairs[0]
	p.hub.Update(func(s live.State) live.State {
		s.Located = vision.Located{Scene: scene, Captured: time.Now()}
		s.Result, s.Sigmas, s.Pair, s.Choice = result, 3, &pair, live.Choice{From: pair.From, To: pair.To, Arc: engine.ArcFront}
		s.Frame = vision.Frame{Gray: gray, Seq: 1}
		s.Match.Sides[0].Name, s.Match.Sides[1].Name = names[0], names[1]
		s.Register.From = "table.json"
		return s
	})
	p.serve = web.NewServer(web.Options{
		Hub: p.hub, Choose: func(live.Choice) {}, Agree: func(live.Measuring, bool) {}, Declare: func(*live.Declaration) {},
		Freeze: func(live.HoldRequest) error { return nil }, AskJudge: func(string) error { return nil }, Rulings: judged{t, p},
		Routes: (&director.Page{}).Routes(),
	})
}

// within does what a person does, and names it where it fails.
func within(t *testing.T, ctx context.Context, what string, actions ...chromedp.Action) {
	t.Helper()
	c, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	if err := chromedp.Run(c, actions...); err != nil {
		var text string
		_ = chromedp.Run(ctx, chromedp.Evaluate(`location.href + "\n" + document.body.innerText`, &text))
		shot(t, ctx, "failed")
		t.Fatalf("%s: %v\n%s", what, err, text)
	}
}

// until waits until an expression is true in the page, whichever page that is by then.
func until(js string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		for {
			var is bool
			if err := chromedp.Evaluate("!!("+js+")", &is).Do(ctx); err == nil && is {
				return nil
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("never: %s: %w", js, ctx.Err())
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
}

// air waits until an expression over the overlay's document d, in the director's page, is true.
func air(js string) chromedp.Action {
	return until(`(() => { const d = document.getElementById("shown").contentDocument;
		const on = (id) => !!d.getElementById(id) && !d.getElementById(id).hidden, text = (id) => d.getElementById(id).textContent;
		return !!(` + js + `); })()`)
}

// shot saves what the browser shows into HALL_PNG, if that names a directory.
func shot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	var png []byte
	if dir := os.Getenv("HALL_PNG"); dir != "" && chromedp.Run(ctx, chromedp.CaptureScreenshot(&png)) == nil {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
	}
}

// TestAJudgeRulesFromTheHall: the tiles say how the tables are; a call leads to the held picture
// of its table, the judge rules there, and the hall has the ruling.
func TestAJudgeRulesFromTheHall(t *testing.T) {
	t.Parallel()
	ctx, complaints := browser(t)
	r := run(t, t.TempDir())
	names := [][2]string{{"Ada", "Ben"}, {"Cleo", "Dan"}, {"Eva", "Finn"}}
	var tables []*played
	for n, i := range []event.Invitation{r.invite(t, "7"), r.invite(t, "8"), r.invite(t, "12")} {
		p := join(t, i)
		p.seeing(t, names[n])
		tables = append(tables, p)
	}
	r.invite(t, "20") // and does not come
	tile := func(table, js string) chromedp.Action {
		return until(`(() => { const e = document.querySelector('.tile[data-table="` + table + `"]'); return !!e && (` + js + `); })()`)
	}
	within(t, ctx, "the tiles", chromedp.Navigate(r.page+"/"), tile("7", `e.dataset.kind === "ok" && /Ada/.test(e.innerText) && /Range 2/.test(e.innerText)`),
		tile("20", `e.dataset.kind === "silent" && /not here yet/.test(e.innerText)`))
	tables[1].hub.Update(func(s live.State) live.State {
		s.Health = live.Health{Code: live.Moved, Title: "The camera moved"}
		return s
	})
	tables[2].stop()
	tables[0].ask(4711, "Ada")
	within(t, ctx, "a call, trouble and silence", tile("7", `e.dataset.kind === "call"`), tile("8", `e.dataset.kind === "trouble"`),
		tile("12", `e.dataset.kind === "silent" && /[3-9] s ago/.test(e.innerText)`), chromedp.WaitVisible(`#calls a`))
	shot(t, ctx, "hall")
	within(t, ctx, "who calls is asked for the secret", chromedp.Click(`#calls a`), chromedp.WaitVisible(`#login`),
		chromedp.SendKeys(`#login input[name=secret]`, secret), chromedp.SendKeys(`#login input[name=name]`, "Jo"),
		chromedp.Click(`#login button`), until(`location.pathname === "/t/7/judge"`))
	within(t, ctx, "the held picture", chromedp.WaitVisible(`#rule`), until(`/Ada/.test(document.body.innerText)`))
	shot(t, ctx, "judge")
	within(t, ctx, "the ruling", until(`!document.querySelector("#rule button[type=submit], #record")?.disabled`),
		chromedp.Evaluate(`document.getElementById("rule").requestSubmit()`, nil))
	eventually(t, "the hall has it", func() bool { return r.tile(t, "7").Rulings == 1 })
	within(t, ctx, "it is found", chromedp.Navigate(r.page+"/"), chromedp.WaitVisible(`#search-form`), chromedp.SendKeys(`#search-form input`, "table 7 jo"),
		chromedp.Click(`#search-form button`), until(`/Table 7, ruling 1/.test(document.getElementById("found").innerText)`),
		until(`document.querySelector("#calls").children.length === 0`), tile("7", `e.dataset.kind === "held" && !/live/.test(e.innerText)`))
	shot(t, ctx, "found")
	search := func(words string) chromedp.Action {
		return chromedp.Evaluate(`(() => { const form = document.getElementById("search-form"); form.querySelector("input").value = "`+words+`";
			form.requestSubmit(); })()`, nil)
	}
	within(t, ctx, "what is late was found of other words", chromedp.Evaluate(browsertest.HoldBack("q=jo"), nil), search("jo"),
		until(`window.release`), search("nobody"), until(`/^0 rulings/.test(document.getElementById("search-said").textContent)`),
		chromedp.Evaluate(`window.release()`, nil), until(`window.late === 1`), chromedp.Sleep(100*time.Millisecond),
		until(`/^0 rulings/.test(document.getElementById("search-said").textContent)`),
		until(`document.getElementById("found").children.length === 0`))
	within(t, ctx, "the stream asks for no judge any more", chromedp.Navigate(r.page+"/overlay/all?table=7"),
		until(`document.getElementById("held-text").textContent === "The picture is held."`),
		chromedp.Navigate(r.page+"/"), chromedp.WaitVisible(`.tile`))
	assert.Empty(t, complaints())

	r.stop()
	within(t, ctx, "a hall that is gone shows nothing as live", until(`/nothing here is live/.test(document.getElementById("said").textContent)`),
		until(`[...document.querySelectorAll(".tile")].every((e) => e.dataset.kind === "silent")`))
}

// TestATableIsFoundAmongMany: by its number, by a name, and by what is wrong with it.
func TestATableIsFoundAmongMany(t *testing.T) {
	t.Parallel()
	ctx, complaints := browser(t)
	r := run(t, t.TempDir())
	for n := range 30 {
		i := r.invite(t, fmt.Sprint(n+1))
		if n < 2 {
			join(t, i).hub.Update(func(s live.State) live.State {
				s.Match.Sides[0].Name = []string{"Zoë Quill", "Maximilian Ernst von und zu Habsb"}[n]
				s.Health = live.Health{Code: []live.Code{live.OK, live.Moved}[n], Title: "The camera moved"}
				return s
			})
		}
	}
	shown := func(want string) chromedp.Action {
		return until(`[...document.querySelectorAll(".tile")].filter((e) => e.checkVisibility()).map((e) => e.dataset.table).join(" ") === "` + want + `"`)
	}
	look := func(words string) chromedp.Action {
		return chromedp.Tasks{chromedp.Evaluate(`document.getElementById("find").reset()`, nil), chromedp.SendKeys(`#find input[type=search]`, words)}
	}
	within(t, ctx, "all are there", chromedp.Navigate(r.page+"/"), chromedp.WaitVisible(`.tile[data-table="30"]`),
		until(`document.querySelector('.tile[data-table="2"]').dataset.kind === "trouble"`))
	for _, width := range []int64{390, 1440} {
		within(t, ctx, fmt.Sprint("nothing leaves its tile at ", width), chromedp.EmulateViewport(width, 900),
			until(`[...document.querySelectorAll(".tile, html")].every((e) => e.scrollWidth <= e.clientWidth)`))
		shot(t, ctx, fmt.Sprint("many-", width))
	}
	within(t, ctx, "a number is a table's", look("2"), shown("2"), until(`document.getElementById("find-said").textContent === "1 of 30 shown"`))
	within(t, ctx, "a name", look("quill"), shown("1"))
	within(t, ctx, "no one", look("nobody"), shown(""))
	within(t, ctx, "what needs somebody", look(" "), chromedp.Click(`#find input[type=checkbox]`), shown("2"))
	assert.Empty(t, complaints())
}

// TestTheDirectorPutsTablesOnAir: the overlay's address stays, and it shows one table after the
// other; a table that is silent shows nothing.
func TestTheDirectorPutsTablesOnAir(t *testing.T) {
	t.Parallel()
	ctx, complaints := browser(t)
	r := run(t, t.TempDir())
	var tables []*played
	for n, i := range []event.Invitation{r.invite(t, "7"), r.invite(t, "12")} {
		p := join(t, i)
		p.seeing(t, [][2]string{{"Ada", "Ben"}, {"Cleo", "Dan"}}[n])
		tables = append(tables, p)
	}
	within(t, ctx, "nothing is on air", chromedp.Navigate(r.page+"/director"), chromedp.WaitVisible(`#air button[data-table="12"]`),
		air(`d.getElementById("match") && !on("match") && !on("pair")`))
	within(t, ctx, "table 7", chromedp.Click(`#air button[data-table="7"]`), air(`on("match") && on("pair") && text("match-name-1") === "Ada"`))
	within(t, ctx, "table 12, by keys", chromedp.KeyEvent("12"), until(`document.getElementById("typed").textContent === "12"`),
		chromedp.KeyEvent(kb.Enter), air(`on("match") && text("match-name-1") === "Cleo"`))
	shot(t, ctx, "director")
	within(t, ctx, "the table's own director shows its overlay, too", chromedp.Navigate(r.page+"/t/12/director"),
		air(`d.getElementById("match") && on("match") && text("match-name-1") === "Cleo"`))
	within(t, ctx, "the hall's again", chromedp.Navigate(r.page+"/director"), air(`d.getElementById("match") && on("match")`))
	tables[1].stop()
	within(t, ctx, "a silent table shows nothing", air(`!on("match") && !on("pair") && !on("table")`))
	within(t, ctx, "table 7 again", chromedp.Click(`#air button[data-table="7"]`), air(`on("match") && text("match-name-1") === "Ada"`))
	within(t, ctx, "one table's own address", chromedp.Navigate(r.page+"/overlay/all?table=7"),
		until(`!document.getElementById("match").hidden && document.getElementById("match-name-2").textContent === "Ben"`))
	var busy []string
	for _, c := range complaints() {
		if !strings.Contains(c, "503") { // the clock of no table
			busy = append(busy, c)
		}
	}
	assert.Empty(t, busy)
}

// TestWhatATableSaysIsTextOnThePage: markup and characters that turn a line's order, in every text
// that a table sends and in a ruling of its, are shown as they are and do nothing.
func TestWhatATableSaysIsTextOnThePage(t *testing.T) {
	t.Parallel()
	ctx, complaints := browser(t)
	r := run(t, t.TempDir())
	i := r.invite(t, "7")
	const evil = `<img src=/x onerror="document.body.id='taken'"><script>document.body.id='taken'</script>\u202e12:00`
	health := `{"code":"moved","title":"` + strings.ReplaceAll(evil, `"`, `\"`) + `","from":"F","to":"T","answer":"A","rulings_trouble":"E",
		"ruling":{"number":1,"title":"E"},"call":{"held":1,"up_ms":-90071992547409910000000,"asked":"E"},"record":{"hash":"E"},
		"match":{"round":"E","sides":[{"name":"E","score":12},{"name":"E"}]},"game":{"id":1,"round":1,"phase":"E","players":["E","E"]}}`
	health = strings.NewReplacer(`"E"`, `"`+strings.ReplaceAll(evil, `"`, `\"`)+`"`, "-90071992547409910000000", "-5000").Replace(health)
	conn, err := dial(i)
	require.NoError(t, err)
	defer conn.Close()
	s := event.SubjectsOf(i.Event, "7")
	began := time.Now()
	_, err = conn.Subscribe(s.Ask(event.AskClock), func(m *nats.Msg) {
		body, _ := json.Marshal(event.Clock{Session: "b", UpMS: time.Since(began).Milliseconds(), AtMS: time.Now().UnixMilli()})
		_ = m.Respond(body)
	})
	require.NoError(t, err)
	b := &book{}
	e := b.rule(t, strings.ReplaceAll(evil, `\u202e`, "\u202e"), 0)
	require.NoError(t, conn.Publish(s.Ruling(1, e.Hash), e.Record))
	done := make(chan struct{})
	defer func() { <-done }()
	talk, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { // it lives
		defer close(done)
		for talk.Err() == nil {
			_ = conn.PublishMsg(word(s.Health(), "b", time.Since(began).Milliseconds(), time.Now().UnixMilli(), health))
			select {
			case <-talk.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	within(t, ctx, "its tile and its call", chromedp.Navigate(r.page+"/"),
		until(`[...document.querySelectorAll('.tile[data-kind="call"]')].some((e) => e.innerText.includes("<script>"))`),
		until(`/<img/.test(document.querySelector("#calls a")?.innerText)`))
	shot(t, ctx, "markup")
	within(t, ctx, "its ruling", chromedp.SendKeys(`#search-form input`, "table 7"), chromedp.Click(`#search-form button`),
		until(`/<script>/.test(document.getElementById("found").innerText)`))
	const harmless = `document.body.id === "" && !document.querySelector("main img, main script") && !/[\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText)`
	within(t, ctx, "nothing of it does anything", until(harmless))
	within(t, ctx, "the director", chromedp.Navigate(r.page+"/director"),
		until(`/<script>/.test(document.querySelector('#air [data-table="7"]')?.innerText)`), until(harmless))
	assert.Empty(t, slices.DeleteFunc(complaints(), func(c string) bool { return strings.Contains(c, "503") })) // the clock of no table
}

// A page that was open while the hall's program was replaced by another version, whose answers it does not understand, shows no tile and
// is loaded again.
func TestAPageThatCannotShowTheHallShowsNothingOld(t *testing.T) {
	t.Parallel()
	ctx, _ := browser(t)
	r := run(t, t.TempDir())
	join(t, r.invite(t, "7"))
	for path, tile := range map[string]string{"/": `.tile[data-table="7"]`, "/director": `#air [data-table="7"]`} {
		shown := until(`document.querySelector('` + tile + `')?.checkVisibility() && !document.querySelector("main").hidden`)
		within(t, ctx, "its tile", chromedp.Navigate(r.page+path), shown, chromedp.Evaluate(`window.old = true;
			const real = window.fetch;
			window.fetch = async (...asked) => {
				const answer = await real(...asked);
				return asked[0] === "/api/hall" ? new Response((await answer.text()).replaceAll('"table":', '"name":')
					.replaceAll('"tables":', '"halls":')) : answer;
			}; 0`, nil))
		within(t, ctx, "nothing old", until(`window.old && document.querySelector("main").hidden &&
			document.getElementById("said").textContent.includes("It reloads automatically")`))
		within(t, ctx, "it loads again", until(`!window.old`), shown)
	}
}
