//go:build browser

package web_test

import (
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/vision/token"
)

// judgePages are the judge's page in its states: asking for the secret, and ruling on a
// pair that is held.
func judgePages() []pageCase {
	return []pageCase{
		{name: "judge-secret", path: "/judge", ready: "#secret-form", brief: true, open: func(t *testing.T) *httptest.Server {
			return steadyCourt(t, newCourtroom(t))
		}},
		{name: "judge", path: "/judge", ready: "#secret-form", open: func(t *testing.T) *httptest.Server {
			c := newCourtroom(t)
			c.change(withRock)
			c.change(func(state *live.State) {
				for i := range state.Located.Ships {
					state.Located.Ships[i].Sides = []token.Side{token.Front, token.RightSide, token.Rear}
				}
				last := len(state.Located.Ships) - 1 // a miniature hides the code of one
				state.Located.Ships[last].Sides, state.Located.Scene.Ships[last].Seen = nil, "edges"
			})
			c.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
			return steadyCourt(t, c)
		}, do: []chromedp.Action{
			logIn("", "A1", "B1"),
			chromedp.Click("#overrule"),
			chromedp.WaitVisible("#reason"),
			browsertest.Poll(`document.getElementById("nothing").hidden`, nil),
			chromedp.Evaluate(`window.scrollTo(0, 0)`, nil), // the view stays in sight of who scrolls
		}},
	}
}
