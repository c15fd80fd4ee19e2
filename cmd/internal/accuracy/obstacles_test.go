package accuracy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
)

// trueObstacle is an obstacle as it lies on the table.
type trueObstacle struct {
	name    string
	outline geom.Polygon // of its upper edge, on the table, mm
	visible float64      // 0…1; 0: not known
	under   bool         // ships stand on all of it: no picture shows it
}

func (o trueObstacle) middle() (c geom.Point) {
	for _, p := range o.outline {
		c = c.Add(p.Mul(1 / float64(len(o.outline))))
	}
	return c
}

// obstacleTally is what was found of the obstacles of some pictures.
type obstacleTally struct {
	name                               string
	all, right, wrong, told, silent    int       // told, silent: not recognised, and said to be unknown there or not
	invented, unknown, blind, pictures int       // obstacles where none lies; unknown things; pictures in which no one looked
	means, worsts, normalised          []float64 // of the right ones: outline error in mm, and the largest over the stated sigma
	lost                               []string
}

// add compares a picture's obstacles with the truth.
func (a *obstacleTally) add(truth []trueObstacle, got vision.Located) {
	a.pictures++
	if got.Scene.ObstaclesUnseen {
		a.blind++
	}
	a.unknown += len(got.Scene.Unknown)
	used := make([]bool, len(got.Scene.Obstacles))
	for _, o := range truth {
		if o.under {
			continue
		}
		a.all++
		i := slices.IndexFunc(got.Scene.Obstacles, func(g engine.Obstacle) bool {
			return o.outline.Contains(g.Pose.Point) || g.Pose.Distance(o.middle()) < 15
		})
		if i < 0 {
			where := "said to be unknown"
			if !got.Scene.ObstaclesUnseen && !slices.ContainsFunc(got.Scene.Unknown, func(u geom.Polygon) bool {
				return u.Contains(o.middle()) || slices.ContainsFunc(o.outline, u.Contains)
			}) && !slices.ContainsFunc(got.Scene.Blind, func(b engine.BlindArea) bool { return b.Outline.Contains(o.middle()) }) {
				where = "not mentioned"
				a.silent++
			} else {
				a.told++
			}
			a.lost = append(a.lost, fmt.Sprintf("%s at (%.0f, %.0f), visible %.2f: %s", o.name, o.middle().X, o.middle().Y, o.visible, where))
			continue
		}
		used[i] = true
		g := got.Scene.Obstacles[i]
		if v := got.Obstacles.Views[i]; v.Entry.Name != o.name {
			a.wrong++
			a.lost = append(a.lost, fmt.Sprintf("%s was taken for %s, misfit %.2f, %.2f mm wrong, next %.2f more", o.name, v.Entry.Name, v.Misfit,
				v.Area, v.Margin))
			continue
		}
		a.right++
		var mean, worst float64
		for _, p := range g.Outline {
			d := o.outline.BoundaryDistance(g.Pose.Transform(p))
			mean += d / float64(len(g.Outline))
			worst = max(worst, d)
		}
		a.means, a.worsts, a.normalised = append(a.means, mean), append(a.worsts, worst), append(a.normalised, worst/float64(g.Sigma))
	}
	for i, u := range used {
		if !u {
			a.invented++
			a.lost = append(a.lost, fmt.Sprintf("%s was invented at (%.0f, %.0f)", got.Scene.Obstacles[i].ID, got.Scene.Obstacles[i].Pose.X,
				got.Scene.Obstacles[i].Pose.Y))
		}
	}
}

func (a *obstacleTally) mean() float64 {
	var s float64
	for _, m := range a.means {
		s += m / float64(len(a.means))
	}
	return s
}

func (a *obstacleTally) String() string {
	var worst, normalised, square float64
	for i := range a.worsts {
		worst, normalised = max(worst, a.worsts[i]), max(normalised, a.normalised[i])
		square += a.normalised[i] * a.normalised[i]
	}
	return fmt.Sprintf("%s: %d of %d right, %d wrong entry, %d unknown as said, %d not mentioned, %d invented; outline error %.2f mm mean, "+
		"%.2f mm worst; worst ÷ sigma %.2f rms, %.2f at most; %d unknown things; %d of %d pictures not watched",
		a.name, a.right, a.all, a.wrong, a.told, a.silent, a.invented, a.mean(), worst, math.Sqrt(square/max(1, float64(len(a.worsts)))),
		normalised, a.unknown, a.blind, a.pictures)
}

