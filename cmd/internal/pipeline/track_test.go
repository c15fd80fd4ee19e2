package pipeline

import (
	"image"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/racetest"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/fiducial"
	"sightline/vision/locate"
	"sightline/vision/tablesim"
	"sightline/vision/track"
)

// A restingTable is the pipeline with its real parts before pictures of one table that
// differ by noise alone, ten a second by a clock of its own.
type restingTable struct {
	*bench
	frames []vision.Frame
	n      int
}

func newRestingTable(t *testing.T) *restingTable {
	sim := tablesim.RandomTable(3, 1280, 720)
	// One of its ships is at the edge of what can be read at this size.
	sim.Scene.Ships = slices.DeleteFunc(sim.Scene.Ships, func(s engine.Ship) bool { return s.ID == "A17" })
	f, _, err := sim.Render()
	require.NoError(t, err)
	r := &restingTable{}
	for k := range 3 {
		rng := rand.New(rand.NewPCG(uint64(k), 9))
		g := image.NewGray(f.Gray.Rect)
		for i, v := range f.Gray.Pix {
			g.Pix[i] = uint8(min(max(math.Round(float64(v)+1.5*rng.NormFloat64()), 0), 255))
		}
		r.frames = append(r.frames, vision.Frame{Gray: g})
	}
	table := calibration.Table{Camera: sim.Camera, Layout: sim.Layout}
	r.bench = newBench(t, func(b *bench, o *benchParts) {
		o.Layout, o.File = sim.Layout, CalibrationFile{Table: &table, Name: "truth"}
		o.Markers, o.Track = nil, fiducial.TrackMarkers
		o.Tracking, o.NewChange = track.TrackerOptions{}, NewChangeDetector
		o.NewLocator = func(t calibration.Table) (Locator, error) { return newLocator(t, locate.Options{}) }
	})
	return r
}

// look gives the pipeline a picture, and reports whether it was searched.
func (r *restingTable) look(g *image.Gray) (searched bool) {
	r.now = r.now.Add(tenth)
	r.n++
	f := r.frames[r.n%len(r.frames)]
	if g != nil {
		f.Gray = g
	}
	f.Seq, f.Captured = uint64(r.n), r.now
	r.pipeline.Update(f)
	return r.pipeline.track.change.SearchedAt() == r.now
}

func (r *restingTable) rest() {
	r.t.Helper()
	for range 40 {
		if !r.look(nil) {
			return
		}
	}
	for _, k := range r.hub.Newest().Tracks {
		r.t.Logf("%s %v since %v, mean of %d pictures", k.Ship.ID, k.State, r.now.Sub(k.Since), k.Frames)
	}
	require.Fail(r.t, "never at rest", "%+v", r.pipeline.track.change.Change())
}

// While nothing changes, what was found stands and is as new as the picture; a full
// search comes within two seconds, and at once with a change.
func TestAPictureThatShowsNothingNewIsNotSearched(t *testing.T) {
	racetest.Skip(t)
	r := newRestingTable(t)
	r.rest()
	before := r.hub.Newest()
	searches := 0
	for range 40 {
		if r.look(nil) {
			searches++
		}
		v := r.hub.Newest()
		require.Equal(t, live.OK, v.Health.Code, "%+v", v.Health)
		require.Equal(t, r.now, v.Located.Captured, "what is known is of this picture")
		require.Equal(t, uint64(r.n), v.Located.Seq)
		require.Greater(t, len(v.Tracks), 5)
		for i, k := range v.Tracks {
			require.Equal(t, vision.Still, k.State, k.Ship.ID)
			require.Equal(t, r.now, k.Captured, k.Ship.ID)
			require.Less(t, float64(k.Ship.Pose.Distance(before.Tracks[i].Ship.Pose.Point)), 0.05, "%s stays where it is", k.Ship.ID)
		}
	}
	assert.GreaterOrEqual(t, searches, 2, "in 4 s")
	assert.LessOrEqual(t, searches, 4, "in 4 s")
	require.NotEqual(t, r.now, before.Located.Captured, "a view that was published is left alone")

	// A square of paper falls on the mat.
	changed := image.NewGray(r.frames[0].Gray.Rect)
	copy(changed.Pix, r.frames[0].Gray.Pix)
	at, ok := r.pipeline.registration.Table().PixelOf(geom.Point{X: 450, Y: 20}, 0)
	require.True(t, ok)
	for y := range 8 {
		for x := range 8 {
			changed.Pix[(int(at.Y)+y)*changed.Stride+int(at.X)+x] = 200
		}
	}
	r.rest()
	require.True(t, r.look(changed), "the first picture that shows a change is searched")
	for range 4 {
		require.True(t, r.look(nil), "and those after it, until it rests")
	}
	r.rest()

	r.game.SetEdition(engine.Rules20) // other rules: the answers are others, though the picture is not
	require.True(t, r.look(nil))
}

