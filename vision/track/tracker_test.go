package track

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/visiontest"
)

// Noise and systematic part of the sightings of these tests: 0.05 mm and 0.03° from
// picture to picture, 0.2 mm and 0.1° in all of them.
var (
	noiseCov  = geom.Cov3{0.05 * 0.05, 0, 0, 0, 0.05 * 0.05, 0, 0, 0, square64(0.03 * math.Pi / 180)}
	systemCov = geom.Cov3{0.2 * 0.2, 0, 0, 0, 0.2 * 0.2, 0, 0, 0, square64(0.1 * math.Pi / 180)}
)

func square64(x float64) float64 { return x * x }

// seenShip is a ship that a picture shows.
func seenShip(id string, p geom.Pose) (engine.Ship, vision.ShipView) {
	cov := noiseCov
	for i := range cov {
		cov[i] += systemCov[i]
	}
	return engine.Ship{ID: id, Base: engine.Small, Pose: p, Covariance: cov}, vision.ShipView{ID: id, Fit: noiseCov}
}

// reel feeds a tracker with pictures, 5 to the second.
type reel struct {
	*Tracker
	now    time.Time
	places map[string]vision.Place
	events []vision.TrackEvent
}

func newReel(o TrackerOptions) *reel {
	return &reel{Tracker: NewTracker(o), now: time.Unix(1000, 0), places: map[string]vision.Place{}}
}

type poses map[string]geom.Pose

func (r *reel) located(ships poses) vision.Located {
	l := vision.Located{Captured: r.now}
	for id, p := range ships {
		s, v := seenShip(id, p)
		l.Scene.Ships, l.Ships = append(l.Scene.Ships, s), append(l.Ships, v)
	}
	return l
}

// show shows the same ships for n pictures and returns what is known after the last.
func (r *reel) show(n int, ships poses) (out vision.Tracked) {
	for range n {
		r.now = r.now.Add(200 * time.Millisecond)
		out = r.Update(r.located(ships), func(id string) vision.Place { return r.places[id] }, nil)
		r.events = append(r.events, out.Events...)
	}
	return out
}

// states says what is known of each ship, as "A1 still, B1 frozen".
func states(t vision.Tracked) string {
	var out []string
	for _, k := range t.Tracks {
		out = append(out, k.Ship.ID+" "+k.State.String())
	}
	return strings.Join(out, ", ")
}

// A script is a sequence of beats: so many pictures of these ships, what their places
// show where they are not read, and what is known after the last one.
type beat struct {
	pictures int
	a1       *geom.Pose // nil: not read
	place    vision.Place
	want     string
}

