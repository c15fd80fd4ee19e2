package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
	"sightline/engine/scenefile"
)

// A ship whose base was found by its edges alone may be turned by quarter turns: what
// is said of it must be true whichever way its nose points.
func TestAShipSeenByItsEdgesHasRangesAndNoArcs(t *testing.T) {
	s := unknownScene(800, 800)
	s.Ships[0].Quarters = true
	want, err := engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	for turn := range 4 {
		turned := s
		turned.Ships = append([]engine.Ship(nil), s.Ships...)
		turned.Ships[0].Pose.Heading = geom.Angle(turn) * 90 * geom.Degree
		r, err := engine.Measure(&turned, engine.Options{})
		require.NoError(t, err)
		for i, p := range r.Pairs {
			assert.Equal(t, want.Pairs[i].Range.Possible, p.Range.Possible, "%s to %s", p.From, p.To)
			assert.InDelta(t, float64(want.Pairs[i].Range.Distance), float64(p.Range.Distance), 1e-9)
			assert.Equal(t, want.Pairs[i].Contact, p.Contact)
		}
		for _, a := range r.Pairs[0].Arcs {
			assert.Equal(t, engine.NoView, a.InArc, "%s", a.Arc)
			assert.Nil(t, a.Attack, "%s", a.Arc)
			assert.Contains(t, a.Explain(s.Rules, &r.Pairs[0]), "cannot be seen")
		}
		front := r.Pairs[1].Arc(engine.ArcFront) // B1 looks away from A1
		assert.Equal(t, engine.No, front.InArc, "the other ship's arcs are known")
		assert.Equal(t, engine.NoView, r.Pairs[0].InAnyArc())
		assert.Equal(t, engine.NoView, r.Pairs[0].OnlyIn(engine.ArcFullFront))
		assert.Equal(t, engine.SideNoView, r.Pairs[0].Side())
		assert.Equal(t, engine.NoView, r.Pairs[0].InArcAt(engine.ArcFront, 1, 3))
	}
}

func TestMeasuringAgainUsesANewlyKnownNose(t *testing.T) {
	s := unknownScene(800, 800)
	s.Ships[0].Quarters = true
	var m engine.Measurer
	_, err := m.Measure(&s, engine.Options{})
	require.NoError(t, err)
	s.Ships[0].Quarters = false
	r, err := m.Measure(&s, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, engine.Yes, r.Pairs[0].Arc(engine.ArcFront).InArc)
}

func TestAShipOfUnknownNoseIsNotMoved(t *testing.T) {
	s := unknownScene(800, 800)
	s.Ships[0].Quarters = true
	straight, err := move.ParseManeuver("straight 3")
	require.NoError(t, err)
	_, err = move.Execute(&s, "A1", straight, engine.Options{})
	assert.ErrorContains(t, err, "quarter turn")
}

// A huge ship that shows its edges alone may point either way along its base: ranges hold whichever it
// is, it has neither arcs nor sections, and its guides stand where they stand both ways.
func TestAHugeShipOfUnknownNoseMayBeTurnedHalfRound(t *testing.T) {
	s := unknownScene(800, 800)
	s.Rules = engine.Rules1e
	s.Ships[1].Base = engine.Huge225
	require.True(t, engine.HasSections(s.Rules, &s.Ships[1]))
	s.Ships[1].Quarters = true
	assert.False(t, engine.HasSections(s.Rules, &s.Ships[1]), "nobody knows which is fore")
	want, err := engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	s.Ships[1].Pose.Heading = (s.Ships[1].Pose.Heading + 180*geom.Degree).Normalized()
	r, err := engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	for i, p := range r.Pairs {
		assert.InDelta(t, float64(want.Pairs[i].Range.Distance), float64(p.Range.Distance), 1e-9)
		if p.From == s.Ships[1].ID {
			assert.Equal(t, engine.NoView, p.Arcs[0].InArc)
		}
	}
	straight, err := move.ParseManeuver("straight 1")
	require.NoError(t, err)
	_, err = move.Execute(&s, s.Ships[1].ID, straight, engine.Options{})
	assert.Error(t, err)

	// A move past it that is decided when its nose is known is decided all the same.
	s = unknownScene(800, 800)
	s.Ships[1].Base, s.Ships[1].Pose = engine.Huge195, geom.Pose{Point: geom.Point{X: 462, Y: 280}}
	straight, err = move.ParseManeuver("straight 2")
	require.NoError(t, err)
	known, err := move.Execute(&s, "A1", straight, engine.Options{})
	require.NoError(t, err)
	s.Ships[1].Quarters = true
	unknown, err := move.Execute(&s, "A1", straight, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, known.Outcome, unknown.Outcome)
	assert.Equal(t, known.Margin, unknown.Margin)
}

