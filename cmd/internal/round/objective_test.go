package round

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
)

func salvage(t *testing.T) *played {
	p := play(t, Start{Edition: "2.5", Scenario: Salvage, Ships: four(), Objectives: Salvage.Objectives()})
	for p.Round < 2 || p.Phase != Activation {
		p.next(1)
	}
	return p
}

func (p *played) refused(e Event, why string) {
	p.t.Helper()
	_, _, err := Append(p.events, e)
	require.ErrorIs(p.t, err, ErrEvent)
	assert.ErrorContains(p.t, err, why)
}

func never(string) bool  { return false }
func always(string) bool { return true }

// G228 to G231: a supply cache is towed, and let go.
func TestSupplyCachesAreTowedAndLetGo(t *testing.T) {
	p := play(t, Start{Edition: "2.5", Scenario: Salvage, Ships: four(), Objectives: Salvage.Objectives()})
	assert.Equal(t, []string{"supply cache 1", "supply cache 2", "supply cache 3", "supply cache 4", "supply cache 5"}, p.Start.Objectives)
	p.refused(Event{Kind: Towed, Ship: "A1", With: "supply cache 1"}, "from round 2 on")

	p = salvage(t)
	p.refused(Event{Kind: Towed, Ship: "A1", With: "sat1"}, "no objective")
	p.refused(Event{Kind: Scrambled, Ship: "A1", With: "supply cache 1"}, "nothing is scrambled in this scenario")
	p.refused(Event{Kind: Jettisoned, Ship: "A1"}, "tows nothing")
	p.do(Event{Kind: Towed, Ship: "A1", With: "supply cache 1"})
	p.refused(Event{Kind: Towed, Ship: "A1", With: "supply cache 2"}, "a ship has one supply cache")
	p.refused(Event{Kind: Towed, Ship: "B1", With: "supply cache 1"}, "is towed by A1")
	p.do(Event{Kind: Towed, Ship: "B1", With: "supply cache 2"})
	assert.Equal(t, "A1", p.Carrier("supply cache 1"))
	assert.Equal(t, "A1 (Wedge Antilles) tows supply cache 1", Words(p.Game, &p.events[len(p.events)-2]))

	pose, from := Pose{Y: 900}, Pose{Y: 700}
	p.do(Event{Kind: Moved, Ship: "B1", Flown: &Flown{Sort: Maneuver, Outcome: "yes", Move: "straight 5", From: from, To: pose}})
	p.do(Event{Kind: Changed, Ship: "B1", Status: Fled})
	assert.Empty(t, p.Carrier("supply cache 2"))
	assert.Equal(t, Loose{"B1", &from, true}, p.LetGo()["supply cache 2"], "G231: from where it was before its maneuver")
	p.undo()
	assert.Equal(t, "B1", p.Carrier("supply cache 2"))
	p.do(Event{Kind: Changed, Ship: "B1", Status: Reserve})
	assert.Equal(t, Loose{"B1", &pose, false}, p.LetGo()["supply cache 2"])
	p.do(Event{Kind: Jettisoned, Ship: "A1"})
	p.do(Event{Kind: Towed, Ship: "A2", With: "supply cache 2"})
	assert.NotContains(t, p.LetGo(), "supply cache 2")
	assert.Contains(t, p.LetGo(), "supply cache 1")
}

// The points of Salvage Mission follow from the log; where the table shows otherwise, both
// outcomes are proposed.
func TestThePointsOfSalvageMission(t *testing.T) {
	p := salvage(t)
	p.do(Event{Kind: Towed, Ship: "A1", With: "supply cache 1"})
	p.do(Event{Kind: Towed, Ship: "A2", With: "supply cache 2"})
	p.do(Event{Kind: Towed, Ship: "B1", With: "supply cache 3"})
	for p.Phase != End {
		p.next(1)
	}
	claims := p.Claims(p.Held(false, never))
	require.Len(t, claims, 2)
	assert.Equal(t, Claim{Player: 1, Points: 2, Most: 2, Why: "2 supply caches on ship cards", Outcome: engine.Yes}, claims[0])
	assert.Equal(t, 1, claims[1].Points)

	lies := func(id string) bool { return id == "supply cache 2" || id == "supply cache 4" }
	claims = p.Claims(p.Held(true, lies))
	assert.Equal(t, "1 or 2 supply caches on ship cards: what was logged does not fit the table at supply cache 2", claims[0].Why)
	assert.Equal(t, "1 or 2 supply caches on ship cards: what was logged does not fit the table at supply cache 5", claims[1].Why,
		"cache 5 is gone, and no one said who has it: B2 alone tows nothing")
	assert.Equal(t, engine.Indeterminate, claims[1].Outcome)
}

// G232: whose marker lies on a satellite.
func TestThePointsOfScramble(t *testing.T) {
	p := play(t, Start{Edition: "2.5", Scenario: Scramble, Ships: four(), Objectives: []string{"sat1", "sat2", "sat3"}})
	for p.Round < 2 || p.Phase != Activation {
		p.next(1)
	}
	p.do(Event{Kind: Scrambled, Ship: "A1", With: "sat1"})
	p.do(Event{Kind: Scrambled, Ship: "B1", With: "sat1"})
	p.do(Event{Kind: Scrambled, Player: 1, With: "sat2"})
	p.refused(Event{Kind: Scrambled, With: "sat2"}, "no ship of this game")
	p.refused(Event{Kind: Scrambled, Player: 1, With: "sat9"}, "no objective")
	assert.Equal(t, 2, p.Marker("sat1"), "the other player's marker is removed")
	for p.Phase != End {
		p.next(1)
	}
	claims := p.Claims(p.Held(true, always))
	assert.Equal(t, []int{1, 1}, []int{claims[0].Points, claims[1].Points})
	assert.Equal(t, "1 satellites with the player's marker", claims[0].Why)
	p.next(1)
	for p.Phase != End {
		p.next(1)
	}
	assert.Equal(t, 3, p.Round)
	assert.Equal(t, 1, p.Claims(p.Held(true, always))[0].Points, "markers stay")
}
