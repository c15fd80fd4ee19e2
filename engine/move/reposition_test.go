package move_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
	"sightline/engine/move"
)

func TestEndsOfRepositions(t *testing.T) {
	type end struct{ x, y, deg float64 }
	for _, c := range []struct {
		rule, rules, base, action string
		ends                      []end // or the two ends of a slide
		slide                     bool
	}{
		{"G150 G151 small, 2e: three places", "2.0", "small", "barrel-roll left", []end{{-80, 10, 0}, {-80, 0, 0}, {-80, -10, 0}}, false},
		{"G150 G151 medium, 2e: the long side", "2.5", "medium", "barrel-roll right", []end{{80, 20, 0}, {80, 0, 0}, {80, -20, 0}}, false},
		{"G150 G151 large, 2e", "2.5", "large", "barrel-roll right", []end{{100, 20, 0}, {100, 0, 0}, {100, -20, 0}}, false},
		{"G147 G148 small, 1e: continuous", "1e", "small", "barrel-roll right", []end{{80, -20, 0}, {80, 20, 0}}, true},
		{"G149 large, 1e: the long side, continuous", "1e", "large", "barrel-roll left", []end{{-100, -40, 0}, {-100, 40, 0}}, true},
		{"G155 G156 boost straight", "2.5", "small", "boost straight", []end{{0, 80, 0}}, false},
		{"G155 boost along a bank", "1e", "small", "boost right", []end{{80 - 80*r45 + 20*r45, 20 + 80*r45 + 20*r45, 45}}, false},
		{"G157 1e decloak sideways: straight 2", "1e", "small", "decloak left", []end{{-120, -20, 0}, {-120, 20, 0}}, true},
		{"G157 1e decloak forward", "1e", "large", "decloak forward", []end{{0, 160, 0}}, false},
		{"G158 small, 2.0", "2.0", "small", "decloak right", []end{{120, 10, 0}, {120, 0, 0}, {120, -10, 0}}, false},
		{"G158 small, 2.0, forward", "2.0", "small", "decloak forward", []end{{0, 120, 0}}, false},
		{"G158 medium, 2.0: straight 1", "2.0", "medium", "decloak right", []end{{80, 20, 0}, {80, 0, 0}, {80, -20, 0}}, false},
		{"G158 large, 2.5, forward: straight 1", "2.5", "large", "decloak forward", []end{{0, 120, 0}}, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := repositioned(t, enginetest.Scene(t, c.rules+"; A "+c.base+" 0 0 0"), "A", c.action)
			assert.True(t, r.FullyExecuted)
			if c.slide {
				require.Len(t, r.Options, 1)
				o := r.Options[0]
				assertPose(t, c.ends[0].x, c.ends[0].y, 0, o.Final)
				assertPose(t, c.ends[1].x, c.ends[1].y, 0, o.FinalTo)
				assert.Equal(t, engine.Yes, o.Legal)
				return
			}
			require.Len(t, r.Options, len(c.ends))
			for i, e := range c.ends {
				assertPose(t, e.x, e.y, e.deg, r.Options[i].Final)
				assert.Equal(t, engine.Yes, r.Options[i].Legal)
			}
		})
	}
}

