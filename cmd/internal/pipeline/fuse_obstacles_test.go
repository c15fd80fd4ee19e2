package pipeline

import (
	"fmt"
	"image/color"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/locate"
	"sightline/vision/obstacle"
	"sightline/vision/tablesim"
	"sightline/vision/token"
)

// sees is a locator that finds ships, and of the obstacles what it is told.
type sees struct {
	Locator
	obstacles *vision.ObstacleSight
}

func (s *sees) Locate(f vision.Frame) (vision.Located, error) {
	l, err := s.Locator.Locate(f)
	l.Obstacles = s.obstacles
	l.Scene.MatWidth, l.Scene.MatHeight = calibration.MatSide, calibration.MatSide
	l.Scene.ObstaclesUnseen = s.obstacles == nil || s.obstacles.Unseen != ""
	if s.obstacles != nil {
		for _, v := range s.obstacles.Views {
			l.Scene.Obstacles = append(l.Scene.Obstacles, engine.Obstacle{ID: v.ID, Kind: v.Entry.Kind, Pose: v.Pose, Outline: v.Entry.Outline})
		}
		for _, t := range s.obstacles.Unknown {
			l.Scene.Unknown = append(l.Scene.Unknown, t.Outline)
		}
	}
	return l, err
}

// newBenchWithObstacles is a two-eyed bench whose main camera sees obstacles too.
func newBenchWithObstacles(t *testing.T) (*twoEyedBench, *sees) {
	b, s := &twoEyedBench{}, &sees{obstacles: &vision.ObstacleSight{}}
	b.bench = newBench(t, func(b2 *bench, o *benchParts) {
		o.Options.Cameras = []SecondaryCamera{{Name: "left", View: func() live.State { return b.eye }}}
		o.NewLocator = func(t calibration.Table) (Locator, error) {
			b2.located, s.Locator = t, b2
			return s, nil
		}
	})
	b.eye.Health.Code = live.OK
	return b, s
}

// watches makes the eye see obstacles, at the next picture's time.
func (b *twoEyedBench) watches(o *vision.ObstacleSight) {
	b.sees(vision.Still)
	b.eye.Located.Obstacles = o
	b.eye.Located.Scene.MatWidth, b.eye.Located.Scene.MatHeight = calibration.MatSide, calibration.MatSide
}

// rocksAt is a sight of rocks in a row, each a square of 40 mm.
func rocksAt(xs ...float64) *vision.ObstacleSight {
	s := &vision.ObstacleSight{}
	for i, x := range xs {
		v := vision.ObstacleView{
			Entry: &catalogue.Entry{Name: fmt.Sprintf("rock%d", i), Kind: "asteroid"},
			Pose:  geom.Pose{Point: geom.Point{X: x, Y: 600}}, Cov: geom.Cov3{0.04, 0, 0, 0, 0.04, 0, 0, 0, 1e-5},
			Outline: []geom.Point{{X: x - 20, Y: 580}, {X: x + 20, Y: 580}, {X: x + 20, Y: 620}, {X: x - 20, Y: 620}},
		}
		v.ID, v.Entry.Outline = v.Entry.Name, []geom.Point{{X: -20, Y: -20}, {X: 20, Y: -20}, {X: 20, Y: 20}, {X: -20, Y: 20}}
		s.Views = append(s.Views, v)
	}
	return s
}

func thingAt(x float64) *vision.ObstacleSight {
	at := rocksAt(x).AsUnknown()
	return &at
}

