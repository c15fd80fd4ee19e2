package jig_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/visiontest"
	"sightline/vision/jig"
	"sightline/vision/look"
	"sightline/vision/tablesim"
)

// bench is a camera over a small mat with the jig sheet on it.
type bench struct {
	t     *testing.T
	table calibration.Table
	sheet tablesim.LaidJig
	seed  uint64
	kind  tablesim.MiniKind // of the miniature
}

func newBench(t *testing.T) *bench {
	table := visiontest.TableOf(1.02, 420)
	return &bench{t: t, table: table, sheet: tablesim.LaidJig{Pose: geom.Pose{Point: geom.Point{X: 66, Y: 62}, Heading: 7 * geom.Degree}}}
}

// seen is where the camera sees the sheet's markers.
func (b *bench) seen() (out []calibration.MarkerSighting) {
	scale := b.sheet.Scale
	if scale == 0 {
		scale = 1
	}
	middle := geom.Point{X: 40, Y: 40}
	for _, m := range jig.Tags() {
		s := calibration.MarkerSighting{ID: m.ID}
		for i, c := range m.Corners() {
			s.Corners[i], _ = b.table.PixelOf(b.sheet.Pose.Transform(middle.Add(c.Sub(middle).Mul(scale))), jig.Paper)
		}
		out = append(out, s)
	}
	return out
}

// shot is how a picture of the bench is taken.
type shot struct {
	ship  engine.Ship
	none  bool
	mini  bool
	wear  tablesim.Wear
	blur  float64
	hand  bool
	light float64
}

func (b *bench) take(s shot) vision.Frame {
	b.seed++
	look := tablesim.DefaultLook()
	look.Samples, look.Blur = 2, max(look.Blur, s.blur)
	if s.light > 0 {
		look.Light = s.light
	}
	t := tablesim.Table{Camera: b.table.Camera, Layout: b.table.Layout, Jig: &b.sheet, Look: look, Seed: b.seed}
	if s.wear == 0 {
		s.wear = tablesim.WearStock
	}
	if !s.none {
		t.Scene.Ships, t.Worn = []engine.Ship{s.ship}, map[string]tablesim.Wear{s.ship.ID: s.wear}
	}
	if s.mini {
		t.Minis = map[string]tablesim.Mini{s.ship.ID: {Kind: b.kind, Width: 30, Length: 32, Z: 36, Thick: 12}}
	}
	if s.hand {
		t.Hands = []tablesim.Hand{{Player: 1, Tip: b.sheet.Pose.Transform(geom.Point{X: 70, Y: 70}), Z: 25}}
	}
	f, _, err := t.Render()
	require.NoError(b.t, err)
	return f
}

func (b *bench) session(base engine.Base) *jig.Session {
	s, err := jig.NewSession(look.Card{Name: "A1", Ships: []string{"A1"}, Base: base})
	require.NoError(b.t, err)
	return s
}

func (b *bench) add(s *jig.Session, p shot) jig.Report { return s.Add(b.table, b.take(p), b.seen()) }

// stand is a ship against the stop, pushed as exactly as a person does.
func (b *bench) stand(base engine.Base, turn int) engine.Ship {
	off := [4]geom.Point{{X: 0.1, Y: 0.05}, {X: 0.2, Y: 0}, {X: 0, Y: 0.15}, {X: 0.1, Y: 0.1}}[turn]
	return b.sheet.Stand("A1", base, turn, off.X, off.Y)
}

