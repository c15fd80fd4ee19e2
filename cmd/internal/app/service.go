package app

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
)

// A service manager (systemd, sd_notify(3)) is told over a datagram socket that the program
// answers, that it is alive, and that it stops.

// notifySocket is the service manager's socket; the zero value is none.
type notifySocket struct {
	path  string        // "/run/…", or "@…" in Linux's abstract space
	watch time.Duration // interval of signs of life that it expects; 0: none
}

// serviceManager reads the socket from the environment.
func serviceManager(getenv func(string) string, pid int) notifySocket {
	s := notifySocket{path: getenv("NOTIFY_SOCKET")}
	if !strings.HasPrefix(s.path, "/") && !strings.HasPrefix(s.path, "@") {
		return notifySocket{}
	}
	usec, err := strconv.ParseUint(getenv("WATCHDOG_USEC"), 10, 63)
	if err != nil || usec > uint64(24*time.Hour/time.Microsecond) {
		return s
	}
	if p := getenv("WATCHDOG_PID"); p == "" || p == strconv.Itoa(pid) { // otherwise it watches another process
		s.watch = time.Duration(usec) * time.Microsecond
	}
	return s
}

// tell sends one message, such as "READY=1\nSTATUS=…".
func (s notifySocket) tell(message string) error {
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.path, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("service manager: %w", err)
	}
	defer conn.Close()
	if err := conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		return fmt.Errorf("service manager: %w", err)
	}
	if _, err := conn.Write([]byte(message)); err != nil {
		return fmt.Errorf("service manager: %w", err)
	}
	return nil
}

// serviceTask reports to the service manager.
type serviceTask struct {
	socket  notifySocket
	loops   map[string]*game.Liveness   // by name
	answers func(context.Context) error // asks the page without a connection: many clients are no hang
	hub     *live.Hub
	log     *slog.Logger
}

// newServiceTask returns the task for the service manager that started this program, if one did.
func newServiceTask(hub *live.Hub, page *web.Server, log *slog.Logger, loops map[string]*game.Liveness) *serviceTask {
	return &serviceTask{socket: serviceManager(os.Getenv, os.Getpid()), hub: hub, log: log, answers: page.Answers, loops: loops}
}

func (t *serviceTask) String() string { return "service manager" }

const (
	readyEvery  = 50 * time.Millisecond // interval between checks whether the program answers
	aliveWithin = 10 * time.Second      // without a watchdog: the oldest sign of life that counts at the start
)

// Run implements Task. It sends READY once the page answers and every loop has run, then signs of
// life while they continue, and STOPPING at the end.
func (t *serviceTask) Run(ctx context.Context) error {
	if t.socket.path == "" {
		<-ctx.Done()
		return nil
	}
	defer func() { t.send("STOPPING=1") }()
	if !t.waitReady(ctx) {
		return nil
	}
	t.send("READY=1\n" + t.status())
	every := 5 * time.Second
	if t.socket.watch > 0 {
		every = t.socket.watch / 4
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if dead := t.dead(ctx); dead == "" {
			t.send("WATCHDOG=1\n" + t.status())
		} else if ctx.Err() == nil {
			t.log.Error("a part of the program hangs; the service manager will start it again", "part", dead)
			t.send("STATUS=Hangs: " + dead)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// waitReady waits until everything answers. It reports false if ctx is cancelled first.
func (t *serviceTask) waitReady(ctx context.Context) bool {
	ticker := time.NewTicker(readyEvery)
	defer ticker.Stop()
	for t.dead(ctx) != "" {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
	return ctx.Err() == nil
}

// dead names the first part without a sign of life; "" if all have one.
func (t *serviceTask) dead(ctx context.Context) string {
	within := aliveWithin
	if t.socket.watch > 0 {
		within = t.socket.watch / 2
	}
	now := time.Now()
	for _, name := range slices.Sorted(maps.Keys(t.loops)) {
		if !t.loops[name].Alive(now, within) {
			return name
		}
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := t.answers(ctx); err != nil {
		return "page"
	}
	return ""
}

// status returns the text for systemctl status.
func (t *serviceTask) status() string {
	h := t.hub.Newest().Health
	text := strings.TrimSpace(h.Title + ". " + h.Detail)
	return "STATUS=" + strings.Join(strings.Fields(text), " ")
}

func (t *serviceTask) send(message string) {
	if err := t.socket.tell(message); err != nil {
		t.log.Warn("the service manager cannot be told", "err", err)
	}
}
