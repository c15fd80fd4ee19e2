package pipeline

import (
	"image/color"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/fiducial"
	"sightline/vision/locate"
	"sightline/vision/tablesim"
	"sightline/vision/track"
)

// A twoEyedBench is a pipeline whose secondary camera says what the test wants.
type twoEyedBench struct {
	*bench
	eye live.State
}

func newTwoEyedBench(t *testing.T) *twoEyedBench {
	b := &twoEyedBench{}
	b.bench = newBench(t, func(_ *bench, o *benchParts) {
		o.Options.Cameras = []SecondaryCamera{{Name: "left", View: func() live.State { return b.eye }}}
	})
	b.eye.Health.Code = live.OK
	return b
}

// sees makes the eye see ships in a state, at the next picture's time.
func (b *twoEyedBench) sees(state vision.TrackState, ships ...engine.Ship) {
	b.eye.Tracks, b.eye.Located = nil, vision.Located{Captured: b.now.Add(tenth)}
	for _, s := range ships {
		b.eye.Tracks = append(b.eye.Tracks, vision.Track{Ship: s, View: vision.ShipView{ID: s.ID}, State: state, Captured: b.eye.Located.Captured,
			Frames: 3})
	}
}

func stateOf(v live.State, id string) string {
	if k, ok := (vision.Tracked{Tracks: v.Tracks}).Track(id); ok {
		return k.State.String()
	}
	return "unknown"
}

func TestWhenAShipStandsForTwoCameras(t *testing.T) {
	here, there := ship("B1", 300, 487), ship("B1", 300, 497)
	for _, c := range []struct {
		name  string
		main  []engine.Ship // that it reads
		state vision.TrackState
		eye   []engine.Ship
		want  string // B1's state
		pairs int
	}{
		{"both see it", []engine.Ship{here}, vision.Still, []engine.Ship{here}, "still", 2},
		{"the main camera alone", []engine.Ship{here}, vision.Still, nil, "still", 2},
		{"hidden from the main camera", nil, vision.Still, []engine.Ship{here}, "still", 2},
		{"hidden from it and settling", nil, vision.Settling, []engine.Ship{here}, "hidden", 0},
		{"hidden from both", nil, vision.Hidden, []engine.Ship{here}, "hidden", 0},
		{"still for one and settling for the other", []engine.Ship{here}, vision.Settling, []engine.Ship{here}, "still", 2},
		{"still for one and moving for the other", []engine.Ship{here}, vision.Moving, []engine.Ship{here}, "moving", 0},
		{"gone for the other", []engine.Ship{here}, vision.Lifted, []engine.Ship{here}, "moving", 0},
		{"10 mm apart", []engine.Ship{here}, vision.Still, []engine.Ship{there}, "hidden", 0},
	} {
		b := newTwoEyedBench(t)
		a := ship("A1", 300, 300)
		b.ships = []engine.Ship{a, here}
		for range 8 {
			b.sees(vision.Still, a, here)
			b.picture(tenth)
		}
		b.ships = append([]engine.Ship{a}, c.main...)
		b.sees(c.state, c.eye...)
		b.eye.Tracks = append(b.eye.Tracks, vision.Track{Ship: a, State: vision.Still, Captured: b.eye.Located.Captured})
		v := b.picture(tenth)
		assert.Equal(t, c.want, stateOf(v, "B1"), c.name)
		assert.Equal(t, "still", stateOf(v, "A1"), c.name)
		assert.Len(t, v.Result.Pairs, c.pairs, c.name)
	}
}

func TestContradictingCamerasAreReportedOnce(t *testing.T) {
	b := newTwoEyedBench(t)
	b.ships = []engine.Ship{ship("A1", 300, 300), ship("B1", 300, 487)}
	var v live.State
	for range 8 {
		b.sees(vision.Still, ship("A1", 300, 303))
		v = b.picture(tenth)
	}
	told := 0
	for _, n := range v.Notes {
		if strings.Contains(n.Text, "A1: left and the main camera see it 3.0 mm and 0.0° apart") {
			told++
		}
	}
	assert.Equal(t, 1, told, "%v", v.Notes)
}

