//go:build browser

package web_test

import (
	"errors"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/engine/geom"
)

// The page writes both names at it and never one, the overlay can do so, and the form that names it offers them first.
func TestTheDoubtIsWrittenAtTheBase(t *testing.T) {
	t.Parallel()
	ctx := browsertest.New(t, 90*time.Second)
	s := httptest.NewServer(web.NewServer(web.Options{Hub: live.NewHub(unsureView(t)), Choose: func(live.Choice) {}}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	var tags, offered []string
	var base string
	var shot []byte
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate(s.URL), chromedp.WaitVisible("#naming"), chromedp.Sleep(time.Second),
		chromedp.Evaluate(`[...document.querySelectorAll("#table .tag")].map((e) => e.textContent)`, &tags),
		chromedp.Evaluate(`[...document.querySelectorAll("#naming-ship option")].slice(0, 2).map((e) => e.value)`, &offered),
		chromedp.Evaluate(`document.querySelector("#naming-base option").textContent`, &base),
		chromedp.FullScreenshot(&shot, 100)))
	keep(t, "unsure.png", shot)
	assert.Contains(t, tags, "A1 or A7?")
	assert.NotContains(t, tags, "A1")
	assert.Equal(t, []string{"A1", "A7"}, offered)
	assert.Equal(t, "?1: A1 or A7?", base)

	var label string
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate(s.URL+"/overlay/all?demo=1"), chromedp.Evaluate(
		`Promise.all([import("/overlay-draw.js"), import("/label.js")]).then((m) => m[1].label({ id: "?1", name_doubt: ["A1", "A7"] }))`,
		&label, awaiting)))
	assert.Equal(t, "A1 or A7?", label, "the overlay loads what writes it")
}

// What is spoken of such a base is both names.
func TestTheDoubtIsSpoken(t *testing.T) {
	t.Parallel()
	ctx := browsertest.New(t, 90*time.Second)
	s := httptest.NewServer(web.NewServer(web.Options{Hub: live.NewHub(unsureView(t)), Choose: func(live.Choice) {}}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	var spoken string
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate(s.URL), chromedp.WaitVisible("#table .tag"), chromedp.Evaluate(`(async () => {
		const text = new Promise((said) => { speechSynthesis.speak = (words) => said(words.text); });
		const state = await (await fetch("/api/state")).json();
		state.choice = { from: "?1", to: "B1" };
		Object.assign(state.answer, { headline: { kind: "shot", text: "In range 2" }, obstruction: { outcome: "no" } });
		document.getElementById("speak").click();
		(await import("/speak.js")).speakState(state);
		return text;
	})()`, &spoken, awaiting)))
	assert.Equal(t, "A1 or A7?, B1. In range 2.", spoken)
}

// A ship that a person named wrongly is corrected on the page: it is tapped, and its name is chosen, also one that another ship has.
func TestAWrongNameIsCorrectedOnThePage(t *testing.T) {
	t.Parallel()
	v := followedView(t, nil)
	for i := range v.Located.Scene.Ships {
		if s := &v.Located.Scene.Ships[i]; s.ID == "A1" || s.ID == "B1" || s.ID == "B2" {
			s.Seen, s.Look = "look", s.ID
			v.Located.Ships[i].Sides, v.Tracks[i].Ship = nil, *s
		}
	}
	ctx := browsertest.New(t, 90*time.Second)
	asked, answers := make(chan live.PlacedShip, 1), make(chan error, 1)
	place := func(p live.PlacedShip) error {
		asked <- p
		return <-answers
	}
	s := httptest.NewServer(web.NewServer(web.Options{Hub: live.NewHub(v), Choose: func(live.Choice) {}, PlaceShip: place}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	var offered, wrong []string
	var refused string
	var shot []byte
	values := func(id string) string {
		return `[...document.querySelectorAll("#` + id + ` option")].map((e) => e.value)`
	}
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate(s.URL), chromedp.WaitVisible("#misnamed-show"),
		chromedp.WaitNotVisible("#naming"), chromedp.Click("#misnamed-show"), chromedp.WaitVisible("#naming"),
		chromedp.Evaluate(values("naming-base"), &wrong),
		chromedp.SetValue("#naming-base", "B1"), chromedp.Evaluate(`document.getElementById("naming-base").dispatchEvent(new Event("change"))`, nil),
		chromedp.Evaluate(values("naming-ship"), &offered), chromedp.SetValue("#naming-ship", "B2"), chromedp.FullScreenshot(&shot, 100)))
	keep(t, "misnamed.png", shot)
	assert.Equal(t, []string{"A1", "B1", "B2"}, wrong, "no ship whose code was read")
	assert.Equal(t, []string{"A1", "B2"}, offered[:2])
	answers <- errors.New("the base there does not show B2's card now")
	require.NoError(t, chromedp.Run(ctx, chromedp.Click("#naming-say"), chromedp.Poll(`document.getElementById("naming-refused").textContent !== ""`, nil),
		chromedp.Text("#naming-refused", &refused)))
	assert.Equal(t, "The base there does not show B2's card now.", refused)
	want := live.PlacedShip{ID: "B2", Player: 2, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 310, Y: 487.3}}, InsteadOf: "B1"}
	assert.Equal(t, want, <-asked)
	answers <- nil
	require.NoError(t, chromedp.Run(ctx, chromedp.Click("#naming-say"), chromedp.WaitNotVisible("#naming")))
	assert.Equal(t, want, <-asked)
}

