package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/app"
	"sightline/engine"
	"sightline/hardware/hardwaretest"
	"sightline/vision"
	"sightline/vision/opencv"
	"sightline/vision/tablesim"
)

// running is a program in the test's own process.
type running struct {
	address string
	panel   *hardwaretest.Panel
	stop    context.CancelFunc
	done    chan error
}

func run(t *testing.T, c app.Config, o app.Options) *running {
	t.Helper()
	r := &running{panel: &hardwaretest.Panel{}, done: make(chan error, 1)}
	ready := make(chan string, 1)
	o.Panel, o.Ready = r.panel, func(address string) { ready <- address }
	c.Web.Listen = "localhost:0"
	if o.StateDir == "" {
		o.StateDir = t.TempDir()
	}
	if c.Table.Record == "" { // next to it stands what the program keeps of the table; it may still write when the test has ended
		dir, err := os.MkdirTemp("", "sightline-test-")
		require.NoError(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		c.Table.Record = filepath.Join(dir, "registration.json")
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() { r.done <- app.Run(ctx, c, o) }()
	select {
	case r.address = <-ready:
	case err := <-r.done:
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return r
}

// end stops the program as SIGTERM does and returns what Run returned.
func (r *running) end(t *testing.T) error {
	t.Helper()
	r.stop()
	select {
	case err := <-r.done:
		return err
	case <-time.After(2 * time.Minute):
		t.Fatal("the program does not stop")
		return nil
	}
}

// simulated is the configuration of the simulated table. A program without OpenCV
// cannot see the markers and is given the calibration as a file.
func simulated(t *testing.T) app.Config {
	c := app.DefaultConfig()
	c.Camera.Source = "sim:1280x720,fps=5"
	if d, err := opencv.NewMarkerDetector(opencv.MarkerOptions{}); err == nil {
		require.NoError(t, d.Close())
		return c
	}
	o, err := tablesim.ParseSpec(c.Camera.Source)
	require.NoError(t, err)
	s, err := tablesim.Open(o)
	require.NoError(t, err)
	defer s.Close()
	table := calibration.Table{Camera: s.Camera(), Layout: c.Table.Layout, ScaleSigma: 0.0003, PoseCovariance: make([]float64, 36)}
	c.Table.Calibration = filepath.Join(t.TempDir(), "table.json")
	require.NoError(t, calibration.SaveTable(c.Table.Calibration, &table))
	return c
}

func TestTheSimulatedTableIsAnsweredAndTheEndLeavesThePanelDark(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector makes the simulated camera slower than its own clock: run without -short")
	}
	r := run(t, simulated(t), app.Options{StaleAfter: time.Minute})
	// A1 and B1 stand 190 mm apart, centre to centre, until B1 is moved to 130 mm.
	require.Eventually(t, func() bool {
		s, ok := r.panel.Last()
		return ok && s.Pair() == "A1→B1" && s.Range == engine.Yes && s.InArc == engine.Yes
	}, 8*time.Minute, 50*time.Millisecond, "the panel shows an answer: %+v", func() any { s, _ := r.panel.Last(); return s }())
	s, _ := r.panel.Last()
	assert.Contains(t, []int{1, 2}, s.Band)
	assert.NotZero(t, r.panel.Lamps())

	answer, err := http.Get("http://" + r.address + "/api/state")
	require.NoError(t, err)
	defer answer.Body.Close()
	var state struct {
		Health struct {
			Code string `json:"code"`
		} `json:"health"`
		Ships []json.RawMessage `json:"ships"`
	}
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&state))
	assert.Equal(t, "ok", state.Health.Code)
	assert.Len(t, state.Ships, 10)

	require.NoError(t, r.end(t))
	assert.True(t, r.panel.Halted())
	assert.Zero(t, r.panel.Lamps())
	_, err = net.DialTimeout("tcp", r.address, time.Second)
	assert.Error(t, err, "the page is gone")
}

func TestAPortInUseIsAnErrorThatNamesTheAddress(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	defer l.Close()
	c := app.DefaultConfig()
	c.Web.Listen = l.Addr().String()
	err = app.Run(t.Context(), c, app.Options{Panel: &hardwaretest.Panel{}})
	require.ErrorContains(t, err, c.Web.Listen+" is in use")
}

func TestFilesThatAreNamedMustBeThere(t *testing.T) {
	for name, change := range map[string]func(*app.Config){
		"camera.lens":       func(c *app.Config) { c.Camera.Lens = "no-lens.json" },
		"table.calibration": func(c *app.Config) { c.Table.Calibration = "no-table.json" },
		"panel.board":       func(c *app.Config) { c.Panel.Board = "no-board.toml" },

		"web.judge_secret_file": func(c *app.Config) { c.Web.JudgeSecretFile = "no-secret.txt" },
		"web.tls_certificate":   func(c *app.Config) { c.Web.TLSCertificate, c.Web.TLSKey = "no-cert.pem", "no-key.pem" },
	} {
		t.Run(name, func(t *testing.T) {
			c := app.DefaultConfig()
			c.Web.Listen = "localhost:0"
			change(&c)
			err := app.Run(t.Context(), c, app.Options{StateDir: t.TempDir()})
			require.ErrorContains(t, err, name)
			assert.ErrorContains(t, err, "no-")
		})
	}
}

func TestACameraThatIsNotThereIsAStateAndNoEnd(t *testing.T) {
	c := app.DefaultConfig()
	r := run(t, c, app.Options{Open: func(context.Context) (vision.Source, error) { return nil, errors.New("no such device") }})
	require.Eventually(t, func() bool {
		s, ok := r.panel.Last()
		return ok && s.Reason == "no camera"
	}, time.Minute, 20*time.Millisecond)
	answer, err := http.Get("http://" + r.address + "/healthz")
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	assert.Contains(t, string(body), "no such device")
	require.NoError(t, r.end(t))
	assert.True(t, r.panel.Halted())
}

func TestASourceThatNobodyKnowsIsAnErrorOfTheSource(t *testing.T) {
	_, err := app.OpenSource(t.Context(), app.Camera{Source: "sim:wide"})
	require.ErrorContains(t, err, "sim:wide")
	_, err = app.OpenSource(t.Context(), app.Camera{Source: "/no/such/camera"})
	require.ErrorContains(t, err, "/no/such/camera")
	s, err := app.OpenSource(t.Context(), app.Camera{Source: "sim:", Width: 320, Height: 180, FPS: 2})
	require.NoError(t, err)
	assert.Contains(t, s.String(), "320x180")
	require.NoError(t, s.Close())
}

func TestASourceThatCanNeverBeOpenedEndsTheProgramBeforeItStarts(t *testing.T) {
	for _, spec := range []string{"sim:wide", "csi:front", "gst:", "gst:  ", "http://", "ftp://camera/", "a\x00b"} {
		c := app.DefaultConfig()
		c.Web.Listen, c.Camera.Source = "localhost:0", spec
		assert.ErrorContains(t, app.Run(t.Context(), c, app.Options{Panel: &hardwaretest.Panel{}}), "camera.source", spec)
	}
}

func TestTheProgramStopsAtAnyMoment(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond, 200 * time.Millisecond} {
		c := app.DefaultConfig()
		r := run(t, c, app.Options{Open: func(ctx context.Context) (vision.Source, error) {
			<-ctx.Done() // an opening that takes for ever
			return nil, ctx.Err()
		}})
		time.Sleep(after)
		require.NoError(t, r.end(t))
		assert.True(t, r.panel.Halted(), "stopped after %v", after)
		assert.Zero(t, r.panel.Lamps())
	}
}
