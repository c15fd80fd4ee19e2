package accuracy

import (
	"cmp"
	"encoding/json"
	"errors"
	"image"
	"image/draw"
	_ "image/jpeg"
	_ "image/png"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/locate"
	"sightline/vision/renderedtest"
	"sightline/vision/tablesim"
)

// rendered is the truth that comes with a photorealistic picture.
type rendered struct {
	renderedtest.Optics
	CornersMM [4][3]float64 `json:"mat_corners_mm"`
	CornersPx [4][2]float64 `json:"mat_corners_px"`
	Ships     []struct {
		ID      string        `json:"id"`
		Base    string        `json:"base"`
		X       float64       `json:"x_mm"`
		Y       float64       `json:"y_mm"`
		Heading float64       `json:"heading_deg"`
		Visible float64       `json:"visible"`
		Top     [4][2]float64 `json:"top_corners_px"`
		TopMM   [4][3]float64 `json:"top_corners_mm"`
	} `json:"ships"`
	Obstacles []struct {
		ID      string       `json:"id"`
		Visible float64      `json:"visible"`
		Top     [][3]float64 `json:"outline_top_mm"`
	} `json:"obstacles"`
	Markers []struct {
		ID      int           `json:"id"`
		Corners [4][2]float64 `json:"corners_px"`
	} `json:"markers"`
	Image string `json:"image"`
}

func (r *rendered) intrinsics() calibration.Intrinsics { return r.Camera().Intrinsics }

// worstPoint is the largest error, in mm, of points all over the mat at mat level and
// at a base's top.
func (r *rendered) worstPoint(t *calibration.Table) (worst float64) {
	truth := r.Camera()
	const steps = 12
	for i := range steps + 1 {
		for k := range steps + 1 {
			p := geom.Point{X: float64(calibration.MatSide) * float64(i) / steps, Y: float64(calibration.MatSide) * float64(k) / steps}
			for _, z := range [...]geom.Length{0, 4} {
				px, ok1 := truth.PixelOf(p, z)
				q, ok2 := t.PointAt(px, z)
				if !ok1 || !ok2 {
					return math.Inf(1)
				}
				worst = max(worst, float64(p.Distance(q)))
			}
		}
	}
	return worst
}

func (r *rendered) obstacles() (out []trueObstacle) {
	for _, o := range r.Obstacles {
		t := trueObstacle{name: o.ID, visible: o.Visible, under: o.Visible == 0}
		for _, p := range o.Top {
			t.outline = append(t.outline, geom.Point{X: p[0], Y: p[1]})
		}
		out = append(out, t)
	}
	return out
}

func readRendered(t *testing.T, dir string) (*rendered, vision.Frame) {
	t.Helper()
	var r rendered
	renderedtest.Read(t, dir, &r)
	return &r, readPicture(t, filepath.Join(dir, r.Image))
}

func readPicture(t *testing.T, name string) vision.Frame {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	img, _, err := image.Decode(f)
	require.NoError(t, err, name)
	g := image.NewGray(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(g, g.Bounds(), img, img.Bounds().Min, draw.Src)
	return vision.Frame{Gray: g, Name: filepath.Join(filepath.Base(filepath.Dir(name)), filepath.Base(name))}
}

// sharedDir returns a folder next to the project that holds pictures with known
// truth, and skips the test where it does not exist.
func sharedDir(t *testing.T, elem ...string) string {
	t.Helper()
	dir := filepath.Join(append([]string{"..", "..", "..", "..", "shared"}, elem...)...)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("%s is not here: these pictures are not part of the project", filepath.Join(elem...))
	}
	return dir
}

