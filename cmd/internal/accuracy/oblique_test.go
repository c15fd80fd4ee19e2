package accuracy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/fusion"
	"sightline/vision/look"
)

// obliqueTables lists, by the number of the table, the folders tNC-SIZE below root that show it aslant from camera C, a capital letter.
func obliqueTables(t *testing.T, root string) map[string][]string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(root, "t[0-9]*[A-Z]-*", "truth.json"))
	require.NoError(t, err)
	out := map[string][]string{}
	for _, f := range dirs {
		dir := filepath.Dir(f)
		n := regexp.MustCompile(`^t[0-9]+`).FindString(filepath.Base(dir))
		out[n] = append(out[n], dir)
	}
	return out
}

// TestTwoObliqueCamerasSeeStockShips finds the ships of rendered tables by their cards, from places known to 2 mm and no heading, in the
// pictures of cameras that look aslant over adjacent edges, and fuses what they see. SIGHTLINE_OBLIQUE is the folder of the pictures,
// SIGHTLINE_OBLIQUE_ENROL the name of the one in it in which the cards were shown.
func TestTwoObliqueCamerasSeeStockShips(t *testing.T) {
	root, enrol := obliqueFolder(t)
	tally := map[string]*lookTally{}
	of := func(name string, base engine.Base) *lookTally {
		name += fmt.Sprintf(" %v", base)
		if tally[name] == nil {
			tally[name] = &lookTally{}
		}
		return tally[name]
	}
	conflicts := 0
	for n, dirs := range obliqueTables(t, root) {
		library, by := learnLooks(t, filepath.Join(root, enrol), n)
		var views []vision.Located
		visible := map[string]float64{}
		var truth []trueBase
		for i, dir := range dirs {
			r, f := readRendered(t, dir)
			f = inColor(t, f, filepath.Join(dir, r.Image))
			finder := look.NewFinder(r.table(), library, calibration.Uncertainty{})
			rng := rand.New(rand.NewPCG(29, uint64(i)))
			extra := stockShips(t, dir)
			truth = r.bases(t)
			view := vision.Located{Scene: engine.Scene{MatWidth: calibration.MatSide, MatHeight: calibration.MatSide}}
			name := "camera " + strings.TrimPrefix(filepath.Base(dir), n)
			for k, w := range truth {
				visible[w.id] = max(visible[w.id], extra[k].Stock.Visible)
				own := by[extra[k].kind()]
				if own == nil {
					t.Logf("%s: the card of %s was not shown", n, w.id)
					continue
				}
				hint := look.Hint{Base: w.base, Pose: w.pose, Reach: 8 * geom.Millimeter, Turn: math.Pi, Ship: own.Ships[0]}
				hint.Pose.X, hint.Pose.Y = hint.Pose.X+2*rng.NormFloat64(), hint.Pose.Y+2*rng.NormFloat64()
				hint.Pose.Heading = geom.Angle(2 * math.Pi * rng.Float64())
				s, ok, err := finder.Near(f, hint)
				require.NoError(t, err)
				var got *engine.Ship
				if ok {
					ship := finder.Ship(&s, w.id, "")
					got = &ship
					view.Scene.Ships, view.Ships = append(view.Scene.Ships, ship), append(view.Ships, finder.View(w.id, &s))
				}
				addOblique(t, of(name, w.base), filepath.Base(dir), w, extra[k].Stock.Visible, got)
			}
			views = append(views, view)
		}
		fused, err := fusion.Fuse(views, fusion.Options{Apart: -1})
		require.NoError(t, err)
		if fused.Fusion != nil {
			for _, c := range fused.Fusion.Notes() {
				t.Logf("%s: %s", n, c)
			}
			conflicts += len(fused.Fusion.Conflicts)
		}
		for _, w := range truth {
			var got *engine.Ship
			if i := slices.IndexFunc(fused.Scene.Ships, func(s engine.Ship) bool { return s.ID == w.id }); i >= 0 {
				got = &fused.Scene.Ships[i]
			}
			addOblique(t, of("fused", w.base), n, w, visible[w.id], got)
		}
	}
	var names []string
	for name := range tally {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b := tally[name]
		t.Logf("%s: %v; sigma of the place %.2f mm rms", name, b, rms(b.sigma))
		assert.Zero(t, b.turned, "%s: turned", name)
		assert.LessOrEqual(t, percentile(b.position, 1), 1.0, "%s: largest error, mm", name)
		assert.LessOrEqual(t, percentile(b.normalised, 1), 4.0, "%s: largest error over sigma", name)
	}
	t.Logf("%d conflicts", conflicts)
}

