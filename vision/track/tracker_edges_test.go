package track_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/track"
)

// edgeTable shows one ship to a tracker: read, seen by its edges, or not at all.
type edgeTable struct {
	t       *testing.T
	tracker *track.Tracker
	at      time.Time
	pose    geom.Pose
}

func newEdgeTable(t *testing.T) *edgeTable {
	return &edgeTable{t: t, tracker: track.NewTracker(track.TrackerOptions{}), at: time.Unix(1000, 0),
		pose: geom.Pose{Point: geom.Point{X: 300, Y: 400}}}
}

var edgeFit = geom.Cov3{0: 0.01, 4: 0.01, 8: 1e-5}

// show passes n pictures at five a second, in which the code is read or not, the place looks as said
// and the edges are seen or not.
func (e *edgeTable) show(n int, read bool, place vision.Place, edges bool) vision.Track {
	e.t.Helper()
	var out vision.Tracked
	ship := engine.Ship{ID: "A1", Base: engine.Small, Pose: e.pose, Covariance: edgeFit, Seen: "both"}
	for range n {
		e.at = e.at.Add(200 * time.Millisecond)
		l := vision.Located{Captured: e.at}
		if read {
			l.Scene.Ships, l.Ships = []engine.Ship{ship}, []vision.ShipView{{ID: "A1", Fit: edgeFit}}
		}
		out = e.tracker.Update(l, func(string) vision.Place { return place }, func(k vision.Track) (engine.Ship, vision.ShipView, bool) {
			s := ship
			s.Seen = "edges"
			return s, vision.ShipView{ID: "A1", Fit: edgeFit}, edges && k.Ship.Pose.Distance(e.pose.Point) < 3
		})

	}
	k, ok := out.Track("A1")
	require.True(e.t, ok)
	return k
}

func TestAShipWhoseCodeIsLostGoesOnByItsEdges(t *testing.T) {
	e := newEdgeTable(t)
	e.show(6, true, vision.PlaceCovered, false)
	k := e.show(50, false, vision.PlaceUnchanged, true) // 10 s: three times as long as without edges
	assert.Equal(t, vision.Still, k.State)
	assert.Equal(t, "edges", k.Ship.Seen)
	assert.False(t, k.Ship.Quarters, "its place looked the same all the time: it was not turned")
	k = e.show(1, true, vision.PlaceUnchanged, false)
	assert.Equal(t, "both", k.Ship.Seen)
}

// Of a ship whose code was read the edges are our token's, as long as it is on the table; of one that a person placed
// no one knows.
func TestATrackKnowsThatItsCodeWasRead(t *testing.T) {
	e := newEdgeTable(t)
	assert.True(t, e.show(6, true, vision.PlaceCovered, false).Read)
	assert.True(t, e.show(6, false, vision.PlaceUnchanged, true).Read)
	e = newEdgeTable(t)
	e.at = e.at.Add(time.Second)
	placed := engine.Ship{ID: "A1", Base: engine.Small, Pose: e.pose, Covariance: edgeFit, Seen: "edges"}
	e.tracker.Update(vision.Located{Captured: e.at, Scene: engine.Scene{Ships: []engine.Ship{placed}},
		Ships: []vision.ShipView{{ID: "A1", Fit: edgeFit}}}, nil, nil)

	assert.False(t, e.show(6, false, vision.PlaceUnchanged, true).Read)
	assert.True(t, e.show(1, true, vision.PlaceUnchanged, true).Read, "it is read at last")
}

// A hand that covers a ship may turn it. Its edges do not show that.
func TestAfterAHandTheEdgesDoNotKnowTheNose(t *testing.T) {
	e := newEdgeTable(t)
	e.show(6, true, vision.PlaceCovered, false)
	e.show(2, false, vision.PlaceCovered, false)
	k := e.show(6, false, vision.PlaceUnchanged, true)
	require.Equal(t, vision.Still, k.State)
	assert.True(t, k.Ship.Quarters)
	k = e.show(20, false, vision.PlaceUnchanged, true)
	assert.True(t, k.Ship.Quarters, "time does not tell")
	k = e.show(1, true, vision.PlaceUnchanged, true)
	assert.False(t, k.Ship.Quarters, "its code does")
}

