package live

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/hardware"
	"sightline/vision"
)

// TestHeadlines: a large range only where it is the answer.
func TestHeadlines(t *testing.T) {
	sure := func(band int) engine.RangeVerdict { return engine.RangeVerdict{Outcome: engine.Yes, Band: band} }
	open := func(bands ...int) engine.RangeVerdict {
		return engine.RangeVerdict{Outcome: engine.Indeterminate, Possible: bands}
	}
	arc := func(in engine.Outcome, attack *engine.RangeVerdict) engine.ArcVerdict {
		a := engine.ArcVerdict{Arc: engine.ArcFront, InArc: in}
		if attack != nil {
			a.Attack = &engine.AttackVerdict{RangeVerdict: *attack}
		}
		return a
	}
	two, three, far, twoOrThree, oneToThree := sure(2), sure(3), sure(5), open(2, 3), open(1, 2, 3)
	threeOrBeyond := open(3, 4, 5)
	for _, c := range []struct {
		name  string
		r     engine.RangeVerdict
		arc   engine.ArcVerdict
		want  Headline
		state func(*State)
	}{
		{"a shot", two, arc(engine.Yes, &two), Headline{HeadlineShot, "In range 2, in the front arc", "2"}, nil},
		{"the attack range counts", two, arc(engine.Yes, &three), Headline{HeadlineShot, "In range 3, in the front arc", "3"}, nil},
		{"outside the arc", two, arc(engine.No, nil), Headline{HeadlineNoShot, "No shot: outside the front arc", ""}, nil},
		{"too far", far, arc(engine.Yes, &far), Headline{HeadlineNoShot, "No shot: beyond range 3", ""}, nil},
		{"too far, wherever the edge is", far, arc(engine.Indeterminate, &far), Headline{HeadlineNoShot, "No shot: beyond range 3", ""}, nil},
		{"between ranges", twoOrThree, arc(engine.Yes, &twoOrThree),
			Headline{HeadlineClose, "Too close to call: range 2 or 3", "2 or 3"}, nil},
		{"three ranges", oneToThree, arc(engine.Yes, &oneToThree),
			Headline{HeadlineClose, "Too close to call: range 1, 2 or 3", "1, 2 or 3"}, nil},
		{"perhaps too far", threeOrBeyond, arc(engine.Yes, &threeOrBeyond),
			Headline{HeadlineClose, "Too close to call: range 3 or beyond", "3 or >3"}, nil},
		{"on the arc's edge", two, arc(engine.Indeterminate, &two),
			Headline{HeadlineClose, "Too close to call: the edge of the front arc", ""}, nil},
		{"on both edges", twoOrThree, arc(engine.Indeterminate, &twoOrThree),
			Headline{HeadlineClose, "Too close to call: range 2 or 3, and the edge of the front arc", ""}, nil},
		{"the arc is not seen", two, arc(engine.NoView, nil), Headline{HeadlineNoView, "The camera cannot see the front arc", ""}, nil},
		{"nothing is seen", engine.RangeVerdict{Outcome: engine.NoView}, arc(engine.NoView, nil),
			Headline{HeadlineNoView, "The camera cannot see it", ""}, nil},
		{"touching", sure(0), arc(engine.Yes, nil), Headline{HeadlineShot, "In contact, range 0, in the front arc", "0"}, nil},
		{"no such arc", two, engine.ArcVerdict{Arc: engine.ArcRear}, Headline{HeadlineNoShot, "No shot: A1 has no front arc", ""}, nil},
		{"a huge ship's weapons may reach further", far, arc(engine.Yes, &far), Headline{HeadlineRange, "Beyond range 3", ">3"},
			func(s *State) { s.Located.Scene.Ships = []engine.Ship{{ID: "A1", Base: engine.Huge195}} }},
		{"arcs may not be told", two, engine.ArcVerdict{}, Headline{HeadlineRange, "In range 2", "2"},
			func(s *State) { s.Pair.Arcs = nil }},
		{"forbidden", two, arc(engine.Yes, &two), Headline{HeadlineNoShot, "No shot: at range 0 of an asteroid, rock1", ""},
			restricts(engine.Yes)},
		{"perhaps forbidden", two, arc(engine.Yes, &two),
			Headline{HeadlineClose, "Perhaps no attack, too close to call: at range 0 of an asteroid, rock1", "2"}, restricts(engine.Indeterminate)},
		{"nothing is chosen", two, arc(engine.Yes, &two), Headline{HeadlineNone, "Choose a pair", ""}, func(s *State) { s.Choice = Choice{} }},
		{"nothing is chosen, and nothing would be answered", two, arc(engine.Yes, &two), Headline{HeadlineNone, "No answer now", ""},
			func(s *State) { s.Choice, s.Health.Code = Choice{}, NoCamera }},
		{"not allowed", two, arc(engine.Yes, &two), Headline{HeadlineWithheld, "Not measured now", ""},
			func(s *State) { s.Pair, s.Withheld = nil, true }},
		{"a hand moves it", two, arc(engine.Yes, &two), Headline{HeadlineNoView, "Wait: B1 is moving", ""}, tracked(vision.Moving)},
		{"a hand covers it", two, arc(engine.Yes, &two), Headline{HeadlineNoView, "The camera cannot see B1", ""}, tracked(vision.Hidden)},
		{"no camera", two, arc(engine.Yes, &two), Headline{HeadlineNoView, "No answer now", ""},
			func(s *State) { s.Pair, s.Health.Code = nil, NoCamera }},
	} {
		s := pairView(c.r, c.arc)
		s.Health.Code = OK
		if c.state != nil {
			c.state(s)
		}
		assert.Equal(t, c.want, s.Headline(), c.name)
	}
}

