//go:build browser

package app_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/cmd/internal/access"
	"sightline/cmd/internal/app"
	"sightline/cmd/internal/browsertest"
	"sightline/cmd/internal/hall"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/hardware/hardwaretest"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/obstacle"
	"sightline/vision/tablesim"
)

// A scriptedTable is a simulated table on which ships stand where the script says by the clock,
// whatever the camera over it does. It is a vision.Source that does not end when it is closed.
type scriptedTable struct {
	sim  *tablesim.Source
	mode atomic.Value // string: what the camera does
	last vision.Frame
	*tableScript
}

// tableScript is where the ships stand.
type tableScript struct {
	mu    sync.Mutex
	moves []scriptedMove
}

// newScriptedTable opens a simulated table on which ships stand as the script says.
func newScriptedTable(t *testing.T, script *tableScript, o tablesim.Options) *scriptedTable {
	sim, err := tablesim.Open(o)
	require.NoError(t, err)
	b := &scriptedTable{sim: sim, tableScript: script}
	b.mode.Store("")
	sim.Arrange(func(k *tablesim.Table) { k.Scene.Ships, k.Hands = script.at(time.Now()) })
	return b
}

// serve makes a network camera of the table, which sends JPEGs.
func (b *scriptedTable) serve(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.mode.Load() == "fail" {
			http.Error(w, "no camera", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "multipart/x-mixed-replace; boundary=frame")
		for r.Context().Err() == nil {
			f, err := b.Next(r.Context())
			if err != nil {
				return
			}
			var picture bytes.Buffer
			_ = jpeg.Encode(&picture, f.Gray, &jpeg.Options{Quality: 92})
			fmt.Fprintf(w, "--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n%s\r\n", picture.Len(), picture.Bytes())
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL + "/video.mjpg"
}

// A scriptedMove is a ship's move from where it stands; without a hand it is there at once.
type scriptedMove struct {
	ship  string
	to    geom.Pose
	at    time.Time
	takes time.Duration
}

const (
	surfacesFPS    = 5
	surfacesSecret = "a judge's secret of tests"
)

func (b *tableScript) move(ship string, to geom.Pose, takes time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.moves = append(b.moves, scriptedMove{ship, to, time.Now(), takes})
}

var scriptedShips = []engine.Ship{
	{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 120, Y: 90}, Heading: 5 * geom.Degree}},
	{ID: "B1", Player: 2, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 130, Y: 252}, Heading: 178 * geom.Degree}},
	{ID: "A2", Player: 1, Base: engine.Medium, Pose: geom.Pose{Point: geom.Point{X: 300, Y: 105}, Heading: 350 * geom.Degree}},
	{ID: "B2", Player: 2, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 290, Y: 330}, Heading: 200 * geom.Degree}},
}

// at returns the ships at a time, and the hands that move them.
func (b *tableScript) at(t time.Time) (ships []engine.Ship, hands []tablesim.Hand) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ships = slices.Clone(scriptedShips)
	for _, m := range b.moves {
		i := slices.IndexFunc(ships, func(s engine.Ship) bool { return s.ID == m.ship })
		gone := t.Sub(m.at)
		switch {
		case gone < 0:
		case gone >= m.takes:
			ships[i].Pose = m.to
		default:
			k := gone.Seconds() / m.takes.Seconds()
			from := ships[i].Pose
			ships[i].Pose = geom.Pose{Point: from.Point.Lerp(m.to.Point, k), Heading: (from.Heading +
				geom.Angle(k)*(m.to.Heading-from.Heading).Signed()).Normalized()}
			hands = append(hands, tablesim.Hand{Player: ships[i].Player, Tip: ships[i].Pose.Point, Z: 45})
		}
	}
	return ships, hands
}