func (a *obstacleTally) join(o *obstacleTally) {
	a.all, a.right, a.wrong, a.told, a.silent = a.all+o.all, a.right+o.right, a.wrong+o.wrong, a.told+o.told, a.silent+o.silent
	a.invented, a.unknown, a.blind, a.pictures = a.invented+o.invented, a.unknown+o.unknown, a.blind+o.blind, a.pictures+o.pictures
	a.means, a.worsts, a.normalised = append(a.means, o.means...), append(a.worsts, o.worsts...), append(a.normalised, o.normalised...)
}

// reportObstacles logs each picture, worst first, and the sum, which it returns.
func reportObstacles(t *testing.T, name string, pictures []*obstacleTally) *obstacleTally {
	slices.SortStableFunc(pictures, func(a, b *obstacleTally) int {
		bad := func(t *obstacleTally) float64 {
			return 1000*float64(t.wrong+t.invented) + 100*float64(t.silent) + 10*float64(t.told) + t.mean()
		}
		return cmp.Compare(bad(b), bad(a))
	})
	sum := &obstacleTally{name: name}
	for _, p := range pictures {
		t.Log(p)
		for _, l := range p.lost {
			t.Log("    ", l)
		}
		sum.join(p)
	}
	t.Log(sum)
	return sum
}

// publishedCatalogue reads the outlines that the rendered pictures use.
func publishedCatalogue(t *testing.T) *catalogue.Catalogue {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(sharedDir(t, "obstacles"), "outlines.json"))
	require.NoError(t, err)
	var published struct {
		Obstacles []struct {
			ID      string       `json:"id"`
			Kind    string       `json:"kind"`
			Outline [][2]float64 `json:"outline_mm"`
		} `json:"obstacles"`
	}
	require.NoError(t, json.Unmarshal(raw, &published))
	type entry struct {
		Name    string       `json:"name"`
		Kind    string       `json:"kind"`
		Outline [][2]float64 `json:"outline_mm"`
	}
	var file struct {
		Version  int     `json:"version"`
		Outlines []entry `json:"outlines"`
	}
	file.Version = 1
	for _, o := range published.Obstacles {
		file.Outlines = append(file.Outlines, entry{o.ID, o.Kind, o.Outline})
	}
	doc, err := json.Marshal(file)
	require.NoError(t, err)
	c, err := catalogue.Parse(bytes.NewReader(doc))
	require.NoError(t, err)
	return c
}

// TestObstaclesRendered measures the obstacles in photorealistic pictures. The folder
// SIGHTLINE_EMPTY_MATS holds, for a picture in …/p203/…, the same table with nothing on
// it in …/e203/…; docs/accuracy.md says how both are made.
func TestObstaclesRendered(t *testing.T) {
	roots, mats := os.Getenv("SIGHTLINE_RENDERED"), os.Getenv("SIGHTLINE_EMPTY_MATS")
	if roots == "" || mats == "" {
		t.Skip("SIGHTLINE_RENDERED and SIGHTLINE_EMPTY_MATS name no folders of rendered pictures: see docs/accuracy.md")
	}
	catalogue := publishedCatalogue(t)
	d := markerDetector(t)
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	var pictures []*obstacleTally
	for _, truth := range renderedTruths(t, roots) {
		dir := filepath.Dir(truth)
		seed := strings.TrimPrefix(filepath.Base(filepath.Dir(dir)), "p")
		empty := filepath.Join(mats, "e"+seed, filepath.Base(dir), "image.jpg")
		if _, err := os.Stat(empty); err != nil {
			continue
		}
		r, f := readRendered(t, dir)
		table := register(t, d, r.intrinsics(), layout, f)
		learner := obstacle.NewBackgroundLearner(table)
		require.NoError(t, learner.Add(readPicture(t, empty)))
		mat, err := learner.Background()
		require.NoError(t, err)
		o := drawnTokens()
		o.Catalogue, o.Background = catalogue, mat
		l, err := locate.New(table, o)
		require.NoError(t, err)
		got, err := l.Locate(f)
		require.NoError(t, err)
		one := &obstacleTally{name: fmt.Sprintf("%s (%d px)", seed, f.Gray.Rect.Dx())}
		one.add(r.obstacles(), got)
		pictures = append(pictures, one)
	}
	require.NotEmpty(t, pictures, "pictures in %s with an empty mat in %s", roots, mats)
	sum := reportObstacles(t, "photorealistic", pictures)
	assert.Zero(t, sum.wrong, "wrong entries")
	assert.Zero(t, sum.invented, "invented obstacles")
	// 98 % on 36 pictures (2026-11-21); the wanted 99.5 % is not reached: docs/accuracy.md.
	assert.GreaterOrEqual(t, float64(sum.right), 0.95*float64(sum.all), "obstacles recognised")
	assert.LessOrEqual(t, sum.mean(), 0.4, "outline error, mm")
}