// restricts lets an asteroid stop A1 from attacking.
func restricts(outcome engine.Outcome) func(*State) {
	return func(s *State) {
		s.Result.Standing = []engine.Standing{{ID: "A1", Restrictions: []engine.Restriction{{Act: "attack", Outcome: outcome,
			Why: "at range 0 of an asteroid", Because: "rock1", Rule: "2.5 G178"}}}}
		s.Located.Scene.Ships = []engine.Ship{{ID: "A1", Player: 1}, {ID: "B1", Player: 2}}
	}
}

func tracked(state vision.TrackState) func(*State) {
	return func(s *State) {
		s.Pair, s.Tracks = nil, []vision.Track{{Ship: engine.Ship{ID: "B1"}, State: state}}
	}
}

// What is wrong is said once in one line.
// Lamps and display show the range of the headline: where the target is in the arc with a far corner only, base to base is another.
func TestThePanelShowsTheRangeOfTheHeadline(t *testing.T) {
	near := engine.RangeVerdict{Outcome: engine.Yes, Band: 1, Possible: []int{1}, Distance: 90, Sigma: 0.2, Margin: 10}
	far := engine.RangeVerdict{Outcome: engine.Yes, Band: 2, Possible: []int{2}, Distance: 120, Sigma: 0.3, Margin: 20}
	for _, c := range []struct {
		in     engine.Outcome
		attack *engine.AttackVerdict
		want   engine.RangeVerdict
	}{
		{engine.Yes, &engine.AttackVerdict{RangeVerdict: far}, far}, {engine.Indeterminate, &engine.AttackVerdict{RangeVerdict: far}, far},
		{engine.No, nil, near}, {engine.NoView, nil, near},
	} {
		s := &State{Health: Health{Code: OK}, Choice: Choice{From: "A1", To: "B1", Arc: engine.ArcFront},
			Pair: &engine.PairVerdict{From: "A1", To: "B1", Range: near,
				Arcs: []engine.ArcVerdict{{Arc: engine.ArcFront, InArc: c.in, Attack: c.attack}}}}
		panel := PanelState(s)
		assert.Equal(t, c.want.Band, panel.Band, c.in)
		assert.Equal(t, c.want.Possible, panel.Possible, c.in)
		assert.Equal(t, []float64{float64(c.want.Distance), float64(c.want.Sigma), float64(c.want.Margin)},
			[]float64{panel.DistanceMM, panel.SigmaMM, panel.MarginMM}, c.in)
		if c.in == engine.Yes {
			assert.Equal(t, "In range 2, in the front arc", s.Headline().Text)
			assert.Equal(t, hardware.Lit, hardware.Lights(panel)[hardware.LampRange2])
			assert.Equal(t, hardware.Dark, hardware.Lights(panel)[hardware.LampRange1])
		}
	}
}