// Next implements vision.Source.
func (b *scriptedTable) Next(ctx context.Context) (vision.Frame, error) {
	for b.mode.Load() == "stall" {
		select {
		case <-ctx.Done():
			return vision.Frame{}, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	switch b.mode.Load() {
	case "fail":
		return vision.Frame{}, errors.New("the cable is out")
	case "freeze":
		time.Sleep(time.Second / surfacesFPS)
		f := b.last
		f.Captured = time.Now()
		return f, nil
	}
	f, err := b.sim.Next(ctx)
	if b.mode.Load() == "dark" && err == nil {
		g := image.NewGray(f.Gray.Rect)
		for i, v := range f.Gray.Pix {
			g.Pix[i] = v / 32
		}
		f.Gray, f.Color = g, nil
	}
	b.last = f
	return f, err
}

func (b *scriptedTable) Close() error                 { return nil }
func (b *scriptedTable) String() string               { return "the scripted table" }
func (b *scriptedTable) Lens() calibration.Intrinsics { return b.sim.Lens() }

// A shownAnswer is what some surface showed at a time.
type shownAnswer struct {
	at       time.Time
	surface  string
	from, to string
	distance float64 // mm; NaN: only the band is shown
	sigma    float64
	band     string
	inArc    string // "yes" or "no" of the front arc; "": not shown, or not decided
	obstacle string // of the attack's line: "no", "yes" or "choose"; "": not shown, or not decided
	held     bool
	text     string
}

// surfaces collects what the surfaces show.
type surfaces struct {
	t       *testing.T
	table   *scriptedTable
	second  *scriptedTable // nil: none
	panel   *hardwaretest.Panel
	url     string
	hallURL string
	log     bytes.Buffer
	judge   http.Client
	moved   int // times that B1 was

	mu    sync.Mutex
	polls map[string]int
	shown []shownAnswer
	truth map[int64]engine.Result
	spans []phaseSpan
}

type phaseSpan struct {
	name  string
	begun time.Time
}

func (b *surfaces) phaseAt(t time.Time) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := ""
	for _, s := range b.spans {
		if !s.begun.After(t) {
			name = s.name
		}
	}
	return name
}

func (b *surfaces) begin(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spans = append(b.spans, phaseSpan{name, time.Now()})
}

func (b *surfaces) add(a shownAnswer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.polls[a.surface]++
	if a.from != "" && (a.band != "" || a.inArc != "" || !math.IsNaN(a.distance)) {
		b.shown = append(b.shown, a)
	}
}

// truthAt measures the true table.
func (b *surfaces) truthAt(t time.Time) engine.Result {
	key := t.UnixMilli() / 20
	if r, ok := b.truth[key]; ok {
		return r
	}
	ships, _ := b.table.at(time.UnixMilli(key * 20))
	scene := engine.Scene{Rules: engine.Rules25, MatWidth: 420, MatHeight: 420, Ships: ships, Profile: "nominal",
		Obstacles: b.table.sim.Obstacles()}
	r, err := engine.Measure(&scene, engine.Options{Sigmas: 3})
	require.NoError(b.t, err)
	b.truth[key] = r
	return r
}

// age returns by how long what is shown is older than the truth.
func (b *surfaces) age(a shownAnswer) (time.Duration, bool) {
	for d := time.Duration(0); d < 25*time.Second; d += 20 * time.Millisecond {
		r := b.truthAt(a.at.Add(-d))
		i := slices.IndexFunc(r.Pairs, func(p engine.PairVerdict) bool { return p.From == a.from && p.To == a.to })
		if i < 0 {
			return 0, false
		}
		if a.agrees(&r.Pairs[i]) {
			return d, true
		}
	}
	return 25 * time.Second, true
}

// agrees reports whether all that is shown is so of a pair: the range, whether the target is in the front arc, and what obstructs.
func (a *shownAnswer) agrees(p *engine.PairVerdict) bool {
	front := p.Arc(engine.ArcFront)
	attack, inArc, obstacle := math.NaN(), front.InArc.String(), ""
	if at := front.Attack; at != nil {
		attack, obstacle = float64(at.Distance), live.ObstructionOutcome(at.Obstruction.Verdict)
	}
	switch tol := 4*a.sigma + 0.3; {
	case a.inArc != "" && a.inArc != inArc, a.obstacle != "" && a.obstacle != obstacle:
		return false
	case math.IsNaN(a.distance):
		return a.band == "" || a.band == strconv.Itoa(p.Range.Band) || strings.Contains(a.band, " or ")
	default:
		return math.Abs(float64(p.Range.Distance)-a.distance) <= tol || math.Abs(attack-a.distance) <= tol
	}
}

func (b *surfaces) get(path string, into any) (int, string) {
	r, err := http.Get(path)
	if err != nil {
		return 0, ""
	}
	defer r.Body.Close()
	data, _ := io.ReadAll(r.Body)
	if r.StatusCode == http.StatusOK && into != nil {
		_ = json.Unmarshal(data, into)
	}
	return r.StatusCode, string(data)
}

type shownState struct {
	Health struct{ Code string }
	Choice struct{ From, To, Arc string }
	Held   *struct{ Number uint64 }
	Answer struct {
		Outcome    string
		Band       string
		DistanceMM float64 `json:"distance_mm"`
		SigmaMM    float64 `json:"sigma_mm"`
		RestsOn    string  `json:"rests_on"`
		Headline   struct{ Text string }

		InArc       struct{ Outcome, Text string } `json:"in_arc"`
		Obstruction struct{ Outcome string }
	}
	Ships []struct {
		ID    string
		State string
		XMM   float64 `json:"x_mm"`
		YMM   float64 `json:"y_mm"`
	}
}

func (b *surfaces) ofState(surface string, s *shownState) {
	a := shownAnswer{at: time.Now(), surface: surface, distance: math.NaN(), held: s.Held != nil,
		text: s.Health.Code + " " + s.Answer.Headline.Text}
	if s.Answer.Outcome == "yes" || s.Answer.Outcome == "too_close" {
		a.from, a.to, a.band, a.distance, a.sigma = s.Choice.From, s.Choice.To, s.Answer.Band, s.Answer.DistanceMM, s.Answer.SigmaMM
		a.inArc, a.obstacle = decided(s.Answer.InArc.Outcome), decided(s.Answer.Obstruction.Outcome)
	}
	b.add(a)
}

func (b *surfaces) poll() {
	var s shownState
	if code, _ := b.get(b.url+"/api/state", &s); code == 200 {
		b.ofState("api/state", &s)
	}
	if p, ok := b.panel.Last(); ok {
		a := shownAnswer{at: time.Now(), surface: "panel", distance: math.NaN(), held: p.Frozen, text: p.Reason}
		if p.Range == engine.Yes || p.Range == engine.Indeterminate {
			a.from, a.to, a.band, a.distance, a.sigma = p.From, p.To, strconv.Itoa(p.Band), p.DistanceMM, p.SigmaMM
			a.inArc, a.obstacle = decided(p.InArc.String()), decided(p.Obstructed.String())
			if p.AttackerChooses {
				a.obstacle = "choose"
			}
		}
		if p.Blind && (p.Range == engine.Yes || p.Range == engine.Indeterminate) {
			b.t.Errorf("the panel is blind and answers: %+v", p)
		}
		b.add(a)
	}
	var m struct {
		Pairs []struct {
			From, To string
			Range    struct {
				DistanceMM float64 `json:"distance_mm"`
				SigmaMM    float64 `json:"sigma_mm"`
				Band       int
			}
			Arcs []struct {
				Arc    string
				InArc  string `json:"in_arc"`
				Attack *struct{ Obstruction struct{ Verdict string } }
			}
		}
	}
	r, err := http.Get(b.url + "/api/measure")
	if err == nil {
		held := r.Header.Get("Sightline-Held") != ""
		_ = json.NewDecoder(r.Body).Decode(&m)
		r.Body.Close()
		at := time.Now()
		for _, p := range m.Pairs {
			a := shownAnswer{at: at, surface: "api/measure", from: p.From, to: p.To, distance: p.Range.DistanceMM, sigma: p.Range.SigmaMM,
				held: held}
			for _, arc := range p.Arcs {
				if arc.Arc != "front" {
					continue
				}
				if a.inArc = decided(arc.InArc); arc.Attack != nil {
					a.obstacle = decided(live.ObstructionOutcome(arc.Attack.Obstruction.Verdict))
				}
			}
			b.add(a)
		}
		b.add(shownAnswer{at: at, surface: "api/measure", distance: math.NaN()})
	}
	if b.hallURL == "" {
		return
	}
	var h struct {
		Tables []struct {
			Table  string
			Live   bool
			AgeMS  int64 `json:"age_ms"`
			Health *struct {
				Code, From, To, Answer string
				Held                   bool
			}
		}
	}
	if code, _ := b.get(b.hallURL+"/api/hall", &h); code == 200 {
		for _, k := range h.Tables {
			a := shownAnswer{at: time.Now(), surface: "hall tile", distance: math.NaN()}
			if k.Live && k.Health != nil {
				a.from, a.to, a.band, a.held, a.text = k.Health.From, k.Health.To, bandOf(k.Health.Answer), k.Health.Held, k.Health.Answer
				a.inArc, a.obstacle = shownWords(k.Health.Answer)
			}
			b.add(a)
		}
	}
}

// decided is an outcome that may be wrong; "" for the others.
func decided(outcome string) string {
	if outcome == "yes" || outcome == "no" || outcome == "choose" {
		return outcome
	}
	return ""
}

// shownWords reads what a text says of the front arc and of what obstructs.
func shownWords(text string) (inArc, obstacle string) {
	text = strings.ToLower(text)
	has := func(part string) bool { return strings.Contains(text, part) }
	switch {
	case has("too close to call: the edge of the front arc"), has(", and the edge of the front arc"):
	case has("outside the front arc"), has("not in the front arc"):
		inArc = "no"
	case has("in the front arc"):
		inArc = "yes"
	}
	switch {
	case has("no obstacle on the line"):
		obstacle = "no"
	case has("too close to call whether"):
	case has("obstructed by "):
		obstacle = "yes"
	case has("may choose a clear line"):
		obstacle = "choose"
	}
	return inArc, obstacle
}

var bandText = regexp.MustCompile(`[Rr]ange (\d)(?: or (\d))?`)

func bandOf(text string) string {
	m := bandText.FindStringSubmatch(text)
	switch {
	case m == nil:
		return ""
	case m[2] != "":
		return m[1] + " or " + m[2]
	}
	return m[1]
}

const overlayRecorder = `window.log = []; setInterval(() => {
	const seen = (id) => { const e = document.getElementById(id); return e && !e.hidden && getComputedStyle(e).display !== "none"; };
	const text = (id) => document.getElementById(id).textContent;
	log.push({at: Date.now(), pair: seen("pair"), from: text("pair-from"), to: text("pair-to"), sure: text("pair-sure"),
		band: text("pair-band"), words: text("pair-title") + ". " + text("pair-facts"), held: seen("held"), ruling: seen("ruling"),
		frozen: document.getElementById("pair").dataset.frozen || "",
		rests: text("pair-rests"), debug: text("debug")});
}, 100); 0`

const pageRecorder = `window.log = []; setInterval(() => {
	const text = (id) => document.getElementById(id).textContent;
	log.push({at: Date.now(), pair: text("distance") !== "", from: document.getElementById("from").value,
		to: document.getElementById("to").value, sure: text("distance"), band: text("band"), 
		held: !document.getElementById("held").hidden, frozen: "",
		words: [text("title"), text("fact-arc"), text("fact-obstruction")].join(". "), rests: text("explain"), debug: text("status-text")});
}, 100); 0`

const remoteRecorder = `window.log = []; setInterval(() => {
	const text = (id) => document.getElementById(id).textContent;
	log.push({at: Date.now(), pair: true, from: text("from-name"), to: text("to-name"), sure: "", band: text("band"),
		words: text("title") + ". " + text("obstruction"), held: !document.getElementById("held").hidden, frozen: "", rests: "",
		debug: text("status-text")});
}, 100); 0`

type recorded struct {
	At                                         int64
	Pair, Held, Ruling                         bool
	From, To, Sure, Band, Frozen, Rests, Debug string
	Words                                      string
}

var sureText = regexp.MustCompile(`([\d.]+) (?:mm )?± ([\d.]+) mm`)

func (b *surfaces) ofBrowser(surface string, all []recorded) {
	for _, r := range all {
		a := shownAnswer{at: time.UnixMilli(r.At), surface: surface, distance: math.NaN(), held: r.Held || r.Frozen != "",
			text: r.Debug + " " + r.Words}
		if r.Pair {
			a.from, a.to, a.band = r.From, r.To, strings.Trim(r.Band, "–≈✕")
			a.inArc, a.obstacle = shownWords(r.Words)
			if m := sureText.FindStringSubmatch(r.Sure); m != nil {
				a.distance, _ = strconv.ParseFloat(m[1], 64)
				a.sigma, _ = strconv.ParseFloat(m[2], 64)
			}
		}
		b.add(a)
	}
}

// send sends a request that must succeed.
func (b *surfaces) send(method, address string, body any) {
	data, err := json.Marshal(body)
	require.NoError(b.t, err)
	r, err := http.NewRequest(method, address, bytes.NewReader(data))
	require.NoError(b.t, err)
	r.Header.Set("Content-Type", "application/json")
	answer, err := b.judge.Do(r)
	require.NoError(b.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(b.t, err)
	require.Less(b.t, answer.StatusCode, 300, "%s %s: %s", method, address, text)
}

func startHall(t *testing.T) (string, string) {
	dir, ready, invitation := t.TempDir(), make(chan string, 1), filepath.Join(t.TempDir(), "invitation")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- hall.Run(ctx, hall.Options{Dir: dir, Listen: "127.0.0.1:0", Tables: "127.0.0.1:0", Version: "test",
			Access: access.Options{JudgeSecret: "a judge's secret of tests"}, Log: slog.New(slog.DiscardHandler),
			Ready: func(pages, _ string) { ready <- pages }})
	}()
	t.Cleanup(func() { stop(); <-done })
	page := "http://" + <-ready
	invites, err := hall.OpenInvites(dir, time.Now)
	require.NoError(t, err)
	i, err := invites.Invite("7", "", time.Hour)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(invitation, []byte(i.String()+"\n"), 0o600))
	return page, invitation
}

