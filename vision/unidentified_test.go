package vision_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
	"sightline/engine/scenefile"
	"sightline/vision"
	"sightline/vision/internal/visiontest"
)

func TestAnUnnamedBaseIsAShipOnlyOfItsSizeAndPlace(t *testing.T) {
	sight := &vision.ObstacleSight{Bases: []vision.UnidentifiedBase{visiontest.BareBase(engine.Small, 300, 300, 10*geom.Degree, 0.9)}}
	at := func(x float64, heading geom.Angle) geom.Pose {
		return geom.Pose{Point: geom.Point{X: x, Y: 300}, Heading: heading}
	}
	u, ok := sight.Unidentified(engine.Small, at(302, 184*geom.Degree), 3, 8*geom.Degree)
	require.True(t, ok)
	assert.InDelta(t, 190, u.Pose.Heading.Degrees(), 1e-9, "of its four headings the nearest")
	for name, again := range map[string]func() (vision.UnidentifiedBase, bool){
		"another size": func() (vision.UnidentifiedBase, bool) {
			return sight.Unidentified(engine.Medium, at(300, 10*geom.Degree), 3, 8*geom.Degree)
		},
		"too far off": func() (vision.UnidentifiedBase, bool) {
			return sight.Unidentified(engine.Small, at(304, 10*geom.Degree), 3, 8*geom.Degree)
		},
		"turned": func() (vision.UnidentifiedBase, bool) {
			return sight.Unidentified(engine.Small, at(300, 30*geom.Degree), 3, 8*geom.Degree)
		},
		"nobody looked": func() (vision.UnidentifiedBase, bool) {
			return (*vision.ObstacleSight)(nil).Unidentified(engine.Small, at(300, 0), 3, 8*geom.Degree)
		},
	} {
		_, ok := again()
		assert.False(t, ok, name)
	}
	two := &vision.ObstacleSight{Bases: []vision.UnidentifiedBase{visiontest.BareBase(engine.Small, 290, 300, 0, 0.9),
		visiontest.BareBase(engine.Small, 331, 300, 0, 0.9)}}
	_, ok = two.Unidentified(engine.Small, at(310, 0), 30, 8*geom.Degree)
	assert.False(t, ok, "of two nobody knows which")
}

// A base without a name stands in the scene: it is measured and blocks moves, and has no arcs.
func TestAnUnnamedBaseIsMeasuredAndBlocksMoves(t *testing.T) {
	l := vision.Located{Scene: engine.Scene{Rules: engine.Rules25}, Obstacles: &vision.ObstacleSight{Bases: []vision.UnidentifiedBase{
		visiontest.BareBase(engine.Small, 300, 380, 5*geom.Degree, 0.9),
		visiontest.BareBase(engine.Small, 304, 300, 0, 0.9), // where A1 stands: it is A1
	}}}
	l.Scene.Ships = []engine.Ship{{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 300, Y: 300}}}}
	l.Ships = []vision.ShipView{{ID: "A1"}}
	l.AddUnidentified()
	require.Len(t, l.Scene.Ships, 2)
	require.Len(t, l.Ships, 2)
	assert.Equal(t, "?1", l.Scene.Ships[1].ID)

	doc, err := scenefile.MarshalList([]engine.Scene{l.Scene})
	require.NoError(t, err)
	assert.Contains(t, string(doc), `"heading_quarters":true`)
	scenes, _, err := scenefile.Parse(doc)
	require.NoError(t, err, "what is written can be read")

	r, err := engine.Measure(&scenes[0], engine.Options{})
	require.NoError(t, err)
	for _, p := range r.Pairs {
		assert.Equal(t, engine.Yes, p.Range.Outcome, "%s to %s", p.From, p.To)
		for _, a := range p.Arcs {
			if p.From == "?1" {
				assert.Equal(t, engine.NoView, a.InArc)
			}
		}
	}
	m, err := move.ParseManeuver("straight 2")
	require.NoError(t, err)
	moved, err := move.Execute(&scenes[0], "A1", m, engine.Options{})
	require.NoError(t, err)
	assert.False(t, moved.FullyExecuted)
	assert.Equal(t, []string{"?1"}, moved.FirstOverlapped)
	_, err = move.Execute(&scenes[0], "?1", m, engine.Options{})
	assert.Error(t, err, "nobody knows where its nose points")
}
