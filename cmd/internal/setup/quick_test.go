package setup_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/setup"
	"sightline/engine/geom"
	"sightline/vision/tablesim"
)

// Without a board, the markers alone give lens and place, with a sigma that holds the truth.
func TestTheQuickWayEstimatesTheLensFromTheMarkers(t *testing.T) {
	b := newBench(t)
	b.do(setup.Intent{Do: setup.Start})
	b.refuses(setup.Intent{Do: setup.Go, Step: setup.Table}, "do the lens first")
	b.do(setup.Intent{Do: setup.Quick})
	assert.Equal(t, setup.Markers, b.m.Wants())
	require.True(t, b.m.State().Table.Quick)

	b.show(b.markers(0, 1, 2, 3, 4, 5))
	s := b.m.State()
	assert.Contains(t, s.Table.Problem, "the picture: 2 of 8 markers are usable")
	for range 12 {
		b.show(b.markers())
	}
	s = b.m.State()
	require.Equal(t, setup.Ready, s.Table.Phase, s.Table.Problem)
	assert.Equal(t, 1, s.Table.Views)
	one, middle := s.Table.FocalSigma, s.Table.MiddleSigma
	require.Positive(t, one)
	off := math.Abs(s.Table.Table.Fx/b.camera.Fx - 1)
	assert.Less(t, off, 3*one, "focal length off by %.4f", off)

	// From another place the markers say more of the lens.
	b.do(setup.Intent{Do: setup.More})
	require.Equal(t, setup.Looking, b.m.State().Table.Phase)
	aside, ok := tablesim.ObliqueCamera(wide, high, 25*geom.Degree, 0)
	require.True(t, ok)
	b.camera = aside
	for range 12 {
		b.show(b.markers())
	}
	s = b.m.State()
	require.Equal(t, setup.Ready, s.Table.Phase, s.Table.Problem)
	assert.Equal(t, 2, s.Table.Views)
	assert.Less(t, s.Table.FocalSigma, one)
	assert.Positive(t, s.Table.MiddleSigma)
	assert.Less(t, s.Table.MiddleSigma, middle)
	assert.InDelta(t, b.camera.Center()[1], s.Table.Table.Center()[1], 25, "the camera's place is the last one")

	b.do(setup.Intent{Do: setup.Save})
	save, ok := b.pending.(setup.SaveTable)
	require.True(t, ok)
	assert.True(t, save.Quick)
	b.m.Saved(save, nil)
	assert.Equal(t, setup.Saved, b.m.State().Table.Phase)
	b.do(setup.Intent{Do: setup.Again})
	assert.True(t, b.m.State().Table.Quick, "the step stays what it was")
}

func TestALensFromABoardEndsTheEstimate(t *testing.T) {
	known := false
	b := newBench(t, func(o *setup.Options) {
		o.Lens = func() (calibration.Intrinsics, bool) { return tablesim.DefaultCamera(wide, high).Intrinsics, known }
	})
	b.do(setup.Intent{Do: setup.Start})
	b.do(setup.Intent{Do: setup.Quick})
	for range 12 {
		b.show(b.markers())
	}
	require.Equal(t, setup.Ready, b.m.State().Table.Phase)
	known = true
	b.do(setup.Intent{Do: setup.Go, Step: setup.Table})
	assert.False(t, b.m.State().Table.Quick)
	assert.Equal(t, setup.Looking, b.m.State().Table.Phase, "the place is found again with the lens")
}
