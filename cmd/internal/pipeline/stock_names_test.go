package pipeline

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/kept"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/naming"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/look"
	"sightline/vision/track"
)

// stockBench is a table of stock ships that the whole pipeline watches.
type stockBench struct {
	*bench
	*stockedLocator
	memory *naming.Memory
	path   string
	clock  *kept.Clock
}

// watch starts the program over the table; what it kept is there again.
func (s *stockBench) watch(t *testing.T) {
	t.Helper()
	var now time.Time
	if s.bench != nil {
		now = s.bench.now
	}
	var err error
	s.memory, err = naming.OpenMemory(s.path, time.Now(), s.clock, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	s.bench = newBench(t, func(_ *bench, o *benchParts) {
		o.Tracking, o.Names = track.TrackerOptions{}, s.memory
		o.NewLocator = func(calibration.Table) (Locator, error) { return s.stockedLocator, nil }
	})
	if !now.IsZero() {
		s.bench.now = now
	}
}

// stop ends the program, which writes down what it knows.
func (s *stockBench) stop(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, s.memory.Run(ctx))
}

// names lets a second of pictures come, in which a search of the whole table may end, and returns what stands and what it may be.
func (s *stockBench) names(searched bool) map[string][]string {
	if searched {
		s.found = s.bases
	}
	var v live.State
	for range 6 {
		v = s.bench.picture(frameTime)
	}
	out := map[string][]string{}
	for _, k := range v.Tracks {
		if k.State == vision.Still {
			out[k.Ship.ID] = k.Ship.NameDoubt
		}
	}
	return out
}

// tap says which ship stands somewhere.
func (s *stockBench) tap(t *testing.T, id string, i int) {
	t.Helper()
	asked := &placing{ship: tap(id, s.bases[i]), done: make(chan error, 1)}
	require.True(t, s.pipeline.placing.CompareAndSwap(nil, asked))
	s.bench.picture(frameTime)
	require.NoError(t, <-asked.done)
}

// threeAlike is a table with three ships alike and one of another look, all with their names.
func threeAlike(t *testing.T) *stockBench {
	t.Helper()
	alike := []string{"A1", "A2", "A3"}
	bases := []look.Sight{at("A1", 200, 200, alike...), at("A1", 300, 200, alike...), at("A1", 400, 200, alike...), at("B1", 500, 500, "B1")}
	s := &stockBench{stockedLocator: &stockedLocator{bases: bases}, path: filepath.Join(t.TempDir(), naming.File)}
	s.watch(t)
	require.Equal(t, map[string][]string{"?1": alike, "?2": alike, "?3": alike, "B1": nil}, s.names(true))
	s.tap(t, "A1", 0)
	s.tap(t, "A2", 1)
	require.Equal(t, named, s.names(false))
	return s
}

var named = map[string][]string{"A1": nil, "A2": nil, "A3": nil, "B1": nil}

func (s *stockBench) where(t *testing.T, id string) geom.Point {
	t.Helper()
	k, ok := vision.Tracked{Tracks: s.hub.Newest().Tracks}.Track(id)
	require.True(t, ok, id)
	return k.Ship.Pose.Point
}

// Names outlast a hold.
func TestNamesOutlastAHold(t *testing.T) {
	s := threeAlike(t)
	err := s.game.Hold(live.HoldRequest{Hold: true})
	require.NoError(t, err)
	s.names(true)
	err = s.game.Hold(live.HoldRequest{})
	require.NoError(t, err)
	assert.Equal(t, named, s.names(true))
}

