package calibration

import (
	"math"

	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// TurnSightings puts the corners of every marker into its layout's order, for cards that
// were laid or printed with a quarter or half turn: OpenCV's dictionary draws the tags of
// the AprilTag library upside down. A turned card's centre stays in its place, so the
// centres of all markers show how each should be turned. Sightings stay unchanged when
// fewer than three markers are known or their centres stand in a row.
func TurnSightings(layout Layout, seen []MarkerSighting) []MarkerSighting {
	known := map[int]Marker{}
	for _, m := range layout.Markers {
		known[m.ID] = m
	}
	scale := max(float64(layout.Width), float64(layout.Height))
	ax, ay, ok := affineOfCenters(known, seen, scale)
	if !ok {
		return seen
	}
	out := append([]MarkerSighting(nil), seen...)
	for i, s := range out {
		m, ok := known[s.ID]
		if !ok {
			continue
		}
		var want [4]geom.Pixel // relative to the centre
		for k, p := range m.Corners() {
			d := p.Sub(m.Center).Mul(1 / scale)
			want[k] = geom.Pixel{X: ax[0]*d.X + ax[1]*d.Y, Y: ay[0]*d.X + ay[1]*d.Y}
		}
		turn := QuarterTurns(want, s.Corners)
		for k := range out[i].Corners {
			out[i].Corners[k] = s.Corners[(k+turn)%4]
		}
	}
	return out
}

// affineOfCenters fits an affine map from the table, in units of scale, to the picture by least squares over the centres
// of the known markers. A tilted camera and lens distortion put it off by a few degrees; a turn is decided at 45. It
// reports false for fewer than three centres and for centres in a row.
func affineOfCenters(known map[int]Marker, seen []MarkerSighting, scale float64) (ax, ay []float64, ok bool) {
	normal := make([]float64, 9)
	var rightX, rightY [3]float64
	for _, s := range seen {
		m, ok := known[s.ID]
		if !ok {
			continue
		}
		row := [3]float64{m.Center.X / scale, m.Center.Y / scale, 1}
		c := s.Corners[0].Add(s.Corners[1]).Add(s.Corners[2]).Add(s.Corners[3]).Mul(0.25)
		for i := range 3 {
			rightX[i] += row[i] * c.X
			rightY[i] += row[i] * c.Y
			for j := range 3 {
				normal[3*i+j] += row[i] * row[j]
			}
		}
	}
	if inv, ok := linalg.InvertSPD(normal, 3); !ok || !(inv[0] < 1e4) || !(inv[4] < 1e4) {
		return nil, nil, false
	}
	ax, okX := linalg.SolveSPD(normal, rightX[:])
	ay, okY := linalg.SolveSPD(normal, rightY[:])
	return ax, ay, okX && okY
}

// QuarterTurns returns by how many quarter turns the corners of a square as seen differ from the wanted order: corner k of
// want is corner (k+n)%4 of seen. Both are in pixels; want is relative to the square's centre.
func QuarterTurns(want, seen [4]geom.Pixel) (n int) {
	best := math.Inf(-1)
	for t := range 4 {
		sum := 0.0
		for k := range want {
			sum += want[k].X*seen[(k+t)%4].X + want[k].Y*seen[(k+t)%4].Y
		}
		if sum > best {
			best, n = sum, t
		}
	}
	return n
}