func TestRegistrationOfRenderedTables(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(sharedDir(t, "tables"), "[0-9]*"))
	require.NoError(t, err)
	d := markerDetector(t)
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	for _, dir := range dirs {
		r, f := readRendered(t, dir)
		got := register(t, d, r.intrinsics(), layout, f)
		assert.Len(t, got.Used, 8, "%s: markers used", dir)
		var worst float64
		for i, c := range r.CornersMM {
			// Each corner at its true height: a mat that is not flat is not the
			// registration's doing.
			p, ok := got.PointAt(geom.Pixel{X: r.CornersPx[i][0], Y: r.CornersPx[i][1]}, geom.Length(c[2]))
			require.True(t, ok)
			worst = max(worst, float64(p.Distance(geom.Point{X: c[0], Y: c[1]})))
		}
		found, err := d.DetectMarkers(f.Gray)
		require.NoError(t, err)
		byHand, err := calibration.Register(r.intrinsics(), layout, vision.Sightings(found))
		require.NoError(t, err)
		exact, laid := r.worstPoint(&got), r.worstPoint(&byHand)
		t.Logf("tables/%s: %d markers, rms %.3f px, mat corners within %.3f mm; points at 0 and 4 mm within %.3f mm, %.3f with markers taken "+
			"for laid by hand",
			filepath.Base(dir), len(got.Used), got.RMS, worst, exact, laid)
		assert.LessOrEqual(t, max(exact, laid), 0.15, "%s: worst point of the mat, mm", dir)
		assert.LessOrEqual(t, worst, 0.3, "%s: worst mat corner, mm", dir)

		// These tables carry no tokens of ours: nothing may be found on them.
		l, err := locate.New(got, locate.Options{})
		require.NoError(t, err)
		located, err := l.Locate(f)
		require.NoError(t, err)
		assert.Empty(t, located.Scene.Ships, "%s: ships where there are no coded tokens", dir)
	}
}

// TestNothingIsFoundInPhotographsWithoutTokens holds the locator to unrelated
// photographs as if each showed a mat.
func TestNothingIsFoundInPhotographsWithoutTokens(t *testing.T) {
	if testing.Short() {
		t.Skip("all of the photographs")
	}
	names, err := filepath.Glob(filepath.Join(sharedDir(t, "real"), "*", "*.[jp][pn]g"))
	require.NoError(t, err)
	for _, name := range names {
		f := readPicture(t, name)
		w, h := f.Size()
		cam := tablesim.DefaultCamera(1920, 1080)
		k := min(float64(w)/1080, float64(h)/1080) // the mat fills the shorter side
		cam.Width, cam.Height = w, h
		cam.Fx, cam.Fy, cam.Cx, cam.Cy = cam.Fx*k, cam.Fy*k, float64(w-1)/2, float64(h-1)/2
		cam.Distortion = [5]float64{}
		table := calibration.Table{Camera: cam, Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)}
		l, err := locate.New(table, locate.Options{})
		require.NoError(t, err)
		got, err := l.Locate(f)
		require.NoError(t, err)
		for _, s := range got.Scene.Ships {
			t.Errorf("%s: found %s at (%.0f, %.0f)", name, s.ID, s.Pose.X, s.Pose.Y)
		}
	}
	t.Logf("%d photographs", len(names))
}

// renderedTruths lists the truths of the pictures in folders that stand in a list as
// PATH's do.
func renderedTruths(t *testing.T, roots string) []string {
	t.Helper()
	var truths []string
	for _, root := range filepath.SplitList(roots) {
		found, err := filepath.Glob(filepath.Join(root, "p*", "*", "truth.json"))
		require.NoError(t, err)
		truths = append(truths, found...)
	}
	require.NotEmpty(t, truths, "pictures in %s", roots)
	return truths
}

// wholeFrom is the share of a side's rim from which the side is whole, as in
// tablesim.ShipTruth.WholeSide.
const wholeFrom = 0.97

// readSides returns which share of each side of each ship of a picture can be seen, front,
// right, rear and left, as testdata/sides.py worked it out; nil where no one has.
func readSides(t *testing.T, dir string) map[string][4]float64 {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "sides.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	var sides map[string][4]float64
	require.NoError(t, json.Unmarshal(data, &sides), "%s: sides.json", dir)
	return sides
}

