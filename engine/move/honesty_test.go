package move_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
	"sightline/engine/move"
)

// This file holds moves to the same promise as measurements: truths are drawn from
// the covariance that a measured scene states, moved exactly, and compared.

// moveQuestion is one of the things that can be asked about a scene's move: by
// what it does.
type moveQuestion func(*engine.Scene) (move.Result, error)

// verdictsOf lists every question that a move answers and its outcome. An end that
// the rules let the player choose answers on its own.
func verdictsOf(s *engine.Scene, r *move.Result) map[string]engine.Outcome {
	a := map[string]engine.Outcome{"flees": r.Flees}
	undecided := func(q string) bool { return slices.Contains(r.Undecided, q) }
	is := func(name, doubt string, yes bool) {
		switch {
		case undecided(doubt):
			a[name] = engine.Indeterminate
		case yes:
			a[name] = engine.Yes
		default:
			a[name] = engine.No
		}
	}
	if len(r.Options) > 0 {
		delete(a, "flees")
		for _, o := range r.Options {
			if !o.Range {
				a["legal "+o.Name] = o.Legal
				continue
			}
			// Of a slide the question is whether there is a place.
			best, ok := a["place"]
			if !ok || o.Legal == engine.Yes || o.Legal == engine.Indeterminate && best == engine.No {
				a["place"] = o.Legal
			}
		}
		return a
	}
	for i := range s.Ships[1:] {
		id := s.Ships[i+1].ID
		is("overlap "+id, "overlapping "+id, slices.Contains(r.FirstOverlapped, id))
		is("through "+id, "moving through "+id, slices.Contains(r.MovedThrough, id))
	}
	for _, o := range s.Obstacles {
		h := hitOf(*r, o.ID)
		a["template "+o.ID], a["base "+o.ID] = h.Template, h.Base
	}
	return a
}

// measuredMove makes a scene as a camera sees it, and something to do in it.
func measuredMove(r *rand.Rand, size float64) (engine.Scene, moveQuestion, string) {
	s, m := randomMove(r)
	s.Rules = engine.Rules(1 + r.IntN(3))
	s = withRock(r, s)
	s.Obstacles[0].Sigma = geom.Length(0.3 * r.Float64())
	s.MatWidth, s.MatHeight = 600, 600
	if s.Rules == engine.Rules1e {
		for i := range s.Ships {
			if s.Ships[i].Base == engine.Medium {
				s.Ships[i].Base = engine.Small
			}
		}
	}
	s.ScaleSigma = 0.0003 * r.Float64()
	for i := range s.Ships {
		enginetest.Uncertain(r, &s.Ships[i], size)
	}
	name, ask := "maneuver", moveQuestion(func(s *engine.Scene) (move.Result, error) {
		return move.Execute(s, "A", m, engine.Options{})
	})
	if r.IntN(4) == 0 {
		a := move.Action{Kind: move.ActionKind(r.IntN(3)), To: move.Direction(r.IntN(3))}
		if a.To == move.Forward && a.Kind == move.BarrelRoll {
			a.To = move.ToRight
		}
		if a.To != move.Forward && a.Kind != move.Boost && s.Ships[0].Base == engine.Small && r.IntN(4) == 0 {
			a.Bend = move.BendForward + move.Bend(r.IntN(2))
		}
		// What ships there are stands where a roll may end.
		for i := range s.Ships[1:] {
			p := &s.Ships[i+1].Pose
			p.Point = s.Ships[0].Pose.Transform(geom.Point{X: 320 * (r.Float64() - 0.5), Y: 200*r.Float64() - 40})
		}
		name, ask = "action", func(s *engine.Scene) (move.Result, error) {
			return move.Reposition(s, "A", a, engine.Options{})
		}
	}
	return s, ask, name
}

