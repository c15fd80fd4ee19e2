package accuracy

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/locate"
	"sightline/vision/opencv"
	"sightline/vision/tablesim"
)

// scenes returns how many random scenes a test renders: few in `make test`, with -short
// one at most, the full number in `make accuracy` (SIGHTLINE_ACCURACY=full), or any
// other number.
func scenes(t *testing.T, quick, full int) int {
	t.Helper()
	switch v := os.Getenv("SIGHTLINE_ACCURACY"); v {
	case "":
		if testing.Short() {
			return min(quick, 1)
		}
		return quick
	case "full":
		return full
	default:
		n, err := strconv.Atoi(v)
		require.NoError(t, err, "SIGHTLINE_ACCURACY: expected full or a number of scenes")
		return n
	}
}

// notShort skips what takes minutes with the race detector and runs nothing side by side.
func notShort(t *testing.T) {
	t.Helper()
	if testing.Short() && os.Getenv("SIGHTLINE_ACCURACY") == "" {
		t.Skip("it renders and searches many pictures: run without -short")
	}
}

// register finds the camera's place from the markers in the frame, as the program does.
func register(t *testing.T, d vision.MarkerDetector, lens calibration.Intrinsics, layout calibration.Layout,
	f vision.Frame) calibration.Table {
	t.Helper()
	found, err := d.DetectMarkers(f.Gray)
	require.NoError(t, err)
	var seen []calibration.MarkerSighting
	for _, m := range found {
		seen = append(seen, calibration.MarkerSighting{ID: m.ID, Corners: m.Corners})
	}
	exact := layout
	exact.Placement = calibration.ExactPlacement // these markers lie where they are said to
	table, err := calibration.Register(lens, exact, seen)
	if err != nil { // burnt-out white moves their edges, as if they lay elsewhere
		table, err = calibration.Register(lens, layout, seen)
	}
	require.NoError(t, err)
	return table
}

// drawnTokens is the default uncertainty without what a drawn token does not have:
// it was not cut with a knife, and lies exactly on its base.
func drawnTokens() locate.Options {
	u := calibration.DefaultUncertainty
	u.Print, u.Insert = 0, 0
	return locate.Options{Uncertainty: u}
}

