package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/tablesim"
	"sightline/vision/token"
)

// judgement is what a judge reads.
type judgement struct {
	Held     uint64
	Measured string
	Reason   string
	Arcs     []string
	Ships    []struct {
		ID, State string
		Visible   float64
		Sigma     float64 `json:"sigma_mm"`
		Measured  bool
		TurnDoubt bool `json:"turn_doubt"`
	}
	Verdicts []struct {
		Key, Outcome, Title, Text, Decide string
		Distance                          *float64 `json:"distance_mm"`
		Margin                            float64  `json:"margin_mm"`
		By                                []string
		Lines                             [][2][2]float64 `json:"lines_mm"`
		Rules                             []struct{ Number, Text string }
	}
	Shapes []struct {
		Kind, ID, State string
		Closed          bool
		MM, Px          [][2]float64
	}
}

func (c *courtroom) judgement(t testing.TB, query string) (j judgement) {
	t.Helper()
	answer := c.do("GET", "/api/held"+query, "")
	require.Equal(t, 200, answer.Code, answer.Body)
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &j))
	return j
}

func TestAJudgeSeesEveryVerdictOfThePair(t *testing.T) {
	c := newCourtroom(t)
	c.change(withRock)
	c.freeze(t)
	j := c.judgement(t, "?from=A1&to=B1&arc=front")
	assert.Equal(t, c.held(), j.Held)
	assert.Equal(t, "Range 2, in the front arc, obstructed by rock1", j.Measured)
	var keys []string
	for _, v := range j.Verdicts {
		keys = append(keys, v.Key)
		assert.NotEmpty(t, v.Text, v.Key)
		assert.NotEmpty(t, v.Title, v.Key)
		require.NotEmpty(t, v.Rules, v.Key)
		for _, r := range v.Rules {
			assert.NotEmpty(t, r.Text, "%s: %s has no words", v.Key, r.Number)
		}
	}
	assert.Equal(t, []string{"range", "front", "front_attack", "front_obstruction"}, keys[:4], "the chosen arc comes first")
	assert.Contains(t, keys, "bullseye")
	assert.Contains(t, keys, "rear")
	assert.InDelta(t, 144.2, *j.Verdicts[0].Distance, 0.3)
	require.Len(t, j.Verdicts[0].Lines, 1)
	assert.Equal(t, []string{"rock1"}, j.Verdicts[3].By)
	assert.Equal(t, "yes", j.Verdicts[3].Outcome)
	assert.Empty(t, j.Verdicts[0].Decide, "it is decided")
	assert.Equal(t, 0.93, j.Ships[0].Visible)
	assert.InDelta(t, 0.2, j.Ships[0].Sigma, 1e-9)
}

// A judge sees of which base too little of the guides was seen to know that its card does not lie turned.
func TestAJudgeSeesWhoseGuidesAreNotSeen(t *testing.T) {
	c := newCourtroom(t)
	c.change(func(s *live.State) {
		s.Located.Scene.Ships = append([]engine.Ship(nil), s.Located.Scene.Ships...)
		s.Located.Scene.Ships[1].Seen, s.Located.Scene.Ships[1].TurnDoubt = "look", true
	})
	c.freeze(t)
	j := c.judgement(t, "")
	assert.False(t, j.Ships[0].TurnDoubt)
	assert.True(t, j.Ships[1].TurnDoubt)
}

func TestTooCloseSaysWhatWouldDecideIt(t *testing.T) {
	c := newCourtroom(t)
	c.freeze(t)
	j := c.judgement(t, "?from=A2&to=B2&arc=front") // at the edge of range 2 and 3
	require.Equal(t, "too_close", j.Verdicts[0].Outcome)
	assert.Contains(t, j.Verdicts[0].Decide, "more than 200 mm apart decides it: lay the range ruler along the line drawn")
	assert.Contains(t, j.Measured, "Range 2 or 3")
}

func TestAJudgeSeesAnswersThatThePlayersAgreedToHide(t *testing.T) {
	c := newCourtroom(t)
	c.freeze(t)
	c.change(func(state *live.State) {
		state.Pair, state.Reason, state.Result = nil, "only a judge may measure", engine.Result{}
	})
	assert.Contains(t, c.judgement(t, "?from=A1&to=B1").Measured, "Range 2")
}

