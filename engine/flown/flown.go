// Package flown says what a ship has flown, from where it stood and where it stands.
//
// Each maneuver and action that it may have flown is executed by package engine from the old
// pose, with the other ships where they then stood; where a ship may have bumped, it is backed
// up along the template. The ends are compared with where the ship stands: the squared
// distance is weighed with the covariances of both poses, the old one's carried along by the
// move, and with the slop of how people lay templates and set ships down ([Slop]).
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

// The errors about scenes that cannot be compared.
var (
	ErrNoShip   = errors.New("no such ship in the scene")
	ErrQuarters = move.ErrQuarters
)

// Slop is how people lay templates and set ships down: the standard deviations of the place
// along each axis and of the heading of a ship after its move.
type Slop struct {
	Place geom.Length
	Turn  geom.Angle
}

// The least slop: what a scene's numbers are rounded to.
const (
	leastPlace = 1e-3 * geom.Millimeter
	leastTurn  = 1e-3 * geom.Degree
)

// Thresholds of squared distances, in standard deviations.
const (
	// fits is the distance within which 99.73 % of poses with three degrees of freedom
	// lie, as many as within 3 standard deviations with one.
	fits = 14.16
	// apart is by how much another candidate must be worse to be ruled out. The true candidate
	// is that much worse than another in at most one of 3.5 million moves, however near the
	// other's end lies: the chance that a normal variable exceeds 5 standard deviations.
	apart = 25
)

// Fit is a candidate and how far from its end the ship stands.
type Fit struct {
	Name     string   // "bank left 2", "boost left"
	Action   bool     // an action, not a maneuver
	Also     []string // actions that end at the same place with the same template
	Place    string   // of the places that a player chooses from: left, middle, right; forward …
	Distance geom.Length
	Turn     geom.Angle // unsigned
	Partial  bool       // not executed in full: it bumped
	Touching []string   // the ships that it touches then

	Ahead, Aside geom.Length // how far beyond the end along the way flown, and to the right of it
	Clockwise    geom.Angle  // how far its heading is turned beyond the end's

	squared float64 // distance in standard deviations
	score   float64 // the same and what a wide covariance costs; less is likelier
}

// Verdict is what a ship has flown.
type Verdict struct {
	Ship    string
	Outcome engine.Outcome // Yes: Best; Indeterminate: Best or one of Others; No: nothing fits
	Best    Fit            // the likeliest; zero where nothing fits
	Others  []Fit          // those too close to Best to rule out; where nothing fits, the nearest ones

	Moved  geom.Length // from where it stood
	Turned geom.Angle  // unsigned
}

// nearest is how many candidates are named where none fits.
const nearest = 3

// Flown says what a ship has flown between two scenes. Of the second it uses only the ship
// itself.
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