// What a person chose is not replaced by another base or name when it is out of view for a moment.
func TestNoOtherBaseIsNamed(t *testing.T) {
	t.Parallel()
	ctx := browsertest.New(t, 90*time.Second)
	both := unsureView(t)
	for i := range both.Located.Scene.Ships {
		if s := &both.Located.Scene.Ships[i]; s.ID == "B1" {
			s.ID, s.NameDoubt, s.Seen, s.Look, s.Pose.Heading = "?2", []string{"B1", "B9"}, "look", "B1", 184*geom.Degree
			both.Located.Ships[i].ID, both.Tracks[i].Ship = "?2", *s
		}
	}
	covered := unsureView(t) // a hand is over ?2
	without := func(id string) {
		at := func(s engine.Ship) bool { return s.ID == id }
		i := slices.IndexFunc(covered.Located.Scene.Ships, at)
		covered.Located.Scene.Ships = slices.Delete(covered.Located.Scene.Ships, i, i+1)
		covered.Located.Ships, covered.Tracks = slices.Delete(covered.Located.Ships, i, i+1), slices.Delete(covered.Tracks, i, i+1)
	}
	without("B1")
	hub := live.NewHub(both)
	asked := make(chan live.PlacedShip, 4)
	s := httptest.NewServer(web.NewServer(web.Options{Hub: hub, Choose: func(live.Choice) {}, PlaceShip: func(p live.PlacedShip) error {
		asked <- p
		return nil
	}}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	value := func(id string) string { return `document.getElementById("` + id + `").value` }
	is := func(id, value string) chromedp.Action {
		return browsertest.Poll(`document.getElementById("`+id+`").value === "`+value+`"`, nil)
	}
	var ship, nose string
	require.NoError(t, chromedp.Run(ctx))
	within(t, ctx, "chosen", chromedp.Navigate(s.URL), chromedp.WaitVisible("#naming"), is("naming-base", "?1"),
		chooseOption("#naming-base", "?2"), is("naming-ship", "B1"), chooseOption("#naming-ship", "B9"), chooseOption("#naming-nose", "1"))
	hub.Publish(covered)
	within(t, ctx, "covered", is("naming-base", ""), chromedp.Click("#naming-say"), chromedp.Sleep(300*time.Millisecond))
	assert.Empty(t, asked, "nobody said that ?1 is B9")
	hub.Publish(both)
	within(t, ctx, "seen again", chooseOption("#naming-base", "?2"), chromedp.Evaluate(value("naming-ship"), &ship),
		chromedp.Evaluate(value("naming-nose"), &nose), chromedp.Click("#naming-say"))
	assert.Equal(t, "B9", ship)
	assert.Equal(t, "1", nose)
	got := <-asked
	assert.Equal(t, "B9", got.ID)
	assert.InDelta(t, 94, got.Pose.Heading.Degrees(), 0.01, "to the right, in a base that lies 4 degrees askew")
	without("?1")
	hub.Publish(covered)
	within(t, ctx, "none is left", chromedp.WaitNotVisible("#naming"))
}
