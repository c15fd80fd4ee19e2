package accuracy

import (
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/locate"
	"sightline/vision/obstacle"
	"sightline/vision/tablesim"
	"sightline/vision/token"
)

// clutterTable is a random table on which nothing lies but what a game strews about:
// tokens, dials, dice, cards, templates, and in one of three a hand.
func clutterTable(seed uint64) *tablesim.Table {
	rng := rand.New(rand.NewPCG(seed, 0x636c7574746572))
	t := tablesim.RandomTable(seed, 1920, 1080)
	t.Scene.Ships, t.Scene.Obstacles, t.Minis, t.Heights, t.Clutter = nil, nil, nil, nil, nil
	t.Look.Mat = [...]tablesim.MatStyle{tablesim.MatStars, tablesim.MatStars, tablesim.MatPlain, tablesim.MatIce}[rng.IntN(4)]
	kinds := [...]tablesim.Clutter{
		{Width: 20, Length: 20, Height: 2},              // a square token
		{Width: 20, Length: 20, Height: 2, Corners: 24}, // a round one
		{Width: 22, Length: 22, Height: 2, Corners: 6},  // a charge
		{Width: 50, Length: 50, Height: 5, Corners: 24}, // a dial
		{Width: 12, Length: 12, Height: 12},             // a die
		{Width: 19, Length: 19, Height: 19, Corners: 8}, // a game's own die
		{Width: 63, Length: 88, Height: 0.5},            // a card
		{Width: 41, Length: 63, Height: 0.5},            // a small card
		{Width: 20, Length: 40, Height: 2},              // a template
		{Width: 20, Length: 120, Height: 2},             // a long one
		{Width: 20, Length: 300, Height: 3},             // the range ruler
		{Width: 40, Length: 40, Height: 4},              // what is as large as a base
		{Width: 60, Length: 60, Height: 4},              // and as a medium one
	}
	side := float64(calibration.MatSide)
	for range 12 + rng.IntN(5) {
		c := kinds[rng.IntN(len(kinds))]
		c.Pose = geom.Pose{Point: geom.Point{X: side * rng.Float64(), Y: side * rng.Float64()}, Heading: geom.Angle(2 * math.Pi * rng.Float64())}
		shade := func() uint8 { return uint8(20 + rng.IntN(236)) }
		if c.Color = (color.RGBA{shade(), shade(), shade(), 255}); rng.IntN(3) == 0 {
			c.Color = color.RGBA{250, 250, 248, 255} // white paper, as of a token's keyline
		}
		t.Clutter = append(t.Clutter, c)
	}
	if rng.IntN(3) == 0 {
		t.Hands = []tablesim.Hand{{Player: 1 + rng.IntN(2), Tip: geom.Point{X: side * (0.2 + 0.6*rng.Float64()),
			Y: side * (0.2 + 0.6*rng.Float64())}, Z: 40}}
	}
	return t
}

// invented counts what was made of tables on which no ship and no obstacle lies.
type invented struct{ pictures, things, ships, bases, obstacles, blind int }

func (n *invented) add(t *testing.T, name string, got vision.Located) {
	n.pictures++
	n.things += len(got.Scene.Unknown)
	n.ships += len(got.Scene.Ships)
	n.obstacles += len(got.Scene.Obstacles)
	if got.Obstacles != nil && got.Obstacles.Unseen != "" {
		n.blind++
	}
	for _, s := range got.Scene.Ships {
		t.Errorf("%s: found %s at (%.0f, %.0f)", name, s.ID, s.Pose.X, s.Pose.Y)
	}
	if got.Obstacles != nil {
		n.bases += len(got.Obstacles.Bases)
		for _, b := range got.Obstacles.Bases {
			t.Errorf("%s: found a %v base without a code at (%.0f, %.0f)", name, b.Base, b.Pose.X, b.Pose.Y)
		}
	}
	for _, o := range got.Scene.Obstacles {
		t.Errorf("%s: found %s at (%.0f, %.0f)", name, o.ID, o.Pose.X, o.Pose.Y)
	}
}

func (n *invented) report(t *testing.T, what string) {
	t.Logf("%s: %d pictures: %d ships, %d bases without a code and %d obstacles invented, %d unknown things, %d pictures not watched for "+
		"obstacles", what, n.pictures, n.ships, n.bases, n.obstacles, n.things, n.blind)
	assert.Positive(t, n.pictures)
}