// drawTable returns a truth for a measured scene of any number of ships and rocks.
func drawTable(r *rand.Rand, s *engine.Scene) engine.Scene {
	truth := *s
	truth.Ships, truth.Obstacles = slices.Clone(s.Ships), slices.Clone(s.Obstacles)
	for i := range truth.Ships {
		truth.Ships[i] = enginetest.Draw(r, truth.Ships[i])
	}
	a, scale := s.Ships[0].Pose.Point, s.ScaleSigma*r.NormFloat64()
	move := func(p *geom.Point) { *p = p.Add(p.Sub(a).Mul(scale)) }
	for i := range truth.Ships[1:] {
		move(&truth.Ships[i+1].Pose.Point)
	}
	for i := range truth.Obstacles {
		o := &truth.Obstacles[i]
		move(&o.Pose.Point)
		o.Pose.X += float64(o.Sigma) * r.NormFloat64()
		o.Pose.Y += float64(o.Sigma) * r.NormFloat64()
		o.Sigma = 0
	}
	truth.ScaleSigma = 0
	return truth
}

// moveTally counts answers to one kind of question.
type moveTally struct {
	asked, ours, ideal int     // questions; too close, and too close for the ideal rule
	overconfident      int     // decided, while more than ten times the promised share of truths answers otherwise
	drawn, wrong       int     // truths that a decided answer was held against
	worst              float64 // share of truths against a decided answer
}

// askMoves measures scenes, draws truths for each, and counts.
func askMoves(t *testing.T, seed uint64, scenes, draws int, size float64) map[string]*moveTally {
	const k = engine.DefaultSigmas
	ideal := math.Erfc(k/math.Sqrt2) / 2
	r := rand.New(rand.NewPCG(seed, 31))
	all := map[string]*moveTally{}
	for n := 0; n < scenes; {
		s, ask, kind := measuredMove(r, size)
		got, err := ask(&s)
		require.NoError(t, err)
		// Mostly those where something is near its limit.
		if got.Margin > 6*got.Sigma && r.IntN(20) > 0 {
			continue
		}
		n++
		verdicts := verdictsOf(&s, &got)
		if !got.FullyExecuted && kind == "maneuver" {
			kind = "partial"
		}
		counts := map[string]*[4]int{}
		for q := range verdicts {
			counts[q] = &[4]int{}
		}
		open := got.Outcome == engine.Indeterminate // else a few truths tell whether anything is near its limit
		for i := range draws {
			if i == draws/10 && !open && unanimous(counts) {
				break
			}
			truth := drawTable(r, &s)
			want, err := ask(&truth)
			require.NoError(t, err)
			for q, o := range verdictsOf(&s, &want) {
				counts[q][o]++
			}
		}
		for q, ours := range verdicts {
			name := kind + " " + strings.Fields(q)[0]
			c := all[name]
			if c == nil {
				c = &moveTally{}
				all[name] = c
			}
			c.asked++
			total, most := 0, 0
			for _, n := range counts[q] {
				total += n
				most = max(most, n)
			}
			if float64(total-most) > ideal*float64(total) {
				c.ideal++
			}
			if ours == engine.Indeterminate {
				c.ours++
				continue
			}
			against := total - counts[q][ours]
			c.drawn += total
			c.wrong += against
			share := float64(against) / float64(total)
			c.worst = math.Max(c.worst, share)
			if share > 10*ideal {
				c.overconfident++
				if c.overconfident <= 2 {
					t.Logf("scene %d %s %s: said %v, %.2f %% of the truths answer otherwise", n, kind, q, ours, 100*share)
				}
			}
		}
	}
	return all
}

// unanimous reports whether all truths answered every question alike.
func unanimous(counts map[string]*[4]int) bool {
	for _, c := range counts {
		different := 0
		for _, n := range c {
			if n > 0 {
				different++
			}
		}
		if different > 1 {
			return false
		}
	}
	return true
}

// reportMoves logs the counts and returns their sum.
func reportMoves(t *testing.T, all map[string]*moveTally) moveTally {
	var names []string
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	var sum moveTally
	for _, name := range names {
		c := all[name]
		t.Logf("%-18s asked %6d: too close %5d, ideal %5d, ratio %.3f; wrong %.4f %% of %d, at worst %.2f %%, overconfident %d", name,
			c.asked, c.ours, c.ideal,
			float64(c.ours)/math.Max(1, float64(c.ideal)), 100*float64(c.wrong)/math.Max(1, float64(c.drawn)), c.drawn, 100*c.worst, c.overconfident)
		sum.asked += c.asked
		sum.ours += c.ours
		sum.ideal += c.ideal
		sum.drawn += c.drawn
		sum.wrong += c.wrong
		sum.overconfident += c.overconfident
		sum.worst = math.Max(sum.worst, c.worst)
	}
	t.Logf("all: asked %d, too close %d, ideal %d, ratio %.3f; wrong %.4f %%, overconfident %d", sum.asked, sum.ours, sum.ideal,
		float64(sum.ours)/math.Max(1, float64(sum.ideal)), 100*float64(sum.wrong)/math.Max(1, float64(sum.drawn)), sum.overconfident)
	return sum
}

