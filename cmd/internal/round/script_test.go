package round

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
)

var update = flag.Bool("update", false, "write the logs of the scripted games again")

// Of the simulated camera and of the people at the table: standard deviations.
const (
	seenPlace = 0.3 // mm
	seenTurn  = 0.2 * float64(geom.Degree)
	slopPlace = 1.0 // mm
	slopTurn  = 1.0 * float64(geom.Degree)
)

// simulated is a table whose true poses are known, the camera over it, and the game that it
// watches.
type simulated struct {
	*played
	rng   *rand.Rand
	truth engine.Scene
	watch *Watch
	now   time.Time
	hand  func(engine.Ship) bool // what is covered
	card  func(*engine.Ship)     // how a ship is seen by its card; nil: as it stands
}

func simulate(t *testing.T, edition string, seed uint64) *simulated {
	t.Helper()
	at := func(id string, player int, base engine.Base, x, y, heading float64) engine.Ship {
		return engine.Ship{ID: id, Player: player, Base: base, Pose: geom.Pose{Point: geom.Point{X: x, Y: y},
			Heading: geom.Angle(heading) * geom.Degree}}
	}
	start := Start{Edition: edition, First: 1, Ships: four(), Players: [2]Player{{Name: "Ada"}, {Name: "Ben"}}}
	if edition == "2.5" {
		start.First, start.Scenario, start.Points = 0, Assault, 20
	}
	for i := range start.Ships {
		start.Ships[i].Dial = strings.Fields("1BB 1NB 1FB 2BB 2FB 2NB 2TW 2YW 3BW 3FW 3NW 3TW 3YW 4FW 4KR 5FW")
		start.Ships[i].Actions = []string{"focus", "boost", "barrel roll"}
	}
	rules, err := engine.ParseRules(edition)
	require.NoError(t, err)
	square := []geom.Point{{X: -20, Y: -20}, {X: 20, Y: -20}, {X: 20, Y: 20}, {X: -20, Y: 20}}
	s := &simulated{played: play(t, start), rng: rand.New(rand.NewPCG(seed, 1)), now: began, hand: func(engine.Ship) bool { return false },
		truth: engine.Scene{Rules: rules, MatWidth: 914.4, MatHeight: 914.4,
			Ships: []engine.Ship{at("A1", 1, engine.Small, 300, 90, 0), at("A2", 1, engine.Small, 600, 90, 0),
				at("B1", 2, engine.Small, 306, 820, 180), at("B2", 2, engine.Large, 700, 800, 180)},
			Obstacles: []engine.Obstacle{{ID: "rock1", Kind: "asteroid", Outline: square,
				Pose: geom.Pose{Point: geom.Point{X: 600, Y: 300}}}}}}
	s.watch = NewWatch(s.Game)
	s.look()
	return s
}

// look lets the camera see the table for two seconds.
func (s *simulated) look() {
	s.t.Helper()
	for range 5 {
		s.now = s.now.Add(500 * time.Millisecond)
		scene := s.truth
		scene.Ships = slices.DeleteFunc(slices.Clone(s.truth.Ships), s.hand)
		for i := range scene.Ships {
			k := &scene.Ships[i]
			k.Pose = s.shaken(k.Pose, seenPlace, seenTurn)
			k.Covariance = geom.Cov3{0: seenPlace * seenPlace, 4: seenPlace * seenPlace, 8: seenTurn * seenTurn}
			if s.card != nil {
				s.card(k)
			}
		}
		for _, e := range s.watch.Events(s.Game, Sight{At: s.now, Scene: scene, Still: func(string) bool { return true }}) {
			s.do(e)
		}
	}
}

func (s *simulated) shaken(p geom.Pose, place, turn float64) geom.Pose {
	p.X += place * s.rng.NormFloat64()
	p.Y += place * s.rng.NormFloat64()
	p.Heading = (p.Heading + geom.Angle(turn*s.rng.NormFloat64())).Normalized()
	return p
}

func (s *simulated) ship(id string) *engine.Ship { return shipIn(&s.truth, id) }

