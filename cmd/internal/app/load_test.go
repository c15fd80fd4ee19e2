package app

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/pipeline"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/locate"
	"sightline/vision/tablesim"
)

// The load of a great evening: so many look on.
const (
	loadOverlays = 200 // overlays of streams
	loadPlayers  = 20  // players' pages: every state, and the picture five times a second
	loadSilent   = 3   // of the overlays' number besides: they connect and never read
)

// TestLoadClients is no test: it is the process of all those clients, when
// TestManyWhoLookOnCostLittle starts it. It says what came in at each line of
// its standard input, and ends with it.
func TestLoadClients(t *testing.T) {
	address := os.Getenv("SIGHTLINE_LOAD_CLIENTS")
	if address == "" {
		t.Skip("the clients of TestManyWhoLookOnCostLittle")
	}
	// Real clients have processors of their own; these take what is left over.
	require.NoError(t, syscall.Setpriority(syscall.PRIO_PROCESS, 0, 19))
	ctx, cancel := context.WithCancel(context.Background())
	var overlays, players, pictures, states atomic.Int64
	var all sync.WaitGroup
	for range loadOverlays {
		all.Go(func() { readEvents(ctx, address, "?quiet=1", func(n int) { overlays.Add(int64(n)) }) })
	}
	for range loadPlayers {
		fresh := make(chan struct{}, 1)
		all.Go(func() {
			readEvents(ctx, address, "", func(n int) {
				players.Add(int64(n))
				states.Add(1)
				select {
				case fresh <- struct{}{}:
				default:
				}
			})
		})
		all.Go(func() { fetchPictures(ctx, address, fresh, &pictures) })
	}
	for range loadSilent {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer conn.Close()
		_, _ = fmt.Fprint(conn, "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}
	start := time.Now()
	fmt.Println("ready")
	for asked := bufio.NewScanner(os.Stdin); asked.Scan(); { // each line: the figures since the one before
		took := time.Since(start).Seconds()
		start = time.Now()
		data, _ := json.Marshal(loadFigures{
			OverlayKBs: float64(overlays.Swap(0)) / 1000 / took / loadOverlays, PlayerKBs: float64(players.Swap(0)) / 1000 / took / loadPlayers,
			PictureKBs: float64(pictures.Swap(0)) / 1000 / took / loadPlayers, States: float64(states.Swap(0)) / took / loadPlayers,
		})
		fmt.Printf("figures %s\n", data)
	}
	cancel()
	all.Wait()
}

// loadFigures are what a client of each kind took, per second.
type loadFigures struct{ OverlayKBs, PlayerKBs, PictureKBs, States float64 }

// readEvents reads a stream of events and tells of its bytes as they come over the wire.
func readEvents(ctx context.Context, address, query string, each func(bytes int)) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/api/events"+query, nil)
	if err != nil {
		return
	}
	r.Header.Set("Accept-Encoding", "gzip")
	answer, err := (&http.Transport{DisableCompression: true}).RoundTrip(r)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := answer.Body.Read(buf)
		each(n)
		if err != nil {
			return
		}
	}
}