// The ideal rule knows how the truth is spread about what was measured: it decides
// when at most Φ(-3) of the possible truths would answer otherwise. Deciding what
// ten times as many would is what must not happen.
func TestTooCloseMovesAreAlmostAsRareAsWithAnIdealRule(t *testing.T) {
	if testing.Short() {
		t.Skip("2000 truths of each scene")
	}
	for _, c := range []struct {
		name string
		size float64
	}{{"good view", 1}, {"bad view", 4}} {
		t.Run(c.name, func(t *testing.T) {
			sum := reportMoves(t, askMoves(t, 115, enginetest.SceneCount(12, 400), 2000, c.size))
			require.LessOrEqual(t, float64(sum.ours), (1.15+2/math.Sqrt(float64(sum.ideal)))*float64(sum.ideal)+2)
			require.LessOrEqual(t, sum.overconfident, sum.asked/1000)
			require.LessOrEqual(t, float64(sum.wrong), 0.0003*float64(sum.drawn))
		})
	}
}

// A template that surely crosses a ship or a rock is over it, also where the doubt exceeds half the template's width:
// of truths drawn from the covariance hardly any says otherwise.
func TestATemplateAcrossAThingIsDecidedInGreatDoubt(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 5))
	decided, over, wrong, drawn := 0, 0, 0, 0
	for range enginetest.SceneCount(15, 3000) {
		s := enginetest.Scene(t, "2.5; A small 0 0 0; B large 0 80 90")
		s.Ships[0].Base, s.Ships[1].Base = engine.Base(1+r.IntN(3)), engine.Base(1+r.IntN(3))
		at := geom.Point{X: 60 * (r.Float64() - 0.5), Y: 60 + 100*r.Float64()}
		s.Ships[1].Pose = geom.Pose{Point: at, Heading: geom.Angle(2 * math.Pi * r.Float64())}
		rock := engine.Obstacle{ID: "rock", Kind: "asteroid", Pose: s.Ships[1].Pose, Outline: enginetest.Star(r, 5+r.IntN(9), 60)}
		rock.Sigma = geom.Length(6 * r.Float64())
		s.Obstacles = []engine.Obstacle{rock}
		for i := range s.Ships {
			enginetest.Uncertain(r, &s.Ships[i], 3+12*r.Float64())
		}
		m := move.Maneuver{Bearing: move.Bearing(1 + r.IntN(3)), Speed: 2 + r.IntN(2), Left: r.IntN(2) == 0}
		m.Left = m.Left && m.Bearing != move.Straight
		says := func(s *engine.Scene) map[string]engine.Outcome {
			v, err := move.Execute(s, "A", m, engine.Options{})
			require.NoError(t, err)
			return verdictsOf(s, &v)
		}
		measured := says(&s)
		against := map[string]int{}
		for range 300 {
			truth := drawTable(r, &s)
			for _, q := range []string{"through B", "template rock"} {
				if v := says(&truth)[q]; measured[q] != engine.Indeterminate && v != measured[q] {
					against[q]++
				}
			}
		}
		for _, q := range []string{"through B", "template rock"} {
			if measured[q] == engine.Indeterminate {
				continue
			}
			decided++
			if measured[q] == engine.Yes {
				over++
			}
			drawn, wrong = drawn+300, wrong+against[q]
			require.LessOrEqual(t, against[q], 4, "%v %v %v\n%+v", m, q, measured[q], s)
		}
	}
	t.Logf("%d decided, %d of them over it; %d of %d truths against", decided, over, wrong, drawn)
	require.Greater(t, over, 0)
}