// TestNoTwoSurfacesDisagree plays faults before the whole program and reads everything that shows an answer, several times a second:
// the API, the panel, the player's page, the remote, both overlays, and a hall with its tile and overlay. What any shows of range, arc
// and obstruction must be true of the table at one moment within what docs/faults.md allows. SIGHTLINE_SURFACES is camera, network or two.
func TestNoTwoSurfacesDisagree(t *testing.T) {
	kind := os.Getenv("SIGHTLINE_SURFACES")
	if kind == "" {
		t.Skip("it takes four minutes: SIGHTLINE_SURFACES=camera, network or two")
	}
	browser := browsertest.New(t, 10*time.Minute)
	t.Chdir(t.TempDir())
	b := newSurfaces(t, kind)
	tabs := map[string]context.Context{}
	for _, k := range []struct{ name, address, record string }{
		{"overlay", b.url + "/overlay/all?debug=1", overlayRecorder},
		{"camera overlay", b.url + "/overlay/all?view=camera&debug=1", overlayRecorder},
		{"hall overlay", b.hallURL + "/overlay/all?table=program&debug=1", overlayRecorder}, {"page", b.url + "/", pageRecorder},
		{"remote", b.url + "/remote", remoteRecorder},
	} {
		tab := browser
		if len(tabs) > 0 {
			tab = browsertest.New(t, 10*time.Minute) // a window that is seen
		}
		require.NoError(t, chromedp.Run(tab, chromedp.Navigate(k.address), chromedp.Sleep(time.Second), chromedp.Evaluate(k.record, nil)))
		tabs[k.name] = tab
	}
	polling, end := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		for polling.Err() == nil {
			b.poll()
			time.Sleep(120 * time.Millisecond)
		}
	})
	b.script()
	end()
	group.Wait()
	for name, tab := range tabs {
		var all []recorded
		require.NoError(t, chromedp.Run(tab, chromedp.Evaluate(`log`, &all)))
		b.ofBrowser(name, all)
	}
	b.report()
}

