package play_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/round"
	"sightline/engine"
	"sightline/engine/flown"
	"sightline/engine/geom"
	"sightline/engine/move"
	"sightline/vision/locate"
	"sightline/vision/tablesim"
)

// moves is how many moves are shown: a few, and as many as GAME_MOVES says.
func moves() int {
	if n, err := strconv.Atoi(os.Getenv("GAME_MOVES")); err == nil {
		return n
	}
	return 24
}

// Moves as people make them, with 1 mm and 1° of slop, through the simulator's pictures, the
// locator and the watch of the round: none is named wrongly.
func TestMovesThroughPicturesAreNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("a picture for each move")
	}
	shown, decided, missed, wrong := 0, 0, 0, 0
	for seed := uint64(1); shown < moves(); seed++ {
		p := pictured(t, seed)
		for i := 0; i < len(p.table.Scene.Ships) && shown < moves(); i++ {
			name := p.move(i)
			if name == "" {
				continue
			}
			shown++
			got := p.see(p.table.Scene.Ships[i].ID)
			switch {
			case got == nil:
				missed++
				t.Logf("table %d: %s of %s was not seen", seed, name, p.table.Scene.Ships[i].ID)
			case got.Outcome == engine.Yes.String() && got.Move == name:
				decided++
			case got.Outcome == engine.Yes.String():
				wrong++
				t.Logf("table %d: %s of %s was called %s", seed, name, p.table.Scene.Ships[i].ID, got.Text)
			}
		}
	}
	t.Logf("%d moves: %d decided rightly, %d wrongly, %d not seen, the rest undecided", shown, decided, wrong, missed)
	assert.Zero(t, wrong)
	assert.GreaterOrEqual(t, 10*decided, 8*shown, "nearly all are decided")
}

// picturedGame is a table that is seen in pictures only.
type picturedGame struct {
	t      *testing.T
	rng    *rand.Rand
	table  *tablesim.Table
	finder *locate.Locator
	game   *round.Game
	watch  *round.Watch
	now    time.Time
}

func pictured(t *testing.T, seed uint64) *picturedGame {
	t.Helper()
	p := &picturedGame{t: t, rng: rand.New(rand.NewPCG(seed, 9)), table: tablesim.RandomTable(seed, 1920, 1080),
		now: time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)}
	p.table.Scene.Rules = engine.Rules20
	var err error
	p.finder, err = locate.New(calibration.Table{Camera: p.table.Camera, Layout: p.table.Layout}, locate.Options{})
	require.NoError(t, err)
	start := &round.Start{Edition: "2.0", First: 1}
	for i, s := range p.table.Scene.Ships {
		start.Ships = append(start.Ships, round.Ship{ID: s.ID, Player: max(1, s.Player), Base: s.Base.String(), Initiative: &i})
	}
	events, g, err := round.Append(nil, round.Event{Kind: round.Started, Start: start})
	require.NoError(t, err)
	for g.Phase != round.Activation {
		events, g, err = round.Append(events, g.Next())
		require.NoError(t, err)
	}
	p.game, p.watch = g, round.NewWatch(g)
	p.see("")
	return p
}

// move moves a ship by a maneuver that is executed in full, and returns its name.
func (p *picturedGame) move(i int) string {
	s := &p.table.Scene.Ships[i]
	all := flown.Every().Maneuvers
	for range 30 {
		m := all[p.rng.IntN(len(all))]
		r, err := move.Execute(&p.table.Scene, s.ID, m, engine.Options{})
		if err != nil || m.Bearing == move.Stationary || r.InFull != engine.Yes || r.Flees != engine.No || r.Chosen {
			continue
		}
		s.Pose = r.Final
		s.Pose.X += p.rng.NormFloat64()
		s.Pose.Y += p.rng.NormFloat64()
		s.Pose.Heading += geom.Angle(p.rng.NormFloat64()) * geom.Degree
		return m.String()
	}
	return ""
}

// see looks at a picture of the table for two seconds, and returns what a ship has flown.
func (p *picturedGame) see(id string) (found *round.Flown) {
	p.t.Helper()
	f, _, err := p.table.Render()
	require.NoError(p.t, err)
	located, err := p.finder.Locate(f)
	require.NoError(p.t, err)
	located.Scene.Rules = engine.Rules20
	for range 4 {
		p.now = p.now.Add(500 * time.Millisecond)
		for _, seen := range p.watch.See(p.game, round.Sight{At: p.now, Scene: located.Scene, Still: func(string) bool { return true }}) {
			if seen.Ship == id {
				found = &seen.Flown
			}
		}
	}
	return found
}
