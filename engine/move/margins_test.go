package move_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
	"sightline/engine/move"
	"sightline/engine/scenefile"
)

// carried takes a scene to another place of the table.
func carried(s engine.Scene, place func(geom.Pose) geom.Pose) engine.Scene {
	s.Ships, s.Obstacles = slices.Clone(s.Ships), slices.Clone(s.Obstacles)
	for i := range s.Ships {
		s.Ships[i].Pose = place(s.Ships[i].Pose)
	}
	for i := range s.Obstacles {
		s.Obstacles[i].Pose = place(s.Obstacles[i].Pose)
	}
	return s
}

func mirrored(p geom.Pose) geom.Pose {
	return geom.Pose{Point: geom.Point{X: -p.X, Y: p.Y}, Heading: -p.Heading}
}

// withRock puts a lopsided obstacle near the way.
func withRock(r *rand.Rand, s engine.Scene) engine.Scene {
	a := s.Ships[0].Pose
	at := a.Transform(geom.Point{X: 120 * (r.Float64() - 0.5), Y: 160 * r.Float64()})
	s.Obstacles = []engine.Obstacle{{
		ID: "rock", Pose: geom.Pose{Point: at, Heading: geom.Angle(r.Float64())},
		Outline: []geom.Point{{X: -15, Y: -9}, {X: 14, Y: -12}, {X: 3, Y: 2}, {X: 9, Y: 17}, {X: -12, Y: 11}},
	}}
	return s
}

func TestMovesMirrorTranslateAndRotate(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	for i := range 400 {
		s, m := randomMove(r)
		s = withRock(r, s)
		s.Rules = engine.Rules(1 + r.IntN(3))
		want, err := move.Execute(&s, "A", m, engine.Options{})
		require.NoError(t, err)
		shift, turn := geom.Point{X: 1000 * r.Float64(), Y: -3000}, geom.Angle(7*r.Float64())
		other := m
		other.Left = !m.Left && (m.Bearing == move.BankTurn || m.Bearing == move.TightTurn || m.Bearing == move.ReverseBank)
		for _, c := range []struct {
			name  string
			m     move.Maneuver
			place func(geom.Pose) geom.Pose
		}{
			{"mirror", other, mirrored},
			{"translate", m, func(p geom.Pose) geom.Pose { return geom.Pose{Point: p.Add(shift), Heading: p.Heading} }},
			{"rotate", m, func(p geom.Pose) geom.Pose {
				return geom.Pose{Point: geom.Pose{Heading: turn}.Transform(p.Point), Heading: p.Heading + turn}
			}},
		} {
			moved := carried(s, c.place)
			if c.name == "mirror" {
				o := &moved.Obstacles[0]
				o.Outline = slices.Clone(o.Outline)
				for j := range o.Outline {
					o.Outline[j].X *= -1
				}
			}
			got, err := move.Execute(&moved, "A", c.m, engine.Options{})
			require.NoError(t, err)
			require.True(t, want.Margin < 1e-6 || samePlace(c.place(want.Final), got.Final), "scene %d %s %v: %v, want %v", i, c.name, m,
				got.Final, c.place(want.Final))
			if want.Margin < 1e-6 {
				continue
			}
			require.Equal(t, want.FullyExecuted, got.FullyExecuted)
			require.Equal(t, want.FirstOverlapped, got.FirstOverlapped)
			require.Equal(t, want.Touching, got.Touching, "scene %d %s", i, c.name)
			require.Equal(t, want.MovedThrough, got.MovedThrough)
			require.Equal(t, want.Obstacles, got.Obstacles)
			require.InDelta(t, want.Margin.Millimeters(), got.Margin.Millimeters(), 1e-6)
		}
	}
}

// The frame in which an obstacle's outline is written may lie anywhere.
func TestTheFrameOfAnOutlineChangesNoMove(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	near := 0
	for range 200 {
		s, m := randomMove(r)
		s = loose(withRock(r, s), 0.1, 0.1)
		s.ScaleSigma = 0.002
		want, err := move.Execute(&s, "A", m, engine.Options{})
		require.NoError(t, err)
		rock, frame := s.Obstacles[0], geom.Pose{Point: geom.Point{X: 300, Y: -500}}
		other := rock
		other.Pose, other.Outline = frame, nil
		for _, p := range rock.Outline {
			other.Outline = append(other.Outline, rock.Pose.Transform(p).Sub(frame.Point))
		}
		s.Obstacles = []engine.Obstacle{other}
		got, err := move.Execute(&s, "A", m, engine.Options{})
		require.NoError(t, err)
		require.Equal(t, want.Obstacles, got.Obstacles)
		require.Equal(t, want.Undecided, got.Undecided)
		require.InDelta(t, want.Sigma.Millimeters(), got.Sigma.Millimeters(), 1e-6)
		if strings.Contains(want.Nearest, "rock") {
			near++
		}
	}
	require.Greater(t, near, 20)
}

