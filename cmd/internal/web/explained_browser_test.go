//go:build browser

package web_test

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"testing"
	"time"

	cdp "github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
)

// explanations are what the engine and the verdicts say of many random tables of every edition.
func explanations(t *testing.T) (all []string) {
	r := rand.New(rand.NewPCG(7, 11))
	for _, rules := range []engine.Rules{engine.Rules1e, engine.Rules20, engine.Rules25} {
		for n := range 60 {
			s := engine.Scene{Rules: rules, MatWidth: 914.4, MatHeight: 914.4, ScaleSigma: 0.0003}
			for i, id := range []string{"A1", "A2", "B1", "B2"} {
				ship := engine.Ship{ID: id, Player: 1 + i/2, Base: []engine.Base{engine.Small, engine.Medium, engine.Large}[r.IntN(3)], Turret: "left"}
				if rules == engine.Rules1e && ship.Base == engine.Medium {
					ship.Base = engine.Small
				}
				if rules == engine.Rules1e {
					ship.Turret, ship.Arcs = "", [][]string{{"rear_aux"}, {"full_front_180"}, {"mobile"}, {"primary_turret"}}[i]
				} else if i == 0 {
					ship.Arcs = []string{"double_turret"}
				}
				ship.Pose = geom.Pose{Point: geom.Point{X: 300 + 300*r.Float64(), Y: 300 + 300*r.Float64()},
					Heading: geom.Angle(90*r.IntN(4)) * geom.Degree}
				if n%3 == 0 { // parallel sides, and edges that meet
					ship.Pose.X, ship.Pose.Y = 300+20*float64(r.IntN(10)), 300+20*float64(r.IntN(10))
				}
				if n%2 == 0 {
					ship.Covariance = geom.Cov3{1, 0, 0, 0, 1, 0, 0, 0, 1e-4}
				}
				ship.Quarters = n%7 == 6 && i == 0
				s.Ships = append(s.Ships, ship)
			}
			for i, id := range []string{"rock1", "rock2", "gas1"} {
				x, y := 350+200*r.Float64(), 350+200*r.Float64()
				s.Obstacles = append(s.Obstacles, engine.Obstacle{ID: id, Kind: []string{"asteroid", "debris", "gas"}[i], Outline: square(x, y, 15),
					Sigma: geom.Length(0.5 * float64(n%2))})
			}
			result, err := engine.Measure(&s, engine.Options{Sigmas: 3})
			require.NoError(t, err)
			for i := range result.Pairs {
				p := &result.Pairs[i]
				for k := range p.Arcs {
					state := live.State{Pair: p, Result: result, Sigmas: 3, ObstaclesWatched: true,
						Choice: live.Choice{From: p.From, To: p.To, Arc: p.Arcs[k].Arc}}
					state.Located.Scene = s
					for _, v := range state.Verdicts() {
						all = append(all, v.Text)
					}
					all = append(all, p.Arcs[k].Explain(rules, p))
				}
			}
			for i := range result.Objects {
				all = append(all, result.Objects[i].Explain(rules))
			}
		}
	}
	return all
}

// oneOfEachForm leaves out what differs from another text in its figures and ships alone.
func oneOfEachForm(all []string) (out []string) {
	figure, known := regexp.MustCompile(`\d+(\.\d+)?|[AB]\d`), map[string]bool{}
	for _, text := range all {
		if form := figure.ReplaceAllString(text, "0"); !known[form] {
			known[form] = true
			out = append(out, text)
		}
	}
	return out
}

// guideAdvices are what the guided capture of a board says: every place and side in every sentence.
func guideAdvices() (all []string) {
	places := []string{"middle", "top edge", "bottom edge", "left edge", "right edge", "top left corner", "top right corner",
		"bottom left corner", "bottom right corner"}
	for _, side := range []string{"left", "right", "top", "bottom"} {
		all = append(all, "tilt the board's "+side+" side towards the camera, by about 20 degrees",
			"tilt the board's "+side+" side towards the camera, by 20 to 45 degrees: the focal length is known to 0.31 percent, wanted 0.10")
		for _, place := range places {
			all = append(all, "bring the board to the "+place+" of the picture",
				"tilt the board's "+side+" side towards the camera, by about 20 degrees, and bring it to the "+place+" of the picture",
				"bring the board to the "+place+" of the picture, its "+side+" side tilted towards the camera: a point there is known to 0.20 mm, "+
					"wanted 0.10")
		}
	}
	return all
}

// Sentences that are put together from a few forms are German in a German browser, whatever stands in them.
func TestSentencesOfFewFormsAreTranslated(t *testing.T) {
	t.Parallel()
	server := steadyCourt(t, newCourtroom(t))
	ctx := browsertest.New(t, time.Minute)
	require.NoError(t, chromedp.Run(ctx, cdp.Enable(), cdp.SetExtraHTTPHeaders(cdp.Headers{"Accept-Language": "de"}),
		chromedp.Navigate(server.URL+"/judge"), chromedp.WaitVisible("h1")))
	ask := func(with string, texts []string) {
		data, err := json.Marshal(texts)
		require.NoError(t, err)
		var said []*string
		within(t, ctx, "the texts", chromedp.Evaluate(`Promise.all([import("/texts.js"), import("/judge-verdicts.js")]).then(async ([t, v]) => {
			await t.ready; return `+string(data)+`.map(`+with+`); })`, &said, awaiting))
		require.Len(t, said, len(texts))
		failed := 0
		for i := range said {
			german := ""
			if said[i] != nil {
				german = *said[i]
			}
			if german != "" && !englishWords.MatchString(german) {
				continue
			}
			if failed++; failed < 20 {
				assert.Fail(t, "static/texts/de.json does not hold all of this", "%q: %q", texts[i], german)
			}
		}
		t.Logf("%s: %d of %d are not translated", with, failed, len(texts))
	}
	all := explanations(t)
	forms := oneOfEachForm(all)
	assert.Greater(t, len(forms), 100)
	ask("v.inWords", forms)
	ask("t.inFull", guideAdvices())
}
