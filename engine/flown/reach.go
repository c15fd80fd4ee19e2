package flown

import (
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
)

// Near is a ship's deviation from the likeliest end of its moves.
type Near struct {
	Squared float64 // distance in standard deviations
	Score   float64 // Squared plus the cost of a wide covariance; less is likelier, also between ships
}

// Reach returns how far a base stands from where a ship may have flown since before: by a maneuver,
// by an action, or by an action after a maneuver. to is the base; its name does not matter. Squared
// is infinite if no candidate ends within reach.
func Reach(before *engine.Scene, ship string, to engine.Ship, c Candidates, slop Slop) (Near, error) {
	to.ID = ship
	after := engine.Scene{MatWidth: before.MatWidth, MatHeight: before.MatHeight, Rules: before.Rules, Profile: before.Profile,
		Dimensions: before.Dimensions, Ships: []engine.Ship{to}}
	from, target, err := ends(before, &after, ship)
	if err != nil {
		return Near{}, err
	}
	slop.Place, slop.Turn = max(slop.Place, leastPlace), max(slop.Turn, leastTurn)
	all, err := hypotheses(before, from, target, Candidates{Maneuvers: c.Maneuvers}, slop)
	if err != nil {
		return Near{}, err
	}
	actions, err := hypotheses(before, from, target, Candidates{Actions: c.Actions}, slop)
	if err != nil {
		return Near{}, err
	}
	all = slices.Concat(all, actions, followed(all, actions, from.Pose))
	s := scorer{from: from, to: target, slop: slop, scale: before.ScaleSigma}
	out := Near{Squared: math.Inf(1), Score: math.Inf(1)}
	for i := range all {
		if f, ok := s.best(&all[i]); ok && f.score < out.Score {
			out = Near{Squared: f.squared, Score: f.score}
		}
	}
	return out, nil
}

// followed returns the actions after each fully executed maneuver: a ship that bumped has none. An
// action moves a ship in the same way from any place.
func followed(maneuvers, actions []candidate, start geom.Pose) (out []candidate) {
	for _, m := range maneuvers {
		for _, a := range actions {
			both := candidate{name: m.name + ", " + a.name}
			for _, first := range m.ends {
				for _, then := range a.ends {
					if !first.partial {
						both.ends = append(both.ends, hypothesis{a: carried(first.a, start, then.a), b: carried(first.b, start, then.b)})
					}
				}
			}
			out = append(out, both)
		}
	}
	return out
}

// carried returns the end of a move from another start: from start it ends at to.
func carried(from, start, to geom.Pose) geom.Pose {
	return geom.Pose{Point: from.Transform(start.Inverse(to.Point)), Heading: (from.Heading + to.Heading - start.Heading).Normalized()}
}
