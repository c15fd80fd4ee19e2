package engine_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
)

// Each test here is a mistake that a program of this kind has made, or still
// makes, and that its players reported.

func frontObstruction(t *testing.T, text string) engine.ObstructionVerdict {
	t.Helper()
	s := enginetest.Scene(t, text)
	a := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront)
	require.NotNil(t, a.Attack)
	return a.Attack.Obstruction
}

func TestPeersMissALineWhollyInsideAnObstacle(t *testing.T) {
	assert.Equal(t, "must", frontObstruction(t, "2.5; A small 0 0 0; B small 0 150 45; r square 0 70 0 500").Verdict, "G36")
}

func TestPeersTryOnlyTheTwoExtremeLinesOfABand(t *testing.T) {
	o := frontObstruction(t, "2.5; A small 0 0 0; B small 0 200 0; r square 0 100 0 20")
	assert.Equal(t, "may", o.Verdict, "G32 G34 both ends are clear and the middle is not")
	o = frontObstruction(t, "2.5; A small 0 0 0; B small 0 200 0; r square -15 100 0 20; q square 15 100 0 20")
	assert.Equal(t, "may", o.Verdict, "both ends are obstructed and the middle is not")
}

func TestPeersSeeABandObstructedFromOneSideOnly(t *testing.T) {
	for _, x := range []int{-20, 20} {
		o := frontObstruction(t, fmt.Sprintf("2.5; A small 0 0 0; B small 0 200 0; r square %d 100 0 20", x))
		assert.Equal(t, "may", o.Verdict, "G34 a rock at x = %d", x)
		s := enginetest.Scene(t, fmt.Sprintf("2.5; B small 0 200 180; A small 0 0 0; r square %d 100 0 20", x))
		v, err := engine.MeasurePair(&s, "B", "A", engine.Options{})
		require.NoError(t, err)
		assert.Equal(t, "may", enginetest.ArcNamed(t, v, engine.ArcFront).Attack.Obstruction.Verdict, "and seen from the other ship")
	}
}

func TestPeersTestObstructionFromCentreToCentre(t *testing.T) {
	// The sides face each other from x = 15 to 20; the centres' line is at 27 there.
	assert.Equal(t, "never", frontObstruction(t, "2.5; A small 0 0 0; B large 55 200 0; r square 28 100 0 8").Verdict)
	assert.Equal(t, "must", frontObstruction(t, "2.5; A small 0 0 0; B large 55 200 0; r square 12 100 0 18").Verdict)
}

func TestPeersMissObstaclesByLessThanAMillimetre(t *testing.T) {
	for _, by := range []float64{1e-3, 1e-6} {
		o := frontObstruction(t, fmt.Sprintf("2.5; A small 0 0 0; B small 0 200 45; r square %.12f 100 0 20", 10-by))
		assert.Equal(t, "must", o.Verdict, "%g mm", by)
		assert.InDelta(t, by, float64(o.Margin), 1e-8)
	}
}

func TestPeersUseTheRulersWidth(t *testing.T) {
	// G22 G23: a ruler is 16 mm wide, and its edge is the line.
	assert.Equal(t, "never", frontObstruction(t, "2.5; A small 0 0 0; B small 0 200 45; r square 11 100 0 20").Verdict)
}

func TestPeersTakeObstaclesForCircles(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 300 45; r square 0 0 0 1")
	s.Obstacles[0].Outline = []geom.Point{{X: 10, Y: 50}, {X: 20, Y: 50}, {X: 20, Y: 250}, {X: 10, Y: 250}} // long and thin, next to the line
	assert.Equal(t, "never", enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack.Obstruction.Verdict)
}

func TestPeersFlipAnOutlineThatRunsTheOtherWayRound(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 200 45; r square 5 100 20 20")
	there := enginetest.Measured(t, s)
	slices.Reverse(s.Obstacles[0].Outline)
	back := enginetest.Measured(t, s)
	assert.InDelta(t, float64(there.Objects[0].Range.Distance), float64(back.Objects[0].Range.Distance), 1e-12)
	a := enginetest.ArcNamed(t, there.Pairs[0], engine.ArcFront).Attack.Obstruction
	b := enginetest.ArcNamed(t, back.Pairs[0], engine.ArcFront).Attack.Obstruction
	assert.Equal(t, a.Verdict, b.Verdict)
	assert.Equal(t, a.By, b.By)
	assert.InDelta(t, float64(a.Margin), float64(b.Margin), 1e-9)
}

func TestPeersDoNotAskAboutObstructionOutsideArcs(t *testing.T) {
	s := enginetest.Scene(t, "1e; A small 0 0 0; B small 0 -200 45; r square 0 -100 0 40")
	s.Ships[0].Arcs = []string{"primary_turret"}
	assert.Equal(t, "must", enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcPrimaryTurret).Attack.Obstruction.Verdict)
}