// The pipeline's whole way for a picture that shows nothing new costs a small part of a
// search, and no memory to speak of: none that grows with the picture.
func TestAPictureThatShowsNothingNewCostsLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures time")
	}
	r := newRestingTable(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	resting, searching := math.Inf(1), math.Inf(1)
	var most uint64
	for range 90 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		took := processorTime(func() { r.look(nil) })
		runtime.ReadMemStats(&after)
		if r.pipeline.track.change.SearchedAt() == r.now {
			searching = min(searching, took)
		} else {
			resting = min(resting, took)
			most = max(most, after.TotalAlloc-before.TotalAlloc)
		}
	}
	t.Logf("at rest %.2f ms, a search %.2f ms: %.3f; at most %d bytes of memory", 1000*resting, 1000*searching, resting/searching, most)
	assert.Less(t, resting, 0.5*searching) // it is 0.03; processors differ
	assert.Less(t, most, uint64(128<<10))
}

// processorTime returns the seconds that this process worked while do ran: other
// programs on the machine do not count.
func processorTime(do func()) float64 {
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	do()
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	return float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano()) / 1e9
}

// A nudge of a camera whose pictures were not searched for a while is noticed as soon as
// it was when every picture was.
func TestANudgeOfARestingCameraIsNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders and searches pictures")
	}
	now := time.Unix(1700000000, 0)
	// A thousand pictures a second of the game: it stands still.
	source, err := tablesim.Open(tablesim.Options{Width: 1280, Height: 720, FPS: 1000, Now: func() time.Time { return now }, Sleep: NoSleep})
	require.NoError(t, err)
	t.Cleanup(func() { _ = source.Close() })
	table := calibration.Table{Camera: source.Camera(), Layout: source.Layout()}
	b := newBench(t, func(b *bench, o *benchParts) {
		o.Layout, o.File = source.Layout(), CalibrationFile{Table: &table, Name: "truth"}
		o.Markers, o.Track = nil, fiducial.TrackMarkers
		o.Tracking, o.NewChange = track.TrackerOptions{}, NewChangeDetector
		o.NewLocator = func(t calibration.Table) (Locator, error) { return newLocator(t, locate.Options{}) }
	})
	look := func() live.State {
		now = now.Add(tenth)
		b.now = now
		f, err := source.Next(t.Context())
		require.NoError(t, err)
		b.pipeline.Update(f)
		return b.hub.Newest()
	}
	resting := 0
	for range 40 {
		require.Equal(t, live.OK, look().Health.Code)
		if b.pipeline.track.change.SearchedAt() != now {
			resting++
		}
	}
	require.Greater(t, resting, 10, "%+v", b.pipeline.track.change.Change())

	source.Disturb(func(t *tablesim.Table) { t.Camera = tablesim.Turned(t.Camera, 0.016, -0.012, 0) })
	look()
	require.Equal(t, now, b.pipeline.track.change.SearchedAt(), "the first picture after the nudge is searched")
	pictures := 1
	for look().Health.Code != live.Moved {
		pictures++
		require.Less(t, pictures, 10, "a nudge of 0.02° in a second")
	}
	t.Logf("%d of 40 pictures rested; the nudge of 0.02° was told after %d pictures", resting, pictures+1)
}
