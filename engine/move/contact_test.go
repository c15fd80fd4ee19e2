package move_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
	"sightline/engine/move"
	"sightline/engine/scenefile"
)

// randomBump makes a ship that runs into others: any size against any size, huge ones
// too, any template, any edition.
func randomBump(r *rand.Rand) (engine.Scene, move.Maneuver) {
	for {
		s, m := randomMove(r)
		s.Rules = engine.Rules(1 + r.IntN(3))
		for i := range s.Ships[1:] {
			if r.IntN(8) == 0 {
				s.Ships[i+1].Base = engine.Huge195 + engine.Base(r.IntN(2))
			}
		}
		switch r.IntN(8) {
		case 0:
			if m.Bearing == move.Straight {
				m.Bearing = move.Koiogran
			}
		case 1:
			if m.Bearing == move.BankTurn {
				m.Bearing = move.Segnor
			}
		}
		got, err := move.Execute(&s, "A", m, engine.Options{})
		if err == nil && !got.FullyExecuted {
			return s, m
		}
	}
}

// afterMove is the scene with A where its move put it.
func afterMove(s *engine.Scene, end geom.Pose) engine.Scene {
	after := *s
	after.Ships = slices.Clone(s.Ships)
	after.Ships[0].Pose = end
	return after
}

// G17 G109 G110 G117: what move calls touching measure never calls apart, neither as it
// is nor read back from what move wrote; with uncertain poses it never decides so.
// SIGHTLINE_SCENES=10000 looks at so many bumps.
func TestAPoseThatMoveCallsTouchingIsNeverCalledApart(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 1))
	bumps, touched, apart := 0, 0, 0
	kinds := map[string]int{}
	for bumps < enginetest.SceneCount(enginetest.Shorter(2000, 500), 10000) {
		s, m := randomBump(r)
		got, err := move.Execute(&s, "A", m, engine.Options{})
		require.NoError(t, err)
		bumps++
		wire, err := scenefile.MarshalMove(got)
		require.NoError(t, err)
		var read struct {
			Final struct {
				X float64 `json:"x_mm"`
				Y float64 `json:"y_mm"`
				H float64 `json:"heading_deg"`
			}
		}
		require.NoError(t, json.Unmarshal(wire, &read))
		written := geom.Pose{Point: geom.Point{X: read.Final.X, Y: read.Final.Y}, Heading: geom.Angle(read.Final.H) * geom.Degree}
		for _, id := range got.Touching {
			touched++
			kinds[fmt.Sprint(s.Rules, s.Ships[0].Base, shipOf(&s, id).Base)]++
			for _, end := range []geom.Pose{got.Final, written} {
				after := afterMove(&s, end)
				checkContact(t, &after, id, bumps)
			}
			after := afterMove(&s, got.Final)
			for i := range after.Ships {
				enginetest.Uncertain(r, &after.Ships[i], 0.1+3*r.Float64())
			}
			for _, pair := range [][2]string{{"A", id}, {id, "A"}} {
				v, err := engine.MeasurePair(&after, pair[0], pair[1], engine.Options{})
				require.NoError(t, err)
				require.NotEqual(t, engine.No, v.Contact, "bump %d: %v", bumps, after.Ships)
				if s.Rules != engine.Rules1e {
					require.Contains(t, v.Range.Possible, 0)
				}
			}
		}
		apart += stillApart(t, &s, &got)
	}
	t.Logf("%d bumps: %d ships touched, %d others apart, %d kinds of pair", bumps, touched, apart, len(kinds))
	assert.Greater(t, touched, bumps/2)
	assert.GreaterOrEqual(t, len(kinds), 40, "3 editions, 3 sizes against 5")
}

func shipOf(s *engine.Scene, id string) *engine.Ship {
	return &s.Ships[slices.IndexFunc(s.Ships, func(o engine.Ship) bool { return o.ID == id })]
}

