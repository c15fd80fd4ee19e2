package projector

import (
	"image"
	"math"
	"slices"
	"strings"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
)

// Tag is a tag of a pattern: a white square of ten modules, containing the black one of eight, on
// black.
type Tag struct {
	X      int    `json:"x"` // of the white square's top left corner, px
	Y      int    `json:"y"`
	Module int    `json:"module"` // side of a cell, px
	Cells  string `json:"cells"`  // of the black square, row by row: 1 is white

	id int
}

const (
	whiteCells   = calibration.TagCells + 2 // side of the white square
	moduleLeast  = 2                        // px: tags with smaller cells are not shown
	tagsAcross   = 8                        // tags of the fitted pattern along each side of the mat
	findColumns  = 8                        // tags of the pattern that finds the screen
	findRows     = 5
	findFirst    = calibration.ProjectorIDs
	fitFirst     = findFirst + findColumns*findRows
	verifyFirst  = fitFirst + tagsAcross*tagsAcross
	tagShare     = 0.62 // share of the distance between tags that a white square fills
	tagClearance = 8.0  // mm from a base and from the mat's edge
)

// newTag centres a tag.
func newTag(id int, middle Place, module int) Tag {
	t := Tag{id: id, Module: module}
	half := float64(whiteCells*module) / 2
	t.X, t.Y = int(math.Round(middle.X-half)), int(math.Round(middle.Y-half))
	var cells strings.Builder
	for row := range calibration.TagCells {
		for column := range calibration.TagCells {
			white, err := calibration.TagWhite(id, column, row)
			if err != nil {
				panic("projector: " + err.Error()) // the ids are constants
			}
			if white {
				cells.WriteByte('1')
			} else {
				cells.WriteByte('0')
			}
		}
	}
	t.Cells = cells.String()
	return t
}

// corners returns the corners of the black square, in the order of vision.Detection.
func (t *Tag) corners() [4]Place {
	x0, y0 := float64(t.X+t.Module), float64(t.Y+t.Module)
	x1, y1 := x0+float64(calibration.TagCells*t.Module), y0+float64(calibration.TagCells*t.Module)
	return [4]Place{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}
}

// findPattern returns a pattern that fills the screen.
func findPattern(width, height int) (out []Tag) {
	dx, dy := float64(width)/findColumns, float64(height)/findRows
	module := int(tagShare * min(dx, dy) / whiteCells)
	for j := range findRows {
		for i := range findColumns {
			out = append(out, newTag(findFirst+j*findColumns+i, Place{(float64(i) + 0.5) * dx, (float64(j) + 0.5) * dy}, module))
		}
	}
	return out
}

// matPattern lays tags on the mat where the screen reaches and nothing stands: the fitted pattern
// or, second, the one that verifies it, with its tags in between.
func matPattern(m *Map, layout *calibration.Layout, bases []base, second bool) (out []Tag) {
	first, across, begin := fitFirst, tagsAcross, 0.5
	if second {
		first, across, begin = verifyFirst, tagsAcross-1, 1
	}
	dx, dy := float64(layout.Width)/tagsAcross, float64(layout.Height)/tagsAcross
	for j := range across {
		for i := range across {
			p := geom.Point{X: (float64(i) + begin) * dx, Y: (float64(j) + begin) * dy}
			middle, module, ok := roomFor(m, layout, bases, p, min(dx, dy))
			if ok {
				out = append(out, newTag(first+j*across+i, middle, module))
			}
		}
	}
	return out
}