func TestScriptedSequences(t *testing.T) {
	here, there := visiontest.Pose(300, 200, 10), visiontest.Pose(330, 216, 40)
	nudged := visiontest.Pose(300.3, 200, 10) // by 6 sigma
	for name, script := range map[string][]beat{
		"a ship is still after half a second": {
			{1, &here, 0, "A1 settling"}, {2, &here, 0, "A1 settling"}, {1, &here, 0, "A1 still"}, {50, &here, 0, "A1 still"}},
		"a ship that slides has no pose until it stands": {
			{5, &here, 0, "A1 still"}, {1, &nudged, 0, "A1 moving"}, {1, &there, 0, "A1 moving"}, {2, &there, 0, "A1 settling"},
			{1, &there, 0, "A1 still"}},
		"a single picture with another pose costs half a second": {
			{5, &here, 0, "A1 still"}, {1, &nudged, 0, "A1 moving"}, {1, &here, 0, "A1 moving"}, {2, &here, 0, "A1 settling"},
			{1, &here, 0, "A1 still"}},
		"a hand freezes what it covers in part, for three seconds": {
			{5, &here, 0, "A1 still"}, {1, nil, vision.PlacePartly, "A1 frozen"}, {14, nil, vision.PlacePartly, "A1 frozen"},
			{1, nil, vision.PlacePartly, "A1 hidden"}, {100, nil, vision.PlaceCovered, "A1 hidden"}},
		"what it covers whole it may carry away": {
			{5, &here, 0, "A1 still"}, {2, nil, vision.PlacePartly, "A1 frozen"}, {1, nil, vision.PlaceCovered, "A1 hidden"},
			{1, nil, vision.PlacePartly, "A1 hidden"}, {1, &here, 0, "A1 still"}},
		"a ship that was covered and did not move is still at once": {
			{5, &here, 0, "A1 still"}, {10, nil, vision.PlaceCovered, "A1 hidden"}, {1, &here, 0, "A1 still"}},
		"so is one that was hidden for a minute": {
			{5, &here, 0, "A1 still"}, {300, nil, vision.PlaceCovered, "A1 hidden"}, {1, &here, 0, "A1 still"}},
		"a ship that is not read while its place looks the same stands": {
			{5, &here, 0, "A1 still"}, {3, nil, vision.PlaceUnchanged, "A1 unread"}, {1, &here, 0, "A1 still"}},
		"but not for ever": {
			{5, &here, 0, "A1 still"}, {15, nil, vision.PlaceUnchanged, "A1 unread"}, {1, nil, vision.PlaceUnchanged, "A1 hidden"}},
		"a lifted ship stands nowhere, and leaves the scene after a second": {
			{5, &here, 0, "A1 still"}, {1, nil, vision.PlaceBare, "A1 lifted"}, {4, nil, vision.PlaceBare, "A1 lifted"}, {1, nil, vision.PlaceBare,
				""}, {50, nil, vision.PlaceBare, ""}},
		"a hand over the place of a lifted ship does not bring it back": {
			{5, &here, 0, "A1 still"}, {2, nil, vision.PlaceBare, "A1 lifted"}, {1, nil, vision.PlaceCovered, "A1 hidden"},
			{1, nil, vision.PlaceUnchanged, "A1 hidden"}},
		"a ship that was lifted and put back keeps its identity": {
			{5, &here, 0, "A1 still"}, {2, nil, vision.PlaceBare, "A1 lifted"}, {1, &there, 0, "A1 moving"}, {2, &there, 0, "A1 settling"},
			{1, &there, 0, "A1 still"}},
		"one that was off the table comes back as a new one": {
			{5, &here, 0, "A1 still"}, {10, nil, vision.PlaceBare, ""}, {1, &there, 0, "A1 settling"}, {3, &there, 0, "A1 still"}},
		"a ship seen in one picture only was never there": {
			{1, &here, 0, "A1 settling"}, {1, nil, vision.PlaceCovered, ""}},
		"a ship that is covered while it moves is hidden, then gone": {
			{5, &here, 0, "A1 still"}, {1, &there, 0, "A1 moving"}, {15, nil, vision.PlaceCovered, "A1 hidden"}, {1, nil, vision.PlaceCovered, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReel(TrackerOptions{})
			for i, b := range script {
				ships := poses{}
				if b.a1 != nil {
					ships["A1"] = *b.a1
				}
				r.places["A1"] = b.place
				require.Equal(t, b.want, states(r.show(b.pictures, ships)), "beat %d", i+1)
			}
		})
	}
}

func TestAShipThatMovedUnseenIsTold(t *testing.T) {
	r := newReel(TrackerOptions{})
	r.show(5, poses{"A1": visiontest.Pose(300, 200, 0)})
	r.show(5, poses{})
	r.show(5, poses{"A1": visiontest.Pose(316, 230, 0)})
	require.Len(t, r.events, 1)
	assert.Equal(t, "A1 moved 34 mm unseen", r.events[0].String())

	r.events = nil
	r.show(5, poses{})
	r.show(5, poses{"A1": visiontest.Pose(316.5, 230, 0)})
	assert.Empty(t, r.events, "half a millimetre is what a sleeve does")
	for i := range 10 { // slid in full view
		r.show(1, poses{"A1": visiontest.Pose(316+5*float64(i), 230, 0)})
	}
	r.show(5, poses{"A1": visiontest.Pose(366, 230, 0)})
	assert.Empty(t, r.events, "everybody saw it")
	r.places["A1"] = vision.PlaceBare
	r.show(10, poses{})
	require.Len(t, r.events, 1)
	assert.Equal(t, "A1 was taken off the table", r.events[0].String())

	r.events = nil
	delete(r.places, "A1")
	r.show(1, poses{"A1": visiontest.Pose(100, 600, 0)})
	assert.Empty(t, r.events, "one sight of it is not enough")
	r.show(9, poses{"A1": visiontest.Pose(100, 600, 0)})
	require.Len(t, r.events, 1, "once, wherever it was put")
	assert.Equal(t, "A1 is back on the table", r.events[0].String())
}