func TestWhatForbidsAReposition(t *testing.T) {
	for _, c := range []struct{ rule, scene, action, why string }{
		{"G152 G154 another ship under the base", "2.5; A small 0 0 0; B small 100 0 0", "barrel-roll right", "overlaps B"},
		{"G152 G154 an obstacle under the base", "2.5; A small 0 0 0; rock square 95 0 0 10", "barrel-roll right", "overlaps rock"},
		{"G152 G154 an obstacle under the template", "2.0; A small 0 0 0; rock square 40 0 0 10", "barrel-roll right",
			"has the template over rock"},
		{"G155 an obstacle under a boost's template", "1e; A small 0 0 0; rock square 3 40 0 6", "boost straight", "has the template over rock"},
		{"G155 a ship under the base of a boost", "1e; A small 0 0 0; B small 0 90 0", "boost straight", "overlaps B"},
		{"G157 a ship under the base of decloaking", "1e; A small 0 0 0; B small 0 130 0", "decloak forward", "overlaps B"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := repositioned(t, enginetest.Scene(t, c.scene), "A", c.action)
			assert.False(t, r.FullyExecuted)
			for _, o := range r.Options {
				assert.Equal(t, engine.No, o.Legal)
				assert.Equal(t, c.why, o.Why)
			}
		})
	}
	t.Run("G152 a template over a ship is fine", func(t *testing.T) {
		r := repositioned(t, enginetest.Scene(t, "2.5; A large 0 0 0; B small 0 85 0"), "A", "boost straight")
		assert.NotContains(t, r.Options[0].Why, "template")
		s := enginetest.Scene(t, "1e; A small 0 0 0; B small 0 63.2 0")
		s.Ships[1].Pose.Y = 84
		assert.Equal(t, engine.Yes, repositioned(t, s, "A", "decloak left").Options[0].Legal)
	})
	t.Run("G153 G161 off the mat", func(t *testing.T) {
		s := enginetest.Scene(t, "1e; A small 0 0 0")
		s.MatWidth, s.MatHeight = 914.4, 914.4
		s.Ships[0].Pose.Point = geom.Point{X: 457.2, Y: 30}
		r := repositioned(t, s, "A", "barrel-roll right")
		legal := legalSlides(r)
		require.Len(t, legal, 1)
		assert.InDelta(t, -10, legal[0][0], 1e-9, "flush with the edge is in")
		assert.Equal(t, "leaves the play area", r.Options[0].Why)
		s.Ships[0].Pose = geom.Pose{Point: geom.Point{X: 457.2, Y: 914.4 - 95}}
		assert.Equal(t, "leaves the play area", repositioned(t, s, "A", "boost straight").Options[0].Why)
	})
	t.Run("G89 G90 any place on the declared side", func(t *testing.T) {
		// A rock next to the base's middle leaves no room for the centred template;
		// slid back it passes.
		s := enginetest.Scene(t, "1e; A small 0 0 0; rock square 40 5 0 10")
		r := repositioned(t, s, "A", "barrel-roll right")
		legal := legalSlides(r)
		require.Len(t, legal, 1)
		assert.InDelta(t, -20, legal[0][0], 1e-9)
		assert.InDelta(t, 0, legal[0][1], 1e-9, "the template at -10, the ship 10 on it")
		assert.True(t, r.FullyExecuted)
		s.Rules = engine.Rules25
		assert.False(t, repositioned(t, s, "A", "barrel-roll right").FullyExecuted, "2e: fixed at the hashmark")
	})
	t.Run("G159 G160 G161 a tractor beam pulls onto obstacles, not onto ships nor off the mat", func(t *testing.T) {
		for _, rules := range []string{"1e", "2.0"} {
			s := enginetest.Scene(t, rules+"; A small 0 0 0; rock square 80 0 0 10; stone square 40 0 0 10")
			s.MatWidth, s.MatHeight = 914.4, 914.4
			s.Ships[0].Pose.Point = geom.Point{X: 400, Y: 400}
			s.Obstacles[0].Pose.Point, s.Obstacles[1].Pose.Point = geom.Point{X: 480, Y: 400}, geom.Point{X: 400, Y: 480}
			assert.False(t, repositioned(t, s, "A", "barrel-roll right").FullyExecuted)
			r := repositioned(t, s, "A", "tractor right")
			assert.True(t, r.FullyExecuted)
			for _, o := range r.Options {
				assert.Equal(t, engine.Yes, o.Legal, o.Why)
			}
			r = repositioned(t, s, "A", "tractor forward")
			assert.Equal(t, engine.Yes, r.Options[0].Legal)
			assert.Equal(t, []move.Hit{{ID: "stone", Template: engine.No, Base: engine.Yes}}, r.Obstacles, "and says which")
			s.Ships[0].Pose.Point = geom.Point{X: 850, Y: 400}
			assert.False(t, repositioned(t, s, "A", "tractor right").FullyExecuted)
			s.Ships = append(s.Ships, engine.Ship{ID: "B", Base: engine.Large, Pose: geom.Pose{Point: geom.Point{X: 770, Y: 400}}})
			assert.False(t, repositioned(t, s, "A", "tractor left").FullyExecuted)
		}
	})
	t.Run("a place that fits exactly", func(t *testing.T) {
		s := enginetest.Scene(t, "1e; A small 0 0 0; B small 80 0 0; C small 80 0 0")
		s.Ships[1].Pose.Y, s.Ships[2].Pose.Y = 43.2+5, -43.2+5
		legal := legalSlides(repositioned(t, s, "A", "barrel-roll right"))
		require.Len(t, legal, 1)
		assert.InDelta(t, 5, legal[0][0], 1e-9)
		assert.InDelta(t, 5, legal[0][1], 1e-9)
	})
	t.Run("1e large decloaking has one place", func(t *testing.T) {
		r := repositioned(t, enginetest.Scene(t, "1e; A large 0 0 0; B small 100 0 0"), "A", "decloak right")
		require.Len(t, r.Options, 1)
		assert.Equal(t, engine.No, r.Options[0].Legal)
		assert.Equal(t, "overlaps B", r.Options[0].Why)
		assert.Equal(t, engine.Yes, repositioned(t, enginetest.Scene(t, "1e; A large 0 0 0"), "A", "decloak right").Options[0].Legal)
	})
}
