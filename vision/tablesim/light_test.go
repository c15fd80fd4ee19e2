package tablesim_test

import (
	"fmt"
	"image"
	"io/fs"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision/exposure"
	"sightline/vision/locate"
	"sightline/vision/tablesim"
)

// gauged is a look of the simulated table, what the gauges say of it, and what came of it.
type gauged struct {
	light        exposure.Light
	found, ships int
	worst        float64 // error over its sigma
}

// gauge renders a table, measures its light and locates its ships.
func gauge(t *testing.T, change func(*tablesim.Table), spoil func(*image.Gray)) gauged {
	table := tablesim.RandomTable(5, 1600, 900)
	table.Hands = nil
	table.Look = tablesim.DefaultLook()
	if change != nil {
		change(table)
	}
	f, truth, err := table.Render()
	require.NoError(t, err)
	if spoil != nil {
		spoil(f.Gray)
	}
	calibrated := calibration.Table{Camera: table.Camera, Layout: table.Layout}
	var g exposure.Gauges
	out := gauged{light: g.Look(f.Gray, markersOf(&calibrated), &calibrated), ships: len(truth.Ships)}
	l, err := locate.New(calibrated, locate.Options{})
	require.NoError(t, err)
	seen, err := l.Locate(f)
	require.NoError(t, err)
	for _, s := range seen.Scene.Ships {
		for _, k := range truth.Ships {
			if k.ID == s.ID {
				out.found++
				c := s.Covariance.Position()
				out.worst = max(out.worst, s.Pose.Distance(k.Pose.Point).Millimeters()/math.Sqrt((c.XX+c.YY)/2))
			}
		}
	}
	return out
}

// markersOf returns where a calibrated camera sees the mat's markers.
func markersOf(t *calibration.Table) (out []calibration.MarkerSighting) {
	for _, m := range t.Layout.Markers {
		s := calibration.MarkerSighting{ID: m.ID}
		for i, p := range m.Corners() {
			s.Corners[i], _ = t.PixelOf(p, m.Z)
		}
		out = append(out, s)
	}
	return out
}

// Where the light costs ships or truth, the gauges say so; where it does not they keep
// silent. -v prints the table of docs/seeing.md.
func TestWhatBadLightDoes(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders a dozen pictures")
	}
	usual := gauge(t, nil, nil)
	t.Logf("%-12s %+v", "usual", usual)
	assert.Empty(t, usual.light.Advice())
	for _, c := range []struct {
		name   string
		change func(*tablesim.Table)
		says   string // a word of the advice; "": none may be given
		fine   bool   // no ship may be lost
	}{
		{"blur 0.7", func(t *tablesim.Table) { t.Look.Blur = 0.7 }, "", true},
		{"blur 1", func(t *tablesim.Table) { t.Look.Blur = 1 }, "sharp", false},
		{"blur 1.5", func(t *tablesim.Table) { t.Look.Blur = 1.5 }, "sharp", false},
		{"blur 2", func(t *tablesim.Table) { t.Look.Blur = 2 }, "sharp", false},
		{"blur 3", func(t *tablesim.Table) { t.Look.Blur = 3 }, "sharp", false},
		{"light 0.04", func(t *tablesim.Table) { t.Look.Light = 0.04 }, "flat", false},
		{"light 0.1", func(t *tablesim.Table) { t.Look.Light = 0.1 }, "", true},
		{"light 0.2", func(t *tablesim.Table) { t.Look.Light = 0.2 }, "", true},
		{"light 1.6", func(t *tablesim.Table) { t.Look.Light = 1.6 }, "burnt", false},
		{"light 3", func(t *tablesim.Table) { t.Look.Light = 3 }, "burnt", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := gauge(t, c.change, nil)
			advice := fmt.Sprint(got.light.Advice())
			t.Logf("%-12s edge %.2f px %.2f mm smear %.2f, white %.0f, black %.0f, burnt %.2f: %d of %d ships, worst %.1f sigma; %s", c.name,
				got.light.Edge, got.light.EdgeMM, got.light.Smear, got.light.White, got.light.Black, got.light.Burnt, got.found, got.ships, got.worst,
				advice)
			if c.says == "" {
				assert.Equal(t, "[]", advice)
			} else {
				assert.Contains(t, advice, c.says)
			}
			if c.fine {
				assert.GreaterOrEqual(t, got.found, usual.found)
			}
		})
	}
}

