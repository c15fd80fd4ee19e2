package hardware

import (
	"fmt"
	"image"
	"image/draw"
	"strings"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/inconsolata"
	"golang.org/x/image/math/fixed"
	"periph.io/x/devices/v3/ssd1306/image1bit"

	"sightline/engine"
)

// Size of the display in dots.
const (
	DisplayWidth  = 128
	DisplayHeight = 64
)

// Text is 8×16 dots, the smallest that is legible at arm's length on a display 22 mm wide: sixteen
// columns, four lines.
const (
	textWidth  = 8
	lineHeight = 16
	columns    = DisplayWidth / textWidth
)

// Draw draws the state as the display shows it. It is a pure function: the same
// state gives the same dots, on the table and on the page.
//
//	+----------------+
//	|A1→B1 front   IN|   the pair; the arc and whether the target is in it
//	| ##   147.3 mm  |   the range, as large as it will go; the distance
//	| ##   ±0.21     |   its standard deviation
//	| ##   obst. ?   |   obstruction, or that the rules forbid the attack
//	+----------------+
func Draw(s State) *image1bit.VerticalLSB {
	img := image1bit.NewVerticalLSB(image.Rect(0, 0, DisplayWidth, DisplayHeight))
	switch {
	case drawScreen(img, s):
	case s.Blind && !s.Chosen():
		drawMessage(img, "No view", s.Reason)
	case !s.Chosen() && s.Turn != "":
		head, next, _ := strings.Cut(s.Turn, ": ")
		drawMessage(img, head, next)
	case !s.Chosen():
		drawMessage(img, "Choose a pair", s.Reason)
	case s.Withheld:
		drawMessage(img, "Not now "+s.Pair(), s.Reason)
		drawTurn(img, s.Turn)
	case !s.Answered():
		drawMessage(img, "No answer "+s.Pair(), s.Reason)
		drawTurn(img, s.Turn)
	default:
		drawAnswer(img, s)
	}
	return img
}

// drawMessage draws a heading on an inverted bar, with up to three lines below.
func drawMessage(img *image1bit.VerticalLSB, heading, text string) {
	bar := image.Rect(0, 0, DisplayWidth, lineHeight)
	draw.Draw(img, bar, image.NewUniform(image1bit.On), image.Point{}, draw.Src)
	drawText(img, 0, 0, clip(heading, columns), image1bit.Off)
	for i, line := range wrap(text, columns, 3) {
		drawText(img, 0, (i+1)*lineHeight, line, image1bit.On)
	}
}

// drawTurn draws whose turn it is on the last line.
func drawTurn(img *image1bit.VerticalLSB, turn string) {
	if turn == "" {
		return
	}
	low := image.Rect(0, 3*lineHeight, DisplayWidth, DisplayHeight)
	draw.Draw(img, low, image.NewUniform(image1bit.Off), image.Point{}, draw.Src)
	drawText(img, 0, low.Min.Y, clip(turnLine(turn), columns), image1bit.On)
}

// turnLine shortens whose turn it is to one line, from "R3 Activation: B2 next" to "R3 B2 next".
// The next ship matters more than the phase.
func turnLine(turn string) string {
	head, next, found := strings.Cut(turn, ": ")
	round, _, _ := strings.Cut(head, " ")
	next = strings.ReplaceAll(next, " or ", "/")
	if !found || utf8.RuneCountInString(turn) <= columns {
		return turn
	}
	if short := round + " " + next; utf8.RuneCountInString(short) <= columns {
		return short
	}
	return next
}

func drawAnswer(img *image1bit.VerticalLSB, s State) {
	drawHeading(img, s)
	left := drawBand(img, s)
	room := (DisplayWidth - left) / textWidth
	lines := []string{
		fmt.Sprintf("%.1f mm", s.DistanceMM),
		fmt.Sprintf("±%.2f mm", s.SigmaMM),
		obstructionText(s),
	}
	for i, line := range lines {
		drawText(img, left, (i+1)*lineHeight, clip(line, room), image1bit.On)
	}
	if s.NoAttack == "" {
		return
	}
	bar, text := image.Rect(left, 3*lineHeight, DisplayWidth, DisplayHeight), "no attack"
	if s.NoAttackOpen {
		text = "attack ?"
	}
	draw.Draw(img, bar, image.NewUniform(image1bit.On), image.Point{}, draw.Src)
	drawText(img, left, bar.Min.Y, clip(text, room), image1bit.Off)
}

// arcText says whether the target is in the arc, in at most room columns.
func arcText(s State, room int) string {
	if s.Arc == "" || s.InArc == engine.NoView {
		return ""
	}
	word := map[engine.Outcome]string{engine.Yes: "in", engine.No: "out", engine.Indeterminate: "?"}[s.InArc]
	arc := strings.ReplaceAll(s.Arc, "_", " ")
	if n := max(1, room-len(word)-1); utf8.RuneCountInString(arc) > n {
		arc = clip(arc, n-1) + "."
	}
	return arc + " " + word
}

// obstructionText states the obstruction in ten columns.
func obstructionText(s State) string {
	switch {
	case s.AttackerChooses:
		return "choose ln"
	case s.Obstructed == engine.Yes:
		return "obstruct."
	case s.Obstructed == engine.No:
		return "clear"
	case s.Obstructed == engine.Indeterminate:
		return "obstr. ?"
	}
	return "rocks n/a" // not watched: never "clear" for what no one looks at
}

