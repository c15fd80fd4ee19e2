package move_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine"
	"sightline/engine/move"
)

func TestManeuversAreReadAndWrittenAlike(t *testing.T) {
	for _, s := range []string{
		"straight 1", "straight 5", "bank left 1", "turn right 3", "koiogran 4", "segnor left 2", "tallon right 3", "tallon left 1 middle",
		"stationary", "reverse straight 1", "reverse bank left 1",
	} {
		m, err := move.ParseManeuver(s)
		assert.NoError(t, err, s)
		assert.Equal(t, s, m.String())
	}
	m, err := move.ParseManeuver("  stationary   0 ")
	assert.NoError(t, err)
	assert.Equal(t, move.Maneuver{}, m)
	for _, s := range []string{
		"", "straight", "straight 0", "straight 6", "straight 1 1", "bank 1", "bank left", "bank left 4", "turn up 1", "koiogran left 1",
		"tallon right 3 centre", "straight 2 left", "reverse", "reverse turn left 1", "reverse bank 1", "stationary 1", "Straight 1.5",
		"straight +1", "straight 01", "barrel-roll left",
	} {
		_, err := move.ParseManeuver(s)
		assert.Error(t, err, s)
	}
	for _, s := range []string{"barrel-roll left", "boost straight", "decloak forward"} {
		a, err := move.ParseAction(s)
		assert.NoError(t, err, s)
		assert.Equal(t, s, a.String())
	}
	for _, s := range []string{"", "barrel-roll", "barrel-roll forward", "boost", "boost forward", "decloak straight"} {
		_, err := move.ParseAction(s)
		assert.Error(t, err, s)
	}
	for _, s := range []string{"straight 1", "bank left 2", "turn right 1 conner_net"} {
		d, err := move.ParseDrop(s)
		assert.NoError(t, err, s)
		assert.Equal(t, s, d.String())
	}
	for _, s := range []string{"", "stationary", "koiogran 1", "straight 1 teapot", "bank left", "reverse straight 1", "tallon left 1"} {
		_, err := move.ParseDrop(s)
		assert.Error(t, err, s)
	}
}

func FuzzManeuver(f *testing.F) {
	for _, s := range []string{"straight 2", "tallon right 3 left", "reverse bank left 1", "stationary", "straight 1 conner net",
		"boost left", "\xff \x00 9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if m, err := move.ParseManeuver(s); err == nil {
			again, err := move.ParseManeuver(m.String())
			if err != nil || again != m || m.Validate() != nil {
				t.Fatalf("%q: %v, read again as %v: %v", s, m, again, err)
			}
			scene := engine.Scene{Rules: engine.Rules25, Ships: []engine.Ship{{ID: "A", Base: engine.Large}}}
			if _, err := move.Execute(&scene, "A", m, engine.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		if d, err := move.ParseDrop(s); err == nil {
			if again, err := move.ParseDrop(d.String()); err != nil || again != d {
				t.Fatalf("%q: %v, read again as %v: %v", s, d, again, err)
			}
		}
		if a, err := move.ParseAction(s); err == nil {
			if again, err := move.ParseAction(a.String()); err != nil || again != a {
				t.Fatalf("%q: %v, read again as %v: %v", s, a, again, err)
			}
		}
	})
}
