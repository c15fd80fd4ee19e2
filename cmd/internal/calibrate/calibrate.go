// Package calibrate implements the calibration commands: lens, table (the camera's pose over the
// mat), quick (both from the mat alone), verify (with the printed card) and budget (the error
// budget).
package calibrate

// Cmd is the command calibrate.
type Cmd struct {
	Lens   lensCmd   `cmd:"" help:"Calibrate the lens from pictures of a chessboard or a ChArUco board."`
	Table  tableCmd  `cmd:"" help:"Find the camera's place over the mat from the mat's printed markers."`
	Quick  quickCmd  `cmd:"" help:"Estimate lens and place from the mat alone, without a chessboard: less exact, as the stated sigma says."`
	Verify verifyCmd `cmd:"" help:"Measure the printed check card and say how far off the calibration is."`
	Budget budgetCmd `cmd:"" help:"Print the error budget of a table calibration, term by term, and draw it over the mat."`
}