func TestAFrozenShipSaysHowOldItIs(t *testing.T) {
	r := newReel(TrackerOptions{})
	r.show(5, poses{"A1": visiontest.Pose(300, 200, 0), "B1": visiontest.Pose(500, 200, 0)})
	was := r.now
	out := r.show(4, poses{"B1": visiontest.Pose(500, 200, 0)})
	a, _ := out.Track("A1")
	b, _ := out.Track("B1")
	assert.Equal(t, was, a.Captured)
	assert.Equal(t, 800*time.Millisecond, a.Age(out.Captured))
	assert.Zero(t, b.Age(out.Captured))
	assert.Equal(t, was.Add(200*time.Millisecond), a.Since)
	_, known := out.Track("A9")
	assert.False(t, known)
}

func TestOnlyShipsThatStandAreMeasured(t *testing.T) {
	r := newReel(TrackerOptions{})
	a, b, c, d := visiontest.Pose(100, 100, 0), visiontest.Pose(200, 100, 0), visiontest.Pose(300, 100, 0), visiontest.Pose(400, 100, 0)
	r.show(5, poses{"A1": a, "A2": b, "A3": c, "A4": d})
	r.places["A2"], r.places["A3"] = vision.PlacePartly, vision.PlaceBare
	out := r.show(1, poses{"A1": a, "A4": visiontest.Pose(420, 100, 0)})
	assert.Equal(t, "A1 still, A2 frozen, A3 lifted, A4 moving", states(out))
	var ids []string
	standing := out.Standing()
	for _, s := range standing.Ships {
		ids = append(ids, s.ID)
	}
	assert.Equal(t, []string{"A1", "A2"}, ids)
	assert.Len(t, out.Scene.Ships, 4, "the page shows all of them")
	assert.Len(t, out.Ships, 4)
}

func jittered(rng *rand.Rand, p geom.Pose) geom.Pose {
	p.X += 0.05 * rng.NormFloat64()
	p.Y += 0.05 * rng.NormFloat64()
	p.Heading = (p.Heading + 0.03*geom.Degree*geom.Angle(rng.NormFloat64())).Normalized()
	return p
}

// The mean of n pictures has an nth of the variance that changes from picture to
// picture; what does not change stays, and so does the systematic part.
func TestNoiseShrinksToTheSystematicFloorOnly(t *testing.T) {
	r := newReel(TrackerOptions{Memory: 1000})
	truth := visiontest.Pose(300, 200, 359.99)
	rng := rand.New(rand.NewPCG(1, 2))
	last := math.Inf(1)
	for range 400 {
		k, _ := r.show(1, poses{"A1": jittered(rng, truth)}).Track("A1")
		if k.State != vision.Still {
			continue
		}
		v := k.Ship.Covariance
		want := systemCov[0] + noiseCov[0]*(lasting+(1-lasting)/float64(k.Frames))
		require.InEpsilon(t, want, v[0], 0.001, "%d frames", k.Frames)
		require.LessOrEqual(t, v[0], last+1e-12, "more pictures never make it less sure")
		require.Greater(t, v[0], systemCov[0])
		require.Greater(t, v[8], systemCov[8])
		last = v[0]
	}
	k := r.last.Tracks[0]
	assert.Greater(t, k.Frames, 300)
	assert.InDelta(t, truth.X, k.Ship.Pose.X, 4*0.05/math.Sqrt(float64(k.Frames)))
	assert.InDelta(t, 0, (k.Ship.Pose.Heading - truth.Heading).Signed().Degrees(), 4*0.03/math.Sqrt(float64(k.Frames)))
}

// The tracker's mean, against the plainest method: a weighted mean by hand of
// sightings with different, correlated covariances.
func TestTheMeanIsWeightedByInformation(t *testing.T) {
	sharpX := geom.Cov3{0.01, 0, 0, 0, 1, 0, 0, 0, 1}
	sharpY := geom.Cov3{1, 0, 0, 0, 0.01, 0, 0, 0, 1}
	var m poseMean
	m.add(sighting{pose: visiontest.Pose(10, 20, 350), random: sharpX}, 50)
	m.add(sighting{pose: visiontest.Pose(11, 21, 10), random: sharpY}, 50)
	got := m.mean()
	assert.InDelta(t, (10*100+11*1)/101.0, got.X, 1e-9)
	assert.InDelta(t, (20*1+21*100)/101.0, got.Y, 1e-9)
	assert.InDelta(t, 0, got.Heading.Signed().Degrees(), 1e-9)
	c := m.covariance()
	assert.InDelta(t, 1/101.0, c[0], 1e-12)
	assert.InDelta(t, 0.5, c[8], 1e-12)
}

