package pictures

import (
	"fmt"
	"io"

	"sightline/calibration"
	"sightline/vision"
	"sightline/vision/exposure"
)

// TellLight says what is wrong with the light of a picture, before anything is lost by it, and
// returns what it measured at the markers that the picture shows.
func TellLight(warn io.Writer, f vision.Frame, seen []calibration.MarkerSighting, t *calibration.Table) exposure.Light {
	var g exposure.Gauges
	l := g.Look(f.Gray, seen, t)
	for _, a := range l.Advice() {
		fmt.Fprintf(warn, "%s: %s\n", f.Name, a)
	}
	return l
}
