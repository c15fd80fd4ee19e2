package web_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

func square(x, y, half float64) []geom.Point {
	return []geom.Point{{X: x - half, Y: y - half}, {X: x + half, Y: y - half}, {X: x + half, Y: y + half}, {X: x - half, Y: y + half}}
}

// courtroom is a server with judges, and a judge's cookie.
type courtroom struct {
	*fakeTable
	judges *fakeJudges
	server *web.Server
	cookie string
}

func newCourtroom(t testing.TB) *courtroom {
	var c courtroom
	c.fakeTable, c.server = everything(t, func(o *web.Options) {})
	c.judges = newFakeJudges(c.fakeTable)
	o := web.Options{Hub: c.hub, Choose: c.choose, Access: access.Options{Names: []string{"table.local"}}}
	c.judges.options(&o)
	c.server = web.NewServer(o)
	c.cookie = c.server.Cookie(access.Judge, "Jo", time.Now())
	return &c
}

func (c *courtroom) do(method, path, body string) *httptest.ResponseRecorder {
	return ask(c.server, method, path, body, network, c.cookie)
}

// held is the number of what is held.
func (c *courtroom) held() uint64 { return c.hub.Newest().Hold.Number }

// sending makes the body of a ruling: %d is replaced by what is held.
func (c *courtroom) sending(body string) string {
	return strings.ReplaceAll(body, "HELD", fmt.Sprint(c.held()))
}

const confirm = `{"held":HELD,"from":"A1","to":"B1","arc":"front","decision":"as_measured"}`

func TestARulingAsMeasuredIsRecordedAndShownToAll(t *testing.T) {
	c := newCourtroom(t)
	c.freeze(t)
	answer := c.do("POST", "/api/rulings", c.sending(confirm))
	require.Equal(t, http.StatusCreated, answer.Code, answer.Body)
	assert.Equal(t, "/api/rulings/1", answer.Header().Get("Location"))
	var ruling struct {
		Number          int
		Title, Measured string
		Text, Judge     string
		Overruled       bool
		Lines           [][2][2]float64 `json:"lines_mm"`
	}
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &ruling))
	assert.Equal(t, "Range 2, in the front arc, obstacles are not watched", ruling.Title)
	assert.Equal(t, ruling.Title, ruling.Measured)
	assert.Equal(t, "Jo", ruling.Judge, "the name that the judge paired with")
	assert.Equal(t, "A1 to B1: range 2, in the front arc, obstacles are not watched; ruled as measured by Jo.", ruling.Text)
	require.Len(t, ruling.Lines, 1)

	state := ask(c.server, "GET", "/api/state", "", network, "")
	assert.Contains(t, state.Body.String(), `"ruling":{"number":1,`)
	list := c.do("GET", "/api/rulings", "")
	assert.Contains(t, list.Body.String(), ruling.Title)
}

func (c *courtroom) freeze(t testing.TB) {
	t.Helper()
	answer := c.do("POST", "/api/freeze", `{"hold":true}`)
	require.Equal(t, http.StatusOK, answer.Code, answer.Body)
}

