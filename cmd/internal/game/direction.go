package game

import (
	"fmt"

	"sightline/cmd/internal/live"
)

// directionFile stores which widgets the stream's director hid, so that a restart puts none of
// them on air. The pair and a freeze are not stored: the table may have changed by then.
const directionFile = "director.json"

// loadDirection reads the stored part of a direction. Without a file it is the zero value.
func loadDirection(path string) (d live.Direction, err error) {
	_, err = readFile(path, "director", &d.Hidden)
	if err != nil {
		return live.Direction{}, err
	}
	return d, nil
}

// Direct changes what the stream's overlays show and returns the new direction. Errors are
// sentences for people. A change that cannot be stored is not made.
func (g *Game) Direct(change live.DirectionChange) (now live.Direction, err error) {
	g.update(func() {
		now, err = g.direction.With(change, g.choice, g.o.Now())
		if err != nil {
			return
		}
		if g.o.Dir != "" && now.Hidden != g.direction.Hidden {
			if err = writeFile(g.file(directionFile), now.Hidden); err != nil {
				err = fmt.Errorf("director: %w", err)
				return
			}
		}
		g.direction = now
	})
	return now, err
}
