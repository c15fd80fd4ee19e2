// Command sightline watches an X-Wing table through a camera and answers ranges,
// arcs and obstruction, with how sure it is.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
)

// cli is the whole command line; each command lives in the file of its name.
type cli struct {
	Run       runCmd        `cmd:"" help:"Watch the table: camera in, page, lamps and display out."`
	Measure   measureCmd    `cmd:"" help:"Measure ranges and arcs in a scene file."`
	Move      moveCmd       `cmd:"" help:"Say where a maneuver, an action or a drop ends, and what it meets."`
	Flown     flownCmd      `cmd:"" help:"Say what a ship has flown between two scenes."`
	Check     checkCmd      `cmd:"" help:"Say whether the table is set up legally, and who controls a scenario's objectives."`
	Draw      drawCmd       `cmd:"" help:"Draw a scene from above, as SVG."`
	Locate    locateCmd     `cmd:"" help:"Find the ships, and the obstacles if you name a catalogue, in pictures."`
	Calibrate calibrateCmd  `cmd:"" help:"Calibrate the lens or the camera's place over the mat."`
	Obstacles obstaclesCmd  `cmd:"" help:"Learn the empty mat and your obstacles, so that the camera finds them."`
	Looks     looksCmd      `cmd:"" help:"Learn how ships' cards look, so that ships without our tokens are found."`
	Print     printCmd      `cmd:"" help:"Make the sheets to print: ship tokens, mat markers, boards for the lens, check card."`
	Squads    squadsCmd     `cmd:"" help:"Read squads as squad builders export them."`
	Game      gameCmd       `cmd:"" help:"Export a game of the record."`
	Games     gamesCmd      `cmd:"" help:"List the games of the record."`
	Doctor    doctorCmd     `cmd:"" help:"Test the box: panel, camera, calibration, board; put its lights out; draw its wiring."`
	SetUp     setupBoardCmd `cmd:"" name:"setup-board" help:"Prepare a Raspberry Pi for the panel: config.txt and the I2C bus."`
	Secret    secretCmd     `cmd:"" name:"judge-secret" help:"Print the judge's secret, to type on the page."`
	Replay    replayCmd     `cmd:"" help:"Compute a ruling again, from its scene and its picture, and say whether it would differ today."`
	Rulings   rulingsCmd    `cmd:"" help:"List, check and export the judges' rulings."`
	Version   versionCmd    `cmd:"" help:"Print the version."`

	Record     recordCmd                 `cmd:"" help:"Record pictures of a table, with what was located in them."`
	Man        manCmd                    `cmd:"" help:"Print the manual page."`
	Completion kongcompletion.Completion `cmd:"" help:"Print what completes commands and flags in bash, zsh or fish."`
}

// unanswered is a question asked rightly that could not be answered: exit 1.
// Every other error is wrong usage or bad input: exit 2.
type unanswered struct{ error }

func (u unanswered) Unwrap() error { return u.error }

func main() { os.Exit(run(os.Args[1:])) }

// run parses and executes a command line and returns the exit code.
func run(args []string) int {
	if len(args) == 1 && args[0] == "--version" {
		args = []string{"version"}
	}
	if len(args) == 0 || args[0] == "help" {
		args = append(append([]string{}, args[min(1, len(args)):]...), "--help")
	}
	for i, a := range args[:max(0, len(args)-1)] { // a negative number is a value, which the command refuses in its own words
		if n := args[i+1]; a == "--sigmas" && len(n) > 1 && n[0] == '-' && strings.ContainsRune("0123456789.", rune(n[1])) {
			args = slices.Concat(args[:i], []string{a + "=" + n}, args[i+2:])
			break
		}
	}
	exited := -1
	parser := newParser(func(code int) { exited = code })
	if kongcompletion.Register(parser); exited >= 0 { // the shell asked how to complete a line
		return exited
	}
	k, err := parser.Parse(args)
	if exited >= 0 { // --help was printed
		return exited
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sightline:", oneLine(err)+commands(err))
		return 2
	}
	switch err := k.Run(); {
	case err == nil:
		return 0
	case errors.As(err, new(unanswered)):
		fmt.Fprintln(os.Stderr, "sightline:", oneLine(err))
		return 1
	default:
		fmt.Fprintln(os.Stderr, "sightline:", oneLine(err))
		return 2
	}
}

// newParser returns the parser of the command line, which calls exit after --help.
func newParser(exit func(code int)) *kong.Kong {
	parser, err := kong.New(new(cli),
		kong.Name("sightline"),
		kong.Description("A table camera assistant for the X-Wing Miniatures game."),
		kong.UsageOnError(),
		kong.Exit(exit),
		kong.BindToProvider(interruptible),
	)
	if err != nil {
		panic("sightline: command line: " + err.Error())
	}
	addExamples(parser.Model)
	return parser
}

// commands says which commands there are after a word that is none of them.
func commands(err error) string {
	var wrong *kong.ParseError
	if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), "unexpected argument ") {
		return ""
	}
	node, help := wrong.Context.Model.Node, "sightline"
	if s := wrong.Context.Selected(); s != nil {
		node, help = s, help+" "+s.Path()
	}
	var names []string
	for _, c := range node.Children {
		names = append(names, c.Name)
	}
	if len(names) == 0 {
		return "; " + help + " --help says what is expected"
	}
	return ": expected one of " + strings.Join(names, ", ") + "; " + help + " --help says what they do"
}

// stopWithin is how long a command may take to stop after the first signal. The
// program's own limits are shorter; a second signal after this ends it at once.
const stopWithin = 8 * time.Second

// interruptible returns the context of the commands that stop in an orderly way:
// it ends with SIGINT or SIGTERM. Commands that do not ask for it are ended by the
// signal itself. A signal that is repeated in haste does not cut the stop short,
// since that is what leaves the lamps dark.
func interruptible() (context.Context, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(stopWithin, stop) })
	return ctx, nil
}

// oneLine keeps an error to the one line that the contract promises, whatever the
// names in it: no control character reaches the terminal.
func oneLine(err error) string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(err.Error(), "\uFFFD")), " ")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, line)
}
