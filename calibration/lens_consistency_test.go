package calibration_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
)

// wrongLens counts what comes of tables registered with a focal length that is off.
type wrongLens struct {
	tables, refused, named, namedWrongly int
	points, inside                       int
	sigma                                float64 // sum of the stated ones, mm
}

func (c *wrongLens) try(t *testing.T, rng *rand.Rand, r *rig, lens calibration.Intrinsics, layout calibration.Layout, off float64,
	bump int) {
	seen := r.photograph(rng, layout, bump)
	lens.Fx, lens.Fy = lens.Fx*(1+off), lens.Fy*(1+off)
	c.tables++
	table, err := calibration.Register(lens, layout, seen)
	if err != nil {
		require.ErrorIs(t, err, calibration.ErrMarkers)
		c.refused++
		return
	}
	for _, m := range table.Residuals {
		switch {
		case !m.Used && bump >= 0 && m.ID == layout.Markers[bump].ID:
			c.named++
		case !m.Used:
			c.namedWrongly++
		}
	}
	r.eachPlace(t, rng, table, func(squared float64, sigma geom.Length) {
		if c.points++; squared <= 5.991 {
			c.inside++
		}
		c.sigma += float64(sigma)
	})
}

// eachPlace calls do for 49 places at the height of a base's top, with the squared distance of what a table reads there
// from the truth, in stated sigmas, and the largest of these.
func (r *rig) eachPlace(t *testing.T, rng *rand.Rand, table calibration.Table, do func(squared float64, sigma geom.Length)) {
	u := calibration.DefaultUncertainty
	u.Print, u.Insert, u.Pixel = 0, 0, 0.02
	budget := calibration.NewBudget(table, u)
	for x := 40.0; x < 914; x += 139 {
		for y := 40.0; y < 914; y += 139 {
			px, py := r.pixel(x, y, 4+0.15*rng.NormFloat64())
			got, ok := table.PointAt(geom.Pixel{X: px, Y: py}, 4)
			require.True(t, ok)
			terms, ok := budget.At(got, 4)
			require.True(t, ok)
			dx, dy := got.X-(457.2+r.scale*(x-457.2)), got.Y-(457.2+r.scale*(y-457.2))
			cov := terms.Total(1)
			d2 := (cov.YY*dx*dx - 2*cov.XY*dx*dy + cov.XX*dy*dy) / (cov.XX*cov.YY - cov.XY*cov.XY)
			do(d2, calibration.LargestSigma(cov))
		}
	}
}

func (c *wrongLens) String() string {
	s := fmt.Sprintf("%3.0f %% refused", 100*float64(c.refused)/float64(c.tables))
	if c.points > 0 {
		s += fmt.Sprintf(", of the others %.1f %% inside their 95 %% region, sigma %.2f mm",
			100*float64(c.inside)/float64(c.points), c.sigma/float64(c.points))
	}
	return s
}

// A lens that the markers contradict is refused; where they only suspect it, what is
// stated grows until it holds the truth. Good lenses and bumped markers are not taken for
// that.
func TestAWrongFocalLengthIsRefusedOrStated(t *testing.T) {
	n := max(40, calibration.Rounds(t, 40, 300)) // the shares need forty
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	covs := map[[2]int][]float64{}
	for _, c := range []struct {
		off           float64
		bumped        bool
		least, most   float64 // share of tables refused
		holds         float64 // share of points inside their 95 % region
		withoutStated bool    // the lens file says nothing of its errors
	}{
		{off: 0, most: 0, holds: 0.93},
		{off: 0, bumped: true, most: 0, holds: 0.93},
		{off: 0.01, most: 0.05, holds: 0.93},
		{off: 0.02, most: 0.12, holds: 0.92},
		{off: 0.03, most: 0.35, holds: 0.9},
		{off: 0.05, least: 0.3, most: 1, holds: 0.88},
		{off: 0.1, least: 0.7, most: 1, holds: 0.85},
		{off: -0.1, least: 0.7, most: 1, holds: 0.85},
		{off: 0.4, least: 0.9, most: 1, holds: 0.8},
		{off: 0.4, least: 0.9, most: 1, holds: 0.8, withoutStated: true},
		{off: -0.3, least: 0.9, most: 1, holds: 0.7},
	} {
		t.Run(fmt.Sprintf("%+.0f %%, bumped %v, without %v", 100*c.off, c.bumped, c.withoutStated), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(20, 26))
			var got wrongLens
			for range n {
				r, lens := drawRig(rng, layout, covs)
				if c.withoutStated {
					lens.Covariance = nil
				}
				bump := -1
				if c.bumped {
					bump = (&rigs{}).choose(rng, r, layout)
				}
				got.try(t, rng, r, lens, layout, c.off, bump)
			}
			t.Logf("%v; bumped markers named in %d of %d, others in %d", &got, got.named, n, got.namedWrongly)
			share := float64(got.refused) / float64(n)
			assert.GreaterOrEqual(t, share, c.least)
			assert.LessOrEqual(t, share, c.most)
			if got.tables-got.refused > 4 { // few tables share few errors
				assert.GreaterOrEqual(t, float64(got.inside)/float64(got.points), c.holds)
			}
			if c.off == 0 {
				assert.Zero(t, got.namedWrongly)
			}
			if c.bumped {
				assert.GreaterOrEqual(t, float64(got.named), 0.99*float64(n), "a marker off by 3 mm is named as that, not as a lens")
			}
		})
	}
}

