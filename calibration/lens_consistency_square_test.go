package calibration_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/calibration"
	"sightline/engine/geom"
)

// Where the lens file's fx and fy cannot both be true, that is said, and nothing is made up
// of a focal length; where both are off by the same, by how much is said only as far as
// derivatives reach.
func TestWhatIsWrongWithTheFocalLengthsIsSaid(t *testing.T) {
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	lens := newRigLens(1, 1920)
	r := &rig{lens: lens, scale: 1, bow: func(x, y float64) float64 { return 0 }}
	r.look(1500, 20*math.Pi/180, 1, 0, 0, 0)
	seen := r.photograph(rand.New(rand.NewPCG(4, 4)), layout, -1)
	with := func(x, y float64) calibration.Intrinsics {
		in := calibration.Intrinsics{Width: 1920, Height: 1080, Fx: x * lens.v[0], Fy: y * lens.v[1], Cx: lens.v[2], Cy: lens.v[3]}
		copy(in.Distortion[:], lens.v[4:])
		return in
	}
	for _, c := range []struct {
		x, y float64
		want string // "" for a table
		not  string
	}{
		{1, 1, "", ""},
		{0.8, 1, `fx and fy of the lens file \([0-9.]+ and [0-9.]+ px\) differ by (19|20|21)\.\d %, as if .* not square`, "longer|shorter"},
		{1.4, 1, `fx and fy of the lens file .* differ by (39|40|41)`, "longer|shorter"},
		{1, 1.05, `fx and fy of the lens file .* differ by (4|5)\.\d`, "longer|shorter"},
		{0.97, 1, `fx and fy of the lens file .* differ by (2|3)`, "of the 8 markers"},
		{1.1, 1.1, `a focal length about \d+ % shorter`, "square|much"},
		{1.5, 1.5, `a focal length much shorter than its file says`, "square|%"},
		{0.6, 0.6, `a focal length much longer than its file says`, "square|%"},
	} {
		in := with(c.x, c.y)
		assert.Equal(t, c.x == c.y, in.Square())
		_, err := calibration.Register(in, layout, seen)
		if c.want == "" {
			assert.NoError(t, err)
			continue
		}
		if assert.ErrorIs(t, err, calibration.ErrMarkers, "%v, %v", c.x, c.y) {
			assert.Regexp(t, c.want, err.Error())
			assert.NotRegexp(t, c.not, err.Error())
		}
	}
}

// Markers that no place of the camera fits do not contradict "the others": there are none.
func TestMarkersThatFitNoPlaceContradictNoOthers(t *testing.T) {
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	lens := newRigLens(1, 1920)
	r := &rig{lens: lens, scale: 1, bow: func(x, y float64) float64 { return 0 }}
	r.look(1500, 20*math.Pi/180, 1, 0, 0, 0)
	in := calibration.Intrinsics{Width: 1920, Height: 1080, Fx: lens.v[0], Fy: lens.v[1], Cx: lens.v[2], Cy: lens.v[3]}
	copy(in.Distortion[:], lens.v[4:])
	rng := rand.New(rand.NewPCG(4, 4))
	photo := r.photograph(rng, layout, -1)
	said := 0
	for range 40 {
		seen := slices.Clone(photo)
		for i := range seen {
			dx, dy := 6*rng.NormFloat64(), 6*rng.NormFloat64()
			for k := range seen[i].Corners {
				seen[i].Corners[k] = seen[i].Corners[k].Add(geom.Pixel{X: dx, Y: dy})
			}
		}
		_, err := calibration.Register(in, layout, seen)
		if m := regexp.MustCompile(`(\d+) of the (\d+) markers that were seen contradict`).FindStringSubmatch(fmt.Sprint(err)); m != nil {
			assert.NotEqual(t, m[1], m[2])
		}
		if err != nil && strings.Contains(err.Error(), "no place of the camera fits the ") {
			said++
		}
	}
	assert.Positive(t, said)
}
