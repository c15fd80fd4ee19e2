package web_test

import (
	"testing"
	"time"

	"sightline/cmd/internal/browsertest"

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