// checkContact holds what measuring says of A and a ship that it touches.
func checkContact(t *testing.T, s *engine.Scene, id string, bump int) {
	t.Helper()
	for _, pair := range [][2]string{{"A", id}, {id, "A"}} {
		v, err := engine.MeasurePair(s, pair[0], pair[1], engine.Options{})
		require.NoError(t, err)
		require.Equal(t, engine.Yes, v.Contact, "bump %d: %v", bump, s.Ships)
		require.Equal(t, engine.Yes, v.Range.Outcome)
		require.Equal(t, engine.RangeOfItself(s.Rules), v.Range.Band)
		require.LessOrEqual(t, float64(v.Range.Distance), 3.6+1e-6, "guides reach no further")
	}
	if s.Rules != engine.Rules20 {
		return
	}
	all, err := enginetest.StandingState(s, nil, engine.Options{})
	require.NoError(t, err)
	i := slices.IndexFunc(all, func(o engine.Standing) bool { return o.ID == "A" })
	require.GreaterOrEqual(t, i, 0)
	require.Equal(t, engine.No, all[i].MayAttack(id), "G73 bump %d", bump)
}

// stillApart holds that measuring says apart of what move does, and counts those.
func stillApart(t *testing.T, s *engine.Scene, got *move.Result) int {
	t.Helper()
	after, n := afterMove(s, got.Final), 0
	for _, o := range s.Ships[1:] {
		if slices.Contains(got.Touching, o.ID) {
			continue
		}
		v, err := engine.MeasurePair(&after, "A", o.ID, engine.Options{})
		require.NoError(t, err)
		require.Equal(t, engine.No, v.Contact, "%v", after.Ships)
		n++
	}
	return n
}

// slowGap is the slow method's gap between two ships' outlines with guides: 0 when any
// two of their parts have inner points in common or touch.
func slowGap(a, b engine.Ship) float64 {
	best := math.Inf(1)
	for _, p := range slowRects(a) {
		for _, q := range slowRects(b) {
			if cross(p.Corners(), q.Corners()) {
				return 0
			}
			best = math.Min(best, math.Min(enginetest.OracleRange(p, q), enginetest.OracleRange(q, p)))
		}
	}
	return best
}

// slowRects are the base and its guides as the slow method knows rectangles.
func slowRects(s engine.Ship) []enginetest.Rect {
	base := enginetest.RectOf(s)
	reach := slowReach[s.Base]
	out := []enginetest.Rect{base}
	for _, x := range []float64{-11.85, 11.85} { // 10.1 to 13.6
		for _, y := range []float64{base.L + reach/2, -base.L - reach/2} {
			at := s.Pose.Transform(geom.Point{X: x, Y: y})
			out = append(out, enginetest.Rect{X: at.X, Y: at.Y, Heading: base.Heading, W: 1.75, L: reach / 2})
		}
	}
	return out
}

// G17 G117 G118: contact, range 0 and the distance from contact are those that the slow
// method finds between all parts of two outlines. SIGHTLINE_SCENES=100000 looks at so
// many scenes.
func TestTheSlowMethodAgreesOnContact(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 118))
	var m engine.Measurer
	worst, contacts, near, byGuides := 0.0, 0, 0, 0
	n := enginetest.SceneCount(enginetest.Shorter(3000, 500), 100000)
	for i := range n {
		s := engine.Scene{Rules: engine.Rules(1 + r.IntN(3)), Ships: []engine.Ship{enginetest.RandomShip(r, "A"), enginetest.RandomShip(r, "B")}}
		a, b := &s.Ships[0], &s.Ships[1]
		for _, o := range []*engine.Ship{a, b} {
			if r.IntN(6) == 0 {
				o.Base = engine.Huge195 + engine.Base(r.IntN(2))
			}
		}
		if r.IntN(3) == 0 {
			b.Pose.Heading = a.Pose.Heading + geom.Angle(r.IntN(4))*math.Pi/2
		}
		// About where the guides meet.
		u := b.Pose.Point.Sub(a.Pose.Point)
		u = u.Mul(1 / u.Norm())
		b.Pose.Point = a.Pose.Point.Add(u.Mul(300))
		for range 3 {
			b.Pose.Point = b.Pose.Point.Sub(u.Mul(enginetest.OracleRange(enginetest.RectOf(*a), enginetest.RectOf(*b))))
		}
		b.Pose.Point = b.Pose.Point.Add(u.Mul(6*r.Float64() - 0.5))
		gap := slowGap(*a, *b)
		got, err := m.Pair(&s, "A", "B", engine.Options{})
		require.NoError(t, err)
		if math.Abs(gap) < 1e-5 && gap > 0 {
			continue // less than the slow method's steps can tell
		}
		require.Equal(t, gap == 0, got.Contact == engine.Yes, "scene %d: gap %v, margin %v: %v", i, gap, got.Range.Margin, s.Ships)
		if gap == 0 {
			contacts++
			if got.Range.Distance > 0 {
				byGuides++
			}
			require.Equal(t, engine.RangeOfItself(s.Rules), got.Range.Band)
			continue
		}
		near++
		require.Equal(t, 1, got.Range.Band)
		if s.Rules != engine.Rules1e {
			worst = math.Max(worst, math.Abs(gap-float64(got.Range.Margin)))
			require.InDelta(t, gap, float64(got.Range.Margin), 1e-6, "scene %d: %v", i, s.Ships)
		}
	}
	t.Logf("%d scenes: %d in contact, %d of them by the guides alone, %d apart, whose margins differ by at most %.2g mm",
		n, contacts, byGuides, near, worst)
	assert.Greater(t, byGuides, n/20)
	assert.Greater(t, near, n/5)
}