func TestNothingIsJudgedThatIsNotHeld(t *testing.T) {
	c := newCourtroom(t)
	assert.Equal(t, 404, c.do("GET", "/api/held", "").Code)
	assert.Equal(t, 404, c.do("GET", "/api/held.png", "").Code)
	c.freeze(t)
	assert.Equal(t, 400, c.do("GET", "/api/held?arc=sideways", "").Code)
	assert.Equal(t, "nothing is chosen", c.judgement(t, "?from=&to=").Reason)
	assert.Empty(t, c.judgement(t, "?from=A1&to=C9").Verdicts)
}

// The projection of every shape, through lenses that bend much, against the formula of
// the lens in its documentation written down once more.
func TestShapesLieWhereTheLensPutsThem(t *testing.T) {
	c := newCourtroom(t)
	c.change(withRock)
	c.freeze(t)
	rng := rand.New(rand.NewPCG(7, 7))
	for range 20 {
		camera := tablesim.RandomCamera(rng, 3840, 2160)
		c.change(func(state *live.State) {
			h := *state.Hold
			h.Table = calibration.Table{Camera: camera}
			state.Hold = &h
		})
		points := 0
		for _, s := range c.judgement(t, "?from=A1&to=B1&arc=bullseye").Shapes {
			z := float64(token.BaseTop)
			if s.Kind == "mat" || s.Kind == "obstacle" || s.Kind == "unknown" {
				z = 0
			}
			if len(s.Px) == 0 {
				assert.Contains(t, []string{"arc", "mat"}, s.Kind, "only what is out of sight is not drawn")
				continue
			}
			first := documented(&camera, s.MM[0], z)
			assert.InDelta(t, first[0], s.Px[0][0], 0.1, s.Kind)
			assert.InDelta(t, first[1], s.Px[0][1], 0.1, s.Kind)
			// Every corner of the shape is a vertex of the path, and so are points between.
			for _, q := range s.MM {
				want, best := documented(&camera, q, z), math.Inf(1)
				for _, p := range s.Px {
					best = min(best, math.Hypot(p[0]-want[0], p[1]-want[1]))
				}
				assert.Less(t, best, 0.1, "%s at %v", s.Kind, q)
				points++
			}
			// Half way along the first edge the drawn path is not further from the lens's
			// own curve than a tenth of a pixel.
			mid := documented(&camera, [2]float64{(s.MM[0][0] + s.MM[1][0]) / 2, (s.MM[0][1] + s.MM[1][1]) / 2}, z)
			assert.Less(t, distanceToPath(mid, s.Px), 0.1, s.Kind)
		}
		assert.Greater(t, points, 60)
	}
}

// documented projects a point as the documentation of calibration.Intrinsics says.
func documented(c *calibration.Camera, mm [2]float64, z float64) [2]float64 {
	p := [3]float64{mm[0], mm[1], z}
	var q [3]float64
	for i := range q {
		q[i] = c.R[i][0]*p[0] + c.R[i][1]*p[1] + c.R[i][2]*p[2] + c.T[i]
	}
	x, y := q[0]/q[2], q[1]/q[2]
	k1, k2, p1, p2, k3 := c.Distortion[0], c.Distortion[1], c.Distortion[2], c.Distortion[3], c.Distortion[4]
	r := x*x + y*y
	radial := 1 + r*(k1+r*(k2+r*k3))
	return [2]float64{c.Fx*(x*radial+2*p1*x*y+p2*(r+2*x*x)) + c.Cx, c.Fy*(y*radial+p1*(r+2*y*y)+2*p2*x*y) + c.Cy}
}

func distanceToPath(p [2]float64, path [][2]float64) float64 {
	best := math.Inf(1)
	for i := 1; i < len(path); i++ {
		a, b := path[i-1], path[i]
		dx, dy := b[0]-a[0], b[1]-a[1]
		t := ((p[0]-a[0])*dx + (p[1]-a[1])*dy) / max(dx*dx+dy*dy, 1e-12)
		t = min(max(t, 0), 1)
		best = min(best, math.Hypot(p[0]-a[0]-t*dx, p[1]-a[1]-t*dy))
	}
	return best
}

func TestEveryBaseAndEveryReadSideIsDrawn(t *testing.T) {
	c := newCourtroom(t)
	c.change(func(state *live.State) { state.Located.Ships[0].Sides = []token.Side{token.Front, token.LeftSide} })
	c.freeze(t)
	bases, read := 0, 0
	for _, s := range c.judgement(t, "?from=A1&to=B1").Shapes {
		switch {
		case s.Kind == "base":
			bases++
			if s.ID == "A1" { // as the straight camera of the fake sees it
				assert.InDeltaSlice(t, []float64{780, 680}, s.Px[0][:], 0.1)
			}
		case s.Kind == "side" && s.State == "read":
			read++
			assert.Equal(t, "A1", s.ID)
		}
	}
	assert.Equal(t, 6, bases)
	assert.Equal(t, 2, read)
}

