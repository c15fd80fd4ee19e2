package app

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"

	"sightline/cmd/internal/hall"
)

// HallOptions say where a hall listens and what it keeps.
type HallOptions struct {
	Hall  hall.Options // but Access, which Web says
	Web   Web
	State string // folder; "": hall below the state directory
	Log   *slog.Logger
}

// HallDir is where a hall keeps its state.
func HallDir(state string) (string, error) {
	if state != "" {
		return state, nil
	}
	dir, err := StateDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "hall"), nil
}

// RunHall runs a hall until ctx is cancelled. Its judges have the secret of the state folder.
func RunHall(ctx context.Context, o HallOptions) error {
	dir, err := HallDir(o.State)
	if err != nil {
		return fmt.Errorf("hall: %w", err)
	}
	secrets := o.State
	if secrets == "" {
		secrets = filepath.Dir(dir)
	}
	if o.Hall.Access, err = accessOf(o.Web, secrets, nil, o.Log); err != nil {
		return err
	}
	o.Hall.Dir, o.Hall.Log = dir, o.Log
	return hall.Run(ctx, o.Hall)
}
