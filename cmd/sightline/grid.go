package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// grid is a table for people: a title, and rows whose columns are as wide as their
// widest cell. Unlike a tab writer's it may hold rows of free text between the others.
type grid struct {
	rows []gridRow
}

type gridRow struct {
	cells []string
	free  bool // the last cell may be longer than its column
}

// add appends a row.
func (g *grid) add(cells ...string) { g.rows = append(g.rows, gridRow{cells, false}) }

// text appends words that begin in a column and reach over those to the right of it.
func (g *grid) text(column int, words string) {
	g.rows = append(g.rows, gridRow{append(make([]string, column), words), true})
}

// print writes the table, its columns two spaces apart.
func (g *grid) print(w io.Writer) {
	var widths []int
	for _, r := range g.rows {
		for i, c := range r.cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if !r.free {
				widths[i] = max(widths[i], utf8.RuneCountInString(c))
			}
		}
	}
	for _, r := range g.rows {
		line := ""
		for i, c := range r.cells {
			line += c + strings.Repeat(" ", 2+max(0, widths[i]-utf8.RuneCountInString(c)))
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}