// slowRockGap is the slow method's gap between a ship's outline with guides and an
// outline on the table.
func slowRockGap(s engine.Ship, rock geom.Polygon) float64 {
	best := math.Inf(1)
	for _, p := range slowRects(s) {
		if cross(p.Corners(), rock) {
			return 0
		}
		for i, a := range rock {
			b := rock[(i+1)%len(rock)]
			best = math.Min(best, enginetest.Golden(func(t float64) float64 { q := a.Lerp(b, t); return p.Distance(q.X, q.Y) }, 0, 1))
		}
	}
	return best
}

// G16 G17 G21 G117 G118: the same of obstacles, whose outlines are not convex.
func TestTheSlowMethodAgreesOnContactWithObstacles(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 21))
	overlaps, byGuides, near := 0, 0, 0
	n := enginetest.SceneCount(enginetest.Shorter(1500, 250), 20000)
	for i := range n {
		s := engine.Scene{Rules: engine.Rules(1 + r.IntN(3)), Ships: []engine.Ship{enginetest.RandomShip(r, "A")}}
		rock := engine.Obstacle{ID: "rock", Kind: "asteroid", Outline: enginetest.Star(r, 12, 35)}
		a := &s.Ships[0]
		u := geom.Point{X: math.Sin(float64(i)), Y: math.Cos(float64(i))}
		place := func(at geom.Point) geom.Polygon {
			rock.Pose = geom.Pose{Point: at, Heading: geom.Angle(i % 1000)} // headings end at a million degrees
			return rock.Pose.TransformAll(rock.Outline)
		}
		at := a.Pose.Point.Add(u.Mul(120))
		base := slowRockGap(engine.Ship{Base: a.Base, Pose: a.Pose}, place(at))
		outline := place(at.Sub(u.Mul(base + 3 - 6*r.Float64())))
		s.Obstacles = []engine.Obstacle{rock}
		gap := slowRockGap(*a, outline)
		o := enginetest.Measured(t, s).Objects[0]
		if math.Abs(gap) < 1e-5 && gap > 0 {
			continue
		}
		require.Equal(t, gap == 0, o.Contact == engine.Yes, "scene %d: gap %v, %+v", i, gap, o)
		require.Equal(t, gap == 0, o.Overlap == engine.Yes, "scene %d: gap %v, %+v", i, gap, o)
		if gap == 0 {
			overlaps++
			require.Equal(t, engine.RangeOfItself(s.Rules), o.Range.Band)
			if o.Range.Distance > 0 {
				byGuides++
			}
			continue
		}
		near++
		if s.Rules != engine.Rules1e && o.Range.Distance < 50 {
			require.InDelta(t, gap, float64(o.Range.Margin), 1e-6, "scene %d", i)
		}
	}
	t.Logf("%d scenes: %d overlap, %d of them by the guides alone, %d apart", n, overlaps, byGuides, near)
	assert.Greater(t, byGuides, n/50)
	assert.Greater(t, near, n/5)
}