// TestHowWellTheMarkersKnowTheFocalLength prints the table of docs/calibration.md: from
// straight above nothing tells the focal length from the height, aslant the markers do.
func TestHowWellTheMarkersKnowTheFocalLength(t *testing.T) {
	n := calibration.Rounds(t, 5, 100)
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	stated := newRigLens(1, 1920)
	cov := lensCovariance(stated)
	refused := map[float64]int{} // of those 10 % off, by tilt
	for _, height := range []float64{1500, 2000} {
		for _, tilt := range []float64{0, 5, 10, 20} {
			for _, off := range []float64{0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.4} {
				rng := rand.New(rand.NewPCG(1, uint64(height)+uint64(tilt)))
				var c wrongLens
				for range n {
					r := &rig{lens: stated, scale: 1, bow: func(x, y float64) float64 { return 0 }}
					r.look(height, tilt*math.Pi/180, 2*math.Pi*rng.Float64(), 0, 0, 0)
					in := calibration.Intrinsics{Width: stated.w, Height: stated.h, Fx: stated.v[0], Fy: stated.v[1], Cx: stated.v[2],
						Cy: stated.v[3], Covariance: cov}
					copy(in.Distortion[:], stated.v[4:])
					c.try(t, rng, r, in, layout, off, -1)
				}
				t.Logf("height %4.0f mm, tilt %2.0f°, focal length %2.0f %% off: %v", height, tilt, 100*off, &c)
				if off == 0 {
					assert.Zero(t, c.refused, "height %v, tilt %v", height, tilt)
				}
				if off == 0.1 {
					refused[tilt] += c.refused
				}
				if off == 0.4 {
					assert.GreaterOrEqual(t, c.refused, n*9/10, "height %v, tilt %v: the distortion gives it away as well", height, tilt)
				}
			}
		}
	}
	assert.Equal(t, 2*n, refused[20], "aslant, 10 % are always refused")
	assert.Less(t, refused[0], refused[20], "from straight above the camera's height makes up for most of it")
}

// A table laid rougher than stated, or with a bumped marker, and with the right lens, must
// seldom be called a wrong lens: whoever reads that buys a camera where a ruler is wanted.
// Where only four markers are seen nothing tells a bumped one from a lens; what is said
// names both causes.
func TestAGoodLensIsSeldomCalledAWrongOne(t *testing.T) {
	n := calibration.Rounds(t, 60, 1000)
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	for _, c := range []struct {
		rough  float64
		bumped bool
		four   bool
		most   float64 // share called a wrong lens
	}{
		{rough: 1}, {rough: 2, most: 0.01}, {rough: 3, most: 0.01}, {rough: 4, most: 0.02},
		{rough: 1, bumped: true, most: 0.01}, {rough: 3, bumped: true, most: 0.02},
		{rough: 1, four: true, most: 0.01}, {rough: 2, four: true, most: 1}, {rough: 3, four: true, most: 1},
		{rough: 1, four: true, bumped: true, most: 1},
	} {
		t.Run(fmt.Sprintf("rough %g, bumped %v, four %v", c.rough, c.bumped, c.four), func(t *testing.T) {
			tables, refused, lens := goodLenses(t, layout, n, c.rough, c.bumped, c.four)
			t.Logf("%.1f %% of %d refused, %.1f %% as a wrong lens", 100*float64(refused)/float64(tables), tables, 100*float64(lens)/float64(tables))
			assert.LessOrEqual(t, float64(lens), c.most*float64(n)+1)
		})
	}
}

