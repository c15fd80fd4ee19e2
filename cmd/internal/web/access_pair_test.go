package web_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/racetest"
	"sightline/cmd/internal/web"
	"sightline/hardware"
)

// clock is a time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Unix(1_800_000_000, 0)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// timed is a server whose time the test moves.
func timed(t testing.TB) (*web.Server, *clock) {
	c := newClock()
	_, s := everything(t, func(o *web.Options) { o.Now = c.Now })
	return s, c
}

// pair asks to pair with a code as a peer.
func pair(s *web.Server, peer, code string) *httptest.ResponseRecorder {
	return ask(s, http.MethodPost, "/api/pair", fmt.Sprintf(`{"code":%q,"name":"Anna"}`, code), peer, "")
}

func peerNo(i int) string { return fmt.Sprintf("10.%d.%d.%d:5000", i>>16&255, i>>8&255, i&255) }

// wrongCode is a code that is not the present one.
func wrongCode(s *web.Server) string {
	code := []byte(s.PairingCode())
	code[0] = "BC"[(strings.IndexByte("BC", code[0])+1)%2]
	return string(code)
}

func TestACodeMakesAPlayerOfADeviceOnce(t *testing.T) {
	s, c := timed(t)
	code := s.PairingCode()
	assert.Regexp(t, `^[BCDFGHJKMPQRTVWXY2346789]{6}$`, code)
	typed := strings.ToLower(code[:3]) + " - " + code[3:] // as people type
	answer := pair(s, network, typed)
	require.Equal(t, http.StatusOK, answer.Code, answer.Body)
	cookie := answer.Result().Cookies()[0]
	assert.Equal(t, "sightline", cookie.Name)
	assert.True(t, cookie.HttpOnly)
	assert.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	assert.Equal(t, "/", cookie.Path)
	assert.EqualValues(t, (7+90)*24*3600, cookie.MaxAge, "kept for longer than it holds: the device is known again")
	assert.Contains(t, answer.Body.String(), `"role":"player","name":"Anna"`)
	assert.Equal(t, http.StatusNoContent, ask(s, http.MethodPatch, "/api/choice", `{"from":"A1"}`, network, cookie.Value).Code)

	assert.NotEqual(t, code, s.PairingCode(), "a used code is replaced")
	again := pair(s, network, code)
	assert.Equal(t, http.StatusConflict, again.Code, "who comes second is told so, and it is no guess")
	assert.Contains(t, again.Body.String(), "has been used")

	c.pass(7*24*time.Hour + time.Second)
	assert.Equal(t, http.StatusForbidden, ask(s, http.MethodPatch, "/api/choice", `{"from":"A1"}`, network, cookie.Value).Code, "it expires")
}

func TestACodeIsReplacedAndStaysGoodForAMinute(t *testing.T) {
	s, c := timed(t)
	first := s.PairingCode()
	c.pass(5*time.Minute - time.Second)
	assert.Equal(t, first, s.PairingCode())
	c.pass(time.Second)
	second := s.PairingCode()
	assert.NotEqual(t, first, second)
	c.pass(59 * time.Second)
	assert.Equal(t, http.StatusOK, pair(s, network, first).Code, "somebody was typing it")
	assert.Equal(t, second, s.PairingCode(), "which leaves the present one alone")

	s, c = timed(t)
	first = s.PairingCode()
	c.pass(6 * time.Minute)
	assert.Equal(t, http.StatusForbidden, pair(s, network, first).Code,
		"a minute later it is gone, whether somebody looked at the display or not")
	c.pass(-time.Hour)
	assert.Equal(t, http.StatusOK, pair(s, network, s.PairingCode()).Code, "a clock that is set back harms nobody")
}

func TestPairingEndsForEveryCopyOfItsCookie(t *testing.T) {
	_, s := everything(t)
	cookie := s.Cookie(access.Player, "Anna", time.Now())
	answer := ask(s, http.MethodPost, "/api/unpair", "", network, cookie)
	assert.Equal(t, http.StatusNoContent, answer.Code)
	assert.Equal(t, -1, answer.Result().Cookies()[0].MaxAge)
	assert.Contains(t, ask(s, http.MethodGet, "/api/me", "", network, cookie).Body.String(), `"role":"reader"`)
}