// roomFor returns the place on the screen of a tag at a place of the mat, and the size of its
// cells. It reports false if the tag would reach over the mat's edge, the screen's or a base.
func roomFor(m *Map, layout *calibration.Layout, bases []base, p geom.Point, pitch float64) (middle Place, module int, ok bool) {
	middle, ok = m.Screen(p)
	scale := m.Scale(p)
	module = int(tagShare * pitch * scale / whiteCells)
	if !ok || module < moduleLeast {
		return middle, module, false
	}
	half := float64(whiteCells*module) / 2
	reach := half*math.Sqrt2/scale + tagClearance
	w, h := float64(layout.Width), float64(layout.Height)
	edge := half/scale + tagClearance
	switch {
	case p.X < edge || p.Y < edge || p.X > w-edge || p.Y > h-edge:
		return middle, module, false
	case middle.X < half+1 || middle.Y < half+1 || middle.X > float64(m.Width)-half-1 || middle.Y > float64(m.Height)-half-1:
		return middle, module, false
	}
	for _, b := range bases {
		if b.distance(p) < reach {
			return middle, module, false
		}
	}
	return middle, module, true
}

// readings returns the detected tags of a pattern that lie on the mat.
func readings(tags []Tag, found []vision.Detection, table *calibration.Table) (out []reading) {
	for i := range tags {
		k := slices.IndexFunc(found, func(d vision.Detection) bool { return d.ID == tags[i].id })
		if k < 0 {
			continue
		}
		r, onMat := reading{id: tags[i].id, on: tags[i].corners()}, true
		for c, px := range found[k].Corners {
			p, ok := table.PointAt(px, 0)
			onMat = onMat && ok && p.X >= 0 && p.Y >= 0 && p.X <= float64(table.Layout.Width) && p.Y <= float64(table.Layout.Height)
			r.at[c] = p
		}
		if onMat {
			out = append(out, r)
		}
	}
	return out
}

// mean sums pictures to their mean.
type mean struct {
	width, height int
	sum           []uint16
	n             int
}

func (m *mean) add(g *image.Gray) {
	if m.sum == nil {
		m.width, m.height = g.Rect.Dx(), g.Rect.Dy()
		m.sum = make([]uint16, m.width*m.height)
	}
	for y := range m.height {
		row := g.Pix[y*g.Stride:][:m.width]
		for x, v := range row {
			m.sum[y*m.width+x] += uint16(v)
		}
	}
	m.n++
}

// level returns the mean of all pixels.
func level(g *image.Gray) float64 {
	sum := 0
	for y := range g.Rect.Dy() {
		for _, v := range g.Pix[y*g.Stride:][:g.Rect.Dx()] {
			sum += int(v)
		}
	}
	return float64(sum) / float64(g.Rect.Dx()*g.Rect.Dy())
}

// linear returns the light of each sum of n levels of an sRGB picture.
func linear(n int) []float32 {
	table := make([]float32, 255*n+1)
	for i := range table {
		v := float64(i) / float64(255*n)
		if v <= 0.04045 {
			table[i] = float32(v / 12.92)
		} else {
			table[i] = float32(math.Pow((v+0.055)/1.055, 2.4))
		}
	}
	return table
}

const (
	blackLight = 0.004 // share of full scale below which is noise: level 13 of 255
	topShare   = 0.01  // share of the pixels that become white
)

// ratio returns the projector's light divided by the light of the room. This removes the mat's
// print, and the exposure is the same factor everywhere.
func ratio(lit, dark *mean) *image.Gray {
	out := image.NewGray(image.Rect(0, 0, lit.width, lit.height))
	if len(lit.sum) != len(dark.sum) {
		return out
	}
	a, b := linear(lit.n), linear(dark.n)
	more := make([]float32, len(lit.sum))
	const bins, most = 1024, 16
	var counts [bins]int
	for i := range more {
		room := b[dark.sum[i]]
		more[i] = max(0, (a[lit.sum[i]]-room)/(room+blackLight))
		counts[min(int(more[i]*bins/most), bins-1)]++
	}
	top, above := bins-1, 0
	for ; top > 1 && above < int(topShare*float64(len(more))); top-- {
		above += counts[top]
	}
	scale := 255 / (float32(top+1) * most / bins)
	for i, v := range more {
		out.Pix[i] = byte(min(v*scale, 255))
	}
	return out
}