func TestWhatTwoCamerasSayOfTheObstacles(t *testing.T) {
	looking := &vision.ObstacleSight{Unseen: "obstacles are being looked for"}
	glare := &vision.ObstacleSight{Unseen: "too much of the mat is outside the picture, or white with glare"}
	for _, c := range []struct {
		name      string
		main, eye *vision.ObstacleSight
		rocks     int
		unknown   int
		watched   bool
		not       string // why the eye sees none
	}{
		{"both see it", rocksAt(300), rocksAt(300.2), 1, 0, true, ""},
		{"the main camera alone watches", rocksAt(300), nil, 1, 0, true, noEmptyMat},
		{"the eye alone sees it", rocksAt(), rocksAt(300), 1, 0, true, ""},
		{"unknown to the main camera", thingAt(300), rocksAt(300), 1, 0, true, ""},
		{"unknown to the eye", rocksAt(300), thingAt(300), 1, 0, true, ""},
		{"unknown to both", thingAt(300), thingAt(300), 0, 2, true, ""},
		{"a shadow that one sees", rocksAt(), thingAt(300), 0, 1, true, ""},
		{"3 mm apart", rocksAt(300), rocksAt(303), 0, 2, true, ""},
		{"the main camera is looking", looking, rocksAt(300), 0, 0, false, ""},
		{"the main camera is in glare", glare, rocksAt(300), 1, 0, true, ""},
		{"the eye is looking", rocksAt(300), looking, 1, 0, true, looking.Unseen},
		{"nobody watches", nil, nil, 0, 0, false, ""},
	} {
		b, s := newBenchWithObstacles(t)
		s.obstacles = c.main
		var v live.State
		for range 4 {
			b.watches(c.eye)
			v = b.picture(tenth)
		}
		require.Equal(t, live.OK, v.Health.Code, c.name)
		assert.Len(t, v.Located.Scene.Obstacles, c.rocks, c.name)
		assert.Len(t, v.Located.Scene.Unknown, c.unknown, c.name)
		assert.Equal(t, c.watched, v.ObstaclesWatched, c.name)
		assert.Equal(t, c.not, v.Cameras[0].NoObstacles, c.name)
		if c.watched {
			assert.Len(t, v.Located.Obstacles.Views, c.rocks, c.name)
			assert.False(t, v.Located.Scene.ObstaclesUnseen, c.name)
		}
	}
}

// A base whose code is not read is not gone because another camera's sights are joined.
func TestABaseWithoutANameStaysWhenTwoCamerasAreFused(t *testing.T) {
	for name, change := range map[string]func(b *twoEyedBench){
		"fused":                     func(*twoEyedBench) {},
		"the eye is of another mat": func(b *twoEyedBench) { b.eye.Located.Scene.MatWidth = 420 },
	} {
		b, s := newBenchWithObstacles(t)
		s.obstacles = &vision.ObstacleSight{Bases: []vision.UnidentifiedBase{{
			Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 600, Y: 600}}, Covariance: geom.Cov3{0.04, 0, 0, 0, 0.04, 0, 0, 0, 1e-5},
		}}}
		var v live.State
		for range 4 {
			b.sees(vision.Still, ship("A1", 300, 300))
			b.eye.Located.Scene.MatWidth, b.eye.Located.Scene.MatHeight = calibration.MatSide, calibration.MatSide
			change(b)
			v = b.picture(tenth)
		}
		require.Len(t, v.Cameras, 1, name)
		require.Equal(t, name == "fused", v.Cameras[0].Used, name)
		id := token.UnidentifiedID(1)
		assert.Equal(t, "still", stateOf(v, id), name)
		assert.True(t, slices.ContainsFunc(v.Located.Scene.Ships, func(s engine.Ship) bool { return s.ID == id }), name)
	}
}

func TestAnObstacleThatACameraSawIsNotGoneBecauseItLooksAway(t *testing.T) {
	for _, c := range []struct {
		name string
		away func(b *twoEyedBench)
	}{
		{"it is unplugged", func(b *twoEyedBench) {
			b.watches(rocksAt(300, 500))
			b.eye.Health = live.Health{Code: live.NoCamera, Title: "No camera"}
		}},
		{"it looks again", func(b *twoEyedBench) { b.watches(&vision.ObstacleSight{Unseen: "the picture is changing"}) }},
	} {
		b, s := newBenchWithObstacles(t)
		s.obstacles = rocksAt(300)
		b.watches(rocksAt(300, 500))
		v := b.picture(tenth)
		require.Len(t, v.Located.Scene.Obstacles, 2, c.name)
		for range 3 {
			c.away(b)
			v = b.picture(tenth)
			require.Len(t, v.Located.Scene.Obstacles, 1, c.name)
			assert.Equal(t, "rock0", v.Located.Scene.Obstacles[0].ID, c.name)
			require.Len(t, v.Located.Scene.Unknown, 1, c.name)
			assert.True(t, v.Located.Scene.Unknown[0].Contains(geom.Point{X: 500, Y: 600}), c.name)
		}
		b.eye.Health = live.Health{Code: live.OK}
		b.watches(rocksAt(300, 500))
		v = b.picture(tenth)
		assert.Len(t, v.Located.Scene.Obstacles, 2, c.name)
		assert.Empty(t, v.Located.Scene.Unknown, c.name)
	}
}

