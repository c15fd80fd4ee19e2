package pipeline

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/fiducial"
	"sightline/vision/locate"
	"sightline/vision/tablesim"
	"sightline/vision/track"
)

// The scripted game with hands, through the real detector, locator, tracker and engine:
// while a hand moves a ship no pair that it belongs to is answered falsely, and the
// right answer is there within a second after the hand let go of it.
func TestAHandsMoveGivesNoFalseAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders and searches a game")
	}
	const fps = 5
	now := time.Unix(1700000000, 0)
	source, err := tablesim.Open(tablesim.Options{Width: 1920, Height: 1080, FPS: fps, Now: func() time.Time { return now }, Sleep: NoSleep})
	require.NoError(t, err)
	t.Cleanup(func() { _ = source.Close() })
	var table calibration.Table
	b := newBench(t, func(b *bench, o *benchParts) {
		table = calibration.Table{Camera: source.Camera(), Layout: source.Layout()}
		o.Layout, o.File = source.Layout(), CalibrationFile{Table: &table, Name: "truth"}
		o.Markers, o.Track = nil, fiducial.TrackMarkers
		o.Tracking, o.NewChange = track.TrackerOptions{}, NewChangeDetector
		o.NewLocator = func(t calibration.Table) (Locator, error) { return newLocator(t, locate.Options{}) }
	})
	type figures struct{ pictures, same, answers, frozen, frozenOld, none, false int }
	var sum figures
	var slowest time.Duration
	released := map[string]time.Time{} // when ships moved last that are not answered about yet
	var before engine.Scene
	const pictures = 122 // three moves of 7.7 s, and until the last ship is still
	for n := range pictures {
		now = now.Add(time.Second / fps)
		b.now = now
		f, err := source.Next(t.Context())
		require.NoError(t, err)
		b.pipeline.Update(f)
		if b.pipeline.track.change.Change().What == track.Unchanged {
			sum.same++
		}
		v := b.hub.Newest()
		require.Equal(t, live.OK, v.Health.Code, "picture %d: %+v", n, v.Health)
		truth, err := source.TruthAt(f.Seq)
		require.NoError(t, err)
		exact := engine.Scene{Rules: v.Located.Scene.Rules, MatWidth: v.Located.Scene.MatWidth, MatHeight: v.Located.Scene.MatHeight}
		for _, s := range truth.Ships {
			exact.Ships = append(exact.Ships, engine.Ship{ID: s.ID, Base: s.Base, Pose: s.Pose})
		}
		right, err := engine.Measure(&exact, engine.Options{Sigmas: 3})
		require.NoError(t, err)
		for _, s := range exact.Ships {
			was := slices.IndexFunc(before.Ships, func(o engine.Ship) bool { return o.ID == s.ID })
			if was >= 0 && before.Ships[was].Pose != s.Pose {
				released[s.ID] = now
			}
			track, ok := vision.Tracked{Tracks: v.Tracks}.Track(s.ID)
			if at, moved := released[s.ID]; moved && ok && track.State == vision.Still && at != now &&
				track.Ship.Pose.Distance(s.Pose.Point) < 0.5 {
				slowest = max(slowest, now.Sub(at))
				t.Logf("%s right %v after it came to rest", s.ID, now.Sub(at))
				delete(released, s.ID)
			}
		}
		before = exact
		sum.pictures++
		for _, p := range v.Result.Pairs {
			i := slices.IndexFunc(right.Pairs, func(q engine.PairVerdict) bool { return q.From == p.From && q.To == p.To })
			require.GreaterOrEqual(t, i, 0)
			if p.Range.Outcome != engine.Yes {
				sum.none++
				continue
			}
			sum.answers++
			covered := false
			for _, id := range []string{p.From, p.To} {
				k, _ := vision.Tracked{Tracks: v.Tracks}.Track(id)
				covered = covered || k.State != vision.Still
			}
			wrong := p.Range.Band != right.Pairs[i].Range.Band && math.Abs(float64(right.Pairs[i].Range.Margin)) > 0.05
			switch {
			case covered && wrong:
				sum.frozenOld++ // it says so, and of when it is
			case covered:
				sum.frozen++
			case wrong:
				sum.false++
				t.Logf("picture %d: %s to %s: band %d, truly %d (margin %.2f mm)", n, p.From, p.To, p.Range.Band, right.Pairs[i].Range.Band,
					float64(right.Pairs[i].Range.Margin))
			}
		}
	}
	t.Logf("%+v, right again %v after the ship came to rest at the latest", sum, slowest)
	require.Zero(t, sum.false)
	require.Empty(t, released)
	require.LessOrEqual(t, slowest, time.Second)
}
