package obstacle

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/tablesim"
	"sightline/vision/token"
)

// A searchedTable is a simulated table in the middle of a game: eight ships under their miniatures, rocks, and cards, dials and
// templates that the catalogue does not know.
type searchedTable struct {
	testing.TB
	table   *tablesim.Table
	catalog *catalogue.Catalogue
	mat     *Background
	seed    uint64
}

func newSearchedTable(tb testing.TB, outlines, things int, mat ...tablesim.MatStyle) *searchedTable {
	s := &searchedTable{TB: tb, table: tablesim.RandomTable(5003, 1920, 1080), catalog: &catalogue.Catalogue{}}
	s.table.Scene.Ships = s.table.Scene.Ships[:8]
	for _, m := range mat {
		s.table.Look.Mat = m
	}
	s.table.Hands, s.table.Clutter = nil, nil
	rng := rand.New(rand.NewPCG(7, 7))
	for k, side := range [][2]geom.Length{{20, 40}, {41, 63}, {50, 50}, {20, 20}, {12, 12}, {20, 120}, {40, 40}, {63, 88}}[:things] {
		s.table.Clutter = append(s.table.Clutter, tablesim.Clutter{Width: side[0], Length: side[1], Height: 2,
			Pose:  geom.Pose{Point: geom.Point{X: 60 + 110*float64(k), Y: 60 + 700*rng.Float64()}, Heading: geom.Angle(6 * rng.Float64())},
			Color: color.RGBA{uint8(80 + 20*k), uint8(220 - 15*k), 120, 255}})
	}
	for seed := uint64(5003); len(s.catalog.Entries) < outlines; seed++ { // rocks of other tables, as of a whole collection
		for _, o := range tablesim.RandomTable(seed, 1920, 1080).Scene.Obstacles {
			e, err := catalogue.NewEntry(o.ID+string(rune('a'+seed-5003)), o.Kind, o.Outline)
			require.NoError(tb, err)
			s.catalog.Entries = append(s.catalog.Entries, e)
		}
	}
	empty := *s.table
	empty.Scene.Ships, empty.Scene.Obstacles, empty.Clutter, empty.Minis = nil, nil, nil, nil
	empty.Shot = 1
	f, _, err := empty.Render()
	require.NoError(tb, err)
	l := NewBackgroundLearner(s.calibrated())
	require.NoError(tb, l.Add(f))
	s.mat, err = l.Background()
	require.NoError(tb, err)
	return s
}

func (s *searchedTable) calibrated() calibration.Table {
	return calibration.Table{Camera: s.table.Camera, Layout: s.table.Layout}
}

func (s *searchedTable) finder() *Finder {
	f, err := NewFinder(s.calibrated(), s.catalog, s.mat, calibration.DefaultUncertainty)
	require.NoError(s, err)
	return f
}

// picture takes a picture of the table, each with other noise, and says what its ships hide.
func (s *searchedTable) picture() (f vision.Frame, bases []geom.Polygon) {
	f, _, err := s.table.Render()
	require.NoError(s, err)
	s.seed++
	rng := rand.New(rand.NewPCG(s.seed, 0x6e6f697365))
	g := image.NewGray(f.Gray.Rect)
	for i, v := range f.Gray.Pix {
		g.Pix[i] = uint8(min(max(math.Round(float64(v)+1.5*rng.NormFloat64()), 0), 255))
	}
	f.Gray = g
	center := s.table.Camera.Center()
	for _, ship := range s.table.Scene.Ships {
		var base geom.Polygon
		for _, p := range (token.Token{Base: ship.Base}).Corners() {
			base = append(base, ship.Pose.Transform(p))
		}
		bases = append(bases, hiddenBy(base, token.BaseTop, center))
	}
	return f, bases
}

// unlike is the share of the mat, in ‰, where one sight has an unknown thing or a blind area and another has none.
func unlike(a, b *vision.ObstacleSight) float64 {
	in := func(s *vision.ObstacleSight, p geom.Point) (unknown, blind bool) {
		for _, u := range s.Unknown {
			unknown = unknown || geom.Polygon(u.Outline).Contains(p)
		}
		for _, u := range s.Blind {
			blind = blind || geom.Polygon(u.Outline).Contains(p)
		}
		return unknown, blind
	}
	var n, all float64
	for y := 2.0; y < float64(calibration.MatSide); y += 4 {
		for x := 2.0; x < float64(calibration.MatSide); x += 4 {
			p := geom.Point{X: x, Y: y}
			u, v := in(a, p)
			if w, z := in(b, p); u != w || v != z {
				n++
			}
			all++
		}
	}
	return 1000 * n / all
}