// newSurfaces starts the program before a scripted table, with a hall, and waits for its answers.
func newSurfaces(t *testing.T, kind string) *surfaces {
	script := &tableScript{}
	options := tablesim.Options{Width: 688, Height: 640, FPS: surfacesFPS, Seed: 3, Small: true}
	b := &surfaces{t: t, table: newScriptedTable(t, script, options), panel: &hardwaretest.Panel{}, polls: map[string]int{},
		truth: map[int64]engine.Result{}}
	c := app.DefaultConfig()
	c.Camera.Source, c.Camera.Lens = "/dev/video0", "lens.json"
	require.NoError(t, lens.Save(c.Camera.Lens, b.table.sim.Lens()))
	c.Web.JudgeSecretFile, c.Rulings.Dir = "secret", "rulings"
	require.NoError(t, os.WriteFile(c.Web.JudgeSecretFile, []byte(surfacesSecret), 0o600))
	b.judge.Jar, _ = cookiejar.New(nil)
	c.Table.Layout, c.Web.Listen = b.table.sim.Layout(), "localhost:0"
	c.Table.EmptyMat, c.Table.Catalogue = b.table.learn(t, "mat.png"), "rocks.json"
	b.hallURL, c.Event.Invitation = startHall(t)
	ready, done := make(chan string, 1), make(chan error, 1)
	o := app.Options{StateDir: t.TempDir(), Panel: b.panel, Log: slog.New(slog.NewTextHandler(&b.log, nil)),
		Ready: func(a string) { ready <- a }}
	switch kind {
	case "network":
		c.Camera.Source = b.table.serve(t)
	case "two":
		options.Tilt = &[2]geom.Angle{25 * geom.Degree, 0}
		b.second = newScriptedTable(t, script, options)
		require.NoError(t, lens.Save("second.json", b.second.sim.Lens()))
		c.Cameras = []app.FurtherCamera{{Camera: app.Camera{Source: b.second.serve(t), Lens: "second.json"}, Name: "far",
			EmptyMat: b.second.learn(t, "second.png")}}
	}
	if kind != "network" {
		o.Open = b.table.open
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() { done <- app.Run(ctx, c, o) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-done)
		if t.Failed() {
			t.Log(b.log.String())
		}
	})
	select {
	case address := <-ready:
		b.url = "http://" + address
	case err := <-done:
		t.Fatal(err)
	}
	require.Eventually(t, func() bool {
		var s shownState
		b.get(b.url+"/api/state", &s)
		return s.Health.Code == "ok" && len(s.Ships) == 4
	}, time.Minute, 100*time.Millisecond, "no answers")
	b.send(http.MethodPatch, b.url+"/api/choice", map[string]any{"from": "A1", "to": "B1", "arc": "front"})
	require.Eventually(t, func() bool {
		var s shownState
		b.get(b.url+"/api/state", &s)
		return s.Answer.Obstruction.Outcome == "no"
	}, time.Minute, 100*time.Millisecond, "the line is not called clear")
	b.send(http.MethodPut, b.hallURL+"/api/program", map[string]any{"table": "7"})
	return b
}

