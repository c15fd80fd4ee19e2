package app

import (
	"fmt"
	"image"
	"math"
	"slices"
	"strings"
	"time"

	"sightline/calibration"
	"sightline/calibration/watch"
	"sightline/cmd/internal/live"
	"sightline/engine/geom"
	"sightline/vision"
)

// guard watches over the registration in use: it looks at the markers in every
// picture, cheaply where they are expected, and with the detector when they are not
// there. It belongs to the watcher's goroutine.
type guard struct {
	detector vision.MarkerDetector // nil: markers that moved far are not found again
	track    func(*image.Gray, []calibration.MarkerSighting) []calibration.MarkerSighting

	watch    *watch.Monitor // nil: no marker of this registration was seen yet
	verdict  watch.Verdict
	searched time.Time     // when the detector looked last
	patience time.Duration // how long it waits when some markers stay away

	home map[int][4]geom.Pixel // where each marker was when it was in its place last
	away []int                 // ids that were not there in the last picture
	torn []int                 // ids that went away together, all that lie above or below some row; empty: none
}

// How often the detector searches the whole picture, which costs ten times what
// everything else does: at once when most markers are gone, seldom when a few are.
const (
	searchFirst = 500 * time.Millisecond
	searchMost  = 10 * time.Second
)

// begin starts to watch over a registration, from a picture that it fits.
func (g *guard) begin(t calibration.Table, seen []calibration.MarkerSighting) {
	g.watch, g.verdict, g.patience = nil, watch.Verdict{Of: len(t.Layout.Markers)}, 0
	g.home, g.away, g.torn = map[int][4]geom.Pixel{}, nil, nil
	if len(seen) > 0 {
		g.watch = watch.NewMonitor(t, seen)
	}
}

// look looks at the markers in a picture and returns the verdict on the registration.
func (g *guard) look(gray *image.Gray, now time.Time) (watch.Verdict, error) {
	if g.watch == nil {
		return g.verdict, nil
	}
	expected := g.watch.Expected()
	seen := g.track(gray, expected)
	g.tear(expected, seen)
	var err error
	if g.worthSearching(len(seen), now) {
		g.searched = now
		var found []vision.Detection
		if found, err = g.detector.DetectMarkers(gray); err == nil {
			seen = withFound(seen, vision.Sightings(found))
		}
	}
	g.verdict = g.watch.Update(now, seen)
	return g.verdict, err
}

// staysWithin is how far, in px, a marker may be from where the picture before showed it
// to be in its place: five times the noise of one in a bad light.
const staysWithin = 0.5

// tear looks for pictures that are put together from two: those in which all markers on
// one side of some row went away at once, at least two of them, while those on the other
// side stayed. A hand or an arm does not do that: markers lie all round the mat.
func (g *guard) tear(expected, seen []calibration.MarkerSighting) {
	var gone, fresh []int
	here, left := rows{math.Inf(1), math.Inf(-1)}, rows{math.Inf(1), math.Inf(-1)}
	for _, e := range expected {
		home, known := g.home[e.ID]
		k := slices.IndexFunc(seen, func(s calibration.MarkerSighting) bool { return s.ID == e.ID })
		switch {
		case k >= 0 && (!known || meanShift(home, seen[k].Corners) < staysWithin):
			g.home[e.ID] = seen[k].Corners
			here.add(seen[k].Corners)
		case known:
			gone = append(gone, e.ID)
			if !slices.Contains(g.away, e.ID) {
				fresh = append(fresh, e.ID)
				left.add(home)
			}
		}
	}
	g.away = gone
	g.torn = slices.DeleteFunc(g.torn, func(id int) bool { return !slices.Contains(gone, id) })
	switch apart := here.least <= here.most && (here.most < left.least || left.most < here.least); {
	case len(fresh) >= 2 && apart:
		g.torn = append(g.torn, fresh...)
	case len(g.torn) < 2: // those that are still away may be covered
		g.torn = nil
	}
}

// rows are the rows of the picture in which markers lie.
type rows struct{ least, most float64 }

func (r *rows) add(c [4]geom.Pixel) {
	y := (c[0].Y + c[2].Y) / 2
	r.least, r.most = min(r.least, y), max(r.most, y)
}

// meanShift returns by how far the middle of a marker moved, in px.
func meanShift(a, b [4]geom.Pixel) float64 {
	var d geom.Pixel
	for i := range a {
		d = d.Add(b[i].Sub(a[i]).Mul(0.25))
	}
	return d.Norm()
}

// trusted reports whether the last picture shows, beyond doubt, the table as the
// calibration has it. Where it does not, new places of ships are not believed.
func (g *guard) trusted() bool {
	if g.watch == nil {
		return true // nothing is known against it
	}
	v := g.verdict
	return len(g.torn) == 0 && !v.Doubt && v.Blind <= watch.MaxBlind &&
		(v.State == watch.OK || v.State == watch.Covered)
}

