package tablesim

import (
	"bytes"
	"image"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/token"
	"sightline/vision/track"
)

// A still is a table that changes only where a test changes it, before a camera with
// noise, and what tells whether it changed. The ships' places are the true ones.
type still struct {
	t      *testing.T
	table  *Table
	r      *renderer
	seq    uint64
	at     time.Time
	steady *track.ChangeDetector
	after  func(*image.Gray) *image.Gray // what the camera makes of a picture; nil: nothing
}

func newStill(t *testing.T, width, height int, noise float64) *still {
	s := &still{t: t, table: RandomTable(3, width, height), at: time.Unix(0, 0)}
	s.table.Look.ReadNoise = noise
	r, err := newRenderer(s.table)
	require.NoError(t, err)
	s.r = r
	seen := calibration.Table{Camera: s.table.Camera, Layout: s.table.Layout}
	s.steady, err = track.NewChangeDetector(seen, track.ChangeOptions{Every: time.Hour})
	require.NoError(t, err)
	return s
}

// picture is the next picture of the table as it is.
func (s *still) picture() *image.Gray {
	require.NoError(s.t, s.r.update(s.table))
	s.seq++
	s.at = s.at.Add(100 * time.Millisecond)
	g := s.r.expose(s.seq).Gray
	if s.after != nil {
		g = s.after(g)
	}
	return g
}

// noiseOf returns the standard deviation of a pixel of the mat from one picture to the next.
func (s *still) noiseOf(a, b *image.Gray) float64 {
	var sum float64
	n := 0
	for y := a.Rect.Dy() / 4; y < 3*a.Rect.Dy()/4; y++ {
		for x := a.Rect.Dx() / 3; x < 2*a.Rect.Dx()/3; x++ {
			d := float64(a.Pix[y*a.Stride+x]) - float64(b.Pix[y*b.Stride+x])
			sum += d * d
			n++
		}
	}
	return math.Sqrt(sum / 2 / float64(n))
}

// found is what a search would find, at its true place.
func (s *still) found() *vision.Located {
	out := &vision.Located{Obstacles: &vision.ObstacleSight{}}
	for _, ship := range s.table.Scene.Ships {
		v := vision.ShipView{ID: ship.ID}
		w, _ := ship.Base.Size()
		h := float64(w) / 2
		for i, p := range [4]geom.Point{{X: -h, Y: h}, {X: h, Y: h}, {X: h, Y: -h}, {X: -h, Y: -h}} {
			v.Outline[i], _ = s.table.Camera.PixelOf(ship.Pose.Transform(p), token.BaseTop)
		}
		out.Ships = append(out.Ships, v)
	}
	for _, o := range s.table.Scene.Obstacles {
		var v vision.ObstacleView
		for _, p := range o.Outline {
			px, _ := s.table.Camera.PixelOf(o.Pose.Transform(p), 0)
			v.OutlinePx = append(v.OutlinePx, px)
		}
		out.Obstacles.Views = append(out.Obstacles.Views, v)
	}
	return out
}

// settle searches pictures until it is steady.
func (s *still) settle() {
	for range 8 {
		g := s.picture()
		if s.steady.Unchanged(g, s.at) {
			return
		}
		s.steady.Searched(g, s.at, s.found(), true)
	}
	require.Fail(s.t, "never steady", "%+v", s.steady.Change())
}

