package engine_test

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
)

// nearBandEdge moves ship B so that its distance from A is about a band's edge, or so
// that it and A about touch, guides counted, where answers are hard.
func nearBandEdge(t testing.TB, r *rand.Rand, s *engine.Scene, size float64) {
	edge := 100 * r.IntN(4)
	want := float64(edge) + size*r.NormFloat64()
	a, b := &s.Ships[0], &s.Ships[1]
	for range 4 {
		v := enginetest.MeasurePair(t, s, 3)
		d := float64(v.Range.Distance)
		switch {
		case v.Contact == engine.Yes:
			d = -float64(v.Range.Margin)
		case edge == 0 && v.Range.Band == 1 && d < 50: // the way to contact
			d = float64(v.Range.Margin)
		}
		u := b.Pose.Point.Sub(a.Pose.Point)
		b.Pose.Point = b.Pose.Point.Add(u.Mul((want - d) / u.Norm()))
	}
}

// nearArcEdge turns ship A so that B is about at the edge of one of its arcs.
func nearArcEdge(t testing.TB, r *rand.Rand, s *engine.Scene, size float64) {
	want := size * r.NormFloat64()
	arc := r.IntN(7)
	a := &s.Ships[0].Pose.Heading
	margin := func(h geom.Angle) float64 {
		*a = h
		return float64(enginetest.MeasurePair(t, s, 3).Arcs[arc].Margin) - want
	}
	in, out := *a, *a
	for i := 0; margin(in) < 0 && i < 50; i++ {
		in = geom.Angle(2 * math.Pi * r.Float64())
	}
	for i := 0; margin(out) > 0 && i < 50; i++ {
		out = geom.Angle(2 * math.Pi * r.Float64())
	}
	for range 12 {
		if mid := (in + out) / 2; margin(mid) > 0 {
			in = mid
		} else {
			out = mid
		}
	}
}

// tally counts how a kind of question was answered.
type tally struct {
	k                              float64
	near, decided, wrong, farWrong int
}

func (c *tally) add(margin, sigma float64, answer, truth engine.Outcome) {
	near := math.Abs(margin) <= (c.k+2)*sigma
	if near {
		c.near++
	}
	if answer == engine.Indeterminate {
		return
	}
	c.decided++
	if answer != truth {
		c.wrong++
		if !near {
			c.farWrong++
		}
	}
}

// ask measures scenes near a boundary, draws truths for each from its own
// covariance, and counts how the answers compare with the truths'.
func ask(t *testing.T, seed uint64, scenes, truths int, k, size float64) map[string]*tally {
	r := rand.New(rand.NewPCG(seed, 4))
	counts := map[string]*tally{}
	count := func(name string) *tally {
		if counts[name] == nil {
			counts[name] = &tally{k: k}
		}
		return counts[name]
	}
	for range scenes {
		s := randomScene(r)
		if r.IntN(2) == 0 {
			nearBandEdge(t, r, &s, size)
		} else {
			nearArcEdge(t, r, &s, size)
		}
		s.ScaleSigma = 0.0003 * r.Float64()
		enginetest.Uncertain(r, &s.Ships[0], size)
		enginetest.Uncertain(r, &s.Ships[1], size)
		got := enginetest.MeasurePair(t, &s, k)
		for range truths {
			truth := drawScene(r, &s)
			compare(t, count, &got, enginetest.MeasurePair(t, &truth, k), k)
		}
	}
	return counts
}

// drawScene returns a truth for a measured scene of two ships.
func drawScene(r *rand.Rand, s *engine.Scene) engine.Scene {
	truth := engine.Scene{Rules: s.Rules, Ships: []engine.Ship{enginetest.Draw(r, s.Ships[0]), enginetest.Draw(r, s.Ships[1])}}
	u := truth.Ships[1].Pose.Point.Sub(truth.Ships[0].Pose.Point)
	truth.Ships[1].Pose.Point = truth.Ships[0].Pose.Point.Add(u.Mul(1 + s.ScaleSigma*r.NormFloat64()))
	return truth
}

