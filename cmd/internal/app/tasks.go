package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
	"sightline/hardware"
	"sightline/vision/capture"
)

// listen listens at the page's address.
func listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("web.listen: %s is in use by another program (perhaps another sightline); choose another with --listen", address)
	}
	if err != nil {
		return nil, fmt.Errorf("web.listen: %s: %w", address, err)
	}
	return l, nil
}

// shownAddress returns the address for people: the host as they wrote it, and the actual port.
func shownAddress(wanted string, l net.Listener) string {
	host, _, _ := net.SplitHostPort(wanted)
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return l.Addr().String()
	}
	if host == "" {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// feedTask runs the camera.
type feedTask struct{ *capture.Feed }

func (feedTask) String() string { return "camera" }

// webTask serves the page.
type webTask struct {
	server   *web.Server
	listener net.Listener
}

func (t *webTask) Run(ctx context.Context) error { return t.server.Serve(ctx, t.listener) }
func (t *webTask) String() string                { return "page" }

// panelTask shows the newest state on the panel and blanks it at the end.
type panelTask struct {
	panel  hardware.Panel
	inputs Inputs
	hub    *live.Hub
	log    *slog.Logger
	says   atomic.Pointer[string]
	loop   game.Liveness
}

// newPanelTask opens the wired panel, or a test's.
func newPanelTask(wired hardware.Wiring, hub *live.Hub, o Options) *panelTask {
	t := &panelTask{panel: o.Panel, inputs: o.Input, hub: hub, log: o.Log}
	if t.panel == nil {
		t.panel = hardware.Open(wired, o.Log)
	}
	if t.inputs == nil {
		t.inputs = hardware.OpenControls(wired.Controls, o.Log)
	}
	return t
}

// panelEvery is the interval at which the panel is updated, short enough for blinking.
const panelEvery = 50 * time.Millisecond

func (t *panelTask) String() string { return "panel" }

// name returns the panel's last description of itself.
func (t *panelTask) name() string {
	if s := t.says.Load(); s != nil {
		return *s
	}
	return ""
}

// Run shows every state, and repeats the newest one for blinking and for a display that comes back.
func (t *panelTask) Run(ctx context.Context) error {
	views, stop := t.hub.Listen()
	defer stop()
	ticker := time.NewTicker(panelEvery)
	defer ticker.Stop()
	var state hardware.State
	for {
		select {
		case <-ctx.Done():
			return t.panel.Halt()
		case v := <-views:
			state = v.Panel
		case <-ticker.C:
		}
		for _, err := range parts(t.panel.Show(state)) {
			t.log.Warn("the panel continues without a part", "err", err)
		}
		said := t.panel.String()
		if controls := t.inputs.String(); controls != "" {
			said += "; " + controls
		}
		t.says.Store(&said)
		t.loop.Beat()
	}
}

// parts returns the joined errors one by one.
func parts(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok:
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, parts(e)...)
	}
	return out
}
