package pipeline

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// stockCard is a base that was found by its card in a place of a row.
func stockCard(id string, place int, may ...string) engine.Ship {
	s := engine.Ship{ID: id, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 100 * float64(place), Y: 400}}, Look: "A1", Seen: "look",
		NameDoubt: may, Covariance: geom.Cov3{0.04, 0, 0, 0, 0.04, 0, 0, 0, 1e-5}}
	if len(may) == 0 {
		s.Player = int(id[0]-'A') + 1
	}
	return s
}

// standing is where the ships stand that have answers, in places of the row.
func (b *twoEyedBench) standing(v live.State) map[string]int {
	out, names := map[string]int{}, map[string]bool{}
	for _, k := range v.Tracks {
		names[k.Ship.ID] = true
		if k.State.Stands() {
			out[k.Ship.ID] = int(k.Ship.Pose.X+50) / 100
		}
	}
	assert.Len(b.t, names, len(v.Tracks), "two have one name")
	return out
}

// A base that one camera numbers is the one that the other sees in its place, never the one to which that gave the same number.
func TestStockShipsOfTwoCamerasAreThoseInTheSamePlace(t *testing.T) {
	alike := []string{"A1", "A2"}
	for _, c := range []struct {
		name      string
		main, eye []engine.Ship
		want      map[string]int
	}{
		{"no one knows a name", []engine.Ship{stockCard("?1", 1, alike...)},
			[]engine.Ship{stockCard("?1", 2, alike...), stockCard("?2", 1, alike...)}, map[string]int{"?1": 1, "?2": 2}},
		{"the main camera knows one", []engine.Ship{stockCard("A2", 1)},
			[]engine.Ship{stockCard("?1", 1, alike...), stockCard("?2", 2, alike...)}, map[string]int{"A2": 1, "?2": 2}},
		{"the other knows one", []engine.Ship{stockCard("?1", 1, alike...)}, []engine.Ship{stockCard("A1", 1)}, map[string]int{"A1": 1}},
		{"only the other sees it", nil, []engine.Ship{stockCard("?3", 2, alike...)}, map[string]int{"?3": 2}},
	} {
		b := newTwoEyedBench(t)
		b.ships = c.main
		var v live.State
		for range 4 {
			b.sees(vision.Still, c.eye...)
			v = b.picture(tenth)
		}
		assert.Equal(t, c.want, b.standing(v), c.name)
		for _, k := range v.Tracks {
			assert.Equal(t, k.Ship.ID[0] == '?', len(k.Ship.NameDoubt) > 0, "%s: %s may be %v", c.name, k.Ship.ID, k.Ship.NameDoubt)
		}
	}
}

// What a person told the main camera holds for the base while the other sees it stand still, and no longer.
func TestANameHoldsWhileTheOtherCameraSeesTheBaseStandStill(t *testing.T) {
	b := newTwoEyedBench(t)
	since := b.now
	see := func(state vision.TrackState) map[string]int {
		b.sees(state, stockCard("?1", 1, "A1", "A2"))
		b.eye.Tracks[0].Since = since
		return b.standing(b.picture(tenth))
	}
	b.ships = []engine.Ship{stockCard("A2", 1)}
	assert.Equal(t, map[string]int{"A2": 1}, see(vision.Still))
	b.ships = nil
	assert.Equal(t, map[string]int{"A2": 1}, see(vision.Still), "the main camera does not see it")
	assert.Equal(t, map[string]int{"A2": 1}, see(vision.Still))
	since = since.Add(time.Second)
	assert.Equal(t, map[string]int{"?1": 1}, see(vision.Still), "it was out of sight: it may be A1")

	b.ships = []engine.Ship{stockCard("A2", 1)}
	assert.Equal(t, map[string]int{"A2": 1}, see(vision.Still))
	assert.Empty(t, see(vision.Lifted), "its place shows the mat")
}

// A ship whose card the main camera does not see is placed by another camera.
func TestAnotherCameraPlacesTheShip(t *testing.T) {
	asked := live.PlacedShip{ID: "A1", Player: 1, Base: engine.Small}
	well, ill := live.State{}, live.State{}
	well.Health.Code, ill.Health.Code = live.OK, live.NoCamera
	sees := func(v live.State, err error) SecondaryCamera {
		return SecondaryCamera{View: func() live.State { return v }, Place: func(s live.PlacedShip) error {
			assert.Equal(t, asked, s)
			return err
		}}
	}
	no := errors.New("no card")
	for _, c := range []struct {
		cameras []SecondaryCamera
		want    bool
	}{
		{nil, false},
		{[]SecondaryCamera{sees(well, no), sees(ill, nil), {View: func() live.State { return well }}}, false},
		{[]SecondaryCamera{sees(well, nil), sees(well, no)}, true},
		{[]SecondaryCamera{sees(well, no), sees(well, nil)}, true},
	} {
		f := Fuse{cameras: c.cameras}
		assert.Equal(t, c.want, f.placeByCard(asked))
	}
}
