package pipeline

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
	"sightline/vision"
	"sightline/vision/look"
	"sightline/vision/track"
)

// stockedLocator finds the bases of a table by their cards wherever it is asked for one that stands there.
type stockedLocator struct {
	edgyLocator
	bases []look.Sight
	found []look.Sight // by the search in the background, until it is taken
	past  bool         // the table is no longer as it was searched
	wrong []*look.TurnedError

	refuses *look.TurnedError // whatever is asked; nil: nothing
}

func (l *stockedLocator) Rest(vision.Frame, *vision.Tracked) bool { return false }
func (l *stockedLocator) Ready() bool                             { return l.found != nil }
func (l *stockedLocator) Turned() []*look.TurnedError             { return l.wrong }
func (l *stockedLocator) Found(vision.Frame) ([]look.Sight, bool, bool) {
	found := l.found
	l.found = nil
	return found, !l.past, found != nil
}

func (l *stockedLocator) ByLook(_ vision.Frame, h look.Hint, ship engine.Ship) (engine.Ship, vision.ShipView, bool, error) {
	if l.refuses != nil {
		return ship, vision.ShipView{}, false, l.refuses
	}
	for i := range l.bases {
		if b := &l.bases[i]; b.Pose.Distance(h.Pose.Point) <= h.Reach && (h.Look == "" || h.Look == b.Look.Name) {
			ship.Pose, ship.Seen, ship.Look = b.Pose, "look", b.Look.Name
			ship.Covariance = geom.Cov3{0.04, 0, 0, 0, 0.04, 0, 0, 0, 1e-5}
			return ship, vision.ShipView{ID: ship.ID}, true, nil
		}
	}
	return ship, vision.ShipView{}, false, nil
}

// stockTable is a table of stock ships that is watched.
type stockTable struct {
	*stockedLocator
	w      *Pipeline
	tracks []vision.Track
}

func newStockTable(bases ...look.Sight) *stockTable {
	l := &stockedLocator{bases: bases, found: bases}
	return &stockTable{stockedLocator: l, w: edgyPipeline(l, track.TrackerOptions{})}
}

// see shows a picture, in which a person may have placed ships, and returns the ships' names and what they may be.
func (s *stockTable) see(t *testing.T, named ...live.PlacedShip) (out map[string][]string) {
	t.Helper()
	located := vision.Located{Scene: engine.Scene{MatWidth: 914, MatHeight: 914, Rules: engine.Rules25}}
	e := edgesIn(s.w, &located)
	for _, p := range named {
		var err error
		if p.InsteadOf != "" {
			s.w.o.Game.Update(func(g *game.Seen) { g.Tracks = s.tracks })
			err = s.w.correctName(e, p)
		} else {
			_, err = e.Place(p, s.tracks)
		}
		require.NoError(t, err)
	}
	numbers := map[string]bool{}
	for _, id := range s.w.stock.update(e, s.tracks) {
		numbers[id] = true
	}
	out = map[string][]string{}
	tracks := s.tracks
	s.tracks = nil
	for i, ship := range located.Scene.Ships {
		s.tracks = append(s.tracks, vision.Track{Ship: ship, View: located.Ships[i], State: vision.Still})
	}
	for _, k := range tracks {
		if numbers[k.Ship.ID] || ShipAt(located.Scene.Ships, k.Ship.ID, k.Ship.Base, k.Ship.Pose) != "" {
			continue
		}
		if again, _, ok := e.finder()(k); ok {
			k.Ship, k.State = again, vision.Still
		} else {
			k.State = vision.Hidden
		}
		if _, known := out[k.Ship.ID]; !known {
			s.tracks = append(s.tracks, k)
		}
	}
	for _, k := range s.tracks {
		if k.State == vision.Still {
			out[k.Ship.ID] = k.Ship.NameDoubt
		}
	}
	return out
}