// A ship of each size is shown in four quarter turns, in whatever order they come, and is then found by its look.
func TestAShipIsShownInFourQuarterTurns(t *testing.T) {
	for base, order := range map[engine.Base][4]int{engine.Small: {0, 1, 2, 3}, engine.Medium: {0, 3, 1, 2}, engine.Large: {0, 2, 3, 1}} {
		b := newBench(t)
		s := b.session(base)
		for _, turn := range order {
			_, err := s.Learn()
			assert.ErrorContains(t, err, "quarter turns are not complete")
			r := b.add(s, shot{ship: b.stand(base, turn)})
			require.NoError(t, r.Err, "%v, turn %d", base, turn)
			assert.Equal(t, turn, r.Turn)
			assert.ErrorIs(t, b.add(s, shot{ship: b.stand(base, turn)}).Err, jig.ErrTurn)
		}
		assert.Equal(t, jig.Turns, s.Next())
		l, err := s.Learn()
		require.NoError(t, err, "%v", base)
		assert.Equal(t, 4, l.Views)
		assert.Equal(t, jig.TurnSigma, l.Known.Turn, "the heading is known as well as the stop's arms")
		assert.GreaterOrEqual(t, l.Known.Place, jig.Sigma)

		at := engine.Ship{ID: "A1", Base: base, Pose: geom.Pose{Point: geom.Point{X: 250, Y: 240}, Heading: 2}}
		plain := tablesim.Table{Camera: b.table.Camera, Layout: b.table.Layout, Look: tablesim.DefaultLook(), Seed: 99,
			Scene: engine.Scene{Ships: []engine.Ship{at}}, Worn: map[string]tablesim.Wear{"A1": tablesim.WearStock}}
		f, _, err := plain.Render()
		require.NoError(t, err)
		finder := look.NewFinder(b.table, &look.Library{Looks: []*look.Look{l}}, calibration.Uncertainty{})
		hint := look.Hint{Base: base, Pose: at.Pose, Reach: 5, Turn: math.Pi}
		hint.Pose.X += 2
		hint.Pose.Heading = 0
		sight, ok, err := finder.Near(f, hint)
		require.NoError(t, err)
		require.True(t, ok, "%v", base)
		ship := finder.Ship(&sight, "A1", "")
		d, turn := sight.Pose.Sub(at.Pose.Point), (sight.Pose.Heading - at.Pose.Heading).Signed()
		assert.Less(t, d.Norm(), 0.4, "%v: %v", base, d)
		assert.Less(t, math.Abs(turn.Degrees()), 0.5, base)
		assert.Less(t, max(math.Abs(d.X)/math.Sqrt(ship.Covariance[0]), math.Abs(d.Y)/math.Sqrt(ship.Covariance[4]),
			math.Abs(float64(turn))/math.Sqrt(ship.Covariance[8])), 3.0, "%v, sigmas", base)
	}
}

// What makes no good view is refused, each with its own reason.
func TestWhatMakesNoViewIsRefused(t *testing.T) {
	b := newBench(t)
	right := b.stand(engine.Small, 0)
	for name, c := range map[string]struct {
		base engine.Base
		shot shot
		want string
	}{
		"nothing there":       {engine.Small, shot{none: true}, "push the base into the corner"},
		"another size":        {engine.Small, shot{ship: b.stand(engine.Medium, 0)}, "a medium base stands in the corner, not a small one"},
		"a smaller one":       {engine.Large, shot{ship: right}, "a small base stands in the corner, not a large one"},
		"a hand":              {engine.Small, shot{ship: right, hand: true}, "take your hand away"},
		"blur":                {engine.Small, shot{ship: right, blur: 2}, "blurred"},
		"dark":                {engine.Small, shot{ship: right, light: 0.03}, "too dark"},
		"a card of one grey":  {engine.Small, shot{ship: right, wear: tablesim.WearPanel}, ""},
		"away from the stop ": {engine.Small, shot{ship: b.sheet.Stand("A1", engine.Small, 0, 25, 20)}, "into the corner"},
	} {
		r := b.add(b.session(c.base), c.shot)
		if assert.Error(t, r.Err, name) {
			assert.ErrorContains(t, r.Err, c.want, name)
		}
	}

	s := b.session(engine.Small)
	require.NoError(t, b.add(s, shot{ship: right}).Err)
	other := b.sheet.Stand("A2", engine.Small, 1, 0, 0)
	assert.ErrorIs(t, b.add(s, shot{ship: other}).Err, jig.ErrOther, "another ship's card")
	between := b.stand(engine.Small, 0)
	between.Pose.Heading += 45 * geom.Degree
	assert.Error(t, b.add(s, shot{ship: between}).Err, "between two turns")

	middle := newBench(t)
	middle.sheet.Pose.Point = geom.Point{X: 190, Y: 190}
	assert.ErrorIs(t, middle.add(middle.session(engine.Small), shot{ship: middle.stand(engine.Small, 0)}).Err, jig.ErrUnderCamera)
}