func compare(t *testing.T, count func(string) *tally, got *engine.PairVerdict, want engine.PairVerdict, k float64) {
	band := func(name string, g, w engine.RangeVerdict) {
		is := engine.Yes
		if g.Band != w.Band {
			is = engine.No
		}
		count(name).add(float64(g.Margin), float64(g.Sigma), g.Outcome, is)
		if float64(g.Margin) > k*float64(g.Sigma) != (g.Outcome == engine.Yes) {
			t.Errorf("%s: margin %v, sigma %v, %v sigmas: outcome %v", name, g.Margin, g.Sigma, k, g.Outcome)
		}
	}
	band("range", got.Range, want.Range)
	if got.Range.Band == 0 || got.Range.Band == 1 && got.Range.Distance < 50 { // else the margin is not that of contact
		count("contact").add(float64(got.Range.Margin), float64(got.Range.Sigma), got.Contact, want.Contact)
	}
	for i, g := range got.Arcs {
		w := want.Arcs[i]
		count("in "+g.Arc.String()).add(float64(g.Margin), float64(g.Sigma), g.InArc, w.InArc)
		if math.Abs(float64(g.Margin)) > k*float64(g.Sigma) != (g.InArc != engine.Indeterminate) {
			t.Errorf("in %v: margin %v, sigma %v, %v sigmas: %v", g.Arc, g.Margin, g.Sigma, k, g.InArc)
		}
		if g.Attack != nil && w.Attack != nil {
			band("attack "+g.Arc.String(), g.Attack.RangeVerdict, w.Attack.RangeVerdict)
		}
	}
}

func report(t *testing.T, counts map[string]*tally) tally {
	var names []string
	for name := range counts {
		names = append(names, name)
	}
	sort.Strings(names)
	var total tally
	for _, name := range names {
		c := counts[name]
		t.Logf("%-18s near %6d, decided %6d, wrong %4d (%.3f %% of near), wrong beyond %d", name, c.near, c.decided, c.wrong,
			100*float64(c.wrong)/math.Max(1, float64(c.near)), c.farWrong)
		total.near += c.near
		total.wrong += c.wrong
		total.farWrong += c.farWrong
	}
	return total
}

// An ideal rule that decides at k sigmas errs, over margins spread evenly over
// ±(k+2) sigmas, in 2∫Φ(-m)dm from k up, over 2(k+2): 2.8 % at one sigma and
// 0.008 % at three. The promise to players is 0.3 % at three.
func TestDecidedAnswersAreRight(t *testing.T) {
	scenes := enginetest.SceneCount(enginetest.Shorter(1200, 300), 100000)
	for _, c := range []struct {
		name            string
		k, size         float64
		atLeast, atMost float64 // wrong, of the near ones
		beyond          float64 // wrong although the margin is larger by two sigmas more
	}{
		{"three sigmas, good view", 3, 1, 0, 0.0003, 0},
		{"three sigmas, bad view", 3, 5, 0, 0.0005, 0},
		{"one sigma, good view", 1, 1, 0.015, 0.032, 0.0003},
		{"one sigma, bad view", 1, 5, 0.015, 0.032, 0.0003},
	} {
		t.Run(c.name, func(t *testing.T) {
			total := report(t, ask(t, 3, scenes, 8, c.k, c.size))
			require.Greater(t, total.near, scenes)
			share := float64(total.wrong) / float64(total.near)
			require.GreaterOrEqual(t, share, c.atLeast, "decides too seldom to be of use")
			require.LessOrEqual(t, share, c.atMost, "decides wrongly too often")
			require.LessOrEqual(t, float64(total.farWrong)/float64(total.near), c.beyond)
		})
	}
}

