// Package alike identifies ships that look alike after they were out of sight together.
//
// No picture distinguishes ships with the same card, but where they could have flown does: from where
// each stood, by the maneuvers and actions of its dial. The package weighs every assignment of the
// ships to the bases that are seen now. A base gets a name only if every assignment with another
// name is much worse, never because a ship is the nearest.
//
// Lengths are millimetres, angles radians, the frame is that of package geom.
package alike

import (
	"fmt"
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/flown"
	"sightline/engine/geom"
)

// Most is the largest number of ships that are assigned; if there are more, none gets a name.
const Most = 7

// Thresholds of squared distances, in standard deviations (engine/flown).
const (
	fits  = 16 // beyond it a ship cannot have flown to a place
	apart = 25 // by how much every other assignment must be worse for a name
)

// A player may also push a ship, or put it where another one stood. Costs are squared standard
// deviations.
const (
	pushedPlace = 4 * geom.Millimeter // standard deviations of a push
	pushedTurn  = 5 * geom.Degree
	pushedCost  = 6
	swappedAt   = 15 * geom.Millimeter // how near an exchanged ship is put to the other one's place
	swappedCost = 9
)

// Question is a question about ships that look alike: where they stood, and where bases that look
// like them stand now.
type Question struct {
	Before  *engine.Scene // with the ships where they stood
	Missing []string      // ships of Before that are not in their places
	Found   []engine.Ship // bases in new places; their names do not matter
	Others  []engine.Ship // the table's other ships as they stand now; they may be in the way
	Mixed   []string      // ships that were off the table together: their moves cannot distinguish them

	Moves func(ship string) flown.Candidates // the moves that a ship may have made
	Slop  flown.Slop
}

// Answer says which ship stands at a base that was found.
type Answer struct {
	Name string   // of the ship; "" if it may be more than one
	May  []string // the ships that may stand there, in the order of Missing
}

// Identify answers a question: one answer for each of the found bases.
func Identify(q *Question) ([]Answer, error) {
	out := make([]Answer, len(q.Found))
	if len(q.Found) > len(q.Missing) || len(q.Missing) > Most {
		for i := range out {
			out[i].May = slices.Clone(q.Missing)
		}
		return out, nil
	}
	costs := make([][]float64, len(q.Found))
	for i := range q.Found {
		for _, id := range q.Missing {
			c, err := q.cost(id, i)
			if err != nil {
				return nil, fmt.Errorf("alike: %w", err)
			}
			costs[i] = append(costs[i], c)
		}
	}
	best := weigh(costs, len(q.Missing))
	for i := range out {
		out[i] = q.name(best[i])
	}
	return out, nil
}

// name decides about one base. costs has, for each missing ship, the cost of the best assignment
// that puts it there.
func (q *Question) name(costs []float64) (a Answer) {
	least := slices.Min(costs)
	for k, id := range q.Missing {
		if costs[k]-least < apart || math.IsInf(least, 1) {
			a.May = append(a.May, id)
		}
	}
	if len(a.May) == 1 && !math.IsInf(least, 1) {
		a.Name = a.May[0]
	}
	return a
}

// weigh returns, for each base and each ship, the cost of the best assignment that gives the base
// this ship.
func weigh(costs [][]float64, ships int) [][]float64 {
	out := make([][]float64, len(costs))
	for i := range out {
		out[i] = slices.Repeat([]float64{math.Inf(1)}, ships)
	}
	given := make([]int, len(costs))
	var give func(i, taken int, sum float64)
	give = func(i, taken int, sum float64) {
		if math.IsInf(sum, 1) {
			return
		}
		if i == len(costs) {
			for b, k := range given {
				out[b][k] = min(out[b][k], sum)
			}
			return
		}
		for k := range ships {
			if taken>>k&1 == 0 {
				given[i] = k
				give(i+1, taken|1<<k, sum+costs[i][k])
			}
		}
	}
	give(0, 0, 0)
	return out
}

// cost returns the cost of a ship standing where a base was found; infinite if it cannot.
func (q *Question) cost(id string, found int) (float64, error) {
	to := q.Found[found]
	if slices.Contains(q.Mixed, id) {
		return 0, nil
	}
	at := slices.IndexFunc(q.Before.Ships, func(s engine.Ship) bool { return s.ID == id })
	if at < 0 {
		return 0, fmt.Errorf("%q: no such ship before", id)
	}
	from := &q.Before.Ships[at]
	least := math.Inf(1)
	if c := pushed(from, &to); c <= fits {
		least = c
	}
	for _, s := range q.Before.Ships {
		if s.ID != id && slices.Contains(q.Missing, s.ID) && s.Pose.Distance(to.Pose.Point) < swappedAt {
			least = min(least, swappedCost)
		}
	}
	for _, before := range []engine.Scene{*q.Before, q.meanwhile(from, found)} {
		n, err := flown.Reach(&before, id, to, q.Moves(id), q.Slop)
		if err != nil {
			return 0, err
		}
		if n.Squared <= fits {
			least = min(least, n.Squared)
		}
	}
	return least, nil
}

// meanwhile returns the table for the ship that moved last: the other ships stand in their present
// places.
func (q *Question) meanwhile(ship *engine.Ship, found int) engine.Scene {
	s := *q.Before
	s.Ships = append(slices.Clone(q.Others), *ship)
	for i, f := range q.Found {
		if i != found {
			f.ID = fmt.Sprintf("?%d", 900+i)
			s.Ships = append(s.Ships, f)
		}
	}
	return s
}

// pushed returns the distance of a base from a ship in standard deviations of an accidental push.
func pushed(from, to *engine.Ship) float64 {
	d := to.Pose.Distance(from.Pose.Point)
	turn := (to.Pose.Heading - from.Pose.Heading).Signed()
	return pushedCost + float64(d*d/(pushedPlace*pushedPlace)) + float64(turn*turn/(pushedTurn*pushedTurn))
}

// Swap exchanges the entries of two ships whose names a person swapped. m may lack either.
func Swap[T any](m map[string]T, a, b string) {
	was, hadA := m[a]
	is, hadB := m[b]
	delete(m, a)
	delete(m, b)
	if hadA {
		m[b] = was
	}
	if hadB {
		m[a] = is
	}
}
