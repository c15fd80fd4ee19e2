package accuracy

import (
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/calibration/watch"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
	"sightline/engine/scenefile"
	"sightline/vision"
	"sightline/vision/fiducial"
	"sightline/vision/locate"
	"sightline/vision/tablesim"
)

// Processors compute alike, but not to the last bit: ARM's compiler joins a
// multiplication and an addition into one step that rounds once. `make test-arm64` has
// this machine write its answers down and another processor give its own on the same
// scenes and pictures:
//
//	SIGHTLINE_ARCH_WRITE=DIR   writes answers and pictures
//	SIGHTLINE_ARCH_READ=DIR    compares
//	SIGHTLINE_ARCH_COMPARE=DIR compares what two builds of the program answered: DIR/amd64
//	                           and DIR/arm64, which make test-packages fills
//
// What is text, truth, or counted must be the same; numbers may differ by sameWithin,
// in mm, degrees or px. Measured: 5.2e-8 on scenes, 3.5e-10 on pictures.
const sameWithin = 1e-6

// archScenes are scenes of every edition, each with two ships and a rock or two; one in
// three stands at right angles, where ties are. The ships stand apart, as on a table: of
// bases that overlap, every common point is as near as any other, and which one is told
// is the processor's affair.
func archScenes(n int) []engine.Scene {
	r := rand.New(rand.NewPCG(6, 64))
	var all []engine.Scene
	for i := range n {
		s := engine.Scene{Rules: []engine.Rules{engine.Rules1e, engine.Rules20, engine.Rules25}[i%3], ScaleSigma: 0.0003}
		for k, id := range []string{"A1", "B1", "B2"} {
			ship := engine.Ship{ID: id, Player: 1 + min(k, 1), Base: engine.Base(1 + r.IntN(3))}
			ship.Pose = geom.Pose{Point: geom.Point{X: 200 + 400*r.Float64(), Y: 200 + 400*r.Float64()},
				Heading: geom.Angle(2 * math.Pi * r.Float64())}
			if i%9 < 3 {
				ship.Pose.Heading = geom.Angle(r.IntN(4)) * math.Pi / 2
				ship.Pose.X, ship.Pose.Y = math.Round(ship.Pose.X), math.Round(ship.Pose.Y)
			}
			if slices.ContainsFunc(s.Ships, func(o engine.Ship) bool { return o.Pose.Distance(ship.Pose.Point) < 115*geom.Millimeter }) {
				continue // two large bases' diagonals
			}
			s.Ships = append(s.Ships, ship)
		}
		rock := engine.Obstacle{ID: "rock1", Kind: "asteroid", Pose: geom.Pose{Point: geom.Point{X: 250 + 300*r.Float64(),
			Y: 250 + 300*r.Float64()}, Heading: geom.Angle(6 * r.Float64())}}
		for k := range 7 {
			turn := 2 * math.Pi * float64(k) / 7
			radius := 25 + 20*r.Float64()
			rock.Outline = append(rock.Outline, geom.Point{X: radius * math.Cos(turn), Y: radius * math.Sin(turn)})
		}
		s.Obstacles = append(s.Obstacles, rock)
		all = append(all, s)
	}
	return all
}

// plain is a value as JSON has it.
func plain(t *testing.T, raw []byte, err error) any {
	t.Helper()
	require.NoError(t, err)
	var v any
	require.NoError(t, json.Unmarshal(raw, &v))
	return v
}

// onScenes measures and moves on random scenes and on those of the rules' page.
func onScenes(t *testing.T) map[string]any {
	answers := map[string]any{}
	scenes := archScenes(300)
	files, err := filepath.Glob("../../../docs/rules/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		raw, err := os.ReadFile(f)
		require.NoError(t, err)
		more, _, err := scenefile.Parse(raw)
		require.NoError(t, err)
		scenes = append(scenes, more...)
	}
	for i := range scenes {
		raw, err := scenefile.Marshal(scenes[i]) // as a file would have it
		require.NoError(t, err)
		read, _, err := scenefile.Parse(raw)
		require.NoError(t, err)
		s := &read[0]
		result, err := engine.Measure(s, engine.Options{})
		require.NoError(t, err)
		doc, err := scenefile.MarshalResult(result)
		answers[fmt.Sprintf("measure %d", i)] = plain(t, doc, err)
		for _, text := range []string{"bank left 2", "turn right 3", "straight 4"} {
			m, err := move.ParseManeuver(text)
			require.NoError(t, err)
			moved, err := move.Execute(s, s.Ships[0].ID, m, engine.Options{})
			if err != nil { // a huge ship, say: the same everywhere
				answers[fmt.Sprintf("move %d %s", i, text)] = err.Error()
				continue
			}
			doc, err := scenefile.MarshalMove(moved)
			answers[fmt.Sprintf("move %d %s", i, text)] = plain(t, doc, err)
		}
	}
	return answers
}