func TestGlareMotionAndFlickerAreReported(t *testing.T) {
	lamp := gauge(t, nil, func(g *image.Gray) {
		for y := 350; y < 460; y++ {
			for x := 480; x < 590; x++ {
				g.Pix[y*g.Stride+x] = 255
			}
		}
	})
	assert.Contains(t, fmt.Sprint(lamp.light.Advice()), "a lamp is reflected in the mat at its left", "%+v", lamp.light)
	shaken := gauge(t, nil, func(g *image.Gray) {
		for y := range g.Rect.Dy() {
			row := g.Pix[y*g.Stride:][:g.Rect.Dx()]
			was := append([]uint8(nil), row...)
			for x := 6; x < len(row)-6; x++ {
				sum := 0
				for _, v := range was[x-6 : x+7] {
					sum += int(v)
				}
				row[x] = uint8(sum / 13)
			}
		}
	})
	assert.Contains(t, fmt.Sprint(shaken.light.Advice()), "smeared", "%+v", shaken.light)

	table := tablesim.RandomTable(5, 960, 540)
	f, _, err := table.Render()
	require.NoError(t, err)
	dimmed := func(depth, phase float64) *image.Gray {
		out := image.NewGray(f.Gray.Rect)
		for i, v := range f.Gray.Pix {
			y := float64(i / f.Gray.Stride)
			out.Pix[i] = uint8(math.Round(float64(v) * (1 - depth + depth*math.Sin(y/50+phase))))
		}
		return out
	}
	var g exposure.Gauges
	g.Next(dimmed(0.05, 0))
	flickers := g.Look(dimmed(0.05, 2), nil, nil)
	assert.Contains(t, fmt.Sprint(flickers.Advice()), "flickers", "%+v", flickers)
	g.Next(dimmed(0.003, 0))
	steady := g.Look(dimmed(0.003, 2), nil, nil)
	rng := rand.New(rand.NewPCG(1, 1))
	grain := func(sigma float64) *image.Gray {
		out := image.NewGray(f.Gray.Rect)
		for i, v := range f.Gray.Pix {
			out.Pix[i] = uint8(min(max(100+float64(v)/2+sigma*rng.NormFloat64(), 0), 255))
		}
		return out
	}
	g.Next(grain(20))
	noisy := g.Look(grain(20), nil, nil)
	assert.InDelta(t, 20, noisy.Noise, 1)
	assert.Contains(t, fmt.Sprint(noisy.Advice()), "noisy")
	assert.Empty(t, steady.Advice(), "%+v", steady)
}

// An overexposed marker is no other lens's, and is not said to be.
func TestOverexposedMarkersAreReported(t *testing.T) {
	table := tablesim.RandomTable(5, 1280, 720)
	m, err := tablesim.CameraNamed("render")
	require.NoError(t, err)
	table.Model, table.Look.Light, table.Look.Samples = &m, 0.6, 2
	calibrated := calibration.Table{Camera: table.Camera, Layout: table.Layout}
	other := fmt.Errorf("%w: another lens would fit them better", calibration.ErrMarkers)
	f, _, err := table.Render()
	require.NoError(t, err)
	assert.Equal(t, other, exposure.ExplainMarkers(other, f.Gray, markersOf(&calibrated)))
	m.Gain = 4
	f, _, err = table.Render()
	require.NoError(t, err)
	told := exposure.ExplainMarkers(other, f.Gray, markersOf(&calibrated))
	assert.ErrorContains(t, told, "the white of 100 % of the markers is burnt out")
	assert.ErrorIs(t, told, calibration.ErrMarkers)
	assert.Equal(t, fs.ErrClosed, exposure.ExplainMarkers(fs.ErrClosed, f.Gray, markersOf(&calibrated)), "another error")
	assert.NoError(t, exposure.ExplainMarkers(nil, f.Gray, nil))
	m.Gain = 30
	f, _, err = table.Render()
	require.NoError(t, err)
	assert.ErrorContains(t, exposure.ExplainMarkers(other, f.Gray, nil), "of the picture is burnt out")
}

// The paper's level is told before it is burnt out, and how much less light is right.
func TestAdviceComesBeforeWhiteIsBurntOut(t *testing.T) {
	table := tablesim.RandomTable(5, 1280, 720)
	m, err := tablesim.CameraNamed("render")
	require.NoError(t, err)
	table.Model, table.Look, table.Minis = &m, tablesim.DefaultLook(), nil
	table.Look.Samples = 2
	calibrated := calibration.Table{Camera: table.Camera, Layout: table.Layout}
	for _, c := range []struct {
		gain float64
		says string // of the exposure; "": nothing
	}{{0.7, ""}, {1, ""}, {1.5, "shorten the exposure to"}, {2.5, "burnt out"}} {
		m.Gain = c.gain
		f, _, err := table.Render()
		require.NoError(t, err)
		var g exposure.Gauges
		l := g.Look(f.Gray, markersOf(&calibrated), &calibrated)
		t.Logf("gain %.2f: paper %.0f, burnt %.2f", c.gain, l.Paper, l.Burnt)
		advice := fmt.Sprint(l.Advice())
		assert.Contains(t, advice, c.says, "gain %v: %+v", c.gain, l)
		assert.Equal(t, c.says != "", strings.Contains(advice, "exposure"), advice)
	}
}

func TestGaugesAcceptAnyPicture(t *testing.T) {
	var g exposure.Gauges
	assert.Empty(t, (&exposure.Light{}).Advice())
	tiny := image.NewGray(image.Rect(0, 0, 3, 3))
	l := g.Look(tiny, []calibration.MarkerSighting{{ID: 1}, {ID: 2, Corners: [4]geom.Pixel{{X: math.NaN()}, {X: 1e9}, {}, {Y: -5}}}}, nil)
	assert.Zero(t, l.Edges)
	g.Look(image.NewGray(image.Rect(0, 0, 200, 200)), nil, nil)
}

// Budget: 1 ms for a 1080p picture.
func BenchmarkGauges(b *testing.B) {
	table := tablesim.RandomTable(5, 1920, 1080)
	f, _, err := table.Render()
	require.NoError(b, err)
	calibrated := calibration.Table{Camera: table.Camera, Layout: table.Layout}
	markers := markersOf(&calibrated)
	var g exposure.Gauges
	g.Next(f.Gray)
	for b.Loop() {
		g.Look(f.Gray, markers, &calibrated)
	}
}