// The bullseye is narrow: where its two edges may each be further off than it is wide, they
// still are so together. The corner that is deepest under A's base lies in it by a
// millimetre and a half, and two millimetres to the side the range is another.
func TestTheBullseyeMovesAsAWhole(t *testing.T) {
	s := engine.Scene{Rules: engine.Rules25, Ships: []engine.Ship{
		{ID: "A", Base: engine.Medium, Pose: geom.Pose{Point: geom.Point{X: 300, Y: 300}}},
		{ID: "B", Base: engine.Large, Pose: geom.Pose{Point: geom.Point{X: 300 - 27.03, Y: 300 + 73.64}, Heading: 113.28 * geom.Degree}},
	}}
	at := func(dx float64) *engine.AttackVerdict {
		moved := s
		moved.Ships = []engine.Ship{s.Ships[0], s.Ships[1]}
		moved.Ships[1].Pose.X += dx
		return enginetest.ArcNamed(t, enginetest.MeasurePair(t, &moved, 3), engine.ArcBullseye).Attack
	}
	require.Equal(t, 0, at(0).Band)
	require.Equal(t, 1, at(-6).Band, "the truth may be there")
	s.Ships[1].Covariance = geom.Cov3{0: 2.66 * 2.66, 4: 0.04}
	v := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcBullseye)
	require.Equal(t, engine.Yes, v.InArc)
	require.Equal(t, engine.Indeterminate, v.Attack.Outcome)
	require.Equal(t, []int{0, 1}, v.Attack.Possible)
}

// A, a large base, overlaps B, whose front side lies along A's middle and pokes 0.2 mm into A's front half. A guide of
// B is surely in the arc and on A, but the part of B's base in the arc may be the far corner alone, out of reach of A.
func TestAGuideAloneInTheArcDoesNotDecideContactThere(t *testing.T) {
	s := engine.Scene{Rules: engine.Rules25, ScaleSigma: 0.000236, Ships: []engine.Ship{
		{ID: "A", Base: engine.Large, Pose: geom.Pose{Point: geom.Point{X: 331.58495, Y: 291.66621}, Heading: 131.96 * geom.Degree},
			Covariance: geom.Cov3{0.026238, 0.062905, 6.97e-05, 0.062905, 0.187633, 1.968e-05, 6.97e-05, 1.968e-05, 3.22972e-06}},
		{ID: "B", Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 347.10157, Y: 338.6326}, Heading: 132.12 * geom.Degree},
			Covariance: geom.Cov3{0.028542, 0.028811, 0.00031970, 0.028811, 0.095586, -0.00014238, 0.00031970, -0.00014238, 8.62525e-06}},
	}}
	r, bands := rand.New(rand.NewPCG(1, 5)), map[int]int{}
	for range 1000 {
		truth := drawScene(r, &s)
		if v := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &truth, 3), engine.ArcFullFront).Attack; v != nil {
			bands[v.Band]++
		}
	}
	require.Greater(t, bands[0], 100, "a case that asks nothing: %v", bands)
	require.Greater(t, bands[1], 20, "a case that asks nothing: %v", bands)
	v := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFullFront).Attack
	assert.Equal(t, engine.Indeterminate, v.Outcome, "bands of 1000 truths: %v", bands)
	assert.Equal(t, []int{0, 1}, v.Possible)
}

func TestDecidedObstructionIsRight(t *testing.T) {
	for _, c := range []struct {
		k, atMost float64
	}{{3, 0.003}, {1, 0.06}} {
		r := rand.New(rand.NewPCG(5, 6))
		asked, decided, wrong := 0, 0, 0
		said, kinds := map[string]int{}, map[string]int{}
		for range enginetest.SceneCount(enginetest.Shorter(500, 60), 5000) {
			s := randomScene(r)
			if v := enginetest.MeasurePair(t, &s, 3); v.Range.Distance < 30 {
				continue
			}
			exact := enginetest.MeasurePair(t, &s, 3).Range.Lines[0]
			enginetest.Uncertain(r, &s.Ships[0], 1)
			enginetest.Uncertain(r, &s.Ships[1], 1)
			u := exact[1].Sub(exact[0])
			n := geom.Point{X: -u.Y, Y: u.X}.Mul(1 / u.Norm())
			rock := engine.Obstacle{ID: "rock", Kind: "asteroid", Outline: enginetest.Star(r, 12, 20), Sigma: 0.3}
			rock.Pose.Point = exact[0].Add(u.Mul(r.Float64())).Add(n.Mul(14 + 6*r.NormFloat64()))
			s.Obstacles = []engine.Obstacle{rock}
			got := enginetest.MeasurePair(t, &s, c.k)
			for range 5 {
				truth := drawScene(r, &s)
				rock := rock
				rock.Sigma = 0
				rock.Pose.X += 0.3 * r.NormFloat64()
				rock.Pose.Y += 0.3 * r.NormFloat64()
				truth.Obstacles = []engine.Obstacle{rock}
				want := enginetest.MeasurePair(t, &truth, 3)
				squared := square(t, truth)
				for i, g := range got.Arcs {
					w := want.Arcs[i]
					if g.Attack == nil || w.Attack == nil {
						continue
					}
					if g.Attack.Obstruction.Verdict == "may" {
						// The attacker chooses because no one can tell these sides from
						// parallel ones: between such ones the choice must truly be there.
						if w = squared.Arcs[i]; w.Attack == nil {
							continue
						}
					}
					asked++
					said[g.Attack.Obstruction.Verdict]++
					checkObstruction(t, &g.Attack.Obstruction, c.k)
					if g.Attack.Obstruction.Verdict == "too_close" {
						continue
					}
					decided++
					if g.Attack.Obstruction.Verdict != w.Attack.Obstruction.Verdict {
						wrong++
						kinds[g.Attack.Obstruction.Verdict+" for "+w.Attack.Obstruction.Verdict]++
					}
				}
			}
		}
		t.Logf("wrong: %v", kinds)
		t.Logf("%v sigmas: asked %d, decided %d, wrong %d (%.3f %%), said %v", c.k, asked, decided, wrong,
			100*float64(wrong)/float64(asked), said)
		require.Greater(t, decided, asked/2)
		require.LessOrEqual(t, float64(wrong), c.atMost*float64(asked))
	}
}

