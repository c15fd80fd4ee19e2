package dots

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/visiontest"
)

// No two numbers have the same dots, and the first five need one of theirs.
func TestNumbersHaveTheirOwnDots(t *testing.T) {
	seen := map[[2]Colour]int{}
	for n := 1; n <= Numbers; n++ {
		l, r, ok := OfNumber(n)
		require.True(t, ok, n)
		assert.Equal(t, n <= colours, l == r, n)
		assert.Zero(t, seen[[2]Colour{l, r}], "%d has the dots of %d", n, seen[[2]Colour{l, r}])
		seen[[2]Colour{l, r}] = n
	}
	for _, id := range []string{"", "A", "A0", "A26", "A-1", "Ax"} {
		_, _, ok := OfShip(id)
		assert.False(t, ok, id)
	}
	l, r, ok := OfShip("B6")
	assert.True(t, ok)
	assert.Equal(t, "red green", l.String()+" "+r.String())
}

// One dot is enough where it decides; what it leaves open stays open.
func TestWhichShipTheDotsName(t *testing.T) {
	for _, c := range []struct {
		read Reading
		may  []string
		want string
	}{
		{Reading{Red, Red}, []string{"A1", "A2", "A3"}, "A1"},
		{Reading{None, Green}, []string{"A1", "A2", "A3"}, "A2"},
		{Reading{None, Green}, []string{"A2", "A6"}, ""}, // A6 is red and green
		{Reading{Red, None}, []string{"A1", "A6"}, ""},
		{Reading{Red, Green}, []string{"A1", "A6"}, "A6"},
		{Reading{None, None}, []string{"A1"}, ""},
		{Reading{Blue, Blue}, []string{"A1", "A2"}, ""},
		{Reading{Red, Red}, []string{"A1", "B1"}, ""}, // of two players
		{Reading{Red, Red}, []string{"?1"}, ""},
	} {
		id, ok := c.read.Resolve(c.may)
		assert.Equal(t, c.want, id, "%v of %v", c.read, c.may)
		assert.Equal(t, c.want != "", ok)
	}
}

// inks are what a printer makes of the colours, sRGB.
var inks = map[Colour][3]float64{Red: {215, 45, 50}, Green: {60, 175, 70}, Blue: {40, 110, 215}, Yellow: {240, 215, 45},
	Magenta: {205, 60, 190}}

// drawn is a base with dots on a mat with one white marker's card.
type drawn struct {
	table calibration.Table
	base  engine.Base
	pose  geom.Pose
	dots  [2]Colour
	off   geom.Point // by which the stickers lie off their places
	light [3]float64 // of the lamp
	bare  bool       // discs without their rings, as in a card's art
	tail  bool       // the colour goes on through the ring, as in print
	over  func(p geom.Point) bool
}

func newDrawn(base engine.Base, l, r Colour) *drawn {
	t := visiontest.TableOf(1.02, 260)
	t.Layout.Markers = []calibration.Marker{{ID: 0, Center: geom.Point{X: 30, Y: 30}, Size: 20}}
	return &drawn{table: t, base: base, pose: geom.Pose{Point: geom.Point{X: 160, Y: 150}, Heading: 0.7}, dots: [2]Colour{l, r},
		light: [3]float64{1, 1, 1}}
}

// at is the reflectance of what lies at a point.
func (d *drawn) at(p geom.Point) rgb {
	if q := p.Sub(geom.Point{X: 30, Y: 30}); max(math.Abs(q.X), math.Abs(q.Y)) < 16 {
		if max(math.Abs(q.X), math.Abs(q.Y)) < 10 {
			return rgb{0.03, 0.03, 0.03}
		}
		return rgb{0.9, 0.9, 0.9}
	}
	if d.over != nil && d.over(p) {
		return rgb{0.3, 0.28, 0.26}
	}
	q := d.pose.Inverse(p)
	for i, c := range Places(d.base) {
		switch away := float64(q.Distance(c.Add(d.off))); {
		case d.dots[i] == None || away > 4 && !d.tail:
		case away <= 3 || d.tail && away < 8 && math.Abs(q.X-c.X) < 1.6 && q.Y > c.Y:
			ink := inks[d.dots[i]]
			return rgb{linear[int(ink[0])], linear[int(ink[1])], linear[int(ink[2])]}
		case !d.bare && away <= 4:
			return rgb{0.85, 0.85, 0.85}
		}
	}
	if w, l := d.base.Size(); math.Abs(q.X) < float64(w)/2 && math.Abs(q.Y) < float64(l)/2 {
		v := 0.04 + 0.04*math.Sin(q.X)*math.Sin(1.3*q.Y)
		return rgb{v + 0.03, v, v}
	}
	return rgb{0.02, 0.02, 0.03}
}

