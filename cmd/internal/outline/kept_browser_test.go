//go:build browser

package outline

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
)

// After a restart the page draws what was marked before, says which of it is old, and takes up what still stands, and nothing else.
func TestThePageTakesUpWhatStillStands(t *testing.T) {
	ctx := browsertest.New(t, 2*time.Minute)
	b := newKeptBench(t)
	b.marks(b.take())
	b.restart(b.desk.o.File)
	b.table.Scene.Ships[0].Pose.X += 1
	b.take() // and the camera shows it
	s := httptest.NewServer(web.NewServer(web.Options{Hub: b.hub, Choose: func(live.Choice) {}, Routes: b.desk.Routes()}))
	t.Cleanup(s.Close)
	var listed, marked []string
	var usable bool
	texts := func(list string) string {
		return `[...document.querySelectorAll("` + list + ` li")].map((e) => (e.querySelector("span") ?? e).textContent)`
	}
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate(s.URL+"/outline?from=live"), chromedp.WaitVisible("#kept"),
		chromedp.Evaluate(texts("#kept-ships"), &listed), chromedp.Evaluate(texts("#ships"), &marked)))
	require.Len(t, listed, 2)
	assert.Contains(t, listed[0], "A1: old, it has moved by")
	assert.Equal(t, "B1: still stands there", listed[1])
	assert.Empty(t, marked, "nothing is marked until somebody takes it up")
	if dir := os.Getenv("OUTLINE_PNG"); dir != "" {
		var shot []byte
		require.NoError(t, chromedp.Run(ctx, chromedp.FullScreenshot(&shot, 100)))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "outline-kept.png"), shot, 0o644))
	}
	require.NoError(t, chromedp.Run(ctx, chromedp.Click("#kept-use"), chromedp.Poll(`document.querySelectorAll("#ships li").length === 1`, nil),
		chromedp.Evaluate(texts("#ships"), &marked), chromedp.Evaluate(`document.getElementById("kept-use").disabled`, &usable)))
	assert.Contains(t, marked[0], "B1, medium")
	assert.True(t, usable, "A1 cannot be taken up")
	require.NoError(t, chromedp.Run(ctx, chromedp.Click("#kept-forget"), chromedp.WaitNotVisible("#kept")))
	assert.Nil(t, b.take().Kept)
}

// What was measured in one picture is not said of the next, nor of what a slow program answers about the first.
func TestAnAnswerIsNotShownWithAnotherPicture(t *testing.T) {
	ctx := browsertest.New(t, 2*time.Minute)
	b := newKeptBench(t)
	b.marks(b.take())
	b.restart(b.desk.o.File)
	b.take()
	s := httptest.NewServer(web.NewServer(web.Options{Hub: b.hub, Choose: func(live.Choice) {}, Routes: b.desk.Routes()}))
	t.Cleanup(s.Close)
	const said = `document.getElementById("measured").textContent + document.getElementById("verdicts").textContent`
	another := chromedp.Tasks{chromedp.Click("#take-live"), browsertest.Poll(`window.before !== sightlineOutline.state().picture.id`, nil)}
	var measured, left, late string
	var disabled bool
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate(s.URL+"/outline?from=live"), chromedp.WaitVisible("#kept"),
		chromedp.Click("#kept-use"), chromedp.WaitVisible("#measured:not(:empty)"), chromedp.Text("#measured", &measured),
		chromedp.Evaluate(`window.before = sightlineOutline.state().picture.id; 0`, nil),
		another, chromedp.Evaluate(said, &left), chromedp.Evaluate(`document.getElementById("hold").disabled`, &disabled)))
	assert.Contains(t, measured, "Range 2")
	assert.Empty(t, left)
	assert.True(t, disabled, "nothing is marked in the new picture")

	require.NoError(t, chromedp.Run(ctx,
		chromedp.Evaluate(`window.before = sightlineOutline.state().picture.id;`+browsertest.HoldBack("/answer"), nil),
		chromedp.Click("#kept-use"), browsertest.Poll(`window.release !== undefined`, nil),
		another, chromedp.Evaluate(`window.release(); 0`, nil), browsertest.Poll(`window.late === 1`, nil), chromedp.Sleep(300*time.Millisecond),
		chromedp.Evaluate(said, &late)))
	assert.Empty(t, late)
}