func TestAFailingSecondaryCameraIsLeftOutAndNamed(t *testing.T) {
	b := newTwoEyedBench(t)
	b.ships = []engine.Ship{ship("A1", 300, 300)}
	hidden := ship("B1", 300, 487)
	for _, c := range []struct {
		name   string
		change func()
		why    string
	}{
		{"late", func() { b.eye.Located.Captured = b.now.Add(tenth - 301*time.Millisecond) }, "its pictures come too late"},
		{"moved", func() { b.eye.Health = live.Health{Code: live.Moved, Title: "Camera moved"} }, "camera moved"},
		{"unplugged", func() { b.eye.Health = live.Health{Code: live.NoCamera, Title: "No camera"} }, "no camera"},
		{"new", func() { b.eye.Located.Captured = time.Time{} }, "none of its pictures was searched yet"},
		{"doubtful", func() { b.eye.Located.Doubtful = true }, "its picture may not show the table where its calibration puts it"},
		{"of another mat", func() { b.eye.Located.Scene.MatWidth = 420 }, "expected views of one mat"},
	} {
		b.eye.Health = live.Health{Code: live.OK}
		for range 8 {
			b.sees(vision.Still, hidden)
			v := b.picture(tenth)
			require.Equal(t, []live.Camera{{Name: "left", Used: true}}, v.Cameras, c.name)
			require.Equal(t, "still", stateOf(v, "B1"), c.name)
		}
		b.sees(vision.Still, hidden)
		c.change()
		v := b.picture(tenth)
		require.Len(t, v.Cameras, 1, c.name)
		assert.False(t, v.Cameras[0].Used, c.name)
		assert.Contains(t, v.Cameras[0].Why, c.why, c.name)
		assert.Equal(t, live.OK, v.Health.Code, "%s: answers go on", c.name)
		assert.Equal(t, "still", stateOf(v, "A1"), c.name)
		assert.NotEqual(t, "still", stateOf(v, "B1"), c.name)
	}
	v := b.hub.Newest()
	all := ""
	for _, n := range v.Notes {
		all += n.Text + "\n"
	}
	assert.Contains(t, all, "left is back. It was left out 2 times since ")
	assert.Contains(t, all, ", last: no camera.\n")
}

func TestTheOthersDoNotAnswerForALostMainCamera(t *testing.T) {
	b := newTwoEyedBench(t)
	for range 8 {
		b.sees(vision.Still, ship("A1", 300, 300), ship("B1", 300, 487))
		b.picture(tenth)
	}
	b.status.State, b.status.Err = capture.FeedOpening, "unplugged"
	v := b.wait(3 * time.Second)
	assert.Equal(t, live.NoCamera, v.Health.Code)
	assert.Nil(t, v.Pair)
}

// A simulatedCamera is a pipeline whose pictures a simulated camera takes.
type simulatedCamera struct {
	*bench
	source *tablesim.Source
}

// newSimulatedCamera returns a camera over the small table that looks from aside, with the real
// detector, locator, tracker and drift monitor.
func newSimulatedCamera(t *testing.T, tilt float64, now *time.Time, change func(*tablesim.Source, *benchParts)) *simulatedCamera {
	c := &simulatedCamera{}
	var err error
	// A thousand pictures to a second of the game: no one moves.
	c.source, err = tablesim.Open(tablesim.Options{
		Width: 1280, Height: 720, FPS: 1000, Small: true, Tilt: &[2]geom.Angle{geom.Angle(tilt) * geom.Degree},
		Now: func() time.Time { return *now }, Sleep: NoSleep,
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.source.Close() })
	c.bench = newBench(t, func(b *bench, o *benchParts) {
		table := calibration.Table{Camera: c.source.Camera(), Layout: c.source.Layout()}
		o.Layout, o.File = c.source.Layout(), CalibrationFile{Table: &table, Name: "truth"}
		o.Lens = func() (calibration.Intrinsics, bool) { return c.source.Lens(), true }
		o.Markers, o.Track = detectorFor(t), fiducial.TrackMarkers
		o.Tracking, o.NewChange = track.TrackerOptions{}, NewChangeDetector
		o.NewLocator = func(t calibration.Table) (Locator, error) { return newLocator(t, locate.Options{}) }
		change(c.source, o)
	})
	return c
}

