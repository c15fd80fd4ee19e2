// Package coverage shows the progress of a lens calibration to the person who holds the board.
package coverage

import (
	"fmt"
	"io"
	"os"
	"strings"

	"sightline/calibration/lens"
)

// Picture draws the progress of a guided capture: the parts of the picture that boards have
// covered, and next to it the tilts, the distances and the lens's sigmas.
//
//	+----------------+  tilted    left yes, right yes, top no, bottom no
//	|██████░░░░      |  distance  near no, far yes
func Picture(s lens.GuideState) []string {
	// A cell with a whole row of corners is well covered.
	const well = 8
	grid := make([]string, 0, lens.GuideRows+2)
	edge := "+" + strings.Repeat("-", 2*lens.GuideCols) + "+"
	grid = append(grid, edge)
	for _, row := range s.Counts {
		var b strings.Builder
		for _, n := range row {
			switch {
			case n == 0:
				b.WriteString("  ")
			case n < well:
				b.WriteString("░░")
			default:
				b.WriteString("██")
			}
		}
		grid = append(grid, "|"+b.String()+"|")
	}
	grid = append(grid, edge)
	yes := func(b bool) string {
		if b {
			return "yes"
		}
		return "no"
	}
	beside := []string{
		fmt.Sprintf("views     %d", s.Views),
		fmt.Sprintf("covered   %.0f %% of the picture", 100*s.Covered),
		fmt.Sprintf("tilted    left %s, right %s, top %s, bottom %s", yes(s.Tilts[lens.Left]), yes(s.Tilts[lens.Right]), yes(s.Tilts[lens.Top]),
			yes(s.Tilts[lens.Bottom])),
		fmt.Sprintf("distance  near %s, far %s", yes(s.Near), yes(s.Far)),
	}
	if s.Sigma != nil {
		beside = append(beside,
			fmt.Sprintf("so far    fx ± %.1f, fy ± %.1f, cx ± %.1f, cy ± %.1f px", s.Sigma.Fx, s.Sigma.Fy, s.Sigma.Cx, s.Sigma.Cy),
			fmt.Sprintf("          a mat point ± %.2f mm, rms %.2f px", float64(s.Sigma.Mat), s.Sigma.RMS))
	}
	for i, line := range beside {
		grid[i+1] += "  " + line
	}
	return append(grid, "next: "+s.Advice)
}

// Report prints the progress of a capture. On a terminal it redraws the coverage picture in place;
// otherwise it prints a line for every view taken, and for every new reason why none is.
type Report struct {
	out   io.Writer
	place bool // out is a terminal: draw in place
	lines int  // of the present picture
	last  string
}

// NewReport returns a report for a terminal or any other output.
func NewReport(out io.Writer) *Report {
	r := &Report{out: out}
	if f, ok := out.(*os.File); ok && os.Getenv("TERM") != "dumb" {
		info, err := f.Stat()
		r.place = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return r
}

// Step reports the result of a frame.
func (r *Report) Step(name string, step lens.GuideStep, s lens.GuideState) {
	now := step.Reason
	if step.Outcome == lens.GuideTaken {
		now = fmt.Sprintf("view %d taken: it adds %s", s.Views, step.Added)
	}
	if r.place {
		r.draw(append(Picture(s), "now:  "+now))
		return
	}
	switch {
	case step.Outcome == lens.GuideTaken:
		fmt.Fprintf(r.out, "%s: %s; next: %s\n", name, now, s.Advice)
	case step.Outcome == lens.GuideMoving, step.Outcome == lens.GuideNothingNew, now == r.last:
		return // between two views; the advice has been given
	default:
		fmt.Fprintf(r.out, "%s: %s\n", name, now)
	}
	r.last = now
}

// draw replaces the present lines. It cuts lines too long for the terminal, which would wrap.
func (r *Report) draw(lines []string) {
	const width = 79
	var b strings.Builder
	if r.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", r.lines)
	}
	r.lines = 0
	for _, line := range lines {
		for _, part := range wrapped(line, width) {
			b.WriteString("\x1b[2K" + part + "\n")
			r.lines++
		}
	}
	b.WriteString("\x1b[J")
	_, _ = io.WriteString(r.out, b.String())
}

// wrapped breaks a line at spaces and indents the rest.
func wrapped(line string, width int) (out []string) {
	for {
		runes := []rune(line)
		if len(runes) <= width {
			return append(out, line)
		}
		at := width
		for at > width/2 && runes[at] != ' ' {
			at--
		}
		out = append(out, string(runes[:at]))
		line = "      " + strings.TrimLeft(string(runes[at:]), " ")
	}
}
