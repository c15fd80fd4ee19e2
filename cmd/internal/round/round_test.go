package round

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
)

var began = time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)

func number(n int) *int { return &n }

// four are two ships of each player; A1 and B1 have the same initiative.
func four() []Ship {
	return []Ship{
		{ID: "A1", Player: 1, Pilot: "Wedge Antilles", Base: "small", Initiative: number(6), Points: 6},
		{ID: "A2", Player: 1, Base: "small", Initiative: number(2), Points: 4},
		{ID: "B1", Player: 2, Pilot: "Soontir Fel", Base: "small", Initiative: number(6), Points: 5},
		{ID: "B2", Player: 2, Base: "large", Initiative: number(1), Points: 8},
	}
}

// played is a game that a test plays.
type played struct {
	t      *testing.T
	events []Event
	*Game
}

func play(t *testing.T, s Start) *played {
	t.Helper()
	p := &played{t: t}
	p.do(Event{Kind: Started, Start: &s})
	return p
}

func (p *played) do(e Event) {
	p.t.Helper()
	e.At = began.Add(time.Duration(len(p.events)) * time.Second)
	events, g, err := Append(p.events, e)
	require.NoError(p.t, err, "%+v", e)
	p.events, p.Game = events, g
}

func (p *played) next(times int) {
	p.t.Helper()
	for range times {
		p.do(p.Next())
	}
}

func (p *played) undo() { p.t.Helper(); p.do(Event{Kind: Undone, Undo: Undoable(p.events)}) }

// lines plays on by taps and lists whose turn it is, until the round is over.
func (p *played) lines() (out []string) {
	p.t.Helper()
	for round := p.Round; p.Round == round && !p.Ended; p.next(1) {
		out = append(out, p.Turn())
	}
	return out
}

func TestThePhasesAndTheOrderOfEachEdition(t *testing.T) {
	for _, c := range []struct {
		edition string
		first   int
		want    []string
	}{
		{"1e", 1, []string{"R1 Planning", "R1 Activation: B2 next", "R1 Activation: A2 next", "R1 Activation: A1 next",
			"R1 Activation: B1 next", "R1 Activation: all moved", "R1 Combat: A1 next", "R1 Combat: B1 next", "R1 Combat: A2 next",
			"R1 Combat: B2 next", "R1 Combat: all attacked", "R1 End"}},
		{"2.0", 2, []string{"R1 Planning", "R1 System", "R1 Activation: B2 next", "R1 Activation: A2 next", "R1 Activation: B1 next",
			"R1 Activation: A1 next", "R1 Activation: all moved", "R1 Engagement: B1 next", "R1 Engagement: A1 next",
			"R1 Engagement: A2 next", "R1 Engagement: B2 next", "R1 Engagement: all attacked", "R1 End"}},
		{"2.5", 0, []string{"R1 Planning: first player?", "R1 System", "R1 Activation: B2 next", "R1 Activation: A2 next",
			"R1 Activation: A1 or B1 next", "R1 Activation: B1 next", "R1 Activation: all moved", "R1 Engagement: A1 or B1 next",
			"R1 Engagement: B1 next", "R1 Engagement: A2 next", "R1 Engagement: B2 next", "R1 Engagement: all attacked", "R1 End"}},
	} {
		p := play(t, Start{Edition: c.edition, First: c.first, Ships: four()})
		assert.Equal(t, c.want, p.lines(), c.edition)
		assert.Equal(t, 2, p.Round)
	}
}

// A note of an older record may hold characters that make it read as something else.
func TestWordsHoldNoCharacterThatReversesOrHides(t *testing.T) {
	g := &Game{}
	for text, want := range map[string]string{
		"Range \u202e2 on 1": "Range \uFFFD2 on 1", "Over.\nRuling 3: range 1": "Over.\uFFFDRuling 3: range 1", "a\u200bb": "a\uFFFDb",
		"Zoë flies 👨\u200d👩": "Zoë flies 👨\u200d👩",
	} {
		assert.Equal(t, want, Words(g, &Event{Kind: Said, Text: text}))
		assert.Equal(t, "Measured: "+want, Words(g, &Event{Kind: Asked, Text: text}))
	}
}