func TestAShipThatMovesAFewMillimetresUnreadIsFollowedByItsEdges(t *testing.T) {
	e := newEdgeTable(t)
	e.show(6, true, vision.PlaceCovered, false)
	e.pose.X += 2
	k := e.show(1, false, vision.PlaceCovered, true)
	assert.Equal(t, vision.Moving, k.State)
	assert.False(t, k.State.Stands())
	k = e.show(6, false, vision.PlaceCovered, true)
	assert.Equal(t, vision.Still, k.State)
	assert.InDelta(t, 302, k.Ship.Pose.X, 0.01)
	assert.True(t, k.Ship.Quarters)
	e.pose.X += 50
	k = e.show(20, false, vision.PlaceCovered, true)
	assert.Equal(t, vision.Hidden, k.State, "as far away it may be any ship")
}

func TestEdgesBringBackNoShipWhosePlaceIsBare(t *testing.T) {
	e := newEdgeTable(t)
	e.show(6, true, vision.PlaceCovered, false)
	k := e.show(2, false, vision.PlaceBare, true)
	assert.Equal(t, vision.Lifted, k.State)
}

// A ship that a person placed comes as one seen by its edges.
func TestAPlacedShipStandsUntilItsPlaceIsBare(t *testing.T) {
	for _, headed := range []bool{true, false} {
		e := newEdgeTable(t)
		e.at = e.at.Add(time.Second)
		placed := engine.Ship{ID: "A1", Base: engine.Small, Pose: e.pose, Covariance: edgeFit, Seen: "edges", Quarters: !headed}
		e.tracker.Update(vision.Located{Captured: e.at, Scene: engine.Scene{Ships: []engine.Ship{placed}},
			Ships: []vision.ShipView{{ID: "A1", Fit: edgeFit}}}, nil, nil)

		e.show(3, false, vision.PlaceCovered, true) // no look is kept of its place yet
		k := e.show(20, false, vision.PlaceUnchanged, true)
		assert.Equal(t, vision.Still, k.State)
		assert.Equal(t, !headed, k.Ship.Quarters)
		e.show(2, false, vision.PlaceCovered, false)
		k = e.show(6, false, vision.PlaceUnchanged, true)
		assert.True(t, k.Ship.Quarters, "a hand was there")
		e.show(1, false, vision.PlaceBare, false)
		e.at = e.at.Add(2 * time.Second)
		out := e.tracker.Update(vision.Located{Captured: e.at}, func(string) vision.Place { return vision.PlaceBare }, nil)
		_, there := out.Track("A1")
		assert.False(t, there)
	}
}

// A card says which way a base points, and nothing of our print.
func TestAShipFoundByItsCardIsNotTakenForOurs(t *testing.T) {
	tracker, at := track.NewTracker(track.TrackerOptions{}), time.Unix(1000, 0)
	ship := engine.Ship{ID: "A1", Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 300, Y: 400}}, Covariance: edgeFit, Seen: "look",
		Look: "A1"}
	finder := func(vision.Track) (engine.Ship, vision.ShipView, bool) {
		return ship, vision.ShipView{ID: "A1", Fit: edgeFit}, true
	}
	var k vision.Track
	for i := range 8 {
		at = at.Add(200 * time.Millisecond)
		l := vision.Located{Captured: at}
		if i == 0 { // placed by a person
			l.Scene.Ships, l.Ships = []engine.Ship{ship}, []vision.ShipView{{ID: "A1", Fit: edgeFit}}
		}
		out := tracker.Update(l, func(string) vision.Place { return vision.PlaceCovered }, finder)
		var ok bool
		k, ok = out.Track("A1")
		require.True(t, ok)
	}
	assert.Equal(t, vision.Still, k.State)
	assert.False(t, k.Read)
	assert.False(t, k.Ship.Quarters)
}