// worthSearching reports whether so few of the markers were found where they are
// expected that the whole picture should be searched now.
func (g *guard) worthSearching(tracked int, now time.Time) bool {
	if g.detector == nil {
		return false
	}
	if tracked == g.verdict.Of {
		g.patience = searchFirst
		return false
	}
	// Most of those that were seen before are gone: the camera may have jumped.
	jumped := 2*tracked < g.verdict.Seen || g.verdict.State == watch.Moved && 2*tracked < g.verdict.Of
	if !jumped && now.Sub(g.searched) < g.patience {
		return false
	}
	if g.verdict.State == watch.Lost {
		g.patience = searchFirst // nothing else is to be done
	} else {
		g.patience = min(max(2*g.patience, searchFirst), searchMost)
	}
	return true
}

// withFound adds the markers that the detector found to those that were tracked.
func withFound(tracked, found []calibration.MarkerSighting) []calibration.MarkerSighting {
	out := slices.Clone(tracked)
	for _, f := range found {
		if !slices.ContainsFunc(tracked, func(t calibration.MarkerSighting) bool { return t.ID == f.ID }) {
			out = append(out, f)
		}
	}
	return out
}

// watchView says for people how the registration is watched over.
func watchView(v watch.Verdict, watched bool) live.Watch {
	out := live.Watch{State: "unwatched", Seen: v.Seen, Of: v.Of, Missing: v.Missing, Strays: v.Strays}
	if !watched {
		out.Seen = 0
		out.Text = "the mat's markers are not seen: if the camera moved now, it would go unnoticed"
		return out
	}
	out.State, out.Blind = v.State.String(), v.Blind
	if v.State != watch.OK && v.State != watch.Covered {
		return out // the health says it
	}
	out.Text = fmt.Sprintf("%d of %d markers in place", v.Seen, v.Of)
	var not []string
	if len(v.Missing) > 0 {
		not = append(not, listed(v.Missing)+" not seen")
	}
	if len(v.Strays) > 0 {
		not = append(not, listed(v.Strays)+" moved")
	}
	if len(not) > 0 {
		out.Text += fmt.Sprintf(" (%s), which adds up to %.2f mm to sigma", strings.Join(not, "; "), v.Blind.Millimeters())
	}
	return out
}

// listed is "3, 5".
func listed(ids []int) string {
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(ids)), ", "), "[]")
}

// watchHealth says what the watch has found that stops the answers, and what to do
// about it; its code is web.OK when nothing does. failed says why registering again
// did not work.
func watchHealth(v watch.Verdict, failed string) live.Health {
	switch v.State {
	case watch.Moved:
		return live.Health{
			Code: live.Moved, Title: "Camera moved",
			Detail: fmt.Sprintf("The markers moved together%s: the camera or the table was nudged. It is registered again when nothing moves any more.", about(v)),
		}
	case watch.Settled:
		h := live.Health{Code: live.Moved, Title: "Camera moved", Detail: fmt.Sprintf("The markers moved together%s and lie still: the camera's place is being found again.", about(v))}
		if failed != "" {
			h.Detail = fmt.Sprintf("The markers moved together%s. The camera's place cannot be found again: %s.", about(v), failed)
			h.Advice = "Uncover the mat's markers and lay them where they belong. Retrying automatically."
		}
		return h
	case watch.LensChanged:
		verb := "grew"
		if v.Grown < 0 {
			verb = "shrank"
		}
		return live.Health{
			Code: live.LensChanged, Title: "Lens changed",
			Detail: fmt.Sprintf("The picture %s by %.2f %% about its middle, and nothing else moved: the lens was refocused or zoomed, or the camera was raised or lowered.", verb, 100*max(v.Grown, -v.Grown)),
			Advice: "Lock the focus and calibrate the lens again (at /calibrate, or with sightline calibrate lens). If the lens was not touched, restart the program: it registers the camera at the new height.",
		}
	case watch.Lost:
		return live.Health{
			Code: live.MarkersLost, Title: "Markers not seen",
			Detail: fmt.Sprintf("%d of %d markers are in place: whether the camera still stands where it did cannot be told.", v.Seen, v.Of),
			Advice: "Take hands and things off the mat's markers. Any five of the eight are enough, three that lie apart mostly are. Answers come back by themselves.",
		}
	}
	if v.Doubt {
		return mayHaveMoved
	}
	return live.Health{Code: live.OK}
}

// mayHaveMoved is said of a single picture that does not fit the calibration.
var mayHaveMoved = live.Health{
	Code: live.Moved, Title: "Camera moved?",
	Detail: "In the last picture the mat's markers do not lie where the calibration puts them. The next pictures tell whether the camera moved.",
}

// about says how far, when that is known.
func about(v watch.Verdict) string {
	if v.Shift <= 0 {
		return ""
	}
	return fmt.Sprintf(" by about %.1f mm", v.Shift.Millimeters())
}
