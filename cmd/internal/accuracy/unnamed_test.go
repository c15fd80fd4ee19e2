package accuracy

import (
	"fmt"
	"math"
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
	"sightline/vision/obstacle"
	"sightline/vision/tablesim"
)

// baseTally is what was found of bases as if no code could be read.
type baseTally struct {
	pictures, bases, found, ours, wrong int // wrong: of another size, or where none stands
	position, heading, normalised       []float64
	told                                []string
}

func (b *baseTally) String() string {
	return fmt.Sprintf("%d pictures: %d of %d bases found, %d of them known for ours, %d wrong; position %.3f mm rms (largest %.2f), "+
		"heading %.3f° rms (largest %.2f); error over sigma %.2f rms (largest %.2f)",
		b.pictures, b.found, b.bases, b.ours, b.wrong, rms(b.position), percentile(b.position, 1), rms(b.heading), percentile(b.heading, 1),
		rms(b.normalised), percentile(b.normalised, 1))
}

// trueBase is a base as it stands.
type trueBase struct {
	id   string
	base engine.Base
	pose geom.Pose
}

func (b *baseTally) add(name string, truth []trueBase, got []vision.UnidentifiedBase) {
	b.pictures++
	b.bases += len(truth)
	for _, g := range got {
		right := false
		for _, w := range truth {
			d := g.Pose.Sub(w.pose.Point)
			if w.base != g.Base || d.Norm() > 3 {
				continue
			}
			right = true
			b.found++
			if g.Sight.Ours {
				b.ours++
			}
			turned := float64((g.Pose.Heading - w.pose.Heading).Signed())
			turned -= math.Pi / 2 * math.Round(turned/(math.Pi/2))
			b.position, b.heading = append(b.position, d.Norm()), append(b.heading, math.Abs(turned)/deg)
			for i, v := range [3]float64{d.X, d.Y, turned} {
				b.normalised = append(b.normalised, math.Abs(v)/math.Sqrt(g.Covariance[4*i]))
			}
			if z := slices.Max(b.normalised[len(b.normalised)-3:]); z > 3 {
				b.told = append(b.told, fmt.Sprintf("%s: %s is %.2f mm and %.2f° off, %.1f sigma", name, w.id, d.Norm(), turned/deg, z))
			}
		}
		if !right {
			b.wrong++
			b.told = append(b.told, fmt.Sprintf("%s: a %v base at (%.1f, %.1f) that is not there", name, g.Base, g.Pose.X, g.Pose.Y))
		}
	}
}

func (b *baseTally) report(t *testing.T, what string) {
	t.Logf("%s: %v", what, b)
	for _, l := range b.told {
		t.Log("    ", l)
	}
	assert.Zero(t, b.wrong, "%s: bases that are not there, or of another size", what)
	if len(b.normalised) > 0 {
		assert.LessOrEqual(t, percentile(b.normalised, 1), 4.0, "%s: largest error over sigma", what)
	}
}

// basesOf finds the bases of a picture as if the code of none could be read.
func basesOf(t *testing.T, table calibration.Table, mat *obstacle.Background, f vision.Frame) []vision.UnidentifiedBase {
	t.Helper()
	finder, err := obstacle.NewFinder(table, &catalogue.Catalogue{}, mat, drawnTokens().Uncertainty)
	require.NoError(t, err)
	return finder.Bases(f, nil)
}

func (r *rendered) bases(t *testing.T) (out []trueBase) {
	for _, s := range r.Ships {
		base, err := engine.ParseBase(s.Base)
		require.NoError(t, err)
		out = append(out, trueBase{s.ID, base, geom.Pose{Point: geom.Point{X: s.X, Y: s.Y}, Heading: geom.Angle(s.Heading) * geom.Degree}})
	}
	return out
}