// While there were no pictures, or while the program did not run, ships alike may have been moved by hand: those that stand exactly
// where they stood keep their names, the others are asked about.
func TestNamesOutlastWhatWasNotWatched(t *testing.T) {
	for name, unwatched := range map[string]func(*stockBench){
		"no pictures": func(s *stockBench) { s.bench.now = s.bench.now.Add(20 * time.Second) },
		"a restart":   func(s *stockBench) { s.stop(t); s.watch(t) },
	} {
		t.Run(name, func(t *testing.T) {
			s := threeAlike(t)
			unwatched(s)
			assert.Equal(t, named, s.names(false), "nothing moved, and nothing has to be searched for")
			assert.Equal(t, s.bases[1].Pose.Point, s.where(t, "A2"))

			unwatched(s)
			s.bases[0].Pose.X += 60 // two moved, and may have been exchanged
			s.bases[1].Pose.X += 30
			assert.Equal(t, map[string][]string{"A3": nil, "B1": nil}, s.names(false))
			both := []string{"A1", "A2"}
			got := s.names(true)
			assert.Len(t, got, 4)
			for id, may := range got {
				if vision.CompareIDs(id, "A") < 0 {
					assert.Equal(t, both, may, id)
				}
			}
			assert.Contains(t, got, "A3")

			s = threeAlike(t)
			unwatched(s)
			s.bases[0].Pose.Y += 0.9 // put down again where another one of them may have stood
			s.bases[1].Pose.Heading += 1.2 * geom.Degree
			got = s.names(true)
			assert.NotContains(t, got, "A1")
			assert.NotContains(t, got, "A2")
			assert.Contains(t, got, "A3")
			s.tap(t, "A2", 0)
			assert.Equal(t, named, s.names(false), "a tap tells them")
			assert.Equal(t, s.bases[0].Pose.Point, s.where(t, "A2"))
		})
	}
}

// A board without a clock of its own that no network reached does not know how long it was off: ships of the day before may have stood
// there. Ships alike are asked about, until it is known.
func TestNamesAreAskedForAfterATimeThatIsNotKnown(t *testing.T) {
	s := threeAlike(t)
	boot, up, set := "first", time.Hour, true
	s.clock = &kept.Clock{Uptime: func() (string, time.Duration) { return boot, up }, Set: func() bool { return set }}
	s.stop(t)
	s.watch(t)
	s.names(true)
	s.tap(t, "A1", 0)
	s.tap(t, "A2", 1)
	require.Equal(t, named, s.names(false))

	set = false
	s.stop(t)
	s.watch(t)
	assert.Equal(t, named, s.names(false), "the program was restarted, not the board")

	s.stop(t)
	boot, up = "second", time.Minute
	s.watch(t)
	assert.Empty(t, s.names(false))
	alike := []string{"A1", "A2", "A3"}
	assert.Equal(t, map[string][]string{"?1": alike, "?2": alike, "?3": alike, "B1": nil}, s.names(true))
	set = true
	assert.Equal(t, named, s.names(false), "a network set the clock")
	assert.Equal(t, s.bases[1].Pose.Point, s.where(t, "A2"))

	s.stop(t)
	boot, set = "third", false
	s.watch(t)
	s.bases[0].Pose.X, s.bases[2].Pose.X = s.bases[0].Pose.X+0.9, s.bases[2].Pose.X+0.9
	require.Len(t, s.names(true), 4)
	set = true
	got := s.names(false)
	assert.Contains(t, got, "A2", "it stands where it stood")
	assert.NotContains(t, got, "A1", "it does not")
	assert.NotContains(t, got, "A3")
}

// Two ships alike that were out of sight at the same time may have been exchanged by hand: who stands a little aside is asked about.
// One that was out of sight alone keeps its name.
func TestShipsAlikeThatMayHaveBeenExchangedAreAskedAbout(t *testing.T) {
	s := threeAlike(t)
	s.out(0, 1)
	assert.Equal(t, named, s.names(false), "nothing moved")

	s.out(0)
	s.bases[0].Pose.Y += 0.9
	assert.Equal(t, named, s.names(false), "nothing else can stand there")

	s.out(0, 1)
	s.bases[0].Pose.Y += 0.9
	s.bases[1].Pose.X -= 0.8
	got := s.names(true)
	assert.NotContains(t, got, "A1")
	assert.NotContains(t, got, "A2")
	assert.Contains(t, got, "A3")
	assert.Len(t, got, 4, "they stand there without a name")
	s.tap(t, "A2", 0)
	assert.Equal(t, named, s.names(false), "a tap tells them")

	s.hide(3, 0, 1) // two hands are quick
	s.bases[0].Pose.Y += 0.9
	s.bases[1].Pose.X -= 0.8
	assert.Equal(t, map[string][]string{"A3": nil, "B1": nil}, s.names(false))
	s.names(true)
	s.tap(t, "A1", 1)
	require.Equal(t, named, s.names(false))

	s.out(0, 3)
	s.bases[0].Pose.Y += 0.9
	s.bases[3].Pose.Y += 0.9
	assert.Equal(t, named, s.names(false), "another card's ship is none of them")
}