func TestWhatARulingNeeds(t *testing.T) {
	for name, line := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"confirmed":                  {confirm, 201, ""},
		"overruled with a reason":    {`{"held":HELD,"from":"A1","to":"B1","arc":"front","decision":"overruled","ruled":{"range":"1"},"reason":"measured by hand"}`, 201, "Range 1, in the front arc, obstacles are not watched"},
		"overruled without a reason": {`{"held":HELD,"from":"A1","to":"B1","arc":"front","decision":"overruled","ruled":{"range":"1"},"reason":"  "}`, 400, "needs a reason"},
		"overruled with nothing": {`{"held":HELD,"from":"A1","to":"B1","arc":"front","decision":"overruled","reason":"because"}`, 400,
			"Say what you rule"},
		"overruled to what was measured": {`{"held":HELD,"from":"A1","to":"B1","arc":"front","decision":"overruled","ruled":{"range":"2"},"reason":"because"}`, 400, "confirm it instead"},
		"a range that is none": {
			`{"held":HELD,"from":"A1","to":"B1","arc":"front","decision":"overruled","ruled":{"range":"9"},"reason":"because"}`, 400,
			`The range cannot be ruled to be "9"; expected 0, 1, 2, 3 or beyond.`},
		"an arc's word that is none":   {`{"held":HELD,"from":"A1","to":"B1","arc":"front","decision":"overruled","ruled":{"in_arc":"perhaps"},"reason":"because"}`, 400, `The arc cannot be ruled to be "perhaps"; expected yes or no.`},
		"a range that is a number":     {`{"held":HELD,"from":"A1","to":"B1","arc":"front","decision":"overruled","ruled":{"range":2},"reason":"because"}`, 400, "ruled.range: expected a text, got number."},
		"a held number that is a text": {`{"held":"x"}`, 400, "held: expected a whole number that is not negative, got string."},
		"confirmed and overruled": {`{"held":HELD,"from":"A1","to":"B1","arc":"front","decision":"as_measured","ruled":{"range":"1"}}`,
			400, "cannot decide anything else"},
		"no decision":           {`{"held":HELD,"from":"A1","to":"B1","arc":"front"}`, 400, "as_measured, decided or overruled"},
		"nothing held is named": {`{"from":"A1","to":"B1","arc":"front","decision":"as_measured"}`, 400, "held is missing"},
		"an old held number":    {`{"held":5,"from":"A1","to":"B1","arc":"front","decision":"as_measured"}`, 409, "no longer held"},
		"no pair":               {`{"held":HELD,"from":"","to":"","arc":"front","decision":"as_measured"}`, 400, "Choose an attacker"},
		"a ship that is not there": {`{"held":HELD,"from":"A1","to":"C9","arc":"front","decision":"as_measured"}`, 400,
			"C9 is not in the held picture"},
		"one ship twice": {`{"held":HELD,"from":"A1","to":"A1","arc":"front","decision":"as_measured"}`, 400, "two ships"},
		"an arc that the ship has not": {`{"held":HELD,"from":"A1","to":"B1","arc":"turret","decision":"as_measured"}`, 400,
			"A1 has no turret arc"},
		"an arc that is none": {`{"held":HELD,"from":"A1","to":"B1","arc":"sideways","decision":"as_measured"}`, 400,
			`There is no arc "sideways"; expected front, rear,`},
		"an unknown key": {`{"held":HELD,"verdict":"yes"}`, 400, "unknown key"},
		"two objects":    {confirm + confirm, 400, "something follows it"},
		"no JSON":        {`held=1`, 400, "must be JSON"},
		"must not contain control": {`{"held":HELD,"from":"A1","to":"B1","arc":"front","decision":"as_measured","question":"a\u0007"}`, 400,
			"must not contain control"},
		"a text turned round": {`{"held":HELD,"from":"A1","to":"B1","arc":"front","decision":"as_measured","question":"abc \u202e 2"}`,
			400, "question must not contain control or invisible characters"},
		"a hidden character in the name": {`{"held":HELD,"from":"A1","to":"B1","arc":"front","decision":"as_measured","judge":"abc \u200b 2"}`,
			400, "judge must not contain control or invisible characters"},
		"a reason turned round": {`{"held":HELD,"from":"A1","to":"B1","arc":"front","decision":"overruled","ruled":{"range":"1"},"reason":"abc \u2066 2"}`, 400, "reason must not contain"},
		"a name that is a book": {`{"held":HELD,"from":"A1","to":"B1","arc":"front","decision":"as_measured","judge":"` + strings.Repeat("ü",
			81) + `"}`, 400, "at most 80"},
		"a huge body": {`{"reason":"` + strings.Repeat("x", 40000) + `"}`, 400, "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourtroom(t)
			c.freeze(t)
			answer := c.do("POST", "/api/rulings", c.sending(line.body))
			assert.Equal(t, line.status, answer.Code, answer.Body)
			assert.Contains(t, answer.Body.String(), line.says)
			if line.status != 201 {
				assert.Empty(t, c.judges.made, "nothing is recorded")
			}
		})
	}
}

func TestTwoJudgesAtOnceMakeOneRulingAndOneKnowsOfIt(t *testing.T) {
	c := newCourtroom(t)
	c.freeze(t)
	body := c.sending(confirm)
	answers := make([]*httptest.ResponseRecorder, 8)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = c.do("POST", "/api/rulings", body) })
	}
	all.Wait()
	count := map[int]int{}
	for _, a := range answers {
		count[a.Code]++
		if a.Code == http.StatusConflict {
			assert.Contains(t, a.Body.String(), "ruling 1: A1 to B1")
		}
	}
	assert.Equal(t, map[int]int{http.StatusCreated: 1, http.StatusConflict: 7}, count)
	again := c.do("POST", "/api/rulings", strings.Replace(body, `"from"`, `"after":1,"from"`, 1))
	assert.Equal(t, http.StatusCreated, again.Code, "whoever knows the last ruling may rule again: %s", again.Body)
}

