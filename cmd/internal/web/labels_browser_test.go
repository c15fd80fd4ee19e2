//go:build browser

package web_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/tablesim"
)

// TestNames runs what holds of names in drawings, in one browser.
func TestNames(t *testing.T) {
	t.Parallel()
	ctx := browsertest.New(t, 3*time.Minute)
	t.Run("a name goes to the first place that is free", func(t *testing.T) { namePlaces(t, ctx) })
	t.Run("no two names overlap on the judge's page where bases touch, and its table fits a phone", func(t *testing.T) { judgeNames(t, ctx) })
	t.Run("the distance of a short line lies on no name", func(t *testing.T) { distanceFree(t, ctx) })
	t.Run("names find their places again on a screen that is turned", func(t *testing.T) { namesTurned(t, ctx) })
	t.Run("no name lies under a card of the overlay", func(t *testing.T) { overlayNames(t, ctx) })
}

func namePlaces(t *testing.T, ctx context.Context) {
	server := steady(t, newFakeTable(t))
	type box struct{ X, Y, W, H float64 }
	place := func(names, bases, covers, room string) (out []box) {
		t.Helper()
		script := fmt.Sprintf(`import("/labels.js").then(({ around, placed }) => { const bases = %s;
			return placed(%s.map((i) => ({ own: bases[i], must: true, places: around(bases[i], 30, 20, 2) })), bases, %s, %s); })`, bases, names, covers, room)
		require.NoError(t, chromedp.Run(ctx, chromedp.Evaluate(script, &out, awaiting)))
		return out
	}
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate(server.URL+"/judge")))
	const (
		one   = `[{ x: 100, y: 100, w: 40, h: 40 }]`
		stack = `[{ x: 100, y: 100, w: 40, h: 40 }, { x: 100, y: 140, w: 40, h: 40 }]`
		wide  = `{ x: 0, y: 0, w: 1000, h: 1000 }`
	)
	over, under, right := box{105, 78, 30, 20}, box{105, 142, 30, 20}, box{142, 110, 30, 20}
	for _, c := range []struct {
		why                        string
		names, bases, covers, room string
		want                       []box
	}{
		{"alone it stands over its base", `[0]`, one, `[]`, wide, []box{over}},
		{"at the upper edge it goes below", `[0]`, one, `[]`, `{ x: 0, y: 95, w: 1000, h: 900 }`, []box{under}},
		{"so does it where a card covers", `[0]`, one, `[{ x: 0, y: 0, w: 400, h: 90 }]`, wide, []box{under}},
		{"with both taken it goes beside", `[0]`, one, `[{ x: 0, y: 0, w: 400, h: 90 }, { x: 0, y: 145, w: 400, h: 90 }]`, wide, []box{right}},
		{"the base that touches from below keeps its name off the other's base", `[0, 1]`, stack, `[]`, wide, []box{over, {105, 182, 30, 20}}},
		{"two of one place part", `[0, 0]`, one, `[]`, wide, []box{over, under}},
		{"covered all over it stays where it is best", `[0]`, one, `[{ x: 0, y: 0, w: 400, h: 400 }]`, wide, []box{over}},
	} {
		assert.Equal(t, c.want, place(c.names, c.bases, c.covers, c.room), c.why)
	}
}

// namesAndCards returns how much any two names overlap, and a name and a card, in px of
// the screen; the largest of each.
const namesAndCards = `(() => {
	const box = (e) => e.getBoundingClientRect();
	const both = (a, b) => Math.max(0, Math.min(Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)));
	const names = [...document.querySelectorAll(%q)].map(box), cards = [...document.querySelectorAll(".stage > .card")].map(box);
	let one = 0, two = 0;
	names.forEach((a, i) => { for (const b of names.slice(i + 1)) one = Math.max(one, both(a, b)); for (const c of cards) two = Math.max(two, both(a, c)); });
	return [names.length, one, two];
})()`

// packed stands small bases in two rows that touch, each turned a little.
func packed(state *live.State) {
	s := &state.Located.Scene
	for i := range s.Ships {
		s.Ships[i].Base = engine.Small
		s.Ships[i].Pose = geom.Pose{Point: geom.Point{X: 280 + 40.3*float64(i%3), Y: 300 + 40.3*float64(i/3)}}
	}
	state.Located.Ships = outlinesOf(*s)
}

func judgeNames(t *testing.T, ctx context.Context) {
	c := newCourtroom(t)
	c.change(packed)
	s := steadyCourt(t, c)
	require.NoError(t, chromedp.Run(ctx, screen(phoneWide, "light"), logIn(s.URL, "A1", "B1"), chromedp.Evaluate(settled, nil, awaiting)))
	// All: a base is 12 px wide, a name 24, and four find a place where no one takes them for
	// another's. The pair: the third column is cut by the edge. Nearer: the pair is always named.
	for key, least := range map[string]float64{"0": 4, "1": 4, "+": 2} {
		var got []float64
		var shot []byte
		require.NoError(t, chromedp.Run(ctx, chromedp.Focus("#stage"), chromedp.KeyEvent(key), chromedp.Evaluate(settled, nil, awaiting),
			chromedp.Evaluate(fmt.Sprintf(namesAndCards, "#shapes text"), &got), chromedp.Screenshot("#stage", &shot)))
		keep(t, "names-judge-"+key+".png", shot)
		assert.GreaterOrEqual(t, got[0], least, "names")
		assert.Less(t, got[1], 5.0, "px by which two names' boxes, with the room between lines, overlap")
	}
	var cut, unnamed []string
	var note string
	within(t, ctx, "the table of ships",
		chromedp.Evaluate(`[...document.querySelectorAll("#ships th, #ships td")].filter((e) =>`+
			` { const r = e.getBoundingClientRect(), b = document.querySelector(".scroll").getBoundingClientRect(); return r.width === 0 || r.right > b.right + 0.5 || e.scrollWidth > e.clientWidth + 1; }).map((e) => e.textContent)`, &cut),
		chromedp.Evaluate(`[...document.querySelectorAll("#ships td")].filter((e) => !e.dataset.name).map((e) => e.textContent)`, &unnamed),
		chromedp.Text("#ships-note", &note),
	)
	assert.Empty(t, cut, "figures that a phone cuts off")
	assert.Empty(t, unnamed)
	assert.Contains(t, note, "A side is read when the code printed on it is legible", "a ship without sides is explained")
}