// carry moves a base as a maneuver does, out of sight.
func (s *stockTable) carry(t *testing.T, i int, maneuver string) {
	t.Helper()
	m, err := move.ParseManeuver(maneuver)
	require.NoError(t, err)
	alone := engine.Scene{MatWidth: 914, MatHeight: 914, Rules: engine.Rules25,
		Ships: []engine.Ship{{ID: "A1", Player: 1, Base: engine.Small, Pose: s.bases[i].Pose}}}
	r, err := move.Execute(&alone, "A1", m, engine.Options{})
	require.NoError(t, err)
	s.bases[i].Pose = r.Full
}

// A base whose card lies a quarter turn off is no ship, by its edges neither, and players are told which one it is: as long as it is so,
// and in a note once, and again when it lay right or away for a minute, or somewhere else.
func TestACardThatLiesTurnedIsReported(t *testing.T) {
	s := newStockTable(at("A1", 200, 200, "A1"))
	notes := func(tracks ...vision.Track) []string {
		located := vision.Located{Scene: engine.Scene{MatWidth: 914, MatHeight: 914, Rules: engine.Rules25}}
		e := edgesIn(s.w, &located)
		s.w.stock.update(e, tracks)
		for _, k := range tracks {
			if _, _, ok := e.finder()(k); ok {
				return []string{k.Ship.ID + " is followed"}
			}
		}
		notes := s.w.reported.newTurned(e.turned, s.w.o.Now())
		s.w.reported.turnedBack(e.turned, e.searched, tracks)
		return notes
	}
	now := s.w.o.Now()
	s.w.o.Now = func() time.Time { return now }
	turned := func(x float64) *look.TurnedError {
		return &look.TurnedError{Card: "A1", Ships: []string{"A1", "A2"}, At: geom.Point{X: x, Y: 200}}
	}
	s.wrong, s.found = []*look.TurnedError{turned(200)}, []look.Sight{}
	said := notes()
	require.Len(t, said, 1)
	assert.Equal(t, "A1 or A2 at (200, 200) mm does not count: its card seems turned in its base, whose guides are at the card's sides; "+
		"put it in the right way round.", said[0])
	s.found = []look.Sight{}
	assert.Empty(t, notes(), "it was said")
	assert.Equal(t, said, s.w.reported.turnedNow(), "it still lies so")
	now = now.Add(turnedAgain + time.Second)
	assert.Empty(t, notes(), "nothing was searched")
	assert.Equal(t, said, s.w.reported.turnedNow(), "it lies so for a minute")
	s.found, s.past = []look.Sight{}, true
	s.wrong[0] = turned(400)
	assert.Empty(t, notes(), "the picture shows something else now")
	assert.Equal(t, said, s.w.reported.turnedNow(), "nothing is known of that picture")
	s.found, s.past = []look.Sight{}, false
	assert.Len(t, notes(), 1, "it lies elsewhere")
	assert.Len(t, s.w.reported.turnedNow(), 1)
	assert.Contains(t, s.w.reported.turnedNow()[0], "(400, 200)")
	s.wrong, s.found = nil, []look.Sight{}
	assert.Empty(t, notes())
	assert.Empty(t, s.w.reported.turnedNow(), "the search did not find it any more")
	s.wrong, s.found = []*look.TurnedError{turned(400)}, []look.Sight{}
	assert.Empty(t, notes(), "it was said less than a minute ago")
	assert.Len(t, s.w.reported.turnedNow(), 1)
	s.wrong, s.found = nil, []look.Sight{}
	notes()
	now = now.Add(turnedAgain + time.Second)
	s.wrong, s.found = []*look.TurnedError{turned(400)}, []look.Sight{}
	assert.Len(t, notes(), 1, "that was long ago")
	stands := vision.Track{Ship: engine.Ship{ID: "A2", Pose: geom.Pose{Point: geom.Point{X: 401, Y: 199}}}, State: vision.Still}
	s.w.reported.turnedBack(nil, false, []vision.Track{stands})
	assert.Empty(t, s.w.reported.turnedNow(), "a ship stands there")
	now = now.Add(turnedAgain + time.Second)

	s.wrong, s.edgyLocator.seen, s.at = nil, true, s.bases[0].Pose
	ship := engine.Ship{ID: "A1", Base: engine.Small, Pose: s.bases[0].Pose, Look: "A1", Seen: "look"}
	followed := vision.Track{Ship: ship, State: vision.Still}
	assert.Equal(t, []string{"A1 is followed"}, notes(followed))
	s.refuses = turned(200)
	assert.Len(t, notes(followed), 1)
}

