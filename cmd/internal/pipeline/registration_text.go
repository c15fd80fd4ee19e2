package pipeline

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"sightline/calibration/watch"
	"sightline/cmd/internal/live"
	"sightline/vision/fiducial"
)

// Health returns what about the registration stops the answers; its code is live.OK if nothing
// does.
func (r *Registration) Health() live.Health {
	switch r.state {
	case Unknown:
		return r.noCalibration()
	case Contradicted:
		if r.failed != "" {
			return live.Health{
				Code: live.Moved, Title: "Camera moved",
				Detail: fmt.Sprintf("The camera is not where %s puts it, and its place cannot be found again: %s.", r.file.Name, r.failed),
				Advice: "Calibrate again with this camera and picture size, on the page /first or with sightline calibrate table.",
			}
		}
		return mayHaveMoved
	case Confirming:
		return r.notConfirmed()
	case Lost:
		if r.byEdges() {
			return r.notConfirmed()
		}
	}
	h := r.driftHealth()
	// A single torn picture may look like a motion of all markers; the next pictures decide.
	if torn := r.drift.torn; r.state == Trusted && len(torn) > 0 {
		return live.Health{
			Code: live.Torn, Title: "Broken picture",
			Detail: fmt.Sprintf("The markers %s left their places in one picture, and all others stayed: a part of the picture is "+
				"missing, or shifted.",
				IDList(torn)),
			Advice: tornAdvice + " If something covers these markers, take it away.",
		}
	}
	return h
}

// notConfirmed says why a calibration file is not trusted yet.
func (r *Registration) notConfirmed() live.Health {
	h := live.Health{
		Code: live.MarkersLost, Title: "Camera not confirmed",
		Detail: fmt.Sprintf("Nothing confirms that the camera stands where %s puts it", r.file.Name),
		Advice: fmt.Sprintf("Take hands and things off the mat's markers: at least %d must be seen. If they no longer lie round the mat, lay "+
			"them again where they belong, or calibrate again. Answers then come automatically.", r.needed()),
	}
	if r.byEdges() {
		h.Advice = "Take hands and things off the mat's edges. If the camera was moved, calibrate again. A mat whose edges do not stand out " +
			"from the table needs markers (sightline print mat-markers)."
	}
	if r.unclear != "" {
		h.Detail += ": " + r.unclear
	}
	h.Detail += "."
	return h
}

// noCalibration says what is missing.
func (r *Registration) noCalibration() live.Health {
	h := live.Health{Code: live.NoCalibration, Title: "No calibration"}
	switch {
	case r.problem == nil:
		h.Code, h.Title, h.Detail = live.Starting, "Starting", "Looking for the mat's markers."
		return h
	case errors.Is(r.problem, fiducial.ErrMirrored):
		h.Title, h.Detail = "Picture mirrored", "The mat's markers can only be read with left and right exchanged."
		h.Advice = "Switch mirroring off in the camera's settings, or where its stream is made."
		return h
	case errors.Is(r.problem, errNoLens):
		h.Detail = "The program does not know this camera's lens."
		h.Advice = "The page /first leads through it; or make a lens file with sightline calibrate lens (see the README) and name it with " +
			"--lens or camera.lens."
		return h
	}
	h.Detail = reason(r.problem)
	switch {
	case r.file.Table != nil:
		h.Advice = "Calibrate again with this camera and picture size, on the page /first or with sightline calibrate table."
	case r.o.Markers == nil:
		h.Advice = "Use a calibration file (--calibration), or a program with OpenCV."
	default:
		h.Detail = "The mat's markers: " + h.Detail + "."
		h.Advice = "Lay the printed markers (sightline print mat-markers) round the mat, flat and uncovered, and make sure that the " +
			"camera sees all eight. If they lie where they belong, the lens file may be another camera's."
	}
	return h
}