func addOblique(t *testing.T, b *lookTally, picture string, w trueBase, visible float64, got *engine.Ship) {
	before := len(b.normalised)
	b.addLook(w, visible, got)
	if got == nil {
		t.Logf("%s: %s %v not believed, %.2f in view", picture, w.id, w.base, visible)
		return
	}
	d := got.Pose.Sub(w.pose.Point)
	t.Logf("%s: %s %v %.2f in view: (%.2f, %.2f) mm, %.2f° off, %.1f sigma; sigma (%.2f, %.2f) mm %.2f°", picture, w.id, w.base,
		visible, d.X, d.Y, b.heading[len(b.heading)-1], slices.Max(b.normalised[before:]), math.Sqrt(got.Covariance[0]),
		math.Sqrt(got.Covariance[4]), math.Sqrt(got.Covariance[8])/deg)
	b.sigma = append(b.sigma, math.Sqrt((got.Covariance[0]+got.Covariance[4])/2))
}

// TestIDTokensOfObliqueCameras tells each ship from all others of its player by its ID token alone, whatever its card, from the same
// pictures; and where its own is not among them, nothing may be told.
func TestIDTokensOfObliqueCameras(t *testing.T) {
	root, enrol := obliqueFolder(t)
	type tally struct{ ships, told, wrong, foreign int }
	var one, both tally
	for n, dirs := range obliqueTables(t, root) {
		library, _ := learnLooks(t, filepath.Join(root, enrol), n)
		told := map[string]map[string]bool{}
		for i, dir := range dirs {
			r, f := readRendered(t, dir)
			f = inColor(t, f, filepath.Join(dir, r.Image))
			finder := look.NewFinder(r.table(), library, calibration.Uncertainty{})
			rng := rand.New(rand.NewPCG(31, uint64(i)))
			for _, w := range r.bases(t) {
				var all, others []*look.Look
				for _, l := range library.Looks {
					if l.Name[0] == w.id[0] {
						all = append(all, l)
						if l.Name != w.id {
							others = append(others, l)
						}
					}
				}
				if len(others) == len(all) {
					continue // it was not shown
				}
				if told[w.id] == nil {
					told[w.id] = map[string]bool{}
				}
				pose := offBy(rng, w.pose, 0.15, 0.2)
				one.ships++
				if l := finder.Number(f, pose, all); l != nil {
					one.told++
					told[w.id][l.Name] = true
					if l.Name != w.id {
						one.wrong++
						t.Logf("%s: %s is told to be %s", filepath.Base(dir), w.id, l.Name)
					}
				}
				if l := finder.Number(f, pose, others); l != nil {
					one.foreign++
					t.Logf("%s: %s, which was not shown, is told to be %s", filepath.Base(dir), w.id, l.Name)
				}
			}
		}
		for id, as := range told {
			both.ships++
			if len(as) == 1 {
				both.told++
				if !as[id] {
					both.wrong++
				}
			}
		}
		t.Logf("%s: one camera %+v; both %+v", n, one, both)
	}
	t.Logf("one camera: %+v; both: %+v", one, both)
	assert.Zero(t, one.wrong, "told wrongly")
	assert.LessOrEqual(t, one.foreign, one.ships/50, "numbers that were not shown")
}

// obliqueFolder is the folder of the pictures of oblique cameras, and the name of the one in it in which the cards were shown.
func obliqueFolder(t *testing.T) (root, enrol string) {
	t.Helper()
	if testing.Short() {
		t.Skip("all of the pictures")
	}
	if root = os.Getenv("SIGHTLINE_OBLIQUE"); root == "" {
		t.Skip("SIGHTLINE_OBLIQUE names no folder of pictures")
	}
	return root, os.Getenv("SIGHTLINE_OBLIQUE_ENROL")
}