func at(name string, x, y float64, ships ...string) look.Sight {
	return look.Sight{Look: &look.Look{Name: name, Ships: ships, Base: engine.Small}, Evidence: 30, Counted: true,
		Pose: geom.Pose{Point: geom.Point{X: x, Y: y}}}
}

func tap(id string, s look.Sight) live.PlacedShip {
	return live.PlacedShip{ID: id, Player: 1, Base: engine.Small, Pose: s.Pose}
}

// A ship whose look no other has is named by the search; of three alike each is unsure, until a person names two of them.
func TestTheSearchNamesOnlyUnambiguousBases(t *testing.T) {
	s := newStockTable(at("B1", 500, 500, "B1"), at("A1", 200, 200, "A1", "A2", "A3"), at("A1", 300, 200, "A1", "A2", "A3"),
		at("A1", 400, 200, "A1", "A2", "A3"))
	all := []string{"A1", "A2", "A3"}
	assert.Equal(t, map[string][]string{"B1": nil, "?1": all, "?2": all, "?3": all}, s.see(t))
	assert.Equal(t, 1, s.tracks[1].Ship.Player)
	assert.Equal(t, map[string][]string{"B1": nil, "A2": nil, "?1": all, "?3": all}, s.see(t, tap("A2", s.bases[2])))
	s.see(t, tap("A1", s.bases[1]))
	assert.Equal(t, map[string][]string{"B1": nil, "A1": nil, "A2": nil, "A3": nil}, s.see(t), "the last one can only be A3")
}

// Two ships alike that moved unseen keep their names where only one of them can have flown to each place, and else are asked about.
func TestShipsAlikeAreDistinguishedByTheirMoves(t *testing.T) {
	start := func() *stockTable {
		s := newStockTable(at("A1", 200, 200, "A1", "A2"), at("A1", 260, 200, "A1", "A2"))
		s.see(t)
		s.see(t, tap("A1", s.bases[0]))
		require.Equal(t, map[string][]string{"A1": nil, "A2": nil}, s.see(t))
		return s
	}
	where := func(s *stockTable, id string) geom.Point {
		k, ok := vision.Tracked{Tracks: s.tracks}.Track(id)
		require.True(t, ok, id)
		return k.Ship.Pose.Point
	}
	s := start()
	s.carry(t, 0, "straight 1")
	s.carry(t, 1, "straight 3")
	assert.Empty(t, s.see(t), "they are where nobody looked")
	s.found = s.bases
	assert.Equal(t, map[string][]string{"A1": nil, "A2": nil}, s.see(t))
	assert.Equal(t, s.bases[0].Pose.Point, where(s, "A1"))

	s = start() // exchanged by hand
	s.bases[0].Pose.X, s.bases[1].Pose.X = 264.5, 195.5
	s.see(t)
	s.found = s.bases
	both := []string{"A1", "A2"}
	assert.Equal(t, map[string][]string{"?1": both, "?2": both}, s.see(t))
	assert.Equal(t, map[string][]string{"A2": nil, "?2": both}, s.see(t, tap("A2", s.bases[0])))
	assert.Equal(t, map[string][]string{"A2": nil, "A1": nil}, s.see(t))

	s = start() // taken off the table together
	back := s.bases
	s.bases = nil
	s.see(t)
	s.found = []look.Sight{}
	s.see(t)
	s.bases, s.found = back, back
	s.bases[0].Pose.Y, s.bases[1].Pose.Y = 204, 204
	assert.Equal(t, map[string][]string{"?1": both, "?2": both}, s.see(t))
}

