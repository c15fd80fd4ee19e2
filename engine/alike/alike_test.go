package alike_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/alike"
	"sightline/engine/flown"
	"sightline/engine/geom"
	"sightline/engine/move"
)

// dial is a TIE fighter's.
const dial = "1NW 1BW 2TB 2BB 2FB 2NB 2YB 3TW 3BW 3FB 3NW 3YW 3KR 4FW 4KR 5FW"

// Standard deviations: how well a hand lays a template and sets a ship down, and what is measured of a stock ship.
const (
	handPlace, handTurn = 1 * geom.Millimeter, 1 * geom.Degree
	seenPlace, seenTurn = 0.25 * geom.Millimeter, 0.25 * geom.Degree
)

// game is a table with ships that look alike, as it is and as it was seen last.
type game struct {
	rng   *rand.Rand
	truth engine.Scene
	seen  engine.Scene
	moves flown.Candidates
}

// newGame lays out a squad of k ships in rows of across, 50 mm apart, and some ships of another look.
func newGame(seed uint64, k, across int) *game {
	g := &game{rng: rand.New(rand.NewPCG(seed, 7)), moves: flown.Every()}
	g.moves.Maneuvers, _ = flown.ParseDial(dial)
	g.truth = engine.Scene{MatWidth: 914, MatHeight: 914, Rules: engine.Rules25}
	ship := func(id string, player int, x, y, degrees float64) {
		g.truth.Ships = append(g.truth.Ships, engine.Ship{ID: id, Player: player, Base: engine.Small,
			Pose: g.hand(geom.Pose{Point: geom.Point{X: x, Y: y}, Heading: geom.Angle(degrees) * geom.Degree})})
	}
	for i := range k {
		ship(fmt.Sprintf("A%d", i+1), 1, 300+50*float64(i%across), 140-50*float64(i/across), 0)
	}
	for i := range 3 {
		ship(fmt.Sprintf("B%d", i+1), 2, 350+100*float64(i), 700, 180)
	}
	g.look()
	return g
}

// hand is a pose as a hand sets a ship down.
func (g *game) hand(p geom.Pose) geom.Pose {
	p.X, p.Y = p.X+float64(handPlace)*g.rng.NormFloat64(), p.Y+float64(handPlace)*g.rng.NormFloat64()
	p.Heading = (p.Heading + handTurn*geom.Angle(g.rng.NormFloat64())).Normalized()
	return p
}

// measured is a ship as it is seen.
func (g *game) measured(s engine.Ship) engine.Ship {
	s.Pose.X += float64(seenPlace) * g.rng.NormFloat64()
	s.Pose.Y += float64(seenPlace) * g.rng.NormFloat64()
	s.Pose.Heading = (s.Pose.Heading + seenTurn*geom.Angle(g.rng.NormFloat64())).Normalized()
	s.Covariance = geom.Cov3{float64(seenPlace * seenPlace), 0, 0, 0, float64(seenPlace * seenPlace), 0, 0, 0, float64(seenTurn * seenTurn)}
	s.Seen = "look"
	return s
}

// look sees all ships where they stand; their names are known.
func (g *game) look() {
	g.seen = g.truth
	g.seen.Ships = nil
	for _, s := range g.truth.Ships {
		g.seen.Ships = append(g.seen.Ships, g.measured(s))
	}
}

// fly moves ships one after the other, or none where one would leave the mat.
func (g *game) fly(ids ...string) bool {
	before := slices.Clone(g.truth.Ships)
	for _, id := range ids {
		if !g.flyOne(id) {
			g.truth.Ships = before
			return false
		}
	}
	return true
}

// flyOne moves a ship as its player may: a maneuver of its dial, and often a boost or a barrel roll.
func (g *game) flyOne(id string) bool {
	s := &g.truth.Ships[slices.IndexFunc(g.truth.Ships, func(s engine.Ship) bool { return s.ID == id })]
	r, err := move.Execute(&g.truth, id, g.moves.Maneuvers[g.rng.IntN(len(g.moves.Maneuvers))], engine.Options{})
	if err != nil || r.Final.X < 30 || r.Final.Y < 30 || r.Final.X > 884 || r.Final.Y > 884 {
		return false
	}
	s.Pose = r.Final
	if r.FullyExecuted && g.rng.Float64() < 0.3 {
		a := g.moves.Actions[g.rng.IntN(len(g.moves.Actions))]
		after, err := move.Reposition(&g.truth, id, a, engine.Options{})
		if err == nil && after.InFull == engine.Yes {
			s.Pose = after.Full
			if after.Chosen {
				s.Pose = after.Options[g.rng.IntN(len(after.Options))].Final
			}
		}
	}
	s.Pose = g.hand(s.Pose)
	return true
}

// tell asks which of the ships that moved is which, and returns how many are not named and how many have a wrong name.
func (g *game) tell(t *testing.T, moved, mixed []string) (asked, wrong int) {
	q := alike.Question{Before: &g.seen, Missing: moved, Mixed: mixed, Moves: func(string) flown.Candidates { return g.moves },
		Slop: flown.Slop{Place: 1.5 * geom.Millimeter, Turn: 1.5 * geom.Degree}}
	var truth []string
	for _, s := range g.truth.Ships {
		switch m := g.measured(s); {
		case slices.Contains(moved, s.ID):
			m.ID = fmt.Sprintf("?%d", len(q.Found)+1)
			q.Found, truth = append(q.Found, m), append(truth, s.ID)
		default:
			q.Others = append(q.Others, m)
		}
	}
	got, err := alike.Identify(&q)
	require.NoError(t, err)
	for i, a := range got {
		switch {
		case a.Name == "":
			asked++
			assert.Contains(t, a.May, truth[i], "the ask must offer the ship that it is")
		case a.Name != truth[i]:
			wrong++
			t.Logf("%s is taken for %s", truth[i], a.Name)
		}
	}
	return asked, wrong
}

