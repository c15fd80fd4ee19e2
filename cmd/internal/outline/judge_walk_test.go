//go:build browser

package outline_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/outline"
	"sightline/engine/geom"
	"sightline/vision/renderedtest"
)

// A judge with one photograph of stock ships, their miniatures on: the mat's markers or corners, two bases, the answer, the ruling.
func TestAJudgeRulesOnAPhotographOfStockShips(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "..", "shared", "stock", "t1-1080p")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the photorealistic tables are not here: they are not part of the project")
	}
	photo, err := filepath.Abs(filepath.Join(dir, "image.jpg"))
	require.NoError(t, err)
	var truth outline.StockTruth
	renderedtest.Read(t, dir, &truth)
	cam := truth.Camera()

	v := newVisitor(t)
	v.do(emulation.SetDeviceMetricsOverride(1440, 900, 1, false), chromedp.Navigate(v.url+"/outline"),
		chromedp.WaitVisible("#photo"), chromedp.SetUploadFiles("#photo", []string{photo}),
		chromedp.Poll(`sightlineOutline.state().picture !== null && document.getElementById("nothing").hidden`, nil))
	v.shot("walk-1-photo")
	var corners bool
	v.eval(`!document.getElementById("mat").hidden`, &corners)
	if corners { // this program finds no markers
		layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
		mat := layout.Corners()
		for i := range 8 {
			p := mat[i%4]
			if i >= 4 {
				p = p.Lerp(mat[(i+1)%4], 0.45)
			}
			px, _ := cam.PixelOf(p, 0)
			v.tap(px)
		}
		v.shot("walk-2-corners")
		v.do(chromedp.Click("#corners-done"), chromedp.WaitVisible("#marking"))
	}
	marked := 0
	var pair [2]geom.Pose
	for _, s := range truth.Ships {
		if s.ID != "A1" && s.ID != "B1" {
			continue
		}
		pose := geom.Pose{Point: geom.Point{X: s.X, Y: s.Y}, Heading: geom.Angle(s.Heading) * geom.Degree}
		pair[marked] = pose
		v.do(chromedp.SetValue("#ship", s.ID), chromedp.SetValue("#size", s.Base))
		px, _ := cam.PixelOf(pose.Transform(geom.Point{X: 5, Y: -4}), 4)
		v.tap(px)
		v.do(chromedp.WaitEnabled("#keep"))
		v.shot(fmt.Sprintf("walk-3-%s-tapped", s.ID))
		v.drag(&cam, pose)
		v.shot(fmt.Sprintf("walk-4-%s-laid", s.ID))
		v.do(chromedp.Click("#keep"), chromedp.WaitVisible("#keep"))
		v.drag(&cam, pose)
		marked++
		v.do(chromedp.Click("#keep"), chromedp.Poll(fmt.Sprintf(`document.querySelectorAll("#ships li").length === %d`, marked), nil))
	}
	var measured string
	v.do(chromedp.WaitVisible("#measured:not(:empty)"), chromedp.Text("#measured", &measured), chromedp.WaitEnabled("#hold"))
	v.shot("walk-5-answer")
	t.Logf("%s; the centres are %.0f mm apart", measured, pair[0].Distance(pair[1].Point))
	var distance float64
	v.eval(`sightlineOutline.state().answer.verdicts.find((q) => q.key === "range").distance_mm`, &distance)
	assert.Less(t, math.Abs(distance-float64(pair[0].Distance(pair[1].Point))+40), 15.0, "between the bases' edges")
	v.do(chromedp.Click("#hold"), chromedp.WaitVisible("#secret-form"),
		chromedp.SendKeys("#secret-field", v.secret), chromedp.SendKeys("#secret-name", "Jo"), chromedp.Click("#secret-form button"),
		chromedp.WaitVisible(`#verdicts [data-key="range"]`), chromedp.Poll(`document.getElementById("nothing").hidden`, nil))
	v.shot("walk-6-judge")
	v.do(chromedp.WaitEnabled("#record"), chromedp.Click("#record"),
		chromedp.Poll(`fetch("/api/rulings").then((r) => r.json()).then((r) => JSON.stringify(r).includes('"number":1'))`, nil))
	v.do(chromedp.Poll(`document.body.innerText.includes("a person marked the ships in the picture")`, nil)) // the page may be slower
	v.shot("walk-7-ruled")
	var said string
	v.eval(`document.body.innerText`, &said)
	assert.Contains(t, said, "A1 to B1: "+measured)
	assert.Contains(t, said, "a person marked the ships in the picture")
	assert.NotContains(t, said, "says otherwise")
}