// markerDetector is the program's.
func markerDetector(t *testing.T) vision.MarkerDetector {
	t.Helper()
	d, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	if err != nil {
		t.Skip("the simulated table is located from its markers: ", err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// misjudgedLens returns the table's lens as a calibration would know it: wrong in
// all nine parameters, so that after registering on the markers what is left over
// the mat is as large as calibration.DefaultUncertainty.Model says, in px rms for
// each axis. Without it the simulated lens would be better known than any real one. The
// covariance (9×9) is that of the errors.
func misjudgedLens(rng *rand.Rand, table *tablesim.Table) (lens calibration.Intrinsics, covariance []float64) {
	wrong := table.Camera.Intrinsics
	var d [9]float64
	typical := [9]float64{3e-4 * wrong.Fx, 3e-4 * wrong.Fx, 1, 1, 2e-3, 4e-3, 1e-4, 1e-4, 2e-3}
	for i := range d {
		d[i] = typical[i] * rng.NormFloat64()
	}
	shifted := func(k float64) calibration.Intrinsics {
		in := table.Camera.Intrinsics
		in.Fx, in.Fy, in.Cx, in.Cy = in.Fx+k*d[0], in.Fy+k*d[1], in.Cx+k*d[2], in.Cy+k*d[3]
		for i := range in.Distortion {
			in.Distortion[i] += k * d[4+i]
		}
		return in
	}
	const small = 0.05 // what is left over grows in proportion
	k := small * calibration.DefaultUncertainty.Model / leftOver(table, shifted(small))
	covariance = make([]float64, 81)
	for i := range d {
		covariance[10*i] = k * typical[i] * k * typical[i]
	}
	return shifted(k), covariance
}

// leftOver is the rms, per axis and in px, of what a wrong lens leaves over the
// mat once the camera is registered with it on exactly seen markers.
func leftOver(table *tablesim.Table, lens calibration.Intrinsics) float64 {
	layout := table.Layout
	layout.Placement = calibration.ExactPlacement
	var seen []calibration.MarkerSighting
	for _, m := range table.Layout.Markers {
		s := calibration.MarkerSighting{ID: m.ID}
		for i, p := range m.Corners() {
			s.Corners[i], _ = table.Camera.PixelOf(p, m.Z)
		}
		seen = append(seen, s)
	}
	got, err := calibration.Register(lens, layout, seen)
	if err != nil {
		panic(err) // the true lens registers: so does one that is nearly right
	}
	var sum, n float64
	for x := 20.0; x < 914; x += 87.4 {
		for y := 20.0; y < 914; y += 87.4 {
			a, _ := table.Camera.PixelOf(geom.Point{X: x, Y: y}, 4)
			b, _ := got.PixelOf(geom.Point{X: x, Y: y}, 4)
			e := a.Sub(b)
			sum, n = sum+e.X*e.X+e.Y*e.Y, n+2
		}
	}
	return math.Sqrt(sum / n)
}

// simulate renders random tables, registers each from its markers and locates its ships.
func simulate(t *testing.T, name string, n, width, height int) *tally {
	d := markerDetector(t)
	a := &tally{name: name}
	for seed := range uint64(n) {
		table := tablesim.RandomTable(seed+1, width, height)
		frame, truth, err := table.Render()
		require.NoError(t, err)
		lens, _ := misjudgedLens(rand.New(rand.NewPCG(seed, 1)), table)
		cal := register(t, d, lens, table.Layout, frame)
		l, err := locate.New(cal, drawnTokens())
		require.NoError(t, err)
		got, err := l.Locate(frame)
		require.NoError(t, err)
		var ships []sighting
		for _, s := range truth.Ships {
			ships = append(ships, sighting{id: s.ID, truth: s.Pose, wholeSide: s.WholeSide(), visible: s.Visible})
		}
		a.add("seed "+strconv.FormatUint(seed+1, 10), ships, got)
		if testing.Verbose() {
			for _, s := range a.ships[len(a.ships)-len(ships):] {
				if !s.located {
					t.Logf("seed %d: %s at (%.0f, %.0f) was not located: visible %.2f, whole side %v", seed+1, s.id, s.truth.X, s.truth.Y, s.visible,
						s.wholeSide)
				}
			}
		}
	}
	return a
}

// holdTo fails the test when a tally does not reach what the simulated table must.
func holdTo(t *testing.T, f figures, positionMM, headingDegrees float64) {
	t.Helper()
	assert.Zero(t, f.Wrong, "wrong identities")
	assert.GreaterOrEqual(t, float64(f.Located), 0.97*float64(f.Ships), "ships located")
	assert.LessOrEqual(t, f.PositionRMS, positionMM, "position error, mm rms")
	assert.LessOrEqual(t, f.HeadingRMS, headingDegrees, "heading error, degrees rms")
	// More than 1 would be a promise that is broken, 0.05 above it is what few scenes scatter; much less than 1 refuses what could have been
	// decided. The simulator's pictures are sharp and its response is known, so that they have less than soft and bright ones, which
	// the same factor must hold.
	assert.LessOrEqual(t, f.Normalised, 1.05, "error over stated sigma, rms")
	assert.GreaterOrEqual(t, f.Normalised, 0.6, "error over stated sigma, rms")
}

func TestAccuracySimulated1080p(t *testing.T) {
	a := simulate(t, "Simulated table, 1080p", scenes(t, 4, 200), 1920, 1080)
	a.report(t, "simulated-1080p")
	holdTo(t, a.figures(), 0.30, 0.25)
}

func TestAccuracySimulated4K(t *testing.T) {
	n := scenes(t, 0, 50)
	if n == 0 {
		t.Skip("4K scenes take long: run make accuracy")
	}
	a := simulate(t, "Simulated table, 4K", n, 3840, 2160)
	a.report(t, "simulated-4k")
	holdTo(t, a.figures(), 0.20, 0.12)
}

func TestNothingIsFoundOnSimulatedTablesWithoutShips(t *testing.T) {
	n := scenes(t, 6, 120)
	for seed := range uint64(n) {
		table := tablesim.RandomTable(1000+seed, 1920, 1080)
		table.Scene.Ships, table.Minis, table.Heights = nil, nil, nil
		for _, s := range locateExactly(t, table) {
			t.Errorf("seed %d: found %s at (%.0f, %.0f) among obstacles and clutter", 1000+seed, s.ID, s.Pose.X, s.Pose.Y)
		}
	}
	t.Logf("%d tables without ships", n)
}

// TestALightMatIsNoObstacle: the keyline is white, and a mat nearly is.
func TestALightMatIsNoObstacle(t *testing.T) {
	found, all := 0, 0
	for seed := range uint64(scenes(t, 3, 30)) {
		table := tablesim.RandomTable(2000+seed, 1920, 1080)
		table.Look.Mat = tablesim.MatIce
		all += len(table.Scene.Ships)
		for _, s := range locateExactly(t, table) {
			at := slices.IndexFunc(table.Scene.Ships, func(w engine.Ship) bool { return w.ID == s.ID })
			require.GreaterOrEqual(t, at, 0, "seed %d: %s is not on the table", 2000+seed, s.ID)
			assert.Less(t, float64(s.Pose.Distance(table.Scene.Ships[at].Pose.Point)), 1.5, "seed %d: %s", 2000+seed, s.ID)
			found++
		}
	}
	t.Logf("%d of %d ships on a light mat", found, all)
	assert.GreaterOrEqual(t, float64(found), 0.95*float64(all))
}

// locateExactly renders a table and locates its ships through the true camera.
func locateExactly(t *testing.T, table *tablesim.Table) []engine.Ship {
	t.Helper()
	frame, _, err := table.Render()
	require.NoError(t, err)
	l, err := locate.New(calibration.Table{Camera: table.Camera, Layout: table.Layout}, locate.Options{})
	require.NoError(t, err)
	got, err := l.Locate(frame)
	require.NoError(t, err)
	return got.Scene.Ships
}