// Dots name a base among its like, but not as a ship that stands elsewhere; dots of another ship leave it without a name.
func TestDotsNameABaseAmongItsLike(t *testing.T) {
	alike := []string{"A1", "A2", "A3"}
	dotted := at("A1", 300, 200, alike...)
	dotted.Dots.Ship, dotted.Elsewhere = "A2", true
	s := newStockTable(at("A1", 200, 200, alike...), dotted)
	names := s.see(t)
	assert.Contains(t, names, "A2")
	assert.Empty(t, names["A2"])
	assert.Len(t, names, 2, "the other is not named")

	s = newStockTable(at("A2", 500, 500, "A2"))
	s.see(t)
	second := at("A1", 300, 200, alike...)
	second.Dots.Ship = "A2"
	s.bases = append(s.bases, second)
	s.found = s.bases[1:]
	names = s.see(t)
	assert.Contains(t, names, "?1", "A2 stands elsewhere: %v", names)

	other := at("B1", 500, 500, "B1")
	other.Dots.Other = true
	assert.Equal(t, map[string][]string{"?1": {"B1"}}, newStockTable(other).see(t))
}

// A second place that shows a ship's look as well leaves it without a name, and so do two bases that one ship alone may be.
func TestALookInTwoPlacesNamesNoShip(t *testing.T) {
	twice := at("B1", 500, 500, "B1")
	twice.Elsewhere = true
	s := newStockTable(twice)
	assert.Equal(t, map[string][]string{"?1": {"B1"}}, s.see(t))
	assert.Equal(t, map[string][]string{"?1": {"B1"}}, s.see(t))
	s = newStockTable(at("B1", 500, 500, "B1"), at("B1", 200, 500, "B1"))
	assert.Equal(t, map[string][]string{"?1": {"B1"}, "?2": {"B1"}}, s.see(t))
	assert.Equal(t, map[string][]string{"?1": {"B1"}, "?2": {"B1"}}, s.see(t))
}

// A base whose card may be one that was never shown gets no name because the others are known, and is no player's.
func TestABaseThatMayCarryAnotherCardIsNotNamedByElimination(t *testing.T) {
	both := []string{"A1", "A2"}
	for name, spoil := range map[string]func(*look.Sight){
		"it agrees badly":        func(s *look.Sight) { s.Evidence = 12 },
		"more bases than ships":  func(s *look.Sight) { s.Counted = false },
		"its plate is another":   func(s *look.Sight) { s.Plate = look.PlateDenies },
		"its dots are another's": func(s *look.Sight) { s.Dots.Other = true },
		"":                       func(*look.Sight) {},
	} {
		second := at("A1", 300, 200, both...)
		spoil(&second)
		s := newStockTable(at("A1", 200, 200, both...), second)
		require.Equal(t, map[string][]string{"?1": both, "?2": both}, s.see(t), name)
		s.see(t, tap("A2", s.bases[0]))
		got := s.see(t)
		if name == "" {
			assert.Equal(t, map[string][]string{"A1": nil, "A2": nil}, got)
			continue
		}
		assert.NotContains(t, got, "A1", name)
		assert.Contains(t, got, "?2", name)
		i := slices.IndexFunc(s.tracks, func(k vision.Track) bool { return k.Ship.ID == "?2" })
		assert.Zero(t, s.tracks[i].Ship.Player, name)
	}
	one := at("A1", 300, 200, both...)
	one.Evidence = 12
	s := newStockTable(at("A2", 500, 500, "A2"))
	s.see(t)
	s.bases = append(s.bases, one)
	s.found = s.bases[1:]
	assert.Contains(t, s.see(t), "?1", "A2 stands elsewhere, and yet it need not be A1")
}

// corrects is a tap that says of a base which was named that it is another ship.
func corrects(was, is string, s look.Sight) live.PlacedShip {
	p := tap(is, s)
	p.InsteadOf = was
	return p
}

