package ship

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// The model's derivatives against differences, all along every side of the shortest and of the longest base. Φ is on a
// table: its differences are steps of 1/64 σ, and 3e-5 where the table ends.
func TestTheModelsDerivativesAreRight(t *testing.T) {
	levels := [3]float64{0.2, 0.9, 0.05}
	const sigma, by = 0.6, 0.01
	for _, base := range [...]engine.Base{engine.Small, engine.Huge225} {
		as := token.Token{Code: 7, Base: base}
		worst := map[string]float64{}
		for s := range token.Side(4) {
			half, out := as.HalfAlong(s)
			var m sideModel
			m.print(as, s)
			at := func(a, d, sigma float64, levels [3]float64) (p printed) {
				m.set(levels, sigma)
				m.at(a, d, &p)
				return p
			}
			for a := -half + fitCorner; a < half-fitCorner; a += 0.37 {
				for d := -fitOutside; d < fitInside; d += 0.3 {
					p := at(a, d, sigma, levels)
					compare := func(what string, slope float64, of func(off float64) printed) {
						worst[what] = max(worst[what], math.Abs(slope-(of(by).light-of(-by).light)/(2*by)))
					}
					compare("a", p.da, func(off float64) printed { return at(a+off, d, sigma, levels) })
					compare("d", p.dd, func(off float64) printed { return at(a, d+off, sigma, levels) })
					compare("σ", p.ds, func(off float64) printed { return at(a, d, sigma+off, levels) })
					for k, share := range [...]float64{1 - p.inside, p.inside - p.dark, p.dark} {
						compare("levels", share, func(off float64) printed {
							with := levels
							with[k] += off
							return at(a, d, sigma, with)
						})
					}
					compare("heading", p.turn/half, func(off float64) printed {
						q := geom.Pose{Heading: geom.Angle(off / half)}.Inverse(geom.Point{X: a, Y: out - d})
						return at(q.X, out-q.Y, sigma, levels)
					})
				}
			}
		}
		for what, off := range worst {
			assert.Less(t, off, 0.01, "%v, by %s: light a millimetre", base, what)
		}
		assert.Less(t, worst["levels"], 1e-9, "%v: light is linear in them", base)
	}
}