// A ship that moved by 5 sigma never enters the mean of where it stood: whatever the
// noise, the pose that is given out while the old one stands is of the old place.
func TestAMoveOfFiveSigmaIsNeverAveraged(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	old, moved := visiontest.Pose(300, 200, 0), visiontest.Pose(300.25, 200, 0)
	slowest := 0
	for range 2000 {
		r := newReel(TrackerOptions{})
		for range 8 + rng.IntN(20) {
			r.show(1, poses{"A1": jittered(rng, old)})
		}
		before := r.last.Tracks[0]
		if before.State != vision.Still {
			continue // noise passes for a move in one picture of 370
		}
		noticed := false
		for n := 1; n <= 6; n++ {
			k := r.show(1, poses{"A1": jittered(rng, moved)}).Tracks[0]
			if k.State == vision.Still {
				// Up to three pictures are held back, so these are all of the old place.
				require.LessOrEqual(t, math.Abs(k.Ship.Pose.X-old.X), 0.1)
				continue
			}
			noticed, slowest = true, max(slowest, n)
			break
		}
		require.True(t, noticed)
	}
	assert.LessOrEqual(t, slowest, 4, "pictures until it was noticed")
}

// A still table stays still: noise passes for a move about as often as three sigmas say.
func TestNoiseIsSeldomAMove(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	r := newReel(TrackerOptions{})
	moves, still := 0, 0
	for range 20000 {
		k := r.show(1, poses{"A1": jittered(rng, visiontest.Pose(300, 200, 0))}).Tracks[0]
		switch k.State {
		case vision.Moving:
			moves++
		case vision.Still:
			still++
		}
	}
	t.Logf("%d moves in %d pictures", moves, moves+still)
	assert.Less(t, moves, 20000/100)
}

func TestTheOrderOfTheShipsDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	a, b := NewTracker(TrackerOptions{}), NewTracker(TrackerOptions{})
	ids := []string{"A1", "A2", "A10", "B1", "B2"}
	now := time.Unix(1000, 0)
	for n := range 300 {
		now = now.Add(200 * time.Millisecond)
		l := vision.Located{Captured: now}
		for i, id := range ids {
			if rng.IntN(8) == 0 {
				continue
			}
			s, v := seenShip(id, jittered(rng, visiontest.Pose(100*float64(i+1+n/100), 100, 0)))
			l.Scene.Ships, l.Ships = append(l.Scene.Ships, s), append(l.Ships, v)
		}
		turned := vision.Located{Captured: now}
		for _, i := range rng.Perm(len(l.Ships)) {
			turned.Scene.Ships, turned.Ships = append(turned.Scene.Ships, l.Scene.Ships[i]), append(turned.Ships, l.Ships[i])
		}
		place := func(id string) vision.Place { return vision.Place(int(id[1]) % 3) }
		x, y := a.Update(l, place, nil), b.Update(turned, place, nil)
		require.Equal(t, x, y)
		require.True(t, slices.IsSortedFunc(x.Tracks, func(p, q vision.Track) int { return vision.CompareIDs(p.Ship.ID, q.Ship.ID) }))
	}
}

// Dropping every second picture changes no pose that stands by more than its noise,
// only when it comes.
func TestDroppedPicturesChangeOnlyWhen(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	all, half := newReel(TrackerOptions{}), newReel(TrackerOptions{})
	stops := []geom.Pose{visiontest.Pose(300, 200, 0), visiontest.Pose(340, 230, 45), visiontest.Pose(390, 200, 90)}
	for i, stop := range stops {
		for n := range 40 { // eight seconds: 2.4 hidden, then still
			ships := poses{}
			if n >= 12 || i == 0 {
				ships["A1"] = jittered(rng, stop)
			}
			all.show(1, ships)
			if n%2 == 0 {
				half.now = all.now.Add(-200 * time.Millisecond)
				half.show(1, ships)
			}
		}
		a, b := all.last.Tracks[0], half.last.Tracks[0]
		require.Equal(t, a.State, b.State)
		require.Equal(t, vision.Still, b.State)
		require.InDelta(t, a.Ship.Pose.X, b.Ship.Pose.X, 0.1)
		require.InDelta(t, float64(a.Ship.Pose.Heading.Signed()), float64(b.Ship.Pose.Heading.Signed()), 0.002)
	}
	require.Len(t, all.events, 2)
	require.Len(t, half.events, 2)
	for i := range all.events {
		assert.Equal(t, all.events[i].String(), half.events[i].String())
	}
}

