package jig

import (
	"errors"
	"image"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
)

// A base on the sheet shows where the sheet is not as white as its paper. The plastic's edge, its shadow and the arms' edges
// are left out.
const (
	paperLeast = 0.82 // share of the paper's white level from which a place is bare paper
	paperDim   = 60   // grey levels below which the white is not paper, or too dark
	standLeast = 0.5  // share of an area that a base covers
	bareMost   = 0.2  // share of an area next to it that something may cover
	sampleStep = 2.0  // mm
)

type band struct {
	base     engine.Base
	from, to float64
}

// bands are the areas, in mm along both axes, that a base of each size covers in addition to the next smaller one.
var bands = [...]band{{engine.Small, 3, 36}, {engine.Medium, 45, 56}, {engine.Large, 65, 76}}

// sheetView is a sheet in a picture.
type sheetView struct {
	t     *calibration.Table
	g     *image.Gray
	place Place
}

// level returns the grey level at a point of the sheet's frame; false: it is not in the picture.
func (v *sheetView) level(x, y float64) (uint8, bool) {
	px, ok := v.t.PixelOf(v.place.Pose.Transform(geom.Point{X: x, Y: y}), Paper)
	i, j := int(math.Round(px.X)), int(math.Round(px.Y))
	if p := image.Pt(i, j); !ok || !p.In(v.g.Rect.Inset(edgeLeast)) {
		return 0, false
	}
	return v.g.GrayAt(i, j).Y, true
}

// white returns the level of the bare paper beyond the largest base.
func (v *sheetView) white() uint8 {
	var all []uint8
	for d := 0.0; d <= 80; d += sampleStep {
		for _, p := range [2]geom.Point{{X: d, Y: 90}, {X: 90, Y: d}} {
			if l, ok := v.level(p.X, p.Y); ok {
				all = append(all, l)
			}
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// covered returns the share of a band that is not as white as the paper.
func (v *sheetView) covered(from, to float64, white uint8) float64 {
	dark, n := 0, 0
	for y := 3.0; y <= to; y += sampleStep {
		for x := 3.0; x <= to; x += sampleStep {
			if max(x, y) < from {
				continue
			}
			n++
			if l, ok := v.level(x, y); !ok || float64(l) < paperLeast*float64(white) {
				dark++
			}
		}
	}
	return float64(dark) / float64(n)
}

// Why the size of the base is not known.
var (
	errDark  = errors.New("the sheet is too dark: give it light, and take your hand away")
	errOther = errors.New("something else lies on the sheet: push the base into the corner, and take your hand away")
	errNone  = errors.New("push the base into the corner")
)

// stands returns the size of the base in the corner. Its errors are shown to people.
func (v *sheetView) stands() (base engine.Base, err error) {
	white := v.white()
	if white < paperDim {
		return 0, errDark
	}
	found := -1
	for i, b := range bands {
		share := v.covered(b.from, b.to, white)
		switch {
		case share >= standLeast && found == i-1:
			found = i
		case share >= bareMost:
			return 0, errOther
		}
	}
	if found < 0 {
		return 0, errNone
	}
	return bands[found].base, nil
}
