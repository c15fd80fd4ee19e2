package look

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
)

// The budget adds up to what a ship's covariance states, and only the fit's term shrinks.
func TestTheBudgetIsWhatAShipStates(t *testing.T) {
	table := tableAt(1.02)
	of := func(name string, place geom.Length, ships ...string) *Look {
		return &Look{Name: name, Ships: ships, Base: engine.Small, Known: Known{place, KnownBySay.Turn}, Z: CardTop}
	}
	b, f := NewBudget(table, &Library{Looks: []*Look{of("A1", 0.1, "A1"), of("B1", 0.17, "B1", "B2"), of("B3", 0.12, "B3")}}),
		NewFinder(table, &Library{}, calibration.Uncertainty{})
	for _, p := range []geom.Point{{X: 130, Y: 130}, {X: 20, Y: 240}} {
		terms, ok := b.At(p)
		require.True(t, ok)
		s := Sight{Look: of("B1", 0.17, "B1", "B2"), Pose: geom.Pose{Point: p}}
		cov := f.covariance(&s, true)
		assert.InDelta(t, cov[0], terms.Total(1).XX, 0.02*cov[0])
		assert.InDelta(t, cov[4], terms.Total(1).YY, 0.02*cov[4])
		assert.InDelta(t, terms.Total(1).XX-float64(fitFloor*fitFloor), terms.Total(1_000_000).XX, 1e-6)
	}
	own, _ := NewBudget(table, &Library{Looks: []*Look{of("A1", 0.13, "A1")}}).At(geom.Point{X: 130, Y: 130})
	assert.InDelta(t, 0.13, math.Sqrt(own.Named(TermJig).XX), 1e-9, "the look's own")
	assert.Zero(t, own.Named(TermBorrowed).XX, "no ship has another one's look")
	middle, _ := b.At(geom.Point{X: 130, Y: 130})
	edge, _ := b.At(geom.Point{X: 10, Y: 130})
	assert.Less(t, middle.Named(TermCard).XX, 1e-9, "below the camera a wrong height moves nothing")
	assert.InDelta(t, 120.0/1200*float64(CardTopSigma)*math.Sqrt2, math.Sqrt(edge.Named(TermCard).XX), 0.001)
}