// A ship that a person placed by hand, whose card was never shown, has its name again where it stands exactly as it stood.
func TestAMarkedShipOutlastsARestart(t *testing.T) {
	l := &stockedLocator{edgyLocator: edgyLocator{at: geom.Pose{Point: geom.Point{X: 303, Y: 398}, Heading: 91 * geom.Degree}, seen: true}}
	s := &stockBench{stockedLocator: l, path: filepath.Join(t.TempDir(), naming.File)}
	s.watch(t)
	s.bench.picture(frameTime)
	asked := &placing{ship: live.PlacedShip{ID: "B2", Player: 2, Pose: l.at, Base: engine.Small}, done: make(chan error, 1)}
	s.pipeline.placing.Store(asked)
	s.bench.picture(frameTime)
	require.NoError(t, <-asked.done)
	require.Contains(t, s.names(false), "B2")
	s.stop(t)
	s.watch(t)
	require.Contains(t, s.names(false), "B2")
	k, _ := vision.Tracked{Tracks: s.hub.Newest().Tracks}.Track("B2")
	assert.Equal(t, 2, k.Ship.Player)
	assert.True(t, k.Ship.Quarters, "nobody said which way it points")
	s.stop(t)
	l.at.X += 1
	s.watch(t)
	assert.Empty(t, s.names(false), "it was moved, or it is another one")
}

// out hides bases for some seconds, which is what a hand over them does.
func (s *stockBench) out(which ...int) { s.hide(12, which...) }

// hide hides bases in so many pictures.
func (s *stockBench) hide(pictures int, which ...int) {
	bases := slices.Clone(s.bases)
	for _, i := range which {
		s.bases[i].Pose.X += 2000
	}
	for range pictures {
		s.bench.picture(frameTime)
	}
	s.bases = bases
}

// A ship that is off the table may be in a hand, which puts it where another of its like stood and takes that one up: that is asked about,
// for a minute. Then it was destroyed.
func TestAShipInAHandMayBePutWhereAnotherStood(t *testing.T) {
	lifted := func(wait time.Duration) *stockBench {
		s := threeAlike(t)
		s.bases = s.bases[1:]
		s.out()
		require.NotContains(t, s.names(true), "A1")
		s.pipeline.track.forget("A1") // its place showed the mat for a second
		require.Len(t, s.names(false), 3)
		for wait > 0 {
			s.bench.picture(2 * time.Second)
			wait -= 2 * time.Second
		}
		s.out(0)
		return s
	}
	both := []string{"A2", "A1"} // those that may have flown there first
	s := lifted(0)
	s.bases[0].Pose.Y += 0.9
	assert.NotContains(t, s.names(false), "A2", "it may be A1")
	assert.Equal(t, map[string][]string{"?1": both, "A3": nil, "B1": nil}, s.names(true))

	s = lifted(0)
	s.bases[0].Pose.Y += 120 // as A2 may have flown
	assert.Equal(t, map[string][]string{"?1": both, "A3": nil, "B1": nil}, s.names(true))

	s = lifted(time.Minute)
	s.bases[0].Pose.Y += 120
	assert.Equal(t, map[string][]string{"A2": nil, "A3": nil, "B1": nil}, s.names(true))
}

// Where a ship stands that a person named, no other one is that was lost from sight there.
func TestAShipIsNotSeenWhereAnotherStands(t *testing.T) {
	s := threeAlike(t)
	place := s.bases[0].Pose
	s.bases = s.bases[1:]
	s.out()
	s.bases[0].Pose = place
	s.bases[0].Pose.Y += 0.9
	s.tap(t, "A2", 0)
	for range 3 {
		assert.Equal(t, map[string][]string{"A2": nil, "A3": nil, "B1": nil}, s.names(false))
	}
}

