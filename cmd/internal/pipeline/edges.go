package pipeline

import (
	"time"

	"sightline/calibration/quick"
	"sightline/cmd/internal/live"
	"sightline/vision"
	"sightline/vision/fiducial"
)

// edgesHold is how long a calibration by the mat's corners is trusted while its edges cannot be seen, since arms reach over them.
const edgesHold = 5 * time.Second

// byEdges reports whether the table in use is of a mat without markers, where only the edges show where the camera stands.
func (r *Registration) byEdges() bool { return r.state != Unknown && quick.IsCorners(r.table.Layout) }

// edgesConfirm reports whether the mat's edges are where the calibration puts them; if not, it sets unclear to why.
func (r *Registration) edgesConfirm(f vision.Frame, now time.Time) bool {
	edges := fiducial.FindMatEdges(f.Gray, &r.table)
	if err := edges.Confirm(); err != nil {
		r.unclear = err.Error()
		if edges.Elsewhere() {
			r.edgesAt = time.Time{}
		}
		return false
	}
	r.unclear, r.edgesAt = "", now
	return true
}

// followEdges checks the mat's edges once a second.
func (r *Registration) followEdges(f vision.Frame, now time.Time) {
	if now.Sub(r.searchedAt) < searchEvery {
		return
	}
	r.searchedAt = now
	if r.edgesConfirm(f, now) {
		r.step(markersInPlace)
	} else if now.Sub(r.edgesAt) >= edgesHold {
		r.step(markersGone)
	}
}

// edgesView returns the state of monitoring by edges, for people.
func (r *Registration) edgesView() live.Watch {
	if r.state != Trusted {
		return watchView(r.verdict, false)
	}
	return live.Watch{State: "ok", Text: "the mat's edges lie where the calibration puts them, to 3 mm"}
}