// sightings lists the ships of a picture, those with a whole side marked where
// that is known.
func (r *rendered) sightings(t *testing.T, dir string) (ships []sighting, known bool) {
	t.Helper()
	sides := readSides(t, dir)
	for _, s := range r.Ships {
		one := sighting{id: s.ID, visible: s.Visible,
			truth: geom.Pose{Point: geom.Point{X: s.X, Y: s.Y}, Heading: geom.Angle(s.Heading) * geom.Degree}}
		if sides != nil {
			share, ok := sides[s.ID]
			require.True(t, ok, "%s: sides.json does not have %s", dir, s.ID)
			one.wholeSide = slices.Max(share[:]) >= wholeFrom
		}
		ships = append(ships, one)
	}
	return ships, sides != nil
}

// TestAccuracyRendered measures photorealistic pictures of our own tokens. They
// are made as docs/accuracy.md says and lie in the folders that SIGHTLINE_RENDERED
// names, one folder each.
func TestAccuracyRendered(t *testing.T) {
	roots := os.Getenv("SIGHTLINE_RENDERED")
	if roots == "" {
		t.Skip("SIGHTLINE_RENDERED names no folder of rendered pictures: see docs/accuracy.md")
	}
	d := markerDetector(t)
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	all := &tally{name: "Photorealistic pictures"}
	hd, uhd := &tally{name: "Photorealistic pictures, 1080p"}, &tally{name: "Photorealistic pictures, 4K"}
	var pictures []*tally
	for _, truth := range renderedTruths(t, roots) {
		dir := filepath.Dir(truth)
		r, f := readRendered(t, dir)
		l, err := locate.New(register(t, d, r.intrinsics(), layout, f), drawnTokens())
		require.NoError(t, err)
		got, err := l.Locate(f)
		require.NoError(t, err)
		ships, known := r.sightings(t, dir)
		one := &tally{name: filepath.Base(filepath.Dir(dir))}
		of := hd
		if w, _ := f.Size(); w > 1920 {
			of = uhd
			one.name += " (4K)"
		}
		if !known {
			t.Logf("%s: which sides can be seen is not known: testdata/sides.py works it out", one.name)
		}
		for _, a := range []*tally{one, of, all} {
			a.add(one.name, ships, got)
		}
		pictures = append(pictures, one)
	}
	worstFirst(t, pictures)
	for a, limit := range map[*tally][2]float64{hd: {0.30, 0.20}, uhd: {0.20, 0.10}} {
		g := a.figures()
		t.Log(a)
		assert.GreaterOrEqual(t, float64(g.WholeLocated), 0.99*float64(g.Whole), "%s: ships with a whole side in view that were identified",
			a.name)
		assert.LessOrEqual(t, g.PositionRMS, limit[0], "%s: position error, mm rms", a.name)
		assert.LessOrEqual(t, g.HeadingRMS, limit[1], "%s: heading error, degrees rms", a.name)
	}
	all.report(t, "rendered")
	g := all.figures()
	assert.Zero(t, g.Wrong, "wrong identities")
	assert.GreaterOrEqual(t, float64(g.Located), 0.95*float64(g.Ships), "ships located, whatever can be seen of them")
}

// worstFirst logs a line of the table in docs/accuracy.md for each picture: those that miss ships
// first, then by the position error.
func worstFirst(t *testing.T, pictures []*tally) {
	t.Helper()
	slices.SortFunc(pictures, func(a, b *tally) int {
		f, g := a.figures(), b.figures()
		return cmp.Or(cmp.Compare(g.Whole-g.WholeLocated, f.Whole-f.WholeLocated), cmp.Compare(g.Ships-g.Located, f.Ships-f.Located),
			cmp.Compare(g.PositionRMS, f.PositionRMS))
	})
	for _, p := range pictures {
		g := p.figures()
		t.Logf("| %s | %d of %d | %d of %d | %.3f mm (%.3f) | %.3f° (%.3f) | %.2f |", strings.TrimPrefix(p.name, "p"), g.Located, g.Ships,
			g.WholeLocated, g.Whole,
			g.PositionRMS, g.Position99, g.HeadingRMS, g.Heading99, g.Normalised)
		for _, s := range p.ships {
			if !s.located {
				t.Logf("  %s was not located: visible %.2f, a side whole: %v", s.id, s.visible, s.wholeSide)
			}
		}
	}
}