// The camera's noise, light that drifts, lamps that flicker under a rolling shutter and
// compression are no change.
func TestChangesThatAreNotOfTheTable(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders many pictures")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rows := func(g *image.Gray, factor func(y int) float64) *image.Gray {
		for y := range g.Rect.Dy() {
			k := factor(y)
			row := g.Pix[y*g.Stride:][:g.Rect.Dx()]
			for x, v := range row {
				row[x] = uint8(min(float64(v)*k+0.5, 255))
			}
		}
		return g
	}
	light := 1.0
	for _, c := range []struct {
		name  string
		noise float64
		after func(*image.Gray) *image.Gray
		most  int // of 30 pictures that may be searched without need
	}{
		{"a good camera", 0.0015, nil, 0},
		{"a poor camera", 0.005, nil, 1},
		{"light that fades by 1 % a second", 0.003, func(g *image.Gray) *image.Gray {
			light *= 0.999
			return rows(g, func(int) float64 { return light })
		}, 1},
		{"flicker of 1 % in bands", 0.003, func(g *image.Gray) *image.Gray {
			phase := rng.Float64() * 2 * math.Pi
			return rows(g, func(y int) float64 { return 1 + 0.01*math.Sin(phase+float64(y)*2*math.Pi/300) })
		}, 1},
		{"JPEG of quality 90", 0.0015, func(g *image.Gray) *image.Gray { return compressed(t, g, 90) }, 1},
		{"JPEG of quality 75", 0.0015, func(g *image.Gray) *image.Gray { return compressed(t, g, 75) }, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			light = 1
			s := newStill(t, 1280, 720, c.noise)
			s.after = c.after
			s.settle()
			searched := 0
			for range 30 {
				g := s.picture()
				if !s.steady.Unchanged(g, s.at) {
					t.Logf("%+v", s.steady.Change())
					s.steady.Searched(g, s.at, s.found(), true)
					s.settle()
					searched++
				}
			}
			assert.LessOrEqual(t, searched, c.most, "of 30 pictures")
		})
	}
}

func compressed(t *testing.T, g *image.Gray, quality int) *image.Gray {
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, g, &jpeg.Options{Quality: quality}))
	m, err := jpeg.Decode(&b)
	require.NoError(t, err)
	return m.(*image.Gray)
}

// A ship that was moved by a few tenths of a millimetre, or turned a little, is noticed
// in the first picture that shows it.
func TestASmallMoveIsNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders many pictures")
	}
	for _, c := range []struct {
		width, height int
		noise         float64
		always        float64 // mm: from there on every move is noticed
	}{
		{1920, 1080, 0.0015, 0.1},
		{1920, 1080, 0.005, 0.15},
		{1280, 720, 0.003, 0.2},
	} {
		s := newStill(t, c.width, c.height, c.noise)
		s.settle()
		spread := s.noiseOf(s.picture(), s.picture())
		rng := rand.New(rand.NewPCG(3, 4))
		for _, by := range []float64{0.05, 0.1, 0.15, 0.3, 1} {
			noticed, n := 0, 0
			for i := range s.table.Scene.Ships {
				ship := &s.table.Scene.Ships[i]
				was := ship.Pose
				sin, cos := math.Sincos(rng.Float64() * 2 * math.Pi)
				ship.Pose.X, ship.Pose.Y = was.X+by*cos, was.Y+by*sin
				if i%3 == 2 { // turned about its middle so that its corners move by as much
					w, _ := ship.Base.Size()
					ship.Pose = was
					ship.Pose.Heading += geom.Angle(by / (float64(w) * math.Sqrt2 / 2))
				}
				n++
				if !s.steady.Unchanged(s.picture(), s.at) {
					noticed++
				} else if by >= c.always {
					t.Errorf("%d px wide, noise %.1f grey levels: %s moved by %.2f mm (%d) and nobody noticed", c.width, spread, ship.ID, by, i%3)
				}
				ship.Pose = was
			}
			t.Logf("%d px wide, noise of %.1f grey levels: %d of %d moves of %.2f mm noticed", c.width, spread, noticed, n, by)
		}
		require.True(t, s.steady.Unchanged(s.picture(), s.at), "%+v: it stands again where it stood", s.steady.Change())
	}
}