// A destroyed ship's base may still stand there: nothing offers an attack on it, by it, or a lock.
func TestNothingOffersAnAttackOnAShipOutOfPlay(t *testing.T) {
	two := engine.RangeVerdict{Outcome: engine.Yes, Band: 2}
	s := &State{Health: Health{Code: OK}, Choice: Choice{From: "A1", To: "B1", Arc: engine.ArcFront},
		Play: &Play{Ships: []PlayShip{{ID: "A1", Status: "on the table"}, {ID: "B1", Status: "destroyed"}}},
		Pair: &engine.PairVerdict{From: "A1", To: "B1", Range: two, Arcs: []engine.ArcVerdict{{Arc: engine.ArcFront, InArc: engine.Yes,
			Attack: &engine.AttackVerdict{RangeVerdict: two}}}}}
	assert.Equal(t, "No shot: B1 is destroyed", s.Headline().Text)
	panel := PanelState(s)
	assert.Equal(t, "no attack: B1 is destroyed", panel.NoAttack)
	assert.Equal(t, hardware.Dark, hardware.Lights(panel)[hardware.LampInArc])
	s.Located.Scene.Ships = []engine.Ship{{ID: "A1", Player: 1}, {ID: "B1", Player: 2}}
	s.Result.Pairs = []engine.PairVerdict{*s.Pair}
	target := s.Targets().Ships[0]
	assert.Equal(t, &Restriction{engine.Yes, "no attack: B1 is destroyed", []string{"B1"}, []string{}}, target.NoAttack)
	assert.Equal(t, "no lock: B1 is destroyed", target.NoLock.Text)
	assert.Equal(t, target.NoAttack, s.RestrictedFrom("attack", "B1", "A1"), "nor does it attack")
	assert.Contains(t, MeasuredTitle(s), "no attack: B1 is destroyed", "in a ruling")
	near := engine.RangeVerdict{Outcome: engine.Yes, Band: 1, Possible: []int{1}}
	s.Located.Scene.Rules, s.Located.Scene.Devices = engine.Rules25, []engine.Token{{ID: "bomb1", Kind: "bomb"}}
	s.Result.Objects = []engine.ObjectVerdict{{From: "A1", To: "bomb1", Range: near}, {From: "B1", To: "bomb1", Range: near}}
	require.Len(t, s.Targets().Blasts[0].Ships, 1, "nor does a device hit it")
	assert.Equal(t, "A1", s.Targets().Blasts[0].Ships[0].ID)
	asks := s.WithChoice(Choice{From: "B1", To: "A1", Arc: engine.ArcFront})
	assert.Equal(t, engine.No, asks.Targets().Objects[0].May)
	assert.Equal(t, "B1 is destroyed", asks.Targets().Objects[0].Text)
	s.Play.Ships[1].Stays = true // until its initiative has passed
	assert.Equal(t, hardware.Lit, hardware.Lights(PanelState(s))[hardware.LampInArc])
	assert.Len(t, s.Targets().Blasts[0].Ships, 2)
	assert.Nil(t, s.Targets().Ships[0].NoAttack)
}

func TestHealthInOneLine(t *testing.T) {
	const unchosen = "No camera is chosen yet: choose one on the page /first"
	assert.Equal(t, "Starting", Health{Title: "Starting"}.Line())
	assert.Equal(t, "No camera: it is unplugged", Health{Title: "No camera", Detail: "it is unplugged"}.Line())
	assert.Equal(t, unchosen, Health{Title: "No camera", Detail: unchosen}.Line())
}