func TestPicturesThatAreNotNewer(t *testing.T) {
	r := newReel(TrackerOptions{})
	first := r.show(5, poses{"A1": visiontest.Pose(300, 200, 0)})
	same := r.Update(first.Located, nil, nil)
	assert.Equal(t, first.Tracks, same.Tracks, "the same picture again")
	r.now = r.now.Add(-time.Minute)
	older := r.Update(r.located(poses{"A1": visiontest.Pose(500, 200, 0)}), nil, nil)
	assert.Equal(t, first.Tracks, older.Tracks, "one that is older")
}

func TestDuplicateNamesAreDropped(t *testing.T) {
	r := newReel(TrackerOptions{})
	r.show(5, poses{"A1": visiontest.Pose(300, 200, 0)})
	r.now = r.now.Add(200 * time.Millisecond)
	l := r.located(poses{"A1": visiontest.Pose(300, 200, 0)})
	s, v := seenShip("A1", visiontest.Pose(500, 200, 0))
	l.Scene.Ships, l.Ships = append(l.Scene.Ships, s), append(l.Ships, v)
	assert.Equal(t, "A1 hidden", states(r.Update(l, nil, nil)))
}

func TestSightingsWithoutACovariance(t *testing.T) {
	tr := NewTracker(TrackerOptions{SettleFrames: 1})
	l := vision.Located{Captured: time.Unix(1, 0)}
	l.Scene.Ships = []engine.Ship{{ID: "A1", Pose: visiontest.Pose(1, 2, 3)}}
	out := tr.Update(l, nil, nil)
	require.Equal(t, "A1 still", states(out), "one picture is enough where the options say so")
	assert.Zero(t, out.Tracks[0].Ship.Covariance, "what was exact stays so")
	l.Captured = l.Captured.Add(time.Second)
	l.Scene.Ships = []engine.Ship{{ID: "A1", Pose: visiontest.Pose(math.NaN(), 2, 3)}}
	assert.Equal(t, "A1 hidden", states(tr.Update(l, nil, nil)), "a pose that is none was not read")
}

func TestADoubtfulPictureMovesNoShip(t *testing.T) {
	r := newReel(TrackerOptions{})
	here, there := visiontest.Pose(300, 200, 10), visiontest.Pose(340, 220, 60)
	doubtful := func(ships poses) string {
		r.now = r.now.Add(200 * time.Millisecond)
		l := r.located(ships)
		l.Doubtful = true
		out := r.Update(l, func(string) vision.Place { return vision.PlaceBare }, nil)
		r.events = append(r.events, out.Events...)
		return states(out)
	}
	assert.Empty(t, doubtful(poses{"B1": here}), "a new ship is none")
	r.show(5, poses{"A1": here})
	assert.Equal(t, "A1 still", doubtful(poses{"A1": here}), "where it stands it may be seen")
	for range 20 {
		assert.Equal(t, "A1 hidden", doubtful(poses{"A1": there}), "elsewhere it never comes to rest")
	}
	assert.Equal(t, "A1 still", states(r.show(1, poses{"A1": here})))
	for range 20 {
		assert.Equal(t, "A1 hidden", doubtful(nil), "nor does it leave the table")
	}
	assert.Equal(t, "A1 still", states(r.show(1, poses{"A1": here})))
	assert.Empty(t, r.events)
}

func TestACoveredShipIsLessSure(t *testing.T) {
	r := newReel(TrackerOptions{})
	before := r.show(5, poses{"A1": visiontest.Pose(300, 200, 10)}).Tracks[0].Ship.Covariance
	r.places["A1"] = vision.PlacePartly
	for range 3 { // and not less and less so
		after := r.show(1, nil).Tracks[0].Ship.Covariance
		assert.InDelta(t, before[0]+square64(unnoticed.Millimeters()), after[0], 1e-12)
		assert.Greater(t, after[8], before[8])
	}
	assert.Less(t, r.show(1, poses{"A1": visiontest.Pose(300, 200, 10)}).Tracks[0].Ship.Covariance[0], before[0]+1e-3)
}