// distanceFree: two small bases stand close together, next to the others.
func distanceFree(t *testing.T, ctx context.Context) {
	f := newFakeTable(t)
	f.change(func(state *live.State) {
		s := &state.Located.Scene
		a, b := s.Ship("A1"), s.Ship("B1")
		b.Base = engine.Small
		b.Pose.Point = a.Pose.Transform(geom.Point{X: -75, Y: 30})
		b.Pose.Heading = a.Pose.Heading + 20*geom.Degree
		state.Located.Ships = outlinesOf(*s)
		measured(state)
	})
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	server := steady(t, f)
	for _, width := range []int64{phoneWide, tabletWide, deskWide} {
		var got []float64
		var shot []byte
		within(t, ctx, "the distance", screen(width, "dark"), chromedp.Navigate(server.URL), chromedp.WaitVisible("#table .measure text"),
			chromedp.Evaluate(settled, nil, awaiting),
			chromedp.Evaluate(fmt.Sprintf(namesAndCards, "#table .measure text, #table .ship .tag"), &got),
			chromedp.Screenshot("#table", &shot))
		keep(t, fmt.Sprintf("names-distance-%d.png", width), shot)
		assert.Less(t, got[1], 6.0, "px by which the distance and a name overlap, %d px wide", width)
	}
}

// namesTurned: no state comes after the screen has another size.
func namesTurned(t *testing.T, ctx context.Context) {
	f := newFakeTable(t)
	f.change(crowd())
	f.choose(live.Choice{From: "A1", To: "B4", Arc: engine.ArcFront})
	server := serve(t, f)
	places := func(out *string) chromedp.Action {
		return chromedp.Tasks{chromedp.WaitVisible("#table .measure text"), chromedp.Evaluate(settled, nil, awaiting),
			chromedp.Evaluate(`[...document.querySelectorAll("#table .tag, #table .measure text")]`+
				`.map((e) => [e.textContent, Math.round(e.getAttribute("x")), Math.round(e.getAttribute("y"))]).join(" ")`, out)}
	}
	var desk, turned, fresh string
	within(t, ctx, "the names", screen(deskWide, "dark"), chromedp.Navigate(server.URL), places(&desk),
		screen(phoneWide, "dark"), places(&turned),
		chromedp.Navigate(server.URL), places(&fresh))
	assert.NotEqual(t, desk, turned)
	assert.Equal(t, fresh, turned)
}

func overlayNames(t *testing.T, ctx context.Context) {
	f := newFakeTable(t)
	camera := tablesim.DefaultCamera(1920, 1080)
	table := calibrated(t, f, camera)
	beat(t, f)
	// One base just over the upper edge of the pair's card, whose stern points at it, and the
	// others touching it: all where a name behind the stern would lie under the card.
	edge, ok := table.PointAt(geom.Pixel{X: 600, Y: 790}, 4)
	require.True(t, ok)
	f.change(func(state *live.State) {
		s := &state.Located.Scene
		for i := range s.Ships {
			s.Ships[i].Base = engine.Small
			s.Ships[i].Pose = geom.Pose{Point: geom.Point{X: edge.X + 40.3*float64(i%3), Y: edge.Y + 60 + 40.3*float64(i/3)}}
		}
		s.Ships[0].Pose.Point = geom.Point{X: edge.X - 50, Y: edge.Y + 5}
	})
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	server := steady(t, f)
	var got []float64
	require.NoError(t, chromedp.Run(ctx, transparent(1920, 1080), chromedp.Navigate(server.URL+"/overlay/all?view=camera"),
		until("pair", shown), until("over", shown),
		chromedp.Evaluate(settled, nil, awaiting), chromedp.Evaluate(fmt.Sprintf(namesAndCards, ".laid .id"), &got)))
	shot := shoot(t, ctx)
	keep(t, "names-overlay.png", encoded(t, shot))
	assert.GreaterOrEqual(t, got[0], 4.0, "names: two of the heap have no room but under the distance")
	assert.Less(t, got[1], 6.0, "px by which two names' boxes overlap")
	assert.LessOrEqual(t, got[2], 3.0, "px by which a name lies under a card")
}

// keep keeps a picture where PAGES_DIR says, for who looks at it.
func keep(t *testing.T, name string, shot []byte) {
	if dir := os.Getenv("PAGES_DIR"); dir != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), shot, 0o644))
	}
}
