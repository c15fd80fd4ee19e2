package game

import (
	"fmt"

	"sightline/cmd/internal/live"
)

// matchFile is the file of the match line, in the data directory: a program that is
// started again in the middle of a game continues showing the score.
const matchFile = "match.json"

// loadMatch reads a match. A file that is not there is an empty match.
func loadMatch(path string) (m live.Match, err error) {
	found, err := readKept(path, "match", &m)
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
func (g *Game) SetMatch(m live.Match) error {
	if g.o.Dir != "" {
		if err := saveMatch(g.file(matchFile), m); err != nil {
			return err
		}
	}
	g.update(func() { g.match = m })
	return nil
}
