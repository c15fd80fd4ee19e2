package live

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
)

// The first edition's game says which ships in contact touch (G95, G102); of a ship that is not
// of the game nothing is known.
func TestWhatTouchesIsMeasuredWith(t *testing.T) {
	at := func(id string, x, y float64) engine.Ship {
		return engine.Ship{ID: id, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: x, Y: y}}}
	}
	scene := engine.Scene{Rules: engine.Rules1e, Profile: "nominal", Ships: []engine.Ship{at("A1", 300, 300), at("B1", 300, 340),
		at("B2", 340, 300), at("C1", 260, 300)}}
	touch := &Touch{Ships: []string{"A1", "B1", "B2"}, Touching: [][2]string{{"B1", "A1"}}}
	may := func(touch *Touch, target string) engine.Outcome {
		r, err := engine.Measure(&scene, touch.Options(&scene, 3))
		require.NoError(t, err)
		for i := range r.Standing {
			if r.Standing[i].ID == "A1" {
				return r.Standing[i].MayAttack(target)
			}
		}
		return engine.Yes
	}
	assert.Equal(t, engine.No, may(touch, "B1"))
	assert.Equal(t, engine.Yes, may(touch, "B2"), "in contact by a roll")
	assert.Equal(t, engine.NoView, may(touch, "C1"))
	assert.Equal(t, engine.NoView, may(nil, "B2"), "without a game")
	touch.May = [][2]string{{"A1", "B2"}}
	assert.Equal(t, engine.NoView, may(touch, "B2"), "the move was not seen")

	after := touch.WithMoved("A1")
	assert.Equal(t, engine.NoView, may(after, "B1"), "after its move it is another question")
	o := after.Options(&scene, 3)
	o.Untouched = "A1"
	r, err := engine.Measure(&scene, o)
	require.NoError(t, err)
	assert.Empty(t, r.Restrictions("attack", "A1", "B1"), "a boost makes no touch (G98)")
	scene.Rules = engine.Rules20
	assert.Equal(t, engine.Options{Sigmas: 3}, touch.Options(&scene, 3))
}
