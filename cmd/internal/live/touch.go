package live

import (
	"slices"

	"sightline/engine"
)

// Touch is what a first edition game knows about which ships touch. Nil knows nothing.
type Touch struct {
	Ships    []string    // of the game
	Touching [][2]string // pairs that touch for sure
	May      [][2]string // pairs that may touch if they are in contact
}

// Options returns the options for measuring a scene. A ship that is not of the game may touch
// any other.
func (t *Touch) Options(s *engine.Scene, sigmas float64) engine.Options {
	o := engine.Options{Sigmas: sigmas}
	if t == nil || s.Rules != engine.Rules1e {
		return o
	}
	o.Touching, o.MayTouch = append(engine.Touching{}, t.Touching...), append(engine.Touching{}, t.May...)
	for i := range s.Ships {
		for k := range s.Ships[:i] {
			if a, b := s.Ships[i].ID, s.Ships[k].ID; !slices.Contains(t.Ships, a) || !slices.Contains(t.Ships, b) {
				o.MayTouch = append(o.MayTouch, [2]string{a, b})
			}
		}
	}
	return o
}

// WithMoved returns what is known after a ship has moved: it may touch any other.
func (t *Touch) WithMoved(id string) *Touch {
	if t == nil {
		return nil
	}
	others := func(all [][2]string) [][2]string {
		return slices.DeleteFunc(slices.Clone(all), func(p [2]string) bool { return p[0] == id || p[1] == id })
	}
	out := &Touch{Ships: t.Ships, Touching: others(t.Touching), May: others(t.May)}
	for _, other := range t.Ships {
		if other != id {
			out.May = append(out.May, [2]string{id, other})
		}
	}
	return out
}
