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