// A search takes longer than a hand holds still: the ships in the hand were not found, and stand on the table again when it ends. Where
// they may have flown tells them as if nothing had been searched.
func TestAShipThatWasPutDownSinceTheSearchIsNotOffTheTable(t *testing.T) {
	for past, want := range map[bool]map[string][]string{
		true:  named,
		false: {"?1": {"A1", "A2"}, "?2": {"A1", "A2"}, "A3": nil, "B1": nil}, // someone took them off, and put them back
	} {
		s := threeAlike(t)
		all := s.bases
		s.bases = all[2:] // two are in the hand
		s.names(false)
		s.past = past
		s.names(true)
		s.past = false
		all[0].Pose.Y += 80 // straight 1 and 3
		all[1].Pose.Y += 160
		s.bases = all
		assert.Equal(t, want, s.names(true), "past: %v", past)
	}
}

// A laptop that slept through the lunch break: its camera goes on, and the clock that counts seconds stood still.
func TestNamesAreAskedAboutAfterTheMachineSlept(t *testing.T) {
	s := threeAlike(t)
	s.bench.now = time.Now()
	require.Equal(t, named, s.names(false))
	s.bench.now = slept(s.bench.now, time.Hour)
	require.Equal(t, named, s.names(false), "nothing moved")
	s.bench.now = slept(s.bench.now, time.Hour)
	s.bases[0].Pose.Y += 0.9 // put down again where another one of them may have stood
	s.bases[1].Pose.Y += 0.9
	got := s.names(true)
	assert.NotContains(t, got, "A1")
	assert.NotContains(t, got, "A2")
	assert.Contains(t, got, "A3")
}

// slept returns a reading of time.Now after the machine slept: the time of day went on, and the clock that Sub uses stood still.
func slept(t time.Time, d time.Duration) time.Time {
	*(*uint64)(unsafe.Pointer(&t)) += uint64(d/time.Second) << 30 // the seconds of a time.Time with a monotonic reading
	return t
}

// edgesLocator sees the edges of several bases, and nothing else of them.
type edgesLocator struct {
	edgyLocator
	at     []geom.Pose
	hidden bool
}

func (l *edgesLocator) Edges(f vision.Frame, h vision.EdgeHint) (vision.EdgeSight, bool, error) {
	for _, l.edgyLocator.at = range l.at {
		l.seen = !l.hidden
		if s, ok, err := l.edgyLocator.Edges(f, h); ok {
			return s, ok, err
		}
	}
	return vision.EdgeSight{}, false, nil
}

// Two ships that a person named, and of which only edges are seen: a hand that had both may have exchanged them.
func TestMarkedShipsThatMayHaveBeenExchangedAreAskedAbout(t *testing.T) {
	l := &edgesLocator{at: []geom.Pose{{Point: geom.Point{X: 300, Y: 400}}, {Point: geom.Point{X: 500, Y: 400}}}}
	b := newBench(t, func(b *bench, o *benchParts) {
		b.ships = nil
		o.Tracking = track.TrackerOptions{}
		o.NewLocator = func(calibration.Table) (Locator, error) { return l, nil }
	})
	for i, id := range []string{"A1", "A2"} {
		b.picture(frameTime)
		asked := &placing{ship: live.PlacedShip{ID: id, Player: 1, Pose: l.at[i], Base: engine.Small, Headed: true}, done: make(chan error, 1)}
		b.pipeline.placing.Store(asked)
		b.picture(frameTime)
		require.NoError(t, <-asked.done)
	}
	still := func() (out []string) {
		var v live.State
		for range 8 {
			v = b.picture(frameTime)
		}
		for _, k := range v.Tracks {
			if k.State == vision.Still {
				out = append(out, k.Ship.ID)
			}
		}
		return out
	}
	cover := func() {
		l.hidden = true
		require.Empty(t, still())
		l.hidden = false
	}
	require.Equal(t, []string{"A1", "A2"}, still())
	cover()
	assert.Equal(t, []string{"A1", "A2"}, still(), "both stand exactly where they stood")
	l.at[0].X++
	assert.Equal(t, []string{"A1", "A2"}, still(), "it was in sight all the time")
	cover()
	l.at[0].X++
	l.at[1].X--
	assert.Empty(t, still(), "each may be the other")
}
