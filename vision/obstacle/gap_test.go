package obstacle

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine"
	"sightline/engine/geom"
)

// What two bases hide of a square counts as noticed: of a shadow that is as narrow as a square nothing was said.
func TestADarkGapBetweenTwoBasesIsBlind(t *testing.T) {
	f, table := finderOfGrain(t)
	for _, c := range []struct {
		wide, light float64
		blind       bool
	}{{40, 0.05, true}, {15, 0.05, true}, {12, 0.05, true}, {15, 1, false}, {12, 1, false}} {
		gap := geom.Polygon{{X: 200 - c.wide/2, Y: 170}, {X: 200 + c.wide/2, Y: 170}, {X: 200 + c.wide/2, Y: 230}, {X: 200 - c.wide/2, Y: 230}}
		bases := []geom.Polygon{square(180-c.wide/2, 200, 20), square(220+c.wide/2, 200, 20)}
		lay(f, table, bases, gap, func(geom.Point) float64 { return c.light })
		f.things(nil, nil)
		assert.Equal(t, c.blind, slices.ContainsFunc(f.blind(nil, nil), func(b engine.BlindArea) bool {
			return b.Outline.Contains(geom.Point{X: 200, Y: 200})
		}), "%+v", c)
	}
}
