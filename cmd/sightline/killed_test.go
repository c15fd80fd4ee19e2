//go:build opencv

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/racetest"
)

// TestProgram is the program in a process of its own.
func TestProgram(t *testing.T) {
	line := os.Getenv("SIGHTLINE_PROGRAM")
	if line == "" {
		t.Skip("TestTheProgramIsKilled starts it")
	}
	os.Exit(run(strings.Fields(line)))
}

// victim is a program that is killed again and again, and what it acknowledged.
type victim struct {
	t      *testing.T
	dir    string
	port   int
	cookie string
	cmd    *exec.Cmd
	log    bytes.Buffer

	mu           sync.Mutex
	n            int            // counts what was asked for
	tried, acked map[string]int // of values that a later one replaces
	kept         map[string]bool
	held         uint64    // the picture that is held; 0: none, or it is being changed
	since        time.Time // when that was acknowledged
	released     bool      // its release was acknowledged
}

// start starts the program and waits for its page.
func (v *victim) start() {
	v.t.Helper()
	v.cmd = exec.Command(os.Args[0], "-test.run=^TestProgram$")
	v.cmd.Dir = v.dir
	v.cmd.Env = append(os.Environ(), "HOME="+v.dir, "XDG_CONFIG_HOME="+v.dir, "XDG_DATA_HOME="+v.dir,
		fmt.Sprintf("SIGHTLINE_PROGRAM=run --source sim:1280x720,still=1,learnt=0 --listen localhost:%d", v.port))
	v.cmd.Stdout, v.cmd.Stderr = &v.log, &v.log
	require.NoError(v.t, v.cmd.Start())
	v.t.Cleanup(v.kill) // also where the test fails
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if status, _, err := v.ask("GET", "/healthz", ""); err == nil && status == http.StatusOK {
			return
		}
		require.True(v.t, time.Now().Before(end), "it does not start: %s", &v.log)
	}
}

func (v *victim) kill() {
	_ = v.cmd.Process.Kill()
	_ = v.cmd.Wait()
}

func (v *victim) ask(method, path, body string) (status int, answer []byte, err error) {
	return v.askOf("", method, path, body)
}

// askOf asks for a change of a version.
func (v *victim) askOf(version, method, path, body string) (status int, answer []byte, err error) {
	r, err := http.NewRequest(method, fmt.Sprintf("http://localhost:%d%s", v.port, path), strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Cookie", v.cookie)
	r.Header.Set("If-Match", version)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	reply, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}).Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer reply.Body.Close()
	if path == "/api/pair" {
		v.cookie, _, _ = strings.Cut(reply.Header.Get("Set-Cookie"), ";")
	}
	answer, err = io.ReadAll(reply.Body)
	return reply.StatusCode, answer, err
}

// get reads a JSON answer.
func (v *victim) get(path string, to any) error {
	_, raw, err := v.ask("GET", path, "")
	if err == nil {
		err = json.Unmarshal(raw, to)
	}
	return err
}

// change asks for the next value of a name, which replaces the one before.
func (v *victim) change(name, version, method, path, body string) {
	v.mu.Lock()
	v.n++
	n := v.n
	v.tried[name] = n
	v.mu.Unlock()
	if status, _, err := v.askOf(version, method, path, fmt.Sprintf(body, n)); err == nil && status < 300 {
		v.mu.Lock()
		v.acked[name] = n
		v.mu.Unlock()
	}
}

// say adds a note to the game.
func (v *victim) say() {
	v.mu.Lock()
	v.n++
	text := fmt.Sprintf("note %d.", v.n)
	v.mu.Unlock()
	if status, _, err := v.ask("POST", "/api/game/do", fmt.Sprintf(`{"kind":"said","text":%q}`, text)); err == nil && status < 300 {
		v.mu.Lock()
		v.kept[text] = true
		v.mu.Unlock()
	}
}

// judge holds, rules, and releases. At times it rests with a held picture, or after the release, until the end.
func (v *victim) judge(end time.Time) {
	rests := rand.IntN(3)
	var s struct {
		Held   *struct{ Number uint64 }
		Ruling *struct{ Number uint64 }
	}
	if status, _, err := v.ask("POST", "/api/ask-judge", `{"by":"Ada"}`); err != nil || status != 200 || v.get("/api/state", &s) != nil {
		return
	}
	v.mu.Lock()
	if v.held != s.Held.Number {
		v.held, v.since, v.released = s.Held.Number, time.Now(), false
	}
	v.n++
	text, after := fmt.Sprintf("question %d.", v.n), uint64(0)
	v.mu.Unlock()
	if s.Ruling != nil {
		after = s.Ruling.Number
	}
	status, _, err := v.ask("POST", "/api/rulings", fmt.Sprintf(`{"held":%d,"after":%d,"from":"A1","to":"B1","arc":"front","question":%q,`+
		`"judge":"Jo","reason":"so","decision":"overruled","ruled":{"range":"3","in_arc":"no"}}`, s.Held.Number, after, text))
	if err == nil && status == http.StatusCreated {
		v.mu.Lock()
		v.kept[text] = true
		v.mu.Unlock()
	}
	if rests == 0 {
		time.Sleep(time.Until(end))
		return
	}
	v.mu.Lock()
	was := v.held
	v.held = 0
	v.mu.Unlock()
	if status, _, err := v.ask("POST", "/api/freeze", `{"hold":false}`); err == nil && status == http.StatusOK {
		v.mu.Lock()
		v.held, v.released = was, true
		v.mu.Unlock()
	}
	if rests == 1 {
		time.Sleep(time.Until(end))
	}
}

