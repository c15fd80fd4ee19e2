package calibration

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
)

// What a few markers say of the camera's place, and what they leave open, holds where the camera moved by less than would
// show in their places.
func TestAFewMarkersInTheirPlacesSayWhatTheyLeaveOpen(t *testing.T) {
	l := DefaultLayout(MatSide, MatSide)
	for name, ids := range map[string][]int{"one": {1}, "two next to each other": {1, 2}, "two far apart": {1, 5}, "a row": {0, 1, 2}} {
		var worst []float64
		for seed := range uint64(100) {
			rng := rand.New(rand.NewPCG(seed, 3))
			laid := l
			laid.Markers = nil
			for _, m := range l.Markers { // as a hand lays them
				m.Center = m.Center.Add(geom.Point{X: 0.3 * rng.NormFloat64(), Y: 0.3 * rng.NormFloat64()})
				m.Heading += 0.3 * geom.Degree * geom.Angle(rng.NormFloat64())
				m.Z += 0.2 * geom.Length(rng.NormFloat64())
				laid.Markers = append(laid.Markers, m)
			}
			table, err := Register(overMat().Intrinsics, l, see(overMat(), laid, 0.05, rng))
			require.NoError(t, err, name)
			moved := overMat()
			turn, shift := Vec3{0.0003 * rng.NormFloat64(), 0.0003 * rng.NormFloat64()}, Vec3{0.3 * rng.NormFloat64()}
			moved.Extrinsics = moved.Extrinsics.Perturbed(turn, shift)
			var seen []MarkerSighting
			for _, id := range ids {
				s := see(moved, laid, 0.05, rng)[id]
				if seed%2 == 1 { // the card lies the other way round
					c := s.Corners
					s.Corners = [4]geom.Pixel{c[2], c[3], c[0], c[1]}
				}
				seen = append(seen, s)
			}
			few, err := table.RenewFromFew(seen, 2, 100)
			require.NoError(t, err, name)
			assert.Len(t, few.Used, len(ids))
			for _, p := range l.Corners() {
				px, _ := moved.PixelOf(p, 0)
				at, _ := few.PointAt(px, 0)
				a, ok := few.PoseJacobian(p, 0)
				require.True(t, ok)
				c := propagate(a[0][:], a[1][:], few.PoseCovariance)
				d, det := at.Sub(p), c.XX*c.YY-c.XY*c.XY
				worst = append(worst, (c.YY*d.X*d.X-2*c.XY*d.X*d.Y+c.XX*d.Y*d.Y)/det)
			}
		}
		var mean, most float64
		for _, v := range worst {
			mean, most = mean+v/2/float64(len(worst)), math.Max(most, v)
		}
		t.Logf("%s: squared error over variance %.2f in the mean, largest %.1f sigmas", name, mean, math.Sqrt(most))
		assert.Less(t, mean, 1.5, name)
		assert.Less(t, math.Sqrt(most), 5.0, name)
	}
}

func TestAFewMarkersThatSayTooLittleAreRefused(t *testing.T) {
	l := DefaultLayout(MatSide, MatSide)
	seen := see(overMat(), l, 0, nil)
	table, err := Register(overMat().Intrinsics, l, seen)
	require.NoError(t, err)
	_, err = table.RenewFromFew(nil, 1, 3)
	require.ErrorIs(t, err, ErrMarkers)
	assert.ErrorContains(t, err, "none lies where the calibration puts it")
	_, err = table.RenewFromFew(seen[:1], 1, 1)
	require.ErrorIs(t, err, ErrMarkers)
	assert.ErrorContains(t, err, "the one marker that lies where the calibration puts it leaves the mat's worst corner open by ")
	for i := range seen[0].Corners {
		seen[0].Corners[i].X += 5
	}
	_, err = table.RenewFromFew(seen[:1], 1, 1000)
	require.ErrorIs(t, err, ErrMarkers, "it lies elsewhere")
	few, err := table.RenewFromFew([]MarkerSighting{seen[0], seen[1], seen[5]}, 1, 3)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 5}, few.Used)
	assert.Equal(t, table.Hash, few.Hash)
	assert.Greater(t, few.PlaceSigma(), table.PlaceSigma())
}