// archPictures is how many pictures of the simulated table are looked at.
const archPictures = 3

func openArch(t *testing.T, i int) (*tablesim.Source, calibration.Table) {
	o, err := tablesim.ParseSpec(fmt.Sprintf("sim:1280x720,seed=%d", i+1))
	require.NoError(t, err)
	s, err := tablesim.Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s, calibration.Table{Camera: s.Camera(), Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
		ScaleSigma: 0.0003, PoseCovariance: make([]float64, 36)}
}

// onPictures tracks the markers, registers the camera from them, and locates the ships.
func onPictures(t *testing.T, pictures []*image.Gray) map[string]any {
	answers := map[string]any{}
	for i, g := range pictures {
		_, table := openArch(t, i)
		seen := fiducial.TrackMarkers(g, watch.NewMonitor(table, nil).Expected())
		require.GreaterOrEqual(t, len(seen), 4)
		registered, err := calibration.Register(table.Intrinsics, table.Layout, seen)
		require.NoError(t, err)
		var corners []any
		c, ok := registered.MatCorners()
		require.True(t, ok)
		for _, p := range c {
			corners = append(corners, p.X, p.Y)
		}
		answers[fmt.Sprintf("mat's corners %d", i)] = corners
		locator, err := locate.New(table, locate.Options{})
		require.NoError(t, err)
		located, err := locator.Locate(vision.Frame{Gray: g})
		require.NoError(t, err)
		require.NotEmpty(t, located.Scene.Ships)
		doc, err := scenefile.Marshal(located.Scene)
		answers[fmt.Sprintf("located %d", i)] = plain(t, doc, err)
	}
	return answers
}

func simulatedPictures(t *testing.T) (pictures []*image.Gray) {
	for i := range archPictures {
		s, _ := openArch(t, i)
		f, err := s.Next(t.Context())
		require.NoError(t, err)
		pictures = append(pictures, f.Gray)
	}
	return pictures
}

// worst is the largest difference of numbers, and where it is.
type worst struct {
	by      float64
	at      string
	numbers int
	unlike  []string // what differs that must not
}

func (w *worst) compare(at string, a, b any) {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			w.unlike = append(w.unlike, at)
			return
		}
		for k := range a {
			w.compare(at+"."+k, a[k], b[k])
		}
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			w.unlike = append(w.unlike, at)
			return
		}
		for i := range a {
			w.compare(fmt.Sprintf("%s[%d]", at, i), a[i], b[i])
		}
	case float64:
		f, ok := b.(float64)
		if !ok {
			w.unlike = append(w.unlike, at)
			return
		}
		w.numbers++
		d := math.Abs(a - f)
		if strings.HasSuffix(at, "heading_deg") {
			d = min(d, 360-d) // 360 is 0
		}
		if !(d <= w.by) {
			w.by, w.at = d, at
		}
	default:
		if !reflect.DeepEqual(a, b) {
			w.unlike = append(w.unlike, fmt.Sprintf("%s: %v, here %v", at, a, b))
		}
	}
}

