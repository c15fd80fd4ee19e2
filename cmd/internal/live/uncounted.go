package live

import (
	"math"
	"slices"
	"strings"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
)

// Uncounted is a ship whose place is not sure: it is covered, lifted, moving, or has not been
// still for long enough. It is left out of measured scenes.
type Uncounted struct {
	Ship engine.Ship // as last seen
	Why  string      // "B1 is covered"
}

// uncountedReach is how far an uncounted ship may be from where it was last seen.
const uncountedReach = 50 * geom.Millimeter

// Uncounted lists the ships left out of the standing scene.
func (s *State) Uncounted() (out []Uncounted) {
	for i := range s.Tracks {
		if k := &s.Tracks[i]; !k.State.Stands() {
			out = append(out, Uncounted{k.Ship, TrackText(k, s.Located.Captured)})
		}
	}
	return out
}

// markUncounted sets MayBlock and turns what a move's result says for sure into NoView where an
// uncounted ship may block the move. Overlaps with what is seen stay.
func (t *MovePreview) markUncounted(s *engine.Scene) {
	r := &t.Result
	own := s.Ship(t.Ship)
	if own == nil {
		return
	}
	profile := engine.ProfileOf(s)
	near := func(ends ...geom.Pose) (out []string) {
		for _, u := range t.Uncounted {
			if u.Ship.ID != t.Ship && t.reaches(&profile, &u.Ship, own.Base, ends) {
				out = append(out, u.Why)
			}
		}
		return out
	}
	if t.Doing == DoDrop {
		t.MayBlock = near(r.Final) // as if the device were as large as the base
	} else if len(r.Options) == 0 {
		t.MayBlock = near(r.Full, r.Final)
	}
	for i := range r.Options {
		o := &r.Options[i]
		ends := []geom.Pose{o.Final}
		if o.Range {
			ends = append(ends, o.FinalTo)
		}
		why := near(ends...)
		if len(why) == 0 {
			continue
		}
		if t.MayBlock = why; o.Legal != engine.No {
			o.Legal, o.Why = engine.NoView, strings.Join(why, ", ")
		}
	}
	if len(t.MayBlock) == 0 {
		return
	}
	if r.Outcome != engine.Indeterminate {
		r.Outcome = engine.NoView
	}
	if r.InFull == engine.Yes && t.Doing != DoDrop { // nothing stops a device
		r.InFull = bestOutcome(r.Options)
	}
}

// bestOutcome returns whether any option is legal; NoView if there are none.
func bestOutcome(options []move.Option) engine.Outcome {
	if len(options) == 0 {
		return engine.NoView
	}
	out := engine.No
	for _, rank := range [...]engine.Outcome{engine.NoView, engine.Indeterminate, engine.Yes} {
		if slices.ContainsFunc(options, func(o move.Option) bool { return o.Legal == rank }) {
			out = rank
		}
	}
	return out
}

// reaches reports whether an uncounted ship may be in the way of a move: under its template,
// under a base of the given size at the ends or between them, or along the template, where the
// moving ship may be backed up to.
func (t *MovePreview) reaches(profile *engine.Profile, u *engine.Ship, base engine.Base, ends []geom.Pose) bool {
	there := geom.Polygon(profile.Corners(u.Base, u.Pose))
	w, l := profile.Size(base)
	far, reach := float64(uncountedReach), math.Hypot(float64(w), float64(l))/2
	if p := geom.Polygon(t.Result.Template); len(p) > 0 && geom.Gap(p, there) <= far+reach {
		return true
	}
	for i, e := range ends {
		if geom.Gap(profile.Corners(base, e), there) <= far {
			return true
		}
		if i > 0 && geom.Gap(geom.Polygon{ends[i-1].Point, e.Point}, there) <= far+reach {
			return true
		}
	}
	return false
}
