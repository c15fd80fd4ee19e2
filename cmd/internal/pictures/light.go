package pictures

import (
	"fmt"
	"io"

	"sightline/calibration"
	"sightline/vision"
	"sightline/vision/exposure"
)

// TellLight warns of bad light in a picture, and returns the light measured at its markers.
func TellLight(warn io.Writer, f vision.Frame, seen []calibration.MarkerSighting, t *calibration.Table) exposure.Light {
	var g exposure.Gauges
	l := g.Look(f.Gray, seen, t)
	for _, a := range l.Advice() {
		fmt.Fprintf(warn, "%s: %s\n", f.Name, a)
	}
	return l
}
