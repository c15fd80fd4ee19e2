package tablesim_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/locate"
	"sightline/vision/obstacle"
	"sightline/vision/obstacle/trace"
	"sightline/vision/tablesim"
)

func TestThePaperInTheSourcesName(t *testing.T) {
	o, err := tablesim.ParseSpec("sim:paper")
	require.NoError(t, err)
	assert.Equal(t, tablesim.DefaultPaperTime, o.Paper)
	o, err = tablesim.ParseSpec("sim:1280x720,paper=20")
	require.NoError(t, err)
	assert.Equal(t, 20*time.Second, o.Paper)
	for _, spec := range []string{"sim:paper=no", "sim:paper=0", "sim:paper=-1", "sim:paper=1e9", "sim:paper=NaN"} {
		_, err := tablesim.ParseSpec(spec)
		assert.ErrorContains(t, err, "paper: expected 1 to 3600 seconds", spec)
	}
}

// paperSource is a source at 1080p that shows tokens on paper, and its calibration.
func paperSource(t *testing.T) (*tablesim.Source, calibration.Table) {
	s, err := tablesim.Open(tablesim.Options{Width: 1920, Height: 1080, Seed: 5, Paper: 2 * time.Second, FPS: 0})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, calibration.Table{Camera: s.Camera(), Layout: s.Layout()}
}

func next(t *testing.T, s *tablesim.Source) vision.Frame {
	f, err := s.Next(context.Background())
	require.NoError(t, err)
	return f
}

func TestTheStagesOfTeachingFollowEachOther(t *testing.T) {
	s, table := paperSource(t)
	for stage, want := range []int{0, 0, 2, 0} { // two seconds each, five pictures a second
		truth, err := s.TruthAt(uint64(1 + 10*stage))
		require.NoError(t, err)
		assert.Len(t, truth.Ships, want, "stage %d", stage)
	}
	empty := next(t, s)
	assert.False(t, trace.HasPaper(empty, table), "a star mat is no paper")
	s.ShowPaper(tablesim.PaperTokens)
	assert.True(t, trace.HasPaper(next(t, s), table))
	s.ShowPaper(tablesim.PaperGame)
	assert.False(t, trace.HasPaper(next(t, s), table), "ships and tokens are no paper")
}

func TestTheTokensOnThePaperAreTracedAndAreLikeNoOther(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws and searches whole pictures: run without -short")
	}
	s, table := paperSource(t)
	s.ShowPaper(tablesim.PaperTokens)
	found, err := trace.Sheet(next(t, s), table, catalogue.TokenTop)
	require.NoError(t, err)
	truth := tablesim.PaperOutlines()
	require.Len(t, found, len(truth))
	for i, k := range found {
		o := truth[i]
		require.Empty(t, k.Problem, o.ID)
		assert.Empty(t, k.Doubt, o.ID)
		lies := o.Pose.TransformAll(o.Outline)
		mean := 0.0
		for _, p := range k.Outline {
			mean += lies.BoundaryDistance(p) / float64(len(k.Outline))
		}
		t.Logf("%s: %.2f mm mean, %v × %v, %.0f mm², seen %.2f, scatter %.3f mm", o.ID, mean, k.Long, k.Short, k.Area, k.Seen, k.Scatter)
		assert.Less(t, mean, 0.25, "%s: mean distance from the truth, mm", o.ID)
		assert.InEpsilon(t, lies.Area(), k.Area, 0.03, "%s: area", o.ID)
		assert.Greater(t, k.Seen, 0.95, o.ID)
		assert.Less(t, k.Scatter, 0.3, o.ID)
		turned, flipped := catalogue.LikeItself(k.Outline)
		assert.False(t, turned || flipped, "%s is like itself", o.ID)
		for _, other := range found[:i] {
			assert.False(t, catalogue.Alike(k.Outline, other.Outline), "%s is like another", o.ID)
		}
	}
}

// A picture with hardly any noise shows all of the mat: what energy a print adds beyond the
// cap is not taken away by the spread of bare mat.
func TestTheMatOfAQuietCameraIsNotBlind(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws and searches whole pictures: run without -short")
	}
	s, table := paperSource(t)
	mat, err := obstacle.LearnBackground(table, 6, func() (vision.Frame, error) { return next(t, s), nil })
	require.NoError(t, err)
	only, err := catalogue.Of(tablesim.PaperOutlines())
	require.NoError(t, err)
	s.ShowPaper(tablesim.PaperGame)
	l, err := locate.New(table, locate.Options{Catalogue: only, Background: mat})
	require.NoError(t, err)
	got, err := l.Locate(next(t, s))
	require.NoError(t, err)
	assert.Empty(t, got.Obstacles.Unseen)
	assert.Empty(t, got.Scene.Blind)
	assert.Len(t, got.Obstacles.Views, len(only.Entries))
}
