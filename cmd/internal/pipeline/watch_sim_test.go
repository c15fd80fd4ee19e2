package pipeline

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/vision/fiducial"
	"sightline/vision/tablesim"
)

// A watchedTable is the program's pipeline in front of the simulated table: real
// pictures with hands and ships on them, the real detector, ten pictures a second by
// a clock of its own. Only the ships are not looked for.
type watchedTable struct {
	*bench
	source *tablesim.Source
}

func newWatchedTable(t *testing.T, width, height int) *watchedTable {
	source, err := tablesim.Open(tablesim.Options{Width: width, Height: height, FPS: 10, Sleep: NoSleep})
	require.NoError(t, err)
	t.Cleanup(func() { _ = source.Close() })
	w := &watchedTable{source: source}
	w.bench = newBench(t, func(b *bench, o *benchParts) {
		o.Layout = source.Layout()
		o.Lens = func() (calibration.Intrinsics, bool) { return source.Lens(), true }
		o.Markers, o.Track = detectorFor(t), fiducial.TrackMarkers
	})
	return w
}

// until lets pictures come until one has a state, and counts them.
func (w *watchedTable) until(limit int, code live.Code) (v live.State, pictures int) {
	w.t.Helper()
	for pictures = 1; pictures <= limit; pictures++ {
		if v = w.next(); v.Health.Code == code {
			return v, pictures
		}
	}
	require.Failf(w.t, "never", "%s within %d pictures: %+v, watch %+v", code, limit, v.Health, v.Register.Watch)
	return v, 0
}

func (w *watchedTable) next() live.State {
	w.now = w.now.Add(tenth)
	f, err := w.source.Next(w.t.Context())
	require.NoError(w.t, err)
	w.pipeline.Update(f)
	return w.hub.Newest()
}

func TestTheSimulatedTableIsWatchedFromPictureToAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders a hundred pictures")
	}
	for _, size := range [][2]int{{1280, 720}} { // 1920×1080 gives the same and takes twice as long
		w := newWatchedTable(t, size[0], size[1])
		truth := w.source.Camera()
		for i := range 60 { // a move is made meanwhile: a hand comes and goes
			v := w.next()
			require.Equal(t, live.OK, v.Health.Code, "picture %d: %+v", i, v.Health)
			require.Contains(t, []string{"ok", "covered"}, v.Register.Watch.State)
		}

		truth = tablesim.Turned(truth, 0.04, -0.03, 0)
		w.source.Disturb(func(t *tablesim.Table) { t.Camera = truth })
		_, n := w.until(10, live.Moved)
		v, m := w.until(10, live.OK)
		shift := w.located.Shift(&calibration.Table{Camera: truth, Layout: w.source.Layout()}).Millimeters()
		t.Logf("%v: a nudge of 0.05° was noticed after %d pictures and settled after %d more, %.3f mm off: %s", size, n, m, shift,
			v.Notes[0].Text)
		assert.LessOrEqual(t, n, 3, "within a second")
		assert.Less(t, shift, 0.3)

		refocused := truth
		refocused.Fx, refocused.Fy = truth.Fx*1.003, truth.Fy*1.003
		w.source.Disturb(func(t *tablesim.Table) { t.Camera = refocused })
		v, n = w.until(10, live.LensChanged)
		t.Logf("%v: a refocused lens after %d pictures: %s", size, n, v.Health.Detail)
		w.source.Disturb(func(t *tablesim.Table) { t.Camera = truth })
		w.until(10, live.OK)

		sank := truth
		sank.T[2] -= 6
		w.source.Disturb(func(t *tablesim.Table) { t.Camera = sank })
		w.until(10, live.LensChanged)
		v, n = w.until(50, live.OK)
		shift = w.located.Shift(&calibration.Table{Camera: sank, Layout: w.source.Layout()}).Millimeters()
		t.Logf("%v: a camera that sank by 6 mm was registered again after %d pictures, %.3f mm off: %s", size, n, shift, v.Notes[0].Text)
		assert.Less(t, shift, 0.3)
		truth = sank

		w.source.Disturb(func(t *tablesim.Table) {
			t.Camera, t.Layout.Markers[2].Center.X = truth, t.Layout.Markers[2].Center.X-3
		})
		for range 5 {
			v = w.next()
			assert.Equal(t, live.OK, v.Health.Code)
		}
		assert.Equal(t, []int{2}, v.Register.Watch.Strays, "a bumped marker is named")

		w.source.Disturb(func(t *tablesim.Table) { t.Camera, t.Look.Light = truth, 0.002 })
		_, n = w.until(15, live.Dark)
		t.Logf("%v: the light off after %d pictures", size, n)
		w.source.Disturb(func(t *tablesim.Table) { t.Camera = truth })
		w.until(5, live.OK)
	}
}

// NoSleep lets the simulated table run as fast as it can.
func NoSleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }
