package round

import (
	"slices"

	"sightline/engine"
	"sightline/engine/move"
)

// This file keeps the first edition's relation between ships that touch: one overlapped the
// other in a maneuver, and they are in contact since (G95 to G101). No table shows it, so it
// is followed from move to move. What was not seen, or is too close to call, is kept as a
// pair that may touch.

// without leaves the pairs of a ship out.
func without(all [][2]string, id string) [][2]string {
	return slices.DeleteFunc(slices.Clone(all), func(p [2]string) bool { return p[0] == id || p[1] == id })
}

// mayTouchAll notes that a ship moved unseen: whatever it is in contact with, it
// may touch.
func (g *Game) mayTouchAll(p *Piece) {
	if g.Rules != engine.Rules1e {
		return
	}
	for i := range g.Ships {
		if q := &g.Ships[i]; q.ID != p.ID && q.Status == OnTable {
			g.MayTouch = joined(g.MayTouch, g.Touch, p.ID, q.ID)
		}
	}
}

// joined returns the pairs with a further one, unless it is there or among the others.
func joined(all, others [][2]string, a, b string) [][2]string {
	if engine.Touching(all).Has(a, b) || engine.Touching(others).Has(a, b) {
		return all
	}
	return append(slices.Clip(all), [2]string{a, b})
}

// touch follows the relation over what the ship has flown.
func (j *judging) touch() {
	if j.g.Rules != engine.Rules1e {
		return
	}
	if j.f.Sort == Nudge { // no move: who stands apart by a nudge is put back
		j.f.Touch, j.f.MayTouch = j.g.Touch, j.g.MayTouch
		return
	}
	sure, may := j.overlapped()
	still := j.f.Sort == Maneuver && j.f.Outcome == engine.Yes.String() && j.f.Move == move.Maneuver{Bearing: move.Stationary}.String()
	for _, pair := range j.g.Touch {
		switch other, own := j.other(pair); {
		case !own || still:
			j.f.Touch = append(j.f.Touch, pair)
		default:
			j.keeps(other, true)
		}
	}
	for _, id := range sure {
		j.f.MayTouch = slices.DeleteFunc(j.f.MayTouch, func(p [2]string) bool { other, own := j.other(p); return own && other == id })
		j.f.Touch = joined(j.f.Touch, nil, j.id, id)
	}
	for _, pair := range j.g.MayTouch {
		if other, own := j.other(pair); !own || still {
			j.f.MayTouch = joined(j.f.MayTouch, j.f.Touch, pair[0], pair[1])
		} else if j.contact(j.before, other) != engine.No {
			j.keeps(other, false)
		}
	}
	for _, id := range may {
		j.f.MayTouch = joined(j.f.MayTouch, j.f.Touch, j.id, id)
	}
}

// other returns the ship of a pair that is not the one that moved.
func (j *judging) other(pair [2]string) (id string, own bool) {
	switch j.id {
	case pair[0]:
		return pair[1], true
	case pair[1]:
		return pair[0], true
	}
	return "", false
}

// keeps keeps a pair of the moved ship as long as the two are in contact (G96), or may be.
func (j *judging) keeps(other string, sure bool) {
	switch c := j.contact(j.after, other); {
	case c == engine.No:
	case sure && c == engine.Yes:
		j.f.Touch = joined(j.f.Touch, nil, j.id, other)
	default:
		j.f.MayTouch = joined(j.f.MayTouch, j.f.Touch, j.id, other)
	}
}

// contact reports whether the ship is in contact with another; no view where that is not known.
func (j *judging) contact(s *engine.Scene, other string) engine.Outcome {
	v, err := engine.MeasurePair(s, j.id, other, engine.Options{})
	if err != nil {
		return engine.NoView
	}
	return v.Contact
}

// overlapped lists the ships that the ship overlapped for sure and is in contact with, and
// those for which that is not known. An action makes no touch (G98), nor does a maneuver in
// full (G97).
func (j *judging) overlapped() (sure, may []string) {
	decided := j.f.Outcome == engine.Yes.String()
	if j.f.Sort == Action || j.f.Sort == Maneuver && decided && !j.bumped {
		return nil, nil
	}
	for i := range j.after.Ships {
		id := j.after.Ships[i].ID
		if id == j.id || j.contact(j.after, id) == engine.No {
			continue
		}
		if j.bumped && j.alone(id) {
			sure = append(sure, id)
		} else {
			may = append(may, id)
		}
	}
	return sure, may
}

// alone reports whether each way in which the ship may have bumped ended against this ship
// and no other: against which of several is a hair.
func (j *judging) alone(id string) bool {
	for i := range j.fits {
		if t := j.fits[i].Touching; len(t) != 1 || t[0] != id {
			return false
		}
	}
	return true
}
