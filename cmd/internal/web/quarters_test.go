package web

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
)

// A base that is known by its edges alone has no nose that anyone saw: nothing that is
// drawn of it may point anywhere.
func TestABaseThatIsKnownToQuarterTurnsPointsNowhere(t *testing.T) {
	profile := engine.Nominal()
	p := heldProjector{&live.Held{}}
	kinds := func(quarters bool) (out []string) {
		s := engine.Ship{ID: "A1", Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 200, Y: 200}}, Quarters: quarters}
		for _, o := range p.ship(&s, &profile, nil) {
			out = append(out, o.Kind)
		}
		for _, o := range p.arc(&s, &profile, engine.Rules25, engine.ArcFront) {
			out = append(out, o.Kind)
		}
		if arcOutline(&profile, engine.Rules25, &s, engine.ArcFront) != nil {
			out = append(out, "overlay's arc")
		}
		return out
	}
	seen := kinds(false)
	for _, kind := range []string{"nose", "arc", "overlay's arc"} {
		require.Contains(t, seen, kind)
		assert.NotContains(t, kinds(true), kind)
	}
	assert.Contains(t, kinds(true), "base")

	var state live.State
	state.Located.Scene.Rules = engine.Rules25
	state.Located.Scene.Ships = []engine.Ship{{ID: "A1", Base: engine.Small, Quarters: true}, {ID: "A2", Base: engine.Small}}
	ships := shipsOf(&state)
	assert.True(t, ships[0].Quarters)
	assert.False(t, ships[1].Quarters)
}
