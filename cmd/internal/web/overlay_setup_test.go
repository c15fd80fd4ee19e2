//go:build browser

package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/vision/tablesim"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A streamer who mistypes an option hears of it before the stream does.
func TestBadOverlayOptionsAreRefusedAloud(t *testing.T) {
	ctx := browsertest.New(t, time.Minute)
	require.NoError(t, chromedp.Run(ctx)) // opens it for longer than the first step
	server := steady(t, newFakeTable(t))
	set := func(name, value string) chromedp.Action {
		return chromedp.Evaluate(`{ const f = document.getElementById("options").elements["`+name+`"]; f.value = "`+value+
			`"; f.dispatchEvent(new Event("input", { bubbles: true })); }`, nil)
	}
	var crop, small, address string
	within(t, ctx, "a crop that is none", chromedp.Navigate(server.URL+"/overlay/"), chromedp.WaitVisible("#address"), set("crop", "half"),
		browsertest.Poll(`document.getElementById("problem").textContent !== ""`, nil), chromedp.Text("#problem", &crop),
		chromedp.Value("#address", &address))
	assert.Equal(t, "crop: expected left,top,width,height in pixels, such as 420,0,1080,1080, got half. The overlay leaves it out.", crop)
	assert.NotContains(t, address, "crop")
	within(t, ctx, "a crop that is too small", set("crop", "0,0,4,4"),
		browsertest.Poll(`document.getElementById("problem").textContent.includes("pixels of the camera")`, nil),
		chromedp.Text("#problem", &small))
	within(t, ctx, "a good one", set("crop", "0,0,400,400"), browsertest.Poll(`document.getElementById("problem").textContent === ""`, nil))
	assert.Contains(t, small, "crop")
}

// A part that ends beyond the measured picture is of another camera, or of another size: what is drawn for it would lie
// in the wrong place on air.
func TestAPartBeyondThePictureIsNotDrawnOver(t *testing.T) {
	ctx := browsertest.New(t, time.Minute)
	require.NoError(t, chromedp.Run(ctx))
	f := newFakeTable(t)
	calibrated(t, f, tablesim.DefaultCamera(1920, 1080))
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	stop := beat(t, f)
	defer stop()
	server := serve(t, f)
	var problem, why string
	within(t, ctx, "the page that makes addresses", chromedp.Navigate(server.URL+"/overlay/"), chromedp.WaitVisible("#address"),
		chromedp.Evaluate(`{ const f = document.getElementById("options").elements.crop; f.value = "0,0,3840,2160";
			f.dispatchEvent(new Event("input", { bubbles: true })); }`, nil),
		browsertest.Poll(`document.getElementById("problem").textContent !== ""`, nil), chromedp.Text("#problem", &problem))
	assert.Equal(t, "crop ends beyond the measured picture of 1920 × 1080 pixels. The overlay draws nothing over the camera.", problem)
	for crop, drawn := range map[string]bool{"0,0,1920,1080": true, "960,0,960,1080": true, "0,0,3840,2160": false, "961,0,960,1080": false} {
		within(t, ctx, crop, chromedp.Navigate(server.URL+"/overlay/all?view=camera&debug=1&crop="+crop), until("pair", shown))
		within(t, ctx, crop+": what is drawn", browsertest.Poll(fmt.Sprintf(
			`(getComputedStyle(document.getElementById("over")).display !== "none") === %t`, drawn), nil), chromedp.Text("#debug", &why))
		assert.Equal(t, !drawn, strings.Contains(why, "camera: crop ends beyond the measured picture of 1920 × 1080 pixels"), "%s: %s", crop, why)
	}
}