// G213: huge ships of the first edition act after the others, and are not last to attack.
func TestHugeShipsOfTheFirstEditionMoveLast(t *testing.T) {
	ships := append(four(), Ship{ID: "A3", Player: 1, Base: "huge-225", Initiative: number(4)}, Ship{ID: "B3", Player: 2, Base: "huge-195",
		Initiative: number(0)})
	p := play(t, Start{Edition: "1e", First: 1, Ships: ships})
	lines := p.lines()
	assert.Equal(t, []string{"R1 Activation: B1 next", "R1 Activation: B3 next", "R1 Activation: A3 next"}, lines[4:7])
	assert.Equal(t, "R1 Combat: A3 next", lines[10])

	last := p.events[len(p.events)-1]
	assert.NotContains(t, Words(p.Game, &last), "energy")
	moved := Event{Kind: Acted, Ship: "A3", Phase: Activation}
	assert.Equal(t, "A3 has moved; it gains, allocates and uses energy before its action", Words(p.Game, &moved))

	p = play(t, Start{Edition: "2.0", First: 1, Ships: ships})
	assert.Equal(t, "R1 Activation: B3 next", p.lines()[2], "not so in 2.0")
}

func TestTheFirstPlayerOf25IsRolledInEveryRound(t *testing.T) {
	p := play(t, Start{Edition: "2.5", Ships: four()})
	p.do(Event{Kind: Rolled, Player: 2})
	assert.Equal(t, "R1 Planning", p.Turn())
	assert.Equal(t, "R1 Activation: B1 next", p.lines()[4])
	assert.Equal(t, 0, p.First)
	assert.Equal(t, "R2 Planning: first player?", p.Turn())

	p = play(t, Start{Edition: "2.0", First: 2, Ships: four()})
	p.lines()
	assert.Equal(t, 2, p.First, "in 2.0 it stays")
}

func TestOneTapSaysWhatItDoes(t *testing.T) {
	p := play(t, Start{Edition: "1e", First: 1, Ships: four()})
	assert.Equal(t, "Activation begins", p.NextText())
	p.next(1)
	assert.Equal(t, "B2 has moved", p.NextText())
	p.next(5)
	assert.Equal(t, "A1 (Wedge Antilles) has attacked", p.NextText())
	p.next(5)
	assert.Equal(t, "Round 2 begins", p.NextText())
}

// G236: a ship that was destroyed by one of the same initiative still attacks; one of a lower
// initiative is removed first.
func TestShipsOfOneInitiativeShootSimultaneously(t *testing.T) {
	for _, edition := range []string{"1e", "2.0", "2.5"} {
		p := play(t, Start{Edition: edition, First: 1, Ships: four()})
		if edition == "2.5" {
			p.do(Event{Kind: Rolled, Player: 1})
		}
		for p.Phase != Combat && p.Phase != Engagement {
			p.next(1)
		}
		p.do(Event{Kind: Changed, Ship: "B1", Status: Destroyed})
		p.do(Event{Kind: Changed, Ship: "B2", Status: Destroyed})
		p.next(1)
		assert.Equal(t, []string{"B1"}, p.Active(), edition)
		p.next(1)
		assert.Equal(t, []string{"A2"}, p.Active(), edition)
		p.next(1)
		assert.Empty(t, p.Active(), "%s: B2 was removed before its turn", edition)
	}
}

