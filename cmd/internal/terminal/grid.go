package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Grid is a text table: a title, and rows whose columns are as wide as their widest cell.
// Unlike a tab writer's it may have rows of free text.
type Grid struct {
	Rows []gridRow
}

type gridRow struct {
	cells []string
	free  bool // the last cell may be longer than its column
}

// Add appends a row.
func (g *Grid) Add(cells ...string) { g.Rows = append(g.Rows, gridRow{cells, false}) }

// Text appends words that start in a column and may extend over those to its right.
func (g *Grid) Text(column int, words string) {
	g.Rows = append(g.Rows, gridRow{append(make([]string, column), words), true})
}

// Print writes the table, its columns two spaces apart.
func (g *Grid) Print(w io.Writer) error {
	var widths []int
	for _, r := range g.Rows {
		for i, c := range r.cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if !r.free {
				widths[i] = max(widths[i], utf8.RuneCountInString(c))
			}
		}
	}
	for _, r := range g.Rows {
		line := ""
		for i, c := range r.cells {
			line += c + strings.Repeat(" ", 2+max(0, widths[i]-utf8.RuneCountInString(c)))
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}
