package hardware

import (
	"fmt"
	"image"
	"image/draw"
	"strings"
	"unicode/utf8"

	"periph.io/x/devices/v3/ssd1306/image1bit"
	"rsc.io/qr"

	"sightline/engine"
)

// ScreenKind is a kind of screen.
type ScreenKind int8

// The kinds. The zero value is the answer.
const (
	ScreenAnswer  ScreenKind = iota // Page is its page
	ScreenList                      // Title, Items, Selected
	ScreenMessage                   // Title, Text
	ScreenAddress                   // Address as text and as a QR code, Code
)

// Screen is what the display shows, as plain values.
type Screen struct {
	Kind     ScreenKind
	Page     int // of the answer, from 0
	Title    string
	Text     string
	Items    []string
	Selected int
	Address  string // "http://192.168.178.25:8080/"
	Code     string // pairing code; "" for none
}

// answerPages is the number of an answer's pages: the range, and its reasons.
const answerPages = 2

// listLines is the number of visible entries of a list.
const listLines = DisplayHeight/lineHeight - 1

// drawScreen draws a screen other than the first page of the answer. It reports false for that
// page.
func drawScreen(img *image1bit.VerticalLSB, s State) bool {
	switch {
	case s.Screen.Kind == ScreenList:
		drawList(img, s.Screen)
	case s.Screen.Kind == ScreenMessage:
		drawMessage(img, s.Screen.Title, s.Screen.Text)
	case s.Screen.Kind == ScreenAddress:
		drawAddress(img, s.Screen)
	case s.Screen.Page == 1 && s.Answered():
		drawWhy(img, s)
	default:
		return false
	}
	return true
}

// drawList draws a heading and the entries around the selected one, which is inverted. Arrows show
// that there is more.
func drawList(img *image1bit.VerticalLSB, s Screen) {
	heading := clip(s.Title, columns-4)
	drawText(img, 0, 0, heading, image1bit.On)
	count := fmt.Sprintf("%d/%d", s.Selected+1, len(s.Items))
	drawText(img, DisplayWidth-textWidth*len(count), 0, count, image1bit.On)
	for x := range DisplayWidth {
		img.SetBit(x, lineHeight-1, image1bit.On)
	}
	first := max(0, min(s.Selected-listLines/2, len(s.Items)-listLines))
	for i := range min(listLines, len(s.Items)-first) {
		y, c := (i+1)*lineHeight, image1bit.On
		if first+i == s.Selected {
			draw.Draw(img, image.Rect(0, y, DisplayWidth, y+lineHeight), image.NewUniform(image1bit.On), image.Point{}, draw.Src)
			c = image1bit.Off
		}
		drawText(img, textWidth/2, y, clip(s.Items[first+i], columns-1), c)
	}
}