// Who taps that an attacker is done and then what it destroyed is asked: the program cannot
// know at which initiative it was.
func TestAShipThatWasDestroyedBeforeItsInitiativeIsRemoved(t *testing.T) {
	p := play(t, Start{Edition: "2.0", First: 1, Ships: four()})
	for p.Phase != Engagement {
		p.next(1)
	}
	first := p.Active()[0]
	p.do(Event{Kind: Changed, Ship: first, Status: Destroyed})
	assert.Contains(t, p.Active(), first)
	assert.True(t, p.Stays(p.Piece(first)))
	p.do(Event{Kind: Changed, Ship: first, Status: Destroyed})
	assert.NotContains(t, p.Active(), first, "it was destroyed before")
	assert.False(t, p.Stays(p.Piece(first)))
}

// G236: in 2.0 and 2.5 each ship that is destroyed stands until the present initiative has
// passed; in the first edition one that has attacked is removed at once.
func TestWhichDestroyedShipsStayOnTheTable(t *testing.T) {
	for _, edition := range []string{"1e", "2.5"} {
		p := play(t, Start{Edition: edition, First: 1, Ships: four()})
		for p.Phase != Combat && p.Phase != Engagement {
			p.next(1)
		}
		assert.Equal(t, []string{"A1"}, p.Active()[:1])
		p.do(Event{Kind: Changed, Ship: "B2", Status: Destroyed}) // of a lower initiative
		assert.Equal(t, edition == "2.5", p.Stays(p.Piece("B2")), edition)
		p.do(Event{Kind: Changed, Ship: "B1", Status: Destroyed}) // of the same
		assert.True(t, p.Stays(p.Piece("B1")), edition)
		for slices.Contains(p.Active(), "A1") || slices.Contains(p.Active(), "B1") {
			p.next(1)
		}
		assert.False(t, p.Stays(p.Piece("B1")), edition)
		assert.False(t, p.Stays(p.Piece("B2")), edition)
	}
}

func TestUndoIsAFurtherEvent(t *testing.T) {
	p := play(t, Start{Edition: "2.0", First: 1, Ships: four()})
	p.next(3)
	require.Equal(t, "R1 Activation: A2 next", p.Turn())
	p.do(Event{Kind: Changed, Ship: "A2", Status: Fled})
	p.do(Event{Kind: Asked, Text: "A1 to B1: Range 2."})
	p.undo()
	assert.Equal(t, OnTable, p.Piece("A2").Status)
	p.undo()
	assert.Equal(t, "R1 Activation: B2 next", p.Turn())
	p.undo()
	p.undo()
	assert.Equal(t, "R1 Planning", p.Turn())
	assert.Len(t, p.events, 10, "nothing is taken out of the log")
	assert.Zero(t, Undoable(p.events))

	_, _, err := Append(p.events, Event{Kind: Undone, Undo: 2})
	assert.ErrorIs(t, err, ErrEvent)
}

// Two people tap at once: the second tap is for what is over.
func TestATapForWhatIsOverIsRefused(t *testing.T) {
	p := play(t, Start{Edition: "2.0", First: 1, Ships: four()})
	tap := p.Next()
	p.do(tap)
	_, _, err := Append(p.events, tap)
	assert.ErrorContains(t, err, "round 1 Planning is over: it is round 1 System")
	p.next(1)
	tap = p.Next()
	p.do(tap)
	_, _, err = Append(p.events, tap)
	assert.ErrorContains(t, err, "B2 has acted in this phase")
}

// What people took back, the camera does not do again.
func TestTheCameraAdvancesWhenEverybodyHasMoved(t *testing.T) {
	p := play(t, Start{Edition: "2.0", First: 1, Ships: four()})
	_, ok := p.Automatic()
	assert.False(t, ok)
	p.next(6)
	e, ok := p.Automatic()
	require.True(t, ok)
	p.do(e)
	assert.Equal(t, Engagement, p.Phase)
	p.undo()
	assert.Equal(t, Activation, p.Phase)
	_, ok = p.Automatic()
	assert.False(t, ok)
	p.next(1)
	assert.Equal(t, Engagement, p.Phase)
}