// square measures a scene of two ships as if the second stood parallel or square to
// the first.
func square(t *testing.T, s engine.Scene) engine.PairVerdict {
	ships := [2]engine.Ship{s.Ships[0], s.Ships[1]}
	turn := math.Round(float64(ships[1].Pose.Heading-ships[0].Pose.Heading) / (math.Pi / 2))
	ships[1].Pose.Heading = ships[0].Pose.Heading + geom.Angle(turn*math.Pi/2)
	s.Ships = ships[:]
	return enginetest.MeasurePair(t, &s, 3)
}

func TestDecidedObjectsAreRight(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, k := range []float64{3, 1} {
		counts := map[string]*tally{"range": {k: k}, "contact": {k: k}, "overlap": {k: k}}
		for range enginetest.SceneCount(enginetest.Shorter(1000, 60), 5000) {
			s := engine.Scene{Rules: engine.Rules25, Ships: []engine.Ship{enginetest.RandomShip(r, "A")}}
			rock := engine.Obstacle{ID: "rock", Outline: enginetest.Star(r, 9, 30), Sigma: 0.3}
			u := geom.Pose{Heading: geom.Angle(6.3 * r.Float64())}.Forward()
			rock.Pose.Point = s.Ships[0].Pose.Point.Add(u.Mul(200))
			object := func(s engine.Scene) engine.ObjectVerdict {
				res, err := engine.Measure(&s, engine.Options{Sigmas: k})
				require.NoError(t, err)
				return res.Objects[0]
			}
			want := float64(100*r.IntN(3)) + 1.5*r.NormFloat64()
			s.Obstacles = []engine.Obstacle{rock}
			for range 6 {
				o := object(s)
				rock.Pose.Point = rock.Pose.Point.Add(u.Mul(want - float64(o.Range.Distance)))
				s.Obstacles = []engine.Obstacle{rock}
			}
			enginetest.Uncertain(r, &s.Ships[0], 1)
			got := object(s)
			for range 8 {
				truth := engine.Scene{Rules: s.Rules, Ships: []engine.Ship{enginetest.Draw(r, s.Ships[0])}, Obstacles: []engine.Obstacle{rock}}
				truth.Obstacles[0].Sigma = 0
				truth.Obstacles[0].Pose.X += 0.3 * r.NormFloat64()
				truth.Obstacles[0].Pose.Y += 0.3 * r.NormFloat64()
				is := object(truth)
				band := engine.Yes
				if is.Range.Band != got.Range.Band {
					band = engine.No
				}
				counts["range"].add(float64(got.Range.Margin), float64(got.Range.Sigma), got.Range.Outcome, band)
				d := float64(got.Range.Distance)
				counts["contact"].add(d, float64(got.Range.Sigma), got.Contact, is.Contact)
				counts["overlap"].add(d, float64(got.Range.Sigma), got.Overlap, is.Overlap)
			}
		}
		total := report(t, counts)
		atMost := map[float64]float64{3: 0.0005, 1: 0.032}[k]
		require.LessOrEqual(t, float64(total.wrong), atMost*float64(total.near))
	}
}