// fly moves a ship as a person does, a maneuver or an action.
func (s *simulated) fly(id, what string) {
	s.t.Helper()
	var r move.Result
	m, err := move.ParseManeuver(what)
	if err == nil {
		r, err = move.Execute(&s.truth, id, m, engine.Options{})
	} else {
		a, e := move.ParseAction(what)
		require.NoError(s.t, e)
		r, err = move.Reposition(&s.truth, id, a, engine.Options{})
	}
	require.NoError(s.t, err)
	end := r.Final
	if r.Chosen {
		end = r.Options[len(r.Options)/2].Final
	}
	s.ship(id).Pose = s.shaken(end, slopPlace, slopTurn)
	s.look()
}

// run plays a script: a line is a ship and what it flies, or one of the words below.
func (s *simulated) run(script string) {
	s.t.Helper()
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "":
		case "tap":
			s.next(1)
		case "to":
			for s.Phase != Phase(rest) && !s.Ended {
				s.next(1)
			}
		case "first":
			s.do(Event{Kind: Rolled, Player: int(rest[0] - '0')})
		case "nudge":
			k := s.ship(rest)
			k.Pose.X, k.Pose.Heading = k.Pose.X+4, k.Pose.Heading+2*geom.Degree
			s.look()
		case "destroyed", "fled":
			s.do(Event{Kind: Changed, Ship: rest, Status: Status(word)})
			s.truth.Ships = slices.DeleteFunc(s.truth.Ships, func(k engine.Ship) bool { return k.ID == rest })
		case "score":
			s.do(Event{Kind: Scored, Player: int(rest[0] - '0'), Points: int(rest[2] - '0'), Round: s.Round, Text: "satellites"})
		case "undo":
			s.undo()
		case "hand":
			s.hand = func(k engine.Ship) bool { return rest == "over" && k.Pose.X < 457 }
			s.look()
		default:
			s.fly(word, rest)
		}
	}
}

// log writes the events down, a line for each.
func (s *simulated) log() string {
	var b strings.Builder
	for i := range s.events {
		e := &s.events[i]
		fmt.Fprintf(&b, "%d %s", e.Number, e.Kind)
		for _, text := range []string{e.Ship, e.By, string(e.Status), e.Text} {
			if text != "" {
				fmt.Fprintf(&b, " %s", text)
			}
		}
		if e.Player != 0 {
			fmt.Fprintf(&b, " player %d", e.Player)
		}
		if e.Flown != nil {
			fmt.Fprintf(&b, ": %s; %s", e.Flown.Short(), e.Flown.Text)
			for _, says := range e.Flown.Says {
				fmt.Fprintf(&b, "; %s", says)
			}
		}
		_, g, err := Append(s.events[:i:i], *e)
		require.NoError(s.t, err)
		fmt.Fprintf(&b, " | %s\n", g.Turn())
	}
	return b.String() + fmt.Sprintf("score %v\n", s.Score())
}

// sixRounds has bumps, a Koiogran turn, a nudge, a boost, a ship that flees, one that moves out of
// order, and a hand over half of the table.
const sixRounds = `
	first 1
	to Activation
	B2 straight 3
	A2 straight 4
	A1 straight 4
	B1 straight 4
	to Planning
	first 1
	to Activation
	A2 bank left 2
	B2 straight 2
	A1 straight 3
	A1 boost straight
	B1 straight 3
	to Planning
	first 1
	to Activation
	B2 straight 2
	nudge A1
	A2 koiogran 4
	A1 straight 4
	B1 bank left 2
	to Planning
	first 2
	to Activation
	hand over
	B2 turn left 3
	hand away
	A2 bank right 3
	B1 straight 1
	A1 turn right 2
	to End
	score 1 1
	to Planning
	first 1
	to Activation
	B2 straight 4
	fled B2
	A2 straight 2
	A1 straight 3
	tap
	undo
	B1 straight 5
	to Planning
	first 1
	to Activation
	A2 bank left 3
	A1 straight 3
	B1 straight 2
	to End
	destroyed B1
	tap
`

// TestScriptedGames plays six rounds of each edition on the simulated table, twice, and
// compares the log with the one that is kept, line by line.
func TestScriptedGames(t *testing.T) {
	for _, edition := range []string{"1e", "2.0", "2.5"} {
		s := simulate(t, edition, 7)
		s.run(sixRounds)
		again := simulate(t, edition, 7)
		again.run(sixRounds)
		got := s.log()
		assert.Equal(t, got, again.log(), "%s: twice the same", edition)
		assert.True(t, s.Ended, edition)
		path := filepath.Join("testdata", "game-"+edition+".log")
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), got, edition)
	}
}
