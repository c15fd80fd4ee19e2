// Command sightline watches an X-Wing table through a camera and answers range, arc and obstruction
// questions, with their uncertainty.
package main

import (
	"os"

	"github.com/alecthomas/kong"

	"sightline/cmd/internal/calibrate"
	"sightline/cmd/internal/terminal"
)

// cli is the command line; each command is in the file of its name.
type cli struct {
	Run       runCmd        `cmd:"" help:"Watch the table through a camera; serve the pages, lamps and display."`
	Measure   measureCmd    `cmd:"" help:"Measure ranges and arcs in a scene file."`
	Move      moveCmd       `cmd:"" help:"Say where a maneuver, an action or a drop ends, and what it meets."`
	Flown     flownCmd      `cmd:"" help:"Say what a ship has flown between two scenes."`
	Check     checkCmd      `cmd:"" help:"Say whether the table is set up legally, and who controls a scenario's objectives."`
	Draw      drawCmd       `cmd:"" help:"Draw a scene from above, as SVG."`
	Locate    locateCmd     `cmd:"" help:"Find ships in pictures, and obstacles if you name a catalogue."`
	Calibrate calibrate.Cmd `cmd:"" help:"Calibrate the lens or the camera's place over the mat."`
	Obstacles obstaclesCmd  `cmd:"" help:"Learn the empty mat and your obstacles, so that the camera finds them."`
	Looks     looksCmd      `cmd:"" help:"Learn how stock ships' cards look, so that the camera finds them."`
	Print     printCmd      `cmd:"" help:"Make the sheets to print: ship tokens, mat markers, boards for the lens, check card."`
	Squads    squadsCmd     `cmd:"" help:"Read squads as squad builders export them."`
	Game      gameCmd       `cmd:"" help:"List and export the games of the record."`
	Games     gameListCmd   `cmd:"" hidden:"" help:"The earlier name of game list."`
	Hall      hallCmd       `cmd:"" help:"Bring the tables of an event together on one page; invite tables."`
	Doctor    doctorCmd     `cmd:"" help:"Test the box (panel, camera, calibration, board), put out its lights, draw its wiring."`
	SetUp     setupBoardCmd `cmd:"" name:"setup-board" help:"Prepare a Raspberry Pi for the panel: config.txt and the I2C bus."`
	Secret    secretCmd     `cmd:"" name:"judge-secret" help:"Print the judge's secret, to type on the page."`
	Replay    replayCmd     `cmd:"" help:"Compute a ruling again, from its scene and its picture, and say whether it would differ today."`
	Rulings   rulingsCmd    `cmd:"" help:"List, check and export the judges' rulings."`
	Version   versionCmd    `cmd:"" help:"Print the version."`

	Record     recordCmd     `cmd:"" help:"Record pictures of a table, with what was located in them."`
	Man        manCmd        `cmd:"" help:"Print the manual page."`
	Completion completionCmd `cmd:"" help:"Print completions of commands and flags for bash, zsh or fish."`
}

func main() { os.Exit(run(os.Args[1:])) }

// run executes a command line and returns the exit code.
func run(args []string) int { return terminal.Run(args, newParser) }

// newParser returns the parser of the command line, which calls exit after --help.
func newParser(exit func(code int)) *kong.Kong {
	parser := terminal.NewParser(new(cli), exit)
	addExamples(parser.Model)
	return parser
}
