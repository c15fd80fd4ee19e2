package obstacle

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/shift"
)

// starry returns a picture of a mat with stars that was pushed.
func starry(t calibration.Table, push *shift.Push, seed uint64) *image.Gray {
	const side, size = 8.0, 50 // a star in each square of so many mm
	place := rand.New(rand.NewPCG(11, 1))
	var stars [size * size]geom.Point
	for k := range stars {
		p := geom.Point{X: (float64(k%size) + place.Float64()) * side, Y: (float64(k/size) + place.Float64()) * side}
		stars[k] = p.Add(push.At(p))
	}
	g := grainy(t, 1.5, 1.5, seed)
	for _, s := range stars {
		px, ok := t.PixelOf(s, 0)
		for y := int(px.Y) - 4; ok && y <= int(px.Y)+4; y++ {
			for x := int(px.X) - 4; x <= int(px.X)+4; x++ {
				if d := math.Hypot(float64(x)-px.X, float64(y)-px.Y); image.Pt(x, y).In(g.Rect) {
					v := float64(g.GrayAt(x, y).Y) + 90*math.Exp(-d*d/2)
					g.Pix[g.PixOffset(x, y)] = uint8(min(v, 240))
				}
			}
		}
	}
	return g
}

func TestAMatThatWasPushedIsFollowed(t *testing.T) {
	f, table := finderOfGrain(t)
	learner := NewBackgroundLearner(table)
	require.NoError(t, learner.Add(vision.Frame{Gray: starry(table, &shift.Push{}, 100)}))
	mat, err := learner.Background()
	require.NoError(t, err)
	f, err = NewFinder(table, f.catalogue, mat, calibration.DefaultUncertainty)
	require.NoError(t, err)
	for n, push := range []shift.Push{
		{}, {By: geom.Point{X: 3, Y: -2}}, {By: geom.Point{X: 5}}, {About: geom.Point{X: 200, Y: 200}, Turn: 0.01}, {},
	} {
		f.compare(vision.Frame{Gray: starry(table, &push, uint64(n))})
		f.coverShips(nil)
		f.weigh(nil)
		assert.Empty(t, f.things(nil, nil), "%+v", push)
		at := geom.Point{X: 330, Y: 250}
		assert.InDelta(t, 0, f.pushed.At(at).Sub(push.At(at)).Norm(), 0.6, "%+v", push)
	}
}