func TestReservesAndWhatIsDockedDoNotAct(t *testing.T) {
	p := play(t, Start{Edition: "2.0", First: 1, Ships: four()})
	p.next(2)
	p.do(Event{Kind: Changed, Ship: "B2", Status: Reserve}) // G237
	p.do(Event{Kind: Changed, Ship: "A2", Status: Docked})
	assert.Equal(t, []string{"A1"}, p.Active())
	why, _ := p.Over()
	assert.Empty(t, why, "they are not gone")

	for edition, want := range map[string]string{"1e": "", "2.0": "player 2 has no ship left in the play area",
		"2.5": "player 2 has no ship left in the play area"} {
		p = play(t, Start{Edition: edition, First: 1, Ships: four()})
		p.do(Event{Kind: Changed, Ship: "B1", Status: Docked})
		p.do(Event{Kind: Changed, Ship: "B2", Status: Reserve})
		why, _ := p.Over()
		assert.Equal(t, want, why, edition)
		for p.Phase != End {
			p.next(1)
		}
		if want != "" {
			p.do(Event{Kind: Advanced, Round: p.Round, Phase: p.Phase})
			assert.Equal(t, 2, p.Round, "people decide")
		}
	}
}

// A ship that comes out of reserve has flown nothing.
func TestAShipThatComesIntoThePlayAreaIsNoManeuver(t *testing.T) {
	for _, before := range []bool{true, false} {
		s := simulate(t, "2.0", 3)
		s.next(1)
		s.do(Event{Kind: Changed, Ship: "B1", Status: Docked})
		if before {
			s.do(Event{Kind: Changed, Ship: "B1", Status: OnTable})
		}
		s.ship("B1").Pose.Point = geom.Point{X: 450, Y: 450}
		s.look()
		f := s.last()
		require.NotNil(t, f)
		assert.Equal(t, Placed, f.Sort)
		assert.Equal(t, "B1 (Soontir Fel): placed in the play area", Words(s.Game, &s.events[len(s.events)-1]))
		assert.Empty(t, f.Says)
		assert.False(t, s.Piece("B1").Moved)
		if !before {
			s.do(Event{Kind: Changed, Ship: "B1", Status: OnTable})
		}
		s.next(1)
		s.ship("B1").Pose.Point = geom.Point{X: 450, Y: 450}
		s.fly("B1", "straight 2")
		assert.Equal(t, Maneuver, s.last().Sort, "it flies from there")
		assert.Equal(t, "straight 2", s.last().Move)
	}
}

func TestTheScoreOfTheEditions(t *testing.T) {
	p := play(t, Start{Edition: "1e", First: 1, Ships: four(), Points: 20})
	p.do(Event{Kind: Changed, Ship: "B2", Status: Destroyed})
	p.do(Event{Kind: Changed, Ship: "A2", Status: Fled})
	assert.Equal(t, [2]int{8, 4}, p.Score(), "points of what the other lost")
	p.undo()
	assert.Equal(t, [2]int{8, 0}, p.Score())

	p = play(t, Start{Edition: "2.5", Scenario: Chance, Ships: four(), Points: 20})
	assert.Equal(t, [2]int{7, 10}, p.Score(), "each has the other's deficit: squads of 10 and 13")
	p.do(Event{Kind: Halved, Ship: "B1"})
	assert.Equal(t, [2]int{9, 10}, p.Score(), "half of 5, rounded down")
	p.do(Event{Kind: Changed, Ship: "B1", Status: Destroyed})
	assert.Equal(t, [2]int{12, 10}, p.Score(), "and the rest")
	p.do(Event{Kind: Scored, Player: 1, Points: 8})
	why, winner := p.Over()
	assert.Equal(t, "player 1 has 20 mission points", why)
	assert.Equal(t, 1, winner)
}

