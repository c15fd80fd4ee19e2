//go:build browser

package web_test

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"testing"
	"time"

	cdp "github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/rulings"
	"sightline/engine"
)

// exported records a ruling in a real log and returns the page to keep of it.
func exported(t *testing.T, h *live.Held, v live.Ruling) string {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	log, err := rulings.Open(filepath.Join(t.TempDir(), "rulings"), rulings.Options{Key: key})
	require.NoError(t, err)
	defer log.Close()
	table := calibration.Table{Camera: straightDown(), Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)}
	file, err := calibration.MarshalTable(&table)
	require.NoError(t, err)
	pair, _ := h.Pair(v.From, v.To)
	require.NotNil(t, pair)
	_, err = log.Append(t.Context(), rulings.Ruling{
		At: time.Unix(1700000100, 0), Captured: h.At, Program: "v-test", Source: h.Source, Scene: h.Scene(), Sigmas: h.Sigmas,
		From: v.From, To: v.To, Arc: v.Arc, Pair: pair, Answer: v.Measured, Decision: rulings.AsMeasured, Text: v.Title, Judge: v.Judge,
	}, rulings.Files{Frame: h.Frame.Gray, Calibration: file})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "ruling-1.html")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, log.ExportHTML(t.Context(), f, 1))
	require.NoError(t, f.Close())
	return path
}

// What was exported opens from a disk, needs no network, asks no one for anything, and
// shows the picture and the figures that the judge saw.
func TestAnExportedRulingShowsWhatTheJudgeSaw(t *testing.T) {
	c := newCourtroom(t)
	c.change(withRock)
	s := steadyCourt(t, c)
	ctx := browsertest.New(t, time.Minute)
	var rangeFigure, attackFigure, measured string
	require.NoError(t, chromedp.Run(ctx, logIn(s.URL, "A1", "B1"),
		chromedp.Text(`#verdicts [data-key="range"] .figure`, &rangeFigure),
		chromedp.Text(`#verdicts [data-key="front_attack"] .figure`, &attackFigure),
		chromedp.Text("#measured", &measured),
	))
	h := c.hub.Newest().Hold
	v, err := live.NewRuling(h, live.RuleRequest{Choice: live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront}, Judge: "Jo"})
	require.NoError(t, err)
	assert.Equal(t, measured, v.Title)
	path := exported(t, h, v)

	ctx, cancel := chromedp.NewContext(ctx) // another tab
	defer cancel()
	require.NoError(t, chromedp.Run(ctx))
	requests := watchRequests(ctx)
	var text string
	var pictures, width int
	require.NoError(t, chromedp.Run(ctx,
		cdp.Enable(),
		chromedp.Navigate("file://"+path),
		chromedp.Text("body", &text),
		chromedp.Evaluate(`document.images.length + document.querySelectorAll("svg image").length`, &pictures),
		chromedp.Evaluate(`Math.max(0, ...[...document.images].map((i) => i.naturalWidth))`, &width),
	))
	assert.Contains(t, text, rangeFigure)
	assert.Contains(t, text, attackFigure)
	assert.Contains(t, text, measured)
	assert.Positive(t, pictures)
	assert.Positive(t, width, "the table from above is drawn")
	requests.mu.Lock()
	defer requests.mu.Unlock()
	for _, address := range requests.urls {
		assert.Regexp(t, `^(file|data):`, address, "it asks nobody for anything")
	}
}