// check compares what is there after a restart with what was acknowledged.
func (v *victim) check(killed time.Time) {
	v.t.Helper()
	var s struct {
		Held  *struct{ Number uint64 }
		Match struct{ Title string }
	}
	require.NoError(v.t, v.get("/api/state", &s))
	var o struct {
		Catalogue struct{ Entries []struct{ Name string } }
	}
	require.NoError(v.t, v.get("/api/obstacles", &o))
	rock := ""
	for _, e := range o.Catalogue.Entries {
		rock += e.Name
	}
	for name, got := range map[string]string{"title": s.Match.Title, "rock": rock} {
		if v.acked[name] == 0 {
			continue
		}
		n, err := strconv.Atoi(strings.TrimPrefix(got, name))
		require.NoError(v.t, err, got)
		assert.True(v.t, n >= v.acked[name] && n <= v.tried[name], "%s: got %q, acknowledged %d", name, got, v.acked[name])
	}
	_, raw, err := v.ask("GET", "/api/games/1", "")
	require.NoError(v.t, err)
	rulings := filepath.Join(v.dir, "sightline", "rulings")
	_, list, _ := called(v.t, "rulings", "list", "--json", "--rulings", rulings)
	for text := range v.kept {
		assert.Contains(v.t, string(raw)+list, `"`+text+`"`, "it was acknowledged")
	}
	code, text, _ := called(v.t, "rulings", "verify", "--rulings", rulings)
	assert.Zero(v.t, code, text)
	switch {
	case v.released:
		assert.True(v.t, s.Held == nil || s.Held.Number != v.held, "it was released")
	case v.held != 0 && killed.Sub(v.since) > 3*time.Second: // it takes half a second on a quiet machine
		require.NotNil(v.t, s.Held, "it was held for %v: %s", killed.Sub(v.since), &v.log)
		assert.Equal(v.t, v.held, s.Held.Number)
	}
}

// TestTheProgramIsKilled kills the whole program at random moments while people change everything that it keeps. After the restart all that
// was acknowledged is there. SIGHTLINE_KILLS=200 kills it more often.
func TestTheProgramIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short kills the program")
	}
	racetest.Skip(t) // the program's process would be too slow for its simulated camera
	kills := 2
	if n, err := strconv.Atoi(os.Getenv("SIGHTLINE_KILLS")); err == nil {
		kills = n
	}
	l, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	v := &victim{t: t, dir: t.TempDir(), port: l.Addr().(*net.TCPAddr).Port, tried: map[string]int{}, acked: map[string]int{},
		kept: map[string]bool{}}
	require.NoError(t, l.Close())
	v.start()
	secret, err := os.ReadFile(filepath.Join(v.dir, "sightline", "judge.secret"))
	require.NoError(t, err)
	status, said, err := v.ask("POST", "/api/pair", fmt.Sprintf(`{"judge_secret":%q,"name":"Jo"}`, strings.TrimSpace(string(secret))))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, string(said))
	squad := `{"version":"2.0.0","faction":"rebelalliance","pilots":[{"id":"wedgeantilles","ship":"t65xwing"}]}`
	start := fmt.Sprintf(`{"edition":"2.0","players":[{"name":"Ada","squad":%q},{"name":"Ben","squad":%q}]}`, squad, squad)
	status, said, err = v.ask("POST", "/api/game/start", start)
	require.NoError(t, err)
	require.Equal(t, http.StatusNoContent, status, string(said))
	for k := 0; k < kills || k < 10 && len(v.acked) < 2; k++ { // a busy machine may acknowledge nothing in half a second
		all, end := sync.WaitGroup{}, time.Now().Add(time.Duration(500+rand.IntN(6000))*time.Millisecond)
		for _, does := range []func(){v.title, v.rock, v.say, func() { v.judge(end) }} {
			all.Go(func() {
				for time.Now().Before(end) {
					does()
				}
			})
		}
		time.Sleep(time.Until(end))
		killed := time.Now()
		v.kill()
		all.Wait()
		v.start()
		v.check(killed)
	}
	v.kill()
	assert.Len(t, v.acked, 2, "title and rock")
	assert.NotEmpty(t, v.kept)
	t.Logf("%d kills, %d changes asked for, %d rulings and notes acknowledged", kills, v.n, len(v.kept))
}

// title replaces the event's title.
func (v *victim) title() { v.change("title", "", "PATCH", "/api/match", `{"title":"title%d"}`) }

// rock replaces the catalogue.
func (v *victim) rock() {
	var o struct{ Catalogue struct{ Version string } }
	if v.get("/api/obstacles", &o) != nil {
		return
	}
	v.change("rock", strconv.Quote(o.Catalogue.Version), "PUT", "/api/obstacles/catalogue.json?mode=all",
		`{"version":1,"outlines":[{"name":"rock%d","kind":"asteroid","outline_mm":[[0,0],[60,0],[60,60],[0,55]]}]}`)
}
