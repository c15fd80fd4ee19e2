package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"sightline/cmd/internal/rulings"
	"sightline/cmd/internal/terminal"
)

// replayCmd computes a ruling again.
type replayCmd struct {
	rulingsLog `embed:""`
	Entry      int64 `arg:"" help:"The entry's number."`
	JSON       bool  `name:"json" help:"Print one JSON document."`
}

// Run implements the command.
func (c *replayCmd) Run(ctx context.Context) error {
	return terminal.Named("replay", terminal.Progress(ctx, func(ctx context.Context, out, _ io.Writer) error {
		return c.replay(ctx, out)
	}))
}

func (c *replayCmd) replay(ctx context.Context, out io.Writer) error {
	if c.Entry < 1 {
		return fmt.Errorf("entry: expected a number from 1, got %d", c.Entry)
	}
	l, err := c.open()
	if err != nil {
		return err
	}
	defer l.Close()
	e, err := l.Entry(ctx, c.Entry)
	if errors.Is(err, rulings.ErrNoEntry) { // 1 would say that the answer differs
		head, err := l.Head(ctx)
		if err != nil {
			return terminal.Unanswered{Err: err}
		}
		if head.Number == 0 {
			return fmt.Errorf("no entry %d; the log has none", c.Entry)
		}
		return fmt.Errorf("no entry %d; the log has 1 to %d", c.Entry, head.Number)
	}
	if err != nil {
		return terminal.Unanswered{Err: err}
	}
	r, err := l.Replay(ctx, c.Entry, version)
	if err != nil {
		return terminal.Unanswered{Err: err}
	}
	if c.JSON {
		err = printJSON(out, struct {
			Version int  `json:"version"`
			Same    bool `json:"same"`
			rulings.Replayed
		}{1, r.Same(), r})
	} else {
		err = printReplay(out, &e, &r)
	}
	if err != nil {
		return err
	}
	if !r.Same() {
		return terminal.Unanswered{Err: fmt.Errorf("entry %d: %s", c.Entry, verdictOn(&r))}
	}
	return nil
}

// verdictOn says in one line how a replay ended.
func verdictOn(r *rulings.Replayed) string {
	var bad []string
	if len(r.Chain) > 0 {
		bad = append(bad, "the record was changed")
	}
	switch r.Engine.State {
	case rulings.Differs:
		bad = append(bad, "the engine would answer otherwise today")
	case rulings.Refigured:
		bad = append(bad, "the engine answers the same today, with other figures")
	case rulings.Failed:
		bad = append(bad, "the engine has no answer today")
	}
	switch r.Picture.State {
	case rulings.Differs:
		bad = append(bad, "the stored picture gives another answer")
	case rulings.Failed:
		bad = append(bad, "the stored picture gives no answer")
	}
	if len(bad) == 0 {
		return "the same today"
	}
	return strings.Join(bad, "; ")
}

func printReplay(out io.Writer, e *rulings.Entry, r *rulings.Replayed) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "entry %d", r.Number)
	if !e.At.IsZero() {
		fmt.Fprintf(w, ", %s, recorded by %s, replayed by %s", e.At.Local().Format("2006-01-02 15:04:05"), printable(r.Program),
			printable(r.Here))
	}
	fmt.Fprintf(w, "\n%s\n\n", printable(cmp.Or(e.Title, e.Text)))
	printEngine(w, &r.Engine)
	printRelook(w, &r.Picture)
	if len(r.Chain) == 0 {
		fmt.Fprintln(w, "record   unchanged: the chain and the entry's files fit their hashes")
	}
	for _, f := range r.Chain {
		fmt.Fprintln(w, "record   CHANGED", printable(f.String()))
	}
	fmt.Fprintf(w, "\n%s\n", verdictOn(r))
	return w.Flush()
}

func printEngine(w io.Writer, r *rulings.Recount) {
	switch r.State {
	case rulings.Exact:
		fmt.Fprintln(w, "engine   the recorded verdict, to the last digit")
	case rulings.Rounded:
		fmt.Fprintf(w, "engine   the recorded verdict within rounding (%s)\n", r.Why)
	case rulings.NothingMeasured:
		fmt.Fprintf(w, "engine   nothing to compare: the judge ruled without a measurement (%s)\n", printable(r.Why))
	case rulings.Failed:
		fmt.Fprintf(w, "engine   NO ANSWER: %s\n", printable(r.Why))
	case rulings.Differs:
		fmt.Fprintln(w, "engine   DIFFERS:")
		printDifferences(w, r.Differences)
	case rulings.Refigured:
		fmt.Fprintln(w, "engine   the recorded answers, with other figures:")
		printDifferences(w, r.Differences)
	}
}

func printDifferences(w io.Writer, all []rulings.Difference) {
	for _, d := range all {
		fmt.Fprintf(w, "           %s: recorded %s, now %s\n", printable(d.Key), printable(d.Recorded), printable(d.Now))
	}
}

func printRelook(w io.Writer, r *rulings.Relook) {
	switch r.State {
	case rulings.Alike:
		fmt.Fprintln(w, "picture  the same answers")
		if r.Why != "" {
			fmt.Fprintf(w, "           %s\n", printable(r.Why))
		}
	case rulings.NoPicture:
		fmt.Fprintln(w, "picture  none was kept")
	case rulings.Pruned:
		fmt.Fprintln(w, "picture  removed for its age")
	case rulings.NothingMeasured:
		fmt.Fprintln(w, "picture  nothing to compare: the judge ruled without a measurement")
	case rulings.Failed:
		fmt.Fprintf(w, "picture  NO ANSWER: %s\n", printable(r.Why))
	case rulings.Differs:
		fmt.Fprintf(w, "picture  DIFFERS: %s\n", printable(r.Why))
		printDifferences(w, r.Answers)
	}
	if len(r.Others) > 0 {
		fmt.Fprintln(w, "         in arcs that were not chosen:")
		printDifferences(w, r.Others)
	}
	if r.Worst() >= 0.05 && r.State != rulings.NothingMeasured {
		fmt.Fprintln(w, "           (recorded was the mean of the pictures up to this one: some tenths of a sigma are to be expected)")
	}
	if d := r.Distance; d != nil {
		fmt.Fprintf(w, "           the distance is %.2f mm from the recorded one (%.1f sigmas)\n", d.By, d.Sigmas)
	}
	for _, s := range r.Ships {
		fmt.Fprintf(w, "           %s lies %.2f mm and %.2f° from where it was recorded (%.1f sigmas)\n", printable(s.ID), s.By, s.Turned,
			s.Sigmas)
	}
	for _, s := range r.Rocks {
		fmt.Fprintf(w, "           %s lies %.2f mm from where it was recorded (%.1f sigmas)\n", printable(s.ID), s.By, s.Sigmas)
	}
	if len(r.Absent) > 0 {
		fmt.Fprintf(w, "           recorded, but not found in this one picture: %s\n", printable(strings.Join(r.Absent, ", ")))
	}
	if len(r.Extra) > 0 {
		fmt.Fprintf(w, "           found, but not recorded (it did not stand, say): %s\n", printable(strings.Join(r.Extra, ", ")))
	}
}