// watchView returns the state of monitoring by markers, for people.
func watchView(v watch.Verdict, watched bool) live.Watch {
	out := live.Watch{State: "unwatched", Seen: v.Seen, Of: v.Of, Missing: v.Missing, Strays: v.Strays}
	if !watched {
		out.Seen = 0
		out.Text = "nothing confirms yet that the camera stands where the calibration puts it"
		return out
	}
	out.State, out.Blind = v.State.String(), v.Blind
	if v.State != watch.OK && v.State != watch.Covered {
		return out // Health says it
	}
	out.Text = fmt.Sprintf("%d of %d markers in place", v.Seen, v.Of)
	var not []string
	if len(v.Missing) > 0 {
		not = append(not, IDList(v.Missing)+" not seen")
	}
	if len(v.Strays) > 0 {
		not = append(not, IDList(v.Strays)+" moved")
	}
	if len(not) > 0 {
		out.Text += fmt.Sprintf(" (%s), which adds up to %.2f mm to sigma", strings.Join(not, "; "), v.Blind.Millimeters())
	}
	return out
}

// IDList returns ids as "3, 5".
func IDList(ids []int) string {
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(ids)), ", "), "[]")
}

// driftHealth returns the drift monitor's finding.
func (r *Registration) driftHealth() live.Health {
	v := &r.verdict
	switch r.state {
	case Moved:
		return live.Health{
			Code: live.Moved, Title: "Camera moved",
			Detail: fmt.Sprintf("The markers moved together%s: the camera or the table was nudged. "+
				"It is registered again once nothing moves.", shiftText(v)),
		}
	case Settled:
		h := live.Health{Code: live.Moved, Title: "Camera moved", Detail: fmt.Sprintf("The markers moved together%s and lie still: "+
			"the camera's place is being found again.", shiftText(v))}
		if r.failed != "" {
			h.Detail = fmt.Sprintf("The markers moved together%s. The camera's place cannot be found again: %s.", shiftText(v), r.failed)
			h.Advice = "Uncover the mat's markers and lay them where they belong. Retrying automatically."
		}
		return h
	case Refocused:
		verb := "grew"
		if v.Grown < 0 {
			verb = "shrank"
		}
		h := live.Health{
			Code: live.LensChanged, Title: "Lens changed",
			Detail: fmt.Sprintf("The picture %s by %.2f %% about its middle, and nothing else moved: the lens was refocused or zoomed, "+
				"or the camera was raised or lowered.", verb, 100*max(v.Grown, -v.Grown)),
			Advice: "Lock the focus and calibrate the lens again (at /calibrate, or with sightline calibrate lens). If the lens was not " +
				"touched, restart the program: it registers the camera at the new height.",
		}
		if math.Abs(v.Grown) <= grownMost && r.failed == "" && r.o.Markers != nil {
			h.Advice = "If it stays so for 3 s, the camera's place is found again, and sigma allows for either. Lock the focus."
		}
		return h
	case Lost:
		enough := "Any five of the eight are enough; three usually are, if they lie far apart."
		if v.Seen >= 5 { // the pictures are too small, or too noisy
			enough = "In larger pictures those in place would be enough; in these, more must be in view."
		}
		return live.Health{
			Code: live.MarkersLost, Title: "Markers not seen",
			Detail: fmt.Sprintf("%d of %d markers are in place: whether the camera still stands where it did cannot be told.", v.Seen, v.Of),
			Advice: "Take hands and things off the mat's markers. " + enough + " Answers come back automatically.",
		}
	}
	if v.Doubt {
		return mayHaveMoved
	}
	return live.Health{Code: live.OK}
}

// mayHaveMoved is the health after a single picture that does not fit the calibration.
var mayHaveMoved = live.Health{
	Code: live.Moved, Title: "Camera moved?",
	Detail: "In the last picture the mat's markers do not lie where the calibration puts them. The next pictures tell whether the " +
		"camera moved.",
}

// shiftText returns " by about 3.1 mm", or "" if the shift is not known.
func shiftText(v *watch.Verdict) string {
	if v.Shift <= 0 {
		return ""
	}
	return fmt.Sprintf(" by about %.1f mm", v.Shift.Millimeters())
}
