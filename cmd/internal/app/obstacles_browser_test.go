//go:build browser

package app_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration/lens"
	"sightline/cmd/internal/app"
	"sightline/cmd/internal/browsertest"
	"sightline/engine/geom"
	"sightline/vision/catalogue"
	"sightline/vision/obstacle"
	"sightline/vision/opencv"
	"sightline/vision/tablesim"
)

// newTeacher is someone whose table is calibrated and who has taught no obstacles: the
// whole program runs on a simulated camera under which tokens are laid out.
func newTeacher(t *testing.T) *newcomer {
	t.Helper()
	d, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	if err != nil {
		t.Skipf("the program finds its place with OpenCV: %v", err)
	}
	require.NoError(t, d.Close())
	u := &newcomer{t: t, browser: browsertest.New(t, 8*time.Minute)}
	require.NoError(t, chromedp.Run(u.browser))
	t.Chdir(t.TempDir())
	u.table, err = tablesim.Open(tablesim.Options{Width: 1920, Height: 1080, Seed: 5, FPS: 4, Paper: time.Hour})
	require.NoError(t, err)
	require.NoError(t, lens.Save("lens.json", u.table.Lens()))
	c := app.DefaultConfig()
	c.Camera.Source, c.Camera.Lens = "sim:paper", "lens.json"
	u.start(c, app.Options{})
	return u
}

// TestSomebodyTeachesTheirTokensWithThePage goes through the three steps and compares the
// file that came out with the simulated truth.
func TestSomebodyTeachesTheirTokensWithThePage(t *testing.T) {
	u := newTeacher(t)
	complaints := browsertest.Complaints(u.browser)
	learn := `#learn-mat:not([disabled])`
	u.do(emulation.SetDeviceMetricsOverride(1440, 1000, 1, false), chromedp.Navigate(u.url+"/obstacles"))

	// With paper on it the mat is not learnt, and the page says why.
	u.table.ShowPaper(tablesim.PaperTokens)
	u.do(browsertest.Poll(`document.querySelector('[data-way="mat"]').textContent.includes("white paper lies on the mat")`, nil),
		chromedp.WaitVisible("#learn-mat[disabled]"))
	u.table.ShowPaper(tablesim.PaperEmpty)
	u.do(chromedp.WaitVisible(learn), chromedp.Click(learn), chromedp.WaitVisible(`[data-done="mat"]`))
	mat, err := obstacle.LoadBackground(filepath.FromSlash(app.SimulatedMatPath))
	require.NoError(t, err)
	w, _ := mat.Size()
	assert.InDelta(t, 914.4, float64(w), 0.5)
	u.do(chromedp.Click(learn))
	assert.Equal(t, "Replace the learnt mat?", u.read("learn-mat"), "what was learnt is not lost with one click")

	// The tokens: the third is a gas cloud, the fourth a device.
	u.table.ShowPaper(tablesim.PaperTokens)
	u.do(chromedp.Click(`#steps [data-step="tokens"]`), browsertest.Poll(`!document.querySelector('[data-way="tokens"]').textContent`, nil))
	u.do(chromedp.WaitVisible(`#trace:not([disabled])`), chromedp.Click("#trace"), chromedp.WaitVisible("#traced"))
	var n int
	u.do(chromedp.Evaluate(`document.querySelectorAll("#traced-list input[type=checkbox]:checked").length`, &n))
	require.Equal(t, 4, n, u.read("traced-list"))
	names := []string{"my rock", "", "", "my charge"}
	kinds := []string{"asteroid", "debris", "gas", "seismic_charge"}
	for i, kind := range kinds {
		row := `#traced-list li:nth-child(` + string(rune('1'+i)) + `) `
		u.do(chromedp.Evaluate(`(() => { const s = document.querySelector("`+row+`select"); s.value = "`+kind+
			`"; s.dispatchEvent(new Event("change", {bubbles: true})); })()`, nil))
		if names[i] != "" {
			u.do(chromedp.Evaluate(`document.querySelector("`+row+`input[maxlength]").value = ""`, nil), chromedp.SendKeys(row+`input[type="text"]`,
				names[i]))
		}
	}
	u.do(chromedp.Click("#save"), chromedp.WaitVisible("#save-done"), browsertest.Poll(`document.querySelectorAll("#entries li").length === 4`,
		nil))
	u.do(browsertest.Poll(`document.querySelectorAll("#traced-list input[type=checkbox]:checked").length === 0`, nil))
	// The catalogue changes first, then what is said of its tokens: so that none is saved a second time.
	u.do(browsertest.Poll(`document.getElementById("traced-list").textContent.includes("Saved as my rock.")`, nil))
	if path := os.Getenv("OBSTACLES_PNG"); path != "" {
		var png []byte
		u.do(chromedp.Evaluate("scrollTo(0, 0)", nil), chromedp.Sleep(800*time.Millisecond), chromedp.CaptureScreenshot(&png))
		require.NoError(t, os.WriteFile(path, png, 0o644))
	}
	c, err := catalogue.Load(filepath.FromSlash(app.SimulatedTokensPath))
	require.NoError(t, err)
	compareOutlines(t, c, []string{"my rock", "debris1", "gas1", "my charge"}, kinds)

	// The third step recognises them where they lie then, the second with its other face up.
	u.table.ShowPaper(tablesim.PaperGame)
	u.do(chromedp.Click(`#steps [data-step="try"]`))
	var rows int // a search takes its time on a busy machine: longer than the browser waits for a condition
	require.Eventually(t, func() bool {
		u.do(chromedp.Evaluate(`document.querySelectorAll("#found tbody tr").length`, &rows))
		return rows == 4
	}, 4*time.Minute, 500*time.Millisecond, "what is recognised")
	found := u.read("found")
	assert.Contains(t, found, "debris1Debris cloudthe other")
	assert.Contains(t, found, "my chargeSeismic chargeas traced")
	assert.Equal(t, "4 tokens are recognised", u.read("try-now"))
	if path := os.Getenv("OBSTACLES_TRY_PNG"); path != "" {
		var png []byte
		u.do(chromedp.Evaluate("scrollTo(0, 0)", nil), chromedp.Sleep(800*time.Millisecond), chromedp.CaptureScreenshot(&png))
		require.NoError(t, os.WriteFile(path, png, 0o644))
	}

	// Renamed, deleted after two clicks, and taken back from a file.
	kept, err := os.ReadFile(filepath.FromSlash(app.SimulatedTokensPath))
	require.NoError(t, err)
	first := `#entries li:nth-child(1) `
	u.do(chromedp.SendKeys(first+`input[type="text"]`, kb.End+"!"), chromedp.Click(first+`button:not(.quiet)`),
		chromedp.WaitVisible(first+`button[aria-label="Delete my rock!"]`))
	assert.Equal(t, "my rock! is saved.", u.read("catalogue-done"))
	u.do(chromedp.Evaluate(clickTwice(first+"button.quiet"), nil),
		browsertest.Poll(`document.querySelectorAll("#entries li").length === 3`, nil))
	require.NoError(t, os.WriteFile("mine.json", kept, 0o644))
	mine, err := filepath.Abs("mine.json")
	require.NoError(t, err)
	u.do(chromedp.SetUploadFiles("#file", []string{mine}), chromedp.Click("#take"), chromedp.WaitVisible("#catalogue-problem"))
	assert.Contains(t, u.read("catalogue-problem"), "The catalogue already has debris1, gas1, my charge")
	refusals := 0
	for _, c := range complaints() { // the browser logs a refusal as such
		if strings.Contains(c, "409") {
			refusals++
		}
	}
	assert.Len(t, complaints(), refusals, "the browser complains")
	var asked string
	u.do(chromedp.Evaluate(`document.getElementById("mode").value = "all"`, nil), chromedp.Evaluate(clickTwice("#take"), &asked),
		browsertest.Poll(`document.querySelectorAll("#entries li").length === 4`, nil))
	assert.Equal(t, "Replace all 3 entries?", asked)
	again, err := os.ReadFile(filepath.FromSlash(app.SimulatedTokensPath))
	require.NoError(t, err)
	assert.Equal(t, string(kept), string(again))
	assert.FileExists(t, filepath.FromSlash(app.SimulatedTokensPath)+".bak")
	assert.Len(t, complaints(), refusals, "the browser complains")
}

