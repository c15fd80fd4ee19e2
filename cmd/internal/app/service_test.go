package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
)

// manager is a service manager that records its messages.
type manager struct {
	t    *testing.T
	conn *net.UnixConn
	path string
}

func newManager(t *testing.T) *manager {
	dir, err := os.MkdirTemp("", "sl") // a socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	m := &manager{t: t, path: filepath.Join(dir, "n")}
	m.conn, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.path, Net: "unixgram"})
	require.NoError(t, err)
	t.Cleanup(func() { m.conn.Close() })
	return m
}

// next returns the next message; "" when none comes in time.
func (m *manager) next(within time.Duration) string {
	require.NoError(m.t, m.conn.SetReadDeadline(time.Now().Add(within)))
	buf := make([]byte, 4096)
	n, err := m.conn.Read(buf)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ""
	}
	require.NoError(m.t, err)
	return string(buf[:n])
}

// until returns the first message that begins so, and fails when none does.
func (m *manager) until(prefix string, within time.Duration) string {
	for end := time.Now().Add(within); time.Now().Before(end); {
		if s := m.next(time.Until(end)); strings.HasPrefix(s, prefix) {
			return s
		}
	}
	m.t.Fatalf("the service manager was not told %s within %v", prefix, within)
	return ""
}

func TestTheServiceManagerIsReadFromTheEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want notifySocket
	}{
		"started by hand":  {nil, notifySocket{}},
		"a path":           {map[string]string{"NOTIFY_SOCKET": "/run/n"}, notifySocket{path: "/run/n"}},
		"an abstract name": {map[string]string{"NOTIFY_SOCKET": "@n"}, notifySocket{path: "@n"}},
		"neither":          {map[string]string{"NOTIFY_SOCKET": "vsock:2:1"}, notifySocket{}},
		"with a watchdog": {map[string]string{"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "30000000"},
			notifySocket{"/n", 30 * time.Second}},
		"with a watchdog for this process": {map[string]string{"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"},
			notifySocket{"/n", 30 * time.Second}},
		"with a watchdog for another one": {map[string]string{"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"},
			notifySocket{path: "/n"}},
		"a watchdog that is no number": {map[string]string{"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "soon"}, notifySocket{path: "/n"}},
		"a watchdog that overflows duration": {map[string]string{"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "9223372036854775807"},
			notifySocket{path: "/n"}},
	} {
		assert.Equal(t, c.want, serviceManager(func(k string) string { return c.env[k] }, 7), name)
	}
}

func TestAHeartIsAliveWhileItBeatsOrRests(t *testing.T) {
	var h game.Liveness
	now := time.Now()
	assert.False(t, h.Alive(now, time.Hour), "a loop that never came round")
	h.Beat()
	assert.True(t, h.Alive(time.Now(), time.Minute))
	assert.False(t, h.Alive(time.Now().Add(time.Hour), time.Minute), "it hangs")
	h.Rest()
	assert.True(t, h.Alive(time.Now().Add(time.Hour), time.Second), "a camera that is not there is waited for")
}

// watched is a service task whose only loop and page a test controls.
func watched(t *testing.T, m *manager) (task *serviceTask, h *game.Liveness, broken *atomic.Bool) {
	h, broken = &game.Liveness{}, &atomic.Bool{}
	return &serviceTask{
		socket: notifySocket{m.path, 400 * time.Millisecond}, loops: map[string]*game.Liveness{"pipeline": h},
		answers: func(context.Context) error {
			if broken.Load() {
				return errors.New("no answer")
			}
			return nil
		},
		hub: live.NewHub(live.State{Health: live.Health{Title: "No camera", Detail: "/dev/video0:\nunplugged"}}),
		log: slog.New(slog.DiscardHandler),
	}, h, broken
}

func TestReadyComesOnceTheLoopsLiveAndSignsOfLifeOnlyWhileTheyDo(t *testing.T) {
	m := newManager(t)
	task, h, broken := watched(t, m)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- task.Run(ctx) }()
	assert.Empty(t, m.next(300*time.Millisecond), "the loop has not come round yet")
	h.Rest()
	assert.Equal(t, "READY=1\nSTATUS=No camera. /dev/video0: unplugged", m.until("READY=1", time.Minute))
	m.until("WATCHDOG=1", time.Minute)
	m.until("WATCHDOG=1", time.Minute)

	old := time.Now().Add(-time.Minute)
	h.At.Store(&old)
	assert.Equal(t, "STATUS=Hangs: pipeline", m.until("STATUS=", time.Minute))
	for range 3 {
		assert.Equal(t, "STATUS=Hangs: pipeline", m.next(time.Minute), "no sign of life while a loop hangs")
	}
	h.Rest()
	m.until("WATCHDOG=1", time.Minute)
	broken.Store(true)
	assert.Equal(t, "STATUS=Hangs: page", m.until("STATUS=", time.Minute))
	stop()
	m.until("STOPPING=1", time.Minute)
	assert.NoError(t, <-done)
}

func TestAServiceManagerThatIsGoneHarmsNobody(t *testing.T) {
	m := newManager(t)
	task, h, _ := watched(t, m)
	h.Rest()
	require.NoError(t, m.conn.Close())
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	assert.NoError(t, task.Run(ctx))
	assert.NoError(t, (&serviceTask{}).Run(ctx), "started by hand")
}

// The whole program as systemd starts it, with a camera that is not there.
func TestTheProgramSaysThatItIsReadyWithoutACamera(t *testing.T) {
	m := newManager(t)
	t.Setenv("NOTIFY_SOCKET", m.path)
	t.Setenv("WATCHDOG_USEC", "60000000")
	t.Setenv("WATCHDOG_PID", "")
	c := DefaultConfig()
	c.Camera.Source, c.Web.Listen, c.Panel.Enabled = filepath.Join(t.TempDir(), "camera"), "localhost:0", false
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	state := t.TempDir()
	go func() { done <- Run(ctx, c, Options{StateDir: state, Log: slog.New(slog.DiscardHandler)}) }()
	m.until("READY=1", 2*time.Minute)
	m.until("WATCHDOG=1", 2*time.Minute)
	stop()
	m.until("STOPPING=1", 2*time.Minute)
	assert.NoError(t, <-done)
}

// A crowd that holds every connection that this machine may have is no hang: the signs of
// life go on, and the page answers.
func TestAFullHouseIsNoReasonToStartAgain(t *testing.T) {
	m := newManager(t)
	t.Setenv("NOTIFY_SOCKET", m.path)
	t.Setenv("WATCHDOG_USEC", "4000000")
	t.Setenv("WATCHDOG_PID", "")
	c := DefaultConfig()
	c.Camera.Source, c.Web.Listen, c.Panel.Enabled = filepath.Join(t.TempDir(), "camera"), "127.0.0.1:0", false
	ctx, stop := context.WithCancel(t.Context())
	done, address := make(chan error, 1), make(chan string, 1)
	state := t.TempDir()
	go func() {
		done <- Run(ctx, c, Options{StateDir: state, Log: slog.New(slog.DiscardHandler), Ready: func(at string) { address <- at }})
	}()
	m.until("READY=1", 2*time.Minute)
	at := <-address
	for range 1100 {
		conn, err := net.Dial("tcp", at)
		require.NoError(t, err)
		defer conn.Close()
	}
	for range 5 {
		m.until("WATCHDOG=1", time.Minute)
	}
	answer, err := http.Get("http://" + at + "/healthz")
	require.NoError(t, err)
	answer.Body.Close()
	assert.Equal(t, http.StatusServiceUnavailable, answer.StatusCode, "there is no camera")
	stop()
	m.until("STOPPING=1", 2*time.Minute)
	assert.NoError(t, <-done)
}
