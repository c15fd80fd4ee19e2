package calibration

import "sightline/engine/geom"

// ScaleDistance is a distance that the user measured with a steel rule.
type ScaleDistance struct {
	From, To int         // markers, from centre to centre
	Length   geom.Length // as measured
	Sigma    geom.Length // of the measuring
}