// TestBasesWithoutACodeRendered finds the bases of photorealistic pictures by what differs from the empty mat, as if no
// code could be read: SIGHTLINE_RENDERED and SIGHTLINE_EMPTY_MATS as for the obstacles. Pictures of clutter
// (SIGHTLINE_CLUTTER) count as pictures without a base.
func TestBasesWithoutACodeRendered(t *testing.T) {
	mats := os.Getenv("SIGHTLINE_EMPTY_MATS")
	roots := os.Getenv("SIGHTLINE_RENDERED")
	if roots == "" || mats == "" {
		t.Skip("SIGHTLINE_RENDERED and SIGHTLINE_EMPTY_MATS name no folders of rendered pictures: see docs/accuracy.md")
	}
	d := markerDetector(t)
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	sum := map[string]*baseTally{}
	for _, truth := range renderedTruths(t, roots) {
		dir := filepath.Dir(truth)
		name := filepath.Base(filepath.Dir(dir))
		empty := filepath.Join(mats, "e"+strings.TrimPrefix(name, "p"), filepath.Base(dir), "image.jpg")
		if !fileExists(empty) {
			continue
		}
		r, f := readRendered(t, dir)
		table := register(t, d, r.intrinsics(), layout, f)
		class := "1080p"
		if w, _ := f.Size(); w > 1920 {
			class = "4K"
		}
		if sum[class] == nil {
			sum[class] = &baseTally{}
		}
		before := sum[class].found
		sum[class].add(name, r.bases(t), basesOf(t, table, learntFrom(t, table, readPicture(t, empty)), f))
		t.Logf("%s: %d of %d", name, sum[class].found-before, len(r.Ships))
	}
	for class, b := range sum {
		b.report(t, class)
	}
}

// TestBasesOfForeignCards does so on the rendered tables whose cards carry no code of ours. SIGHTLINE_TABLE_MATS holds, for
// table 03, the same table with nothing on it in e03/o.
func TestBasesOfForeignCards(t *testing.T) {
	mats := os.Getenv("SIGHTLINE_TABLE_MATS")
	if mats == "" {
		t.Skip("SIGHTLINE_TABLE_MATS names no folder of empty mats: see docs/accuracy.md")
	}
	dirs, err := filepath.Glob(filepath.Join(sharedDir(t, "tables"), "[0-9]*"))
	require.NoError(t, err)
	d := markerDetector(t)
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	var b baseTally
	for _, dir := range dirs {
		empty := filepath.Join(mats, "e"+filepath.Base(dir), "o", "image.jpg")
		if !fileExists(empty) {
			continue
		}
		r, f := readRendered(t, dir)
		table := register(t, d, r.intrinsics(), layout, f)
		before := b.found
		b.add(filepath.Base(dir), r.bases(t), basesOf(t, table, learntFrom(t, table, readPicture(t, empty)), f))
		t.Logf("%s: %d of %d", filepath.Base(dir), b.found-before, len(r.Ships))
	}
	b.report(t, "foreign cards")
}

// TestBasesWithoutACodeSimulated does so on simulated tables whose codes are worn off, bleached, or another card's.
func TestBasesWithoutACodeSimulated(t *testing.T) {
	notShort(t)
	n := uint64(scenes(t, 2, 12)) // of the first table's cards in frames none is found
	for _, c := range []struct {
		name string
		wear tablesim.Wear
	}{{"cells worn off", tablesim.WearCells}, {"rim bleached by glare", tablesim.WearBleach}, {"another card", tablesim.WearPanel},
		{"a card in a frame", tablesim.WearStock}} {
		t.Run(c.name, func(t *testing.T) {
			var b baseTally
			for seed := range n {
				table := tablesim.RandomTable(30000+seed, 1920, 1080)
				table.Worn = map[string]tablesim.Wear{}
				var truth []trueBase
				for _, s := range table.Scene.Ships {
					table.Worn[s.ID] = c.wear
					truth = append(truth, trueBase{s.ID, s.Base, s.Pose})
				}
				before := b.found
				b.add(fmt.Sprintf("table %d", seed), truth, basesSimulated(t, table))
				t.Logf("table %d: %d of %d", seed, b.found-before, len(truth))
			}
			b.report(t, c.name)
			assert.Positive(t, b.found)
		})
	}
}

// TestClutterIsNoBase: among clutter, with tiles of exactly a base's size and height, there is no base.
func TestClutterIsNoBase(t *testing.T) {
	notShort(t)
	var none baseTally
	for seed := range uint64(scenes(t, 3, 100)) {
		none.add(fmt.Sprintf("clutter %d", seed), nil, basesSimulated(t, clutterTable(7000+seed)))
		t.Logf("table %d: %d bases", seed, none.wrong)
	}
	none.report(t, "clutter")
}

func basesSimulated(t *testing.T, table *tablesim.Table) []vision.UnidentifiedBase {
	t.Helper()
	empty := *table
	empty.Scene.Ships, empty.Scene.Obstacles, empty.Clutter, empty.Hands, empty.Minis = nil, nil, nil, nil, nil
	bare, _, err := empty.Render()
	require.NoError(t, err)
	f, _, err := table.Render()
	require.NoError(t, err)
	calibrated := calibration.Table{Camera: table.Camera, Layout: table.Layout}
	return basesOf(t, calibrated, learntFrom(t, calibrated, bare), f)
}
