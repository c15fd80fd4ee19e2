package calibration_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/calibration"
	"sightline/engine/geom"
)

// stated counts how well tables that are not as their files say know the places on them.
type stated struct {
	tables, refused        int
	points, inside, beyond int
	most, sigma            float64
	rough, other, bent     int // tables of which the registration says so
}

// add registers a rig from one picture, and compares 49 places at the bases' tops with the truth.
func (c *stated) add(t *testing.T, rng *rand.Rand, r *rig, lens calibration.Intrinsics, seen []calibration.MarkerSighting,
	layout calibration.Layout) {
	c.tables++
	table, err := calibration.Register(lens, layout, seen)
	if err != nil {
		c.refused++
		return
	}
	for _, says := range []struct {
		n  *int
		so bool
	}{{&c.rough, table.PlacementFactor > 1.4*1.4}, {&c.other, table.OtherLens > 0.5}, {&c.bent, table.BentSigma > 0.3*geom.Millimeter}} {
		if says.so {
			*says.n++
		}
	}
	r.eachPlace(t, rng, table, func(squared float64, sigma geom.Length) {
		d := math.Sqrt(squared)
		c.points++
		if d <= math.Sqrt(5.991) {
			c.inside++
		}
		if d > 4 {
			c.beyond++
		}
		c.most, c.sigma = max(c.most, d), c.sigma+float64(sigma)
	})
}

// TestWhatTheMarkersShowIsStated: where cards are laid rougher than stated, the lens file is another lens's, or the camera shakes
// while its rows are read, the markers' residuals show it, and the places on the mat are stated to be as uncertain as they are.
func TestWhatTheMarkersShowIsStated(t *testing.T) {
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	covs := map[[2]int][]float64{}
	type change func(r *rig, in *calibration.Intrinsics, rng *rand.Rand)
	rough := func(k float64) change { return func(r *rig, _ *calibration.Intrinsics, _ *rand.Rand) { r.rough = k } }
	center := func(dx, dy float64) change { // px of 1080p
		return func(_ *rig, in *calibration.Intrinsics, _ *rand.Rand) {
			in.Cx, in.Cy = in.Cx+dx*float64(in.Width)/1920, in.Cy+dy*float64(in.Width)/1920
		}
	}
	bends := func(k1 float64) change {
		return func(_ *rig, in *calibration.Intrinsics, _ *rand.Rand) { in.Distortion[0] += k1 }
	}
	turned := func(_ *rig, in *calibration.Intrinsics, _ *rand.Rand) { // the picture is turned by half a turn since the lens was calibrated
		in.Cx, in.Cy = float64(in.Width-1)-in.Cx, float64(in.Height-1)-in.Cy
		in.Distortion[2], in.Distortion[3] = -in.Distortion[2], -in.Distortion[3]
	}
	wave := func(px, times float64) change { // sideways, from row to row
		return func(r *rig, in *calibration.Intrinsics, rng *rand.Rand) {
			r.ripple[0] = [4]float64{px * float64(in.Width) / 1920, 0, 2 * math.Pi * times / float64(in.Height), 2 * math.Pi * rng.Float64()}
		}
	}
	for _, c := range []struct {
		name   string
		change change
		inside float64 // share of the places, at least
		beyond float64 // share beyond four sigmas, at most
	}{
		{"as stated", func(*rig, *calibration.Intrinsics, *rand.Rand) {}, 0.94, 0.002},
		{"cards laid to twice the stated sigma", rough(2), 0.87, 0.015},
		{"three times", rough(3), 0.8, 0.015},
		{"lens centre off by 10 px", center(10, 0), 0.88, 0.01},
		{"by 20 px", center(-20, 0), 0.86, 0.025},
		{"by 40 px", center(40, 0), 0.86, 0.05},
		{"picture turned", turned, 0.9, 0.01},
		{"k1 off by 0.01", bends(0.01), 0.85, 0.025},
		{"by 0.02", bends(-0.02), 0.9, 0.01},
		{"by 0.03", bends(0.03), 0.93, 0.01},
		{"by 0.05", bends(-0.05), 0.95, 0.005},
		{"by 0.08", bends(-0.08), 0.95, 0.005},
		{"half a pixel, one wave", wave(0.5, 1), 0.85, 0.025},
		{"1.5 px, half a wave", wave(1.5, 0.5), 0.93, 0.01},
		{"1 px, one wave", wave(1, 1), 0.93, 0.01},
		{"1.5 px, one wave", wave(1.5, 1), 0.93, 0.01},
		{"1 px, two waves", wave(1, 2), 0.93, 0.015},
		{"1.5 px, two waves", wave(1.5, 2), 0.93, 0.015},
		{"1.5 px, three waves", wave(1.5, 3), 0.87, 0.02},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(31, 7))
			var got stated
			for range max(30, calibration.Rounds(t, 30, 400)) {
				r, lens := drawRig(rng, layout, covs)
				c.change(r, &lens, rng)
				got.add(t, rng, r, lens, r.photograph(rng, layout, -1), layout)
			}
			n := float64(max(1, got.points))
			t.Logf("%d of %d refused; %.1f %% of places inside their 95 %% region, %.2f %% beyond 4 sigmas, most %.1f; sigma %.2f mm; "+
				"said to be rough %d, another lens %d, bent %d", got.refused, got.tables, 100*float64(got.inside)/n,
				100*float64(got.beyond)/n, got.most, got.sigma/n, got.rough, got.other, got.bent)
			assert.GreaterOrEqual(t, float64(got.inside)/n, c.inside)
			assert.LessOrEqual(t, float64(got.beyond)/n, c.beyond)
		})
	}
}
