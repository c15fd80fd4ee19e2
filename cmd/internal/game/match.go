package game

import (
	"fmt"

	"sightline/cmd/internal/live"
)

// matchFile stores the match in the data directory, so that a restart during a game keeps the
// score.
const matchFile = "match.json"

// loadMatch reads a match. Without a file it is empty.
func loadMatch(path string) (m live.Match, err error) {
	found, err := readFile(path, "match", &m)
	if err != nil || !found {
		return live.Match{}, err
	}
	if err := m.Validate(); err != nil {
		return live.Match{}, fmt.Errorf("match: %s: %w", path, err)
	}
	return m, nil
}

// SetMatch stores and shows a match. If it cannot be stored it is not shown either.
func (g *Game) SetMatch(m live.Match) error {
	if g.o.Dir != "" {
		if err := writeFile(g.file(matchFile), m); err != nil {
			return fmt.Errorf("match: %w", err)
		}
	}
	g.update(func() { g.match = m })
	return nil
}