// drawWhy draws what an answer rests on:
//
//	+----------------+
//	|A1→B1 front   IN|
//	|edge    13.4 mm |   from what would change the range
//	|arc edge 18.1 mm|   from the arc's edge
//	|rock1           |   what obstructs
//	+----------------+
func drawWhy(img *image1bit.VerticalLSB, s State) {
	drawHeading(img, s)
	lines := []string{fmt.Sprintf("edge %8.1f mm", s.MarginMM), "", "rocks unwatched"}
	if s.Arc != "" && s.InArc != engine.NoView {
		lines[1] = fmt.Sprintf("arc  %+8.1f mm", s.ArcMarginMM)
	}
	switch {
	case s.ObstructedBy != "":
		lines[2] = "by " + s.ObstructedBy
	case s.Obstructed == engine.No:
		lines[2] = "line is clear"
	case s.Obstructed == engine.Indeterminate || s.Obstructed == engine.Yes:
		lines[2] = "rock on the line"
	}
	if s.Reason != "" {
		lines[2] = s.Reason
	}
	if s.NoAttack != "" { // the reason, instead of arc and obstruction
		lines = append([]string{}, wrap(upperFirst(s.NoAttack), columns, DisplayHeight/lineHeight-1)...)
	}
	for i, line := range lines {
		drawText(img, 0, (i+1)*lineHeight, clip(line, columns), image1bit.On)
	}
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// drawHeading draws the pair, the arc and whether the target is in it. It inverts the heading of a
// frozen answer.
func drawHeading(img *image1bit.VerticalLSB, s State) {
	c := image1bit.On
	if s.Frozen {
		draw.Draw(img, image.Rect(0, 0, DisplayWidth, lineHeight), image.NewUniform(image1bit.On), image.Point{}, draw.Src)
		c = image1bit.Off
	}
	drawText(img, 0, 0, s.Pair(), c)
	right := arcText(s, columns-utf8.RuneCountInString(s.Pair())-1)
	if s.Frozen {
		right = clip("FROZEN", columns-utf8.RuneCountInString(s.Pair())-1)
	}
	drawText(img, DisplayWidth-textWidth*utf8.RuneCountInString(right), 0, right, c)
}

// drawAddress draws the page's address for people, and for a phone as a QR code.
func drawAddress(img *image1bit.VerticalLSB, s Screen) {
	if s.Address == "" {
		drawMessage(img, "Page address", "The page is not served to others.")
		return
	}
	left := 0
	if box, ok := drawQR(img, phoneAddress(s.Address, s.Code)); ok {
		left = box.Max.X
	}
	lines := breakAddress(s.Address, (DisplayWidth-left)/textWidth)
	rows := DisplayHeight / lineHeight
	if s.Code != "" {
		rows--
		drawText(img, left, rows*lineHeight, clip(s.Code, (DisplayWidth-left)/textWidth), image1bit.On)
	}
	for i, line := range lines[:min(len(lines), rows)] {
		drawText(img, left, i*lineHeight, line, image1bit.On)
	}
}

// phoneAddress returns the address for the QR code. Capital letters take 5.5 bits instead of 8, for
// fewer and larger dots, so scheme and host are in capitals (there is no path but the code's). A
// question mark would prevent that, so the code is part of the path.
func phoneAddress(address, code string) string {
	if code != "" {
		address = strings.TrimSuffix(address, "/") + "/PAIR/" + code
	}
	scheme, rest, ok := strings.Cut(address, "://")
	if host, path, _ := strings.Cut(rest, "/"); ok && strings.ToUpper(path) == path {
		return strings.ToUpper(scheme+"://"+host) + "/" + path
	}
	return address
}

// breakAddress breaks an address without its scheme into lines: before the port, and after dots and
// dashes.
func breakAddress(address string, width int) []string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	address = strings.TrimSuffix(address, "/")
	if width < 2 {
		return nil
	}
	var parts []string // that are not to be broken
	part := ""
	for _, r := range address {
		if r == ':' && part != "" {
			parts, part = append(parts, part), ""
		}
		part += string(r)
		if r == '.' || r == '-' || utf8.RuneCountInString(part) == width {
			parts, part = append(parts, part), ""
		}
	}
	if part != "" {
		parts = append(parts, part)
	}
	var lines []string
	for _, p := range parts {
		last := len(lines) - 1
		if last >= 0 && utf8.RuneCountInString(lines[last]+p) <= width {
			lines[last] += p
		} else {
			lines = append(lines, p)
		}
	}
	return lines
}

// QR returns the modules of a text's QR code row by row, '#' for black, without the quiet zone. It
// returns nil if the text is too long.
func QR(text string) (rows []string) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return nil
	}
	for y := range code.Size {
		row := make([]byte, code.Size)
		for x := range row {
			row[x] = ' '
			if code.Black(x, y) {
				row[x] = '#'
			}
		}
		rows = append(rows, string(row))
	}
	return rows
}

// drawQR draws a QR code at the left, light on dark as a phone expects it, and returns its box
// including the quiet zone. A phone needs two dots per module at the distance at which it can
// focus; drawQR reports false if the text is too long for that.
func drawQR(img *image1bit.VerticalLSB, text string) (box image.Rectangle, ok bool) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return box, false
	}
	const dots = 2
	size := code.Size * dots
	margin := (DisplayHeight - size) / 2
	if margin < dots { // not every phone reads a code with less than one module of quiet zone
		return box, false
	}
	box = image.Rect(0, 0, DisplayHeight, DisplayHeight)
	draw.Draw(img, box, image.NewUniform(image1bit.On), image.Point{}, draw.Src)
	for y := range size {
		for x := range size {
			if code.Black(x/dots, y/dots) {
				img.SetBit(margin+x, margin+y, image1bit.Off)
			}
		}
	}
	return box, true
}
