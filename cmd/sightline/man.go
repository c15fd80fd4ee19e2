package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// manCmd prints the manual page, generated from the same source as --help.
type manCmd struct{}

// Run implements the command.
func (manCmd) Run(parser *kong.Kong) error { return writeMan(parser.Stdout, parser.Model) }

// writeMan writes the manual page of the command line in the macros of man(7).
func writeMan(out io.Writer, model *kong.Application) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, ".TH SIGHTLINE 1\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B sightline\n.I command\n[flags]\n.SH COMMANDS\n",
		model.Name, roff(model.Help))
	for _, leaf := range model.Leaves(true) {
		fmt.Fprintf(w, ".SS %s\n%s\n", roff(leaf.Summary()), roff(leaf.Help))
		for _, a := range leaf.Positional {
			fmt.Fprintf(w, ".TP\n.I %s\n%s\n", roff(a.Summary()), roff(a.Help))
		}
		for _, f := range leaf.Flags {
			name := f.Summary()
			if f.Short != 0 {
				name = fmt.Sprintf("-%c, %s", f.Short, name)
			}
			fmt.Fprintf(w, ".TP\n.B %s\n%s\n", roff(name), roff(f.Help))
		}
		if lines := examples[leaf.Path()]; len(lines) > 0 {
			fmt.Fprintf(w, ".PP\nExamples:\n.PP\n.EX\n%s\n.EE\n", roff(strings.Join(lines, "\n")))
		}
	}
	fmt.Fprint(w, ".SH EXIT STATUS\n0: answered; 1: valid, but could not be answered; 2: wrong usage or bad input.\n")
	return w.Flush()
}

// roff escapes text for troff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}
