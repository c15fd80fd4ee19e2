package app

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"

	"sightline/cmd/internal/hall"
)

// HallOptions are a hall's address and its folder.
type HallOptions struct {
	Hall  hall.Options // Access comes from Web
	Web   Web
	State string // folder; "": hall below the state directory
	Log   *slog.Logger
}

// HallDir returns the folder of a hall's state.
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

// StateFlag returns the flag with which commands find a hall's folder: " --state DIR", or "" for
// the default.
func StateFlag(state string) string {
	if state == "" {
		return ""
	}
	return " --state " + state
}

// RunHall runs a hall until ctx is cancelled. Its judges' secrets are in its own folder, separate
// from a table's on the same machine.
func RunHall(ctx context.Context, o HallOptions) error {
	dir, err := HallDir(o.State)
	if err != nil {
		return fmt.Errorf("hall: %w", err)
	}
	if o.Hall.Access, err = accessOf(o.Web, dir, nil, "sightline hall judge-secret"+StateFlag(o.State), o.Log); err != nil {
		return err
	}
	o.Hall.Dir, o.Hall.Log = dir, o.Log
	return hall.Run(ctx, o.Hall)
}

// HallSecret returns the secret of a hall's judges and its file. It makes no secret.
func HallSecret(state string) (secret, path string, err error) {
	dir, err := HallDir(state)
	if err != nil {
		return "", "", err
	}
	return firstSecret("sightline hall", dir)
}