// learn writes the empty mat into a file, and the table's obstacle into rocks.json.
func (b *scriptedTable) learn(t *testing.T, file string) string {
	mat, err := obstacle.LearnBackground(calibration.Table{Camera: b.sim.Camera(), Layout: b.sim.Layout()}, 4, b.sim.Bare)
	require.NoError(t, err)
	var picture bytes.Buffer
	require.NoError(t, mat.WritePNG(&picture))
	require.NoError(t, os.WriteFile(file, picture.Bytes(), 0o600))
	known, err := catalogue.Of(b.sim.Obstacles())
	require.NoError(t, err)
	text, err := json.Marshal(known)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("rocks.json", text, 0o600))
	return file
}

// open opens the table as a camera, unless its cable is out.
func (b *scriptedTable) open(context.Context) (vision.Source, error) {
	if b.mode.Load() == "fail" {
		return nil, errors.New("no such device")
	}
	return b, nil
}

// script plays the faults. Meanwhile B1 is moved.
func (b *surfaces) script() {
	b.phase("calm", 3*time.Second)
	b.carry()
	b.phase("hand", 4*time.Second)
	for _, mode := range []string{"freeze", "stall", "fail", "dark"} {
		for _, after := range []time.Duration{50 * time.Millisecond, 900 * time.Millisecond} {
			b.begin(fmt.Sprintf("%s, moved after %v", mode, after))
			b.table.mode.Store(mode)
			time.Sleep(after)
			b.jump()
			time.Sleep(5 * time.Second)
			b.table.mode.Store("live")
			b.phase("after "+mode, 8*time.Second)
		}
	}
	b.pushes()
	if b.second != nil {
		b.twoCameras()
	}
	b.holds()
}

