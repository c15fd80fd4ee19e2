package jig

import (
	"errors"
	"image"
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
)

// blurMost is the largest blur for showing a card: the standard deviation, in px, of a Gaussian that gives such edges. Tags with
// three pixels per cell are still found with more. A sharp camera has 0.5 to 0.9.
const blurMost = 1.3

var errBlurred = errors.New("the picture is blurred: focus the camera, and let the base rest")

// blur measures the blur of a picture at the edges of the sheet's markers, in the worse of the two directions, so that motion
// counts as well. A card cannot show it, because the sharpness of its print is unknown.
func blur(g *image.Gray, seen []calibration.MarkerSighting) float64 {
	var slope, n [2]float64
	for _, s := range seen {
		if s.ID < calibration.JigIDs || s.ID >= calibration.JigIDs+len(Tags()) {
			continue
		}
		for side := range 4 {
			a, b := s.Corners[side], s.Corners[(side+1)%4]
			along := b.Sub(a)
			out := geom.Pixel{X: along.Y, Y: -along.X}.Mul(1 / along.Norm()) // clockwise in the picture: to the left of the way
			if middle := s.Corners[(side+2)%4].Sub(a); middle.X*out.X+middle.Y*out.Y > 0 {
				out = out.Mul(-1) // mirrored
			}
			for _, k := range [...]float64{0.2, 0.35, 0.5, 0.65, 0.8} {
				if v, ok := edgeSlope(g, a.Add(along.Mul(k)), out, along.Norm()/calibration.TagCells); ok {
					slope[side%2] += v
					n[side%2]++
				}
			}
		}
	}
	worst := 0.0
	for i := range slope {
		if n[i] > 0 {
			worst = max(worst, n[i]/(math.Sqrt(2*math.Pi)*max(slope[i], 1e-3)))
		}
	}
	return worst
}

// edgeSlope returns the share of the step from black to white that lies in the middle pixel of an edge. cell is the depth of the
// black, in px.
func edgeSlope(g *image.Gray, at, out geom.Pixel, cell float64) (float64, bool) {
	level := func(d float64) (float64, bool) { return between(g, at.Add(out.Mul(d))) }
	black, okB := level(-cell / 2)
	white, okW := level(cell)
	lo, okL := level(-0.5)
	hi, okH := level(0.5)
	if !okB || !okW || !okL || !okH || white-black < paperDim/2 {
		return 0, false
	}
	return (hi - lo) / (white - black), true
}

// between samples a picture bilinearly; false: outside.
func between(g *image.Gray, p geom.Pixel) (float64, bool) {
	x, y := math.Floor(p.X), math.Floor(p.Y)
	i, j := int(x), int(y)
	if !image.Rect(i, j, i+2, j+2).In(g.Rect) {
		return 0, false
	}
	at := func(i, j int) float64 { return float64(g.GrayAt(i, j).Y) }
	ax, ay := p.X-x, p.Y-y
	top := at(i, j)*(1-ax) + at(i+1, j)*ax
	return top*(1-ay) + (at(i, j+1)*(1-ax)+at(i+1, j+1)*ax)*ay, true
}