// A miniature that was left on is refused: at the latest when the four views are put together.
func TestAMiniatureThatWasLeftOnIsRefused(t *testing.T) {
	for _, base := range []engine.Base{engine.Small, engine.Medium, engine.Large} {
		for kind := tablesim.MiniOval; kind <= tablesim.MiniTwin; kind++ {
			if testing.Short() && (kind != tablesim.MiniTwin || base == engine.Medium) { // twelve times four pictures take 10 s
				continue
			}
			b := newBench(t)
			b.kind = kind
			s := b.session(base)
			var refused error
			for turn := range jig.Turns {
				if r := b.add(s, shot{ship: b.stand(base, turn), mini: true}); r.Err != nil {
					refused = r.Err
				}
			}
			if refused == nil {
				_, refused = s.Learn()
			}
			assert.Error(t, refused, "%v base, miniature %d", base, kind)
		}
	}
}

// The sheet is found by three of its markers, and what is wrong with it is said.
func TestTheSheetIsFound(t *testing.T) {
	b := newBench(t)
	p, err := jig.Find(&b.table, b.seen()[1:])
	require.NoError(t, err)
	assert.Less(t, float64(p.Pose.Distance(b.sheet.Pose.Point)), 1e-6)
	assert.InDelta(t, 0, float64((p.Pose.Heading - b.sheet.Pose.Heading).Signed()), 1e-9)
	assert.Equal(t, 3, p.Seen)
	_, err = jig.Find(&b.table, b.seen()[2:])
	assert.ErrorIs(t, err, jig.ErrUnseen)
	_, err = jig.Find(&b.table, nil)
	assert.ErrorContains(t, err, "0 of its 4 markers")

	bent := b.seen()
	bent[3].Corners[0].X += 5
	bent[3].Corners[1].X += 5
	bent[3].Corners[2].X += 5
	bent[3].Corners[3].X += 5
	_, err = jig.Find(&b.table, bent)
	assert.ErrorContains(t, err, "does not lie flat")
	b.sheet.Scale = 0.97
	_, err = jig.Find(&b.table, b.seen())
	assert.ErrorContains(t, err, "measures 97.0 % of its size")

	b.sheet.Scale = 1.004 // the corner is printed where it is, but the base has its own size
	p, err = jig.Find(&b.table, b.seen())
	require.NoError(t, err)
	assert.InDelta(t, 1.004, p.Scale, 1e-6)
	corner := b.sheet.Pose.Transform(geom.Point{X: 40 - 40*1.004, Y: 40 - 40*1.004})
	assert.Less(t, float64(p.Pose.Distance(corner)), 1e-6)
	assert.InDelta(t, 30*math.Sqrt2, float64(p.Base(engine.Medium, 2).Distance(corner)), 1e-6)
}

func TestCardsAreChecked(t *testing.T) {
	for want, c := range map[string]look.Card{
		"base: expected": {Name: "A1", Ships: []string{"A1"}, Base: engine.Huge195},
		"name: expected": {Name: "a/b", Ships: []string{"A1"}, Base: engine.Small},
		"ships":          {Name: "A1", Ships: []string{"C9"}, Base: engine.Small},
	} {
		_, err := jig.NewSession(c)
		assert.ErrorContains(t, err, want)
	}
}

// A hand or a base that is moved is seen between two pictures, noise is not.
func TestWhatRests(t *testing.T) {
	b := newBench(t)
	p, err := jig.Find(&b.table, b.seen())
	require.NoError(t, err)
	ship := b.stand(engine.Small, 0)
	still := b.take(shot{ship: ship})
	assert.True(t, jig.Rests(&b.table, p, still, b.take(shot{ship: ship})))
	assert.False(t, jig.Rests(&b.table, p, still, b.take(shot{ship: ship, hand: true})))
	ship.Pose.X += 2
	assert.False(t, jig.Rests(&b.table, p, still, b.take(shot{ship: ship})))
	assert.False(t, jig.Rests(&b.table, p, vision.Frame{}, still))
}