func TestACameraThatIsGoneSoonContradictsNobody(t *testing.T) {
	b, s := newBenchWithObstacles(t)
	s.obstacles = rocksAt(300)
	b.watches(rocksAt(303))
	v := b.picture(tenth)
	require.Empty(t, v.Located.Scene.Obstacles, "they contradict each other")
	for range 120 {
		b.watches(rocksAt(303))
		b.eye.Health = live.Health{Code: live.NoCamera, Title: "No camera"}
		v = b.picture(tenth)
	}
	assert.Len(t, v.Located.Scene.Obstacles, 1)
	assert.Empty(t, v.Located.Scene.Unknown, "what it saw there is the rock")
}

func TestObstaclesOfASecondaryCameraAreMeasuredWhileTheMainPictureRests(t *testing.T) {
	b, s := newBenchWithObstacles(t)
	s.obstacles = rocksAt()
	b.ships = []engine.Ship{ship("A1", 300, 500), ship("B1", 300, 700)}
	obstruction := func(v live.State) string {
		for _, p := range v.Result.Pairs {
			if i := slices.IndexFunc(p.Arcs, func(a engine.ArcVerdict) bool { return p.From == "A1" && a.Arc == engine.ArcFront }); i >= 0 {
				return p.Arcs[i].Attack.Obstruction.Verdict
			}
		}
		return "none"
	}
	b.watches(rocksAt())
	require.Equal(t, "never", obstruction(b.picture(tenth)))
	b.watches(rocksAt(300))
	b.now = b.now.Add(tenth)
	f := vision.Frame{Gray: b.gray(), Seq: b.seq + 1}
	b.pipeline.publishUnchanged(f, b.now, time.Now())
	v := b.hub.Newest()
	assert.NotContains(t, []string{"never", "none"}, obstruction(v), "an obstacle came that one camera sees")
	assert.Len(t, v.Located.Scene.Obstacles, 1)
	assert.Empty(t, b.pipeline.measure.problem)

	b.game.Update(func(s *game.Seen) { s.Result = engine.Result{} })
	b.pipeline.publishUnchanged(f, b.now, time.Now())
	assert.Empty(t, b.hub.Newest().Result.Pairs, "nothing is new: it is not measured again")
}

// learntBy is the empty mat as a simulated camera sees it.
func learntBy(t *testing.T, s *tablesim.Source) *obstacle.Background {
	table := tablesim.Table{Camera: s.Camera(), Layout: s.Layout(), Look: tablesim.DefaultLook()}
	table.Scene.MatWidth, table.Scene.MatHeight = s.Layout().Width, s.Layout().Height
	f, _, err := table.Render()
	require.NoError(t, err)
	l := obstacle.NewBackgroundLearner(calibration.Table{Camera: s.Camera(), Layout: s.Layout()})
	require.NoError(t, l.Add(f))
	m, err := l.Background()
	require.NoError(t, err)
	return m
}

