// Package flown determines what a ship has flown from where it stood and where it stands.
//
// It executes each possible maneuver and action from the old pose, with the other ships where they
// stood then; if a ship may have bumped, it is backed up along the template. It then compares the
// ends with where the ship stands. The squared distances are weighted with the covariances of both
// poses, the old one's propagated through the move, and with the imprecision with which people lay
// templates and set ships down ([Slop]).
//
// Lengths are millimetres, angles radians, the frame is that of package geom.
package flown

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
)

// The errors for scenes that cannot be compared.
var (
	ErrNoShip   = errors.New("no such ship in the scene")
	ErrQuarters = move.ErrQuarters
)

// Slop is the imprecision of a move by hand: the standard deviations of a ship's place along each
// axis and of its heading after the move.
type Slop struct {
	Place geom.Length
	Turn  geom.Angle
}

// UsualSlop is how precisely people usually lay templates and set ships down.
var UsualSlop = Slop{Place: 1.5 * geom.Millimeter, Turn: 1.5 * geom.Degree}

// The least slop: the rounding of a scene's numbers.
const (
	leastPlace = 1e-3 * geom.Millimeter
	leastTurn  = 1e-3 * geom.Degree
)

// Thresholds of squared distances, in standard deviations.
const (
	// fits is the distance within which 99.73 % of poses with three degrees of freedom
	// lie, as many as within 3 standard deviations with one.
	fits = 14.16
	// apart is by how much another candidate must be worse to be ruled out. The true candidate is
	// worse than another by that much in at most one of 3.5 million moves, however near the other's
	// end: this is the probability that a normal variable exceeds 5 standard deviations.
	apart = 25
)

// Fit is a candidate with the ship's deviation from its end.
type Fit struct {
	Name     string   // "bank left 2", "boost left"
	Action   bool     // an action, not a maneuver
	Also     []string // actions with the same template and end
	Place    string   // the chosen place: left, middle, right; forward …
	Distance geom.Length
	Turn     geom.Angle // unsigned
	Partial  bool       // not fully executed: the ship bumped
	Touching []string   // the ships that it touches at the end

	Ahead, Aside geom.Length // beyond the end along the direction flown, and to the right of it
	Clockwise    geom.Angle  // turn beyond the end's heading

	squared float64 // distance in standard deviations
	score   float64 // squared plus the cost of a wide covariance; less is likelier
}

// Verdict is the result: what a ship has flown.
type Verdict struct {
	Ship    string
	Outcome engine.Outcome // Yes: Best; Indeterminate: Best or one of Others; No: no candidate fits
	Best    Fit            // the likeliest; zero if none fits
	Others  []Fit          // those too close to Best to be ruled out; the nearest ones if none fits

	Moved  geom.Length // from where it stood
	Turned geom.Angle  // unsigned
}

// nearest is how many candidates are reported if none fits.
const nearest = 3

// Flown determines what a ship has flown between two scenes. Of the second scene it uses only the
// ship itself.
func Flown(before, after *engine.Scene, ship string, c Candidates, slop Slop) (Verdict, error) {
	from, to, err := ends(before, after, ship)
	if err != nil {
		return Verdict{}, err
	}
	if !(slop.Place >= 0 && slop.Turn >= 0) || math.IsInf(float64(slop.Place), 0) || math.IsInf(float64(slop.Turn), 0) {
		return Verdict{}, fmt.Errorf("flown: slop: expected 0 or more, got %v and %v", slop.Place, slop.Turn)
	}
	slop.Place, slop.Turn = max(slop.Place, leastPlace), max(slop.Turn, leastTurn)
	all, err := hypotheses(before, from, to, c, slop)
	if err != nil {
		return Verdict{}, err
	}
	s := scorer{from: from, to: to, slop: slop, scale: max(before.ScaleSigma, after.ScaleSigma)}
	var found []Fit
	for i := range all {
		if f, ok := s.best(&all[i]); ok {
			found = append(found, f)
		}
	}
	v := decide(found)
	d := difference(to.Pose, from.Pose)
	v.Ship, v.Moved, v.Turned = ship, geom.Length(math.Hypot(d[0], d[1])), geom.Angle(math.Abs(d[2]))
	return v, nil
}

// ends finds the ship in both scenes.
func ends(before, after *engine.Scene, id string) (from, to *engine.Ship, err error) {
	for i, s := range []*engine.Scene{before, after} {
		when := [...]string{"before", "after"}[i]
		if err := s.Validate(); err != nil {
			return nil, nil, fmt.Errorf("flown: %s: %w", when, err)
		}
		at := slices.IndexFunc(s.Ships, func(ship engine.Ship) bool { return ship.ID == id })
		if at < 0 {
			return nil, nil, fmt.Errorf("flown: %s: %q: %w", when, id, ErrNoShip)
		}
		if s.Ships[at].Quarters {
			return nil, nil, fmt.Errorf("flown: %s: %q: %w", when, id, ErrQuarters)
		}
		from, to = to, &s.Ships[at]
	}
	switch {
	case before.Rules != after.Rules:
		err = fmt.Errorf("flown: after: rules: expected those of before, %v, got %v", before.Rules, after.Rules)
	case from.Base != to.Base:
		err = fmt.Errorf("flown: after: %q: base: expected that of before, %v, got %v", id, from.Base, to.Base)
	}
	return from, to, err
}

// decide compares the candidates.
func decide(found []Fit) Verdict {
	v := Verdict{Outcome: engine.No}
	slices.SortStableFunc(found, func(a, b Fit) int { return compare(a.score, b.score) })
	best := slices.IndexFunc(found, func(f Fit) bool { return f.squared <= fits })
	if best < 0 {
		slices.SortStableFunc(found, func(a, b Fit) int { return compare(a.squared, b.squared) })
		v.Others = found[:min(nearest, len(found))]
		return v
	}
	v.Best, v.Outcome = found[best], engine.Yes
	for i, f := range found {
		if i != best && f.score-v.Best.score < apart {
			v.Others, v.Outcome = append(v.Others, f), engine.Indeterminate
		}
	}
	return v
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
