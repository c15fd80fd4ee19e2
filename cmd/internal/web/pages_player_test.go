package web_test

import (
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"sightline/cmd/internal/web"
	"sightline/engine"
)

// playerPages are the player's page in its states.
func playerPages() []pageCase {
	pair := func(from, to string) func(*testing.T) *httptest.Server {
		return func(t *testing.T) *httptest.Server {
			f := newFakeTable(t)
			f.choose(web.Choice{From: from, To: to, Arc: engine.ArcFront})
			return steady(t, f)
		}
	}
	pictureThere := chromedp.Poll(`document.getElementById("nopicture").hidden`, nil)
	return []pageCase{
		{name: "player", path: "/", ready: "#table .measure line", open: pair("A1", "B1"), do: []chromedp.Action{pictureThere}},
	}
}

// calibrationPages are the guided calibration's.
func calibrationPages() []pageCase {
	return []pageCase{
		{name: "calibrate", path: "/calibrate", ready: "#start:enabled", brief: true, open: func(t *testing.T) *httptest.Server {
			_, server := serveCalibration(t)
			return server
		}},
	}
}