func TestAPartOfTheHeldPictureComesWithoutLoss(t *testing.T) {
	c := newCourtroom(t)
	c.freeze(t)
	held := fmt.Sprintf("?held=%d", c.held())
	answer := c.do("GET", "/api/held.png"+held+"&x=760&y=660&w=80&h=60", "")
	require.Equal(t, 200, answer.Code, answer.Body)
	img, err := png.Decode(bytes.NewReader(answer.Body.Bytes()))
	require.NoError(t, err)
	require.Equal(t, 80, img.Bounds().Dx())
	require.Equal(t, 60, img.Bounds().Dy())
	f := fakePicture()
	for y := range 60 {
		for x := range 80 {
			r, _, _, _ := img.At(img.Bounds().Min.X+x, img.Bounds().Min.Y+y).RGBA()
			require.Equal(t, f.Gray.GrayAt(760+x, 660+y).Y, uint8(r>>8), "pixel %d, %d", x, y)
		}
	}
	c.change(func(state *live.State) { state.Frame = vision.Frame{} })
	assert.Equal(t, 200, c.do("GET", "/api/held.png"+held+"&x=0&y=0&w=8&h=8", "").Code, "what is held does not go with the live picture")
}

func TestPartsOfPicturesThatAreNotGivenOut(t *testing.T) {
	c := newCourtroom(t)
	c.freeze(t)
	for query, status := range map[string]int{
		"?held=5":                              http.StatusConflict,
		"?x=-1&y=0&w=8&h=8":                    400,
		"?x=0&y=0&w=0&h=8":                     400,
		"?x=1900&y=0&w=80&h=8":                 400,
		"?x=0&y=1079&w=8&h=8":                  400,
		"?x=0&y=0&w=99999999999&h=8":           400,
		"?x=0&y=0&w=8&h=8&step=0":              400,
		"?x=0&y=0&w=8&h=8&step=16":             400,
		"?x=1919&y=1079&w=1&h=1&step=8":        400,
		"?x=nothing":                           400,
		"":                                     200,
		"?step=2":                              200,
		"?step=2&gray=1":                       200,
		"?x=1912&y=1072&w=8&h=8&step=8":        200,
		"?x=1911&y=1071&w=9&h=9&step=8&gray=1": 200,
	} {
		answer := c.do("GET", "/api/held.png"+query, "")
		assert.Equal(t, status, answer.Code, "%s: %.100s", query, answer.Body)
	}
	c.change(func(state *live.State) {
		h := *state.Hold
		h.Frame = vision.Frame{Gray: image.NewGray(image.Rect(0, 0, 5000, 4000))}
		state.Hold = &h
	})
	answer := c.do("GET", "/api/held.png", "")
	assert.Equal(t, 400, answer.Code)
	assert.Contains(t, answer.Body.String(), "Ask for less")
}

// The words of the rules are those of docs/rules.md, or begin so that they can be read alone.
func TestTheRulesAreQuotedFromTheirPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/rules.md")
	require.NoError(t, err)
	rows := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| (G\d+) \| [^|]*\| ([^|]*) \|`).FindAllStringSubmatch(string(page), -1) {
		rows[m[1]] = m[2]
	}
	alone := map[string]bool{"G4": true, "G16": true, "G37": true} // the page says "the same" of these
	for number, words := range web.RulesInWords {
		require.Contains(t, rows, number)
		if !alone[number] {
			assert.Equal(t, rows[number], words, number)
		}
	}
	named := regexp.MustCompile(`G\d+`)
	for _, r := range []engine.Rules{engine.Rules1e, engine.Rules20, engine.Rules25} {
		rules := []string{engine.RangeRule(r, engine.Yes), engine.RangeRule(r, engine.No), engine.ObstructionRule(r)}
		for a := engine.ArcFront; a <= engine.ArcFront136; a++ {
			rules = append(rules, a.Rule(r), engine.AttackRule(r, a))
		}
		for _, number := range named.FindAllString(strings.Join(rules, " "), -1) {
			assert.Contains(t, web.RulesInWords, number)
		}
	}
}