// clickTwice returns a script that clicks on a button which asks first, and again at once: it takes its question back after six seconds,
// which a busy machine may need between two actions. Its value is the question; it throws when there is none.
func clickTwice(selector string) string {
	return `(() => {
		const button = document.querySelector(` + strconv.Quote(selector) + `);
		button.click();
		const asked = button.textContent;
		if (!button.classList.contains("sure")) throw new Error("it does not ask");
		button.click();
		return asked;
	})()`
}

// compareOutlines compares what was saved with the tokens that lay on the paper.
func compareOutlines(t *testing.T, c *catalogue.Catalogue, names, kinds []string) {
	t.Helper()
	for i, o := range tablesim.PaperOutlines() {
		e := c.Entry(names[i])
		if !assert.NotNil(t, e, names[i]) {
			continue
		}
		assert.Equal(t, kinds[i], e.Kind)
		truth, err := catalogue.NewEntry(o.ID, o.Kind, o.Pose.TransformAll(o.Outline)) // the same, about its centroid
		require.NoError(t, err)
		mean := 0.0
		for _, p := range e.Outline {
			mean += geom.Polygon(truth.Outline).BoundaryDistance(p) / float64(len(e.Outline))
		}
		t.Logf("%s: %.2f mm from the truth in the mean", names[i], mean)
		assert.Less(t, mean, 0.25, "%s: mean distance from the truth, mm", names[i])
	}
}
