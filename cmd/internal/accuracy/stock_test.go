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
	"sightline/vision/locate"
	"sightline/vision/ship"
)

// stockPictures lists the folders tN-SIZE of photorealistic tables whose ships carry nothing of ours: those next to the
// project, and those in the folders that SIGHTLINE_STOCK lists. Next to tN-SIZE stands emptyN-SIZE, the same mat bare, or nothing.
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

// sizeOf is the SIZE of a folder tN-SIZE.
func sizeOf(dir string) string { return dir[strings.LastIndexByte(dir, '-')+1:] }

// table is the table as the truth has it: a calibration without a fault.
func (r *rendered) table() calibration.Table {
	return calibration.Table{
		Camera: r.Camera(),
		Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
	}
}

// TestEdgesOfStockBases: the edges of a base out of the publisher's box are those of its plastic, of its frame or of its
// card, no one can say which. Whatever is believed of them lies within four of its stated sigmas, from the last
// pose (up to 2 mm and 3° off) and from a click (up to 7 mm off, turned any way).
func TestEdgesOfStockBases(t *testing.T) {
	if testing.Short() {
		t.Skip("all of the stock pictures")
	}
	tally := map[string]*baseTally{}
	for i, dir := range stockPictures(t) {
		r, f := readRendered(t, dir)
		l, err := locate.New(r.table(), drawnTokens())
		require.NoError(t, err)
		rng := rand.New(rand.NewPCG(13, uint64(i)))
		u := func(most float64) float64 { return most * (2*rng.Float64() - 1) }
		for _, from := range []struct {
			name      string
			hint      vision.EdgeHint
			off, turn float64 // mm, rad
		}{
			{"the last pose", vision.EdgeHint{Reach: 3 * geom.Millimeter, Turn: 8 * geom.Degree}, 2, 3 * deg},
			{"a click", vision.EdgeHint{Reach: 12 * geom.Millimeter, Turn: math.Pi}, 7, math.Pi},
			{"a click beside it", vision.EdgeHint{Reach: 12 * geom.Millimeter, Turn: math.Pi}, 20, math.Pi},
		} {
			class := sizeOf(dir) + ", from " + from.name
			if tally[class] == nil {
				tally[class] = &baseTally{}
			}
			b, pictures := tally[class], tally[class].pictures+1
			for _, w := range r.bases(t) {
				hint := from.hint
				hint.Base, hint.Pose = w.base, w.pose
				hint.Pose.X, hint.Pose.Y = hint.Pose.X+u(from.off), hint.Pose.Y+u(from.off)
				hint.Pose.Heading = (hint.Pose.Heading + geom.Angle(u(from.turn))).Normalized()
				b.addEdges(t, l, f, filepath.Base(dir), w, hint)
			}
			b.pictures = pictures
		}
	}
	for class, b := range tally {
		b.report(t, class)
		assert.Zero(t, b.ours, "%s: cards taken for ours", class)
		assert.LessOrEqual(t, rms(b.normalised), 1.1, class)
	}
}

// TestStockBasesByDifference does so for the bases that no one has named, where the empty mat was learnt.
func TestStockBasesByDifference(t *testing.T) {
	notShort(t)
	tally := map[string]*baseTally{}
	for _, dir := range stockPictures(t) {
		empty := filepath.Join(filepath.Dir(dir), "empty"+strings.TrimPrefix(filepath.Base(dir), "t"), "image.jpg")
		if !fileExists(empty) {
			continue
		}
		r, f := readRendered(t, dir)
		class := sizeOf(dir)
		if tally[class] == nil {
			tally[class] = &baseTally{}
		}
		tally[class].add(filepath.Base(dir), r.bases(t), basesOf(t, r.table(), learntFrom(t, r.table(), readPicture(t, empty)), f))
	}
	for class, b := range tally {
		b.report(t, class+", by difference")
		assert.Zero(t, b.ours, "%s: cards taken for ours", class)
	}
}

// TestMarkedFrontEdgesOfStockBases marks the front edges of the same bases where the pictures' truth has them, with the
// error of a person's hand: the poses are off by what is stated.
func TestMarkedFrontEdgesOfStockBases(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 0))
	off := func(p [2]float64) geom.Pixel {
		return geom.Pixel{X: p[0] + ship.MarkSigma*rng.NormFloat64(), Y: p[1] + ship.MarkSigma*rng.NormFloat64()}
	}
	tally := map[string]*baseTally{}
	for _, dir := range stockPictures(t) {
		r, _ := readRendered(t, dir)
		l, err := locate.New(r.table(), drawnTokens())
		require.NoError(t, err)
		b := tally[sizeOf(dir)]
		if b == nil {
			b = &baseTally{}
			tally[sizeOf(dir)] = b
		}
		pictures := b.pictures + 1
		for i, w := range r.bases(t) {
			for range 20 {
				got, err := l.Mark(ship.Mark{Base: w.base, Left: off(r.Ships[i].Top[0]), Right: off(r.Ships[i].Top[1])})
				require.NoError(t, err, "%s %s", filepath.Base(dir), w.id)
				b.add(filepath.Base(dir), []trueBase{w}, []vision.UnidentifiedBase{{Base: w.base, Pose: got.Pose, Covariance: got.Covariance}})
			}
		}
		b.pictures = pictures
	}
	for class, b := range tally {
		t.Logf("%s: %v", class, b)
		assert.LessOrEqual(t, rms(b.normalised), 1.1, class)
		assert.GreaterOrEqual(t, rms(b.normalised), 0.7, class)
		assert.LessOrEqual(t, percentile(b.normalised, 1), 5.0, class)
	}
}
