package flown_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/flown"
	"sightline/engine/geom"
	"sightline/engine/move"
)

// simulated is a table of ships whose true poses are known, and how it was measured.
type simulated struct {
	rng      *rand.Rand
	truth    engine.Scene
	measured engine.Scene
}

// Of the simulated camera: the standard deviations of a pose.
const (
	seenPlace = 0.3                   // mm
	seenTurn  = 0.2 * math.Pi / 180.0 // rad
)

// table lays 2 to 6 ships that do not overlap, near each other.
func table(rng *rand.Rand, rules engine.Rules) simulated {
	s := simulated{rng: rng, truth: engine.Scene{Rules: rules, MatWidth: 914.4, MatHeight: 914.4}}
	bases := []engine.Base{engine.Small, engine.Small, engine.Medium, engine.Large}
	if rules == engine.Rules1e {
		bases = []engine.Base{engine.Small, engine.Small, engine.Large}
	}
	for n := 2 + rng.IntN(5); len(s.truth.Ships) < n; {
		ship := engine.Ship{ID: fmt.Sprintf("S%d", len(s.truth.Ships)+1), Player: 1 + len(s.truth.Ships)%2, Base: bases[rng.IntN(len(bases))],
			Pose: geom.Pose{Point: geom.Point{X: 250 + 400*rng.Float64(), Y: 250 + 400*rng.Float64()},
				Heading: geom.Angle(2 * math.Pi * rng.Float64())}}
		w, _ := ship.Base.Size()
		clear := !slices.ContainsFunc(s.truth.Ships, func(o engine.Ship) bool {
			ow, _ := o.Base.Size()
			return ship.Pose.Sub(o.Pose.Point).Norm() < float64(w+ow)*0.75+4
		})
		if clear {
			s.truth.Ships = append(s.truth.Ships, ship)
		}
	}
	s.measured = s.seen(s.truth)
	return s
}

// seen is what the camera makes of a table.
func (s *simulated) seen(truth engine.Scene) engine.Scene {
	m := truth
	m.Ships = slices.Clone(truth.Ships)
	for i := range m.Ships {
		m.Ships[i].Pose = shaken(s.rng, m.Ships[i].Pose, seenPlace, seenTurn)
		m.Ships[i].Covariance = geom.Cov3{0: seenPlace * seenPlace, 4: seenPlace * seenPlace, 8: seenTurn * seenTurn}
	}
	return m
}

func shaken(rng *rand.Rand, p geom.Pose, place, turn float64) geom.Pose {
	p.X += place * rng.NormFloat64()
	p.Y += place * rng.NormFloat64()
	p.Heading = (p.Heading + geom.Angle(turn*rng.NormFloat64())).Normalized()
	return p
}

// person moves the first ship as people do: the template is laid askew and off its place,
// the ship goes along it up to what is in the way, and is set down a little off. askew is the share of
// the slop's variance that is in how the template is laid. ok is false where the rules allow no such move.
func (s *simulated) person(c flown.Candidates, slop flown.Slop, askew float64) (after engine.Scene, name string, partial, ok bool) {
	laid, set := math.Sqrt(askew), math.Sqrt(1-askew)
	place, turn := float64(slop.Place), float64(slop.Turn)
	during := s.truth
	during.Ships = slices.Clone(s.truth.Ships)
	during.Ships[0].Pose = shaken(s.rng, during.Ships[0].Pose, laid*place, laid*turn)
	var r move.Result
	var err error
	if n := s.rng.IntN(len(c.Maneuvers) + len(c.Actions)); n < len(c.Maneuvers) {
		name = c.Maneuvers[n].String()
		r, err = move.Execute(&during, "S1", c.Maneuvers[n], engine.Options{})
	} else {
		name = c.Actions[n-len(c.Maneuvers)].String()
		r, err = move.Reposition(&during, "S1", c.Actions[n-len(c.Maneuvers)], engine.Options{})
		if r.InFull != engine.Yes {
			return after, name, false, false
		}
	}
	if err != nil {
		return after, name, false, false
	}
	end := r.Final
	if r.Chosen {
		var legal []move.Option
		for _, o := range r.Options {
			if o.Legal == engine.Yes {
				legal = append(legal, o)
			}
		}
		o := legal[s.rng.IntN(len(legal))]
		if end = o.Final; o.Range {
			end.Point = end.Lerp(o.FinalTo.Point, s.rng.Float64())
		}
	}
	truth := during
	truth.Ships[0].Pose = shaken(s.rng, end, set*place, set*turn)
	return s.seen(truth), name, !r.FullyExecuted, true
}