// pair chooses two of the ships that look alike.
func (g *game) pair(k int) []string {
	i := g.rng.IntN(k)
	j := (i + 1 + g.rng.IntN(k-1)) % k
	return []string{fmt.Sprintf("A%d", min(i, j)+1), fmt.Sprintf("A%d", max(i, j)+1)}
}

// exchange puts two ships where the other one stood.
func (g *game) exchange(ids []string) {
	at := func(id string) *engine.Ship {
		return &g.truth.Ships[slices.IndexFunc(g.truth.Ships, func(s engine.Ship) bool { return s.ID == id })]
	}
	a, b := at(ids[0]), at(ids[1])
	a.Pose, b.Pose = g.hand(b.Pose), g.hand(a.Pose)
}

// Twenty games with three to six ships alike: moves of one ship and of two that no one saw, ships that hands exchange, and ships
// that were off the table together. No ship ever gets another's name, and few double moves have to be asked about.
func TestScriptedGames(t *testing.T) {
	games := 20
	if testing.Short() {
		games = 5
	}
	double, askedDouble, single, askedSingle, swaps, lifts := 0, 0, 0, 0, 0, 0
	for n := range games {
		k := 3 + n%4
		g := newGame(uint64(n), k, []int{2, 3, 1}[n%3])
		for move := range 12 {
			moved := g.pair(k)
			switch move {
			case 5: // a hand exchanges two ships
				g.exchange(moved)
				asked, wrong := g.tell(t, moved, nil)
				assert.Equal(t, []int{2, 0}, []int{asked, wrong}, "game %d: two ships were exchanged", n)
				swaps++
			case 9: // two ships were lifted, and come back in their places or in each other's
				if g.rng.IntN(2) == 0 {
					g.exchange(moved)
				}
				asked, wrong := g.tell(t, moved, moved)
				assert.Equal(t, []int{2, 0}, []int{asked, wrong}, "game %d: two ships were off the table together", n)
				lifts++
			case 1, 3, 4, 7, 8, 11:
				if !g.fly(moved...) {
					continue
				}
				asked, wrong := g.tell(t, moved, nil)
				assert.Zero(t, wrong, "game %d, move %d", n, move)
				double++
				if asked > 0 {
					askedDouble++
				}
			default:
				if !g.fly(moved[0]) {
					continue
				}
				asked, wrong := g.tell(t, moved[:1], nil)
				assert.Zero(t, wrong, "game %d, move %d", n, move)
				single++
				askedSingle += asked
			}
			g.look() // an ask was answered with a tap
		}
	}
	t.Logf("%d double moves, %d asked; %d single moves, %d asked; %d exchanged, %d lifted together, all asked", double, askedDouble,
		single, askedSingle, swaps, lifts)
	assert.LessOrEqual(t, float64(askedDouble), 0.15*float64(double), "double moves asked")
	assert.Zero(t, askedSingle)
}

// A single missing ship is named by elimination only where it can have gone.
func TestASingleShipIsNamedWithinItsReach(t *testing.T) {
	g := newGame(1, 3, 3)
	q := alike.Question{Before: &g.seen, Missing: []string{"A1"}, Others: g.seen.Ships[1:],
		Slop: flown.Slop{Place: 1.5 * geom.Millimeter, Turn: 1.5 * geom.Degree}, Moves: func(string) flown.Candidates { return g.moves }}
	r, err := move.Execute(&g.seen, "A1", move.Maneuver{Bearing: move.Straight, Speed: 2}, engine.Options{})
	require.NoError(t, err)
	at := g.seen.Ships[0]
	at.ID, at.Pose = "?1", r.Full
	q.Found = []engine.Ship{at}
	got, err := alike.Identify(&q)
	require.NoError(t, err)
	assert.Equal(t, []alike.Answer{{Name: "A1", May: []string{"A1"}}}, got)

	q.Found[0].Pose.X, q.Found[0].Pose.Y = 800, 800 // it was carried there
	got, err = alike.Identify(&q)
	require.NoError(t, err)
	assert.Equal(t, []alike.Answer{{May: []string{"A1"}}}, got)

	q.Found = []engine.Ship{at, at} // one more than is missing
	got, err = alike.Identify(&q)
	require.NoError(t, err)
	assert.Equal(t, []alike.Answer{{May: []string{"A1"}}, {May: []string{"A1"}}}, got)

	q.Found, q.Missing = q.Found[:1], []string{"A9"}
	_, err = alike.Identify(&q)
	assert.ErrorContains(t, err, `"A9": no such ship before`)
}

func TestSwapExchangesWhatTwoShipsHave(t *testing.T) {
	for _, c := range []struct{ is, want map[string]int }{
		{map[string]int{"A1": 1, "A2": 2, "A3": 3}, map[string]int{"A1": 2, "A2": 1, "A3": 3}},
		{map[string]int{"A1": 1, "A3": 3}, map[string]int{"A2": 1, "A3": 3}},
		{map[string]int{"A2": 2}, map[string]int{"A1": 2}},
		{map[string]int{"A3": 3}, map[string]int{"A3": 3}},
	} {
		alike.Swap(c.is, "A1", "A2")
		assert.Equal(t, c.want, c.is)
	}
	assert.NotPanics(t, func() { alike.Swap[int](nil, "A1", "A2") })
}
