package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"sightline/cmd/internal/rulings"
	"sightline/cmd/internal/sentence"
)

// Print lists the games of a record, the newest first. It lists all readable games before it
// returns the error of a damaged one.
func Print(ctx context.Context, out io.Writer, log *rulings.Log) error {
	games, err := log.Games(ctx)
	if err != nil {
		return err
	}
	if len(games) == 0 {
		_, err := fmt.Fprintln(out, "no games")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "GAME\tBEGAN\tPLAYERS\tEDITION\tSCORE\tROUND\tEVENTS\t")
	var damaged error
	for _, id := range games {
		events, err := Load(ctx, log, id)
		damaged = cmp.Or(damaged, err)
		g, ok := listed(id, events)
		if !ok {
			fmt.Fprintf(w, "%d\t\tnot readable\t\t\t\t\t\n", id)
			continue
		}
		why := ""
		if g.Ended {
			why = strings.TrimSuffix("over: "+printable(g.Why), ": ")
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d to %d\t%d\t%d\t%s\n", id, g.At.Local().Format("2006-01-02 15:04"), printable(g.Title), g.Rules,
			g.Score[0], g.Score[1], g.Round, g.Events, why)
	}
	return cmp.Or(w.Flush(), damaged)
}

// printable removes control characters from what people wrote.
func printable(s string) string { return sentence.Printable(s, -1) }

// ExportFrom returns a game of a record in one of [Forms]; id 0 is the newest.
func ExportFrom(ctx context.Context, log *rulings.Log, id int64, form string) ([]byte, error) {
	if id == 0 {
		games, err := log.Games(ctx)
		if err != nil {
			return nil, err
		}
		if len(games) == 0 {
			return nil, errors.New("the record has no game: play one on the page /game")
		}
		id = games[0]
	}
	events, err := Load(ctx, log, id)
	if err != nil {
		return nil, err
	}
	data, _, err := Export(id, events, form)
	return data, err
}