// pushes covers markers and a ship, and pushes the camera.
func (b *surfaces) pushes() {
	marker := b.table.sim.Layout().Markers[0].Center
	b.table.lay(marker, 40, 0)
	b.phase("marker covered", 3*time.Second)
	b.table.lay(marker, 40, 0.3)
	b.phase("marker covered, pushed", 4*time.Second)
	b.table.lay(geom.Point{}, 0, 0)
	b.phase("pushed back", 4*time.Second)
	b.coverB1()
	b.phase("ship covered", time.Second)
	b.jump()
	b.phase("ship moved under the cover", 5*time.Second)
	_, state := b.get(b.url+"/api/state", nil)
	assert.NotContains(b.t, state, "B1 was taken off the table", "a box over it is not the mat")
	b.table.lay(geom.Point{}, 0, 0)
	b.phase("ship uncovered", 3*time.Second)
	b.table.lay(geom.Point{}, 0, 0.4)
	b.phase("push", 5*time.Second)
	b.table.lay(geom.Point{}, 0, -0.4)
	b.jump()
	b.phase("push with a move", 6*time.Second)
	b.table.lay(geom.Point{}, 0, -0.37)
	b.phase("small push", 6*time.Second)
}

// twoCameras fails the second camera, also where it alone sees a ship.
func (b *surfaces) twoCameras() {
	for _, mode := range []string{"freeze", "stall", "fail"} {
		b.second.mode.Store(mode)
		b.begin("second: " + mode)
		b.jump()
		time.Sleep(5 * time.Second)
		b.jump()
		time.Sleep(3 * time.Second)
		b.second.mode.Store("live")
		b.phase("second: after "+mode, 5*time.Second)
	}
	b.coverB1()
	b.phase("seen by the second alone", 5*time.Second)
	b.second.mode.Store("freeze")
	b.jump()
	b.phase("the second alone, frozen", 6*time.Second)
	b.second.mode.Store("live")
	b.phase("the second alone again", 4*time.Second)
	b.second.lay(geom.Point{}, 0, 0.4)
	b.jump()
	b.phase("the second alone, pushed", 6*time.Second)
	b.table.lay(geom.Point{}, 0, 0)
	b.phase("both again", 5*time.Second)
}