func TestPeersIgnoreTheArcForTheAttackRange(t *testing.T) {
	// G3–G5, G65, and the question that players asked: the range inside the arc
	// besides the overall range.
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B large 150 100 0")
	p := enginetest.MeasurePair(t, &s, 3)
	front := enginetest.ArcNamed(t, p, engine.ArcFront)
	assert.Equal(t, 1, p.Range.Band)
	assert.Equal(t, 2, front.Attack.Band)
}

func TestPeersGiveOneStartOfTheLineOnly(t *testing.T) {
	// The text of 2.0 measures from the base, the first edition from the part in the
	// arc: both are there, with their bands, and here they differ.
	tan := math.Tan(40.62 * math.Pi / 180)
	y := func(d float64) float64 { // where the arc's line is d from the corner (20, 20)
		lo, hi := 60.0, 300.0
		for range 60 {
			if mid := (lo + hi) / 2; math.Hypot(mid*tan-20, mid-20) < d {
				lo = mid
			} else {
				hi = mid
			}
		}
		return lo
	}(99)
	s := enginetest.Scene(t, fmt.Sprintf("2.5; A small 0 0 0; B large %.12f %.12f 0", y*tan+40, y))
	at := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack
	assert.InDelta(t, 99, float64(at.Distance), 1e-6)
	assert.Equal(t, 1, at.Band)
	assert.Equal(t, 2, at.BandArcStart)
	s.Rules = engine.Rules1e
	at = enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack
	assert.Equal(t, at.BandArcStart, at.Band)
}

func TestPeersDrawArcsAt45DegreesFromTheCentreOrTheCorners(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 128 120 0") // its near corner is at 47° and the next at 37.7°
	assert.Equal(t, engine.Yes, enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).InArc)
	s = enginetest.Scene(t, "2.5; A small 0 0 0; B small 145 120 0") // 41.8°: inside 45°, outside 40.62°
	assert.Equal(t, engine.No, enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).InArc)
	assert.Equal(t, engine.Yes, enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcRight).InArc)
}

func TestPeersTestTheBullseyeByItsMiddleLineOrTooWide(t *testing.T) {
	for x, in := range map[float64]engine.Outcome{27.4: engine.Yes, 27.6: engine.No, -27.4: engine.Yes, 31.9: engine.No} {
		s := enginetest.Scene(t, fmt.Sprintf("2.5; A small 0 0 0; B small %g 200 0", x))
		assert.Equal(t, in, enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcBullseye).InArc, "G63 G64 at %g mm", x)
	}
	p := engine.Nominal()
	p.Bullseye = 16
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 27.9 200 0")
	s.Dimensions = &p
	got := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcBullseye)
	assert.Equal(t, engine.Yes, got.InArc, "whose width players may measure for themselves")
}

func TestPeersLetArcsAndRangesReachGuides(t *testing.T) {
	// G117: B's front guides would reach into the bullseye, and to range 1.
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 29 200 270")
	assert.Equal(t, engine.No, enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcBullseye).InArc)
	s = enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 140.5 0")
	assert.Equal(t, 2, enginetest.MeasurePair(t, &s, 3).Range.Band)
	s = onMat(enginetest.Scene(t, "2.5; A small 300 20 0"))
	assert.Empty(t, enginetest.Measured(t, s).Problems, "G197 guides over the edge of the mat have not fled")
}

func TestPeersLeaveDeviceGuidesOut(t *testing.T) {
	// G183: of 32.6 mm with its guides, half counts.
	s := enginetest.Scene(t, "2.5; A small 0 0 0")
	s.Devices = []engine.Token{{ID: "b", Kind: "bomb", Pose: geom.Pose{Point: geom.Point{Y: 136.2}}}}
	assert.Equal(t, 1, enginetest.Measured(t, s).Objects[0].Range.Band)
}

func TestPeersLookAtCornersOnly(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A large 0 0 0; B small 5 110 45") // a corner against the middle of a side
	assert.InDelta(t, 110-40-20*math.Sqrt2, float64(enginetest.MeasurePair(t, &s, 3).Range.Distance), 1e-9)
	// A side between two corners that are both outside the arc is in it: G45 any part.
	s = enginetest.Scene(t, "2.5; A small 0 0 0; B huge-225 0 100 90")
	assert.Equal(t, engine.Yes, enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcBullseye).InArc)
}

func TestPeersRoundBeforeTheyCompare(t *testing.T) {
	for _, c := range []struct {
		d    float64
		band int
	}{{100, 1}, {100.4, 2}, {100.000001, 2}, {99.98, 1}, {0.4, 1}, {200, 2}, {300.01, 4}} {
		s := enginetest.Scene(t, fmt.Sprintf("2.5; A small 0 0 90; B small 0 %.9f 90", 40+c.d)) // side by side, where no guides are
		assert.Equal(t, c.band, enginetest.MeasurePair(t, &s, 3).Range.Band, "G2 %v mm", c.d)
	}
}

