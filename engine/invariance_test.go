package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
)

// formation is a crowded table on which a third of the ships are square to the mat, and so parallel to each other.
func formation(seed uint64) engine.Scene {
	r := rand.New(rand.NewPCG(99, seed))
	s := crowd(6+int(seed%6), 5)
	s.Rules = engine.Rules(1 + seed%3)
	side := 300 + 600*r.Float64()
	at := func() geom.Point { return geom.Point{X: side * r.Float64(), Y: side * r.Float64()} }
	for i := range s.Ships {
		s.Ships[i].Pose = geom.Pose{Point: at(), Heading: geom.Angle(360*r.Float64()) * geom.Degree}
		if r.IntN(3) == 0 {
			s.Ships[i].Pose.Heading = geom.Angle(r.IntN(4)) * 90 * geom.Degree
		}
		enginetest.Uncertain(r, &s.Ships[i], 3*r.Float64())
	}
	for i := range s.Obstacles {
		s.Obstacles[i].Pose.Point = at()
	}
	return s
}

// decisions lists what is decided of all pairs that do not touch, by what it is about. In bullseyes along a target's side
// rounding may still matter, so an arc may be left out.
func decisions(t *testing.T, s engine.Scene, without string) map[string]string {
	d := map[string]string{}
	for _, p := range enginetest.Measured(t, s).Pairs {
		d[p.From+p.To] = fmt.Sprint(p.Contact, p.Range.Possible)
		if p.Contact != engine.No {
			continue // between ships that overlap the line is any point of both
		}
		for _, a := range p.Arcs {
			if a.Arc.String() == without {
				continue
			}
			said := fmt.Sprint(a.InArc)
			if a.Attack != nil {
				by := slices.Sorted(slices.Values(a.Attack.Obstruction.By))
				said += fmt.Sprint(a.Attack.Possible, a.Attack.Obstruction.Verdict, by)
			}
			d[p.From+p.To+a.Arc.String()] = said
		}
	}
	return d
}

// turned returns the table turned clockwise about its origin.
func turned(s engine.Scene, by geom.Angle) engine.Scene {
	s.Ships, s.Obstacles = slices.Clone(s.Ships), slices.Clone(s.Obstacles)
	frame := geom.Pose{Heading: by}
	right, forward := frame.Right(), frame.Forward()
	by3 := [3]geom.Jacobian{{right.X, forward.X}, {right.Y, forward.Y}, {0, 0, 1}}
	turn := func(p *geom.Pose) { p.Point, p.Heading = frame.Transform(p.Point), p.Heading+by }
	for i := range s.Ships {
		turn(&s.Ships[i].Pose)
		s.Ships[i].Covariance = s.Ships[i].Covariance.Propagated(&by3)
	}
	for i := range s.Obstacles {
		turn(&s.Obstacles[i].Pose)
	}
	s.MatWidth, s.MatHeight = 0, 0
	return s
}

// differences counts what is decided otherwise.
func differences(t *testing.T, want, got map[string]string, seed uint64) (n int) {
	for of, said := range want {
		if got[of] != said {
			t.Logf("seed %d: %s: %s, then %s", seed, of, said, got[of])
			n++
		}
	}
	return n
}

// In which order a scene lists its ships and obstacles decides nothing.
func TestTheOrderDecidesNothing(t *testing.T) {
	for seed := range uint64(enginetest.Shorter(1000, 300)) {
		s := formation(seed)
		want := decisions(t, s, "")
		slices.Reverse(s.Ships)
		slices.Reverse(s.Obstacles)
		require.Zero(t, differences(t, want, decisions(t, s, ""), seed))
	}
}

// Nor does where the table lies, although parallel sides are no longer exactly so once they are turned, but for a rare line along
// an arc's edge.
func TestTurningTheTableDecidesNothing(t *testing.T) {
	n, scenes := 0, uint64(enginetest.Shorter(1000, 300))
	for seed := range scenes {
		s := formation(seed)
		n += differences(t, decisions(t, s, "bullseye"), decisions(t, turned(s, 0.7), "bullseye"), seed)
	}
	require.LessOrEqual(t, n, int(scenes)/400)
}

// Nor does the frame in which an outline is written, which may lie anywhere; how deep it lies under a ship is found to a hundredth
// of a millimetre.
func TestTheFrameOfAnOutlineChangesNothing(t *testing.T) {
	overlaps := 0
	for seed := range uint64(40) {
		s := formation(seed)
		s.ScaleSigma = 0.002
		for i := range s.Obstacles { // half of them under or next to a ship
			if i%2 == 0 {
				s.Obstacles[i].Pose.Point = s.Ships[i].Pose.Transform(geom.Point{X: 30, Y: 5})
			}
		}
		o := s
		o.Obstacles = slices.Clone(s.Obstacles)
		for i := range o.Obstacles {
			r := &o.Obstacles[i]
			frame := geom.Pose{Point: geom.Point{X: 300, Y: -500}, Heading: 2}
			back := geom.Pose{Heading: -frame.Heading}
			r.Outline = nil
			for _, p := range s.Obstacles[i].Outline {
				r.Outline = append(r.Outline, back.Transform(s.Obstacles[i].Pose.Transform(p).Sub(frame.Point)))
			}
			r.Pose = frame
		}
		want, got := enginetest.Measured(t, s).Objects, enginetest.Measured(t, o).Objects
		for i := range want {
			require.Equal(t, want[i].Overlap, got[i].Overlap)
			require.InEpsilon(t, 1+want[i].Range.Sigma.Millimeters(), 1+got[i].Range.Sigma.Millimeters(), 0.003, "seed %d: %+v", seed, want[i])
			if want[i].Overlap != engine.No {
				overlaps++
			}
		}
	}
	require.Greater(t, overlaps, 50)
}

// A sliver of the target is in the arc, all along the side parallel to the arc's edge. If the near corner is surely in, the range is
// that of the near corner; if only the far one is, the range may be the far one's too.
func TestTheCornerThatIsSurelyInTheArcCounts(t *testing.T) {
	for _, c := range []struct {
		name     string
		sure     geom.Point // the corner about which the target may turn, in its own frame
		possible []int
	}{
		{"the near corner", geom.Point{X: -40, Y: 40}, []int{2}},
		{"the far corner", geom.Point{X: 40, Y: 40}, []int{2, 3}},
	} {
		for _, mirror := range []float64{1, -1} {
			// The near corner is 140 mm from the attacker, the far one 220.
			s := enginetest.Scene(t, "2.5; A small 300 100 0; B large 0 0 0")
			b := &s.Ships[1]
			b.Pose.Point = geom.Point{X: 300 + mirror*(20+140+40), Y: 100 + 3 - 40}
			turns := geom.Cov3{8: geom.Sq(0.02)}
			b.Covariance = turns.Transported(geom.Point{X: -mirror * c.sure.X, Y: -c.sure.Y})
			for i := range s.Ships {
				s.Ships[i].Covariance[0] += 0.01
				s.Ships[i].Covariance[4] += 0.01
			}
			got := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFullFront)
			require.Equal(t, engine.Yes, got.InArc, c.name)
			require.Equal(t, c.possible, got.Attack.Possible, "%s, mirror %v", c.name, mirror)
		}
	}
}