func TestAGuideOfAShipOfUnknownNoseMayStandOnAnySide(t *testing.T) {
	s := enginetest.Scene(t, "2.0; A small 0 0 0; B small 0 41 90")
	assert.Equal(t, engine.Yes, enginetest.MeasurePair(t, &s, 3).Contact, "A's guides reach B's side")
	s.Ships[0].Quarters = true
	v := enginetest.MeasurePair(t, &s, 3)
	assert.Equal(t, engine.Indeterminate, v.Contact, "they may stand on A's other sides")
	assert.Equal(t, []int{0, 1}, v.Range.Possible)
	s.Ships[1].Pose.Y = 43.3
	assert.Equal(t, engine.No, enginetest.MeasurePair(t, &s, 3).Contact, "too far for any")
	s.Ships[1].Pose.Y = 39.9
	assert.Equal(t, engine.Yes, enginetest.MeasurePair(t, &s, 3).Contact, "near enough for the bases")
	s = enginetest.Scene(t, "2.0; A small 0 0 0; r square 12 31 0 20")
	s.Ships[0].Quarters = true
	assert.Equal(t, engine.Indeterminate, enginetest.Measured(t, s).Objects[0].Contact)
}

func TestAProfileWithoutGuidesHasNoneInContact(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 42 0; r square 0 -31 0 20")
	p := engine.Nominal()
	p.Guides = false
	s.Dimensions = &p
	r := enginetest.Measured(t, s)
	assert.Equal(t, engine.No, r.Pairs[0].Contact)
	assert.Equal(t, 1, r.Pairs[0].Range.Band)
	assert.InDelta(t, 2, float64(r.Pairs[0].Range.Margin), 1e-9, "contact is 2 mm away")
	assert.Equal(t, engine.No, r.Objects[0].Contact)
	assert.Empty(t, r.Problems)
	s.Dimensions = nil
	r = enginetest.Measured(t, s)
	assert.Equal(t, engine.Yes, r.Pairs[0].Contact)
	assert.Equal(t, "overlaps A", r.Problems[0].Problem, "guides lie in one another, which cannot be")
}

// G4 G58: an attack is at range 0 where what the ships touch with is in the arc.
func TestAnAttackIsAtRange0WhereTheTouchIsInTheArc(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 43.2 0")
	p := enginetest.MeasurePair(t, &s, 3)
	front := enginetest.ArcNamed(t, p, engine.ArcFront)
	assert.Equal(t, 0, front.Attack.Band)
	assert.Equal(t, 0, front.Attack.BandArcStart)
	assert.InDelta(t, 3.2, float64(front.Attack.Distance), 1e-9)
	assert.Contains(t, front.Explain(s.Rules, &p), "touching by the guides; bases 3.2 mm apart")
	assert.Contains(t, p.Explain(s.Rules), "range 0, touching by the guides; bases 3.2 mm apart (2.5 G17).")
	// B touches A's left side with its long side; its fore end is in A's front arc, where it
	// touches nothing.
	s = enginetest.Scene(t, "2.5; A small 0 0 0; B large -60 35 0")
	p = enginetest.MeasurePair(t, &s, 3)
	assert.Equal(t, 0, p.Range.Band)
	assert.Equal(t, 0, enginetest.ArcNamed(t, p, engine.ArcLeft).Attack.Band)
	front = enginetest.ArcNamed(t, p, engine.ArcFront)
	assert.Equal(t, 1, front.Attack.Band)
	assert.Contains(t, front.Explain(s.Rules, &p), "range 1: 3.32 mm")
	assert.Contains(t, front.Explain(s.Rules, &p), "the two are in contact outside the arc")
	// Measured, contact is open and so is the attack's range; known to touch, neither is.
	s = enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 43.2 0")
	s.Ships[0].Covariance = geom.Cov3{0: 0.04, 4: 0.04, 8: 1e-5}
	p = enginetest.MeasurePair(t, &s, 3)
	assert.Equal(t, []int{0, 1}, enginetest.ArcNamed(t, p, engine.ArcFront).Attack.Possible)
	assert.Contains(t, p.Explain(s.Rules), "too close to call between ranges 0 and 1: 3.20 ± ")
	assert.Contains(t, p.Explain(s.Rules), "the guides may touch")
	v, err := engine.MeasurePair(&s, "A", "B", engine.Options{InContact: [][2]string{{"B", "A"}}})
	require.NoError(t, err)
	assert.Equal(t, engine.Yes, v.Contact)
	assert.Equal(t, []int{0}, v.Range.Possible)
	assert.Equal(t, []int{0}, enginetest.ArcNamed(t, v, engine.ArcFront).Attack.Possible)
}