// fetchPictures fetches the picture after a state, at most five times a second, as
// the page does.
func fetchPictures(ctx context.Context, address string, fresh <-chan struct{}, n *atomic.Int64) {
	client := &http.Client{Transport: &http.Transport{}}
	for {
		select {
		case <-ctx.Done():
			return
		case <-fresh:
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/api/picture.jpg", nil)
		if err != nil {
			return
		}
		if answer, err := client.Do(r); err == nil {
			k, _ := io.Copy(io.Discard, answer.Body)
			n.Add(k)
			answer.Body.Close()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// loadBench is the pipeline over real pictures of the simulated table, with its page.
type loadBench struct {
	t        *testing.T
	game     *game.Game
	pipeline *pipeline.Pipeline
	hub      *live.Hub
	frames   []vision.Frame
	address  string
}

func newLoadBench(t *testing.T, width, height int) *loadBench {
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	sim := &tablesim.Table{Camera: tablesim.DefaultCamera(width, height), Layout: layout, Look: tablesim.DefaultLook(), Seed: 5}
	sim.Scene = engine.Scene{Rules: engine.Rules25, MatWidth: layout.Width, MatHeight: layout.Height}
	for i, k := range []struct{ x, y, deg float64 }{{200, 200, 10}, {400, 220, 350}, {620, 180, 20}, {250, 640, 170}, {480, 700, 185},
		{700, 620, 200}} {
		sim.Scene.Ships = append(sim.Scene.Ships, engine.Ship{
			ID: fmt.Sprintf("%c%d", 'A'+i/3, i%3+1), Player: 1 + i/3, Base: engine.Small,
			Pose: geom.Pose{Point: geom.Point{X: k.x, Y: k.y}, Heading: geom.Angle(k.deg) * geom.Degree},
		})
	}
	b := &loadBench{t: t, hub: live.NewHub(live.State{})}
	for i := range 3 {
		sim.Seed = uint64(5 + i)
		f, _, err := sim.Render()
		require.NoError(t, err)
		b.frames = append(b.frames, f)
	}
	table := calibration.Table{Camera: sim.Camera, Layout: layout}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	b.game = game.New(game.Options{
		Camera: stillFrames{}.Status, Mat: layout, Rules: game.Rules{Edition: engine.Rules25, Profile: "nominal", Sigmas: 3}, Hub: b.hub,
		PanelName: func() string { return "none" }, Now: time.Now, Log: log,
	})
	b.pipeline = pipeline.New(pipeline.Options{
		Frames: stillFrames{}, Game: b.game, Now: time.Now,
		RegistrationOptions: pipeline.RegistrationOptions{
			File: pipeline.CalibrationFile{Table: &table, Name: "simulated"}, Layout: layout, Log: log,
			Lens: func() (calibration.Intrinsics, bool) { return table.Intrinsics, true },
		},
		NewLocator: func(t calibration.Table) (pipeline.Locator, error) { return openLocator(t, locate.Options{}) },
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() { _ = web.NewServer(web.Options{Hub: b.hub, Choose: b.game.Choose}).Serve(ctx, l) })
	t.Cleanup(func() { cancel(); serving.Wait() })
	b.address = l.Addr().String()
	return b
}

// stillFrames is a camera whose pictures the test itself takes.
type stillFrames struct{}

func (stillFrames) Next(ctx context.Context, _ uint64) (vision.Frame, error) {
	<-ctx.Done()
	return vision.Frame{}, ctx.Err()
}
func (stillFrames) Status() capture.FeedStatus {
	return capture.FeedStatus{State: capture.FeedLive, Source: "load"}
}

// looks are what a phase's looks at pictures took, each, by the clock and of a processor,
// and what part of one processor this process took in all.
type looks struct {
	wall, own []time.Duration
	cpu       float64
}

// phase looks at pictures, ten a second. A look stays on one thread, whose own time on a
// processor is not that of others who wait for the same one.
func (b *loadBench) phase(d time.Duration) (l looks) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, start := cpuTime(b.t, syscall.RUSAGE_SELF), time.Now()
	for i := 0; time.Since(start) < d; i++ {
		f := b.frames[i%len(b.frames)]
		b.frames[i%len(b.frames)].Seq += uint64(len(b.frames))
		began, own := time.Now(), cpuTime(b.t, syscall.RUSAGE_THREAD)
		f.Captured = began
		b.pipeline.Update(f)
		l.wall, l.own = append(l.wall, time.Since(began)), append(l.own, cpuTime(b.t, syscall.RUSAGE_THREAD)-own)
		time.Sleep(time.Until(began.Add(100 * time.Millisecond)))
	}
	l.cpu = (cpuTime(b.t, syscall.RUSAGE_SELF) - before).Seconds() / time.Since(start).Seconds()
	return l
}

func cpuTime(t *testing.T, who int) time.Duration {
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(who, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// probe chooses pairs while the pictures come, and gives how long each choice took to
// be heard by a client.
func (b *loadBench) probe(stop <-chan struct{}) (delays []time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.address+"/api/events", nil)
	require.NoError(b.t, err)
	r.Header.Set("Accept-Encoding", "gzip")
	answer, err := (&http.Transport{DisableCompression: true}).RoundTrip(r)
	require.NoError(b.t, err)
	defer answer.Body.Close()
	packed, err := gzip.NewReader(answer.Body)
	require.NoError(b.t, err)
	heard := make(chan string, 64)
	go func() {
		lines := bufio.NewScanner(packed)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			line := lines.Bytes()
			if i := bytes.Index(line, []byte(`"choice":{"from":"`)); i >= 0 {
				select {
				case heard <- string(line[i+18 : i+34]):
				default:
				}
			}
		}
	}()
	for i := 0; ; i++ {
		from, to := []string{"A1", "A2", "A3"}[i%3], []string{"B1", "B2", "B3"}[(i/3)%3]
		began := time.Now()
		b.game.Choose(live.Choice{From: from, To: to, Arc: engine.ArcFront})
		for {
			select {
			case <-stop:
				return delays
			case now := <-heard:
				if !strings.HasPrefix(now, from+`","to":"`+to) {
					continue
				}
				delays = append(delays, time.Since(began))
			case <-time.After(time.Minute):
				b.t.Error("a choice was not heard within a minute")
				return delays
			}
			break
		}
		select {
		case <-stop:
			return delays
		case <-time.After(time.Duration(37+i%5*11) * time.Millisecond):
		}
	}
}

// crowd starts the clients; figures gives what they took since it was asked last, and
// end ends them.
func (b *loadBench) crowd() (figures func() loadFigures, end func()) {
	self, err := os.Executable()
	require.NoError(b.t, err)
	c := exec.Command(self, "-test.run=^TestLoadClients$", "-test.v")
	c.Env = append(os.Environ(), "SIGHTLINE_LOAD_CLIENTS="+b.address)
	stdin, err := c.StdinPipe()
	require.NoError(b.t, err)
	stdout, err := c.StdoutPipe()
	require.NoError(b.t, err)
	require.NoError(b.t, c.Start())
	lines := bufio.NewScanner(stdout)
	for lines.Scan() && lines.Text() != "ready" {
	}
	time.Sleep(time.Second) // all are connected
	figures = func() (f loadFigures) {
		_, err := fmt.Fprintln(stdin)
		require.NoError(b.t, err)
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "figures "); ok {
				require.NoError(b.t, json.Unmarshal([]byte(text), &f))
				break
			}
		}
		return f
	}
	return figures, func() {
		_ = stdin.Close()
		for lines.Scan() {
		}
		require.NoError(b.t, c.Wait())
	}
}

func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(all))
	return s[min(len(s)-1, int(q*float64(len(s))))]
}