// Two simulated cameras from opposite edges, each with its own picture of the empty mat.
func TestTwoSimulatedCamerasWatchTheObstacles(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders some dozens of pictures")
	}
	now := time.Unix(1700000000, 0)
	open := func(tilt float64, change func(o *benchParts)) *simulatedCamera {
		return newSimulatedCamera(t, tilt, &now, func(s *tablesim.Source, o *benchParts) {
			truth, err := s.TruthAt(1)
			require.NoError(t, err)
			looking := locate.Options{Catalogue: tokensOf(truth.Scene), Background: learntBy(t, s)}
			e, err := catalogue.NewEntry("slab", "debris", slabOutline)
			require.NoError(t, err)
			looking.Catalogue.Entries = append(looking.Catalogue.Entries, e)
			o.NewLocator = func(t calibration.Table) (Locator, error) { return newLocator(t, looking) }
			change(o)
		})
	}
	eye := open(-35, func(o *benchParts) { o.Secondary = true })
	main := open(35, func(o *benchParts) {
		o.Options.Cameras = []SecondaryCamera{{Name: "far", View: eye.hub.Newest}}
	})
	truth, err := main.source.TruthAt(1)
	require.NoError(t, err)
	require.NotEmpty(t, truth.Scene.Obstacles)
	both := func(n int) (v live.State) {
		for range n {
			now = now.Add(200 * time.Millisecond)
			eye.look(now)
			v = main.look(now)
		}
		return v
	}
	lies := func(v live.State) (ids []string) {
		for _, o := range v.Located.Scene.Obstacles {
			ids = append(ids, o.ID)
			if o.ID == "slab" {
				assert.Less(t, float64(o.Pose.Distance(geom.Point{X: 313.5, Y: 215.5})), 1.0)
				continue
			}
			i := slices.IndexFunc(truth.Scene.Obstacles, func(was engine.Obstacle) bool { return was.ID == o.ID })
			require.GreaterOrEqual(t, i, 0, o.ID)
			assert.Less(t, float64(o.Pose.Distance(truth.Scene.Obstacles[i].Pose.Point)), 1.0, o.ID)
		}
		return ids
	}
	v := both(8)
	require.Equal(t, live.OK, v.Health.Code, "%+v", v.Health)
	require.True(t, v.ObstaclesWatched)
	assert.Empty(t, v.Cameras[0].NoObstacles)
	require.Len(t, lies(v), len(truth.Scene.Obstacles), "unknown: %d, %v", len(v.Located.Scene.Unknown), v.Notes)
	camera := main.source.Camera()
	for i, o := range v.Located.Obstacles.Views { // it is drawn in the main camera's picture
		at, _ := camera.PixelOf(o.Outline[0], catalogue.TokenTop)
		require.NotEmpty(t, o.OutlinePx, i)
		assert.Less(t, at.Sub(o.OutlinePx[0]).Norm(), 0.1)
	}

	// An obstacle that the table of one camera has and that of the other has not.
	lay := func(c *simulatedCamera, things ...tablesim.Clutter) {
		c.source.Disturb(func(s *tablesim.Table) { s.Clutter = append(s.Clutter[:0:0], things...) })
	}
	lay(eye, slab[:]...)
	v = both(10)
	assert.NotContains(t, lies(v), "slab", "the main camera sees the empty mat there")
	assert.True(t, unknownAt(v, slab[0].Pose.Point), "%v", v.Located.Scene.Unknown)
	assert.Contains(t, v.Notes[0].Text, "slab: the main camera sees the empty mat where far sees it.")

	// Another card hides an arm of it from the main camera: what it cannot tell the other can.
	lay(main, append(slab[:2:2], tablesim.Clutter{Pose: geom.Pose{Point: geom.Point{X: 322, Y: 205}}, Width: 54, Length: 24, Height: 2.5,
		Color: color.RGBA{30, 40, 200, 255}})...)
	v = both(10)
	own := main.pipeline.track.tracker.Rest(v.Located.Captured, v.Located.Seq)
	require.Len(t, own.Scene.Obstacles, 1, "the main camera recognises it")
	require.NotEmpty(t, own.Scene.Unknown)
	assert.Contains(t, lies(v), "slab")
	assert.False(t, unknownAt(v, geom.Point{X: 343, Y: 208}) || unknownAt(v, slab[1].Pose.Point), "%v", v.Located.Scene.Unknown)

	lay(main, slab[:]...)
	v = both(10)
	assert.Contains(t, lies(v), "slab")
	assert.False(t, unknownAt(v, geom.Point{X: 343, Y: 208}) || unknownAt(v, slab[1].Pose.Point), "%v", v.Located.Scene.Unknown)
}

// slab is an obstacle of two cards that lie in an L.
var slab = [2]tablesim.Clutter{
	{Pose: geom.Pose{Point: geom.Point{X: 320, Y: 205}}, Width: 50, Length: 18, Height: 2, Color: color.RGBA{200, 180, 150, 255}},
	{Pose: geom.Pose{Point: geom.Point{X: 304, Y: 231}}, Width: 18, Length: 34, Height: 2, Color: color.RGBA{200, 180, 150, 255}},
}

var slabOutline = geom.Polygon{{X: 295, Y: 196}, {X: 345, Y: 196}, {X: 345, Y: 214}, {X: 313, Y: 214}, {X: 313, Y: 248}, {X: 295, Y: 248}}

func unknownAt(v live.State, p geom.Point) bool {
	return slices.ContainsFunc(v.Located.Scene.Unknown, func(u geom.Polygon) bool { return u.Contains(p) })
}