// Its guides may stand on any two of its sides: a move that passes by less than they
// stand out is not called clear.
func TestAMovePastAShipOfUnknownNoseCountsItsGuides(t *testing.T) {
	straight, err := move.ParseManeuver("straight 2")
	require.NoError(t, err)
	for _, c := range []struct {
		gap  float64
		want engine.Outcome // whether the move is decided
	}{{1, engine.Indeterminate}, {8, engine.Yes}} {
		s := unknownScene(800, 800)
		s.Ships[1].Pose = geom.Pose{Point: geom.Point{X: 440 + c.gap, Y: 280}}
		known, err := move.Execute(&s, "A1", straight, engine.Options{})
		require.NoError(t, err)
		require.Equal(t, engine.Yes, known.Outcome, "facing forward, its guides are out of the way")
		s.Ships[1].Quarters = true
		r, err := move.Execute(&s, "A1", straight, engine.Options{})
		require.NoError(t, err)
		assert.Equal(t, c.want, r.Outcome, "%g mm: %v", c.gap, r.Undecided)
	}
}

func TestQuartersOnTheWire(t *testing.T) {
	doc := `{"version":1,"rules":"2.5","ships":[{"id":"A1","base":"%s","x_mm":100,"y_mm":100,"heading_deg":0,"heading_quarters":%s}]}`
	read, _, err := scenefile.Parse([]byte(fmt.Sprintf(doc, "small", "true")))
	require.NoError(t, err)
	require.True(t, read[0].Ships[0].Quarters)
	out, err := scenefile.Marshal(read[0])
	require.NoError(t, err)
	assert.Contains(t, strings.ReplaceAll(string(out), " ", ""), `"heading_quarters":true`)

	_, _, err = scenefile.Parse([]byte(fmt.Sprintf(doc, "small", `"yes"`)))
	assert.ErrorContains(t, err, "heading_quarters")
	read, _, err = scenefile.Parse([]byte(fmt.Sprintf(doc, "huge-195", "true")))
	require.NoError(t, err, "its two ends look alike")
	assert.True(t, read[0].Ships[0].Quarters)
}

// A target whose guides may be on any of its sides may or may not be touched where it is in
// an arc.
func TestTheGuidesOfATargetOfUnknownNoseDecideNoAttackRange(t *testing.T) {
	for turn := range 2 {
		s := engine.Scene{Rules: engine.Rules25, Ships: []engine.Ship{
			{ID: "A1", Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 400, Y: 400}, Heading: 90 * geom.Degree}},
			{ID: "B1", Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 400, Y: 441}, Heading: geom.Angle(turn) * 90 * geom.Degree},
				Quarters: true},
		}}
		r, err := engine.Measure(&s, engine.Options{})
		require.NoError(t, err)
		assert.Equal(t, []int{0, 1}, r.Pairs[0].Range.Possible)
		left := r.Pairs[0].Arc(engine.ArcLeft)
		require.Equal(t, engine.Yes, left.InArc)
		assert.Equal(t, []int{0, 1}, left.Attack.Possible)
		assert.Equal(t, engine.Indeterminate, left.Attack.Outcome)
	}
}
