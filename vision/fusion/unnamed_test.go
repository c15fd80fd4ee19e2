package fusion

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// cardView is what a camera says of bases in a row, 100 mm apart, that it finds by their cards.
func cardView(ships ...engine.Ship) vision.Located {
	l := vision.Located{Captured: fuseAt, Scene: engine.Scene{MatWidth: 914.4, MatHeight: 914.4, ObstaclesUnseen: true}}
	for _, s := range ships {
		s.Base, s.Covariance, s.Seen, s.Look = engine.Small, geom.Cov3{0.04, 0, 0, 0, 0.04, 0, 0, 0, 1e-5}, "look", "A1"
		l.Scene.Ships, l.Ships = append(l.Scene.Ships, s), append(l.Ships, vision.ShipView{ID: s.ID})
	}
	return l
}

// card is a base in one of the places of the row.
func card(id string, place int, may ...string) engine.Ship {
	s := engine.Ship{ID: id, Pose: geom.Pose{Point: geom.Point{X: 100 * float64(place), Y: 300}}, NameDoubt: may}
	if len(may) == 0 {
		s.Player = int(id[0]-'A') + 1
	}
	return s
}

// What two cameras number by themselves is put together by where it stands, and never by its number.
func TestBasesWithoutANameAreThoseInTheSamePlace(t *testing.T) {
	for name, c := range map[string]struct {
		left, right []engine.Ship
		want        []engine.Ship // without those that the cameras contradict each other in
		conflicts   int
	}{
		"other numbers": {
			[]engine.Ship{card("?1", 1, "A1", "A2"), card("?2", 2, "A1", "A2")},
			[]engine.Ship{card("?1", 2, "A1", "A2"), card("?2", 1, "A1", "A2")},
			[]engine.Ship{card("?1", 1, "A1", "A2"), card("?2", 2, "A1", "A2")}, 0},
		"each sees another": {
			[]engine.Ship{card("?1", 1, "A1", "A2")}, []engine.Ship{card("?1", 2, "A1", "A2")},
			[]engine.Ship{card("?1", 1, "A1", "A2"), card("?2", 2, "A1", "A2")}, 0},
		"one knows the name": {
			[]engine.Ship{card("?1", 1, "A1", "A2"), card("?2", 2, "B1", "B2")}, []engine.Ship{card("A2", 1), card("?1", 3, "B1")},
			[]engine.Ship{card("A2", 1), card("?2", 2, "B1", "B2"), card("?1", 3, "B1")}, 0},
		"what both say it may be": {
			[]engine.Ship{card("?1", 1, "A1", "A2")}, []engine.Ship{card("?1", 1, "A2", "A3")}, []engine.Ship{card("?1", 1, "A2")}, 0},
		"another card": {
			[]engine.Ship{card("?1", 1, "A1", "A2"), card("A3", 2)}, []engine.Ship{card("?1", 1, "B1", "B2"), card("?2", 2, "B3")}, nil, 2},
		"another name": {[]engine.Ship{card("A1", 1)}, []engine.Ship{card("A2", 1)}, nil, 1},
	} {
		got := fuse(t, Options{}, cardView(c.left...), cardView(c.right...))
		byID := map[string]engine.Ship{}
		for i, s := range got.Scene.Ships {
			byID[s.ID] = s
			assert.Equal(t, s.ID, got.Ships[i].ID, name)
		}
		assert.Len(t, byID, len(c.want), "%s: %v", name, got.Fusion.Notes())
		assert.Len(t, got.Fusion.Conflicts, c.conflicts, "%s: %v", name, got.Fusion.Notes())
		for _, w := range c.want {
			assert.Equal(t, w.Pose, byID[w.ID].Pose, "%s: %s", name, w.ID)
			assert.Equal(t, w.NameDoubt, byID[w.ID].NameDoubt, "%s: %s", name, w.ID)
			assert.Equal(t, w.Player, byID[w.ID].Player, "%s: %s", name, w.ID)
		}
	}
}