// goodLenses counts how many tables with the right lens are refused, and how many of them
// as a wrong lens.
func goodLenses(t *testing.T, layout calibration.Layout, n int, rough float64, bumped, four bool) (tables, refused, lens int) {
	rng := rand.New(rand.NewPCG(7, uint64(rough)))
	covs := map[[2]int][]float64{}
	corners := []int{0, 2, 5, 7}
	for tables < n {
		r, in := drawRig(rng, layout, covs)
		r.rough = rough
		bump := -1
		switch {
		case bumped && four:
			bump = corners[rng.IntN(4)]
		case bumped:
			bump = (&rigs{}).choose(rng, r, layout)
		}
		seen := r.photograph(rng, layout, bump)
		if four {
			seen = slices.DeleteFunc(seen, func(s calibration.MarkerSighting) bool { return !slices.Contains(corners, s.ID) })
			if len(seen) < 4 {
				continue
			}
		}
		tables++
		_, err := calibration.Register(in, layout, seen)
		if err != nil {
			refused++
		}
		if errors.Is(err, calibration.ErrWrongLens) {
			lens++
			assert.ErrorContains(t, err, "is it the file of this lens")
			assert.ErrorContains(t, err, "do the markers lie where the layout says", "both causes")
			if four {
				assert.Regexp(t, "With [34] markers nothing tells a wrong lens from markers that lie off", err.Error())
			}
			if four && bumped && lens == 1 {
				t.Log(err)
			}
		}
	}
	return tables, refused, lens
}

// From exactly above and without distortion, the height makes up for any focal length:
// there is no contradiction to find, and none is made up.
func TestFromStraightAboveAFocalLengthContradictsNothing(t *testing.T) {
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	flat := rigLens{w: 3840, h: 2160, v: [9]float64{2400, 2400, 1919.5, 1079.5}}
	r := &rig{lens: flat, scale: 1, bow: func(x, y float64) float64 { return 0 }}
	r.look(1800, 0, 0, 0, 0, 0)
	for _, off := range []float64{0, 0.1, -0.2} {
		var seen []calibration.MarkerSighting
		for _, m := range layout.Markers {
			s := calibration.MarkerSighting{ID: m.ID}
			for k, c := range m.Corners() {
				u, v := r.pixel(c.X, c.Y, 0.2)
				s.Corners[k] = geom.Pixel{X: u, Y: v}
			}
			seen = append(seen, s)
		}
		_, err := calibration.Register(calibration.Intrinsics{Width: 3840, Height: 2160, Fx: 2400 * (1 + off), Fy: 2400 * (1 + off),
			Cx: 1919.5, Cy: 1079.5}, layout, seen)
		assert.NoError(t, err, "%v", off)
	}
}

// What the markers suspect is kept with the table, and is not added again when the table
// is registered again.
func TestASuspicionIsKeptAndNotAddedTwice(t *testing.T) {
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	rng := rand.New(rand.NewPCG(4, 4))
	lens := newRigLens(1, 1920)
	r := &rig{lens: lens, scale: 1, bow: func(x, y float64) float64 { return 0 }}
	r.look(1500, 10*math.Pi/180, 1, 0, 0, 0)
	in := calibration.Intrinsics{Width: 1920, Height: 1080, Fx: 1.03 * lens.v[0], Fy: 1.03 * lens.v[1], Cx: lens.v[2], Cy: lens.v[3]}
	copy(in.Distortion[:], lens.v[4:])
	table, err := calibration.Register(in, layout, r.photograph(rng, layout, -1))
	require.NoError(t, err)
	assert.InDelta(t, 0.03, table.FocalDoubt, 0.015)
	require.Len(t, table.Intrinsics.Covariance, 81)
	assert.InEpsilon(t, table.FocalDoubt*in.Fx, math.Sqrt(table.Intrinsics.Covariance[0]), 0.01)
	assert.Nil(t, in.Covariance, "the lens that was given stays as it is")

	file := filepath.Join(t.TempDir(), "table.json")
	require.NoError(t, calibration.SaveTable(file, &table))
	loaded, err := calibration.LoadTable(file)
	require.NoError(t, err)
	assert.Equal(t, table.FocalDoubt, loaded.FocalDoubt)
	again, _, err := loaded.Renew(r.photograph(rng, layout, -1))
	require.NoError(t, err)
	assert.Less(t, math.Sqrt(again.Intrinsics.Covariance[0]), 1.2*math.Sqrt(table.Intrinsics.Covariance[0]))
	assert.Positive(t, again.FocalDoubt, "it is still told")

	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	bad := filepath.Join(t.TempDir(), "bad.json")
	negative := regexp.MustCompile(`"focal_doubt_relative": [0-9.e-]+`).ReplaceAll(raw, []byte(`"focal_doubt_relative": -1`))
	require.NoError(t, os.WriteFile(bad, negative, 0o600))
	_, err = calibration.LoadTable(bad)
	assert.ErrorContains(t, err, "focal_doubt_relative")
}