// learntFrom learns an empty mat from one picture.
func learntFrom(t *testing.T, table calibration.Table, f vision.Frame) *obstacle.Background {
	t.Helper()
	learner := obstacle.NewBackgroundLearner(table)
	require.NoError(t, learner.Add(f))
	mat, err := learner.Background()
	require.NoError(t, err)
	return mat
}

// TestClutterIsNeitherShipNorObstacle: among dials, templates, tokens, dice, cards and hands
// there is nothing to measure. What lies on the mat may be unknown.
func TestClutterIsNeitherShipNorObstacle(t *testing.T) {
	notShort(t)
	var n invented
	seeds := []uint64{9} // a plain card's end was read as a side of A3
	for seed := range uint64(scenes(t, 4, 100)) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		table := clutterTable(7000 + seed)
		empty := *table
		empty.Clutter, empty.Hands, empty.Shot = nil, nil, 1
		calibrated := calibration.Table{Camera: table.Camera, Layout: table.Layout}
		bare, _, err := empty.Render()
		require.NoError(t, err)
		// The obstacles that it might be taken for: random lumps.
		c, err := catalogue.Of(tablesim.RandomTable(9000+seed, 1920, 1080).Scene.Obstacles)
		require.NoError(t, err)
		l, err := locate.New(calibrated, locate.Options{Catalogue: c, Background: learntFrom(t, calibrated, bare)})
		require.NoError(t, err)
		f, _, err := table.Render()
		require.NoError(t, err)
		got, err := l.Locate(f)
		require.NoError(t, err)
		n.add(t, "simulated clutter", got)
	}
	n.report(t, "simulated clutter")
}

// TestClutterRendered does the same on photorealistic pictures: SIGHTLINE_CLUTTER names
// their folder, with the empty table of p241 in e241 (docs/accuracy.md).
func TestClutterRendered(t *testing.T) {
	root := os.Getenv("SIGHTLINE_CLUTTER")
	if root == "" {
		t.Skip("SIGHTLINE_CLUTTER names no folder of rendered clutter: see docs/accuracy.md")
	}
	d := markerDetector(t)
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	catalogue := publishedCatalogue(t)
	var n invented
	for _, truth := range renderedTruths(t, root) {
		dir := filepath.Dir(truth)
		name := filepath.Base(filepath.Dir(dir))
		r, f := readRendered(t, dir)
		require.Empty(t, r.Ships, name)
		require.Empty(t, r.Obstacles, name)
		table := register(t, d, r.intrinsics(), layout, f)
		o := locate.Options{}
		if empty := filepath.Join(root, "e"+strings.TrimPrefix(name, "p"), filepath.Base(dir), "image.jpg"); fileExists(empty) {
			o.Catalogue, o.Background = catalogue, learntFrom(t, table, readPicture(t, empty))
		}
		l, err := locate.New(table, o)
		require.NoError(t, err)
		got, err := l.Locate(f)
		require.NoError(t, err)
		t.Logf("%s: obstacles looked for: %v, %d unknown things", name, o.Background != nil, len(got.Scene.Unknown))
		n.add(t, name, got)
	}
	n.report(t, "photorealistic clutter")
}

func fileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// identityTally is what was read of ships under one kind of conditions.
type identityTally struct{ pictures, views, found, whole, wholeFound, wrong int }