// holds holds the picture while a ship is moved, rules on it, and compares the record with what was held.
func (b *surfaces) holds() {
	b.send(http.MethodPost, b.url+"/api/freeze", map[string]any{"hold": true})
	b.phase("held", time.Second)
	b.carry()
	time.Sleep(3 * time.Second)
	var s shownState
	b.get(b.url+"/api/state", &s)
	require.NotNil(b.t, s.Held)
	b.send(http.MethodPost, b.url+"/api/pair", map[string]any{"judge_secret": surfacesSecret})
	b.send(http.MethodPost, b.url+"/api/rulings", map[string]any{"held": s.Held.Number, "from": "A1", "to": "B1", "arc": "front",
		"decision": "as_measured", "judge": "Jo"})
	_, record := b.get(b.url+"/api/rulings/1", nil)
	assert.Contains(b.t, record, `"title":"Range `+s.Answer.Band+", "+s.Answer.InArc.Text, "the record has what was held")
	assert.Contains(b.t, record, `"from":"A1","to":"B1"`)
	time.Sleep(2 * time.Second)
	b.send(http.MethodPost, b.url+"/api/freeze", map[string]any{"hold": false})
	b.phase("released", 15*time.Second)
}

// phase lets a time pass under a name.
func (b *surfaces) phase(name string, d time.Duration) {
	b.begin(name)
	time.Sleep(d)
}

