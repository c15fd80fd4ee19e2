package game

import (
	"fmt"

	"sightline/cmd/internal/live"
)

// directionFile is the file of the widgets that the stream's director hid: a program that is
// started again puts none of them on air. The pair and what was frozen are not kept: the
// table may look otherwise by then.
const directionFile = "director.json"

// loadDirection reads what is kept of a direction. Without a file it is the zero value.
func loadDirection(path string) (d live.Direction, err error) {
	_, err = readKept(path, "director", &d.Hidden)
	if err != nil {
		return live.Direction{}, err
	}
	return d, nil
}

// Direct changes what the stream's overlays show and returns what holds then. Its errors are
// sentences for people; a change that cannot be kept is not made.
func (g *Game) Direct(change live.DirectionChange) (now live.Direction, err error) {
	g.update(func() {
		now, err = g.direction.With(change, g.choice, g.o.Now())
		if err != nil {
			return
		}
		if g.o.Dir != "" && now.Hidden != g.direction.Hidden {
			if err = writeKept(g.file(directionFile), now.Hidden); err != nil {
				err = fmt.Errorf("director: %w", err)
				return
			}
		}
		g.direction = now
	})
	return now, err
}