func TestTheEndOfAGame(t *testing.T) {
	p := play(t, Start{Edition: "1e", First: 1, Ships: four(), Players: [2]Player{{Name: "Ada"}, {Name: "Ben"}}})
	p.do(Event{Kind: Changed, Ship: "B1", Status: Destroyed})
	p.do(Event{Kind: Changed, Ship: "B2", Status: Destroyed})
	for !p.Ended {
		p.next(1)
	}
	assert.Equal(t, "Ben has no ship left", p.Why)
	assert.Equal(t, "The game is over: Ben has no ship left. Ada wins, 13 to 0", Words(p.Game, &p.events[len(p.events)-1]))
	assert.Equal(t, 1, p.Winner)
	assert.Equal(t, 1, p.Round)
	_, _, err := Append(p.events, p.Next())
	assert.ErrorContains(t, err, "the game is over")
	p.undo()
	assert.Equal(t, End, p.Phase, "even the end can be taken back")

	p = play(t, Start{Edition: "2.5", Scenario: Assault, Ships: four()})
	for !p.Ended {
		p.next(1)
	}
	assert.Equal(t, 12, p.Round)
	assert.Equal(t, "round 12 was the last", p.Why)
	assert.Zero(t, p.Winner)
}

func TestWhatEachEarnsOfAScenario(t *testing.T) {
	p := play(t, Start{Edition: "2.5", Scenario: Assault, Ships: four()})
	for p.Phase != End {
		p.next(1)
	}
	control := []Control{{"sat1", []int{1}}, {"sat2", []int{2}}, {"sat3", []int{0}}, {"sat4", []int{1, 2}}}
	assert.Empty(t, p.Claims(control), "not in the first round")
	p.next(1)
	for p.Phase != End {
		p.next(1)
	}
	claims := p.Claims(control)
	require.Len(t, claims, 2)
	assert.Equal(t, "1 or 2 satellites under control: too close to call at sat4", claims[0].Why)
	assert.Equal(t, engine.Indeterminate, claims[1].Outcome)
	p.do(Event{Kind: Scored, Player: 1, Points: 2, Round: 2})
	left := p.Claims(control)
	require.Len(t, left, 1, "one player's points were confirmed, and not the other's")
	assert.Equal(t, 2, left[0].Player)
	p.do(Event{Kind: Scored, Player: 2, Points: 1, Round: 2})
	assert.Empty(t, p.Claims(control))
	for _, round := range []int{2, 3, -1} { // tapped by two people at once; not yet played; none
		_, _, err := Append(p.events, Event{Kind: Scored, Player: 1, Points: 2, Round: round})
		assert.ErrorIs(t, err, ErrEvent, "round %d", round)
	}
	assert.Equal(t, [2]int{2, 1}, p.Score())

	p = play(t, Start{Edition: "2.5", Scenario: Chance, Ships: four()})
	p.Round, p.Phase = 2, End
	alone := p.Claims([]Control{{"sat1", []int{2}}})
	assert.Equal(t, []int{0, 2}, []int{alone[0].Points, alone[1].Points})
	shared := p.Claims([]Control{{"sat1", []int{3}}})
	assert.Equal(t, []int{1, 1}, []int{shared[0].Points, shared[1].Points})
}

func TestAPilotIsTiedToAnotherBase(t *testing.T) {
	p := play(t, Start{Edition: "2.0", First: 1, Ships: four()})
	p.do(Event{Kind: Tied, Ship: "A1", With: "A2"})
	assert.Equal(t, "Wedge Antilles", p.Piece("A2").Pilot)
	assert.Equal(t, 6, *p.Piece("A2").Initiative)
	assert.Empty(t, p.Piece("A1").Pilot)
	_, _, err := Append(p.events, Event{Kind: Tied, Ship: "A1", With: "B1"})
	assert.ErrorIs(t, err, ErrEvent)
}