// What a search remembers saves it from comparing, and changes no answer.
func TestASearchThatRemembersAnswersAsOneThatDoesNot(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws and searches many pictures: run without -short")
	}
	s := newSearchedTable(t, 5, 5)
	incremental, full := s.finder(), s.finder()
	incremental.memories = &memories{}
	scene := &s.table.Scene
	scene.Obstacles[2].Pose.X += 60 // where it lies, it is so faint that the noise of each picture decides whether it is recognised
	rock := scene.Obstacles[0]
	scene.Obstacles = scene.Obstacles[1:]
	var known []vision.ObstacleView
	for _, step := range []struct {
		name   string
		change func()
		most   float64 // share of the blobs that are compared again
	}{
		{"nothing was searched before", func() {}, 1},
		{"nothing changed", func() {}, 0.1},
		{"a ship moved", func() { scene.Ships[0].Pose.X += 70 }, 0.5},
		{"a hand came", func() { s.table.Hands = []tablesim.Hand{{Player: 1, Tip: geom.Point{X: 300, Y: 250}, Z: 40}} }, 0.7},
		{"it went, and had pushed a rock", func() { s.table.Hands = nil; scene.Obstacles[0].Pose.X += 3 }, 0.7},
		{"a rock was laid down", func() { scene.Obstacles = append(scene.Obstacles, rock) }, 0.5},
		{"one was taken away, and a ship moved", func() { scene.Obstacles = scene.Obstacles[1:]; scene.Ships[3].Pose.Y += 50 }, 0.7},
		{"the light changed", func() { s.table.Look.Light *= 0.7 }, 1},
	} {
		step.change()
		frame, bases := s.picture()
		before := map[any]bool{}
		count := func(m *memories, do func(any)) {
			for k := range m.blobs {
				for _, r := range m.blobs[k].before {
					do(r)
				}
			}
			for _, r := range m.bases.before {
				do(r)
			}
		}
		count(incremental.memories, func(r any) { before[r] = true })
		var got, want vision.ObstacleSight
		fast := processorTime(func() { got = incremental.search(frame, bases, known) })
		slow := processorTime(func() { want = full.search(frame, bases, known) })
		asked, again := 0.0, 0.0
		count(incremental.memories, func(r any) {
			if asked++; !before[r] {
				again++
			}
		})
		t.Logf("%s: %.2f s instead of %.2f; %d recognised, %d unknown; %.0f of %.0f blobs compared", step.name, fast, slow, len(got.Views),
			len(got.Unknown), again, asked)
		assert.LessOrEqual(t, again, step.most*asked, "%s: blobs that were compared again", step.name)
		if step.most == 1 {
			assert.Equal(t, asked, again, "%s: all are compared", step.name)
		}
		require.Empty(t, want.Unseen, step.name)
		require.Equal(t, want.Unseen, got.Unseen, step.name)
		require.Len(t, got.Views, len(want.Views), step.name)
		for i, v := range want.Views {
			assert.Equal(t, v.ID, got.Views[i].ID, step.name)
			assert.Less(t, float64(v.Pose.Distance(got.Views[i].Pose.Point)), 0.3, "%s: %s, mm", step.name, v.ID)
		}
		assert.Len(t, got.Bases, len(want.Bases), step.name)
		assert.Less(t, unlike(&got, &want), 1.0, "%s: ‰ of the mat, of unknown things and blind areas", step.name)
		known = got.Views
	}
}

// processorTime returns the seconds that this process worked while do ran.
func processorTime(do func()) float64 {
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	do()
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	return float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano()) / 1e9
}

