package squads

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"sightline/cmd/internal/sentence"
)

// Print writes a table for people.
func (r *Report) Print(out io.Writer) error {
	title := r.Faction + ", " + r.Edition + " edition"
	if r.Name != "" {
		title = r.Name + ": " + title
	}
	fmt.Fprintf(out, "%s\n", plain(title))
	acts := "INITIATIVE"
	if r.Edition == First.String() {
		acts = "SKILL"
	}
	var err error
	if len(r.Ships) > 0 {
		fmt.Fprintln(out)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintf(w, "PILOT\tSHIP\tBASE\t%s\tARCS\tDIAL\n", acts)
		for i := range r.Ships {
			s := &r.Ships[i]
			number := "–"
			if s.Initiative != nil {
				number = strconv.Itoa(*s.Initiative)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", plain(s.Pilot), plain(s.Ship), s.Base, number, strings.Join(s.Arcs, ", "),
				strings.Join(s.Dial, " "))
		}
		err = w.Flush()
	}
	if len(r.Unknown)+len(r.Notes) > 0 {
		fmt.Fprintln(out)
	}
	for _, id := range r.Unknown {
		fmt.Fprintf(out, "unknown: %s\n", plain(id))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(out, "note: %s\n", plain(n))
	}
	return err
}

// plain replaces control characters in a text of the file, so that the terminal does not execute
// them.
func plain(s string) string { return sentence.Printable(s, ' ') }