// look lets the next picture come.
func (c *simulatedCamera) look(now time.Time) live.State {
	c.now = now
	f, err := c.source.Next(c.t.Context())
	require.NoError(c.t, err)
	c.pipeline.Update(f)
	return c.hub.Newest()
}

// Two simulated cameras that look at one table from opposite edges, through the real
// detector, locator, tracker and drift monitor.
func TestTwoSimulatedCamerasWatchOneTable(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders a hundred pictures")
	}
	now := time.Unix(1700000000, 0)
	open := func(tilt float64, change func(o *benchParts)) *simulatedCamera {
		return newSimulatedCamera(t, tilt, &now, func(_ *tablesim.Source, o *benchParts) { change(o) })
	}
	eye := open(-35, func(o *benchParts) { o.Secondary = true })
	main := open(35, func(o *benchParts) {
		o.Options.Cameras = []SecondaryCamera{{Name: "far", View: eye.hub.Newest}}
	})
	look := func(c *simulatedCamera) live.State { return c.look(now) }
	both := func(n int) (v live.State) {
		for range n {
			now = now.Add(200 * time.Millisecond)
			look(eye)
			v = look(main)
		}
		return v
	}
	truth, err := main.source.TruthAt(1)
	require.NoError(t, err)
	right := func(v live.State, n int) {
		t.Helper()
		require.Equal(t, live.OK, v.Health.Code, "%+v", v.Health)
		for _, k := range v.Tracks {
			s, ok := truth.Ship(k.Ship.ID)
			require.True(t, ok)
			assert.Less(t, float64(k.Ship.Pose.Distance(s.Pose.Point)), 0.8, k.Ship.ID)
		}
		assert.Len(t, v.Result.Pairs, n*(n-1))
	}
	v := both(8)
	require.Equal(t, []live.Camera{{Name: "far", Source: v.Cameras[0].Source, Used: true}}, v.Cameras)
	right(v, 4)

	// Something large hides B1 from the main camera, for longer than it remembers.
	main.source.Disturb(func(s *tablesim.Table) {
		s.Minis = maps.Clone(s.Minis)
		s.Minis["B1"] = tablesim.Mini{Kind: tablesim.MiniOval, Width: 75, Length: 75, Z: 8, Thick: 20, Color: color.RGBA{190, 60, 50, 255}}
	})
	v = both(20)
	own, _ := main.pipeline.track.tracker.Rest(v.Located.Captured, v.Located.Seq).Track("B1")
	require.Equal(t, vision.Hidden, own.State, "the main camera sees it after all")
	assert.Equal(t, "still", stateOf(v, "B1"))
	right(v, 4)

	// The other camera gives no more pictures: it is named, and what the main camera sees
	// is answered about.
	for range 4 {
		now = now.Add(200 * time.Millisecond)
		v = look(main)
	}
	assert.False(t, v.Cameras[0].Used)
	assert.Equal(t, "hidden", stateOf(v, "B1"))
	right(v, 3)
	v = both(5)
	assert.True(t, v.Cameras[0].Used)
	right(v, 4)

	// Someone nudges it: it is left out until it is registered again.
	moved := tablesim.Turned(eye.source.Camera(), 0.3, -0.2, 0)
	eye.source.Disturb(func(s *tablesim.Table) { s.Camera = moved })
	left := false
	for range 15 {
		v = both(1)
		left = left || !v.Cameras[0].Used
		for _, k := range v.Tracks {
			if s, _ := truth.Ship(k.Ship.ID); k.State.Stands() {
				assert.Less(t, float64(k.Ship.Pose.Distance(s.Pose.Point)), 0.8, k.Ship.ID)
			}
		}
	}
	assert.True(t, left, "a camera that was nudged was used")
	assert.True(t, v.Cameras[0].Used, "%+v, %v", v.Cameras, v.Notes)
	right(v, 4)
}
