package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"sightline/cmd/internal/event"
	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/rulings"
)

// Event is the table's membership of a hall.
type Event struct {
	Invitation string // file with the output of sightline hall invite; "": none
}

const cursorFile = "hall.cursor" // in the state directory: the number of the last entry that the hall has

// joinHall adds the task that talks to the hall, if one is configured.
func (p *program) joinHall(c Config, hub *live.Hub, g *game.Game, record *judges, page http.Handler, o Options) error {
	if c.Event.Invitation == "" {
		return nil
	}
	dir, err := o.StateDir, error(nil)
	if dir == "" {
		if dir, err = StateDir(); err != nil {
			return fmt.Errorf("event.invitation: %w", err)
		}
	}
	m := &member{file: c.Event.Invitation, o: event.Options{
		Newest: hub.Newest, Record: handedOn{record}, Serve: page, Cursor: filepath.Join(dir, cursorFile),
		Version: o.Version, Log: o.Log, Notice: g.Note,
	}}
	if err := m.read(); err != nil {
		return err
	}
	p.tasks = append(p.tasks, m)
	return nil
}

// member is the table as a member of an event. When its invitation changes it joins again without a
// restart, which would lose a picture held for a judge.
type member struct {
	file   string
	o      event.Options
	text   string // the invitation's text
	client *event.Client
}

// invitationEvery is how often the invitation is read.
const invitationEvery = 2 * time.Second

// String names the task.
func (m *member) String() string { return "hall" }

// read reads the invitation, and makes a new client if it has changed.
func (m *member) read() error {
	text, err := readPrivate(m.file)
	if err != nil {
		return fmt.Errorf("event.invitation: %w", err)
	}
	if string(text) == m.text {
		return nil
	}
	o := m.o
	if o.Invitation, err = event.ParseInvitation(string(text)); err != nil {
		return fmt.Errorf("event.invitation: %s: %w", m.file, err)
	}
	client, err := event.New(o)
	if err != nil {
		return err
	}
	m.text, m.client = string(text), client
	return nil
}

// Run talks to the hall until ctx is cancelled.
func (m *member) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		now, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func(c *event.Client) { ended <- c.Run(now) }(m.client)
		m.await(now)
		stop()
		if err := <-ended; err != nil {
			return err
		}
	}
	return nil
}

// await returns when the invitation has changed or ctx is cancelled. The last readable invitation
// stays in force.
func (m *member) await(ctx context.Context) {
	ticker := time.NewTicker(invitationEvery)
	defer ticker.Stop()
	client, said := m.client, ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := m.read()
		switch {
		case m.client != client:
			m.o.Log.Info("hall: another invitation is there; the table joins with it", "file", m.file)
			return
		case err == nil:
			said = ""
		case err.Error() != said:
			said = err.Error()
			m.o.Log.Warn("hall: the invitation cannot be read; the one that was read last counts", "err", err)
		}
	}
}

// handedOn is the record as a source for the hall.
type handedOn struct{ *judges }

// Head implements event.Source. It is called often, and uses the log that stays open.
func (r handedOn) Head(ctx context.Context) (int64, string, error) {
	log, err := r.record()
	if err != nil {
		return 0, "", err
	}
	h, err := log.Head(ctx)
	return h.Number, h.Hash, err
}

// Entry implements event.Source, with the colour picture if there is one, or else the measured one.
func (r handedOn) Entry(ctx context.Context, number int64) (event.Entry, error) {
	log, err := r.record()
	if err != nil {
		return event.Entry{}, err
	}
	e, err := log.Entry(ctx, number)
	if err != nil {
		return event.Entry{}, err
	}
	out := event.Entry{Number: e.Number, Hash: e.Hash, At: e.At, Record: e.Canonical()}
	for _, role := range []rulings.Role{rulings.RoleColor, rulings.RoleFrame} {
		f, ok := e.File(role)
		if !ok || f.Bytes > event.PictureMost {
			continue
		}
		data, err := log.File(ctx, f)
		if errors.Is(err, rulings.ErrPruned) {
			continue
		}
		if err != nil {
			r.log.Warn("hall: a ruling's picture cannot be read and is not handed on", "number", number, "err", err)
			continue
		}
		out.Picture, out.SHA256, out.Type = data, f.SHA256, f.Type
		break
	}
	return out, nil
}