func TestTheJudgesSecretMakesAJudge(t *testing.T) {
	_, s := everything(t)
	secret := func(s *web.Server, text, peer string) *httptest.ResponseRecorder {
		return ask(s, http.MethodPost, "/api/pair", fmt.Sprintf(`{"judge_secret":%q}`, text), peer, "")
	}
	assert.Equal(t, http.StatusForbidden, secret(s, "correct horse batterz", network).Code)
	for _, peer := range []string{network, loopback} {
		answer := secret(s, " correct horse battery\n", peer)
		require.Equal(t, http.StatusOK, answer.Code, answer.Body)
		assert.Contains(t, answer.Body.String(), `"role":"judge"`)
	}
	_, none := everything(t, func(o *web.Options) { o.Access.JudgeSecret = "" })
	answer := secret(none, "anything", network)
	assert.Equal(t, http.StatusForbidden, answer.Code)
	assert.Contains(t, answer.Body.String(), "no judge's secret")
}

func TestWhatCannotBeACodeIsASlipAndNoGuess(t *testing.T) {
	s, _ := timed(t)
	for range 20 {
		for _, slip := range []string{"K4MWQ", "K4MWQXX", "K4MWQ0", "ÄÖÜÄÖÜ", "K4MWQé"} {
			assert.Equal(t, http.StatusBadRequest, pair(s, network, slip).Code, slip)
		}
	}
	assert.Equal(t, http.StatusOK, pair(s, network, s.PairingCode()).Code)
	for name, body := range map[string]string{
		"neither": `{}`, "both": `{"code":"K4MWQX","judge_secret":"x"}`, "no JSON": `{`, "two": `{"code":"K4MWQX"}{}`,
		"unknown":                      `{"kode":"K4MWQX"}`,
		"a name of control characters": `{"code":"K4MWQX","name":"a\u001b[2J"}`, "a name too long": `{"code":"K4MWQX","name":"` + strings.Repeat(
			"x", 33) + `"}`,
		"a secret too long": `{"judge_secret":"` + strings.Repeat("x", 300) + `"}`, "huge": `{"code":"` + strings.Repeat("x", 1<<20) + `"}`,
	} {
		answer := ask(s, http.MethodPost, "/api/pair", body, network, "")
		assert.Equal(t, http.StatusBadRequest, answer.Code, name)
		assert.NotEmpty(t, answer.Body.String(), name)
	}
}

func TestWrongTriesDoNotTakeTheCodeFromTheOneWhoTypesIt(t *testing.T) {
	s, c := timed(t)
	code, wrong := s.PairingCode(), wrongCode(s)
	for i := range 100 {
		pair(s, peerNo(i), wrong)
		c.pass(time.Second)
	}
	assert.Equal(t, code, s.PairingCode())
	assert.Equal(t, http.StatusOK, pair(s, loopback, code).Code)
}

// Twelve hours of guessing, as fast as the program allows. The chance of a guess is at
// most 2 in 24^6, for at most two codes are good at a time.
func TestGuessingTheCodeIsHopeless(t *testing.T) {
	racetest.Skip(t)
	const night = 12 * time.Hour
	codes := math.Pow(24, 6)
	guess := func(peers int) (guesses int) {
		s, c := timed(t)
		for at := time.Duration(0); at < night; at += time.Minute {
			for p := range peers {
				for {
					status := pair(s, peerNo(p), wrongCode(s)).Code
					if status == http.StatusTooManyRequests {
						break
					}
					require.Equal(t, http.StatusForbidden, status)
					guesses++
				}
			}
			c.pass(time.Minute)
		}
		return guesses
	}
	one, many := guess(1), guess(40)
	t.Logf("in 12 h: one device %d guesses, 1 in %.0f; 40 devices %d guesses, 1 in %.0f", one, codes/2/float64(one), many,
		codes/2/float64(many))
	assert.LessOrEqual(t, one, 5+12*20)
	assert.LessOrEqual(t, many, 24+12*120)
	assert.Greater(t, one, 200, "the test does guess")
	assert.Greater(t, codes/2/float64(many), 60000.0)
}

func TestOneGuesserDoesNotKeepOthersFromPairing(t *testing.T) {
	s, c := timed(t)
	for range 3600 { // an hour
		pair(s, peerNo(1), wrongCode(s))
		c.pass(time.Second)
	}
	assert.Equal(t, http.StatusOK, pair(s, peerNo(2), s.PairingCode()).Code)
	pair(s, peerNo(1), wrongCode(s))
	limited := pair(s, peerNo(1), s.PairingCode())
	assert.Equal(t, http.StatusTooManyRequests, limited.Code)
	assert.Regexp(t, `^[1-9]\d{0,2}$`, limited.Header().Get("Retry-After"))
}