// BenchmarkSearchAfterAChange measures a search in the background after something was changed, with a catalogue of 20 outlines, eight
// ships under miniatures and eight unknown things on the mat: processor time, the least of the rounds, as the machine is shared.
// Budget: 0.5 s of a core at 1080p.
func BenchmarkSearchAfterAChange(b *testing.B) {
	s := newSearchedTable(b, 20, 8)
	scene := &s.table.Scene
	type change struct {
		name     string
		do, undo func()
	}
	changes := []change{
		{"nothing", func() {}, func() {}},
		{"a ship moved", func() { scene.Ships[0].Pose.X += 70 }, func() { scene.Ships[0].Pose.X -= 70 }},
		{"a rock was pushed", func() { scene.Obstacles[0].Pose.X += 3 }, func() { scene.Obstacles[0].Pose.X -= 3 }},
	}
	for _, h := range [...]tablesim.Hand{{Player: 1, Tip: geom.Point{X: 300, Y: 250}}, {Player: 1, Tip: geom.Point{X: 500, Y: 400}},
		{Player: 1, Tip: geom.Point{X: 700, Y: 200}}, {Player: 2, Tip: geom.Point{X: 250, Y: 600}}} {
		h.Z = 40
		changes = append(changes, change{fmt.Sprintf("a hand rests at %v, %v", h.Tip.X, h.Tip.Y), func() { s.table.Hands = []tablesim.Hand{h} },
			func() { s.table.Hands = nil }})
	}
	for _, changed := range changes {
		b.Run(changed.name, func(b *testing.B) {
			one, basesOne := s.picture()
			changed.do()
			two, basesTwo := s.picture()
			changed.undo()
			f := s.finder()
			w := NewWatch(f, true, nil, false)
			search := func(frame vision.Frame, bases []geom.Polygon) {
				w.startSearch(frame, bases)
				w.set(<-w.running)
				require.NotEmpty(b, w.sight.Views)
			}
			after, full := math.Inf(1), math.Inf(1)
			for b.Loop() {
				f.memories, w.lying = &memories{}, nil
				full = min(full, processorTime(func() { search(one, basesOne) }))
				after = min(after, processorTime(func() { search(two, basesTwo) }))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(after, "s/after")
			b.ReportMetric(full, "s/full")
			b.ReportMetric(after/full, "after/full")
		})
	}
}

// In noise a patch looks as before though the rock in it was pushed by a millimetre: its edges tell.
func TestARockByItsAreaThatWasPushedInNoiseIsComparedAgain(t *testing.T) {
	f, table := finderOfGrain(t)
	lies := geom.Pose{Point: geom.Point{X: 150, Y: 150}, Heading: 0.4}
	picture := func(by float64, seed uint64) *image.Gray {
		g := grainy(table, 6, 6, seed)
		at := lies
		at.X += by
		var outline geom.Polygon
		for _, p := range f.shapes[0].outline {
			outline = append(outline, at.Transform(p))
		}
		middle, _ := table.PixelOf(lies.Point, 0)
		for y := int(middle.Y) - 50; y < int(middle.Y)+50; y++ {
			for x := int(middle.X) - 50; x < int(middle.X)+50; x++ {
				p, ok := table.PointAt(geom.Pixel{X: float64(x), Y: float64(y)}, catalogue.TokenTop)
				if i := g.PixOffset(x, y); ok && outline.Contains(p) {
					g.Pix[i] = uint8(min(int(g.Pix[i])+40, 255))
				}
			}
		}
		return g
	}
	g := picture(0, 1)
	f.compare(vision.Frame{Gray: g})
	m := match{start: hypothesis{shape: &f.shapes[0], pose: lies}, found: true}
	v, ok := f.refine(g, m.start)
	require.True(t, ok)
	m.view, m.edges = v, v.Pose
	m.view.Area = 0.5
	for seed := range uint64(2) {
		for by, stands := range map[float64]bool{0: true, 1: false, -1.5: false} {
			g := picture(by, 10+seed)
			f.compare(vision.Frame{Gray: g})
			assert.Equal(t, stands, f.stands(g, m), "pushed by %g mm", by)
		}
	}
	f.bases = []geom.Polygon{squareOf(geom.Pose{Point: geom.Point{X: 190, Y: 150}}, 20)}
	assert.False(t, f.stands(picture(0, 20), m), "a ship stands beside it")
}
