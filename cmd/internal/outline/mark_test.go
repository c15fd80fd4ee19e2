package outline

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/quick"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/tablesim"
	"sightline/vision/token"
)

// person is someone who marks bases: steady to so many px at each corner of a base, with an eye that sees each base's
// corners a little off, the same way in every try.
type person struct {
	steady, eye float64
	rng         *rand.Rand
}

// marks returns the tries of a person on a base: the frame that lies best on the four corners as the person sees them.
func (h *person) marks(t *testing.T, truth *calibration.Camera, table *calibration.Table, base engine.Base, pose geom.Pose,
	tries int) (out []try) {
	t.Helper()
	w, l := base.Size()
	x, y := float64(w)/2, float64(l)/2
	var corners [4]geom.Pixel
	own := [4]geom.Point{{X: -x, Y: y}, {X: x, Y: y}, {X: x, Y: -y}, {X: -x, Y: -y}}
	off := func(p geom.Pixel, sigma float64) geom.Pixel {
		return p.Add(geom.Pixel{X: sigma * h.rng.NormFloat64(), Y: sigma * h.rng.NormFloat64()})
	}
	for i, c := range own {
		px, ok := truth.PixelOf(pose.Transform(c), token.BaseTop)
		require.True(t, ok)
		corners[i] = off(px, h.eye)
	}
	for range tries {
		var middle geom.Point
		var sin, cos float64
		var at [4]geom.Point
		for i := range corners {
			var ok bool
			at[i], ok = table.PointAt(off(corners[i], h.steady), token.BaseTop)
			require.True(t, ok)
			middle = middle.Add(at[i].Mul(0.25))
		}
		for i, c := range own {
			d := at[i].Sub(middle)
			// Clockwise from the table's y.
			sin, cos = sin+d.X*c.Y-d.Y*c.X, cos+d.X*c.X+d.Y*c.Y
		}
		heading := geom.Angle(math.Atan2(sin, cos)).Normalized()
		out = append(out, try{middle.X, middle.Y, heading.Degrees()})
	}
	return out
}

// tally gathers errors over stated sigmas.
type tally struct{ place, turn, n, far, square float64 }

func (c *tally) add(p *placed, truth geom.Pose) {
	d := p.pose.Sub(truth.Point)
	for _, z := range [2]float64{d.X / math.Sqrt(p.all[0]), d.Y / math.Sqrt(p.all[4])} {
		c.place, c.far = c.place+z*z, max(c.far, math.Abs(z))
	}
	z := float64((p.pose.Heading - truth.Heading).Signed()) / math.Sqrt(p.all[8])
	c.turn, c.far = c.turn+z*z, max(c.far, math.Abs(z))
	c.square += d.X*d.X + d.Y*d.Y
	c.n++
}

func (c *tally) report(t *testing.T, name string) {
	place, turn := math.Sqrt(c.place/(2*c.n)), math.Sqrt(c.turn/c.n)
	t.Logf("%s: error over sigma %.2f rms in place, %.2f in heading, largest %.1f; place off by %.2f mm rms an axis; %.0f bases",
		name, place, turn, c.far, math.Sqrt(c.square/(2*c.n)), c.n)
	for _, v := range [2]float64{place, turn} {
		assert.LessOrEqual(t, v, 1.1, name)
		assert.GreaterOrEqual(t, v, 0.4, name)
	}
	assert.LessOrEqual(t, c.far, 5.0, name)
}

// TestMarkedBasesLieWithinWhatIsStated: people of four hands mark bases twice each on simulated tables, through the true
// calibration, and on photographs that are calibrated by the mat's corners and edges as they point at them.
func TestMarkedBasesLieWithinWhatIsStated(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 2))
	for _, c := range []struct {
		name  string
		scale int
		photo bool
	}{{"1080p", 1, false}, {"4K", 2, false}, {"a photograph of 1080p", 1, true}, {"a photograph of 4K", 2, true}} {
		var all tally
		seeds := uint64(30)
		if testing.Short() {
			seeds = 6
		}
		for seed := range seeds {
			table := tablesim.RandomTableWithHuge(41000+seed, 1920*c.scale, 1080*c.scale, 1)
			known := calibration.Table{Camera: table.Camera, Layout: table.Layout}
			if c.photo {
				known = pointedAt(t, rng, &table.Camera, table.Layout)
			}
			h := person{steady: []float64{0.4, 0.6, 0.8, 1}[seed%4], eye: 0.4, rng: rng}
			var marks []mark
			var truths []geom.Pose
			for _, s := range table.Scene.Ships {
				if s.Base == engine.Small || s.Base == engine.Medium || s.Base == engine.Large {
					marks = append(marks, mark{s.ID, s.Base.String(), h.marks(t, &table.Camera, &known, s.Base, s.Pose, 2)})
					truths = append(truths, s.Pose)
				}
			}
			placed, _, err := place(&known, marks)
			require.NoError(t, err)
			for i := range placed {
				all.add(&placed[i], truths[i])
			}
		}
		all.report(t, c.name)
	}
}