func TestTheCodesLettersAreEquallyLikely(t *testing.T) {
	s, _ := timed(t)
	count := map[rune]int{}
	const codes = 4000
	for range codes {
		code := s.PairingCode()
		for _, r := range code {
			count[r]++
		}
		require.Equal(t, http.StatusOK, ask(s, http.MethodPost, "/api/pair", `{"code":"`+code+`"}`, loopback, "").Code)
	}
	require.Len(t, count, 24)
	for r, n := range count { // 1000 of each on average, with a standard deviation of 31
		assert.InDelta(t, codes*6/24, n, 190, string(r))
	}
}

func TestTheCodeIsToldToTheMachineAndToJudges(t *testing.T) {
	_, s := everything(t, func(o *web.Options) { o.Access.Address = func() string { return "http://192.168.7.2:8080/" } })
	answer := ask(s, http.MethodGet, "/api/pair", "", loopback, "")
	var told struct {
		Code, Address string
		QR            []string
	}
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &told))
	assert.Equal(t, hardware.QR("http://192.168.7.2:8080/pair/"+told.Code), told.QR)
	assert.NotEmpty(t, told.QR)
	assert.Equal(t, s.PairingCode(), told.Code)
	assert.Equal(t, "http://192.168.7.2:8080/", told.Address)
	assert.NotRegexp(t, regexp.MustCompile(`[BCDFGHJKMPQRTVWXY2346789]{6}`), ask(s, http.MethodGet, "/api/pair", "", network,
		s.Cookie(access.Player, "", time.Now())).Body.String())
	assert.Equal(t, http.StatusForbidden, ask(s, http.MethodGet, "/api/pair", "", loopback, "", "X-Forwarded-For", "192.168.7.21").Code)
}

// Whoever sends the right code is paired, and no one else, however many come at once.
func TestACodeThatManyUseAtOncePairsOne(t *testing.T) {
	_, s := everything(t)
	code := s.PairingCode()
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := map[int]int{}
	for i := range 16 {
		wg.Go(func() {
			status := pair(s, peerNo(i), code).Code
			mu.Lock()
			defer mu.Unlock()
			got[status]++
		})
	}
	wg.Wait()
	assert.Equal(t, map[int]int{http.StatusOK: 1, http.StatusConflict: 15}, got)
}

func FuzzPairing(f *testing.F) {
	_, s := everything(f)
	for _, seed := range []string{`{"code":"K4MWQX","name":"Anna"}`, `{"judge_secret":"x"}`, `{}`, `[`, `{"code":1}`, "\xff",
		`{"name":"` + strings.Repeat("\u202e", 9) + `"}`} {
		f.Add(seed)
	}
	i := 0
	f.Fuzz(func(t *testing.T, body string) {
		i++
		answer := ask(s, http.MethodPost, "/api/pair", body, peerNo(i), "")
		switch answer.Code {
		case http.StatusBadRequest, http.StatusForbidden, http.StatusTooManyRequests:
		default:
			t.Fatalf("%q: %d %s", body, answer.Code, answer.Body)
		}
		if answer.Header().Get("Set-Cookie") != "" {
			t.Fatalf("%q paired somebody", body)
		}
	})
}

// FuzzRequests gives every decoder of requests the same body.
func FuzzRequests(f *testing.F) {
	_, s := everything(f)
	for _, seed := range []string{`{"from":"A1","to":"B1","arc":"front"}`, `{"do":"capture","board":"chessboard:9x6:25mm"}`,
		`{"do":"bars","bar_x_mm":1e308}`, `null`, `{"from":null}`} {
		f.Add(seed)
	}
	var changing []string
	for _, r := range s.Routes() {
		if !strings.HasPrefix(r.Pattern, "GET ") {
			changing = append(changing, r.Pattern)
		}
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, pattern := range changing {
			method, path, _ := strings.Cut(pattern, " ")
			path = strings.NewReplacer("{", "", "}", "").Replace(path)
			answer := ask(s, method, path, body, loopback, s.Cookie(access.Judge, "Jo", time.Now()))
			if answer.Code >= 500 && answer.Code != http.StatusServiceUnavailable {
				t.Fatalf("%s %q: %d %s", pattern, body, answer.Code, answer.Body)
			}
		}
	})
}
