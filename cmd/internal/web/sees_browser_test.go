//go:build browser

package web_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/vision"
	"sightline/vision/token"
)

func TestASwitchShowsWhatTheProgramSees(t *testing.T) {
	f := newFakeTable(t)
	server := steady(t, f)
	ctx := browsertest.New(t, time.Minute)
	f.change(func(state *live.State) {
		state.Located.Ships = append([]vision.ShipView(nil), state.Located.Ships...)
		state.Located.Ships[0].Sides = []token.Side{token.Front, token.LeftSide}
	})
	var before, sides, read int
	var text string
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Navigate(server.URL),
		browsertest.Poll(`document.querySelectorAll("#outlines polygon.over").length > 0`, nil),
		chromedp.Evaluate(`document.querySelectorAll("#outlines line.side").length`, &before),
		chromedp.Click("#sees"),
	))
	f.change(func(state *live.State) {}) // the next state is drawn
	require.NoError(t, chromedp.Run(ctx,
		browsertest.Poll(`document.querySelectorAll("#outlines line.side").length > 0`, nil),
		chromedp.Evaluate(`document.querySelectorAll("#outlines line.side").length`, &sides),
		chromedp.Evaluate(`document.querySelectorAll('#outlines line.side[data-read="true"]').length`, &read),
		chromedp.Evaluate(`document.querySelector("#outlines text.seen").textContent`, &text),
	))
	assert.Zero(t, before, "only when asked")
	assert.Equal(t, 4*len(knownScene().Ships), sides)
	assert.Equal(t, 2, read)
	assert.Contains(t, text, "93 %")
}

func TestANoteSaysWhyObstaclesAreNotWatched(t *testing.T) {
	f := newFakeTable(t)
	server := steady(t, f)
	ctx := browsertest.New(t, time.Minute)
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate(server.URL)))
	for unseen, want := range map[string]string{
		vision.UnseenLooking: "Obstacles are being looked for.",
		vision.UnseenNoisy:   "Obstacles are not watched: the picture is too noisy: give the table more light.",
	} {
		f.change(func(state *live.State) {
			state.ObstaclesWatched = false
			state.Located.Obstacles = &vision.ObstacleSight{Unseen: unseen}
		})
		require.NoError(t, chromedp.Run(ctx, browsertest.Poll(`document.querySelector("#things-note").textContent === "`+want+`"`, nil)), want)
	}
	f.change(func(state *live.State) {
		state.ObstaclesWatched, state.Located.Obstacles = true, &vision.ObstacleSight{Pushed: 4.2}
	})
	require.NoError(t, chromedp.Run(ctx, browsertest.Poll(`/The mat lies up to 4 mm from where it was learnt\. .* Push it back\./.test(
		document.querySelector("#things-note").textContent)`, nil)))
}

// What is to be known as long as it is so stands on the page; a note that says the same is not shown as well.
func TestWarningsStandAsLongAsTheyAreSo(t *testing.T) {
	f := newFakeTable(t)
	server := steady(t, f)
	ctx := browsertest.New(t, time.Minute)
	const turned = "B1 at (200, 200) mm does not count: its card seems turned."
	f.change(func(state *live.State) {
		state.Turned = []string{turned}
		state.Notes = []live.Note{{At: state.At, Text: turned}, {At: state.At, Text: "B2 moved."}}
	})
	var note string
	require.NoError(t, chromedp.Run(ctx,
		chromedp.Navigate(server.URL),
		browsertest.Poll(`document.querySelector("#warnings li")?.textContent === "`+turned+`" && document.querySelector("#warnings").checkVisibility()`, nil),
		chromedp.Evaluate(`document.querySelector("#note-text").textContent`, &note),
	))
	assert.Equal(t, "B2 moved.", note)
	f.change(func(state *live.State) { state.At = state.At.Add(time.Hour) })
	require.NoError(t, chromedp.Run(ctx,
		browsertest.Poll(`document.querySelector("#note").hidden && document.querySelector("#warnings").checkVisibility()`, nil),
	))
	f.change(func(state *live.State) { state.Turned = nil })
	require.NoError(t, chromedp.Run(ctx, browsertest.Poll(`!document.querySelector("#warnings").checkVisibility()`, nil)))
}
