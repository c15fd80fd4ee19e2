package web_test

import (
	"bytes"
	"context"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/web"
	"sightline/vision/tablesim"
)

// transparent makes a page's screenshots keep what is transparent, as OBS does.
func transparent(width, height int64) chromedp.Tasks {
	return chromedp.Tasks{
		emulation.SetDeviceMetricsOverride(width, height, 1, false),
		emulation.SetDefaultBackgroundColorOverride().WithColor(&cdp.RGBA{}),
	}
}

// shoot takes a page's picture with its transparency.
func shoot(t testing.TB, ctx context.Context) image.Image {
	t.Helper()
	var data []byte
	require.NoError(t, chromedp.Run(ctx, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		data, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatPng).Do(ctx)
		return err
	})))
	picture, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	return picture
}

// over lays a page's picture over the camera's, as OBS does.
func over(under, top image.Image) *image.RGBA {
	out := image.NewRGBA(under.Bounds())
	draw.Draw(out, out.Bounds(), under, image.Point{}, draw.Src)
	draw.Draw(out, out.Bounds(), top, image.Point{}, draw.Over)
	return out
}

// TestTakeOverlayPictures takes pictures of the demo over the simulated camera's
// picture: OVERLAY_PNG=directory.
func TestTakeOverlayPictures(t *testing.T) {
	dir := os.Getenv("OVERLAY_PNG")
	if dir == "" {
		t.Skip("OVERLAY_PNG does not name a directory to write to")
	}
	f := newFakeTable(t)
	server := serve(t, f)
	ctx := newBrowser(t, 3*time.Minute)
	table := &tablesim.Table{
		Camera: tablesim.DefaultCamera(1920, 1080), Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), Look: tablesim.DefaultLook(), Seed: 3,
		Scene: web.DemoTable(),
	}
	frame, _, err := table.Render()
	require.NoError(t, err)
	under := image.NewRGBA(image.Rect(0, 0, 1920, 1080))
	for i := range 1920 * 1080 {
		under.Pix[4*i], under.Pix[4*i+1], under.Pix[4*i+2], under.Pix[4*i+3] = frame.Color.Pix[3*i+2], frame.Color.Pix[3*i+1], frame.Color.Pix[3*i], 255
	}
	for name, address := range map[string]string{
		"all-camera":   "all?demo=1&scene=0&view=camera",
		"all-close":    "all?demo=1&scene=1&view=camera",
		"all-top":      "all?demo=1&scene=2",
		"all-light":    "all?demo=1&scene=2&theme=light",
		"all-contrast": "all?demo=1&scene=1&theme=high-contrast&pos=bottom-right",
		"ruling":       "all?demo=1&scene=6&view=camera",
		"overruled":    "all?demo=1&scene=7&view=camera",
		"held":         "all?demo=1&scene=5&view=camera",
		"noview":       "all?demo=1&scene=3&view=camera&debug=1",
	} {
		if only := os.Getenv("OVERLAY_ONLY"); only != "" && !strings.Contains(only, name) {
			continue
		}
		require.NoError(t, chromedp.Run(ctx, transparent(1920, 1080), chromedp.Navigate(server.URL+"/overlay/"+address), chromedp.WaitVisible("#demo"), chromedp.Sleep(200*time.Millisecond)))
		var buf bytes.Buffer
		require.NoError(t, png.Encode(&buf, over(under, shoot(t, ctx))))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".png"), buf.Bytes(), 0o644))
	}
}
