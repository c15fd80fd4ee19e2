package look

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/dots"
)

// dotted is a small base's card with the dots of a ship.
func dotted(a art, id string) art {
	l, r, _ := dots.OfShip(id)
	inks := map[dots.Colour][3]float64{dots.Red: {0.03, 0.03, 0.68}, dots.Green: {0.06, 0.43, 0.05}, dots.Blue: {0.68, 0.16, 0.02}}
	return func(u, v float64) [3]float64 {
		for i, c := range [2]dots.Colour{l, r} {
			p := dots.Places(engine.Small)[i]
			switch d := math.Hypot(u-p.X, v-p.Y); {
			case d < 3:
				return inks[c]
			case d < 4:
				return [3]float64{0.85, 0.85, 0.85}
			}
		}
		return a(u, v)
	}
}

// halfDotted is a small base's card of which only the left dot is seen.
func halfDotted(a art, id string) art {
	both := dotted(a, id)
	return func(u, v float64) [3]float64 {
		if u > 0 {
			return a(u, v)
		}
		return both(u, v)
	}
}

// Dots name ships with the same card; without them, with the dots of none of them, or with the same twice, nothing is guessed.
func TestDotsNameShipsThatLookAlike(t *testing.T) {
	l := small(t, 1, "A1")
	l.Ships = []string{"A1", "A2", "A3"}
	found := func(ids ...string) (names []string, doubts int) {
		d := drawing{table: tableAt(1.02), noise: 1}
		d.table.Layout.Markers = []calibration.Marker{{ID: 0, Center: geom.Point{X: 25, Y: 25}, Size: 16}}
		d.hides = func(p geom.Point) (bool, float64) { // the marker
			r := max(math.Abs(p.X-25), math.Abs(p.Y-25))
			if r < 8 {
				return true, 0.03
			}
			return r < 13, 0.9
		}
		for i, id := range ids {
			a := drawnArt(1)
			if one, half := strings.CutPrefix(id, "half "); half {
				a = halfDotted(a, one)
			} else if id != "" {
				a = dotted(a, id)
			}
			d.bases = append(d.bases, drawnBase{base: engine.Small, art: a, pose: pose(80+90*float64(i%2), 90+90*float64(i/2), 70*float64(i))})
		}
		lies := func(p geom.Point) bool {
			for _, b := range d.bases {
				if b.pose.Distance(p) < 28 {
					return true
				}
			}
			return false
		}
		f := NewFinder(d.table, &Library{Looks: []*Look{l}}, calibration.Uncertainty{})
		sights := f.Search(d.draw(4), lies, nil)
		require.Len(t, sights, len(ids))
		for i := range sights {
			ship := f.Ship(&sights[i], "", "?")
			names = append(names, ship.ID)
			if len(ship.NameDoubt) > 0 {
				doubts++
			}
		}
		return names, doubts
	}
	names, doubts := found("A2", "A3", "")
	assert.ElementsMatch(t, []string{"A2", "A3", "?"}, names)
	assert.Equal(t, 1, doubts)
	names, doubts = found("A1", "A1")
	assert.Equal(t, []string{"?", "?"}, names, "one of them is not A1")
	assert.Equal(t, 2, doubts)

	names, doubts = found("A3", "half A2")
	assert.ElementsMatch(t, []string{"A3", "A2"}, names, "where dots are in use one is enough")
	assert.Zero(t, doubts)
	names, doubts = found("half A2")
	assert.Equal(t, []string{"?"}, names, "one dot alone in the picture may be print")
	assert.Equal(t, 1, doubts)

	l.Ships = []string{"A1"}
	names, doubts = found("A2")
	assert.Equal(t, []string{"?"}, names, "its dots are another ship's")
	assert.Equal(t, 1, doubts)
}