// student is the 97.5 % quantile of Student's distribution by degrees of freedom from 1
// (Abramowitz and Stegun 1972, table 26.10); beyond, that of 20 is a little wide.
var student = [...]float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
	2.110, 2.101, 2.093, 2.086}

// interval returns the geometric mean of ratios, one a round, and its 95 % interval.
func interval(ratios []float64) (mean, low, high float64) {
	n := float64(len(ratios))
	if n < 2 {
		return math.NaN(), 0, math.Inf(1)
	}
	var sum, square float64
	for _, r := range ratios {
		sum += math.Log(r) / n
	}
	for _, r := range ratios {
		square += (math.Log(r) - sum) * (math.Log(r) - sum) / (n - 1)
	}
	half := student[min(len(ratios)-2, len(student)-1)] * math.Sqrt(square/n)
	return math.Exp(sum), math.Exp(sum - half), math.Exp(sum + half)
}

func TestAnIntervalHoldsTheTruthNineteenTimesOfTwenty(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	held := 0
	for range 4000 {
		ratios := make([]float64, 6)
		for i := range ratios {
			ratios[i] = 1.05 * math.Exp(0.1*rng.NormFloat64())
		}
		if _, low, high := interval(ratios); low <= 1.05 && 1.05 <= high {
			held++
		}
	}
	assert.InDelta(t, 0.95, float64(held)/4000, 0.012)
	_, low, high := interval([]float64{1})
	assert.True(t, low == 0 && math.IsInf(high, 1), "one round shows nothing")
}