func TestNothingIsRuledOnWhatWasLetGo(t *testing.T) {
	c := newCourtroom(t)
	c.freeze(t)
	body := c.sending(confirm)
	require.Equal(t, 200, c.do("POST", "/api/freeze", `{"hold":false}`).Code)
	assert.Equal(t, http.StatusConflict, c.do("POST", "/api/rulings", body).Code)
	c.freeze(t)
	assert.Equal(t, http.StatusConflict, c.do("POST", "/api/rulings", body).Code, "another picture is held now")
}

func TestWhatTheRecordCannotTakeIsSaidInWords(t *testing.T) {
	c := newCourtroom(t)
	c.freeze(t)
	c.judges.fail(&live.Refusal{Kind: live.ErrUnwritten, Text: "The disk is full: nothing was recorded."})
	answer := c.do("POST", "/api/rulings", c.sending(confirm))
	assert.Equal(t, http.StatusInsufficientStorage, answer.Code)
	assert.Contains(t, answer.Body.String(), "The disk is full")
	for kind, status := range map[error]int{
		live.ErrInvalid: 400, live.ErrOvertaken: 409, live.ErrInUse: 503, live.ErrUnwritten: 507, live.ErrDamaged: 500,
	} {
		c.judges.fail(fmt.Errorf("the record: %w", &live.Refusal{Kind: kind, Text: "No."}))
		answer = c.do("POST", "/api/rulings", c.sending(confirm))
		assert.Equal(t, status, answer.Code, kind)
		assert.Equal(t, "No.\n", answer.Body.String(), kind)
	}
	c.judges.fail(errors.New("rulings: database disk image is malformed"))
	answer = c.do("POST", "/api/rulings", c.sending(confirm))
	assert.Equal(t, http.StatusInternalServerError, answer.Code)
	assert.Contains(t, answer.Body.String(), "malformed")
	c.judges.fail(nil)
	assert.Equal(t, http.StatusCreated, c.do("POST", "/api/rulings", c.sending(confirm)).Code, "it goes on when it can")
}

func TestFreezingAndAskingSayWhatIsHeld(t *testing.T) {
	c := newCourtroom(t)
	answer := c.do("POST", "/api/ask-judge", `{"by":"player 2"}`)
	require.Equal(t, 200, answer.Code)
	assert.Contains(t, answer.Body.String(), `"asked":"player 2"`)
	assert.Equal(t, "player 2", c.hub.Newest().Hold.AskedBy)
	for name, line := range map[string][3]string{
		"no key":       {"/api/freeze", `{}`, "hold is missing"},
		"another key":  {"/api/freeze", `{"keep":true}`, "unknown key"},
		"two objects":  {"/api/freeze", `{"hold":true}{}`, "something follows it"},
		"a long name":  {"/api/ask-judge", `{"by":"` + strings.Repeat("x", 81) + `"}`, "at most 80"},
		"a huge body":  {"/api/ask-judge", `{"by":"` + strings.Repeat("x", 8000) + `"}`, "longer than"},
		"no JSON ask":  {"/api/ask-judge", ``, "must be JSON"},
		"control name": {"/api/ask-judge", `{"by":"a\u0001"}`, "must not contain control"},
	} {
		answer := c.do("POST", line[0], line[1])
		assert.Equal(t, 400, answer.Code, name)
		assert.Contains(t, answer.Body.String(), line[2], name)
	}
	require.Equal(t, 200, c.do("POST", "/api/freeze", `{"hold":false}`).Code)
	c.change(func(state *live.State) { state.Health = live.Health{Code: live.NoCamera, Title: "No camera"} })
	answer = c.do("POST", "/api/freeze", `{"hold":true}`)
	assert.Equal(t, http.StatusConflict, answer.Code)
	assert.Equal(t, "Nothing can be held now: no camera.\n", answer.Body.String())
}