// tally counts what was said of simulated moves.
type tally struct{ moves, decided, tooClose, none, wrong, bumps, bumpsDecided int }

func (n tally) String() string {
	share := func(k, of int) float64 { return 100 * float64(k) / float64(max(1, of)) }
	return fmt.Sprintf("%d moves: decided %.1f %%, too close %.1f %%, none %.1f %%; of %d bumps decided %.1f %%; wrong and decided: %d",
		n.moves, share(n.decided, n.moves), share(n.tooClose, n.moves), share(n.none, n.moves), n.bumps, share(n.bumpsDecided, n.bumps), n.wrong)
}

// dial returns what a ship of an invented dial may fly: 16 maneuvers and three actions.
func dial(rng *rand.Rand, every flown.Candidates) flown.Candidates {
	c := flown.Candidates{Maneuvers: slices.Clone(every.Maneuvers), Actions: slices.Clone(every.Actions)}
	rng.Shuffle(len(c.Maneuvers), func(i, k int) { c.Maneuvers[i], c.Maneuvers[k] = c.Maneuvers[k], c.Maneuvers[i] })
	rng.Shuffle(len(c.Actions), func(i, k int) { c.Actions[i], c.Actions[k] = c.Actions[k], c.Actions[i] })
	c.Maneuvers, c.Actions = c.Maneuvers[:16], c.Actions[:3]
	return c
}

// simulate moves ships. Half of them have a dial: all counts all ships, dials those.
func simulate(t *testing.T, rules engine.Rules, moves int, slop flown.Slop, askew float64, seed uint64) (all, dials tally) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, uint64(rules)))
	for all.moves < moves {
		s := table(rng, rules)
		c, tallies := flown.Every(), []*tally{&all}
		if all.moves%2 == 1 {
			c, tallies = dial(rng, c), append(tallies, &dials)
		}
		after, name, partial, ok := s.person(c, slop, askew)
		if !ok {
			continue
		}
		v, err := flown.Flown(&s.measured, &after, "S1", c, slop)
		require.NoError(t, err)
		for _, n := range tallies {
			n.count(&v, name, partial)
		}
		if v.Outcome == engine.Yes && !names(&v.Best, name) {
			t.Errorf("%v: %s was flown (partial %v), and %v was decided: before %+v, after %+v", rules, name, partial, v.String(),
				s.measured.Ships, after.Ships[0])
		}
	}
	return all, dials
}

func names(f *flown.Fit, name string) bool { return f.Name == name || slices.Contains(f.Also, name) }

func (n *tally) count(v *flown.Verdict, name string, partial bool) {
	n.moves++
	if partial {
		n.bumps++
	}
	switch {
	case v.Outcome == engine.No:
		n.none++
	case v.Outcome == engine.Indeterminate:
		n.tooClose++
	case !names(&v.Best, name):
		n.wrong++
	default:
		n.decided++
		if partial {
			n.bumpsDecided++
		}
	}
}

// TestSimulatedMoves: of moves with people's slop, no wrong maneuver is called decided, and
// nearly all are decided that were executed in full. Every maneuver and action is a candidate: a
// dial leaves fewer. This runs 5000 per slop:
//
//	SIGHTLINE_SCENES=834 go test ./engine/flown -run TestSimulatedMoves -v -timeout 3h
func TestSimulatedMoves(t *testing.T) {
	moves := 24
	if testing.Short() {
		moves = 6
	}
	if n, err := strconv.Atoi(os.Getenv("SIGHTLINE_SCENES")); err == nil {
		moves = n
	}
	for _, rules := range []engine.Rules{engine.Rules1e, engine.Rules20, engine.Rules25} {
		for _, slop := range []float64{1, 2, 3} {
			for _, askew := range []float64{0, 0.5} {
				t.Run(fmt.Sprintf("%v, slop %v, askew %v", rules, slop, askew), func(t *testing.T) {
					s := flown.Slop{Place: geom.Length(slop), Turn: geom.Angle(slop) * geom.Degree}
					n, dials := simulate(t, rules, moves, s, askew, uint64(100*slop)+uint64(10*askew))
					t.Log(n)
					t.Log("with a dial: ", dials)
					assert.Zero(t, n.wrong)
					assert.Greater(t, n.decided, moves/2)
				})
			}
		}
	}
}
