package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"

	"sightline/cmd/internal/event"
	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/rulings"
)

// Event says which hall the table belongs to.
type Event struct {
	Invitation string // file with what sightline hall invite printed; "": none
}

const cursorFile = "hall.cursor" // of the state directory: how far the record was handed on

// joinHall adds the task that speaks with the hall, if the configuration names one.
func (p *program) joinHall(c Config, hub *live.Hub, g *game.Game, record *judges, page http.Handler, o Options) error {
	if c.Event.Invitation == "" {
		return nil
	}
	text, err := readPrivate(c.Event.Invitation)
	if err != nil {
		return fmt.Errorf("event.invitation: %w", err)
	}
	invitation, err := event.ParseInvitation(string(text))
	if err != nil {
		return fmt.Errorf("event.invitation: %s: %w", c.Event.Invitation, err)
	}
	dir := o.StateDir
	if dir == "" {
		if dir, err = StateDir(); err != nil {
			return fmt.Errorf("event.invitation: %w", err)
		}
	}
	client, err := event.New(event.Options{
		Invitation: invitation, Newest: hub.Newest, Record: handedOn{record}, Serve: page, Cursor: filepath.Join(dir, cursorFile),
		Version: o.Version, Log: o.Log, Notice: g.Note,
	})
	if err != nil {
		return err
	}
	p.tasks = append(p.tasks, client)
	return nil
}

// handedOn is the record as the hall gets it.
type handedOn struct{ *judges }

// Head implements event.Source. It is asked often, and so reads the log that stays open.
func (r handedOn) Head(ctx context.Context) (int64, string, error) {
	log, err := r.record()
	if err != nil {
		return 0, "", err
	}
	h, err := log.Head(ctx)
	return h.Number, h.Hash, err
}

// Entry implements event.Source: with the picture in colour, or else the measured one.
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