// A tap that corrects gives the base its name, and the base that had this name the other one; what no base has any more is a name that
// the next one may get.
func TestAMistappedNameIsCorrected(t *testing.T) {
	alike := []string{"A1", "A2", "A3"}
	s := newStockTable(at("A1", 200, 200, alike...), at("A1", 300, 200, alike...), at("A1", 400, 200, alike...))
	var renamed [][2]string
	s.w.o.Renamed = func(was, is string) { renamed = append(renamed, [2]string{was, is}) }
	s.see(t)
	s.see(t, tap("A1", s.bases[0]))
	s.see(t, tap("A2", s.bases[1]))
	require.Equal(t, map[string][]string{"A1": nil, "A2": nil, "A3": nil}, s.see(t))
	places := func() (out map[string]float64) {
		out = map[string]float64{}
		for _, k := range s.tracks {
			out[k.Ship.ID] = k.Ship.Pose.X
		}
		return out
	}
	require.Equal(t, map[string]float64{"A1": 200, "A2": 300, "A3": 400}, places())
	s.see(t, corrects("A1", "A2", s.bases[0]))
	assert.Equal(t, map[string]float64{"A2": 200, "A1": 300, "A3": 400}, places())
	s.see(t)
	assert.Equal(t, map[string]float64{"A2": 200, "A1": 300, "A3": 400}, places(), "they are followed under their names")
	assert.Equal(t, [][2]string{{"A1", "A2"}}, renamed)

	s.see(t, corrects("A2", "A7", s.bases[0]))
	assert.Equal(t, map[string]float64{"A7": 200, "A1": 300, "A3": 400}, places())
	s.see(t)
	assert.False(t, s.w.stock.names.Stood("A2"), "no base ever was A2")
}

// What is corrected must stand there under the wrong name, without a code of ours that was read, and show the card of the name.
func TestACorrectionThatDoesNotFitIsRefused(t *testing.T) {
	start := func() *stockTable {
		s := newStockTable(at("A1", 200, 200, "A1", "A2"), at("A1", 300, 200, "A1", "A2"))
		s.see(t)
		s.see(t, tap("A1", s.bases[0]))
		require.Equal(t, map[string][]string{"A1": nil, "A2": nil}, s.see(t))
		return s
	}
	for want, change := range map[string]func(*stockTable, *live.PlacedShip){
		"A1 does not stand there":                        func(_ *stockTable, p *live.PlacedShip) { p.Pose.X += 60 },
		"A5 does not stand there":                        func(_ *stockTable, p *live.PlacedShip) { p.InsteadOf = "A5" },
		"the base there is small":                        func(_ *stockTable, p *live.PlacedShip) { p.Base = engine.Medium },
		"A1 stands there, whose code was read":           func(s *stockTable, _ *live.PlacedShip) { s.tracks[0].Read = true },
		"A2 is another base, whose code was read":        func(s *stockTable, _ *live.PlacedShip) { s.tracks[1].Read = true },
		"the base there does not show A2's card now":     func(s *stockTable, _ *live.PlacedShip) { s.bases = s.bases[1:] },
		"A1 does not stand there: it moves out of sight": func(s *stockTable, _ *live.PlacedShip) { s.tracks[0].State = vision.Hidden },
	} {
		s := start()
		slices.SortFunc(s.tracks, func(a, b vision.Track) int { return vision.CompareIDs(a.Ship.ID, b.Ship.ID) })
		ask := corrects("A1", "A2", s.bases[0])
		change(s, &ask)
		s.w.o.Game.Update(func(g *game.Seen) { g.Tracks = s.tracks })
		s.w.o.Renamed = func(string, string) { t.Error("nothing is corrected") }
		located := vision.Located{}
		err := s.w.correctName(edgesIn(s.w, &located), ask)
		want, _, _ = strings.Cut(want, ": ")
		assert.EqualError(t, err, want)
		assert.Empty(t, located.Scene.Ships)
	}
}