// disturbances spread the ships' views over what a camera over a table meets.
var disturbances = []struct {
	name   string
	change func(*rand.Rand, *tablesim.Table)
}{
	{"as usual", func(*rand.Rand, *tablesim.Table) {}},
	{"dim and noisy", func(r *rand.Rand, t *tablesim.Table) {
		t.Look.Light, t.Look.FullWell, t.Look.ReadNoise = 0.15+0.2*r.Float64(), 1200, 0.006
	}},
	{"overexposed", func(r *rand.Rand, t *tablesim.Table) { t.Look.Light = 1.1 + 0.9*r.Float64() }},
	{"blurred", func(r *rand.Rand, t *tablesim.Table) { t.Look.Blur = 0.9 + 0.8*r.Float64() }},
	{"hard shadows", func(r *rand.Rand, t *tablesim.Table) {
		t.Look.Shadow, t.Look.Spread = 0.75+0.15*r.Float64(), 0.02
		t.Look.Slope = geom.Point{X: 1.2*r.Float64() - 0.6, Y: 1.2*r.Float64() - 0.6}
	}},
	{"hands", func(r *rand.Rand, t *tablesim.Table) {
		for p := range 2 {
			t.Hands = append(t.Hands, tablesim.Hand{Player: p + 1, Tip: geom.Point{X: 150 + 600*r.Float64(), Y: 250 + 400*r.Float64()},
				Z: geom.Length(30 + 30*r.Float64())})
		}
	}},
	{"large miniatures", func(r *rand.Rand, t *tablesim.Table) {
		for id, m := range t.Minis {
			m.Width, m.Length = m.Width*1.35, m.Length*1.35
			t.Minis[id] = m
		}
	}},
	{"light mat, clear bases", func(r *rand.Rand, t *tablesim.Table) {
		t.Look.Mat, t.Look.Plastic = tablesim.MatIce, tablesim.PlasticClear
	}},
}

// onceMisread are pictures in which a ship was given a wrong place or name, before a keyline had to
// end at its corners (2026-11-21): a rock's texture read as a side, medium bases read as
// small ones. In picture 6, A15 was read turned round and a cell further on.
var onceMisread = []int{6, 11, 142, 147}

// TestShipViewsAreNeverMisread reads thousands of simulated ships, lights, blurs, noises,
// tilts and covers, and holds the reader to never giving one another's name.
// SIGHTLINE_VIEWS=FROM:TO renders those pictures of it, in pieces that a machine can spare.
func TestShipViewsAreNeverMisread(t *testing.T) {
	notShort(t)
	from, to := pictureRange(t, scenes(t, len(disturbances), 480))
	sum := make([]identityTally, len(disturbances))
	var seeds []int
	for seed := from; seed < to; seed++ {
		seeds = append(seeds, seed)
	}
	for _, seed := range onceMisread {
		if seed >= to {
			seeds = append(seeds, seed)
		}
	}
	for _, seed := range seeds {
		k := seed % len(disturbances)
		table := tablesim.RandomTable(uint64(20000+seed), 1920, 1080)
		rng := rand.New(rand.NewPCG(uint64(seed), 0x7669657773))
		disturbances[k].change(rng, table)
		f, truth, err := table.Render()
		require.NoError(t, err)
		l, err := locate.New(calibration.Table{Camera: table.Camera, Layout: table.Layout}, locate.Options{})
		require.NoError(t, err)
		got, err := l.Locate(f)
		require.NoError(t, err)
		sum[k].add(t, seed, truth, got.Scene.Ships)
	}
	var all identityTally
	for k, s := range sum {
		t.Logf("%-22s %3d pictures, %4d ship-views: %4d found (%.1f %%), %d of %d with a whole side, %d wrong", disturbances[k].name, s.pictures,
			s.views, s.found, 100*float64(s.found)/float64(max(s.views, 1)), s.wholeFound, s.whole, s.wrong)
		all.pictures, all.views, all.found, all.whole, all.wholeFound, all.wrong = all.pictures+s.pictures, all.views+s.views, all.found+s.found,
			all.whole+s.whole, all.wholeFound+s.wholeFound, all.wrong+s.wrong
	}
	t.Logf("all: %+v", all)
	assert.Zero(t, all.wrong, "wrong identities")
	assert.GreaterOrEqual(t, float64(all.found), 0.8*float64(all.views))
}

// slidHuge is a picture in which a huge ship was placed two words of cells, 65 mm, too far ahead: one corner alone, which its
// miniature feigned, passed for its end (2026-11-22).
const slidHuge = 278

// turnedHuge is the picture in which a miniature ended a huge ship's front where a small one would end.
const turnedHuge = 302