// G141: an ion maneuver is an ordinary straight 1: it meets ships and backs up as any does.
func TestAnIonManeuverBacksUpAsAnyOther(t *testing.T) {
	s := enginetest.Scene(t, "2.0; A small 0 0 0; B small 0 90 0")
	r := moved(t, s, "A", "straight 1")
	assertPose(t, 0, 90-43.2, 0, r.Final)
	assert.Equal(t, []string{"B"}, r.Touching, "G141")
}

// A scene beyond any table is refused, whoever reads it.
func TestASceneOfTooManyShipsIsRefused(t *testing.T) {
	s := engine.Scene{Rules: engine.Rules25}
	for i := range engine.MaxShips + 1 {
		s.Ships = append(s.Ships, engine.Ship{ID: fmt.Sprint("S", i), Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: float64(50 * i)}}})
	}
	want := fmt.Sprintf("ships: expected at most %d, got %d", engine.MaxShips, engine.MaxShips+1)
	_, err := engine.Measure(&s, engine.Options{})
	assert.ErrorContains(t, err, want)
	_, err = move.Execute(&s, "S0", move.Maneuver{Bearing: move.Straight, Speed: 1}, engine.Options{})
	assert.ErrorContains(t, err, want)
	raw, err := scenefile.MarshalList([]engine.Scene{s})
	require.NoError(t, err)
	_, _, err = scenefile.Parse(raw)
	assert.ErrorContains(t, err, want)
	s.Ships = s.Ships[:engine.MaxShips]
	assert.NoError(t, s.Validate())
}

// What is said of an object has the outcome and the bands that a pair's range has, and
// what is said of obstruction its margin's sigma.
func TestObjectsAndObstructionCarryWhatTheyRestOn(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 260 45; r square 0 130.2 0 20; q square 30 180 0 20")
	r := enginetest.Measured(t, s)
	assert.Zero(t, enginetest.ArcNamed(t, r.Pairs[0], engine.ArcFront).Attack.Obstruction.Sigma, "nothing is uncertain")
	s.Ships[0].Covariance = geom.Cov3{0: 0.04, 4: 0.04}
	s.Obstacles[0].Sigma = 0.2
	r = enginetest.Measured(t, s)
	raw, err := scenefile.MarshalResult(r)
	require.NoError(t, err)
	var wire struct {
		Pairs []struct {
			Arcs []struct {
				Attack *struct {
					Obstruction struct {
						Margin float64 `json:"margin_mm"`
						Sigma  float64 `json:"sigma_mm"`
					} `json:"obstruction"`
				} `json:"attack"`
			} `json:"arcs"`
		} `json:"pairs"`
		Objects []struct {
			To       string `json:"to"`
			Outcome  string `json:"outcome"`
			Possible []int  `json:"possible_bands"`
		} `json:"objects"`
	}
	require.NoError(t, json.Unmarshal(raw, &wire))
	assert.Equal(t, "too_close", wire.Objects[0].Outcome)
	assert.Equal(t, []int{1, 2}, wire.Objects[0].Possible)
	assert.Equal(t, "yes", wire.Objects[1].Outcome)
	assert.Equal(t, []int{2}, wire.Objects[1].Possible)
	o := enginetest.ArcNamed(t, r.Pairs[0], engine.ArcFront).Attack.Obstruction
	assert.Equal(t, "must", o.Verdict)
	assert.InDelta(t, 10, float64(o.Margin), 0.5)
	assert.InDelta(t, math.Hypot(0.2, 0.2), float64(o.Sigma), 0.05, "the line's and the rock's")
	assert.Equal(t, float64(o.Sigma), wire.Pairs[0].Arcs[0].Attack.Obstruction.Sigma)
	s.Obstacles[0].Pose.X = 10.3 // the line grazes it
	o = enginetest.ArcNamed(t, enginetest.Measured(t, s).Pairs[0], engine.ArcFront).Attack.Obstruction
	assert.Equal(t, "too_close", o.Verdict)
	assert.Less(t, float64(o.Margin), 3*float64(o.Sigma))
	s.Obstacles[0].Pose.X = 14
	o = enginetest.ArcNamed(t, enginetest.Measured(t, s).Pairs[0], engine.ArcFront).Attack.Obstruction
	assert.Equal(t, "never", o.Verdict)
	assert.InDelta(t, 4, float64(o.Margin), 0.5)
	assert.InDelta(t, math.Hypot(0.2, 0.2), float64(o.Sigma), 0.05)
}