func TestPeersKnowNoRange0OrSkipOverlappingPairs(t *testing.T) {
	for _, text := range []string{"2.5; A small 0 0 0; B small 0 40 0", "2.5; A small 0 0 0; B small 0 35 0"} {
		s := enginetest.Scene(t, text)
		p := enginetest.MeasurePair(t, &s, 3)
		assert.Equal(t, 0, p.Range.Band, "G17")
		assert.Equal(t, engine.Yes, p.Contact)
		front := enginetest.ArcNamed(t, p, engine.ArcFront)
		require.NotNil(t, front.Attack, "G58 G71 an attack at range 0 is measured")
		assert.Equal(t, 0, front.Attack.Band)
	}
	s := enginetest.Scene(t, "2.5; A small 0 0 0; r square 30 0 0 20")
	assert.Equal(t, 0, enginetest.Measured(t, s).Objects[0].Range.Band, "and so is an obstacle in contact")
}

func TestPeersMeasureToTheMiddleOfAnObstacle(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; r square 0 0 0 1")
	s.Obstacles[0].Outline = []geom.Point{{X: 200, Y: -60}, {X: 240, Y: -60}, {X: 240, Y: 60}, {X: 200, Y: 60}, {X: 119.5, Y: 0}}
	assert.InDelta(t, 99.5, float64(enginetest.Measured(t, s).Objects[0].Range.Distance), 1e-9)
}

func TestPeersDisagreeBetweenTheirOwnViews(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 100 100 17; B large 290 260 80; C medium 300 80 200")
	r := enginetest.Measured(t, s)
	at := map[string]geom.Length{}
	for _, p := range r.Pairs {
		at[p.From+p.To] = p.Range.Distance
	}
	for _, p := range r.Pairs {
		assert.InDelta(t, float64(at[p.From+p.To]), float64(at[p.To+p.From]), 1e-12)
		for _, a := range p.Arcs {
			if a.Attack != nil {
				assert.GreaterOrEqual(t, float64(a.Attack.Distance), float64(p.Range.Distance)-1e-12, "an attack range is never shorter than the range")
				assert.GreaterOrEqual(t, float64(a.Attack.DistanceArcStart), float64(a.Attack.Distance)-1e-12)
			}
		}
	}
}

func TestPeersGiveNoMarginAndNoWitness(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 245 45; r square 5 100 0 20")
	p := enginetest.MeasurePair(t, &s, 3)
	assert.Equal(t, fmt.Sprintf("A to B: range 2: %.2f mm from (0.0, 20.0) to (0.0, 216.7), %.2f mm from another range (2.5 G16).",
		225-20*math.Sqrt2, 20*math.Sqrt2-25), p.Explain(s.Rules))
	front := enginetest.ArcNamed(t, p, engine.ArcFront)
	assert.Contains(t, front.Explain(s.Rules, &p), "B is in the front arc of A, by ")
	assert.Contains(t, front.Explain(s.Rules, &p), "(2.5 G59); attack range 2: ")
	assert.Equal(t, "Obstructed by r: every permitted line passes through, at least 5.00 mm deep (2.5 G37).",
		front.Attack.Obstruction.Explain(s.Rules))
	rear := enginetest.ArcNamed(t, p, engine.ArcRear)
	assert.Contains(t, rear.Explain(s.Rules, &p), "B is not in the rear arc of A, by ")
	o := enginetest.Measured(t, s).Objects[0]
	assert.Contains(t, o.Explain(s.Rules), "A to r: range 1: 70.00 mm from ")

	s.Rules = engine.Rules1e
	s.Ships[0].Arcs = []string{"primary_turret"}
	s.Obstacles[0].Pose.X = 15
	s.Ships[1].Covariance = geom.Cov3{0: 9, 4: 0.01}
	p = enginetest.MeasurePair(t, &s, 3)
	turret := enginetest.ArcNamed(t, p, engine.ArcPrimaryTurret)
	assert.Contains(t, turret.Explain(s.Rules, &p), "whether or not it is in an arc; range 2: 196.72 ± ")
	assert.Contains(t, turret.Attack.Obstruction.Explain(s.Rules), "Too close to call whether the line passes through r")
	st := engine.Restriction{Act: "attack", Target: "B", Because: "B", Outcome: engine.Yes, Why: "the target is at range 0", Rule: "2.0 G73"}
	assert.Equal(t, "A may not attack B: the target is at range 0 (B; 2.0 G73).", st.Explain("A"))
	problem := engine.Problem{ID: "A", Problem: "outside the play area"}
	assert.Equal(t, "1e G197", problem.Rule(engine.Rules1e))
}
