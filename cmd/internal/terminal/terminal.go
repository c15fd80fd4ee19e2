// Package terminal runs command lines: it parses and executes them, maps errors to exit codes, and prints errors,
// tables and documents.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"

	"sightline/cmd/internal/sentence"
)

// Unanswered is the error of a valid question that could not be answered: exit code 1. Every
// other error is wrong usage or bad input: exit code 2.
type Unanswered struct{ Err error }

// Error returns the text of Err.
func (u Unanswered) Error() string { return u.Err.Error() }

// Unwrap returns Err.
func (u Unanswered) Unwrap() error { return u.Err }

// Named adds a command's name to its error; nil stays nil.
func Named(command string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", command, err)
	}
	return err
}

// Run parses and executes a command line and returns the exit code. newParser returns the parser, which calls exit
// after --help.
func Run(args []string, newParser func(exit func(code int)) *kong.Kong) int {
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
		fmt.Fprintln(os.Stderr, "sightline:", plainWords(OneLine(err))+commands(err))
		return 2
	}
	if err := ignored(k); err != nil {
		fmt.Fprintln(os.Stderr, "sightline:", OneLine(err))
		return 2
	}
	switch err := k.Run(); {
	case err == nil:
		return 0
	case errors.As(err, new(Unanswered)):
		fmt.Fprintln(os.Stderr, "sightline:", OneLine(err))
		return 1
	default:
		fmt.Fprintln(os.Stderr, "sightline:", OneLine(err))
		return 2
	}
}

// NewParser returns the parser of a struct of commands. It calls exit after --help.
func NewParser(commands any, exit func(code int)) *kong.Kong {
	parser, err := kong.New(commands,
		kong.Name("sightline"),
		kong.Description("A table camera assistant for the X-Wing Miniatures game."),
		kong.UsageOnError(),
		kong.Exit(exit),
		kong.BindToProvider(Interruptible),
	)
	if err != nil {
		panic("sightline: command line: " + err.Error())
	}
	return parser
}

// ignored returns an error for a flag that would have no effect: one with a single value given
// twice, one whose tag needs names a flag that is not given, and one whose tag without names a
// flag that is.
func ignored(k *kong.Context) error {
	given := map[string]int{}
	for _, p := range k.Path {
		if p.Flag != nil {
			given[p.Flag.Name]++
		}
	}
	for _, p := range k.Path {
		if p.Flag == nil {
			continue
		}
		needs, without := p.Flag.Tag.Get("needs"), p.Flag.Tag.Get("without")
		switch {
		case given[p.Flag.Name] > 1 && !p.Flag.IsBool() && !p.Flag.IsCumulative():
			return fmt.Errorf("--%s: expected once: only the last value would count", p.Flag.Name)
		case needs != "" && given[needs] == 0:
			return fmt.Errorf("--%s: expected --%s as well", p.Flag.Name, needs)
		case without != "" && given[without] > 0:
			return fmt.Errorf("--%s: expected without --%s, with which it has no effect", p.Flag.Name, without)
		}
	}
	return nil
}

// The command line library's words for a value of the wrong type, and for one that is not in a list.
var (
	wrongNumber = regexp.MustCompile(`expected an? (float|int|valid \d+ bit u?int) but got ("[^"]*")( \(\w+\))?`)
	wrongWord   = regexp.MustCompile(` must be one of ((?:"[^"]*",?)+) but got ("[^"]*")`)
)

// plainWords says in our words what the command line library says in a programmer's.
func plainWords(line string) string {
	line = wrongNumber.ReplaceAllStringFunc(line, func(s string) string {
		m := wrongNumber.FindStringSubmatch(s)
		if m[1] == "float" {
			return "expected a number, got " + m[2]
		}
		return "expected a whole number, got " + m[2]
	})
	return wrongWord.ReplaceAllStringFunc(line, func(s string) string {
		m := wrongWord.FindStringSubmatch(s)
		words := strings.FieldsFunc(m[1], func(r rune) bool { return r == '"' || r == ',' })
		return ": expected " + sentence.Or(words) + ", got " + m[2]
	})
}

// commands lists the commands after an unknown one.
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
	expected := ": expected one of "
	if strings.HasSuffix(err.Error(), "?") { // did you mean …?
		expected = " Expected one of "
	}
	return expected + strings.Join(names, ", ") + "; " + help + " --help says what they do"
}

// stopWithin is how long a command may take to stop after the first signal. The program's own
// limits are shorter. A second signal after this time ends it at once.
const stopWithin = 8 * time.Second

// Interruptible returns the context of commands that stop in an orderly way. It ends with
// SIGINT or SIGTERM, and with SIGHUP, which means that the terminal or its connection was closed,
// unless nohup ignores it. Signals end other commands immediately. A repeated signal does not cut
// the stop short, because stopping puts out the lamps.
func Interruptible() (context.Context, error) {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, func() { time.AfterFunc(stopWithin, stop) })
	return ctx, nil
}

// longestLine is the number of characters of an error that are printed: a file may have megabytes
// of text where a word is expected.
const longestLine = 2000

// OneLine returns an error as one line, whatever names it contains. No control character reaches
// the terminal.
func OneLine(err error) string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(err.Error(), "\uFFFD")), " ")
	if text := []rune(line); len(text) > longestLine {
		line = string(text[:longestLine-longestLine/4]) + " … " + string(text[len(text)-longestLine/4:])
	}
	return strings.Map(func(r rune) rune {
		if unprinted(r) {
			return '\uFFFD'
		}
		return r
	}, line)
}

// Plain returns a name from a file in a form that is safe for a terminal: unprintable characters
// are escaped as in Go, \x1b.
func Plain(s string) string {
	if !strings.ContainsFunc(s, unprinted) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unprinted(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unprinted(r rune) bool { return !unicode.IsPrint(r) }
