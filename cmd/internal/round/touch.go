package round

import (
	"slices"

	"sightline/engine"
	"sightline/engine/move"
)

// This file tracks which ships touch in the first edition: one overlapped the other in a
// maneuver, and they have been in contact since (G95 to G101). The table alone does not show
// it. When a move was not seen, or is too close to call, the pair may touch.

// without returns the pairs without those of a ship.
func without(all [][2]string, id string) [][2]string {
	return slices.DeleteFunc(slices.Clone(all), func(p [2]string) bool { return p[0] == id || p[1] == id })
}

// mayTouchAll records that a ship moved unseen: it may touch every ship that it is in contact with.
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

// joined returns the pairs with a further one, unless it is among them or the others.
func joined(all, others [][2]string, a, b string) [][2]string {
	if engine.Touching(all).Has(a, b) || engine.Touching(others).Has(a, b) {
		return all
	}
	return append(slices.Clip(all), [2]string{a, b})
}

// touch updates the touching pairs after the move.
func (j *judgement) touch() {
	if j.g.Rules != engine.Rules1e {
		return
	}
	if j.f.Sort == Nudge { // no move: a nudged ship is put back
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
			j.keepPair(other, true)
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
			j.keepPair(other, false)
		}
	}
	for _, id := range may {
		j.f.MayTouch = joined(j.f.MayTouch, j.f.Touch, j.id, id)
	}
}

// other returns the other ship of a pair of the moved ship.
func (j *judgement) other(pair [2]string) (id string, own bool) {
	switch j.id {
	case pair[0]:
		return pair[1], true
	case pair[1]:
		return pair[0], true
	}
	return "", false
}

// keepPair keeps a pair of the moved ship while the two are or may be in contact (G96).
func (j *judgement) keepPair(other string, sure bool) {
	switch c := j.contact(j.after, other); {
	case c == engine.No:
	case sure && c == engine.Yes:
		j.f.Touch = joined(j.f.Touch, nil, j.id, other)
	default:
		j.f.MayTouch = joined(j.f.MayTouch, j.f.Touch, j.id, other)
	}
}

// contact reports whether the ship is in contact with another; NoView when unknown.
func (j *judgement) contact(s *engine.Scene, other string) engine.Outcome {
	v, err := engine.MeasurePair(s, j.id, other, engine.Options{})
	if err != nil {
		return engine.NoView
	}
	return v.Contact
}

// overlapped returns the ships in contact that the ship surely overlapped, and those that it may
// have. Actions (G98) and full maneuvers (G97) make no ships touch.
func (j *judgement) overlapped() (sure, may []string) {
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

// alone reports whether every fit ended against this ship and no other. Which of several ships it
// bumped into depends on a hair.
func (j *judgement) alone(id string) bool {
	for i := range j.fits {
		if t := j.fits[i].Touching; len(t) != 1 || t[0] != id {
			return false
		}
	}
	return true
}