// places are those between which B1 is moved, seen from A1: behind the rock, outside the arc, at range 1, and back to range 2.
var places = []geom.Pose{{Point: geom.Point{X: 235, Y: 255}, Heading: 178 * geom.Degree}, {Point: geom.Point{X: 215, Y: 75}, Heading: 90 *
	geom.Degree}, {Point: geom.Point{X: 130, Y: 190}, Heading: 190 * geom.Degree}, scriptedShips[1].Pose}

// jump moves B1 at once, and carry by a hand.
func (b *surfaces) jump()  { b.shift(0) }
func (b *surfaces) carry() { b.shift(1500 * time.Millisecond) }

func (b *surfaces) shift(takes time.Duration) {
	b.table.move("B1", places[b.moved%len(places)], takes)
	b.moved++
}

// coverB1 lays a box over B1 where the main camera sees it.
func (b *surfaces) coverB1() {
	ships, _ := b.table.at(time.Now())
	b.table.lay(ships[1].Pose.Point, 80, 0)
}

// lay lays a box over a place, unless its size is 0, and turns the camera by degrees from its first place.
func (b *scriptedTable) lay(at geom.Point, size geom.Length, degrees float64) {
	b.sim.Disturb(func(k *tablesim.Table) {
		k.Camera = tablesim.Turned(k.Camera, degrees, 0.7*degrees, 0)
		if size > 0 {
			k.Clutter = append(slices.Clone(k.Clutter), tablesim.Clutter{Pose: geom.Pose{Point: at}, Width: size, Length: size,
				Height: 60 * geom.Millimeter, Color: color.RGBA{90, 60, 40, 255}})
		}
	})
}

// The oldest truth that a surface may show. A picture gives answers for 2 s. The program publishes each half second, a hall hears of
// it half a second later, and a frame of the simulator takes some time.
const (
	staleMost     = 2700 * time.Millisecond
	staleMostHall = 3500 * time.Millisecond
)

// report logs for each phase and surface how old what it showed was at most, and fails where that was too old. What is marked as held
// is as old as it is.
func (b *surfaces) report() {
	type key struct{ phase, surface string }
	oldest, counts := map[key]time.Duration{}, map[key]int{}
	for _, a := range b.shown {
		age, ok := b.age(a)
		require.True(b.t, ok, "no such pair: %+v", a)
		k, most := key{b.phaseAt(a.at), a.surface}, staleMost
		if strings.HasPrefix(a.surface, "hall") {
			most = staleMostHall
		}
		if a.held {
			k.surface += " (held)"
		} else if age > most {
			b.t.Errorf("%s: %s shows at %v what was so %v ago: %+v", k.phase, a.surface, a.at, age, a)
		}
		counts[k]++
		oldest[k] = max(oldest[k], age)
	}
	order := slices.SortedFunc(maps.Keys(counts), func(x, y key) int {
		return cmp.Or(cmp.Compare(x.phase, y.phase),
			cmp.Compare(x.surface, y.surface))
	})
	for _, k := range order {
		b.t.Logf("%-34s %-20s %5d answers, the oldest %v", k.phase, k.surface, counts[k], oldest[k])
	}
	b.t.Log("looked, times:", b.polls)
	b.requireVariety()
}

// requireVariety fails if some surface did not show each answer of the script: in and outside the arc, a clear and an obstructed line.
func (b *surfaces) requireVariety() {
	got := map[string]map[string]int{}
	for _, a := range b.shown {
		if got[a.surface] == nil {
			got[a.surface] = map[string]int{}
		}
		got[a.surface]["in arc "+a.inArc]++
		got[a.surface]["obstructed "+a.obstacle]++
	}
	for surface := range b.polls {
		want := []string{"in arc yes", "in arc no", "obstructed no", "obstructed yes"}
		if surface == "hall tile" { // it tells the range alone
			want = nil
		}
		for _, k := range want {
			assert.NotZero(b.t, got[surface][k], "%s showed %q never: %v", surface, k, got[surface])
		}
	}
	b.t.Log("shown, times:", got)
}