// Whatever comes to lie anywhere on the mat is noticed in the first picture, if it
// changes the grey of a few square millimetres by a little.
func TestAThingAnywhereIsNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders many pictures")
	}
	for _, noise := range []float64{0.0015, 0.005} {
		s := newStill(t, 1920, 1080, noise)
		s.settle()
		g := s.picture()
		spread := s.noiseOf(g, s.picture())
		clean := bytes.Clone(g.Pix)
		for _, c := range []struct {
			size   int     // px
			sigmas float64 // of the noise, and a grey level
		}{{16, 3}, {8, 7}, {4, 14}, {2, 40}} {
			change := int(1 + c.sigmas*spread)
			rng := rand.New(rand.NewPCG(5, uint64(c.size)))
			missed, n := 0, 0
			for range 100 {
				copy(g.Pix, clean)
				at := geom.Point{X: 20 + rng.Float64()*(float64(s.table.Layout.Width)-40), Y: 20 + rng.Float64()*(float64(s.table.Layout.Height)-40)}
				px, ok := s.table.Camera.PixelOf(at, 0)
				require.True(t, ok)
				if !lay(g, int(px.X), int(px.Y), c.size, change*(1-2*rng.IntN(2))) {
					continue // it cannot be darker than black
				}
				n++
				if s.steady.Unchanged(g, s.at) {
					missed++
				}
			}
			t.Logf("noise of %.1f grey levels: %d × %d px by %d grey levels: missed %d of %d", spread, c.size, c.size, change, missed, n)
			assert.Zero(t, missed)
			assert.Greater(t, n, 15)
		}
	}
}

// lay changes the grey of a square; it reports false where there is no room for it.
func lay(g *image.Gray, x0, y0, size, change int) bool {
	whole := true
	for y := y0; y < y0+size; y++ {
		for x := x0; x < x0+size; x++ {
			v := int(g.Pix[y*g.Stride+x]) + change
			whole = whole && v >= 0 && v <= 255
			g.Pix[y*g.Stride+x] = uint8(max(0, min(v, 255)))
		}
	}
	return whole
}

func TestHandsRocksAndAMovedCameraAreNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders many pictures")
	}
	s := newStill(t, 1280, 720, 0.003)
	for _, c := range []struct {
		name   string
		change func(*Table)
	}{
		{"a hand over the edge of the mat", func(t *Table) { t.Hands = []Hand{{Player: 1, Tip: geom.Point{X: 200, Y: 20}, Z: 60}} }},
		{"an obstacle moved by a millimetre", func(t *Table) {
			t.Scene.Obstacles = append(t.Scene.Obstacles[:0:0], t.Scene.Obstacles...)
			t.Scene.Obstacles[0].Pose.X++
		}},
		{"a ship was taken away", func(t *Table) { t.Scene.Ships = t.Scene.Ships[1:] }},
		{"a card of 10 mm, grey on black", func(t *Table) {
			t.Clutter = append(t.Clutter[:len(t.Clutter):len(t.Clutter)], Clutter{Pose: geom.Pose{Point: geom.Point{X: 450, Y: 30}}, Width: 10,
				Length: 10, Height: 1})
		}},
		{"the camera turned by 0.01°", func(t *Table) { t.Camera = Turned(t.Camera, 0.008, 0.006, 0) }},
		{"the lamp dimmed by 15 %", func(t *Table) { t.Look.Light *= 0.85 }},
	} {
		was := *s.table
		s.settle()
		c.change(s.table)
		r := s.r
		var err error
		s.r, err = newRenderer(s.table)
		require.NoError(t, err)
		assert.False(t, s.steady.Unchanged(s.picture(), s.at), c.name)
		t.Logf("%s: %+v", c.name, s.steady.Change())
		*s.table, s.r = was, r
		s.steady.Reset()
	}
}

// What is steady costs no memory, so that a day's pictures cost none.
func TestComparingAStillTableAllocatesNothing(t *testing.T) {
	s := newStill(t, 1280, 720, 0.003)
	s.settle()
	g := s.picture()
	require.Zero(t, testing.AllocsPerRun(20, func() { require.True(t, s.steady.Unchanged(g, s.at)) }))
}
