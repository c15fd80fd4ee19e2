package main

import (
	"errors"
	"fmt"
	"io"

	"sightline/calibration"
	"sightline/calibration/quick"
	"sightline/cmd/internal/pipeline"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/terminal"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/fiducial"
)

// nudge is the apparent motion of the camera, in mm on the mat, that is reported: three times the
// difference between two registrations of the same picture.
const nudge = 0.5 * geom.Millimeter

// astray is how far, in mm on the mat, a marker may lie from where the calibration puts it: the
// markers of a calibrated table are laid by hand to about that precision.
const astray = 1 * geom.Millimeter

// registered returns the calibration for one picture: scaled to its size, with the camera's pose
// from the markers in it, or unchanged if the edges of a mat without markers confirm it. It also
// returns the markers. Its error wraps an unconfirmedError if nothing in the picture confirms the
// camera's pose.
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
	case errors.Is(err, fiducial.ErrMirrored):
		return table, nil, terminal.Unanswered{Err: fmt.Errorf("%s: the picture is mirrored: the mat's markers can only be read with left and "+
			"right exchanged", frame.Name)}
	case err != nil:
		return table, nil, fmt.Errorf("%s: %w", frame.Name, err)
	}
	if quick.IsCorners(table.Layout) {
		if err := fiducial.FindMatEdges(frame.Gray, &table).Confirm(); err != nil {
			return table, seen, unconfirmed(frame.Name, err)
		}
		return table.WithCameraSigma(fiducial.EdgesLeave), seen, nil
	}
	fresh, moved, err := table.Renew(seen)
	if err == nil {
		if moved > nudge {
			fmt.Fprintf(warn, "%s: the camera or the mat has moved by %.1f mm since the calibration; registered again from %d markers\n",
				frame.Name, float64(moved), len(fresh.Used))
		}
		return fresh, seen, nil
	}
	if off, of, id, by := table.Displaced(seen, astray); off > 0 && 2*off >= of {
		return table, nil, terminal.Unanswered{Err: fmt.Errorf("%s: the camera's place is not known: %w; and %d of %d markers that are seen "+
			"do not lie where the calibration puts them, marker %d by %.1f mm", frame.Name, err, off, of, id, float64(by))}
	}
	fresh, few := table.RenewFromFew(seen, astray, leftOpen)
	switch {
	case few != nil && len(seen) == 0:
		return table, seen, unconfirmed(frame.Name, errors.New("none of the mat's markers can be seen"))
	case few != nil:
		return table, seen, unconfirmed(frame.Name, fmt.Errorf("%w; %w", err, few))
	}
	fmt.Fprintf(warn, "%s: the camera's place rests on %s: the mat's worst corner is known to %.1f mm, which every answer takes into account "+
		"(%v)\n", frame.Name, sentence.Counted(len(fresh.Used), "marker"), float64(fresh.PlaceSigma()), err)
	return fresh, seen, nil
}

// leftOpen is the largest accepted uncertainty, in mm at the mat's worst corner, of a pose from few
// markers. A larger one would leave no answer.
const leftOpen = 5 * geom.Millimeter

// unconfirmedError says that nothing in a picture confirms that the camera stands where it was
// calibrated.
type unconfirmedError struct{ why error }

func (e unconfirmedError) Error() string {
	return "nothing confirms that the camera stands where it was calibrated: " + e.why.Error()
}

// unconfirmed returns an unconfirmedError for a picture.
func unconfirmed(picture string, why error) error {
	return terminal.Unanswered{Err: fmt.Errorf("%s: %w. Take a picture that shows the mat's markers; or calibrate from this one "+
		"(calibrate table, calibrate quick)", picture, unconfirmedError{why})}
}