func TestRulingsAreGivenOutAsFilesToKeep(t *testing.T) {
	c := newCourtroom(t)
	c.freeze(t)
	assert.Equal(t, http.StatusInternalServerError, c.do("GET", "/api/rulings.zip", "").Code, "an error before the first byte is said")
	require.Equal(t, 201, c.do("POST", "/api/rulings", c.sending(confirm)).Code)
	for path, want := range map[string][3]string{
		"/api/rulings/1":             {"application/json; charset=utf-8", "", `"number":1`},
		"/api/rulings/1/picture":     {"image/png", "", "PNG"},
		"/api/rulings/1/export.html": {"text/html; charset=utf-8", `attachment; filename="ruling-1.html"`, "Range 2"},
		"/api/rulings.zip":           {"application/zip", `attachment; filename="rulings.zip"`, "PK"},
	} {
		answer := c.do("GET", path, "")
		require.Equal(t, 200, answer.Code, "%s: %s", path, answer.Body)
		assert.Equal(t, want[0], answer.Header().Get("Content-Type"), path)
		assert.Equal(t, want[1], answer.Header().Get("Content-Disposition"), path)
		assert.Contains(t, answer.Body.String(), want[2], path)
	}
	for _, path := range []string{"/api/rulings/2", "/api/rulings/0", "/api/rulings/-1", "/api/rulings/x", "/api/rulings/99999999999999999999",
		"/api/rulings/2/picture", "/api/rulings/2/export.html", "/api/rulings/1/..%2f..%2fetc"} {
		assert.Equal(t, 404, c.do("GET", path, "").Code, path)
	}
	for _, query := range []string{"?before=0", "?before=-1", "?limit=x", "?limit=1e9"} {
		assert.Equal(t, 400, c.do("GET", "/api/rulings"+query, "").Code, query)
	}
	assert.Contains(t, c.do("GET", "/api/rulings?before=1", "").Body.String(), `"rulings":[]`)
}

func TestARulingSaysBothWhatWasMeasuredAndWhatHolds(t *testing.T) {
	c := newCourtroom(t)
	c.change(withRock)
	c.freeze(t)
	h := c.hub.Newest().Hold
	r, err := live.NewRuling(h, live.RuleRequest{
		Choice: live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront}, Decision: live.Overruled,
		Ruled: live.Ruled{Range: "1", InArc: "no", Obstructed: "no"}, Reason: "The rock was nudged.", Judge: "Jo",
	})
	require.NoError(t, err)
	assert.Equal(t, "Range 1, not in the front arc, not obstructed", r.Title)
	assert.Equal(t, "Range 2, in the front arc, obstructed by rock1", r.Measured)
	assert.Equal(t, "A1 to B1: range 1, not in the front arc, not obstructed; ruled against what was measured (range 2, in the front arc, "+
		"obstructed by rock1) by Jo. Reason: The rock was nudged.", r.Text)
}

func TestOfAShipThatMovesOnlyAJudgeCanRule(t *testing.T) {
	c := newCourtroom(t)
	c.change(func(v *live.State) {
		for i, s := range v.Located.Scene.Ships {
			state := vision.Still
			if s.ID == "B1" {
				state = vision.Moving
			}
			v.Tracks = append(v.Tracks, vision.Track{Ship: s, View: v.Located.Ships[i], State: state})
		}
	})
	c.freeze(t)
	answer := c.do("POST", "/api/rulings", c.sending(confirm))
	assert.Equal(t, 400, answer.Code)
	assert.Contains(t, answer.Body.String(), "Nothing was measured that could be confirmed: B1 is moving")
	answer = c.do("POST", "/api/rulings",
		c.sending(`{"held":HELD,"from":"A1","to":"B1","arc":"front","decision":"overruled","ruled":{"range":"2","in_arc":"yes"},"reason":"both players agree"}`))
	require.Equal(t, 201, answer.Code, answer.Body)
	assert.Contains(t, answer.Body.String(), `"title":"Range 2, in the front arc"`)
	assert.Contains(t, answer.Body.String(), `"measured":"No answer: B1 is moving"`)
}

func TestTheFirstEditionHasNoRange0(t *testing.T) {
	c := newCourtroom(t)
	c.change(func(state *live.State) { state.Located.Scene.Rules = engine.Rules1e })
	c.freeze(t)
	answer := c.do("POST", "/api/rulings",
		c.sending(`{"held":HELD,"from":"A1","to":"B1","arc":"front","decision":"overruled","ruled":{"range":"0"},"reason":"they touch"}`))
	assert.Equal(t, 400, answer.Code)
	assert.Contains(t, answer.Body.String(), "contact is range 1")
}
