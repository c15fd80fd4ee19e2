package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sightline/cmd/internal/web"
)

// matchFile is the file of the match line, in the data directory: a program that is
// started again in the middle of a game goes on showing the score.
const matchFile = "match.json"

// dataDir is where the program keeps what it writes by itself.
func (c Config) dataDir() string {
	if c.Table.Record != "" {
		return filepath.Dir(c.Table.Record)
	}
	return "."
}

// loadMatch reads a match. A file that is not there is an empty match.
func loadMatch(path string) (m web.Match, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, fmt.Errorf("match: %w", err)
	}
	defer f.Close()
	d := json.NewDecoder(io.LimitReader(f, 64<<10))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return web.Match{}, fmt.Errorf("match: %s: expected JSON with title, round and sides: %w", path, err)
	}
	if err := m.Validate(); err != nil {
		return web.Match{}, fmt.Errorf("match: %s: %w", path, err)
	}
	return m, nil
}

// saveMatch writes a match so that after a failure either the old or the new one is
// there, whole.
func saveMatch(path string, m web.Match) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("match: %w", err)
	}
	if err := writeWhole(path, data); err != nil {
		return fmt.Errorf("match: %w", err)
	}
	return nil
}

// writeWhole writes a small file so that after a failure either the old or the new one
// is there, whole.
func writeWhole(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// SetMatch makes a match the present one and keeps it. When it cannot be kept, it
// is not shown either, and the error says why.
func (w *Watcher) SetMatch(m web.Match) error {
	if w.o.MatchFile != "" {
		if err := saveMatch(w.o.MatchFile, m); err != nil {
			return err
		}
	}
	w.update(func() { w.match = m })
	return nil
}