// TestHugeShipsAreNeverMisread is the same for tables with two huge ships, one of each size, under
// the same conditions.
func TestHugeShipsAreNeverMisread(t *testing.T) {
	notShort(t)
	from, to := pictureRange(t, scenes(t, len(disturbances), 80))
	var all, huge identityTally
	var seeds []int
	for seed := from; seed < to; seed++ {
		seeds = append(seeds, seed)
	}
	for _, seed := range []int{slidHuge, turnedHuge} {
		if to <= seed {
			seeds = append(seeds, seed)
		}
	}
	for _, seed := range seeds {
		k := seed % len(disturbances)
		table := tablesim.RandomTableWithHuge(uint64(40000+seed), 1920, 1080, 2)
		disturbances[k].change(rand.New(rand.NewPCG(uint64(seed), 0x68756765)), table)
		f, truth, err := table.Render()
		require.NoError(t, err)
		l, err := locate.New(calibration.Table{Camera: table.Camera, Layout: table.Layout}, locate.Options{})
		require.NoError(t, err)
		got, err := l.Locate(f)
		require.NoError(t, err)
		all.add(t, seed, truth, got.Scene.Ships)
		truth.Ships = slices.DeleteFunc(truth.Ships, func(s tablesim.ShipTruth) bool { return token.Square(s.Base) })
		huge.add(t, seed, truth, slices.DeleteFunc(got.Scene.Ships, func(s engine.Ship) bool { return token.Square(s.Base) }))
	}
	t.Logf("all: %+v", all)
	t.Logf("huge: %+v", huge)
	assert.Zero(t, all.wrong, "wrong identities")
	assert.GreaterOrEqual(t, float64(huge.found), 0.7*float64(huge.views))
}

// add compares the ships of one picture: a name on another's place, or on none, is wrong.
func (s *identityTally) add(t *testing.T, seed int, truth tablesim.Truth, got []engine.Ship) {
	s.pictures++
	right := map[string]bool{}
	for _, g := range got {
		if w, ok := truth.Ship(g.ID); ok && w.Base == g.Base && w.Pose.Distance(g.Pose.Point) < 3 &&
			w.Pose.Heading.Distance(g.Pose.Heading) < 2*deg {
			right[g.ID] = true
			continue
		}
		s.wrong++
		w, _ := truth.Ship(g.ID)
		t.Errorf("picture %d: %s %v at (%.2f, %.2f) heading %.2f°, visible %.2f, is not there: it is %v at (%.2f, %.2f) heading %.2f°", seed,
			g.ID, g.Base, g.Pose.X, g.Pose.Y, g.Pose.Heading/deg, g.Visible, w.Base, w.Pose.X, w.Pose.Y, w.Pose.Heading/deg)
	}
	for _, w := range truth.Ships {
		s.views++
		if right[w.ID] {
			s.found++
		}
		if w.WholeSide() {
			s.whole++
			if right[w.ID] {
				s.wholeFound++
			}
		}
	}
}

const deg = math.Pi / 180

// pictureRange is 0 to all, or what SIGHTLINE_VIEWS says.
func pictureRange(t *testing.T, all int) (from, to int) {
	t.Helper()
	v := os.Getenv("SIGHTLINE_VIEWS")
	if v == "" {
		return 0, all
	}
	_, err := fmt.Sscanf(v, "%d:%d", &from, &to)
	require.NoError(t, err, "SIGHTLINE_VIEWS: expected FROM:TO")
	return from, to
}

// TestShipsAreReadByEveryCamera does so with each of the simulator's camera models: shoulders, bloom, sharpening, colour mosaic, local
// tone, bands and compression. A ship with a whole side in view is read in 95 % of the views.
func TestShipsAreReadByEveryCamera(t *testing.T) {
	names := tablesim.CameraNames()
	if testing.Short() {
		names = names[:1]
	}
	for _, name := range names {
		var sum identityTally
		for seed := range scenes(t, 3, 40) {
			table := tablesim.RandomTable(uint64(60000+seed), 1920, 1080)
			model, err := tablesim.CameraNamed(name)
			require.NoError(t, err)
			table.Model = &model
			f, truth, err := table.Render()
			require.NoError(t, err)
			l, err := locate.New(calibration.Table{Camera: table.Camera, Layout: table.Layout}, locate.Options{})
			require.NoError(t, err)
			got, err := l.Locate(f)
			require.NoError(t, err)
			sum.add(t, seed, truth, got.Scene.Ships)
		}
		t.Logf("%-12s %d pictures, %d of %d found, %d of %d with a whole side, %d wrong", name, sum.pictures, sum.found, sum.views,
			sum.wholeFound, sum.whole, sum.wrong)
		assert.Zero(t, sum.wrong, "%s: wrong identities", name)
		assert.GreaterOrEqual(t, float64(sum.wholeFound), 0.95*float64(sum.whole), "%s: ships with a whole side in view", name)
	}
}