// An arc along a side of its target crosses that side far away once it turns:
// what the target's own side says of the gap holds for no other heading. The margins are
// within three sigmas of the lever alone.
func TestATurnedArcReachesAParallelSide(t *testing.T) {
	for _, c := range []struct {
		name, scene string
		turn        float64 // the sigma of A's heading in degrees
		arc         engine.Arc
	}{
		{"bullseye, face to face", "2.5; A small 300 200 0; B small 330 500 180", 0.5, engine.ArcBullseye},
		{"bullseye, a little turned", "2.5; A small 300 200 0; B small 336 500 180.6", 1, engine.ArcBullseye},
		{"bullseye, the other way", "2.5; A small 300 200 0; B small 336 500 179.4", 1, engine.ArcBullseye},
		{"front, the side along the arc's edge", "2.5; A large 300 200 0; B small 496.5 374 41.76", 2, engine.ArcFront},
		{"front, a little turned", "2.5; A large 300 200 0; B small 496.5 370 41", 3, engine.ArcFront},
		{"full front", "2.0; A small 300 200 0; B small 500 175 0", 2, engine.ArcFullFront},
		{"full front, a little turned", "2.0; A small 300 200 0; B small 500 175 0.5", 2, engine.ArcFullFront},
		{"180°", "1e; A small 300 200 0; B small 500 175 359.5", 2, engine.ArcFullFront180},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := enginetest.Scene(t, c.scene)
			s.Ships[0].Arcs = []string{"full_front_180"}
			if c.arc != engine.ArcFullFront180 {
				s.Ships[0].Arcs = nil
			}
			require.Equal(t, engine.No, enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), c.arc).InArc)
			s.Ships[0].Covariance = geom.Cov3{0: 1e-6, 4: 1e-6, 8: sq(c.turn * math.Pi / 180)}
			s.Ships[1].Covariance = geom.Cov3{0: 1e-6, 4: 1e-6, 8: 1e-12}
			r, in := rand.New(rand.NewPCG(1, 5)), 0
			for range 1000 {
				truth := s
				truth.Ships = []engine.Ship{enginetest.Draw(r, s.Ships[0]), enginetest.Draw(r, s.Ships[1])}
				if enginetest.ArcNamed(t, enginetest.MeasurePair(t, &truth, 3), c.arc).InArc == engine.Yes {
					in++
				}
			}
			require.Greater(t, in, 10, "a case that asks nothing")
			got := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), c.arc)
			assert.Equal(t, engine.Indeterminate, got.InArc, "%d of 1000 truths are in the arc", in)
		})
	}
}