// TestManyWhoLookOnCostLittle measures, turn by turn in one run, with no one, with one
// client and with the whole crowd: what the vision step takes of a processor, and how long
// an event takes to be heard. LOAD_SECONDS is the length of each turn, LOAD_ROUNDS how
// many there are of each; docs/streaming.md states what came out.
func TestManyWhoLookOnCostLittle(t *testing.T) {
	seconds, rounds := 2.0, 24
	if os.Getenv("SIGHTLINE_ACCURACY") != "full" && os.Getenv("LOAD_ROUNDS") == "" {
		t.Skip("it measures time: LOAD_ROUNDS=3 for three rounds, SIGHTLINE_ACCURACY=full for 24")
	}
	if s, err := strconv.ParseFloat(os.Getenv("LOAD_SECONDS"), 64); err == nil {
		seconds = s
	}
	if n, err := strconv.Atoi(os.Getenv("LOAD_ROUNDS")); err == nil {
		rounds = n
	}
	turn := time.Duration(seconds * float64(time.Second))
	b := newLoadBench(t, 1920, 1080)
	b.phase(500 * time.Millisecond)
	require.Equal(t, live.OK, b.hub.Newest().Health.Code, "%+v", b.hub.Newest().Health)
	require.Len(t, b.hub.Newest().Located.Scene.Ships, 6, "the pictures are really located")

	var alone, crowded looks
	var quick, slow []time.Duration
	var figures loadFigures
	probed := func(round int) (delays []time.Duration) {
		if round >= 3 {
			return nil // enough of them; the vision step wants more
		}
		stop := make(chan struct{})
		var probing sync.WaitGroup
		probing.Go(func() { delays = b.probe(stop) })
		b.phase(turn)
		close(stop)
		probing.Wait()
		return delays
	}
	var ratios []float64
	for round := range rounds {
		var nobody looks
		if round%2 == 0 { // in turn before and after, so that what drifts favours neither
			nobody = b.phase(turn)
			quick = append(quick, probed(round)...)
		}
		ask, end := b.crowd()
		ask()
		all := b.phase(turn)
		figures = ask()
		slow = append(slow, probed(round)...)
		end()
		if round%2 == 1 {
			nobody = b.phase(turn)
			quick = append(quick, probed(round)...)
		}
		alone, crowded = alone.with(nobody, rounds), crowded.with(all, rounds)
		ratios = append(ratios, quantile(all.own, 0.5).Seconds()/quantile(nobody.own, 0.5).Seconds())
	}
	mean, low, high := interval(ratios)
	slices.Sort(ratios)
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }
	t.Logf("vision step: median %s of a processor (%s by the clock) alone (%d), %s (%s) with %d overlays and %d players (%d)",
		ms(quantile(alone.own, 0.5)), ms(quantile(alone.wall, 0.5)), len(alone.own),
		ms(quantile(crowded.own, 0.5)), ms(quantile(crowded.wall, 0.5)), loadOverlays, loadPlayers, len(crowded.own))
	t.Logf("of a processor %+.1f %% with them, 95 %% interval %+.1f to %+.1f %%; by rounds %.3f", 100*(mean-1), 100*(low-1), 100*(high-1),
		ratios)
	t.Logf("an event: median %s, 99th percentile %s with one client (%d); %s, %s with all (%d)", ms(quantile(quick, 0.5)),
		ms(quantile(quick, 0.99)), len(quick),
		ms(quantile(slow, 0.5)), ms(quantile(slow, 0.99)), len(slow))
	// What serving costs, whatever else the machine does: all that this process took less
	// what as many looks took alone.
	serving := crowded.cpu - alone.cpu*float64(len(crowded.own))/float64(len(alone.own))
	t.Logf("this process: %.2f of a processor alone, %.2f with all, serving %.2f of it; an overlay takes %.1f kB/s, a player %.1f "+
		"kB/s of states (%.1f a second) and %.0f kB/s of pictures",
		alone.cpu, crowded.cpu, serving, figures.OverlayKBs, figures.PlayerKBs, figures.States, figures.PictureKBs)

	assert.Positive(t, figures.OverlayKBs)
	assert.Less(t, serving, 0.5, "of a processor, to serve them all")
	assert.Less(t, figures.OverlayKBs, 40.0, "kB/s of an overlay")
	assert.Greater(t, len(slow), 5)
	assert.Less(t, quantile(slow, 0.99), 2*time.Second, "the clients that read nothing hold nobody up")
	// The bound of the design is 5 %. Other work on a shared machine fills the caches, too:
	// the test fails where the rounds show that the bound is broken, and says what they show.
	assert.Less(t, low, 1.05, "the vision step takes more of a processor with all: lower end of the 95 %% interval")
	if high >= 1.05 {
		t.Logf("the bound of 5 %% is neither shown nor refuted here: more rounds, or a quieter machine, tell")
	}
}

// with adds what another phase took; the share of a processor is a mean of n.
func (l looks) with(more looks, n int) looks {
	return looks{append(l.wall, more.wall...), append(l.own, more.own...), l.cpu + more.cpu/float64(n)}
}