func TestResetForgets(t *testing.T) {
	r := newReel(TrackerOptions{})
	r.show(5, poses{"A1": visiontest.Pose(300, 200, 0)})
	r.Reset()
	assert.Equal(t, "A1 settling", states(r.show(1, poses{"A1": visiontest.Pose(340, 200, 0)})))
	r.show(4, poses{"A1": visiontest.Pose(340, 200, 0)})
	assert.Empty(t, r.events)
}

func TestStatesHaveNames(t *testing.T) {
	for s := vision.Settling; s <= vision.Lifted; s++ {
		assert.NotContains(t, s.String(), "(")
	}
	assert.Equal(t, "TrackState(9)", vision.TrackState(9).String())
	assert.Equal(t, "TrackState(-1)", vision.TrackState(-1).String())
}

// Budget: 0.5 ms for 40 ships; the locator takes a hundred times as long. Measured 0.26 ms.
func BenchmarkTrackerSee(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	r := newReel(TrackerOptions{})
	l := vision.Located{}
	for i := range 40 {
		s, v := seenShip("A"+string(rune('a'+i)), jittered(rng, visiontest.Pose(20*float64(i), 100, 0)))
		l.Scene.Ships, l.Ships = append(l.Scene.Ships, s), append(l.Ships, v)
	}
	for b.Loop() {
		r.now = r.now.Add(200 * time.Millisecond)
		l.Captured = r.now
		r.Update(l, nil, nil)
	}
}

// What a picture that is not searched may rest on, and what becomes of the tracks then.
func TestRestingTracks(t *testing.T) {
	at := time.Unix(100, 0)
	tracked := func(states ...vision.Track) vision.Tracked {
		return vision.Tracked{Located: vision.Located{Captured: at}, Tracks: states}
	}
	for _, c := range []struct {
		name string
		of   vision.Tracked
		want bool
	}{
		{"nobody", tracked(), true},
		{"still ones with a mean", tracked(vision.Track{State: vision.Still, Frames: 3}, vision.Track{State: vision.Hidden}), true},
		{"a still one of a single picture", tracked(vision.Track{State: vision.Still, Frames: 1}), false},
		{"one that moves", tracked(vision.Track{State: vision.Still, Frames: 9}, vision.Track{State: vision.Moving}), false},
		{"one that settles", tracked(vision.Track{State: vision.Settling, Since: at.Add(-time.Second)}), false},
		{"one that never settles", tracked(vision.Track{State: vision.Settling, Since: at.Add(-3 * time.Second)}), true},
		{"a covered one: its time runs out", tracked(vision.Track{State: vision.Frozen}), false},
		{"an unread one: its time runs out", tracked(vision.Track{State: vision.Unread}), false},
		{"a lifted one: it will leave", tracked(vision.Track{State: vision.Lifted}), false},
	} {
		assert.Equal(t, c.want, c.of.AtRest(), c.name)
	}

	k := NewTracker(TrackerOptions{SettleFrames: 1})
	ship := engine.Ship{ID: "A1", Pose: geom.Pose{Point: geom.Point{X: 100, Y: 100}}, Covariance: geom.Cov3{1, 0, 0, 0, 1, 0, 0, 0, 1}}
	first := k.Update(vision.Located{Captured: at, Seq: 1, Scene: engine.Scene{Ships: []engine.Ship{ship}}}, nil, nil)
	require.Equal(t, vision.Still, first.Tracks[0].State)
	later := at.Add(2 * time.Second)
	rested := k.Rest(later, 2)
	assert.Equal(t, later, rested.Captured)
	assert.Equal(t, uint64(2), rested.Seq)
	assert.Equal(t, later, rested.Tracks[0].Captured)
	assert.Equal(t, at, first.Tracks[0].Captured, "what was given out before is left alone")
	assert.Equal(t, first.Tracks[0].Ship, rested.Tracks[0].Ship)
	assert.Equal(t, rested.Captured, k.Rest(at, 3).Captured, "a picture that is not newer says nothing new")

	// Not read from now on: the time for which its pose stands runs from the last look.
	unread := k.Update(vision.Located{Captured: later.Add(2 * time.Second), Seq: 4},
		func(string) vision.Place { return vision.PlaceUnchanged }, nil)
	require.Len(t, unread.Tracks, 1)
	assert.Equal(t, vision.Unread, unread.Tracks[0].State)
}
