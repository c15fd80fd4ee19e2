package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
)

// learning is a server with someone who may teach it.
func learning(t *testing.T) (*fakeLearning, *web.Server) {
	l := &fakeLearning{state: taught()}
	_, s := everything(t, func(o *web.Options) { o.Learning = l })
	return l, s
}

func TestWhatIsTaughtIsUnderstood(t *testing.T) {
	l, s := learning(t)
	for body, want := range map[string]live.LearnIntent{
		`{"do":"mat","version":"a"}`:                                  {Do: live.LearnMat, Version: "a", Top: 2},
		`{"do":"trace"}`:                                              {Do: live.LearnTrace, Top: 2},
		`{"do":"trace","top_mm":2.5}`:                                 {Do: live.LearnTrace, Top: 2.5},
		`{"do":"delete","name":" rock"}`:                              {Do: live.LearnDelete, Top: 2, Name: " rock"},
		`{"do":"change","name":"rock","to":" my rock ","kind":"gas"}`: {Do: live.LearnChange, Top: 2, Name: "rock", To: "my rock", Kind: "gas"},
		`{"do":"save","trace":3,"version":"b","tokens":[{"number":1,"name":" r1 ","kind":"gas","replace":true}]}`: {
			Do: live.LearnSave, Trace: 3, Version: "b", Top: 2, Tokens: []live.LearnName{{Number: 1, Name: "r1", Kind: "gas", Replace: true}},
		},
	} {
		l.wanted = nil
		answer := ask(s, http.MethodPost, "/api/obstacles", body, loopback, "")
		require.Equal(t, http.StatusNoContent, answer.Code, "%s: %s", body, answer.Body)
		assert.Equal(t, []live.LearnIntent{want}, l.wanted, body)
	}
}

func TestWhatMakesNoSenseIsRefusedInASentence(t *testing.T) {
	l, s := learning(t)
	long := strings.Repeat("x", 41)
	for body, says := range map[string]string{
		``:                                    "must be JSON",
		`[]`:                                  "must be JSON",
		`{"do":"mat"} {}`:                     "something follows it",
		`{"do":"mat","colour":"red"}`:         "unknown key",
		`{"do":"import"}`:                     `There is no "import"`,
		`{"do":"trace","top_mm":0}`:           "expected 0.2 to 20 mm, got 0",
		`{"do":"trace","top_mm":21}`:          "expected 0.2 to 20 mm",
		`{"do":"change","to":"` + long + `"}`: "at most 40 characters",
		`{"do":"change","to":"a\u0000b"}`:     "letters, digits and other visible",
		`{"do":"save","tokens":[{"number":2,"name":" ","kind":"gas"}]}`: "Number 2: Give it a name.",
	} {
		answer := ask(s, http.MethodPost, "/api/obstacles", body, loopback, "")
		assert.Equal(t, http.StatusBadRequest, answer.Code, body)
		assert.Contains(t, answer.Body.String(), says, body)
	}
	answer := ask(s, http.MethodPost, "/api/obstacles", `{"do":"`+strings.Repeat("x", 70<<10)+`"}`, loopback, "")
	assert.Equal(t, http.StatusBadRequest, answer.Code, "a body of more than 64 kB")
	assert.Empty(t, l.wanted)
}

func TestTheStatusSaysWhyItWasNotDone(t *testing.T) {
	l, s := learning(t)
	for _, c := range []struct {
		err    error
		status int
		says   string
	}{
		{fmt.Errorf("%w: somebody was quicker", live.ErrLearnConflict), http.StatusConflict, "Somebody was quicker."},
		{fmt.Errorf("%w: mat.png: no space left on device", live.ErrLearnFile), http.StatusInsufficientStorage,
			"Mat.png: no space left on device."},
		{fmt.Errorf("the catalogue has no %q", "x"), http.StatusBadRequest, `The catalogue has no "x".`},
	} {
		l.err = c.err
		answer := ask(s, http.MethodPost, "/api/obstacles", `{"do":"delete","name":"x"}`, loopback, "")
		assert.Equal(t, c.status, answer.Code)
		assert.Equal(t, c.says, strings.TrimSpace(answer.Body.String()))
	}
}

