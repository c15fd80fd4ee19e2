package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

var pressed = time.UnixMilli(1700000000000)

func to[T any](v T) *T { return &v }

func pairChange(from, target, arc *string) (c DirectionChange) {
	c.Pair = &struct {
		From *string `json:"from"`
		To   *string `json:"to"`
		Arc  *string `json:"arc"`
	}{from, target, arc}
	return c
}

func TestADirectionChangesOnlyWhatIsNamed(t *testing.T) {
	players := Choice{From: "A1", To: "B1", Arc: engine.ArcFront}
	d, err := Direction{}.With(pairChange(nil, to("B2"), nil), players, pressed)
	require.NoError(t, err)
	assert.Equal(t, Direction{Pair: &DirectedPair{"A1", "B2", "front"}}, d, "what is left out is as the players chose")
	assert.Equal(t, Choice{From: "A1", To: "B2", Arc: engine.ArcFront}, d.Choice(players))

	var hide DirectionChange
	hide.Hidden.Table, hide.Hidden.Last = to(true), to(true)
	hide.Frozen = to(true)
	d, err = d.With(hide, players, pressed)
	require.NoError(t, err)
	assert.Equal(t, Direction{Pair: &DirectedPair{"A1", "B2", "front"}, Hidden: HiddenWidgets{Table: true, Last: true},
		FrozenMS: pressed.UnixMilli()}, d)

	d, err = d.With(DirectionChange{Frozen: to(true)}, players, pressed.Add(time.Minute))
	require.NoError(t, err)
	assert.Equal(t, pressed.UnixMilli(), d.FrozenMS, "a second press keeps what the first one froze")

	d, err = d.With(DirectionChange{Follow: to(true), Frozen: to(false)}, players, pressed)
	require.NoError(t, err)
	assert.Equal(t, Direction{Hidden: HiddenWidgets{Table: true, Last: true}}, d)
	assert.Equal(t, players, d.Choice(players))
}

func TestABadDirectionIsRefusedAndChangesNothing(t *testing.T) {
	follow := pairChange(to("A1"), to("B1"), nil)
	follow.Follow = to(true)
	for name, c := range map[string]struct {
		change DirectionChange
		want   string
	}{
		"nothing":        {DirectionChange{}, "Nothing is changed"},
		"an empty pair":  {pairChange(nil, nil, nil), "Nothing is chosen"},
		"no target":      {pairChange(to("A1"), nil, nil), "Expected the attacker"},
		"one ship twice": {pairChange(to("A1"), to("A1"), nil), "two ships"},
		"no such arc":    {pairChange(to("A1"), to("B1"), to("upward")), "There is no arc"},
		"both":           {follow, "Expected follow"},
		"not follow":     {DirectionChange{Follow: to(false)}, "Expected follow"},
	} {
		was := Direction{Hidden: HiddenWidgets{Match: true}}
		d, err := was.With(c.change, Choice{}, pressed)
		var refused *Refusal
		require.ErrorAs(t, err, &refused, name)
		assert.ErrorContains(t, err, c.want, name)
		assert.Equal(t, was, d, name)
	}
}

// The director's pair is measured and withheld as the players' is.
func TestAnotherPairIsAnsweredAsTheChosenOne(t *testing.T) {
	scene := engine.Scene{Rules: engine.Rules25, MatWidth: 914.4, MatHeight: 914.4, Ships: []engine.Ship{
		{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 300, Y: 300}}},
		{ID: "B1", Player: 2, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 300, Y: 450}}},
		{ID: "B2", Player: 2, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 300, Y: 650}}},
	}}
	result, err := engine.Measure(&scene, engine.Options{})
	require.NoError(t, err)
	s := State{Health: Health{Code: OK}, Located: vision.Located{Scene: scene}, Result: result}
	s = s.WithChoice(Choice{From: "A1", To: "B1"})
	asked := s.WithChoice(Choice{From: "A1", To: "B2"})
	require.NotNil(t, asked.Pair)
	assert.Equal(t, "B2", asked.Pair.To)
	assert.Equal(t, "B1", s.Pair.To, "the players' pair stays")

	missing := s.WithChoice(Choice{From: "A1", To: "B7"})
	assert.Nil(t, missing.Pair)
	assert.Equal(t, "B7 is not seen", missing.Reason)

	s.Policy.Measuring = MeasuringJudge
	asked = s.WithChoice(Choice{From: "A1", To: "B2"})
	assert.Nil(t, asked.Pair)
	assert.True(t, asked.Withheld)
	assert.Contains(t, asked.Reason, "only the judge")

	s.Health = Health{Code: Moved, Title: "Moved"}
	asked = s.WithChoice(Choice{From: "A1", To: "B2"})
	assert.Nil(t, asked.Pair)
	assert.Equal(t, "moved", asked.Reason)
}