// drawBand draws the range as large as it fits and returns the first free column of dots to its
// right.
func drawBand(img *image1bit.VerticalLSB, s State) int {
	const top = lineHeight + 1
	if s.Range == engine.Yes && s.Band <= 3 {
		drawLarge(img, image.Rect(0, top, 44, DisplayHeight), BandText(s.Band), 2)
		return 48
	}
	const width = 52
	word := image.Rect(0, DisplayHeight-lineHeight, width, DisplayHeight)
	if s.Range == engine.Yes {
		drawLarge(img, image.Rect(0, top, width, word.Min.Y), BandText(s.Band), 1)
		drawText(img, 2, word.Min.Y, "beyond", image1bit.On)
		return width + 4
	}
	var bands []string
	for _, b := range s.Possible {
		bands = append(bands, BandText(b))
	}
	text := "?"
	if len(bands) > 0 {
		text = strings.Join(bands, "/")
	}
	// Undecided must not look decided: smaller digits over a word on a bar.
	drawLarge(img, image.Rect(0, top, width, word.Min.Y), text, 1)
	draw.Draw(img, word, image.NewUniform(image1bit.On), image.Point{}, draw.Src)
	drawText(img, 2, word.Min.Y, "either", image1bit.Off)
	return width + 4
}

// drawLarge draws text in the middle of a box, doubled in size up to a number of times.
func drawLarge(img *image1bit.VerticalLSB, box image.Rectangle, text string, doublings int) {
	text = strings.ReplaceAll(text, "0", "O") // the font's slashed zero is hard to read this large
	small := image1bit.NewVerticalLSB(image.Rect(0, 0, textWidth*utf8.RuneCountInString(text), lineHeight))
	drawText(small, 0, 0, text, image1bit.On)
	for range doublings {
		small = doubled(small)
	}
	ink := inked(small)
	at := image.Pt(box.Min.X+(box.Dx()-ink.Dx())/2, box.Min.Y+(box.Dy()-ink.Dy())/2)
	draw.Draw(img, image.Rectangle{Min: at, Max: at.Add(ink.Size())}.Intersect(box), small, ink.Min, draw.Src)
}

// doubled returns the picture at twice its size with its stairs smoothed by the
// rule known as Scale2x: a corner dot takes the colour of its two neighbours where
// these agree and the opposite ones differ.
func doubled(src *image1bit.VerticalLSB) *image1bit.VerticalLSB {
	b := src.Bounds()
	dst := image1bit.NewVerticalLSB(image.Rect(0, 0, 2*b.Dx(), 2*b.Dy()))
	at := func(x, y int) image1bit.Bit {
		return image1bit.Bit((image.Point{X: x, Y: y}).In(b)) && src.BitAt(x, y)
	}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			p, up, down, left, right := at(x, y), at(x, y-1), at(x, y+1), at(x-1, y), at(x+1, y)
			corner := func(a, b, opposite1, opposite2 image1bit.Bit) image1bit.Bit {
				if a == b && a != opposite1 && b != opposite2 {
					return a
				}
				return p
			}
			dst.SetBit(2*x, 2*y, corner(left, up, right, down))
			dst.SetBit(2*x+1, 2*y, corner(up, right, down, left))
			dst.SetBit(2*x, 2*y+1, corner(down, left, up, right))
			dst.SetBit(2*x+1, 2*y+1, corner(right, down, left, up))
		}
	}
	return dst
}

// inked returns the smallest box that contains all lit dots.
func inked(img *image1bit.VerticalLSB) (box image.Rectangle) {
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if img.BitAt(x, y) {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

// drawText draws 8×16 text with its top left corner at (x, y), including the arrow, which the font
// lacks.
func drawText(img *image1bit.VerticalLSB, x, y int, text string, c image1bit.Bit) {
	d := font.Drawer{Dst: img, Src: image.NewUniform(c), Face: inconsolata.Bold8x16}
	for _, r := range text {
		if r == '→' {
			drawArrow(img, x, y, c)
		} else {
			d.Dot = fixed.P(x, y+inconsolata.Bold8x16.Ascent)
			d.DrawString(string(r))
		}
		x += textWidth
	}
}

func drawArrow(img *image1bit.VerticalLSB, x, y int, c image1bit.Bit) {
	for i := range 7 {
		img.SetBit(x+i, y+7, c)
		img.SetBit(x+i, y+8, c)
	}
	for i := range 4 {
		img.SetBit(x+7-i, y+7-i, c)
		img.SetBit(x+6-i, y+7-i, c)
		img.SetBit(x+7-i, y+8+i, c)
		img.SetBit(x+6-i, y+8+i, c)
	}
}

// clip cuts text to n columns.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) > max(n, 0) {
		r = r[:max(n, 0)]
	}
	return string(r)
}

// wrap breaks text at spaces into at most n lines of the width; what does not fit is cut.
func wrap(text string, width, n int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		for utf8.RuneCountInString(word) > width { // a path without spaces
			if line != "" {
				lines, line = append(lines, line), ""
			}
			head := clip(word, width)
			lines, word = append(lines, head), word[len(head):]
		}
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines[:min(n, len(lines))]
}