// trueRocks returns the truth about the obstacles of a simulated table.
func trueRocks(obstacles []engine.Obstacle) (out []trueObstacle) {
	for _, o := range obstacles {
		out = append(out, trueObstacle{name: o.ID, outline: o.Pose.TransformAll(o.Outline)})
	}
	return out
}

// bareOf returns a simulated table with nothing on its mat, for a picture with other noise.
func bareOf(t *tablesim.Table) tablesim.Table {
	bare := *t
	bare.Scene.Ships, bare.Scene.Obstacles, bare.Clutter, bare.Minis = nil, nil, nil, nil
	bare.Shot++
	return bare
}

// TestObstaclesSimulated does the same on the simulated table, whose random rocks are
// their own catalogue, and holds it to inventing nothing where none lies.
func TestObstaclesSimulated(t *testing.T) {
	if os.Getenv("SIGHTLINE_ACCURACY") != "full" {
		t.Skip("make accuracy runs this")
	}
	var pictures, clutter []*obstacleTally
	var search, steady time.Duration
	for seed := range uint64(20) {
		table := tablesim.RandomTable(5000+seed, 1920, 1080)
		c, err := catalogue.Of(table.Scene.Obstacles)
		require.NoError(t, err)
		empty := bareOf(table)
		calibrated := calibration.Table{Camera: table.Camera, Layout: table.Layout}
		f, _, err := empty.Render()
		require.NoError(t, err)
		mat := learntFrom(t, calibrated, f)

		look := func(table *tablesim.Table) *obstacleTally {
			l, err := locate.New(calibrated, locate.Options{Catalogue: c, Background: mat})
			require.NoError(t, err)
			f, _, err := table.Render()
			require.NoError(t, err)
			got, err := l.Locate(f)
			require.NoError(t, err)
			search += got.Elapsed
			again, err := l.Locate(f)
			require.NoError(t, err)
			steady += again.Elapsed
			one := &obstacleTally{name: fmt.Sprint(5000 + seed)}
			one.add(trueRocks(table.Scene.Obstacles), got)
			return one
		}
		pictures = append(pictures, look(table))
		bare := *table
		bare.Scene.Obstacles = nil
		clutter = append(clutter, look(&bare))
	}
	sum := reportObstacles(t, "simulated", pictures)
	none := reportObstacles(t, "simulated, no obstacles", clutter)
	t.Logf("first picture %v, the same again %v (ships included, mean)", search/40, steady/40)
	assert.Zero(t, sum.wrong+sum.invented+none.invented, "wrong or invented")
	// The simulator's rocks are random lumps, much alike, printed as dark as the mat in
	// places: by edges alone 61 of 100 were recognised, by area as well all (2026-11-21).
	assert.GreaterOrEqual(t, float64(sum.right), 0.95*float64(sum.all), "obstacles recognised")
	assert.LessOrEqual(t, sum.mean(), 0.4, "outline error, mm")
}

// TestObstaclesOnWoodAndSand lays the simulator's rocks on a bare table and on a print of sand, through cameras that compress little and
// much. What is not recognised there must be unknown or blind.
func TestObstaclesOnWoodAndSand(t *testing.T) {
	notShort(t)
	sum := &obstacleTally{name: "wood and sand"}
	for _, mat := range []tablesim.MatStyle{tablesim.MatWood, tablesim.MatSand} {
		for _, camera := range []string{"good-webcam", "webcam,quality=60"} {
			one := &obstacleTally{name: fmt.Sprint(mat, ", ", camera)}
			for seed := range uint64(scenes(t, 1, 10)) {
				o, err := tablesim.ParseSpec("sim:camera=" + camera)
				require.NoError(t, err)
				table := tablesim.RandomTable(5100+seed, 1920, 1080)
				table.Look.Mat, table.Model = mat, o.Model
				c, err := catalogue.Of(table.Scene.Obstacles)
				require.NoError(t, err)
				empty := bareOf(table)
				calibrated := calibration.Table{Camera: table.Camera, Layout: table.Layout}
				f, _, err := empty.Render()
				require.NoError(t, err)
				l, err := locate.New(calibrated, locate.Options{Catalogue: c, Background: learntFrom(t, calibrated, f)})
				require.NoError(t, err)
				f, _, err = table.Render()
				require.NoError(t, err)
				got, err := l.Locate(f)
				require.NoError(t, err)
				one.add(trueRocks(table.Scene.Obstacles), got)
			}
			t.Log(one)
			for _, lost := range one.lost {
				t.Log("    ", lost)
			}
			sum.join(one)
		}
	}
	t.Log(sum)
	assert.Zero(t, sum.silent, "obstacles that nothing was said of")
	assert.Zero(t, sum.wrong+sum.invented, "wrong or invented obstacles")
}
