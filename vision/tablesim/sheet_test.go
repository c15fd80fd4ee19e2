package tablesim_test

import (
	"image/color"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/catalogue"
	"sightline/vision/obstacle/trace"
	"sightline/vision/tablesim"
)

// disc is a round token: it looks the same turned about.
func disc(r float64) (out []geom.Point) {
	for i := range 48 {
		s, c := math.Sincos(2 * math.Pi * float64(i) / 48)
		out = append(out, geom.Point{X: r * c, Y: r * s})
	}
	return out
}

// sheetTable is a table with one sheet of white paper, 260 mm square, in its middle, and
// tokens on it.
func sheetTable(tokens ...engine.Obstacle) *tablesim.Table {
	table := tablesim.RandomTable(3, 1280, 720)
	table.Minis, table.Hands, table.Scene.Ships = nil, nil, nil
	table.Clutter = []tablesim.Clutter{{Pose: geom.Pose{Point: geom.Point{X: 457, Y: 457}, Heading: 0.1}, Width: 260, Length: 260, Height: 0.1,
		Color: color.RGBA{240, 240, 240, 255}}}
	table.Scene.Obstacles = tokens
	return table
}

func tokenAt(x, y float64, outline []geom.Point) engine.Obstacle {
	return engine.Obstacle{ID: "t", Kind: "asteroid", Pose: geom.Pose{Point: geom.Point{X: x, Y: y}}, Outline: outline}
}

func TestUntraceableTokensAreReportedWithTheReason(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws and searches whole pictures: run without -short")
	}
	lump := tablesim.PaperOutlines()[0].Outline
	for name, c := range map[string]struct {
		tokens         []engine.Obstacle
		problem, doubt string
	}{
		"two that touch":        {[]engine.Obstacle{tokenAt(430, 457, disc(22)), tokenAt(474.2, 457, disc(22))}, "", "two tokens that touch"},
		"over the paper's edge": {[]engine.Obstacle{tokenAt(457, 592, lump)}, "reaches over the paper's edge", ""},
		"a crumb":               {[]engine.Obstacle{tokenAt(457, 457, disc(3.8))}, "smaller than any token", ""},
		"a whole one":           {[]engine.Obstacle{tokenAt(457, 457, lump)}, "", ""},
		"a narrow one": {[]engine.Obstacle{tokenAt(457, 457, []geom.Point{{X: -40, Y: -6}, {X: 40, Y: -9}, {X: 42, Y: 7},
			{X: -38, Y: 5}})}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			table := sheetTable(c.tokens...)
			found, err := trace.Sheet(render(t, table), tableOf(table), catalogue.TokenTop)
			require.NoError(t, err)
			var on []trace.Token // what lies near the paper: the mat's print has crumbs of its own
			for _, k := range found {
				if p := k.Outline[0]; math.Abs(p.X-457) < 180 && math.Abs(p.Y-457) < 180 {
					on = append(on, k)
				}
			}
			require.Len(t, on, 1, "%+v", on)
			assert.Contains(t, on[0].Problem, c.problem)
			assert.Contains(t, on[0].Doubt, c.doubt)
			assert.Equal(t, c.problem == "", on[0].Problem == "", on[0].Problem)
			assert.Equal(t, c.doubt == "", on[0].Doubt == "", on[0].Doubt)
		})
	}
}

func TestAPictureOfAnotherSizeIsNotTraced(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws and searches whole pictures: run without -short")
	}
	table := sheetTable()
	cal := tableOf(table)
	cal.Intrinsics.Width++
	_, err := trace.Sheet(render(t, table), cal, catalogue.TokenTop)
	assert.ErrorContains(t, err, "the calibration is for 1281×720")
}

func TestTokensThatTheSearchWouldConfuseAreNamed(t *testing.T) {
	tokens := tablesim.PaperOutlines()
	turned, flipped := catalogue.LikeItself(disc(25))
	assert.True(t, turned && flipped, "a disc")
	square := []geom.Point{{X: -20, Y: -20}, {X: 20, Y: -20}, {X: 20, Y: 20}, {X: -20, Y: 20}}
	turned, flipped = catalogue.LikeItself(square)
	assert.True(t, turned && flipped, "a square")
	kite := []geom.Point{{X: -30, Y: 0}, {X: 0, Y: -15}, {X: 25, Y: 0}, {X: 0, Y: 15}}
	turned, flipped = catalogue.LikeItself(kite)
	assert.False(t, turned, "a kite has one way to lie")
	assert.True(t, flipped, "but its faces are alike")

	a := tokens[0].Outline
	moved := make([]geom.Point, len(a))
	mirrored := make([]geom.Point, len(a))
	at := geom.Pose{Point: geom.Point{X: 300, Y: 200}, Heading: 1.2}
	for i, p := range a {
		moved[i] = at.Transform(p)
		mirrored[len(a)-1-i] = geom.Point{X: -p.X, Y: p.Y}
	}
	assert.True(t, catalogue.Alike(a, moved), "the same one lying elsewhere")
	assert.True(t, catalogue.Alike(a, mirrored), "the same one with its other face up")
	grown := make([]geom.Point, len(a))
	for i, p := range a {
		grown[i] = p.Mul(1.25)
	}
	assert.False(t, catalogue.Alike(a, grown), "a larger one")
	for i := range tokens {
		for j := range i {
			assert.False(t, catalogue.Alike(tokens[i].Outline, tokens[j].Outline), "%s and %s", tokens[i].ID, tokens[j].ID)
			there := catalogue.Likeness(tokens[i].Outline, tokens[j].Outline, false)
			assert.InDelta(t, there, catalogue.Likeness(tokens[j].Outline, tokens[i].Outline, false), 0.12, "nearly the same the other way round")
		}
	}
}