// Two people who tie the same pilot at once tie it once.
func TestTwoWhoTieAPilotTieItOnce(t *testing.T) {
	p := play(t, Start{Edition: "2.0", First: 1, Ships: four()})
	tap := Event{Kind: Tied, Ship: "A1", With: "A2", Text: "Wedge Antilles"}
	p.do(tap)
	_, _, err := Append(p.events, tap)
	assert.ErrorContains(t, err, "Wedge Antilles no longer belongs to A1")
	p.do(Event{Kind: Tied, Ship: "A2", With: "A1", Text: "Wedge Antilles"})
	assert.Equal(t, "Wedge Antilles", p.Piece("A1").Pilot)
}

// A name that was corrected gives two ships what the camera saw of each other, and the watch sees no move in it.
func TestACorrectedNameExchangesWhatWasSeen(t *testing.T) {
	p := play(t, Start{Edition: "2.0", First: 1, Ships: four()})
	p.Phase = Activation
	a, b := p.Piece("A1"), p.Piece("A2")
	a.Pose, a.From, a.Last, a.Moved, a.Acted, a.Half = &Pose{X: 300}, &Pose{X: 200}, "straight 2", true, true, true
	b.Pose = &Pose{X: 500}
	p.acting, p.Touch = "A1", [][2]string{{"B1", "A1"}}
	require.NoError(t, p.rename("A1", "A2"))
	assert.Equal(t, [2]float64{500, 300}, [2]float64{p.Piece("A1").Pose.X, p.Piece("A2").Pose.X})
	assert.Nil(t, p.Piece("A1").From)
	assert.False(t, p.Piece("A1").Moved || p.Piece("A1").Acted)
	assert.True(t, p.Piece("A2").Moved && p.Piece("A2").Acted)
	assert.Equal(t, "straight 2", p.Piece("A2").Last)
	assert.True(t, p.Piece("A1").Half, "who tapped the damage tapped a name")
	assert.Equal(t, "A2", p.acting)
	assert.Equal(t, [][2]string{{"B1", "A2"}}, p.Touch)

	require.NoError(t, p.rename("A2", "A9"), "A9 is no ship of this game")
	assert.Nil(t, p.Piece("A2").Pose)
	for _, e := range []Event{{Kind: Renamed, Ship: "A8", With: "A9"}, {Kind: Renamed, Ship: "A1", With: "A1"}} {
		_, _, err := Append(p.events, e)
		assert.ErrorIs(t, err, ErrEvent)
	}
}

func TestWhatNoGameIs(t *testing.T) {
	good := Start{Edition: "2.5", Ships: four()}
	for name, change := range map[string]func(*Start){
		"edition":  func(s *Start) { s.Edition = "3.0" },
		"scenario": func(s *Start) { s.Scenario = "kessel" },
		"of 1e":    func(s *Start) { s.Edition, s.Scenario = "1e", Assault },
		"no ships": func(s *Start) { s.Ships = nil },
		"twice":    func(s *Start) { s.Ships = append(s.Ships, s.Ships[0]) },
		"player":   func(s *Start) { s.Ships = []Ship{{ID: "A1", Player: 3}} },
		"first":    func(s *Start) { s.First = 3 },
	} {
		s := good
		change(&s)
		_, _, err := Append(nil, Event{Kind: Started, Start: &s})
		assert.Error(t, err, name)
	}
	p := play(t, good)
	for _, e := range []Event{{Kind: "strange"}, {Kind: Acted, Ship: "C9", Round: 1, Phase: Planning}, {Kind: Moved, Ship: "A1"},
		{Kind: Changed, Ship: "A1", Status: "lost"}, {Kind: Rolled, Player: 3}, {Kind: Scored}, {Kind: Tied, Ship: "A1", With: "A1"},
		{Kind: Ended, Player: 3}, {Kind: Ended, Player: -1}} {
		_, _, err := Append(p.events, e)
		assert.ErrorIs(t, err, ErrEvent, "%+v", e)
	}
	_, err := Fold(p.events[:0])
	assert.ErrorIs(t, err, ErrEvent)
}
