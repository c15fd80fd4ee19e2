package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
	"sightline/engine/scenefile"
)

// unknownScene has A1 facing B1 200 mm ahead, and something unknown round a place.
func unknownScene(x, y float64) engine.Scene {
	return engine.Scene{
		Rules: engine.Rules25, MatWidth: 914.4, MatHeight: 914.4,
		Ships: []engine.Ship{
			{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 400, Y: 200}}},
			{ID: "B1", Player: 2, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 400, Y: 400}}},
		},
		Unknown: []geom.Polygon{{{X: x - 10, Y: y - 10}, {X: x + 10, Y: y - 10}, {X: x, Y: y + 10}}},
	}
}

func obstructionAhead(t *testing.T, s engine.Scene) string {
	t.Helper()
	r, err := engine.Measure(&s, engine.Options{Sigmas: 3})
	require.NoError(t, err)
	for _, a := range r.Pairs[0].Arcs {
		if a.Arc == engine.ArcFront && a.Attack != nil {
			return a.Attack.Obstruction.Verdict
		}
	}
	t.Fatal("no attack in the front arc")
	return ""
}

func TestALineAcrossSomethingUnknownIsNotCalledClear(t *testing.T) {
	assert.Equal(t, "no_view", obstructionAhead(t, unknownScene(400, 300)))
	assert.Equal(t, "never", obstructionAhead(t, unknownScene(500, 300)), "it lies beside the lines")

	s := unknownScene(400, 320)
	s.Obstacles = []engine.Obstacle{{ID: "rock", Kind: "asteroid", Pose: geom.Pose{Point: geom.Point{X: 400, Y: 280}},
		Outline: []geom.Point{{X: -60, Y: -10}, {X: 60, Y: -10}, {X: 60, Y: 10}, {X: -60, Y: 10}}}}
	assert.Equal(t, "must", obstructionAhead(t, s), "a known obstacle obstructs every line, whatever the other thing is")
}

func TestAMovePastSomethingUnknownIsNotCalledClear(t *testing.T) {
	for _, c := range []struct {
		x, y float64
		want engine.Outcome
	}{{400, 300, engine.NoView}, {700, 700, engine.Yes}} {
		s := unknownScene(c.x, c.y)
		r, err := move.Execute(&s, "A1", move.Maneuver{Bearing: move.Straight, Speed: 1}, engine.Options{Sigmas: 3})
		require.NoError(t, err)
		assert.Equal(t, c.want, r.Outcome, "unknown at (%g, %g): %v", c.x, c.y, r.Undecided)
	}
}

func TestUnknownThingsSurviveTheWireForm(t *testing.T) {
	s := unknownScene(400, 300)
	doc, err := scenefile.Marshal(s)
	require.NoError(t, err)
	back, _, err := scenefile.Parse(doc)
	require.NoError(t, err)
	assert.Equal(t, s.Unknown, back[0].Unknown)

	for _, bad := range []string{`[[[0,0],[1,1]]]`, `[[[0,0],[1,1],[1e12,0]]]`, `[1]`, `[[[0]]]`} {
		_, _, err := scenefile.Parse([]byte(`{"version":1,"rules":"2.5","ships":[],"unknown_mm":` + bad + `}`))
		assert.ErrorContains(t, err, "unknown_mm[0]", bad)
	}
}

// blindScene has a blind area in the unknown thing's place.
func blindScene(x, y float64) engine.Scene {
	s := unknownScene(x, y)
	s.Blind, s.Unknown = []engine.BlindArea{{Outline: s.Unknown[0], Why: "glare"}}, nil
	return s
}

func TestALineAcrossABlindAreaIsNotCalledClear(t *testing.T) {
	assert.Equal(t, "no_view", obstructionAhead(t, blindScene(400, 300)))
	assert.Equal(t, "never", obstructionAhead(t, blindScene(500, 300)), "it lies beside the lines")

	s := blindScene(400, 300)
	r, err := move.Execute(&s, "A1", move.Maneuver{Bearing: move.Straight, Speed: 1}, engine.Options{Sigmas: 3})
	require.NoError(t, err)
	assert.Equal(t, engine.NoView, r.Outcome, "a move across it: %v", r.Undecided)
}

func TestBlindAreasSurviveTheWireForm(t *testing.T) {
	s := blindScene(400, 300)
	doc, err := scenefile.Marshal(s)
	require.NoError(t, err)
	assert.Contains(t, string(doc), `"blind_mm":[{"outline_mm":[[390,290],[410,290],[400,310]],"why":"glare"}]`)
	back, _, err := scenefile.Parse(doc)
	require.NoError(t, err)
	assert.Equal(t, s.Blind, back[0].Blind)

	for _, bad := range []string{`[{"outline_mm":[[0,0],[1,1]]}]`, `[{"outline_mm":[[0,0],[1,1],[1e12,0]]}]`, `[[[0,0],[1,1],[0,1]]]`,
		`[{"why":"glare"}]`,
		`[{"outline_mm":[[0,0],[1,1],[0,1]],"reason":"glare"}]`} {
		_, _, err := scenefile.Parse([]byte(`{"version":1,"rules":"2.5","ships":[],"blind_mm":` + bad + `}`))
		assert.ErrorContains(t, err, "blind_mm[0]", bad)
	}
}

// What no one can tell from an obstacle, or would have noticed as one, may keep a ship
// that stands against it from attacking: G175, G177, G178; and from locks: G179.
func TestAPossibleObstacleAtABaseIsNotIgnored(t *testing.T) {
	for _, c := range []struct {
		rules engine.Rules
		x     float64 // of the place, whose left end is 10 mm further left; A1's right side is at 420
		want  []string
	}{
		{engine.Rules25, 431, []string{"perhaps no attack, it cannot be seen: at range 0 of an obstacle, %s (2.5 G178)",
			"perhaps no lock, it cannot be seen: at range 0 of an obstacle that may be a gas cloud, %s (2.5 G179)"}},
		{engine.Rules25, 440, nil},
		{engine.Rules20, 431, []string{"perhaps no attack, it cannot be seen: at range 0 of an obstacle that may be an asteroid, %s (2.0 G177)"}},
		{engine.Rules1e, 425, []string{"perhaps no attack, it cannot be seen: overlaps an obstacle that may be an asteroid, %s (1e G175)"}},
	} {
		for what, s := range map[string]engine.Scene{
			"something unknown": unknownScene(c.x, 200), "a place that is not seen": blindScene(c.x, 200),
		} {
			s.Rules = c.rules
			r, err := engine.Measure(&s, engine.Options{})
			require.NoError(t, err)
			var want, got []string
			for _, w := range c.want {
				want = append(want, fmt.Sprintf(w, what))
			}
			for _, act := range []string{"attack", "lock"} {
				for _, b := range r.Restrictions(act, "A1", "B1") {
					got = append(got, b.Words())
				}
			}
			assert.Equal(t, want, got, "%s at %g in %s", what, c.x, c.rules)
		}
	}
}
