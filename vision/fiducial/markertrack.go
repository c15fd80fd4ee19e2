package fiducial

import (
	"image"

	"sightline/calibration"
	"sightline/engine/geom"
)

// TrackMarkers searches for markers within two pixels of where they are expected and returns those
// that it finds, with refined corners. It takes about a millisecond per marker, whatever the
// picture's size, because it does not search the whole picture as a detector does. It does not find
// a marker that moved further.
//
// It accepts a marker only by its own pattern: all but maxWrongCells of its cells must have their
// printed colour. It does not find half a marker under a hand, or another marker in the same place.
func TrackMarkers(g *image.Gray, expected []calibration.MarkerSighting) []calibration.MarkerSighting {
	var out []calibration.MarkerSighting
	for _, m := range expected {
		corners, ok := RefineMarker(g, m.Corners)
		if ok && wrongCells(g, m.ID, corners) <= maxWrongCells {
			out = append(out, calibration.MarkerSighting{ID: m.ID, Corners: corners})
		}
	}
	return out
}

// maxWrongCells is how many of a marker's 64 cells may show the wrong colour: a
// crumb or a speck of glare. Two tags of the family differ in at least 11 cells.
const maxWrongCells = 3

// wrongCells counts the cells of a marker's black square that do not show the colour
// that is printed there.
func wrongCells(g *image.Gray, id int, corners [4]geom.Pixel) int {
	h, ok := squareTo(corners)
	if !ok {
		return markerCells * markerCells
	}
	var level [markerCells][markerCells]float64
	var print [markerCells][markerCells]bool
	var sum, count [2]float64 // of black and white cells
	for row := range markerCells {
		for col := range markerCells {
			at := geom.Pixel{X: (float64(col) + 0.5) / markerCells, Y: (float64(row) + 0.5) / markerCells}
			v, in := levelAt(g, h.At(at))
			white, err := calibration.TagWhite(id, col, row)
			if !in || err != nil {
				return markerCells * markerCells
			}
			level[row][col], print[row][col] = v, white
			k := 0
			if white {
				k = 1
			}
			sum[k] += v
			count[k]++
		}
	}
	middle := (sum[0]/count[0] + sum[1]/count[1]) / 2
	wrong := 0
	for row := range markerCells {
		for col := range markerCells {
			if (level[row][col] > middle) != print[row][col] {
				wrong++
			}
		}
	}
	return wrong
}