// Where more than two lines may be the shortest, those between which the answer is sought
// hold them all: the two that lie furthest apart may cross, and leave others out.
func TestAllPossiblyShortestLinesAreExamined(t *testing.T) {
	for _, c := range []struct {
		name, scene string
		a, b        geom.Cov3 // headings in degrees
		arc         engine.Arc
	}{
		{"offset sides far from parallel", "2.5; A small 400 420 90; B medium 717 457.5 90; rock square 632 426 0 56; stone square 535 431 0 44",
			geom.Cov3{0: 1e-6, 4: 1e-6, 8: 1e-6}, geom.Cov3{0: 100, 1: 2.97, 3: 2.97, 4: 0.09, 8: 25}, engine.ArcFullFront},
		{"a corner beside a side", "2.0; A small 167.4 460 0; B medium 420 440 0; rock square 202 427 8 35; stone square 300 458 10 19",
			geom.Cov3{0: 1e-4, 4: 1e-4, 8: 2.25}, geom.Cov3{0: 1e-6, 4: 1e-6, 8: 1e-6}, engine.ArcRight},
		{"either end of a side along the arc's edge", "2.5; A medium 400 400 0; B small 372.5 547 0; rock square 392.5 555 0 16",
			geom.Cov3{0: 0.25, 4: 0.25, 8: 0.16}, geom.Cov3{0: 0.25, 4: 0.25, 8: 0.16}, engine.ArcBullseye},
		{"a foot that comes to lie beside a corner", "2.5; A small 400 400 0; B medium 450 550 0; rock square 427.55 420 0 17",
			geom.Cov3{0: 0.01, 4: 0.01, 8: 0.16}, geom.Cov3{0: 0.0625, 4: 0.0625, 8: 0.0025}, engine.ArcFront},
		{"an end that wanders slantwise", "1e; A small 341.5354 610.6557 148.0449; B large 457.2 457.2 113.9367; rock square 341.97 600.44 71 11",
			geom.Cov3{0: 100, 4: 0.09, 8: 1e-12}, geom.Cov3{0: 1e-6, 4: 1e-6, 8: 1e-12}, engine.ArcFront},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := enginetest.Scene(t, c.scene)
			deg := geom.Cov3{0: 1, 1: 1, 3: 1, 4: 1, 8: sq(math.Pi / 180)}
			for i := range 9 {
				s.Ships[0].Covariance[i], s.Ships[1].Covariance[i] = c.a[i]*deg[i], c.b[i]*deg[i]
			}
			r, seen := rand.New(rand.NewPCG(1, 6)), map[string]int{}
			for range 1000 {
				truth := s
				truth.Ships = []engine.Ship{enginetest.Draw(r, s.Ships[0]), enginetest.Draw(r, s.Ships[1])}
				if v := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &truth, 3), c.arc); v.Attack != nil {
					seen[v.Attack.Obstruction.Verdict]++
				}
			}
			require.Greater(t, seen["never"], 10, "a case that asks nothing: %v", seen)
			require.Greater(t, seen["must"], 10, "a case that asks nothing: %v", seen)
			assert.Equal(t, "too_close", enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), c.arc).Attack.Obstruction.Verdict, "%v", seen)
		})
	}
}

// A line may be the deepest in an obstacle elsewhere than beside its middle, all the more
// where the line begins in it.
func TestAnObstacleDeepOnEveryLineIsDecided(t *testing.T) {
	s := enginetest.Scene(t, "2.0; A small 430 410 180; B small 402 260 180; rock square 422.71 388.09 80.79 40")
	s.Obstacles[0].Outline = []geom.Point{{X: 24.6, Y: 3}, {X: 18.2, Y: 16.3}, {X: 2.2, Y: 20.7}, {X: -4.9, Y: 13.4}, {X: -25.1, Y: 9.3},
		{X: -24.1, Y: 0}, {X: -11.1, Y: -11.3}, {X: -3.3, Y: -15}, {X: 16.4, Y: -20.3}, {X: 13.5, Y: -8.7}}
	s.Ships[0].Covariance = geom.Cov3{0: 0.0625, 4: 0.0625, 8: sq(0.2 * math.Pi / 180)}
	s.Ships[1].Covariance = geom.Cov3{0: 0.0625, 4: 0.0625, 8: sq(0.4 * math.Pi / 180)}
	r := rand.New(rand.NewPCG(1, 7))
	for range 300 {
		truth := s
		truth.Ships = []engine.Ship{enginetest.Draw(r, s.Ships[0]), enginetest.Draw(r, s.Ships[1])}
		require.Equal(t, "must", enginetest.ArcNamed(t, enginetest.MeasurePair(t, &truth, 3), engine.ArcFront).Attack.Obstruction.Verdict)
	}
	assert.Equal(t, "must", enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack.Obstruction.Verdict)
}

// Two ships face each other, exactly known or not, and a rock between them is known to 0.2 mm. Where
// its shadow leaves a line clear by more than that and covers another, the attacker chooses; where it
// covers all of them by more, there is no choice.
func TestAnUncertainRockBetweenParallelSidesIsDecided(t *testing.T) {
	for _, cov := range []geom.Cov3{{}, {0: 1e-6, 4: 1e-6}} {
		for left := -40.0; left < 30; left += 0.3 {
			for _, wide := range []float64{1.5, 12, 41.5} {
				s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 200 180; rock square 0 0 0 1")
				s.Obstacles[0].Outline = []geom.Point{{X: left, Y: 90}, {X: left + wide, Y: 90}, {X: left + wide, Y: 110}, {X: left, Y: 110}}
				s.Obstacles[0].Sigma = 0.2
				s.Ships[0].Covariance, s.Ships[1].Covariance = cov, cov
				wantShadow(t, &s, left, left+wide)
			}
		}
	}
}

