// Command shiptable generates the table of ships in the program.
//
//	go run ./cmd/internal/squads/shiptable -from ../xwing-data2 -source "xwing-data2 0c19f62" -o cmd/internal/squads/data/second-edition.json
//
// -from is a clone of xwing-data2, or a file with the same facts. The same facts give the same
// bytes, sorted and one ship on a line, so that a diff shows what is new.
package main

import (
	"flag"
	"fmt"
	"os"

	"sightline/cmd/internal/squads"
)

func main() {
	from := flag.String("from", "", "a clone of xwing-data2, or a file with a table")
	source := flag.String("source", "", "what the facts come from, for the table's first line")
	out := flag.String("o", "", "the file to write")
	flag.Parse()
	if err := write(*from, *source, *out); err != nil {
		fmt.Fprintln(os.Stderr, "shiptable:", err)
		os.Exit(2)
	}
}

func write(from, source, out string) error {
	if from == "" || out == "" || flag.NArg() > 0 {
		return fmt.Errorf("expected -from and -o")
	}
	t, err := squads.Read(from)
	if err != nil {
		return err
	}
	if source != "" {
		t.Source = source
	}
	data, err := t.Write()
	if err != nil {
		return err
	}
	return os.WriteFile(out, data, 0o644)
}