func (d *drawn) take(seed uint64) vision.Frame {
	w, h := d.table.Intrinsics.Width, d.table.Intrinsics.Height
	raw := make([]rgb, w*h)
	for k := range raw {
		for _, o := range [5][2]float64{{0, 0}, {-0.5, -0.5}, {0.5, -0.5}, {-0.5, 0.5}, {0.5, 0.5}} {
			p, _ := d.table.PointAt(geom.Pixel{X: float64(k%w) + o[0], Y: float64(k/w) + o[1]}, 3.7)
			for i, v := range d.at(p) {
				raw[k][i] += v * d.light[i] / 5
			}
		}
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	f := vision.Frame{Gray: image.NewGray(image.Rect(0, 0, w, h)), Color: &vision.BGR{Width: w, Height: h, Pix: make([]byte, 3*w*h)}}
	for k, c := range raw {
		for i, v := range c {
			f.Color.Pix[3*k+2-i] = uint8(min(max(float64(visiontest.Encode(min(v, 1)))+1.5*rng.NormFloat64(), 0), 255))
		}
	}
	return f
}

func (d *drawn) read(t *testing.T, seed uint64) Reading {
	r, ok := NewReader(d.table, d.take(seed))
	require.True(t, ok)
	return r.Read(d.base, d.pose, 3.6)
}

// All colours are read at 1 px/mm, on all bases, in warm and dim light, and laid 0.8 mm off.
func TestDotsAreRead(t *testing.T) {
	for n := 1; n <= 10; n++ {
		l, r, _ := OfNumber(n)
		d := newDrawn([]engine.Base{engine.Small, engine.Medium, engine.Large}[n%3], l, r)
		d.light = [][3]float64{{1, 1, 1}, {0.9, 0.7, 0.45}, {0.25, 0.27, 0.3}}[n/3%3]
		d.off = geom.Point{X: 0.8 * math.Cos(float64(n)), Y: 0.8 * math.Sin(float64(n))}
		d.pose.Heading = geom.Angle(n)
		assert.Equal(t, Reading{l, r}, d.read(t, uint64(n)), "number %d, light %v", n, d.light)
	}
}

// What is no dot is none: a card's art, a disc without its ring, a dot that is half hidden, nothing.
func TestWhatIsNoDotIsNotRead(t *testing.T) {
	for name, change := range map[string]func(*drawn){
		"no dots":  func(d *drawn) { d.dots = [2]Colour{} },
		"no rings": func(d *drawn) { d.bare = true },
		"hidden": func(d *drawn) {
			d.over = func(p geom.Point) bool {
				q := d.pose.Inverse(p)
				return math.Abs(q.X) < Places(d.base)[1].X+0.5
			}
		},
		"a ring that the colour breaks": func(d *drawn) { d.tail = true },
		"laid elsewhere":                func(d *drawn) { d.off = geom.Point{Y: 5} },
	} {
		d := newDrawn(engine.Small, Red, Blue)
		change(d)
		assert.Equal(t, Reading{}, d.read(t, 3), name)
	}
	d := newDrawn(engine.Small, Red, Red)
	f := d.take(1)
	gray := f
	gray.Color = nil
	_, ok := NewReader(d.table, gray)
	assert.False(t, ok, "a grey camera")
	d.table.Layout.Markers = nil
	_, ok = NewReader(d.table, f)
	assert.False(t, ok, "no white is known")
	assert.Equal(t, "none", fmt.Sprint(None))
}