// Rocks on either side leave a slit for the line, which lies between two lines that are a step apart.
func TestASlitBetweenRocksIsFound(t *testing.T) {
	for at := -18.0; at < 18; at += 0.37 {
		s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 200 180; left square 0 0 0 1; right square 0 0 0 1")
		for i, x := range []float64{at - 50.8, at + 0.8} {
			s.Obstacles[i].Outline = []geom.Point{{X: x, Y: 90}, {X: x + 50, Y: 90}, {X: x + 50, Y: 110}, {X: x, Y: 110}}
			s.Obstacles[i].Sigma = 0.2
		}
		o := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack.Obstruction
		require.Equal(t, "may", o.Verdict, "a slit at %v", at)
		require.InDelta(t, 0.8, float64(o.Margin), 0.01)
	}
}

// wantShadow checks the verdict on the lines from x = -20 to 20 past a rock of 0.2 mm that covers
// those from x0 to x1.
func wantShadow(t *testing.T, s *engine.Scene, x0, x1 float64) {
	const sure, near = 0.6, 0.02
	covers := math.Min(-20-x0, x1-20)                                           // all lines, by this much
	misses := math.Max(x0-20, -20-x1)                                           // all lines
	clear, at := math.Max(x0+20, 20-x1), math.Min(20, math.Max(-20, (x0+x1)/2)) // the clearest line; the deepest one
	depth := math.Min(at-x0, x1-at)
	want := "too_close"
	switch {
	case covers > sure:
		want = "must"
	case misses > sure:
		want = "never"
	case clear > sure && depth > sure:
		want = "may"
	}
	for _, d := range []float64{covers, misses, clear, depth} {
		if math.Abs(d-sure) < near {
			return // by rounding, or by what the ships add
		}
	}
	o := enginetest.ArcNamed(t, enginetest.MeasurePair(t, s, 3), engine.ArcFront).Attack.Obstruction
	require.Equal(t, want, o.Verdict, "a rock from %v to %v", x0, x1)
}

// How well a rock far away is known does not matter to what is near.
func TestAnUncertainRockFarAwayChangesNothing(t *testing.T) {
	for _, text := range []string{
		"2.5; A small 0 0 0; B small 0 200 180; rock square 25 100 0 20",
		"2.5; A small 0 0 0; B small 0 200 180; rock square 30 100 0 20", // grazed
		"2.5; A small 0 0 0; B small 0 200 45; rock square 10 100 0 20",  // grazed by a single line
	} {
		s := enginetest.Scene(t, text)
		before := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack.Obstruction
		far := s.Obstacles[0]
		far.ID, far.Pose.X, far.Sigma = "far", 5000, 0.5
		s.Obstacles = append(s.Obstacles, far)
		after := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack.Obstruction
		assert.Equal(t, before.Verdict, after.Verdict, text)
		assert.Equal(t, before.By, after.By, text)
	}
}

// An arc's edge cuts the near side of a target a hand's breadth away; the target's other side, and the
// end of a huge base, are twice as far, where the attacker's heading moves the edge twice as much. The
// stated sigma is that of the cut, neither more nor less.
func TestOnlyWhereTheArcsEdgeMeetsTheTargetItsErrorCounts(t *testing.T) {
	for _, text := range []string{
		"2.5; A medium 0 0 0; B huge-195 150 100 88",
		"2.5; A small 0 0 0; B small 100 110 3",
	} {
		s := enginetest.Scene(t, text)
		for i := range s.Ships {
			s.Ships[i].Covariance = geom.Cov3{0: 0.01, 4: 0.01, 8: sq(0.3 * math.Pi / 180)}
		}
		stated := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack
		r := rand.New(rand.NewPCG(3, 14))
		sum, squares, n := 0.0, 0.0, 2000
		for range n {
			truth := s
			truth.Ships = []engine.Ship{enginetest.Draw(r, s.Ships[0]), enginetest.Draw(r, s.Ships[1])}
			d := float64(enginetest.ArcNamed(t, enginetest.MeasurePair(t, &truth, 3), engine.ArcFront).Attack.Distance - stated.Distance)
			sum, squares = sum+d, squares+d*d
		}
		sd := math.Sqrt(squares/float64(n) - sq(sum/float64(n)))
		assert.InEpsilon(t, sd, float64(stated.Sigma), 0.3, text)
	}
}

