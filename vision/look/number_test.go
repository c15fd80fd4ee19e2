package look

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// drawnNumber is something light on dark as a number is, another one for each seed.
func drawnNumber(seed uint64) art {
	rng := rand.New(rand.NewPCG(seed, 3))
	var on [3][5]bool
	for i := range on {
		for j := range on[i] {
			on[i][j] = rng.Float64() < 0.5
		}
	}
	return func(u, v float64) [3]float64 {
		i, j := int((u+2.25)/1.5), int((v+3.5)/1.4)
		if u > -2.25 && v > -3.5 && i < 3 && j < 5 && on[i][j] {
			return [3]float64{0.7, 0.7, 0.7}
		}
		return [3]float64{0.03, 0.03, 0.03}
	}
}

// aslant draws one base in the part of a picture of 3840×2160 pixels round it, from a camera that looks aslant.
func aslant(t *testing.T, b drawnBase, seed uint64, hides func(geom.Point) (bool, float64)) (calibration.Table, vision.Frame) {
	t.Helper()
	const side = 200
	sin, cos := math.Sincos(-42 * math.Pi / 180)
	c := calibration.Camera{Intrinsics: calibration.Intrinsics{Width: side, Height: side, Fx: 2850, Fy: 2850}}
	c.R = [3][3]float64{{1, 0, 0}, {0, -cos, sin}, {0, -sin, -cos}}
	for i, row := range c.R { // 1.2 m from the middle of the mat, 0.4 m before its edge
		c.T[i] = -(457*row[0] - 400*row[1] + 880*row[2])
	}
	px, ok := c.PixelOf(b.pose.Point, CardTop)
	require.True(t, ok)
	c.Cx, c.Cy = side/2-px.X, side/2-px.Y
	d := drawing{table: calibration.Table{Camera: c}, bases: []drawnBase{b}, hides: hides, noise: 2}
	return d.table, d.draw(seed)
}

// A base is told from others with the same card by its ID token, where a camera that looks aslant sees it from the front, and not where it
// is seen from its edge, where something hides it, or where its number may be one that was not shown.
func TestAnIDTokenTellsCopiesApart(t *testing.T) {
	card := drawnArt(3)
	at := func(x, y, heading float64) geom.Pose {
		return geom.Pose{Point: geom.Point{X: x, Y: y}, Heading: geom.Angle(heading) * geom.Degree}
	}
	shown := func(n uint64, id string) *Look {
		l := &Look{Name: id, Ships: []string{id}, Base: engine.Small}
		var views []View
		var poses []geom.Pose
		for i := range 4 {
			b := drawnBase{base: engine.Small, pose: at(420, 300, float64(90*i)+4), art: card, number: drawnNumber(n)}
			table, f := aslant(t, b, n, nil)
			views, poses = append(views, View{table, f, b.pose}), append(poses, b.pose)
		}
		l.number = numberIn(views, poses)
		require.Greater(t, l.number.scale, 2.0)
		again, err := faceOf(l.number.levels(), l.number.scale)
		require.NoError(t, err)
		l.number = again // as a file keeps it
		return l
	}
	bare := drawnBase{base: engine.Small, pose: at(420, 300, 80), art: card}
	table, f := aslant(t, bare, 9, nil)
	back := drawnBase{base: engine.Small, pose: at(420, 300, 260), art: card}
	table2, f2 := aslant(t, back, 10, nil)
	without := []View{{table, f, bare.pose}, {table2, f2, back.pose}}
	assert.Zero(t, numberIn(without, []geom.Pose{bare.pose, back.pose}), "a tower without tokens")
	looks := []*Look{shown(1, "A1"), shown(2, "A2"), shown(3, "A3")}
	for _, c := range []struct {
		name   string
		number uint64
		pose   geom.Pose
		hidden bool
		want   string
	}{
		{"to the left", 1, at(420, 500, 80), false, "A1"},
		{"to the right", 2, at(700, 300, -115), false, "A2"},
		{"far and turned", 3, at(200, 820, 50), false, "A3"},
		{"from its edge", 3, at(457, 300, 2), false, ""},
		{"hidden", 1, at(420, 500, 80), true, ""},
		{"never shown", 4, at(420, 500, 80), false, ""},
	} {
		b := drawnBase{base: engine.Small, pose: c.pose, art: card, number: drawnNumber(c.number)}
		var hides func(geom.Point) (bool, float64)
		if c.hidden {
			hides = discOver(c.pose.Point, 14, 0.4)
		}
		table, f := aslant(t, b, 20+c.number, hides)
		off := c.pose
		off.X, off.Heading = off.X+0.2, off.Heading+0.3*geom.Degree
		finder := NewFinder(table, &Library{Looks: looks}, calibration.Uncertainty{})
		got := ""
		if l := finder.Number(f, off, looks); l != nil {
			got = l.Name
		}
		assert.Equal(t, c.want, got, c.name)
		assert.Nil(t, finder.Number(f, off, append([]*Look{{Ships: []string{"A4"}}}, looks...)), "%s: A4's was not shown", c.name)
	}
}

// Two bases that seem to carry the same number carry none.
func TestOneIDTokenStandsOnOneShip(t *testing.T) {
	card := drawnArt(3)
	pose := geom.Pose{Point: geom.Point{X: 420, Y: 500}, Heading: 80 * geom.Degree}
	b := drawnBase{base: engine.Small, pose: pose, art: card, number: drawnNumber(1)}
	table, f := aslant(t, b, 5, nil)
	seen, ok := shootFace(&table, f, b.pose, 1, 0)
	if !ok {
		seen, ok = shootFace(&table, f, b.pose, -1, 0)
	}
	require.True(t, ok)
	dark := seen
	dark.cells = make([]float32, len(seen.cells))
	own, other := &Look{Name: "A1", Ships: []string{"A1"}, number: seen}, &Look{Name: "A2", Ships: []string{"A2"}, number: dark}
	finder := NewFinder(table, &Library{}, calibration.Uncertainty{})
	one := Sight{Look: other, Alike: []*Look{own}, Pose: b.pose, Evidence: 50, Counted: true, Elsewhere: true}
	assert.False(t, one.Named())
	sights := []Sight{one}
	finder.byNumbers(f, sights)
	assert.Equal(t, []string{"A1"}, sights[0].Ships())
	assert.True(t, sights[0].Named())
	sights = []Sight{one, one}
	finder.byNumbers(f, sights)
	for _, s := range sights {
		assert.Equal(t, []string{"A1", "A2"}, s.Ships())
	}
}