func samePlace(a, b geom.Pose) bool {
	return a.Sub(b.Point).Norm() < 1e-7 && a.Heading.Distance(b.Heading).Degrees() < 1e-7
}

// loose gives every ship of a scene a covariance.
func loose(s engine.Scene, mm, deg float64) engine.Scene {
	s.Ships = slices.Clone(s.Ships)
	for i := range s.Ships {
		h := deg * float64(geom.Degree)
		s.Ships[i].Covariance = geom.Cov3{0: mm * mm, 4: mm * mm, 8: h * h}
	}
	return s
}

func TestMovesOfAMeasuredTable(t *testing.T) {
	near := func(gap, sigma float64) move.Result {
		s := loose(enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 160 0"), sigma, 0)
		s.Ships[1].Pose.Y += gap
		return moved(t, s, "A", "straight 2")
	}
	r := near(43.2-40+1, 0.1) // guides 1 mm apart
	assert.Equal(t, engine.Yes, r.Outcome)
	assert.True(t, r.FullyExecuted)
	assert.InDelta(t, 1, r.Margin.Millimeters(), 1e-9)
	assert.InDelta(t, 0.1*math.Sqrt2, r.Sigma.Millimeters(), 1e-9)
	r = near(43.2-40+0.4, 0.1)
	assert.Equal(t, engine.Indeterminate, r.Outcome)
	assert.Contains(t, r.Undecided, "overlapping B")
	r = near(43.2-40-1, 0.1)
	assert.Equal(t, engine.Yes, r.Outcome)
	assert.Equal(t, []string{"B"}, r.Touching)

	t.Run("the error of the heading grows along the way", func(t *testing.T) {
		s := loose(enginetest.Scene(t, "2.5; A small 0 0 0; rock square 35 240 0 10"), 0.01, 1)
		assert.Equal(t, engine.Indeterminate, hitOf(moved(t, s, "A", "straight 5"), "rock").Base,
			"20 + 10 mm beside, a degree over 260 mm is 4.5")
		s = loose(enginetest.Scene(t, "2.5; A small 0 0 0; rock square 35 80 0 10"), 0.01, 1)
		assert.Equal(t, engine.No, hitOf(moved(t, s, "A", "straight 1"), "rock").Base)
	})
	t.Run("a fleeing ship may be too close to call", func(t *testing.T) {
		s := loose(enginetest.Scene(t, "2.5; A small 0 0 0"), 0.2, 0)
		s.MatWidth, s.MatHeight = 914.4, 914.4
		s.Ships[0].Pose.Point = geom.Point{X: 400, Y: 914.4 - 100.3}
		assert.Equal(t, engine.Indeterminate, moved(t, s, "A", "straight 1").Flees)
	})
	t.Run("legality of a reposition may be too close to call", func(t *testing.T) {
		s := loose(enginetest.Scene(t, "2.5; A small 0 0 0; B small 120.5 0 0"), 0.2, 0)
		r := repositioned(t, s, "A", "barrel-roll right")
		assert.Equal(t, engine.Indeterminate, r.Options[1].Legal)
		assert.Equal(t, "may be that it overlaps B", r.Options[1].Why)
		s.Ships[1].Pose.X = 121
		assert.Equal(t, engine.Yes, repositioned(t, s, "A", "barrel-roll right").Options[1].Legal, "1 mm is more than 3 sigmas of 0.28 mm")
	})
	t.Run("1e: too close at the ends of the legal interval", func(t *testing.T) {
		s := loose(enginetest.Scene(t, "1e; A small 0 0 0; B small 80 50 0"), 0.1, 0)
		r := repositioned(t, s, "A", "barrel-roll right")
		require.Len(t, r.Options, 3)
		slack := 3 * 0.1 * math.Sqrt2
		assert.Equal(t, engine.Yes, r.Options[0].Legal)
		assert.InDelta(t, 50-43.2-slack, r.Options[0].To.Millimeters(), 1e-6)
		assert.Equal(t, engine.Indeterminate, r.Options[1].Legal)
		assert.InDelta(t, 50-43.2+slack, r.Options[1].To.Millimeters(), 1e-6)
		assert.Equal(t, engine.No, r.Options[2].Legal)
	})
}

// G109 G110: which ship stops a move is known only if no other may be the one.
func TestTouchingIsDecidedOnlyWhereOneShipMayStopTheMove(t *testing.T) {
	doubted := func(r move.Result) []string {
		var out []string
		for _, u := range r.Undecided {
			if id, ok := strings.CutPrefix(u, "touching "); ok {
				out = append(out, id)
			}
		}
		return out
	}
	t.Run("one of two that stand side by side", func(t *testing.T) {
		s := loose(enginetest.Scene(t, "2.5; A small 0 0 0; B small -25 100 0; C small 25 100.2 0"), 0.2, 0.1)
		r := moved(t, s, "A", "straight 2")
		assert.Equal(t, engine.No, r.InFull)
		assert.Equal(t, []string{"B", "C"}, doubted(r))
	})
	t.Run("two exactly side by side, only they uncertain", func(t *testing.T) {
		s := loose(enginetest.Scene(t, "2.5; A small 0 0 0; B small -25 100 0; C small 25 100 0"), 0.2, 0.1)
		s.Ships[0].Covariance = geom.Cov3{}
		assert.Equal(t, []string{"B", "C"}, doubted(moved(t, s, "A", "straight 2")))
	})
	t.Run("a move that perhaps is not stopped", func(t *testing.T) {
		for _, y := range []float64{123.3, 123.1} {
			for _, rules := range []string{"1e", "2.5"} {
				s := loose(enginetest.Scene(t, rules+"; A small 0 0 0; B small 0 "+fmt.Sprint(y)+" 0"), 0.2, 0.1)
				r := moved(t, s, "A", "straight 1")
				require.Equal(t, engine.Indeterminate, r.InFull)
				assert.Equal(t, []string{"B"}, doubted(r), "%s at %v", rules, y)
			}
		}
	})
	t.Run("a ship that stands, perhaps in contact", func(t *testing.T) {
		s := loose(enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 43.1 0"), 0.2, 0.1)
		assert.Equal(t, []string{"B"}, doubted(moved(t, s, "A", "stationary")))
	})
	t.Run("a Tallon roll that, not turned, is perhaps free at once", func(t *testing.T) {
		for _, rules := range []string{"2.0", "2.5"} {
			for y, want := range map[float64][2][]string{ // without the slide the base ends at 75: touched, doubted
				90: {{"B"}, nil}, 94.9: {{"B"}, {"B"}}, 95.1: {nil, {"B"}}, 98: {nil, nil},
			} {
				s := loose(enginetest.Scene(t, rules+"; A small 0 0 0; B small 55 "+fmt.Sprint(y)+" 90"), 0.1, 0.1)
				r := moved(t, s, "A", "tallon right 1 left")
				require.Equal(t, engine.No, r.InFull)
				assert.Equal(t, want, [2][]string{r.Touching, doubted(r)}, "%s at %v", rules, y)
			}
		}
	})
	t.Run("one that surely stops it", func(t *testing.T) {
		r := moved(t, loose(enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 100 0; C small 60 100 0"), 0.2, 0.1), "A", "straight 2")
		assert.Equal(t, []string{"B"}, r.Touching)
		assert.Empty(t, doubted(r))
	})
}

func TestAMoveWithUnseenObstacles(t *testing.T) {
	for _, rules := range []string{"1e", "2.5"} {
		s := enginetest.Scene(t, rules+"; A small 0 0 0; B large 0 110 0")
		s.ObstaclesUnseen = true
		r := moved(t, s, "A", "straight 1")
		assert.False(t, r.FullyExecuted, "ships are seen")
		assert.Equal(t, engine.NoView, r.Outcome)
		assert.Contains(t, r.Undecided, "obstacles were not looked for")
		r = repositioned(t, s, "A", "barrel-roll left")
		assert.False(t, r.FullyExecuted)
		for _, o := range r.Options {
			assert.Equal(t, engine.NoView, o.Legal)
		}
		assert.Equal(t, engine.No, repositioned(t, s, "A", "boost straight").Options[0].Legal, "a ship forbids it, whatever lies there")
		assert.Equal(t, engine.Yes, repositioned(t, s, "A", "tractor left").Options[0].Legal, "G160: obstacles forbid nothing")
	}
}

func hitOf(r move.Result, id string) move.Hit {
	for _, h := range r.Obstacles {
		if h.ID == id {
			return h
		}
	}
	return move.Hit{ID: id, Template: engine.No, Base: engine.No}
}

// answersOf lists a move's questions and their outcomes.
func answersOf(r move.Result) map[string]engine.Outcome {
	a := map[string]engine.Outcome{"flees": r.Flees, "rock template": hitOf(r, "rock").Template, "rock base": hitOf(r, "rock").Base,
		"full": engine.No}
	if r.FullyExecuted {
		a["full"] = engine.Yes
	}
	for _, u := range r.Undecided {
		if len(u) > 11 && u[:11] == "overlapping" {
			a["full"] = engine.Indeterminate
		}
	}
	return a
}

func TestGrowingUncertaintyNeverDecidesMoreOfAMove(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for i := range enginetest.Shorter(200, 40) {
		s, m := randomMove(r)
		s = withRock(r, s)
		s.MatWidth, s.MatHeight = 700, 700
		var last map[string]engine.Outcome
		for _, sigma := range []float64{0, 0.1, 0.3, 1, 3} {
			v := loose(s, sigma, sigma/2)
			got, err := move.Execute(&v, "A", m, engine.Options{})
			require.NoError(t, err)
			now := answersOf(got)
			for q, o := range last {
				if o == engine.Indeterminate {
					require.Equal(t, engine.Indeterminate, now[q], "scene %d: %s at sigma %g", i, q, sigma)
				} else if now[q] != engine.Indeterminate {
					require.Equal(t, o, now[q], "scene %d: %s at sigma %g", i, q, sigma)
				}
			}
			last = now
		}
	}
}

// Decided answers about moves are right: the truth is drawn from the stated
// covariance and moved exactly.
func TestDecidedAnswersAboutMovesAreRight(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	asked, doubtful, wrong := 0, 0, 0
	for range moveScenes(enginetest.Shorter(800, 100)) {
		truth, m := randomMove(r)
		truth = withRock(r, truth)
		truth.MatWidth, truth.MatHeight = 600, 600
		mm, deg := 0.5*r.Float64(), 0.5*r.Float64()
		seen := loose(truth, mm, deg)
		for i := range seen.Ships {
			p := &seen.Ships[i].Pose
			p.X += mm * r.NormFloat64()
			p.Y += mm * r.NormFloat64()
			p.Heading += geom.Angle(deg*r.NormFloat64()) * geom.Degree
		}
		a, err := move.Execute(&seen, "A", m, engine.Options{})
		require.NoError(t, err)
		b, err := move.Execute(&truth, "A", m, engine.Options{})
		require.NoError(t, err)
		right := answersOf(b)
		for q, o := range answersOf(a) {
			asked++
			switch {
			case o == engine.Indeterminate:
				doubtful++
			case o != right[q]:
				wrong++
			}
		}
	}
	t.Logf("%d answers, %d too close, %d wrong (%.3f %% of the decided)", asked, doubtful, wrong, 100*float64(wrong)/float64(asked-doubtful))
	assert.LessOrEqual(t, float64(wrong), 0.001*float64(asked))
	assert.Less(t, float64(doubtful), 0.25*float64(asked))
}

func TestMovesOfUnusualScenesAreValid(t *testing.T) {
	check := func(r move.Result, err error) {
		require.NoError(t, err)
		doc, err := scenefile.MarshalMove(r)
		require.NoError(t, err, "nothing that is not a number")
		require.True(t, json.Valid(doc))
	}
	everything := func(s engine.Scene) {
		for _, m := range []string{"straight 5", "turn left 1", "bank right 3", "tallon left 1", "tallon right 3 left",
			"reverse bank left 1", "stationary", "koiogran 2"} {
			p, err := move.ParseManeuver(m)
			require.NoError(t, err)
			check(move.Execute(&s, "A", p, engine.Options{}))
		}
		for _, a := range []string{"barrel-roll left", "boost right", "decloak forward", "decloak right"} {
			p, err := move.ParseAction(a)
			require.NoError(t, err)
			check(move.Reposition(&s, "A", p, engine.Options{}))
		}
		d, err := move.ParseDrop("turn left 1 cluster_mines")
		require.NoError(t, err)
		check(move.LayDrop(&s, "A", d, engine.Options{}))
	}
	for _, rules := range []string{"1e", "2.0", "2.5"} {
		everything(enginetest.Scene(t, rules+"; A small 0 0 0"))
		everything(enginetest.Scene(t, rules+"; A large 0 0 0; B large 0 0 0; C large 0 0 45; D huge-225 0 0 10"))
		everything(enginetest.Scene(t, rules+"; A large 999000 -999000 123456; B small 999060 -999030 0; rock square 999060 -999060 3 1e-3"))
		everything(loose(enginetest.Scene(t, rules+"; A small 0 0 0; B medium 30 90 12; rock square 0 60 0 1000"), 900, 300))

		slide := enginetest.Scene(t, rules+"; A small 0 0 0; B huge-225 0 0 0")
		slide.Ships[1].Pose.X = 60 - 1e-6 // alongside, a hair inside: backing up slides along the edge
		everything(slide)

		own := engine.Nominal()
		own.Turn, own.Bank, own.Small, own.Large = [3]geom.Length{1, 1, 1}, [3]geom.Length{1000, 1000, 1000}, 1, 1000
		s := enginetest.Scene(t, rules+"; A large 0 0 0; B small 20 700 12; C small -500 600 7; rock square 0 600 0 30")
		s.Dimensions = &own
		everything(s)
		s.Ships[0].Base = engine.Small
		everything(s)
	}
}

// What is told of executing a move in full claims no more than is known: besides an overlap
// that is too close to call it is neither true that it is nor that it is not.
func TestFullyExecutedClaimsNoMoreThanIsKnown(t *testing.T) {
	wire := func(r move.Result) (full bool, inFull string) {
		doc, err := scenefile.MarshalMove(r)
		require.NoError(t, err)
		var got struct {
			Full   bool   `json:"fully_executed"`
			InFull string `json:"in_full"`
		}
		require.NoError(t, json.Unmarshal(doc, &got))
		return got.Full, got.InFull
	}
	for _, c := range []struct {
		rule, scene, move string
		sigma             float64
		full              bool
		inFull            string
	}{
		{"1 mm free of the next ship, measured to 0.1 mm", "2.5; A small 0 0 0; B small 0 164.2 0", "straight 2", 0.1, true, "yes"},
		{"0.2 mm free of it", "2.5; A small 0 0 0; B small 0 163.4 0", "straight 2", 0.1, false, "too_close"},
		{"0.2 mm into it", "2.5; A small 0 0 0; B small 0 163 0", "straight 2", 0.1, false, "too_close"},
		{"1 mm into it", "2.5; A small 0 0 0; B small 0 162.2 0", "straight 2", 0.1, false, "no"},
		{"0.2 mm free of it on a table known exactly", "2.5; A small 0 0 0; B small 0 163.4 0", "straight 2", 0, true, "yes"},
		{"standing still", "2.5; A small 0 0 0; B small 0 40.1 0", "stationary", 0.1, true, "yes"},
		{"a Tallon roll with a place that is free", "2.5; A small 0 0 0", "tallon left 1", 0.1, true, "yes"},
		{"a roll with a free end", "2.5; A small 0 0 0; B small 300 0 0", "barrel-roll right", 0.1, true, "yes"},
		{"a roll whose ends all lie on a ship", "2.5; A small 0 0 0; B large 80 0 0", "barrel-roll right", 0.1, false, "no"},
		{"a boost that may touch the next ship's base", "2.5; A small 0 0 0; B small 0 123.4 0", "boost straight", 0.1, false, "too_close"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := loose(enginetest.Scene(t, c.scene), c.sigma, 0)
			if c.sigma == 0 {
				s = enginetest.Scene(t, c.scene)
			}
			var r move.Result
			if m, err := move.ParseManeuver(c.move); err == nil {
				r, err = move.Execute(&s, "A", m, engine.Options{})
				require.NoError(t, err)
			} else {
				r = repositioned(t, s, "A", c.move)
			}
			full, inFull := wire(r)
			assert.Equal(t, c.full, full)
			assert.Equal(t, c.inFull, inFull, "%v", r.Undecided)
		})
	}
	s := enginetest.Scene(t, "2.5; A small 0 0 0")
	s.ObstaclesUnseen = true
	full, inFull := wire(moved(t, s, "A", "straight 1"))
	assert.True(t, full, "obstacles stop no maneuver (G180), whoever looked for them")
	assert.Equal(t, "yes", inFull)
	full, inFull = wire(repositioned(t, s, "A", "barrel-roll left"))
	assert.False(t, full, "but they forbid a roll")
	assert.Equal(t, "no_view", inFull)
}