// The arc's edge cuts the target, and a rock lies next to the line to the cut. Along the side the cut
// moves far, across the line little: a rock that no drawn truth meets is no obstacle.
func TestALineToAnArcsEdgeMovesAlongTheTargetsSide(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A large 400 400 180; B medium 400 219.21 135.2; rock square 377 335 0 24")
	for i := range s.Ships {
		s.Ships[i].ID = string("BA"[i])
		s.Ships[i].Covariance = geom.Cov3{0: 0.36, 4: 0.36, 8: sq(0.15 * math.Pi / 180)}
	}
	verdict := func(s *engine.Scene) string {
		return enginetest.ArcNamed(t, enginetest.MeasurePair(t, s, 3), engine.ArcRear).Attack.Obstruction.Verdict
	}
	r := rand.New(rand.NewPCG(2, 7))
	for range 500 {
		truth := s
		truth.Ships = []engine.Ship{enginetest.Draw(r, s.Ships[0]), enginetest.Draw(r, s.Ships[1])}
		require.Equal(t, "never", verdict(&truth))
	}
	assert.Equal(t, "never", verdict(&s))
}

// tieTurn gives a ship a covariance whose place in one direction is tied to its heading: sd of turn in
// degrees, of place in mm, and the direction's and the tie's signs and sizes by chance.
func tieTurn(r *rand.Rand, s *engine.Ship, turn, place float64) {
	sin, cos := math.Sincos(2 * math.Pi * r.Float64())
	turn *= math.Pi / 180
	tie := math.Copysign(0.95+0.049*r.Float64(), r.Float64()-0.5) * turn * place
	s.Covariance = geom.Cov3{
		sq(cos*place) + 0.0025, sin * cos * sq(place), tie * cos,
		sin * cos * sq(place), sq(sin*place) + 0.0025, tie * sin,
		tie * cos, tie * sin, sq(turn),
	}
}

// As a ship turns, what lies beside it moves along the arc's edge that turns: how far the target is from the edge changes
// by the product of the two, which no first order holds. Where headings are known badly, it decides.
func TestArcsOfBadlyKnownHeadingsAreRight(t *testing.T) {
	const truths = 200
	for _, c := range []struct{ turn, place float64 }{{3, 10}, {6, 5}, {10, 10}, {13, 20}} {
		r := rand.New(rand.NewPCG(7, 8))
		asked, decided, wrong, worst := 0, 0, 0, 0
		for range enginetest.SceneCount(enginetest.Shorter(150, 30), 2000) {
			s := randomScene(r)
			nearArcEdge(t, r, &s, 5*c.place+3*c.turn)
			tieTurn(r, &s.Ships[0], c.turn, c.place)
			enginetest.Uncertain(r, &s.Ships[1], 0.3)
			got := enginetest.MeasurePair(t, &s, 3)
			var bad [7]int
			for range truths {
				truth := drawScene(r, &s)
				want := enginetest.MeasurePair(t, &truth, 3)
				for i, g := range got.Arcs {
					if g.InArc != engine.Indeterminate && g.InArc != want.Arcs[i].InArc {
						bad[i]++
					}
				}
			}
			for i, g := range got.Arcs {
				if asked++; g.InArc != engine.Indeterminate {
					decided, wrong, worst = decided+1, wrong+bad[i], max(worst, bad[i])
				}
			}
		}
		t.Logf("turn %v°, place %v mm: asked %d, decided %d, contradicted by %d of the truths, worst %d of %d",
			c.turn, c.place, asked, decided, wrong, worst, truths)
		assert.Greater(t, decided, asked*2/5, "%+v", c)
		assert.LessOrEqual(t, worst, max(2, truths*3/200), "%+v", c)
		assert.LessOrEqual(t, float64(wrong), 0.0001*float64(decided)*truths, "%+v", c)
	}
}
