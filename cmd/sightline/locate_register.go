package main

import (
	"errors"
	"fmt"
	"io"

	"sightline/calibration"
	"sightline/cmd/internal/pipeline"
	"sightline/cmd/internal/terminal"
	"sightline/engine/geom"
	"sightline/vision"
)

// nudge is how far a camera may seem to move, in mm on the mat, before a person
// is told: three times what registering the same picture twice differs by.
const nudge = 0.5 * geom.Millimeter

// astray is how far, in mm on the mat, a marker may lie from where the calibration puts it: the
// markers that a table is registered with are laid by hand, and lie up to about that far off.
const astray = 1 * geom.Millimeter

// registered returns the calibration as it is for one picture: scaled to its size,
// the camera's place from the markers in it. It returns the markers that were seen.
func registered(table calibration.Table, markers vision.MarkerDetector, frame vision.Frame, warn io.Writer) (calibration.Table,
	[]calibration.MarkerSighting, error) {
	w, h := frame.Size()
	if w != table.Intrinsics.Width || h != table.Intrinsics.Height {
		scaled, err := table.Intrinsics.Scaled(w, h)
		if err != nil {
			return table, nil, fmt.Errorf("%s: %w", frame.Name, err)
		}
		fmt.Fprintf(warn, "%s: the calibration is for %d×%d pictures, scaled to %d×%d\n",
			frame.Name, table.Intrinsics.Width, table.Intrinsics.Height, w, h)
		table.Intrinsics = scaled
	}
	seen, err := pipeline.FindMarkers(markers, frame.Gray)
	switch {
	case errors.Is(err, pipeline.ErrMirrored):
		return table, nil, terminal.Unanswered{Err: fmt.Errorf("%s: the picture is mirrored: the mat's markers can only be read with left and "+
			"right exchanged", frame.Name)}
	case err != nil:
		return table, nil, fmt.Errorf("%s: %w", frame.Name, err)
	}
	fresh, moved, err := table.Renew(seen)
	switch {
	case err != nil:
		if off, of, id, by := table.Astray(seen, astray); off > 0 && 2*off >= of {
			return table, nil, terminal.Unanswered{Err: fmt.Errorf("%s: the camera's place is not known: %w; and %d of %d markers that are seen "+
				"do not lie where the calibration puts them, marker %d by %.1f mm", frame.Name, err, off, of, id, float64(by))}
		}
		fmt.Fprintf(warn, "%s: the camera's place is taken from the calibration as it stands: %v\n", frame.Name, err)
	case moved > nudge:
		fmt.Fprintf(warn, "%s: the camera or the mat has moved by %.1f mm since the calibration; registered again from %d markers\n",
			frame.Name, float64(moved), len(fresh.Used))
		table = fresh
	default:
		table = fresh
	}
	return table, seen, nil
}
