package live

import (
	"math"
	"slices"
	"strings"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
)

// Uncounted is a ship of the table that stands nowhere for sure: a hand covers it, it is
// lifted, it moves or it was still for too short. No scene that is measured on has it.
type Uncounted struct {
	Ship engine.Ship // where it was seen last
	Why  string      // "B1 is covered"
}

// strayed is how far from where it was seen last a ship is still thought to be.
const strayed = 50 * geom.Millimeter

// Uncounted lists the ships that the standing scene leaves out.
func (s *State) Uncounted() (out []Uncounted) {
	for i := range s.Tracks {
		if k := &s.Tracks[i]; !k.State.Stands() {
			out = append(out, Uncounted{k.Ship, TrackText(k, s.Located.Captured)})
		}
	}
	return out
}

// doubt takes back what a move's result says for sure where an uncounted ship may stand
// in the way. What meets a ship or an obstacle that is seen stays met.
func (t *MovePreview) doubt(s *engine.Scene) {
	r := &t.Result
	own := ShipOf(s, t.Ship)
	if own == nil {
		return
	}
	profile := ProfileOf(s)
	near := func(ends ...geom.Pose) (out []string) {
		for _, u := range t.Uncounted {
			if u.Ship.ID != t.Ship && t.reaches(&profile, &u.Ship, own.Base, ends) {
				out = append(out, u.Why)
			}
		}
		return out
	}
	if t.Doing == DoDrop {
		t.InTheWay = near(r.Final) // as if it were as large as the base
	} else if len(r.Options) == 0 {
		t.InTheWay = near(r.Full, r.Final)
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
		if t.InTheWay = why; o.Legal != engine.No {
			o.Legal, o.Why = engine.NoView, strings.Join(why, ", ")
		}
	}
	if len(t.InTheWay) == 0 {
		return
	}
	if r.Outcome != engine.Indeterminate {
		r.Outcome = engine.NoView
	}
	if r.InFull == engine.Yes && t.Doing != DoDrop { // nothing stops a device
		r.InFull = best(r.Options)
	}
}

// best returns whether any of the options is legal; NoView where there are none.
func best(options []move.Option) engine.Outcome {
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

// reaches reports whether a ship that was seen last somewhere may meet a move: its
// template, the base of the given kind at any of the ends or between them, or the base
// anywhere along the template, where it is sent back to.
func (t *MovePreview) reaches(profile *engine.Profile, u *engine.Ship, base engine.Base, ends []geom.Pose) bool {
	there := geom.Polygon(BaseOutline(profile, u.Base, u.Pose))
	w, l := profile.Size(base)
	far, reach := float64(strayed), math.Hypot(float64(w), float64(l))/2
	if p := geom.Polygon(t.Result.Template); len(p) > 0 && geom.Gap(p, there) <= far+reach {
		return true
	}
	for i, e := range ends {
		if geom.Gap(BaseOutline(profile, base, e), there) <= far {
			return true
		}
		if i > 0 && geom.Gap(geom.Polygon{ends[i-1].Point, e.Point}, there) <= far+reach {
			return true
		}
	}
	return false
}
