package accuracy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/quick"
	"sightline/engine/geom"
	"sightline/vision"
)

// quickPictures lists folders with photorealistic tables: those next to the project, and those in the folders that
// SIGHTLINE_QUICK lists.
func quickPictures(t *testing.T) (dirs []string) {
	t.Helper()
	for _, root := range append([]string{sharedDir(t, "tables")}, filepath.SplitList(os.Getenv("SIGHTLINE_QUICK"))...) {
		found, err := filepath.Glob(filepath.Join(root, "*", "truth.json"))
		require.NoError(t, err)
		for _, f := range found {
			dirs = append(dirs, filepath.Dir(f))
		}
	}
	require.NotEmpty(t, dirs)
	return dirs
}

// regionTally counts true points in the 95 % regions that a table states.
type regionTally struct {
	points, inside int
	squares, worst float64
	sigma          float64
}

func (c *regionTally) String() string {
	n := float64(c.points)
	return fmt.Sprintf("%.1f %% of %d points inside their 95 %% region; error over sigma %.2f rms; mean sigma %.2f mm, worst error %.2f mm",
		100*float64(c.inside)/n, c.points, math.Sqrt(c.squares/n), c.sigma/n, c.worst)
}

// add reads points all over the mat, at the mat and at a base's top, as the truth projects them.
func (c *regionTally) add(t *testing.T, r *rendered, table calibration.Table) {
	t.Helper()
	truth := r.Camera()
	u := calibration.DefaultUncertainty
	u.Print, u.Insert, u.Height, u.Flatness, u.Model = 0, 0, 0, 0, 0 // the truth's points have none of these errors
	u.Pixel = 1e-3
	budget := calibration.NewBudget(table, u)
	for x := 40.0; x < 914; x += 139 {
		for y := 40.0; y < 914; y += 139 {
			for _, z := range [...]geom.Length{0, 4} {
				px, ok := truth.PixelOf(geom.Point{X: x, Y: y}, z)
				require.True(t, ok)
				got, ok := table.PointAt(px, z)
				require.True(t, ok)
				terms, ok := budget.At(got, z)
				require.True(t, ok)
				cov, dx, dy := terms.Total(1), got.X-x, got.Y-y
				d2 := (cov.YY*dx*dx - 2*cov.XY*dx*dy + cov.XX*dy*dy) / (cov.XX*cov.YY - cov.XY*cov.XY)
				c.points++
				if d2 <= 5.991 { // chi-squared, two degrees of freedom, 95 %
					c.inside++
				}
				c.squares, c.worst = c.squares+d2/2, max(c.worst, math.Hypot(dx, dy))
				c.sigma += float64(calibration.LargestSigma(cov))
			}
		}
	}
}

// laidByHand moves what a detector saw of markers that lie exactly where the layout says to where it would have seen them,
// had a hand laid them.
func (r *rendered) laidByHand(rng *rand.Rand, layout calibration.Layout, seen []calibration.MarkerSighting,
) (out []calibration.MarkerSighting) {
	truth := r.Camera()
	by := calibration.DefaultPlacement
	for _, s := range seen {
		for _, m := range layout.Markers {
			if m.ID != s.ID {
				continue
			}
			laid := m
			laid.Center = laid.Center.Add(geom.Point{X: float64(by.XY) * rng.NormFloat64(), Y: float64(by.XY) * rng.NormFloat64()})
			laid.Heading += by.Turn * geom.Angle(rng.NormFloat64())
			laid.Z += by.Z * geom.Length(rng.NormFloat64())
			from, to := m.Corners(), laid.Corners()
			for k := range s.Corners {
				a, _ := truth.PixelOf(from[k], m.Z)
				b, _ := truth.PixelOf(to[k], laid.Z)
				s.Corners[k] = s.Corners[k].Add(b.Sub(a))
			}
		}
		out = append(out, s)
	}
	return out
}

// TestQuickCalibrationOfRenderedTables estimates lens and place of every photorealistic table from its markers, as a hand
// lays them, and from the mat's corners and edges, as a hand points at them; the truth is inside what is stated.
func TestQuickCalibrationOfRenderedTables(t *testing.T) {
	const hands = 8
	d := markerDetector(t)
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	var markers, corners, edges regionTally
	for i, dir := range quickPictures(t) {
		r, f := readRendered(t, dir)
		found, err := d.DetectMarkers(f.Gray)
		require.NoError(t, err)
		rng := rand.New(rand.NewPCG(5, uint64(i)))
		var one regionTally
		for range hands {
			views := []quick.View{{Name: dir, Seen: r.laidByHand(rng, layout, vision.Sightings(found))}}
			s, err := quick.Solve(quick.Input{Layout: layout, Views: views, Width: r.Lens.Width, Height: r.Lens.Height})
			require.NoError(t, err, dir)
			one.add(t, r, s.Table)
			markers.add(t, r, s.Table)
			corners.add(t, r, r.pointedAt(t, rng, 0))
			edges.add(t, r, r.pointedAt(t, rng, 2))
		}
		t.Logf("%s: %v", filepath.Base(dir), &one)
	}
	t.Logf("markers: %v", &markers)
	t.Logf("corners: %v", &corners)
	t.Logf("corners and edges: %v", &edges)
	for _, c := range [...]regionTally{markers, corners, edges} {
		assert.GreaterOrEqual(t, float64(c.inside)/float64(c.points), 0.94)
	}
}

// pointedAt is the table that follows from the mat's corners and a number of points of every edge, where a hand points at
// them in the picture.
func (r *rendered) pointedAt(t *testing.T, rng *rand.Rand, onEdge int) calibration.Table {
	t.Helper()
	truth := r.Camera()
	layout := quick.CornerLayout(calibration.MatSide, calibration.MatSide)
	mat := layout.Corners()
	points := mat[:]
	for k, from := range layout.Corners() {
		for i := range onEdge {
			points = append(points, from.Add(mat[(k+1)%4].Sub(from).Mul((float64(i)+0.3+0.4*rng.Float64())/float64(onEdge))))
		}
	}
	var at []geom.Pixel
	for _, p := range points { // the mat's edge lies where the cut left it
		p = p.Add(geom.Point{X: quick.MatSigma * rng.NormFloat64(), Y: quick.MatSigma * rng.NormFloat64()})
		px, ok := truth.PixelOf(p, 0)
		require.True(t, ok)
		at = append(at, px.Add(geom.Pixel{X: quick.ClickSigma * rng.NormFloat64(), Y: quick.ClickSigma * rng.NormFloat64()}))
	}
	in, err := quick.Corners(calibration.MatSide, calibration.MatSide, at, 0, r.Lens.Width, r.Lens.Height)
	require.NoError(t, err)
	s, err := quick.Solve(in)
	require.NoError(t, err)
	return s.Table
}
