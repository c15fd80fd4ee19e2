package accuracy

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
)

// stockPictures lists the folders tN-SIZE of photorealistic tables whose ships carry nothing of ours: those beside the
// project, and those in the folders that SIGHTLINE_STOCK lists. Beside tN-SIZE stands emptyN-SIZE, the same mat bare, or nothing.
func stockPictures(t *testing.T) (dirs []string) {
	t.Helper()
	for _, root := range append([]string{sharedDir(t, "stock")}, filepath.SplitList(os.Getenv("SIGHTLINE_STOCK"))...) {
		found, err := filepath.Glob(filepath.Join(root, "t[0-9]*-*", "truth.json"))
		require.NoError(t, err)
		require.NotEmpty(t, found, "pictures in %s", root)
		for _, f := range found {
			dirs = append(dirs, filepath.Dir(f))
		}
	}
	return dirs
}

// table is the table as the truth has it: a calibration without a fault.
func (r *rendered) table() calibration.Table {
	return calibration.Table{
		Camera: calibration.Camera{Intrinsics: r.intrinsics(), Extrinsics: calibration.Extrinsics{R: r.Camera.R, T: r.Camera.T}},
		Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
	}
}

// TestEdgesOfStockBases: the edges of a base out of the publisher's box are those of its plastic, of its frame or of its
// card, nobody can say which. Whatever is believed of them lies within four of its stated sigmas, from the last
// pose (up to 2 mm and 3° off) and from a click (up to 7 mm off, turned any way).
func TestEdgesOfStockBases(t *testing.T) {
	last := vision.EdgeHint{Reach: 3 * geom.Millimeter, Turn: 8 * geom.Degree}
	click := vision.EdgeHint{Reach: 12 * geom.Millimeter, Turn: math.Pi}
	tally := map[string]*baseTally{}
	for _, dir := range stockPictures(t) {
		r, f := readRendered(t, dir)
		l, err := vision.NewLocator(r.table(), drawnTokens())
		require.NoError(t, err)
		name := filepath.Base(dir)
		class := name[strings.LastIndexByte(name, '-')+1:]
		rng := rand.New(rand.NewPCG(13, uint64(len(tally))))
		u := func(most float64) float64 { return most * (2*rng.Float64() - 1) }
		for _, w := range r.bases(t) {
			for kind, hint := range map[string]vision.EdgeHint{"the last pose": last, "a click": click} {
				b := tally[class+", from "+kind]
				if b == nil {
					b = &baseTally{}
					tally[class+", from "+kind] = b
				}
				off, turn := 2.0, 3*deg
				if hint.Turn == math.Pi {
					off, turn = 7, math.Pi
				}
				hint.Base, hint.Pose = w.base, w.pose
				hint.Pose.X, hint.Pose.Y = hint.Pose.X+u(off), hint.Pose.Y+u(off)
				hint.Pose.Heading = (hint.Pose.Heading + geom.Angle(u(turn))).Normalized()
				b.addEdges(t, l, f, name, w, hint)
			}
		}
	}
	for class, b := range tally {
		b.report(t, class)
		assert.Zero(t, b.ours, "%s: cards taken for ours", class)
		assert.LessOrEqual(t, rms(b.normalised), 1.1, class)
	}
}

// TestStockBasesByDifference does so for the bases that nobody has named, where the empty mat was learnt.
func TestStockBasesByDifference(t *testing.T) {
	notShort(t)
	tally := map[string]*baseTally{}
	for _, dir := range stockPictures(t) {
		empty := filepath.Join(filepath.Dir(dir), "empty"+strings.TrimPrefix(filepath.Base(dir), "t"), "image.jpg")
		if !fileExists(empty) {
			continue
		}
		r, f := readRendered(t, dir)
		name := filepath.Base(dir)
		class := name[strings.LastIndexByte(name, '-')+1:]
		if tally[class] == nil {
			tally[class] = &baseTally{}
		}
		tally[class].add(name, r.bases(t), basesOf(t, r.table(), learntFrom(t, r.table(), readPicture(t, empty)), f))
	}
	for class, b := range tally {
		b.report(t, class+", by difference")
		assert.Zero(t, b.ours, "%s: cards taken for ours", class)
	}
}
