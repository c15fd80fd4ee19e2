//go:build browser

package web_test

import (
	"bytes"
	"context"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/browsertest"
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

// half makes a picture half as wide and high.
func half(p *image.RGBA) *image.RGBA {
	b := p.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, b.Dx()/2, b.Dy()/2))
	for y := range b.Dy() / 2 {
		for x := range b.Dx() / 2 {
			for c := range 4 {
				sum := 0
				for _, o := range []int{p.PixOffset(2*x, 2*y), p.PixOffset(2*x+1, 2*y), p.PixOffset(2*x, 2*y+1), p.PixOffset(2*x+1, 2*y+1)} {
					sum += int(p.Pix[o+c])
				}
				out.Pix[out.PixOffset(x, y)+c] = byte((sum + 2) / 4)
			}
		}
	}
	return out
}

// TestTakeOverlayPictures takes pictures of the demo over the simulated camera's
// picture, for docs/streaming.md: OVERLAY_JPG=docs go test -tags browser -run TakeOverlay.
func TestTakeOverlayPictures(t *testing.T) {
	dir := os.Getenv("OVERLAY_JPG")
	if dir == "" {
		t.Skip("OVERLAY_JPG does not name a directory to write to")
	}
	server := serve(t, newFakeTable(t))
	ctx := browsertest.New(t, 3*time.Minute)
	table := &tablesim.Table{
		Camera: tablesim.DefaultCamera(1920, 1080), Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
		Look: tablesim.DefaultLook(), Seed: 3,
		Scene: web.DemoTable(),
	}
	frame, _, err := table.Render()
	require.NoError(t, err)
	under := image.NewRGBA(image.Rect(0, 0, 1920, 1080))
	for i := range 1920 * 1080 {
		under.Pix[4*i], under.Pix[4*i+1], under.Pix[4*i+2], under.Pix[4*i+3] = frame.Color.Pix[3*i+2], frame.Color.Pix[3*i+1],
			frame.Color.Pix[3*i], 255
	}
	for name, address := range map[string]string{
		"overlay-camera": "all?demo=1&scene=1&view=camera",
		"overlay-ruling": "all?demo=1&scene=7&view=camera",
		"overlay-top":    "all?demo=1&scene=2",
	} {
		require.NoError(t, chromedp.Run(ctx, transparent(1920, 1080), chromedp.Navigate(server.URL+"/overlay/"+address),
			chromedp.WaitVisible("#demo"), chromedp.Sleep(200*time.Millisecond)))
		var buf bytes.Buffer
		require.NoError(t, jpeg.Encode(&buf, half(over(under, shoot(t, ctx))), &jpeg.Options{Quality: 85}))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".jpg"), buf.Bytes(), 0o644))
	}
}
