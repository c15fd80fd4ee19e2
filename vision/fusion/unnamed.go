package fusion

import (
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/token"
)

// Each camera numbers the unidentified bases separately: one camera's ?1 may be another's ?3, or
// A1. Bases do not overlap, so what two cameras see in one place is one base.

// seenBase is a base as the views see it.
type seenBase struct {
	id   string
	base engine.Base
	at   []geom.Pose
	in   []int // the views that see it
}

// here reports whether a ship of a view stands where the base does and that view does not see the
// base elsewhere.
func (b *seenBase) here(view int, s *engine.Ship) bool {
	return !slices.Contains(b.in, view) && slices.ContainsFunc(b.at, func(p geom.Pose) bool {
		return token.BasesOverlap(b.base, p, s.Base, s.Pose, token.BasesLap)
	})
}

// distance returns the distance of a ship from the nearest place in which the base is seen.
func (b *seenBase) distance(s *engine.Ship) geom.Length {
	least := b.at[0].Distance(s.Pose.Point)
	for _, p := range b.at[1:] {
		least = min(least, p.Distance(s.Pose.Point))
	}
	return least
}

// NameAlike returns the views with the same name for each base: the one that a view knows, or else
// a number that is not taken and that no other base has, if possible the first view's.
func NameAlike(views []vision.Located, taken []string) []vision.Located {
	var bases []*seenBase
	add := func(b *seenBase, view int, s *engine.Ship) {
		b.at, b.in = append(b.at, s.Pose), append(b.in, view)
	}
	out := slices.Clone(views)
	each := func(unnamed bool, do func(view int, s *engine.Ship)) {
		for v := range out {
			for i := range out[v].Scene.Ships {
				if s := &out[v].Scene.Ships[i]; token.Unidentified(s.ID) == unnamed {
					do(v, s)
				}
			}
		}
	}
	for v := range out {
		out[v].Scene.Ships, out[v].Ships = slices.Clone(out[v].Scene.Ships), slices.Clone(out[v].Ships)
	}
	each(false, func(v int, s *engine.Ship) {
		i := slices.IndexFunc(bases, func(b *seenBase) bool { return b.id == s.ID })
		if i < 0 {
			i = len(bases)
			bases = append(bases, &seenBase{id: s.ID, base: s.Base})
		}
		add(bases[i], v, s)
	})
	each(true, func(v int, s *engine.Ship) {
		var nearest *seenBase
		for _, b := range bases {
			if b.here(v, s) && (nearest == nil || b.distance(s) < nearest.distance(s)) {
				nearest = b
			}
		}
		if nearest == nil {
			others := taken
			if v == 0 { // they are its own
				others = nil
			}
			nearest = &seenBase{id: freeNumber(s.ID, bases, others), base: s.Base}
			bases = append(bases, nearest)
		}
		add(nearest, v, s)
		s.ID = nearest.id
		if c, err := token.CodeOfID(s.ID); err == nil {
			s.Player = c.Player()
		}
	})
	for v := range out {
		for i := range out[v].Ships {
			if i < len(out[v].Scene.Ships) {
				out[v].Ships[i].ID = out[v].Scene.Ships[i].ID
			}
		}
	}
	return out
}

// freeNumber returns id if it is free, or else a number that is not taken and that no base has.
func freeNumber(id string, bases []*seenBase, taken []string) string {
	for n := 1; slices.Contains(taken, id) || slices.ContainsFunc(bases, func(b *seenBase) bool { return b.id == id }); n++ {
		id = token.UnidentifiedID(n)
	}
	return id
}

// mayBe returns the ships that a sighting may be; none means any.
func mayBe(s *engine.Ship) []string {
	switch {
	case len(s.NameDoubt) > 0:
		return s.NameDoubt
	case token.Unidentified(s.ID):
		return nil
	}
	return []string{s.ID}
}

// both returns the ships that two sightings may both be; none means any.
func both(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 {
		return append(slices.Clone(a), b...)
	}
	return slices.DeleteFunc(slices.Clone(a), func(id string) bool { return !slices.Contains(b, id) })
}

// otherCards returns the cameras that see one base if there is no ship that it may be for all of
// them; otherwise none.
func otherCards(of []sightOf) (cameras []string) {
	var may []string
	for i := range of {
		own := mayBe(&of[i].ship)
		cameras = append(cameras, of[i].names...)
		if len(may) > 0 && len(own) > 0 && len(both(may, own)) == 0 {
			slices.Sort(cameras)
			return cameras
		}
		may = both(may, own)
	}
	return nil
}