// Where nothing is uncertain no answer has a sigma, also that of an attack near contact.
func TestAnExactSceneHasNoSigma(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 26))
	near := 0
	for range 500 {
		s := engine.Scene{Rules: engine.Rules25, Ships: []engine.Ship{
			{ID: "A1", Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 400, Y: 400}, Heading: geom.Angle(r.Float64()) * 6}},
			{ID: "B1", Base: engine.Large, Pose: geom.Pose{Point: geom.Point{X: 400 + 60*(2*r.Float64()-1), Y: 460 + 30*r.Float64()},
				Heading: geom.Angle(r.Float64()) * 6}},
		}}
		p, err := engine.MeasurePair(&s, "A1", "B1", engine.Options{})
		require.NoError(t, err)
		assert.Zero(t, p.Range.Sigma)
		for _, a := range p.Arcs {
			assert.Zero(t, a.Sigma, "%s", a.Arc)
			if a.Attack != nil {
				assert.Zero(t, a.Attack.Sigma, "%s: %+v", a.Arc, s.Ships)
				if a.Attack.Distance > p.Range.Distance && a.Attack.Distance < 40 {
					near++
				}
			}
		}
	}
	assert.Greater(t, near, 100, "attacks further than the range is")
}

// What a huge ship touches at the middle of its side does not hang on where its far ends are.
func TestContactRespectsTheBasesUncertainty(t *testing.T) {
	square := []geom.Point{{X: -10, Y: -10}, {X: 10, Y: -10}, {X: 10, Y: 10}, {X: -10, Y: 10}}
	for _, c := range []struct {
		gap, along float64
		want       engine.Outcome
	}{{0.5, 0, engine.No}, {0.5, 90, engine.Indeterminate}, {-0.5, 0, engine.Yes}, {-0.5, 90, engine.Indeterminate}} {
		s := engine.Scene{Rules: engine.Rules25,
			Ships: []engine.Ship{{ID: "A", Base: engine.Huge225, Covariance: geom.Cov3{0: 0.0025, 4: 0.0025,
				8: math.Pow(0.2*float64(geom.Degree), 2)}}},
			Obstacles: []engine.Obstacle{{ID: "rock", Outline: square, Sigma: 0.05,
				Pose: geom.Pose{Point: geom.Point{X: 40 + 10 + c.gap, Y: c.along}}}}}
		v, err := new(engine.Measurer).Object(&s, "A", "rock", engine.Options{})
		require.NoError(t, err)
		assert.Equal(t, c.want, v.Contact, "%+v", c)
		assert.Equal(t, c.want, v.Overlap, "%+v", c)
	}
}

// What has no uncertainty but that of the scale may be off by it where two things touch,
// as far as their middles are apart.
func TestTheErrorOfScaleDecidesContactWithObjects(t *testing.T) {
	for gap, want := range map[float64]engine.Outcome{
		-0.5: engine.Yes, -0.1: engine.Indeterminate, 0.1: engine.Indeterminate, 0.5: engine.No,
	} {
		s := enginetest.Scene(t, "2.5; A small 0 0 0; r square 12 31.6 0 20")
		s.Obstacles[0].Pose.Y += gap
		s.ScaleSigma = 0.003 // 0.29 mm at three sigmas over 31.6 mm
		o := enginetest.Measured(t, s).Objects[0]
		assert.Equal(t, want, o.Contact, "%+v", gap)
		assert.Equal(t, want, o.Overlap, "%+v", gap)
	}
}
