package calibration

import "sightline/engine/geom"

// BoardView is one picture of a board.
type BoardView struct {
	Name   string       // of the picture
	Pixels []geom.Pixel // of the board's Points, in their order
}
