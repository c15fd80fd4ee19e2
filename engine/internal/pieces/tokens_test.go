package pieces

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
)

// The pieces of a cut hold the polygon's points in the half plane, and no others.
func TestACutHoldsWhatLiesInTheHalfPlane(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 184))
	several := 0
	for range 2000 {
		g := make([]geom.Point, 3+r.IntN(12))
		for i := range g {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(len(g)))
			k := math.Round(40 * r.Float64())
			g[i] = geom.Point{X: math.Round(k*cos) + 0.25*float64(i%2), Y: math.Round(k * sin)}
		}
		if _, _, crosses := geom.Polygon(g).Crossing(); crosses {
			continue
		}
		n, c := geom.Point{Y: 1}, math.Round(20*r.NormFloat64())
		if r.IntN(2) == 0 {
			n = geom.Point{X: -1}
		}
		cut := Cut(g, n, c)
		if len(cut) > 1 {
			several++
		}
		for range 100 {
			p := geom.Point{X: 45 * (2*r.Float64() - 1), Y: 45 * (2*r.Float64() - 1)}
			in := 0
			for _, q := range cut {
				if geom.Polygon(q).Contains(p) {
					in++
				}
			}
			want := 0
			if n.Dot(p) >= c && geom.Polygon(g).Contains(p) {
				want = 1
			}
			require.Equal(t, want, in, "%v of %v cut by %v, %v: %v", p, g, n, c, cut)
		}
	}
	assert.Greater(t, several, 50)
}