func TestOtherProcessorsGiveTheSameAnswers(t *testing.T) {
	write, read := os.Getenv("SIGHTLINE_ARCH_WRITE"), os.Getenv("SIGHTLINE_ARCH_READ")
	if write == "" && read == "" {
		t.Skip("compares two processors: make test-arm64")
	}
	own := simulatedPictures(t)
	if write != "" {
		for i, g := range own {
			f, err := os.Create(filepath.Join(write, fmt.Sprintf("%d.png", i)))
			require.NoError(t, err)
			require.NoError(t, png.Encode(f, g))
			require.NoError(t, f.Close())
		}
		camera, _ := openArch(t, 0)
		require.NoError(t, lens.Save(filepath.Join(write, "lens.json"), camera.Camera().Intrinsics))
		raw, err := json.Marshal([]any{onScenes(t), onPictures(t, own)})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(write, "answers.json"), raw, 0o600))
		return
	}
	var theirs [2]any
	raw, err := os.ReadFile(filepath.Join(read, "answers.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &theirs))
	var pictures []*image.Gray
	for i, g := range own {
		f, err := os.Open(filepath.Join(read, fmt.Sprintf("%d.png", i)))
		require.NoError(t, err)
		img, err := png.Decode(f)
		f.Close()
		require.NoError(t, err)
		p := img.(*image.Gray)
		pictures = append(pictures, p)
		differ, most := 0, 0
		for k := range p.Pix {
			if d := int(p.Pix[k]) - int(g.Pix[k]); d != 0 {
				differ, most = differ+1, max(most, d, -d)
			}
		}
		t.Logf("rendered picture %d: %d of %d pixels differ, by at most %d grey levels", i, differ, len(p.Pix), most)
		require.LessOrEqual(t, most, 2)
		require.LessOrEqual(t, differ, len(p.Pix)/1000)
	}
	for i, c := range []struct {
		what string
		mine map[string]any
	}{{"scenes", onScenes(t)}, {"pictures", onPictures(t, pictures)}} {
		var w worst
		w.compare(c.what, theirs[i], plainMap(t, c.mine))
		slices.Sort(w.unlike)
		t.Logf("%s on %s: %d answers, %d numbers, the worst differs by %.2g at %s", c.what, runtime.GOARCH, len(c.mine), w.numbers, w.by, w.at)
		require.Empty(t, w.unlike[:min(10, len(w.unlike))], "%d answers differ in more than numbers", len(w.unlike))
		require.LessOrEqual(t, w.by, sameWithin, w.at)
	}
}

// packagesWithin is by how much the numbers of two packages may differ, by the beginning of a
// file's name: of scenes and answers in mm, degrees or px. A table's file also has each
// marker's residual in standard deviations of some hundredths of a pixel, where the other
// instructions of OpenCV's corner search show. Measured on Debian 12: docs/packages.md.
// The smallest stated uncertainty of an answer is a hundred times as much as what is allowed.
var packagesWithin = map[string]float64{"table": 5e-3, "located": 1e-3, "measured": 1e-3}

// TestPackagesGiveTheSameAnswers compares the scenes and the answers of two packages on the same
// pictures.
func TestPackagesGiveTheSameAnswers(t *testing.T) {
	dir := os.Getenv("SIGHTLINE_ARCH_COMPARE")
	if dir == "" {
		t.Skip("compares two packages: make test-packages")
	}
	files, err := filepath.Glob(filepath.Join(dir, "amd64", "*-?.json"))
	require.NoError(t, err)
	require.Len(t, files, 3*archPictures, "a table, a scene and its answers for each picture")
	found := map[string]*worst{}
	ships := 0
	for _, file := range files {
		kind, _, _ := strings.Cut(filepath.Base(file), "-")
		if found[kind] == nil {
			found[kind] = &worst{}
		}
		var both [2]any
		for i, path := range []string{file, filepath.Join(dir, "arm64", filepath.Base(file))} {
			raw, err := os.ReadFile(path)
			both[i] = plain(t, raw, err)
			if table, ok := both[i].(map[string]any); ok { // when it was made, and the hash of that
				delete(table, "made")
				delete(table, "hash")
			}
			ships += strings.Count(string(raw), `"heading_deg"`)
		}
		found[kind].compare(filepath.Base(file), both[0], both[1])
	}
	require.Len(t, found, len(packagesWithin))
	for _, kind := range slices.Sorted(maps.Keys(found)) {
		w := found[kind]
		t.Logf("%s: %d numbers, the worst differs by %.2g at %s; %d differ in more than numbers", kind, w.numbers, w.by, w.at, len(w.unlike))
		assert.Empty(t, w.unlike[:min(10, len(w.unlike))])
		assert.LessOrEqual(t, w.by, packagesWithin[kind], w.at)
	}
	require.Greater(t, ships, 20, "ships were located")
}

func plainMap(t *testing.T, m map[string]any) any {
	raw, err := json.Marshal(m)
	return plain(t, raw, err)
}

// The comparison itself can fail.
func TestTheComparisonOfProcessorsSeesDifferences(t *testing.T) {
	a := map[string]any{"outcome": "yes", "heading_deg": 359.9999, "lines": []any{1.0, 2.0}}
	for name, c := range map[string]struct {
		b      map[string]any
		by     float64
		unlike int
	}{
		"the same":        {map[string]any{"outcome": "yes", "heading_deg": 359.9999, "lines": []any{1.0, 2.0}}, 0, 0},
		"over the top":    {map[string]any{"outcome": "yes", "heading_deg": 0.0, "lines": []any{1.0, 2.0}}, 1e-4, 0},
		"another outcome": {map[string]any{"outcome": "no", "heading_deg": 359.9999, "lines": []any{1.0, 2.0}}, 0, 1},
		"another number":  {map[string]any{"outcome": "yes", "heading_deg": 359.9999, "lines": []any{1.0, 2.5}}, 0.5, 0},
		"fewer":           {map[string]any{"outcome": "yes", "heading_deg": 359.9999, "lines": []any{1.0}}, 0, 1},
		"another kind":    {map[string]any{"outcome": 1.0, "heading_deg": "359", "lines": 1.0}, 0, 3},
		"no number":       {map[string]any{"outcome": "yes", "heading_deg": 359.9999, "line": 1.0}, 0, 1},
	} {
		var w worst
		w.compare("", a, c.b)
		require.InDelta(t, c.by, w.by, 1e-9, name)
		require.Len(t, w.unlike, c.unlike, name)
	}
}