func TestTheCatalogueGoesOutAndComesInAsAFile(t *testing.T) {
	l, s := learning(t)
	out := ask(s, http.MethodGet, "/api/obstacles/catalogue.json", "", network, "")
	require.Equal(t, http.StatusOK, out.Code)
	assert.Equal(t, `"90ab"`, out.Header().Get("ETag"))
	assert.Contains(t, out.Header().Get("Content-Disposition"), "attachment")
	c, err := catalogue.Parse(bytes.NewReader(out.Body.Bytes()))
	require.NoError(t, err)
	require.Len(t, c.Entries, 4)

	put := func(query, body, match string) (int, string) {
		answer := ask(s, http.MethodPut, "/api/obstacles/catalogue.json"+query, body, loopback, "", "If-Match", match)
		return answer.Code, answer.Body.String()
	}
	code, text := put("?mode=replace", out.Body.String(), `"90ab"`)
	require.Equal(t, http.StatusNoContent, code, text)
	require.Len(t, l.wanted, 1)
	assert.Equal(t, "90ab", l.wanted[0].Version)
	assert.True(t, l.wanted[0].Replace && !l.wanted[0].Whole)
	assert.Len(t, l.wanted[0].Catalogue.Entries, 4)
	code, text = put("?mode=all", `[{"id":"a","kind":"gas","outline_mm":[[0,0],[40,0],[0,40]]}]`, "")
	require.Equal(t, http.StatusNoContent, code, text)
	assert.Equal(t, "a", l.wanted[1].Catalogue.Entries[0].Name, "a published list is taken too")

	for body, says := range map[string]string{
		"": "not a catalogue", "{": "not a catalogue", `{"version":2}`: "version: expected 1, got 2",
		`{"version":1,"outlines":[{"name":"a","kind":"moon","outline_mm":[[0,0],[40,0],[0,40]]}]}`: `outlines[0] ("a"): kind: expected asteroid`,
	} {
		code, text := put("", body, "")
		assert.Equal(t, http.StatusBadRequest, code, body)
		assert.Contains(t, text, "The file was refused: ", body)
		assert.Contains(t, text, says, body)
	}
	code, text = put("?mode=sideways", "{}", "")
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Contains(t, text, "expected add, replace or all")
	code, _ = put("", `{"version":1,"outlines":[`+strings.Repeat(" ", 9<<20)+`]}`, "")
	assert.Equal(t, http.StatusRequestEntityTooLarge, code)
	code, _ = put("", `{"version":1,"outlines":[`+strings.Repeat(" ", 1<<20)+`]}`, "")
	assert.Equal(t, http.StatusNoContent, code, "a catalogue may be larger than other requests")

	l.state.Catalogue.Problem = "o.json: not a catalogue"
	broken := ask(s, http.MethodGet, "/api/obstacles/catalogue.json", "", network, "")
	assert.Equal(t, http.StatusConflict, broken.Code)
	assert.Contains(t, broken.Body.String(), "The catalogue cannot be read: o.json: not a catalogue.")
	l.state.Catalogue.Version, l.state.Catalogue.Problem = "", ""
	assert.Equal(t, http.StatusNotFound, ask(s, http.MethodGet, "/api/obstacles/catalogue.json", "", network, "").Code)
}

func TestThePageIsToldWhyNothingIsWatched(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*live.State, *live.LearnState)
		want   string
	}{
		"no mat":    {func(_ *live.State, s *live.LearnState) { s.Mat = live.LearntFile{} }, "the empty mat has not been learnt"},
		"no tokens": {func(_ *live.State, s *live.LearnState) { s.Entries = nil }, "no token is in the catalogue"},
		"damaged tokens": {func(_ *live.State, s *live.LearnState) { s.Entries, s.Catalogue.Problem = nil, "not a catalogue" },
			"the catalogue cannot be read"},
		"a damaged mat": {func(_ *live.State, s *live.LearnState) { s.MatWidth, s.Mat.Problem = 0, "not a mat" },
			"the learnt mat cannot be read"},
		"a mat that was deleted a moment ago": {func(state *live.State, s *live.LearnState) {
			state.ObstaclesWatched, state.Located.Obstacles = true, &vision.ObstacleSight{}
			s.Mat = live.LearntFile{}
		}, "the empty mat has not been learnt"},
		"another mat": {func(_ *live.State, s *live.LearnState) { s.Unusable = "learn it again" }, "learn it again"},
		"still looking": {func(state *live.State, _ *live.LearnState) {
			state.Located.Obstacles = &vision.ObstacleSight{Unseen: "the picture is changing"}
		}, "the picture is changing"},
		"no calibration": {func(state *live.State, _ *live.LearnState) {
			state.Health = live.Health{Code: live.NoCalibration, Title: "No calibration"}
		}, "No calibration"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &fakeLearning{state: taught()}
			f, s := everything(t, func(o *web.Options) { o.Learning = l })
			f.change(func(state *live.State) { c.change(state, &l.state) })
			var got struct {
				Now struct {
					Watched bool   `json:"watched"`
					Why     string `json:"why_not"`
				} `json:"now"`
			}
			require.NoError(t, json.Unmarshal(ask(s, http.MethodGet, "/api/obstacles", "", network, "").Body.Bytes(), &got))
			assert.False(t, got.Now.Watched)
			assert.Equal(t, c.want, got.Now.Why)
		})
	}
}

func TestAPushedMatIsTold(t *testing.T) {
	f, s := everything(t, func(*web.Options) {})
	for pushed, want := range map[float64]float64{0: 0, 1.2: 0, 4.2: 4.2} {
		f.change(func(state *live.State) { state.Located.Obstacles = &vision.ObstacleSight{Pushed: geom.Length(pushed)} })
		var got struct {
			Things struct {
				Pushed float64 `json:"mat_pushed_mm"`
			} `json:"things"`
		}
		require.NoError(t, json.Unmarshal(ask(s, http.MethodGet, "/api/state", "", network, "").Body.Bytes(), &got))
		assert.InDelta(t, want, got.Things.Pushed, 1e-9)
	}
}

func FuzzLearnIntent(f *testing.F) {
	f.Add([]byte(`{"do":"trace","top_mm":2}`))
	f.Add([]byte(`{"do":"save","trace":1,"tokens":[{"number":1,"name":"a","kind":"gas"}]}`))
	f.Add([]byte(`{"do":"change","name":"a","to":"b","kind":"gas"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, problem := web.ReadLearnIntent(bytes.NewReader(data))
		if problem != "" {
			return
		}
		assert.NotEmpty(t, in.Do)
		assert.True(t, in.Top >= 0.2 && in.Top <= 20)
		for _, k := range in.Tokens {
			assert.True(t, k.Name != "" && len([]rune(k.Name)) <= 40)
		}
	})
}
