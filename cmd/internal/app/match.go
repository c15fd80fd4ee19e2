package app

import (
	"fmt"
	"path/filepath"

	"sightline/cmd/internal/live"
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
func loadMatch(path string) (m live.Match, err error) {
	found, err := readKept(path, "match", "title, round and sides", &m)
	if err != nil || !found {
		return live.Match{}, err
	}
	if err := m.Validate(); err != nil {
		return live.Match{}, fmt.Errorf("match: %s: %w", path, err)
	}
	return m, nil
}

// saveMatch writes a match so that after a failure either the old or the new one is
// there, whole.
func saveMatch(path string, m live.Match) error {
	if err := writeKept(path, m); err != nil {
		return fmt.Errorf("match: %w", err)
	}
	return nil
}

// SetMatch makes a match the present one and keeps it. When it cannot be kept, it
// is not shown either, and the error says why.
func (w *Watcher) SetMatch(m live.Match) error {
	if w.o.MatchFile != "" {
		if err := saveMatch(w.o.MatchFile, m); err != nil {
			return err
		}
	}
	w.update(func() { w.match = m })
	return nil
}