// pointedAt is the calibration of a photograph by the mat's corners and two points of each edge.
func pointedAt(t *testing.T, rng *rand.Rand, truth *calibration.Camera, layout calibration.Layout) calibration.Table {
	t.Helper()
	var at []geom.Pixel
	add := func(p geom.Point) {
		px, ok := truth.PixelOf(p.Add(geom.Point{X: quick.MatSigma * rng.NormFloat64(), Y: quick.MatSigma * rng.NormFloat64()}), 0)
		require.True(t, ok)
		at = append(at, px.Add(geom.Pixel{X: quick.ClickSigma * rng.NormFloat64(), Y: quick.ClickSigma * rng.NormFloat64()}))
	}
	mat := layout.Corners()
	for _, p := range mat {
		add(p)
	}
	for k, from := range mat {
		for i := range 2 {
			add(from.Lerp(mat[(k+1)%4], (float64(i)+0.3+0.4*rng.Float64())/2))
		}
	}
	in, err := quick.Corners(layout.Width, layout.Height, at, 0, truth.Width, truth.Height)
	require.NoError(t, err)
	s, err := quick.Solve(in)
	require.NoError(t, err)
	return s.Table
}

// A hand that does not find the same place twice is believed less, one that was tried on many bases is known.
func TestTriesSayHowSteadyAHandIs(t *testing.T) {
	cam := tablesim.DefaultCamera(1920, 1080)
	table := calibration.Table{Camera: cam, Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)}
	tries := func(apart float64) []mark {
		var out []mark
		for i, id := range []string{"A1", "A2", "A3", "B1", "B2", "B3"} {
			x := 200 + 80*float64(i)
			out = append(out, mark{id, "small", []try{{x, 300, 10}, {x + apart, 300 - apart, 10 + apart}}})
		}
		return out
	}
	sure, steady, err := place(&table, tries(0.1))
	require.NoError(t, err)
	unsure, shaky, err := place(&table, tries(3))
	require.NoError(t, err)
	assert.Equal(t, leastSigma, steady)
	assert.Greater(t, shaky, 1.5)
	small, _ := sure[0].sigma()
	large, _ := unsure[0].sigma()
	assert.Greater(t, large, 1.5*small)
	_, once, err := place(&table, []mark{{"A1", "small", []try{{200, 300, 10}}}})
	require.NoError(t, err)
	assert.InDelta(t, priorSigma, once, 1e-9, "one try says nothing of the hand")
	halfTurn, _, err := place(&table, []mark{{"A1", "small", []try{{200, 300, 359.9}, {200, 300, 0.3}}}})
	require.NoError(t, err)
	assert.InDelta(t, 0.1, halfTurn[0].pose.Heading.Degrees(), 1e-6)
}

func TestMarksThatMakeNoSenseAreRefused(t *testing.T) {
	cam := tablesim.DefaultCamera(1920, 1080)
	table := calibration.Table{Camera: cam, Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)}
	at := []try{{200, 300, 10}}
	for says, marks := range map[string][]mark{
		"marked twice":     {{"A1", "small", at}, {"A1", "large", at}},
		"1 to 10 tries":    {{"A1", "small", nil}},
		"expected A1":      {{"Z9", "small", at}},
		"expected small":   {{"A1", "tiny", at}},
		"off the mat":      {{"A1", "small", []try{{-20, 300, 0}}}},
		"tries lie 60 mm":  {{"A1", "small", []try{{200, 300, 10}, {260, 300, 10}}}},
		"A1: its tries":    {{"A1", "small", []try{{200, 300, 10}, {200, 300, 100}}}},
		"point different":  {{"A1", "small", []try{{200, 300, 10}, {200, 300, 190}}}},
		"in millimetres":   {{"A1", "small", []try{{math.NaN(), 300, 10}}}},
		"at most 40 ships": make([]mark, 41),
	} {
		_, _, err := place(&table, marks)
		assert.ErrorContains(t, err, says)
	}
}

// The wire frame's upper square is the outline that is measured, and its guides stand out as the rules have them.
func TestTheWireFrameIsTheBase(t *testing.T) {
	profile := engine.Nominal()
	for _, b := range []engine.Base{engine.Small, engine.Medium, engine.Large} {
		w, l := profile.Size(b)
		top, front := 0, 0.0
		for _, one := range wiresOf(&profile, engine.Rules25, b) {
			for _, p := range one.Points {
				assert.LessOrEqual(t, p[2], float64(token.BaseTop))
				assert.LessOrEqual(t, math.Abs(p[0]), float64(w)/2+1e-9)
				front = max(front, p[1])
				if one.Kind == "top" {
					top++
					assert.InDelta(t, float64(w)/2, math.Abs(p[0]), 1e-9)
					assert.InDelta(t, float64(l)/2, math.Abs(p[1]), 1e-9)
				}
			}
		}
		assert.Equal(t, 5, top)
		assert.InDelta(t, float64(l)/2+float64(engine.GuideReach(b)), front, 1e-9)
	}
}

// A proposal climbs onto the edges of a base that the picture shows.
func TestAProposalFindsTheEdges(t *testing.T) {
	table := tablesim.RandomTable(7, 1920, 1080)
	table.Minis = nil
	f, _, err := table.Render()
	require.NoError(t, err)
	known := calibration.Table{Camera: table.Camera, Layout: table.Layout}
	n, better := 0, 0
	for _, s := range table.Scene.Ships {
		from := try{s.Pose.X + 0.9, s.Pose.Y - 0.7, s.Pose.Heading.Degrees() + 0.8}
		got := propose(f.Gray, &known, s.Base, from)
		n++
		if got.pose().Distance(s.Pose.Point) < from.pose().Distance(s.Pose.Point) {
			better++
		}
		assert.LessOrEqual(t, math.Abs(got.X-from.X), snapReach+1e-9)
	}
	assert.GreaterOrEqual(t, 10*better, 7*n, "%d of %d proposals are better than where they began", better, n)
}
